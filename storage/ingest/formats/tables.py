"""Reads tables as people lay them out: finds the header row and the column names, and makes a record of each row."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import median

from storage.ingest.files import SourceFile
from storage.ingest.formats.cells import CellValue, text_of_cell
from storage.ingest.formats.row_titles import RowNaming, choose_row_naming, title_of_row
from storage.ingest.records import LoadRemark, RecordOrigin, SourceRecord

_SAMPLE_ROWS = 50  # the header is searched in the first rows
_HEADER_FILL_SHARE = 0.6  # a header fills at least this share of the columns that rows usually fill
_ID_COLUMNS = ("doc_id", "id")
_MAX_NAME_CHARACTERS = 1_000  # of a column


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
    naming: RowNaming | None = None  # how rows are named, where their own words would repeat

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
    words = tuple(text_of_cell(cell) for row in above for cell in row.cells if cell is not None)
    cells_below = (row.cells for row in sample[index + 1 :])
    records = [dict(zip(names, cells, strict=False)) for cells in cells_below]
    return TableLayout(
        header_row=header.number,
        column_names=names,
        text_above=words,
        naming=choose_row_naming(records, names),
    )


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
        key_hash = hash(text_of_cell(key))
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
    key = str(number) if key_cell is None else text_of_cell(key_cell)
    lines = [f"{name}: {text_of_cell(cell)}" for name, cell in row.items()]
    return SourceRecord(
        doc_id="#".join(filter(None, [source.name, origin.sheet, key])),
        title=title_of_row(row, key if key_cell is not None else f"row {number}", source.path.stem, layout.naming),
        text="\n".join(lines),
        source=source.name,
        origin=origin,
        metadata={name: cell for name, cell in row.items() if key_cell is None or name.casefold() != "doc_id"},
        is_row=True,
    )


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
    words = [text_of_cell(cell) for cell in header.cells]
    if group is None:
        return words
    for first, last in group.merged_columns.items():
        prefix = text_of_cell(group.cells[first]) if first < len(group.cells) else ""
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
