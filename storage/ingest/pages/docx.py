"""Extracts the text of Word documents: headings, lists, tables, text boxes and notes. Runs in the worker process."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# (lxml has no type annotations)

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import docx
from docx.document import Document
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml

from storage.ingest.pages.markdown import (
    format_heading,
    format_list_item,
    format_table_row,
    join_blocks,
    to_single_line,
)
from storage.ingest.pages.office_package import translate_error, unpack_package
from storage.ingest.worker import ParserFrame

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED_TAGS = {f"{_W}{name}" for name in ("del", "moveFrom", "delText", "instrText")} | {_FALLBACK}
_BREAK_TEXT_BY_TAG = {f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}tab": "\t", f"{_W}noBreakHyphen": "-"}
_NOTE_KIND_BY_TAG = {f"{_W}footnoteReference": "footnotes", f"{_W}endnoteReference": "endnotes"}
_BLOCK_TAGS = {f"{_W}p", f"{_W}tbl"}
_STYLE_OF_CONTENTS = re.compile(r"toc \d", re.IGNORECASE)
_STYLE_OF_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
TRANSLATED_ERRORS = (
    PythonDocxError,
    OpcError,
    KeyError,
    ValueError,
    SyntaxError,
    AttributeError,  # a part with the root element of another
)  # the XML syntax errors of lxml are SyntaxErrors
_MAX_DEPTH = 20  # of nested text boxes
Element: TypeAlias = Any  # an lxml element


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields a frame with the title, then a frame with the whole text. Raises `UnparsableFile`."""
    try:
        document = docx.Document(unpack_package(path))
        yield {"title": document.core_properties.title}
        reader = _WordReader(document)
        yield {"page": join_blocks(reader.read_blocks(document.element.body))}
    except TRANSLATED_ERRORS as exc:
        raise translate_error(exc, "Word document") from exc


class _WordReader:
    def __init__(self, document: Document) -> None:
        self._heading_levels, self._notes = _heading_levels_of(document), _read_notes(document)
        self._list_styles = _styles_where(
            document, lambda style: _val_attribute(style, "pPr/numPr/numId") not in ("", "0")
        )
        self._contents_styles = _styles_where(
            document, lambda style: bool(_STYLE_OF_CONTENTS.fullmatch(_val_attribute(style, "name")))
        )

    def read_blocks(self, parent: Element, depth: int = 0) -> Iterator[str]:
        """Yields the blocks that are not blank, in order, each followed by its notes and text boxes."""
        for element in _outermost_elements(parent, _BLOCK_TAGS):
            marks = list[str]()
            if element.tag == f"{_W}p":
                yield from self._read_paragraph(element, marks)
            else:
                yield from self._read_table(element, marks)
            for mark in marks:
                if note := self._notes.get(mark):
                    yield f"[{mark.split()[1]}] {note}"
            if depth < _MAX_DEPTH:
                for box in _outermost_elements(element, {f"{_W}txbxContent"}):
                    yield from self.read_blocks(box, depth + 1)

    def _read_paragraph(self, paragraph: Element, note_marks: list[str]) -> Iterator[str]:
        text = self._text_of(paragraph, note_marks).strip()
        if text and _val_attribute(paragraph, "pPr/pStyle") not in self._contents_styles:
            yield self._paragraph_markdown(paragraph, text)

    def _paragraph_markdown(self, paragraph: Element, text: str) -> str:
        style = _val_attribute(paragraph, "pPr/pStyle")
        level = self._heading_levels.get(style, 0)
        if outline_value := _val_attribute(paragraph, "pPr/outlineLvl"):
            level = _outline_level(outline_value)
        if level:
            return format_heading(level, text)
        number = _val_attribute(paragraph, "pPr/numPr/numId")
        return (
            format_list_item(text) if number not in ("", "0") or (not number and style in self._list_styles) else text
        )

    def _text_of(self, parent: Element, note_marks: list[str]) -> str:
        """Returns the text of a paragraph without its text boxes; appends the notes it refers to to `note_marks`."""
        parts = list[str]()
        for element in _walk_elements(parent, {f"{_W}txbxContent"}):
            if element.tag in (f"{_W}t", _MATH_TEXT):
                parts.append(element.text or "")
            elif element.tag in _BREAK_TEXT_BY_TAG:
                parts.append(_BREAK_TEXT_BY_TAG[element.tag])
            elif kind := _NOTE_KIND_BY_TAG.get(element.tag):
                number = element.get(f"{_W}id", "")
                note_marks.append(f"{kind} {number}")
                parts.append(f"[{number}]")
        return "".join(parts)

    def _read_table(self, table: Element, note_marks: list[str]) -> Iterator[str]:
        """Yields the table with a line for each row. Each row repeats the cells that are merged with the row above."""
        lines, above = list[str](), dict[int, str]()
        for row in _outermost_elements(table, {f"{_W}tr"}):
            cells, column = dict[int, str](), 0
            for cell in _outermost_elements(row, {f"{_W}tc"}):
                merge = cell.find(f"{_W}tcPr/{_W}vMerge")
                is_continued = merge is not None and merge.get(f"{_W}val", "continue") == "continue"
                cells[column] = above.get(column, "") if is_continued else self._cell_text(cell, note_marks)
                column += int(_val_attribute(cell, "tcPr/gridSpan") or 1)
            above = cells
            lines.append(format_table_row(cells.values()))
        if any(lines):
            yield "\n".join(filter(None, lines))

    def _cell_text(self, cell: Element, note_marks: list[str]) -> str:
        return " ".join(self._text_of(paragraph, note_marks) for paragraph in _outermost_elements(cell, {f"{_W}p"}))


