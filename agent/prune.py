"""Fusing ranked lists, ordering passages by what they say, joining neighbours, dropping copies.

Lists are fused by weighted relative scores (convex combination, Bruch, Gai and Ingber 2023): ranks alone, as in
reciprocal rank fusion, forget by how much the best passage leads. Each passage keeps which collectors found it.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.alike import like_the_best
from agent.outcome import FoundPassage
from agent.rerank import JUDGED, Spotter, Weighted, folded, relative, relevance, share, spotter_of
from storage.search.ids import BucketId, ChunkId
from storage.search.index import Hit
from storage.search.text import Analyser

_COSINES = "semantic"  # the collector whose scores are cosines; the others' are relative to their best
RERANKED = 40  # passages that are ordered anew, and shown to a reranker
_NEIGHBOUR = 0.6  # of a passage's score, that its neighbour must have to be shown with it as one
_IN_TITLE = 0.8  # what a word of the title counts for, beside one of the text


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
    """All hits, best first by the sum of their relative scores; ties by chunk id."""
    scores: dict[ChunkId, float] = defaultdict(float)
    by: dict[ChunkId, list[str]] = defaultdict(list)
    hits: dict[ChunkId, Hit] = {hit.chunk_id: hit for ranked in lists.values() for hit in ranked}
    for name, ranked in lists.items():
        top = 1.0 if name == _COSINES else max((hit.score for hit in ranked), default=1.0) or 1.0
        own = {hit.chunk_id: max(hit.score / top, 0.0) for hit in ranked}
        least = min(own.values(), default=0.0) if name == _COSINES else 0.0  # not among the nearest, but not unlike
        for chunk in hits:
            scores[chunk] += own.get(chunk, least)
            by[chunk] += [name] if chunk in own else []
    found = [FoundPassage(hit=hit, score=scores[chunk], found_by=tuple(by[chunk])) for chunk, hit in hits.items()]
    return sorted(found, key=lambda one: (-one.score, one.hit.chunk_id))


def reranked(
    found: Sequence[FoundPassage],
    question: Sequence[Weighted],
    analysers: Mapping[BucketId, Analyser],
    judged: Sequence[float] | None = None,
) -> list[FoundPassage]:
    """The first 40 ordered anew by what they say, then by what the best of them say; the rest behind, as it was; copies
    dropped, neighbours joined.

    `judged`: what a reranker makes of each of the first 40, where there is one.
    """
    spotters, first = spotters_of(question, analysers), found[:RERANKED]
    extra = [0.0] * len(first) if judged is None else [JUDGED * one for one in relative(judged)]
    scored = [
        replace(one, score=round(one.score + relevance(one.hit, question, spotters[one.hit.bucket]) + more, 6))
        for one, more in zip(first, extra, strict=True)
    ]
    ordered = _without_copies(sorted(scored, key=lambda one: (-one.score, one.hit.chunk_id)))
    liked = like_the_best(ordered) if judged is None else ordered
    return _joined(_without_copies([*liked, *found[RERANKED:]]))


def spotters_of(question: Sequence[Weighted], analysers: Mapping[BucketId, Analyser]) -> Mapping[BucketId, Spotter]:
    """One a bucket; buckets of one analyser share one."""
    stems = frozenset(one.stem for one in question)
    return {bucket: spotter_of(stems, analyser) for bucket, analyser in analysers.items()}


def coverage(hit: Hit, question: Sequence[Weighted], spotter: Spotter) -> float:
    """The share (0 to 1) of the question's weight whose words stand in the passage or its title."""
    body = share(question, spotter.found(hit.text))
    either = share(question, {**spotter.found(hit.text), **spotter.found(hit.title)})
    return body + _IN_TITLE * (either - body)


def _without_copies(found: Sequence[FoundPassage]) -> list[FoundPassage]:
    seen: set[str] = set()
    kept: list[FoundPassage] = []
    for one in found:
        text = " ".join(folded(one.hit.text).split())
        if text not in seen:
            seen.add(text)
            kept.append(one)
    return kept


def _joined(found: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Two passages that follow each other on a page, and are found alike well, as one hit: what is said runs on."""
    kept: list[FoundPassage] = []
    whole: set[ChunkId] = set()  # those that are two already
    for one in found:
        at = next((at for at, other in enumerate(kept) if _goes_on(other, one, whole)), None)
        if at is None:
            kept.append(one)
        else:
            whole.add(kept[at].hit.chunk_id)
            kept[at] = replace(kept[at], hit=_together(kept[at].hit, one.hit))
    return kept


def _goes_on(better: FoundPassage, one: FoundPassage, whole: set[ChunkId]) -> bool:
    a, b = better.hit, one.hit
    if a.doc_id != b.doc_id or a.page != b.page or a.chunk_id in whole or one.score < _NEIGHBOUR * better.score:
        return False
    apart = a.end <= b.start or b.end <= a.start
    return apart and abs(_ordinal(a.chunk_id) - _ordinal(b.chunk_id)) == 1


def _ordinal(chunk: ChunkId) -> int:
    return int(chunk.rpartition("#")[2])


def _together(better: Hit, other: Hit) -> Hit:
    """Under the id of the better one. Passages leave out nothing but blanks."""
    first, last = sorted((better, other), key=lambda hit: hit.start)
    text = first.text + "\n" * (last.start - first.end) + last.text
    return replace(better, start=first.start, end=last.end, text=text)
