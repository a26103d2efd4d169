"""Checks a secret that a caller gives: in constant time, and a limited number of wrong ones."""

import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime
from typing import Final

from bot.http.errors import TooManyAttempts
from bot.http.rate_limit import SlidingWindowLimiter

MAX_WRONG_PER_CALLER: Final = 10  # a minute
MAX_WRONG_IN_ALL: Final = 120


class SecretCheck:
    """Keeps the hash of the secret alone. Comparing hashes also hides how long the secret is."""

    def __init__(self, secret: str, clock: Callable[[], datetime]) -> None:
        self._hash = hash_secret(secret)
        self._wrong = SlidingWindowLimiter(clock, per_caller=MAX_WRONG_PER_CALLER, in_all=MAX_WRONG_IN_ALL)

    def is_right(self, attempt: str, caller: str) -> bool:
        """Raises `TooManyAttempts` after too many wrong ones, also for the right one, so that nothing is learned."""
        if self._wrong.find_wait_time(caller) is not None:
            raise TooManyAttempts("too many wrong tokens; please try again in a minute")
        is_right = hmac.compare_digest(hash_secret(attempt), self._hash)
        if not is_right:
            self._wrong.count_request(caller)
        return is_right


def hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
