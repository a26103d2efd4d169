"""Builds every object once; each can be replaced by keyword. Only this module names concrete classes, and it owns their
opening and closing.
"""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from structlog.typing import FilteringBoundLogger

from agent.errors import RerankerUnavailable
from agent.gateway.language_model import LanguageModel
from agent.gateway.options import GatewayOptions, ModelNames
from agent.limits import AnswerLimits
from agent.retrieval.relevance import Reranker
from bot.access.audience_scope import AccessResolver
from bot.access.limits import QuestionLimits
from bot.admin.admin_page.bucket_contents import GrantedContents
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.admin_page.schema_edits import SchemaEdits
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.admin.corrected_index import CorrectedIndex
from bot.admin.document_retention import DocumentRetention
from bot.admin.retention import ConversationRetention
from bot.admin.source_kinds.confluence_kind import ConfluenceKind
from bot.admin.source_kinds.folder_kind import FolderKind
from bot.admin.source_kinds.mail_kind import MailKind
from bot.admin.source_kinds.rest_kind import RestKind
from bot.admin.source_kinds.site_kind import SiteKind
from bot.admin.source_kinds.source_kind import SourceKind
from bot.admin.source_kinds.sql_kind import QueryKind
from bot.admin.source_kinds.store_kind import STORE_KINDS, StoreKind
from bot.admin.sources import SourceOperations
from bot.admin.usage.report_posts import ReportPosts
from bot.application import Application, Clock
from bot.attachments.attachment_indexes import AttachmentIndexes
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.download import LinkSigner
from bot.conversation.exports import ExportFiles
from bot.conversation.file_offers import FileOffers
from bot.conversation.personal_history import PersonalHistory
from bot.health.index_rebuild import BucketRebuild, IndexRebuild, plan_bucket
from bot.health.index_record import BucketOriginFinder, IndexRecord
from bot.health.readiness import ReadinessChecks
from bot.ids import TurnId
from bot.language_model.call_archive import ModelCallArchive
from bot.language_model.spending import MonthlyBudget
from bot.metrics.job_runs import JobRuns, job_measurer_for
from bot.metrics.measured_index import MeasuredIndex
from bot.metrics.operation_measurements import OperationObservers
from bot.models.configured_models import ConfiguredModels
from bot.models.model_sources import ConfiguredEmbedders, build_embedders, open_reranker
from bot.models.result_cache import ResultCache
from bot.person_links import PersonLinks
from bot.programs.document_reading import DocumentReading
from bot.saved_searches.administration import SavedSearchAdministration
from bot.saved_searches.due_searches import DueSearches
from bot.saved_searches.personal_searches import PersonalSearches
from bot.saved_searches.saved_searches import SavedSearches
from bot.settings import EMBEDDED_INDEX_URL, Settings
from bot.surface.checkup import CheckupFinding, SurfaceCheckup
from bot.surface.inbound import Inbound
from bot.surface.installations import AppInstallations
from bot.surface.known_addresses import ServiceUrls
from bot.surface.outbox import Outbox
from bot.surface.product_directories import ProductDirectories
from bot.surface.secret_sealing import SecretSeal
from bot.surface.surface_registry import SurfaceRegistry
from bot.turns.feedback import AnswerFeedback
from bot.turns.further_messages import FurtherMessages
from bot.turns.revisions import QuestionRevisions
from bot.turns.stop_requests import StopRequests
from bot.turns.structured_log import open_log
from bot.turns.turn_actions import TurnActionHandler
from bot.turns.turn_processor import MAX_ATTEMPTS, TurnProcessor
from bot.turns.workers import TurnWorkers
from storage.ingest.extract.candidates import Extractor
from storage.search.errors import IndexDamaged, SearchError
from storage.search.ids import TenantId
from storage.search.index import ScopedIndex, SearchIndex
from storage.sql.administration.document_rules import DocumentRuleStore
from storage.sql.administration.value_correction_store import ValueCorrectionStore
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.health_store import HealthStore
from storage.sql.stores.attachments import AttachedFileStore
from storage.sql.stores.grants import GrantStore, LocalGroupStore, PersonLinkStore
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.model_calls import ModelCallStore, PromptUsage
from storage.sql.stores.sources import SourceStore
from storage.sql.usage_statistics import UsageStatisticsStore
from storage.sql.web_page_store import WebPageStore

