"""Measures the inbox on PostgreSQL: messages stored, turns claimed and finished by four processes, and the time until a
worker of another process has a stored turn. Each beside a bare loop of the driver on a table of the same server.

`python -m bench.inbox [--turns N] [--runs N]`
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from rich.console import Console

from bench.figures import BenchmarkFigure, build_figure_table, percentile_of
from bot.turns.structured_log import open_log
from bot.turns.turn_processor import TurnProcessor
from bot.turns.workers import TurnWorkers
from storage.sql.database import SqlDatabase
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox
from storage.sql.stores.turns import NewTurn
from tests.servers.missing import ServerMissing
from tests.servers.postgres import fresh_database, postgres_server

_SURFACE, _WORKERS, _CONVERSATIONS, _IN_FLIGHT, _WAKES = "bench", 4, 200, 64, 20
_POOL_SIZE, _BARE_BATCH = 10, 8
_BODY: Final = "List every tire purchase receipt of the last quarter " * 6
_CREATE_BARE: Final = "CREATE TABLE bare (id bigserial PRIMARY KEY, body text NOT NULL, worker text, done boolean)"
_BARE_CLAIM: Final = """
    UPDATE bare SET worker = $1 WHERE id IN (
        SELECT id FROM bare WHERE worker IS NULL ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
    ) RETURNING id
