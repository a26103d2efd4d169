"""Evaluation of requests within one read transaction and one scope."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from storage.embedded.bucket_snapshot import BucketSnapshot, IndexState, LruCache, SnapshotCache
from storage.embedded.columns import Mask
from storage.embedded.reading.aggregates import compute_aggregates
from storage.embedded.reading.condition_masks import EmbeddedBucketReader
from storage.embedded.reading.facets import compute_facet, find_nearest_values
from storage.embedded.reading.outlines import rank_outlines
from storage.embedded.reading.ranking import read_hits, score_by_terms, score_by_vector, select_best
from storage.embedded.reading.records import RecordOrder, fetch_documents, order_records, read_page
from storage.embedded.reading.spelling import suggest_spellings
from storage.embedded.reading.vocabulary import field_vocabularies_of, visible_titles_of
from storage.search.analyser import Analyser
from storage.search.errors import NotInScope
from storage.search.ids import BucketId
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexRequest,
    IndexVocabulary,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    RecordPageRequest,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.plan import Clause, Search
from storage.search.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class EmbeddedRequestEvaluator:
    """Answers requests. All access to buckets goes through `_bucket_reader_for`, which checks the scope."""

    connection: sqlite3.Connection
    state: IndexState
    snapshots: SnapshotCache
    scope: Scope
    analysers: Callable[[str], Analyser]
    order_cache: LruCache[RecordOrder]
    embedder_name: str = ""
    query_vectors: "Mapping[str, NDArray[np.float32]]" = field(default_factory=dict[str, "NDArray[np.float32]"])
    _bucket_readers: dict[BucketId, EmbeddedBucketReader] = field(
        default_factory=dict[BucketId, EmbeddedBucketReader], init=False
    )
    _documents: dict[int, tuple[str, str, str]] = field(default_factory=dict[int, tuple[str, str, str]], init=False)
    _member_masks: dict[Clause, Mask] = field(default_factory=dict[Clause, Mask], init=False)

    def answer(self, request: IndexRequest[object]) -> object:
        """Return the answer to a request. Raises `NotInScope`, `UnknownField` and `InvalidCondition`."""
        match request:
            case CountRequest(search=search):
                return sum(int(mask.sum()) for _, mask in self._buckets_and_masks(search))
            case FacetRequest(search=search):
                return compute_facet(self._buckets_and_masks(search), request)
            case AggregateRequest(search=search):
                return compute_aggregates(self._buckets_and_masks(search), request)
            case NearestValueRequest(search=search):
                return find_nearest_values(self._buckets_and_masks(search), request.field, request.value)
            case KeywordPassageRequest(search=search):
                return read_hits(
                    select_best(score_by_terms(self._readers_and_masks(search), request.text), request.limit),
                    self._documents,
                )
            case SemanticPassageRequest(search=search):
                return self._rank_by_vector(request)
            case OutlineRequest(search=search):
                return rank_outlines(self._readers_and_masks(search), request)
            case SpellingRequest():
                readers = [self._bucket_reader_for(bucket) for bucket in sorted(request.buckets)]
                return suggest_spellings(
                    [(reader, reader.bucket.visible_mask(self.scope)) for reader in readers], request
                )
            case RecordPageRequest(search=search):
                return read_page(self.connection, self._record_order_for(request), request)
            case DocumentRequest(doc_ids=doc_ids):
                return fetch_documents(self.connection, self.state.headers, self.scope, doc_ids)
            case _:
                raise TypeError(f"{type(request).__name__} is not a request of this index")

    def build_vocabulary(self, limit: int) -> IndexVocabulary:
        buckets = [
            self._bucket_reader_for(name).bucket for name in sorted(self.scope.buckets & self.state.headers.keys())
        ]
        visible_masks = {bucket.header.name: bucket.visible_mask(self.scope) for bucket in buckets}
        return IndexVocabulary(
            generation=self.state.generation,
            fields=tuple(
                field_vocabulary
                for bucket in buckets
                for field_vocabulary in field_vocabularies_of(bucket, visible_masks[bucket.header.name], limit)
            ),
            document_counts={name: int(mask.sum()) for name, mask in visible_masks.items()},
            titles={
                bucket.header.name: visible_titles_of(self.connection, bucket, visible_masks[bucket.header.name])
                for bucket in buckets
            },
            schemas={name: self.state.headers[name].schema for name in visible_masks},
        )

    def _bucket_reader_for(self, name: BucketId) -> EmbeddedBucketReader:
        """Return the reader of a bucket. Raises `NotInScope`, also for a bucket that does not exist."""
        if name not in self.scope.buckets or name not in self.state.headers:
            raise NotInScope(name)
        if name not in self._bucket_readers:
            header = self.state.headers[name]
            self._bucket_readers[name] = EmbeddedBucketReader(
                connection=self.connection,
                bucket=self.snapshots.snapshot_for(self.connection, header),
                analyser=self.analysers(header.schema.language),
            )
        return self._bucket_readers[name]

    def _readers_and_masks(self, search: Search) -> list[tuple[EmbeddedBucketReader, Mask]]:
        """Returns the reader of each bucket of the search with the visible documents that match its clause."""
        return [(self._bucket_reader_for(clause.bucket), self._member_mask_of(clause)) for clause in search.clauses]

    def _buckets_and_masks(self, search: Search) -> list[tuple[BucketSnapshot, Mask]]:
        return [(reader.bucket, mask) for reader, mask in self._readers_and_masks(search)]

    def _member_mask_of(self, clause: Clause) -> Mask:
        if clause not in self._member_masks:
            reader = self._bucket_reader_for(clause.bucket)
            self._member_masks[clause] = reader.member_mask(clause, reader.bucket.visible_mask(self.scope))
        return self._member_masks[clause]

    def _rank_by_vector(self, request: SemanticPassageRequest) -> object:
        query_vector = self.query_vectors.get(request.text)
        readers_and_masks = self._readers_and_masks(request.search)  # checks the search, also without vectors
        if query_vector is None or not query_vector.any():
            return ()
        return read_hits(
            select_best(
                [
                    score_by_vector(*reader_and_mask, self.embedder_name, query_vector)
                    for reader_and_mask in readers_and_masks
                ],
                request.limit,
            ),
            self._documents,
        )

    def _record_order_for(self, request: RecordPageRequest) -> RecordOrder:
        """Return the sorted set. It is cached, so that each further page costs only the reading of its records."""
        key = (self.state.generation, self.scope, request.search.clauses, request.order, request.order_by_id)
        return self.order_cache.get_or_compute(
            key,
            lambda: order_records(
                self._buckets_and_masks(request.search), request.order, order_by_id=request.order_by_id
            ),
        )
