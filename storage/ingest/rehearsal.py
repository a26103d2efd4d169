"""A run that changes nothing: what would be added, replaced, skipped."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.search.documents import Document
from storage.search.ids import BucketId, DocId
from storage.search.index import BucketState, Put, SearchIndex
from storage.search.schema import Schema


class Target(Protocol):
    """What a run puts documents into: as much of `SearchIndex` as it needs."""

    async def buckets(self) -> Mapping[BucketId, BucketState]: ...

    async def set_schema(self, schema: Schema) -> None: ...

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put: ...


class Rehearsal:
    """Tells what the index would make of documents, and keeps none. Holds the digests of all that the index has.

    That another embedder would replace what is unchanged does not show.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._held: dict[DocId, tuple[BucketId, str]] | None = None

    @property
    def index(self) -> SearchIndex:
        """What it is a rehearsal for."""
        return self._index

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        return await self._index.buckets()

    async def set_schema(self, schema: Schema) -> None:
        """It would be."""

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        held = await self._digests()
        fates: dict[str, list[DocId]] = {"added": [], "replaced": [], "skipped": [], "taken": []}
        for one in documents:
            owner, digest = held.get(one.doc_id, (None, ""))
            fate = "added" if owner is None else "taken" if owner != bucket else "replaced"
            fates["skipped" if fate == "replaced" and digest == one.digest else fate].append(one.doc_id)
        return Put(**{fate: tuple(ids) for fate, ids in fates.items()})

    async def _digests(self) -> Mapping[DocId, tuple[BucketId, str]]:
        if self._held is None:
            self._held = {
                doc_id: (bucket, digest)
                for bucket in await self._index.buckets()
                for doc_id, digest in (await self._index.digests(bucket)).items()
            }
        return self._held
