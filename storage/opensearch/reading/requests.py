"""Answers requests within a scope: all of them in one round trip, with the generation of the buckets they describe."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cachetools import FIFOCache

from storage.embedder import Embedder, embed_queries
from storage.opensearch.catalogue import BucketCatalogue, BucketRegistryEntry, combine_generations
from storage.opensearch.connection import RequestRefused
from storage.opensearch.mapping import IndexLayout
from storage.opensearch.reading.aggregates import compute_aggregate
from storage.opensearch.reading.bucket_queries import BucketQuery, bucket_query_for
from storage.opensearch.reading.facets import compute_facet, find_nearest_values
from storage.opensearch.reading.merged_searches import SearchMerger
from storage.opensearch.reading.query_steps import (
    MixedStates,
    OpenSearchRequest,
    QuerySteps,
    build_search_request,
    count_matching_documents,
    run_side_by_side,
)
from storage.opensearch.reading.ranking import LargeIndexes, rank_by_outline, rank_by_terms, rank_by_vector
from storage.opensearch.reading.records import fetch_documents_by_id, load_record_page
from storage.opensearch.reading.spelling import suggest_similar_words
from storage.opensearch.reading.vocabulary import BucketVocabulary, load_bucket_vocabulary
from storage.opensearch.responses import OpenSearchResponse
from storage.search.errors import IndexTimedOut, InvalidCondition, NotInScope
from storage.search.ids import BucketId, Generation
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    IndexVocabulary,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    RecordPageRequest,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.plan import Search
from storage.search.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_MAX_TRIES = 20  # of a read that writes or schema changes overtake
_RETRY_PAUSE_S = 0.05
_INDEX_GONE = "index_not_found_exception"
_TOO_LARGE_ERRORS = frozenset({"too_many_clauses", "too_many_nested_clauses", "query_shard_exception"})
_MAX_CACHED_VOCABULARIES = 16


class _BucketStateChanged(Exception):
    """The responses do not belong to one known state of the buckets."""


@dataclass(frozen=True, kw_only=True)
class RequestCompiler:
    """Compiles index requests into query steps, for the layouts known at the moment."""

    scope: Scope
    layouts: Mapping[BucketId, IndexLayout]  # of the scope's buckets
    embedder_name: str
    vectors: "Mapping[str, NDArray[np.float32]]"
    asks_each_index: bool = False  # no search names several indexes
    large_indexes: LargeIndexes = field(default_factory=dict[str, set[str]])  # known so far

    def compile_request(self, request: IndexRequest[object]) -> QuerySteps[Any]:
        """Returns the steps of a request.

        Raises `NotInScope`, `UnknownField` and `InvalidCondition`, here or when the steps start.
        """
        match request:
            case CountRequest(search=search):
                return count_matching_documents(
                    [
                        build_search_request(bucket_query.index, bucket_query.documents_query)
                        for bucket_query in self._bucket_queries_for(search)
                    ]
                )
            case FacetRequest(search=search):
                return compute_facet(self._bucket_queries_for(search), request)
            case AggregateRequest(search=search):
                return compute_aggregate(self._bucket_queries_for(search), request)
            case NearestValueRequest(search=search):
                return find_nearest_values(self._bucket_queries_for(search), request.field, request.value)
            case KeywordPassageRequest(search=search):
                return rank_by_terms(
                    self._bucket_queries_for(search),
                    request.text,
                    request.limit,
                    large_indexes=self.large_indexes,
                    asks_each_index=self.asks_each_index,
                )
            case SemanticPassageRequest(search=search):
                return rank_by_vector(
                    self._bucket_queries_for(search),
                    self.embedder_name,
                    self.vectors.get(request.text),
                    request.limit,
                    asks_each_index=self.asks_each_index,
                )
            case OutlineRequest(search=search):
                return rank_by_outline(
                    self._bucket_queries_for(search),
                    request.text,
                    request.limit,
                    asks_each_index=self.asks_each_index,
                )
            case RecordPageRequest(search=search):
                return load_record_page(self._bucket_queries_for(search), request)
            case SpellingRequest(buckets=buckets):
                return suggest_similar_words(
                    [self._layout_in_scope(bucket) for bucket in sorted(buckets)], self.scope, request
                )
            case DocumentRequest(doc_ids=doc_ids):
                return fetch_documents_by_id(
                    list(self.layouts.values()), self.scope, doc_ids, asks_each_index=self.asks_each_index
                )
            case _:
                raise TypeError(f"{type(request).__name__} is not a request of this index")

    def _layout_in_scope(self, bucket: BucketId) -> IndexLayout:
        """Returns the layout of a bucket; every access to a bucket goes through here.

        A bucket that does not exist is not in scope either.
        """
        if bucket not in self.layouts:
            raise NotInScope(bucket)
        return self.layouts[bucket]

    def _bucket_queries_for(self, search: Search) -> list[BucketQuery]:
        return [bucket_query_for(clause, self._layout_in_scope(clause.bucket), self.scope) for clause in search.clauses]


@dataclass(kw_only=True)
class IndexReader:
    catalogue: BucketCatalogue
    embedder: Embedder | None
    cached_vocabularies: FIFOCache[tuple[Scope, int], IndexVocabulary] = field(
        default_factory=lambda: FIFOCache(_MAX_CACHED_VOCABULARIES)
    )
    asks_each_index: bool = False  # no search names several indexes
    merger: SearchMerger = field(default_factory=SearchMerger)
    large_indexes: LargeIndexes = field(default_factory=dict[str, set[str]])  # that rankings have found so far

    @property
    def known_layouts(self) -> Mapping[BucketId, IndexLayout]:
        """The layouts that this process loaded last."""
        return self.catalogue.layouts

    async def load_layouts(self) -> Mapping[BucketId, IndexLayout]:
        """Returns the layouts of all buckets."""
        await self.catalogue.reload_layouts()
        return self.catalogue.layouts

    async def answer_requests(self, scope: Scope, requests: Sequence[IndexRequest[object]]) -> IndexAnswers:
        distinct_requests = list(dict.fromkeys(requests))
        queries = await embed_queries(
            self.embedder,
            [request.text for request in distinct_requests if isinstance(request, SemanticPassageRequest)],
        )

        def compile_all_requests(layouts: Mapping[BucketId, IndexLayout]) -> list[QuerySteps[Any]]:
            embedder_name = self.embedder.name if self.embedder else ""
            compiler = RequestCompiler(
                scope=scope,
                layouts=layouts,
                embedder_name=embedder_name,
                vectors=queries.vectors,
                asks_each_index=self.asks_each_index,
                large_indexes=self.large_indexes,
            )
            return [compiler.compile_request(request) for request in distinct_requests]

        generation, results = await self.read_consistent_state(scope.buckets, compile_all_requests)
        answers = dict(zip(distinct_requests, results, strict=True))
        return IndexAnswers(generation, answers, embedding_failure=queries.failure)

    async def load_cached_vocabulary(self, scope: Scope, limit: int) -> IndexVocabulary:
        cached = self.cached_vocabularies.get((scope, limit))
        if cached is not None and cached.generation == (await self.answer_requests(scope, ())).generation:
            return cached

        def vocabulary_steps_for(
            layouts: Mapping[BucketId, IndexLayout],
        ) -> list[QuerySteps[tuple[IndexLayout, BucketVocabulary]]]:
            return [
                _pair_with_layout(layout, load_bucket_vocabulary(layout, scope, limit)) for layout in layouts.values()
            ]

        generation, bucket_vocabularies = await self.read_consistent_state(
            scope.buckets, vocabulary_steps_for, merges=False
        )
        vocabulary = IndexVocabulary(
            generation=generation,
            fields=tuple(vocabulary_field for _, (_, fields, _) in bucket_vocabularies for vocabulary_field in fields),
            document_counts={layout.bucket: document_count for layout, (document_count, _, _) in bucket_vocabularies},
            titles={layout.bucket: titles for layout, (_, _, titles) in bucket_vocabularies},
            schemas={layout.bucket: layout.schema for layout, _ in bucket_vocabularies},
        )
        self.cached_vocabularies[scope, limit] = vocabulary
        return vocabulary

    async def read_consistent_state(
        self,
        buckets: frozenset[BucketId],
        steps_for: Callable[[Mapping[BucketId, IndexLayout]], list[QuerySteps[T]]],
        *,
        merges: bool = True,
    ) -> tuple[Generation, list[T]]:
        """Returns the results of the steps in one state of these buckets; reads again if the state changed meanwhile.

        `merges`: as few searches as possible. Searches for all values of many fields are faster side by side.
        Raises `IndexTimedOut` if the state changes at every try.
        """
        for attempt in range(_MAX_TRIES):
            layouts = {bucket: layout for bucket, layout in self.catalogue.layouts.items() if bucket in buckets}
            try:
                return await self._run_query_steps(buckets, layouts, steps_for, merges=merges)
            except (InvalidCondition, NotInScope):
                # The known schema may be out of date, rather than the request wrong.
                await self.catalogue.reload_layouts()
                if all(self.catalogue.layouts.get(bucket) == layouts.get(bucket) for bucket in buckets):
                    raise
            except (_BucketStateChanged, MixedStates):
                await self.catalogue.reload_layouts()
            if attempt == _MAX_TRIES // 2:
                await self.catalogue.repair_registry(
                    [layout for bucket, layout in self.catalogue.layouts.items() if bucket in buckets]
                )
            elif attempt:
                await self.catalogue.connection.pause_with_jitter(_RETRY_PAUSE_S)
        raise IndexTimedOut(self.catalogue.connection.location)

    async def _run_query_steps(
        self,
        buckets: frozenset[BucketId],
        layouts: Mapping[BucketId, IndexLayout],
        steps_for: Callable[[Mapping[BucketId, IndexLayout]], list[QuerySteps[T]]],
        *,
        merges: bool,
    ) -> tuple[Generation, list[T]]:
        entries: dict[BucketId, BucketRegistryEntry] | None = None
        steps = run_side_by_side(steps_for(layouts))
        try:
            searches = next(steps)
            while True:
                current_entries, responses = await self._make_round_trip(buckets, layouts, searches, merges=merges)
                if entries is not None and current_entries != entries:
                    raise _BucketStateChanged
                entries = current_entries
                searches = steps.send(responses)
        except StopIteration as stop:
            if entries is None:  # no step made a search
                entries, _ = await self._make_round_trip(buckets, layouts, [], merges=False)
            return combine_generations(entries), cast(list[T], stop.value)

    async def _make_round_trip(
        self,
        buckets: frozenset[BucketId],
        layouts: Mapping[BucketId, IndexLayout],
        searches: Sequence[OpenSearchRequest],
        *,
        merges: bool,
    ) -> tuple[dict[BucketId, BucketRegistryEntry], list[OpenSearchResponse]]:
        """Send all searches in one round trip.

        Reads the registry first, so that its generation is never newer than the hits.
        """
        if not buckets:
            return {}, []
        try:
            all_searches = [self.catalogue.registry_search_for(buckets), *searches]
            registry, *responses = (
                await self.merger.send_merged(self.catalogue.run_multi_search, all_searches, across_indexes=True)
                if merges
                else await self.catalogue.run_multi_search(all_searches)
            )
        except RequestRefused as exc:
            if exc.error_type == _INDEX_GONE:
                raise _BucketStateChanged from exc
            raise_if_too_large(exc)
            raise
        entries = self.catalogue.parse_registry_entries(registry)
        if {bucket: entry.layout_digest for bucket, entry in entries.items()} != {
            bucket: layout.layout_digest for bucket, layout in layouts.items()
        }:
            raise _BucketStateChanged
        return entries, responses


def raise_if_too_large(refusal: RequestRefused) -> None:
    """Raises `InvalidCondition` if the server refused a condition for its size."""
    if refusal.error_type in _TOO_LARGE_ERRORS:
        raise InvalidCondition(f"the condition is too large for the index ({refusal.reason})") from refusal


def _pair_with_layout(layout: IndexLayout, steps: QuerySteps[T]) -> QuerySteps[tuple[IndexLayout, T]]:
    result = yield from steps
    return layout, result
