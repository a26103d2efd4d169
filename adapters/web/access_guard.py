"""Access control of the web chat: only this machine, or everyone with the token if one is set."""

import hashlib
import hmac
from urllib.parse import urlsplit

from aiohttp import web

from bot.http.callers import is_local_request

ACCESS_COOKIE = "parley_web"


class AccessGuard:
    """Admits requests. Without a token, they must come from this machine, use a loopback name, and pass no proxy.

    The page acts as the operator. A proxy on the same machine, or a foreign name that resolves to 127.0.0.1 (DNS
    rebinding), must not reach it.
    """

    def __init__(self, token: str | None, public_host: str | None = None) -> None:
        self._token, self._public_host = token, public_host

    @property
    def wants_token(self) -> bool:
        return self._token is not None

    def admits_request(self, request: web.Request) -> bool:
        if self._token is None:
            return is_local_request(request)
        return hmac.compare_digest(request.cookies.get(ACCESS_COOKIE, "").encode(), self.token_cookie_value().encode())

    def is_access_token(self, token: str) -> bool:
        return self._token is not None and hmac.compare_digest(token.encode(), self._token.encode())

    def token_cookie_value(self) -> str:
        """Returns a value that proves knowledge of the token, but is not the token itself."""
        return hmac.new((self._token or "").encode(), b"parley web chat", hashlib.sha256).hexdigest()

    def is_same_origin(self, request: web.Request) -> bool:
        """Whether the request comes from this site. Browsers send the origin with every POST; without it, False."""
        origin = request.headers.get("Origin", "")
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin" or not origin:
            return False
        return _netloc_of(origin) in {request.host.lower(), self._public_host}


def _netloc_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
