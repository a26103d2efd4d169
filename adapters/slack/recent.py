"""What was asked of Slack a short while ago, kept until its time is over or Slack says that it changed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

ENTRIES: Final = 20_000

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """What was fetched within `kept`. Those who ask for one key at once share one fetch; failures are not kept.

    What is dropped while it is fetched is fetched again: nobody is told what was true before.
    """

    def __init__(self, fetch: Callable[[K], Awaitable[V]], clock: Callable[[], datetime], kept: timedelta) -> None:
        self._fetch, self._clock, self._kept = fetch, clock, kept
        self._values: dict[K, tuple[datetime, V]] = {}
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()
        self._drops = 0
        self._dropped: dict[K, int] = {}  # by key, the number of its last drop

    async def get(self, key: K) -> V:
        """Raises what the fetch raises."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            while not self.holds(key):
                mark, asked = self.mark(), self._clock()
                value = await self._fetch(key)
                if self.put(key, value, mark, asked):
                    return value
            return self._touched(key)

    def holds(self, key: K) -> bool:
        """Whether the key is known, and recently enough."""
        known = self._values.get(key)
        return known is not None and known[0] + self._kept > self._clock()

    def mark(self) -> int:
        """Taken before something is fetched that is then `put`."""
        return self._drops

    def put(self, key: K, value: V, mark: int, asked: datetime) -> bool:
        """Keeps what was fetched elsewhere, `asked` then. False if it was dropped since the mark: it is not kept."""
        if self._dropped.get(key, 0) > mark:
            return False
        self._values.pop(key, None)
        self._values[key] = (asked, value)
        _shorten(self._values)
        return True

    def drop(self, key: K) -> None:
        """It has changed."""
        self._values.pop(key, None)
        self._drops += 1
        self._dropped.pop(key, None)
        self._dropped[key] = self._drops
        _shorten(self._dropped)

    def clear(self) -> None:
        """All of it has changed, what is being fetched included."""
        for key in {*self._values, *self._locks}:
            self.drop(key)

    def _touched(self, key: K) -> V:
        known = self._values.pop(key)
        self._values[key] = known
        return known[1]


def _shorten(entries: dict[K, V]) -> None:
    """By those that were not touched for longest."""
    while len(entries) > ENTRIES:
        del entries[next(iter(entries))]
