"""The text of a PDF, page by page. Runs in the worker process: PDFium is native, and not for threads."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
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
_BLANK = re.compile("(?<=\\S)[ \xa0](?=\\S)")
_MARK = re.compile(r"\s*(\(?\w{1,4}[.)]|[•·▪–—*-])")  # of a list, which a gap follows as well
_WIDE, _LEAST = 1.5, 5.0  # sizes of the font; points
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
        text = _in_columns(page.get_textpage())
        page.close()
    except pypdfium2.PdfiumError as exc:
        raise Unparsable(f"its page {number + 1} is broken") from exc
    text = _HYPHEN_AT_LINE_END.sub("", text).replace("\r\n", "\n").replace("\xa0", " ")
    return _WIDE_BLANK.sub("  ", text).strip()


def _in_columns(page: pypdfium2.PdfTextPage) -> str:
    """The text of a page, ` | ` where a gap within a line is as wide as between the cells of a table."""
    text, parts, end = page.get_text_range(), list[str](), 0
    if len(text) != page.count_chars():
        return text  # places in it are no places on the page then
    for blank in _BLANK.finditer(text):
        at = blank.start()
        if _gap(page, at) > _WIDE and not _MARK.fullmatch(text, text.rfind("\n", 0, at) + 1, at):
            parts += [text[end:at], " | "]
            end = at + 1
    return "".join([*parts, text[end:]])


def _gap(page: pypdfium2.PdfTextPage, at: int) -> float:
    """Between the characters before and after, in sizes of the font."""
    right: float = page.get_charbox(at - 1)[2]
    left: float = page.get_charbox(at + 1)[0]
    if left - right < _LEAST:
        return 0.0
    size: float = pdfium.FPDFText_GetFontSize(page, at - 1)
    return (left - right) / (size or _LEAST)
