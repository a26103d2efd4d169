"""Ranking of passages: by BM25 over the posting lists of each bucket, and by cosine over its vectors."""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket_snapshot import (
    PASSAGES_KEY,
    VECTORS_KEY,
    BucketSnapshot,
    PassageTable,
    PassageVectors,
    read_integers,
)
from storage.embedded.columns import Mask
from storage.embedded.reading.condition_masks import EmbeddedBucketReader
from storage.embedded.reading.postings import PostingIndex, posting_index_of
from storage.embedded.string_dictionary import Ints
from storage.embedded.vectors import EmbedderIdentity, read_vector_epoch
from storage.search.ids import ChunkId, DocId
from storage.search.index import PassageHit
from storage.text.term_weights import term_weights_by_bucket

VectorsKey: TypeAlias = tuple[str, int, int]  # the embedder's name, its dimensions, the bucket's epoch
_MAX_TERM_COUNT = 8  # occurrences of one term in a text; further ones add no weight
_MAX_TERMS = 64  # of a ranking text; the rarest terms are used
_BLOCK_ROWS = 16_384  # rows converted from float16 to float32 at a time
_MAX_FLOAT32_ROWS = 50_000  # rows; a table with more remains float16


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPassage:
    """A passage and its score; its text is not read yet."""

    reader: EmbeddedBucketReader
    passage_number: int
    score: float


def score_by_terms(
    readers_and_masks: Sequence[tuple[EmbeddedBucketReader, Mask]], text: str
) -> list[tuple[EmbeddedBucketReader, Ints, NDArray[np.float64]]]:
    """Score by BM25 the passages with any term of `text`, in the documents of each mask. The result has no order."""
    indexes = [
        posting_index_of(reader.bucket, passage_table_of(reader.connection, reader.bucket))
        for reader, _ in readers_and_masks
    ]
    term_counts = [
        Counter(term.text for term in reader.analyser.extract_terms(text)) for reader, _ in readers_and_masks
    ]
    terms = list(dict.fromkeys(term for counts in term_counts for term in counts))
    passage_counts = [
        {term: index.count_passages(reader.connection, term) if term in counts else 0 for term in terms}
        for (reader, _), index, counts in zip(readers_and_masks, indexes, term_counts, strict=True)
    ]
    weights_by_bucket = term_weights_by_bucket(terms, passage_counts, [len(index.passages.ids) for index in indexes])
    return [
        _score_bucket(
            reader_and_mask,
            index,
            {term: weights[term] * min(counts[term], _MAX_TERM_COUNT) for term in _rarest_terms(bucket_counts)},
        )
        for reader_and_mask, index, counts, bucket_counts, weights in zip(
            readers_and_masks, indexes, term_counts, passage_counts, weights_by_bucket, strict=True
        )
    ]


def _score_bucket(
    reader_and_mask: tuple[EmbeddedBucketReader, Mask], postings: PostingIndex, weights: Mapping[str, float]
) -> tuple[EmbeddedBucketReader, Ints, NDArray[np.float64]]:
    reader, members = reader_and_mask
    if not weights or not members.any():
        return reader, np.zeros(0, dtype=np.int64), np.zeros(0)
    scores = np.zeros(len(postings.passages.ids), dtype=np.float64)
    for term, weight in weights.items():
        posting = postings.posting_list_for(reader.connection, term)
        scores[posting.positions] += weight * posting.weights
    matching = np.flatnonzero(scores)
    matching = matching[members[postings.passages.document_positions[matching]]]
    return reader, postings.passages.ids[matching], scores[matching]


def _rarest_terms(term_counts: Mapping[str, int]) -> list[str]:
    """Returns the terms that occur, rarest first, at most `_MAX_TERMS`. Common terms count by their low weights."""
    return [term for _, term in sorted((count, term) for term, count in term_counts.items() if count)[:_MAX_TERMS]]


def score_by_vector(
    reader: EmbeddedBucketReader, member_mask: Mask, embedder: str, query_vector: NDArray[np.float32]
) -> tuple[EmbeddedBucketReader, Ints, NDArray[np.float64]]:
    """Score by cosine the passages with a vector of this embedder, in the documents of the mask.

    The result has no order.
    """
    vectors = passage_vectors_of(reader.connection, reader.bucket, embedder, len(query_vector))
    vector_indexes = np.flatnonzero(member_mask[_document_positions_of(reader, vectors.ids)])
    scores = np.empty(len(vector_indexes), dtype=np.float64)
    for start in range(0, len(vector_indexes), _BLOCK_ROWS):
        rows = vector_indexes[start : start + _BLOCK_ROWS]
        block = vectors.matrix if len(rows) == len(vectors.matrix) else vectors.matrix[rows]
        scores[start : start + _BLOCK_ROWS] = block.astype(np.float32, copy=False) @ query_vector
    return reader, vectors.ids[vector_indexes], scores


def _document_positions_of(reader: EmbeddedBucketReader, ids: Ints) -> Ints:
    """Returns the positions of the passages' documents. `ids` are row ids of passages."""
    passages = passage_table_of(reader.connection, reader.bucket)
    return passages.document_positions[np.searchsorted(passages.ids, ids)]


def select_best(
    scored: Sequence[tuple[EmbeddedBucketReader, Ints, NDArray[np.float64]]], limit: int
) -> list[RankedPassage]:
    """Return the best passages of all buckets; ties are ordered by chunk id, by code point."""
    if limit < 1 or not scored:
        return []
    scores = np.concatenate([bucket_result[2] for bucket_result in scored])
    lowest_score = -np.inf if len(scores) <= limit else np.partition(scores, len(scores) - limit)[len(scores) - limit]
    candidates = [
        (-score, _chunk_id_of(reader, passage), RankedPassage(reader=reader, passage_number=passage, score=score))
        for reader, ids, bucket_scores in scored
        for passage, score in zip(
            ids[bucket_scores >= lowest_score].tolist(),
            bucket_scores[bucket_scores >= lowest_score].tolist(),
            strict=True,
        )
    ]
    return [ranked for _, _, ranked in sorted(candidates, key=lambda candidate: candidate[:2])[:limit]]


