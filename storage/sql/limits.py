"""How many questions may be asked within an hour and a day, and whether one more may be.

A question counts from when it was received, as long as it is open or ended in an answer or a question back: what failed
or was put off is nobody's to pay for, and neither is what its author edited before it was answered, but for who does so
again and again (`edited`). Those before it in the inbox count, so that the answer is the same whoever asks,
however often.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sqlalchemy import ColumnElement, Connection, TextClause, and_, bindparam, delete, func, insert, select, text

from storage.sql.audit import record
from storage.sql.database import Database
from storage.sql.tables import COUNTED, limits, turns


class Limit(StrEnum):
    PERSON_HOUR = "person_hour"
    PERSON_DAY = "person_day"
    TENANT_HOUR = "tenant_hour"
    TENANT_DAY = "tenant_day"

    @property
    def window(self) -> timedelta:
        return _HOUR if self in (Limit.PERSON_HOUR, Limit.TENANT_HOUR) else _DAY

    @property
    def of_person(self) -> bool:
        return self in (Limit.PERSON_HOUR, Limit.PERSON_DAY)


_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_MATTER: Final = "limits"
LIMITED: Final = "limited"  # how a turn ended that there was no room for
_OF_PROGRAMS: Final = {Limit.PERSON_HOUR: 20}  # where nobody has set another


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A limit that leaves no room, and when it will again."""

    limit: Limit
    questions: int
    until: datetime


class Limits:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Mapping[Limit, int]:
        """Those that are set; any number may be asked where none is."""
        return await self._database.read(_set)

    async def change(self, before: Mapping[Limit, int], after: Mapping[Limit, int], *, by: str) -> bool:
        """False, and nothing is changed, when they are no longer as in `before`."""
        return await self._database.write(lambda connection: self._change(connection, before, after, by))

    def _change(self, connection: Connection, before: Mapping[Limit, int], after: Mapping[Limit, int], by: str) -> bool:
        if not self._database.is_file:
            connection.execute(text("LOCK TABLE limits IN SHARE ROW EXCLUSIVE MODE"))
        there = _set(connection)
        if there != before:
            return False
        if there == after:
            return True
        connection.execute(delete(limits))
        if after:
            connection.execute(insert(limits), [{"name": one.value, "questions": n} for one, n in after.items()])
        was, now = ({one.value: n for one, n in values.items()} for values in (there, after))
        record(self._database, connection, "limits", _MATTER, by=by, before=was, after=now)
        return True

    async def reached(self, turn: str, *, uncounted: str, automatic: bool = False) -> Reached | None:
        """Of the limits that leave no room for this turn, the one that does so longest. `uncounted`: whose turns
        are in no limit. `automatic`: it is a program's, of which everything counts but what there was no room for.
        """
        return await self._database.read(lambda connection: self._reached(connection, turn, uncounted, automatic))

    def _reached(self, connection: Connection, turn: str, uncounted: str, automatic: bool) -> Reached | None:
        there = {**(_OF_PROGRAMS if automatic else {}), **_set(connection)}
        own = connection.execute(_OWN, {"one": turn}).one_or_none() if there else None
        if own is None or not own.is_question or own.person == uncounted:
            return None
        now = self._database.now()
        filling = [
            select(turns.c.received_at)
            .where(
                turns.c.person == own.person if limit.of_person else turns.c.person != uncounted,
                _counts(all_of_them=automatic and limit.of_person),
                turns.c.position < own.position,
                turns.c.received_at > now - limit.window,
            )
            .order_by(turns.c.received_at.desc())
            .limit(1)
            .offset(questions - 1)
            .scalar_subquery()
            for limit, questions in there.items()
        ]
        received = connection.execute(select(*filling)).one()
        reached = [
            Reached(limit=limit, questions=questions, until=at + limit.window)
            for (limit, questions), at in zip(there.items(), received, strict=True)
            if at is not None
        ]
        return max(reached, key=lambda one: one.until, default=None)


_OWN: Final = select(turns.c.position, turns.c.person, turns.c.is_question).where(turns.c.id == bindparam("one"))


def _set(connection: Connection) -> Mapping[Limit, int]:
    known = {one.value: one for one in Limit}
    rows = connection.execute(select(limits)).all()
    return MappingProxyType({known[row.name]: row.questions for row in rows if row.name in known})


def _counts(*, all_of_them: bool) -> ColumnElement[bool] | TextClause:
    if all_of_them:
        return and_(turns.c.is_question, func.coalesce(turns.c.ending, "") != LIMITED)
    return text(COUNTED)
