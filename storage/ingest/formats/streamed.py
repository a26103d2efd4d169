"""Reads CSV and JSON Lines, which the worker reads record by record: one document for each row or line."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from storage.ingest.documents.titles import explain_file_code
from storage.ingest.files import SourceFile
from storage.ingest.formats.record_frames import item_from_json
from storage.ingest.records import LoadedItem, SourceRecord
from storage.ingest.worker import ParserWorker


def read_csv_records(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    source.path.open("rb").close()  # raises the precise OSError here, which the worker could not report
    with closing(worker.read_frames(source)) as frames:
        for frame in frames:
            for item in cast("list[dict[str, Any]]", frame.get("items", [])):
                yield item_from_json(item, source.name)


def read_jsonl_records(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    """Yields the records, each with a title: its own, else its first line, else its id."""
    for item in read_csv_records(source, worker):
        yield replace(item, title=_title_of(item)) if isinstance(item, SourceRecord) else item


def _title_of(record: SourceRecord) -> str:
    return explain_file_code(record.title, record.text) or _first_line_of(record.text) or record.doc_id


def _first_line_of(text: str) -> str:
    return next((line.strip()[:120] for line in text[:2000].splitlines() if line.strip()), "")
