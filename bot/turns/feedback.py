"""Feedback: a person's rating of an answer."""

from enum import StrEnum
from typing import Final

from bot.errors import UnknownTurn
from bot.ids import PersonId, TurnId
from storage.sql.database import SqlDatabase
from storage.sql.stores.feedback import FeedbackStore

MAX_REASON_CHARS: Final = 3_000  # code points


class FeedbackVerdict(StrEnum):
    GOOD = "good"
    BAD = "bad"


class AnswerFeedback:
    def __init__(self, database: SqlDatabase) -> None:
        self._store = FeedbackStore(database)

    async def record_verdict(self, turn: TurnId, person: PersonId, verdict: FeedbackVerdict, reason: str = "") -> None:
        """Replaces the person's earlier verdict on this turn. The caller checks whether they may read the turn.

        Raises `UnknownTurn`.
        """
        if not await self._store.replace_feedback(turn, person, verdict.value, reason[:MAX_REASON_CHARS]):
            raise UnknownTurn(turn)
