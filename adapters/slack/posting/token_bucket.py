"""A token bucket for calls that are dropped, not delayed, when Slack's rate limit is used up."""

from collections.abc import Callable


class TokenBucket:
    """Allows `per_minute` calls, up to `burst` of them at once. `clock` counts seconds."""

    def __init__(self, *, per_minute: float, burst: int, clock: Callable[[], float]) -> None:
        self._tokens_per_s, self._capacity, self._clock = per_minute / 60, float(burst), clock
        self._tokens, self._refilled_at_s = self._capacity, clock()

    def try_take_token(self) -> bool:
        """Whether a token was left; if so, takes it."""
        now = self._clock()
        self._tokens = min(self._capacity, self._tokens + (now - self._refilled_at_s) * self._tokens_per_s)
        self._refilled_at_s = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
