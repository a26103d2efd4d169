"""Reads the whole file of the database from time to time, since damage shows only where it is read."""

import asyncio
import time
from typing import Final

from storage.sql.health_store import HealthStore

_INTERVAL_S: Final = 600.0
_WAIT_S: Final = 0.5  # of a probe, for a reading of the whole file


class DatabaseContentCheck:
    def __init__(self, store: HealthStore) -> None:
        self._store, self._damage = store, None
        self._reading: asyncio.Task[str | None] | None = None
        self._read_at_s = float("-inf")

    async def find_damage(self, *, thorough: bool) -> str | None:
        """What the last reading found. Begins another one in the background if the last is ten minutes old.

        `thorough`: reads now and waits for the end. Raises `SqlError`.
        """
        if self._reading is None and (thorough or time.monotonic() - self._read_at_s >= _INTERVAL_S):
            self._reading = asyncio.create_task(self._store.find_damage())
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=None if thorough else _WAIT_S)
            if self._reading.done():
                reading, self._reading, self._read_at_s = self._reading, None, time.monotonic()
                self._damage = reading.result()
        return self._damage
