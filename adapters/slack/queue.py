"""The order in which things reach the channels of one workspace.

In each channel one after another, first come first sent, and new messages a second apart, as Slack wants it
(https://docs.slack.dev/apis/web-api/rate-limits). Channels do not wait for each other, so that a busy one takes nothing
from the others.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

APART_S: Final = 1.05  # a little more than Slack wants: its clock starts when a message arrives
_REMEMBERED: Final = 1_000  # channels


class Queue:
    """`pause` and `clock` in seconds, of one kind."""

    def __init__(self, pause: Callable[[float], Awaitable[None]], clock: Callable[[], float]) -> None:
        self._pause, self._clock = pause, clock
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._free_at: dict[str, float] = {}

    @asynccontextmanager
    async def at_head(self, channel: str, *, posts: bool = False) -> AsyncGenerator[None]:
        """Within the block nothing else is sent to the channel; `posts` says that a new message is."""
        async with self._lines.setdefault(channel, asyncio.Lock()):
            if posts:
                await self._wait(channel)
            try:
                yield
            finally:
                if posts:
                    self._note(channel)

    async def _wait(self, channel: str) -> None:
        left_s = self._free_at.get(channel, 0.0) - self._clock()
        if left_s > 0:
            await self._pause(left_s)

    def _note(self, channel: str) -> None:
        self._free_at.pop(channel, None)
        self._free_at[channel] = self._clock() + APART_S
        while len(self._free_at) > _REMEMBERED:
            del self._free_at[next(iter(self._free_at))]
