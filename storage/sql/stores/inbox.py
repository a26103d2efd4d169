"""The inbox: turns are stored before they are acknowledged, claimed in order, and finished under a lease.

A turn is open until `finish_turn`. A worker claims it under a lease, and each claim has a new fencing token: a worker
that lost its lease cannot write, and its calls return False. Each claim counts as an attempt, even if the worker is
killed. After the last attempt the turn is exhausted. An exhausted turn is handed out, marked as such, until
`finish_turn`, so that the person always gets an error message. Leases follow the clock of each process: a process whose
clock is ahead takes a turn over early, but only the fencing token decides who may write.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    ScalarSelect,
    Update,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Row

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.group_commit import ARRIVAL_CHANNEL, Acceptance, TurnGroupCommit
from storage.sql.stores.conversations import ConversationState, state_saver
from storage.sql.stores.turns import NewTurn, StoredAttempt, StoredWebSearch, Turn, attempts, turns, web_searches


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTurn:
    """A turn that one worker has claimed, until `lease_until` unless the lease is renewed."""

    turn: Turn
    fence: int  # grows with every claim; every write checks it
    is_exhausted: bool  # no attempts are left: post an error message, then `finish_turn`
    lease_until: datetime
    is_sole_in_conversation: bool  # no other turn of its conversation is processed, except exhausted turns


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The turn is handed out again, not before `due_at`."""

    due_at: datetime


@dataclass(frozen=True, slots=True)
class AttemptsExhausted:
    """The turn is handed out at once as exhausted."""


@dataclass(frozen=True, slots=True)
class ClaimLost:
    """The lease was lost: another worker has claimed the turn, or the turn is finished."""


FailureOutcome: TypeAlias = RetryScheduled | AttemptsExhausted | ClaimLost


class TurnShare(StrEnum):
    """Which turns a process claims. A background turn is long, or not the first open turn of its person."""

    ALL = "all"
    PROMPT = "prompt"  # all but the background turns
    BACKGROUND = "background"


