"""Files to attach, and a Slack workspace in which people attach them. One channel may see some receipts."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import docx
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from adapters.slack.posting.api import SlackApi
from agent.reasoner import Reasoner
from bot.application import Application, Clock
from bot.bootstrap import open_application, utc_now
from bot.conversation.dialogue import QuestionAgent
from bot.ids import BucketId, Subject, TurnId
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from tests.adapters.slack.conftest import RecordedPauses, build_surface, serve_surface
from tests.bot.conftest import running_workers, wait_until_finished
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage, StoredFile

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
CSV = "text/csv"
SALES_COUNT = 60  # rows of the table


def a_pdf(*pages: str) -> bytes:
    """A PDF with these pages. Line breaks in the text are kept."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            canvas.drawString(72, 750 - 16 * number, line)  # pyright: ignore[reportUnknownMemberType]
        canvas.showPage()  # pyright: ignore[reportUnknownMemberType]
    canvas.save()  # pyright: ignore[reportUnknownMemberType]
    return buffer.getvalue()


def a_docx(*paragraphs: str) -> bytes:
    buffer, document = io.BytesIO(), docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    document.save(buffer)
    return buffer.getvalue()


def a_csv(rows: Sequence[dict[str, object]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def sales_rows(count: int = SALES_COUNT) -> list[dict[str, object]]:
    """Rows of a sales table: regions in turn, units counted up from 1."""
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
    """Write a JSONL file with receipts: vendors in turn, one receipt per day."""
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
class AttachmentDesk:
    """Ada and Bob, their channel that may see the receipts (`general`), and one that may see nothing (`lobby`)."""

    slack: SlackServer
    bot: Application
    ada: SlackMember
    bob: SlackMember
    general: SlackChannel
    lobby: SlackChannel
    pauses: RecordedPauses = field(default_factory=RecordedPauses)

    async def ask(
        self,
        text: str,
        *files: StoredFile,
        in_thread_of: SlackMessage | None = None,
        user: SlackMember | None = None,
        channel: SlackChannel | None = None,
    ) -> SlackMessage:
        """Ask and return the finished answer. By default Ada asks in `general`. `of`: ask in this answer's thread."""
        target_channel = channel or self.general
        mention = "" if target_channel.kind == "im" else f"<@{BOT_USER}> "
        answer_count, thread = len(self.answers()), in_thread_of.thread_ts if in_thread_of is not None else None
        await self.slack.post_as_person(
            user or self.ada, target_channel, f"{mention}{text}", thread_ts=thread, files=files
        )
        return await self.answer_after(answer_count)

    async def click(self, message: SlackMessage, label: str, user: SlackMember | None = None) -> SlackMessage:
        answer_count = len(self.answers())
        await self.slack.click_button(user or self.ada, message, label)
        return await self.answer_after(answer_count)

    async def answer_after(self, answer_count: int) -> SlackMessage:
        await self.slack.wait_until(lambda: len(self.answers()) > answer_count, within_s=30)
        answer = self.answers()[answer_count]
        await wait_until_finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def answers(self) -> list[SlackMessage]:
        """The bot's messages that belong to a turn."""
        messages = self.slack.workspace.bot_messages()
        return [message for message in messages if (message.metadata or {}).get("event_type") == "parley_turn"]

    def upload_table(
        self, name: str = "sales.csv", count: int = SALES_COUNT, user: SlackMember | None = None
    ) -> StoredFile:
        return self.slack.upload_file(user or self.ada, name, a_csv(sales_rows(count)), CSV)

    def upload_lease(self, user: SlackMember | None = None) -> StoredFile:
        return self.slack.upload_file(user or self.ada, "Harbour lease.pdf", LEASE, PDF)

    def direct_channel_of(self, user: SlackMember) -> SlackChannel:
        return self.slack.workspace.direct_channel_of(user.id)


@asynccontextmanager
async def a_desk(
    slack: SlackServer,
    home: Path,
    *,
    agent: QuestionAgent | None = None,
    reasoner: Reasoner | None = None,
    clock: Clock = utc_now,
    with_worker: bool = True,
    **environ: str,
) -> AsyncGenerator[AttachmentDesk]:
    """Parley with the right to read files. A new `home` is filled with receipts.

    Without `with_worker` the bot receives messages but does not answer them.
    """
    slack.scopes |= {"files:read"}
    defaults = {"PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "20"}
    async with AsyncExitStack() as stack:
        settings = load_settings(home, defaults | environ).settings
        bot = await stack.enter_async_context(open_application(settings, agent=agent, reasoner=reasoner, clock=clock))
        if not await bot.index.load_bucket_states():
            await ingest_files(bot.index, [write_receipts(home)], extractor=bot.extractor, bucket=BucketId("receipts"))
        desk = _prepare_desk(slack, bot)
        await bot.grants.grant_bucket_access(
            BucketId("receipts"), Subject(f"channel:slack:{TEAM}:{desk.general.id}"), by="operator"
        )
        surface = build_surface(bot, SlackApi(token=TOKEN, base_url=slack.api_url, sleep=desk.pauses))
        bot.register_surface(surface)
        await stack.enter_async_context(serve_surface(surface, slack))
        if with_worker:
            await stack.enter_async_context(running_workers(bot))
        yield desk


def _prepare_desk(slack: SlackServer, bot: Application) -> AttachmentDesk:
    workspace = slack.workspace
    ada, bob = (
        workspace.add_user(SlackMember(id="U1ADA", name="Ada")),
        workspace.add_user(SlackMember(id="U2BOB", name="Bob")),
    )
    channels = [
        workspace.channels.get(name) or workspace.add_channel(SlackChannel(id=name, members=[ada.id, bob.id, BOT_USER]))
        for name in ("C1GENERAL", "C2LOBBY")
    ]
    return AttachmentDesk(slack=slack, bot=bot, ada=ada, bob=bob, general=channels[0], lobby=channels[1])
