"""Measures the time until a message is stored, at a steady fifty per second, against a bare committed insert."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from bench.demo_index import open_bot_over
from bench.figures import BenchmarkFigure, percentile_of
from bench.overhead import make_message
from bot.settings import Settings
from storage.search.index import SearchIndex

_EVENTS_PER_SECOND = 50
_RUN_S = 4
_TARGET_MS = 50.0


async def measure_acknowledgement(
    index: SearchIndex, settings: Settings, folder: Path, runs: int
) -> list[BenchmarkFigure]:
    with closing(_open_bare_database(folder / "bare.db")) as bare_database:
        async with open_bot_over(index, settings) as bot:

            async def accept_message() -> None:
                await bot.accept_inbound(make_message("List every tire purchase receipt"))

            async def insert_bare_event() -> None:
                await asyncio.to_thread(_insert_event, bare_database)

            stored_runs = [await _call_at_rate(accept_message) for _ in range(runs)]
            insert_runs = [await _call_at_rate(insert_bare_event) for _ in range(runs)]
    return [
        BenchmarkFigure(
            name=f"acknowledge with the turn stored, {_EVENTS_PER_SECOND} a second, p{percent}",
            unit="ms",
            run_values=tuple(percentile_of(run, percent) for run in stored_runs),
            target=_TARGET_MS if percent == 99 else None,
            baseline=percentile_of([percentile_of(run, percent) for run in insert_runs], 50),
            note=f"{_EVENTS_PER_SECOND * _RUN_S} events a run; bare: a committed insert" if percent == 50 else "",
        )
        for percent in (50, 99)
    ]


async def _call_at_rate(work: Callable[[], Awaitable[None]]) -> list[float]:
    """Milliseconds of each call. Calls start at fixed times, even if earlier calls are still running."""

    async def time_call(due_s: float) -> float:
        await work()
        return (time.perf_counter() - due_s) * 1000

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[float]] = []
        for number in range(_EVENTS_PER_SECOND * _RUN_S):
            start_s = began + number / _EVENTS_PER_SECOND
            await asyncio.sleep(max(0.0, start_s - time.perf_counter()))
            tasks.append(group.create_task(time_call(time.perf_counter())))
    return [task.result() for task in tasks]


def _open_bare_database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, payload TEXT)")
    return connection


def _insert_event(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO event (payload) VALUES (?)", ("List every tire purchase receipt" * 20,))
