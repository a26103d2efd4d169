"""Fusing ranked lists, scoring passages by what they say, dropping near-duplicates.

Reciprocal rank fusion with k = 60 (Cormack, Clarke and Büttcher 2009), a boost for what several collectors found, and a
re-ranking by how much of the question's rare words a passage holds, close together.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.outcome import FoundPassage
from storage.search.ids import ChunkId
from storage.search.index import Hit
from storage.search.text import Analyser, fold

_K = 60
_SEVERAL = 1.15  # boost for what more than one collector found
_RERANKED = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A content word of the question: its stem, and its weight by rarity (0 to 1)."""

    word: str
    stem: str
    weight: float
    known: bool  # some visible document holds it


def weights(words: Mapping[str, tuple[str, int]], documents: int) -> tuple[Weighted, ...]:
    """Inverse document frequency, scaled to 1 for a word of no document. `words`: word to stem and documents."""
    most = math.log(1 + max(documents, 1))
    return tuple(
        Weighted(
            word=word,
            stem=stem,
            weight=max(math.log(1 + max(documents, 1) / (1 + count)) / most, 0.05),
            known=count > 0,
        )
        for word, (stem, count) in words.items()
    )


def fused(lists: Mapping[str, Sequence[Hit]]) -> list[FoundPassage]:
    """All hits, best first by weighted rank; ties by chunk id."""
    scores: dict[ChunkId, float] = defaultdict(float)
    by: dict[ChunkId, list[str]] = defaultdict(list)
    hits: dict[ChunkId, Hit] = {}
    for name, ranked in lists.items():
        for rank, hit in enumerate(ranked):
            hits.setdefault(hit.chunk_id, hit)
            scores[hit.chunk_id] += 1 / (_K + rank + 1)
            by[hit.chunk_id].append(name)
    found = [
        FoundPassage(hit=hit, score=scores[chunk] * (_SEVERAL if len(by[chunk]) > 1 else 1), found_by=tuple(by[chunk]))
        for chunk, hit in hits.items()
    ]
    return sorted(found, key=lambda one: (-one.score, one.hit.chunk_id))


def reranked(
    found: Sequence[FoundPassage], question: Sequence[Weighted], analysers: Mapping[str, Analyser]
) -> list[FoundPassage]:
    """The first 40 ordered anew by fusion and coverage together; the rest behind, as it was; duplicates dropped."""
    if not found:
        return []
    top = found[0].score
    scored = [
        FoundPassage(
            hit=one.hit,
            score=round(one.score / top + 1.5 * coverage(one.hit, question, analysers[one.hit.bucket]), 6),
            found_by=one.found_by,
        )
        for one in found[:_RERANKED]
    ]
    ordered = sorted(scored, key=lambda one: (-one.score, one.hit.chunk_id))
    return _without_copies([*ordered, *found[_RERANKED:]])


def coverage(hit: Hit, question: Sequence[Weighted], analyser: Analyser) -> float:
    """The share (0 to 1) of the question's weight whose words stand in the passage or its title."""
    total = sum(one.weight for one in question)
    if not total:
        return 0.0
    body = {term.text for term in analyser.terms(hit.text)}
    title = {term.text for term in analyser.terms(hit.title)}
    held = sum(one.weight * (1.0 if one.stem in body else 0.8 if one.stem in title else 0.0) for one in question)
    return held / total


def _without_copies(found: Sequence[FoundPassage]) -> list[FoundPassage]:
    seen: set[str] = set()
    kept: list[FoundPassage] = []
    for one in found:
        text = fold(one.hit.text)
        if text not in seen:
            seen.add(text)
            kept.append(one)
    return kept
