"""Grants of buckets to subjects, local groups, and links between ids of the same person.

Every change by a person writes its audit entry in the same transaction.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from sqlalchemy import Connection, Delete, Select, bindparam, delete, insert, select, text, update
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


class PersonLinkRow(tables.TableRow, frozen=True, table=True):
    """People with the same key are the same person. A person has at most one key of each kind: `link:…`, `email:…`."""

    __tablename__ = "person_links"  # pyright: ignore[reportAssignmentType]

    person: str = Field(primary_key=True)
    key: str = Field(primary_key=True, index=True)
    linked_by: str
    linked_at: tables.UtcColumn


grants: Final = GrantRow.__table__
groups: Final = GroupRow.__table__
members: Final = MemberRow.__table__
person_links: Final = PersonLinkRow.__table__


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
        """Remove a person; False if the person is not a member."""
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


class PersonLinkStore:
    """Ids that belong to the same person: linked by an admin, or seen with the same e-mail address."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def link_persons(self, first: str, second: str, *, by: str) -> bool:
        """Link two ids, and with them those that each is linked with; False if they are linked already."""
        return await self._database.run_write(lambda connection: self._link_persons(connection, first, second, by))

    def _link_persons(self, connection: Connection, first: str, second: str, by: str) -> bool:
        self._lock_links(connection)
        first_key, second_key = _link_key_of(connection, first), _link_key_of(connection, second)
        if first == second or (first_key is not None and first_key == second_key):
            return False
        key = first_key or second_key or f"{_LINK_PREFIX}{uuid.uuid4().hex}"
        if first_key is not None and second_key is not None:
            connection.execute(update(person_links).where(person_links.c.key == second_key).values(key=first_key))
        for person, old_key in ((first, first_key), (second, second_key)):
            if old_key is None:
                self._insert_link(connection, person, key, by)
        write_audit_entry(self._database, connection, "person.link", first, by=by, after={"person": second})
        return True

    async def unlink_person(self, person: str, *, by: str) -> bool:
        """Take an id out of its links; False if it has none."""
        return await self._database.run_write(lambda connection: self._unlink_person(connection, person, by))

    def _unlink_person(self, connection: Connection, person: str, by: str) -> bool:
        self._lock_links(connection)
        key = _link_key_of(connection, person)
        if key is None:
            return False
        linked = connection.execute(_PERSONS_OF_KEY, {"sought_key": key}).scalars().all()
        gone = [person] if len(linked) > 2 else linked  # the last one alone is linked with nobody
        connection.execute(delete(person_links).where(person_links.c.key == key, person_links.c.person.in_(gone)))
        before = {"persons": sorted(linked)}
        write_audit_entry(self._database, connection, "person.unlink", person, by=by, before=before)
        return True

    async def list_linked_persons(self) -> list[list[str]]:
        """Returns the ids of each person whom an admin has linked, in order."""
        rows = await self._database.run_read(lambda connection: connection.execute(_ALL_LINKS).all())
        persons_by_key: dict[str, list[str]] = {}
        for row in rows:
            persons_by_key.setdefault(row.key, []).append(row.person)
        return sorted(persons_by_key.values())

    async def find_linked_persons(self, person: str) -> frozenset[str]:
        """Returns the other ids that an admin has linked with this one."""
        return await self._find_others(person, _LINK_PREFIX)

    async def find_persons_of_same_email(self, person: str) -> frozenset[str]:
        """Returns the other ids that were last seen with the same e-mail address."""
        return await self._find_others(person, _EMAIL_PREFIX)

    async def note_email(self, person: str, email_hash: str | None) -> None:
        """Keep the hash of the person's present address, in place of an earlier one. None: there is none now."""
        key = None if email_hash is None else f"{_EMAIL_PREFIX}{email_hash}"
        values = {"person_id": person, "key_prefix": f"{_EMAIL_PREFIX}%"}
        present = await self._database.run_read(
            lambda connection: connection.execute(_KEY_OF_PERSON, values).scalar_one_or_none()
        )
        if present != key:
            await self._database.run_write(lambda connection: self._replace_email_key(connection, person, key))

    def _replace_email_key(self, connection: Connection, person: str, key: str | None) -> None:
        self._lock_links(connection)
        is_email_key = person_links.c.key.startswith(_EMAIL_PREFIX)
        connection.execute(delete(person_links).where(person_links.c.person == person, is_email_key))
        if key is not None:
            self._insert_link(connection, person, key, by=person)

    def _insert_link(self, connection: Connection, person: str, key: str, by: str) -> None:
        values = {"person": person, "key": key, "linked_by": by, "linked_at": self._database.utc_now()}
        connection.execute(insert(person_links).values(values))

    def _lock_links(self, connection: Connection) -> None:
        """Lock the table on PostgreSQL, so that a person has one key of a kind."""
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE person_links IN SHARE ROW EXCLUSIVE MODE"))

    async def _find_others(self, person: str, prefix: str) -> frozenset[str]:
        values = {"person_id": person, "key_prefix": f"{prefix}%"}
        return await self._database.run_read(
            lambda connection: frozenset(connection.execute(_OTHERS_WITH_KEY, values).scalars())
        )


def _link_key_of(connection: Connection, person: str) -> str | None:
    values = {"person_id": person, "key_prefix": f"{_LINK_PREFIX}%"}
    return connection.execute(_KEY_OF_PERSON, values).scalar_one_or_none()


_LINK_PREFIX: Final = "link:"
_EMAIL_PREFIX: Final = "email:"
_KEY_OF_PERSON = select(person_links.c.key).where(
    person_links.c.person == bindparam("person_id"), person_links.c.key.like(bindparam("key_prefix"))
)
_PERSONS_OF_KEY = select(person_links.c.person).where(person_links.c.key == bindparam("sought_key"))
_ALL_LINKS = (
    select(person_links.c.key, person_links.c.person)
    .where(person_links.c.key.startswith(_LINK_PREFIX))
    .order_by(person_links.c.key, person_links.c.person)
)
_OTHERS_WITH_KEY = select(person_links.c.person).where(
    person_links.c.key.in_(_KEY_OF_PERSON), person_links.c.person != bindparam("person_id")
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
