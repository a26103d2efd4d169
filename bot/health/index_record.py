"""Compares the documents that the index has with those that the database knows of.

The database records the size of each bucket when it is last known to be right. So an index file that was emptied,
replaced or restored from an old copy is noticed, instead of being taken for an index without documents.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

from bot.health.document_loads import command_for_load
from storage.search.bucket_parts import whole_bucket_of
from storage.search.codec import schema_to_json
from storage.search.errors import IndexIncomplete
from storage.search.ids import BucketId
from storage.search.index import BucketSize, SearchIndex
from storage.search.scope import Scope
from storage.sql.health_store import DocumentLoad, HealthStore, RecordedBucket
from storage.sql.stores.grants import GrantStore
from storage.sql.stores.sources import SourceStore, StoredSource

REBUILD_COMMAND: Final = "parley index rebuild"
ACCEPT_COMMAND: Final = "parley index accept"
_CHECK_INTERVAL_S: Final = 60.0  # of comparisons for questions


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketLoss:
    """What a bucket lacks. `documents`: how many the index has. `is_older_copy`: it is as it was before a change."""

    bucket: BucketId
    documents: int
    recorded: RecordedBucket
    is_older_copy: bool = False

    @property
    def sentence(self) -> str:
        if self.is_older_copy and self.documents >= self.recorded.documents:
            return f"the index has an older copy of {self.bucket} than the one that the database knows of"
        return (
            f"the index has {self.documents:,} of the {self.recorded.documents:,} documents of {self.bucket} that the"
            " database knows of"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketOrigins:
    """Where the documents of a bucket came from, as far as the database knows."""

    sources: tuple[StoredSource, ...] = ()
    loads: tuple[DocumentLoad, ...] = ()


class BucketOriginFinder:
    def __init__(self, store: HealthStore, sources: SourceStore) -> None:
        self._store, self._sources = store, sources

    async def find_origins(self, bucket: BucketId) -> BucketOrigins:
        """Where the documents of the bucket came from. Raises `SqlError`."""
        sources, loads = await self._sources.list_sources(), await self._store.list_loads()
        return BucketOrigins(
            sources=tuple(source for source in sources if source.bucket == whole_bucket_of(bucket)),
            loads=tuple(load for load in loads if bucket in load.buckets),
        )


class IndexRecord:
    def __init__(self, *, index: SearchIndex, store: HealthStore, grants: GrantStore, sources: SourceStore) -> None:
        self._index, self._store, self._grants = index, store, grants
        self.origins = BucketOriginFinder(store, sources)
        self._losses, self._checked_at_s = dict[BucketId, BucketLoss](), float("-inf")

    async def find_losses(self) -> Mapping[BucketId, BucketLoss]:
        """The buckets that have lost documents. Records the sizes of the others.

        Raises what the index and the database raise.
        """
        recorded, sizes = await self._store.load_recorded_buckets(), await self._index.load_bucket_sizes()
        found = {bucket: _find_loss(entry, sizes.get(bucket)) for bucket, entry in recorded.items()}
        self._losses = {bucket: loss for bucket, loss in found.items() if loss is not None}
        self._checked_at_s = time.monotonic()
        await self._record_sizes({name: size for name, size in sizes.items() if name not in self._losses}, recorded)
        return self._losses

    async def list_known_buckets(self) -> list[BucketId]:
        """The buckets of the index, and those that it has lost, by name. Raises what the index and the database
        raise.
        """
        return sorted(
            (await self._index.load_bucket_sizes()).keys() | (await self._store.load_recorded_buckets()).keys()
        )

    async def require_complete_buckets(self, scope: Scope) -> None:
        """Raises `IndexIncomplete` if a bucket of the scope has lost documents, and what the index and the database
        raise.

        Compares again after a minute, and each time while documents are missing.
        """
        if self._losses or time.monotonic() - self._checked_at_s > _CHECK_INTERVAL_S:
            await self.find_losses()
        for bucket, loss in self._losses.items():
            if scope.ignores_readers or bucket in scope.buckets:
                raise IndexIncomplete("the index", f"{loss.sentence}: {REBUILD_COMMAND}")

    async def find_missing_documents(self) -> list[str]:
        """A sentence about each bucket with fewer documents than the database knows of, with what to do about it.

        Records the size of the others. Raises what the index and the database raise.
        """
        losses = await self.find_losses()
        granted = {BucketId(grant.bucket) for grant in await self._grants.list_grants()}
        missing = sorted(granted - (await self._index.load_bucket_sizes()).keys() - losses.keys())
        return [
            *[f"{loss.sentence}: {await self._advice_for(bucket)}" for bucket, loss in losses.items()],
            *[
                f"{bucket} is granted, but the index does not have it: {await self._advice_for(bucket)}"
                for bucket in missing
            ],
        ]

    async def accept_buckets(self, buckets: Collection[BucketId]) -> None:
        """Record what the index has now of these buckets as right. A bucket that it does not have is forgotten."""
        sizes = await self._index.load_bucket_sizes()
        for bucket in buckets:
            if bucket not in sizes:
                await self._store.forget_bucket(bucket)
        await self._record_sizes({bucket: size for bucket, size in sizes.items() if bucket in buckets}, {})
        await self.find_losses()

    async def record_load(self, request: Mapping[str, Json], buckets: Collection[BucketId]) -> None:
        """Record that documents were loaded by hand, so that they can be loaded again (`load_request_of`)."""
        if buckets:
            await self._store.record_load(request, buckets)

    async def forget_bucket(self, bucket: BucketId) -> None:
        """Forget a bucket that is being deleted."""
        await self._store.forget_bucket(bucket)

    async def _record_sizes(
        self, sizes: Mapping[BucketId, BucketSize], recorded: Mapping[BucketId, RecordedBucket]
    ) -> None:
        for bucket, size in sizes.items():
            entry = RecordedBucket(
                bucket=bucket,
                documents=size.document_count,
                generation=size.generation,
                field_schema=schema_to_json(size.schema),
            )
            if recorded.get(bucket) != entry:
                await self._store.record_bucket(entry)

    async def _advice_for(self, bucket: BucketId) -> str:
        origins = await self.origins.find_origins(bucket)
        commands = [
            *(f"parley source sync {source.id} --reload" for source in origins.sources),
            *(command_for_load(load.request) for load in origins.loads),
        ]
        if not commands:
            return f"restore a backup of the index, or load them again: parley ingest PATH --bucket {bucket}"
        return f"{REBUILD_COMMAND} loads them again ({', '.join(commands)}); or restore a backup of the index"


def _find_loss(recorded: RecordedBucket, size: BucketSize | None) -> BucketLoss | None:
    """What the bucket has lost; None if it has lost nothing, as far as can be known.

    A file numbers its generations: `EPOCH-NUMBER`. A later number of the same file is a change that somebody made, an
    earlier number is an older copy of the file. In another file, only the number of documents can be compared.
    """
    if size is None:
        return BucketLoss(bucket=recorded.bucket, documents=0, recorded=recorded)
    loss = BucketLoss(bucket=recorded.bucket, documents=size.document_count, recorded=recorded)
    has_fewer = size.document_count < recorded.documents
    if size.generation == recorded.generation:
        return loss if has_fewer else None
    epoch, _, number = size.generation.rpartition("-")
    recorded_epoch, _, recorded_number = recorded.generation.rpartition("-")
    if epoch and epoch == recorded_epoch:
        is_older = int(number) < int(recorded_number)
        return (
            BucketLoss(bucket=loss.bucket, documents=loss.documents, recorded=recorded, is_older_copy=True)
            if is_older
            else None
        )
    return loss if has_fewer and epoch != recorded_epoch else None
