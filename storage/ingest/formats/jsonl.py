"""Lines of JSON, one document each, packed or not."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO, TypeAlias, cast

from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.records import Broken, Loaded, Origin, Record
from storage.ingest.unicode import without_halves
from storage.ingest.worker import Worker
from storage.search.ids import Subject

_LONGEST_LINE = 100 * 1024 * 1024  # bytes
_SUBJECT = re.compile(
    r"everyone|user:local:[^\s:]+|user:(?:slack|teams):[^\s:]+:[^\s:]+|channel:(?:slack|teams):[^\s:]+:[^\s]+"
    r"|team:teams:[^\s:]+:[^\s]+|group:[^\s:]+|group:(?:slack|teams):[^\s:]+:[^\s:]+"
)
_HALF_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # of a surrogate, paired or not
Json: TypeAlias = Mapping[str, object]


def records(source: SourceFile, worker: Worker) -> Iterator[Loaded]:
    with source.path.open("rb") as raw:
        packed = source.path.suffix.lower() == ".gz"
        lines = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        for number, line in enumerate(_lines(lines), 1):
            origin = Origin(file=source.name, line=number, read=raw.tell())
            if line is None:
                yield Broken(origin=origin, reason=f"the line is longer than {_LONGEST_LINE // 1024**2} MB")
            elif line.strip():
                yield _json_record(line, origin)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for one that is too long to hold."""
    while line := file.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)


def _json_record(line: bytes, origin: Origin) -> Record | Broken:
    try:
        data = json.loads(line.decode("utf-8-sig"), parse_constant=lambda _: None)  # NaN is how some write null
        if _HALF_ESCAPE.search(line):
            data = without_halves(data)
        if not isinstance(data, dict):
            raise Unparsable("it is no JSON object")
        return _record_of(cast(Json, data), origin)
    except UnicodeDecodeError as exc:
        return Broken(origin=origin, reason=f"it is not UTF-8 (byte {exc.start + 1})")
    except json.JSONDecodeError as exc:
        return Broken(origin=origin, reason=f"it is not JSON: {exc.msg} at column {exc.colno}")
    except ValueError:  # a whole number of thousands of digits
        return Broken(origin=origin, reason="it holds a number that is too long")
    except RecursionError:
        return Broken(origin=origin, reason="it is nested too deeply")
    except Unparsable as exc:
        return Broken(origin=origin, reason=exc.reason)


def _record_of(data: Json, origin: Origin) -> Record:
    """Raises `Unparsable` for what does not have the shape of a document."""
    doc_id, metadata = data.get("doc_id"), data.get("metadata")
    if not isinstance(doc_id, (str, int)) or isinstance(doc_id, bool):
        raise Unparsable("it has no doc_id" if doc_id is None else "its doc_id is no string")
    if metadata is not None and not isinstance(metadata, dict):
        raise Unparsable("its metadata is no object")
    text = _string(data, "text")
    return Record(
        doc_id=str(doc_id),
        title=_string(data, "title") or _first_line(text) or str(doc_id),
        text=text,
        source=_string(data, "source") or origin.file,
        origin=origin,
        metadata=cast(Json, metadata or {}),
        page_starts=_page_starts(data.get("page_starts"), len(text)),
        bucket=_string(data, "bucket") or None,
        readers=_readers(data.get("readers")),
    )


def _string(data: Json, key: str) -> str:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise Unparsable(f"its {key} is no string")
    return value or ""


def _page_starts(value: object, length: int) -> tuple[int | None, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unparsable("its page_starts is no list")
    starts = tuple(cast(list[object], value))
    last = 0
    for start in starts:
        if start is None:
            continue
        if not isinstance(start, int) or isinstance(start, bool) or not last <= start <= length:
            raise Unparsable(f"its page_starts are not whole numbers that ascend within the text: {start!r}")
        last = start
    return cast("tuple[int | None, ...]", starts)


def _readers(value: object) -> frozenset[Subject]:
    """Whoever may read it. What cannot be understood is refused, so that no document opens by a typing error."""
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise Unparsable("its readers are no list")
    for one in cast(list[object], value):
        if not isinstance(one, str) or not _SUBJECT.fullmatch(one):
            raise Unparsable(f"its readers hold {one!r}, which is no subject such as everyone or user:slack:T1:U1")
    return frozenset(Subject(one) for one in cast(list[str], value))


def _first_line(text: str) -> str:
    return next((line.strip()[:120] for line in text[:2000].splitlines() if line.strip()), "")
