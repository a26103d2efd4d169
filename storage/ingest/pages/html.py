"""Extracts the text of web pages: headings, lists and tables. Runs in the worker process."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (lxml has no type annotations)

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import lxml.html
from lxml.etree import LxmlError, iterwalk

from storage.ingest.errors import UnparsableFile
from storage.ingest.pages.markdown import (
    format_code_block,
    format_heading,
    format_list_item,
    format_table_row,
    to_single_line,
)
from storage.ingest.worker import ParserFrame

# Elements without content to read: scripts, forms, navigation.
_SKIPPED_TAGS = set(
    "head script style template noscript iframe object embed applet canvas audio video svg map nav button select"
    " textarea input datalist progress dialog menu".split()
)
_INLINE_TAGS = set(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output q rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr".split()
)
_COMPACT_TAGS = {"li", "dd", "tr", "td", "th"}  # no blank line follows them
_HEADING_LEVEL_BY_TAG = {f"h{level}": level for level in range(1, 7)}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_CODE_CLASS = re.compile(
    r"(?:^|\s)(?:lang|language|highlight|highlight-source)-(?!source-)(?P<name>[A-Za-z][\w+#-]{0,30})", re.IGNORECASE
)
_CODE_ANCESTORS = 2  # above a `pre`, whose class may name the language of its code
_MAX_CELL_CHARACTERS = 600  # a table with a longer cell is probably a page layout
_DEPTH_ERROR = "depth"
Element: TypeAlias = Any  # an lxml element


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields a frame with the title, then a frame with the whole text. Raises `UnparsableFile`."""
    data = path.read_bytes()
    parser = lxml.html.HTMLParser(
        encoding=_detect_encoding(data), huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = lxml.html.document_fromstring(data, parser=parser)
    except (LxmlError, AssertionError) as exc:  # lxml asserts that a page is not empty
        raise UnparsableFile("it is empty, or no HTML") from exc
    if any(_DEPTH_ERROR in entry.message for entry in parser.error_log):
        raise UnparsableFile("it is nested too deeply")
    yield {"title": root.findtext(".//title") or ""}
    yield {"page": _HtmlRenderer().render_tree(_main_content_of(root))}


def _detect_encoding(data: bytes) -> str:
    """Returns the encoding: by byte order mark, by valid UTF-8, by the declared charset; else Windows-1252."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4096])
        return _browser_encoding_for(declared[1].decode("ascii", "replace")) if declared else "cp1252"
    return "utf-8"


def _browser_encoding_for(name: str) -> str:
    try:
        encoding = codecs.lookup(name).name
    except LookupError:
        return "cp1252"
    return "cp1252" if encoding in ("utf-8", "iso8859-1", "ascii") else encoding  # as browsers do


def _main_content_of(root: Element) -> Element:
    """Returns the main element of the page if there is exactly one and it has text; else the whole page."""
    mains = [*root.iter("main")] or root.xpath("//*[@role='main']")
    return mains[0] if len(mains) == 1 and mains[0].text_content().strip() else root


class _HtmlRenderer:
    """Renders an element tree as text, block by block."""

    def __init__(self) -> None:
        self._blocks = list[str]()
        self._open_pieces = list[str]()  # pieces of the current block
        self._pre_depth = 0  # number of enclosing `pre` elements
        self._code_language: str | None = None  # of the code of the outermost `pre`; None: it holds no code
        self._starts_item = False  # whether the next block begins a list item

    def render_tree(self, root: Element) -> str:
        walk, consumed = iterwalk(root, events=("start", "end")), None
        for event, element in walk:
            if event == "start" and self._consume_whole_element(element):
                walk.skip_subtree()
                consumed = element
            elif event == "start":
                self._start_element(element)
            else:
                if element is not consumed:
                    self._end_element(element)
                self._append_text(element.tail if element is not root else None)
        self._flush_block()
        lines = (block for i, block in enumerate(self._blocks) if block or (i and self._blocks[i - 1]))
        return "\n".join(lines).strip("\n")

    def _consume_whole_element(self, element: Element) -> bool:
        """Skips a hidden element, or renders a data table. Returns whether the element needs no further rendering."""
        if element.tag in _SKIPPED_TAGS or _is_hidden_element(element):
            return True
        if element.tag != "table" or (rows := _data_table_rows(element)) is None:
            return False
        self._flush_block()
        self._blocks += ["", *rows, ""]
        return True

    def _start_element(self, element: Element) -> None:
        if element.tag == "br":
            self._open_pieces.append("\n")
        elif element.tag == "pre":
            self._flush_block()
            self._code_language = _language_of_code(element) if not self._pre_depth else self._code_language
            self._pre_depth += 1
        elif element.tag not in _INLINE_TAGS and element.tag != "dd":
            self._flush_block()
            self._starts_item = self._starts_item or element.tag == "li"
        self._append_text(element.text)

    def _end_element(self, element: Element) -> None:
        tag = element.tag
        if tag in _INLINE_TAGS or tag == "br":
            return
        if tag == "dt":
            self._open_pieces.append(": ")
        elif tag in _HEADING_LEVEL_BY_TAG:
            self._flush_block(_HEADING_LEVEL_BY_TAG[tag])
        else:
            self._flush_block(adds_blank_line=tag not in _COMPACT_TAGS)
        self._pre_depth -= tag == "pre"
        self._code_language = self._code_language if self._pre_depth else None
        self._starts_item = self._starts_item and tag != "li"

    def _append_text(self, text: str | None) -> None:
        if text:
            self._open_pieces.append(text if self._pre_depth else re.sub(r"\s+", " ", text))

    def _flush_block(self, heading_level: int = 0, *, adds_blank_line: bool = False) -> None:
        """Ends the current block; makes it a heading of `heading_level` if that is not 0."""
        text, self._open_pieces = "".join(self._open_pieces), []
        block = text.strip("\n") if self._pre_depth else "\n".join(filter(None, map(to_single_line, text.split("\n"))))
        if not block.strip():
            if adds_blank_line and self._blocks and self._blocks[-1]:
                self._blocks.append("")
            return
        if self._code_language is not None:
            self._blocks += ["", *format_code_block(block, self._code_language), ""]
        elif heading_level:
            self._blocks += ["", format_heading(heading_level, block), ""]
        else:
            self._blocks.append(format_list_item(block) if self._starts_item else block)
            self._blocks += [""] if adds_blank_line and not self._starts_item else []
        self._starts_item = False


def _language_of_code(pre: Element) -> str | None:
    """Returns the language of the code that a `pre` holds, empty if nothing names it; None if it holds no code."""
    codes = [child for child in pre if child.tag == "code"]
    named = [pre, *codes, *islice(pre.iterancestors(), _CODE_ANCESTORS)]
    match = next(filter(None, (_CODE_CLASS.search(element.get("class", "")) for element in named)), None)
    if match is not None:
        return str(match["name"]).lower()
    return "" if codes else None


def _is_hidden_element(element: Element) -> bool:
    return "hidden" in element.attrib or bool(_HIDDEN_STYLE.search(element.get("style", "")))


def _data_table_rows(table: Element) -> list[str] | None:
    """Returns a line for each row; None for a table that is a page layout."""
    if table.find(".//table") is not None or any(table.find(f".//{tag}") is not None for tag in _HEADING_LEVEL_BY_TAG):
        return None
    lines, spans = list[str](), dict[int, tuple[int, str]]()  # by column: remaining rows of a spanning cell, its text
    for row in table.iter("tr", "caption"):
        cells = [to_single_line(" ".join(cell.itertext())) for cell in row.iter("td", "th")] or [
            to_single_line(row.text_content())
        ]
        if any(len(cell) > _MAX_CELL_CHARACTERS for cell in cells):
            return None
        lines.append(format_table_row(_fill_row_spans(row, cells, spans)) if row.tag == "tr" else cells[0])
    return [line for line in lines if line]


def _fill_row_spans(tr: Element, cells: list[str], spans: dict[int, tuple[int, str]]) -> list[str]:
    """Returns the cells of a row, with those that span from rows above; updates `spans`."""
    row_cells, filled_row = list(zip(tr.iter("td", "th"), cells, strict=False)), list[str]()
    while row_cells or any(column >= len(filled_row) for column in spans):
        column = len(filled_row)
        if column in spans:
            remaining_rows, text = spans.pop(column)
            filled_row.append(text)
            if remaining_rows > 1:
                spans[column] = (remaining_rows - 1, text)
        elif row_cells:
            element, text = row_cells.pop(0)
            filled_row.append(text)
            if (row_span := _parse_row_span(element.get("rowspan"))) > 1:
                spans[column] = (row_span - 1, text)
        else:
            filled_row.append("")
    return filled_row


def _parse_row_span(value: str | None) -> int:
    return min(int(value), 1000) if value and value.isdigit() else 1
