"""An application on a real SQLite database and the real embedded index, which holds 37 receipts of Acme
and 5 of Bolt.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import ChoiceId, ConversationId, MessageId, PersonId, TurnId
from bot.settings import Settings, load_settings
from bot.surface.inbound import (
    Audience,
    ButtonClick,
    Inbound,
    InboundBody,
    OperatorAudience,
    PrivateAudience,
    TextMessage,
)
from bot.turns.turn_processor import FinishedTurn
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import SqlDatabase
from storage.text.snowball_analyser import analyser_for
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "10"}
    return load_settings(tmp_path / "home", environ).settings


@pytest.fixture
async def database(settings: Settings, clock: Clock) -> AsyncIterator[SqlDatabase]:
    database = await SqlDatabase.open(settings.effective_database_url, clock=clock)
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
def chat() -> FakeChat:
    return FakeChat()


@pytest.fixture
async def bot(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex, agent: ListingAgent, chat: FakeChat
) -> AsyncIterator[Application]:
    async with open_application(
        settings,
        clock=clock,
        database=database,
        index=index,
        agent=agent,
        reasoner=NO_REASONER,
        outboxes={"slack": chat},
    ) as bot:
        yield bot


class ConversationDriver:
    """One person in one conversation with the application. Each message or click is a turn, which runs at once."""

    def __init__(
        self,
        bot: Application,
        *,
        audience: Audience | None = None,
        person: str = "operator",
        name: str = "",
        conversation: str = "c1",
        surface: str = "slack",
        buckets: tuple[str, ...] = (),
        locale: str = "en",
    ) -> None:
        self.locale = locale
        self.bot, self.person, self.name, self.surface = bot, PersonId(person), name, surface
        self.audience = audience or OperatorAudience()
        self.conversation, self.buckets = ConversationId(conversation), buckets

    async def ask_question(self, text: str) -> FinishedTurn:
        return await self.bot.run_turn(await self.accept_body(TextMessage(text)))

    async def click_choice(self, finished_turn: FinishedTurn, label: str) -> FinishedTurn:
        return await self.bot.run_turn(await self.accept_body(ButtonClick(choice_of(finished_turn, label))))

    async def accept_body(self, body: InboundBody) -> TurnId:
        turn = await self.bot.accept_inbound(self.build_inbound(body))
        assert turn is not None
        return turn

    def build_inbound(self, body: InboundBody, event: str | None = None) -> Inbound:
        number = next(_EVENT_NUMBERS)
        return Inbound(
            surface=self.surface,
            event_id=event or f"e{number}",
            conversation=self.conversation,
            message_id=MessageId(f"in{number}"),
            person=self.person,
            person_name=self.name,
            audience=self.audience,
            body=body,
            received_at=datetime(2031, 5, 9, 12, tzinfo=UTC),
            buckets=self.buckets,
            locale=self.locale,
        )


_EVENT_NUMBERS = itertools.count(1)


def choice_of(finished_turn: FinishedTurn, label: str) -> ChoiceId:
    return next(ChoiceId(choice["id"]) for choice in finished_turn.result["choices"] if choice["label"] == label)


def private_audience_of(name: str, *, guest: bool = False) -> PrivateAudience:
    return PrivateAudience(person=PersonId(f"slack:T1:{name}"), is_guest=guest)


@asynccontextmanager
async def running_workers(bot: Application, *, limit_s: float = 60.0) -> AsyncGenerator[None]:
    """The workers, as `parley serve` runs them, for this long at most."""
    stop = asyncio.Event()
    async with asyncio.timeout(limit_s), asyncio.TaskGroup() as group:
        group.create_task(bot.run_until_stopped(stop))
        try:
            yield
        finally:
            stop.set()


async def wait_until_finished(
    bot: Application, turn: TurnId, meanwhile: Callable[[], None] = lambda: None
) -> FinishedTurn:
    while True:
        finished_turn = await bot.load_finished_turn(turn)
        if finished_turn is not None:
            return finished_turn
        meanwhile()
        await asyncio.sleep(0.01)


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.01)
