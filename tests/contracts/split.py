"""An index with its buckets in two indexes, which it federates: it tests `federate_indexes` by the contract."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from storage.federated.index import federate_indexes
from storage.search.documents import Document
from storage.search.forwarding_index import ForwardingIndex, IndexMethod
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import (
    BucketSize,
    BucketState,
    DocumentRequest,
    PutResult,
    ScopedIndex,
    SearchIndex,
    VectorState,
)
from storage.search.schema import Schema
from storage.search.scope import Scope


class SplitIndex(ForwardingIndex):
    """The buckets in `secondary_buckets` are in `secondary`, unless they have a shared field.

    `shared_buckets`: the buckets with a shared field; all open handles on the index use the same set.
    """

    def __init__(
        self,
        main: SearchIndex,
        secondary: SearchIndex,
        *,
        secondary_buckets: frozenset[BucketId],
        shared_buckets: set[BucketId],
    ) -> None:
        self._main, self._secondary, self._secondary_buckets, self._shared_buckets = (
            main,
            secondary,
            secondary_buckets,
            shared_buckets,
        )

    @property
    def tenant(self) -> TenantId:
        return self._main.tenant

    def enter_call(self, method: IndexMethod) -> AbstractAsyncContextManager[SearchIndex]:
        raise AssertionError(f"{method} asks both indexes")

    @asynccontextmanager
    async def enter_bucket_call(self, method: IndexMethod, bucket: BucketId) -> AsyncGenerator[SearchIndex]:
        yield self._index_with(bucket)

    async def set_schema(self, schema: Schema) -> None:
        if any(field.shared for field in schema.fields):
            self._shared_buckets.add(schema.bucket)
        await super().set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        target = self._index_with(bucket)
        other_ids = await _existing_ids_in(
            self._secondary if target is self._main else self._main, [document.doc_id for document in documents]
        )
        result = await super().put(bucket, [document for document in documents if document.doc_id not in other_ids])
        taken = dict.fromkeys(document.doc_id for document in documents if document.doc_id in other_ids)
        return replace(result, taken=(*result.taken, *taken))

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._main.delete(doc_ids) + await self._secondary.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await super().drop_bucket(bucket)
        self._shared_buckets.discard(bucket)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        return dict(
            sorted({**await self._main.load_bucket_states(), **await self._secondary.load_bucket_states()}.items())
        )

    async def load_bucket_names(self) -> frozenset[BucketId]:
        return await self._main.load_bucket_names() | await self._secondary.load_bucket_names()

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        return dict(
            sorted({**await self._main.load_bucket_sizes(), **await self._secondary.load_bucket_sizes()}.items())
        )

    async def load_vector_states(self) -> Mapping[BucketId, VectorState]:
        return dict(
            sorted({**await self._main.load_vector_states(), **await self._secondary.load_vector_states()}.items())
        )

    def within_scope(self, scope: Scope) -> ScopedIndex:
        secondary_buckets = scope.buckets & (self._secondary_buckets - self._shared_buckets)
        return federate_indexes(
            self._main.within_scope(replace(scope, buckets=scope.buckets - secondary_buckets)),
            self._secondary.within_scope(replace(scope, buckets=secondary_buckets)),
        )

    async def ping(self, *, thorough: bool = False) -> None:
        await self._main.ping(thorough=thorough)
        await self._secondary.ping(thorough=thorough)

    async def close(self) -> None:
        await self._main.close()
        await self._secondary.close()

    def _index_with(self, bucket: BucketId) -> SearchIndex:
        return self._secondary if bucket in self._secondary_buckets - self._shared_buckets else self._main


async def _existing_ids_in(index: SearchIndex, doc_ids: Sequence[DocId]) -> set[DocId]:
    scope = Scope(tenant=index.tenant, buckets=frozenset(await index.load_bucket_states()), ignores_readers=True)
    request = DocumentRequest(tuple(doc_ids))
    return {document.doc_id for document in (await index.within_scope(scope).answer_requests(request))[request]}
