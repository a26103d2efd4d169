"""The audit log: who changed what, with the values before and after. Entries are only added."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    at: tables.UtcColumn
    by: str
    action: str  # `grant`, `revoke`, `group.add`
    matter: str  # the id of what was changed
    before: tables.OptionalJsonColumn
    after: tables.OptionalJsonColumn


class AuditRow(tables.TableRow, AuditEntry, frozen=True, table=True):
    __tablename__ = "audit"  # pyright: ignore[reportAssignmentType]

    __table_args__ = ({"sqlite_autoincrement": True},)

    position: tables.RowNumber


audit: Final = AuditRow.__table__


def write_audit_entry(
    database: SqlDatabase,
    connection: Connection,
    action: str,
    matter: str,
    *,
    by: str,
    before: JsonMapping | None = None,
    after: JsonMapping | None = None,
) -> None:
    """Write an entry within the transaction of `connection`, so that the change and its entry commit together."""
    entry = AuditEntry(at=database.utc_now(), by=by, action=action, matter=matter, before=before, after=after)
    connection.execute(insert(audit).values(tables.column_values_of(entry)))


class AuditLog:
    """Reads the entries that the other stores write, and writes those of changes outside the database."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list_newest_entries(self, limit: int) -> list[AuditEntry]:
        """Returns at most `limit` entries, the newest first."""
        query = select(audit).order_by(audit.c.position.desc()).limit(limit)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(AuditEntry, row) for row in rows]

    async def record_change(
        self, action: str, matter: str, *, by: str, before: JsonMapping | None = None, after: JsonMapping | None = None
    ) -> None:
        """Write an entry about a change that is stored elsewhere. Raises `SqlError`."""
        await self._database.run_write(
            lambda connection: write_audit_entry(
                self._database, connection, action, matter, by=by, before=before, after=after
            )
        )
