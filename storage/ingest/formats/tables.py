"""Reads tables as people lay them out: finds the header row and the column names, and makes a record of each row."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from statistics import median
from typing import TypeAlias

from storage.ingest.files import SourceFile
from storage.ingest.records import LoadRemark, RecordOrigin, SourceRecord
from storage.ingest.schemas.names import singular_of, words_in_name

_SAMPLE_ROWS = 50  # the header is searched in the first rows
_HEADER_FILL_SHARE = 0.6  # a header fills at least this share of the columns that rows usually fill
_TITLE_COLUMNS = ("title", "name", "subject", "heading", "label")
_WORDS_OF_OWN_NAMES = ("full", "display")  # of a column such as "full_name"
# Columns that together hold the name of a person.
_FIRST_NAME_COLUMNS = (
    *("first name", "firstname", "first_name", "forename", "given name", "given_name", "vorname", "prénom", "nombre"),
    "first",
)
_LAST_NAME_COLUMNS = (
    *("surname", "last name", "lastname", "last_name", "family name", "family_name", "nachname", "nom", "apellidos"),
    *("apellido", "last"),
)
_ID_COLUMNS = ("doc_id", "id")
_MAX_TITLE_CHARACTERS = 300
_MAX_NAME_CHARACTERS = 1_000  # of a column
_MAX_CACHED_NAMES = 4_000  # of columns
_ONLY_NUMBERS = re.compile(r"[\d.,:/\s-]+")
CellValue: TypeAlias = str | int | float | bool | None  # None: blank


@dataclass(frozen=True, slots=True, kw_only=True)
class TabularRow:
    """A row of a file. `merged_columns` has the first and last column of merged cells, counted from 0."""

    number: int
    cells: Sequence[CellValue]
    bytes_read: int = 0  # bytes of the file up to this row
    merged_columns: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def filled_count(self) -> int:
        return sum(cell is not None for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The layout of a table."""

    header_row: int  # line number of the header
    column_names: Sequence[str]  # each is unique
    key_column: int | None = None  # the column whose value is the id of the row, counted from 0
    text_above: Sequence[str] = ()  # cells above the header

    def values_beyond_columns(self, cells: Sequence[CellValue]) -> Iterator[CellValue]:
        """Yields the values to the right of the last named column."""
        return (cell for cell in cells[len(self.column_names) :] if cell is not None)

    def remarks_for(self, origin: RecordOrigin) -> Iterator[LoadRemark]:
        if self.text_above:
            words = "; ".join(self.text_above)[:200]
            yield LoadRemark(origin=origin, text=f"what stands above the table's header is in no document: {words}")


def detect_layout(rows: Iterable[TabularRow]) -> TableLayout | None:
    """Returns the layout that the first rows suggest, still without a key column; None for a table without values."""
    sample = list(islice((row for row in rows if row.filled_count), _SAMPLE_ROWS))
    if not sample:
        return None
    index = _find_header_index(sample)
    header = sample[index]
    group = (
        sample[index - 1]
        if index and sample[index - 1].number == header.number - 1 and sample[index - 1].merged_columns
        else None
    )
    above = sample[: index - 1] if group else sample[:index]
    names = _unique_column_names(_join_header_groups(header, group))
    words = tuple(_text_of_cell(cell) for row in above for cell in row.cells if cell is not None)
    return TableLayout(header_row=header.number, column_names=names, text_above=words)


class KeyColumnFinder:
    """Checks whether the column `doc_id`, else `id`, has a unique value in each row below the header."""

    def __init__(self, layout: TableLayout) -> None:
        folded = [name.casefold() for name in layout.column_names]
        self._layout, self._seen_keys = layout, set[int]()
        self._column = next((folded.index(name) for name in _ID_COLUMNS if name in folded), None)

    @property
    def needs_more_rows(self) -> bool:
        """Whether there can still be a key column, so that further rows must be checked."""
        return self._column is not None

    def check_row(self, row: TabularRow) -> None:
        column = self._column
        if column is None:
            return
        key = row.cells[column] if column < len(row.cells) else None
        key_hash = hash(_text_of_cell(key))
        if key is None or key_hash in self._seen_keys:
            self._column = None
        self._seen_keys.add(key_hash)

    def layout_with_key(self) -> TableLayout:
        return replace(self._layout, key_column=self._column)


def body_rows_of(rows: Iterable[TabularRow], layout: TableLayout) -> Iterator[TabularRow]:
    """Yields the rows below the header that are not blank."""
    return (row for row in rows if row.number > layout.header_row and row.filled_count)