if TYPE_CHECKING:
    from agent.gateway.gateway import ModelGateway
    from agent.reasoner import Reasoner
    from agent.rules.reasoner import RuleReasoner
    from bot.admin.admin_page.question_comparison import QuestionComparisons
    from bot.dialogue.conversation_dialogue import ConversationDialogue
    from bot.dialogue.question_agent import QuestionAgent
    from bot.language_model.summary_polishing import SummaryPolisher
    from bot.programs.document_tools import DocumentTools
    from bot.tracing import TurnTracer
    from bot.web_search.web_search import WebSearch
    from storage.embedded.index import EmbeddedIndex
    from storage.embedder import Embedder
    from storage.ingest.sources.web_page import WebPageFetcher
    from storage.opensearch.cluster_credentials import ClusterCredentials


_NO_TRACING_LIBRARY = "traces need the library that pip install 'parley[otel]' brings"
_RESERVATION_MARGIN = timedelta(minutes=1)  # beyond the deadline of a call, for streams and embeddings


def utc_now() -> datetime:
    return datetime.now(UTC)


async def _load_nothing() -> None:
    """There is no model to load."""


@asynccontextmanager
async def open_application(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    database: SqlDatabase | None = None,
    index: SearchIndex | None = None,
    agent: "QuestionAgent | None" = None,
    reasoner: "Reasoner | None" = None,
    model: LanguageModel | None = None,
    reranker: Reranker | None = None,
    extractor: Extractor | None = None,
    outboxes: Mapping[str, Outbox] | None = None,
    web_fetcher: "WebPageFetcher | None" = None,
    log: FilteringBoundLogger | None = None,
    defers_dialogue: bool = False,
    tolerates_outage: bool = False,
    report_outage: Callable[[str], None] = lambda _: None,
) -> AsyncGenerator[Application]:
    """The application, open for the length of the block. Given objects are used and stay open; missing ones are built
    and closed. Without a `model`, and without one in the settings, no language model is used.

    `outboxes` by surface, for surfaces without a `register_surface` call. `defers_dialogue`: what answers questions is
    loaded with the first question, for processes that may never answer one. `tolerates_outage`: also without an index
    that may recover (a damaged file of the embedded index, an OpenSearch that does not answer); until it does, people
    are told so, and `report_outage` is called with the reason. Raises `SqlError`, `IndexUnavailable`.
    """
    async with AsyncExitStack() as stack:
        log, gateway = log or open_log(settings.home, stack, to_stderr=settings.logs_to_stderr), None
        if database is None:
            database = await SqlDatabase.open(settings.effective_database_url, clock=clock)
            stack.push_async_callback(database.close)
        if settings.needs_gateway:
            gateway = await stack.enter_async_context(open_model_gateway(settings, database, log))
        cache = stack.enter_context(closing(ResultCache(settings.home)))
        embedders = build_embedders(settings, gateway, cache)
        if index is None:
            opener = partial(_open_index, settings, embedders.index_embedder)
            index = await (_open_recovering_index(settings, opener, report_outage) if tolerates_outage else opener())
            stack.push_async_callback(index.close)
        if reranker is None:
            reranker = stack.enter_context(open_reranker(settings, gateway))
        operations, job_runs = OperationObservers(), JobRuns()
        job_runs.add_observer(job_measurer_for(operations.report_operation))
        extractor = extractor or _default_extractor()
        attachment_indexes = AttachmentIndexes(
            settings.home / "attached",
            partial(_open_embedded, settings, embedders.index_embedder),
            AttachedFileStore(database),
            log,
            extractor=extractor,
        )
        stack.push_async_callback(attachment_indexes.close)
        backends = _OpenedBackends(
            settings=settings,
            clock=clock,
            database=database,
            index=CorrectedIndex(MeasuredIndex(index, operations.report_operation), ValueCorrectionStore(database)),
            operations=operations,
            job_runs=job_runs,
            extractor=extractor,
            attachment_indexes=attachment_indexes,
            reranker=reranker,
            embedders=embedders,
            models=ConfiguredModels(
                settings=settings,
                cache=cache,
                gateway=gateway,
                embedder=embedders.model_embedder,
                model=model or (gateway if settings.model.is_used else None),
            ),
            surfaces=SurfaceRegistry(outboxes),
            web_fetcher=web_fetcher,
            log=log,
            process_name=f"{socket.gethostname()}:{os.getpid()}",
        )
        model_calls, polisher = ModelCallArchive(database, TenantId(settings.tenant), log), None
        if backends.models.model is not None:
            from bot.language_model.summary_polishing import open_summary_polisher

            polisher = await stack.enter_async_context(
                open_summary_polisher(backends.models.model, database, model_calls, log)
            )
        tracer = await stack.enter_async_context(_open_turn_tracer(settings, log))
        application, load_dialogue = _build_application(
            backends=backends,
            agent=agent,
            reasoner=reasoner,
            model_calls=model_calls,
            summary_polisher=polisher,
            load_model=_load_nothing if gateway is None else gateway.load,
        )
        if not defers_dialogue:
            load_dialogue()
        if tracer is not None:
            application.turn_processor.add_observer(tracer.record_turn)
        yield application


