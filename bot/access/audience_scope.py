"""From an audience and the grants to the scope of one execution. The scope is computed each time and never cached.

The readers are looked up each time as well, because a stored audience may be out of date.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import assert_never

from bot.access.subjects import is_channel_subject
from bot.health.index_record import IndexRecord
from bot.ids import EVERYONE, PersonId, Subject
from bot.surface.inbound import Audience, ChannelAudience, OperatorAudience, OutsiderPresence, PrivateAudience
from bot.surface.product_directories import ProductDirectories
from storage.search.bucket_parts import with_parts
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from storage.sql.stores.grants import Grant, GrantStore, LocalGroupStore

_USER_PREFIX = "user:"


class AccessResolver:
    """Computes what an audience may see."""

    def __init__(
        self,
        tenant: TenantId,
        grants: GrantStore,
        groups: LocalGroupStore,
        index: SearchIndex,
        directories: ProductDirectories,
        record: IndexRecord,
    ) -> None:
        self._tenant, self._grants, self._groups, self._index = tenant, grants, groups, index
        self._directories, self._record = directories, record

    async def scope_for_audience(self, audience: Audience) -> Scope:
        """Raises what the index and the database raise."""
        present_audience = await self._directories.refresh_audience(audience)
        match present_audience:
            case OperatorAudience():
                buckets = await self._index.load_bucket_names()
                return Scope(tenant=self._tenant, buckets=buckets, ignores_readers=True)
            case PrivateAudience():
                return await self._scope_for_person(present_audience)
            case ChannelAudience():
                return await self._scope_for_channel(present_audience)
            case _:
                assert_never(present_audience)

    async def require_complete_buckets(self, scope: Scope) -> None:
        """Raises `IndexIncomplete` if a bucket of the scope has lost documents, and what index and database raise."""
        await self._record.require_complete_buckets(scope)

    async def is_deactivated(self, person: PersonId) -> bool:
        """Whether the product reports the person as deactivated."""
        match await self._directories.refresh_audience(PrivateAudience(person=person)):
            case PrivateAudience(is_deactivated=is_deactivated):
                return is_deactivated
            case ChannelAudience() | OperatorAudience():
                return False

    async def is_audience_member(self, person: PersonId, audience: Audience) -> bool | None:
        """Whether the person is still among the audience. None where the product cannot say now."""
        return await self._directories.is_audience_member(person, audience)

    async def may_go_private(self, audience: Audience, person: PersonId, scope: Scope) -> bool:
        """Whether the asker alone may see more buckets than this channel's readers.

        In a channel that may have outsiders, the asker counts as a guest unless the product reports otherwise.
        """
        match audience:
            case PrivateAudience() | OperatorAudience():
                return False
            case ChannelAudience(outsiders=outsiders):
                private_scope = await self.scope_for_audience(
                    PrivateAudience(person=person, is_guest=outsiders is not OutsiderPresence.NONE)
                )
                return bool(private_scope.buckets - scope.buckets)
            case _:
                assert_never(audience)

    async def _scope_for_person(self, audience: PrivateAudience) -> Scope:
        if audience.is_deactivated:
            return await self._build_scope((), ())
        subjects = {Subject(f"{_USER_PREFIX}{audience.person}"), *audience.subjects}
        for person in person_ids_of(audience):
            subjects |= {Subject(f"group:{group}") for group in await self._groups.group_ids_of_person(person)}
        subjects = {subject for subject in subjects if not is_channel_subject(subject)} - {EVERYONE}
        if not audience.is_guest:
            subjects.add(EVERYONE)
        return await self._build_scope(await self._grants.list_for_subjects(subjects), subjects)

    async def _scope_for_channel(self, audience: ChannelAudience) -> Scope:
        channels = {audience.channel, *filter(is_channel_subject, audience.also_known_as)}
        if audience.outsiders is OutsiderPresence.NONE:
            subjects = {EVERYONE, *channels}
            return await self._build_scope(await self._grants.list_for_subjects(subjects), subjects)
        granted = await self._grants.list_for_subjects(channels)
        return await self._build_scope((grant for grant in granted if grant.include_external), channels)

    async def _build_scope(self, granted: Iterable[Grant], subjects: Iterable[Subject]) -> Scope:
        """A grant of a bucket holds for its parts."""
        buckets = frozenset(grant.bucket for grant in granted)
        return Scope(
            tenant=self._tenant,
            buckets=with_parts(buckets, await self._index.load_bucket_names()) if buckets else buckets,
            subjects=frozenset(subjects),
        )


def person_ids_of(audience: PrivateAudience) -> list[PersonId]:
    """The person's id, then the other ids that the product reports for the same person."""
    others = {subject.removeprefix(_USER_PREFIX) for subject in audience.subjects if subject.startswith(_USER_PREFIX)}
    return [audience.person, *map(PersonId, sorted(others - {audience.person}))]


def scope_key_of(scope: Scope) -> str:
    """Equal for equal rights, else different. The state of a conversation is stored under this key."""
    parts = [scope.tenant, sorted(scope.buckets), sorted(scope.subjects), scope.ignores_readers]
    return _digest_of(parts)[:32]


def rights_of(scope: Scope) -> list[str]:
    """A digest of each right, in order. Who has all rights of a scope, and perhaps more, sees all that it shows."""
    rights = [["bucket", scope.tenant, bucket] for bucket in scope.buckets]
    rights += [["subject", scope.tenant, subject] for subject in scope.subjects]
    rights += [["all-readers", scope.tenant]] if scope.ignores_readers else []
    return sorted(_digest_of(right)[:16] for right in rights)


def _digest_of(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
