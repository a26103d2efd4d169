"""Writes of buckets and documents. Each change is in one transaction, which also raises the generation."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from storage.embedded.bucket_snapshot import BucketHeader
from storage.embedded.database import (
    create_outline_tables,
    create_term_tables,
    drop_outline_tables,
    drop_term_tables,
)
from storage.embedded.reading.records import read_passages
from storage.embedded.term_tables import add_document, add_outline, add_passages, remove_document, remove_outline
from storage.embedded.vectors import insert_vectors
from storage.search.analyser import Analyser
from storage.search.codec import annotations_to_json, schema_to_json
from storage.search.documents import Document, FieldValues, outline_text_of
from storage.search.evaluation.value_validation import is_valid_unicode
from storage.search.ids import BucketId, DocId
from storage.search.index import PutStatus
from storage.search.schema import Schema, SchemaField
from storage.text.document_terms import AnalysedDocument, analyse_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AnalyserFactory = Callable[[str], Analyser]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document prepared outside the transaction.

    `vectors`: one row per passage; None without an embedder, and if it failed. Then `embedder` is empty.
    """

    document: Document
    values: FieldValues
    terms: AnalysedDocument
    header: BucketHeader  # at the time of preparation
    vectors: "NDArray[np.float32] | None"
    embedder: str


# -- documents


def put_status_of(
    connection: sqlite3.Connection, header: BucketHeader, document: Document, embedder: str | None
) -> PutStatus:
    """Returns what `put` must do with the document.

    Unchanged content is put again if its vectors are not of `embedder`; None: whose they are does not matter.
    """
    row = connection.execute(
        "SELECT bucket, digest, embedder FROM document WHERE doc_id = ?", (document.doc_id,)
    ).fetchone()
    if row is None:
        return PutStatus.ADDED
    if row[0] != header.id:
        return PutStatus.TAKEN
    is_unchanged = bool(document.digest) and row[1] == document.digest and embedder in (None, row[2])
    return PutStatus.SKIPPED if is_unchanged else PutStatus.REPLACED


def write_document(
    connection: sqlite3.Connection, header: BucketHeader, prepared: PreparedDocument, analysers: AnalyserFactory
) -> None:
    """Insert the document. Replaces a document with the same id."""
    document = prepared.document
    loaded_on = _read_kept_day(connection, document) or document.loaded_on
    _remove_document(connection, document.doc_id, analysers)
    document_number = _insert_row(
        connection,
        "INSERT INTO document(bucket, doc_id, revision, digest, embedder, readers, title, source, vals, text)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            header.id,
            document.doc_id,
            header.revision,
            document.digest,
            prepared.embedder,
            json.dumps(sorted(document.readers)),
            document.title,
            document.source,
            json.dumps(prepared.values, default=dict),
            document.text,
        ),
    )
    if document.annotations:
        annotations_json = json.dumps(annotations_to_json(document.annotations))
        connection.execute("INSERT INTO annotation(doc, data) VALUES(?, ?)", (document_number, annotations_json))
    if loaded_on:
        connection.execute("INSERT INTO ingestion VALUES(?, ?, ?)", (document_number, header.id, loaded_on))
    add_document(connection, header.id, document_number, prepared.terms)
    _write_outline(connection, header.id, document_number, prepared.terms, document.text, document.summary)
    _write_passages(connection, header, document_number, prepared)


def _read_kept_day(connection: sqlite3.Connection, document: Document) -> str:
    """Returns the day on which the content was put before; empty if it was other content, or if nobody knows."""
    row = connection.execute(
        "SELECT i.day FROM document d JOIN ingestion i ON i.doc = d.id WHERE d.doc_id = ? AND d.digest = ?",
        (document.doc_id, document.digest),
    ).fetchone()
    return row[0] if row is not None and document.digest else ""


def _write_outline(
    connection: sqlite3.Connection, bucket: int, document: int, terms: AnalysedDocument, text: str, summary: str
) -> None:
    add_outline(connection, bucket, document, terms.title, terms.outline)
    length = len(outline_text_of(text, summary))
    connection.execute("INSERT OR REPLACE INTO outline VALUES(?, ?, ?, ?)", (document, bucket, length, summary))


