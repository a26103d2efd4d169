"""The text of a PDF, page by page. Runs in the worker process: PDFium is native, and not for threads."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# (pypdfium2 has annotations in part, and no marker)

import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from storage.ingest.errors import Unparsable
from storage.ingest.worker import Frame

_REASONS = {
    pdfium.FPDF_ERR_FILE: "it cannot be opened",
    pdfium.FPDF_ERR_FORMAT: "it is broken, or no PDF",
    pdfium.FPDF_ERR_PASSWORD: "it is encrypted and needs a password",
    pdfium.FPDF_ERR_SECURITY: "it is encrypted in a way that cannot be read",
}
_HYPHEN_AT_LINE_END = re.compile("[\ufffe\x02]\r?\n?")  # how PDFium writes it
_WIDE_BLANK = re.compile(r"[ \t]{3,}")  # drawn space


def frames(path: Path) -> Iterator[Frame]:
    """The title, and each page. Raises `Unparsable`."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        raise Unparsable(_REASONS.get(exc.err_code or 0, "it is broken, or no PDF")) from exc
    except OSError as exc:
        raise Unparsable(f"it cannot be opened: {exc.strerror or exc}") from exc
    try:
        yield {"title": document.get_metadata_value("Title")}
        for number in range(len(document)):
            yield {"page": _text(document, number)}
    finally:
        document.close()


def _text(document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = document[number]
        text = page.get_textpage().get_text_bounded()
        page.close()
    except pypdfium2.PdfiumError as exc:
        raise Unparsable(f"its page {number + 1} is broken") from exc
    text = _HYPHEN_AT_LINE_END.sub("", text).replace("\r\n", "\n").replace("\xa0", " ")
    return _WIDE_BLANK.sub("  ", text).strip()
