"""One file, of whatever format, read into records."""

import gzip
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.formats import delimited, jsonl, paged, text, workbook
from storage.ingest.limits import LARGEST_TEXT, too_long
from storage.ingest.records import Broken, Loaded, Origin, Record
from storage.ingest.worker import Worker

__all__ = ["SourceFile", "is_known", "is_parsed", "records"]

_LARGEST = 200 * 1024 * 1024  # bytes of a file that is one document, or that cannot be read as a stream
_STREAMED = ("jsonl", "csv")
_LONGEST_ID = 480  # bytes; engines allow 512 for a passage's, which has its position behind
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_READERS: Mapping[str, Callable[[SourceFile, Worker], Iterator[Loaded]]] = {
    "pdf": paged.with_pages,
    "docx": paged.without_pages,
    "pptx": paged.with_pages,
    "xlsx": workbook.records,
    "csv": delimited.records,
    "html": paged.without_pages,
    "md": text.records,
    "txt": text.records,
    "jsonl": jsonl.records,
}
_KNOWN = ", ".join(f".{kind}" for kind in _READERS) + ", .jsonl.gz"

_PICTURES = frozenset("jpg jpeg png gif tif tiff bmp webp heic".split())
_OLD = frozenset(("doc", "xls", "ppt"))


def is_known(source: SourceFile) -> bool:
    """Whether there is a reader for its format."""
    return source.kind in _READERS


def is_parsed(source: SourceFile) -> bool:
    """Whether a worker reads it, and gives all of it at once."""
    return _READERS.get(source.kind) in (paged.with_pages, paged.without_pages)


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    """What a file holds, in its order. Never raises for what is wrong with it: that comes as `Broken`.

    The worker is busy until the iterator ends or is closed.
    """
    origin = Origin(file=source.name)
    try:
        for loaded in _reader(source)(source, worker):
            yield _checked(loaded) if isinstance(loaded, Record) else loaded
    except Unparsable as exc:
        yield Broken(origin=origin, reason=exc.reason)
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        yield Broken(origin=origin, reason=f"its compression is broken: {exc}")
    except OSError as exc:
        yield Broken(origin=origin, reason=f"it cannot be read: {exc.strerror or exc}")


def _reader(source: SourceFile) -> Callable[[SourceFile, Worker], Iterator[Loaded]]:
    """Raises `Unparsable` for what is not opened at all."""
    reader = _READERS.get(source.kind)
    if reader is None:
        raise _unread(source.kind)
    if not stat.S_ISREG(source.path.stat().st_mode):  # a pipe would keep us waiting
        raise Unparsable("it is no ordinary file")
    if source.kind not in _STREAMED and source.size > _LARGEST:
        raise Unparsable(f"it is larger than {_LARGEST // 1024**2} MB; split it into smaller files")
    return reader


def _unread(kind: str) -> Unparsable:
    if kind in _PICTURES:
        return Unparsable("it is a picture and needs text recognition first")
    if kind in _OLD:
        return Unparsable("it is of the kind that Office wrote before 2007; save it anew in today's format")
    return Unparsable(f"its format is not known (known are {_KNOWN})")


def _checked(record: Record) -> Record | Broken:
    """The record, unless nothing could be kept of it."""
    if not record.doc_id.strip() or _CONTROL.search(record.doc_id):
        return Broken(origin=record.origin, reason="its doc_id is blank or holds control characters")
    if len(record.doc_id.encode()) > _LONGEST_ID:
        return Broken(origin=record.origin, reason=f"its doc_id is longer than {_LONGEST_ID} bytes")
    if len(record.text) > LARGEST_TEXT:
        return Broken(origin=record.origin, reason=too_long(LARGEST_TEXT).reason)
    if not record.text.strip() and not record.metadata and not record.title.strip():
        return Broken(origin=record.origin, reason="it has neither text nor title nor metadata")
    return record
