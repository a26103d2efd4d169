"""Reads JSON Lines files, compressed with gzip or not: one document for each line. Runs in the worker process."""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import BinaryIO, TypeAlias, cast

from storage.ingest.documents.surrogates import replace_surrogates_in_json
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.formats.row_titles import title_of_row
from storage.ingest.limits import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_PAGES,
    MAX_VALUES,
    too_many_keys_error,
    too_many_pages_error,
    too_many_values_error,
)
from storage.ingest.records import LoadedItem, RecordOrigin, RejectedInput, SourceRecord
from storage.search.ids import Subject
from storage.search.subjects import SUBJECT_PATTERN

_MAX_LINE_BYTES = 100 * 1024 * 1024
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # matches surrogates in pairs too
_KEYS_OF_DOCUMENTS = frozenset({"text", "source", "page_starts", "readers"})
_MIN_FIELDS_OF_ROW = 2  # of a record without `id`
_TITLE_KEYS = ("title", "name", "subject")
JsonObject: TypeAlias = Mapping[str, object]
_ValueWithPath: TypeAlias = tuple[tuple[str, ...], object]


def read_jsonl_items(source: SourceFile) -> Iterator[LoadedItem]:
    """Yields the records of a file, and what is wrong with it. Raises `OSError` and what gzip raises."""
    with source.path.open("rb") as raw:
        is_compressed = source.path.suffix.lower() == ".gz"
        lines = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_compressed else raw
        for number, line in enumerate(_read_lines(lines), 1):
            origin = RecordOrigin(file=source.name, line=number, bytes_read=raw.tell())
            if line is None:
                yield RejectedInput(origin=origin, reason=f"the line is longer than {_MAX_LINE_BYTES // 1024**2} MB")
            elif line.strip():
                yield _parse_line(line, origin)