@asynccontextmanager
async def open_model_gateway(
    settings: Settings, database: SqlDatabase, log: FilteringBoundLogger
) -> "AsyncGenerator[ModelGateway]":
    """The gateway to the models of all roles, under the tenant's budget. It loads litellm on first use."""
    from agent.gateway.gateway import ModelGateway
    from agent.gateway.litellm_client import LiteLlmClient

    budget_usd, budget = settings.model.budget, None
    if budget_usd is not None:
        budget = MonthlyBudget(
            database,
            TenantId(settings.tenant),
            budget_usd=budget_usd,
            reservation_lifetime=timedelta(seconds=settings.model.timeout) + _RESERVATION_MARGIN,
            log=log,
        )
    gateway = ModelGateway(settings.gateway_options, LiteLlmClient(), budget)
    try:
        yield gateway
    finally:
        await gateway.close()


@asynccontextmanager
async def _open_turn_tracer(settings: Settings, log: FilteringBoundLogger) -> "AsyncGenerator[TurnTracer | None]":
    """None without a collector in the settings, and without the library."""
    if settings.trace_endpoint is None:
        yield None
        return
    try:
        from bot.tracing import open_turn_tracer
    except ImportError:
        log.warning("no traces", reason=_NO_TRACING_LIBRARY)
        yield None
        return
    async with open_turn_tracer(settings.trace_endpoint, settings.tenant, log) as tracer:
        yield tracer


async def list_unreachable_backends(settings: Settings) -> list[str]:
    """A sentence about each of the database, the index, the embedder, the reranker and the search server that cannot be
    opened or does not answer, each bucket with vectors of another embedder, and each library that is missing.
    """
    from bot.web_search.checkup import find_server_problem

    problems: list[str] = []
    async with AsyncExitStack() as stack:
        database, gateway = None, None
        try:
            database = await SqlDatabase.open(settings.effective_database_url, clock=utc_now)
            stack.push_async_callback(database.close)
        except (SqlError, OSError) as exc:
            problems.append(str(exc))
        if settings.needs_gateway:
            gateway = await stack.enter_async_context(_open_unlimited_gateway(settings.gateway_options))
        embedders = build_embedders(settings, gateway, stack.enter_context(closing(ResultCache(settings.home))))
        problems += await _find_index_problems(settings, database, embedders.index_embedder)
        try:
            if embedders.index_embedder is not None:
                await embedders.index_embedder.load_dimensions()
        except SearchError as exc:
            problems.append(f"PARLEY_EMBEDDER: {exc}")
        try:
            reranker = stack.enter_context(open_reranker(settings, gateway))
            if reranker is not None:
                await reranker.score_passages("question", ["passage"])
        except RerankerUnavailable as exc:
            problems.append(f"PARLEY_RERANKER: {exc}")
    if (problem := await find_server_problem(settings.web_search)) is not None:
        problems.append(problem)
    if settings.trace_endpoint is not None and find_spec("opentelemetry.sdk") is None:
        problems.append(f"OTEL_EXPORTER_OTLP_ENDPOINT: {_NO_TRACING_LIBRARY}")
    return problems


async def find_index_fault(settings: Settings) -> str | None:
    """Why the file of the embedded index has to be replaced: it is damaged, or an older copy. None for another index.

    Raises `SqlError`, `IndexUnavailable`.
    """
    if settings.index_url != EMBEDDED_INDEX_URL:
        return None
    async with AsyncExitStack() as stack:
        database = await SqlDatabase.open(settings.effective_database_url, clock=utc_now)
        stack.push_async_callback(database.close)
        try:
            index = await _open_index(settings, None)
            stack.push_async_callback(index.close)
            await index.ping(thorough=True)
            losses = await _build_index_record(database, index).find_losses()
        except IndexDamaged as exc:
            return str(exc)
        return next((loss.sentence for loss in losses.values() if loss.is_older_copy), None)


