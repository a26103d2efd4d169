"""Who may administer, beside those whom the settings name. Every change writes its audit entry with it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, delete, func, insert, select, text

from storage.sql.audit import record
from storage.sql.database import Database
from storage.sql.tables import admins


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    person: str
    added_by: str
    added_at: datetime


class Removal(StrEnum):
    """What became of removing an admin."""

    REMOVED = "removed"
    NO_ADMIN = "no_admin"
    THE_LAST = "the_last"  # and so nothing was changed


class Admins:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[Admin]:
        """By person."""
        asked = select(admins).order_by(admins.c.person)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return [Admin(person=row.person, added_by=row.added_by, added_at=row.added_at) for row in rows]

    async def has(self, person: str) -> bool:
        asked = select(admins.c.person).where(admins.c.person == person)
        return await self._database.read(lambda connection: connection.execute(asked).first() is not None)

    async def add(self, person: str, *, by: str) -> bool:
        """False when the person is one already."""
        return await self._database.write(lambda connection: self._add(connection, person, by))

    def _add(self, connection: Connection, person: str, by: str) -> bool:
        self._one_at_a_time(connection)
        if connection.execute(select(admins.c.person).where(admins.c.person == person)).first() is not None:
            return False
        connection.execute(insert(admins).values(person=person, added_by=by, added_at=self._database.now()))
        record(self._database, connection, "admin.add", person, by=by, after={"added_by": by})
        return True

    async def remove(self, person: str, *, by: str, others: bool) -> Removal:
        """`others`: there are admins whom this table does not know, so that it may become empty."""
        return await self._database.write(lambda connection: self._remove(connection, person, by, others))

    def _remove(self, connection: Connection, person: str, by: str, others: bool) -> Removal:
        self._one_at_a_time(connection)
        old = connection.execute(select(admins).where(admins.c.person == person)).one_or_none()
        if old is None:
            return Removal.NO_ADMIN
        if not others and connection.execute(select(func.count()).select_from(admins)).scalar_one() == 1:
            return Removal.THE_LAST
        connection.execute(delete(admins).where(admins.c.person == person))
        record(self._database, connection, "admin.remove", person, by=by, before={"added_by": old.added_by})
        return Removal.REMOVED

    def _one_at_a_time(self, connection: Connection) -> None:
        """Two who remove one another would leave none."""
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE admins IN SHARE ROW EXCLUSIVE MODE"))
