"""An index that reports each request and its failure to the metrics."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from bot.metrics.measured_operations import measured_index_request
from bot.metrics.operation_measurements import IndexOperation, OperationObserver
from storage.search.forwarding_index import ForwardingIndex, ForwardingScopedIndex, IndexMethod
from storage.search.ids import BucketId, TenantId
from storage.search.index import DocumentRecord, IndexAnswers, IndexRequest, IndexVocabulary, ScopedIndex, SearchIndex
from storage.search.schema import Schema
from storage.search.scope import Scope

_OPERATIONS: Mapping[IndexMethod, IndexOperation] = {
    IndexMethod.SET_SCHEMA: IndexOperation.SCHEMA,
    IndexMethod.PUT: IndexOperation.WRITE,
    IndexMethod.DELETE: IndexOperation.DELETE,
    IndexMethod.DROP_BUCKET: IndexOperation.DELETE,
    IndexMethod.LOAD_BUCKET_STATES: IndexOperation.INSPECT,
    IndexMethod.LOAD_BUCKET_NAMES: IndexOperation.INSPECT,
    IndexMethod.LOAD_BUCKET_SIZES: IndexOperation.INSPECT,
    IndexMethod.LOAD_DIGESTS: IndexOperation.INSPECT,
    IndexMethod.LOAD_VECTOR_STATES: IndexOperation.INSPECT,
    IndexMethod.MEASURE_OUTDATED_PASSAGES: IndexOperation.INSPECT,
    IndexMethod.UPDATE_VECTORS: IndexOperation.EMBED,
}


class MeasuredIndex(ForwardingIndex):
    """Implements `SearchIndex` by the calls of another index. Readiness checks, rebuilds and the end are not measured;
    of a scan each batch is.
    """

    def __init__(self, index: SearchIndex, observer: OperationObserver) -> None:
        self._index, self._observer = index, observer

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return _MeasuredScopedIndex(self._index.within_scope(scope), self._observer)

    async def close(self) -> None:
        await self._index.close()

    @asynccontextmanager
    async def enter_call(self, method: IndexMethod) -> AsyncGenerator[SearchIndex]:
        if method not in _OPERATIONS:
            yield self._index
            return
        with measured_index_request(self._observer, _OPERATIONS[method]):
            yield self._index

    async def scan_records(self, bucket: BucketId) -> AsyncGenerator[Sequence[DocumentRecord]]:
        async with aclosing(self._index.scan_records(bucket)) as batches:
            while True:
                with measured_index_request(self._observer, IndexOperation.INSPECT):
                    records = await anext(batches, None)
                if records is None:
                    return
                yield records


class _MeasuredScopedIndex(ForwardingScopedIndex):
    """A snapshot is not measured: it reads page after page for one export."""

    def __init__(self, index: ScopedIndex, observer: OperationObserver) -> None:
        super().__init__(index)
        self._observer = observer

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        with measured_index_request(self._observer, IndexOperation.SEARCH):
            return await self.wrapped.answer_requests(*requests)

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        with measured_index_request(self._observer, IndexOperation.VOCABULARY):
            return await self.wrapped.load_vocabulary(limit)

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        with measured_index_request(self._observer, IndexOperation.SCHEMA):
            return await self.wrapped.load_schemas()
