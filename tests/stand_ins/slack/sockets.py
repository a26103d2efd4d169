"""Socket Mode: websockets, envelopes and their acknowledgements."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Final, cast
from uuid import uuid4

from aiohttp import WSMsgType, web

CONNECTIONS: Final = 10
HOST: Final = {"host": "applink-1"}


class EnvelopeNotDelivered(Exception):
    """An envelope was not acknowledged in time, or its connection ended."""


@dataclass
class SocketConnections:
    """The open connections. Each of `tickets` opens one connection; envelopes go to the connections in turn."""

    tickets: set[str] = field(default_factory=set[str])
    connections: list[web.WebSocketResponse] = field(default_factory=list[web.WebSocketResponse])
    opened: int = 0
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _connected: asyncio.Condition = field(default_factory=asyncio.Condition)
    _waiting: dict[str, tuple[web.WebSocketResponse, asyncio.Future[object]]] = field(
        default_factory=dict[str, tuple[web.WebSocketResponse, asyncio.Future[object]]]
    )

    def create_ticket(self) -> str:
        key = uuid4().hex
        self.tickets.add(key)
        return key

    def server_routes(self) -> list[web.RouteDef]:
        return [web.get("/link", self._serve_connection)]

    async def wait_for_connections(self, connections: int = 1, within_s: float = 10) -> None:
        """Wait until exactly `connections` are open. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self._connected:
            await self._connected.wait_for(lambda: len(self.connections) == connections)

    async def wait_for_openings(self, times: int, within_s: float = 10) -> None:
        """Wait until `times` connections were opened since the start. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self._connected:
            await self._connected.wait_for(lambda: self.opened >= times)

    async def deliver_envelope(self, envelope: dict[str, Any], within_s: float) -> object:
        """Send an envelope and return the acknowledgement's payload, or None. Raises `EnvelopeNotDelivered`."""
        try:
            async with asyncio.timeout(within_s):
                socket = await self._next_connection()
                return await self._wait_for_acknowledgement(socket, envelope)
        except (TimeoutError, ConnectionError) as exc:
            raise EnvelopeNotDelivered from exc

    async def announce_disconnect(self, reason: str = "refresh_requested") -> None:
        """Announce the end of every connection: `warning` some seconds before, `refresh_requested` at once."""
        for socket in list(self.connections):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": HOST})
            if reason != "warning":
                await socket.close()

    async def break_connections(self) -> None:
        """Break all connections."""
        for socket in list(self.connections):
            await socket.close()

    async def _next_connection(self) -> web.WebSocketResponse:
        async with self._connected:
            await self._connected.wait_for(lambda: bool(self.connections))
        socket = self.connections.pop(0)
        self.connections.append(socket)
        return socket

    async def _wait_for_acknowledgement(self, socket: web.WebSocketResponse, envelope: dict[str, Any]) -> object:
        key = uuid4().hex
        acknowledgement: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[key] = (socket, acknowledgement)
        message = {"envelope_id": key, **envelope}
        self.sent.append(message)
        try:
            await socket.send_json(message)
            return await acknowledgement
        finally:
            del self._waiting[key]

    async def _serve_connection(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=403)
        self.tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await self._add_connection(socket)
        try:
            await self._read_acknowledgements(socket)
        finally:
            await self._remove_connection(socket)
        return socket

    async def _add_connection(self, socket: web.WebSocketResponse) -> None:
        hello_fields = {"num_connections": len(self.connections) + 1, "connection_info": {"app_id": "A0PARLEY"}}
        debug_info = {**HOST, "approximate_connection_time": 18060}
        await socket.send_json({"type": "hello", **hello_fields, "debug_info": debug_info})
        async with self._connected:
            self.connections.append(socket)
            self.opened += 1
            self._connected.notify_all()

    async def _remove_connection(self, socket: web.WebSocketResponse) -> None:
        async with self._connected:
            self.connections.remove(socket)
            self._connected.notify_all()
        for other_socket, acknowledgement in self._waiting.values():
            if other_socket is socket and not acknowledgement.done():
                acknowledgement.set_exception(ConnectionError())

    async def _read_acknowledgements(self, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                envelope = cast(dict[str, Any], json.loads(message.data))
                _, acknowledgement = self._waiting.get(envelope.get("envelope_id", ""), (None, None))
                if acknowledgement is not None and not acknowledgement.done():
                    acknowledgement.set_result(envelope.get("payload"))
