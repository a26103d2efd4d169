"""Reads plain text and Markdown: one document for each file."""

from collections.abc import Iterator
from contextlib import closing

from storage.ingest.documents.titles import add_file_number, title_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats.encoding import FALLBACK_ENCODING, fallback_encoding_remark
from storage.ingest.limits import MAX_PAGES, too_many_pages_error
from storage.ingest.pages.plain_text import read_frames
from storage.ingest.records import LoadedItem, RecordOrigin, SourceRecord
from storage.ingest.worker import ParserWorker

_IN_PLACE_BYTES = 1_000_000  # a smaller file is read faster than the worker is asked for it


def is_read_by_worker(source: SourceFile) -> bool:
    return source.size_bytes > _IN_PLACE_BYTES


def read_text_record(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    source.path.open("rb").close()  # raises the precise OSError here
    encoding, text = "", ""
    with closing(worker.read_frames(source) if is_read_by_worker(source) else read_frames(source.path)) as frames:
        for frame in frames:
            encoding, text = str(frame["encoding"]), str(frame["text"])
    if encoding == FALLBACK_ENCODING:
        yield fallback_encoding_remark(source.name)
    if not text.strip():
        raise UnparsableFile("it is empty")
    if (break_count := text.count("\f")) >= MAX_PAGES:
        raise too_many_pages_error(break_count + 1)
    pages = [0, *(i + 1 for i, c in enumerate(text) if c == "\f")] if "\f" in text else ()
    yield SourceRecord(
        doc_id=source.name,
        title=add_file_number(title_of("", text, source.path), source.path),
        text=text,
        source=source.name,
        origin=RecordOrigin(file=source.name, bytes_read=source.size_bytes),
        page_starts=tuple(pages),
    )
