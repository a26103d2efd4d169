"""Compares the documents that the index has with those that the database knows of.

The database records the size of each bucket when it is last known to be right. So an index file that was emptied,
replaced or restored from an old copy is noticed, instead of being taken for an index without documents.
"""

from collections.abc import Collection, Mapping

from storage.search.ids import BucketId
from storage.search.index import BucketSize, SearchIndex
from storage.sql.health_store import HealthStore, RecordedBucket
from storage.sql.stores.grants import GrantStore
from storage.sql.stores.sources import SourceStore


class IndexRecord:
    def __init__(self, *, index: SearchIndex, store: HealthStore, grants: GrantStore, sources: SourceStore) -> None:
        self._index, self._store, self._grants, self._sources = index, store, grants, sources

    async def find_missing_documents(self) -> list[str]:
        """A sentence about each bucket with fewer documents than the database knows of. Records the size of the others.

        Raises what the index and the database raise.
        """
        recorded, sizes = await self._store.load_recorded_buckets(), await self._index.load_bucket_sizes()
        lost = {bucket: count for bucket, entry in recorded.items() if (count := _lost_count(entry, sizes)) is not None}
        granted = {BucketId(grant.bucket) for grant in await self._grants.list_grants()}
        missing = granted - sizes.keys() - lost.keys()
        await self._record_sizes({bucket: size for bucket, size in sizes.items() if bucket not in lost}, recorded)
        advice = await self._advice_by_bucket({*lost, *missing})
        return [
            *(
                f"the index has {count:,} of the {recorded[bucket].documents:,} documents of {bucket} that the database"
                f" knows of: {advice[bucket]}"
                for bucket, count in lost.items()
            ),
            *(f"{bucket} is granted, but the index does not have it: {advice[bucket]}" for bucket in sorted(missing)),
        ]

    async def record_buckets(self, buckets: Collection[BucketId]) -> None:
        """Record what the index has now of these buckets as right, after somebody has loaded documents into them."""
        sizes = {bucket: size for bucket, size in (await self._index.load_bucket_sizes()).items() if bucket in buckets}
        await self._record_sizes(sizes, await self._store.load_recorded_buckets())

    async def forget_bucket(self, bucket: BucketId) -> None:
        """Forget a bucket that is being deleted."""
        await self._store.forget_bucket(bucket)

    async def _record_sizes(
        self, sizes: Mapping[BucketId, BucketSize], recorded: Mapping[BucketId, RecordedBucket]
    ) -> None:
        for bucket, size in sizes.items():
            entry = RecordedBucket(bucket=bucket, documents=size.document_count, generation=size.generation)
            if recorded.get(bucket) != entry:
                await self._store.record_bucket(entry)

    async def _advice_by_bucket(self, buckets: set[BucketId]) -> Mapping[BucketId, str]:
        """What to do about each bucket."""
        sources = await self._sources.list_sources() if buckets else []
        commands = {
            bucket: [f"parley source sync {source.id} --reload" for source in sources if source.bucket == bucket]
            or [f"parley ingest PATH --bucket {bucket}"]
            for bucket in buckets
        }
        return {
            bucket: f"restore a backup of the index, or load them again: {', '.join(names)}"
            for bucket, names in commands.items()
        }


def _lost_count(recorded: RecordedBucket, sizes: Mapping[BucketId, BucketSize]) -> int | None:
    """The number of documents of a bucket that has lost some; None if it has lost none, as far as can be known.

    A file numbers its generations: `EPOCH-NUMBER`. A later number of the same file is a change that somebody made.
    """
    size = sizes.get(recorded.bucket)
    if size is None:
        return 0
    if size.document_count >= recorded.documents:
        return None
    if size.generation == recorded.generation:
        return size.document_count
    epoch, _, number = size.generation.rpartition("-")
    recorded_epoch, _, recorded_number = recorded.generation.rpartition("-")
    is_later_change = epoch == recorded_epoch and (not epoch or int(number) > int(recorded_number))
    return None if is_later_change else size.document_count
