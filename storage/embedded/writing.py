"""Changing the file: buckets and documents, each change in one transaction that also raises the generation."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, cast

from storage.embedded.bucket import Header
from storage.embedded.database import create_outline_tables, create_term_tables, drop_term_tables
from storage.embedded.records import passages_within
from storage.embedded.terms import (
    Analysed,
    add_document,
    add_outline,
    add_passages,
    analysed,
    remove_document,
    remove_outline,
)
from storage.search.codec import annotations_to_json, schema_to_json
from storage.search.documents import Document, Values, outlined
from storage.search.fit import is_unicode
from storage.search.ids import BucketId, DocId
from storage.search.schema import Field, Schema
from storage.search.text import Analyser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Analysers = Callable[[str], Analyser]


class Fate(Enum):
    ADDED = "added"
    REPLACED = "replaced"
    SKIPPED = "skipped"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document made ready outside the transaction. `vectors`: one row a passage, or None without an embedder."""

    document: Document
    values: Values
    terms: Analysed
    header: Header  # as it was then
    vectors: "NDArray[np.float32] | None"
    embedder: str


# -- documents


def fate_of(connection: sqlite3.Connection, header: Header, document: Document, embedder: str) -> Fate:
    """What `put` is going to do with it. The same content under another embedder is put again, for its vectors."""
    row = connection.execute(
        "SELECT bucket, digest, embedder FROM document WHERE doc_id = ?", (document.doc_id,)
    ).fetchone()
    if row is None:
        return Fate.ADDED
    if row[0] != header.id:
        return Fate.TAKEN
    same = bool(document.digest) and row[1:] == (document.digest, embedder)
    return Fate.SKIPPED if same else Fate.REPLACED


def write(connection: sqlite3.Connection, header: Header, ready: Prepared, analysers: Analysers) -> None:
    """Add the document, in place of the one of its id if there is one."""
    _remove(connection, ready.document.doc_id, analysers)
    document = ready.document
    number = _inserted(
        connection,
        "INSERT INTO document(bucket, doc_id, revision, digest, embedder, readers, title, source, vals, text)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            header.id,
            document.doc_id,
            header.revision,
            document.digest,
            ready.embedder,
            json.dumps(sorted(document.readers)),
            document.title,
            document.source,
            json.dumps(ready.values, default=dict),
            document.text,
        ),
    )
    if document.annotations:
        held = json.dumps(annotations_to_json(document.annotations))
        connection.execute("INSERT INTO annotation(doc, data) VALUES(?, ?)", (number, held))
    add_document(connection, header.id, number, ready.terms)
    _add_outline(connection, header.id, number, ready.terms, document.text, document.summary)
    _add_passages(connection, header, number, ready)


def _add_outline(
    connection: sqlite3.Connection, bucket: int, document: int, terms: Analysed, text: str, summary: str
) -> None:
    add_outline(connection, bucket, document, terms.title, terms.outline)
    length = len(outlined(text, summary))
    connection.execute("INSERT OR REPLACE INTO outline VALUES(?, ?, ?, ?)", (document, bucket, length, summary))


def _add_passages(connection: sqlite3.Connection, header: Header, document: int, ready: Prepared) -> None:
    rows = [(header.id, document, at, one.start, one.end, one.page) for at, one in enumerate(ready.document.passages)]
    connection.executemany(
        "INSERT INTO passage(bucket, doc, position, start, stop, page) VALUES(?, ?, ?, ?, ?, ?)", rows
    )
    numbers = _passages_of(connection, document)
    add_passages(connection, header.id, numbers, ready.terms)
    if ready.vectors is not None:
        stored = ready.vectors.astype("float16")
        connection.executemany(
            "INSERT INTO vector(passage, bucket, embedder, data) VALUES(?, ?, ?, ?)",
            [
                (number, header.id, ready.embedder, stored[at].tobytes())
                for at, number in enumerate(numbers)
                if ready.vectors[at].any()
            ],
        )


def delete(connection: sqlite3.Connection, doc_ids: Sequence[DocId], analysers: Analysers) -> int:
    """How many of them were there."""
    touched = [_remove(connection, doc_id, analysers) for doc_id in dict.fromkeys(doc_ids) if is_unicode(doc_id)]
    for bucket in {one for one in touched if one is not None}:
        changed(connection, bucket)
    return sum(one is not None for one in touched)


