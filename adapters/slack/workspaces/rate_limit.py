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

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._admitted: deque[tuple[datetime, str]] = deque()  # times and callers, at most `MAX_IN_ALL`, oldest first

    def wait_time_for(self, caller: str) -> timedelta | None:
        """Returns None if the request is admitted, else the time to wait. Rejected requests do not count."""
        now = self._clock()
        while self._admitted and self._admitted[0][0] <= now - WINDOW:
            self._admitted.popleft()
        admitted_times = [admitted_at for admitted_at, admitted_caller in self._admitted if admitted_caller == caller]
        if len(admitted_times) >= MAX_PER_CALLER:
            return admitted_times[0] + WINDOW - now
        if len(self._admitted) >= MAX_IN_ALL:
            return self._admitted[0][0] + WINDOW - now
        self._admitted.append((now, caller))
        return None
