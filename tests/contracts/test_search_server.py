"""What the client of a SearXNG relies on: a real SearXNG and the stand-in of the other tests behave the same."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest
import pytest_asyncio

from agent.web_search.web_results import WebResult
from bot.web_search.checkup import find_server_problem
from bot.web_search.errors import WebSearchUnavailable
from bot.web_search.searxng_client import open_searxng_client
from bot.web_search.settings import WebSearchSettings, WebUse
from tests.servers.searxng import ListedPagesEngine, SearxngServer
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng

_SERVERS = ["stand_in", pytest.param("real", marks=pytest.mark.servers)]
ACETONE = ListedPage(url="https://chem.example/acetone", title="Acetone", content="It boils at 56 °C.")
ETHANOL = ListedPage(url="https://chem.example/ethanol", title="Ethanol", content="It boils at 78 °C.")
LISTS_NOTHING = ListedPage(url="https://chem.example/", title="Water", content="", for_words=("water",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInTest:
    """A server, and what stands for the web behind it."""

    url: str
    engine: ListedPagesEngine | SearxngStandIn

    def list_pages(self, pages: Sequence[ListedPage]) -> None:
        self.engine.pages = list(pages)


@pytest_asyncio.fixture
async def stand_in() -> AsyncIterator[ServerInTest]:
    async with serve_searxng() as server:
        yield ServerInTest(url=server.url, engine=server)


@pytest_asyncio.fixture
async def stand_in_without_json() -> AsyncIterator[ServerInTest]:
    async with serve_searxng() as server:
        server.formats = ("html",)
        yield ServerInTest(url=server.url, engine=server)


@pytest.fixture
def real(real_searxng: SearxngServer) -> ServerInTest:
    real_searxng.engine.queries.clear()
    return ServerInTest(url=real_searxng.url, engine=real_searxng.engine)


@pytest.fixture
def real_without_json(real_searxng_without_json: SearxngServer) -> ServerInTest:
    return ServerInTest(url=real_searxng_without_json.url, engine=real_searxng_without_json.engine)


@pytest.fixture(params=_SERVERS)
def server(request: pytest.FixtureRequest) -> ServerInTest:
    return request.getfixturevalue(request.param)


@pytest.fixture(params=_SERVERS)
def server_without_json(request: pytest.FixtureRequest) -> ServerInTest:
    return request.getfixturevalue(f"{request.param}_without_json")


async def find_pages(server: ServerInTest, query: str, language: str = "en") -> tuple[WebResult, ...]:
    async with open_searxng_client(server.url) as client:
        return await client.find_pages(query, language)


async def search_failure(server: ServerInTest, query: str, language: str = "en") -> WebSearchUnavailable:
    with pytest.raises(WebSearchUnavailable) as failure:
        await find_pages(server, query, language)
    return failure.value


async def find_problem(server: ServerInTest) -> str | None:
    return await find_server_problem(WebSearchSettings(web=WebUse.ASK, searxng_url=server.url))


async def test_results_have_address_title_and_snippet_in_the_order_of_the_engine(server: ServerInTest) -> None:
    server.list_pages([ACETONE, ETHANOL])

    results = await find_pages(server, "boiling point of acetone")

    assert results == (
        WebResult(url=ACETONE.url, title=ACETONE.title, snippet=ACETONE.content),
        WebResult(url=ETHANOL.url, title=ETHANOL.title, snippet=ETHANOL.content),
    )


@pytest.mark.parametrize(
    "query",
    [
        'when was "Old Mill" built? (Bonn)',
        "Größe des Eiffelturms — Höhe in m²",
        "c++ & c# <b>100%</b> a+b;d=e?f#g",
        "灯台 高さ",
        "word " * 40,
    ],
)
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
async def test_the_words_of_a_query_reach_the_engine(server: ServerInTest, query: str, language: str) -> None:
    server.list_pages([ACETONE])
    server.engine.queries.clear()

    results = await find_pages(server, query, language)

    assert results == (WebResult(url=ACETONE.url, title=ACETONE.title, snippet=ACETONE.content),)
    [asked] = server.engine.queries
    assert asked.split() == [word.lstrip("<") for word in query.split()]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("!!g secret plan", "g secret plan"),
        ("!general :de <3 wetter", "general de 3 wetter"),
        ("!!:!en !! wetter!", "en wetter!"),
    ],
)
async def test_no_word_of_a_person_is_a_command_of_the_server(server: ServerInTest, query: str, words: str) -> None:
    server.list_pages([ACETONE])
    server.engine.queries.clear()

    results = await find_pages(server, query)

    assert len(results) == 1
    assert server.engine.queries == [words]


async def test_nothing_found_is_an_empty_list(server: ServerInTest) -> None:
    server.list_pages([LISTS_NOTHING])

    assert await find_pages(server, "acetone") == ()


async def test_bad_requests_are_refused_with_a_reason(server: ServerInTest) -> None:
    assert (await search_failure(server, "")).status == 400
    assert (await search_failure(server, "acetone", "no language")).status == 400


async def test_a_server_that_allows_only_html_is_explained(server_without_json: ServerInTest) -> None:
    failure = await search_failure(server_without_json, "acetone")

    assert (failure.status, "add json to search.formats" in failure.reason) == (403, True)
    assert await find_problem(server_without_json) == f"PARLEY_SEARXNG_URL: {failure.reason}"


async def test_doctor_is_content_with_a_server_that_answers(server: ServerInTest) -> None:
    assert await find_problem(server) is None
