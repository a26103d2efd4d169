"""Orders the calls to each channel of one workspace.

Each channel has a first-in, first-out queue, and its new messages are one second apart, as Slack requires
(https://docs.slack.dev/apis/web-api/rate-limits). Channels do not wait for each other, so a busy channel does not slow
down the others.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from cachetools import FIFOCache

MIN_POST_INTERVAL_S: Final = 1.05  # more than Slack's one second, because Slack counts from a message's arrival
_MAX_REMEMBERED_CHANNELS: Final = 1_000


class ChannelQueue:
    """`sleep` and `clock` count seconds of the same clock."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._sleep, self._clock = sleep, clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._next_post_at_s: FIFOCache[str, float] = FIFOCache(_MAX_REMEMBERED_CHANNELS)

    @asynccontextmanager
    async def exclusive_channel_slot(self, channel: str, *, posts_message: bool = False) -> AsyncGenerator[None]:
        """Exclude other calls to the channel during the block. `posts_message`: the block posts a new message."""
        async with self._locks.setdefault(channel, asyncio.Lock()):
            if posts_message:
                await self._wait_for_post_interval(channel)
            try:
                yield
            finally:
                if posts_message:
                    self._note_post_time(channel)

    async def _wait_for_post_interval(self, channel: str) -> None:
        wait_s = self._next_post_at_s.get(channel, 0.0) - self._clock()
        if wait_s > 0:
            await self._sleep(wait_s)

    def _note_post_time(self, channel: str) -> None:
        self._next_post_at_s[channel] = self._clock() + MIN_POST_INTERVAL_S
