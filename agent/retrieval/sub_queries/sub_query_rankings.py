"""Ranks passages by the topics of a question too, where the question has several: else one topic crowds out the other.

Parts of a question are topics of their own if they find different documents, and if no passage holds nearly all of the
question. Then the best relative score by a topic is added to the score by the whole question. Figures are in
docs/eval.md. The sum of the rankings, a factor for passages in several of them, and reciprocal rank fusion rank worse.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from agent.outcome import FoundPassage
from agent.retrieval.fusion import coverage_of_hit, fuse_hits, matchers_by_bucket, rerank_passages
from agent.retrieval.ranking_terms import content_words_of
from agent.retrieval.relevance import QueryTerm
from agent.retrieval.sub_queries.topic_splitting import split_topics
from storage.search.analyser import Analyser
from storage.search.ids import BucketId, ChunkId
from storage.search.index import IndexAnswers, KeywordPassageRequest, SemanticPassageRequest
from storage.search.plan import Search

_TOPIC_WEIGHT = 0.4  # of the best relative score by a topic; the whole question has 1 by terms and 0.6 by meaning
_MIN_BEST_SHARE = 0.6  # of the best score of a topic, for a passage to count as one of its best
_JUDGED_PASSAGES = 5  # the best ones of the whole question
_MAX_COVERAGE = 0.75  # share of the question's weight that one of them may hold


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQueryRequests:
    """A part of a question, and the requests for its passages by collector."""

    text: str
    passage_requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest]


def build_sub_query_requests(
    question: str, search: Search, analyser: Analyser, limit: int
) -> tuple[SubQueryRequests, ...]:
    """Returns the requests for the parts of the question in the set of `search`; none for a question without joints."""
    topics = split_topics(question, lambda text: content_words_of(text, analyser))[1:]
    return tuple(
        SubQueryRequests(
            text=topic,
            passage_requests={
                "text": KeywordPassageRequest(search, " ".join(content_words_of(topic, analyser)), limit),
                "semantic": SemanticPassageRequest(search, topic, limit),
            },
        )
        for topic in topics
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQueryFusion:
    """Fuses the rankings by the parts of a question with the ranking by the whole question."""

    question: str
    sub_queries: Sequence[SubQueryRequests]
    query_terms: Sequence[QueryTerm]  # of the whole question
    analysers: Mapping[BucketId, Analyser]

    def fuse_rankings(self, passages: Sequence[FoundPassage], answers: IndexAnswers) -> list[FoundPassage] | None:
        """Returns all passages, best first, each with the queries that found it; None if there is only one topic.

        `passages`: those of the whole question, best first. Ties are ordered by chunk id.
        """
        rankings = [rank_sub_query(sub_query, answers) for sub_query in self.sub_queries]
        if not _find_different_documents(rankings) or self._has_complete_passage(passages):
            return None
        return _fuse_with_topics(self.question, passages, zip(self.sub_queries, rankings, strict=True))

    def _has_complete_passage(self, passages: Sequence[FoundPassage]) -> bool:
        """Whether one of the best passages holds nearly all of the question."""
        best = rerank_passages(passages, self.query_terms, self.analysers)[:_JUDGED_PASSAGES]
        matchers = matchers_by_bucket(self.query_terms, self.analysers)
        return any(
            coverage_of_hit(passage.hit, self.query_terms, matchers[passage.hit.bucket]) >= _MAX_COVERAGE
            for passage in best
        )


def build_probe_requests(probes: Sequence[str], search: Search, limit: int) -> tuple[SubQueryRequests, ...]:
    """Returns the requests for further ranking texts of a leg in the set of `search`."""
    return tuple(
        SubQueryRequests(
            text=probe,
            passage_requests={
                "text": KeywordPassageRequest(search, probe, limit),
                "semantic": SemanticPassageRequest(search, probe, limit),
            },
        )
        for probe in probes
    )


def add_probe_rankings(
    question: str, passages: Sequence[FoundPassage], probes: Sequence[SubQueryRequests], answers: IndexAnswers
) -> list[FoundPassage]:
    """Returns the passages of the question and of its probes, best first, each with the queries that found it."""
    rankings = [rank_sub_query(probe, answers) for probe in probes]
    return _fuse_with_topics(question, passages, zip(probes, rankings, strict=True))


def rank_sub_query(sub_query: SubQueryRequests, answers: IndexAnswers) -> list[FoundPassage]:
    """Returns the passages that one sub-query finds, best first."""
    return fuse_hits({name: answers[request] for name, request in sub_query.passage_requests.items()})


def _fuse_with_topics(
    question: str,
    passages: Sequence[FoundPassage],
    rankings: Iterable[tuple[SubQueryRequests, Sequence[FoundPassage]]],
) -> list[FoundPassage]:
    fused = {passage.hit.chunk_id: replace(passage, found_for=passage.found_for or (question,)) for passage in passages}
    topic_scores = dict.fromkeys(fused, 0.0)
    for sub_query, ranking in rankings:
        for passage in ranking:
            chunk_id, relative_score = passage.hit.chunk_id, passage.score / (ranking[0].score or 1.0)
            fused[chunk_id] = _add_query(fused.get(chunk_id), passage, sub_query.text)
            topic_scores[chunk_id] = max(topic_scores.get(chunk_id, 0.0), relative_score)
    return _add_topic_scores(fused, topic_scores)


def _find_different_documents(rankings: Sequence[Sequence[FoundPassage]]) -> bool:
    """Whether no two rankings have a document in common among their best passages."""
    documents = [
        {passage.hit.doc_id for passage in ranking if passage.score >= _MIN_BEST_SHARE * ranking[0].score}
        for ranking in rankings
    ]
    return all(documents) and not any(first & second for first, second in combinations(documents, 2))


def _add_query(known: FoundPassage | None, passage: FoundPassage, sub_query: str) -> FoundPassage:
    """Returns the passage with `sub_query` among its queries; with score 0 if the whole question did not find it."""
    if known is None:
        return replace(passage, score=0.0, found_for=(sub_query,))
    found_by = tuple(dict.fromkeys((*known.found_by, *passage.found_by)))
    return replace(known, found_by=found_by, found_for=(*known.found_for, sub_query))


def _add_topic_scores(
    passages: Mapping[ChunkId, FoundPassage], topic_scores: Mapping[ChunkId, float]
) -> list[FoundPassage]:
    scored = [
        replace(passage, score=passage.score + _TOPIC_WEIGHT * topic_scores[chunk_id])
        for chunk_id, passage in passages.items()
    ]
    return sorted(scored, key=lambda passage: (-passage.score, passage.hit.chunk_id))
