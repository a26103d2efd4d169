"""The state that all processes share, in numbers: for the metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Executable, and_, bindparam, case, func, select

from storage.sql.database import SqlDatabase
from storage.sql.stores.exports import ExportStatus, exports
from storage.sql.stores.sources import sources
from storage.sql.stores.turns import turns


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """`waiting_turns`: due, and claimed by no worker. `paused_turns`: due later, after a failed attempt.

    `oldest_waiting_s`: since the oldest of the waiting turns was received; 0 without any. `export_counts`: exports that
    are not finished, by status. `source_counts`: sources by the outcome of their last run, `never` before the first.
    """

    waiting_turns: int
    running_turns: int
    paused_turns: int
    oldest_waiting_s: float
    export_counts: Mapping[str, int]
    source_counts: Mapping[str, int]


class ServiceStateStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def measure_state(self) -> ServiceState:
        """Reads small tables and indexes of open rows only. Raises `SqlError`."""
        now = self._database.utc_now()

        def measure(connection: Connection) -> ServiceState:
            queue = connection.execute(_QUEUE, {"now": now}).one()
            oldest = queue.oldest_received_at
            return ServiceState(
                waiting_turns=queue.waiting,
                running_turns=queue.running,
                paused_turns=queue.paused,
                oldest_waiting_s=0.0 if oldest is None else max((now - oldest).total_seconds(), 0.0),
                export_counts=_counts_of(connection, _OPEN_EXPORTS),
                source_counts=_counts_of(connection, _SOURCES),
            )

        return await self._database.run_read(measure)


def _counts_of(connection: Connection, query: Executable) -> Mapping[str, int]:
    return {row.name: row.number for row in connection.execute(query).all()}


_is_due = turns.c.due_at <= bindparam("now")
_QUEUE: Final = select(
    func.count(case((_is_due, 1))).label("waiting"),
    func.count(case((and_(turns.c.worker.is_not(None), ~_is_due), 1))).label("running"),
    func.count(case((and_(turns.c.worker.is_(None), ~_is_due), 1))).label("paused"),
    func.min(case((_is_due, turns.c.received_at))).label("oldest_received_at"),
).where(turns.c.finished_at.is_(None))
_OPEN_EXPORTS: Final = (
    select(exports.c.status.label("name"), func.count().label("number"))
    .where(exports.c.status.in_([ExportStatus.QUEUED.value, ExportStatus.RUNNING.value]))
    .group_by(exports.c.status)
)
_SOURCES: Final = select(
    func.coalesce(sources.c.outcome, "never").label("name"), func.count().label("number")
).group_by(sources.c.outcome)
