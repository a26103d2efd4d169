"""Clarifications: stored with their choices, each used once, by whoever the database says was first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, exists, insert, or_, select, update
from sqlalchemy.engine import Row, RowMapping

from storage.sql.database import Database, Object
from storage.sql.tables import choices, clarifications, turns


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
        await self._database.write(lambda connection: _store(connection, stored))
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
        return await self._database.read(lambda connection: _first(connection, _BY_ID, {"one": clarification}))

    async def choice(self, choice: str) -> Offered | None:
        """What a choice is, used or not, expired or not: to see whether the clicker may read it, before `use`."""
        found = await self._database.read(lambda connection: _first(connection, _OFFERING, {"chosen": choice}))
        return None if found is None else Offered(found, _named(found, choice))

    async def use(self, choice: str, *, by: str, turn: str) -> Use:
        """The first use of a clarification counts, and the same turn's again, since a turn may be tried again.

        `by` is the person, `turn` the clicker's own. Whether the clicker may is the caller's question.
        """
        values = {"chosen": choice, "person": by, "clicking": turn, "now": self._database.now()}
        won, found = await self._database.write(lambda connection: _use(connection, values))
        if found is None:
            return Unknown()
        if won:
            return Used(found, _named(found, choice))
        if found.used_choice and found.used_by and found.used_at:
            return AlreadyUsed(found, found.used_by, _named(found, found.used_choice).label, found.used_at)
        return Expired(found)

    async def open_in(self, conversation: str, scope_key: str) -> Clarification | None:
        """The newest of the conversation and scope, if it was neither used nor has expired: typed replies mean it."""
        where = {"held_in": conversation, "under": scope_key}
        newest = await self._database.read(lambda connection: _first(connection, _NEWEST_IN, where))
        if newest is None or newest.used_at is not None or newest.expires_at <= self._database.now():
            return None
        return newest

    async def expire(self, *, but: Collection[str] = ()) -> list[Clarification]:
        """Those whose time is over and that nobody used, each given once: their messages are to say so.

        `but`: not those that were offered on these surfaces.
        """
        values = {"now": self._database.now(), "elsewhere": list(but)}
        return await self._database.write(lambda connection: _expire(connection, values))

    async def choosers(self, turns: Sequence[str]) -> list[str]:
        """The turns that made a choice of what these offered."""
        made = select(clarifications.c.used_turn).where(
            clarifications.c.turn.in_(turns), clarifications.c.used_turn.is_not(None)
        )
        return list(await self._database.read(lambda connection: connection.execute(made).scalars().all()))

    async def withdraw(self, turns: Sequence[str]) -> None:
        """Those that these turns offered and that nobody used count for nothing from now on."""
        values = {"offering": list(turns), "now": self._database.now()}
        await self._database.write(lambda connection: connection.execute(_WITHDRAWING, values))


def _store(connection: Connection, stored: Clarification) -> None:
    connection.execute(_STORING, _columns(stored))
    if stored.choices:
        connection.execute(_STORING_CHOICES, _choice_rows(stored))


def _use(connection: Connection, values: Mapping[str, Any]) -> tuple[bool, Clarification | None]:
    won = connection.execute(_USING, values).rowcount == 1
    return won, _first(connection, _OFFERING, {"chosen": values["chosen"]})


def _expire(connection: Connection, values: Mapping[str, Any]) -> list[Clarification]:
    rows = connection.execute(_EXPIRING, values).all()
    return [_whole(connection, row) for row in sorted(rows, key=lambda row: row.position)]


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


def _newest(*conditions: ColumnElement[bool]) -> Select[Any]:
    return select(clarifications).where(*conditions).order_by(clarifications.c.position.desc()).limit(1)


_offers = (
    clarifications.c.id == select(choices.c.clarification).where(choices.c.id == bindparam("chosen")).scalar_subquery()
)
_unused = and_(clarifications.c.used_at.is_(None), clarifications.c.expired_at.is_(None))
_again = and_(clarifications.c.used_turn == bindparam("clicking"), clarifications.c.used_choice == bindparam("chosen"))
_BY_ID = _newest(clarifications.c.id == bindparam("one"))
_OFFERING = _newest(_offers)
_NEWEST_IN = _newest(
    clarifications.c.conversation == bindparam("held_in"), clarifications.c.scope_key == bindparam("under")
)
_CHOICES_OF = (
    select(*(choices.c[name] for name in Choice.__dataclass_fields__))
    .where(choices.c.clarification == bindparam("one"))
    .order_by(choices.c.position)
)
_STORING, _STORING_CHOICES = insert(clarifications), insert(choices)
_USING = (
    update(clarifications)
    .where(_offers, or_(and_(_unused, clarifications.c.expires_at > bindparam("now")), _again))
    .values(
        used_choice=bindparam("chosen"),
        used_by=bindparam("person"),
        used_turn=bindparam("clicking"),
        used_at=bindparam("now"),
    )
)
_WITHDRAWING = (
    update(clarifications)
    .where(clarifications.c.turn.in_(bindparam("offering", expanding=True)), _unused)
    .values(expired_at=bindparam("now"), expires_at=bindparam("now"))
)
_offered_elsewhere = exists().where(
    turns.c.id == clarifications.c.turn, turns.c.surface.in_(bindparam("elsewhere", expanding=True))
)
_EXPIRING = (
    update(clarifications)
    .where(_unused, clarifications.c.expires_at <= bindparam("now"), ~_offered_elsewhere)
    .values(expired_at=bindparam("now"))
    .returning(clarifications)
)


def _first(connection: Connection, newest: Select[Any], values: Mapping[str, str]) -> Clarification | None:
    row = connection.execute(newest, values).one_or_none()
    return None if row is None else _whole(connection, row)


def _whole(connection: Connection, row: Row[Any]) -> Clarification:
    rows = connection.execute(_CHOICES_OF, {"one": row.id}).mappings().all()
    return Clarification(**{name: getattr(row, name) for name in _STORED}, choices=tuple(map(_choice, rows)))


def _choice(row: RowMapping) -> Choice:
    return Choice(**{name: row[name] for name in Choice.__dataclass_fields__})


def _named(clarification: Clarification, choice: str) -> Choice:
    return next(offered for offered in clarification.choices if offered.id == choice)
