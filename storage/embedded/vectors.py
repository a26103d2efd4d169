"""The vectors of passages that lack one of the index's embedder: which they are, and how they get it.

A vector is written in place, unlike all else in the file, so the row ids do not tell that it is new. The number of the
bucket in the table `vector_epoch` does: whenever it rises, processes load the vectors again.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.embedded.bucket_snapshot import BucketHeader
from storage.embedded.reading.records import read_passages
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import PassageVolume, VectorState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    PassageRows = NDArray[np.float32]

_FLOAT16_BYTES = 2
# Documents with vectors of another embedder, or of another length, as after a change of the model behind the same name.
_IS_OUTDATED = (
    "d.bucket = :bucket AND (d.embedder != :embedder OR EXISTS ("
    "SELECT 1 FROM passage p JOIN vector v ON v.passage = p.id WHERE p.doc = d.id AND length(v.data) != :size))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderIdentity:
    """What vectors must have in common to be compared: the embedder's name, and the number of dimensions."""

    name: str
    dimensions: int

    @property
    def vector_bytes(self) -> int:
        return self.dimensions * _FLOAT16_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedDocument:
    """A document to embed, and its row id. `document` has only what an embedder reads."""

    row_id: int
    document: Document


def read_vector_state(connection: sqlite3.Connection, bucket: int, embedder: str) -> VectorState:
    """`embedder` is empty for an index without one: then the bucket is current."""
    names = _read_embedder_names(connection, bucket)
    is_current = not embedder or all(name == embedder for name in names)
    return VectorState(embedder=", ".join(filter(None, names)), is_current=is_current)


def _read_embedder_names(connection: sqlite3.Connection, bucket: int) -> list[str]:
    """Returns the distinct names in order, each found by one look into the index of the table."""
    names = list[str]()
    query = "SELECT min(embedder) FROM document WHERE bucket = ? AND embedder > ?"
    (name,) = connection.execute("SELECT min(embedder) FROM document WHERE bucket = ?", (bucket,)).fetchone()
    while name is not None:
        names.append(name)
        (name,) = connection.execute(query, (bucket, name)).fetchone()
    return names


def measure_outdated(connection: sqlite3.Connection, bucket: int, embedder: EmbedderIdentity) -> PassageVolume:
    passage_count, character_count = connection.execute(
        "SELECT count(*), coalesce(sum(length(d.title) + 1 + p.stop - p.start + coalesce(length(context) + 1, 0)), 0)"  # noqa: S608
        " FROM document d JOIN passage p ON p.doc = d.id LEFT JOIN passage_context c ON c.passage = p.id"
        f" WHERE {_IS_OUTDATED}",
        {"bucket": bucket, "embedder": embedder.name, "size": embedder.vector_bytes},
    ).fetchone()
    return PassageVolume(passage_count=passage_count, character_count=character_count)


def read_outdated(
    connection: sqlite3.Connection, bucket: int, embedder: EmbedderIdentity, *, after: int, limit: int
) -> list[OutdatedDocument]:
    """Returns up to `limit` documents with row ids above `after`, in order of row id."""
    rows = connection.execute(
        "SELECT d.id, d.doc_id, d.title, d.text"  # noqa: S608
        f" FROM document d WHERE {_IS_OUTDATED} AND d.id > :after ORDER BY d.id LIMIT :limit",
        {
            "bucket": bucket,
            "embedder": embedder.name,
            "size": embedder.vector_bytes,
            "after": after,
            "limit": limit,
        },
    ).fetchall()
    return [
        OutdatedDocument(
            row_id=row_id,
            document=Document(doc_id=DocId(doc_id), title=title, text=text, passages=read_passages(connection, row_id)),
        )
        for row_id, doc_id, title, text in rows
    ]


def replace_vectors(
    connection: sqlite3.Connection,
    bucket: int,
    embedder: str,
    documents: Sequence[OutdatedDocument],
    vectors: "Sequence[PassageRows]",
) -> None:
    """Write the vectors of the documents' passages. A document that was replaced or deleted meanwhile is left out."""
    for outdated, rows in zip(documents, vectors, strict=True):
        updated = connection.execute("UPDATE document SET embedder = ? WHERE id = ?", (embedder, outdated.row_id))
        if updated.rowcount:
            query = "SELECT id FROM passage WHERE doc = ? ORDER BY position"
            passage_numbers = [number for (number,) in connection.execute(query, (outdated.row_id,))]
            insert_vectors(connection, bucket, embedder, passage_numbers, rows)


def insert_vectors(
    connection: sqlite3.Connection, bucket: int, embedder: str, passage_numbers: Sequence[int], rows: "PassageRows"
) -> None:
    """Write a vector for each passage, in place of the one it has. A zero vector is not written."""
    connection.executemany("DELETE FROM vector WHERE passage = ?", [(number,) for number in passage_numbers])
    float16_rows = rows.astype("float16")
    connection.executemany(
        "INSERT INTO vector(passage, bucket, embedder, data) VALUES(?, ?, ?, ?)",
        [
            (number, bucket, embedder, float16_rows[index].tobytes())
            for index, number in enumerate(passage_numbers)
            if rows[index].any()
        ],
    )


def raise_vector_epoch(connection: sqlite3.Connection, header: BucketHeader) -> None:
    """Make all processes load the bucket's vectors again."""
    connection.execute(
        "INSERT INTO vector_epoch(bucket, epoch) VALUES(?, 1) ON CONFLICT(bucket) DO UPDATE SET epoch = epoch + 1",
        (header.id,),
    )


def read_vector_epoch(connection: sqlite3.Connection, bucket: int) -> int:
    row = connection.execute("SELECT epoch FROM vector_epoch WHERE bucket = ?", (bucket,)).fetchone()
    return int(row[0]) if row else 0
