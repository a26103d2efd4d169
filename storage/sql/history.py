"""Questions that were asked, as far as people look back at them: one's own, those without an answer, those rated badly.

Read alone: the inbox and the feedback write. Nobody looks back at wordings that their authors have edited or deleted.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Executable, exists, or_, select, text

from storage.sql.database import Database, Object
from storage.sql.tables import RATED_BADLY, UNANSWERED, feedback, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A question. `ending`: how it ended, in a word; None while it is open. `reason`: why it was rated badly."""

    turn: str
    body: Object
    received_at: datetime
    ending: str | None
    reason: str = ""


class History:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, person: str, limit: int) -> list[Past]:
        """The newest first."""
        return await self._listed(_QUESTIONS.where(turns.c.person == person).limit(limit))

    async def unanswered(self, since: datetime, limit: int) -> list[Past]:
        """Found nothing, refused, or failed; the newest first."""
        return await self._listed(_QUESTIONS.where(text(UNANSWERED), turns.c.received_at > since).limit(limit))

    async def rated_badly(self, since: datetime, limit: int) -> list[Past]:
        """Questions and clicks, each once for everyone who rated it; the newest verdict first."""
        asked = (
            select(*_PAST, feedback.c.reason)
            .join_from(feedback, turns, feedback.c.turn == turns.c.id)
            .where(text(RATED_BADLY), feedback.c.given_at > since, _STANDS)
            .order_by(feedback.c.given_at.desc(), turns.c.position.desc())
        )
        return await self._listed(asked.limit(limit))

    async def _listed(self, asked: Executable) -> list[Past]:
        rows = await self._database.read(lambda connection: connection.execute(asked).mappings().all())
        return [Past(**row) for row in rows]


_later = turns.alias("later")
_STANDS = ~exists().where(
    _later.c.conversation == turns.c.conversation,
    _later.c.position > turns.c.position,
    or_(_later.c.revises == turns.c.message_id, _later.c.revises == turns.c.revises),
)
_PAST = (turns.c.id.label("turn"), turns.c.body, turns.c.received_at, turns.c.ending)
_QUESTIONS = (
    select(*_PAST).where(turns.c.is_question, _STANDS).order_by(turns.c.received_at.desc(), turns.c.position.desc())
)
