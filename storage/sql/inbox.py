"""The inbox: turns stored before they are acknowledged, claimed in order, and finished by whoever holds the lease.

A turn is open until `finish`. It is claimed under a lease, and each claim has a fence of its own: a worker that lost
its lease writes nothing more, and is told by False. Each claim counts as an attempt, also one that ended in a kill;
after the last one the turn is dead, and is handed out as such until its `finish`: the person gets a word for certain.
Leases run by the clock of each process: a clock that is ahead takes over early, but the fence alone says who may write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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

from storage.sql.accepting import Acceptance, Accepting, NewTurn
from storage.sql.conversations import ConversationState, saving
from storage.sql.database import Database, Object
from storage.sql.tables import attempts, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(NewTurn):
    """A turn as stored."""

    id: str
    attempt: int  # claims so far
    placeholder: str | None  # the message that was posted to hold the reply
    delivered_at: datetime | None  # the reply is in the chat
    failure: str | None  # why the last attempt failed
    route: Object | None
    outcome: Object | None
    finished_at: datetime | None
    stopped_by: str | None  # who asked to stop it


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTurn:
    """A turn in the hands of one worker, until `lease_until` unless renewed."""

    turn: Turn
    fence: int  # grows with every claim; every write checks it
    is_dead: bool  # no more attempts: say one plain sentence, then `finish`
    lease_until: datetime
    is_alone: bool  # no other turn of its conversation is worked on, but for the word of a dead one


@dataclass(frozen=True, slots=True)
class Retry:
    """It will be handed out again, not before `at`."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Dead:
    """It will be handed out at once as dead."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The lease was lost: another worker has it, or it is finished."""


