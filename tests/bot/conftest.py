"""A bot over a real SQLite database and the real embedded index, with 37 receipts of Acme and 5 of Bolt in it."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bootstrap import Bot, build_bot
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from bot.inbound import Audience, Body, Clicked, Inbound, Operator, Private, Said
from bot.settings import Settings, load_settings
from bot.turns import TurnDone
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import Database
from tests.bot.fakes import NO_REASONER, Chat, Clock, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "10"}
    return load_settings(tmp_path / "home", environ).settings


@pytest.fixture
async def database(settings: Settings, clock: Clock) -> AsyncIterator[Database]:
    database = await Database.open(settings.database, clock=clock)
    yield database
    await database.close()


@pytest.fixture
async def index(settings: Settings) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    vendors = ["Acme"] * 37 + ["Bolt"] * 5
    await index.put(
        RECEIPTS, [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
    )
    yield index
    await index.close()


@pytest.fixture
def agent() -> ListingAgent:
    return ListingAgent()


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
async def bot(
    settings: Settings, clock: Clock, database: Database, index: EmbeddedIndex, agent: ListingAgent, chat: Chat
) -> AsyncIterator[Bot]:
    async with build_bot(
        settings,
        clock=clock,
        database=database,
        index=index,
        agent=agent,
        reasoner=NO_REASONER,
        outboxes={"slack": chat},
    ) as bot:
        yield bot


class Talk:
    """One person, somewhere, talking to a bot: each say or click is a turn, worked on at once."""

    def __init__(
        self,
        bot: Bot,
        *,
        audience: Audience | None = None,
        person: str = "operator",
        name: str = "",
        conversation: str = "c1",
        surface: str = "slack",
        buckets: tuple[str, ...] = (),
    ) -> None:
        self.bot, self.person, self.name, self.surface = bot, PersonId(person), name, surface
        self.audience = audience or Operator()
        self.conversation, self.buckets = ConversationId(conversation), buckets

    async def say(self, text: str) -> TurnDone:
        return await self.bot.run(await self.accepted(Said(text)))

    async def click(self, done: TurnDone, label: str) -> TurnDone:
        return await self.bot.run(await self.accepted(Clicked(choice_of(done, label))))

    async def accepted(self, body: Body) -> TurnId:
        turn = await self.bot.accept(self.inbound(body))
        assert turn is not None
        return turn

    def inbound(self, body: Body, event: str | None = None) -> Inbound:
        one = next(_EVENTS)
        return Inbound(
            surface=self.surface,
            event_id=event or f"e{one}",
            conversation=self.conversation,
            message_id=MessageId(f"in{one}"),
            person=self.person,
            name=self.name,
            audience=self.audience,
            body=body,
            received=datetime(2031, 5, 9, 12, tzinfo=UTC),
            buckets=self.buckets,
        )


_EVENTS = itertools.count(1)


def choice_of(done: TurnDone, label: str) -> ChoiceId:
    return next(ChoiceId(choice["id"]) for choice in done.result["choices"] if choice["label"] == label)


def somebody(name: str, *, guest: bool = False) -> Private:
    return Private(person=PersonId(f"slack:T1:{name}"), guest=guest)


@asynccontextmanager
async def working(bot: Bot) -> AsyncGenerator[None]:
    """Workers, as `parley serve` runs them."""
    stop = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(bot.work(stop))
        try:
            yield
        finally:
            stop.set()


async def finished(bot: Bot, turn: TurnId, meanwhile: Callable[[], None] = lambda: None) -> TurnDone:
    while True:
        done = await bot.done(turn)
        if done is not None:
            return done
        meanwhile()
        await asyncio.sleep(0.01)


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not fact():  # noqa: ASYNC110 - what happens elsewhere sets no event
            await asyncio.sleep(0.01)
