"""CSV, with whatever delimiter: one document a row."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import BinaryIO, cast

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.formats.encoding import WINDOWS, encoding_of, opened, remark
from storage.ingest.records import Broken, Loaded, Origin
from storage.ingest.tables import Keys, Line, body_of, layout_of, row_record
from storage.ingest.worker import Worker

_LONGEST_CELL = 100 * 1024 * 1024  # characters
_SAMPLE = 1 << 16  # characters to find the delimiter by


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    encoding = encoding_of(source.path)
    if encoding == WINDOWS:
        yield remark(source)
    with opened(source.path, encoding) as file:
        delimiter = _delimiter(file.read(_SAMPLE))
    layout = layout_of(_lines(source, encoding, delimiter))
    if layout is None:
        raise Unparsable("it is empty")
    keys = Keys(layout)
    if keys.are_sought:
        for line in takewhile(lambda _: keys.are_sought, body_of(_lines(source, encoding, delimiter), layout)):
            keys.see(line)
    layout = keys.layout()
    yield from layout.remarks(Origin(file=source.name))
    lines = _lines(source, encoding, delimiter)
    for number, line in enumerate(body_of(lines, layout), 1):
        origin = Origin(file=source.name, line=line.number, read=line.read)
        if any(layout.beyond(line.cells)):
            reason = f"it has {len(line.cells)} values for {len(layout.names)} columns"
            yield Broken(origin=origin, reason=reason)
        else:
            yield row_record(source, layout, line.cells, number, origin)


def _lines(source: SourceFile, encoding: str, delimiter: str) -> Iterator[Line]:
    """Each row, with the line it ends on. Raises `Unparsable`."""
    csv.field_size_limit(_LONGEST_CELL)
    with opened(source.path, encoding) as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            for cells in reader:
                read = cast(BinaryIO, file.buffer).tell()
                yield Line(number=reader.line_num, cells=[cell.strip() or None for cell in cells], read=read)
        except csv.Error as exc:
            raise Unparsable(f"it is no CSV from line {reader.line_num} on: {exc}") from exc


def _delimiter(sample: str) -> str:
    """The one that cuts the most lines of the sample into the same number of cells, more than one."""
    lines = sample.splitlines(keepends=True)
    if len(sample) >= _SAMPLE:
        lines = lines[:-1]  # cut off in the middle

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines[:200], delimiter=delimiter))
        except csv.Error:
            return 0, 0
        return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))

    return max(",;\t|", key=score)
