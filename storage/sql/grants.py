"""Grants, bucket to subject, and the local groups. Every change writes its audit entry in the same transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, text
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.search.ids import BucketId, Subject
from storage.sql.audit import record
from storage.sql.database import Database, Object
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
        async with self._database.writing() as connection:
            old = await self._granted(connection, bucket, subject)
            if old is not None and old.include_external == include_external:
                return old
            await self._put(connection, new)
            matter, before = _matter(bucket, subject), _auditable(old)
            await record(self._database, connection, "grant", matter, by=by, before=before, after=_auditable(new))
        return new

    async def _granted(self, connection: AsyncConnection, bucket: BucketId, subject: Subject) -> Grant | None:
        """One change at a time, so that the audit's `before` is what was there."""
        if not self._database.is_file:
            await connection.execute(text("LOCK TABLE grants IN SHARE ROW EXCLUSIVE MODE"))
        asked = select(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
        row = (await connection.execute(asked)).one_or_none()
        return None if row is None else _grant(row)

    async def _put(self, connection: AsyncConnection, new: Grant) -> None:
        values = {name: getattr(new, name) for name in _FIELDS}
        changing = {name: value for name, value in values.items() if name not in ("bucket", "subject")}
        upsert = self._database.insert(grants).values(values)
        await connection.execute(upsert.on_conflict_do_update(index_elements=["bucket", "subject"], set_=changing))

    async def revoke(self, bucket: BucketId, subject: Subject, *, by: str) -> bool:
        """Whether there was such a grant."""
        async with self._database.writing() as connection:
            old = await self._granted(connection, bucket, subject)
            revoking = delete(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
            if (await connection.execute(revoking)).rowcount == 0:
                return False
            matter = _matter(bucket, subject)
            await record(self._database, connection, "revoke", matter, by=by, before=_auditable(old))
        return True

    async def for_subjects(self, subjects: Collection[Subject]) -> list[Grant]:
        """Every grant to one of them, by bucket and subject."""
        if not subjects:
            return []
        asked = select(grants).where(grants.c.subject.in_(sorted(subjects)))
        return await self._listed(asked)

    async def all(self) -> list[Grant]:
        """By bucket and subject."""
        return await self._listed(select(grants))

    async def _listed(self, asked: Any) -> list[Grant]:
        async with self._database.reading() as connection:
            rows = (await connection.execute(asked)).all()
        return sorted(map(_grant, rows), key=lambda grant: (grant.bucket, grant.subject))


class LocalGroups:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, group: str, title: str, *, by: str) -> bool:
        """False when there is one of this id already."""
        creating = self._database.insert(groups).values(id=group, title=title).on_conflict_do_nothing()
        async with self._database.writing() as connection:
            if (await connection.execute(creating, execution_options=_COUNTED)).rowcount == 0:
                return False
            await record(self._database, connection, "group.create", group, by=by, after={"title": title})
        return True

    async def add(self, group: str, person: str, *, by: str) -> bool:
        """False when the person is in it already. Raises `ConstraintBroken` when there is no such group."""
        adding = self._database.insert(members).values(group=group, person=person).on_conflict_do_nothing()
        async with self._database.writing() as connection:
            if (await connection.execute(adding, execution_options=_COUNTED)).rowcount == 0:
                return False
            await record(self._database, connection, "group.add", group, by=by, after={"person": person})
        return True

    async def remove(self, group: str, person: str, *, by: str) -> bool:
        """Whether the person was in it."""
        removing = delete(members).where(members.c.group == group, members.c.person == person)
        async with self._database.writing() as connection:
            if (await connection.execute(removing)).rowcount == 0:
                return False
            await record(self._database, connection, "group.remove", group, by=by, before={"person": person})
        return True

    async def all(self) -> list[LocalGroup]:
        """By id."""
        async with self._database.reading() as connection:
            titles = (await connection.execute(select(groups).order_by(groups.c.id))).all()
            rows = (await connection.execute(select(members))).all()
        return [
            LocalGroup(id=row.id, title=row.title, members=frozenset(m.person for m in rows if m.group == row.id))
            for row in titles
        ]

    async def of(self, person: str) -> frozenset[str]:
        """The ids of the groups that the person is in."""
        async with self._database.reading() as connection:
            return frozenset(
                (await connection.execute(select(members.c.group).where(members.c.person == person))).scalars()
            )


_COUNTED = {"preserve_rowcount": True}
_FIELDS = tuple(Grant.__dataclass_fields__)


def _grant(row: Row[Any]) -> Grant:
    return Grant(**{name: getattr(row, name) for name in _FIELDS})


def _matter(bucket: BucketId, subject: Subject) -> str:
    return f"{bucket} → {subject}"


def _auditable(grant: Grant | None) -> Object | None:
    return None if grant is None else {"include_external": grant.include_external, "granted_by": grant.granted_by}
