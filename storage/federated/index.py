"""Federation of two indexes into one: a large main index, and a small secondary index of the same reader."""

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, assert_never, cast

from storage.federated import answer_merging, rank_merge
from storage.federated.page_merging import merge_pages
from storage.federated.request_steps import RequestSteps, SearchHalves, StepAnswers, StepRequests
from storage.search.analyser import Analyser
from storage.search.errors import IndexTimedOut, NotInScope, SnapshotGone
from storage.search.evaluation.semi_join_resolution import answer_with_semi_joins
from storage.search.ids import BucketId, Generation
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    IndexSnapshot,
    IndexVocabulary,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    RecordPageRequest,
    ScopedIndex,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.schema import Schema
from storage.search.scope import Scope

A = TypeVar("A")
B = TypeVar("B")
_SetRequest: TypeAlias = (
    CountRequest
    | FacetRequest
    | AggregateRequest
    | NearestValueRequest
    | KeywordPassageRequest
    | SemanticPassageRequest
    | OutlineRequest
    | RecordPageRequest
)
_MAX_ATTEMPTS = 20  # of requests with several steps, which start again if an index changes between them


def federate_indexes(main: ScopedIndex, secondary: ScopedIndex) -> ScopedIndex:
    """Returns an index over the documents of both, within the scope of `main` and the buckets of `secondary`.

    `secondary` is small. The two have no bucket and no document id in common. No field of `secondary` is `shared`, and
    its vectors are of the same embedder.

    Sets, counts, sums, medians, pages and cosines are the same as those of one index. Two things differ: a group of
    numbers that the two indexes write differently ("Acme", "ACME") has the name from the index with more documents, and
    the scores by words of `secondary` are scaled to those of `main` (see `rank_merge`).

    A request costs one round trip to each index, both at the same time. A median of groups in both indexes costs one
    more, and so do outlines without a summary. Such a median counts every distinct value of the field, which is slow if
    there are many. Both indexes are asked for every request, since the generation combines the generations of both.
    """
    return _FederatedIndex(main, secondary)


class _IndexChanged(Exception):
    """An index changed between two steps of the requests."""


