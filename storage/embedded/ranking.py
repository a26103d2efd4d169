"""Passages in order: by BM25 over the postings of each bucket, and by cosine over its vectors."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket import PASSAGES, VECTORS, Bucket, Passages, Vectors
from storage.embedded.columns import Mask
from storage.embedded.compile import Reading
from storage.embedded.dictionary import Ints
from storage.embedded.postings import Postings, postings_of, rarities
from storage.search.ids import ChunkId
from storage.search.index import Hit

_COMMON = 0.2  # of a bucket's passages; at a tenth the top ten change
_MOST_SAID = 8  # times that one term of a text counts
_MOST_TERMS = 64  # of a ranking text; the rarest are kept
_BLOCK = 16_384  # rows of float16 made float32 at a time
_FEW = 50_000  # rows that are kept as float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A passage and its score, not yet read."""

    reading: Reading
    passage: int
    score: float


def by_terms(parts: Sequence[tuple[Reading, Mask]], text: str) -> list[tuple[Reading, Ints, NDArray[np.float64]]]:
    """For each bucket the passages of its members with any of the terms, by BM25; in no order."""
    known = [postings_of(one.bucket, passages_of(one.connection, one.bucket)) for one, _ in parts]
    said = [Counter(term.text for term in one.analyser.terms(text)) for one, _ in parts]
    terms = list(dict.fromkeys(term for one in said for term in one))
    counts = [
        {term: postings.count(one.connection, term) if term in own else 0 for term in terms}
        for (one, _), postings, own in zip(parts, known, said, strict=True)
    ]
    weights = rarities(terms, counts, [len(one.passages.ids) for one in known])
    return [
        _in_part(
            part,
            postings,
            {term: weight[term] * min(own[term], _MOST_SAID) for term in _telling(held, len(postings.passages.ids))},
        )
        for part, postings, own, held, weight in zip(parts, known, said, counts, weights, strict=True)
    ]


def _in_part(
    part: tuple[Reading, Mask], postings: Postings, weights: Mapping[str, float]
) -> tuple[Reading, Ints, NDArray[np.float64]]:
    reading, members = part
    if not weights or not members.any():
        return reading, np.zeros(0, dtype=np.int64), np.zeros(0)
    scores = np.zeros(len(postings.passages.ids), dtype=np.float64)
    for term, weight in weights.items():
        posting = postings.of(reading.connection, term)
        scores[posting.at] += weight * posting.weights
    found = np.flatnonzero(scores)
    found = found[members[postings.passages.owners[found]]]
    return reading, postings.passages.ids[found], scores[found]


def _telling(held: Mapping[str, int], passages: int) -> list[str]:
    """The terms that exist, rarest first, without those too common to tell passages apart, if others remain."""
    known = sorted((count, term) for term, count in held.items() if count)
    rare = [term for count, term in known if count <= _COMMON * passages]
    return (rare or [term for _, term in known])[:_MOST_TERMS]


def by_meaning(
    reading: Reading, members: Mask, embedder: str, wanted: NDArray[np.float32]
) -> tuple[Reading, Ints, NDArray[np.float64]]:
    """Passages of the members that have a vector of this embedder, by cosine; in no order."""
    vectors = vectors_of(reading.connection, reading.bucket, embedder)
    inside = np.flatnonzero(members[_owners(reading, vectors.ids)])
    scores = np.empty(len(inside), dtype=np.float64)
    for start in range(0, len(inside), _BLOCK):
        rows = inside[start : start + _BLOCK]
        block = vectors.matrix if len(rows) == len(vectors.matrix) else vectors.matrix[rows]
        scores[start : start + _BLOCK] = block.astype(np.float32, copy=False) @ wanted
    return reading, vectors.ids[inside], scores


def _owners(reading: Reading, ids: Ints) -> Ints:
    """Positions of the documents of passages."""
    passages = passages_of(reading.connection, reading.bucket)
    return passages.owners[np.searchsorted(passages.ids, ids)]


