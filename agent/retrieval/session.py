"""Read-only access to the index and the reranker during one turn, with a record of every attempt.

`RetrievalSession` gets an index that is limited to a scope; it can reach nothing else.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from agent.errors import RerankerUnavailable
from agent.outcome import FoundPassage, SearchAttempt, SearchRoute, SearchTrace, TraceStage
from agent.reasoning_log import collect_calls_in
from agent.retrieval.fusion import rerank_passages
from agent.retrieval.relevance import QueryTerm
from agent.retrieval.search_context import SearchContext
from storage.search.analyser import Analyser
from storage.search.codec import search_to_json
from storage.search.ids import BucketId, ChunkId
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    KeywordPassageRequest,
    OutlineHit,
    OutlineRequest,
    PassageHit,
    RecordPage,
    RecordPageRequest,
    SemanticPassageRequest,
)

_TOOL_BY_REQUEST: Mapping[type, str] = {
    RecordPageRequest: "annotations_search",
    CountRequest: "annotations_search",
    AggregateRequest: "annotations_aggregate",
    FacetRequest: "annotations_aggregate",
    KeywordPassageRequest: "search_text",
    OutlineRequest: "search_text",
    SemanticPassageRequest: "search_semantic",
}
_EMBED_STAGE, _RERANK_STAGE = "embed", "rerank"
_MAX_ATTEMPTS = 40  # recorded in one turn; counting many refinements is one attempt


RankingInput: TypeAlias = tuple[tuple[FoundPassage, ...], tuple[QueryTerm, ...], tuple[float, ...] | None]


@dataclass(slots=True)
class RetrievalSession:
    """The index within the scope of the turn, the reranker, and the requests made of them."""

    context: SearchContext
    reasoner_name: str
    attempts: list[SearchAttempt] = field(default_factory=list[SearchAttempt])
    stages: list[TraceStage] = field(default_factory=list[TraceStage])
    round_trips: int = 0
    index_ms: float = 0.0
    sub_queries: tuple[str, ...] = ()  # whose rankings were fused: the whole question first; empty: only that one
    # All passages found, and of those near a query in meaning the cosine with it, by query
    candidates: set[ChunkId] = field(default_factory=set[ChunkId])
    cosines_by_query: dict[str, dict[ChunkId, float]] = field(default_factory=dict[str, dict[ChunkId, float]])
    known_answers: IndexAnswers | None = None  # of the turn so far, all in one state of the index
    likely_requests: list[IndexRequest[object]] = field(default_factory=list[IndexRequest[object]])
    # What was ranked before in this turn: several stages read the same passages
    known_rankings: dict[RankingInput, Sequence[FoundPassage]] = field(
        default_factory=dict[RankingInput, Sequence[FoundPassage]]
    )

    async def ask_index(
        self, requests: Sequence[IndexRequest[object]], record: Sequence[IndexRequest[object]] = ()
    ) -> IndexAnswers:
        """Returns the answers to all requests, in one state of the index; `record`: those recorded as attempts.

        Takes one round trip for the requests that this turn has not made yet, and none if there are none. If the index
        has changed since, another one for the others.
        """
        started = time.perf_counter()
        answers = await self._answer_new_requests(tuple(dict.fromkeys(requests)))
        ms = (time.perf_counter() - started) * 1000
        self._record_embedding_failure(answers.embedding_failure)
        self._collect_candidates(requests, answers)
        for request in record:
            self.record_attempt(_build_attempt(request, answers, ms))
        return answers

    def ask_with_next(self, requests: Iterable[IndexRequest[object]]) -> None:
        """Sends requests that will likely be made later along with the next round trip, if there is one."""
        self.likely_requests += requests

    async def _answer_new_requests(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        known = self.known_answers
        new_requests = [request for request in requests if known is None or request not in known]
        if known is not None and not new_requests:
            return known
        likely_requests = [request for request in self.likely_requests if known is None or request not in known]
        self.likely_requests.clear()
        answers = await self._make_round_trip(tuple(dict.fromkeys((*new_requests, *likely_requests))))
        if known is not None and answers.generation != known.generation:
            if len(new_requests) < len(requests):
                answers = await self._make_round_trip(requests)
            known = None
        answers = answers if known is None else known.join_answers(answers)
        # A text that could not be embedded is tried again.
        self.known_answers = known if answers.embedding_failure else answers
        return answers

    async def _make_round_trip(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        started = time.perf_counter()
        with collect_calls_in(self.context.reasoning_log):  # an index may embed the texts of requests by a model
            answers = await self.context.index.answer_requests(*requests)
        self.round_trips += 1
        self.index_ms += (time.perf_counter() - started) * 1000
        return answers

    def _record_embedding_failure(self, failure: str) -> None:
        """Records once why passages were sought by words alone. The time is part of the round trip's."""
        if failure and all(stage.name != _EMBED_STAGE for stage in self.stages):
            self.stages.append(TraceStage(name=_EMBED_STAGE, ms=0.0, fallback=f"words: {failure}"))

    def record_attempt(self, attempt: SearchAttempt) -> None:
        """Records and reports an attempt; beyond the first ones of a turn, attempts are not kept."""
        if len(self.attempts) < _MAX_ATTEMPTS:
            self.attempts.append(attempt)
            self.context.report_attempt(attempt)

    def _collect_candidates(self, requests: Sequence[IndexRequest[object]], answers: IndexAnswers) -> None:
        for request in requests:
            if not isinstance(request, (KeywordPassageRequest, SemanticPassageRequest)):
                continue
            hits = answers[request]
            self.candidates.update(hit.chunk_id for hit in hits)
            if isinstance(request, SemanticPassageRequest) and self.context.uses_index_cosines:
                cosines = self.cosines_by_query.setdefault(request.text, {})
                cosines.update((hit.chunk_id, hit.score) for hit in hits)

    def rank_passages(
        self,
        passages: Sequence[FoundPassage],
        query_terms: Sequence[QueryTerm],
        analysers: Mapping[BucketId, Analyser],
        reranker_scores: Sequence[float] | None,
    ) -> list[FoundPassage]:
        """Returns what `rerank_passages` does; each ranking is made once in a turn. The analysers are those of it."""
        key = (tuple(passages), tuple(query_terms), None if reranker_scores is None else tuple(reranker_scores))
        if key not in self.known_rankings:
            self.known_rankings[key] = rerank_passages(passages, query_terms, analysers, reranker_scores)
        return list(self.known_rankings[key])

    async def rerank_scores(self, question: str, passages: Sequence[FoundPassage]) -> Sequence[float] | None:
        """Returns the reranker's score of each passage, read with its title, in order.

        Returns None where there is no reranker, or where it fails or times out. After that it is not called again in
        this turn.
        """
        reranker = self.context.reranker
        has_failed = any(stage.name == _RERANK_STAGE and stage.fallback for stage in self.stages)
        if reranker is None or has_failed or len(passages) < 2:
            return None
        started = time.perf_counter()
        scores, fallback = None, None
        try:
            async with asyncio.timeout(self.context.limits.reranking_timeout.total_seconds()):
                with collect_calls_in(self.context.reasoning_log):
                    scores = await reranker.score_passages(
                        question, [f"{passage.hit.title}\n{passage.hit.text}" for passage in passages]
                    )
        except TimeoutError:
            fallback = "rule: the reranker is late"
        except RerankerUnavailable:
            fallback = "rule: the reranker is unavailable"
        self.record_stage(_RERANK_STAGE, started, fallback)
        return scores

    def record_stage(self, name: str, started: float, fallback: str | None = None) -> None:
        """Records a stage that began at `started` (from `time.perf_counter`); also why rules took it over, if so."""
        fallback = fallback or self.context.reasoning_log.fallbacks.get(name)
        stage = TraceStage(name=name, ms=(time.perf_counter() - started) * 1000, fallback=fallback)
        self.stages.append(stage)
        self.context.reasoning_log.stages.append(stage)

    def build_trace(self, route: SearchRoute) -> SearchTrace:
        """The trace so far. Its reasoner is `rule` unless a model answered."""
        return SearchTrace(
            route=route,
            attempts=tuple(self.attempts),
            stages=tuple(self.stages),
            reasoner=self.reasoner_name if self.context.reasoning_log.used_model else "rule",
            round_trips=self.round_trips,
            index_ms=self.index_ms,
            candidate_count=len(self.candidates),
            sub_queries=self.sub_queries,
            model_usage=self.context.reasoning_log.usage,
        )


def _build_attempt(request: IndexRequest[object], answers: IndexAnswers, ms: float) -> SearchAttempt:
    search = getattr(request, "search", None)
    arguments: dict[str, object] = {} if search is None else {"filters": search_to_json(search)["clauses"]}
    result = answers[request]
    match request:
        case KeywordPassageRequest(text=text, limit=limit) | SemanticPassageRequest(text=text, limit=limit):
            arguments |= {"query": text, "top_k": limit}
        case OutlineRequest(text=text, limit=limit):
            arguments |= {"query": text, "top_k": limit, "level": "summary"}
        case AggregateRequest(field=name):
            arguments |= {"field": name}
        case _:
            pass
    return SearchAttempt(
        tool=_TOOL_BY_REQUEST[type(request)], arguments=arguments, documents=_count_documents(result), ms=round(ms, 2)
    )


def _count_documents(result: object) -> int:
    if isinstance(result, bool) or not isinstance(result, (int, tuple, RecordPage)):
        return 0
    if isinstance(result, int):
        return result
    if isinstance(result, RecordPage):
        return len(result.records)
    hits = cast(tuple[object, ...], result)
    return len({hit.doc_id if isinstance(hit, (PassageHit, OutlineHit)) else index for index, hit in enumerate(hits)})
