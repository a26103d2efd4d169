"""The connection against a small server of our own, which fails in the ways that a real one does on bad days."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from storage.analysis import analyser_for
from storage.opensearch import bulk
from storage.opensearch.asking import Ask
from storage.opensearch.catalogue import Catalogue
from storage.opensearch.connection import Connection, Refused
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.layout import Names
from storage.search.errors import IndexTimedOut, IndexUnavailable
from storage.search.ids import TenantId
from tests.servers.process import free_port

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
BUSY = {"error": {"type": "rejected_execution_exception", "reason": "queue full"}, "status": 429}
BLOCKED = {"error": {"type": "cluster_block_exception", "reason": "disk full"}, "status": 429}


@asynccontextmanager
async def a_server(handler: Handler) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


@asynccontextmanager
async def a_connection(url: str) -> AsyncGenerator[Connection]:
    connection = Connection([url], user=None, password=None, ca=None)
    try:
        yield connection
    finally:
        await connection.close()


def _answers(*answers: tuple[object, int]) -> tuple[Handler, list[str]]:
    """Gives these one after the other, then the last one for ever; and what was asked."""
    asked = list[str]()

    async def handler(request: web.Request) -> web.StreamResponse:
        asked.append(await request.text())
        body, status = answers[min(len(asked), len(answers)) - 1]
        return web.json_response(body, status=status)

    return handler, asked


async def test_a_busy_server_is_asked_again() -> None:
    handler, asked = _answers((BUSY, 429), (BUSY, 429), ({"found": 1}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        assert await connection.call("GET", "/x") == {"found": 1}

    assert len(asked) == 3


async def test_a_server_that_stays_busy_is_given_up_after_few_attempts() -> None:
    handler, asked = _answers((BUSY, 429))
    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(Refused, match="queue full"):
            await connection.call("GET", "/x")

    assert len(asked) == 4


async def test_a_full_disk_is_told_at_once() -> None:
    handler, asked = _answers((BLOCKED, 429))
    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(IndexUnavailable, match="disk full"):
            await connection.call("GET", "/x")

    assert len(asked) == 1


async def test_a_search_that_is_busy_in_one_part_is_asked_again_as_a_whole() -> None:
    shards, none = {"total": 1, "successful": 1, "failed": 0}, list[str]()
    whole = {"timed_out": False, "_shards": shards, "hits": {"hits": none}}
    handler, asked = _answers(({"responses": [whole, BUSY]}, 200), ({"responses": [whole, whole]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        catalogue = Catalogue(connection=connection, names=Names(TenantId("t")), analysers=analyser_for)
        assert len(await catalogue.search([Ask(indexes=("i",), body={})] * 2)) == 2

    assert len(asked) == 2
    assert asked[0].count('"allow_partial_search_results": false') == 2


async def test_a_search_that_names_no_index_is_never_sent() -> None:
    handler, asked = _answers(({}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        catalogue = Catalogue(connection=connection, names=Names(TenantId("t")), analysers=analyser_for)
        with pytest.raises(ValueError, match="names no index"):
            await catalogue.search([Ask(indexes=(), body={})])

    assert asked == []


async def test_only_the_writes_that_were_refused_for_now_are_sent_again() -> None:
    done, busy = {"index": {"status": 201}}, {"index": BUSY}
    handler, asked = _answers(({"items": [done, busy, done]}, 200), ({"items": [done]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        actions = [bulk.index("i", f"entry{at}", {}, routing="r") for at in range(3)]
        assert await bulk.write(connection, actions) == [None, None, None]

    assert [one.count("entry") for one in asked] == [3, 1]
    assert "entry1" in asked[1]


async def test_a_write_that_is_refused_for_good_is_told() -> None:
    bad = {"index": {"status": 400, "error": {"type": "strict_dynamic_mapping_exception", "reason": "x"}}}
    handler, _ = _answers(({"items": [bad]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        (refused,) = await bulk.write(connection, [bulk.index("i", "e", {}, routing="r")])

    assert refused is not None
    assert refused.kind == "strict_dynamic_mapping_exception"


async def test_a_slow_server_is_a_timeout_and_is_not_asked_again() -> None:
    asked, given_up = list[str](), asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        await given_up.wait()
        return web.json_response({})

    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(IndexTimedOut):
            await connection.call("GET", "/x", timeout_s=0.2)
        given_up.set()

    assert asked == ["/x"]


async def _opened(url: str) -> OpenSearchIndex:
    return await OpenSearchIndex.open([url], tenant=TenantId("t"), analysers=analyser_for, embedder=None)


async def test_an_address_where_nothing_answers_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(IndexUnavailable, match=url):
        await _opened(url)


@pytest.mark.parametrize(
    "answer",
    [
        {"hello": "world"},
        {"version": {"number": "8.1.0"}},
        {"version": {"number": "2.19", "distribution": "opensearch"}},
    ],
)
async def test_another_server_is_not_taken_for_opensearch_3(answer: dict[str, object]) -> None:
    handler, _ = _answers((answer, 200))
    async with a_server(handler) as url:
        with pytest.raises(IndexUnavailable, match="not OpenSearch 3"):
            await _opened(url)


async def test_a_web_page_is_no_index() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>hello</html>", content_type="text/html")

    async with a_server(handler) as url:
        with pytest.raises(IndexUnavailable):
            await _opened(url)
