"""Runs an ASGI application within aiohttp: the SDK serves HTTP as one, and Parley has one port."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any as Json
from typing import Final, TypeAlias

from aiohttp import web

AsgiMessage: TypeAlias = MutableMapping[str, Json]
AsgiApp: TypeAlias = Callable[
    [
        MutableMapping[str, Json],
        Callable[[], Awaitable[AsgiMessage]],
        Callable[[AsgiMessage], Awaitable[None]],
    ],
    Awaitable[None],
]
_CLOSED_CHECK_S: Final = 0.5  # aiohttp does not tell a handler that the client is gone
_HOP_HEADERS: Final = frozenset({"connection", "keep-alive", "transfer-encoding"})  # aiohttp's own matter


async def run_asgi(
    app: AsgiApp, request: web.Request, body: bytes, state: MutableMapping[str, Json]
) -> web.StreamResponse:
    """The response of `app`, sent as it comes. `body` has been read; `state` is in the scope of the request."""
    exchange = _AsgiExchange(request, body)
    await app(exchange.scope_with(state), exchange.receive, exchange.send)
    return await exchange.finish()


class _AsgiExchange:
    def __init__(self, request: web.Request, body: bytes) -> None:
        self._request, self._body = request, body
        self._is_body_received = False
        self._response: web.StreamResponse | None = None

    def scope_with(self, state: MutableMapping[str, Json]) -> MutableMapping[str, Json]:
        request = self._request
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": request.path.encode(),
            "root_path": "",
            "query_string": request.query_string.encode(),
            "headers": [(name.lower(), value) for name, value in request.raw_headers],
            "state": state,
        }

    async def receive(self) -> AsgiMessage:
        """The whole body, and after that the end of the connection."""
        if not self._is_body_received:
            self._is_body_received = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        while True:
            if self._is_client_gone:
                return {"type": "http.disconnect"}
            await asyncio.sleep(_CLOSED_CHECK_S)

    async def send(self, message: AsgiMessage) -> None:
        """What comes after the client has gone is dropped."""
        if message["type"] == "http.response.start":
            self._response = _build_response(message)
            return
        if self._response is None or self._is_client_gone:
            return
        try:
            if not self._response.prepared:
                await self._response.prepare(self._request)
            if message.get("body"):
                await self._response.write(message["body"])
        except ConnectionError:
            return

    async def finish(self) -> web.StreamResponse:
        response = self._response or web.Response(status=500, text="no answer\n")
        if isinstance(response, web.Response):
            return response
        try:
            if not response.prepared:
                await response.prepare(self._request)
            await response.write_eof()
        except ConnectionError:
            pass
        return response

    @property
    def _is_client_gone(self) -> bool:
        transport = self._request.transport
        return transport is None or transport.is_closing()


def _build_response(start: AsgiMessage) -> web.StreamResponse:
    response = web.StreamResponse(status=start["status"])
    for name, value in start.get("headers", ()):
        if name.decode("latin-1").lower() not in _HOP_HEADERS:
            response.headers.add(name.decode("latin-1"), value.decode("latin-1"))
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
