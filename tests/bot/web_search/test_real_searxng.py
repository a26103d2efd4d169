"""The web fallback with a real SearXNG, from the question to the marked answer."""

import pytest

from tests.bot.conftest import ConversationDriver
from tests.bot.web_search.conftest import BOILING, WEB_NOTE, BotOpener, ask_once
from tests.servers.searxng import SearxngServer
from tests.stand_ins.searxng import ListedPage
from tests.stand_ins.site import WebSite

pytestmark = pytest.mark.servers


def list_page(server: SearxngServer, site: WebSite, path: str, title: str, content: str) -> None:
    server.engine.queries.clear()
    server.engine.pages = [ListedPage(url=f"{site.url}{path}", title=title, content=content)]


async def test_a_question_is_answered_from_a_page_that_the_server_found(
    open_bot: BotOpener, real_searxng: SearxngServer, site: WebSite
) -> None:
    list_page(real_searxng, site, "/acetone", "Acetone", "Its boiling point is 56 °C.")

    async with open_bot("auto", PARLEY_SEARXNG_URL=real_searxng.url) as bot:
        result = await ask_once(bot, BOILING)

    assert result["text"] == f"{WEB_NOTE}\n\n“The boiling point of acetone is 56 °C.” [1]"
    assert (result["web"]["status"], result["web"]["urls_found"]) == ("complete", 1)
    assert result["citations"][0]["url"] == f"{site.url}/acetone"
    assert real_searxng.engine.queries == ["boiling point acetone"]


async def test_a_follow_up_is_searched_with_the_subject_of_the_page(
    open_bot: BotOpener, real_searxng: SearxngServer, site: WebSite
) -> None:
    list_page(real_searxng, site, "/tower", "Eiffel Tower", "How tall it is, and when its first lift was installed.")

    async with open_bot("auto", PARLEY_SEARXNG_URL=real_searxng.url) as bot:
        driver = ConversationDriver(bot)
        await driver.ask_question("How tall is the Eiffel Tower?")
        followed = await driver.ask_question("And when was its first lift installed?")

    assert "installed in 1889" in followed.result["text"]
    assert real_searxng.engine.queries == ["tall Eiffel Tower", "Eiffel Tower first lift installed"]


async def test_nothing_found_there_is_said(open_bot: BotOpener, real_searxng: SearxngServer) -> None:
    real_searxng.engine.pages = []

    async with open_bot("auto", PARLEY_SEARXNG_URL=real_searxng.url) as bot:
        result = await ask_once(bot, BOILING)

    assert (result["outcome"], result["web"]["status"]) == ("no_results", "nothing_found")
    assert "I found nothing on the web that answers this either." in result["text"]