def _outermost_elements(parent: Element, tags: set[str]) -> Iterator[Element]:
    """Yields the elements with these tags, in order, except those within another such element."""
    return (element for element in _walk_elements(parent, tags) if element.tag in tags)


def _walk_elements(parent: Element, opaque_tags: set[str]) -> Iterator[Element]:
    """Yields all elements below `parent`, in order, except deleted ones and those within one of `opaque_tags`."""
    waiting = list(reversed(parent))
    while waiting:
        element = waiting.pop()
        if element.tag in _SKIPPED_TAGS:
            continue
        yield element
        if element.tag not in opaque_tags:
            waiting.extend(reversed(element))


def _val_attribute(element: Element, path: str) -> str:
    descendant = element.find("/".join(_W + step for step in path.split("/")))
    return "" if descendant is None else descendant.get(f"{_W}val", "")


def _outline_level(value: str) -> int:
    """Returns the heading level, from 1; 0 for no heading, which Word writes as level 9."""
    return int(value) + 1 if value.isdigit() and int(value) < 9 else 0


def _heading_levels_of(document: Document) -> dict[str, int]:
    """Returns the heading level by style id, from the style's name, its outline level, or the style it is based on."""
    styles = {style.get(f"{_W}styleId", ""): style for style in document.styles.element.findall(f"{_W}style")}

    def level_of_style(style_id: str, remaining_depth: int = 10) -> int:
        style = styles.get(style_id)
        if style is None or not remaining_depth:
            return 0
        name = _val_attribute(style, "name")
        if heading_name := _STYLE_OF_HEADING.fullmatch(name):
            return int(heading_name[1])
        if outline_value := _val_attribute(style, "pPr/outlineLvl"):
            return _outline_level(outline_value)
        return (
            1 if name.casefold() == "title" else level_of_style(_val_attribute(style, "basedOn"), remaining_depth - 1)
        )

    return {style_id: level for style_id in styles if (level := level_of_style(style_id))}


def _styles_where(document: Document, matches: Callable[[Element], bool]) -> set[str]:
    return {style.get(f"{_W}styleId", "") for style in document.styles.element.findall(f"{_W}style") if matches(style)}


def _read_notes(document: Document) -> dict[str, str]:
    """Returns the text of the notes by kind and id, such as `footnotes 2`. The notes for separator lines are empty."""
    notes = dict[str, str]()
    for relation in document.part.rels.values():
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind in _NOTE_KIND_BY_TAG.values() and not relation.is_external:
            for note in parse_xml(relation.target_part.blob):
                text = "".join(element.text or "" for element in _walk_elements(note, set()) if element.tag == f"{_W}t")
                notes[f"{kind} {note.get(f'{_W}id', '')}"] = to_single_line(text)
    return notes
