"""A cache of a chat product's answers. Entries expire after a time, or when the product reports a change."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

from cachetools import FIFOCache, LRUCache

_MAX_ENTRIES: Final = 20_000

K = TypeVar("K")
V = TypeVar("V")


class SingleFlightTtlCache(Generic[K, V]):
    """A TTL cache. Concurrent requests for one key share one fetch; failures are not cached.

    A key that is invalidated during its fetch is fetched again, so that no caller gets stale data.
    """

    def __init__(
        self,
        fetch: Callable[[K], Awaitable[V]],
        clock: Callable[[], datetime],
        ttl: timedelta,
        *,
        max_entries: int = _MAX_ENTRIES,
    ) -> None:
        self._fetch, self._clock, self._ttl = fetch, clock, ttl
        self._values: LRUCache[K, tuple[datetime, V]] = LRUCache(max_entries)
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()
        self._invalidation_count = 0
        # key -> value of the invalidation count at its last invalidation
        self._last_invalidations: FIFOCache[K, int] = FIFOCache(_MAX_ENTRIES)

    async def get(self, key: K) -> V:
        """Returns the cached or fetched value. Raises what the fetch raises."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            while not self.has_fresh_value(key):
                mark, requested_at = self.current_invalidation_mark(), self._clock()
                value = await self._fetch(key)
                if self.put_fetched_value(key, value, mark, requested_at):
                    return value
            return self._values[key][1]

    def has_fresh_value(self, key: K) -> bool:
        """Whether the key has a value younger than the TTL."""
        cached = self._values.get(key)
        return cached is not None and cached[0] + self._ttl > self._clock()

    def current_invalidation_mark(self) -> int:
        """Returns the mark to take before a fetch and to pass to `put_fetched_value` after it."""
        return self._invalidation_count

    def put_fetched_value(self, key: K, value: V, mark: int, requested_at: datetime) -> bool:
        """Cache a value that was requested at `requested_at`.

        Returns False, and caches nothing, if the key was invalidated since the mark.
        """
        if self._last_invalidations.get(key, 0) > mark:
            return False
        self._values[key] = (requested_at, value)
        return True

    def invalidate_key(self, key: K) -> None:
        """Drop the value of a key, because it has changed."""
        self._values.pop(key, None)
        self._invalidation_count += 1
        self._last_invalidations[key] = self._invalidation_count

    def invalidate_all(self) -> None:
        """Drop all values, including those being fetched."""
        for key in {*self._values, *self._locks}:
            self.invalidate_key(key)
