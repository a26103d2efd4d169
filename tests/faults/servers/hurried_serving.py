"""`parley serve` whose periodic jobs run every few seconds, and which a storm can kill in the middle of a job.

With the real pace, a storm would see few runs of a job, and would hardly ever kill a process within one. A storm plans
a kill by a file with the name of the job and the number of a step: the first process that gets so far kills itself.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from bot import application
from bot.admin import document_retention, periodic_jobs
from bot.cli.app import main
from bot.cli.commands import serve
from bot.saved_searches import schedule
from bot.turns.turn_processor import TurnProcessor

KILLS_VARIABLE: Final = "PARLEY_HOME"  # the kills are planned in a folder of the home
KILLS_FOLDER: Final = "planned_kills"
RUN_OF_SAVED_SEARCH: Final = "TurnProcessor._report_saved_search"
JOB_INTERVAL: Final = timedelta(seconds=2)
CHANGE_INTERVAL: Final = timedelta(seconds=4)  # between two looks of a saved search
_MAX_DELAY_S: Final = 0.03  # from a step to the kill: the database or the index may have done its part, or not
_COMMAND: Final = (sys.executable, "-m", "tests.faults.servers.hurried_serving", "answer")
Job = Callable[[], Awaitable[object]]


@dataclass
class PlannedKill:
    """A kill in the step that the file says, as long as there is the file."""

    path: Path

    def read_step(self) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            return int(self.path.read_text(encoding="ascii"))
        return None

    def kill_process(self) -> None:
        """Kills this process soon, unless another has used up the plan."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
            asyncio.get_running_loop().call_later(
                random.uniform(0.0, _MAX_DELAY_S), os.kill, os.getpid(), signal.SIGKILL
            )


class CountedSteps:
    """Awaits a coroutine, and carries out the kill when it waits for the planned time."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], kill: PlannedKill) -> None:
        self._coroutine, self._kill = coroutine, kill

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, last_step = self._coroutine.__await__(), self._kill.read_step()
        count, resume = 0, partial(steps.send, None)
        while True:
            try:
                awaited = resume()
            except StopIteration as ended:
                return ended.value
            count += 1
            if count == last_step:
                self._kill.kill_process()
            try:
                resume = partial(steps.send, (yield awaited))
            except BaseException as exc:  # noqa: BLE001 - a cancellation as well
                resume = partial(steps.throw, exc)


def planned_kill_of(name: str) -> PlannedKill:
    return PlannedKill(Path(os.environ[KILLS_VARIABLE]) / KILLS_FOLDER / name)


def hurry_jobs() -> None:
    """Replaces the intervals of this process, and lets a planned kill into the jobs."""
    run_job: Callable[[Job, FilteringBoundLogger], Coroutine[Any, Any, None]] = getattr(periodic_jobs, "_run_job")  # noqa: B009 - not public
    report_search: Callable[..., Coroutine[Any, Any, Any]] = getattr(TurnProcessor, "_report_saved_search")  # noqa: B009 - not public

    async def run_killable(job: Job, log: FilteringBoundLogger) -> None:
        await CountedSteps(run_job(job, log), planned_kill_of(job.__qualname__))

    async def report_killable(processor: TurnProcessor, *arguments: Any) -> Any:
        return await CountedSteps(report_search(processor, *arguments), planned_kill_of(RUN_OF_SAVED_SEARCH))

    replacements: list[tuple[object, str, object]] = [
        (application, "run_periodic_jobs", partial(periodic_jobs.run_periodic_jobs, interval=JOB_INTERVAL)),
        (periodic_jobs, "_run_job", run_killable),
        (document_retention, "_INTERVAL", timedelta()),
        (schedule, "CHECK_INTERVAL", CHANGE_INTERVAL),
        (serve, "_ANSWER_COMMAND", _COMMAND),
        (TurnProcessor, "_report_saved_search", report_killable),
    ]
    for place, name, value in replacements:
        if not hasattr(place, name):
            raise AttributeError(f"{place} has no {name}")
        setattr(place, name, value)


if __name__ == "__main__":
    hurry_jobs()
    main()
