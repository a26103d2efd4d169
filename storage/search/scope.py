"""The scope: what one turn may see."""

from dataclasses import dataclass

from storage.search.ids import BucketId, Subject, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Tenant, granted buckets, and the subjects that a document's readers are compared with. Valid for one turn.

    A document is visible when its bucket is granted and it names no readers, or one of `subjects`.
    """

    tenant: TenantId
    buckets: frozenset[BucketId]
    subjects: frozenset[Subject] = frozenset()
    ignores_readers: bool = False  # True for the operator, who owns the home: sees documents of all readers

    def can_see(self, bucket: BucketId, readers: frozenset[Subject]) -> bool:
        """Whether a document of `bucket` with these readers is visible."""
        return bucket in self.buckets and (self.ignores_readers or not readers or bool(readers & self.subjects))
