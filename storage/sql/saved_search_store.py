"""Saved searches: questions that are asked again by schedule, and what each one found the last time.

A due search is claimed under a lease, so that one process starts its run. A run is a turn of the person's, with the
message id of `run_message_id`; while one is open, the search is not claimed again. What a run found is recorded once
for each due time.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Index,
    Select,
    String,
    Update,
    and_,
    cast,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Row
from sqlmodel import AutoString, Field

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.stores.turns import turns

_RUN_PREFIX: Final = "saved-search:"


class SavedSearchStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"  # until the person resumes it
    STOPPED = "stopped"


class SavedSearchKind(StrEnum):
    SEARCH = "search"
    USAGE_REPORT = "usage_report"  # for admins; its question only names it


@dataclass(frozen=True, kw_only=True)
class NewSavedSearch:
    """`origin` is the message that asked for it, as the caller stores messages: where and with which rights to report.

    `schedule` and the values of `seen`, by document, mean something to the caller alone. `buckets`: what the question
    reads. `index_state`: the state of the index in which `seen` was true. `plan`: asked in place of the question, which
    then only names it; None: the question is read again each time.
    """

    creating_turn: tables.UniqueText
    surface: str
    conversation: str
    person: Annotated[str, Field(index=True)]
    question: tables.PeopleText
    origin: tables.JsonColumn
    buckets: tables.JsonListColumn
    schedule: str
    time_zone: str  # IANA
    seen: tables.JsonColumn
    index_state: str
    due_at: tables.OptionalUtcColumn  # None unless it is active
    plan: tables.OptionalJsonColumn = None
    kind: Annotated[SavedSearchKind, Field(sa_type=AutoString)] = SavedSearchKind.SEARCH


@dataclass(frozen=True, kw_only=True)
class StoredSavedSearch(NewSavedSearch):
    """A saved search as stored. People name it by its number, `position`."""

    position: tables.RowNumber
    status: Annotated[SavedSearchStatus, Field(sa_type=AutoString)]
    reported_due_at: tables.OptionalUtcColumn  # the due time of the last run that was recorded
    created_at: tables.UtcColumn


class SavedSearchRow(tables.TableRow, StoredSavedSearch, frozen=True, table=True):
    __tablename__ = "saved_searches"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index("ix_saved_searches_due", "due_at", **tables.partial_index("due_at IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    fence: int
    worker: str | None
    leased_until: tables.OptionalUtcColumn


saved_searches: Final = SavedSearchRow.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSavedSearch:
    search: StoredSavedSearch
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What one run found. `due_at`: the due time that it ran for. A run that `pauses` the search leaves `seen`."""

    position: int
    due_at: datetime
    seen: JsonMapping
    index_state: str
    pauses: bool = False


def run_message_id(position: int, due_at: datetime) -> str:
    """The message id of the turn that runs the search for the due time."""
    return f"{_RUN_PREFIX}{position}:{due_at.isoformat()}"


class SavedSearchStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add_search(self, new: NewSavedSearch, *, max_of_person: int) -> StoredSavedSearch | None:
        """Add an active search; returns the existing one if its turn is tried again.

        None if the person has `max_of_person` searches that are not stopped.
        """
        values = tables.column_values_of(new) | {
            "status": SavedSearchStatus.ACTIVE.value,
            "created_at": self._database.utc_now(),
            "fence": 0,
        }
        insertion = self._database.insert_into(saved_searches).on_conflict_do_nothing()
        count = select(func.count()).where(saved_searches.c.person == new.person, _IS_KEPT)
        created = _SELECT_SEARCHES.where(saved_searches.c.creating_turn == new.creating_turn)

        def insert_below_limit(connection: Connection) -> Row[Any] | None:
            if connection.execute(count).scalar_one() < max_of_person:
                connection.execute(insertion, values)
            return connection.execute(created).one_or_none()

        return _search_from(await self._database.run_write(insert_below_limit))

    async def list_searches(
        self, *, person: str | None = None, conversation: str | None = None
    ) -> list[StoredSavedSearch]:
        """Returns the searches that are not stopped, of all people or of one, in the order of their numbers."""
        conditions: list[ColumnElement[bool]] = [_IS_KEPT]
        if person is not None:
            conditions.append(saved_searches.c.person == person)
        if conversation is not None:
            conditions.append(saved_searches.c.conversation == conversation)
        query = _SELECT_SEARCHES.where(*conditions).order_by(saved_searches.c.position)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [search for search in map(_search_from, rows) if search is not None]

    async def find_search(self, position: int) -> StoredSavedSearch | None:
        query = _SELECT_SEARCHES.where(saved_searches.c.position == position)
        return _search_from(await self._database.run_read(lambda connection: connection.execute(query).one_or_none()))

    async def stop_search(self, position: int) -> bool:
        """End a search for good; False if there is none, or if it was stopped before."""
        statement = update(saved_searches).where(saved_searches.c.position == position, _IS_KEPT)
        return await self._update_single_row(statement.values(status=SavedSearchStatus.STOPPED.value, due_at=null()))

    async def make_due(self, position: int, due_at: datetime) -> bool:
        """Set the next due time, and resume a paused search; False if there is none, or if it was stopped."""
        statement = update(saved_searches).where(saved_searches.c.position == position, _IS_KEPT)
        return await self._update_single_row(statement.values(status=SavedSearchStatus.ACTIVE.value, due_at=due_at))

    async def claim_due_search(
        self, worker: str, lease: timedelta, *, surfaces: Collection[str]
    ) -> ClaimedSavedSearch | None:
        """Claim the search of these surfaces that has been due longest; None if no free search is due.

        A search with an open run stays due, and is free when that run has ended.
        """
        now = self._database.utc_now()
        is_free = or_(saved_searches.c.leased_until.is_(None), saved_searches.c.leased_until <= now)
        picked = (
            select(saved_searches.c.position)
            .where(saved_searches.c.due_at <= now, is_free, ~_has_open_run())
            .where(saved_searches.c.surface.in_(surfaces))
            .order_by(saved_searches.c.due_at, saved_searches.c.position)
            .limit(1)
            .with_for_update(skip_locked=True)
            .cte("picked")
            .prefix_with("MATERIALIZED", dialect="postgresql")  # else PostgreSQL may run it once per row
        )
        statement = (
            update(saved_searches)
            .where(saved_searches.c.position.in_(select(picked.c.position)))
            .values(worker=worker, fence=saved_searches.c.fence + 1, leased_until=now + lease)
            .returning(saved_searches)
        )
        row = await self._database.run_write(lambda connection: connection.execute(statement).one_or_none())
        search = _search_from(row)
        return None if row is None or search is None else ClaimedSavedSearch(search=search, fence=row.fence)

    async def finish_claim(self, claimed: ClaimedSavedSearch, next_due_at: datetime) -> bool:
        """Give the search back with its next due time; False if the lease was lost. A search that was stopped or
        paused meanwhile, or made due for another time, keeps its due time.
        """
        search = claimed.search
        is_claimed = and_(saved_searches.c.position == search.position, saved_searches.c.fence == claimed.fence)
        is_unchanged = saved_searches.c.due_at == search.due_at
        reschedule = update(saved_searches).where(is_claimed, is_unchanged).values(due_at=next_due_at)
        release = update(saved_searches).where(is_claimed).values(worker=null(), leased_until=null())

        def reschedule_and_release(connection: Connection) -> bool:
            connection.execute(reschedule)
            return connection.execute(release).rowcount == 1

        return await self._database.run_write(reschedule_and_release)

    async def was_running(self, position: int, moment: datetime) -> bool:
        """Whether a run of the search was open at that moment."""
        was_open = and_(turns.c.received_at <= moment, or_(turns.c.finished_at.is_(None), turns.c.finished_at > moment))
        query = (
            select(turns.c.position)
            .join(saved_searches, _is_run_of_search())
            .where(saved_searches.c.position == position, was_open)
            .limit(1)
        )
        return await self._database.run_read(lambda connection: connection.execute(query).first()) is not None

    async def record_run(self, record: RunRecord) -> bool:
        """Record what a run found; False if that run, or a later one, is recorded already."""
        is_new = or_(saved_searches.c.reported_due_at.is_(None), saved_searches.c.reported_due_at < record.due_at)
        statement = update(saved_searches).where(saved_searches.c.position == record.position, is_new)
        values: dict[str, Any] = {"reported_due_at": record.due_at}
        if record.pauses:
            statement = statement.where(_IS_KEPT)
            values |= {"status": SavedSearchStatus.PAUSED.value, "due_at": null()}
        else:
            values |= {"seen": record.seen, "index_state": record.index_state}
        return await self._update_single_row(statement.values(values))

    async def _update_single_row(self, statement: Update) -> bool:
        return await self._database.run_write(lambda connection: connection.execute(statement).rowcount == 1)


def _is_run_of_search() -> ColumnElement[bool]:
    pattern = literal(_RUN_PREFIX) + cast(saved_searches.c.position, String) + literal(":%")
    return and_(turns.c.person == saved_searches.c.person, turns.c.message_id.like(pattern))


def _has_open_run() -> ColumnElement[bool]:
    return exists().where(_is_run_of_search(), turns.c.finished_at.is_(None))


_IS_KEPT: Final = saved_searches.c.status != SavedSearchStatus.STOPPED.value
_SELECT_SEARCHES: Final[Select[Any]] = select(saved_searches)


def _search_from(row: Row[Any] | None) -> StoredSavedSearch | None:
    if row is None:
        return None
    search = tables.value_from_row(StoredSavedSearch, row)
    return replace(search, status=SavedSearchStatus(search.status), kind=SavedSearchKind(search.kind))
