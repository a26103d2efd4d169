"""Admins, besides those named in the settings. Every change writes its audit entry in the same transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, text

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import audit, write_audit_entry


@dataclass(frozen=True, kw_only=True)
class StoredAdmin:
    person: tables.KeyText
    added_by: str
    added_at: tables.UtcColumn


class AdminRow(tables.TableRow, StoredAdmin, frozen=True, table=True):
    __tablename__ = "admins"  # pyright: ignore[reportAssignmentType]


admins: Final = AdminRow.__table__


class AdminRemoval(StrEnum):
    """The outcome of removing an admin."""

    REMOVED = "removed"
    NOT_AN_ADMIN = "no_admin"
    LAST_ADMIN = "the_last"  # nothing was changed


class AdminStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list_admins(self) -> list[StoredAdmin]:
        """Returns all admins, in order of person."""
        query = select(admins).order_by(admins.c.person)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(StoredAdmin, row) for row in rows]

    async def is_admin(self, person: str) -> bool:
        query = select(admins.c.person).where(admins.c.person == person)
        return await self._database.run_read(lambda connection: connection.execute(query).first() is not None)

    async def add_admin(self, person: str, *, by: str) -> bool:
        """Add an admin; False if the person is an admin already."""
        return await self._database.run_write(lambda connection: self._add_admin(connection, person, by))

    def _add_admin(self, connection: Connection, person: str, by: str) -> bool:
        self._lock_admin_table(connection)
        if connection.execute(select(admins.c.person).where(admins.c.person == person)).first() is not None:
            return False
        connection.execute(insert(admins).values(person=person, added_by=by, added_at=self._database.utc_now()))
        write_audit_entry(self._database, connection, "admin.add", person, by=by, after={"added_by": by})
        return True

    async def remove_admin(
        self, person: str, *, by: str, has_other_admins: bool, inactive: Collection[str] = ()
    ) -> AdminRemoval:
        """Remove an admin. `has_other_admins`: there are admins outside this table, so it may become empty.

        `inactive`: admins of this table who can do nothing now, so that they are not enough to remain.
        """
        return await self._database.run_write(
            lambda connection: self._remove_admin(connection, person, by, has_other_admins, inactive)
        )

    def _remove_admin(
        self, connection: Connection, person: str, by: str, has_other_admins: bool, inactive: Collection[str]
    ) -> AdminRemoval:
        self._lock_admin_table(connection)
        old = connection.execute(select(admins).where(admins.c.person == person)).one_or_none()
        if old is None:
            return AdminRemoval.NOT_AN_ADMIN
        count_others = (
            select(func.count())
            .select_from(admins)
            .where(admins.c.person != person, admins.c.person.not_in(list(inactive)))
        )
        if not has_other_admins and connection.execute(count_others).scalar_one() == 0:
            return AdminRemoval.LAST_ADMIN
        connection.execute(delete(admins).where(admins.c.person == person))
        write_audit_entry(self._database, connection, "admin.remove", person, by=by, before={"added_by": old.added_by})
        return AdminRemoval.REMOVED

    async def record_link_use(self, link: str, person: str) -> bool:
        """Record that a person has entered the admin page by a link; False if the link was used before."""
        was_used = select(audit.c.position).where(audit.c.action == "admin.enter", audit.c.matter == link)

        def check_and_record(connection: Connection) -> bool:
            self._lock_admin_table(connection)
            if connection.execute(was_used).first() is not None:
                return False
            write_audit_entry(self._database, connection, "admin.enter", link, by=person)
            return True

        return await self._database.run_write(check_and_record)

    def _lock_admin_table(self, connection: Connection) -> None:
        """Lock the table on PostgreSQL; otherwise two admins who remove each other could leave no admin, and two
        people could enter by one link.
        """
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE admins IN SHARE ROW EXCLUSIVE MODE"))
