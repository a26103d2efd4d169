"""Documents to attach, and people at work with Parley who attach them: one channel may see some receipts."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import docx
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from adapters.slack.api import SlackApi
from agent.reasoner import Reasoner
from bot.bootstrap import Bot, Clock, build_bot, utc_now
from bot.dialogue import Agent
from bot.ids import BucketId, Subject, TurnId
from bot.settings import load_settings
from storage.ingest.pipeline import ingest
from tests.adapters.slack.conftest import Pauses, a_surface, served
from tests.bot.conftest import finished, working
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, StoredFile, User

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
CSV = "text/csv"
SALES = 60  # rows of the table


def a_pdf(*pages: str) -> bytes:
    """A page each, line by line."""
    made = io.BytesIO()
    canvas = Canvas(made)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            canvas.drawString(72, 750 - 16 * number, line)  # pyright: ignore[reportUnknownMemberType]
        canvas.showPage()  # pyright: ignore[reportUnknownMemberType]
    canvas.save()  # pyright: ignore[reportUnknownMemberType]
    return made.getvalue()


def a_docx(*paragraphs: str) -> bytes:
    made, document = io.BytesIO(), docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    document.save(made)
    return made.getvalue()


def a_csv(rows: Sequence[dict[str, object]]) -> bytes:
    made = io.StringIO()
    writer = csv.DictWriter(made, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue().encode()


def sales(count: int = SALES) -> list[dict[str, object]]:
    """By region in turn; units from 1 on."""
    regions = ("North", "South", "West")
    return [
        {
            "order": f"SO-{number:05}",
            "region": regions[number % 3],
            "units": number + 1,
            "seller": f"Seller {number % 7}",
        }
        for number in range(count)
    ]


LEASE = a_pdf(
    "Lease of the Harbour warehouse\nThis lease is made between Quayside Ltd and Nordlicht GmbH.",
    "Termination\nThe lease may be terminated with a notice period of eleven months.",
    "Deposit\nThe tenant pays a deposit of 7,300 euros to the landlord.",
)


def write_receipts(folder: Path, count: int = 24) -> Path:
    """A line each: vendors in turn, one a day."""
    vendors = ("Acme", "Bolt", "Cargo")
    path = folder / "receipts.jsonl"
    records = [
        {
            "doc_id": f"r{number:03}",
            "title": f"Receipt {number}",
            "text": f"Receipt {number} of {vendors[number % 3]} for tires",
            "metadata": {
                "vendor": vendors[number % 3],
                "total": 10.0 + number,
                "date": f"2024-03-{number % 28 + 1:02}",
            },
        }
        for number in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


@dataclass(kw_only=True)
class Desk:
    """Ada and Bob, a channel of theirs that may see the receipts, and one that may see nothing."""

    slack: SlackServer
    bot: Bot
    ada: User
    bob: User
    general: Channel
    lobby: Channel
    pauses: Pauses = field(default_factory=Pauses)

    async def ask(
        self,
        text: str,
        *files: StoredFile,
        of: Message | None = None,
        user: User | None = None,
        channel: Channel | None = None,
    ) -> Message:
        """Ada in the channel, unless others elsewhere; `of`: in the thread of that answer. The finished answer."""
        place = channel or self.general
        mention = "" if place.kind == "im" else f"<@{BOT_USER}> "
        before, thread = len(self.answers()), of.thread_ts if of is not None else None
        await self.slack.say(user or self.ada, place, f"{mention}{text}", thread_ts=thread, files=files)
        return await self.answer_after(before)

    async def click(self, message: Message, label: str, user: User | None = None) -> Message:
        before = len(self.answers())
        await self.slack.click(user or self.ada, message, label)
        return await self.answer_after(before)

    async def answer_after(self, before: int) -> Message:
        await self.slack.until(lambda: len(self.answers()) > before, within_s=30)
        answer = self.answers()[before]
        await finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def answers(self) -> list[Message]:
        """Those with a turn, and no question that was put where it is answered."""
        said = self.slack.workspace.answers()
        return [one for one in said if (one.metadata or {}).get("event_type") == "parley_turn"]

    def table(self, name: str = "sales.csv", count: int = SALES, user: User | None = None) -> StoredFile:
        return self.slack.upload(user or self.ada, name, a_csv(sales(count)), CSV)

    def lease(self, user: User | None = None) -> StoredFile:
        return self.slack.upload(user or self.ada, "Harbour lease.pdf", LEASE, PDF)

    def direct(self, user: User) -> Channel:
        return self.slack.workspace.direct(user.id)


@asynccontextmanager
async def a_desk(
    slack: SlackServer,
    home: Path,
    *,
    agent: Agent | None = None,
    reasoner: Reasoner | None = None,
    clock: Clock = utc_now,
    works: bool = True,
    **environ: str,
) -> AsyncGenerator[Desk]:
    """Parley may read files, and has its home in `home`, which is filled if it is new. `works`: else it only hears."""
    slack.scopes |= {"files:read"}
    given = {"PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "20"}
    async with AsyncExitStack() as stack:
        settings = load_settings(home, given | environ).settings
        bot = await stack.enter_async_context(build_bot(settings, agent=agent, reasoner=reasoner, clock=clock))
        if not await bot.index.buckets():
            await ingest(bot.index, [write_receipts(home)], bucket=BucketId("receipts"))
        desk = _furnished(slack, bot)
        await bot.grants.grant(BucketId("receipts"), Subject(f"channel:slack:{TEAM}:{desk.general.id}"), by="operator")
        surface = a_surface(bot, SlackApi(token=TOKEN, base_url=slack.api_url, pause=desk.pauses))
        bot.register(surface)
        await stack.enter_async_context(served(surface, slack))
        if works:
            await stack.enter_async_context(working(bot))
        yield desk


def _furnished(slack: SlackServer, bot: Bot) -> Desk:
    place = slack.workspace
    ada, bob = place.add_user(User(id="U1ADA", name="Ada")), place.add_user(User(id="U2BOB", name="Bob"))
    rooms = [
        place.channels.get(name) or place.add_channel(Channel(id=name, members=[ada.id, bob.id, BOT_USER]))
        for name in ("C1GENERAL", "C2LOBBY")
    ]
    return Desk(slack=slack, bot=bot, ada=ada, bob=bob, general=rooms[0], lobby=rooms[1])
