"""Grants, bucket to subject, and the local groups. Every change writes its audit entry in the same transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Delete, Select, bindparam, delete, select, text
from sqlalchemy.engine import Row

from storage.search.ids import BucketId, Subject
from storage.sql.audit import record
from storage.sql.database import Database, Insert, Object
from storage.sql.tables import grants, groups, members


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    bucket: BucketId
    subject: Subject
    include_external: bool  # also where guests or people of another organisation read along
    granted_by: str
    granted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalGroup:
    """A group of Parley's own. Its subject is `group:` and the id."""

    id: str
    title: str
    members: frozenset[str]  # persons


class Grants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def grant(self, bucket: BucketId, subject: Subject, *, include_external: bool = False, by: str) -> Grant:
        """A grant that is there already takes the new `include_external`; if nothing changes, nothing is written."""
        new = Grant(
            bucket=bucket,
            subject=subject,
            include_external=include_external,
            granted_by=by,
            granted_at=self._database.now(),
        )
        return await self._database.write(lambda connection: self._grant(connection, new))

    def _grant(self, connection: Connection, new: Grant) -> Grant:
        old = self._granted(connection, new.bucket, new.subject)
        if old is not None and old.include_external == new.include_external:
            return old
        self._put(connection, new)
        before, after = _auditable(old), _auditable(new)
        matter = _matter(new.bucket, new.subject)
        record(self._database, connection, "grant", matter, by=new.granted_by, before=before, after=after)
        return new

    def _granted(self, connection: Connection, bucket: BucketId, subject: Subject) -> Grant | None:
        """One change at a time, so that the audit's `before` is what was there."""
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE grants IN SHARE ROW EXCLUSIVE MODE"))
        asked = select(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
        row = connection.execute(asked).one_or_none()
        return None if row is None else _grant(row)

    def _put(self, connection: Connection, new: Grant) -> None:
        values = {name: getattr(new, name) for name in _FIELDS}
        changing = {name: value for name, value in values.items() if name not in ("bucket", "subject")}
        upsert = self._database.insert(grants).values(values)
        connection.execute(upsert.on_conflict_do_update(index_elements=["bucket", "subject"], set_=changing))

    async def revoke(self, bucket: BucketId, subject: Subject, *, by: str) -> bool:
        """Whether there was such a grant."""
        return await self._database.write(lambda connection: self._revoke(connection, bucket, subject, by))

    def _revoke(self, connection: Connection, bucket: BucketId, subject: Subject, by: str) -> bool:
        old = self._granted(connection, bucket, subject)
        revoking = delete(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
        if connection.execute(revoking).rowcount == 0:
            return False
        record(self._database, connection, "revoke", _matter(bucket, subject), by=by, before=_auditable(old))
        return True

    async def for_subjects(self, subjects: Collection[Subject]) -> list[Grant]:
        """Every grant to one of them, by bucket and subject."""
        if not subjects:
            return []
        return await self._listed(_TO_SUBJECTS, {"subjects": sorted(subjects)})

    async def all(self) -> list[Grant]:
        """By bucket and subject."""
        return await self._listed(select(grants))

    async def _listed(self, asked: Select[Any], values: Mapping[str, Any] | None = None) -> list[Grant]:
        rows = await self._database.read(lambda connection: connection.execute(asked, values).all())
        return sorted(map(_grant, rows), key=lambda grant: (grant.bucket, grant.subject))


class LocalGroups:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, group: str, title: str, *, by: str) -> bool:
        """False when there is one of this id already."""
        creating = self._database.insert(groups).values(id=group, title=title).on_conflict_do_nothing()
        entry = partial(record, self._database, action="group.create", matter=group, by=by, after={"title": title})
        return await self._change(creating, entry)

    async def add(self, group: str, person: str, *, by: str) -> bool:
        """False when the person is in it already. Raises `ConstraintBroken` when there is no such group."""
        adding = self._database.insert(members).values(group=group, person=person).on_conflict_do_nothing()
        entry = partial(record, self._database, action="group.add", matter=group, by=by, after={"person": person})
        return await self._change(adding, entry)

    async def remove(self, group: str, person: str, *, by: str) -> bool:
        """Whether the person was in it."""
        removing = delete(members).where(members.c.group == group, members.c.person == person)
        entry = partial(record, self._database, action="group.remove", matter=group, by=by, before={"person": person})
        return await self._change(removing, entry)

    async def _change(self, change: Insert | Delete, entry: Callable[[Connection], None]) -> bool:
        """Whether it changed anything: then the entry stands beside it."""

        def changed(connection: Connection) -> bool:
            if connection.execute(change, execution_options=_COUNTED).rowcount == 0:
                return False
            entry(connection)
            return True

        return await self._database.write(changed)

    async def all(self) -> list[LocalGroup]:
        """By id."""
        titles, rows = await self._database.read(_groups_and_members)
        return [
            LocalGroup(id=row.id, title=row.title, members=frozenset(m.person for m in rows if m.group == row.id))
            for row in titles
        ]

    async def of(self, person: str) -> frozenset[str]:
        """The ids of the groups that the person is in."""
        asked = {"one": person}
        return await self._database.read(lambda connection: frozenset(connection.execute(_GROUPS_OF, asked).scalars()))


_TO_SUBJECTS = select(grants).where(grants.c.subject.in_(bindparam("subjects", expanding=True)))
_GROUPS_OF = select(members.c.group).where(members.c.person == bindparam("one"))
_COUNTED = {"preserve_rowcount": True}
_FIELDS = tuple(Grant.__dataclass_fields__)


def _groups_and_members(connection: Connection) -> tuple[Sequence[Row[Any]], Sequence[Row[Any]]]:
    titles = connection.execute(select(groups).order_by(groups.c.id)).all()
    return titles, connection.execute(select(members)).all()


def _grant(row: Row[Any]) -> Grant:
    return Grant(**{name: getattr(row, name) for name in _FIELDS})


def _matter(bucket: BucketId, subject: Subject) -> str:
    return f"{bucket} → {subject}"


def _auditable(grant: Grant | None) -> Object | None:
    return None if grant is None else {"include_external": grant.include_external, "granted_by": grant.granted_by}
