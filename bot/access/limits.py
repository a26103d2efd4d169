"""The limits on questions: the check before the agent runs, and the notice when a limit is reached."""

from datetime import timedelta
from typing import Final

from agent.compose.phrases.values import format_number
from bot.ids import OPERATOR, TurnId
from bot.translation import translate_message, translate_plural
from storage.sql.database import SqlDatabase
from storage.sql.stores.limits import LIMITED_ENDING, LimitStore, QuestionLimit, ReachedLimit

__all__ = ["LIMITED_ENDING", "MAX_LIMIT", "QuestionLimit", "QuestionLimits"]

MAX_LIMIT: Final = 1_000_000_000  # fits into an integer column of the database


class QuestionLimits:
    def __init__(self, database: SqlDatabase) -> None:
        self._store, self._now = LimitStore(database), database.utc_now

    async def limit_notice_for(self, turn: TurnId, *, is_automatic: bool = False) -> str | None:
        """The notice to post instead of an answer; None where the turn is within the limits. The operator has no limit.

        `is_automatic`: a program's turn. It has a default limit where none is set, and each of its questions counts.
        """
        reached = await self._store.find_reached_limit(turn, exempt_person=OPERATOR, is_automatic=is_automatic)
        return None if reached is None else _format_limit_notice(reached, reached.until - self._now())


def _format_limit_notice(reached: ReachedLimit, wait: timedelta) -> str:
    is_hourly = reached.limit.window <= timedelta(hours=1)
    window = translate_message("hour") if is_hourly else translate_message("24 hours")
    retry = translate_message("You can ask again {time}.", time=_format_waiting_time(wait))
    if reached.limit.is_per_person:
        notice = translate_plural(
            "You have asked {count} question within the last {window}, which is as many as one person may ask here.",
            "You have asked {count} questions within the last {window}, which is as many as one person may ask here.",
            reached.questions,
            count=format_number(reached.questions),
            window=window,
        )
    else:
        notice = translate_message(
            "All of you together have asked as many questions within the last {window} as may be asked here.",
            window=window,
        )
    return f"{notice} {retry}"


def _format_waiting_time(wait: timedelta) -> str:
    """Rounded up, so that a person who waits this long is not refused again."""
    minutes = max(-(-int(wait.total_seconds() + 0.999) // 60), 1)
    if minutes < 90:
        return translate_plural("in a minute", "in {count} minutes", minutes, count=minutes)
    return translate_message("in {count} hours", count=-(-minutes // 60))