Failed: TypeAlias = Retry | Dead | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One executed search of a turn."""

    tool: str
    arguments: Object
    documents: int
    ms: float


class Inbox:
    """`max_attempts` claims of a turn may fail before it is dead."""

    def __init__(self, database: Database, *, max_attempts: int = 3) -> None:
        self._database, self._max_attempts = database, max_attempts
        self._accepting = Accepting(database)
        self._save_state = saving(database)

    async def accept(self, turn: NewTurn, *, first: bool = False) -> Acceptance:
        """On the disk when it returns: acknowledge then.

        `first`: what revises a message may come before it. The message is then a duplicate of what has revised it.
        """
        return await self._accepting.accept(turn, first=first)

    async def claim(
        self,
        worker: str,
        lease: timedelta,
        *,
        limit: int = 1,
        surfaces: Sequence[str] | None = None,
        up_to: str | None = None,
    ) -> list[ClaimedTurn]:
        """Up to `limit` turns that are due, oldest first, of these surfaces alone if given, or
        of a conversation alone: the turn `up_to` and those before it.

        Never a turn while an earlier one of its conversation is open, so never two of one conversation. (A dead turn
        whose word could not be said holds nothing up after the first try; but an edit waits while it is being said, and
        once the edit is there it is said no more.)
        """
        now = self._database.now()
        values: dict[str, Any] = {
            "claimer": worker,
            "now": now,
            "until": now + lease,
            "most": limit,
            "max_attempts": self._max_attempts,
            **({} if surfaces is None else {"surfaces": list(surfaces)}),
            **({} if up_to is None else {"up_to": up_to}),
        }
        claiming = _claiming(surfaces is not None, up_to is not None)
        rows = await self._database.write(lambda connection: connection.execute(claiming, values).all(), lightly=True)
        return [self._claimed(row) for row in sorted(rows, key=lambda row: row.position)]

    def _claimed(self, row: Row[Any]) -> ClaimedTurn:
        is_dead = row.attempt > self._max_attempts
        return ClaimedTurn(
            turn=_turn(row), fence=row.fence, is_dead=is_dead, lease_until=row.due_at, is_alone=row.lane is not None
        )

    async def renew(self, claimed: ClaimedTurn, lease: timedelta) -> bool:
        """Whether it is still this worker's, now for `lease` from now. Ask before every effect outside."""
        return await self._write(_RENEWING, claimed, lightly=True, until=self._database.now() + lease)

    async def move(self, claimed: ClaimedTurn, conversation: str, audience: Object, body: Object) -> bool:
        """From now on it is a turn of that conversation, behind what is open there already."""
        return await self._write(_MOVING, claimed, place=conversation, readers=audience, told=body)

    async def note_placeholder(self, claimed: ClaimedTurn, message_id: str) -> bool:
        """The message that holds the reply was posted. A later claim finds it in `turn.placeholder`."""
        return await self._write(_NOTING_PLACEHOLDER, claimed, message=message_id)

    async def note_outcome(self, claimed: ClaimedTurn, outcome: Object) -> bool:
        """What the turn came to, before it is said. A later claim finds it in `turn.outcome` and has only to say it."""
        return await self._write(_NOTING_OUTCOME, claimed, said=outcome)

    async def mark_delivered(self, claimed: ClaimedTurn) -> bool:
        """The reply is in the chat. A later claim finds it in `turn.delivered_at`, and has only to finish."""
        return await self._write(_DELIVERED, claimed, lightly=True, now=self._database.now())

    async def finish(
        self,
        claimed: ClaimedTurn,
        outcome: Object,
        *,
        state: ConversationState | None = None,
        route: Object | None = None,
        attempts: Sequence[Attempt] = (),
        ending: str | None = None,
        delivered: bool = False,
        noted: bool = False,
    ) -> bool:
        """Closes the turn, with all that is kept of it, in one transaction: all of it or, when False, nothing.

        `ending`: the outcome in a word, which questions are counted and found by. `delivered`: marks that too, for a
        turn with nothing left to do in between. `noted`: the outcome was, so that a power cut costs no more than to say
        it again.
        """
        values = _key(claimed) | {"now": self._database.now(), "said": outcome, "took": route, "ends": ending}
        values["delivered"] = values["now"] if delivered else None

        def finished(connection: Connection) -> bool:
            if connection.execute(_FINISHING, values).rowcount == 0:
                return False
            _keep_attempts(connection, claimed.turn.id, attempts)
            if state is not None:
                self._save_state(connection, state)
            return True

        return await self._database.write(finished, lightly=noted)

    async def fail(self, claimed: ClaimedTurn, reason: str, retry_in: timedelta) -> Failed:
        """This attempt came to nothing. Pauses for `retry_in`, with the conversation, unless it was the last one.

        Of a dead turn: the word could not be said; it is tried again after `retry_in`, and holds nothing up any more.
        """
        now = self._database.now()
        last = not claimed.is_dead and claimed.turn.attempt >= self._max_attempts
        at = now if last else now + retry_in
        if not await self._write(_LEAVING if claimed.is_dead else _FAILING, claimed, reason=reason, until=at):
            return Lost()
        return Dead() if last else Retry(at)

    async def release(self, claimed: ClaimedTurn) -> bool:
        """Back as it was, without counting as an attempt: for a worker that shuts down."""
        return await self._write(_RELEASING, claimed, lightly=True, now=self._database.now())

    async def ask_to_stop(self, turn: str, by: str) -> bool:
        """Whoever works on it looks for that now and then. False when it is finished; the first to ask counts."""
        asked = {"one": turn, "asking": by}
        return await self._database.write(lambda connection: connection.execute(_STOPPING, asked).rowcount == 1)

    async def asked_to_stop(self, turn: str) -> str | None:
        """By whom."""
        return await self._database.read(lambda connection: connection.execute(_STOPPED, {"one": turn}).scalar())

    async def in_work(self, conversation: str) -> list[str]:
        """Its turns that a worker has in its hands, in order."""
        where = {"held_in": conversation}
        return list(await self._database.read(lambda connection: connection.execute(_IN_WORK, where).scalars().all()))

    async def versions(self, turn: str) -> list[Turn]:
        """The turns that this one takes the place of, in order: of the message that it revises, as it was till now."""
        rows = await self._database.read(lambda connection: connection.execute(_VERSIONS, {"one": turn}).all())
        return [_turn(row) for row in rows]

    async def end_version(self, claimed: ClaimedTurn, turn: str, outcome: Object, ending: str) -> bool:
        """An earlier version, which is claimed no more once it was edited: closed without a word, whoever holds it.

        False when the lease of the later one was lost, or when it is finished already.
        """
        values = _key(claimed) | {"now": self._database.now(), "left": turn, "said": outcome, "ends": ending}
        return await self._database.write(lambda connection: connection.execute(_ENDING, values).rowcount == 1)

    async def messages_but(self, turn: str) -> list[str]:
        """Those that hold the replies of the other turns of its conversation."""
        rows = await self._database.read(
            lambda connection: connection.execute(_MESSAGES_BUT, {"one": turn}).scalars().all()
        )
        return list(rows)

    async def has_delivered(self, conversation: str) -> bool:
        """Whether a reply stands in the conversation."""
        where = {"held_in": conversation}
        return bool(await self._database.read(lambda connection: connection.execute(_HAS_DELIVERED, where).scalar()))

    async def find(self, turn: str) -> Turn | None:
        row = await self._database.read(lambda connection: connection.execute(_BY_ID, {"one": turn}).one_or_none())
        return None if row is None else _turn(row)

    async def of_message(self, conversation: str, message_id: str) -> Turn | None:
        where = {"held_in": conversation, "named": message_id}
        row = await self._database.read(lambda connection: connection.execute(_BY_MESSAGE, where).one_or_none())
        return None if row is None else _turn(row)

    async def attempts(self, turn: str) -> list[Attempt]:
        """In the order they were made."""
        made = select(attempts).where(attempts.c.turn == turn).order_by(attempts.c.position)
        rows = await self._database.read(lambda connection: connection.execute(made).all())
        return [Attempt(tool=row.tool, arguments=row.arguments, documents=row.documents, ms=row.ms) for row in rows]

    async def _write(self, statement: Update, claimed: ClaimedTurn, *, lightly: bool = False, **values: object) -> bool:
        values |= _key(claimed)
        return await self._database.write(
            lambda connection: connection.execute(statement, values).rowcount == 1, lightly=lightly
        )


