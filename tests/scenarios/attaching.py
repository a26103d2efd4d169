"""Files to attach, and an office in which people attach them where some receipts may be seen."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.message import EmailMessage
from pathlib import Path

import docx
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from bot.ids import BucketId
from storage.ingest.pipeline import ingest_files
from tests.scenarios.surfaces.office import (
    BotSetup,
    ChatOffice,
    ChatPlace,
    ChatProduct,
    OfferedFile,
    OfficePerson,
    SentMessage,
    ShownAnswer,
)

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
CSV = "text/csv"
MAIL = "message/rfc822"
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


def a_mail(*, sender: str, subject: str, text: str, attached: tuple[str, bytes] | None = None) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, "office@mills.example", subject
    message["Date"] = "Tue, 06 May 2031 09:30:00 +0200"
    message.set_content(text)
    if attached is not None:
        name, content = attached
        message.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    return message.as_bytes()


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


RECEIPTS_BUCKET = BucketId("receipts")


@dataclass(kw_only=True)
class FileDesk:
    """Ada attaches files in `place`, which may see the receipts. No other place may see anything."""

    office: ChatOffice

    @property
    def place(self) -> ChatPlace:
        return self.office.attaching_place

    @property
    def colleague(self) -> OfficePerson:
        """A second person at the place, where others can be there."""
        return self.place.owner or self.office.bob

    async def ask(
        self,
        text: str,
        *files: OfferedFile,
        by: OfficePerson | None = None,
        place: ChatPlace | None = None,
        in_thread_of: ShownAnswer | SentMessage | None = None,
    ) -> ShownAnswer:
        """By default Ada asks at the place of the desk, in a conversation of its own where there can be several."""
        target = place or (in_thread_of.place if in_thread_of is not None else self.place)
        return await self.office.ask(text, *files, by=by, place=target, in_thread_of=in_thread_of)

    async def upload(
        self, name: str, content: bytes, media_type: str = "text/plain", *, by: OfficePerson | None = None
    ) -> OfferedFile:
        file = OfferedFile(name=name, content=content, media_type=media_type)
        return await self.office.driver.upload_file(by or self.office.ada, file)

    async def upload_table(
        self, name: str = "sales.csv", count: int = SALES_COUNT, *, by: OfficePerson | None = None
    ) -> OfferedFile:
        return await self.upload(name, a_csv(sales_rows(count)), CSV, by=by)

    async def upload_lease(self, *, by: OfficePerson | None = None) -> OfferedFile:
        return await self.upload("Harbour lease.pdf", LEASE, PDF, by=by)


@asynccontextmanager
async def open_desk(product: ChatProduct, home: Path, setup: BotSetup | None = None) -> AsyncGenerator[FileDesk]:
    """A new `home` is filled with receipts."""
    async with product.connect_bot(home, with_room_for_offers(setup or BotSetup())) as office:
        desk = FileDesk(office=office)
        if not await office.bot.index.load_bucket_states():
            await ingest_files(
                office.bot.index, [write_receipts(home)], extractor=office.bot.extractor, bucket=RECEIPTS_BUCKET
            )
            await office.grant(RECEIPTS_BUCKET, desk.place)
        yield desk


def with_room_for_offers(setup: BotSetup) -> BotSetup:
    """The setup with clarifications from 20 documents on, so that small sets are offered with choices."""
    return replace(setup, environ={"PARLEY_OVERLOAD_LIMIT": "20", **setup.environ})
