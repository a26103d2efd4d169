"""What one execution may see."""

from dataclasses import dataclass

from storage.search.ids import BucketId, Subject, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Tenant, granted buckets, and the subjects that document readers are held against. Holds no more than this turn.

    A document is visible when its bucket is granted and it names no readers, or one of `subjects`.
    """

    tenant: TenantId
    buckets: frozenset[BucketId]
    subjects: frozenset[Subject] = frozenset()
    all_readers: bool = False  # the operator, owner of the home: readers do not narrow

    def sees(self, bucket: BucketId, readers: frozenset[Subject]) -> bool:
        """Whether a document of `bucket` with these readers is visible."""
        return bucket in self.buckets and (self.all_readers or not readers or bool(readers & self.subjects))