def best(found: Sequence[tuple[Reading, Ints, NDArray[np.float64]]], limit: int) -> list[Ranked]:
    """The best of all buckets, ties by chunk id by code point."""
    if limit < 1 or not found:
        return []
    scores = np.concatenate([one[2] for one in found])
    floor = -np.inf if len(scores) <= limit else np.partition(scores, len(scores) - limit)[len(scores) - limit]
    kept = [
        (-score, _chunk_id(reading, passage), Ranked(reading=reading, passage=passage, score=score))
        for reading, ids, some in found
        for passage, score in zip(ids[some >= floor].tolist(), some[some >= floor].tolist(), strict=True)
    ]
    return [ranked for _, _, ranked in sorted(kept, key=lambda one: one[:2])[:limit]]


def _chunk_id(reading: Reading, passage: int) -> str:
    passages = passages_of(reading.connection, reading.bucket)
    at = int(np.searchsorted(passages.ids, passage))
    return f"{reading.bucket.doc_ids[int(passages.owners[at])]}#{int(passages.ordinals[at])}"


def hits(ranked: Sequence[Ranked], documents: dict[int, tuple[str, str, str]]) -> tuple[Hit, ...]:
    """With their text, in the same order. `documents`: those already read, by id; more are added."""
    return tuple(_hit(one, documents) for one in ranked)


def _hit(one: Ranked, documents: dict[int, tuple[str, str, str]]) -> Hit:
    connection, bucket = one.reading.connection, one.reading.bucket
    doc, start, stop, page = connection.execute(
        "SELECT doc, start, stop, page FROM passage WHERE id = ?", (one.passage,)
    ).fetchone()
    if doc not in documents:
        documents[doc] = connection.execute("SELECT title, source, text FROM document WHERE id = ?", (doc,)).fetchone()
    title, source, text = documents[doc]
    chunk_id = _chunk_id(one.reading, one.passage)
    return Hit(
        doc_id=bucket.doc_ids[int(bucket.at(np.array([doc]))[0])],
        bucket=bucket.header.name,
        chunk_id=ChunkId(chunk_id),
        title=title,
        source=source,
        page=page,
        start=start,
        end=stop,
        text=text[start:stop],
        score=one.score,
    )


def passages_of(connection: sqlite3.Connection, bucket: Bucket) -> Passages:
    return cast(Passages, bucket.derived.get(PASSAGES, lambda: _passages(connection, bucket)))


def _passages(connection: sqlite3.Connection, bucket: Bucket) -> Passages:
    before = cast(Passages | None, bucket.inherited.get(PASSAGES))
    newest = int(before.ids[-1]) if before is not None and len(before.ids) else 0
    rows = connection.execute(
        "SELECT id, doc, position, stop - start FROM passage WHERE bucket = ? AND id > ? ORDER BY id",
        (bucket.header.id, newest),
    ).fetchall()
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    added = Passages(
        ids=table[:, 0], owners=bucket.at(table[:, 1]), ordinals=table[:, 2], lengths=table[:, 3].astype(np.int32)
    )
    if before is None:
        return added
    return Passages(
        ids=np.concatenate((before.ids, added.ids)),
        owners=np.concatenate((before.owners, added.owners)),
        ordinals=np.concatenate((before.ordinals, added.ordinals)),
        lengths=np.concatenate((before.lengths, added.lengths)),
    )


def vectors_of(connection: sqlite3.Connection, bucket: Bucket, embedder: str) -> Vectors:
    def load() -> Mapping[str, Vectors]:
        return {embedder: _vectors(connection, bucket, embedder)}

    return cast(Mapping[str, Vectors], bucket.derived.get(VECTORS, load))[embedder]


def _vectors(connection: sqlite3.Connection, bucket: Bucket, embedder: str) -> Vectors:
    before = cast(Mapping[str, Vectors], bucket.inherited.get(VECTORS, {})).get(embedder)
    newest = int(before.ids[-1]) if before is not None and len(before.ids) else 0
    rows = connection.execute(
        "SELECT passage, data FROM vector WHERE bucket = ? AND embedder = ? AND passage > ? ORDER BY passage",
        (bucket.header.id, embedder, newest),
    ).fetchall()
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16)
    matrix = matrix.reshape(len(rows), -1) if rows else np.zeros((0, 0), dtype=np.float16)
    if len(rows) <= _FEW:  # twice the memory, a third of the time
        matrix = matrix.astype(np.float32)
    if before is None or not len(before.ids):
        return Vectors(ids=ids, matrix=matrix)
    if not len(ids):
        return before
    return Vectors(ids=np.concatenate((before.ids, ids)), matrix=np.concatenate((before.matrix, matrix)))
