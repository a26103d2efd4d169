"""The sockets of the HTTP port. They can be opened long before a server: the system keeps connections until then."""

import errno
import os
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

_QUEUE: Final = 1_024  # connections that the system keeps until they are accepted
_PAUSE_S: Final = 1.0
_NO_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class PausingSocket(socket.socket):
    """A listening socket that waits for a second when the process can open no more files.

    asyncio waits too, but in Python 3.11 and 3.12 it first tries again for each waiting connection, and logs each try
    (https://github.com/python/cpython/issues/127529).
    """

    def __init__(
        self, family: int, kind: int, protocol: int, *, clock: Callable[[], float], on_exhausted: Callable[[], None]
    ) -> None:
        super().__init__(family, kind, protocol)
        self.on_exhausted = on_exhausted
        self._clock, self._paused_until_s = clock, 0.0

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
                self.on_exhausted()
            raise


@contextmanager
def listen_early(host: str, port: int) -> Generator[list[PausingSocket]]:
    """Listen on each address of the host, before there is a server. Raises `OSError` for a port in use."""
    sockets = open_sockets(host, port)
    try:
        for listening_socket in sockets:
            listening_socket.listen()
        yield sockets
    finally:
        for listening_socket in sockets:
            listening_socket.close()


def open_sockets(host: str, port: int) -> list[PausingSocket]:
    """A socket for each address of the host, bound to the port. Raises `OSError` for a port in use."""
    sockets: list[PausingSocket] = []
    addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, kind, protocol, _, address in dict.fromkeys(addresses):
            listening_socket = PausingSocket(
                family, kind, protocol, clock=time.monotonic, on_exhausted=_ignore_exhaustion
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


def _ignore_exhaustion() -> None:
    """There is no server yet that could close connections."""