_STORED = tuple(Turn.__dataclass_fields__)
_earlier, _later = turns.alias("earlier"), turns.alias("later")


@cache
def _claiming(by_surface: bool, up_to: bool) -> Executable:
    due = [turns.c.finished_at.is_(None), turns.c.due_at <= bindparam("now"), ~_held_up()]
    due += [~_is_left_for_its_successor(), ~_is_still_said_by_its_predecessor()]
    if by_surface:
        due.append(turns.c.surface.in_(bindparam("surfaces", expanding=True)))
    if up_to:
        due += [turns.c.conversation == _last(_earlier.c.conversation), turns.c.position <= _last(_earlier.c.position)]
    picked = (
        select(turns.c.position)
        .where(*due)
        .order_by(turns.c.position)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
        .cte("picked")
        # PostgreSQL may run a plain subquery once a row, and then leases more than the limit.
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    return (
        update(turns)
        .where(turns.c.position.in_(select(picked.c.position)))
        .values(
            worker=bindparam("claimer"),
            attempt=turns.c.attempt + 1,
            fence=turns.c.fence + 1,
            due_at=bindparam("until"),
            lane=case((turns.c.attempt > bindparam("max_attempts"), None), else_=turns.c.lane),
        )
        .returning(turns)
    )


def _last(column: ColumnElement[Any]) -> ScalarSelect[Any]:
    return select(column).where(_earlier.c.id == bindparam("up_to")).scalar_subquery()


def _held_up() -> ColumnElement[bool]:
    return exists().where(_earlier.c.lane == turns.c.conversation, _earlier.c.position < turns.c.position)


def _is_left_for_its_successor() -> ColumnElement[bool]:
    """A dead turn whose word could not be said, of a message that was edited since: its end is for `end_versions`."""
    edited = exists().where(
        _later.c.conversation == turns.c.conversation,
        _later.c.position > turns.c.position,
        or_(_later.c.revises == turns.c.message_id, _later.c.revises == turns.c.revises),
    )
    return and_(turns.c.lane.is_(None), edited)


def _is_still_said_by_its_predecessor() -> ColumnElement[bool]:
    """Somebody is about to say the word of a dead turn in the message that this one would answer in."""
    in_hands = exists().where(
        _earlier.c.conversation == turns.c.conversation,
        _earlier.c.position < turns.c.position,
        or_(_earlier.c.message_id == turns.c.revises, _earlier.c.revises == turns.c.revises),
        _earlier.c.finished_at.is_(None),
        _earlier.c.worker.is_not(None),
        _earlier.c.due_at > bindparam("now"),
    )
    return and_(turns.c.revises.is_not(None), in_hands)


_BY_ID = select(*(turns.c[name] for name in _STORED)).where(turns.c.id == bindparam("one"))
_BY_MESSAGE = select(*(turns.c[name] for name in _STORED)).where(
    turns.c.conversation == bindparam("held_in"), turns.c.message_id == bindparam("named")
)
_open = turns.c.finished_at.is_(None)
_STOPPING = (
    update(turns)
    .where(turns.c.id == bindparam("one"), _open)
    .values(stopped_by=func.coalesce(turns.c.stopped_by, bindparam("asking", type_=turns.c.stopped_by.type)))
)
_STOPPED = select(turns.c.stopped_by).where(turns.c.id == bindparam("one"))
_IN_WORK = (
    select(turns.c.id)
    .where(turns.c.conversation == bindparam("held_in"), turns.c.worker.is_not(None), _open)
    .order_by(turns.c.position)
)
_VERSIONS = (
    select(*(turns.c[name] for name in _STORED))
    .join(_later, and_(_later.c.conversation == turns.c.conversation, _later.c.position > turns.c.position))
    .where(
        _later.c.id == bindparam("one"),
        or_(turns.c.message_id == _later.c.revises, turns.c.revises == _later.c.revises),
    )
    .order_by(turns.c.position)
)
_MESSAGES_BUT = select(turns.c.placeholder).where(
    turns.c.conversation == select(_later.c.conversation).where(_later.c.id == bindparam("one")).scalar_subquery(),
    turns.c.id != bindparam("one"),
    turns.c.placeholder.is_not(None),
)
_HAS_DELIVERED = select(exists().where(turns.c.conversation == bindparam("held_in"), turns.c.delivered_at.is_not(None)))
_KEEPING_ATTEMPTS = insert(attempts)

# Updates of a claimed turn, which meet no row once the lease is lost. SQLAlchemy keeps what it made of a statement, as
# long as the statement is the same.
_of = update(turns).where(
    turns.c.id == bindparam("one"), turns.c.fence == bindparam("held"), turns.c.finished_at.is_(None)
)
_handed_back = _of.values(fence=turns.c.fence + 1, worker=null())
_RENEWING = _of.values(due_at=bindparam("until"))
_MOVING = _of.values(
    conversation=bindparam("place"),
    lane=case((turns.c.lane.is_(None), None), else_=bindparam("place", type_=turns.c.lane.type)),
    audience=bindparam("readers"),
    body=bindparam("told"),
)
_NOTING_PLACEHOLDER = _of.values(placeholder=bindparam("message"))
_NOTING_OUTCOME = _of.values(outcome=bindparam("said"))
_DELIVERED = _of.values(delivered_at=bindparam("now"))
_FINISHING = _of.values(
    finished_at=bindparam("now"),
    delivered_at=func.coalesce(turns.c.delivered_at, bindparam("delivered", type_=turns.c.delivered_at.type)),
    outcome=bindparam("said"),
    ending=bindparam("ends"),
    route=bindparam("took"),
    lane=null(),
    worker=null(),
)
_FAILING = _handed_back.values(failure=bindparam("reason"), due_at=bindparam("until"))
_LEAVING = _FAILING.values(lane=null())
_ENDING = (
    update(turns)
    .where(
        turns.c.id == bindparam("left"),
        turns.c.finished_at.is_(None),
        exists().where(
            _later.c.id == bindparam("one"), _later.c.fence == bindparam("held"), _later.c.finished_at.is_(None)
        ),
    )
    .values(
        finished_at=bindparam("now"),
        fence=turns.c.fence + 1,
        outcome=bindparam("said"),
        ending=bindparam("ends"),
        lane=null(),
        worker=null(),
    )
)
_RELEASING = _handed_back.values(due_at=bindparam("now"), attempt=turns.c.attempt - 1)


def _key(claimed: ClaimedTurn) -> dict[str, Any]:
    """What the updates know a claim by."""
    return {"one": claimed.turn.id, "held": claimed.fence}


def _turn(row: Row[Any]) -> Turn:
    return Turn(**{name: getattr(row, name) for name in _STORED})


def _keep_attempts(connection: Connection, turn: str, made: Sequence[Attempt]) -> None:
    rows = [
        {
            "turn": turn,
            "position": position,
            "tool": attempt.tool,
            "arguments": attempt.arguments,
            "documents": attempt.documents,
            "ms": attempt.ms,
        }
        for position, attempt in enumerate(made)
    ]
    if rows:
        connection.execute(_KEEPING_ATTEMPTS, rows)
