"""Rate limits: how many questions may be asked within an hour and a day, and whether a turn exceeds a limit.

A question counts from its receipt, as long as it is open or ended in an answer or a clarification. A question that
failed or was put off does not count. A question that its author edited before it was answered does not count either,
unless the author does so repeatedly (`edited`). Only the questions before a turn in the inbox count for that turn, so
that the result is the same however often it is computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sqlalchemy import ColumnElement, Connection, TextClause, and_, bindparam, case, delete, func, insert, select, text

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import write_audit_entry
from storage.sql.stores.turns import COUNTED_CONDITION, turns


class QuestionLimit(StrEnum):
    PERSON_HOUR = "person_hour"
    PERSON_DAY = "person_day"
    TENANT_HOUR = "tenant_hour"
    TENANT_DAY = "tenant_day"

    @property
    def window(self) -> timedelta:
        return _HOUR if self in (QuestionLimit.PERSON_HOUR, QuestionLimit.TENANT_HOUR) else _DAY

    @property
    def is_per_person(self) -> bool:
        return self in (QuestionLimit.PERSON_HOUR, QuestionLimit.PERSON_DAY)


_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_AUDIT_SUBJECT: Final = "limits"
LIMITED_ENDING: Final = "limited"  # the ending of a turn that a limit refused
_PROGRAM_DEFAULTS: Final = {QuestionLimit.PERSON_HOUR: 20}  # for programs, unless an admin has set another limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedLimit:
    """A limit that is reached, and when it allows questions again."""

    limit: QuestionLimit
    questions: int
    until: datetime


class LimitRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "limits"  # pyright: ignore[reportAssignmentType]

    name: tables.KeyText
    questions: int


limits: Final = LimitRow.__table__


class LimitStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def load_set_limits(self) -> Mapping[QuestionLimit, int]:
        """Returns the limits that are set; a limit that is not set allows any number of questions."""
        return await self._database.run_read(_read_set_limits)

    async def count_recent_questions(self, *, exempt_person: str) -> Mapping[QuestionLimit, int]:
        """Returns the questions that count now in each limit; of those for one person, the most that anybody has asked.

        The turns of `exempt_person` are not limited and not counted.
        """
        now = self._database.utc_now()
        is_of_hour = case((turns.c.received_at > now - _HOUR, 1), else_=0)
        query = (
            select(func.count().label("of_day"), func.sum(is_of_hour).label("of_hour"))
            .where(text(COUNTED_CONDITION), turns.c.received_at > now - _DAY, turns.c.person != exempt_person)
            .group_by(turns.c.person)
        )
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        by_day, by_hour = [row.of_day for row in rows], [row.of_hour for row in rows]
        return {
            QuestionLimit.PERSON_HOUR: max(by_hour, default=0),
            QuestionLimit.PERSON_DAY: max(by_day, default=0),
            QuestionLimit.TENANT_HOUR: sum(by_hour),
            QuestionLimit.TENANT_DAY: sum(by_day),
        }

    async def change_limits_if_unchanged(
        self, before: Mapping[QuestionLimit, int], after: Mapping[QuestionLimit, int], *, by: str
    ) -> bool:
        """Replace the limits; False, with nothing changed, if they differ from `before` by now."""
        return await self._database.run_write(
            lambda connection: self._change_limits_if_unchanged(connection, before, after, by)
        )

    def _change_limits_if_unchanged(
        self, connection: Connection, before: Mapping[QuestionLimit, int], after: Mapping[QuestionLimit, int], by: str
    ) -> bool:
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE limits IN SHARE ROW EXCLUSIVE MODE"))
        current = _read_set_limits(connection)
        if current != before:
            return False
        if current == after:
            return True
        connection.execute(delete(limits))
        if after:
            connection.execute(
                insert(limits), [{"name": limit.value, "questions": questions} for limit, questions in after.items()]
            )
        old_values, new_values = (
            {limit.value: questions for limit, questions in values.items()} for values in (current, after)
        )
        write_audit_entry(
            self._database, connection, "limits", _AUDIT_SUBJECT, by=by, before=old_values, after=new_values
        )
        return True

    async def find_reached_limit(
        self, turn: str, *, exempt_person: str, is_automatic: bool = False
    ) -> ReachedLimit | None:
        """Returns the reached limit that blocks this turn for the longest time, or None.

        The turns of `exempt_person` are not limited. `is_automatic`: the turn comes from a program, all of whose turns
        count except those that a limit refused.
        """
        return await self._database.run_read(
            lambda connection: self._find_reached_limit(connection, turn, exempt_person, is_automatic)
        )

    def _find_reached_limit(
        self, connection: Connection, turn: str, exempt_person: str, is_automatic: bool
    ) -> ReachedLimit | None:
        set_limits = {**(_PROGRAM_DEFAULTS if is_automatic else {}), **_read_set_limits(connection)}
        turn_row = connection.execute(_OWN_TURN, {"turn_id": turn}).one_or_none() if set_limits else None
        if turn_row is None or not turn_row.is_question or turn_row.person == exempt_person:
            return None
        now = self._database.utc_now()
        oldest_counted_times = [
            select(turns.c.received_at)
            .where(
                turns.c.person == turn_row.person if limit.is_per_person else turns.c.person != exempt_person,
                _counted_turn_condition(count_every_ending=is_automatic and limit.is_per_person),
                turns.c.position < turn_row.position,
                turns.c.received_at > now - limit.window,
            )
            .order_by(turns.c.received_at.desc())
            .limit(1)
            .offset(questions - 1)
            .scalar_subquery()
            for limit, questions in set_limits.items()
        ]
        oldest_times = connection.execute(select(*oldest_counted_times)).one()
        reached = [
            ReachedLimit(limit=limit, questions=questions, until=received_at + limit.window)
            for (limit, questions), received_at in zip(set_limits.items(), oldest_times, strict=True)
            if received_at is not None
        ]
        return max(reached, key=lambda reached_limit: reached_limit.until, default=None)


_SET_LIMITS: Final = select(limits)
_OWN_TURN: Final = select(turns.c.position, turns.c.person, turns.c.is_question).where(
    turns.c.id == bindparam("turn_id")
)


def _read_set_limits(connection: Connection) -> Mapping[QuestionLimit, int]:
    limits_by_name = {limit.value: limit for limit in QuestionLimit}
    rows = connection.execute(_SET_LIMITS).all()
    return MappingProxyType({limits_by_name[row.name]: row.questions for row in rows if row.name in limits_by_name})


def _counted_turn_condition(*, count_every_ending: bool) -> ColumnElement[bool] | TextClause:
    if count_every_ending:
        return and_(turns.c.is_question, func.coalesce(turns.c.ending, "") != LIMITED_ENDING)
    return text(COUNTED_CONDITION)
