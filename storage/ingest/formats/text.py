"""Reads plain text and Markdown: one document for each file."""

from collections.abc import Iterator

from storage.ingest.documents.titles import add_file_number, title_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats.encoding import FALLBACK_ENCODING, detect_encoding, fallback_encoding_remark, open_text_file
from storage.ingest.limits import MAX_TEXT_CHARACTERS, text_too_long_error
from storage.ingest.records import LoadedItem, RecordOrigin, SourceRecord
from storage.ingest.worker import ParserWorker

_READ_CHARACTERS = 1 << 20


def read_text_record(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    encoding = detect_encoding(source.path)
    if encoding == FALLBACK_ENCODING:
        yield fallback_encoding_remark(source)
    text = _read_text(source, encoding)
    if not text.strip():
        raise UnparsableFile("it is empty")
    pages = [0, *(i + 1 for i, c in enumerate(text) if c == "\f")] if "\f" in text else ()
    yield SourceRecord(
        doc_id=source.name,
        title=add_file_number(title_of("", text, source.path), source.path),
        text=text,
        source=source.name,
        origin=RecordOrigin(file=source.name, bytes_read=source.size_bytes),
        page_starts=tuple(pages),
    )


def _read_text(source: SourceFile, encoding: str) -> str:
    """Returns the text with `\\n` as line end. Raises `UnparsableFile` as soon as it exceeds the length limit."""
    parts, size = list[str](), 0
    with open_text_file(source.path, encoding, newline=None) as file:
        while part := file.read(_READ_CHARACTERS):
            parts.append(part)
            size += len(part)
            if size > MAX_TEXT_CHARACTERS:
                raise text_too_long_error(MAX_TEXT_CHARACTERS)
    return "".join(parts)
