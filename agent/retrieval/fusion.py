"""Fuses ranked lists, reranks passages by their text, joins neighbours and drops duplicates.

Lists are fused by relative scores (convex combination, Bruch, Gai and Ingber 2023). Ranks alone, as in reciprocal rank
fusion, lose the distance between the best passage and the next. Each passage records which collectors found it.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from agent.outcome import FoundPassage
from agent.retrieval.pseudo_relevance_feedback import apply_relevance_feedback
from agent.retrieval.relevance import (
    RERANKER_WEIGHT,
    QueryTerm,
    StemMatcher,
    fold_text,
    matched_share_of,
    normalize_scores,
    relevance_of_hit,
    stem_matcher_for,
)
from storage.search.analyser import Analyser
from storage.search.ids import BucketId, ChunkId, DocId
from storage.search.index import OutlineHit, PassageHit

IdT = TypeVar("IdT", bound=str)

_COSINE_COLLECTOR = "semantic"  # the collector whose scores are cosines; the others' are relative to their best
_COSINE_WEIGHT = 0.6  # of a cosine; the relative score by terms has weight 1
_OUTLINE_WEIGHT = 0.4  # of the relative score of the document's title and summary
RERANKED_PASSAGES = 40  # passages that are reranked and that a reranker scores
_NEIGHBOUR_SCORE_SHARE = 0.6  # share of a passage's score that its neighbour must have for the two to be joined
_TITLE_WEIGHT = 0.8  # weight of a word in the title; a word in the text has weight 1


def weigh_terms(stems_and_counts: Mapping[str, tuple[str, int]], total_documents: int) -> tuple[QueryTerm, ...]:
    """Returns the terms weighted by inverse document frequency, scaled to 1 for a word that is in no document.

    `stems_and_counts` maps each word to its stem and its number of documents.
    """
    max_weight = math.log(1 + max(total_documents, 1))
    return tuple(
        QueryTerm(
            word=word,
            stem=stem,
            weight=max(math.log(1 + max(total_documents, 1) / (1 + count)) / max_weight, 0.05),
            is_known=count > 0,
        )
        for word, (stem, count) in stems_and_counts.items()
    )


def fuse_hits(
    hits_by_collector: Mapping[str, Sequence[PassageHit]], outlines: Sequence[OutlineHit] = ()
) -> list[FoundPassage]:
    """Returns all hits, best first by the weighted sum of their relative scores; ties by chunk id.

    `outlines`: the documents about the subject of the question; their passages score higher.
    """
    subject_scores = _relative_scores({outline.doc_id: outline.score for outline in outlines})
    hits: dict[ChunkId, PassageHit] = {hit.chunk_id: hit for ranked in hits_by_collector.values() for hit in ranked}
    scores = {chunk_id: _OUTLINE_WEIGHT * subject_scores.get(hit.doc_id, 0.0) for chunk_id, hit in hits.items()}
    collectors: dict[ChunkId, list[str]] = defaultdict(list)
    for name, ranked in hits_by_collector.items():
        collected = {hit.chunk_id: hit.score for hit in ranked}
        is_cosine = name == _COSINE_COLLECTOR
        weight = _COSINE_WEIGHT if is_cosine else 1.0
        collected_scores = _bounded_scores(collected) if is_cosine else _relative_scores(collected)
        # A hit outside the nearest ones may still be similar: it gets the lowest cosine instead of 0.
        default_score = min(collected_scores.values(), default=0.0) if is_cosine else 0.0
        for chunk_id in hits:
            scores[chunk_id] += weight * collected_scores.get(chunk_id, default_score)
            collectors[chunk_id] += [name] if chunk_id in collected_scores else []
    passages = [
        FoundPassage(hit=hit, score=scores[chunk_id], found_by=tuple(collectors[chunk_id]))
        for chunk_id, hit in hits.items()
    ]
    return sorted(passages, key=lambda passage: (-passage.score, passage.hit.chunk_id))


def merge_rankings(rankings: Sequence[tuple[float, Sequence[FoundPassage]]]) -> tuple[FoundPassage, ...]:
    """Merges rankings that found passages for the same question in different sets: by weighted sums of relative scores.

    `rankings`: each a weight and passages, best first. A passage keeps the score and text of the first ranking with it;
    ties are ordered by chunk id.
    """
    totals: dict[ChunkId, float] = defaultdict(float)
    passages = dict[ChunkId, FoundPassage]()
    for weight, ranking in rankings:
        by_chunk = {passage.hit.chunk_id: passage for passage in ranking}
        for chunk_id, score in _relative_scores({key: passage.score for key, passage in by_chunk.items()}).items():
            totals[chunk_id] += weight * score
            passages.setdefault(chunk_id, by_chunk[chunk_id])
    return tuple(sorted(passages.values(), key=lambda found: (-totals[found.hit.chunk_id], found.hit.chunk_id)))


def _relative_scores(scores: Mapping[IdT, float]) -> dict[IdT, float]:
    """Returns the scores relative to the best, from 0 to 1."""
    best = max(scores.values(), default=1.0) or 1.0
    return {key: max(score / best, 0.0) for key, score in scores.items()}


def _bounded_scores(cosines: Mapping[IdT, float]) -> dict[IdT, float]:
    """Returns the cosines from 0 to 1."""
    return {key: max(cosine, 0.0) for key, cosine in cosines.items()}


def rerank_passages(
    passages: Sequence[FoundPassage],
    query_terms: Sequence[QueryTerm],
    analysers: Mapping[BucketId, Analyser],
    reranker_scores: Sequence[float] | None = None,
) -> list[FoundPassage]:
    """Reranks the first 40 by their text, then by similarity to the best of them (pseudo-relevance feedback).

    The rest follow in their old order. Duplicates are dropped and neighbours joined. `reranker_scores` has the score of
    each of the first 40, where there is a reranker; then there is no feedback.
    """
    matchers, top_passages = matchers_by_bucket(query_terms, analysers), passages[:RERANKED_PASSAGES]
    reranker_bonuses = (
        [0.0] * len(top_passages)
        if reranker_scores is None
        else [RERANKER_WEIGHT * score for score in normalize_scores(reranker_scores)]
    )
    scored = [
        replace(
            passage,
            score=round(
                passage.score + relevance_of_hit(passage.hit, query_terms, matchers[passage.hit.bucket]) + bonus, 6
            ),
        )
        for passage, bonus in zip(top_passages, reranker_bonuses, strict=True)
    ]
    ordered = _drop_duplicates(sorted(scored, key=lambda passage: (-passage.score, passage.hit.chunk_id)))
    with_feedback = apply_relevance_feedback(ordered) if reranker_scores is None else ordered
    return _join_neighbours(_drop_duplicates([*with_feedback, *passages[RERANKED_PASSAGES:]]))


def matchers_by_bucket(
    query_terms: Sequence[QueryTerm], analysers: Mapping[BucketId, Analyser]
) -> Mapping[BucketId, StemMatcher]:
    """Returns a matcher for each bucket; buckets with the same analyser share one."""
    stems = frozenset(term.stem for term in query_terms)
    return {bucket: stem_matcher_for(stems, analyser) for bucket, analyser in analysers.items()}


def coverage_of_hit(hit: PassageHit, query_terms: Sequence[QueryTerm], matcher: StemMatcher) -> float:
    """Returns the share (0 to 1) of the question's weight that the passage and its title cover."""
    body = matched_share_of(query_terms, matcher.find_stems(hit.text))
    with_title = matched_share_of(query_terms, {**matcher.find_stems(hit.text), **matcher.find_stems(hit.title)})
    return body + _TITLE_WEIGHT * (with_title - body)


