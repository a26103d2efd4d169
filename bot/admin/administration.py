"""The administration: what admins see and change, the same in every chat product and on the command line.

Each call names the person who asks, and is refused if that person is not an admin at that moment. Changes are audited
in the same transaction as the rows that they change.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bot.access.audience_scope import AccessResolver, person_ids_of
from bot.access.subjects import check_grant_subject
from bot.admin.bucket_syncs import BucketSync
from bot.admin.sources import SourceOperations
from bot.conversation.personal_history import PastQuestion, past_questions_of
from bot.errors import (
    AdminFromSettings,
    ConcurrentChange,
    IneligibleAdmin,
    LastAdmin,
    MissingBucket,
    NotAdmin,
    UnknownGroup,
)
from bot.ids import OPERATOR, BucketId, PersonId, Subject
from bot.settings import Settings
from bot.surface.inbound import PrivateAudience
from bot.surface.product_directories import ProductDirectories
from storage.search.bucket_parts import is_part, whole_bucket_of, with_parts
from storage.search.index import BucketState, SearchIndex
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.stores.admins import AdminRemoval, AdminStore
from storage.sql.stores.audit import AuditEntry, AuditLog
from storage.sql.stores.grants import Grant, GrantStore, LocalGroup, LocalGroupStore
from storage.sql.stores.history import QuestionHistory
from storage.sql.stores.limits import LimitStore, QuestionLimit

__all__ = [
    "AdminEntry",
    "AdminOperations",
    "AdminOverview",
    "AuditEntry",
    "BucketOverview",
    "Grant",
    "LocalGroup",
    "QuestionLimit",
    "local_group_of",
]

LOOK_BACK_PERIOD: Final = timedelta(days=30)
_ACTIONS_IN_BUCKETS: Final = ("schema.", "value.", "retention")  # each is about the bucket that it names


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketOverview:
    """`document_count`: with those of its parts; None: nothing is loaded, but the bucket has
    grants or a source.

    `sync` None: it has no source.
    """

    id: BucketId
    title: str
    document_count: int | None
    sync: BucketSync | None
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminEntry:
    """`is_from_settings`: named in PARLEY_ADMINS, and therefore always an admin.

    `added_by`, `added_at`: of an admin who was added by another.
    """

    person: PersonId
    is_from_settings: bool
    added_by: PersonId | None = None
    added_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOverview:
    """`unanswered` and `rated_badly`: of the last 30 days, the newest first."""

    buckets: tuple[BucketOverview, ...]
    admins: tuple[AdminEntry, ...]
    limits: Mapping[QuestionLimit, int]
    unanswered: tuple[PastQuestion, ...]
    rated_badly: tuple[PastQuestion, ...]


class AdminOperations:
    def __init__(
        self,
        *,
        settings: Settings,
        database: SqlDatabase,
        index: SearchIndex,
        sources: SourceOperations,
        grants: GrantStore,
        groups: LocalGroupStore,
        directories: ProductDirectories,
        access: AccessResolver,
    ) -> None:
        self._settings_admins, self._now = frozenset(settings.admins), database.utc_now
        self._settings, self._database = settings, database
        self._index, self._sources, self._directories, self._access = index, sources, directories, access
        self._grants, self._groups, self._admins = grants, groups, AdminStore(database)
        self._limits, self._history = LimitStore(database), QuestionHistory(database)
        self._audit_log = AuditLog(database)

    async def is_admin(self, person: PersonId) -> bool:
        """Whether the person is an admin now. The operator always is; a person who has left the
        organisation never is.
        """
        if person == OPERATOR:
            return True
        audience = await self._directories.refresh_audience(PrivateAudience(person=person))
        if not isinstance(audience, PrivateAudience) or audience.is_deactivated:
            return False
        for person_id in person_ids_of(audience):
            if person_id in self._settings_admins or await self._admins.is_admin(person_id):
                return True
        return False

    async def load_overview(self, by: PersonId, *, max_questions: int) -> AdminOverview:
        """At most `max_questions` questions of each kind. Raises `NotAdmin`."""
        await self._check_admin(by)
        return AdminOverview(
            buckets=await self._load_buckets(by),
            admins=await self._load_admins(),
            limits=await self._limits.load_set_limits(),
            unanswered=await self._load_unanswered_questions(max_questions),
            rated_badly=await self._load_badly_rated_questions(max_questions),
        )

    # -- grants

    async def list_buckets(self, by: PersonId) -> tuple[BucketOverview, ...]:
        """All buckets by id, with their grants; also buckets that do not exist but have grants or a source. Why a sync
        failed is told of the buckets that are granted to the admin: it may name what is in them. Raises `NotAdmin`.
        """
        await self._check_admin(by)
        return await self._load_buckets(by)

    async def list_groups(self, by: PersonId) -> list[LocalGroup]:
        """Parley's own groups. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._groups.list_groups()

    async def grant_bucket(
        self, bucket: BucketId, subject: Subject, *, include_external: bool = False, by: PersonId
    ) -> None:
        """Takes effect with the next question, for the parts of the bucket too. A part has no grants of its own.

        Raises `NotAdmin`, `InvalidSubject`, `MissingBucket`, `UnknownGroup`.
        """
        await self._check_admin(by)
        check_grant_subject(subject, include_external=include_external)
        if is_part(bucket) or bucket not in await self._index.load_bucket_names():
            raise MissingBucket(bucket)
        group = local_group_of(subject)
        if group is not None and group not in [local_group.id for local_group in await self._groups.list_groups()]:
            raise UnknownGroup(group)
        await self._grants.grant_bucket_access(bucket, subject, include_external=include_external, by=by)

    async def revoke_grant(self, bucket: BucketId, subject: Subject, *, by: PersonId) -> bool:
        """Whether there was such a grant. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._grants.revoke_grant(bucket, subject, by=by)

    # -- admins

    async def list_admins(self, by: PersonId) -> tuple[AdminEntry, ...]:
        """The admins, by person. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._load_admins()

    async def add_admin(self, person: PersonId, *, by: PersonId) -> bool:
        """False when the person is an admin already. Raises `NotAdmin`, `IneligibleAdmin`."""
        await self._check_admin(by)
        audience = await self._directories.refresh_audience(PrivateAudience(person=person))
        if isinstance(audience, PrivateAudience) and (audience.is_deactivated or audience.is_guest):
            raise IneligibleAdmin()
        return person not in self._settings_admins and await self._admins.add_admin(person, by=by)

    async def remove_admin(self, person: PersonId, *, by: PersonId) -> bool:
        """Whether the person was an admin. An admin who has left the organisation is not enough to remain.

        Raises `NotAdmin`, `AdminFromSettings`, `LastAdmin`.
        """
        await self._check_admin(by)
        if person in self._settings_admins:
            raise AdminFromSettings()
        admins = [admin.person for admin in await self._load_admins()]
        inactive = {admin for admin in admins if not await self.is_admin(admin)}
        match await self._admins.remove_admin(
            person, by=by, has_other_admins=not self._settings_admins <= inactive, inactive=inactive
        ):
            case AdminRemoval.LAST_ADMIN:
                raise LastAdmin()
            case removal:
                return removal is AdminRemoval.REMOVED

    # -- limits

    async def list_limits(self, by: PersonId) -> Mapping[QuestionLimit, int]:
        """The limits that are set. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._limits.load_set_limits()

    async def change_limits(
        self, before: Mapping[QuestionLimit, int], after: Mapping[QuestionLimit, int], *, by: PersonId
    ) -> None:
        """`before`: the limits as they were shown to the person who changes them. Raises `NotAdmin`,
        `ConcurrentChange`.
        """
        await self._check_admin(by)
        if not await self._limits.change_limits_if_unchanged(before, after, by=by):
            raise ConcurrentChange()

    # -- questions

    async def list_unanswered_questions(self, by: PersonId, limit: int) -> tuple[PastQuestion, ...]:
        """Questions of the last 30 days that found nothing, were refused or failed. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._load_unanswered_questions(limit)

    async def list_badly_rated_questions(self, by: PersonId, limit: int) -> tuple[PastQuestion, ...]:
        """Badly rated questions of the last 30 days. Raises `NotAdmin`."""
        await self._check_admin(by)
        return await self._load_badly_rated_questions(limit)

    # -- the admin page

    async def create_page_link(self, by: PersonId) -> str:
        """The address that opens the admin page for this admin, once, within ten minutes. Raises `NotAdmin`."""
        from bot.admin.admin_page.entrance import AdminEntrance

        entrance = AdminEntrance(administration=self, database=self._database, settings=self._settings)
        return await entrance.create_link(by)

    # -- the audit log

    async def list_changes(self, by: PersonId, limit: int) -> tuple[AuditEntry, ...]:
        """What was changed and by whom, the newest first. The values of a change in a bucket, which may name its fields
        and what its documents say, are told of the buckets that are granted to the admin. Raises `NotAdmin`.
        """
        await self._check_admin(by)
        entries = await self._audit_log.list_newest_entries(limit)
        if by == OPERATOR:
            return tuple(entries)
        buckets = (await self._load_scope(by)).buckets
        return tuple(
            entry if _is_open_entry(entry, buckets) else replace(entry, before=None, after=None) for entry in entries
        )

    async def _check_admin(self, by: PersonId) -> None:
        if not await self.is_admin(by):
            raise NotAdmin()

    async def _load_scope(self, by: PersonId) -> Scope:
        from bot.admin.admin_page.bucket_status import scope_for_admin

        return await scope_for_admin(self._access, by)

    async def _load_buckets(self, by: PersonId) -> tuple[BucketOverview, ...]:
        states, grants, syncs, scope = await asyncio.gather(
            self._index.load_bucket_states(),
            self._grants.list_grants(),
            self._sources.list_bucket_syncs(),
            self._load_scope(by),
        )
        open_buckets = syncs.keys() if by == OPERATOR else scope.buckets  # also buckets with nothing loaded yet
        syncs = {id_: sync if id_ in open_buckets else replace(sync, reason="") for id_, sync in syncs.items()}
        wholes = {whole_bucket_of(id_) for id_ in states} | {grant.bucket for grant in grants} | syncs.keys()
        overviews = {id_: _bucket_overview_of(id_, states, syncs.get(id_)) for id_ in sorted(wholes)}
        for grant in grants:
            overviews[grant.bucket] = replace(overviews[grant.bucket], grants=(*overviews[grant.bucket].grants, grant))
        return tuple(overviews.values())

    async def _load_admins(self) -> tuple[AdminEntry, ...]:
        stored = {PersonId(admin.person): admin for admin in await self._admins.list_admins()}
        return tuple(
            AdminEntry(person=person, is_from_settings=True)
            if person in self._settings_admins
            else AdminEntry(
                person=person,
                is_from_settings=False,
                added_by=PersonId(stored[person].added_by),
                added_at=stored[person].added_at,
            )
            for person in sorted(stored.keys() | self._settings_admins)
        )

    async def _load_unanswered_questions(self, limit: int) -> tuple[PastQuestion, ...]:
        return past_questions_of(await self._history.list_unanswered(self._now() - LOOK_BACK_PERIOD, limit))

    async def _load_badly_rated_questions(self, limit: int) -> tuple[PastQuestion, ...]:
        return past_questions_of(await self._history.list_rated_badly(self._now() - LOOK_BACK_PERIOD, limit))


def local_group_of(subject: Subject) -> str | None:
    """The id of the subject if it is one of Parley's own groups."""
    kind, _, rest = subject.partition(":")
    return rest if kind == "group" and ":" not in rest else None


def _is_open_entry(entry: AuditEntry, buckets: Collection[BucketId]) -> bool:
    """Whether the values before and after are about one of these buckets, or about none."""
    if entry.action.startswith(_ACTIONS_IN_BUCKETS):
        return whole_bucket_of(BucketId(entry.matter)) in buckets
    if entry.action == "source.remove":
        return (entry.before or {}).get("bucket") in buckets
    return True


def _bucket_overview_of(
    id_: BucketId, states: Mapping[BucketId, BucketState], sync: BucketSync | None
) -> BucketOverview:
    state, members = states.get(id_), with_parts({id_}, states) & states.keys()
    return BucketOverview(
        id=id_,
        title=id_ if state is None else state.schema.label,
        document_count=sum(states[member].document_count for member in members) if members else None,
        sync=sync,
        grants=(),
    )
