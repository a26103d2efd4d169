"""What is not a request of any product is refused with 4xx, in one place, before a handler sees it."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from bot.http.errors import UnreadableRequest
from bot.http.request_body import (
    MAX_DEPTH,
    MAX_VALUES,
    decode_text,
    parse_form,
    parse_json_object,
    read_body,
    read_form,
)
from tests.bot.http.bounded_server import HttpLogRecord, open_raw, serve_bounded

SendRequest = Callable[[bytes], Awaitable[int | None]]
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"


async def _read_json(request: web.Request) -> web.Response:
    return web.json_response(parse_json_object(decode_text(await read_body(request, 1_000, timeout_s=0.2))))


async def _read_fields(request: web.Request) -> web.Response:
    return web.json_response(dict(await read_form(request, 1_000)))


@pytest.fixture
def recorded() -> HttpLogRecord:
    return HttpLogRecord()


@pytest.fixture
async def send(recorded: HttpLogRecord) -> AsyncIterator[SendRequest]:
    async with AsyncExitStack() as stack, asyncio.timeout(20):
        routes = [web.post("/", _read_json), web.post("/form", _read_fields), web.get("/", _read_json)]
        port = await stack.enter_async_context(serve_bounded(routes, log=recorded.log))

        async def send_request(request: bytes) -> int | None:
            connection = await stack.enter_async_context(open_raw(port))
            connection.send_bytes(request)
            return await connection.read_status()

        yield send_request


def post_of(body: bytes, *headers: bytes, path: bytes = b"/") -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST " + path + b" HTTP/1.1\r\nHost: a\r\n" + length + lines + b"\r\n" + body


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate", b"br", b"zstd", b"identity, gzip", b"odd"])
async def test_a_compressed_body_is_refused_and_never_unpacked(send: SendRequest, encoding: bytes) -> None:
    body = zlib.compress(bytes(10_000_000))

    assert await send(post_of(body, b"Content-Encoding: " + encoding)) == 415


async def test_a_body_that_is_not_encoded_is_read(send: SendRequest) -> None:
    assert await send(post_of(b"{}")) == 200
    assert await send(post_of(b"{}", b"Content-Encoding: identity")) == 200


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /?c=\xed\xa0\x80 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /?c=%ed%a0%80 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /?c=%00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /?c=%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nCookie: parley_web=\xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nOrigin: \xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
        post_of(b""),
        post_of(b"null"),
        post_of(b"[]"),
        post_of(b"\xff"),
        post_of(b'{"a": NaN}'),
        post_of(b'{"a": 1e999}'),
        post_of(b'{"a": ' + b"9" * 60 + b"}"),
        post_of(b'{"a": "\\ud800"}'),
        post_of(b'{"\\udfff": 1}'),
        post_of(b'{"a": ["\\u0000"]}'),
        post_of(b"[" * 900),
        post_of(b'{"a":' * 100 + b"1" + b"}" * 100),
        post_of(b"{}", b"Transfer-Encoding: chunked"),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        post_of(b"a=%ff", b"Content-Type: application/x-www-form-urlencoded", path=b"/form"),
        post_of(b"a=%00", b"Content-Type: application/x-www-form-urlencoded", path=b"/form"),
        post_of(b"a&" * 200, b"Content-Type: application/x-www-form-urlencoded", path=b"/form"),
    ],
)
async def test_what_is_no_text_and_no_json_is_a_bad_request(send: SendRequest, request_bytes: bytes) -> None:
    assert await send(request_bytes) == 400


async def test_a_header_that_nothing_reads_may_hold_any_bytes(send: SendRequest) -> None:
    assert await send(post_of(b"{}", b"X-City: M\xfcnchen")) == 200


@pytest.mark.parametrize(
    "content_type", [b"multipart/form-data", b"multipart/form-data; boundary=x", b"text/plain", b"\xff"]
)
async def test_a_form_of_another_encoding_is_unsupported(send: SendRequest, content_type: bytes) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="text"; filename="a.txt"\r\n\r\na\r\n--x--\r\n'

    assert await send(post_of(body, b"Content-Type: " + content_type, path=b"/form")) in (400, 415)


async def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_what_arrives(send: SendRequest) -> None:
    chunk = b"3e8\r\n" + b" " * 1_000 + b"\r\n"

    assert await send(HEAD + b"Content-Length: 2000\r\n\r\n") == 413
    assert await send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 2) == 413


async def test_a_body_that_does_not_arrive_is_refused(send: SendRequest) -> None:
    assert await send(HEAD + b"Content-Length: 20\r\n\r\n{") == 408


async def test_refusals_are_logged_without_anything_of_the_request(send: SendRequest, recorded: HttpLogRecord) -> None:
    await send(post_of(b'{"secret": NaN}'))

    assert recorded.lines == [{"level": "info", "event": "request refused", "status": 400, "reason": "no JSON"}]


def test_json_of_chat_products_is_read_as_it_is() -> None:
    payload = {"text": "😀 é", "number": 2**63, "share": 0.5, "none": None, "list": [{"a": [1, True]}]}

    assert parse_json_object(json.dumps(payload)) == payload
    assert parse_json_object(json.dumps(payload, ensure_ascii=False)) == payload


def test_nesting_is_bounded() -> None:
    deepest = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH

    assert parse_json_object(deepest[5:-1])
    with pytest.raises(UnreadableRequest, match="deep"):
        parse_json_object(deepest)


@pytest.mark.parametrize("value", ["1", "[]", "{}", '"a"'])
def test_the_number_of_values_is_bounded(value: str) -> None:
    def list_of(count: int) -> str:
        return f'{{"a": [{",".join([value] * count)}]}}'

    assert parse_json_object(list_of(MAX_VALUES - 2))
    with pytest.raises(UnreadableRequest, match="too many values"):
        parse_json_object(list_of(MAX_VALUES))
    assert parse_json_object(json.dumps({"text": "[," * MAX_VALUES}))


def test_a_form_is_read_with_its_empty_fields() -> None:
    assert parse_form("text=a+b%C3%A9&choice=&text=c") == {"text": "c", "choice": ""}
