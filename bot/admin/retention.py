"""Deletes conversations that are older than the operator wants to keep them."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from bot.conversation.plan_history import state_without_turns
from bot.ids import TurnId
from storage.sql.database import SqlDatabase
from storage.sql.erasure.turn_expiry import StoredTurns, TurnExpiry
from storage.sql.stores.conversations import ConversationState

_BATCH_TURNS: Final = 200  # in one transaction
_MAX_BATCHES: Final = 50  # in one run; the next run goes on


class ConversationRetention:
    """`kept_days`: how long turns are kept after their receipt; None: without an end."""

    def __init__(self, database: SqlDatabase, kept_days: int | None, log: FilteringBoundLogger) -> None:
        self._now, self.kept_days, self._log = database.utc_now, kept_days, log
        self._expiry = TurnExpiry(database, remove_turns)

    async def expire_turns(self) -> int:
        """Deletes the finished turns that are too old; returns how many. Raises `SqlError`."""
        if self.kept_days is None:
            return 0
        received_before, total = self._now() - timedelta(days=self.kept_days), 0
        for _ in range(_MAX_BATCHES):
            deleted = await self._expiry.delete_turns(received_before, _BATCH_TURNS)
            total += deleted
            if deleted < _BATCH_TURNS:
                break
        if total:
            self._log.info("old turns deleted", deleted=total)
        return total

    async def measure_turns(self) -> StoredTurns:
        """How many turns there are, and since when."""
        return await self._expiry.measure_turns()


def remove_turns(state: ConversationState, turns: Collection[str]) -> ConversationState:
    """The state as if these turns had not happened."""
    return state_without_turns(state, [TurnId(turn) for turn in turns])
