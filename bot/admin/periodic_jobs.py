"""The periodic jobs of this process. Rows in the database ensure that work runs only once across processes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.admin.document_retention import DocumentRetention
from bot.admin.retention import ConversationRetention
from bot.admin.sources import SourceOperations
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.exports import ExportFiles
from bot.conversation.file_offers import FileOffers
from bot.saved_searches.due_searches import DueSearches
from bot.turns.turn_processor import TurnProcessor
from storage.search.errors import SearchError
from storage.sql.errors import SqlError
from storage.sql.web_page_store import WebPageStore

_TICK_INTERVAL: Final = timedelta(minutes=1)
_PeriodicJob = Callable[[], Awaitable[object]]


@asynccontextmanager
async def run_periodic_jobs(
    turn_processor: TurnProcessor,
    exports: ExportFiles,
    file_offers: FileOffers,
    attachments: ConversationAttachments,
    sources: SourceOperations,
    log: FilteringBoundLogger,
    *,
    retention: ConversationRetention | None = None,
    document_retention: DocumentRetention | None = None,
    web_pages: WebPageStore | None = None,
    due_searches: DueSearches | None = None,
    first_job: _PeriodicJob | None = None,
    maintenance: bool = True,
    interval: timedelta = _TICK_INTERVAL,
) -> AsyncGenerator[None]:
    """Runs in the background of the block: expires offers and files, deletes old turns, syncs due sources, starts
    saved searches.

    `first_job` starts at once, and runs only once. `maintenance` False: another process removes files and syncs. At the
    end of the block, running jobs are cancelled and awaited.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # pyright: ignore[reportMissingTypeStubs]

    running: dict[_PeriodicJob, asyncio.Task[None]] = {}
    scheduler = AsyncIOScheduler(timezone="UTC")  # in memory: a shared store lets jobs run twice
    jobs: tuple[_PeriodicJob, ...] = (turn_processor.expire_clarifications, attachments.discard_stale_indexes)
    if maintenance:
        jobs += (exports.expire_files, file_offers.expire_offers, attachments.expire_files, sources.sync_due_sources)
        jobs += (retention.expire_turns,) if retention is not None else ()
        jobs += (document_retention.expire_documents,) if document_retention is not None else ()
        jobs += (web_pages.delete_expired_pages,) if web_pages is not None else ()
        jobs += (due_searches.start_due_runs,) if due_searches is not None else ()
    for job in jobs:
        scheduler.add_job(  # pyright: ignore[reportUnknownMemberType]
            _start_job,
            "interval",
            args=(job, log, running),
            seconds=interval.total_seconds(),
            coalesce=True,
            max_instances=1,
        )
    if first_job is not None:
        running[first_job] = asyncio.create_task(_run_job(first_job, log))
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)
        for task in running.values():
            task.cancel()
        if running:
            await asyncio.wait(running.values())


async def _start_job(
    job: _PeriodicJob, log: FilteringBoundLogger, running: dict[_PeriodicJob, asyncio.Task[None]]
) -> None:
    """Starts the job, unless it is still running: a sync may take longer than the interval."""
    if job not in running or running[job].done():
        running[job] = asyncio.create_task(_run_job(job, log))


async def _run_job(job: _PeriodicJob, log: FilteringBoundLogger) -> None:
    try:
        await job()
    except (SqlError, SearchError, TimeoutError) as exc:  # the next tick tries again
        log.warning("tick failed", job=job.__qualname__, error=type(exc).__name__)
