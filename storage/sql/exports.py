"""Exports: queued, run one at a time a person by whoever holds the lease, resumed where they stopped, expired.

As a turn, a running export whose lease ran out is handed out again, with the cursor that was last written down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Executable, Update, and_, exists, insert, or_, select, update
from sqlalchemy.engine import Row

from storage.sql.database import Database, Object
from storage.sql.errors import ConstraintBroken
from storage.sql.tables import exports


class ExportStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExport:
    """`request` says what to write: a plan or a search, as JSON."""

    conversation: str
    turn: str
    person: str
    audience: Object
    request: Object
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Export(NewExport):
    id: str
    status: ExportStatus
    rows: int  # written so far
    path: str | None
    cursor: Object | None  # where to go on
    failure: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedExport:
    export: Export
    fence: int


class Exports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def queue(self, new: NewExport) -> Export:
        now = self._database.now()
        identity = self._database.new_id()
        values = {name: getattr(new, name) for name in NewExport.__dataclass_fields__} | {
            "id": identity,
            "status": ExportStatus.QUEUED.value,
            "rows": 0,
            "fence": 0,
            "due_at": now,
            "created_at": now,
        }
        queueing = insert(exports).values(values).returning(exports)
        row = await self._database.write(lambda connection: connection.execute(queueing).one())
        return _export(row)

    async def claim(self, worker: str, lease: timedelta, *, export: str | None = None) -> ClaimedExport | None:
        """The oldest that may run now, or this one if it may: queued, or left behind by a worker that is gone.

        A person has one running at a time; the database's unique index decides.
        """
        due = _due(self._database.now()) if export is None else _due(self._database.now()) & (exports.c.id == export)
        picked = select(exports.c.position).where(due).order_by(exports.c.position).limit(1)
        picked = (
            picked.with_for_update(skip_locked=True).cte("picked").prefix_with("MATERIALIZED", dialect="postgresql")
        )
        claiming = (
            update(exports)
            .where(exports.c.position.in_(select(picked.c.position)))
            .values(
                status=ExportStatus.RUNNING.value,
                worker=worker,
                fence=exports.c.fence + 1,
                due_at=self._database.now() + lease,
            )
            .returning(exports)
        )
        try:
            row = await self._database.write(lambda connection: self._claim(connection, claiming))
        except ConstraintBroken:  # at the same moment another worker began another one of this person
            return None
        return None if row is None else ClaimedExport(export=_export(row), fence=row.fence)

    def _claim(self, connection: Connection, claiming: Executable) -> Row[Any] | None:
        connection.execute(self._requeueing())
        return connection.execute(claiming).one_or_none()

    def _requeueing(self) -> Update:
        """What a worker that is gone left behind waits in the queue again, and no longer blocks its person."""
        left = and_(exports.c.status == ExportStatus.RUNNING.value, exports.c.due_at <= self._database.now())
        return update(exports).where(left).values(status=ExportStatus.QUEUED.value, worker=None)

    async def advance(self, claimed: ClaimedExport, *, rows: int, cursor: Object, lease: timedelta) -> bool:
        """So many rows are on the disk; a later claim goes on at `cursor`. False when the lease was lost."""
        due = self._database.now() + lease
        return await self._write(_of(claimed).values(rows=rows, cursor=cursor, due_at=due))

    async def finish(self, claimed: ClaimedExport, *, rows: int, path: str) -> bool:
        return await self._write(_of(claimed).values(status=ExportStatus.DONE.value, rows=rows, path=path, worker=None))

    async def fail(self, claimed: ClaimedExport, reason: str) -> bool:
        return await self._write(_of(claimed).values(status=ExportStatus.FAILED.value, failure=reason, worker=None))

    async def withdraw(self, export: str, reason: str) -> bool:
        """One that nobody has begun is not wanted any more. False when somebody has."""
        waiting = (exports.c.id == export) & (exports.c.status == ExportStatus.QUEUED.value)
        failing = update(exports).where(waiting).values(status=ExportStatus.FAILED.value, failure=reason)
        return await self._write(failing)

    async def find(self, export: str) -> Export | None:
        asked = select(exports).where(exports.c.id == export)
        row = await self._database.read(lambda connection: connection.execute(asked).one_or_none())
        return None if row is None else _export(row)

    async def of_turn(self, turn: str) -> Export | None:
        """The newest that the turn queued: a turn that is tried again goes on with it."""
        newest = select(exports).where(exports.c.turn == turn).order_by(exports.c.position.desc()).limit(1)
        row = await self._database.read(lambda connection: connection.execute(newest).one_or_none())
        return None if row is None else _export(row)

    async def of_person(self, person: str, limit: int) -> list[Export]:
        """The newest first."""
        newest = select(exports).where(exports.c.person == person).order_by(exports.c.position.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(newest).all())
        return [_export(row) for row in rows]

    async def expire(self) -> list[Export]:
        """Those whose time is over and that nobody is writing, each given once: their files are to go."""
        now = self._database.now()
        gone = or_(exports.c.status != ExportStatus.RUNNING.value, exports.c.due_at <= now)
        expiring = (
            update(exports)
            .where(exports.c.expires_at <= now, exports.c.status != ExportStatus.EXPIRED.value, gone)
            .values(status=ExportStatus.EXPIRED.value, worker=None, fence=exports.c.fence + 1)
            .returning(exports)
        )
        rows = await self._database.write(lambda connection: connection.execute(expiring).all())
        return [_export(row) for row in sorted(rows, key=lambda row: row.position)]

    async def end_of(self, turns: Sequence[str]) -> list[Export]:
        """Of these turns, whoever writes them: their time is over now."""
        ending = (
            update(exports)
            .where(exports.c.turn.in_(turns), exports.c.status != ExportStatus.EXPIRED.value)
            .values(status=ExportStatus.EXPIRED.value, worker=None, fence=exports.c.fence + 1)
            .returning(exports)
        )
        rows = await self._database.write(lambda connection: connection.execute(ending).all())
        return [_export(row) for row in rows]

    async def _write(self, statement: Update) -> bool:
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)


_FIELDS = tuple(Export.__dataclass_fields__)
_other = exports.alias("other")


def _due(now: datetime) -> ColumnElement[bool]:
    busy = exists().where(_other.c.person == exports.c.person, _other.c.status == ExportStatus.RUNNING.value)
    return and_(exports.c.expires_at > now, exports.c.status == ExportStatus.QUEUED.value, ~busy)


def _of(claimed: ClaimedExport) -> Update:
    """An update that meets no row once the lease is lost."""
    return update(exports).where(
        exports.c.id == claimed.export.id,
        exports.c.fence == claimed.fence,
        exports.c.status == ExportStatus.RUNNING.value,
    )


def _export(row: Row[Any]) -> Export:
    values = {name: getattr(row, name) for name in _FIELDS if name != "status"}
    return Export(**values, status=ExportStatus(row.status))
