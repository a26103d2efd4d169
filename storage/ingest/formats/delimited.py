"""Reads CSV files with any usual delimiter: one document for each row. Runs in the worker process."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import BinaryIO, cast

from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats.encoding import FALLBACK_ENCODING, detect_encoding, fallback_encoding_remark, open_text_file
from storage.ingest.formats.tables import KeyColumnFinder, TabularRow, body_rows_of, detect_layout, record_of_row
from storage.ingest.limits import (
    MAX_COLUMNS,
    MAX_TEXT_CHARACTERS,
    large_cell_error,
    open_quote_error,
    too_many_columns_error,
)
from storage.ingest.records import LoadedItem, RecordOrigin, RejectedInput

_POSITION_EVERY_ROWS = 20  # after so many rows, the position in the file is asked for, which takes as long as a row
_SAMPLE_CHARACTERS = 1 << 16  # the beginning of the file from which the delimiter is detected


def read_csv_items(source: SourceFile) -> Iterator[LoadedItem]:
    """Yields the records of a file, and what is wrong with it. Raises `UnparsableFile` and `OSError`."""
    encoding = detect_encoding(source.path)
    if encoding == FALLBACK_ENCODING:
        yield fallback_encoding_remark(source.name)
    with open_text_file(source.path, encoding) as file:
        delimiter = _detect_delimiter(file.read(_SAMPLE_CHARACTERS))
    layout = detect_layout(_read_rows(source, encoding, delimiter))
    if layout is None:
        raise UnparsableFile("it is empty")
    keys = KeyColumnFinder(layout)
    if keys.needs_more_rows:
        for row in takewhile(
            lambda _: keys.needs_more_rows, body_rows_of(_read_rows(source, encoding, delimiter), layout)
        ):
            keys.check_row(row)
    layout = keys.layout_with_key()
    yield from layout.remarks_for(RecordOrigin(file=source.name))
    rows = _read_rows(source, encoding, delimiter)
    for number, body_row in enumerate(body_rows_of(rows, layout), 1):
        origin = RecordOrigin(file=source.name, line=body_row.number, bytes_read=body_row.bytes_read)
        if any(layout.values_beyond_columns(body_row.cells)):
            reason = f"it has {len(body_row.cells)} values for {len(layout.column_names)} columns"
            yield RejectedInput(origin=origin, reason=reason)
        else:
            yield record_of_row(source, layout, body_row.cells, number, origin)


def _read_rows(source: SourceFile, encoding: str, delimiter: str) -> Iterator[TabularRow]:
    """Yields the rows; the number of a row is the line on which it ends. Raises `UnparsableFile`."""
    csv.field_size_limit(MAX_TEXT_CHARACTERS)
    with open_text_file(source.path, encoding) as file:
        reader, row, lines_before = csv.reader(file, delimiter=delimiter), None, 0
        bytes_read = 0
        try:
            for row_count, raw_cells in enumerate(reader):
                if row is not None:
                    lines_before = row.number
                    yield row
                cells = [cell.strip() or None for cell in raw_cells]
                if len(cells) > MAX_COLUMNS:
                    cells = _cut_blank_end(cells)
                if row_count % _POSITION_EVERY_ROWS == 0:
                    bytes_read = cast(BinaryIO, file.buffer).tell()
                row = TabularRow(number=reader.line_num, cells=cells, bytes_read=bytes_read)
        except csv.Error as exc:
            if "field limit" in str(exc):
                raise large_cell_error(reader.line_num) from exc
            raise UnparsableFile(f"it is not CSV from line {reader.line_num} on: {exc}") from exc
    if row is not None:
        if row.number > lines_before + 1:
            _refuse_open_quote(source, encoding, lines_before, row.number)
        yield row


def _refuse_open_quote(source: SourceFile, encoding: str, lines_before: int, line_count: int) -> None:
    """Raises `UnparsableFile` if the last row has many lines because its quote is not closed: it has an odd number."""
    with open_text_file(source.path, encoding) as file:
        if sum(line.count('"') for line in islice(file, lines_before, line_count)) % 2:
            raise open_quote_error(lines_before + 1, line_count - lines_before)


def _cut_blank_end(cells: list[str | None]) -> list[str | None]:
    """Returns as many cells as a table may have columns. Raises `UnparsableFile` if a further cell is not blank."""
    if filled_beyond := sum(1 for cell in cells[MAX_COLUMNS:] if cell is not None):
        raise too_many_columns_error(MAX_COLUMNS + filled_beyond)
    return cells[:MAX_COLUMNS]


def _detect_delimiter(sample: str) -> str:
    """Returns the delimiter that splits the most lines of the sample into the same number of cells, at least two."""
    lines = sample.splitlines(keepends=True)
    if len(sample) >= _SAMPLE_CHARACTERS:
        lines = lines[:-1]  # the last line may be incomplete

    def score_delimiter(delimiter: str) -> tuple[int, int]:
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines[:200], delimiter=delimiter))
        except csv.Error:
            return 0, 0
        return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))

    return max(",;\t|", key=score_delimiter)
