"""How often an address that anybody may open is opened: bounded for each caller, and for all together."""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

WINDOW: Final = timedelta(minutes=1)
OF_EACH: Final = 10
OF_ALL: Final = 60


class Knocks:
    """Of the last minute, in this process."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._let_in: deque[tuple[datetime, str]] = deque()  # at most `OF_ALL`, oldest first

    def wait(self, caller: str) -> timedelta | None:
        """None: come in. Else how long to wait; who is sent away counts for nothing."""
        now = self._clock()
        while self._let_in and self._let_in[0][0] <= now - WINDOW:
            self._let_in.popleft()
        own = [at for at, who in self._let_in if who == caller]
        if len(own) >= OF_EACH:
            return own[0] + WINDOW - now
        if len(self._let_in) >= OF_ALL:
            return self._let_in[0][0] + WINDOW - now
        self._let_in.append((now, caller))
        return None
