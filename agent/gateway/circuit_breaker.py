"""A circuit breaker: calls that would fail are not made (Nygard, Release It!, 2007)."""

from collections.abc import Callable


class CircuitBreaker:
    """Closed at first. It opens after `max_failures` failures in a row; after `pause_s` it is half open and lets a
    single trial pass, whose success closes it and whose failure opens it again. Each call that `start_call` lets pass
    ends in exactly one of `record_success`, `record_failure` and `abandon_call`.
    """

    def __init__(self, *, max_failures: int, pause_s: float, clock: Callable[[], float]) -> None:
        self._max_failures = max_failures
        self._pause_s = pause_s
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None  # None: closed
        self._has_trial = False

    @property
    def is_open(self) -> bool:
        """Whether a call would not pass now."""
        if self._opened_at is None:
            return False
        return self._has_trial or self._clock() - self._opened_at < self._pause_s

    def start_call(self) -> bool:
        """Returns whether the call may be made."""
        if self.is_open:
            return False
        self._has_trial = self._opened_at is not None
        return True

    def record_success(self) -> None:
        self._failures, self._opened_at, self._has_trial = 0, None, False

    def record_failure(self) -> None:
        self._failures += 1
        self._has_trial = False
        if self._opened_at is not None or self._failures >= self._max_failures:
            self._opened_at = self._clock()

    def abandon_call(self) -> None:
        """The call ended without saying anything of the server, as if it were cancelled."""
        self._has_trial = False
