"""Plain text and Markdown: one document a file."""

from collections.abc import Iterator

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.formats.encoding import WINDOWS, encoding_of, opened, remark
from storage.ingest.limits import LARGEST_TEXT, too_long
from storage.ingest.records import Loaded, Origin, Record
from storage.ingest.titles import stem_of, title_of
from storage.ingest.worker import Worker

_PIECE = 1 << 20  # characters


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    encoding = encoding_of(source.path)
    if encoding == WINDOWS:
        yield remark(source)
    text = _text(source, encoding)
    if not text.strip():
        raise Unparsable("it is empty")
    pages = [0, *(i + 1 for i, c in enumerate(text) if c == "\f")] if "\f" in text else ()
    yield Record(
        doc_id=source.name,
        title=title_of("", text, source.path) if source.kind == "md" else stem_of(source.path),
        text=text,
        source=source.name,
        origin=Origin(file=source.name, read=source.size),
        page_starts=tuple(pages),
    )


def _text(source: SourceFile, encoding: str) -> str:
    """With plain line ends; read piece by piece, and no further than a document may be long."""
    parts, size = list[str](), 0
    with opened(source.path, encoding, newline=None) as file:
        while part := file.read(_PIECE):
            parts.append(part)
            size += len(part)
            if size > LARGEST_TEXT:
                raise too_long(LARGEST_TEXT)
    return "".join(parts)
