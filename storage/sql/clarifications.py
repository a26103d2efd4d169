"""Clarifications: stored with their choices, each used once, by whoever the database says was first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Update, and_, insert, or_, select, update
from sqlalchemy.engine import Row, RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.sql.database import Database, Object
from storage.sql.tables import choices, clarifications


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChoice:
    """`payload` is what the click does; `count` None for actions that show none."""

    label: str
    count: int | None
    kind: str
    payload: Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(NewChoice):
    id: str  # opaque: all that a button carries


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClarification:
    """`generation` is the state of the index at which the counts are true."""

    conversation: str
    turn: str
    scope_key: str
    audience: Object
    plan: Object
    question: str
    generation: str
    expires_at: datetime
    choices: tuple[NewChoice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarification:
    """As stored. Choices are in the order given."""

    id: str
    conversation: str
    turn: str
    scope_key: str
    audience: Object
    plan: Object
    question: str
    generation: str
    created_at: datetime
    expires_at: datetime
    choices: tuple[Choice, ...]
    used_choice: str | None = None
    used_by: str | None = None
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """A choice and the clarification that it stands in."""

    clarification: Clarification
    choice: Choice


@dataclass(frozen=True, slots=True)
class Used:
    """The click counts: go on with it."""

    clarification: Clarification
    choice: Choice


@dataclass(frozen=True, slots=True)
class AlreadyUsed:
    """`label` is the choice that was made then."""

    clarification: Clarification
    by: str
    label: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Expired:
    clarification: Clarification


@dataclass(frozen=True, slots=True)
class Unknown:
    """No clarification offers this."""


Use: TypeAlias = Used | AlreadyUsed | Expired | Unknown


class Clarifications:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def store(self, clarification: NewClarification) -> Clarification:
        """With an id for it and for each choice."""
        stored = self._with_ids(clarification)
        async with self._database.writing() as connection:
            await connection.execute(insert(clarifications), [_columns(stored)])
            if stored.choices:
                await connection.execute(insert(choices), _choice_rows(stored))
        return stored

    def _with_ids(self, new: NewClarification) -> Clarification:
        fields = {name: getattr(new, name) for name in NewClarification.__dataclass_fields__ if name != "choices"}
        return Clarification(
            **fields,
            id=self._database.new_id(),
            created_at=self._database.now(),
            choices=tuple(
                Choice(id=self._database.new_id(), label=c.label, count=c.count, kind=c.kind, payload=c.payload)
                for c in new.choices
            ),
        )

    async def find(self, clarification: str) -> Clarification | None:
        async with self._database.reading() as connection:
            return await _first(connection, clarifications.c.id == clarification)

    async def choice(self, choice: str) -> Offered | None:
        """What a choice is, used or not, expired or not: to see whether the clicker may read it, before `use`."""
        async with self._database.reading() as connection:
            found = await _first(connection, _offers(choice))
        return None if found is None else Offered(found, _named(found, choice))

    async def use(self, choice: str, *, by: str, turn: str) -> Use:
        """The first use of a clarification counts, and the same turn's again, since a turn may be tried again.

        `by` is the person, `turn` the clicker's own. Whether the clicker may is the caller's question.
        """
        async with self._database.writing() as connection:
            won = (await connection.execute(self._using(choice, by, turn))).rowcount == 1
            found = await _first(connection, _offers(choice))
        if found is None:
            return Unknown()
        if won:
            return Used(found, _named(found, choice))
        if found.used_choice and found.used_by and found.used_at:
            return AlreadyUsed(found, found.used_by, _named(found, found.used_choice).label, found.used_at)
        return Expired(found)

    def _using(self, choice: str, by: str, turn: str) -> Update:
        now = self._database.now()
        fresh = and_(
            clarifications.c.used_at.is_(None),
            clarifications.c.expired_at.is_(None),
            clarifications.c.expires_at > now,
        )
        again = and_(clarifications.c.used_turn == turn, clarifications.c.used_choice == choice)
        return (
            update(clarifications)
            .where(_offers(choice), or_(fresh, again))
            .values(used_choice=choice, used_by=by, used_turn=turn, used_at=now)
        )

    async def open_in(self, conversation: str, scope_key: str) -> Clarification | None:
        """The newest of the conversation and scope, if it was neither used nor has expired: typed replies mean it."""
        async with self._database.reading() as connection:
            newest = await _first(
                connection, clarifications.c.conversation == conversation, clarifications.c.scope_key == scope_key
            )
        if newest is None or newest.used_at is not None or newest.expires_at <= self._database.now():
            return None
        return newest

    async def expire(self) -> list[Clarification]:
        """Those whose time is over and that nobody used, each given once: their messages are to say so."""
        now = self._database.now()
        expiring = (
            update(clarifications)
            .where(
                clarifications.c.used_at.is_(None),
                clarifications.c.expired_at.is_(None),
                clarifications.c.expires_at <= now,
            )
            .values(expired_at=now)
            .returning(clarifications)
        )
        async with self._database.writing() as connection:
            rows = (await connection.execute(expiring)).all()
            return [await _whole(connection, row) for row in sorted(rows, key=lambda row: row.position)]


def _columns(stored: Clarification) -> dict[str, Any]:
    return {name: getattr(stored, name) for name in _STORED}


_STORED = tuple(name for name in Clarification.__dataclass_fields__ if name != "choices")


def _choice_rows(stored: Clarification) -> list[dict[str, Any]]:
    return [
        {
            "id": choice.id,
            "clarification": stored.id,
            "position": position,
            "label": choice.label,
            "count": choice.count,
            "kind": choice.kind,
            "payload": choice.payload,
        }
        for position, choice in enumerate(stored.choices)
    ]


def _offers(choice: str) -> ColumnElement[bool]:
    return clarifications.c.id == select(choices.c.clarification).where(choices.c.id == choice).scalar_subquery()


async def _first(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> Clarification | None:
    """The newest that meets the conditions."""
    newest = select(clarifications).where(*conditions).order_by(clarifications.c.position.desc()).limit(1)
    row = (await connection.execute(newest)).one_or_none()
    return None if row is None else await _whole(connection, row)


async def _whole(connection: AsyncConnection, row: Row[Any]) -> Clarification:
    offered = select(choices).where(choices.c.clarification == row.id).order_by(choices.c.position)
    rows = (await connection.execute(offered)).mappings().all()
    return Clarification(**{name: getattr(row, name) for name in _STORED}, choices=tuple(map(_choice, rows)))


def _choice(row: RowMapping) -> Choice:
    return Choice(**{name: row[name] for name in Choice.__dataclass_fields__})


def _named(clarification: Clarification, choice: str) -> Choice:
    return next(offered for offered in clarification.choices if offered.id == choice)