async def plan_index_rebuild(settings: Settings) -> list[BucketRebuild]:
    """How to load again all buckets that the database knows of. Does not open the index. Raises `SqlError`."""
    async with AsyncExitStack() as stack:
        database = await SqlDatabase.open(settings.effective_database_url, clock=utc_now)
        stack.push_async_callback(database.close)
        recorded = await HealthStore(database).load_recorded_buckets()
        origins = BucketOriginFinder(HealthStore(database), SourceStore(database))
        return [await plan_bucket(origins, bucket, entry.documents) for bucket, entry in recorded.items()]


async def move_index_away(settings: Settings) -> Path:
    """Move the file of the embedded index into a new folder beside it. Raises `IndexUnavailable`."""
    from storage.embedded.database import move_index_file_away

    return await asyncio.to_thread(move_index_file_away, settings.index_path, f"damaged-{utc_now():%Y%m%dT%H%M%S}")


@asynccontextmanager
async def _open_unlimited_gateway(options: GatewayOptions) -> "AsyncGenerator[ModelGateway]":
    """A gateway without a budget, for a checkup."""
    from agent.gateway.gateway import ModelGateway
    from agent.gateway.litellm_client import LiteLlmClient

    gateway = ModelGateway(options, LiteLlmClient())
    try:
        yield gateway
    finally:
        await gateway.close()


async def _find_index_problems(
    settings: Settings, database: SqlDatabase | None, embedder: "Embedder | None"
) -> list[str]:
    """Also those of the database and the disk, if the database can be opened."""
    try:
        async with AsyncExitStack() as stack:
            index = await _open_index(settings, embedder)
            stack.push_async_callback(index.close)
            if database is None:
                await index.ping(thorough=True)
            elif problems := await _build_readiness_checks(settings, database, index).find_problems(thorough=True):
                return [problem.detail for problem in problems]
            states = await index.load_vector_states()
    except (SearchError, OSError) as exc:
        return [str(exc)]
    return [
        f"{bucket} is searched by words alone in part or whole, since its vectors are of"
        f" {state.embedder or 'no embedder'}: parley bucket reindex {bucket}"
        for bucket, state in states.items()
        if not state.is_current
    ]


async def run_model_checkup(settings: Settings) -> Sequence[CheckupFinding]:
    """The findings about the configured language models; none without one. Makes a call to each."""
    if not settings.model.is_used:
        return ()
    return [await _check_language_model(settings, name) for name in settings.model.all_names]


async def _check_language_model(settings: Settings, name: str) -> CheckupFinding:
    """Asks the model alone, so that no fallback answers in its place."""
    from bot.language_model.checkup import check_model

    alone = replace(settings.gateway_options, models=ModelNames(main=name))
    async with _open_unlimited_gateway(alone) as gateway:
        return await check_model(gateway, name, settings.model)


async def run_index_checkup(settings: Settings) -> Sequence[CheckupFinding]:
    """The findings about the index: a cluster's version, plugins, rights, disks, blocks, shards and aliases; or where
    the file is.
    """
    from storage.opensearch.cluster_check import ClusterCheck
    from storage.opensearch.connection import ClusterConnection
    from storage.opensearch.mapping import IndexNames

    if settings.index_url == EMBEDDED_INDEX_URL:
        return [CheckupFinding(what="file", found=f"the embedded index in {settings.index_path}")]
    try:
        connection = ClusterConnection(
            [url.strip() for url in settings.index_url.split(",")],
            credentials=_cluster_credentials_in(settings),
            ca_file=str(settings.index_ca) if settings.index_ca else None,
        )
    except SearchError as exc:
        return [CheckupFinding(what="address", fault=str(exc))]
    try:
        check = ClusterCheck(
            connection=connection,
            names=IndexNames(TenantId(settings.tenant)),
            needs_vectors=settings.embedder != "none",
        )
        findings = await check.find()
    finally:
        await connection.close()
    return [CheckupFinding(what=finding.what, found=finding.found, fault=finding.fault) for finding in findings]


async def run_checkup(settings: Settings, product: str) -> Sequence[CheckupFinding]:
    """The findings of the chat product's checkup. Raises `SqlError`."""
    [entry_point] = entry_points(group="parley.checkups", name=product)
    checkup: SurfaceCheckup = entry_point.load()
    async with AsyncExitStack() as stack:
        database = await SqlDatabase.open(settings.effective_database_url, clock=utc_now)
        stack.push_async_callback(database.close)
        return await checkup(settings, AppInstallations(product, database, settings.secret_keys))


