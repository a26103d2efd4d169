"""The parts of a bucket: each of its tables with other columns is a bucket of its own, with a schema of its own.

A part is named `BUCKET/PART`. No name that a person gives to a bucket has a slash. Whoever may see the bucket may see
its parts, and whoever names the bucket means its parts too.
"""

from collections.abc import Collection, Iterable

from storage.search.ids import BucketId

PART_SEPARATOR = "/"
MAX_PARTS = 12  # of one bucket


def part_of_bucket(bucket: BucketId, name: str) -> BucketId:
    """Returns the id of the part with this name, which has no slash."""
    return BucketId(f"{bucket}{PART_SEPARATOR}{name}")


def whole_bucket_of(bucket: BucketId) -> BucketId:
    """Returns the bucket that this is a part of, else the bucket itself."""
    return BucketId(bucket.partition(PART_SEPARATOR)[0])


def is_part(bucket: BucketId) -> bool:
    return PART_SEPARATOR in bucket


def parts_among(buckets: Iterable[BucketId], whole: BucketId) -> list[BucketId]:
    """Returns those of `buckets` that are parts of `whole`, by name."""
    return sorted(bucket for bucket in buckets if is_part(bucket) and whole_bucket_of(bucket) == whole)


def with_parts(buckets: Collection[BucketId], existing: Iterable[BucketId]) -> frozenset[BucketId]:
    """Returns the buckets, and those of the `existing` ones that are parts of them."""
    wholes = frozenset(buckets)
    return wholes | {bucket for bucket in existing if is_part(bucket) and whole_bucket_of(bucket) in wholes}
