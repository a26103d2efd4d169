"""Group commit for the inbox: messages that arrive while another one is being stored share the next transaction.

A commit costs the same for one row as for many (https://www.postgresql.org/docs/current/runtime-config-wal.html, see
`commit_delay`), and so do most statements. The more messages arrive at once, the less each one costs.

The writer of SQLite (`storage.sql.database`) groups any functions in one transaction, which shares the commit alone.
Here the statements are shared too: on PostgreSQL, 800 messages at once take 1.6 s this way, 5 to 7 s as functions that
share a transaction, and 4 to 7 s as transactions of their own.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, and_, bindparam, exists, or_, select, text

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.errors import ConstraintBroken, SqlError, StatementRefused, ValueRefused
from storage.sql.stores.turns import NewTurn, turns

ARRIVAL_CHANNEL: Final = "parley_turns"  # notified when turns are stored on PostgreSQL
_MAX_BATCH: Final = 32  # messages in one transaction
# Errors that one message causes, not the database.
_SINGLE_TURN_ERRORS: Final = (ConstraintBroken, StatementRefused, ValueRefused)


@dataclass(frozen=True, slots=True)
class AcceptedTurn:
    turn_id: str


@dataclass(frozen=True, slots=True)
class DuplicateTurn:
    """The same turn was accepted before, as `turn_id`."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class NothingToRevise:
    """No turn exists that the revision could replace."""


Acceptance: TypeAlias = AcceptedTurn | DuplicateTurn | NothingToRevise


@dataclass(slots=True, kw_only=True, eq=False)
class _PendingTurn:
    values: Mapping[str, Any]  # of the row
    may_precede_original: bool
    must_commit_alone: bool = False  # it failed together with others
    outcome: Future[Acceptance] = field(default_factory=Future[Acceptance])


