"""`python -m bench.restart`: measures what a restart of `parley serve` takes, with the Slack stand-in and its worker
process: until connections are taken, until a signed message is acknowledged, and until it is answered. It reports
seconds by the clock, and the CPU seconds of both processes, which other work on the machine hardly changes.

`--code FOLDER` measures the code in another checkout in turn with this one, so that both have the same load.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from rich.console import Console

from adapters.slack.events.http_endpoint import EVENTS_PATH
from bench.figures import BenchmarkFigure, build_figure_table
from tests.adapters.web.serving import find_free_port, wait_for_connection
from tests.cli.conftest import RECEIPTS, environment_for
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import SlackMember, SlackMessage

_THIS_CODE: Final = Path(__file__).parents[1]
_TIMEOUT_S: Final = 120.0
_STAGES: Final = ("connections are taken", "a message is acknowledged", "it is answered")
_TARGETS_S: Final = (1.0, 3.0, 3.0)
_PROC: Final = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimes:
    """Seconds from the start of the process until a stage. CPU seconds are 0 where the system does not tell them."""

    wall_s: float
    receiver_cpu_s: float
    worker_cpu_s: float


async def measure_restarts(folders: Sequence[Path], runs: int, folder: Path) -> list[BenchmarkFigure]:
    """The last of `folders` is measured; the first is its baseline."""
    homes = [await _create_home(code, folder / f"home-{number}") for number, code in enumerate(folders)]
    times: list[list[list[StageTimes]]] = [[] for _ in folders]
    for _ in range(runs + 1):
        for number, code in enumerate(folders):
            times[number].append(await _time_restart(code, homes[number]))
    kinds: dict[str, Callable[[StageTimes], float]] = {
        "": lambda stage: stage.wall_s,
        ", CPU of the receiver": lambda stage: stage.receiver_cpu_s,
        ", CPU of the worker": lambda stage: stage.worker_cpu_s,
    }
    return [
        BenchmarkFigure(
            name=f"restart: until {name}{kind}",
            unit="s",
            run_values=tuple(value_of(run[position]) for run in times[-1][1:]),  # the first warms up
            target=None if kind else _TARGETS_S[position],
            baseline=median(value_of(run[position]) for run in times[0][1:]) if len(folders) > 1 else None,
            note=f"bare: {folders[0]}" if len(folders) > 1 else "",
        )
        for position, name in enumerate(_STAGES)
        for kind, value_of in kinds.items()
    ]


async def _time_restart(code: Path, home: Path) -> list[StageTimes]:
    """The times until each of the stages."""
    stages: list[StageTimes] = []
    async with SlackServer() as stand_in:
        person = stand_in.workspace.add_user(SlackMember(id="U1BENCH", name="P"))
        began = time.perf_counter()
        async with _serve_parley(code, home, stand_in) as (port, pid):

            def note_stage() -> None:
                wall_s, workers = time.perf_counter() - began, _list_children(pid)
                cpu_s = sum(map(_cpu_seconds_of, workers[:1]))  # the second loads later, for background turns
                stages.append(StageTimes(wall_s=wall_s, receiver_cpu_s=_cpu_seconds_of(pid), worker_cpu_s=cpu_s))

            async with asyncio.timeout(_TIMEOUT_S):
                await wait_for_connection(port)
                note_stage()
                channel = stand_in.workspace.direct_channel_of(person.id)
                question, _ = await stand_in.post_as_person(person, channel, "How many receipts from Kestrel?")
                note_stage()
                await stand_in.wait_until(lambda: _is_answered(stand_in, question), int(_TIMEOUT_S))
                note_stage()
    return stages


def _list_children(pid: int) -> list[int]:
    """Empty on a system without `/proc`."""
    with suppress(OSError):
        return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_text().split()]
    return []


def _cpu_seconds_of(pid: int) -> float:
    """Of all threads of the process, its children not included; 0 on a system without `/proc`."""
    with suppress(OSError):
        fields = (_PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _is_answered(stand_in: SlackServer, question: SlackMessage) -> bool:
    replies = [message for message in stand_in.workspace.bot_messages() if message.thread_ts == question.ts]
    return bool(replies) and not any(message.text.rstrip().endswith("…") for message in replies)


@asynccontextmanager
async def _serve_parley(code: Path, home: Path, stand_in: SlackServer) -> AsyncGenerator[tuple[int, int]]:
    """Run `parley serve` and yield its port and process id at once."""
    port = find_free_port()
    stand_in.app_url = f"http://127.0.0.1:{port}{EVENTS_PATH}"
    slack = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SIGNING_SECRET, "SLACK_API_URL": stand_in.api_url}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "serve", "--port", str(port)),
        cwd=code,
        env=environment_for(home, PARLEY_PORT=str(port), PYTHONPATH=str(code), **slack),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield port, process.pid
    finally:
        process.terminate()
        await process.wait()


async def _create_home(code: Path, home: Path) -> Path:
    """Create a home with a few documents that everyone may see."""
    source = home / "receipts.jsonl"
    await asyncio.to_thread(_write_documents, source)
    for words in (("ingest", str(source), "--bucket", "receipts"), ("grant", "receipts", "everyone")):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot.cli", *words),
            cwd=code,
            env=environment_for(home, PYTHONPATH=str(code)),
            stdout=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise RuntimeError(f"parley {words[0]} failed")
    return home


def _write_documents(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.restart", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    parser.add_argument("--code", type=Path, help="a checkout with the code to compare with")
    options = parser.parse_args()
    folders = [_THIS_CODE] if options.code is None else [options.code.resolve(), _THIS_CODE]
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        figures = asyncio.run(measure_restarts(folders, options.runs, Path(name)))
    Console(width=160).print(build_figure_table(figures), f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
