"""Where each term stands, as BM25 weighs it: read from a bucket's FTS5 table once a state, kept for the next question.

FTS5's own `bm25` scores all passages of a term anew at every question, with fixed parameters, and knows one bucket at a
time. Here a term's passages and their weights are two arrays, so that a question adds up arrays.
"""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket import Bucket, Passages, Remembered
from storage.embedded.dictionary import Ints

K1, B = 1.2, 0.5  # Robertson et al. 1994; passages are of near equal length, so B matters little
TITLE_WEIGHT = 2.0  # occurrences that one in the title counts for
_MOST_COUNTS = 65_536
_KEPT_ENTRIES = 4_000_000  # of postings in one bucket's memory: some 50 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """One term's passages. `weights` is BM25's saturated frequency, without the term's rarity."""

    at: Ints  # positions in the bucket's `Passages`, ascending
    weights: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Postings:
    """The terms of one state of a bucket."""

    table: int  # the bucket's id, which its FTS5 tables are named by
    passages: Passages
    norms: NDArray[np.float32]  # of passages: k1 * (1 - b + b * length / average)
    counts: Remembered[int]
    kept: Remembered[Posting]

    def count(self, connection: sqlite3.Connection, term: str) -> int:
        """Passages that hold the term, in text or title."""
        return self.counts.get(term, lambda: self._count(connection, term))

    def of(self, connection: sqlite3.Connection, term: str) -> Posting:
        return self.kept.get(term, lambda: self._read(connection, term))

    def _count(self, connection: sqlite3.Connection, term: str) -> int:
        row = connection.execute(
            f"SELECT doc FROM common_{self.table:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchone()
        return int(row[0]) if row else 0

    def _read(self, connection: sqlite3.Connection, term: str) -> Posting:
        rows = connection.execute(
            f"SELECT doc, col = 'title' FROM placed_{self.table:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchall()
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        ids, owner = np.unique(table[:, 0], return_inverse=True)
        often = np.bincount(owner, np.where(table[:, 1] > 0, TITLE_WEIGHT, 1.0), minlength=len(ids))
        at = np.searchsorted(self.passages.ids, ids)
        return Posting(at=at, weights=(often * (K1 + 1) / (often + self.norms[at])).astype(np.float32))


def postings_of(bucket: Bucket, passages: Passages) -> Postings:
    """Those of this state of the bucket; empty at first."""
    return cast(Postings, bucket.derived.get("postings", lambda: _empty(bucket, passages)))


def _empty(bucket: Bucket, passages: Passages) -> Postings:
    lengths = passages.lengths
    average = float(lengths.mean()) if len(lengths) else 1.0
    kept = max(64, min(4096, _KEPT_ENTRIES // max(1, len(lengths) // 16)))
    return Postings(
        table=bucket.header.id,
        passages=passages,
        norms=(K1 * (1 - B + B * lengths / max(average, 1.0))).astype(np.float32),
        counts=Remembered(_MOST_COUNTS),
        kept=Remembered(kept),
    )


def rarity(held: int, passages: int) -> float:
    """Inverse document frequency, never negative (Lucene's)."""
    return math.log(1 + (passages - held + 0.5) / (held + 0.5))


def rarities(terms: Sequence[str], counts: Sequence[Mapping[str, int]], sizes: Sequence[int]) -> list[dict[str, float]]:
    """For each bucket the weight of each term: half its rarity there, half among all passages searched.

    Rarity within a bucket alone makes a term that one bucket is full of, and the others hardly hold, strongest where it
    says least: the passages of different buckets would not compare.
    """
    everywhere = {term: rarity(sum(held[term] for held in counts), sum(sizes)) for term in terms}
    return [
        {term: (rarity(held[term], size) + everywhere[term]) / 2 for term in terms if held[term]}
        for held, size in zip(counts, sizes, strict=True)
    ]
