"""The sheets of a workbook, row by row, with typed cells. Runs in the worker process."""

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TextIO, TypeAlias
from zipfile import ZipFile

import openpyxl
from openpyxl.utils import column_index_from_string
from openpyxl.utils.exceptions import CellCoordinatesException, IllegalCharacterError, InvalidFileException

from storage.ingest.pages.package import unpacked, unparsable
from storage.ingest.tables import Cell, Keys, Layout, Line, body_of, layout_of
from storage.ingest.worker import Frame

BROKEN = (
    *(InvalidFileException, CellCoordinatesException, IllegalCharacterError),
    *(SyntaxError, KeyError, ValueError, TypeError, OSError),  # what it raises itself, or lets pass
)
_LONGEST_CELL = 32_767  # characters; Excel's own limit
_TOGETHER = 100  # rows of a frame
_ALIVE_EVERY = 500  # rows; that it is at work is said at least as often
_MOST_COLUMNS = 2_000
_LARGEST_JOIN = 10_000  # rows
_JOINED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_NO_RESULT = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>")
_ERRORS = frozenset("#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CALC! #FIELD!".split())
Sheet: TypeAlias = Any  # openpyxl's, which has no annotations


def frames(path: Path) -> Iterator[Frame]:
    """A frame `sheet` and its `rows`, several a frame, for each sheet that has any; `remark`s. Raises `Unparsable`."""
    package = unpacked(path)
    try:
        yield from _frames(package)
    except BROKEN as exc:
        raise unparsable(exc, "Excel workbook") from exc


def _frames(package: BinaryIO) -> Iterator[Frame]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what openpyxl leaves out: pictures, validations
        book: Any = openpyxl.load_workbook(package, read_only=True, data_only=True)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            yield {"remark": f"the sheet {sheet.title} is hidden and was not read"}
        else:
            yield from _sheet(sheet, _xml_of(sheet, package))


def _xml_of(sheet: Sheet, package: BinaryIO) -> bytes:
    """openpyxl reads rows as a stream only where it leaves out what stands behind them, such as joined cells."""
    with ZipFile(package) as parts:
        return parts.read(sheet._worksheet_path)


def _sheet(sheet: Sheet, xml: bytes) -> Iterator[Frame]:
    """Its cells are parsed once, into a file beside: whether a column names the rows is known behind the last."""
    with TemporaryFile("w+", encoding="utf-8") as kept:
        beginning = list[Line]()
        lines = _kept(_lines(sheet, _Joins.of(xml)), kept)
        layout = layout_of(_noted(lines, beginning))
        if layout is None:
            return
        keys = Keys(layout)
        for number, one in enumerate(body_of(chain(beginning, lines), layout)):
            keys.see(one)
            if number % _ALIVE_EVERY == 0:
                yield {"alive": True}
        yield from _remarks(sheet, xml)
        yield _heading(sheet, keys.layout())
        yield from _rows(kept, layout)


def _kept(lines: Iterable[Line], file: TextIO) -> Iterator[Line]:
    for one in lines:
        if one.filled:
            file.write(json.dumps([one.number, *one.cells]) + "\n")
            yield one


def _noted(lines: Iterable[Line], seen: list[Line]) -> Iterator[Line]:
    for one in lines:
        seen.append(one)
        yield one


def _remarks(sheet: Sheet, xml: bytes) -> Iterator[Frame]:
    if blank := len(_NO_RESULT.findall(xml)):
        yield {
            "remark": f"{blank} formulas of the sheet {sheet.title} have no stored result and were read as blank;"
            " a spreadsheet program that opens and saves the file stores them"
        }


def _heading(sheet: Sheet, layout: Layout) -> Frame:
    return {
        "sheet": sheet.title,
        "header": layout.header,
        "names": list(layout.names),
        "key": layout.key,
        "above": list(layout.above),
    }


def _rows(kept: TextIO, layout: Layout) -> Iterator[Frame]:
    """Those below the header."""
    kept.seek(0)
    rows = (row for row in map(json.loads, kept) if row[0] > layout.header)
    while several := list(islice(rows, _TOGETHER)):
        yield {"rows": several}


def _lines(sheet: Sheet, joins: "_Joins") -> Iterator[Line]:
    """The rows, from the first; a cell that is joined with those below stands in each."""
    sheet.reset_dimensions()  # what programs write there need not be true
    anchors = dict[tuple[int, int], Cell]()
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_cell(value) for value in values[:_MOST_COLUMNS]]
        while cells and cells[-1] is None:
            cells.pop()
        for column, row in joins.below.get(number, {}).items():
            cells += [None] * (column + 1 - len(cells))
            cells[column] = anchors.get((row, column))
        for column in joins.starts.get(number, []):
            anchors[number, column] = cells[column] if column < len(cells) else None
        yield Line(number=number, cells=cells, merged=joins.across.get(number, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joins:
    """Which cells are joined, by row: columns from 0."""

    across: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict[int, int]))  # first -> last
    below: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict[int, int]))  # -> the first row
    starts: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list[int]))

    @classmethod
    def of(cls, xml: bytes) -> "_Joins":
        joins = cls()
        for found in _JOINED.finditer(xml):
            left, top, right, bottom = (one.decode() for one in found.groups())
            joins._add(column_index_from_string(left) - 1, int(top), column_index_from_string(right) - 1, int(bottom))
        return joins

    def _add(self, left: int, top: int, right: int, bottom: int) -> None:
        if left >= _MOST_COLUMNS or bottom - top > _LARGEST_JOIN:
            return
        if left < right:
            self.across[top][left] = right
        if top < bottom:
            self.starts[top].append(left)
        for row in range(top + 1, bottom + 1):
            self.below[row][left] = top


def _cell(value: object) -> Cell:
    """Dates and times as ISO has them; errors such as #N/A are blank."""
    match value:
        case None | bool() | int():
            return value
        case float() | Decimal():
            return int(value) if value == value // 1 and abs(value) < 1e15 else float(value)
        case datetime() if not (value.hour or value.minute or value.second):
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            text = str(value)[:_LONGEST_CELL].strip()
            return None if not text or (text.startswith("#") and text in _ERRORS) else text