async def list_prompt_usage(settings: Settings) -> Sequence[PromptUsage]:
    """How often each version of each prompt was sent, the latest used first. Raises `SqlError`."""
    async with AsyncExitStack() as stack:
        database = await SqlDatabase.open(settings.effective_database_url, clock=utc_now)
        stack.push_async_callback(database.close)
        return await ModelCallStore(database).summarise_prompts()


@dataclass(frozen=True, kw_only=True)
class _OpenedBackends:
    """Everything that was opened or given, before the services are built on it."""

    settings: Settings
    clock: Clock
    database: SqlDatabase
    index: SearchIndex
    operations: OperationObservers
    job_runs: JobRuns
    extractor: Extractor
    attachment_indexes: AttachmentIndexes
    reranker: Reranker | None
    embedders: ConfiguredEmbedders
    models: ConfiguredModels
    surfaces: SurfaceRegistry
    web_fetcher: "WebPageFetcher | None"  # None: the one for public addresses
    log: FilteringBoundLogger
    process_name: str  # unique among the processes that share the database


@dataclass(frozen=True, kw_only=True)
class _AccessServices:
    """The services that decide what an audience may see, and those that keep what belongs to one."""

    grants: GrantStore
    groups: LocalGroupStore
    person_links: PersonLinkStore
    directories: ProductDirectories
    access: AccessResolver
    clarifications: ClarificationOffers
    attachments: ConversationAttachments
    exports: ExportFiles


def _build_access_services(*, backends: _OpenedBackends) -> _AccessServices:
    settings, database, index = backends.settings, backends.database, backends.index
    grants, groups = GrantStore(database), LocalGroupStore(database)
    person_links = PersonLinkStore(database)
    links = PersonLinks(person_links, uses_email=settings.link_by_email)
    directories = ProductDirectories(backends.surfaces, links)
    record = _build_index_record(database, index)
    access = AccessResolver(TenantId(settings.tenant), grants, groups, index, directories, record)
    attachments = ConversationAttachments(
        store=AttachedFileStore(database),
        index=index,
        access=access,
        indexes=backends.attachment_indexes,
        surfaces=backends.surfaces,
        log=backends.log,
    )
    return _AccessServices(
        grants=grants,
        groups=groups,
        person_links=person_links,
        directories=directories,
        access=access,
        clarifications=ClarificationOffers(database, access),
        attachments=attachments,
        exports=ExportFiles(
            database=database,
            attachments=attachments,
            access=access,
            signer=LinkSigner(settings.secret_keys),
            folder=settings.exports_path,
            link_base=settings.link_base,
            worker=backends.process_name,
            observer=backends.operations.report_operation,
        ),
    )


def _build_turn_processor(
    *,
    backends: _OpenedBackends,
    services: _AccessServices,
    inbox: TurnInbox,
    load_dialogue: "Callable[[], ConversationDialogue]",
    limits: AnswerLimits,
    stop_requests: StopRequests,
    turn_actions: TurnActionHandler,
    file_offers: FileOffers,
    saved_searches: SavedSearches,
    model_calls: ModelCallArchive,
    summary_polisher: "SummaryPolisher | None",
) -> TurnProcessor:
    return TurnProcessor(
        inbox=inbox,
        load_dialogue=load_dialogue,
        clarifications=services.clarifications,
        limits=limits,
        question_limits=QuestionLimits(backends.database),
        stop_requests=stop_requests,
        revisions=QuestionRevisions(
            inbox=inbox,
            stop_requests=stop_requests,
            clarifications=services.clarifications,
            exports=services.exports,
            file_offers=file_offers,
            attachments=services.attachments,
            database=backends.database,
        ),
        turn_actions=turn_actions,
        saved_searches=saved_searches,
        model_calls=model_calls,
        summary_polisher=summary_polisher,
        surfaces=backends.surfaces,
        clock=backends.database.utc_now,
        log=backends.log,
        operation_observer=backends.operations.report_operation,
        job_runs=backends.job_runs,
    )


