"""The web in every product: offered where the documents do not know, marked, and without a word of the documents."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from storage.search.ids import BucketId
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import BotSetup, ChatOffice, ChatProduct
from tests.scenarios.surfaces.selection import needs
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site
from tests.storage.ingest.runs import ingest_with_rules

BOILING = "What is the boiling point of acetone?"
BUTTON = "Search the web"
HANDBOOK, SECRETS = BucketId("handbook"), BucketId("secrets")
FOLDERS: Mapping[BucketId, str] = {
    HANDBOOK: "# Office handbook\n\nThe office in Bonn opens at eight.\n",
    SECRETS: "# Plans\n\nThe project Merlin buys the company Falcongate in May.\n",
}


@asynccontextmanager
async def open_web_office(
    product: ChatProduct, folder: Path, web: str
) -> AsyncGenerator[tuple[ChatOffice, SearxngStandIn, WebSite]]:
    """An office with a handbook that everyone in `general` may see, and secrets that nobody may see."""
    async with serve_searxng() as server, serve_web_site() as site:
        page = "<title>Acetone</title><p>The boiling point of acetone is 56 °C.</p>"
        site.pages["/acetone"] = PageResponse(text=page, type="text/html")
        server.pages = [ListedPage(url=f"{site.url}/acetone", title="Acetone", content="Boiling point: 56 °C")]
        environ = {"PARLEY_WEB": web, "PARLEY_SEARXNG_URL": server.url, "PARLEY_WEB_NETWORKS": "127.0.0.0/8"}
        async with product.connect_bot(folder / "home", BotSetup(environ=environ)) as office:
            for bucket, text in FOLDERS.items():
                path = folder / f"{bucket}.md"
                path.write_text(text)
                await ingest_with_rules(office.bot.index, [path], bucket=bucket)
            await office.grant(HANDBOOK, office.general)
            yield office, server, site


async def test_a_click_on_the_button_answers_from_the_web_with_a_marked_source(
    product: ChatProduct, tmp_path: Path
) -> None:
    async with open_web_office(product, tmp_path, "ask") as (office, server, site):
        asked = await office.ask(BOILING)
        queries_before = [*server.queries]
        answer = await office.click(asked, BUTTON, by=office.colleague)

    assert asked.find_choice(BUTTON).count is None
    assert queries_before == []
    assert "This is from the web" in answer.text
    assert "The boiling point of acetone is 56 °C." in answer.text
    assert "(web, 127.0.0.1, fetched 20" in answer.text
    assert f"{site.url}/acetone" in {link.partition("#")[0] for link in answer.links} | {*answer.text.split()}


async def test_a_server_that_fails_is_one_sentence(product: ChatProduct, tmp_path: Path) -> None:
    async with open_web_office(product, tmp_path, "auto") as (office, server, _):
        server.formats = ("html",)
        answer = await office.ask(BOILING)

    assert "The web could not be searched right now." in answer.text
    assert "I did not find an answer" in answer.text
    assert "403" not in answer.text


@needs(SurfaceAbility.CHANNELS)
async def test_no_word_of_a_confined_document_is_sent_or_shown(product: ChatProduct, tmp_path: Path) -> None:
    async with open_web_office(product, tmp_path, "auto") as (office, server, _):
        answers = [
            await office.ask("Which company does the project Merlin buy?"),
            await office.ask(BOILING, place=office.private_place_of(office.bob), by=office.bob),
        ]

    sent, shown = " ".join(server.queries).casefold(), " ".join(answer.text for answer in answers)
    assert "merlin" in sent  # the person's own word
    assert not any(word in sent or word in shown for word in ("falcongate", "Falcongate", "plans", "handbook"))
    assert not any(BOILING in query or "acetone" in query for query in server.queries)  # Bob may see no documents
    assert "56 °C" not in answers[1].text
