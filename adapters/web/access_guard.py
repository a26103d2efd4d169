"""Access control of the web chat: only this machine, or everyone with the token if one is set."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from aiohttp import web

from bot.http.callers import caller_address_of, is_local_request
from bot.http.secret_check import SecretCheck, hash_secret

ACCESS_COOKIE = "parley_web"
_COOKIE_PURPOSE = b"parley web chat"


class AccessGuard:
    """Admits requests. Without a token, they must come from this machine, use a loopback name, and pass no proxy.

    The page acts as the operator. A proxy on the same machine, or a foreign name that resolves to 127.0.0.1 (DNS
    rebinding), must not reach it.
    """

    def __init__(
        self,
        token: str | None,
        public_host: str | None = None,
        *,
        keys: Sequence[bytes],
        clock: Callable[[], datetime],
    ) -> None:
        """`keys`: sign the cookie, so that nobody can try tokens as cookies. The first signs, every key verifies."""
        self._public_host = public_host
        self._token_check = None if token is None else SecretCheck(token, clock)
        # Another token makes the cookies of the old one invalid.
        self._cookie_values = [] if token is None else [_cookie_value_of(token, key) for key in keys]

    @property
    def wants_token(self) -> bool:
        return self._token_check is not None

    def admits_request(self, request: web.Request) -> bool:
        if self._token_check is None:
            return is_local_request(request)
        cookie = request.cookies.get(ACCESS_COOKIE, "").encode()
        return any(hmac.compare_digest(cookie, value.encode()) for value in self._cookie_values)

    def is_access_token(self, token: str, request: web.Request) -> bool:
        """Raises `TooManyAttempts` when the caller of the request has given too many wrong ones."""
        return self._token_check is not None and self._token_check.is_right(token, caller_address_of(request))

    def token_cookie_value(self) -> str:
        """Returns a value that proves knowledge of the token. Only Parley can make it; it does not tell the token."""
        return self._cookie_values[0]

    def is_same_origin(self, request: web.Request) -> bool:
        """Whether the request comes from this site. Browsers send the origin with every POST; without it, False."""
        origin = request.headers.get("Origin", "")
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin" or not origin:
            return False
        return _netloc_of(origin) in {request.host.lower(), self._public_host}


def _cookie_value_of(token: str, key: bytes) -> str:
    return hmac.new(key, _COOKIE_PURPOSE + hash_secret(token), hashlib.sha256).hexdigest()


def _netloc_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
