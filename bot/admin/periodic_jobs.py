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
from bot.metrics.job_runs import JobName, JobRuns
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
    job_runs: JobRuns,
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

    `first_job` (`WARM_UP`) starts at once, and runs only once. `maintenance` False: another process removes files and
    syncs. At the end of the block, running jobs are cancelled and awaited.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # pyright: ignore[reportMissingTypeStubs]

    running: dict[JobName, asyncio.Task[None]] = {}
    scheduler = AsyncIOScheduler(timezone="UTC")  # in memory: a shared store lets jobs run twice
    jobs: dict[JobName, _PeriodicJob] = {
        JobName.EXPIRE_CLARIFICATIONS: turn_processor.expire_clarifications,
        JobName.DISCARD_STALE_INDEXES: attachments.discard_stale_indexes,
    }
    if maintenance:
        jobs[JobName.EXPIRE_EXPORTED_FILES] = exports.expire_files
        jobs[JobName.EXPIRE_FILE_OFFERS] = file_offers.expire_offers
        jobs[JobName.EXPIRE_ATTACHED_FILES] = attachments.expire_files
        jobs[JobName.SYNC_SOURCES] = sources.sync_due_sources
        if retention is not None:
            jobs[JobName.EXPIRE_TURNS] = retention.expire_turns
        if document_retention is not None:
            jobs[JobName.EXPIRE_DOCUMENTS] = document_retention.expire_documents
        if web_pages is not None:
            jobs[JobName.EXPIRE_WEB_PAGES] = web_pages.delete_expired_pages
        if due_searches is not None:
            jobs[JobName.START_SAVED_SEARCHES] = due_searches.start_due_runs

    async def run_job(name: JobName, job: _PeriodicJob) -> None:
        try:
            with job_runs.observed_run(name):
                await job()
        except (SqlError, SearchError, TimeoutError) as exc:  # the next tick tries again
            log.warning("tick failed", job=name, error=type(exc).__name__)

    async def start_job(name: JobName, job: _PeriodicJob) -> None:
        """Starts the job, unless it is still running: a sync may take longer than the interval."""
        if name not in running or running[name].done():
            running[name] = asyncio.create_task(run_job(name, job))

    for name, job in jobs.items():
        scheduler.add_job(  # pyright: ignore[reportUnknownMemberType]
            start_job,
            "interval",
            args=(name, job),
            seconds=interval.total_seconds(),
            coalesce=True,
            max_instances=1,
        )
    if first_job is not None:
        running[JobName.WARM_UP] = asyncio.create_task(run_job(JobName.WARM_UP, first_job))
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)
        for task in running.values():
            task.cancel()
        if running:
            await asyncio.wait(running.values())
