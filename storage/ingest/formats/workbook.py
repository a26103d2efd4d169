"""Spreadsheets with sheets: one document a row, read by the worker as a stream."""

from collections.abc import Iterator
from contextlib import closing

from storage.ingest.files import SourceFile
from storage.ingest.records import Loaded, Origin, Remark
from storage.ingest.tables import Cell, Layout, row_record
from storage.ingest.unicode import whole
from storage.ingest.worker import Frame, Worker


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    source.path.open("rb").close()  # here, where what is wrong with it has a name
    sheet, layout, number = Origin(file=source.name), Layout(header=0, names=()), 0
    with closing(worker.frames(source.path, source.kind)) as frames:
        for frame in frames:
            if "sheet" in frame:
                sheet, layout, number = Origin(file=source.name, sheet=whole(frame["sheet"])), _layout(frame), 0
                yield from layout.remarks(sheet)
            elif "remark" in frame:
                yield Remark(origin=Origin(file=source.name), text=whole(frame["remark"]))
            for line, *cells in frame.get("rows", ()):
                number += 1
                origin = Origin(file=source.name, sheet=sheet.sheet, line=int(line))
                yield row_record(source, layout, [_cell(one) for one in cells], number, origin)


def _layout(frame: Frame) -> Layout:
    return Layout(
        header=int(frame["header"]),
        names=tuple(whole(name) for name in frame["names"]),
        key=frame["key"],
        above=tuple(whole(words) for words in frame["above"]),
    )


def _cell(cell: Cell) -> Cell:
    return whole(cell) if isinstance(cell, str) else cell
