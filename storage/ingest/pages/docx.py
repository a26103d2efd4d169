"""The text of a Word document, with its headings, lists, tables, text boxes and notes. Runs in the worker process."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# (lxml has no annotations)

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import docx
from docx.document import Document
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml

from storage.ingest.pages.markdown import heading, item, joined, line, row
from storage.ingest.pages.package import unpacked, unparsable
from storage.ingest.worker import Frame

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GONE = {f"{_W}{name}" for name in ("del", "moveFrom", "delText", "instrText")} | {_FALLBACK}
_BREAKS = {f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}tab": "\t", f"{_W}noBreakHyphen": "-"}
_NOTE_MARKS = {f"{_W}footnoteReference": "footnotes", f"{_W}endnoteReference": "endnotes"}
_BLOCKS = {f"{_W}p", f"{_W}tbl"}
_STYLE_OF_CONTENTS = re.compile(r"toc \d", re.IGNORECASE)
_STYLE_OF_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
BROKEN = (PythonDocxError, OpcError, KeyError, ValueError, SyntaxError)  # lxml's errors of syntax are SyntaxErrors
_DEEPEST = 20  # tables within tables
Element: TypeAlias = Any  # of lxml


def frames(path: Path) -> Iterator[Frame]:
    """The title, and the text in one piece. Raises `Unparsable`."""
    try:
        document = docx.Document(unpacked(path))
        yield {"title": document.core_properties.title}
        reading = _Reading(document)
        yield {"page": joined(reading.blocks(document.element.body))}
    except BROKEN as exc:
        raise unparsable(exc, "Word document") from exc


class _Reading:
    def __init__(self, document: Document) -> None:
        self._levels, self._notes = _levels(document), _notes(document)
        self._lists = _styles_where(document, lambda one: _value(one, "pPr/numPr/numId") not in ("", "0"))
        self._contents = _styles_where(document, lambda one: bool(_STYLE_OF_CONTENTS.fullmatch(_value(one, "name"))))

    def blocks(self, parent: Element, depth: int = 0) -> Iterator[str]:
        """What is not blank, in order; the notes and text boxes of each after it."""
        for element in _nearest(parent, _BLOCKS):
            marks = list[str]()
            if element.tag == f"{_W}p":
                yield from self._paragraph(element, marks)
            else:
                yield from self._table(element, marks)
            for mark in marks:
                if note := self._notes.get(mark):
                    yield f"[{mark.split()[1]}] {note}"
            if depth < _DEEPEST:
                for box in _nearest(element, {f"{_W}txbxContent"}):
                    yield from self.blocks(box, depth + 1)

    def _paragraph(self, paragraph: Element, marks: list[str]) -> Iterator[str]:
        text = self._text(paragraph, marks).strip()
        if text and _value(paragraph, "pPr/pStyle") not in self._contents:
            yield self._shown(paragraph, text)

    def _shown(self, paragraph: Element, text: str) -> str:
        style = _value(paragraph, "pPr/pStyle")
        level = self._levels.get(style, 0)
        if own := _value(paragraph, "pPr/outlineLvl"):
            level = _outline(own)
        if level:
            return heading(level, text)
        number = _value(paragraph, "pPr/numPr/numId")
        return item(text) if number not in ("", "0") or (not number and style in self._lists) else text

    def _text(self, parent: Element, marks: list[str]) -> str:
        """Of a paragraph, without its text boxes. `marks`: gets the notes that it refers to."""
        parts = list[str]()
        for element in _walk(parent, {f"{_W}txbxContent"}):
            if element.tag in (f"{_W}t", _MATH_TEXT):
                parts.append(element.text or "")
            elif element.tag in _BREAKS:
                parts.append(_BREAKS[element.tag])
            elif kind := _NOTE_MARKS.get(element.tag):
                number = element.get(f"{_W}id", "")
                marks.append(f"{kind} {number}")
                parts.append(f"[{number}]")
        return "".join(parts)

    def _table(self, table: Element, marks: list[str]) -> Iterator[str]:
        """A line for each row. A cell that goes on below is told again there."""
        lines, above = list[str](), dict[int, str]()
        for one in _nearest(table, {f"{_W}tr"}):
            cells, column = dict[int, str](), 0
            for cell in _nearest(one, {f"{_W}tc"}):
                goes_on = cell.find(f"{_W}tcPr/{_W}vMerge")
                is_below = goes_on is not None and goes_on.get(f"{_W}val", "continue") == "continue"
                cells[column] = above.get(column, "") if is_below else self._cell(cell, marks)
                column += int(_value(cell, "tcPr/gridSpan") or 1)
            above = cells
            lines.append(row(cells.values()))
        if any(lines):
            yield "\n".join(filter(None, lines))

    def _cell(self, cell: Element, marks: list[str]) -> str:
        return " ".join(self._text(paragraph, marks) for paragraph in _nearest(cell, {f"{_W}p"}))


def _nearest(parent: Element, tags: set[str]) -> Iterator[Element]:
    """Elements of these tags, in order, those within one another left out."""
    return (element for element in _walk(parent, tags) if element.tag in tags)


def _walk(parent: Element, closed: set[str]) -> Iterator[Element]:
    """All below `parent`, in order, but what was deleted and what is within an element of the tags `closed`."""
    waiting = list(reversed(parent))
    while waiting:
        element = waiting.pop()
        if element.tag in _GONE:
            continue
        yield element
        if element.tag not in closed:
            waiting.extend(reversed(element))


def _value(element: Element, path: str) -> str:
    found = element.find("/".join(_W + step for step in path.split("/")))
    return "" if found is None else found.get(f"{_W}val", "")


def _outline(written: str) -> int:
    """Level 9 is how Word writes that it is no heading."""
    return int(written) + 1 if written.isdigit() and int(written) < 9 else 0


def _levels(document: Document) -> dict[str, int]:
    """By the id of a style, of which heading it is: by its name, its outline level or the style it is based on."""
    styles = {one.get(f"{_W}styleId", ""): one for one in document.styles.element.findall(f"{_W}style")}

    def level(style_id: str, left: int = 10) -> int:
        style = styles.get(style_id)
        if style is None or not left:
            return 0
        name = _value(style, "name")
        if named := _STYLE_OF_HEADING.fullmatch(name):
            return int(named[1])
        if written := _value(style, "pPr/outlineLvl"):
            return _outline(written)
        return 1 if name.casefold() == "title" else level(_value(style, "basedOn"), left - 1)

    return {style_id: found for style_id in styles if (found := level(style_id))}


def _styles_where(document: Document, holds: Callable[[Element], bool]) -> set[str]:
    return {one.get(f"{_W}styleId", "") for one in document.styles.element.findall(f"{_W}style") if holds(one)}


def _notes(document: Document) -> dict[str, str]:
    """By kind and id, `footnotes 2`. Those of the lines between text and notes have no words."""
    found = dict[str, str]()
    for relation in document.part.rels.values():
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind in _NOTE_MARKS.values() and not relation.is_external:
            for note in parse_xml(relation.target_part.blob):
                words = "".join(one.text or "" for one in _walk(note, set()) if one.tag == f"{_W}t")
                found[f"{kind} {note.get(f'{_W}id', '')}"] = line(words)
    return found
