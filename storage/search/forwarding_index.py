"""Base classes of indexes that pass each call on to another index, and do something around it."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from enum import StrEnum

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


class IndexMethod(StrEnum):
    """The methods of `SearchIndex` that use the index, except those that look at it for a scope or close it."""

    SET_SCHEMA = "set_schema"
    PUT = "put"
    DELETE = "delete"
    DROP_BUCKET = "drop_bucket"
    LOAD_BUCKET_STATES = "load_bucket_states"
    LOAD_BUCKET_NAMES = "load_bucket_names"
    LOAD_BUCKET_SIZES = "load_bucket_sizes"
    LOAD_DIGESTS = "load_digests"
    LOAD_INGESTION_DAYS = "load_ingestion_days"
    SCAN_RECORDS = "scan_records"
    LOAD_VECTOR_STATES = "load_vector_states"
    MEASURE_OUTDATED_PASSAGES = "measure_outdated_passages"
    UPDATE_VECTORS = "update_vectors"
    PLAN_REBUILD = "plan_rebuild"
    REBUILD_BUCKET = "rebuild_bucket"
    CLEAN_UP_BUCKET = "clean_up_bucket"
    PING = "ping"


class ForwardingIndex(ABC):
    """Implements `SearchIndex` by the calls of another index."""

    @property
    @abstractmethod
    def tenant(self) -> TenantId: ...

    @abstractmethod
    def within_scope(self, scope: Scope) -> ScopedIndex: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def enter_call(self, method: IndexMethod) -> AbstractAsyncContextManager[SearchIndex]:
        """Return a block around one call of `method`, which gives the index to call."""
        ...

    def enter_bucket_call(self, method: IndexMethod, bucket: BucketId) -> AbstractAsyncContextManager[SearchIndex]:
        """The block around a call about one bucket."""
        return self.enter_call(method)

    async def set_schema(self, schema: Schema) -> None:
        async with self.enter_bucket_call(IndexMethod.SET_SCHEMA, schema.bucket) as index:
            await index.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        async with self.enter_bucket_call(IndexMethod.PUT, bucket) as index:
            return await index.put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        async with self.enter_call(IndexMethod.DELETE) as index:
            return await index.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        async with self.enter_bucket_call(IndexMethod.DROP_BUCKET, bucket) as index:
            await index.drop_bucket(bucket)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        async with self.enter_call(IndexMethod.LOAD_BUCKET_STATES) as index:
            return await index.load_bucket_states()

    async def load_bucket_names(self) -> frozenset[BucketId]:
        async with self.enter_call(IndexMethod.LOAD_BUCKET_NAMES) as index:
            return await index.load_bucket_names()

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        async with self.enter_call(IndexMethod.LOAD_BUCKET_SIZES) as index:
            return await index.load_bucket_sizes()

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        async with self.enter_bucket_call(IndexMethod.LOAD_DIGESTS, bucket) as index:
            return await index.load_digests(bucket)

    async def load_ingestion_days(self, bucket: BucketId) -> Mapping[DocId, str]:
        async with self.enter_bucket_call(IndexMethod.LOAD_INGESTION_DAYS, bucket) as index:
            return await index.load_ingestion_days(bucket)

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        async with (
            self.enter_bucket_call(IndexMethod.SCAN_RECORDS, bucket) as index,
            aclosing(index.scan_records(bucket)) as batches,
        ):
            async for records in batches:
                yield records

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        async with self.enter_call(IndexMethod.LOAD_VECTOR_STATES) as index:
            return await index.load_vector_states()

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        async with self.enter_bucket_call(IndexMethod.MEASURE_OUTDATED_PASSAGES, bucket) as index:
            return await index.measure_outdated_passages(bucket)

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        async with self.enter_bucket_call(IndexMethod.UPDATE_VECTORS, bucket) as index:
            return await index.update_vectors(bucket, report_progress)

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        async with self.enter_bucket_call(IndexMethod.PLAN_REBUILD, bucket) as index:
            return await index.plan_rebuild(bucket, shard_count=shard_count)

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        async with self.enter_bucket_call(IndexMethod.REBUILD_BUCKET, bucket) as index:
            return await index.rebuild_bucket(bucket, report_progress, shard_count=shard_count)

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        async with self.enter_bucket_call(IndexMethod.CLEAN_UP_BUCKET, bucket) as index:
            return await index.clean_up_bucket(bucket)

    async def ping(self, *, thorough: bool = False) -> None:
        async with self.enter_call(IndexMethod.PING) as index:
            await index.ping(thorough=thorough)


class ForwardingScopedIndex:
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
