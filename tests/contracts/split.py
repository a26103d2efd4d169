"""An index whose buckets lie in two, joined where it is asked: what `joined` promises is held against the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import BucketState, Fetch, Put, ScopedIndex, SearchIndex
from storage.search.joined import joined
from storage.search.schema import Schema
from storage.search.scope import Scope


class SplitIndex:
    """Implements `SearchIndex`. Buckets of the names in `apart` lie in `beside`, unless they share a field.

    `shared`: those of them that do; the same set for all handles on the one index.
    """

    def __init__(
        self, main: SearchIndex, beside: SearchIndex, *, apart: frozenset[BucketId], shared: set[BucketId]
    ) -> None:
        self._main, self._beside, self._apart, self._shared = main, beside, apart, shared

    @property
    def tenant(self) -> TenantId:
        return self._main.tenant

    async def set_schema(self, schema: Schema) -> None:
        if any(one.shared for one in schema.fields):
            self._shared.add(schema.bucket)
        await self._side(schema.bucket).set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        side = self._side(bucket)
        elsewhere = await _held(self._beside if side is self._main else self._main, [one.doc_id for one in documents])
        put = await side.put(bucket, [one for one in documents if one.doc_id not in elsewhere])
        taken = dict.fromkeys(one.doc_id for one in documents if one.doc_id in elsewhere)
        return replace(put, taken=(*put.taken, *taken))

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._main.delete(doc_ids) + await self._beside.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._side(bucket).drop_bucket(bucket)
        self._shared.discard(bucket)

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        return dict(sorted({**await self._main.buckets(), **await self._beside.buckets()}.items()))

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._side(bucket).digests(bucket)

    def within(self, scope: Scope) -> ScopedIndex:
        apart = scope.buckets & (self._apart - self._shared)
        return joined(
            self._main.within(replace(scope, buckets=scope.buckets - apart)),
            self._beside.within(replace(scope, buckets=apart)),
        )

    async def ping(self) -> None:
        await self._main.ping()
        await self._beside.ping()

    async def close(self) -> None:
        await self._main.close()
        await self._beside.close()

    def _side(self, bucket: BucketId) -> SearchIndex:
        return self._beside if bucket in self._apart - self._shared else self._main


async def _held(index: SearchIndex, doc_ids: Sequence[DocId]) -> set[DocId]:
    scope = Scope(tenant=index.tenant, buckets=frozenset(await index.buckets()), all_readers=True)
    request = Fetch(tuple(doc_ids))
    return {one.doc_id for one in (await index.within(scope).ask(request))[request]}