"""
_BARE_FINISH: Final = "UPDATE bare SET done = true WHERE id = $1"


_driver: Final[Any] = import_module("asyncpg")  # has no types


def utc_clock() -> datetime:
    return datetime.now(UTC)


def make_turn(number: int) -> NewTurn:
    conversation = f"conversation-{number % _CONVERSATIONS}"
    return NewTurn(
        surface=_SURFACE,
        event_id=f"event-{number}",
        conversation=conversation,
        message_id=f"message-{number}",
        person=f"person of {conversation}",
        audience={"kind": "channel"},
        body={"text": _BODY},
        locale="en",
        time_zone="UTC",
        received_at=utc_clock(),
    )


# -- the worker processes


class _FinishingProcessor:
    """Takes the place of the turn processor: finishes each turn and reports when it was claimed."""

    surfaces = (_SURFACE,)

    def __init__(self, inbox: TurnInbox) -> None:
        self._inbox = inbox

    async def process_turn(self, claimed: ClaimedTurn) -> None:
        claimed_at_s = time.monotonic()
        await self._inbox.finish_turn(claimed, {"outcome": "answer"})
        print(f"{claimed_at_s:.6f}", flush=True)  # noqa: T201


class _PollingInbox(TurnInbox):
    """An inbox without notifications."""

    async def watch_arrivals(self, on_arrival: Callable[[], None]) -> None:
        return


async def run_worker(url: str, *, is_notified: bool) -> None:
    """Work from the first line of the standard input to its end.

    Writes a line for each turn, with the time of its claim.
    """
    database = await SqlDatabase.open(url, clock=utc_clock)
    inbox, stop = (TurnInbox if is_notified else _PollingInbox)(database), asyncio.Event()
    processor = cast(TurnProcessor, _FinishingProcessor(inbox))
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            log = open_log(Path(folder), stack)
            workers = TurnWorkers(processor, inbox, name=f"worker-{time.monotonic_ns()}", log=log)
            await database.ping()
            print("ready", flush=True)  # noqa: T201
            await asyncio.to_thread(sys.stdin.readline)
            stopping = asyncio.create_task(_stop_at_end_of_input(stop))
            await workers.run_until_stopped(stop)
            await stopping
    await database.close()


async def _stop_at_end_of_input(stop: asyncio.Event) -> None:
    await asyncio.to_thread(sys.stdin.read)
    stop.set()


async def run_bare_worker(url: str, name: str) -> None:
    """Claim and finish the rows of the bare table until none is left; a line on standard output for each."""
    connection = await _driver.connect(url)
    print("ready", flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.readline)
    while rows := await connection.fetch(_BARE_CLAIM, name, _BARE_BATCH):
        for row in rows:
            await connection.execute(_BARE_FINISH, row["id"])
            print(f"{time.monotonic():.6f}", flush=True)  # noqa: T201
    await connection.close()


@asynccontextmanager
async def _start_worker(*arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.inbox", "--worker", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.stdin.close()
        await process.wait()


def _start_work(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")


async def _read_times(process: asyncio.subprocess.Process, counter: asyncio.Queue[float]) -> None:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        counter.put_nowait(float(line))


# -- the measurements


async def _call_concurrently(work: Callable[[int], Awaitable[object]], count: int) -> float:
    """Calls a second, with a fixed number of them in flight."""
    numbers, began = iter(range(count)), time.perf_counter()

    async def call_next() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(call_next() for _ in range(_IN_FLIGHT)))
    return count / (time.perf_counter() - began)


async def _measure_accepts(url: str, turn_count: int) -> float:
    database = await SqlDatabase.open(url, clock=utc_clock)
    inbox = TurnInbox(database)
    rate = await _call_concurrently(lambda number: inbox.accept_turn(make_turn(number)), turn_count)
    await database.close()
    return rate


async def _measure_bare_accepts(url: str, turn_count: int) -> float:
    pool: Any = await _driver.create_pool(url, min_size=_POOL_SIZE, max_size=_POOL_SIZE)
    await pool.execute(_CREATE_BARE)
    rate = await _call_concurrently(lambda _: pool.execute("INSERT INTO bare (body) VALUES ($1)", _BODY), turn_count)
    await pool.close()
    return rate


async def _measure_claims(turn_count: int, *arguments: str) -> float:
    """Turns claimed and finished a second by all workers, from the first to the last one."""
    times = asyncio.Queue[float]()
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(_start_worker(*arguments, str(number))) for number in range(_WORKERS)
        ]
        readers = [asyncio.create_task(_read_times(worker, times)) for worker in workers]
        for worker in workers:
            _start_work(worker)
        finish_times = [await times.get() for _ in range(turn_count)]
    await asyncio.gather(*readers)
    return turn_count / (max(finish_times) - min(finish_times))


async def _measure_wakes(url: str, first_number: int, mode: str) -> list[float]:
    """Milliseconds from a stored turn to its claim by an idle worker of another process."""
    database = await SqlDatabase.open(url, clock=utc_clock)
    inbox, times, delays_ms = TurnInbox(database), asyncio.Queue[float](), list[float]()
    async with _start_worker(url, mode, "0") as worker:
        reader = asyncio.create_task(_read_times(worker, times))
        _start_work(worker)
        for number in range(first_number, first_number + _WAKES):
            await asyncio.sleep(0.1 + number % 7 / 20)  # at any moment of the poll interval
            await inbox.accept_turn(make_turn(number))
            stored_at_s = time.monotonic()
            delays_ms.append((await times.get() - stored_at_s) * 1000)
    await reader
    await database.close()
    return delays_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class _InboxRun:
    """Rates a second, and delays in milliseconds. `bare`: of the driver alone."""

    accepts: float
    bare_accepts: float
    claims: float
    bare_claims: float
    notified_ms: list[float]
    polled_ms: list[float]


async def _measure_run(server_url: str, turn_count: int) -> _InboxRun:
    async with fresh_database(server_url) as url:
        bare_url = url.replace("+asyncpg", "")
        return _InboxRun(
            accepts=await _measure_accepts(url, turn_count),
            bare_accepts=await _measure_bare_accepts(bare_url, turn_count),
            claims=await _measure_claims(turn_count, url, "notified"),
            bare_claims=await _measure_claims(turn_count, bare_url, "bare"),
            notified_ms=await _measure_wakes(url, turn_count, "notified"),
            polled_ms=await _measure_wakes(url, turn_count + _WAKES, "polled"),
        )


async def measure_inbox(runs: int, turn_count: int) -> list[BenchmarkFigure]:
    """Raises `ServerMissing`."""
    with ExitStack() as stack:
        server = postgres_server(durable=True)  # it runs its own event loop while it waits
        server_url = await asyncio.to_thread(stack.enter_context, server)
        measured = [await _measure_run(server_url, turn_count) for _ in range(runs)]
    return [
        BenchmarkFigure(
            name="inbox: messages stored",
            unit="a second",
            run_values=tuple(run.accepts for run in measured),
            baseline=statistics.median(run.bare_accepts for run in measured),
            note=f"{_IN_FLIGHT} at once; bare: an INSERT each over {_POOL_SIZE} connections; aim: at least 1,000",
        ),
        BenchmarkFigure(
            name="inbox: turns claimed and finished",
            unit="a second",
            run_values=tuple(run.claims for run in measured),
            baseline=statistics.median(run.bare_claims for run in measured),
            note=f"{_WORKERS} processes; bare: two UPDATEs of a table without order; aim: at least 300",
        ),
        *(
            BenchmarkFigure(
                name=f"inbox: from a stored turn to its claim in another process, p{percent}",
                unit="ms",
                run_values=tuple(percentile_of(run.notified_ms, percent) for run in measured),
                baseline=statistics.median(percentile_of(run.polled_ms, percent) for run in measured),
                note="bare: without notifications" if percent == 50 else "",
            )
            for percent in (50, 95)
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.inbox", description=__doc__)
    parser.add_argument("--turns", type=int, default=3000, help="messages of a run [3000]")
    parser.add_argument("--runs", type=int, default=3, help="how often all is measured [3]")
    parser.add_argument("--worker", nargs=3, metavar=("URL", "MODE", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        url, mode, name = options.worker
        asyncio.run(run_bare_worker(url, name) if mode == "bare" else run_worker(url, is_notified=mode == "notified"))
        return
    console = Console(width=160)
    try:
        console.print(build_figure_table(asyncio.run(measure_inbox(options.runs, options.turns))))
    except ServerMissing as exc:
        console.print(f"not measured: {exc}")


if __name__ == "__main__":
    main()
