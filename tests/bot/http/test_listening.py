"""Fewer connections than files, and a socket that waits where the process can open no more of them."""

import errno
import resource
import socket
from collections.abc import Iterator

import pytest
from aiohttp import web

from bot.http.listening import MAX_CONNECTIONS, limits_for_files, limits_for_process, start_sites_on
from bot.http.listening_sockets import PausingSocket, listen_early
from tests.bot.http.bounded_server import ROOMY, open_raw


class ExhaustedSocket(PausingSocket):
    """Cannot accept, as when all files are open. Counts how often the system is asked."""

    def __init__(self, clock: "HandSetClock") -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM, 0, clock=clock, on_exhausted=self._note_exhausted)
        self.exhausted = 0

    def _note_exhausted(self) -> None:
        self.exhausted += 1


class HandSetClock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def own_file_limit() -> Iterator[tuple[int, int]]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield limits
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(
    ("free_files", "total"), [(-300, 16), (3, 16), (100, 50), (500, 372), (100_000, MAX_CONNECTIONS)]
)
def test_connections_take_the_free_files_within_bounds(free_files: int, total: int) -> None:
    limits = limits_for_files(free_files)

    assert (limits.total, limits.per_caller, limits.unproven) == (total, total // 2, total // 4)


def test_the_process_keeps_files_for_everything_else(own_file_limit: tuple[int, int]) -> None:
    _, hard_limit = own_file_limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard_limit))

    limits = limits_for_process()

    soft_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft_limit == min(4_096, hard_limit)
    assert 16 <= limits.total < soft_limit - 256


def test_a_socket_without_free_files_asks_the_system_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_accept(_: socket.socket) -> object:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(socket.socket, "accept", fail_to_accept)
    clock = HandSetClock()
    with ExhaustedSocket(clock) as listening_socket:
        for now_s, expected in ((100.0, OSError), (100.0, BlockingIOError), (100.9, BlockingIOError), (101.1, OSError)):
            clock.now_s = now_s
            with pytest.raises(expected):
                listening_socket.accept()

        assert listening_socket.exhausted == 2


async def test_a_request_that_comes_before_the_server_is_answered_when_there_is_one() -> None:
    async def greet(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.add_routes([web.get("/", greet)])
    with listen_early("127.0.0.1", 0) as sockets:
        port = sockets[0].getsockname()[1]
        async with open_raw(port) as connection:
            connection.send_bytes(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            runner = web.AppRunner(app, shutdown_timeout=1)
            await runner.setup()
            await start_sites_on(runner, sockets, ROOMY)
            status = await connection.read_status()
            await runner.cleanup()

    assert status == 200


def test_a_port_in_use_is_refused_and_other_sockets_are_closed() -> None:
    with listen_early("127.0.0.1", 0) as sockets:
        port = sockets[0].getsockname()[1]
        with pytest.raises(OSError, match="in use"), listen_early("127.0.0.1", port):
            pass
    with listen_early("127.0.0.1", port) as sockets:
        assert sockets[0].getsockname()[1] == port
