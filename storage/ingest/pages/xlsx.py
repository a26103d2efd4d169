"""Reads the sheets of workbooks row by row, with typed cells. Runs in the worker process."""

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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

from storage.ingest.formats.tables import (
    CellValue,
    KeyColumnFinder,
    TableLayout,
    TabularRow,
    body_rows_of,
    detect_layout,
)
from storage.ingest.limits import MAX_COLUMNS
from storage.ingest.pages.office_package import translate_error, unpack_package
from storage.ingest.worker import ParserFrame

TRANSLATED_ERRORS = (
    *(InvalidFileException, CellCoordinatesException, IllegalCharacterError),
    *(SyntaxError, KeyError, ValueError, TypeError, OSError),  # exceptions that openpyxl raises or lets through
)
_MAX_CELL_CHARACTERS = 32_767  # the limit of Excel
_ROWS_PER_FRAME = 100
_ALIVE_EVERY_ROWS = 500  # an `alive` frame is sent after so many rows, so that the parent does not time out
_MAX_MERGED_ROWS = 10_000
_MERGED_RANGE = re.compile(rb'<(?:\w+:)?mergeCell [^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_FORMULA_WITHOUT_RESULT = re.compile(
    rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_ERROR_VALUES = frozenset("#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CALC! #FIELD!".split())
Sheet: TypeAlias = Any  # a worksheet of openpyxl, which has no type annotations


def read_frames(path: Path) -> Iterator[ParserFrame]:
    """Yields for each sheet with rows a `sheet` frame and `rows` frames; also `remark` and `alive` frames.

    Raises `UnparsableFile`.
    """
    package = unpack_package(path)
    try:
        yield from _workbook_frames(package)
    except TRANSLATED_ERRORS as exc:
        raise translate_error(exc, "Excel workbook") from exc


def _workbook_frames(package: BinaryIO) -> Iterator[ParserFrame]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns that it ignores pictures and validations
        book: Any = openpyxl.load_workbook(package, read_only=True, data_only=True)
    content = _ContentCounts()
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            yield {"remark": f"the sheet {sheet.title} is hidden and was not read"}
        else:
            yield from _sheet_frames(sheet, _sheet_xml_of(sheet, package), content)


def _sheet_xml_of(sheet: Sheet, package: BinaryIO) -> bytes:
    """Returns the XML of a sheet. openpyxl in streaming mode does not read what follows the rows: the merged cells."""
    with ZipFile(package) as parts:
        return parts.read(sheet._worksheet_path)


@dataclass(slots=True)
class _ContentCounts:
    """The rows below headers, and the cells with a value, that were read of all sheets so far."""

    rows: int = 0
    cells: int = 0

    @property
    def frame(self) -> ParserFrame:
        """Tells the parent that the worker still reads, and is bounded."""
        return {"alive": True, "row_count": self.rows, "cell_count": self.cells}


def _sheet_frames(sheet: Sheet, xml: bytes, content: _ContentCounts) -> Iterator[ParserFrame]:
    """Yields the frames of a sheet.

    The cells are parsed once and spooled to a temporary file, because the key column is known only after the last row.
    """
    with TemporaryFile("w+", encoding="utf-8") as spool:
        first_rows = list[TabularRow]()
        cut_cells = _CutCells()
        rows = _spool_rows(_sheet_rows(sheet, _MergedCells.from_xml(xml), cut_cells), spool)
        layout = detect_layout(_collect_rows(rows, first_rows))
        if layout is None:
            return
        keys = KeyColumnFinder(layout)
        for row in body_rows_of(chain(first_rows, rows), layout):
            keys.check_row(row)
            content.rows += 1
            content.cells += row.filled_count
            if content.rows % _ALIVE_EVERY_ROWS == 0:
                yield content.frame
        yield content.frame
        yield from _formula_remarks(sheet, xml)
        yield from _cut_remarks(sheet, cut_cells)
        yield _header_frame(sheet, keys.layout_with_key())
        yield from _row_frames(spool, layout)


def _spool_rows(rows: Iterable[TabularRow], file: TextIO) -> Iterator[TabularRow]:
    for row in rows:
        if row.filled_count:
            file.write(json.dumps([row.number, *row.cells]) + "\n")
            yield row


def _collect_rows(rows: Iterable[TabularRow], collected: list[TabularRow]) -> Iterator[TabularRow]:
    for row in rows:
        collected.append(row)
        yield row


def _formula_remarks(sheet: Sheet, xml: bytes) -> Iterator[ParserFrame]:
    if blank := len(_FORMULA_WITHOUT_RESULT.findall(xml)):
        yield {
            "remark": f"{blank} formulas of the sheet {sheet.title} have no stored result and were read as blank;"
            " a spreadsheet program that opens and saves the file stores them"
        }


def _cut_remarks(sheet: Sheet, cut_cells: "_CutCells") -> Iterator[ParserFrame]:
    if cut_cells.beyond_columns:
        yield {
            "remark": f"{cut_cells.beyond_columns:,} cells of the sheet {sheet.title} are right of column"
            f" {MAX_COLUMNS:,} and were not read: split it into several sheets"
        }
    if cut_cells.too_long:
        yield {
            "remark": f"{cut_cells.too_long:,} cells of the sheet {sheet.title} have more than"
            f" {_MAX_CELL_CHARACTERS:,} characters, and their rest was not read"
        }


def _header_frame(sheet: Sheet, layout: TableLayout) -> ParserFrame:
    return {
        "sheet": sheet.title,
        "header": layout.header_row,
        "names": list(layout.column_names),
        "key": layout.key_column,
        "above": list(layout.text_above),
        "naming": None if layout.naming is None else [layout.naming.noun, *layout.naming.columns],
    }


def _row_frames(spool: TextIO, layout: TableLayout) -> Iterator[ParserFrame]:
    """Yields frames with the spooled rows below the header."""
    spool.seek(0)
    rows = (row for row in map(json.loads, spool) if row[0] > layout.header_row)
    while batch := list(islice(rows, _ROWS_PER_FRAME)):
        yield {"rows": batch}


def _sheet_rows(sheet: Sheet, merged_cells: "_MergedCells", cut_cells: "_CutCells") -> Iterator[TabularRow]:
    """Yields all rows of a sheet. Each row repeats the cells that are merged with a row above."""
    sheet.reset_dimensions()  # some programs store wrong dimensions
    anchors = dict[tuple[int, int], CellValue]()
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cut_cells.count_row(values)
        cells = [_cell_value(value) for value in values[:MAX_COLUMNS]]
        while cells and cells[-1] is None:
            cells.pop()
        for column, row in merged_cells.first_rows.get(number, {}).items():
            cells += [None] * (column + 1 - len(cells))
            cells[column] = anchors.get((row, column))
        for column in merged_cells.start_columns.get(number, []):
            anchors[number, column] = cells[column] if column < len(cells) else None
        yield TabularRow(number=number, cells=cells, merged_columns=merged_cells.last_columns.get(number, {}))


@dataclass(slots=True)
class _CutCells:
    """Counts the cells that are not read, and those of which only the beginning is."""

    beyond_columns: int = 0
    too_long: int = 0

    def count_row(self, values: Sequence[object]) -> None:
        self.beyond_columns += sum(value is not None for value in values[MAX_COLUMNS:])
        self.too_long += sum(
            isinstance(value, str) and len(value) > _MAX_CELL_CHARACTERS for value in values[:MAX_COLUMNS]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _MergedCells:
    """The merged cells, by row. Rows count from 1, columns from 0."""

    last_columns: dict[int, dict[int, int]] = field(
        default_factory=lambda: defaultdict(dict[int, int])
    )  # by the top row: first column -> last column
    first_rows: dict[int, dict[int, int]] = field(
        default_factory=lambda: defaultdict(dict[int, int])
    )  # by each further row: first column -> top row
    start_columns: dict[int, list[int]] = field(
        default_factory=lambda: defaultdict(list[int])
    )  # by the top row: first columns of cells that continue below

    @classmethod
    def from_xml(cls, xml: bytes) -> "_MergedCells":
        merged_cells = cls()
        for match in _MERGED_RANGE.finditer(xml):
            left, top, right, bottom = (group.decode() for group in match.groups())
            merged_cells._add_range(
                column_index_from_string(left) - 1, int(top), column_index_from_string(right) - 1, int(bottom)
            )
        return merged_cells

    def _add_range(self, left: int, top: int, right: int, bottom: int) -> None:
        if left >= MAX_COLUMNS or bottom - top > _MAX_MERGED_ROWS:
            return
        if left < right:
            self.last_columns[top][left] = right
        if top < bottom:
            self.start_columns[top].append(left)
        for row in range(top + 1, bottom + 1):
            self.first_rows[row][left] = top


def _cell_value(value: object) -> CellValue:
    """Returns the value of a cell: dates and times in ISO format, errors such as #N/A as blank."""
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
            text = str(value)[:_MAX_CELL_CHARACTERS].strip()
            return None if not text or (text.startswith("#") and text in _ERROR_VALUES) else text
