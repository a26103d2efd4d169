"""What this process does now and then. What must happen once across processes is decided by a row in the database."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.attached import Attached
from bot.exports import Exports
from bot.sources import Sources
from bot.turns import Turns
from storage.search.errors import SearchError
from storage.sql.errors import SqlError

_EVERY: Final = timedelta(minutes=1)
_Job = Callable[[], Awaitable[object]]


@asynccontextmanager
async def ticking(
    turns: Turns,
    exports: Exports,
    attached: Attached,
    sources: Sources,
    log: FilteringBoundLogger,
    *,
    at_start: _Job | None = None,
    chores: bool = True,
    every: timedelta = _EVERY,
) -> AsyncGenerator[None]:
    """In the background of the block: offers and files whose time is over are expired, sources that are due synced.

    `at_start` is begun at once, and once only. `chores`: else another process removes files and syncs.
    What is under way when the block ends is cancelled and waited for.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # pyright: ignore[reportMissingTypeStubs]

    running: dict[_Job, asyncio.Task[None]] = {}
    scheduler = AsyncIOScheduler(timezone="UTC")  # in memory: a shared store lets jobs run twice
    jobs: tuple[_Job, ...] = (turns.expire_clarifications, attached.tidy)
    for job in (*jobs, exports.expire, attached.expire, sources.sync_due) if chores else jobs:
        scheduler.add_job(  # pyright: ignore[reportUnknownMemberType]
            _tick, "interval", args=(job, log, running), seconds=every.total_seconds(), coalesce=True, max_instances=1
        )
    if at_start is not None:
        running[at_start] = asyncio.create_task(_run(at_start, log))
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)
        for task in running.values():
            task.cancel()
        if running:
            await asyncio.wait(running.values())


async def _tick(job: _Job, log: FilteringBoundLogger, running: dict[_Job, asyncio.Task[None]]) -> None:
    """Begins the job, unless it still runs: a sync may take longer than the time between two ticks."""
    if job not in running or running[job].done():
        running[job] = asyncio.create_task(_run(job, log))


async def _run(job: _Job, log: FilteringBoundLogger) -> None:
    try:
        await job()
    except (SqlError, SearchError, TimeoutError) as exc:  # the next tick tries again
        log.warning("tick failed", job=job.__qualname__, error=type(exc).__name__)
