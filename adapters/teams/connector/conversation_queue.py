"""Orders the calls to each conversation and keeps them within what Teams allows.

Teams allows a bot 7 calls in 1 s, 8 in 2 s, 60 in 30 s and 1,800 in an hour to one conversation
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit). Conversations do not wait for each other.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from cachetools import LRUCache

from adapters.teams.errors import TeamsThrottled

RATE_LIMITS: Final = ((1.0, 7), (2.0, 8), (30.0, 60), (3_600.0, 1_800))  # (seconds, calls)
_MAX_CONVERSATIONS: Final = 2_000  # whose calls are remembered
_MARGIN_S: Final = 0.05  # since Teams counts from a call's arrival


class ConversationQueue:
    """`sleep` and `clock` count seconds of the same clock."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._sleep, self._clock = sleep, clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._calls_at_s: LRUCache[str, deque[float]] = LRUCache(_MAX_CONVERSATIONS)
        self._blocked_until_s: LRUCache[str, float] = LRUCache(_MAX_CONVERSATIONS)

    @asynccontextmanager
    async def exclusive_turn(self, conversation: str) -> AsyncGenerator[None]:
        """Excludes other calls to the conversation during the block; first come, first served."""
        async with self._locks.setdefault(conversation, asyncio.Lock()):
            yield

    async def wait_for_rate(self, conversation: str, max_wait_s: float) -> None:
        """Waits until the next call is allowed, and counts it. Raises `TeamsThrottled` for a longer wait.

        A call that may not wait leaves a third of the rate to those that may.
        """
        wait_s = self._wait_needed_s(conversation, may_wait=max_wait_s > 0)
        if wait_s > max_wait_s:
            raise TeamsThrottled(wait_s)
        if wait_s > 0:
            await self._sleep(wait_s)
        calls = self._calls_at_s.get(conversation)
        if calls is None:
            calls = self._calls_at_s[conversation] = deque(maxlen=RATE_LIMITS[-1][1])
        calls.append(self._clock())

    def block_conversation(self, conversation: str, wait_s: float) -> None:
        """No call for `wait_s`, because Teams asks for it."""
        until_s = self._clock() + wait_s
        self._blocked_until_s[conversation] = max(self._blocked_until_s.get(conversation, 0.0), until_s)

    def _wait_needed_s(self, conversation: str, *, may_wait: bool) -> float:
        now, calls = self._clock(), self._calls_at_s.get(conversation) or ()
        limits = [(window_s, limit if may_wait else limit * 2 // 3) for window_s, limit in RATE_LIMITS]
        free_at_s = [calls[-limit] + window_s + _MARGIN_S for window_s, limit in limits if len(calls) >= limit]
        return max([0.0, self._blocked_until_s.get(conversation, 0.0) - now, *(at_s - now for at_s in free_at_s)])
