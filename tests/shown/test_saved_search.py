"""A saved search over restarts and both changes of the clocks: each report comes once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import EVERYONE
from bot.settings import Settings, load_settings
from bot.surface.inbound import TextMessage
from bot.surface.replies import TextPart
from bot.turns.delivery import TURN_LEASE
from storage.search.documents import Document, Passage
from storage.search.ids import DocId, FieldName
from storage.sql.stores.inbox import TurnInbox
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import Clock, FakeChat
from tests.builders import RECEIPTS, a_receipt_schema
from tests.shown.transcripts import RecordedTranscript

BERLIN: Final = ZoneInfo("Europe/Berlin")
TICK: Final = timedelta(minutes=10)
SAVING_TEXT: Final = "Every day at 2:30: list the receipts"
ANN: Final = private_audience_of("ANN")


def build_receipt(number: int) -> Document:
    text = f"Receipt {number} from Acme."
    return Document(
        doc_id=DocId(f"r{number}"),
        title=f"Receipt {number}",
        text=text,
        source="test",
        values={FieldName("vendor"): "Acme"},
        passages=(Passage(start=0, end=len(text)),),
        digest=f"r{number}",
    )


class ShownService:
    """Two replicas on one database and one index, which can be restarted. The clock stands unless it is moved."""

    def __init__(self, home: Path, clock: Clock, transcript: RecordedTranscript) -> None:
        environ = {"PARLEY_EMBEDDER": "none"}
        self._settings: Settings = load_settings(home, environ).settings
        self._clock, self._transcript = clock, transcript
        self._chat, self._shown_count = FakeChat(), 0

    @asynccontextmanager
    async def run_replicas(self) -> AsyncGenerator[tuple[Application, Application]]:
        async with AsyncExitStack() as stack:
            first, second = [
                await stack.enter_async_context(
                    open_application(self._settings, clock=self._clock, outboxes={"slack": self._chat})
                )
                for _ in range(2)
            ]
            yield first, second

    async def ask_question(self, bot: Application, text: str) -> None:
        """Ask in words, as a person in Berlin."""
        driver = ConversationDriver(bot, person=ANN.person, audience=ANN)
        inbound = replace(driver.build_inbound(TextMessage(text)), time_zone=str(BERLIN))
        turn = await bot.accept_inbound(inbound)
        assert turn is not None
        await bot.run_turn(turn)
        self._transcript.add_lines(f"Ann: {text}")
        self._show_messages()

    async def run_until(self, moment: datetime, replicas: tuple[Application, Application]) -> None:
        """Lets the time pass; at each tick both replicas do what their periodic job and a worker do."""
        while self._clock() < moment:
            self._clock.advance(min(TICK, moment - self._clock()))
            await asyncio.gather(*(replica.due_searches.start_due_runs() for replica in replicas))
            for replica in replicas:
                await work_off_inbox(replica)
            self._show_messages()

    def show_time(self, what: str) -> None:
        self._transcript.add_lines(f"# {format_time(self._clock())}: {what}")

    def _show_messages(self) -> None:
        messages = list(self._chat.messages.values())
        for message in messages[self._shown_count :]:
            parts = [part.markdown for part in message.reply.parts if isinstance(part, TextPart)]
            self._transcript.add_lines(f"{format_time(self._clock())}  Parley: {' '.join(' '.join(parts).split())}", "")
        self._shown_count = len(messages)

    @property
    def posted_count(self) -> int:
        return len(self._chat.messages)


async def work_off_inbox(bot: Application) -> None:
    inbox = TurnInbox(bot.database)
    while claimed := await inbox.claim_due_turns("worker", TURN_LEASE):
        for turn in claimed:
            await bot.turn_processor.process_turn(turn)


def format_time(moment: datetime) -> str:
    return f"{moment.astimezone(BERLIN):%a %d %b %Y %H:%M %Z}"


def berlin_clock_at(year: int, month: int, day: int, hour: int, minute: int) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=BERLIN).astimezone(UTC)


async def test_a_saved_search_reports_once_a_day_when_the_clocks_change_and_parley_is_restarted(tmp_path: Path) -> None:
    clock, transcript = Clock(berlin_clock_at(2031, 10, 24, 18, 0)), RecordedTranscript("saved search")
    service = ShownService(tmp_path / "home", clock, transcript)
    async with service.run_replicas() as replicas:
        bot = replicas[0]
        await bot.index.set_schema(a_receipt_schema())
        await bot.index.put(RECEIPTS, list(map(build_receipt, range(3))))
        await bot.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="operator")
        await service.ask_question(bot, SAVING_TEXT)
        await service.run_until(berlin_clock_at(2031, 10, 25, 12, 0), replicas)
        await bot.index.put(RECEIPTS, [build_receipt(3)])
        service.show_time("a receipt is added")
        # Half past two comes twice in this night: first in summer time.
        await service.run_until(datetime(2031, 10, 26, 0, 40, tzinfo=UTC), replicas)
        service.show_time("both replicas are stopped")
    async with service.run_replicas() as replicas:
        service.show_time("and started again, before it is half past two a second time")
        await service.run_until(berlin_clock_at(2031, 10, 27, 12, 0), replicas)
        service.show_time("both replicas are stopped until the night in which the clocks go forward")
    clock.advance(berlin_clock_at(2032, 3, 28, 1, 0) - clock())
    async with service.run_replicas() as replicas:
        service.show_time("and started again; there is no half past two in this night")
        await service.run_until(berlin_clock_at(2032, 3, 29, 12, 0), replicas)

    assert service.posted_count == 1 + 3 + 3
    transcript.check_page()