def record_of_row(
    source: SourceFile,
    layout: TableLayout,
    cells: Sequence[CellValue],
    number: int,
    origin: RecordOrigin,
) -> SourceRecord:
    """Returns the record of a row. `number` counts rows from 1. A cell without a named column gets a numbered name."""
    names = layout.column_names
    if len(cells) > len(names):
        names = [*names, *(f"column {position}" for position in range(len(names) + 1, len(cells) + 1))]
    row = {name: cell for name, cell in zip(names, cells, strict=False) if cell is not None}
    key_cell = cells[layout.key_column] if layout.key_column is not None and layout.key_column < len(cells) else None
    key = str(number) if key_cell is None else _text_of_cell(key_cell)
    lines = [f"{name}: {_text_of_cell(cell)}" for name, cell in row.items()]
    return SourceRecord(
        doc_id="#".join(filter(None, [source.name, origin.sheet, key])),
        title=title_of_row(row, key if key_cell is not None else f"row {number}", source.path.stem),
        text="\n".join(lines),
        source=source.name,
        origin=origin,
        metadata={name: cell for name, cell in row.items() if key_cell is None or name.casefold() != "doc_id"},
        is_row=True,
    )


def title_of_row(row: Mapping[str, CellValue], key: str, table_name: str) -> str:
    """Returns what a row is called: a title or name that it has, else its first words, else its table and key.

    A person is called by the first and the last name, where these are two columns.
    """
    name_by_folded = {name.casefold(): name for name in reversed(list(row))}
    for title_column in _TITLE_COLUMNS:
        if title_column in name_by_folded:
            return _text_of_cell(row[name_by_folded[title_column]])[:_MAX_TITLE_CHARACTERS]
    if person := _name_of_person(row, name_by_folded):
        return person[:_MAX_TITLE_CHARACTERS]
    for name, cell in row.items():
        if _names_row(name, table_name) and _is_name(cell):
            return _text_of_cell(cell)[:_MAX_TITLE_CHARACTERS]
    words = (cell for cell in row.values() if isinstance(cell, str) and not _ONLY_NUMBERS.fullmatch(cell))
    return next(words, "")[:_MAX_TITLE_CHARACTERS] or f"{table_name} {key}"


def _name_of_person(row: Mapping[str, CellValue], name_by_folded: Mapping[str, str]) -> str:
    """Returns the first and the last name, if the row has a column for each; else nothing."""
    parts = [
        next((_text_of_cell(row[name_by_folded[name]]) for name in names if name in name_by_folded), "")
        for names in (_FIRST_NAME_COLUMNS, _LAST_NAME_COLUMNS)
    ]
    return " ".join(parts) if all(parts) else ""


def _find_header_index(sample: Sequence[TabularRow]) -> int:
    """Returns the index of the first row that fills about as many columns as usual and has no merged cells."""
    min_filled = max(
        min(2, max(row.filled_count for row in sample)),
        _HEADER_FILL_SHARE * median(row.filled_count for row in sample),
    )
    full = [i for i, row in enumerate(sample) if row.filled_count >= min_filled]
    return next((i for i in full if not sample[i].merged_columns), full[0])


def _join_header_groups(header: TabularRow, group: TabularRow | None) -> list[str]:
    """Returns the header cells, each with the merged cell above it as prefix: `Q1` above `Units` gives `Q1 Units`."""
    words = [_text_of_cell(cell) for cell in header.cells]
    if group is None:
        return words
    for first, last in group.merged_columns.items():
        prefix = _text_of_cell(group.cells[first]) if first < len(group.cells) else ""
        for column in range(first, min(last + 1, len(words))):
            words[column] = f"{prefix} {words[column]}"
    return words


def _unique_column_names(header: Sequence[str]) -> list[str]:
    """Returns unique names: a blank name becomes its column number, a repeated name gets a number."""
    names, copies = dict[str, None](), Counter[str]()
    for position, header_text in enumerate(header, 1):
        name = base = " ".join(header_text[:_MAX_NAME_CHARACTERS].split()) or f"column {position}"
        while name in names:
            copies[base] += 1
            name = f"{base} {copies[base] + 1}"
        names[name] = None
    return list(names)


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _names_row(column_name: str, table_name: str) -> bool:
    """Whether a column holds what its row is called: "full_name", "town" or "town_name" in the table `towns`."""
    words, own_words = words_in_name(column_name), words_in_name(table_name)
    own_noun = singular_of(own_words[-1]) if own_words else ""
    if not words or (words[-1] != "name" and len(words) > 1):
        return False
    return words[0] in _WORDS_OF_OWN_NAMES or words[0] == own_noun


def _is_name(cell: CellValue) -> bool:
    """Whether the cell is words, not a code such as "NK 3185"."""
    return isinstance(cell, str) and not any(map(str.isdigit, cell))


def _text_of_cell(cell: CellValue) -> str:
    """Returns the cell as a spreadsheet shows it: at most 15 digits, `yes` and `no`; empty for a blank cell."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.15g}"
        case _:
            return str(cell)
