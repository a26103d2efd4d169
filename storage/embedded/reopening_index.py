"""The embedded index of a service that outlives its file: opened with a damaged file, and again with a new one."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document
from storage.search.errors import IndexDamaged
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import (
    BucketSize,
    BucketState,
    DocumentRecord,
    EarlierIndexes,
    PassageVolume,
    PutResult,
    RebuildPlan,
    RebuildProgress,
    ScopedIndex,
    VectorState,
)
from storage.search.schema import Schema
from storage.search.scope import Scope


class ReopeningIndex:
    """Implements `SearchIndex`. While the file is damaged, each method raises `IndexDamaged`. Create it with `open`."""

    def __init__(self, opener: Callable[[], Awaitable[EmbeddedIndex]], tenant: TenantId) -> None:
        self._opener, self._tenant, self._lock = opener, tenant, asyncio.Lock()
        self._index: EmbeddedIndex | None = None
        self._damage = IndexDamaged("the index", "it is not open")

    @classmethod
    async def open(cls, opener: Callable[[], Awaitable[EmbeddedIndex]], tenant: TenantId) -> "ReopeningIndex":
        """Raises `IndexUnavailable`, except for a damaged file."""
        index = cls(opener, tenant)
        try:
            index._index = await opener()
        except IndexDamaged as exc:
            index._damage = exc
        return index

    @property
    def tenant(self) -> TenantId:
        return self._tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        """Raises `IndexDamaged`."""
        if self._index is None:
            raise self._current_damage()
        return self._index.within_scope(scope)

    async def set_schema(self, schema: Schema) -> None:
        await (await self._open_current()).set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        return await (await self._open_current()).put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await (await self._open_current()).delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await (await self._open_current()).drop_bucket(bucket)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        return await (await self._open_current()).load_bucket_states()

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        return await (await self._open_current()).load_bucket_sizes()

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await (await self._open_current()).load_digests(bucket)

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        async for records in (await self._open_current()).scan_records(bucket):
            yield records

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        return await (await self._open_current()).load_vector_states()

    async def measure_outdated_passages(self, bucket: BucketId) -> PassageVolume:
        return await (await self._open_current()).measure_outdated_passages(bucket)

    async def update_vectors(self, bucket: BucketId, report_progress: Callable[[int], None]) -> int:
        return await (await self._open_current()).update_vectors(bucket, report_progress)

    async def plan_rebuild(self, bucket: BucketId, *, shard_count: int | None = None) -> RebuildPlan:
        return await (await self._open_current()).plan_rebuild(bucket, shard_count=shard_count)

    async def rebuild_bucket(
        self,
        bucket: BucketId,
        report_progress: Callable[[RebuildProgress], None],
        *,
        shard_count: int | None = None,
    ) -> int:
        return await (await self._open_current()).rebuild_bucket(bucket, report_progress, shard_count=shard_count)

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        return await (await self._open_current()).clean_up_bucket(bucket)

    async def ping(self, *, thorough: bool = False) -> None:
        await (await self._open_current()).ping(thorough=thorough)

    async def close(self) -> None:
        if self._index is not None:
            await self._index.close()

    async def _open_current(self) -> EmbeddedIndex:
        """The index of the file that is there now. Raises `IndexUnavailable`."""
        async with self._lock:
            if self._index is None or self._index.is_replaced:
                try:
                    index = await self._opener()
                except IndexDamaged as exc:
                    self._damage = exc
                    raise
                if self._index is not None:  # a question that it still answers is asked again
                    await self._index.close()
                self._index = index
        return self._index

    def _current_damage(self) -> IndexDamaged:
        return IndexDamaged(self._damage.location, self._damage.reason)
