"""Every object made once, each replaceable by keyword. Alone names concrete classes; owns their opening and closing."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import structlog
from structlog.typing import FilteringBoundLogger

from agent.context import Limits
from agent.errors import RerankerUnavailable
from agent.reasoner import Reasoner
from agent.rerank import Reranker
from bot.access import Access
from bot.administration import Administration
from bot.afterwards import Afterwards
from bot.attached import Attached
from bot.checkup import Checkup, Finding
from bot.clarifications import Clarifications
from bot.dialogue import Agent, Dialogue
from bot.directory import Directories
from bot.download import LinkSigner, download_route
from bot.exports import Exports
from bot.feedback import Feedback
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound
from bot.installations import Installations
from bot.jobs import ticking
from bot.limits import QuestionLimits
from bot.outbox import Outbox
from bot.personal import Personal
from bot.revisions import Revisions
from bot.settings import Settings
from bot.shelves import Shelves
from bot.sources import ALLOW_PRIVATE, FOLDER, Sources
from bot.stopping import Stops
from bot.surfaces import Surface
from bot.turns import MAX_ATTEMPTS, TurnDone, Turns
from bot.workers import Workers
from storage.search.errors import SearchError
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.sql.attached import AttachedFiles
from storage.sql.database import Database
from storage.sql.errors import SqlError
from storage.sql.grants import Grants, LocalGroups
from storage.sql.inbox import Inbox
from storage.sql.sources import Source

if TYPE_CHECKING:
    from aiohttp import web

    from storage.embedder import Embedder
    from storage.ingest.sources.source import Source as Place

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Bot:
    """What surfaces and the command line are given."""

    settings: Settings
    clock: Clock
    index: SearchIndex
    database: Database
    grants: Grants
    groups: LocalGroups
    access: Access
    administration: Administration
    personal: Personal
    feedback: Feedback
    afterwards: Afterwards
    directories: Directories
    exports: Exports
    attached: Attached
    sources: Sources
    clarifications: Clarifications
    limits: Limits
    log: FilteringBoundLogger
    dialogue: Dialogue
    stops: Stops
    turns: Turns
    workers: Workers
    surfaces: dict[str, Surface] = field(default_factory=dict[str, Surface])

    def installations(self, product: str) -> Installations:
        """Where the product's app is installed, if it is in several places."""
        return Installations(product, self.database, self.settings.secret_keys)

    def register(self, surface: Surface) -> None:
        """Its turns are worked on here from now on, and replied to through its outbox."""
        self.surfaces[surface.name] = surface
        self.turns.reply_through(surface.name, surface.outbox)
        if surface.threads is not None:
            self.turns.place_through(surface.name, surface.threads)
            self.dialogue.go_private_through(surface.name, surface.threads)
        self._ask(surface)

    def leave(self, surface: Surface) -> None:
        """Its turns are accepted here, and worked on in another process."""
        self.surfaces[surface.name] = surface
        self.turns.leave(surface.name)
        self._ask(surface)

    def _ask(self, surface: Surface) -> None:
        if surface.directory is not None:
            self.directories.ask(surface.name, surface.directory)
        if surface.files is not None:
            self.attached.fetch_through(surface.name, surface.files)

    async def accept(self, inbound: Inbound) -> TurnId | None:
        """Stored when it returns: acknowledge then. None: it was accepted before. Raises what the database raises."""
        turn = await self.turns.accept(inbound)
        if turn is not None:
            self.workers.wake(inbound.surface)
        return turn

    async def has_answered(self, conversation: ConversationId) -> bool:
        """Whether a reply of Parley's stands in the conversation."""
        return await self.turns.has_answered(conversation)

    async def run(self, turn: TurnId, *, limits: Limits | None = None) -> TurnDone:
        """Works on an accepted turn here and now, and on those before it in its conversation. Failures are final.

        A surface without a registered outbox has its reply in the `TurnDone` alone. Raises `UnknownTurn`, `SqlError`.
        """
        return await self.workers.run(turn, limits=limits)

    async def done(self, turn: TurnId) -> TurnDone | None:
        """What a turn came to, whoever worked on it; None while it is open. Raises `UnknownTurn`."""
        return await self.turns.done(turn)

    async def work(self, stop: asyncio.Event, *, prepare: bool = False, chores: bool = True) -> None:
        """Works on the turns of the registered surfaces, syncs what is due, and expires what is old, until `stop`.

        `prepare`: makes beside it what the first question would wait for. `chores`: else others sync and remove files.
        """
        at_start = self.dialogue.prepare if prepare else None
        async with ticking(
            self.turns, self.exports, self.attached, self.sources, self.log, at_start=at_start, chores=chores
        ):
            await self.workers.work(stop)

    def routes(self) -> tuple["web.RouteDef", ...]:
        """The bot's own, beside those of its surfaces: `GET /download/{signed}`."""
        return (download_route(self.exports.find),)

    async def answers(self) -> None:
        """Raises `SqlError` or `IndexUnavailable` when the database or the index does not answer."""
        await self.database.answers()
        await self.index.ping()


