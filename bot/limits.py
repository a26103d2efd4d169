"""How many questions may be asked: what a turn checks before the agent runs, and the notice when it may not."""

from datetime import timedelta
from typing import Final

from bot.ids import OPERATOR, TurnId
from storage.sql.database import Database
from storage.sql.limits import LIMITED, Limit, Reached
from storage.sql.limits import Limits as LimitStore

__all__ = ["LIMITED", "MOST", "Limit", "QuestionLimits"]

MOST: Final = 1_000_000_000  # what the database can hold in a number


class QuestionLimits:
    def __init__(self, database: Database) -> None:
        self._store, self._now = LimitStore(database), database.now

    async def notice(self, turn: TurnId, *, automatic: bool = False) -> str | None:
        """What to say instead of an answer; None where there is room for this turn. The operator is held to nothing.

        `automatic`: a program's turn. It is held to a limit of its own where none is set, and all that it asks counts.
        """
        reached = await self._store.reached(turn, uncounted=OPERATOR, automatic=automatic)
        return None if reached is None else _notice(reached, reached.until - self._now())


def _notice(reached: Reached, wait: timedelta) -> str:
    window = "hour" if reached.limit.window <= timedelta(hours=1) else "24 hours"
    again = f"You can ask again {_later(wait)}."
    if reached.limit.of_person:
        asked = f"{reached.questions:,} {'question' if reached.questions == 1 else 'questions'}"
        return f"You have asked {asked} within the last {window}, which is as many as one person may ask here. {again}"
    return f"All of you together have asked as many questions within the last {window} as may be asked here. {again}"


def _later(wait: timedelta) -> str:
    """Rounded up: who waits so long is not put off again."""
    minutes = max(-(-int(wait.total_seconds() + 0.999) // 60), 1)
    if minutes < 90:
        return "in a minute" if minutes == 1 else f"in {minutes} minutes"
    return f"in {-(-minutes // 60)} hours"
