"""Documents to attach, and an office whose channel may see some receipts."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import docx
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

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
            "vendor": vendors[number % 3],
            "total": 10.0 + number,
            "date": f"2024-03-{number % 28 + 1:02}",
        }
        for number in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path