@asynccontextmanager
async def build_bot(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    database: Database | None = None,
    index: SearchIndex | None = None,
    agent: Agent | None = None,
    reasoner: Reasoner | None = None,
    reranker: Reranker | None = None,
    outboxes: Mapping[str, Outbox] | None = None,
    log: FilteringBoundLogger | None = None,
) -> AsyncGenerator[Bot]:
    """The bot, open for the length of the block. What is given is used, and left open; what is not is made and closed.

    `outboxes` by surface, for surfaces that are not `register`ed. Raises `SqlError`, `IndexUnavailable`.
    """
    async with AsyncExitStack() as stack:
        log, embedder = log or _log_file(settings, stack), _embedder(settings)
        if database is None:
            database = await Database.open(settings.database, clock=clock)
            stack.push_async_callback(database.close)
        if index is None:
            index = await _open_index(settings, embedder)
            stack.push_async_callback(index.close)
        if reranker is None:
            reranker = stack.enter_context(opened_reranker(settings))
        store = AttachedFiles(database)
        shelves = Shelves(settings.home / "attached", partial(_open_embedded, settings, embedder), store, log)
        stack.push_async_callback(shelves.close)
        agent, reasoner = agent or _agent(), reasoner or _reasoner()
        bot = _assembled(settings, clock, database, index, store, shelves, agent, reasoner, reranker, log)
        for surface, outbox in (outboxes or {}).items():
            bot.turns.reply_through(surface, outbox)
        yield bot


async def unanswered(settings: Settings) -> list[str]:
    """What of the database, the index and the reranker cannot be opened or does not answer, each in a sentence."""
    wrong: list[str] = []
    try:
        async with AsyncExitStack() as stack:
            database = await Database.open(settings.database, clock=utc_now)
            stack.push_async_callback(database.close)
            await database.answers()
    except (SqlError, OSError) as exc:
        wrong.append(str(exc))
    try:
        async with AsyncExitStack() as stack:
            index = await _open_index(settings, _embedder(settings))
            stack.push_async_callback(index.close)
            await index.ping()
    except (SearchError, OSError) as exc:
        wrong.append(str(exc))
    try:
        with opened_reranker(settings) as reranker:
            if reranker is not None:
                await reranker.scores("question", ["passage"])
    except RerankerUnavailable as exc:
        wrong.append(f"PARLEY_RERANKER: {exc}")
    return wrong


async def findings(settings: Settings, product: str) -> Sequence[Finding]:
    """What the chat product says of how it is set up here. Raises `SqlError`."""
    [point] = entry_points(group="parley.checkups", name=product)
    checkup: Checkup = point.load()
    async with AsyncExitStack() as stack:
        database = await Database.open(settings.database, clock=utc_now)
        stack.push_async_callback(database.close)
        return await checkup(settings, Installations(product, database, settings.secret_keys))


@contextmanager
def opened_reranker(settings: Settings) -> Generator[Reranker | None]:
    """The one that is set, with its model from the home; loaded when it is first asked."""
    if settings.flashrank_model is None:
        yield None
        return
    from bot.reranker import FlashrankReranker

    with closing(FlashrankReranker(settings.flashrank_model, settings.models_path)) as reranker:
        yield reranker