class TurnInbox:
    """Accepts, claims and finishes turns. After `max_attempts` failed claims a turn is exhausted."""

    def __init__(self, database: SqlDatabase, *, max_attempts: int = 3) -> None:
        self._database, self._max_attempts = database, max_attempts
        self._group_commit = TurnGroupCommit(database)
        self._save_state = state_saver(database)

    async def accept_turn(self, turn: NewTurn, *, may_precede_original: bool = False) -> Acceptance:
        """Store a turn. It is on the disk when this returns; acknowledge the event afterwards.

        `may_precede_original`: a revision may arrive before its message. The message then counts as a duplicate of the
        revision.
        """
        return await self._group_commit.accept_turn(turn, may_precede_original=may_precede_original)

    async def watch_arrivals(self, on_arrival: Callable[[], None]) -> None:
        """Call `on_arrival` when any process stores a turn, until cancelled; returns at once on SQLite.

        A call may be missing or needless, so look for due turns from time to time as well.
        """
        await self._database.watch_channel(ARRIVAL_CHANNEL, on_arrival)

    async def claim_due_turns(
        self,
        worker: str,
        lease: timedelta,
        *,
        limit: int = 1,
        surfaces: Sequence[str] | None = None,
        up_to_turn: str | None = None,
        limit_per_person: int | None = None,
        share: TurnShare = TurnShare.ALL,
    ) -> list[ClaimedTurn]:
        """Claim up to `limit` due turns and return them, oldest first.

        `surfaces` restricts the claim to these surfaces. `up_to_turn` restricts it to that turn and the earlier turns
        of its conversation. `limit_per_person`: a turn waits while so many earlier turns of its person are due or in
        progress, in whatever conversation, so that those of other people come first. `share` restricts the claim to
        the background turns, or to the others.

        A turn is never claimed while an earlier turn of its conversation is open, so two turns of one conversation are
        never claimed together. An exhausted turn whose error message could not be posted does not block its
        conversation after the first try. A revision waits while that error message is being posted; once the revision
        is stored, the error message is not tried again.
        """
        now = self._database.utc_now()
        values: dict[str, Any] = {
            "claiming_worker": worker,
            "now": now,
            "new_due_at": now + lease,
            "max_turns": limit,
            "max_attempts": self._max_attempts,
            **({} if surfaces is None else {"surfaces": list(surfaces)}),
            **({} if up_to_turn is None else {"up_to_turn": up_to_turn}),
        }
        claim_statement = _claim_statement_for(surfaces is not None, up_to_turn is not None, limit_per_person, share)
        rows = await self._database.run_write(
            lambda connection: connection.execute(claim_statement, values).all(),
            durable=False,
            is_single_statement=True,
        )
        return [self._claimed_turn_from_row(row) for row in sorted(rows, key=lambda row: row.position)]

    def _claimed_turn_from_row(self, row: Row[Any]) -> ClaimedTurn:
        is_exhausted = row.attempt > self._max_attempts
        return ClaimedTurn(
            turn=tables.value_from_row(Turn, row),
            fence=row.fence,
            is_exhausted=is_exhausted,
            lease_until=row.due_at,
            is_sole_in_conversation=row.lane is not None,
        )

    async def renew_lease(self, claimed: ClaimedTurn, lease: timedelta) -> bool:
        """Renew the lease for `lease` from now; False if it was lost. Call this before every external effect."""
        return await self._update_claimed_turn(
            _RENEW_LEASE, claimed, durable=False, new_due_at=self._database.utc_now() + lease
        )

    async def move_to_conversation(
        self, claimed: ClaimedTurn, conversation: str, audience: JsonMapping, body: JsonMapping
    ) -> bool:
        """Move the turn to that conversation, behind the turns that are open there."""
        return await self._update_claimed_turn(
            _MOVE_TURN, claimed, new_conversation=conversation, new_audience=audience, new_body=body
        )

    async def note_placeholder(self, claimed: ClaimedTurn, message_id: str) -> bool:
        """Record the message that was posted to hold the reply. A later claim has it in `turn.placeholder`."""
        return await self._update_claimed_turn(_NOTE_PLACEHOLDER, claimed, placeholder_message=message_id)

    async def note_outcome(self, claimed: ClaimedTurn, outcome: JsonMapping) -> bool:
        """Record the outcome before the reply is posted.

        A later claim has it in `turn.outcome` and only posts the reply.
        """
        return await self._update_claimed_turn(_NOTE_OUTCOME, claimed, new_outcome=outcome)

    async def mark_delivered(self, claimed: ClaimedTurn) -> bool:
        """Record that the reply was posted. A later claim has it in `turn.delivered_at` and only finishes the turn."""
        return await self._update_claimed_turn(_MARK_DELIVERED, claimed, durable=False, now=self._database.utc_now())

    async def finish_turn(
        self,
        claimed: ClaimedTurn,
        outcome: JsonMapping,
        *,
        state: ConversationState | None = None,
        route: JsonMapping | None = None,
        attempts: Sequence[StoredAttempt] = (),
        ending: str | None = None,
        is_delivered: bool = False,
        is_outcome_noted: bool = False,
    ) -> bool:
        """Close the turn and store its records in one transaction; False, with nothing written, if the lease is lost.

        `ending` is the outcome in one word, by which questions are counted and found. `is_delivered` also marks the
        reply as delivered. `is_outcome_noted`: the outcome is stored already, so the write need not be durable; after a
        power cut the reply is only posted again.
        """
        values = _claim_key_of(claimed) | {
            "now": self._database.utc_now(),
            "new_outcome": outcome,
            "new_route": route,
            "new_ending": ending,
        }
        values["new_delivered_at"] = values["now"] if is_delivered else None

        def finish_with_records(connection: Connection) -> bool:
            if connection.execute(_FINISH_TURN, values).rowcount == 0:
                return False
            _insert_turn_attempts(connection, claimed.turn.id, attempts)
            if state is not None:
                self._save_state(connection, state)
            return True

        return await self._database.run_write(
            finish_with_records,
            durable=not is_outcome_noted,
            is_single_statement=not attempts and state is None,
        )

    async def add_web_search(self, turn: str, cost: StoredWebSearch) -> None:
        """Add to what the web searches of the turn cost. Raises `ConstraintBroken` if the turn is gone."""
        statement = self._database.insert_into(web_searches)
        sums = {name: web_searches.c[name] + statement.excluded[name] for name in tables.column_values_of(cost)}
        statement = statement.on_conflict_do_update(index_elements=["turn"], set_=sums)
        values = {"turn": turn, **tables.column_values_of(cost)}
        await self._database.run_write(lambda connection: connection.execute(statement, values))

    async def fail_attempt(self, claimed: ClaimedTurn, reason: str, retry_in: timedelta) -> FailureOutcome:
        """Record a failed attempt; the turn and its conversation pause for `retry_in`, unless it was the last attempt.

        For an exhausted turn: its error message could not be posted. It is tried again after `retry_in`, and no longer
        blocks its conversation.
        """
        now = self._database.utc_now()
        is_last_attempt = not claimed.is_exhausted and claimed.turn.attempt >= self._max_attempts
        due_at = now if is_last_attempt else now + retry_in
        if not await self._update_claimed_turn(
            _FAIL_EXHAUSTED if claimed.is_exhausted else _FAIL_ATTEMPT,
            claimed,
            failure_reason=reason,
            new_due_at=due_at,
        ):
            return ClaimLost()
        return AttemptsExhausted() if is_last_attempt else RetryScheduled(due_at)

    async def release_claim(self, claimed: ClaimedTurn) -> bool:
        """Return the turn to the queue without counting an attempt. Used by a worker that shuts down."""
        return await self._update_claimed_turn(_RELEASE_CLAIM, claimed, durable=False, now=self._database.utc_now())

    async def request_turn_stop(self, turn: str, by: str) -> bool:
        """Ask the worker of the turn to stop, which it checks from time to time; only the first request is stored.

        False if the turn is finished.
        """
        values = {"turn_id": turn, "requester": by}
        return await self._database.run_write(
            lambda connection: connection.execute(_REQUEST_STOP, values).rowcount == 1
        )

    async def find_stop_request(self, turn: str) -> str | None:
        """Returns the person who asked to stop the turn, if any."""
        return await self._database.run_read(
            lambda connection: connection.execute(_STOP_REQUESTER, {"turn_id": turn}).scalar()
        )

    async def list_turns_in_progress(self, conversation: str) -> list[str]:
        """Returns the ids of the conversation's turns that a worker has claimed, in order."""
        values = {"conversation_id": conversation}
        return list(
            await self._database.run_read(
                lambda connection: connection.execute(_TURNS_IN_PROGRESS, values).scalars().all()
            )
        )

    async def list_earlier_versions(self, turn: str) -> list[Turn]:
        """Returns the turns that this one replaces, in order: all earlier versions of the message that it revises."""
        rows = await self._database.run_read(
            lambda connection: connection.execute(_EARLIER_VERSIONS, {"turn_id": turn}).all()
        )
        return [tables.value_from_row(Turn, row) for row in rows]

    async def end_version(self, claimed: ClaimedTurn, turn: str, outcome: JsonMapping, ending: str) -> bool:
        """Close an earlier version of a revised message without a reply, even if another worker has claimed it.

        False if the lease of `claimed`, the revision, was lost, or if the earlier version is finished already.
        """
        values = _claim_key_of(claimed) | {
            "now": self._database.utc_now(),
            "earlier_version_id": turn,
            "new_outcome": outcome,
            "new_ending": ending,
        }
        return await self._database.run_write(lambda connection: connection.execute(_END_VERSION, values).rowcount == 1)

    async def list_other_reply_messages(self, turn: str) -> list[str]:
        """Returns the ids of the messages that hold the replies of the other turns of its conversation."""
        rows = await self._database.run_read(
            lambda connection: connection.execute(_OTHER_REPLY_MESSAGES, {"turn_id": turn}).scalars().all()
        )
        return list(rows)

    async def has_delivered_reply(self, conversation: str) -> bool:
        """Whether a reply was delivered in the conversation."""
        values = {"conversation_id": conversation}
        return bool(
            await self._database.run_read(lambda connection: connection.execute(_HAS_DELIVERED_REPLY, values).scalar())
        )

    async def list_people(self, conversation: str) -> list[str]:
        """The people whose turns the conversation has, each once."""
        values = {"conversation_id": conversation}
        return list(
            await self._database.run_read(
                lambda connection: connection.execute(_PEOPLE_OF_CONVERSATION, values).scalars().all()
            )
        )

    async def find_turn(self, turn: str) -> Turn | None:
        row = await self._database.run_read(
            lambda connection: connection.execute(_TURN_BY_ID, {"turn_id": turn}).one_or_none()
        )
        return None if row is None else tables.value_from_row(Turn, row)

    async def find_by_message(self, conversation: str, message_id: str) -> Turn | None:
        values = {"conversation_id": conversation, "sought_message_id": message_id}
        row = await self._database.run_read(
            lambda connection: connection.execute(_TURN_BY_MESSAGE, values).one_or_none()
        )
        return None if row is None else tables.value_from_row(Turn, row)

    async def find_by_reply(self, conversation: str, message_id: str) -> str | None:
        """Returns the id of the turn whose reply is in the message; of several turns, the latest."""
        values = {"conversation_id": conversation, "reply_message_id": message_id}
        return await self._database.run_read(
            lambda connection: connection.execute(_TURN_BY_REPLY, values).scalar_one_or_none()
        )

    async def list_attempts(self, turn: str) -> list[StoredAttempt]:
        """Returns the searches of a turn, in the order of execution."""
        query = select(attempts).where(attempts.c.turn == turn).order_by(attempts.c.position)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [tables.value_from_row(StoredAttempt, row) for row in rows]

    async def _update_claimed_turn(
        self, statement: Update, claimed: ClaimedTurn, *, durable: bool = True, **values: object
    ) -> bool:
        values |= _claim_key_of(claimed)
        return await self._database.run_write(
            lambda connection: connection.execute(statement, values).rowcount == 1,
            durable=durable,
            is_single_statement=True,
        )


