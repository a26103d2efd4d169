"""Posting lists with BM25 weights, read from a bucket's FTS5 table once per state and cached for later questions.

FTS5's own `bm25` scores all passages of a term again for every question, has fixed parameters, and knows only one
bucket. Here a posting list is two arrays, the passages and their weights, so that ranking is the addition of arrays.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket_snapshot import BucketSnapshot, LruCache, PassageTable
from storage.embedded.string_dictionary import Ints
from storage.text.term_weights import BM25_B, BM25_K1

TITLE_WEIGHT = 2.0  # an occurrence in the title counts as so many
_MAX_CACHED_COUNTS = 65_536
_MAX_CACHED_POSTINGS = 4_000_000  # postings in memory per bucket: about 50 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingList:
    """The passages (or outlines) with a term. `weights` is BM25's saturated term frequency, without the IDF."""

    positions: Ints  # in the bucket's `PassageTable` (outlines: of the documents), ascending
    weights: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class PostingIndex:
    """The inverted index of the passages of one state of a bucket."""

    bucket_number: int  # the bucket's row id, part of the names of its FTS5 tables
    passages: PassageTable
    norms: NDArray[np.float32]  # of passages, from `length_norms_of`
    count_cache: LruCache[int]
    posting_cache: LruCache[PostingList]

    def count_passages(self, connection: sqlite3.Connection, term: str) -> int:
        """Returns the number of passages with the term in text or title."""
        return self.count_cache.get_or_compute(term, lambda: self._read_count(connection, term))

    def posting_list_for(self, connection: sqlite3.Connection, term: str) -> PostingList:
        return self.posting_cache.get_or_compute(term, lambda: self._read_posting_list(connection, term))

    def _read_count(self, connection: sqlite3.Connection, term: str) -> int:
        row = connection.execute(
            f"SELECT doc FROM common_{self.bucket_number:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchone()
        return int(row[0]) if row else 0

    def _read_posting_list(self, connection: sqlite3.Connection, term: str) -> PostingList:
        rows = connection.execute(
            f"SELECT doc, col = 'title' FROM placed_{self.bucket_number:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchall()
        return posting_list_of(rows, self.norms, lambda numbers: np.searchsorted(self.passages.ids, numbers))


def posting_list_of(
    occurrences: Sequence[tuple[int, int]], norms: NDArray[np.float32], find_positions: Callable[[Ints], Ints]
) -> PostingList:
    """Return the posting list of a term.

    `occurrences`: for each, the row id of its passage or document, and 1 if it is in the title. `find_positions` maps
    ascending row ids to positions. `norms`, by position, are those of `length_norms_of`.
    """
    entries = np.array(occurrences, dtype=np.int64).reshape(-1, 2)
    row_ids, row_indexes = np.unique(entries[:, 0], return_inverse=True)
    weighted_counts = np.bincount(row_indexes, np.where(entries[:, 1] > 0, TITLE_WEIGHT, 1.0), minlength=len(row_ids))
    positions = find_positions(row_ids)
    return PostingList(
        positions=positions,
        weights=(weighted_counts * (BM25_K1 + 1) / (weighted_counts + norms[positions])).astype(np.float32),
    )


def length_norms_of(lengths: NDArray[np.integer] | NDArray[np.floating], average_length: float) -> NDArray[np.float32]:
    """Return BM25's factor for the length of each text: k1 * (1 - b + b * length / average)."""
    return (BM25_K1 * (1 - BM25_B + BM25_B * lengths / max(average_length, 1.0))).astype(np.float32)


def posting_index_of(bucket: BucketSnapshot, passages: PassageTable) -> PostingIndex:
    """Return the inverted index of this state of the bucket; its caches are empty at first."""
    return cast(
        PostingIndex, bucket.derived_cache.get_or_compute("postings", lambda: _empty_posting_index(bucket, passages))
    )


def _empty_posting_index(bucket: BucketSnapshot, passages: PassageTable) -> PostingIndex:
    lengths = passages.lengths
    average_length = float(lengths.mean()) if len(lengths) else 1.0
    max_terms = max(64, min(4096, _MAX_CACHED_POSTINGS // max(1, len(lengths) // 16)))
    return PostingIndex(
        bucket_number=bucket.header.id,
        passages=passages,
        norms=length_norms_of(lengths, average_length),
        count_cache=LruCache(_MAX_CACHED_COUNTS),
        posting_cache=LruCache(max_terms),
    )
