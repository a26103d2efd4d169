"""Who may use the web chat: this machine alone, or whoever knows the token where one is set."""

import hashlib
import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

COOKIE = "parley_web"
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


class Guard:
    """Without a token: requests from this machine, addressed to it by a loopback name, that no proxy passed on.

    The page speaks as the operator, so a proxy on the same machine or a foreign name that resolves to 127.0.0.1 (DNS
    rebinding) must not reach it.
    """

    def __init__(self, token: str | None, public_host: str | None = None) -> None:
        self._token, self._public_host = token, public_host

    @property
    def wants_token(self) -> bool:
        return self._token is not None

    def admits(self, request: web.Request) -> bool:
        if self._token is None:
            return _is_local(request)
        return hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self.cookie().encode())

    def knows(self, token: str) -> bool:
        return self._token is not None and hmac.compare_digest(token.encode(), self._token.encode())

    def cookie(self) -> str:
        """What proves that the token was given. Not the token itself."""
        return hmac.new((self._token or "").encode(), b"parley web chat", hashlib.sha256).hexdigest()

    def is_same_origin(self, request: web.Request) -> bool:
        """Whether a form of this very site posts. Browsers name the origin on every POST; without one it is refused."""
        origin = request.headers.get("Origin", "")
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin" or not origin:
            return False
        return _netloc(origin) in {request.host.lower(), self._public_host}


def _is_local(request: web.Request) -> bool:
    if any(name in request.headers for name in _FORWARDED):
        return False
    return is_loopback(request.remote or "") and is_loopback(_hostname(request.host))


def is_loopback(host: str) -> bool:
    """`localhost` or an address of the loopback interface."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