def _build_application(
    *,
    backends: _OpenedBackends,
    agent: "QuestionAgent | None",
    reasoner: "Reasoner | None",
    model_calls: ModelCallArchive,
    summary_polisher: "SummaryPolisher | None",
    load_model: Callable[[], Awaitable[None]],
) -> "tuple[Application, Callable[[], ConversationDialogue]]":
    """The application, and what loads the dialogue that answers its turns, on the first call."""
    settings, database, index, log = backends.settings, backends.database, backends.index, backends.log
    services = _build_access_services(backends=backends)
    limits = AnswerLimits(overload_documents=settings.overload_limit, read_documents=settings.read_limit)
    inbox = TurnInbox(database, max_attempts=MAX_ATTEMPTS)
    stop_requests, feedback = StopRequests(inbox, log), AnswerFeedback(database)
    sources = SourceOperations(
        database=database,
        index=index,
        kinds=_build_source_kinds(backends.clock),
        seal=SecretSeal(settings.secret_keys),
        extractor=backends.extractor,
        situator=backends.models.build_context_writer() if settings.model.chunk_context else None,
        passage_characters=settings.passage_characters,
        schemas=settings.home / "schemas",
        worker=backends.process_name,
        log=log,
        observer=backends.operations.report_operation,
    )
    administration = AdminOperations(
        settings=settings,
        database=database,
        index=index,
        sources=sources,
        grants=services.grants,
        groups=services.groups,
        directories=services.directories,
        access=services.access,
    )
    contents = GrantedContents(administration=administration, index=index, access=services.access)
    open_comparisons = cache(partial(_build_question_comparisons, backends, agent, limits))
    admin_reports = AdminReports(
        administration=administration,
        contents=contents,
        database=database,
        index=index,
        access=services.access,
        compares_words=settings.embedder != "none",
        open_comparisons=open_comparisons,
    )
    saved_searches = SavedSearches(
        database=database,
        index=index,
        access=services.access,
        surfaces=backends.surfaces,
        reports=ReportPosts(admin_reports),
    )
    load_rules = cache(partial(_load_rule_reasoner, backends.embedders.word_embedder))
    load_dialogue = cache(
        partial(
            _build_dialogue,
            backends=backends,
            services=services,
            agent=agent,
            given_reasoner=reasoner,
            load_rules=load_rules,
            saved_searches=saved_searches,
        )
    )
    turn_actions = TurnActionHandler(
        inbox=inbox,
        access=services.access,
        index=index,
        attachments=services.attachments,
        feedback=feedback,
        stop_requests=stop_requests,
    )
    file_offers = FileOffers(
        database=database,
        exports=services.exports,
        text_access=turn_actions,
        keys=settings.secret_keys,
        worker=backends.process_name,
    )
    turn_processor = _build_turn_processor(
        backends=backends,
        services=services,
        inbox=inbox,
        load_dialogue=load_dialogue,
        limits=limits,
        stop_requests=stop_requests,
        turn_actions=turn_actions,
        file_offers=file_offers,
        saved_searches=saved_searches,
        model_calls=model_calls,
        summary_polisher=summary_polisher,
    )

    turn_workers = TurnWorkers(turn_processor, inbox, name=backends.process_name, log=log)

    async def accept_and_wake(inbound: Inbound) -> TurnId | None:
        turn = await turn_processor.accept_inbound(inbound)
        if turn is not None:
            turn_workers.wake_for(inbound.surface)
        return turn

    async def warm_up() -> None:
        await load_dialogue().warm_up_agent()
        await load_model()

    document_retention = DocumentRetention(
        index=index,
        access=services.access,
        rules=settings.document_rules,
        stored_rules=DocumentRuleStore(database),
        clock=database.utc_now,
        log=log,
    )
    application = Application(
        settings=settings,
        clock=backends.clock,
        index=index,
        operations=backends.operations,
        job_runs=backends.job_runs,
        extractor=backends.extractor,
        database=database,
        grants=services.grants,
        groups=services.groups,
        person_links=services.person_links,
        access=services.access,
        administration=administration,
        granted_contents=contents,
        admin_reports=admin_reports,
        schema_edits=SchemaEdits(contents=contents, index=index, database=database, open_comparisons=open_comparisons),
        retention_edits=RetentionEdits(contents=contents, retention=document_retention, database=database),
        personal_history=PersonalHistory(
            access=services.access, index=index, exports=services.exports, database=database
        ),
        feedback=feedback,
        turn_actions=turn_actions,
        model_calls=model_calls,
        models=backends.models,
        warm_up=warm_up,
        directories=services.directories,
        exports=services.exports,
        file_offers=file_offers,
        attachments=services.attachments,
        sources=sources,
        retention=ConversationRetention(database, settings.retention_days, log),
        document_retention=document_retention,
        web_pages=WebPageStore(database),
        due_searches=DueSearches(
            database=database,
            index=index,
            access=services.access,
            surfaces=backends.surfaces,
            accept=accept_and_wake,
            worker=backends.process_name,
            log=log,
        ),
        saved_search_administration=SavedSearchAdministration(database, accept_and_wake),
        personal_searches=PersonalSearches(database),
        readiness=_build_readiness_checks(settings, database, index),
        index_rebuild=IndexRebuild(
            index=index,
            store=HealthStore(database),
            record=_build_index_record(database, index),
            sources=sources,
            extractor=backends.extractor,
            schemas=settings.home / "schemas",
            passage_characters=settings.passage_characters,
        ),
        clarifications=services.clarifications,
        service_urls=ServiceUrls(database, log),
        further_messages=FurtherMessages(database),
        limits=limits,
        log=log,
        stop_requests=stop_requests,
        turn_processor=turn_processor,
        open_document_tools=cache(partial(_build_document_tools, backends, services, load_rules)),
        document_reading=DocumentReading(index=index, access=services.access),
        turn_workers=turn_workers,
        surfaces=backends.surfaces,
    )
    return application, load_dialogue


