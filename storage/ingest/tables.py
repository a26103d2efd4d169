"""Tables as people make them: which row is the header, what the columns are called, and a record of each row."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import median
from typing import TypeAlias

from storage.ingest.files import SourceFile
from storage.ingest.records import Origin, Record, Remark

_SAMPLE = 50  # rows to find the header in
_FULL = 0.6  # of the columns that rows usually fill, a header fills as much
_TITLE_COLUMNS = ("title", "name", "subject", "heading", "label")
_ID_COLUMNS = ("doc_id", "id")
_LONGEST_TITLE = 300
_NUMBERS = re.compile(r"[\d.,:/\s-]+")
Cell: TypeAlias = str | int | float | bool | None  # None: blank


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a file. `merged`: from which column to which cells are joined, in columns from 0."""

    number: int
    cells: Sequence[Cell]
    read: int = 0  # bytes of the file, up to here
    merged: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def filled(self) -> int:
        return sum(cell is not None for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is to be read. `names`: of the columns, unique. `key`: the column whose value names the row."""

    header: int  # its line
    names: Sequence[str]
    key: int | None = None
    above: Sequence[str] = ()  # what stands over the header

    def beyond(self, cells: Sequence[Cell]) -> Iterator[Cell]:
        """Values that no column has a name for."""
        return (cell for cell in cells[len(self.names) :] if cell is not None)

    def remarks(self, origin: Origin) -> Iterator[Remark]:
        if self.above:
            words = "; ".join(self.above)[:200]
            yield Remark(origin=origin, text=f"what stands above the table's header is in no document: {words}")


def layout_of(lines: Iterable[Line]) -> Layout | None:
    """By the first lines, yet without a key; None for a table without any value."""
    sample = list(islice((line for line in lines if line.filled), _SAMPLE))
    if not sample:
        return None
    at = _header_at(sample)
    header = sample[at]
    group = sample[at - 1] if at and sample[at - 1].number == header.number - 1 and sample[at - 1].merged else None
    above = sample[: at - 1] if group else sample[:at]
    names = _column_names(_grouped(header, group))
    words = tuple(_text(cell) for line in above for cell in line.cells if cell is not None)
    return Layout(header=header.number, names=names, above=words)


class Keys:
    """Whether each row has its own value in the column `doc_id`, or `id`. To be shown every row below the header."""

    def __init__(self, layout: Layout) -> None:
        folded = [name.casefold() for name in layout.names]
        self._layout, self._seen = layout, set[int]()
        self._column = next((folded.index(name) for name in _ID_COLUMNS if name in folded), None)

    @property
    def are_sought(self) -> bool:
        """Whether it makes sense to show it more."""
        return self._column is not None

    def see(self, line: Line) -> None:
        column = self._column
        if column is None:
            return
        key = line.cells[column] if column < len(line.cells) else None
        seen = hash(_text(key))
        if key is None or seen in self._seen:
            self._column = None
        self._seen.add(seen)

    def layout(self) -> Layout:
        return replace(self._layout, key=self._column)


def body_of(lines: Iterable[Line], layout: Layout) -> Iterator[Line]:
    """The lines below the header that are not blank."""
    return (line for line in lines if line.number > layout.header and line.filled)


def row_record(
    source: SourceFile,
    layout: Layout,
    cells: Sequence[Cell],
    number: int,
    origin: Origin,
) -> Record:
    """The record of a row. `number` counts rows from 1. Cells without a column are called after their place."""
    names = [*layout.names, *(f"column {place}" for place in range(len(layout.names) + 1, len(cells) + 1))]
    row = {name: cell for name, cell in zip(names, cells, strict=False) if cell is not None}
    own = cells[layout.key] if layout.key is not None and layout.key < len(cells) else None
    key = str(number) if own is None else _text(own)
    lines = [f"{name}: {_text(cell)}" for name, cell in row.items()]
    return Record(
        doc_id="#".join(filter(None, [source.name, origin.sheet, key])),
        title=_row_title(row, key if own is not None else f"row {number}", source),
        text="\n".join(lines),
        source=source.name,
        origin=origin,
        metadata={name: cell for name, cell in row.items() if own is None or name.casefold() != "doc_id"},
    )


def _header_at(sample: Sequence[Line]) -> int:
    """The first row that is about as full as rows are, and is not one of joined cells over others."""
    enough = max(min(2, max(line.filled for line in sample)), _FULL * median(line.filled for line in sample))
    full = [at for at, line in enumerate(sample) if line.filled >= enough]
    return next((at for at in full if not sample[at].merged), full[0])


def _grouped(header: Line, group: Line | None) -> list[str]:
    """The header's cells, each after the joined cell above it: `Q1` over `Units` gives `Q1 Units`."""
    words = [_text(cell) for cell in header.cells]
    if group is None:
        return words
    for first, last in group.merged.items():
        over = _text(group.cells[first]) if first < len(group.cells) else ""
        for column in range(first, min(last + 1, len(words))):
            words[column] = f"{over} {words[column]}"
    return words


def _column_names(header: Sequence[str]) -> list[str]:
    """Unique names: a blank one is called after its place, a repeated one gets a number."""
    names: dict[str, None] = {}
    for place, written in enumerate(header, 1):
        name = base = " ".join(written.split()) or f"column {place}"
        copy = 1
        while name in names:
            name = f"{base} {(copy := copy + 1)}"
        names[name] = None
    return list(names)


def _row_title(row: Mapping[str, Cell], key: str, source: SourceFile) -> str:
    by_fold = {name.casefold(): name for name in reversed(list(row))}
    for wanted in _TITLE_COLUMNS:
        if wanted in by_fold:
            return _text(row[by_fold[wanted]])[:_LONGEST_TITLE]
    words = (cell for cell in row.values() if isinstance(cell, str) and not _NUMBERS.fullmatch(cell))
    return next(words, "")[:_LONGEST_TITLE] or f"{source.path.stem} {key}"


def _text(cell: Cell) -> str:
    """As a spreadsheet shows it: at most 15 digits, `yes` and `no`."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.15g}"
        case _:
            return str(cell)
