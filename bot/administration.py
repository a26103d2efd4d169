"""What admins see and change, the same in every chat product and on the command line.

Each call says who asks, and is refused to whoever is no admin at that moment. Changes are audited with the rows that
they change.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bot.access import spellings
from bot.directory import Directories
from bot.errors import (
    AdminBySettings,
    ChangedMeanwhile,
    LastAdmin,
    NoSuchBucket,
    NoSuchGroup,
    NotAdmin,
    UnfitAdmin,
)
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.inbound import Private
from bot.personal import PastQuestion, questions_of
from bot.settings import Settings
from bot.sources import Sources
from bot.subjects import check_grant
from storage.search.index import BucketState, SearchIndex
from storage.sql.admins import Admins, Removal
from storage.sql.database import Database
from storage.sql.grants import Grant, Grants, LocalGroup, LocalGroups
from storage.sql.history import History
from storage.sql.limits import Limit
from storage.sql.limits import Limits as LimitStore

__all__ = ["Admin", "Administration", "Bucket", "Grant", "Limit", "LocalGroup", "Overview", "local_group"]

LOOKED_BACK: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """`documents` None: there are grants of it, but the bucket is gone. `synced`: None without a source."""

    id: BucketId
    title: str
    documents: int | None
    synced: datetime | None
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    """`by_settings`: named in PARLEY_ADMINS, so an admin always."""

    person: PersonId
    by_settings: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """`unanswered` and `rated_badly`: of the last 30 days, the newest first."""

    buckets: tuple[Bucket, ...]
    admins: tuple[Admin, ...]
    limits: Mapping[Limit, int]
    unanswered: tuple[PastQuestion, ...]
    rated_badly: tuple[PastQuestion, ...]


class Administration:
    def __init__(
        self,
        *,
        settings: Settings,
        database: Database,
        index: SearchIndex,
        sources: Sources,
        grants: Grants,
        groups: LocalGroups,
        directories: Directories,
    ) -> None:
        self._by_settings, self._now = frozenset(settings.admins), database.now
        self._index, self._sources, self._directories = index, sources, directories
        self._grants, self._groups, self._admins = grants, groups, Admins(database)
        self._limits, self._history = LimitStore(database), History(database)

    async def is_admin(self, person: PersonId) -> bool:
        """The operator always; who left the organisation never."""
        if person == OPERATOR:
            return True
        now = await self._directories.now(Private(person=person))
        if not isinstance(now, Private) or now.gone:
            return False
        for one in spellings(now):
            if one in self._by_settings or await self._admins.has(one):
                return True
        return False

    async def overview(self, by: PersonId, *, questions: int) -> Overview:
        """At most so many questions of each kind. Raises `NotAdmin`."""
        await self._check(by)
        return Overview(
            buckets=await self._buckets(),
            admins=await self._all_admins(),
            limits=await self._limits.all(),
            unanswered=await self._unanswered(questions),
            rated_badly=await self._rated_badly(questions),
        )

    # -- grants

    async def buckets(self, by: PersonId) -> tuple[Bucket, ...]:
        """All, by id, with their grants; also those that are gone but granted. Raises `NotAdmin`."""
        await self._check(by)
        return await self._buckets()

    async def groups(self, by: PersonId) -> list[LocalGroup]:
        """Parley's own. Raises `NotAdmin`."""
        await self._check(by)
        return await self._groups.all()

    async def grant(self, bucket: BucketId, subject: Subject, *, include_external: bool = False, by: PersonId) -> None:
        """Counts from the next question on. Raises `NotAdmin`, `InvalidSubject`, `NoSuchBucket`, `NoSuchGroup`."""
        await self._check(by)
        check_grant(subject, include_external=include_external)
        if bucket not in await self._index.buckets():
            raise NoSuchBucket(bucket)
        group = local_group(subject)
        if group is not None and group not in [one.id for one in await self._groups.all()]:
            raise NoSuchGroup(group)
        await self._grants.grant(bucket, subject, include_external=include_external, by=by)

    async def revoke(self, bucket: BucketId, subject: Subject, *, by: PersonId) -> bool:
        """Whether there was such a grant. Raises `NotAdmin`."""
        await self._check(by)
        return await self._grants.revoke(bucket, subject, by=by)

    # -- admins

    async def admins(self, by: PersonId) -> tuple[Admin, ...]:
        """By person. Raises `NotAdmin`."""
        await self._check(by)
        return await self._all_admins()

    async def add_admin(self, person: PersonId, *, by: PersonId) -> bool:
        """False when the person is one already. Raises `NotAdmin`, `UnfitAdmin`."""
        await self._check(by)
        now = await self._directories.now(Private(person=person))
        if isinstance(now, Private) and (now.gone or now.guest):
            raise UnfitAdmin()
        return person not in self._by_settings and await self._admins.add(person, by=by)

    async def remove_admin(self, person: PersonId, *, by: PersonId) -> bool:
        """Whether the person was one. Raises `NotAdmin`, `AdminBySettings`, `LastAdmin`."""
        await self._check(by)
        if person in self._by_settings:
            raise AdminBySettings()
        match await self._admins.remove(person, by=by, others=bool(self._by_settings)):
            case Removal.THE_LAST:
                raise LastAdmin()
            case removal:
                return removal is Removal.REMOVED

    # -- limits

    async def limits(self, by: PersonId) -> Mapping[Limit, int]:
        """Those that are set. Raises `NotAdmin`."""
        await self._check(by)
        return await self._limits.all()

    async def change_limits(self, before: Mapping[Limit, int], after: Mapping[Limit, int], *, by: PersonId) -> None:
        """`before`: as they were shown to whoever changes them. Raises `NotAdmin`, `ChangedMeanwhile`."""
        await self._check(by)
        if not await self._limits.change(before, after, by=by):
            raise ChangedMeanwhile()

    # -- questions

    async def unanswered(self, by: PersonId, limit: int) -> tuple[PastQuestion, ...]:
        """Of the last 30 days: nothing found, refused or failed. Raises `NotAdmin`."""
        await self._check(by)
        return await self._unanswered(limit)

    async def rated_badly(self, by: PersonId, limit: int) -> tuple[PastQuestion, ...]:
        """Of the last 30 days. Raises `NotAdmin`."""
        await self._check(by)
        return await self._rated_badly(limit)

    async def _check(self, by: PersonId) -> None:
        if not await self.is_admin(by):
            raise NotAdmin()

    async def _buckets(self) -> tuple[Bucket, ...]:
        states, granted, synced = await asyncio.gather(
            self._index.buckets(), self._grants.all(), self._sources.last_synced()
        )
        found = {
            id_: _bucket(id_, states.get(id_), synced.get(id_))
            for id_ in sorted({*states, *(one.bucket for one in granted)})
        }
        for grant in granted:
            found[grant.bucket] = replace(found[grant.bucket], grants=(*found[grant.bucket].grants, grant))
        return tuple(found.values())

    async def _all_admins(self) -> tuple[Admin, ...]:
        stored = {PersonId(one.person) for one in await self._admins.all()}
        return tuple(
            Admin(person=person, by_settings=person in self._by_settings)
            for person in sorted(stored | self._by_settings)
        )

    async def _unanswered(self, limit: int) -> tuple[PastQuestion, ...]:
        return questions_of(await self._history.unanswered(self._now() - LOOKED_BACK, limit))

    async def _rated_badly(self, limit: int) -> tuple[PastQuestion, ...]:
        return questions_of(await self._history.rated_badly(self._now() - LOOKED_BACK, limit))


def local_group(subject: Subject) -> str | None:
    """The id of one of Parley's own groups."""
    kind, _, rest = subject.partition(":")
    return rest if kind == "group" and ":" not in rest else None


def _bucket(id_: BucketId, state: BucketState | None, synced: datetime | None) -> Bucket:
    return Bucket(
        id=id_,
        title=id_ if state is None else state.schema.label,
        documents=None if state is None else state.documents,
        synced=synced,
        grants=(),
    )
