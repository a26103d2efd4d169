"""Clarifications: stored with their choices; the first click that reaches the database uses a clarification."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Index,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Row
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.turns import turns


@dataclass(frozen=True, kw_only=True)
class NewChoice:
    """`payload` says what the click does; `count` is None for actions that show no count."""

    label: tables.PeopleText
    count: int | None
    kind: str
    payload: tables.JsonColumn


@dataclass(frozen=True, kw_only=True)
class StoredChoice(NewChoice):
    id: tables.KeyText  # opaque; the only value that a button carries


class ChoiceRow(tables.TableRow, StoredChoice, frozen=True, table=True):
    __tablename__ = "choices"  # pyright: ignore[reportAssignmentType]

    clarification: str = Field(foreign_key="clarifications.id", ondelete="CASCADE", index=True)
    position: int


@dataclass(frozen=True, kw_only=True)
class ClarificationContent:
    """`generation` is the state of the index at which the counts are true."""

    conversation: str
    turn: str
    scope_key: str
    audience: tables.JsonColumn
    plan: tables.JsonColumn
    question: tables.PeopleText
    generation: str
    expires_at: tables.UtcColumn


@dataclass(frozen=True, kw_only=True)
class NewClarification(ClarificationContent):
    choices: tuple[NewChoice, ...]


@dataclass(frozen=True, kw_only=True)
class ClarificationRecord(ClarificationContent):
    """A clarification as stored, without its choices."""

    id: tables.UniqueText
    created_at: tables.UtcColumn
    used_choice: str | None = None
    used_by: str | None = None
    used_at: tables.OptionalUtcColumn = None


class ClarificationRow(tables.TableRow, ClarificationRecord, frozen=True, table=True):
    __tablename__ = "clarifications"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index(
            "ix_clarifications_open",
            "conversation",
            "position",
            **tables.partial_index("used_at IS NULL AND expired_at IS NULL"),
        ),
        Index("ix_clarifications_due", "due_at", **tables.partial_index("due_at IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    used_turn: str | None
    expired_at: tables.OptionalUtcColumn
    due_at: tables.OptionalUtcColumn  # when another process may update the message of an expired clarification


@dataclass(frozen=True, kw_only=True)
class StoredClarification(ClarificationRecord):
    """A clarification as stored. Choices keep the given order."""

    choices: tuple[StoredChoice, ...]


clarifications: Final = ClarificationRow.__table__
choices: Final = ChoiceRow.__table__


@dataclass(frozen=True, slots=True)
class ClarificationChoice:
    """A choice and its clarification."""

    clarification: StoredClarification
    choice: StoredChoice


@dataclass(frozen=True, slots=True)
class ChoiceUsed:
    """The click counts: continue with the choice."""

    clarification: StoredClarification
    choice: StoredChoice


@dataclass(frozen=True, slots=True)
class ChoiceAlreadyUsed:
    """The clarification was used before. `used_label` is the label of the choice that was used."""

    clarification: StoredClarification
    used_by: str
    used_label: str
    used_at: datetime


@dataclass(frozen=True, slots=True)
class ClarificationExpired:
    clarification: StoredClarification


@dataclass(frozen=True, slots=True)
class ChoiceUnknown:
    """No clarification offers this choice."""


ChoiceUse: TypeAlias = ChoiceUsed | ChoiceAlreadyUsed | ClarificationExpired | ChoiceUnknown


class ClarificationStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def store_clarification(self, clarification: NewClarification) -> StoredClarification:
        """Store a clarification and assign ids to it and its choices."""
        stored = self._assign_choice_ids(clarification)
        await self._database.run_write(lambda connection: _insert_clarification(connection, stored))
        return stored

    def _assign_choice_ids(self, new: NewClarification) -> StoredClarification:
        stored_choices = (
            StoredChoice(id=self._database.new_id(), **tables.column_values_of(choice)) for choice in new.choices
        )
        values: dict[str, Any] = {**tables.column_values_of(new), "choices": tuple(stored_choices)}
        return StoredClarification(id=self._database.new_id(), created_at=self._database.utc_now(), **values)

    async def find_clarification(self, clarification_id: str) -> StoredClarification | None:
        return await self._database.run_read(
            lambda connection: _load_newest_match(connection, _BY_ID, {"clarification_id": clarification_id})
        )

    async def find_offered_choice(self, choice_id: str) -> ClarificationChoice | None:
        """Returns a choice with its clarification, even if used or expired.

        The caller checks whether the clicker may read it before it calls `use_choice`.
        """
        clarification = await self._database.run_read(
            lambda connection: _load_newest_match(connection, _CLARIFICATION_OF_CHOICE, {"choice_id": choice_id})
        )
        return (
            None
            if clarification is None
            else ClarificationChoice(clarification, _choice_by_id(clarification, choice_id))
        )

    async def use_choice(self, choice_id: str, *, by: str, turn: str) -> ChoiceUse:
        """Use a choice. The first use of a clarification counts; the same turn may repeat it, since turns are retried.

        `by` is the person who clicked, `turn` the turn of the click. The caller checks whether the person may click.
        """
        values = {"choice_id": choice_id, "clicked_by": by, "clicking_turn": turn, "now": self._database.utc_now()}
        is_used_now, clarification = await self._database.run_write(
            lambda connection: _mark_choice_used(connection, values)
        )
        if clarification is None:
            return ChoiceUnknown()
        if is_used_now:
            return ChoiceUsed(clarification, _choice_by_id(clarification, choice_id))
        if clarification.used_choice and clarification.used_by and clarification.used_at:
            return ChoiceAlreadyUsed(
                clarification,
                clarification.used_by,
                _choice_by_id(clarification, clarification.used_choice).label,
                clarification.used_at,
            )
        return ClarificationExpired(clarification)

    async def find_open_clarification(self, conversation: str, scope_key: str) -> StoredClarification | None:
        """Returns the newest clarification of the conversation and scope, unless it was used or has expired.

        A typed reply refers to this clarification.
        """
        values = {"conversation_id": conversation, "sought_scope_key": scope_key}
        newest = await self._database.run_read(
            lambda connection: _load_newest_match(connection, _NEWEST_IN_SCOPE, values)
        )
        if newest is None or newest.used_at is not None or newest.expires_at <= self._database.utc_now():
            return None
        return newest

    async def claim_expired_clarifications(
        self, lease: timedelta, *, limit: int, exclude_surfaces: Collection[str] = ()
    ) -> list[StoredClarification]:
        """Expire unused clarifications that are due, so that their messages can be updated. Returns `limit` at most.

        Each is returned once, unless `note_expiry_shown` does not follow within the lease, because the process was
        killed. `exclude_surfaces`: clarifications that were offered on these surfaces are left alone.
        """
        now = self._database.utc_now()
        values = {
            "now": now,
            "new_due_at": now + lease,
            "max_clarifications": limit,
            "excluded_surfaces": list(exclude_surfaces),
        }
        return await self._database.run_write(lambda connection: _claim_expired_clarifications(connection, values))

    async def note_expiry_shown(self, clarification_id: str) -> None:
        """Record that the message of the expired clarification needs no further update."""
        values = {"clarification_id": clarification_id}
        await self._database.run_write(lambda connection: connection.execute(_NOTE_EXPIRY_SHOWN, values))

    async def list_choosing_turns(self, turn_ids: Sequence[str]) -> list[str]:
        """Returns the turns that used choices which these turns offered."""
        query = select(clarifications.c.used_turn).where(
            clarifications.c.turn.in_(turn_ids), clarifications.c.used_turn.is_not(None)
        )
        return list(await self._database.run_read(lambda connection: connection.execute(query).scalars().all()))

    async def withdraw_unused_offers(self, turn_ids: Sequence[str]) -> None:
        """Expire the unused clarifications that these turns offered."""
        values = {"offering_turns": list(turn_ids), "now": self._database.utc_now()}
        await self._database.run_write(lambda connection: connection.execute(_WITHDRAW_OFFERS, values))


def _insert_clarification(connection: Connection, stored: StoredClarification) -> None:
    values = tables.column_values_of(stored)
    del values["choices"]
    connection.execute(_INSERT_CLARIFICATION, values)
    if stored.choices:
        connection.execute(_INSERT_CHOICES, _choice_rows_of(stored))


def _mark_choice_used(connection: Connection, values: Mapping[str, Any]) -> tuple[bool, StoredClarification | None]:
    is_used_now = connection.execute(_MARK_USED, values).rowcount == 1
    return is_used_now, _load_newest_match(connection, _CLARIFICATION_OF_CHOICE, {"choice_id": values["choice_id"]})


def _claim_expired_clarifications(connection: Connection, values: Mapping[str, Any]) -> list[StoredClarification]:
    rows = connection.execute(_CLAIM_EXPIRED, values).all()
    return [_load_with_choices(connection, row) for row in sorted(rows, key=lambda row: row.position)]


def _choice_rows_of(stored: StoredClarification) -> list[dict[str, Any]]:
    return [
        {"clarification": stored.id, "position": position, **tables.column_values_of(choice)}
        for position, choice in enumerate(stored.choices)
    ]


def _select_newest_where(*conditions: ColumnElement[bool]) -> Select[Any]:
    return select(clarifications).where(*conditions).order_by(clarifications.c.position.desc()).limit(1)


_offers_choice = (
    clarifications.c.id
    == select(choices.c.clarification).where(choices.c.id == bindparam("choice_id")).scalar_subquery()
)
_is_unused = and_(clarifications.c.used_at.is_(None), clarifications.c.expired_at.is_(None))
_is_repeated_use = and_(
    clarifications.c.used_turn == bindparam("clicking_turn"), clarifications.c.used_choice == bindparam("choice_id")
)
_BY_ID = _select_newest_where(clarifications.c.id == bindparam("clarification_id"))
_CLARIFICATION_OF_CHOICE = _select_newest_where(_offers_choice)
_NEWEST_IN_SCOPE = _select_newest_where(
    clarifications.c.conversation == bindparam("conversation_id"),
    clarifications.c.scope_key == bindparam("sought_scope_key"),
)
_CHOICES_OF_CLARIFICATION = (
    select(*tables.columns_of(StoredChoice, choices))
    .where(choices.c.clarification == bindparam("clarification_id"))
    .order_by(choices.c.position)
)
_INSERT_CLARIFICATION, _INSERT_CHOICES = insert(clarifications), insert(choices)
_MARK_USED = (
    update(clarifications)
    .where(_offers_choice, or_(and_(_is_unused, clarifications.c.expires_at > bindparam("now")), _is_repeated_use))
    .values(
        used_choice=bindparam("choice_id"),
        used_by=bindparam("clicked_by"),
        used_turn=bindparam("clicking_turn"),
        used_at=bindparam("now"),
    )
)
_WITHDRAW_OFFERS = (
    update(clarifications)
    .where(clarifications.c.turn.in_(bindparam("offering_turns", expanding=True)), _is_unused)
    .values(expired_at=bindparam("now"), expires_at=bindparam("now"))
)
_is_on_excluded_surface = exists().where(
    turns.c.id == clarifications.c.turn, turns.c.surface.in_(bindparam("excluded_surfaces", expanding=True))
)
_is_expiry_due = or_(
    and_(clarifications.c.expired_at.is_(None), clarifications.c.expires_at <= bindparam("now")),
    clarifications.c.due_at <= bindparam("now"),
)
_expired = (
    select(clarifications.c.position)
    .where(clarifications.c.used_at.is_(None), _is_expiry_due, ~_is_on_excluded_surface)
    .order_by(clarifications.c.position)
    .limit(bindparam("max_clarifications"))
    .with_for_update(skip_locked=True, of=clarifications)
    .cte("expired")
    .prefix_with("MATERIALIZED", dialect="postgresql")  # else PostgreSQL may run it once per row
)
_CLAIM_EXPIRED = (
    update(clarifications)
    .where(clarifications.c.position.in_(select(_expired.c.position)))
    .values(expired_at=func.coalesce(clarifications.c.expired_at, bindparam("now")), due_at=bindparam("new_due_at"))
    .returning(clarifications)
)
_NOTE_EXPIRY_SHOWN = (
    update(clarifications).where(clarifications.c.id == bindparam("clarification_id")).values(due_at=null())
)


def _load_newest_match(
    connection: Connection, statement: Select[Any], values: Mapping[str, str]
) -> StoredClarification | None:
    row = connection.execute(statement, values).one_or_none()
    return None if row is None else _load_with_choices(connection, row)


def _load_with_choices(connection: Connection, row: Row[Any]) -> StoredClarification:
    rows = connection.execute(_CHOICES_OF_CLARIFICATION, {"clarification_id": row.id}).all()
    record = tables.value_from_row(ClarificationRecord, row)
    stored_choices = tuple(tables.value_from_row(StoredChoice, choice_row) for choice_row in rows)
    return StoredClarification(**tables.column_values_of(record), choices=stored_choices)


def _choice_by_id(clarification: StoredClarification, choice_id: str) -> StoredChoice:
    return next(offered for offered in clarification.choices if offered.id == choice_id)
