"""The exceptions of the kernel and of every index.

SearchError
├── InvalidSchema        the schema contradicts itself
├── InvalidCondition     the condition does not fit the schema
│   ├── UnknownField     the condition names a field that the bucket does not have
│   └── InnerSetTooLarge the condition compares with too many values of another bucket
├── UnreadableJson       the JSON is of another version or has no known shape
├── NotInScope           the scope does not contain the requested bucket
├── DocumentTaken        the document id belongs to another bucket
├── UnknownBucket        the bucket does not exist
├── EmbedderUnavailable  the embedding model does not answer
├── DiskSpaceShort       the disk has no room to rebuild a bucket's index
├── SnapshotGone         the snapshot's state of the index no longer exists
└── IndexUnavailable     the index cannot be reached, or gave an incomplete answer
    ├── IndexDamaged     what the index has stored cannot be read
    │   └── IndexIncomplete  it lacks documents that it is known to have had
    ├── IndexTimedOut    the index did not answer in time
    └── IndexTooNew      a later version of Parley wrote the index
"""

from storage.search.ids import BucketId, DocId, FieldName


class SearchError(Exception):
    """Base class of all exceptions of the kernel and the engines."""


class InvalidSchema(SearchError):
    """The schema contradicts itself. `field` is the name of the wrong field; None: the schema as a whole is wrong."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason if field is None else f"field {field!r}: {reason}")
        self.reason, self.field = reason, field


class InvalidCondition(SearchError):
    """The condition does not fit the schema."""


class UnknownField(InvalidCondition):
    """A condition, an order or a facet names a field that the bucket does not have."""

    def __init__(self, field: FieldName, bucket: BucketId) -> None:
        super().__init__(f"bucket {bucket!r} has no field {field!r}")
        self.field, self.bucket = field, bucket


class InnerSetTooLarge(InvalidCondition):
    """A condition compares with more values of another bucket than an index takes. An expected outcome of a search."""

    def __init__(self, bucket: BucketId, max_values: int) -> None:
        super().__init__(f"a condition compares with more than {max_values:,} values of {bucket!r}; narrow it first")
        self.bucket, self.max_values = bucket, max_values


class UnreadableJson(SearchError):
    """The JSON is of a later version, or has a shape that this version does not write."""


class NotInScope(SearchError):
    """A search names a bucket that the scope does not contain. Does not reveal whether the bucket exists."""

    def __init__(self, bucket: BucketId) -> None:
        super().__init__(f"bucket {bucket!r} is not in scope")
        self.bucket = bucket


class DocumentTaken(SearchError):
    """The document id belongs to a document of another bucket. Does not reveal which bucket."""

    def __init__(self, doc_id: DocId) -> None:
        super().__init__(f"the id {doc_id!r} belongs to a document elsewhere; give this one another doc_id")
        self.doc_id = doc_id


class UnknownBucket(SearchError):
    """The bucket does not exist."""

    def __init__(self, bucket: BucketId) -> None:
        super().__init__(f"there is no bucket {bucket!r}")
        self.bucket = bucket


class EmbedderUnavailable(SearchError):
    """The embedding model does not answer. The message says why in one sentence."""


class SnapshotGone(SearchError):
    """The state of a snapshot no longer exists. An expected outcome: open another snapshot, and begin again."""

    def __init__(self) -> None:
        super().__init__("the index no longer has this state of the documents")


class IndexUnavailable(SearchError):
    """The index cannot be reached, refused the request, or answered for only a part of its shards."""

    def __init__(self, location: str, reason: str = "") -> None:
        super().__init__(f"the index at {location} is not available{': ' + reason if reason else ''}")
        self.location, self.reason = location, reason


class IndexDamaged(IndexUnavailable):
    """What the index has stored cannot be read, or is not what was stored."""


class IndexIncomplete(IndexDamaged):
    """The index lacks documents that it is known to have had, so that an answer would leave them out."""


class IndexTimedOut(IndexUnavailable):
    """The index did not answer in time."""

    def __init__(self, location: str) -> None:
        super().__init__(location, "it did not answer in time")


class DiskSpaceShort(SearchError):
    """The disk has no room to rebuild the bucket's index beside the one in use. Nothing was changed."""

    def __init__(self, bucket: BucketId, needed_bytes: int, free_bytes: int) -> None:
        super().__init__(
            f"to rebuild the index of {bucket!r} takes some {_megabytes_of(needed_bytes)} of disk, and"
            f" {_megabytes_of(free_bytes)} are free below the limit; free some space first"
            " (parley bucket cleanup deletes earlier indexes)",
        )
        self.bucket, self.needed_bytes, self.free_bytes = bucket, needed_bytes, free_bytes


def _megabytes_of(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:,.1f} MB"


class IndexTooNew(IndexUnavailable):
    """A later version of Parley wrote the index in a format that this version cannot read."""

    def __init__(self, location: str) -> None:
        super().__init__(location, "a newer version of Parley wrote it; use that version or newer")
