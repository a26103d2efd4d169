"""Labels in tables: rows of a label and its value, pairs side by side, and a header above a single row."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.labels.forms.line_labels import plain_line
from storage.ingest.extract.labels.labelled_texts import MAX_VALUE_CHARACTERS, LabelForm, LabelledText, is_label

_RULE_CELL = re.compile(r":?-{2,}:?|=+|")
_MAX_ROW_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class _TableRow:
    cells: tuple[str, ...]
    span: TextSpan

    @property
    def is_rule(self) -> bool:
        """Whether the row only separates the header from the rows below it."""
        return all(map(_RULE_CELL.fullmatch, self.cells)) and any(self.cells)


def find_table_labels(document: DocumentText) -> Iterator[LabelledText]:
    """Yields the labelled cells of all tables, in order."""
    for table in _tables_in(document):
        has_header = len(table) > 1 and table[1].is_rule
        rows = [row for row in table if not row.is_rule and any(row.cells)]
        has_header = has_header and any(table[0].cells)
        yield from _texts_of_table(rows, has_header=has_header)


def _texts_of_table(rows: Sequence[_TableRow], *, has_header: bool) -> Iterator[LabelledText]:
    width = max((len(row.cells) for row in rows), default=0)
    if width == 2 and all(len(row.cells) == 2 for row in rows):
        first_row = rows[0].cells if has_header and len(rows) > 1 else ()
        if len(rows) == 2 and has_header and not _is_value_header(rows[0]):
            yield from _texts_of_single_row(rows[0], rows[1])
        for row in rows[1 if first_row else 0 :]:
            yield from _text_of_pair(row.cells[0], row.cells[1], row.span)
    elif len(rows) == 2 and len(rows[0].cells) == len(rows[1].cells):
        yield from _texts_of_single_row(rows[0], rows[1])
    for row in rows if width > 2 else ():
        yield from _texts_of_pairs_in_row(row)


def _is_value_header(row: _TableRow) -> bool:
    """Whether the header of a table of two columns names the columns of labels and values."""
    return not row.cells[0] or plain_line(row.cells[1]).casefold() in ("value", "details", "detail", "entry", "wert")


def _texts_of_single_row(header: _TableRow, row: _TableRow) -> Iterator[LabelledText]:
    if all(not cell or is_label(plain_line(cell).rstrip(": ")) for cell in header.cells):
        span = TextSpan(header.span.start, row.span.end)
        for label, value in zip(header.cells, row.cells, strict=True):
            yield from _text_of_pair(label, value, span)


def _texts_of_pairs_in_row(row: _TableRow) -> Iterator[LabelledText]:
    """Yields the labels that end with a colon, with the cells after them, and cells with a label and a value."""
    for i, cell in enumerate(row.cells):
        label, colon, value = cell.partition(":")
        if colon and value.strip():
            yield from _text_of_pair(label, value, row.span)
        elif colon and i + 1 < len(row.cells):
            yield from _text_of_pair(label, row.cells[i + 1], row.span)


def _text_of_pair(label: str, value: str, span: TextSpan) -> Iterator[LabelledText]:
    bare_label, bare_value = plain_line(label).rstrip(": "), plain_line(value)
    if is_label(bare_label, may_be_clause=True) and bare_value and len(bare_value) <= MAX_VALUE_CHARACTERS:
        yield LabelledText(label=bare_label, text=bare_value, start=span.start, end=span.end, form=LabelForm.TABLE)


def _tables_in(document: DocumentText) -> Iterator[list[_TableRow]]:
    """Yields the runs of lines with bars."""
    table = list[_TableRow]()
    for line in document.lines_from():
        text = document.text[line.start : min(line.end, line.start + _MAX_ROW_CHARACTERS)].strip()
        if "|" in text:
            cells = tuple(cell.strip() for cell in text.removeprefix("|").removesuffix("|").split("|"))
            table.append(_TableRow(cells, document.trim_span(line.start, line.end)))
        elif table:
            yield table
            table = []
    if table:
        yield table
