"""The one place where requests are refused: each one is checked here before it is handled."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import unquote_to_bytes

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware
from structlog.typing import FilteringBoundLogger

from bot.http.connections import ServedConnection
from bot.http.errors import HttpRefusal, TooManyAttempts, UnreadableRequest, UnsupportedRequest
from bot.http.request_body import holds_no_text

RouteHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_RETRY_AFTER_S: Final = 60
# The headers that some handler reads. Others may hold what they like.
_READ_HEADERS: Final = (
    hdrs.ACCEPT,
    hdrs.ACCEPT_LANGUAGE,
    hdrs.AUTHORIZATION,
    hdrs.CONTENT_TYPE,
    hdrs.COOKIE,
    hdrs.HOST,
    hdrs.LAST_EVENT_ID,
    hdrs.ORIGIN,
    "Sec-Fetch-Site",
    hdrs.X_FORWARDED_FOR,
    hdrs.X_FORWARDED_PROTO,
)


def build_request_checks(log: FilteringBoundLogger) -> Middleware:
    """`log`: a quiet one, since anyone can cause its lines."""

    @web.middleware
    async def check_request(request: web.Request, handler: RouteHandler) -> web.StreamResponse:
        connection = request.protocol if isinstance(request.protocol, ServedConnection) else None
        if connection is not None:
            connection.begin_request(request.content)
        try:
            check_request_head(request)
            return await handler(request)
        except HttpRefusal as exc:
            log.info("request refused", status=exc.status, reason=exc.reason)
            return _refusal_response(request, exc)
        finally:
            if connection is not None:
                connection.end_request()

    return check_request


def check_request_head(request: web.Request) -> None:
    """Raises `UnsupportedRequest` for an encoded body, and `UnreadableRequest` for a query or a header that is not
    text.

    No product compresses what it sends here, so nothing is unpacked.
    """
    if request.headers.get(hdrs.CONTENT_ENCODING, "identity").strip().lower() not in ("identity", ""):
        raise UnsupportedRequest("a compressed body")
    if not _is_text(request.raw_path):
        raise UnreadableRequest("an address that is not text")
    if any(holds_no_text(value) for name in _READ_HEADERS for value in request.headers.getall(name, ())):
        raise UnreadableRequest("a header that is not text")


def _is_text(address: str) -> bool:
    """Whether the address, and what its escapes stand for, are text in UTF-8."""
    try:
        return not holds_no_text(unquote_to_bytes(address.encode()).decode())
    except UnicodeError:
        return False


def _refusal_response(request: web.Request, refusal: HttpRefusal) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    if isinstance(refusal, UnsupportedRequest):
        headers[hdrs.ACCEPT_ENCODING] = "identity"
    if isinstance(refusal, TooManyAttempts):
        headers[hdrs.RETRY_AFTER] = str(_RETRY_AFTER_S)
    if "application/json" in request.headers.get(hdrs.ACCEPT, ""):
        return web.json_response({"error": refusal.reason}, status=refusal.status, headers=headers)
    return web.Response(status=refusal.status, text=f"{refusal.reason}\n", headers=headers)
