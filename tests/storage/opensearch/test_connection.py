"""The connection against a small fake server that fails in the ways of a real one."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import ClusterConnection, RequestRefused
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.opensearch.reading.query_steps import OpenSearchRequest
from storage.opensearch.writing import bulk
from storage.search.errors import IndexTimedOut, IndexUnavailable
from storage.search.ids import TenantId
from storage.text.snowball_analyser import analyser_for
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
async def a_connection(url: str) -> AsyncGenerator[ClusterConnection]:
    connection = ClusterConnection([url])
    try:
        yield connection
    finally:
        await connection.close()


def _scripted_handler(*responses: tuple[object, int]) -> tuple[Handler, list[str]]:
    """Returns a handler that sends these responses in order and then repeats the last one, and the received bodies."""
    bodies = list[str]()

    async def handler(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.text())
        body, status = responses[min(len(bodies), len(responses)) - 1]
        return web.json_response(body, status=status)

    return handler, bodies


async def test_a_request_to_a_busy_server_is_sent_again() -> None:
    handler, bodies = _scripted_handler((BUSY, 429), (BUSY, 429), ({"found": 1}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        assert await connection.send_request("GET", "/x") == {"found": 1}

    assert len(bodies) == 3


async def test_a_server_that_stays_busy_is_given_up_after_few_attempts() -> None:
    handler, bodies = _scripted_handler((BUSY, 429))
    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(RequestRefused, match="queue full"):
            await connection.send_request("GET", "/x")

    assert len(bodies) == 4


async def test_a_full_disk_raises_without_a_retry() -> None:
    handler, bodies = _scripted_handler((BLOCKED, 429))
    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(IndexUnavailable, match="disk full"):
            await connection.send_request("GET", "/x")

    assert len(bodies) == 1


async def test_a_multi_search_with_one_busy_part_is_sent_again_as_a_whole() -> None:
    shards, no_hits = {"total": 1, "successful": 1, "failed": 0}, list[str]()
    complete_response = {"timed_out": False, "_shards": shards, "hits": {"hits": no_hits}}
    handler, bodies = _scripted_handler(
        ({"responses": [complete_response, BUSY]}, 200), ({"responses": [complete_response, complete_response]}, 200)
    )
    async with a_server(handler) as url, a_connection(url) as connection:
        catalogue = BucketCatalogue(connection=connection, names=IndexNames(TenantId("t")), analysers=analyser_for)
        assert len(await catalogue.run_multi_search([OpenSearchRequest(indexes=("i",), body={})] * 2)) == 2

    assert len(bodies) == 2
    assert bodies[0].count('"allow_partial_search_results": false') == 2


async def test_a_search_that_names_no_index_is_never_sent() -> None:
    handler, bodies = _scripted_handler(({}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        catalogue = BucketCatalogue(connection=connection, names=IndexNames(TenantId("t")), analysers=analyser_for)
        with pytest.raises(ValueError, match="names no index"):
            await catalogue.run_multi_search([OpenSearchRequest(indexes=(), body={})])

    assert bodies == []


async def test_only_the_writes_with_a_transient_refusal_are_sent_again() -> None:
    done, busy = {"index": {"status": 201}}, {"index": BUSY}
    handler, bodies = _scripted_handler(({"items": [done, busy, done]}, 200), ({"items": [done]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        actions = [bulk.index_entry_action("i", f"entry{number}", "{}", routing="r") for number in range(3)]
        assert await bulk.write_bulk_actions(connection, actions) == [None, None, None]

    assert [body.count("entry") for body in bodies] == [3, 1]
    assert "entry1" in bodies[1]


async def test_a_claim_is_sent_while_as_many_bulks_of_documents_are_under_way_as_may_be() -> None:
    handler, bodies = _scripted_handler(({"items": [{"create": {"status": 201}}]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection, AsyncExitStack() as held_slots:
        for _ in range(connection.bulk_slots.limit):
            await held_slots.enter_async_context(connection.bulk_slots.hold_slot(1))

        claim = bulk.claim_registry_entry_action("registry", "doc:1", {"bucket": "b"})
        assert await bulk.claim_registry_entries(connection, [claim]) == [None]

    assert len(bodies) == 1


async def test_a_permanent_refusal_of_a_write_is_returned() -> None:
    refused_item = {"index": {"status": 400, "error": {"type": "strict_dynamic_mapping_exception", "reason": "x"}}}
    handler, _ = _scripted_handler(({"items": [refused_item]}, 200))
    async with a_server(handler) as url, a_connection(url) as connection:
        (refusal,) = await bulk.write_bulk_actions(connection, [bulk.index_entry_action("i", "e", "{}", routing="r")])

    assert refusal is not None
    assert refusal.error_type == "strict_dynamic_mapping_exception"


async def test_a_slow_server_raises_a_timeout_and_the_request_is_not_repeated() -> None:
    paths, client_gave_up = list[str](), asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        await client_gave_up.wait()
        return web.json_response({})

    async with a_server(handler) as url, a_connection(url) as connection:
        with pytest.raises(IndexTimedOut):
            await connection.send_request("GET", "/x", timeout_s=0.2)
        client_gave_up.set()

    assert paths == ["/x"]


async def _open_index(url: str) -> OpenSearchIndex:
    return await OpenSearchIndex.open([url], tenant=TenantId("t"), analysers=analyser_for, embedder=None)


async def test_the_error_names_an_address_that_does_not_answer() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(IndexUnavailable, match=url):
        await _open_index(url)


@pytest.mark.parametrize(
    "answer",
    [
        {"hello": "world"},
        {"version": {"number": "8.1.0"}},
        {"version": {"number": "2.19", "distribution": "opensearch"}},
    ],
)
async def test_a_server_other_than_opensearch_3_is_refused(answer: dict[str, object]) -> None:
    handler, _ = _scripted_handler((answer, 200))
    async with a_server(handler) as url:
        with pytest.raises(IndexUnavailable, match="not OpenSearch 3"):
            await _open_index(url)


async def test_a_server_that_sends_a_web_page_is_refused() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>hello</html>", content_type="text/html")

    async with a_server(handler) as url:
        with pytest.raises(IndexUnavailable):
            await _open_index(url)
