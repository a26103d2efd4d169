"""Listens on the HTTP port with connections that are fewer than the files that the process may open."""

import asyncio
import errno
import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.http.connections import ConnectionLimits, ConnectionRegistry, ServedConnection

MAX_CONNECTIONS: Final = 1_000
_MIN_CONNECTIONS: Final = 16
_WANTED_FILES: Final = 4_096
_BACKLOG: Final = 128  # connections that are accepted before the first of them is counted
_QUEUE: Final = 1_024  # connections that the system keeps until they are accepted
_OTHER_FILES: Final = 128  # of the databases, the index, exports, and requests to chat products and models
_PAUSE_S: Final = 1.0
_NO_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def limits_for_process() -> ConnectionLimits:
    """Raises the process's own limit of open files where it may, and leaves files for everything else."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard_limit == resource.RLIM_INFINITY else min(_WANTED_FILES, hard_limit)
    if soft_limit != resource.RLIM_INFINITY and soft_limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard_limit))
        soft_limit = wanted
    if soft_limit == resource.RLIM_INFINITY:
        return ConnectionLimits.for_total(MAX_CONNECTIONS)
    # Twice the backlog: those that are accepted at once, and those that are closed for them.
    return limits_for_files(soft_limit - _count_open_files() - 2 * _BACKLOG - _OTHER_FILES)


def limits_for_files(free_files: int) -> ConnectionLimits:
    return ConnectionLimits.for_total(max(min(free_files, MAX_CONNECTIONS), _MIN_CONNECTIONS))


class PausingSocket(socket.socket):
    """A listening socket that waits for a second when the process can open no more files.

    asyncio waits too, but in Python 3.11 and 3.12 it first tries again for each waiting connection, and logs each try
    (https://github.com/python/cpython/issues/127529).
    """

    def __init__(
        self, family: int, kind: int, protocol: int, *, clock: Callable[[], float], on_exhausted: Callable[[], None]
    ) -> None:
        super().__init__(family, kind, protocol)
        self._clock, self._on_exhausted, self._paused_until_s = clock, on_exhausted, 0.0

    def listen(self, backlog: int = _QUEUE, /) -> None:
        """The queue may be longer than what asyncio accepts at once, so that a burst is not turned away."""
        super().listen(max(backlog, _QUEUE))

    def accept(self) -> tuple[socket.socket, object]:
        if self._clock() < self._paused_until_s:
            raise BlockingIOError
        try:
            return super().accept()
        except OSError as exc:
            if exc.errno in _NO_RESOURCES:
                self._paused_until_s = self._clock() + _PAUSE_S
                self._on_exhausted()
            raise


class BoundedSite(web.BaseSite):
    """Serves the runner's application on one socket, with bounded connections."""

    def __init__(
        self, runner: web.AppRunner, server: web.Server, listening_socket: socket.socket, registry: ConnectionRegistry
    ) -> None:
        """`server`: the runner's, once it is set up."""
        super().__init__(runner, backlog=_BACKLOG)
        self._socket, self._build_connection = listening_socket, lambda: ServedConnection(server, registry)

    @property
    def name(self) -> str:
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def start(self) -> None:
        await super().start()
        self._server = await asyncio.get_running_loop().create_server(
            self._build_connection, sock=self._socket, backlog=self._backlog
        )


async def start_sites(runner: web.AppRunner, host: str, port: int, limits: ConnectionLimits) -> ConnectionRegistry:
    """Listens on each address of the host, for a runner that is set up. Raises `OSError` for a port in use."""
    registry, server = ConnectionRegistry(limits), runner.server
    if server is None:
        raise RuntimeError("the runner is not set up")
    for listening_socket in await _open_sockets(host, port, registry):
        await BoundedSite(runner, server, listening_socket, registry).start()
    return registry


async def _open_sockets(host: str, port: int, registry: ConnectionRegistry) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, kind, protocol, _, address in dict.fromkeys(addresses):
            listening_socket = PausingSocket(
                family, kind, protocol, clock=time.monotonic, on_exhausted=lambda: registry.close_idle(_BACKLOG)
            )
            sockets.append(listening_socket)
            listening_socket.setblocking(False)
            if os.name == "posix":
                listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening_socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening_socket.bind(address)
    except OSError:
        for listening_socket in sockets:
            listening_socket.close()
        raise
    return sockets


def _count_open_files() -> int:
    """Also right on macOS; 64 where the system does not tell."""
    try:
        return sum(1 for _ in Path("/dev/fd").iterdir())
    except OSError:
        return 64