_earlier, _later = turns.alias("earlier"), turns.alias("later")


@cache
def _claim_statement_for(
    by_surface: bool, by_last_turn: bool, limit_per_person: int | None, share: TurnShare
) -> Executable:
    conditions = [turns.c.finished_at.is_(None), turns.c.due_at <= bindparam("now"), ~_waits_for_earlier_turn()]
    conditions += [~_is_exhausted_and_revised(), ~_is_predecessor_posting()]
    if by_surface:
        conditions.append(turns.c.surface.in_(bindparam("surfaces", expanding=True)))
    if limit_per_person is not None:
        conditions.append(~_has_earlier_of_person(limit_per_person))
    if share is not TurnShare.ALL:
        is_background = or_(turns.c.is_long, _has_earlier_of_person(1))
        conditions.append(is_background if share is TurnShare.BACKGROUND else ~is_background)
    if by_last_turn:
        conditions += [
            turns.c.conversation == _up_to_column(_earlier.c.conversation),
            turns.c.position <= _up_to_column(_earlier.c.position),
        ]
    picked = (
        select(turns.c.position)
        .where(*conditions)
        .order_by(turns.c.position)
        .limit(bindparam("max_turns"))
        .with_for_update(skip_locked=True)
        .cte("picked")
        # PostgreSQL may run a plain subquery once per row, and would then lease more turns than the limit.
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    return (
        update(turns)
        .where(turns.c.position.in_(select(picked.c.position)))
        .values(
            worker=bindparam("claiming_worker"),
            attempt=turns.c.attempt + 1,
            fence=turns.c.fence + 1,
            due_at=bindparam("new_due_at"),
            lane=case((turns.c.attempt > bindparam("max_attempts"), None), else_=turns.c.lane),
        )
        .returning(turns)
    )


def _up_to_column(column: ColumnElement[Any]) -> ScalarSelect[Any]:
    return select(column).where(_earlier.c.id == bindparam("up_to_turn")).scalar_subquery()


def _waits_for_earlier_turn() -> ColumnElement[bool]:
    return exists().where(_earlier.c.lane == turns.c.conversation, _earlier.c.position < turns.c.position)


def _has_earlier_of_person(count: int) -> ColumnElement[bool]:
    """Whether so many earlier turns of the person are due or in progress; one that pauses after a failure is not.

    Only turns of the same surface count: the processes that answer another one may have been killed for good.
    """
    return (
        select(_earlier.c.position)
        .where(
            _earlier.c.person == turns.c.person,
            _earlier.c.surface == turns.c.surface,
            _earlier.c.finished_at.is_(None),
            _earlier.c.position < turns.c.position,
            or_(_earlier.c.worker.is_not(None), _earlier.c.due_at <= bindparam("now")),
        )
        .limit(1)
        .offset(count - 1)
        .exists()
    )


def _is_exhausted_and_revised() -> ColumnElement[bool]:
    """Matches an exhausted turn of a message that was revised since; the revision closes it by `end_version`."""
    is_revised = exists().where(
        _later.c.conversation == turns.c.conversation,
        _later.c.position > turns.c.position,
        or_(_later.c.revises == turns.c.message_id, _later.c.revises == turns.c.revises),
    )
    return and_(turns.c.lane.is_(None), is_revised)


def _is_predecessor_posting() -> ColumnElement[bool]:
    """An exhausted turn is still posting its error into the message that this revision will reuse."""
    is_claimed_predecessor = exists().where(
        _earlier.c.conversation == turns.c.conversation,
        _earlier.c.position < turns.c.position,
        or_(_earlier.c.message_id == turns.c.revises, _earlier.c.revises == turns.c.revises),
        _earlier.c.finished_at.is_(None),
        _earlier.c.worker.is_not(None),
        _earlier.c.due_at > bindparam("now"),
    )
    return and_(turns.c.revises.is_not(None), is_claimed_predecessor)


_TURN_BY_ID = select(*tables.columns_of(Turn, turns)).where(turns.c.id == bindparam("turn_id"))
_TURN_BY_MESSAGE = select(*tables.columns_of(Turn, turns)).where(
    turns.c.conversation == bindparam("conversation_id"), turns.c.message_id == bindparam("sought_message_id")
)
_TURN_BY_REPLY = (
    select(turns.c.id)
    .where(turns.c.conversation == bindparam("conversation_id"), turns.c.placeholder == bindparam("reply_message_id"))
    .order_by(turns.c.position.desc())
    .limit(1)
)
_is_open = turns.c.finished_at.is_(None)
_REQUEST_STOP = (
    update(turns)
    .where(turns.c.id == bindparam("turn_id"), _is_open)
    .values(stopped_by=func.coalesce(turns.c.stopped_by, bindparam("requester", type_=turns.c.stopped_by.type)))
)
_STOP_REQUESTER = select(turns.c.stopped_by).where(turns.c.id == bindparam("turn_id"))
_TURNS_IN_PROGRESS = (
    select(turns.c.id)
    .where(turns.c.conversation == bindparam("conversation_id"), turns.c.worker.is_not(None), _is_open)
    .order_by(turns.c.position)
)
_EARLIER_VERSIONS = (
    select(*tables.columns_of(Turn, turns))
    .join(_later, and_(_later.c.conversation == turns.c.conversation, _later.c.position > turns.c.position))
    .where(
        _later.c.id == bindparam("turn_id"),
        or_(turns.c.message_id == _later.c.revises, turns.c.revises == _later.c.revises),
    )
    .order_by(turns.c.position)
)
_OTHER_REPLY_MESSAGES = select(turns.c.placeholder).where(
    turns.c.conversation == select(_later.c.conversation).where(_later.c.id == bindparam("turn_id")).scalar_subquery(),
    turns.c.id != bindparam("turn_id"),
    turns.c.placeholder.is_not(None),
)
_HAS_DELIVERED_REPLY = select(
    exists().where(turns.c.conversation == bindparam("conversation_id"), turns.c.delivered_at.is_not(None))
)
_PEOPLE_OF_CONVERSATION = select(turns.c.person).distinct().where(turns.c.conversation == bindparam("conversation_id"))
_INSERT_ATTEMPTS = insert(attempts)

# Updates of a claimed turn, which match no row once the lease is lost. SQLAlchemy caches the compiled form of a
# statement as long as the same statement object is used.
_update_claimed = update(turns).where(
    turns.c.id == bindparam("turn_id"), turns.c.fence == bindparam("claim_fence"), turns.c.finished_at.is_(None)
)
_release_update = _update_claimed.values(fence=turns.c.fence + 1, worker=null())
_RENEW_LEASE = _update_claimed.values(due_at=bindparam("new_due_at"))
_MOVE_TURN = _update_claimed.values(
    conversation=bindparam("new_conversation"),
    lane=case((turns.c.lane.is_(None), None), else_=bindparam("new_conversation", type_=turns.c.lane.type)),
    audience=bindparam("new_audience"),
    body=bindparam("new_body"),
)
_NOTE_PLACEHOLDER = _update_claimed.values(placeholder=bindparam("placeholder_message"))
_NOTE_OUTCOME = _update_claimed.values(outcome=bindparam("new_outcome"))
_MARK_DELIVERED = _update_claimed.values(delivered_at=bindparam("now"))
_FINISH_TURN = _update_claimed.values(
    finished_at=bindparam("now"),
    delivered_at=func.coalesce(turns.c.delivered_at, bindparam("new_delivered_at", type_=turns.c.delivered_at.type)),
    outcome=bindparam("new_outcome"),
    ending=bindparam("new_ending"),
    route=bindparam("new_route"),
    lane=null(),
    worker=null(),
)
_FAIL_ATTEMPT = _release_update.values(failure=bindparam("failure_reason"), due_at=bindparam("new_due_at"))
_FAIL_EXHAUSTED = _FAIL_ATTEMPT.values(lane=null())
_END_VERSION = (
    update(turns)
    .where(
        turns.c.id == bindparam("earlier_version_id"),
        turns.c.finished_at.is_(None),
        exists().where(
            _later.c.id == bindparam("turn_id"),
            _later.c.fence == bindparam("claim_fence"),
            _later.c.finished_at.is_(None),
        ),
    )
    .values(
        finished_at=bindparam("now"),
        fence=turns.c.fence + 1,
        outcome=bindparam("new_outcome"),
        ending=bindparam("new_ending"),
        lane=null(),
        worker=null(),
    )
)
_RELEASE_CLAIM = _release_update.values(due_at=bindparam("now"), attempt=turns.c.attempt - 1)


def _claim_key_of(claimed: ClaimedTurn) -> dict[str, Any]:
    """Returns the bind values that identify a claim in updates."""
    return {"turn_id": claimed.turn.id, "claim_fence": claimed.fence}


def _insert_turn_attempts(connection: Connection, turn: str, new_attempts: Sequence[StoredAttempt]) -> None:
    rows = [
        {"turn": turn, "position": position, **tables.column_values_of(attempt)}
        for position, attempt in enumerate(new_attempts)
    ]
    if rows:
        connection.execute(_INSERT_ATTEMPTS, rows)
