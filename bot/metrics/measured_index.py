"""An index that reports each request and its failure to the metrics."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing

from bot.metrics.measured_operations import measured_index_request
from bot.metrics.operation_measurements import IndexOperation, OperationObserver
from storage.search.analyser import Analyser
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import (
    BucketSize,
    BucketState,
    DocumentRecord,
    EarlierIndexes,
    IndexAnswers,
    IndexRequest,
    IndexSnapshot,
    IndexVocabulary,
    PassageVolume,
    PutResult,
    RebuildPlan,
    RebuildProgress,
    ScopedIndex,
    SearchIndex,
    VectorState,
)
from storage.search.schema import Schema
from storage.search.scope import Scope


class MeasuredIndex:
    """Implements `SearchIndex` by the calls of another index. Readiness checks and the end are not measured."""

    def __init__(self, index: SearchIndex, observer: OperationObserver) -> None:
        self._index, self._observer = index, observer

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return _MeasuredScopedIndex(self._index.within_scope(scope), self._observer)

    async def set_schema(self, schema: Schema) -> None:
        with measured_index_request(self._observer, IndexOperation.SCHEMA):
            await self._index.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        with measured_index_request(self._observer, IndexOperation.WRITE):
            return await self._index.put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        with measured_index_request(self._observer, IndexOperation.DELETE):
            return await self._index.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        with measured_index_request(self._observer, IndexOperation.DELETE):
            await self._index.drop_bucket(bucket)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        with measured_index_request(self._observer, IndexOperation.INSPECT):
            return await self._index.load_bucket_states()

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        with measured_index_request(self._observer, IndexOperation.INSPECT):
            return await self._index.load_bucket_sizes()

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        with measured_index_request(self._observer, IndexOperation.INSPECT):
            return await self._index.load_digests(bucket)

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        async with aclosing(self._index.scan_records(bucket)) as batches:
            while True:
                with measured_index_request(self._observer, IndexOperation.INSPECT):
                    records = await anext(batches, None)
                if records is None:
                    return
                yield records

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        with measured_index_request(self._observer, IndexOperation.INSPECT):
            return await self._index.load_vector_states()

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        with measured_index_request(self._observer, IndexOperation.INSPECT):
            return await self._index.measure_outdated_passages(bucket)

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        with measured_index_request(self._observer, IndexOperation.EMBED):
            return await self._index.update_vectors(bucket, report_progress)

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        return await self._index.plan_rebuild(bucket, shard_count=shard_count)

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        return await self._index.rebuild_bucket(bucket, report_progress, shard_count=shard_count)

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        return await self._index.clean_up_bucket(bucket)

    async def ping(self, *, thorough: bool = False) -> None:
        await self._index.ping(thorough=thorough)

    async def close(self) -> None:
        await self._index.close()


class _MeasuredScopedIndex:
    """Implements `ScopedIndex`. A snapshot is not measured: it reads page after page for one export."""

    def __init__(self, index: ScopedIndex, observer: OperationObserver) -> None:
        self._index, self._observer = index, observer

    @property
    def scope(self) -> Scope:
        return self._index.scope

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        with measured_index_request(self._observer, IndexOperation.SEARCH):
            return await self._index.answer_requests(*requests)

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        with measured_index_request(self._observer, IndexOperation.VOCABULARY):
            return await self._index.load_vocabulary(limit)

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        with measured_index_request(self._observer, IndexOperation.SCHEMA):
            return await self._index.load_schemas()

    def analyser_for(self, bucket: BucketId) -> Analyser:
        return self._index.analyser_for(bucket)

    def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> AbstractAsyncContextManager[IndexSnapshot]:
        return self._index.open_snapshot(buckets, token)
