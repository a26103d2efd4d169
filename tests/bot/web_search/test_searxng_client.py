"""The client of a SearXNG server: what it returns, and that whatever the server does is one plain reason."""

import json
from collections.abc import AsyncIterator

import pytest

from agent.web_search.web_results import WebResult
from bot.web_search.errors import WebSearchUnavailable
from bot.web_search.searxng_client import open_searxng_client
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng

ACETONE = ListedPage(url="https://chem.example/acetone", title="Acetone", content="It boils at 56 °C.")


@pytest.fixture
async def server() -> AsyncIterator[SearxngStandIn]:
    async with serve_searxng() as stand_in:
        yield stand_in


async def search_failure(server: SearxngStandIn, query: str = "acetone", language: str = "en") -> WebSearchUnavailable:
    async with open_searxng_client(server.url) as client:
        with pytest.raises(WebSearchUnavailable) as failure:
            await client.find_pages(query, language)
    return failure.value


async def test_results_are_returned_in_the_servers_order(server: SearxngStandIn) -> None:
    server.pages = [ACETONE, ListedPage(url="https://b.example/", title=" B\n\n b ", content="")]

    async with open_searxng_client(server.url) as client:
        results = await client.find_pages("boiling point acetone", "de")

    assert results == (
        WebResult(url="https://chem.example/acetone", title="Acetone", snippet="It boils at 56 °C."),
        WebResult(url="https://b.example/", title="B b", snippet=""),
    )
    assert (server.queries, server.languages) == (["boiling point acetone"], ["de"])


async def test_a_server_without_the_json_format_is_explained(server: SearxngStandIn) -> None:
    server.formats = ("html",)

    failure = await search_failure(server)

    assert (failure.status, "add json to search.formats" in failure.reason) == (403, True)


async def test_refused_requests_have_a_reason(server: SearxngStandIn) -> None:
    assert (await search_failure(server, "")).status == 400
    assert (await search_failure(server, language="no language")).status == 400
    server.max_requests = server.request_count
    assert (await search_failure(server)).status == 429


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"",
        b"[]",
        b"null",
        b'{"results": 3}',
        b"[" * 100_000,
        b'{"results": ["' + b"x" * 3_000_000 + b'"]}',
        b"\xff\xfe",
    ],
)
async def test_an_answer_that_is_no_list_of_results_is_a_failure(server: SearxngStandIn, answer: bytes) -> None:
    server.raw_answer = answer

    assert "answer" in (await search_failure(server)).reason


async def test_entries_that_are_no_pages_of_the_web_are_left_out(server: SearxngStandIn) -> None:
    odd_urls = ["file:///etc/passwd", "javascript:alert(1)", "http://user:pw@x.example/", "http://[", 7, None, "x" * 9]
    entries: list[object] = [{"url": url, "title": "T"} for url in odd_urls]
    entries += ["text", None, {"title": "no address"}, {"url": "http://a.example/", "title": ["T"], "content": 4}]
    server.raw_answer = json.dumps({"results": entries}).encode()

    async with open_searxng_client(server.url) as client:
        assert await client.find_pages("acetone") == (WebResult(url="http://a.example/", title="", snippet=""),)


async def test_redirects_of_the_server_are_not_followed(server: SearxngStandIn) -> None:
    server.location = "http://169.254.169.254/latest/meta-data"

    assert (await search_failure(server)).status == 302
    assert server.request_count == 1


async def test_a_server_that_is_down_or_broken_is_a_failure(server: SearxngStandIn) -> None:
    server.status = 500
    assert (await search_failure(server)).reason == "it answers 500"

    async with open_searxng_client("http://127.0.0.1:9") as client:
        with pytest.raises(WebSearchUnavailable, match="cannot be reached"):
            await client.find_pages("acetone")
