"""What a person thought of an answer."""

from enum import StrEnum
from typing import Final

from bot.errors import UnknownTurn
from bot.ids import PersonId, TurnId
from storage.sql.database import Database
from storage.sql.feedback import FeedbackStore

LONGEST_REASON: Final = 3_000  # code points


class Verdict(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Feedback:
    def __init__(self, database: Database) -> None:
        self._store = FeedbackStore(database)

    async def record(self, turn: TurnId, person: PersonId, verdict: Verdict, reason: str = "") -> None:
        """In place of what the person said of this turn before. Whether they may read it is the caller's to know.

        Raises `UnknownTurn`.
        """
        if not await self._store.put(turn, person, verdict.value, reason[:LONGEST_REASON]):
            raise UnknownTurn(turn)
