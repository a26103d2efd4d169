"""The connections of the HTTP port: how many there may be, how long each may take, and which is closed for another.

A new connection is always accepted, since it may carry a signed delivery. When there are too many, the one that has
been idle longest is closed for it, else the one that has been unproven longest: of the same caller where that has its
share, else of the caller that has most. A connection whose sender is proven is never closed for another.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from aiohttp import StreamReader, web

from bot.http.callers import network_of

HEADER_TIMEOUT_S: Final = 10.0
KEEPALIVE_TIMEOUT_S: Final = 75.0  # longer than a proxy keeps its own idle connections, usually 60 s
MAX_BODY_MEMORY_BYTES: Final = 64 * 1024 * 1024  # of all bodies that are being received
# What a request may send beside its body: sizes of chunks, trailers, and the beginning of the next request. Senders
# of chunks of some kilobytes need a hundredth of the body; one byte a chunk costs fifty times the CPU time.
MAX_FRAMING_BYTES: Final = 64 * 1024  # and a quarter of the body
_UNREAD_BODY_TIMEOUT_S: Final = 1.0  # how long the rest of a refused body is received, so that the answer is read
_READ_BUFFER_BYTES: Final = 16 * 1024
SERVER_LOGGER: Final = "aiohttp.server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """`total` and `per_caller`: open connections. `unproven`: those that proven connections never take.

    `header_timeout_s`: from the first byte of a header, or the opening of the connection, to the end of the header.
    `settling_s`: how long a delivery takes to arrive and to be proven, at most.
    """

    total: int
    per_caller: int
    unproven: int
    header_timeout_s: float = HEADER_TIMEOUT_S
    settling_s: float = 1.0

    @classmethod
    def for_total(cls, total: int) -> "ConnectionLimits":
        """One caller may have half of all: behind a proxy, everyone has the proxy's address."""
        return cls(total=total, per_caller=max(total // 2, 1), unproven=max(total // 4, 1))


class ConnectionRegistry:
    """All open connections of the port."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        # By caller; the first one of a caller has been idle longest.
        self._connections: dict[str, dict[ServedConnection, None]] = {}
        self._count = self._proven = self._body_bytes = 0

    @property
    def header_timeout_s(self) -> float:
        return self._limits.header_timeout_s

    def add_connection(self, connection: "ServedConnection") -> None:
        """Closes another connection where there are too many; this one where no other may be closed."""
        own_connections = self._connections.setdefault(connection.caller, {})
        own_connections[connection] = None
        self._count += 1
        if len(own_connections) > self._limits.per_caller:
            self._close_longest_idle(own_connections, newest=connection)
        elif self._count > self._limits.total:
            self._close_longest_idle(max(self._connections.values(), key=len), newest=connection)

    def remove_connection(self, connection: "ServedConnection") -> None:
        """A second call changes nothing."""
        own_connections = self._connections.get(connection.caller, {})
        if connection not in own_connections:
            return
        del own_connections[connection]
        if not own_connections:
            del self._connections[connection.caller]
        self._count -= 1

    def note_activity(self, connection: "ServedConnection") -> None:
        """From now on, the connection is the last of its caller to be closed for another."""
        own_connections = self._connections.get(connection.caller, {})
        if connection in own_connections:
            del own_connections[connection]
            own_connections[connection] = None
            connection.active_at_s = asyncio.get_running_loop().time()

    def close_idle(self, count: int) -> None:
        """Closes so many connections, where as many are unproven."""
        for _ in range(min(count, self._count)):
            if self._connections:
                self._close_longest_idle(max(self._connections.values(), key=len), newest=None)

    def begin_protection(self) -> bool:
        """Whether one more connection may be protected."""
        if self._proven >= self._limits.total - self._limits.unproven:
            return False
        self._proven += 1
        return True

    def end_protection(self) -> None:
        self._proven -= 1

    def reserve_body_bytes(self, count: int, already_reserved: int) -> bool:
        """Whether a body may grow by so many bytes: when memory is short, only to an equal share of it."""
        is_short = self._body_bytes + count > MAX_BODY_MEMORY_BYTES
        if is_short and already_reserved + count > MAX_BODY_MEMORY_BYTES // max(self._count, 1):
            return False
        self._body_bytes += count
        return True

    def release_body_bytes(self, count: int) -> None:
        self._body_bytes -= count

    def _close_longest_idle(
        self, candidates: "Iterable[ServedConnection]", *, newest: "ServedConnection | None"
    ) -> None:
        """Of those that have not just come, one that waits for a header, else one that waits for a body."""
        unproven = [candidate for candidate in candidates if not candidate.is_proven and candidate is not newest]
        settled_until_s = asyncio.get_running_loop().time() - self._limits.settling_s
        settled = [candidate for candidate in unproven if candidate.active_at_s <= settled_until_s]
        idle = [candidate for candidate in settled if not candidate.is_in_request]
        victim = next(iter((*idle[:1], *settled[:1], *unproven[:1])), newest)
        if victim is not None:
            victim.close_at_once()


class ServedConnection(web.RequestHandler):
    """One connection: aiohttp's, with a deadline for each header, and with its place in the registry."""

    def __init__(self, server: web.Server, registry: ConnectionRegistry) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=KEEPALIVE_TIMEOUT_S,
            lingering_time=_UNREAD_BODY_TIMEOUT_S,
            read_bufsize=_READ_BUFFER_BYTES,
            auto_decompress=False,  # no sender compresses; see bot/http/request_checks.py
            access_log=None,  # pyright: ignore[reportArgumentType] - None is allowed, and the default of AppRunner
            logger=logging.getLogger(SERVER_LOGGER),
        )
        self.caller, self.active_at_s = "", asyncio.get_running_loop().time()
        self._registry = registry
        self._header_deadline: asyncio.TimerHandle | None = None
        self._is_in_request = self._is_proven = False
        self._body_bytes = self._received_bytes = 0
        self._content: StreamReader | None = None  # the body of the last request

    @property
    def is_proven(self) -> bool:
        """Whether the sender of the last request is known."""
        return self._is_proven

    @property
    def is_in_request(self) -> bool:
        """Whether a request has begun and is not answered."""
        return self._is_in_request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.caller = _caller_of(transport.get_extra_info("peername"))
        self._expect_header()
        self._registry.add_connection(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._leave_registry()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_in_request:
            self._expect_header()
        super().data_received(data)
        self._check_framing(len(data))

    def begin_request(self, content: StreamReader) -> None:
        """A whole header has arrived. `content`: the body of the request."""
        self._content, self._received_bytes = content, 0
        self._stop_expecting()
        self._end_protection()
        self._is_in_request = True

    def end_request(self) -> None:
        """The response is made; it may still have to be sent."""
        self._is_in_request = False
        self._registry.release_body_bytes(self._body_bytes)
        self._body_bytes = 0
        self._registry.note_activity(self)

    def protect(self) -> None:
        """The sender of this request is proven: no other connection takes its place until its next request."""
        if not self._is_proven and self.transport is not None:
            self._is_proven = self._registry.begin_protection()

    def reserve_body_bytes(self, count: int) -> bool:
        if not self._registry.reserve_body_bytes(count, self._body_bytes):
            return False
        self._body_bytes += count
        return True

    def close_at_once(self) -> None:
        self._leave_registry()
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()

    def _check_framing(self, received_bytes: int) -> None:
        """Closes the connection of a sender who sends far more than its body."""
        if self._content is None:
            return
        self._received_bytes += received_bytes
        body_bytes = self._content.total_bytes
        if self._received_bytes - body_bytes > MAX_FRAMING_BYTES + body_bytes // 4:
            self.close_at_once()

    def _expect_header(self) -> None:
        if self._header_deadline is None:
            self._header_deadline = asyncio.get_running_loop().call_later(
                self._registry.header_timeout_s, self.close_at_once
            )

    def _stop_expecting(self) -> None:
        if self._header_deadline is not None:
            self._header_deadline.cancel()
            self._header_deadline = None

    def _end_protection(self) -> None:
        if self._is_proven:
            self._is_proven = False
            self._registry.end_protection()

    def _leave_registry(self) -> None:
        self._stop_expecting()
        self._end_protection()
        self._registry.remove_connection(self)


def protect_connection(request: web.Request) -> None:
    """Tells that the sender of the request is proven, by a signature, a token or a link that Parley made."""
    if isinstance(request.protocol, ServedConnection):
        request.protocol.protect()


def reserve_body_bytes(request: web.Request, count: int) -> bool:
    """Whether the body of the request may grow by so many bytes in memory."""
    return not isinstance(request.protocol, ServedConnection) or request.protocol.reserve_body_bytes(count)


def _caller_of(peer: object) -> str:
    return network_of(str(cast(tuple[object, ...], peer)[0])) if isinstance(peer, tuple) and peer else ""
