"""From an audience and the grants to the scope of one execution. Computed anew every time: nothing here is kept.

Who reads along is asked anew as well: an audience was stored with what was true of it then.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import assert_never

from bot.directory import Directories
from bot.ids import EVERYONE, PersonId, Subject
from bot.inbound import Audience, Operator, Outsiders, Private, Shared
from bot.subjects import is_channel
from storage.search.ids import TenantId
from storage.search.index import SearchIndex
from storage.search.scope import Scope
from storage.sql.grants import Grant, Grants, LocalGroups

_USER = "user:"


class Access:
    """Says what an audience may see."""

    def __init__(
        self, tenant: TenantId, grants: Grants, groups: LocalGroups, index: SearchIndex, directories: Directories
    ) -> None:
        self._tenant, self._grants, self._groups, self._index = tenant, grants, groups, index
        self._directories = directories

    async def scope(self, audience: Audience) -> Scope:
        now = await self._directories.now(audience)
        match now:
            case Operator():
                buckets = frozenset(await self._index.buckets())
                return Scope(tenant=self._tenant, buckets=buckets, all_readers=True)
            case Private():
                return await self._of_person(now)
            case Shared():
                return await self._of_channel(now)
            case _:
                assert_never(now)

    async def is_gone(self, person: PersonId) -> bool:
        """Whether the product says that they were deactivated."""
        match await self._directories.now(Private(person=person)):
            case Private(gone=gone):
                return gone
            case Shared() | Operator():
                return False

    async def reads(self, person: PersonId, audience: Audience) -> bool | None:
        """Whether the person is still among the audience. None where the product cannot say now."""
        return await self._directories.reads(person, audience)

    async def may_go_private(self, audience: Audience, person: PersonId, scope: Scope) -> bool:
        """Whether the asker, alone, may see more buckets than this channel's readers.

        In a channel with outsiders the asker may be one of them, unless the product says otherwise.
        """
        match audience:
            case Private() | Operator():
                return False
            case Shared(outsiders=outsiders):
                alone = await self.scope(Private(person=person, guest=outsiders is not Outsiders.NONE))
                return bool(alone.buckets - scope.buckets)
            case _:
                assert_never(audience)

    async def _of_person(self, audience: Private) -> Scope:
        if audience.gone:
            return self._scope((), ())
        subjects = {Subject(f"{_USER}{audience.person}"), *audience.subjects}
        for person in spellings(audience):
            subjects |= {Subject(f"group:{group}") for group in await self._groups.of(person)}
        subjects = {subject for subject in subjects if not is_channel(subject)} - {EVERYONE}
        if not audience.guest:
            subjects.add(EVERYONE)
        return self._scope(await self._grants.for_subjects(subjects), subjects)

    async def _of_channel(self, audience: Shared) -> Scope:
        if audience.outsiders is Outsiders.NONE:
            subjects = {EVERYONE, audience.channel}
            return self._scope(await self._grants.for_subjects(subjects), subjects)
        granted = await self._grants.for_subjects({audience.channel})
        return self._scope((grant for grant in granted if grant.include_external), {audience.channel})

    def _scope(self, granted: Iterable[Grant], subjects: Iterable[Subject]) -> Scope:
        return Scope(
            tenant=self._tenant,
            buckets=frozenset(grant.bucket for grant in granted),
            subjects=frozenset(subjects),
        )


def spellings(audience: Private) -> list[PersonId]:
    """The person's id, and the others that the product says stand for the same person."""
    others = {one.removeprefix(_USER) for one in audience.subjects if one.startswith(_USER)}
    return [audience.person, *map(PersonId, sorted(others - {audience.person}))]


def scope_key(scope: Scope) -> str:
    """The same for equal rights, else another: what a conversation's state is kept by."""
    parts = [scope.tenant, sorted(scope.buckets), sorted(scope.subjects), scope.all_readers]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
