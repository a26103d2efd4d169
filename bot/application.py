"""The one object that surfaces and the command line are given."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from structlog.typing import FilteringBoundLogger

from agent.limits import AnswerLimits
from bot.access.audience_scope import AccessResolver
from bot.admin.admin_page.bucket_contents import GrantedContents
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.admin_page.schema_edits import SchemaEdits
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.admin.document_retention import DocumentRetention
from bot.admin.periodic_jobs import run_periodic_jobs
from bot.admin.retention import ConversationRetention
from bot.admin.sources import SourceOperations
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.download import download_route_for
from bot.conversation.exports import ExportFiles
from bot.conversation.file_offers import FileOffers
from bot.conversation.personal_history import PersonalHistory
from bot.health.index_rebuild import IndexRebuild
from bot.health.readiness import ReadinessChecks
from bot.ids import ConversationId, PersonId, TurnId
from bot.language_model.call_archive import ModelCallArchive
from bot.metrics.job_runs import JobRuns
from bot.metrics.operation_measurements import OperationObservers
from bot.models.configured_models import ConfiguredModels
from bot.programs.document_reading import DocumentReading
from bot.progress import ProgressCallback, ignore_progress
from bot.saved_searches.administration import SavedSearchAdministration
from bot.saved_searches.due_searches import DueSearches
from bot.saved_searches.personal_searches import PersonalSearches
from bot.settings import Settings
from bot.surface.inbound import Inbound
from bot.surface.installations import AppInstallations
from bot.surface.known_addresses import KnownAddresses, ServiceUrls
from bot.surface.product_directories import ProductDirectories
from bot.surface.surface import Surface
from bot.surface.surface_registry import SurfaceRegistry
from bot.turns.feedback import AnswerFeedback
from bot.turns.further_messages import FurtherMessages
from bot.turns.stop_requests import StopRequests
from bot.turns.stopping import StopTimeouts, stop_timeouts_within
from bot.turns.turn_actions import TurnActionHandler
from bot.turns.turn_processor import FinishedTurn, TurnProcessor
from bot.turns.workers import TurnWorkers
from storage.ingest.extract.candidates import Extractor
from storage.search.index import SearchIndex
from storage.sql.database import SqlDatabase
from storage.sql.stores.grants import GrantStore, LocalGroupStore, PersonLinkStore
from storage.sql.web_page_store import WebPageStore

if TYPE_CHECKING:
    from aiohttp import web

    from bot.programs.document_tools import DocumentTools

Clock: TypeAlias = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class Application:
    """All services, each built once by `bot.bootstrap.open_application`, and open as long as that block."""

    settings: Settings
    clock: Clock
    index: SearchIndex
    operations: OperationObservers  # of the index, the chat products, exports, sources and background jobs
    job_runs: JobRuns
    extractor: Extractor
    database: SqlDatabase
    grants: GrantStore
    groups: LocalGroupStore
    person_links: PersonLinkStore
    access: AccessResolver
    administration: AdminOperations
    granted_contents: GrantedContents
    admin_reports: AdminReports
    schema_edits: SchemaEdits
    retention_edits: RetentionEdits
    personal_history: PersonalHistory
    feedback: AnswerFeedback
    turn_actions: TurnActionHandler
    model_calls: ModelCallArchive
    models: ConfiguredModels
    warm_up: Callable[[], Awaitable[None]]  # loads what the first question needs
    directories: ProductDirectories
    exports: ExportFiles
    file_offers: FileOffers
    attachments: ConversationAttachments
    sources: SourceOperations
    retention: ConversationRetention
    document_retention: DocumentRetention
    web_pages: WebPageStore
    due_searches: DueSearches
    saved_search_administration: SavedSearchAdministration
    personal_searches: PersonalSearches
    readiness: ReadinessChecks
    index_rebuild: IndexRebuild
    clarifications: ClarificationOffers
    service_urls: ServiceUrls
    further_messages: FurtherMessages
    limits: AnswerLimits
    log: FilteringBoundLogger
    stop_requests: StopRequests
    turn_processor: TurnProcessor
    open_document_tools: "Callable[[], DocumentTools]"  # the same object each time; loads the rules on first use
    document_reading: DocumentReading
    turn_workers: TurnWorkers
    surfaces: SurfaceRegistry

    @property
    def stop_timeouts(self) -> StopTimeouts:
        return stop_timeouts_within(self.settings.stop_timeout)

    def installations_for(self, product: str) -> AppInstallations:
        """The installations of the product's app."""
        return AppInstallations(product, self.database, self.settings.secret_keys)

    def known_addresses_for(self, surface: str) -> KnownAddresses:
        """Where the surface's people and conversations were heard of last."""
        return KnownAddresses(surface, self.database)

    def register_surface(self, surface: Surface) -> None:
        """From now on, this process works on the surface's turns and replies through its outbox."""
        self.surfaces.register_surface(surface)

    def register_receive_only(self, surface: Surface) -> None:
        """This process accepts the surface's turns; another process works on them."""
        self.surfaces.register_receive_only(surface)

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """The turn is stored when this returns: acknowledge it then. None: not a new turn
        (`TurnProcessor.accept_inbound`). Raises what the database raises.
        """
        turn = await self.turn_processor.accept_inbound(inbound)
        if turn is not None:
            self.turn_workers.wake_for(inbound.surface)
        return turn

    async def has_answered(self, conversation: ConversationId) -> bool:
        """Whether a reply of Parley's is in the conversation."""
        return await self.turn_processor.has_answered(conversation)

    async def run_turn(
        self, turn: TurnId, *, limits: AnswerLimits | None = None, report_progress: ProgressCallback = ignore_progress
    ) -> FinishedTurn:
        """Runs an accepted turn here and now, and the turns before it in its conversation. Failures are final.

        If the surface has no registered outbox, the reply is only in the `FinishedTurn`. Raises `UnknownTurn`,
        `SqlError`.
        """
        return await self.turn_workers.run_turn(turn, limits=limits, report_progress=report_progress)

    async def list_conversation_people(self, conversation: ConversationId) -> frozenset[PersonId]:
        """The people who have written in the conversation; empty for an unknown one. Raises `SqlError`."""
        return await self.turn_processor.list_conversation_people(conversation)

    async def load_finished_turn(self, turn: TurnId) -> FinishedTurn | None:
        """The result of a turn, whichever process ran it; None while it is open. Raises `UnknownTurn`."""
        return await self.turn_processor.load_finished_turn(turn)

    async def run_until_stopped(self, stop: asyncio.Event, *, warm_up: bool = False, maintenance: bool = True) -> None:
        """Until `stop`: works on the turns of the registered surfaces, syncs due sources, expires offers and files.

        The turns in progress are then finished, or given back after `stop_timeouts.turns`.

        `warm_up`: also loads in the background what the first question needs. `maintenance` False: another process
        syncs and removes files.
        """
        first_job = self.warm_up if warm_up else None
        async with run_periodic_jobs(
            self.turn_processor,
            self.exports,
            self.file_offers,
            self.attachments,
            self.sources,
            self.log,
            job_runs=self.job_runs,
            retention=self.retention,
            document_retention=self.document_retention,
            web_pages=self.web_pages,
            due_searches=self.due_searches,
            first_job=first_job,
            maintenance=maintenance,
        ):
            await self.turn_workers.run_until_stopped(stop, turn_timeout=self.stop_timeouts.turns)

    def http_routes(self) -> tuple["web.RouteDef", ...]:
        """The application's own route, besides those of its surfaces: `GET /download/{signed}`."""
        return (download_route_for(self.exports.find_download),)
