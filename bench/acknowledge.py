"""How long a message waits until it is stored, at a steady fifty a second, beside a bare committed insert."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from bench.figures import Figure, percentile
from bench.home import bot_over
from bench.overhead import a_message
from bot.settings import Settings
from storage.search.index import SearchIndex

_A_SECOND = 50
_SECONDS = 4
_AIM_MS = 50.0


async def acknowledge(index: SearchIndex, settings: Settings, folder: Path, runs: int) -> list[Figure]:
    with closing(_bare_database(folder / "bare.db")) as bare:
        async with bot_over(index, settings) as bot:

            async def accepted() -> None:
                await bot.accept(a_message("List every tire purchase receipt"))

            async def inserted() -> None:
                await asyncio.to_thread(_insert, bare)

            stored = [await _paced(accepted) for _ in range(runs)]
            inserts = [await _paced(inserted) for _ in range(runs)]
    return [
        Figure(
            name=f"acknowledge with the turn stored, {_A_SECOND} a second, p{percent}",
            unit="ms",
            runs=tuple(percentile(run, percent) for run in stored),
            aim=_AIM_MS if percent == 99 else None,
            bare=percentile([percentile(run, percent) for run in inserts], 50),
            note=f"{_A_SECOND * _SECONDS} events a run; bare: a committed insert" if percent == 50 else "",
        )
        for percent in (50, 99)
    ]


async def _paced(work: Callable[[], Awaitable[None]]) -> list[float]:
    """Milliseconds of each call. Calls begin by the clock, whether or not those before them have ended."""

    async def timed(due: float) -> float:
        await work()
        return (time.perf_counter() - due) * 1000

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[float]] = []
        for number in range(_A_SECOND * _SECONDS):
            due = began + number / _A_SECOND
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(group.create_task(timed(time.perf_counter())))
    return [task.result() for task in tasks]


def _bare_database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, payload TEXT)")
    return connection


def _insert(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO event (payload) VALUES (?)", ("List every tire purchase receipt" * 20,))
