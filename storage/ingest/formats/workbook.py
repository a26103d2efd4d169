"""Reads workbooks, which the worker streams row by row: one document for each row."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from storage.ingest.documents.surrogates import replace_surrogates
from storage.ingest.files import SourceFile
from storage.ingest.formats.cells import CellValue
from storage.ingest.formats.row_titles import RowNaming
from storage.ingest.formats.tables import TableLayout, record_of_row
from storage.ingest.records import LoadedItem, LoadRemark, RecordOrigin
from storage.ingest.worker import ParserFrame, ParserWorker


def read_workbook_records(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    source.path.open("rb").close()  # raises the precise OSError here, which the worker could not report
    sheet, layout, number = RecordOrigin(file=source.name), TableLayout(header_row=0, column_names=()), 0
    with closing(worker.read_frames(source)) as frames:
        for frame in frames:
            if "sheet" in frame:
                sheet, layout, number = (
                    RecordOrigin(file=source.name, sheet=replace_surrogates(frame["sheet"])),
                    _layout_of_frame(frame),
                    0,
                )
                yield from layout.remarks_for(sheet)
            elif "remark" in frame:
                yield LoadRemark(origin=RecordOrigin(file=source.name), text=replace_surrogates(frame["remark"]))
            for line, *cells in frame.get("rows", ()):
                number += 1
                origin = RecordOrigin(file=source.name, sheet=sheet.sheet, line=int(line))
                yield record_of_row(source, layout, [_clean_cell(cell) for cell in cells], number, origin)


def _layout_of_frame(frame: ParserFrame) -> TableLayout:
    return TableLayout(
        header_row=int(frame["header"]),
        column_names=tuple(replace_surrogates(name) for name in frame["names"]),
        key_column=frame["key"],
        text_above=tuple(replace_surrogates(words) for words in frame["above"]),
        naming=_naming_of_frame(frame["naming"]),
    )


def _naming_of_frame(parts: Sequence[str] | None) -> RowNaming | None:
    """Returns the naming of rows from its noun and its columns."""
    if parts is None:
        return None
    noun, *columns = map(replace_surrogates, parts)
    return RowNaming(columns=tuple(columns), noun=noun)


def _clean_cell(cell: CellValue) -> CellValue:
    return replace_surrogates(cell) if isinstance(cell, str) else cell