def _write_passages(
    connection: sqlite3.Connection, header: BucketHeader, document: int, prepared: PreparedDocument
) -> None:
    rows = [
        (header.id, document, position, passage.start, passage.end, passage.page)
        for position, passage in enumerate(prepared.document.passages)
    ]
    connection.executemany(
        "INSERT INTO passage(bucket, doc, position, start, stop, page) VALUES(?, ?, ?, ?, ?, ?)", rows
    )
    passage_numbers = _passage_numbers_of(connection, document)
    connection.executemany(
        "INSERT INTO passage_context(passage, bucket, context) VALUES(?, ?, ?)",
        [
            (passage_number, header.id, passage.context)
            for passage_number, passage in zip(passage_numbers, prepared.document.passages, strict=True)
            if passage.context
        ],
    )
    add_passages(connection, header.id, passage_numbers, prepared.terms)
    if prepared.vectors is not None:
        insert_vectors(connection, header.id, prepared.embedder, passage_numbers, prepared.vectors)


def delete_documents(connection: sqlite3.Connection, doc_ids: Sequence[DocId], analysers: AnalyserFactory) -> int:
    """Delete the documents; return how many existed."""
    bucket_numbers = [
        _remove_document(connection, doc_id, analysers) for doc_id in dict.fromkeys(doc_ids) if is_valid_unicode(doc_id)
    ]
    for bucket_number in {bucket_number for bucket_number in bucket_numbers if bucket_number is not None}:
        raise_generation(connection, bucket_number)
    return sum(bucket_number is not None for bucket_number in bucket_numbers)


def _remove_document(connection: sqlite3.Connection, doc_id: DocId, analysers: AnalyserFactory) -> int | None:
    """Delete the document; return the id of its bucket, or None if the document does not exist."""
    row = connection.execute(
        "SELECT d.id, d.bucket, d.title, d.text, json_extract(b.schema, '$.language'), o.summary"
        " FROM document d JOIN bucket b ON b.id = d.bucket LEFT JOIN outline o ON o.doc = d.id WHERE d.doc_id = ?",
        (doc_id,),
    ).fetchone()
    if row is None:
        return None
    document_number, bucket_number, title, text, language, summary = row
    outline = outline_text_of(text, summary or "")
    terms = analyse_document(title, text, read_passages(connection, document_number), analysers(language), outline)
    remove_document(connection, bucket_number, document_number, _passage_numbers_of(connection, document_number), terms)
    if summary is not None:  # None: a process of an earlier version of Parley has put it meanwhile
        remove_outline(connection, bucket_number, document_number, terms)
    for table in ("vector", "passage_context"):
        connection.execute(
            f"DELETE FROM {table} WHERE passage IN (SELECT id FROM passage WHERE doc = ?)",  # noqa: S608 - a name of ours
            (document_number,),
        )
    connection.execute("DELETE FROM passage WHERE doc = ?", (document_number,))
    connection.execute("DELETE FROM annotation WHERE doc = ?", (document_number,))
    connection.execute("DELETE FROM outline WHERE doc = ?", (document_number,))
    connection.execute("DELETE FROM ingestion WHERE doc = ?", (document_number,))
    connection.execute("DELETE FROM document WHERE id = ?", (document_number,))
    return int(bucket_number)


# -- buckets


def write_schema(
    connection: sqlite3.Connection, headers: Mapping[BucketId, BucketHeader], schema: Schema, analysers: AnalyserFactory
) -> None:
    header = headers.get(schema.bucket)
    if header is not None and header.schema == schema:
        return
    schema_json, analyser_version = json.dumps(schema_to_json(schema)), analysers(schema.language).version
    if header is None:
        bucket_number = _insert_row(
            connection,
            "INSERT INTO bucket(name, schema, revision, analyser, generation) VALUES(?, ?, 1, ?, 0)",
            (schema.bucket, schema_json, analyser_version),
        )
        create_term_tables(connection, bucket_number)
        raise_generation(connection, bucket_number)
        return
    revision = header.revision + (_value_shape_of(header.schema.fields) != _value_shape_of(schema.fields))
    connection.execute("UPDATE bucket SET schema = ?, revision = ? WHERE id = ?", (schema_json, revision, header.id))
    if header.analyser != analyser_version:
        rebuild_terms(connection, header.id, analysers(schema.language))
    raise_generation(connection, header.id)