def _chunk_id_of(reader: EmbeddedBucketReader, passage: int) -> str:
    passages = passage_table_of(reader.connection, reader.bucket)
    index = int(np.searchsorted(passages.ids, passage))
    return f"{reader.bucket.doc_ids[int(passages.document_positions[index])]}#{int(passages.ordinals[index])}"


def read_hits(ranked: Sequence[RankedPassage], documents: dict[int, tuple[str, str, str]]) -> tuple[PassageHit, ...]:
    """Read the hits with their text, in the same order.

    `documents` caches title, source and text by row id; it is extended.
    """
    return tuple(_read_hit(passage, documents) for passage in ranked)


def _read_hit(ranked: RankedPassage, documents: dict[int, tuple[str, str, str]]) -> PassageHit:
    connection, bucket = ranked.reader.connection, ranked.reader.bucket
    document_number, start, stop, page = connection.execute(
        "SELECT doc, start, stop, page FROM passage WHERE id = ?", (ranked.passage_number,)
    ).fetchone()
    if document_number not in documents:
        documents[document_number] = connection.execute(
            "SELECT title, source, text FROM document WHERE id = ?", (document_number,)
        ).fetchone()
    title, source, text = documents[document_number]
    chunk_id = _chunk_id_of(ranked.reader, ranked.passage_number)
    return PassageHit(
        doc_id=DocId(bucket.doc_ids[int(bucket.positions_of(np.array([document_number]))[0])]),
        bucket=bucket.header.name,
        chunk_id=ChunkId(chunk_id),
        title=title,
        source=source,
        page=page,
        start=start,
        end=stop,
        text=text[start:stop],
        score=ranked.score,
    )


def passage_table_of(connection: sqlite3.Connection, bucket: BucketSnapshot) -> PassageTable:
    return cast(
        PassageTable, bucket.derived_cache.get_or_compute(PASSAGES_KEY, lambda: _load_passage_table(connection, bucket))
    )


def _load_passage_table(connection: sqlite3.Connection, bucket: BucketSnapshot) -> PassageTable:
    previous = cast(PassageTable | None, bucket.inherited_tables.get(PASSAGES_KEY))
    newest_id = int(previous.ids[-1]) if previous is not None and len(previous.ids) else 0
    rows = connection.execute(
        "SELECT id, doc, position, stop - start FROM passage WHERE bucket = ? AND id > ? ORDER BY id",
        (bucket.header.id, newest_id),
    )
    table = read_integers(rows, column_count=4)
    added = PassageTable(
        ids=table[:, 0],
        document_positions=bucket.positions_of(table[:, 1]),
        ordinals=table[:, 2],
        lengths=table[:, 3].astype(np.int32),
    )
    if previous is None:
        return added
    return PassageTable(
        ids=np.concatenate((previous.ids, added.ids)),
        document_positions=np.concatenate((previous.document_positions, added.document_positions)),
        ordinals=np.concatenate((previous.ordinals, added.ordinals)),
        lengths=np.concatenate((previous.lengths, added.lengths)),
    )


def passage_vectors_of(
    connection: sqlite3.Connection, bucket: BucketSnapshot, embedder: str, dimensions: int
) -> PassageVectors:
    """Returns the vectors of this embedder, without those that an earlier model of its name made in another length."""
    key = (embedder, dimensions, read_vector_epoch(connection, bucket.header.id))

    def load_by_key() -> Mapping[VectorsKey, PassageVectors]:
        return {key: _load_passage_vectors(connection, bucket, key)}

    cached = cast(Mapping[VectorsKey, PassageVectors], bucket.derived_cache.get_or_compute(VECTORS_KEY, load_by_key))
    return cached[key] if key in cached else load_by_key()[key]


def _load_passage_vectors(connection: sqlite3.Connection, bucket: BucketSnapshot, key: VectorsKey) -> PassageVectors:
    previous = cast(Mapping[VectorsKey, PassageVectors], bucket.inherited_tables.get(VECTORS_KEY, {})).get(key)
    newest_id = int(previous.ids[-1]) if previous is not None and len(previous.ids) else 0
    embedder, dimensions, _ = key
    rows = connection.execute(
        "SELECT passage, data FROM vector WHERE bucket = ? AND embedder = ? AND passage > ? AND length(data) = ?"
        " ORDER BY passage",
        (bucket.header.id, embedder, newest_id, EmbedderIdentity(name=embedder, dimensions=dimensions).vector_bytes),
    )
    ids, vector_bytes = array("q"), bytearray()
    for passage, data in rows:
        ids.append(passage)
        vector_bytes += data
    matrix = np.frombuffer(vector_bytes, dtype=np.float16).reshape(len(ids), dimensions if ids else 0)
    if len(ids) <= _MAX_FLOAT32_ROWS:  # needs twice the memory and a third of the time
        matrix = matrix.astype(np.float32)
    added_ids = np.array(ids, dtype=np.int64)
    if previous is None or not len(previous.ids):
        return PassageVectors(ids=added_ids, matrix=matrix)
    if not ids:
        return previous
    return PassageVectors(
        ids=np.concatenate((previous.ids, added_ids)), matrix=np.concatenate((previous.matrix, matrix))
    )
