"""Messages on their way into the inbox: those that come while one is being stored share the next transaction.

A commit costs the same for one as for many (https://www.postgresql.org/docs/current/runtime-config-wal.html, on
`commit_delay`), and so do most statements: the more come at once, the less each costs.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, and_, bindparam, exists, or_, select, text

from storage.sql.database import Database, Object
from storage.sql.errors import ConstraintBroken, SqlError, StatementRefused, ValueRefused
from storage.sql.tables import turns

_MOST: Final = 32  # messages of a transaction
_ITS_OWN: Final = (ConstraintBroken, StatementRefused, ValueRefused)  # faults of one message, not of the database


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """One message or click. Unique by surface + event id, and by conversation + message id."""

    surface: str
    event_id: str
    conversation: str
    message_id: str  # for a click, unique to the click
    person: str
    audience: Object
    body: Object
    locale: str
    time_zone: str
    received_at: datetime
    is_question: bool = True  # else a click
    revises: str | None = None  # the first version of this message, whose turns it takes the place of


@dataclass(frozen=True, slots=True)
class Accepted:
    turn: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """It was accepted before, as `turn`."""

    turn: str


@dataclass(frozen=True, slots=True)
class Groundless:
    """There is nothing that it could take the place of."""


Acceptance: TypeAlias = Accepted | Duplicate | Groundless


@dataclass(slots=True, kw_only=True, eq=False)
class _Waiting:
    values: Mapping[str, Any]  # of the row
    is_first: bool
    is_alone: bool = False  # together with others it failed
    outcome: Future[Acceptance] = field(default_factory=Future[Acceptance])


class Accepting:
    """Stores turns in the order in which they come."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._storing = database.insert(turns).on_conflict_do_nothing().returning(turns.c.id)
        self._waiting: deque[_Waiting] = deque()
        self._at_work = asyncio.Lock()

    async def accept(self, turn: NewTurn, *, first: bool) -> Acceptance:
        """On the disk when it returns. `first`: what revises a message may come before it."""
        identity = self._database.new_id()
        values = {name: getattr(turn, name) for name in _NEW} | {
            "id": identity,
            "lane": turn.conversation,
            "attempt": 0,
            "fence": 0,
            "due_at": self._database.now(),
        }
        one = _Waiting(values=values, is_first=first)
        self._waiting.append(one)
        try:
            async with self._at_work:  # whoever has it stores for all that wait
                if not one.outcome.done():
                    await self._store(self._with_others(one))
                if not one.outcome.done():  # one of the others may be to blame
                    await self._store([one])
        finally:
            self._waiting.remove(one)
        return one.outcome.result()

    def _with_others(self, one: _Waiting) -> list[_Waiting]:
        if one.is_alone:
            return [one]
        free = [other for other in self._waiting if not (other.outcome.done() or other.is_alone)]
        return free[:_MOST]  # it came before all of them

    async def _store(self, group: Sequence[_Waiting]) -> None:
        try:
            outcomes = await self._database.write(partial(self._stored, group))
        except _ITS_OWN as exc:
            if len(group) == 1:
                group[0].outcome.set_exception(exc)
            for one in group:
                one.is_alone = True
        except SqlError as exc:  # whoever waits would fare no better, and has waited long enough
            for one in self._waiting:
                if not one.outcome.done():
                    one.outcome.set_exception(exc)
        else:
            for one, outcome in zip(group, outcomes, strict=True):
                one.outcome.set_result(outcome)

    def _stored(self, group: Sequence[_Waiting], connection: Connection) -> list[Acceptance]:
        self._in_line(connection, {one.values["conversation"] for one in group})
        if len(group) > 1 and all(one.values["revises"] is None for one in group):
            return self._messages(connection, [one.values for one in group])
        return [self._one(connection, one.values, one.is_first) for one in group]

    def _in_line(self, connection: Connection, conversations: set[str]) -> None:
        """PostgreSQL numbers a row before it is committed: without a lock a later turn could be seen, and claimed,
        while an earlier one is not there yet. In order, so that two processes never wait for one another."""
        if not self._database.is_file:
            connection.execute(_LOCKING, {"conversations": sorted(conversations)})

    def _messages(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Acceptance]:
        """All of them at once; none revises another."""
        keys = [(row["conversation"], row["message_id"]) for row in rows]
        conversations, messages = zip(*keys, strict=True)
        found = connection.execute(_ALL_REVISED_BY, {"conversations": conversations, "messages": messages}).all()
        revised = {(row.conversation, row.revises): row.id for row in found}
        new = [row for row, key in zip(rows, keys, strict=True) if key not in revised]
        stored = set(connection.execute(self._storing, new).scalars()) if new else set[str]()
        return [
            Duplicate(revised[key])
            if key in revised
            else Accepted(row["id"])
            if row["id"] in stored
            else _known(connection, row)
            for row, key in zip(rows, keys, strict=True)
        ]

    def _one(self, connection: Connection, values: Mapping[str, Any], is_first: bool) -> Acceptance:
        revises = values["revises"] is not None
        if revises and not is_first and not connection.execute(_HAS_REVISED, values).scalar():
            return Groundless()
        if not revises and (revised_by := connection.execute(_REVISED_BY, values).scalar()) is not None:
            return Duplicate(revised_by)
        if connection.execute(self._storing, values).scalar() is not None:
            return Accepted(values["id"])
        return _known(connection, values)


def _known(connection: Connection, values: Mapping[str, Any]) -> Acceptance:
    """What was stored before. By this very call, where its caller had given up meanwhile but not the database."""
    same = {name: values[name] for name in ("surface", "event_id", "conversation", "message_id")}
    turn = connection.execute(_SAME, same).scalar_one()
    return Accepted(turn) if turn == values["id"] else Duplicate(turn)


_NEW: Final = tuple(NewTurn.__dataclass_fields__)
_LOCKING: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(one, 0)) FROM unnest(CAST(:conversations AS text[])) AS one"
)
_SAME: Final = (
    select(turns.c.id)
    .where(
        or_(
            and_(turns.c.surface == bindparam("surface"), turns.c.event_id == bindparam("event_id")),
            and_(turns.c.conversation == bindparam("conversation"), turns.c.message_id == bindparam("message_id")),
        )
    )
    .order_by(turns.c.position)
    .limit(1)
)
_HAS_REVISED: Final = select(
    exists().where(
        turns.c.conversation == bindparam("conversation"),
        or_(turns.c.message_id == bindparam("revises"), turns.c.revises == bindparam("revises")),
    )
)
_REVISED_BY: Final = (
    select(turns.c.id)
    .where(turns.c.conversation == bindparam("conversation"), turns.c.revises == bindparam("message_id"))
    .order_by(turns.c.position.desc())
    .limit(1)
)
_ALL_REVISED_BY: Final = (
    select(turns.c.conversation, turns.c.revises, turns.c.id)
    .where(  # not by pairs, which SQLite looks up in no index
        turns.c.conversation.in_(bindparam("conversations", expanding=True)),
        turns.c.revises.in_(bindparam("messages", expanding=True)),
    )
    .order_by(turns.c.position)  # the last one of several counts
)