def _assembled(
    settings: Settings,
    clock: Clock,
    database: Database,
    index: SearchIndex,
    store: AttachedFiles,
    shelves: Shelves,
    agent: Agent,
    reasoner: Reasoner,
    reranker: Reranker | None,
    log: FilteringBoundLogger,
) -> Bot:
    worker = f"{socket.gethostname()}:{os.getpid()}"
    limits = Limits(overload=settings.overload_limit, read=settings.read_limit)
    grants, groups = Grants(database), LocalGroups(database)
    directories = Directories()
    access = Access(TenantId(settings.tenant), grants, groups, index, directories)
    clarifications = Clarifications(database, access)
    attached = Attached(store=store, index=index, access=access, shelves=shelves, log=log)
    exports = Exports(
        database=database,
        attached=attached,
        access=access,
        signer=LinkSigner(settings.secret_keys),
        folder=settings.exports_path,
        link_base=settings.link_base,
        worker=worker,
    )
    sources = Sources(
        database=database,
        index=index,
        opener=partial(_opened_source, clock),
        schemas=settings.home / "schemas",
        worker=worker,
        log=log,
    )
    dialogue = Dialogue(
        agent=agent,
        reasoner=reasoner,
        reranker=reranker,
        index=index,
        database=database,
        access=access,
        directories=directories,
        clarifications=clarifications,
        exports=exports,
        attached=attached,
    )
    inbox = Inbox(database, max_attempts=MAX_ATTEMPTS)
    stops, feedback = Stops(inbox, log), Feedback(database)
    afterwards = Afterwards(inbox=inbox, access=access, index=index, attached=attached, feedback=feedback, stops=stops)
    turns = Turns(
        inbox=inbox,
        dialogue=dialogue,
        clarifications=clarifications,
        limits=limits,
        question_limits=QuestionLimits(database),
        stops=stops,
        revisions=Revisions(
            inbox=inbox,
            stops=stops,
            clarifications=clarifications,
            exports=exports,
            attached=attached,
            database=database,
        ),
        afterwards=afterwards,
        clock=database.now,
        log=log,
    )
    return Bot(
        settings=settings,
        clock=clock,
        index=index,
        database=database,
        grants=grants,
        groups=groups,
        access=access,
        administration=Administration(
            settings=settings,
            database=database,
            index=index,
            sources=sources,
            grants=grants,
            groups=groups,
            directories=directories,
        ),
        personal=Personal(access=access, index=index, exports=exports, database=database),
        feedback=feedback,
        afterwards=afterwards,
        directories=directories,
        exports=exports,
        attached=attached,
        sources=sources,
        clarifications=clarifications,
        limits=limits,
        log=log,
        dialogue=dialogue,
        stops=stops,
        turns=turns,
        workers=Workers(turns, inbox, name=worker, log=log),
    )


@asynccontextmanager
async def _opened_source(clock: Clock, source: Source) -> "AsyncGenerator[Place]":
    if source.kind == FOLDER:
        from storage.ingest.sources.folder import Folder

        yield Folder(Path(source.location))
        return
    from storage.ingest.sources.site import opened

    async with opened(source.location, allow_private=bool(source.options.get(ALLOW_PRIVATE)), clock=clock) as site:
        yield site


async def _open_index(settings: Settings, embedder: "Embedder | None") -> SearchIndex:
    from storage.analysis import analyser_for

    if settings.index_url == "embedded:":
        return await _open_embedded(settings, embedder, settings.index_path)
    from storage.opensearch.index import OpenSearchIndex

    return await OpenSearchIndex.open(
        [url.strip() for url in settings.index_url.split(",")],
        tenant=TenantId(settings.tenant),
        analysers=analyser_for,
        embedder=embedder,
        user=settings.index_user,
        password=settings.index_password.get_secret_value() if settings.index_password else None,
        ca=str(settings.index_ca) if settings.index_ca else None,
    )


async def _open_embedded(settings: Settings, embedder: "Embedder | None", folder: Path) -> SearchIndex:
    from storage.analysis import analyser_for
    from storage.embedded.index import EmbeddedIndex

    tenant = TenantId(settings.tenant)
    return await EmbeddedIndex.open(folder, tenant=tenant, analysers=analyser_for, embedder=embedder)


def _embedder(settings: Settings) -> "Embedder | None":
    if settings.embedder == "none":
        return None
    from storage.embedder import WordLlamaEmbedder

    return WordLlamaEmbedder()


def _agent() -> Agent:
    from agent import loop

    return loop


def _reasoner() -> Reasoner:
    from agent.rules.reasoner import RuleReasoner

    return RuleReasoner()


def _log_file(settings: Settings, stack: AsyncExitStack) -> FilteringBoundLogger:
    """A line of JSON a turn, in the home."""
    folder = settings.home / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file: TextIO = stack.enter_context((folder / "parley.log").open("a", encoding="utf-8"))
    except OSError:  # a log that cannot be written keeps nobody from an answer
        file = sys.stderr
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(file), processors=processors, wrapper_class=structlog.make_filtering_bound_logger("info")
    )
    return logger
