"""How many documents each grant opens, and all grants to a subject together. Counts alone, for admins."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.admin.administration import BucketOverview
from bot.ids import EVERYONE, BucketId, Subject
from storage.search.bucket_parts import with_parts
from storage.search.ids import TenantId
from storage.search.index import CountRequest, SearchIndex
from storage.search.plan import Clause, Search
from storage.search.scope import Scope

MAX_COUNTED_SUBJECTS: Final = 200
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantCounts:
    """Documents that the subject may see by its grants: those that name other readers are left out.

    A subject beyond `MAX_COUNTED_SUBJECTS` is not counted, and missing here.
    """

    by_grant: Mapping[tuple[BucketId, Subject], int]
    by_subject: Mapping[Subject, int]


class GrantCounter:
    def __init__(self, *, tenant: str, index: SearchIndex) -> None:
        self._tenant, self._index = TenantId(tenant), index
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def count_documents(self, overviews: Sequence[BucketOverview]) -> GrantCounts:
        """The caller has checked that an admin asks. Raises what the index raises."""
        names = await self._index.load_bucket_names()
        granted: dict[Subject, list[BucketId]] = {}
        for overview in overviews:
            for grant in overview.grants:
                granted.setdefault(grant.subject, []).append(grant.bucket)
        subjects = sorted(granted)[:MAX_COUNTED_SUBJECTS]
        counts = await asyncio.gather(
            *(self._count_for_subject(subject, granted[subject], names) for subject in subjects)
        )
        return GrantCounts(
            by_grant={
                (bucket, subject): count
                for subject, by_bucket in zip(subjects, counts, strict=True)
                for bucket, count in by_bucket.items()
            },
            by_subject={subject: sum(by_bucket.values()) for subject, by_bucket in zip(subjects, counts, strict=True)},
        )

    async def _count_for_subject(
        self, subject: Subject, buckets: Sequence[BucketId], names: frozenset[BucketId]
    ) -> Mapping[BucketId, int]:
        """Counts in one round trip. Whoever a grant is to may also see what is open to everyone."""
        members = {bucket: with_parts({bucket}, names) & names for bucket in buckets}
        scope = Scope(
            tenant=self._tenant,
            buckets=frozenset[BucketId]().union(*members.values()),
            subjects=frozenset({subject, EVERYONE}),
        )
        requests = {
            bucket: CountRequest(Search(clauses=tuple(Clause(bucket=part) for part in parts)))
            for bucket, parts in members.items()
            if parts
        }
        if not requests:
            return dict.fromkeys(buckets, 0)
        async with self._slots:
            answers = await self._index.within_scope(scope).answer_requests(*requests.values())
        return {bucket: answers[requests[bucket]] if bucket in requests else 0 for bucket in buckets}
