"""`/mcp` on the HTTP port: the streamable HTTP transport, for programs with a token.

Nothing is kept between two requests, so any process that shares the database can take the next one. A request is
checked in this order: its token, how many came with it, its body, and by the SDK its `Host` and `Origin`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

from aiohttp import web

from bot.application import Application
from bot.http.callers import caller_address_of
from bot.http.connections import protect_connection
from bot.http.errors import ServerBusy, TooManyAttempts
from bot.http.rate_limit import SlidingWindowLimiter
from bot.http.request_body import decode_text, parse_json_object, read_body
from bot.http.secret_check import MAX_WRONG_IN_ALL, MAX_WRONG_PER_CALLER
from bot.ids import PersonId
from bot.programs.access_tokens import ProgramTokens

if TYPE_CHECKING:
    from adapters.mcp.transport import McpTransport

PATH: Final = "/mcp"
_MAX_BODY_BYTES: Final = 256 * 1024  # a question of 10,000 characters, each of them escaped
_MAX_REQUESTS_PER_PERSON: Final = 120  # a minute, in one process
_MAX_OPEN_PER_PERSON: Final = 8
_MAX_REQUESTS_IN_ALL: Final = 1200
_UNAUTHORIZED_SENTENCE: Final = "A token is needed here: parley mcp token create PERSON makes one.\n"


def endpoint(bot: Application) -> "McpEndpoint":
    """Implements `bot.programs.endpoint.ProgramEndpointFactory`."""
    return McpEndpoint(bot)


class McpEndpoint:
    """Implements `bot.programs.endpoint.ProgramEndpoint`."""

    def __init__(self, bot: Application, limits: "RequestLimits | None" = None) -> None:
        self._bot, self._tokens, self._requests = bot, ProgramTokens(bot.database), limits or RequestLimits(bot.clock)
        self._transport: McpTransport | None = None
        self._opening, self._is_closed = asyncio.Lock(), False

    def http_routes(self) -> Sequence[web.RouteDef]:
        return (web.post(PATH, self._answer),)  # others are 405: no stream is kept open without a call

    async def start(self) -> None:
        """Do nothing: the first request opens the transport."""

    async def close(self) -> None:
        async with self._opening:
            self._is_closed = True
            if self._transport is not None:
                await self._transport.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Raises `HttpRefusal`, and what the database raises."""
        person = await self._find_person(request)
        if person is None:
            return _unauthorized_response(request)
        protect_connection(request)
        with self._requests.open_request(person):
            body = await read_body(request, _MAX_BODY_BYTES)
            parse_json_object(decode_text(body))  # refuses what is nested too deeply or is not text
            transport = await self._open_transport()
            return await transport.answer_request(request, body, person)

    async def _open_transport(self) -> "McpTransport":
        """Raises `ServerBusy` while the server ends."""
        async with self._opening:
            if self._is_closed:
                raise ServerBusy("the process is ending")
            if self._transport is None:
                transport_type = await asyncio.to_thread(_load_transport_type)
                transport = transport_type(self._bot, max_body_bytes=_MAX_BODY_BYTES)
                await transport.start()
                self._transport = transport
            return self._transport

    async def _find_person(self, request: web.Request) -> PersonId | None:
        """Raises `TooManyAttempts` after too many wrong tokens, also for a right one, so that nothing is learned."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        address = caller_address_of(request)
        self._requests.check_attempts(address)
        person = await self._tokens.find_person(token.strip())
        if person is None:
            self._requests.count_wrong_token(address)
        return person


class RequestLimits:
    """How many requests and wrong tokens this process takes in a minute, and how many of one person at once."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._wrong = SlidingWindowLimiter(clock, per_caller=MAX_WRONG_PER_CALLER, in_all=MAX_WRONG_IN_ALL)
        self._taken = SlidingWindowLimiter(clock, per_caller=_MAX_REQUESTS_PER_PERSON, in_all=_MAX_REQUESTS_IN_ALL)
        self._open: Counter[PersonId] = Counter()

    def check_attempts(self, address: str) -> None:
        """Raises `TooManyAttempts`."""
        if self._wrong.find_wait_time(address) is not None:
            raise TooManyAttempts("too many wrong tokens; please try again in a minute")

    def count_wrong_token(self, address: str) -> None:
        self._wrong.count_request(address)

    @contextmanager
    def open_request(self, person: PersonId) -> Generator[None]:
        """Counts a request, which is open for the length of the block. Raises `TooManyAttempts`."""
        if self._open[person] >= _MAX_OPEN_PER_PERSON or self._taken.wait_time_for(person) is not None:
            raise TooManyAttempts("too many requests; please try again in a minute")
        self._open[person] += 1
        try:
            yield
        finally:
            self._open[person] -= 1
            self._open += Counter()  # drops people without an open request


def _load_transport_type() -> "type[McpTransport]":
    from adapters.mcp.transport import McpTransport

    return McpTransport


def _unauthorized_response(request: web.Request) -> web.Response:
    """401. `error` only if a token was sent, see RFC 6750, section 3.1."""
    has_token = "Authorization" in request.headers
    challenge = 'Bearer realm="parley"' + (', error="invalid_token"' if has_token else "")
    headers = {"WWW-Authenticate": challenge, "Cache-Control": "no-store"}
    return web.Response(status=401, text=_UNAUTHORIZED_SENTENCE, headers=headers)
