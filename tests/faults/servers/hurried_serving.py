"""`parley serve` whose periodic jobs run every few seconds, and which a storm can kill in the middle of a job.

With the real pace, a storm would see few runs of a job, and would hardly ever kill a process within one. A storm plans
a kill by a file with the name of the job and a delay: the first process in which a run lasts so long kills itself.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from bot import application, bootstrap
from bot.admin import document_retention, periodic_jobs
from bot.admin.source_kinds.confluence_kind import ConfluenceKind
from bot.admin.source_kinds.rest_kind import RestKind
from bot.admin.source_kinds.sql_kind import QueryKind
from bot.admin.source_kinds.store_kind import StoreKind
from bot.admin.sources import SourceOperations
from bot.admin.usage.report_posts import ReportPosts
from bot.application import Application
from bot.cli.app import main
from bot.cli.commands import serve
from bot.metrics.job_runs import JobName
from bot.saved_searches import schedule
from bot.web_search.web_search import WebSearch
from storage.opensearch import catalogue
from storage.opensearch.reading import index_snapshot

KILLS_VARIABLE: Final = "PARLEY_HOME"  # the kills are planned in a folder of the home
KILLS_FOLDER: Final = "planned_kills"
JOB_INTERVAL: Final = timedelta(seconds=2)
CHANGE_INTERVAL: Final = timedelta(seconds=8)  # between two looks of a saved search
SYNC_LEASE: Final = timedelta(seconds=10)
POINT_KEEP_ALIVE: Final = timedelta(seconds=30)
USAGE_POST, WEB_SEARCH = "post_usage_report", "search_web"  # kills in what is a part of a turn
SYNC_KINDS: Final = {
    QueryKind: "sync_sql",
    RestKind: "sync_rest",
    ConfluenceKind: "sync_confluence",
    StoreKind: "sync_store",
}
_KEEP_ALIVE: Final = f"{POINT_KEEP_ALIVE.total_seconds():.0f}s"
_COMMAND: Final = (sys.executable, "-m", "tests.faults.servers.hurried_serving", "answer")


@dataclass
class PlannedKill:
    """A kill so many seconds after a run has begun, as the file says, as long as there is the file."""

    path: Path

    def read_delay(self) -> float | None:
        with contextlib.suppress(OSError, ValueError):
            return float(self.path.read_text(encoding="ascii"))
        return None

    def kill_process(self) -> None:
        """Kills this process, unless another has used up the plan."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def killable_run(name: JobName | str) -> Generator[None]:
    """Carries out the kill in this job if the run lasts until then."""
    kill = PlannedKill(Path(os.environ[KILLS_VARIABLE]) / KILLS_FOLDER / name)
    if (delay_s := kill.read_delay()) is None:
        yield
        return
    timer = asyncio.get_running_loop().call_later(delay_s, kill.kill_process)
    try:
        yield
    finally:
        timer.cancel()


open_application = bootstrap.open_application


@asynccontextmanager
async def open_killable_application(*arguments: Any, **options: Any) -> AsyncGenerator[Application]:
    async with open_application(*arguments, **options) as bot:
        bot.job_runs.add_observer(killable_run)
        yield bot


search_pages = WebSearch.search_pages
compose_post = ReportPosts.compose_post


async def search_pages_or_die(*arguments: Any) -> Any:
    with killable_run(WEB_SEARCH):
        return await search_pages(*arguments)


async def compose_post_or_die(*arguments: Any) -> Any:
    """The kill may also come after the report is composed: while it is posted, or before that is recorded."""
    kill = PlannedKill(Path(os.environ[KILLS_VARIABLE]) / KILLS_FOLDER / USAGE_POST)
    if (delay_s := kill.read_delay()) is not None:
        asyncio.get_running_loop().call_later(delay_s, kill.kill_process)
    return await compose_post(*arguments)


def kill_in_syncs_of(kind: type[QueryKind | RestKind | ConfluenceKind | StoreKind]) -> Callable[..., Any]:
    """`open_source` of the kind, whose source is open as long as its sync runs."""
    open_source = kind.open_source

    @asynccontextmanager
    async def open_source_or_die(*arguments: Any) -> AsyncGenerator[Any]:
        with killable_run(SYNC_KINDS[kind]):
            async with open_source(*arguments) as source:
                yield source

    return open_source_or_die


def hurry_jobs() -> None:
    """Replaces the intervals of this process, and lets planned kills into its jobs."""
    replacements: list[tuple[object, str, object]] = [
        (application, "run_periodic_jobs", partial(periodic_jobs.run_periodic_jobs, interval=JOB_INTERVAL)),
        (bootstrap, "open_application", open_killable_application),
        (bootstrap, "SourceOperations", partial(SourceOperations, lease=SYNC_LEASE)),
        (WebSearch, "search_pages", search_pages_or_die),
        (ReportPosts, "compose_post", compose_post_or_die),
        *((kind, "open_source", kill_in_syncs_of(kind)) for kind in SYNC_KINDS),
        (document_retention, "EXPIRY_INTERVAL", timedelta()),
        (schedule, "CHECK_INTERVAL", CHANGE_INTERVAL),
        (serve, "ANSWER_COMMAND", _COMMAND),
        *((module, "POINT_KEEP_ALIVE", _KEEP_ALIVE) for module in (catalogue, index_snapshot)),
    ]
    for place, name, value in replacements:
        if not hasattr(place, name):
            raise AttributeError(f"{place} has no {name}")
        setattr(place, name, value)


if __name__ == "__main__":
    hurry_jobs()
    main()
