"""The audit log: who changed what, with the values before and after. Entries are only added."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert

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
