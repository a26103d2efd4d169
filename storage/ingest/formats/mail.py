"""Reads mails: one document for each, with its sender, recipients, day and attachments as metadata."""

from collections.abc import Iterator
from contextlib import closing
from typing import cast

from storage.ingest.documents.surrogates import replace_surrogates, replace_surrogates_in_json
from storage.ingest.documents.titles import title_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.records import LoadedItem, RecordOrigin, SourceRecord
from storage.ingest.worker import ParserWorker


def read_mail_record(source: SourceFile, worker: ParserWorker) -> Iterator[LoadedItem]:
    """Reads a mail whose head, body and attachments the worker extracts. Citations name the heading."""
    source.path.open("rb").close()  # raises the precise OSError here, which the worker could not report
    title, text, fields = "", "", dict[str, object]()
    with closing(worker.read_frames(source)) as frames:
        for frame in frames:
            title, text = str(frame.get("title", title)), str(frame.get("page", text))
            fields = cast("dict[str, object]", frame.get("fields", fields))
    text = replace_surrogates(text)
    if not text.strip():
        raise UnparsableFile("it has no text")
    yield SourceRecord(
        doc_id=source.name,
        title=replace_surrogates(title)[:300] or title_of("", text, source.path),
        text=text,
        source=source.name,
        origin=RecordOrigin(file=source.name, bytes_read=source.size_bytes),
        metadata=cast("dict[str, object]", replace_surrogates_in_json(fields)),
    )
