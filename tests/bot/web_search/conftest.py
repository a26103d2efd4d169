"""A bot with documents, a search server and a site with pages that the documents do not know."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any as Json

import pytest

from agent.reasoner import Reasoner
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.settings import load_settings
from storage.ingest.sources.web_page import WebPageFetcher
from storage.search.ids import EVERYONE, BucketId
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site
from tests.storage.ingest.runs import ingest_with_rules

HTML = "text/html; charset=utf-8"
HANDBOOK = "# Office handbook\n\nThe office in Bonn opens at eight. The project Nightjar is run by Ada Finch.\n"
INVOICES = "number,vendor,total,date\n" + "".join(
    f"I-{n},{vendor},{n * 10} EUR,2024-03-{n:02}\n" for n, vendor in enumerate(["Acme", "Bolt", "Acme", "Crane"], 1)
)
BOILING = "What is the boiling point of acetone?"
ACETONE_PAGE = "<title>Acetone - ChemWiki</title><h1>Acetone</h1><p>The boiling point of acetone is 56 °C.</p>"
TOWER_PAGE = (
    "<title>Eiffel Tower | Facts</title><h1>Eiffel Tower</h1><p>The Eiffel Tower is 330 metres tall.</p>"
    "<p>The first lift of the Eiffel Tower was installed in 1889.</p>"
)
WEB_NOTE = "_Your documents do not answer this. This is from the web:_"

BotOpener = Callable[..., AbstractAsyncContextManager[Application]]


@pytest.fixture
async def searxng() -> AsyncIterator[SearxngStandIn]:
    async with serve_searxng() as server:
        yield server


@pytest.fixture
async def site(searxng: SearxngStandIn) -> AsyncIterator[WebSite]:
    """A site with two pages that the search server lists."""
    async with serve_web_site() as web_site:
        web_site.pages["/acetone"] = PageResponse(text=ACETONE_PAGE, type=HTML)
        web_site.pages["/tower"] = PageResponse(text=TOWER_PAGE, type=HTML)
        searxng.pages = [
            ListedPage(url=f"{web_site.url}/acetone", title="Acetone", content="Its boiling point is 56 °C."),
            ListedPage(url=f"{web_site.url}/tower", title="Eiffel Tower", content="How tall it is, and its lift."),
        ]
        yield web_site


@pytest.fixture
def open_bot(tmp_path: Path, searxng: SearxngStandIn, clock: Clock) -> BotOpener:
    @asynccontextmanager
    async def opener(web: str, reasoner: Reasoner | None = None, **environ: str) -> AsyncGenerator[Application]:
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / "handbook.md").write_text(HANDBOOK)
        (tmp_path / "invoices.csv").write_text(INVOICES)
        names = {"PARLEY_WEB": web, "PARLEY_SEARXNG_URL": searxng.url, "PARLEY_EMBEDDER": "none", **environ}
        fetcher = WebPageFetcher(
            is_allowed_address=lambda address: address == "127.0.0.1", page_timeout=timedelta(seconds=5)
        )
        settings = load_settings(tmp_path / "home", names).settings
        async with open_application(settings, web_fetcher=fetcher, clock=clock, reasoner=reasoner) as bot:
            await ingest_with_rules(bot.index, [tmp_path / "docs"], bucket=BucketId("handbook"))
            await ingest_with_rules(bot.index, [tmp_path / "invoices.csv"], bucket=BucketId("invoices"))
            for bucket in ("handbook", "invoices"):
                await bot.administration.grant_bucket(BucketId(bucket), EVERYONE, by=OPERATOR)
            yield bot

    return opener


async def ask_once(bot: Application, question: str, conversation: str = "c1") -> Mapping[str, Json]:
    return (await ConversationDriver(bot, conversation=conversation).ask_question(question)).result


def kinds_of(result: Mapping[str, Json]) -> list[str]:
    return [choice["kind"] for choice in result["choices"]]