def coverage_beyond_title(hit: PassageHit, query_terms: Sequence[QueryTerm], matcher: StemMatcher) -> float:
    """Returns the share (0 to 1) that the passage's text covers of the question's weight without the title's words.

    It is 1 if the title covers the whole question.
    """
    title_stems = matcher.find_stems(hit.title)
    asked_terms = [term for term in query_terms if term.stem not in title_stems]
    return matched_share_of(asked_terms, matcher.find_stems(hit.text)) if asked_terms else 1.0


def _drop_duplicates(passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    seen_texts: set[str] = set()
    unique: list[FoundPassage] = []
    for passage in passages:
        text = " ".join(fold_text(passage.hit.text).split())
        if text not in seen_texts:
            seen_texts.add(text)
            unique.append(passage)
    return unique


def _join_neighbours(passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Joins two passages into one hit if they follow each other on a page and have similar scores."""
    joined: list[FoundPassage] = []
    joined_chunks: set[ChunkId] = set()  # hits that already consist of two passages
    places: dict[tuple[DocId, int | None], list[int]] = defaultdict(list)  # in `joined`, of each page
    for passage in passages:
        page = places[passage.hit.doc_id, passage.hit.page]
        index = next((i for i in page if _is_neighbour(joined[i], passage, joined_chunks)), None)
        if index is None:
            page.append(len(joined))
            joined.append(passage)
        else:
            joined_chunks.add(joined[index].hit.chunk_id)
            joined[index] = replace(joined[index], hit=_merge_hits(joined[index].hit, passage.hit))
    return joined


def _is_neighbour(better: FoundPassage, candidate: FoundPassage, joined_chunks: set[ChunkId]) -> bool:
    """Whether two passages of one page follow each other and have similar scores."""
    a, b = better.hit, candidate.hit
    if a.chunk_id in joined_chunks or candidate.score < _NEIGHBOUR_SCORE_SHARE * better.score:
        return False
    do_not_overlap = a.end <= b.start or b.end <= a.start
    return do_not_overlap and abs(_chunk_number_of(a.chunk_id) - _chunk_number_of(b.chunk_id)) == 1


def _chunk_number_of(chunk_id: ChunkId) -> int:
    return int(chunk_id.rpartition("#")[2])


def _merge_hits(better: PassageHit, other: PassageHit) -> PassageHit:
    """Returns one hit with the id of the better one. Only white space lies between two neighbours."""
    first, last = sorted((better, other), key=lambda hit: hit.start)
    text = first.text + "\n" * (last.start - first.end) + last.text
    return replace(better, start=first.start, end=last.end, text=text)
