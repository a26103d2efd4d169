"""What this process does now and then. What must happen once across processes is decided by a row in the database."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.exports import Exports
from bot.turns import Turns
from storage.sql.errors import SqlError

_EVERY: Final = timedelta(minutes=1)


@asynccontextmanager
async def ticking(
    turns: Turns, exports: Exports, log: FilteringBoundLogger, *, every: timedelta = _EVERY
) -> AsyncGenerator[None]:
    """Offers and files whose time is over are expired now and then, in the background of the block."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # pyright: ignore[reportMissingTypeStubs]

    scheduler = AsyncIOScheduler(timezone="UTC")  # in memory: a shared store lets jobs run twice
    for job in (turns.expire_clarifications, exports.expire):
        scheduler.add_job(  # pyright: ignore[reportUnknownMemberType]
            _tick, "interval", args=(job, log), seconds=every.total_seconds(), coalesce=True, max_instances=1
        )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)


async def _tick(job: Callable[[], Awaitable[object]], log: FilteringBoundLogger) -> None:
    try:
        await job()
    except SqlError as exc:  # the next tick tries again
        log.warning("tick failed", job=job.__qualname__, error=type(exc).__name__)
