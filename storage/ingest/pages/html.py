"""The text of a web page, with its headings, lists and tables. Runs in the worker process."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (lxml has no annotations)

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import lxml.html
from lxml.etree import LxmlError, iterwalk

from storage.ingest.errors import Unparsable
from storage.ingest.pages.markdown import heading, item, line, row
from storage.ingest.worker import Frame

# Not for reading: programs, forms, ways to other pages.
_PASSED_OVER = set(
    "head script style template noscript iframe object embed applet canvas audio video svg map nav button select"
    " textarea input datalist progress dialog menu".split()
)
_INLINE = set(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output q rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr".split()
)
_CLOSE = {"li", "dd", "tr", "td", "th"}  # what follows them stands on the next line
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_TALK = 600  # characters; a cell that is longer is a piece of a page laid out by a table
_TOO_DEEP = "depth"
Element: TypeAlias = Any  # of lxml


def frames(path: Path) -> Iterator[Frame]:
    """The title, and the text in one piece. Raises `Unparsable`."""
    data = path.read_bytes()
    parser = lxml.html.HTMLParser(encoding=_encoding(data), huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = lxml.html.document_fromstring(data, parser=parser)
    except (LxmlError, AssertionError) as exc:  # lxml asserts that a page has something in it
        raise Unparsable("it is empty, or no HTML") from exc
    if any(_TOO_DEEP in entry.message for entry in parser.error_log):
        raise Unparsable("it is nested too deeply")
    yield {"title": root.findtext(".//title") or ""}
    yield {"page": _Rendering().of(_content(root))}


def _encoding(data: bytes) -> str:
    """As the file says or shows: a mark at its start, being UTF-8, what it declares; else Windows-1252."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4096])
        return _known(declared[1].decode("ascii", "replace")) if declared else "cp1252"
    return "utf-8"


def _known(name: str) -> str:
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return "cp1252"
    return "cp1252" if found in ("utf-8", "iso8859-1", "ascii") else found  # as browsers do


def _content(root: Element) -> Element:
    """What the page says is its content, if it says so once; else all of it."""
    mains = [*root.iter("main")] or root.xpath("//*[@role='main']")
    return mains[0] if len(mains) == 1 and mains[0].text_content().strip() else root


class _Rendering:
    """Text made block by block while one goes through the tree."""

    def __init__(self) -> None:
        self._blocks = list[str]()
        self._open = list[str]()  # pieces of the block that is being made
        self._verbatim = 0  # levels of `pre`
        self._is_item = False  # what comes next begins a list item

    def of(self, root: Element) -> str:
        walk, done = iterwalk(root, events=("start", "end")), None
        for event, element in walk:
            if event == "start" and self._is_whole(element):
                walk.skip_subtree()
                done = element
            elif event == "start":
                self._start(element)
            else:
                if element is not done:
                    self._end(element)
                self._say(element.tail if element is not root else None)
        self._flush()
        kept = (one for at, one in enumerate(self._blocks) if one or (at and self._blocks[at - 1]))
        return "\n".join(kept).strip("\n")

    def _is_whole(self, element: Element) -> bool:
        """Whether it is done with as it begins: passed over, or a table told by its rows."""
        if element.tag in _PASSED_OVER or _is_hidden(element):
            return True
        if element.tag != "table" or (rows := _rows(element)) is None:
            return False
        self._flush()
        self._blocks += ["", *rows, ""]
        return True

    def _start(self, element: Element) -> None:
        if element.tag == "br":
            self._open.append("\n")
        elif element.tag == "pre":
            self._flush()
            self._verbatim += 1
        elif element.tag not in _INLINE and element.tag != "dd":
            self._flush()
            self._is_item = self._is_item or element.tag == "li"
        self._say(element.text)

    def _end(self, element: Element) -> None:
        tag = element.tag
        if tag in _INLINE or tag == "br":
            return
        if tag == "dt":
            self._open.append(": ")
        elif tag in _HEADINGS:
            self._flush(_HEADINGS[tag])
        else:
            self._flush(is_apart=tag not in _CLOSE)
        self._verbatim -= tag == "pre"
        self._is_item = self._is_item and tag != "li"

    def _say(self, text: str | None) -> None:
        if text:
            self._open.append(text if self._verbatim else re.sub(r"\s+", " ", text))

    def _flush(self, level: int = 0, *, is_apart: bool = False) -> None:
        """End the block, a heading of `level` if not 0. `is_apart`: a blank line follows."""
        said, self._open = "".join(self._open), []
        shown = said.strip("\n") if self._verbatim else "\n".join(filter(None, map(line, said.split("\n"))))
        if not shown.strip():
            if is_apart and self._blocks and self._blocks[-1]:
                self._blocks.append("")
            return
        if level:
            self._blocks += ["", heading(level, shown), ""]
        else:
            self._blocks.append(item(shown) if self._is_item else shown)
            self._blocks += [""] if is_apart and not self._is_item else []
        self._is_item = False


def _is_hidden(element: Element) -> bool:
    return "hidden" in element.attrib or bool(_HIDDEN.search(element.get("style", "")))


def _rows(table: Element) -> list[str] | None:
    """A line for each row; None for a table that lays out a page rather than hold data."""
    if table.find(".//table") is not None or any(table.find(f".//{tag}") is not None for tag in _HEADINGS):
        return None
    lines, spans = list[str](), dict[int, tuple[int, str]]()  # of cells that go on below: rows left, and text
    for one in table.iter("tr", "caption"):
        cells = [line(" ".join(cell.itertext())) for cell in one.iter("td", "th")] or [line(one.text_content())]
        if any(len(cell) > _TALK for cell in cells):
            return None
        lines.append(row(_spread(one, cells, spans)) if one.tag == "tr" else cells[0])
    return [one for one in lines if one]


def _spread(tr: Element, cells: list[str], spans: dict[int, tuple[int, str]]) -> list[str]:
    """The row with what goes on from rows above."""
    own, told = list(zip(tr.iter("td", "th"), cells, strict=False)), list[str]()
    while own or any(column >= len(told) for column in spans):
        column = len(told)
        if column in spans:
            left, text = spans.pop(column)
            told.append(text)
            if left > 1:
                spans[column] = (left - 1, text)
        elif own:
            element, text = own.pop(0)
            told.append(text)
            if (below := _number(element.get("rowspan"))) > 1:
                spans[column] = (below - 1, text)
        else:
            told.append("")
    return told


def _number(written: str | None) -> int:
    return min(int(written), 1000) if written and written.isdigit() else 1
