"""Reads one file of any known format into records."""

import re
import stat
from collections.abc import Callable, Iterator, Mapping

from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats import mail, paged, streamed, text, workbook
from storage.ingest.limits import MAX_TEXT_CHARACTERS, text_too_long_error
from storage.ingest.records import LoadedItem, RecordOrigin, RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker

__all__ = ["SourceFile", "has_known_format", "is_parsed_by_worker", "load_records"]

_MAX_FILE_BYTES = 200 * 1024 * 1024  # for a file that is one document, or that cannot be read as a stream
_STREAMED_FORMATS = ("jsonl", "csv")
_MAX_DOC_ID_BYTES = 480  # engines allow 512 bytes for the id of a passage, which appends its position
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_READER_BY_FORMAT: Mapping[str, Callable[[SourceFile, ParserWorker], Iterator[LoadedItem]]] = {
    "pdf": paged.read_paged_document,
    "docx": paged.read_flowing_document,
    "pptx": paged.read_paged_document,
    "xlsx": workbook.read_workbook_records,
    "csv": streamed.read_csv_records,
    "html": paged.read_flowing_document,
    "md": text.read_text_record,
    "txt": text.read_text_record,
    "eml": mail.read_mail_record,
    "jsonl": streamed.read_jsonl_records,
}
_KNOWN_SUFFIXES = ", ".join(f".{kind}" for kind in _READER_BY_FORMAT) + ", .jsonl.gz"

_IMAGE_FORMATS = frozenset("jpg jpeg png gif tif tiff bmp webp heic".split())
_LEGACY_OFFICE_FORMATS = frozenset(("doc", "xls", "ppt"))


def has_known_format(source: SourceFile) -> bool:
    """Whether there is a reader for the format of the file."""
    return source.file_format in _READER_BY_FORMAT


def is_parsed_by_worker(source: SourceFile) -> bool:
    """Whether a worker reads the file and returns all of it at once."""
    if source.file_format in ("txt", "md"):
        return text.is_read_by_worker(source)
    return not source.is_table and has_known_format(source)


def load_records(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    """Yields the records of a file, in its order. A problem of the file is a `RejectedInput`, never an exception.

    The worker is busy until the iterator ends or is closed.
    """
    origin = RecordOrigin(file=source.name)
    try:
        for item in _reader_for(source)(source, worker):
            yield _check_record(item) if isinstance(item, SourceRecord) else item
    except UnparsableFile as exc:
        yield RejectedInput(origin=origin, reason=exc.reason)
    except OSError as exc:
        yield RejectedInput(origin=origin, reason=f"it cannot be read: {exc.strerror or exc}")


def _reader_for(source: SourceFile) -> Callable[[SourceFile, ParserWorker], Iterator[LoadedItem]]:
    """Returns the reader of the file. Raises `UnparsableFile` for a file that cannot be opened or is too large."""
    reader = _READER_BY_FORMAT.get(source.file_format)
    if reader is None:
        raise _unknown_format_error(source.file_format)
    if not stat.S_ISREG(source.path.stat().st_mode):  # reading a pipe could block forever
        raise UnparsableFile("it is not an ordinary file")
    if source.file_format not in _STREAMED_FORMATS and source.size_bytes > _MAX_FILE_BYTES:
        raise UnparsableFile(f"it is larger than {_MAX_FILE_BYTES // 1024**2} MB; split it into smaller files")
    return reader


def _unknown_format_error(file_format: str) -> UnparsableFile:
    if file_format in _IMAGE_FORMATS:
        return UnparsableFile("it is a picture and needs text recognition first")
    if file_format in _LEGACY_OFFICE_FORMATS:
        return UnparsableFile("it is of the kind that Office wrote before 2007; save it again in today's format")
    return UnparsableFile(f"its format is not known (known are {_KNOWN_SUFFIXES})")


def _check_record(record: SourceRecord) -> SourceRecord | RejectedInput:
    """Returns the record, or a rejection if its id, size or content does not allow storing it."""
    if not record.doc_id.strip() or _CONTROL_CHARACTER.search(record.doc_id):
        return RejectedInput(origin=record.origin, reason="its doc_id is blank or holds control characters")
    if len(record.doc_id.encode()) > _MAX_DOC_ID_BYTES:
        return RejectedInput(origin=record.origin, reason=f"its doc_id is longer than {_MAX_DOC_ID_BYTES} bytes")
    if len(record.text) > MAX_TEXT_CHARACTERS:
        return RejectedInput(origin=record.origin, reason=text_too_long_error(MAX_TEXT_CHARACTERS).reason)
    if not record.text.strip() and not record.metadata and not record.title.strip():
        return RejectedInput(origin=record.origin, reason="it has neither text nor title nor metadata")
    return record
