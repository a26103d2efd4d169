"""Grants of buckets to subjects, and local groups. Every change writes its audit entry in the same transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from sqlalchemy import Connection, Delete, Select, bindparam, delete, select, text
from sqlalchemy.engine import Row
from sqlmodel import AutoString, Field

from storage.search.ids import BucketId, Subject
from storage.sql import tables
from storage.sql.database import InsertStatement, JsonMapping, SqlDatabase
from storage.sql.stores.audit import write_audit_entry


@dataclass(frozen=True, kw_only=True)
class Grant:
    bucket: Annotated[BucketId, Field(primary_key=True, sa_type=AutoString)]
    subject: Annotated[Subject, Field(primary_key=True, sa_type=AutoString, index=True)]
    include_external: bool  # also applies where guests or people of another organisation can read
    granted_by: str
    granted_at: tables.UtcColumn


class GrantRow(tables.TableRow, Grant, frozen=True, table=True):
    __tablename__ = "grants"  # pyright: ignore[reportAssignmentType]


class GroupRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "groups"  # pyright: ignore[reportAssignmentType]

    id: tables.KeyText
    title: tables.PeopleText


class MemberRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "members"  # pyright: ignore[reportAssignmentType]

    group: str = Field(primary_key=True, foreign_key="groups.id", ondelete="CASCADE")
    person: str = Field(primary_key=True, index=True)


grants: Final = GrantRow.__table__
groups: Final = GroupRow.__table__
members: Final = MemberRow.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalGroup:
    """A group that is defined in Parley. Its subject is `group:` and the id."""

    id: str
    title: str
    members: frozenset[str]  # persons


class GrantStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def grant_bucket_access(
        self, bucket: BucketId, subject: Subject, *, include_external: bool = False, by: str
    ) -> Grant:
        """Grant access; an existing grant takes the new `include_external`. Writes nothing if nothing changes."""
        new = Grant(
            bucket=bucket,
            subject=subject,
            include_external=include_external,
            granted_by=by,
            granted_at=self._database.utc_now(),
        )
        return await self._database.run_write(lambda connection: self._grant_bucket_access(connection, new))

    def _grant_bucket_access(self, connection: Connection, new: Grant) -> Grant:
        old = self._load_and_lock_grant(connection, new.bucket, new.subject)
        if old is not None and old.include_external == new.include_external:
            return old
        self._upsert_grant(connection, new)
        before, after = _audit_values_of(old), _audit_values_of(new)
        audit_subject = _audit_subject_of(new.bucket, new.subject)
        write_audit_entry(
            self._database, connection, "grant", audit_subject, by=new.granted_by, before=before, after=after
        )
        return new

    def _load_and_lock_grant(self, connection: Connection, bucket: BucketId, subject: Subject) -> Grant | None:
        """Returns the grant, if any; allows one change at a time, so that the audit's `before` is correct."""
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE grants IN SHARE ROW EXCLUSIVE MODE"))
        query = select(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
        row = connection.execute(query).one_or_none()
        return None if row is None else tables.value_from_row(Grant, row)

    def _upsert_grant(self, connection: Connection, new: Grant) -> None:
        values = tables.column_values_of(new)
        updated_values = {name: value for name, value in values.items() if name not in ("bucket", "subject")}
        insert_statement = self._database.insert_into(grants).values(values)
        connection.execute(
            insert_statement.on_conflict_do_update(index_elements=["bucket", "subject"], set_=updated_values)
        )

    async def revoke_grant(self, bucket: BucketId, subject: Subject, *, by: str) -> bool:
        """Revoke a grant; False if it did not exist."""
        return await self._database.run_write(lambda connection: self._revoke_grant(connection, bucket, subject, by))

    def _revoke_grant(self, connection: Connection, bucket: BucketId, subject: Subject, by: str) -> bool:
        old = self._load_and_lock_grant(connection, bucket, subject)
        statement = delete(grants).where(grants.c.bucket == bucket, grants.c.subject == subject)
        if connection.execute(statement).rowcount == 0:
            return False
        write_audit_entry(
            self._database,
            connection,
            "revoke",
            _audit_subject_of(bucket, subject),
            by=by,
            before=_audit_values_of(old),
        )
        return True

    async def list_for_subjects(self, subjects: Collection[Subject]) -> list[Grant]:
        """Returns every grant to one of the subjects, in order of bucket and subject."""
        if not subjects:
            return []
        return await self._list_sorted_grants(_GRANTS_TO_SUBJECTS, {"subjects": sorted(subjects)})

    async def list_grants(self) -> list[Grant]:
        """Returns all grants, in order of bucket and subject."""
        return await self._list_sorted_grants(select(grants))

    async def _list_sorted_grants(self, statement: Select[Any], values: Mapping[str, Any] | None = None) -> list[Grant]:
        rows = await self._database.run_read(lambda connection: connection.execute(statement, values).all())
        found = [tables.value_from_row(Grant, row) for row in rows]
        return sorted(found, key=lambda grant: (grant.bucket, grant.subject))


class LocalGroupStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def create_group(self, group: str, title: str, *, by: str) -> bool:
        """Create a group; False if the id exists."""
        statement = self._database.insert_into(groups).values(id=group, title=title).on_conflict_do_nothing()
        write_entry = partial(
            write_audit_entry, self._database, action="group.create", matter=group, by=by, after={"title": title}
        )
        return await self._change_with_audit(statement, write_entry)

    async def add_group_member(self, group: str, person: str, *, by: str) -> bool:
        """Add a person; False if already a member. Raises `ConstraintBroken` if the group does not exist."""
        statement = self._database.insert_into(members).values(group=group, person=person).on_conflict_do_nothing()
        write_entry = partial(
            write_audit_entry, self._database, action="group.add", matter=group, by=by, after={"person": person}
        )
        return await self._change_with_audit(statement, write_entry)

    async def remove_group_member(self, group: str, person: str, *, by: str) -> bool:
        """Remove a person; False if the person is no member."""
        statement = delete(members).where(members.c.group == group, members.c.person == person)
        write_entry = partial(
            write_audit_entry, self._database, action="group.remove", matter=group, by=by, before={"person": person}
        )
        return await self._change_with_audit(statement, write_entry)

    async def _change_with_audit(
        self, change: InsertStatement | Delete, write_entry: Callable[[Connection], None]
    ) -> bool:
        """Execute the change, and write the audit entry if it changed anything; returns whether it did."""

        def change_and_audit(connection: Connection) -> bool:
            if connection.execute(change, execution_options=_PRESERVE_ROWCOUNT).rowcount == 0:
                return False
            write_entry(connection)
            return True

        return await self._database.run_write(change_and_audit)

    async def list_groups(self) -> list[LocalGroup]:
        """Returns all groups, in order of id."""
        group_rows, member_rows = await self._database.run_read(_load_groups_and_members)
        return [
            LocalGroup(
                id=group_row.id,
                title=group_row.title,
                members=frozenset(member.person for member in member_rows if member.group == group_row.id),
            )
            for group_row in group_rows
        ]

    async def group_ids_of_person(self, person: str) -> frozenset[str]:
        """Returns the ids of the groups in which the person is a member."""
        values = {"person_id": person}
        return await self._database.run_read(
            lambda connection: frozenset(connection.execute(_GROUPS_OF_PERSON, values).scalars())
        )


_GRANTS_TO_SUBJECTS = select(grants).where(grants.c.subject.in_(bindparam("subjects", expanding=True)))
_GROUPS_OF_PERSON = select(members.c.group).where(members.c.person == bindparam("person_id"))
_PRESERVE_ROWCOUNT = {"preserve_rowcount": True}


def _load_groups_and_members(connection: Connection) -> tuple[Sequence[Row[Any]], Sequence[Row[Any]]]:
    group_rows = connection.execute(select(groups).order_by(groups.c.id)).all()
    return group_rows, connection.execute(select(members)).all()


def _audit_subject_of(bucket: BucketId, subject: Subject) -> str:
    return f"{bucket} → {subject}"


def _audit_values_of(grant: Grant | None) -> JsonMapping | None:
    return None if grant is None else {"include_external": grant.include_external, "granted_by": grant.granted_by}
