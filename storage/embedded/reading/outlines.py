"""Ranking of documents by BM25 over their outlines: the title, and the summary or the beginning of the text."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket_snapshot import BucketSnapshot, LruCache, read_integers
from storage.embedded.columns import Mask
from storage.embedded.reading.condition_masks import EmbeddedBucketReader
from storage.embedded.reading.postings import PostingList, length_norms_of, posting_list_of
from storage.search.ids import DocId
from storage.search.index import OutlineHit, OutlineRequest
from storage.text.term_weights import term_weights_by_bucket

_MAX_TERMS = 64  # of a ranking text; the rarest terms are used
_MAX_CACHED_TERMS = 256  # terms of one bucket


@dataclass(frozen=True, kw_only=True)
class _OutlinePostings:
    """The posting lists of the outlines of one state of a bucket."""

    bucket: BucketSnapshot
    norms: NDArray[np.float32]  # of documents, by position, from `length_norms_of`
    # Outlines of documents that a process of an earlier Parley has deleted since the index was opened.
    stale_ids: frozenset[int]
    posting_cache: LruCache[PostingList]

    def posting_list_for(self, connection: sqlite3.Connection, term: str) -> PostingList:
        return self.posting_cache.get_or_compute(term, lambda: self._read_posting_list(connection, term))

    def _read_posting_list(self, connection: sqlite3.Connection, term: str) -> PostingList:
        rows = connection.execute(
            f"SELECT doc, col = 'title' FROM told_{self.bucket.header.id:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchall()
        if self.stale_ids:
            rows = [row for row in rows if row[0] not in self.stale_ids]
        return posting_list_of(rows, self.norms, self.bucket.positions_of)


def rank_outlines(
    readers_and_masks: Sequence[tuple[EmbeddedBucketReader, Mask]], request: OutlineRequest
) -> tuple[OutlineHit, ...]:
    """Return the best documents of all buckets."""
    outline_postings = [_outline_postings_of(reader.connection, reader.bucket) for reader, _ in readers_and_masks]
    terms = [
        list(dict.fromkeys(term.text for term in reader.analyser.extract_terms(request.text)))
        for reader, _ in readers_and_masks
    ]
    posting_lists = [
        {term: postings.posting_list_for(reader.connection, term) for term in bucket_terms}
        for (reader, _), postings, bucket_terms in zip(readers_and_masks, outline_postings, terms, strict=True)
    ]
    scores_by_bucket = _score_documents(readers_and_masks, posting_lists)
    candidates = [
        (-score, reader.bucket.doc_ids[position], (reader, position, score))
        for (reader, members), scores in zip(readers_and_masks, scores_by_bucket, strict=True)
        for position, score in _top_positions(np.where(members, scores, 0.0), request.limit)
    ]
    best = sorted(candidates, key=lambda candidate: candidate[:2])[: max(request.limit, 0)]
    return tuple(_read_outline(*hit) for _, _, hit in best)


def _score_documents(
    readers_and_masks: Sequence[tuple[EmbeddedBucketReader, Mask]], postings: Sequence[Mapping[str, PostingList]]
) -> list[NDArray[np.float64]]:
    """Returns for each bucket the scores of its documents, by position."""
    counts = [
        {term: len(posting.positions) for term, posting in bucket_postings.items()} for bucket_postings in postings
    ]
    all_terms = list(dict.fromkeys(term for bucket_counts in counts for term in bucket_counts))
    weights_by_bucket = term_weights_by_bucket(
        all_terms,
        [{term: bucket_counts.get(term, 0) for term in all_terms} for bucket_counts in counts],
        _bucket_sizes(readers_and_masks),
    )
    results = list[NDArray[np.float64]]()
    for (reader, _), bucket_postings, weights in zip(readers_and_masks, postings, weights_by_bucket, strict=True):
        scores = np.zeros(len(reader.bucket.ids), dtype=np.float64)
        for term in sorted(weights, key=lambda term: -weights[term])[:_MAX_TERMS]:
            scores[bucket_postings[term].positions] += weights[term] * bucket_postings[term].weights
        results.append(scores)
    return results


def _bucket_sizes(readers_and_masks: Sequence[tuple[EmbeddedBucketReader, Mask]]) -> list[int]:
    return [len(reader.bucket.ids) for reader, _ in readers_and_masks]


def _top_positions(scores: NDArray[np.float64], limit: int) -> list[tuple[int, float]]:
    """Returns positions and scores of the `limit` best documents and of all with the same score as the last of them."""
    if limit < 1:
        return []
    lowest_score = 0.0 if len(scores) <= limit else np.partition(scores, len(scores) - limit)[len(scores) - limit]
    positions = np.flatnonzero((scores >= lowest_score) & (scores > 0))
    return list(zip(positions.tolist(), scores[positions].tolist(), strict=True))


def _read_outline(reader: EmbeddedBucketReader, position: int, score: float) -> OutlineHit:
    title, source, summary = reader.connection.execute(
        "SELECT title, source, summary FROM document d JOIN outline o ON o.doc = d.id WHERE d.id = ?",
        (int(reader.bucket.ids[position]),),
    ).fetchone()
    return OutlineHit(
        doc_id=DocId(reader.bucket.doc_ids[position]),
        bucket=reader.bucket.header.name,
        title=title,
        source=source,
        summary=summary,
        score=score,
    )


def _outline_postings_of(connection: sqlite3.Connection, bucket: BucketSnapshot) -> _OutlinePostings:
    return cast(
        _OutlinePostings,
        bucket.derived_cache.get_or_compute("outlines", lambda: _build_outline_postings(connection, bucket)),
    )


def _build_outline_postings(connection: sqlite3.Connection, bucket: BucketSnapshot) -> _OutlinePostings:
    rows = connection.execute("SELECT doc, length FROM outline WHERE bucket = ? ORDER BY doc", (bucket.header.id,))
    table = read_integers(rows, column_count=2)
    average_length = float(table[:, 1].mean()) if len(table) else 1.0
    lengths = np.full(len(bucket.ids), average_length)
    is_known = np.isin(table[:, 0], bucket.ids)
    known = table[is_known]
    lengths[bucket.positions_of(known[:, 0])] = known[:, 1]
    return _OutlinePostings(
        bucket=bucket,
        norms=length_norms_of(lengths, average_length),
        stale_ids=frozenset(table[~is_known][:, 0].tolist()),
        posting_cache=LruCache(_MAX_CACHED_TERMS),
    )
