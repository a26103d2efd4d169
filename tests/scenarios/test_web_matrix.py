"""The permission matrix of the web: what a search of it sends, shows and keeps.

Audience x leak, with the marked bucket beside pages of the web. Nothing of what somebody may not see is shown, or sent
to the search server; nothing of what they may see is sent, either. A page that was fetched for somebody is shown by
another search of the web alone.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import MissingBucket
from bot.ids import EVERYONE, OPERATOR
from bot.web_search.web_pages import WEB_BUCKET, web_doc_id_of
from storage.sql.web_page_store import WebPageStore
from tests.scenarios.matrix.marked_buckets import OPEN, SECRET, WEB_MARK, marks_in, put_both_buckets
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import BotSetup, ChatOffice, ChatProduct, ShownAnswer
from tests.scenarios.surfaces.selection import needs
from tests.scenarios.test_permission_matrix import LEAKS
from tests.stand_ins.searxng import ListedPage, SearxngStandIn, serve_searxng
from tests.stand_ins.site import PageResponse, serve_web_site

WEB_QUESTION = LEAKS["web page"]
BUTTON = "Search the web"
UNANSWERED = "Which merchant hunts in Norway?"


@asynccontextmanager
async def open_matrix_office(
    product: ChatProduct, folder: Path, web: str
) -> AsyncGenerator[tuple[ChatOffice, SearxngStandIn, str]]:
    """With the search server and the address of its page. Everyone may see the open bucket; nobody the marked one."""
    async with serve_searxng() as server, serve_web_site() as site:
        page = f"<title>Ospreys</title><p>The wingspan of the osprey is 160 cm, says {WEB_MARK}.</p>"
        site.pages["/ospreys"] = PageResponse(text=page, type="text/html")
        address = f"{site.url}/ospreys"
        server.pages = [ListedPage(url=address, title="Ospreys", content="The wingspan of the osprey")]
        environ = {"PARLEY_WEB": web, "PARLEY_SEARXNG_URL": server.url, "PARLEY_WEB_NETWORKS": "127.0.0.0/8"}
        async with product.connect_bot(folder / "home", BotSetup(environ=environ)) as office:
            await put_both_buckets(office.bot)
            await office.bot.administration.grant_bucket(OPEN, EVERYONE, by=OPERATOR)
            yield office, server, address


def told_by(*answers: ShownAnswer) -> list[str]:
    """Everything that people see of these answers."""
    return [
        text
        for answer in answers
        for text in (
            answer.text,
            *(choice.label for choice in answer.choices),
            *answer.links,
            *(" ".join(row) for table in answer.tables for row in table),
        )
    ]


@pytest.mark.parametrize("web", ["auto", "ask"])
@needs(SurfaceAbility.CHANNELS)
async def test_who_may_not_see_a_bucket_is_told_nothing_of_it_by_the_web(
    product: ChatProduct, tmp_path: Path, web: str
) -> None:
    async with open_matrix_office(product, tmp_path, web) as (office, server, _):
        await office.grant(SECRET, office.private_place_of(office.ada))
        places = [(office.bob, office.private_place_of(office.bob)), (office.ada, office.general)]
        told: list[str] = []
        for person, place in places:
            for question in LEAKS.values():
                answer = await office.ask(question, by=person, place=place)
                told += told_by(answer)
                if any(choice.label == BUTTON for choice in answer.choices):
                    told += told_by(await office.click(answer, BUTTON, by=person))

    assert marks_in(told) == {WEB_MARK}
    assert marks_in(server.queries) == set()
    assert server.queries != []


@needs(SurfaceAbility.CHANNELS)
async def test_what_somebody_may_see_is_shown_and_never_sent(product: ChatProduct, tmp_path: Path) -> None:
    async with open_matrix_office(product, tmp_path, "auto") as (office, server, _):
        own_place = office.private_place_of(office.ada)
        await office.grant(SECRET, own_place)
        answers = [await office.ask(question, place=own_place) for question in (*LEAKS.values(), UNANSWERED)]

    assert marks_in(told_by(*answers)) >= {"goshawkclause", "gyrfalcon", "harrierfirm", WEB_MARK}
    assert marks_in(server.queries) == set()
    assert server.queries != []


@needs(SurfaceAbility.CHANNELS)
async def test_the_button_below_an_answer_of_before_searches_nothing_for_who_has_lost_the_bucket(
    product: ChatProduct, tmp_path: Path
) -> None:
    async with open_matrix_office(product, tmp_path, "ask") as (office, server, _):
        await office.bot.administration.revoke_grant(OPEN, EVERYONE, by=OPERATOR)
        subject = office.driver.subject_of(office.general)
        assert subject is not None
        await office.grant(SECRET, office.general)
        offer = await office.ask(WEB_QUESTION)
        await office.bot.administration.revoke_grant(SECRET, subject, by=OPERATOR)
        answer = await office.click(offer, BUTTON, by=office.bob)

    assert marks_in(told_by(answer)) == set()
    assert server.queries == []


@needs(SurfaceAbility.CHANNELS)
async def test_a_page_that_was_fetched_is_shown_by_another_search_of_the_web_alone(
    product: ChatProduct, tmp_path: Path
) -> None:
    async with open_matrix_office(product, tmp_path, "ask") as (office, server, address):
        own_place, others_place = (office.private_place_of(person) for person in (office.ada, office.bob))
        fetched = await office.click(await office.ask(WEB_QUESTION, place=own_place), BUTTON)
        kept = await WebPageStore(office.bot.database).load_pages([web_doc_id_of(address)])
        with pytest.raises(MissingBucket):
            await office.bot.administration.grant_bucket(WEB_BUCKET, EVERYONE, by=OPERATOR)
        await office.bot.grants.grant_bucket_access(WEB_BUCKET, EVERYONE, by=OPERATOR)
        told = told_by(
            *[
                await office.ask(question, by=person, place=place)
                for person, place in ((office.bob, others_place), (office.ada, own_place), (office.ada, office.lobby))
                for question in (
                    WEB_QUESTION,
                    "List every web page",
                    f"How many documents are there in {WEB_BUCKET}?",
                    f"List everything in {WEB_BUCKET} as CSV",
                    "Summarise every web page about ospreys",
                )
            ]
        )
        files = [file.content.decode(errors="replace") for file in await office.list_files()]
        query_count = len(server.queries)
        again = await office.click(
            await office.ask(WEB_QUESTION, by=office.bob, place=others_place), BUTTON, by=office.bob
        )

    assert [page.url for page in kept] == [address]
    assert marks_in(told_by(fetched)) == marks_in(told_by(again)) == {WEB_MARK}
    assert WEB_MARK not in marks_in([*told, *files])
    assert query_count == 1
