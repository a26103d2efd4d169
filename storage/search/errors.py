"""What the kernel and every index raise.

SearchError
├── InvalidSchema        a schema that cannot be
├── InvalidCondition     a condition that does not fit the schema
│   └── UnknownField     it names a field the bucket does not have
├── UnreadableJson       JSON of another version, or of no known shape
├── NotInScope           a bucket was asked for that the scope does not hold
├── DocumentTaken        the document id belongs to another bucket
├── UnknownBucket        no such bucket
└── IndexUnavailable     the index cannot be reached, or answered in part
    ├── IndexTimedOut    it did not answer in time
    └── IndexTooNew      a later version of Parley wrote it
"""

from storage.search.ids import BucketId, DocId, FieldName


class SearchError(Exception):
    """Base of all that the kernel and the engines raise."""


class InvalidSchema(SearchError):
    """A schema that cannot be. `field` is the one at fault, if one is."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason if field is None else f"field {field!r}: {reason}")
        self.reason, self.field = reason, field


class InvalidCondition(SearchError):
    """A condition that does not fit the schema."""


class UnknownField(InvalidCondition):
    """A condition, an order or a facet on a field that the bucket does not have."""

    def __init__(self, field: FieldName, bucket: BucketId) -> None:
        super().__init__(f"bucket {bucket!r} has no field {field!r}")
        self.field, self.bucket = field, bucket


class UnreadableJson(SearchError):
    """JSON of a later version, or of no shape that this version writes."""


class NotInScope(SearchError):
    """A search names a bucket that the scope does not hold. Never says whether the bucket exists."""

    def __init__(self, bucket: BucketId) -> None:
        super().__init__(f"bucket {bucket!r} is not in scope")
        self.bucket = bucket


class DocumentTaken(SearchError):
    """The document id belongs to a document of another bucket, which is not named."""

    def __init__(self, doc_id: DocId) -> None:
        super().__init__(f"the id {doc_id!r} belongs to a document elsewhere; give this one another doc_id")
        self.doc_id = doc_id


class UnknownBucket(SearchError):
    """There is no such bucket."""

    def __init__(self, bucket: BucketId) -> None:
        super().__init__(f"there is no bucket {bucket!r}")
        self.bucket = bucket


class IndexUnavailable(SearchError):
    """The index cannot be reached, refused the request, or answered for a part of its shards only."""

    def __init__(self, where: str, reason: str = "") -> None:
        super().__init__(f"the index at {where} is not available{': ' + reason if reason else ''}")
        self.where, self.reason = where, reason


class IndexTimedOut(IndexUnavailable):
    """The index did not answer in time."""

    def __init__(self, where: str) -> None:
        super().__init__(where, "it did not answer in time")


class IndexTooNew(IndexUnavailable):
    """A later version of Parley wrote the index, in a form that this one cannot read."""

    def __init__(self, where: str) -> None:
        super().__init__(where, "a newer version of Parley wrote it; use that version or newer")
