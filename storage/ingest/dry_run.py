"""The index of a dry run: counts which documents a run would add, replace or skip, and changes nothing."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.search.bucket_parts import whole_bucket_of
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId
from storage.search.index import BucketSize, PutResult, PutStatus, SearchIndex
from storage.search.schema import Schema


class IngestTarget(Protocol):
    """The part of `SearchIndex` that an ingestion run writes to."""

    async def load_bucket_names(self) -> frozenset[BucketId]: ...

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]: ...

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]: ...

    async def delete(self, doc_ids: Sequence[DocId]) -> int: ...

    async def set_schema(self, schema: Schema) -> None: ...

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult: ...


class DryRunIndex:
    """Reports what the index would do with documents, and stores none. Keeps the digests of all documents in memory.

    It reports an unchanged document as skipped even where a changed embedder would replace it.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._stored_digests: dict[DocId, tuple[BucketId, str]] | None = None

    @property
    def index(self) -> SearchIndex:
        """The real index."""
        return self._index

    async def load_bucket_names(self) -> frozenset[BucketId]:
        return await self._index.load_bucket_names()

    async def load_digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._index.load_digests(bucket)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        """Deletes nothing."""
        return 0

    async def load_bucket_sizes(self) -> Mapping[BucketId, BucketSize]:
        return await self._index.load_bucket_sizes()

    async def set_schema(self, schema: Schema) -> None:
        """Does nothing."""

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        stored_digests = await self._load_digests()
        statuses = dict[DocId, PutStatus]()
        for document in documents:
            owner, digest = stored_digests.get(document.doc_id, (None, ""))
            if owner is None:
                statuses[document.doc_id] = PutStatus.ADDED
            elif whole_bucket_of(owner) != whole_bucket_of(bucket):
                statuses[document.doc_id] = PutStatus.TAKEN
            else:
                is_unchanged = owner == bucket and digest == document.digest
                statuses[document.doc_id] = PutStatus.SKIPPED if is_unchanged else PutStatus.REPLACED
        return PutResult.from_statuses(statuses)

    async def _load_digests(self) -> Mapping[DocId, tuple[BucketId, str]]:
        if self._stored_digests is None:
            self._stored_digests = {
                doc_id: (bucket, digest)
                for bucket in await self._index.load_bucket_sizes()
                for doc_id, digest in (await self._index.load_digests(bucket)).items()
            }
        return self._stored_digests
