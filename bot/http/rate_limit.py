"""A rate limit for public addresses: per caller, and for all callers together."""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

WINDOW: Final = timedelta(minutes=1)
MAX_PER_CALLER: Final = 10
MAX_IN_ALL: Final = 60


class SlidingWindowLimiter:
    """Counts the requests of the last minute in this process."""

    def __init__(
        self, clock: Callable[[], datetime], *, per_caller: int = MAX_PER_CALLER, in_all: int = MAX_IN_ALL
    ) -> None:
        self._clock, self._per_caller, self._in_all = clock, per_caller, in_all
        self._counted: deque[tuple[datetime, str]] = deque()  # times and callers, at most `in_all`, oldest first

    def wait_time_for(self, caller: str) -> timedelta | None:
        """Returns None if the request is admitted and counted, else the time to wait. Rejected ones do not count."""
        wait_time = self.find_wait_time(caller)
        if wait_time is None:
            self.count_request(caller)
        return wait_time

    def find_wait_time(self, caller: str) -> timedelta | None:
        """Returns how long the caller has to wait; None if not at all."""
        now = self._clock()
        while self._counted and self._counted[0][0] <= now - WINDOW:
            self._counted.popleft()
        own_times = [counted_at for counted_at, counted_caller in self._counted if counted_caller == caller]
        if len(own_times) >= self._per_caller:
            return own_times[0] + WINDOW - now
        return self._counted[0][0] + WINDOW - now if len(self._counted) >= self._in_all else None

    def count_request(self, caller: str) -> None:
        self._counted.append((self._clock(), caller))
