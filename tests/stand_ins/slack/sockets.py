"""Socket Mode: one websocket or several, envelopes, and their acknowledgements."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Final, cast
from uuid import uuid4

from aiohttp import WSMsgType, web

CONNECTIONS: Final = 10
HOST: Final = {"host": "applink-1"}


class NotDelivered(Exception):
    """Nobody acknowledged in time, or the connection ended before."""


@dataclass
class Sockets:
    """`tickets` are good for one connection each; envelopes go to the connections in turn."""

    tickets: set[str] = field(default_factory=set[str])
    connections: list[web.WebSocketResponse] = field(default_factory=list[web.WebSocketResponse])
    opened: int = 0
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _connected: asyncio.Condition = field(default_factory=asyncio.Condition)
    _waiting: dict[str, tuple[web.WebSocketResponse, asyncio.Future[object]]] = field(
        default_factory=dict[str, tuple[web.WebSocketResponse, asyncio.Future[object]]]
    )

    def ticket(self) -> str:
        made = uuid4().hex
        self.tickets.add(made)
        return made

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/link", self._serve)]

    async def connected(self, connections: int = 1, within_s: float = 10) -> None:
        """Waits until so many are open. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self._connected:
            await self._connected.wait_for(lambda: len(self.connections) == connections)

    async def opened_in_all(self, times: int, within_s: float = 10) -> None:
        """Waits until so many were opened since the start, open still or not. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self._connected:
            await self._connected.wait_for(lambda: self.opened >= times)

    async def deliver(self, envelope: dict[str, Any], within_s: float) -> object:
        """The payload of the acknowledgement, None where there is none. Raises `NotDelivered`."""
        try:
            async with asyncio.timeout(within_s):
                socket = await self._next()
                return await self._acknowledged(socket, envelope)
        except (TimeoutError, ConnectionError) as exc:
            raise NotDelivered from exc

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Slack asks every connection to go: `warning` some seconds ahead, `refresh_requested` at once."""
        for socket in list(self.connections):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": HOST})
            if reason != "warning":
                await socket.close()

    async def cut(self) -> None:
        """The connections break."""
        for socket in list(self.connections):
            await socket.close()

    async def _next(self) -> web.WebSocketResponse:
        async with self._connected:
            await self._connected.wait_for(lambda: bool(self.connections))
        socket = self.connections.pop(0)
        self.connections.append(socket)
        return socket

    async def _acknowledged(self, socket: web.WebSocketResponse, envelope: dict[str, Any]) -> object:
        key = uuid4().hex
        heard: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[key] = (socket, heard)
        told = {"envelope_id": key, **envelope}
        self.sent.append(told)
        try:
            await socket.send_json(told)
            return await heard
        finally:
            del self._waiting[key]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=403)
        self.tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await self._joined(socket)
        try:
            await self._listen(socket)
        finally:
            await self._left(socket)
        return socket

    async def _joined(self, socket: web.WebSocketResponse) -> None:
        about = {"num_connections": len(self.connections) + 1, "connection_info": {"app_id": "A0PARLEY"}}
        timed = {**HOST, "approximate_connection_time": 18060}
        await socket.send_json({"type": "hello", **about, "debug_info": timed})
        async with self._connected:
            self.connections.append(socket)
            self.opened += 1
            self._connected.notify_all()

    async def _left(self, socket: web.WebSocketResponse) -> None:
        async with self._connected:
            self.connections.remove(socket)
            self._connected.notify_all()
        for at, heard in self._waiting.values():
            if at is socket and not heard.done():
                heard.set_exception(ConnectionError())

    async def _listen(self, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                told = cast(dict[str, Any], json.loads(message.data))
                _, heard = self._waiting.get(told.get("envelope_id", ""), (None, None))
                if heard is not None and not heard.done():
                    heard.set_result(told.get("payload"))
