"""Listens on the HTTP port with connections that are fewer than the files that the process may open."""

import asyncio
import resource
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.http.connections import ConnectionLimits, ConnectionRegistry, ServedConnection
from bot.http.listening_sockets import PausingSocket, open_sockets

MAX_CONNECTIONS: Final = 1_000
_MIN_CONNECTIONS: Final = 16
_WANTED_FILES: Final = 4_096
# Connections that are accepted before the first of them is counted and read. With few of them, a delivery is read
# before many newer connections ask for its place.
BACKLOG: Final = 8
# Of the databases, the index, exports, and requests to chat products and models; half of all where there are few.
_OTHER_FILES: Final = 128
_CLOSED_WHEN_EXHAUSTED: Final = 64


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
    return limits_for_files(soft_limit - _count_open_files() - 2 * BACKLOG)


def limits_for_files(free_files: int) -> ConnectionLimits:
    connections = free_files - min(_OTHER_FILES, free_files // 2)
    return ConnectionLimits.for_total(max(min(connections, MAX_CONNECTIONS), _MIN_CONNECTIONS))


class BoundedSite(web.BaseSite):
    """Serves the runner's application on one socket, with bounded connections."""

    def __init__(
        self, runner: web.AppRunner, server: web.Server, listening_socket: socket.socket, registry: ConnectionRegistry
    ) -> None:
        """`server`: the runner's, once it is set up."""
        super().__init__(runner, backlog=BACKLOG)
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
    return await start_sites_on(runner, open_sockets(host, port), limits)


async def start_sites_on(
    runner: web.AppRunner, sockets: Sequence[PausingSocket], limits: ConnectionLimits
) -> ConnectionRegistry:
    """Serves the runner, which is set up, on sockets that are open. The runner closes them."""
    registry, server = ConnectionRegistry(limits), runner.server
    if server is None:
        raise RuntimeError("the runner is not set up")
    for listening_socket in sockets:
        listening_socket.on_exhausted = lambda: registry.close_idle(_CLOSED_WHEN_EXHAUSTED)
        await BoundedSite(runner, server, listening_socket, registry).start()
    return registry


def _count_open_files() -> int:
    """Also right on macOS; 64 where the system does not tell."""
    try:
        return sum(1 for _ in Path("/dev/fd").iterdir())
    except OSError:
        return 64