class _FederatedIndex:
    """Implements `ScopedIndex`."""

    def __init__(self, main: ScopedIndex, secondary: ScopedIndex) -> None:
        self._main, self._secondary = main, secondary

    @property
    def scope(self) -> Scope:
        main_scope = self._main.scope
        return replace(main_scope, buckets=main_scope.buckets | self._secondary.scope.buckets)

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        # An inner set may be in the other index than its outer set.
        return await answer_with_semi_joins(requests, self.scope, self._answer_plain_requests, self.load_schemas)

    async def _answer_plain_requests(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        distinct_requests = list(dict.fromkeys(requests))
        for _ in range(_MAX_ATTEMPTS):
            try:
                return await self._run_all_steps(distinct_requests)
            except _IndexChanged:
                continue
        raise IndexTimedOut("two places")

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        main_vocabulary, secondary_vocabulary = await _gather_both(
            self._main.load_vocabulary(limit), self._secondary.load_vocabulary(limit)
        )
        return IndexVocabulary(
            generation=_combine_generations(main_vocabulary.generation, secondary_vocabulary.generation),
            fields=tuple(
                sorted((*main_vocabulary.fields, *secondary_vocabulary.fields), key=lambda field: field.bucket)
            ),
            document_counts=dict(
                sorted((*main_vocabulary.document_counts.items(), *secondary_vocabulary.document_counts.items()))
            ),
            titles={**main_vocabulary.titles, **secondary_vocabulary.titles},
            schemas={**main_vocabulary.schemas, **secondary_vocabulary.schemas},
        )

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        main_schemas, secondary_schemas = await _gather_both(self._main.load_schemas(), self._secondary.load_schemas())
        return {**main_schemas, **secondary_schemas}

    def analyser_for(self, bucket: BucketId) -> Analyser:
        return (self._secondary if bucket in self._secondary.scope.buckets else self._main).analyser_for(bucket)

    @asynccontextmanager
    async def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> AsyncGenerator["_FederatedSnapshot"]:
        main_token, secondary_token = (None, None) if token is None else _parse_token(token)
        async with (
            self._main.open_snapshot(buckets, main_token) as main,
            self._secondary.open_snapshot(buckets, secondary_token) as secondary,
        ):
            yield _FederatedSnapshot(main, secondary)

    async def _run_all_steps(self, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        steps = {request: self._steps_for(request) for request in requests}
        pending = {request: next(generator) for request, generator in steps.items()}
        answers, generation, embedding_failure = dict[IndexRequest[object], object](), None, ""
        while pending or generation is None:
            step_answers = await self._ask_both_indexes(pending)
            failures = (step_answers.main.embedding_failure, step_answers.secondary.embedding_failure)
            embedding_failure = next(filter(None, (embedding_failure, *failures)), "")
            current_generation = _combine_generations(step_answers.main.generation, step_answers.secondary.generation)
            if generation not in (None, current_generation):
                raise _IndexChanged
            generation, next_pending = current_generation, dict[IndexRequest[object], StepRequests]()
            for request in pending:
                try:
                    next_pending[request] = steps[request].send(step_answers)
                except StopIteration as stop:
                    answers[request] = stop.value
            pending = next_pending
        return IndexAnswers(generation, answers, embedding_failure=embedding_failure)

    async def _ask_both_indexes(self, pending: Mapping[IndexRequest[object], StepRequests]) -> StepAnswers:
        """Send the requests of one step, in one round trip to each index."""
        main_requests = [request for step_requests in pending.values() for request in step_requests.main]
        secondary_requests = [request for step_requests in pending.values() for request in step_requests.secondary]
        both_answers = _gather_both(
            self._main.answer_requests(*main_requests), self._secondary.answer_requests(*secondary_requests)
        )
        if not any(step_requests.needs_schemas for step_requests in pending.values()):
            main_answers, secondary_answers = await both_answers
            return StepAnswers(
                main=main_answers, secondary=secondary_answers, schemas={}, analyser_for=self.analyser_for
            )
        (main_answers, secondary_answers), schemas = await _gather_both(both_answers, self.load_schemas())
        return StepAnswers(
            main=main_answers, secondary=secondary_answers, schemas=schemas, analyser_for=self.analyser_for
        )

    def _steps_for(self, request: IndexRequest[object]) -> RequestSteps[object]:
        """Return the steps of a request. Raises `NotInScope` for a bucket of neither index."""
        match request:
            case DocumentRequest():
                return answer_merging.merge_documents(request)
            case SpellingRequest(buckets=buckets):
                main_part, secondary_part = (
                    frozenset(filter(self._is_main_bucket, buckets)),
                    frozenset(filter(self._is_secondary_bucket, buckets)),
                )
                if main_part and secondary_part:
                    return answer_merging.merge_spellings(
                        replace(request, buckets=main_part), replace(request, buckets=secondary_part)
                    )
                return _ask_one_index(request, is_main=not secondary_part)
            case (
                CountRequest(search=search)
                | FacetRequest(search=search)
                | AggregateRequest(search=search)
                | NearestValueRequest(search=search)
                | KeywordPassageRequest(search=search)
                | SemanticPassageRequest(search=search)
                | OutlineRequest(search=search)
                | RecordPageRequest(search=search)
            ):
                main_part = [clause for clause in search.clauses if self._is_main_bucket(clause.bucket)]
                secondary_part = [clause for clause in search.clauses if self._is_secondary_bucket(clause.bucket)]
                if not main_part or not secondary_part:
                    return _ask_one_index(request, is_main=not secondary_part)
                halves = SearchHalves(
                    whole=search, main=search.with_clauses(*main_part), secondary=search.with_clauses(*secondary_part)
                )
                return self._merging_steps_for(request, halves)
            case _:
                raise TypeError(f"{type(request).__name__} is not a request of this index")

    def _merging_steps_for(self, request: _SetRequest, halves: SearchHalves) -> RequestSteps[object]:
        match request:
            case CountRequest():
                return answer_merging.merge_counts(halves)
            case FacetRequest():
                return answer_merging.refuse_facet(halves, request)
            case AggregateRequest():
                return answer_merging.merge_aggregates(halves, request)
            case NearestValueRequest():
                return answer_merging.merge_nearest_values(halves, request)
            case KeywordPassageRequest():
                return rank_merge.merge_keyword_passages(
                    halves, request, self.analyser_for(halves.secondary.buckets[0])
                )
            case SemanticPassageRequest():
                return rank_merge.merge_semantic_passages(halves, request)
            case OutlineRequest():
                return rank_merge.merge_outlines(halves, request, self.analyser_for(halves.secondary.buckets[0]))
            case RecordPageRequest():
                return merge_pages(halves, request)
            case _:
                assert_never(request)

    def _is_main_bucket(self, bucket: BucketId) -> bool:
        """Whether the bucket is one of the main index. Raises `NotInScope` for a bucket of neither index."""
        if self._is_secondary_bucket(bucket):
            return False
        if bucket not in self._main.scope.buckets:
            raise NotInScope(bucket)
        return True

    def _is_secondary_bucket(self, bucket: BucketId) -> bool:
        return bucket in self._secondary.scope.buckets


class _FederatedSnapshot(_FederatedIndex):
    """Implements `IndexSnapshot`."""

    def __init__(self, main: IndexSnapshot, secondary: IndexSnapshot) -> None:
        super().__init__(main, secondary)
        self._token = json.dumps([main.token, secondary.token])

    @property
    def token(self) -> str:
        return self._token


def _parse_token(token: str) -> tuple[str, str]:
    """Raises `SnapshotGone` for a token that is none of a federated index."""
    try:
        main_token, secondary_token = cast(tuple[object, object], json.loads(token))
    except (ValueError, TypeError) as exc:
        raise SnapshotGone from exc
    if not isinstance(main_token, str) or not isinstance(secondary_token, str):
        raise SnapshotGone
    return main_token, secondary_token


def _ask_one_index(request: IndexRequest[object], *, is_main: bool) -> RequestSteps[object]:
    """Ask one index, and return its answer unchanged."""
    if is_main:
        answers = yield StepRequests(main=(request,))
        return answers.main[request]
    answers = yield StepRequests(secondary=(request,))
    return answers.secondary[request]


def _combine_generations(main: Generation, secondary: Generation) -> Generation:
    return Generation(f"{main}+{secondary}")


async def _gather_both(
    first_coroutine: Coroutine[Any, Any, A], second_coroutine: Coroutine[Any, Any, B]
) -> tuple[A, B]:
    """Await both at the same time. Raises the exception of the first that fails."""
    try:
        async with asyncio.TaskGroup() as group:
            first, second = group.create_task(first_coroutine), group.create_task(second_coroutine)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return first.result(), second.result()