def _read_lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yields the lines; None for a line that is too long to keep in memory."""
    while line := file.readline(_MAX_LINE_BYTES):
        if line.endswith(b"\n") or len(line) < _MAX_LINE_BYTES:
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = file.readline(_MAX_LINE_BYTES)


def _parse_line(line: bytes, origin: RecordOrigin) -> SourceRecord | RejectedInput:
    try:
        data = json.loads(line.decode("utf-8-sig"), parse_constant=lambda _: None)  # some programs write NaN for null
        _check_shape(data, line)
        if _SURROGATE_ESCAPE.search(line):
            data = replace_surrogates_in_json(data)
        if not isinstance(data, dict):
            raise UnparsableFile("it is not a JSON object")
        return _record_from_json(cast(JsonObject, data), origin)
    except UnicodeDecodeError as exc:
        return RejectedInput(origin=origin, reason=f"it is not UTF-8 (byte {exc.start + 1})")
    except json.JSONDecodeError as exc:
        return RejectedInput(origin=origin, reason=f"it is not JSON: {exc.msg} at column {exc.colno}")
    except ValueError:  # an integer with thousands of digits
        return RejectedInput(origin=origin, reason="it holds a number that is too long")
    except RecursionError:
        return RejectedInput(origin=origin, reason="it is nested too deeply")
    except UnparsableFile as exc:
        return RejectedInput(origin=origin, reason=exc.reason)


def _check_shape(data: object, line: bytes) -> None:
    """Raises `UnparsableFile` for more keys, values or levels than are read. Keys of rows in a list count once."""
    is_flat = line.count(b"{") + line.count(b"[") <= MAX_DEPTH
    if is_flat and line.count(b":") <= MAX_COLUMNS and line.count(b",") <= MAX_VALUES:
        return
    value_count = 0
    level: list[_ValueWithPath] = [((), data)]
    paths = set[tuple[str, ...]]()
    for _ in range(MAX_DEPTH + 1):
        level = list(_members_with_paths(level))
        paths.update(path for path, _ in level)
        value_count += len(level)
        if not level or value_count > MAX_VALUES:
            break
    if len(paths) > MAX_COLUMNS:
        raise too_many_keys_error(len(paths), is_complete=not level)
    if value_count > MAX_VALUES:
        raise too_many_values_error()
    if level:
        raise UnparsableFile(f"it is nested more than {MAX_DEPTH} levels deep")


def _members_with_paths(values: Iterable[_ValueWithPath]) -> Iterator[_ValueWithPath]:
    """Yields the members of the objects and lists among the values; a member of a list has the path of the list.

    Stops after as many as a record may have.
    """
    return islice(_all_members_with_paths(values), MAX_VALUES + 1)


def _all_members_with_paths(values: Iterable[_ValueWithPath]) -> Iterator[_ValueWithPath]:
    for path, value in values:
        if isinstance(value, dict):
            for key, member in cast("dict[str, object]", value).items():
                yield (*path, key), member
        elif isinstance(value, list):
            yield from ((path, member) for member in cast("list[object]", value))


def _record_from_json(data: JsonObject, origin: RecordOrigin) -> SourceRecord:
    """Returns the record of a JSON object. Raises `UnparsableFile` if the object does not describe a document."""
    is_plain = data.get("doc_id") is None
    is_row = is_plain and not data.get("text")
    data = _document_of_plain_record(data, origin) if is_plain else data
    doc_id, metadata = data.get("doc_id"), data.get("metadata")
    if not isinstance(doc_id, (str, int)) or isinstance(doc_id, bool):
        raise UnparsableFile("it has no doc_id" if doc_id is None else "its doc_id is not a string")
    if metadata is not None and not isinstance(metadata, dict):
        raise UnparsableFile("its metadata is not an object")
    text = _string_for_key(data, "text")
    return SourceRecord(
        doc_id=str(doc_id),
        title=_string_for_key(data, "title"),
        text=text,
        source=_string_for_key(data, "source") or origin.file,
        origin=origin,
        metadata=cast(JsonObject, metadata or {}),
        page_starts=_parse_page_starts(data.get("page_starts"), len(text)),
        bucket=_string_for_key(data, "bucket") or None,
        readers=_parse_readers(data.get("readers")),
        is_row=is_row,
    )


def _document_of_plain_record(data: JsonObject, origin: RecordOrigin) -> JsonObject:
    """Returns a document of a record as programs export it: fields, without `doc_id` and `metadata`.

    All fields become metadata; without a `text` of its own, the text is a line for each field. The document is called
    by the field `id`. A record without one is a row of a table: it is called by its file and line, and has no `text`.
    """
    record_id = data.get("id")
    if "metadata" in data:
        return data
    if record_id is None and len(data) >= _MIN_FIELDS_OF_ROW and not _KEYS_OF_DOCUMENTS & data.keys():
        record_id = f"{origin.file}#{origin.line}"
        texts = {key: value for key, value in data.items() if isinstance(value, str)}
        title = title_of_row(texts, f"row {origin.line}", PurePosixPath(origin.file).name.partition(".")[0])
    else:
        titles = (data.get(key) for key in _TITLE_KEYS)
        title = next((title for title in titles if isinstance(title, str) and title), str(record_id))
    if not isinstance(record_id, (str, int)) or isinstance(record_id, bool):
        return data
    fields = {key: value for key, value in data.items() if key not in _KEYS_OF_DOCUMENTS}
    lines = (f"{key}: {_words_of_value(value)}" for key, value in fields.items() if value not in (None, "", [], {}))
    return {
        **{key: data[key] for key in _KEYS_OF_DOCUMENTS & data.keys()},
        "doc_id": str(record_id),
        "title": title,
        "text": data.get("text") or "\n".join(lines),
        "metadata": {key: value for key, value in fields.items() if value is not None},
    }


def _words_of_value(value: object) -> str:
    """Returns a value as a line of text: members of a list with commas between, rows with semicolons."""
    match value:
        case bool():
            return "yes" if value else "no"
        case dict():
            members = cast("Mapping[str, object]", value).items()
            return ", ".join(f"{key} {_words_of_value(member)}" for key, member in members)
        case list():
            members = cast("list[object]", value)
            mark = "; " if any(isinstance(member, dict) for member in members) else ", "
            return mark.join(map(_words_of_value, members))
        case _:
            return "" if value is None else str(value)


def _string_for_key(data: JsonObject, key: str) -> str:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise UnparsableFile(f"its {key} is not a string")
    return value or ""


def _parse_page_starts(value: object, length: int) -> tuple[int | None, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise UnparsableFile("its page_starts is not a list")
    starts = tuple(cast(list[object], value))
    if len(starts) > MAX_PAGES:
        raise too_many_pages_error(len(starts))
    previous_start = 0
    for start in starts:
        if start is None:
            continue
        if not isinstance(start, int) or isinstance(start, bool) or not previous_start <= start <= length:
            raise UnparsableFile(f"its page_starts are not whole numbers that ascend within the text: {start!r}")
        previous_start = start
    return cast("tuple[int | None, ...]", starts)


def _parse_readers(value: object) -> frozenset[Subject]:
    """Returns the subjects that may read the document; empty if it names none.

    Raises `UnparsableFile` for an invalid subject, so that a typing error never makes a document readable.
    """
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise UnparsableFile("its readers are not a list")
    for reader in cast(list[object], value):
        if not isinstance(reader, str) or not SUBJECT_PATTERN.fullmatch(reader):
            raise UnparsableFile(
                f"its readers hold {reader!r}, which is not a subject such as everyone or user:slack:T1:U1"
            )
    return frozenset(Subject(reader) for reader in cast(list[str], value))