def _build_question_comparisons(
    backends: _OpenedBackends, agent: "QuestionAgent | None", limits: AnswerLimits
) -> "QuestionComparisons":
    from agent.context import AgentContext
    from bot.admin.admin_page.question_comparison import QuestionComparisons

    def load_context(index: ScopedIndex, now: datetime) -> AgentContext:
        return AgentContext(
            index=index,
            reasoner=_load_rule_reasoner(backends.embedders.word_embedder),  # its lexicons are of this schema
            reranker=backends.reranker,
            embedder=backends.embedders.word_embedder,
            uses_index_cosines=backends.embedders.are_equal,
            now=now,
            limits=limits,
        )

    return QuestionComparisons(
        statistics=UsageStatisticsStore(backends.database), agent=agent or _default_agent(), load_context=load_context
    )


def _build_document_tools(
    backends: _OpenedBackends, services: _AccessServices, load_rules: "Callable[[], RuleReasoner]"
) -> "DocumentTools":
    from bot.programs.document_tools import DocumentTools

    return DocumentTools(
        index=backends.index,
        access=services.access,
        load_rules=load_rules,
        now=backends.database.utc_now,
        reranker=backends.reranker,
        embedder=backends.embedders.word_embedder,
        uses_index_cosines=backends.embedders.are_equal,
    )


def _build_dialogue(
    *,
    backends: _OpenedBackends,
    services: _AccessServices,
    agent: "QuestionAgent | None",
    given_reasoner: "Reasoner | None",
    load_rules: "Callable[[], RuleReasoner]",
    saved_searches: SavedSearches,
) -> "ConversationDialogue":
    from bot.dialogue.conversation_dialogue import ConversationDialogue

    settings, rules = backends.settings, load_rules()
    reasoner, model = given_reasoner, backends.models.model
    if reasoner is None and model is not None:
        reasoner = _build_model_reasoner(model, rules, settings)
    return ConversationDialogue(
        agent=agent or _default_agent(),
        reasoner=reasoner or rules,
        warm_up_reasoner=rules,  # calls no model
        answer_timeout=timedelta(seconds=settings.answer_timeout),
        reranker=backends.reranker,
        embedder=backends.embedders.word_embedder,
        uses_index_cosines=backends.embedders.are_equal,
        index=backends.index,
        database=backends.database,
        access=services.access,
        directories=services.directories,
        clarifications=services.clarifications,
        exports=services.exports,
        attachments=services.attachments,
        surfaces=backends.surfaces,
        saved_searches=saved_searches,
        show_pictures=settings.pictures,
        web_search=_build_web_search(backends) if settings.web_search.is_allowed else None,
    )


def _build_web_search(backends: _OpenedBackends) -> "WebSearch":
    from bot.web_search.web_search import WebSearch
    from storage.text.snowball_analyser import analyser_for

    return WebSearch(
        settings=backends.settings.web_search,
        store=WebPageStore(backends.database),
        index_opener=partial(_open_embedded, backends.settings, backends.embedders.index_embedder),
        open_scratch_folder=backends.attachment_indexes.open_scratch_folder,
        extractor=backends.extractor,
        analysers=analyser_for,
        embedder=backends.embedders.word_embedder,
        log=backends.log,
        observer=backends.operations.report_operation,
        fetcher=backends.web_fetcher,
    )


