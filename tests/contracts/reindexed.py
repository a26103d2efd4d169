"""An index whose every write meets a rebuild of its bucket under load: it tests `rebuild_bucket` by the contract."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from bot.task_groups import lone_error
from storage.search.documents import Document, Passage
from storage.search.forwarding_index import ForwardingIndex, IndexMethod
from storage.search.ids import BucketId, DocId, Subject, TenantId
from storage.search.index import PutResult, RebuildProgress, ScopedIndex, SearchIndex
from storage.search.scope import Scope

_LOAD_DOCUMENTS: Final = 3


class ReindexedIndex(ForwardingIndex):
    """A `put` that changes something runs while the bucket is rebuilt and another writer puts and deletes documents of
    its own in it, which nobody may read.

    It returns when the rebuild has ended and the other documents are gone, so that the contract holds as ever.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return self._index.within_scope(scope)

    async def close(self) -> None:
        await self._index.close()

    @asynccontextmanager
    async def _give_index(self) -> AsyncGenerator[SearchIndex]:
        yield self._index

    def enter_call(self, method: IndexMethod) -> AbstractAsyncContextManager[SearchIndex]:
        return self._give_index()

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        if not await self._is_change(bucket, documents):
            return await self._index.put(bucket, documents)
        with lone_error():
            async with asyncio.TaskGroup() as group:
                rebuilding = group.create_task(self._index.rebuild_bucket(bucket, _ignore_progress))
                group.create_task(self._write_until_rebuilt(bucket, rebuilding))
                result = await self._index.put(bucket, documents)
        # OpenSearch counts deleted documents in its weights until it merges; a version built in peace has none.
        await self._index.rebuild_bucket(bucket, _ignore_progress)
        return result

    async def _is_change(self, bucket: BucketId, documents: Sequence[Document]) -> bool:
        if bucket not in await self._index.load_bucket_names():
            return False
        digests = await self._index.load_digests(bucket)
        return any(digests.get(document.doc_id) != document.digest for document in documents)

    async def _write_until_rebuilt(self, bucket: BucketId, rebuilding: asyncio.Task[int]) -> None:
        """Ends with a deletion of what it has put."""
        doc_ids = [DocId(f"load {bucket} {number}") for number in range(_LOAD_DOCUMENTS)]
        revision = 0
        while revision == 0 or not rebuilding.done():
            revision += 1
            await self._index.put(bucket, [_build_document(doc_id, revision) for doc_id in doc_ids])
            await self._index.delete(doc_ids)


def _build_document(doc_id: DocId, revision: int) -> Document:
    text = f"Written while the bucket is rebuilt, revision {revision}."
    return Document(
        doc_id=doc_id,
        title="Load",
        text=text,
        source="load",
        values={},
        readers=frozenset({Subject("user:nobody")}),
        passages=(Passage(start=0, end=len(text)),),
        digest=f"{doc_id} {revision}",
    )


def _ignore_progress(progress: RebuildProgress) -> None:
    """Nobody looks."""
