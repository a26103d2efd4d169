"""Connections are bounded: the longest idle one makes room, a proven one never does, and no header takes for ever."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from bot.http.connections import ConnectionLimits, protect_connection
from tests.bot.http.bounded_server import RawConnection, open_raw, serve_bounded

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
PROVEN_REQUEST = b"GET /proven HTTP/1.1\r\nHost: a\r\n\r\n"


class RecordedRequests:
    def __init__(self) -> None:
        self.release, self.arrived = asyncio.Event(), asyncio.Semaphore(0)

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/", self._answer), web.get("/proven", self._wait_proven), web.post("/body", self._read_body)]

    async def _answer(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _read_body(self, request: web.Request) -> web.Response:
        self.arrived.release()
        await request.read()
        return web.Response()

    async def _wait_proven(self, request: web.Request) -> web.Response:
        protect_connection(request)
        self.arrived.release()
        await self.release.wait()
        return web.Response()


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack, asyncio.timeout(20):
        yield stack


async def open_many(stack: AsyncExitStack, port: int, count: int) -> list[RawConnection]:
    return [await stack.enter_async_context(open_raw(port)) for _ in range(count)]


async def answered_status(stack: AsyncExitStack, port: int) -> int | None:
    connection = await stack.enter_async_context(open_raw(port))
    connection.send_bytes(REQUEST)
    return await connection.read_status()


async def test_a_new_connection_takes_the_place_of_the_one_that_is_idle_longest(stack: AsyncExitStack) -> None:
    limits = ConnectionLimits(total=3, per_caller=3, unproven=1)
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes(), limits))
    first, second, third = await open_many(stack, port, 3)
    second.send_bytes(REQUEST)
    third.send_bytes(REQUEST)
    assert (await second.read_status(), await third.read_status()) == (200, 200)

    assert await answered_status(stack, port) == 200

    assert await first.is_closed_by_server()
    third.send_bytes(REQUEST)
    assert b"200" in await third.reader.readuntil(b"HTTP/1.1 200")


@pytest.mark.parametrize(("settling_s", "is_older_closed"), [(0.0, False), (60.0, True)])
async def test_a_body_makes_room_after_the_idle_ones_and_before_those_that_have_just_come(
    stack: AsyncExitStack, settling_s: float, is_older_closed: bool
) -> None:
    limits = ConnectionLimits(total=2, per_caller=2, unproven=1, settling_s=settling_s)
    requests = RecordedRequests()
    port = await stack.enter_async_context(serve_bounded(requests.routes(), limits))
    older, newer = await open_many(stack, port, 1), await open_many(stack, port, 1)
    older[0].send_bytes(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
    await requests.arrived.acquire()

    assert await answered_status(stack, port) == 200

    assert await (older if is_older_closed else newer)[0].is_closed_by_server()


async def test_a_caller_has_its_share_and_no_more(stack: AsyncExitStack) -> None:
    limits = ConnectionLimits(total=50, per_caller=2, unproven=1)
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes(), limits))
    connections = await open_many(stack, port, 5)

    assert await answered_status(stack, port) == 200

    closed = [await connection.is_closed_by_server() for connection in connections[:4]]
    assert closed == [True] * 4


async def test_many_idle_connections_keep_no_delivery_away(stack: AsyncExitStack) -> None:
    limits = ConnectionLimits(total=20, per_caller=10, unproven=5)
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes(), limits))
    await open_many(stack, port, 200)

    assert [await answered_status(stack, port) for _ in range(30)] == [200] * 30


async def test_a_proven_connection_is_not_closed_for_another(stack: AsyncExitStack) -> None:
    requests = RecordedRequests()
    limits = ConnectionLimits(total=4, per_caller=4, unproven=2)
    port = await stack.enter_async_context(serve_bounded(requests.routes(), limits))
    proven = (await open_many(stack, port, 1))[0]
    proven.send_bytes(PROVEN_REQUEST)
    await requests.arrived.acquire()

    await open_many(stack, port, 20)
    assert await answered_status(stack, port) == 200
    requests.release.set()

    assert await proven.read_status() == 200


async def test_proven_connections_leave_room_for_others(stack: AsyncExitStack) -> None:
    requests = RecordedRequests()
    limits = ConnectionLimits(total=4, per_caller=4, unproven=2)
    port = await stack.enter_async_context(serve_bounded(requests.routes(), limits))
    for connection in await open_many(stack, port, 4):
        connection.send_bytes(PROVEN_REQUEST)
        await requests.arrived.acquire()

    assert await answered_status(stack, port) == 200
    requests.release.set()


async def test_protection_ends_with_the_next_request(stack: AsyncExitStack) -> None:
    requests = RecordedRequests()
    requests.release.set()
    limits = ConnectionLimits(total=2, per_caller=2, unproven=1)
    port = await stack.enter_async_context(serve_bounded(requests.routes(), limits))
    for _ in range(20):
        connection = await stack.enter_async_context(open_raw(port))
        connection.send_bytes(PROVEN_REQUEST)
        assert await connection.read_status() == 200
        connection.send_bytes(REQUEST)
        await connection.reader.readuntil(b"HTTP/1.1 200")

    assert await answered_status(stack, port) == 200


@pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\nX-A: "])
async def test_a_header_that_does_not_end_closes_its_connection(stack: AsyncExitStack, begin: bytes) -> None:
    limits = ConnectionLimits(total=9, per_caller=9, unproven=1, header_timeout_s=0.05)
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes(), limits))
    connection = (await open_many(stack, port, 1))[0]
    connection.send_bytes(begin)

    assert await connection.is_closed_by_server()


async def test_a_second_header_has_a_deadline_too_and_a_long_answer_has_none(stack: AsyncExitStack) -> None:
    requests = RecordedRequests()
    limits = ConnectionLimits(total=9, per_caller=9, unproven=1, header_timeout_s=0.05)
    port = await stack.enter_async_context(serve_bounded(requests.routes(), limits))
    patient, slow = await open_many(stack, port, 2)
    patient.send_bytes(PROVEN_REQUEST)
    await requests.arrived.acquire()
    slow.send_bytes(REQUEST)
    await slow.reader.readuntil(b"\r\n\r\n")
    slow.send_bytes(b"GET / HTTP/1.1\r\nX-A: ")

    assert await slow.is_closed_by_server()
    requests.release.set()
    assert await patient.read_status() == 200


@pytest.mark.parametrize("path", ["/body", "/"])  # a body that is read, and one that the handler leaves
async def test_a_body_in_tiny_chunks_is_cut_off(stack: AsyncExitStack, path: str) -> None:
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes()))
    connection = await stack.enter_async_context(open_raw(port))
    connection.send_bytes(f"{'POST' if path == '/body' else 'GET'} {path} HTTP/1.1\r\nHost: a\r\n".encode())
    connection.send_bytes(b"Transfer-Encoding: chunked\r\n\r\n")

    with contextlib.suppress(ConnectionError):
        for _ in range(1_000):
            connection.send_bytes(b"1\r\n \r\n" * 1_000)
            await connection.writer.drain()
    with contextlib.suppress(ConnectionError):
        await connection.reader.read()

    assert connection.writer.is_closing() or connection.reader.at_eof()
    assert await answered_status(stack, port) == 200


@pytest.mark.parametrize("chunk_bytes", [64, 4_096])
async def test_a_body_in_ordinary_chunks_is_read(stack: AsyncExitStack, chunk_bytes: int) -> None:
    port = await stack.enter_async_context(serve_bounded(RecordedRequests().routes()))
    connection = await stack.enter_async_context(open_raw(port))
    connection.send_bytes(b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")

    for _ in range(900_000 // chunk_bytes):
        connection.send_bytes(f"{chunk_bytes:x}\r\n".encode() + b" " * chunk_bytes + b"\r\n")
        await connection.writer.drain()
    connection.send_bytes(b"0\r\n\r\n")

    assert await connection.read_status() == 200