class TurnGroupCommit:
    """Stores turns in the order of arrival."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._insert_statement = database.insert_into(turns).on_conflict_do_nothing().returning(turns.c.id)
        self._pending: deque[_PendingTurn] = deque()
        self._commit_lock = asyncio.Lock()

    async def accept_turn(self, turn: NewTurn, *, may_precede_original: bool) -> Acceptance:
        """Store a turn; it is on the disk when this returns.

        `may_precede_original`: a revision may arrive before its message.
        """
        identity = self._database.new_id()
        values = tables.column_values_of(turn) | {
            "id": identity,
            "lane": turn.conversation,
            "attempt": 0,
            "fence": 0,
            "due_at": self._database.utc_now(),
        }
        pending = _PendingTurn(values=values, may_precede_original=may_precede_original)
        self._pending.append(pending)
        try:
            async with self._commit_lock:  # the task with the lock stores all pending turns
                if not pending.outcome.done():
                    await self._commit_turn_batch(self._batch_starting_with(pending))
                if not pending.outcome.done():  # another turn of the batch may have caused the failure
                    await self._commit_turn_batch([pending])
        finally:
            self._pending.remove(pending)
        return pending.outcome.result()

    def _batch_starting_with(self, pending: _PendingTurn) -> list[_PendingTurn]:
        if pending.must_commit_alone:
            return [pending]
        batchable = [other for other in self._pending if not (other.outcome.done() or other.must_commit_alone)]
        return batchable[:_MAX_BATCH]  # `pending` is the first of them

    async def _commit_turn_batch(self, batch: Sequence[_PendingTurn]) -> None:
        try:
            outcomes = await self._database.run_write(partial(self._insert_turns_in_batch, batch), is_repeatable=True)
        except _SINGLE_TURN_ERRORS as exc:
            if len(batch) == 1:
                batch[0].outcome.set_exception(exc)
            for pending in batch:
                pending.must_commit_alone = True
        except SqlError as exc:  # the other waiting turns would fail in the same way
            for pending in self._pending:
                if not pending.outcome.done():
                    pending.outcome.set_exception(exc)
        else:
            for pending, outcome in zip(batch, outcomes, strict=True):
                pending.outcome.set_result(outcome)

    def _insert_turns_in_batch(self, batch: Sequence[_PendingTurn], connection: Connection) -> list[Acceptance]:
        self._lock_conversations(connection, {pending.values["conversation"] for pending in batch})
        if len(batch) > 1 and all(pending.values["revises"] is None for pending in batch):
            return self._insert_independent_turns(connection, [pending.values for pending in batch])
        return [self._insert_single_turn(connection, pending.values, pending.may_precede_original) for pending in batch]

    def _lock_conversations(self, connection: Connection, conversations: set[str]) -> None:
        """Lock the conversations on PostgreSQL, in order of id, so that two processes never wait for one another, and
        notify the workers at the commit.

        PostgreSQL numbers a row before its commit. Without the lock a later turn could be visible, and be claimed,
        before an earlier one.
        """
        if not self._database.is_file:
            values = {"conversations": sorted(conversations), "channel": ARRIVAL_CHANNEL}
            connection.execute(_LOCK_CONVERSATIONS, values)

    def _insert_independent_turns(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Acceptance]:
        """Insert all rows at once; none of them is a revision."""
        keys = [(row["conversation"], row["message_id"]) for row in rows]
        conversations, message_ids = zip(*keys, strict=True)
        revisions = connection.execute(
            _LATEST_REVISIONS, {"conversations": conversations, "messages": message_ids}
        ).all()
        revision_ids = {(revision.conversation, revision.revises): revision.id for revision in revisions}
        new_rows = [row for row, key in zip(rows, keys, strict=True) if key not in revision_ids]
        stored_ids = set(connection.execute(self._insert_statement, new_rows).scalars()) if new_rows else set[str]()
        return [
            DuplicateTurn(revision_ids[key])
            if key in revision_ids
            else AcceptedTurn(row["id"])
            if row["id"] in stored_ids
            else _find_existing_turn(connection, row)
            for row, key in zip(rows, keys, strict=True)
        ]

    def _insert_single_turn(
        self, connection: Connection, values: Mapping[str, Any], may_precede_original: bool
    ) -> Acceptance:
        is_revision = values["revises"] is not None
        if is_revision and not may_precede_original and not connection.execute(_HAS_VERSION, values).scalar():
            return NothingToRevise()
        if not is_revision and (revision_id := connection.execute(_LATEST_REVISION, values).scalar()) is not None:
            return DuplicateTurn(revision_id)
        if connection.execute(self._insert_statement, values).scalar() is not None:
            return AcceptedTurn(values["id"])
        return _find_existing_turn(connection, values)


def _find_existing_turn(connection: Connection, values: Mapping[str, Any]) -> Acceptance:
    """Returns the turn that is stored already.

    It may be this very turn, if an earlier try committed although its caller had given up.
    """
    identity = {name: values[name] for name in ("surface", "event_id", "conversation", "message_id")}
    turn_id = connection.execute(_EXISTING_TURN, identity).scalar_one()
    return AcceptedTurn(turn_id) if turn_id == values["id"] else DuplicateTurn(turn_id)


_LOCK_CONVERSATIONS: Final = text(
    # A notification that is sent several times in a transaction is delivered once, at its commit.
    "SELECT pg_advisory_xact_lock(hashtextextended(conversation_id, 0)), pg_notify(:channel, '') "
    "FROM unnest(CAST(:conversations AS text[])) AS conversation_id"
)
_EXISTING_TURN: Final = (
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
_HAS_VERSION: Final = select(
    exists().where(
        turns.c.conversation == bindparam("conversation"),
        or_(turns.c.message_id == bindparam("revises"), turns.c.revises == bindparam("revises")),
    )
)
_LATEST_REVISION: Final = (
    select(turns.c.id)
    .where(turns.c.conversation == bindparam("conversation"), turns.c.revises == bindparam("message_id"))
    .order_by(turns.c.position.desc())
    .limit(1)
)
_LATEST_REVISIONS: Final = (
    select(turns.c.conversation, turns.c.revises, turns.c.id)
    .where(  # not by pairs, for which SQLite uses no index
        turns.c.conversation.in_(bindparam("conversations", expanding=True)),
        turns.c.revises.in_(bindparam("messages", expanding=True)),
    )
    .order_by(turns.c.position)  # of several revisions the last one counts
)