def _remove(connection: sqlite3.Connection, doc_id: DocId, analysers: Analysers) -> int | None:
    """The number of the bucket it was in; None if it was not there."""
    row = connection.execute(
        "SELECT d.id, d.bucket, d.title, d.text, json_extract(b.schema, '$.language'), o.summary"
        " FROM document d JOIN bucket b ON b.id = d.bucket LEFT JOIN outline o ON o.doc = d.id WHERE d.doc_id = ?",
        (doc_id,),
    ).fetchone()
    if row is None:
        return None
    number, bucket, title, text, language, summary = row
    outline = outlined(text, summary or "")
    terms = analysed(title, text, passages_within(connection, number), analysers(language), outline)
    remove_document(connection, bucket, number, _passages_of(connection, number), terms)
    if summary is not None:  # else a process of an earlier Parley has put it meanwhile
        remove_outline(connection, bucket, number, terms)
    connection.execute("DELETE FROM vector WHERE passage IN (SELECT id FROM passage WHERE doc = ?)", (number,))
    connection.execute("DELETE FROM passage WHERE doc = ?", (number,))
    connection.execute("DELETE FROM annotation WHERE doc = ?", (number,))
    connection.execute("DELETE FROM outline WHERE doc = ?", (number,))
    connection.execute("DELETE FROM document WHERE id = ?", (number,))
    return int(bucket)


# -- buckets


def set_schema(
    connection: sqlite3.Connection, headers: Mapping[BucketId, Header], schema: Schema, analysers: Analysers
) -> None:
    known = headers.get(schema.bucket)
    if known is not None and known.schema == schema:
        return
    written, analyser = json.dumps(schema_to_json(schema)), analysers(schema.language).version
    if known is None:
        number = _inserted(
            connection,
            "INSERT INTO bucket(name, schema, revision, analyser, generation) VALUES(?, ?, 1, ?, 0)",
            (schema.bucket, written, analyser),
        )
        create_term_tables(connection, number)
        changed(connection, number)
        return
    revision = known.revision + (_shape(known.schema.fields) != _shape(schema.fields))
    connection.execute("UPDATE bucket SET schema = ?, revision = ? WHERE id = ?", (written, revision, known.id))
    if known.analyser != analyser:
        reanalyse(connection, known.id, analysers(schema.language))
    changed(connection, known.id)


def _shape(fields: Sequence[Field]) -> object:
    """What decides whether values fit."""
    return {one.name: (one.type, _shape(one.columns)) for one in fields}


def reanalyse(connection: sqlite3.Connection, bucket: int, analyser: Analyser) -> None:
    """Make the bucket's term tables anew: its language changed, or the analyser itself."""
    drop_term_tables(connection, bucket)
    create_term_tables(connection, bucket)
    connection.execute("UPDATE bucket SET analyser = ? WHERE id = ?", (analyser.version, bucket))
    for number, title, text, summary in _documents(connection, bucket):
        terms = analysed(title, text, passages_within(connection, number), analyser, outlined(text, summary))
        add_document(connection, bucket, number, terms)
        _add_outline(connection, bucket, number, terms, text, summary)
        add_passages(connection, bucket, _passages_of(connection, number), terms)


def outline(connection: sqlite3.Connection, bucket: int, analyser: Analyser) -> None:
    """Make the table of outlines that the bucket lacks. Its documents have no summaries yet: they are as they begin."""
    create_outline_tables(connection, bucket)
    for number, title, text, summary in _documents(connection, bucket):
        told = outlined(text, summary)
        add_outline(connection, bucket, number, analyser.unplaced(title).terms, analyser.unplaced(told).terms)
        connection.execute("INSERT OR REPLACE INTO outline VALUES(?, ?, ?, ?)", (number, bucket, len(told), summary))


def _documents(connection: sqlite3.Connection, bucket: int) -> Iterator[tuple[int, str, str, str]]:
    """Number, title, text and summary of each, one at a time: a bucket need not fit the memory."""
    for (number,) in connection.execute("SELECT id FROM document WHERE bucket = ? ORDER BY id", (bucket,)).fetchall():
        yield connection.execute(
            "SELECT d.id, title, text, coalesce(summary, '')"
            " FROM document d LEFT JOIN outline o ON o.doc = d.id WHERE d.id = ?",
            (number,),
        ).fetchone()


def drop(connection: sqlite3.Connection, header: Header) -> None:
    annotated = "DELETE FROM annotation WHERE doc IN (SELECT id FROM document WHERE bucket = ?)"
    connection.execute(annotated, (header.id,))
    for table in ("vector", "passage", "outline", "document"):
        connection.execute(f"DELETE FROM {table} WHERE bucket = ?", (header.id,))  # noqa: S608 - a name of ours
    drop_term_tables(connection, header.id)
    connection.execute("DELETE FROM bucket WHERE id = ?", (header.id,))
    connection.execute("UPDATE state SET generation = generation + 1")


def changed(connection: sqlite3.Connection, bucket: int) -> None:
    """Raise the generation, the index's and the bucket's."""
    connection.execute("UPDATE state SET generation = generation + 1")
    connection.execute("UPDATE bucket SET generation = (SELECT generation FROM state) WHERE id = ?", (bucket,))


def _passages_of(connection: sqlite3.Connection, document: int) -> list[int]:
    """The numbers of its passages, in order."""
    rows = connection.execute("SELECT id FROM passage WHERE doc = ? ORDER BY position", (document,))
    return [number for (number,) in rows]


def _inserted(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> int:
    """The id of the new row."""
    return cast(int, connection.execute(statement, values).lastrowid)
