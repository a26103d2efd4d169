"""The audit: who changed what, from what to what. Entries are only ever added."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, insert, select

from storage.sql.database import Database, Object
from storage.sql.tables import audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    at: datetime
    by: str
    action: str  # `grant`, `revoke`, `group.add`
    matter: str  # what it was done to, by id
    before: Object | None
    after: Object | None


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def entries(self, limit: int = 100) -> list[Entry]:
        """The newest first."""
        newest = select(audit).order_by(audit.c.position.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(newest).all())
        return [Entry(**{name: getattr(row, name) for name in Entry.__dataclass_fields__}) for row in rows]

    async def record(
        self, action: str, matter: str, *, by: str, before: Object | None = None, after: Object | None = None
    ) -> None:
        """For what is not kept in this database; its own stores write their entries with the change."""
        entry = partial(record, self._database, action=action, matter=matter, by=by, before=before, after=after)
        await self._database.write(entry)


def record(
    database: Database,
    connection: Connection,
    action: str,
    matter: str,
    *,
    by: str,
    before: Object | None = None,
    after: Object | None = None,
) -> None:
    """Within the transaction of `connection`: the change and its entry land together."""
    entry = Entry(at=database.now(), by=by, action=action, matter=matter, before=before, after=after)
    values = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
    connection.execute(insert(audit).values(values))
