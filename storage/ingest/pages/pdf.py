"""Extracts the text of PDF files, page by page. Runs in the worker process: PDFium is native and not thread-safe."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
# (pypdfium2 has only some type annotations, and no `py.typed` marker)

import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from storage.ingest.errors import UnparsableFile
from storage.ingest.limits import MAX_PAGES, too_many_pages_error
from storage.ingest.worker import ParserFrame

_REASONS = {
    pdfium.FPDF_ERR_FILE: "it cannot be opened",
    pdfium.FPDF_ERR_FORMAT: "it is broken, or no PDF",
    pdfium.FPDF_ERR_PASSWORD: "it is encrypted and needs a password",
    pdfium.FPDF_ERR_SECURITY: "it is encrypted in a way that cannot be read",
}
_HYPHEN_AT_LINE_END = re.compile("[\ufffe\x02]\r?\n?")  # PDFium's characters for it
_BLANK_BETWEEN_WORDS = re.compile("(?<=\\S)[ \xa0](?=\\S)")
_LIST_MARK = re.compile(r"\s*(\(?\w{1,4}[.)]|[•·▪–—*-])")  # a gap follows it that separates no columns
_WIDE_GAP_FONT_SIZES, _MIN_GAP_POINTS = 1.5, 5.0
_WIDE_BLANK = re.compile(r"[ \t]{3,}")  # a gap that the PDF draws with blanks


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields a frame with the title, then a frame for each page. Raises `UnparsableFile`."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        raise UnparsableFile(_REASONS.get(exc.err_code or 0, "it is broken, or no PDF")) from exc
    except OSError as exc:
        raise UnparsableFile(f"it cannot be opened: {exc.strerror or exc}") from exc
    try:
        if len(document) > MAX_PAGES:
            raise too_many_pages_error(len(document))
        yield {"title": document.get_metadata_value("Title")}
        for number in range(len(document)):
            yield {"page": _page_text(document, number)}
    finally:
        document.close()


def _page_text(document: pypdfium2.PdfDocument, page_index: int) -> str:
    try:
        page = document[page_index]
        text = _text_with_columns(page.get_textpage())
        page.close()
    except pypdfium2.PdfiumError as exc:
        raise UnparsableFile(f"its page {page_index + 1} is broken") from exc
    text = _HYPHEN_AT_LINE_END.sub("", text).replace("\r\n", "\n").replace("\xa0", " ")
    return _WIDE_BLANK.sub("  ", text).strip()


def _text_with_columns(page: pypdfium2.PdfTextPage) -> str:
    """Returns the text of a page, with ` | ` for each gap within a line that is as wide as between table cells."""
    text, parts, end = page.get_text_range(), list[str](), 0
    if len(text) != page.count_chars():
        return text  # its offsets are not the character indexes of the page
    for blank in _BLANK_BETWEEN_WORDS.finditer(text):
        offset = blank.start()
        if _gap_font_sizes(page, offset) > _WIDE_GAP_FONT_SIZES and not _LIST_MARK.fullmatch(
            text, text.rfind("\n", 0, offset) + 1, offset
        ):
            parts += [text[end:offset], " | "]
            end = offset + 1
    return "".join([*parts, text[end:]])


def _gap_font_sizes(page: pypdfium2.PdfTextPage, index: int) -> float:
    """Returns the width of the gap between the characters before and after `index`, in font sizes."""
    right: float = page.get_charbox(index - 1)[2]
    left: float = page.get_charbox(index + 1)[0]
    if left - right < _MIN_GAP_POINTS:
        return 0.0
    size: float = pdfium.FPDFText_GetFontSize(page, index - 1)
    return (left - right) / (size or _MIN_GAP_POINTS)
