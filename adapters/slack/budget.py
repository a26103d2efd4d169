"""What is left of a rate that Slack allows, for calls that are not worth waiting for."""

from collections.abc import Callable


class Budget:
    """So many calls `a_minute`, of which `at_once` may come together. `clock` in seconds."""

    def __init__(self, *, a_minute: float, at_once: int, clock: Callable[[], float]) -> None:
        self._a_second, self._most, self._clock = a_minute / 60, float(at_once), clock
        self._left, self._counted = self._most, clock()

    def spend(self) -> bool:
        """Whether there was one left."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._counted) * self._a_second)
        self._counted = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
