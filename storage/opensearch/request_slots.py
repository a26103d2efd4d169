"""Bounds the bulks that a connection has under way, by number and by size. The number follows what the cluster takes.

It is halved when the cluster refuses a write because it is too busy, and grows by one after some successes (additive
increase, multiplicative decrease).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

MAX_PARALLEL_REQUESTS = 4
_MAX_CHARACTERS = 32_000_000  # of all requests under way
_SUCCESSES_PER_STEP = 4  # until one more request may be under way


class RequestSlots:
    """Belongs to one event loop."""

    def __init__(self, max_requests: int = MAX_PARALLEL_REQUESTS, max_characters: int = _MAX_CHARACTERS) -> None:
        self._max_requests, self._max_characters = max_requests, max_characters
        self._request_count, self._character_count, self._success_count = 0, 0, 0
        self._release = asyncio.Event()
        self.limit = max_requests  # requests that may be under way now, at least 1

    @asynccontextmanager
    async def hold_slot(self, character_count: int) -> AsyncGenerator[None]:
        """Wait until there is room for a request of this size. A request of any size has room when it is the only one.

        The room is given back at the end of the block.
        """
        while not self._has_room_for(character_count):
            self._release.clear()
            await self._release.wait()
        self._request_count += 1
        self._character_count += character_count
        try:
            yield
        finally:
            self._request_count -= 1
            self._character_count -= character_count
            self._release.set()

    def report_success(self) -> None:
        """Notes that the cluster took everything of a request."""
        self._success_count += 1
        if self._success_count >= _SUCCESSES_PER_STEP and self.limit < self._max_requests:
            self.limit, self._success_count = self.limit + 1, 0
            self._release.set()

    def report_refusal(self) -> None:
        """Notes that the cluster was too busy for a request, or for a part of it."""
        self.limit, self._success_count = max(1, self.limit // 2), 0

    def _has_room_for(self, character_count: int) -> bool:
        is_within_limits = (
            self._request_count < self.limit and self._character_count + character_count <= self._max_characters
        )
        return self._request_count == 0 or is_within_limits
