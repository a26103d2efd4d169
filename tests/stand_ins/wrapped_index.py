"""Indexes that pass every call on to another index; what a test wants otherwise is overridden."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

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


class WrappedIndex:
    """Implements `SearchIndex` by the calls of `wrapped`."""

    def __init__(self, wrapped: SearchIndex) -> None:
        self.wrapped = wrapped

    @property
    def tenant(self) -> TenantId:
        return self.wrapped.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return self.wrapped.within_scope(scope)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        return await self.wrapped.load_bucket_states()

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        return await self.wrapped.load_bucket_sizes()

    async def set_schema(self, schema: Schema) -> None:
        await self.wrapped.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        return await self.wrapped.put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self.wrapped.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self.wrapped.drop_bucket(bucket)

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self.wrapped.load_digests(bucket)

    def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        return self.wrapped.scan_records(bucket)

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        return await self.wrapped.load_vector_states()

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        return await self.wrapped.measure_outdated_passages(bucket)

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        return await self.wrapped.update_vectors(bucket, report_progress)

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        return await self.wrapped.plan_rebuild(bucket, shard_count=shard_count)

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        return await self.wrapped.rebuild_bucket(bucket, report_progress, shard_count=shard_count)

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        return await self.wrapped.clean_up_bucket(bucket)

    async def ping(self, *, thorough: bool = False) -> None:
        await self.wrapped.ping(thorough=thorough)

    async def close(self) -> None:
        await self.wrapped.close()


class WrappedScopedIndex:
    """Implements `ScopedIndex` by the calls of `wrapped`."""

    def __init__(self, wrapped: ScopedIndex) -> None:
        self.wrapped = wrapped

    @property
    def scope(self) -> Scope:
        return self.wrapped.scope

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        return await self.wrapped.answer_requests(*requests)

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        return await self.wrapped.load_vocabulary(limit)

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        return await self.wrapped.load_schemas()

    def analyser_for(self, bucket: BucketId) -> Analyser:
        return self.wrapped.analyser_for(bucket)

    def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> AbstractAsyncContextManager[IndexSnapshot]:
        return self.wrapped.open_snapshot(buckets, token)
