"""Documents in order: by BM25 over their outlines, which are their titles and what sums them up."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket import Bucket, Remembered
from storage.embedded.columns import Mask
from storage.embedded.compile import Reading
from storage.embedded.postings import K1, TITLE_WEIGHT, B, Posting, rarities
from storage.search.ids import DocId
from storage.search.index import Outline, Outlines

_MOST_TERMS = 64  # of a ranking text; the rarest are kept
_KEPT = 256  # terms of one bucket


@dataclass(frozen=True, kw_only=True)
class _Told:
    """The terms of the outlines of one state of a bucket."""

    bucket: Bucket
    norms: NDArray[np.float32]  # of documents, by position: k1 * (1 - b + b * length / average)
    kept: Remembered[Posting]

    def of(self, connection: sqlite3.Connection, term: str) -> Posting:
        return self.kept.get(term, lambda: self._read(connection, term))

    def _read(self, connection: sqlite3.Connection, term: str) -> Posting:
        rows = connection.execute(
            f"SELECT doc, col = 'title' FROM told_{self.bucket.header.id:d} WHERE term = ?",  # noqa: S608
            (term,),
        ).fetchall()
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        ids, owner = np.unique(table[:, 0], return_inverse=True)
        often = np.bincount(owner, np.where(table[:, 1] > 0, TITLE_WEIGHT, 1.0), minlength=len(ids))
        at = self.bucket.at(ids)
        return Posting(at=at, weights=(often * (K1 + 1) / (often + self.norms[at])).astype(np.float32))


def outlines(parts: Sequence[tuple[Reading, Mask]], request: Outlines) -> tuple[Outline, ...]:
    """The best of all buckets."""
    told = [_told(one.connection, one.bucket) for one, _ in parts]
    terms = [list(dict.fromkeys(term.text for term in one.analyser.terms(request.text))) for one, _ in parts]
    postings = [
        {term: one.of(reading.connection, term) for term in own}
        for (reading, _), one, own in zip(parts, told, terms, strict=True)
    ]
    scored = _scores(parts, postings)
    found = [
        (-score, one.bucket.doc_ids[at], (one, at, score))
        for (one, members), scores in zip(parts, scored, strict=True)
        for at, score in _leading(np.where(members, scores, 0.0), request.limit)
    ]
    best = sorted(found, key=lambda one: one[:2])[: max(request.limit, 0)]
    return tuple(_outline(*one) for _, _, one in best)


def _scores(
    parts: Sequence[tuple[Reading, Mask]], postings: Sequence[Mapping[str, Posting]]
) -> list[NDArray[np.float64]]:
    """Of all documents of each bucket, by position."""
    counts = [{term: len(posting.at) for term, posting in own.items()} for own in postings]
    every = list(dict.fromkeys(term for own in counts for term in own))
    weights = rarities(every, [{term: own.get(term, 0) for term in every} for own in counts], _sizes(parts))
    results = list[NDArray[np.float64]]()
    for (one, _), own, weight in zip(parts, postings, weights, strict=True):
        scores = np.zeros(len(one.bucket.ids), dtype=np.float64)
        for term in sorted(weight, key=lambda term: -weight[term])[:_MOST_TERMS]:
            scores[own[term].at] += weight[term] * own[term].weights
        results.append(scores)
    return results


def _sizes(parts: Sequence[tuple[Reading, Mask]]) -> list[int]:
    return [len(one.bucket.ids) for one, _ in parts]


def _leading(scores: NDArray[np.float64], limit: int) -> list[tuple[int, float]]:
    """Positions and scores of the best, and of all that equal the last of them."""
    if limit < 1:
        return []
    floor = 0.0 if len(scores) <= limit else np.partition(scores, len(scores) - limit)[len(scores) - limit]
    at = np.flatnonzero((scores >= floor) & (scores > 0))
    return list(zip(at.tolist(), scores[at].tolist(), strict=True))


def _outline(one: Reading, at: int, score: float) -> Outline:
    title, source, summary = one.connection.execute(
        "SELECT title, source, summary FROM document d JOIN outline o ON o.doc = d.id WHERE d.id = ?",
        (int(one.bucket.ids[at]),),
    ).fetchone()
    return Outline(
        doc_id=DocId(one.bucket.doc_ids[at]),
        bucket=one.bucket.header.name,
        title=title,
        source=source,
        summary=summary,
        score=score,
    )


def _told(connection: sqlite3.Connection, bucket: Bucket) -> _Told:
    return cast(_Told, bucket.derived.get("outlines", lambda: _read_told(connection, bucket)))


def _read_told(connection: sqlite3.Connection, bucket: Bucket) -> _Told:
    rows = connection.execute(
        "SELECT doc, length FROM outline WHERE bucket = ? ORDER BY doc", (bucket.header.id,)
    ).fetchall()
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    average = float(table[:, 1].mean()) if len(rows) else 1.0
    lengths = np.full(len(bucket.ids), average)
    lengths[bucket.at(table[:, 0])] = table[:, 1]
    norms = (K1 * (1 - B + B * lengths / max(average, 1.0))).astype(np.float32)
    return _Told(bucket=bucket, norms=norms, kept=Remembered(_KEPT))