def _build_readiness_checks(settings: Settings, database: SqlDatabase, index: SearchIndex) -> ReadinessChecks:
    folders = [settings.home, settings.exports_path]
    if settings.index_url == EMBEDDED_INDEX_URL:
        folders.append(settings.index_path)
    return ReadinessChecks(
        index=index,
        store=HealthStore(database),
        record=_build_index_record(database, index),
        folders=folders,
    )


def _build_index_record(database: SqlDatabase, index: SearchIndex) -> IndexRecord:
    return IndexRecord(
        index=index, store=HealthStore(database), grants=GrantStore(database), sources=SourceStore(database)
    )


def _build_source_kinds(clock: Clock) -> tuple[SourceKind, ...]:
    stores = (StoreKind(name, clock) for name in STORE_KINDS)
    interfaces = (MailKind(), RestKind(clock), ConfluenceKind(clock))
    return (FolderKind(), SiteKind(clock), QueryKind(), *stores, *interfaces)


async def _open_recovering_index(
    settings: Settings, opener: Callable[[], Awaitable[SearchIndex]], report_outage: Callable[[str], None]
) -> SearchIndex:
    from storage.reopening_index import ReopeningIndex

    tenant = TenantId(settings.tenant)
    if settings.index_url == EMBEDDED_INDEX_URL:
        index = await ReopeningIndex[SearchIndex].open(
            opener, tenant, may_recover=lambda failure: isinstance(failure, IndexDamaged), is_replaced=_is_replaced
        )
    else:
        from storage.opensearch.connection import may_recover

        index = await ReopeningIndex[SearchIndex].open(opener, tenant, may_recover=may_recover)
    if index.failure is not None:
        report_outage(str(index.failure))
    return index


def _is_replaced(index: SearchIndex) -> bool:
    """Whether the file of an embedded index is no longer the one that it has open."""
    from storage.embedded.index import EmbeddedIndex

    return isinstance(index, EmbeddedIndex) and index.is_replaced


async def _open_index(settings: Settings, embedder: "Embedder | None") -> SearchIndex:
    from storage.text.snowball_analyser import analyser_for

    if settings.index_url == EMBEDDED_INDEX_URL:
        return await _open_embedded(settings, embedder, settings.index_path)
    from storage.opensearch.index import OpenSearchIndex

    return await OpenSearchIndex.open(
        [url.strip() for url in settings.index_url.split(",")],
        tenant=TenantId(settings.tenant),
        analysers=analyser_for,
        embedder=embedder,
        credentials=_cluster_credentials_in(settings),
        ca_file=str(settings.index_ca) if settings.index_ca else None,
        shard_count=settings.index_shards,
        max_scanned_passages=settings.index_scanned_passages,
        shared_from=settings.index_shared_from,
    )


def _cluster_credentials_in(settings: Settings) -> "ClusterCredentials | None":
    """The first of those that are set; `Settings.find_problems` names the others."""
    from storage.opensearch.cluster_credentials import AwsSignature, ClusterApiKey, UserPassword

    if settings.index_user:
        password = settings.index_password.get_secret_value() if settings.index_password else ""
        return UserPassword(user=settings.index_user, password=password)
    if settings.index_api_key:
        return ClusterApiKey(token=settings.index_api_key.get_secret_value())
    return AwsSignature(region=settings.index_aws_region) if settings.index_aws_region else None


async def _open_embedded(settings: Settings, embedder: "Embedder | None", folder: Path) -> "EmbeddedIndex":
    from storage.embedded.index import EmbeddedIndex
    from storage.text.snowball_analyser import analyser_for

    tenant = TenantId(settings.tenant)
    return await EmbeddedIndex.open(folder, tenant=tenant, analysers=analyser_for, embedder=embedder)


def _default_agent() -> "QuestionAgent":
    from agent import loop

    return loop


def _load_rule_reasoner(embedder: "Embedder | None") -> "RuleReasoner":
    from agent.rules.reasoner import RuleReasoner

    return RuleReasoner(embedder)


def _build_model_reasoner(model: LanguageModel, rules: "RuleReasoner", settings: Settings) -> "Reasoner":
    from agent.model.options import ModelMode
    from agent.model.reasoner import ModelReasoner
    from agent.model.single_loop import LoopReasoner

    options = settings.model.reasoner_options
    staged = ModelReasoner(model, rules, options)
    return LoopReasoner(model, rules, staged, options) if options.mode is ModelMode.LOOP else staged


def _default_extractor() -> Extractor:
    from storage.ingest.extract.rule_extractor import RuleExtractor

    return RuleExtractor()