def _value_shape_of(fields: Sequence[SchemaField]) -> object:
    """Returns the part of the schema that decides whether values fit."""
    return {field.name: (field.type, _value_shape_of(field.columns)) for field in fields}


def ignore_count(count: int) -> None:
    """Reports to nobody."""


def rebuild_terms(
    connection: sqlite3.Connection,
    bucket: int,
    analyser: Analyser,
    report_count: Callable[[int], None] = ignore_count,
) -> None:
    """Rebuild the bucket's term tables from the stored texts. `report_count` gets the number of documents so far."""
    drop_term_tables(connection, bucket)
    create_term_tables(connection, bucket)
    connection.execute("UPDATE bucket SET analyser = ? WHERE id = ?", (analyser.version, bucket))
    for count, (document_number, title, text, summary) in enumerate(_iterate_documents(connection, bucket), start=1):
        terms = analyse_document(
            title, text, read_passages(connection, document_number), analyser, outline_text_of(text, summary)
        )
        add_document(connection, bucket, document_number, terms)
        _write_outline(connection, bucket, document_number, terms, text, summary)
        add_passages(connection, bucket, _passage_numbers_of(connection, document_number), terms)
        report_count(count)


def measure_texts(connection: sqlite3.Connection, bucket: int) -> tuple[int, int]:
    """Returns the number of the bucket's documents, and the code points of their titles and texts."""
    query = "SELECT count(*), coalesce(sum(length(title) + length(text)), 0) FROM document WHERE bucket = ?"
    document_count, character_count = connection.execute(query, (bucket,)).fetchone()
    return document_count, character_count


def build_outline_table(connection: sqlite3.Connection, bucket: int, analyser: Analyser) -> None:
    """Create the table of outlines anew. Documents of an earlier version of Parley have no summaries: their outlines
    are the beginnings of their texts.
    """
    drop_outline_tables(connection, bucket)
    create_outline_tables(connection, bucket)
    for document_number, title, text, summary in _iterate_documents(connection, bucket):
        outline = outline_text_of(text, summary)
        add_outline(
            connection,
            bucket,
            document_number,
            analyser.index_terms_of(title).joined_terms,
            analyser.index_terms_of(outline).joined_terms,
        )
        connection.execute(
            "INSERT OR REPLACE INTO outline VALUES(?, ?, ?, ?)", (document_number, bucket, len(outline), summary)
        )


def _iterate_documents(connection: sqlite3.Connection, bucket: int) -> Iterator[tuple[int, str, str, str]]:
    """Yield the row id, title, text and summary of each document. Reads one at a time, to limit memory."""
    for (document_number,) in connection.execute(
        "SELECT id FROM document WHERE bucket = ? ORDER BY id", (bucket,)
    ).fetchall():
        yield connection.execute(
            "SELECT d.id, title, text, coalesce(summary, '')"
            " FROM document d LEFT JOIN outline o ON o.doc = d.id WHERE d.id = ?",
            (document_number,),
        ).fetchone()


def drop_bucket(connection: sqlite3.Connection, header: BucketHeader) -> None:
    delete_annotations = "DELETE FROM annotation WHERE doc IN (SELECT id FROM document WHERE bucket = ?)"
    connection.execute(delete_annotations, (header.id,))
    for table in ("vector", "vector_epoch", "passage_context", "passage", "outline", "ingestion", "document"):
        connection.execute(f"DELETE FROM {table} WHERE bucket = ?", (header.id,))  # noqa: S608 - a name of ours
    drop_term_tables(connection, header.id)
    connection.execute("DELETE FROM bucket WHERE id = ?", (header.id,))
    connection.execute("UPDATE state SET generation = generation + 1")


def raise_generation(connection: sqlite3.Connection, bucket: int) -> None:
    """Raise the generation of the index and of the bucket."""
    connection.execute("UPDATE state SET generation = generation + 1")
    connection.execute("UPDATE bucket SET generation = (SELECT generation FROM state) WHERE id = ?", (bucket,))


def _passage_numbers_of(connection: sqlite3.Connection, document: int) -> list[int]:
    """Returns the row ids of the document's passages, in order."""
    rows = connection.execute("SELECT id FROM passage WHERE doc = ? ORDER BY position", (document,))
    return [passage_number for (passage_number,) in rows]


def _insert_row(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> int:
    """Insert a row; return its id."""
    return cast(int, connection.execute(statement, values).lastrowid)
