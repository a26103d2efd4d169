"""Files that came with questions: kept with their conversation, used by it alone, gone when their time is over.

The same content twice in a conversation is two rows, each of its message, and one file to read: the first.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Delete, bindparam, delete, null, select, update
from sqlalchemy.engine import Row

from storage.sql.database import Database, Object
from storage.sql.tables import attached_files


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """`message` is what brought it; `file` is unique within that."""

    conversation: str
    message: str
    file: str
    person: str
    audience: Object
    name: str
    kind: str
    link: str | None
    size: int  # bytes, before they were compressed
    digest: str
    content: bytes  # compressed
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """Without its content. `fault`: why it cannot be read, and has none."""

    id: str
    conversation: str
    message: str
    file: str
    person: str
    audience: Object
    name: str
    kind: str
    link: str | None
    size: int
    digest: str
    fault: str | None
    expires_at: datetime


class AttachedFiles:
    def __init__(self, database: Database) -> None:
        self._database, self.now = database, database.now

    async def keep(self, new: NewFile) -> None:
        """One that is there already stays as it is."""
        values = {name: getattr(new, name) for name in NewFile.__dataclass_fields__} | {
            "id": self._database.new_id(),
            "fault": None,
            "created_at": self._database.now(),
        }
        keeping = self._database.insert(attached_files).on_conflict_do_nothing()
        await self._database.write(lambda connection: connection.execute(keeping, values))

    async def of(self, conversation: str) -> list[KeptFile]:
        """In the order in which they were kept."""
        where = {"held_in": conversation}
        rows = await self._database.read(lambda connection: connection.execute(_OF, where).all())
        return [_kept(row) for row in rows]

    async def content(self, file: str) -> bytes | None:
        """As it was kept; None once it is gone."""
        return await self._database.read(lambda connection: connection.execute(_CONTENT, {"one": file}).scalar())

    async def spoil(self, file: str, fault: str) -> None:
        """It cannot be read: its content goes, and why is kept."""
        told = {"one": file, "why": fault}
        await self._database.write(lambda connection: connection.execute(_SPOILING, told))

    async def use(self, conversation: str, until: datetime) -> None:
        """From now on they expire then."""
        used = {"held_in": conversation, "until": until}
        await self._database.write(lambda connection: connection.execute(_USING, used))

    async def remove(self, conversation: str, message: str, *, but: Collection[str] = ()) -> None:
        """Those that the message brought, but for the files that it still has."""
        brought = (attached_files.c.conversation == conversation) & (attached_files.c.message == message)
        await self._delete(brought & attached_files.c.file.not_in(list(but)))

    async def remove_of(self, persons: Sequence[str]) -> int:
        """All that these people attached anywhere. How many."""
        return await self._delete(attached_files.c.person.in_(list(persons)))

    async def expire(self) -> int:
        """Those whose time is over go. How many."""
        return await self._delete(attached_files.c.expires_at <= self._database.now())

    async def _delete(self, which: ColumnElement[bool]) -> int:
        deleting: Delete = delete(attached_files).where(which)
        return await self._database.write(lambda connection: connection.execute(deleting).rowcount)


_FIELDS = tuple(KeptFile.__dataclass_fields__)
_OF = (
    select(*(attached_files.c[name] for name in _FIELDS))
    .where(attached_files.c.conversation == bindparam("held_in"))
    .order_by(attached_files.c.position)
)
_CONTENT = select(attached_files.c.content).where(attached_files.c.id == bindparam("one"))
_SPOILING = (
    update(attached_files).where(attached_files.c.id == bindparam("one")).values(content=null(), fault=bindparam("why"))
)
_USING = (
    update(attached_files)
    .where(attached_files.c.conversation == bindparam("held_in"))
    .values(expires_at=bindparam("until"))
)


def _kept(row: Row[Any]) -> KeptFile:
    return KeptFile(**{name: getattr(row, name) for name in _FIELDS})
