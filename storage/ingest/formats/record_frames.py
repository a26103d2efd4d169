"""Carries the records of CSV and JSON Lines as frames from the worker process, which parses them."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.limits import MAX_TEXT_CHARACTERS, text_too_long_error
from storage.ingest.records import (
    LoadedItem,
    LoadRemark,
    RecordOrigin,
    RejectedInput,
    SourceRecord,
    size_of_values,
)
from storage.ingest.worker import ParserFrame
from storage.search.ids import Subject

_ITEMS_PER_FRAME = 100
_CHARACTERS_PER_FRAME = 1_000_000  # of texts, with the size of their values, after which a frame gets no further item
_PLAIN_FIELDS = ("doc_id", "title", "text", "source", "metadata", "page_starts", "bucket", "is_row")


def read_record_frames(source: SourceFile, path: Path) -> Iterator[ParserFrame]:
    """Yields frames with items. Raises `UnparsableFile`."""
    from storage.ingest.formats.delimited import read_csv_items
    from storage.ingest.formats.jsonl import read_jsonl_items

    read_items = read_csv_items if source.file_format == "csv" else read_jsonl_items
    yield from _frames_with_items(_translate_errors(read_items(source)))


def _translate_errors(items: Iterator[LoadedItem]) -> Iterator[LoadedItem]:
    try:
        yield from items
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise UnparsableFile(f"its compression is broken: {exc}") from exc
    except OSError as exc:
        raise UnparsableFile(f"it cannot be read: {exc.strerror or exc}") from exc


def _frames_with_items(items: Iterable[LoadedItem]) -> Iterator[ParserFrame]:
    """Yields frames of some items each. Items before an error are yielded before it is raised."""
    batch, characters, row_count, cell_count = list[dict[str, Any]](), 0, 0, 0
    try:
        for item in items:
            batch.append(_item_to_json(item))
            if isinstance(item, SourceRecord):
                row_count += 1
                cell_count += len(item.metadata)
                characters += len(item.text) + size_of_values(item.metadata)
            if len(batch) >= _ITEMS_PER_FRAME or characters > _CHARACTERS_PER_FRAME:
                yield {"items": batch, "row_count": row_count, "cell_count": cell_count}
                batch, characters = [], 0
    except UnparsableFile:
        yield {"items": batch, "row_count": row_count, "cell_count": cell_count}
        raise
    yield {"items": batch, "row_count": row_count, "cell_count": cell_count}


def _item_to_json(item: LoadedItem) -> dict[str, Any]:
    place = {"line": item.origin.line, "bytes": item.origin.bytes_read}
    match item:
        case SourceRecord() if len(item.text) > MAX_TEXT_CHARACTERS:
            return place | {"reason": text_too_long_error(MAX_TEXT_CHARACTERS).reason}
        case SourceRecord():
            fields = {name: getattr(item, name) for name in _PLAIN_FIELDS}
            return place | fields | {"readers": sorted(item.readers)}
        case RejectedInput(reason=reason):
            return place | {"reason": reason}
        case LoadRemark(text=text):
            return place | {"remark": text}


def item_from_json(item: dict[str, Any], file_name: str) -> LoadedItem:
    origin = RecordOrigin(file=file_name, line=item["line"], bytes_read=item["bytes"])
    if "reason" in item:
        return RejectedInput(origin=origin, reason=item["reason"])
    if "remark" in item:
        return LoadRemark(origin=origin, text=item["remark"])
    return SourceRecord(
        doc_id=item["doc_id"],
        title=item["title"],
        text=item["text"],
        source=item["source"],
        origin=origin,
        metadata=item["metadata"],
        page_starts=tuple(item["page_starts"]),
        bucket=item["bucket"],
        readers=frozenset(Subject(reader) for reader in item["readers"]),
        is_row=item["is_row"],
    )
