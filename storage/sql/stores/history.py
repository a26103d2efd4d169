"""The question history: a person's own questions, unanswered questions, and badly rated ones; and where turns came
from.

These stores only read; the inbox and the feedback store write. Versions of a question that its author has edited or
deleted are left out of the history.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Executable, bindparam, exists, or_, select, text

from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.stores.feedback import RATED_BADLY_CONDITION, feedback
from storage.sql.stores.turns import UNANSWERED_CONDITION, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuestion:
    """A question. `ending` is its outcome in one word, None while it is open. `reason` says why it was rated badly."""

    turn: str
    body: JsonMapping
    received_at: datetime
    ending: str | None
    reason: str = ""


class QuestionHistory:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list_asked_by(self, person: str, limit: int) -> list[StoredQuestion]:
        """Returns the person's questions, newest first."""
        return await self._list_past_questions(_ALL_QUESTIONS.where(turns.c.person == person).limit(limit))

    async def list_unanswered(self, since: datetime, limit: int) -> list[StoredQuestion]:
        """Returns questions that found nothing, were refused or failed; newest first."""
        return await self._list_past_questions(
            _ALL_QUESTIONS.where(text(UNANSWERED_CONDITION), turns.c.received_at > since).limit(limit)
        )

    async def list_rated_badly(self, since: datetime, limit: int) -> list[StoredQuestion]:
        """Returns badly rated questions and clicks, once per person who rated them; newest verdict first."""
        query = (
            select(*_PAST_COLUMNS, feedback.c.reason)
            .join_from(feedback, turns, feedback.c.turn == turns.c.id)
            .where(text(RATED_BADLY_CONDITION), feedback.c.given_at > since, _IS_LATEST_VERSION)
            .order_by(feedback.c.given_at.desc(), turns.c.position.desc())
        )
        return await self._list_past_questions(query.limit(limit))

    async def _list_past_questions(self, statement: Executable) -> list[StoredQuestion]:
        rows = await self._database.run_read(lambda connection: connection.execute(statement).mappings().all())
        return [StoredQuestion(**row) for row in rows]


class TurnOrigins:
    """The bodies of earlier turns, which hold the addresses that they came from."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list_bodies_of_person(self, surface: str, person: str, limit: int) -> list[JsonMapping]:
        """Returns the bodies of the person's newest turns, newest first."""
        return await self._list_bodies(
            _BODIES_OF_PERSON, {"sought_surface": surface, "sought_person": person, "max_turns": limit}
        )

    async def find_newest_body(self, surface: str, conversation: str) -> JsonMapping | None:
        """Returns the body of the newest turn of the conversation or of a thread in it, whose id follows after `;`."""
        is_part = or_(
            turns.c.conversation == conversation, turns.c.conversation.startswith(f"{conversation};", autoescape=True)
        )
        newest = (
            select(turns.c.body).where(turns.c.surface == surface, is_part).order_by(turns.c.position.desc()).limit(1)
        )
        bodies = await self._list_bodies(newest, {})
        return bodies[0] if bodies else None

    async def _list_bodies(self, statement: Executable, values: JsonMapping) -> list[JsonMapping]:
        return await self._database.run_read(
            lambda connection: list(connection.execute(statement, values).scalars().all())
        )


_BODIES_OF_PERSON = (
    select(turns.c.body)
    .where(turns.c.surface == bindparam("sought_surface"), turns.c.person == bindparam("sought_person"))
    .order_by(turns.c.received_at.desc(), turns.c.position.desc())
    .limit(bindparam("max_turns"))
)
_later = turns.alias("later")
_IS_LATEST_VERSION = ~exists().where(
    _later.c.conversation == turns.c.conversation,
    _later.c.position > turns.c.position,
    or_(_later.c.revises == turns.c.message_id, _later.c.revises == turns.c.revises),
)
_PAST_COLUMNS = (turns.c.id.label("turn"), turns.c.body, turns.c.received_at, turns.c.ending)
_ALL_QUESTIONS = (
    select(*_PAST_COLUMNS)
    .where(turns.c.is_question, _IS_LATEST_VERSION)
    .order_by(turns.c.received_at.desc(), turns.c.position.desc())
)
