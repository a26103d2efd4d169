"""Confluence as a source, over a strict stand-in: pages, restrictions and those of the pages above, and failures."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.rest.confluence_source import ConfluenceSite, ConfluenceSource, open_confluence
from storage.ingest.sources.rest.json_client import HeaderCredential
from storage.ingest.sources.source import FetchedItem, SourceItem, UnchangedItem
from storage.search.ids import Subject
from storage.search.subjects import NOBODY, email_subject_for
from tests.stand_ins.list_interface import (
    CONFLUENCE_TOKEN,
    CONFLUENCE_USER,
    ConfluencePage,
    ConfluenceStandIn,
    serve_confluence,
)

MARA, OLA = ("557058:mara", "mara@mills.example"), ("557058:ola", "ola@mills.example")
HIDDEN = ("557058:hidden", "")  # a person whose profile shows no address
MAPPING = PrincipalMapping({"group:staff": Subject("group:employees")})


@pytest.fixture
async def wiki() -> AsyncIterator[ConfluenceStandIn]:
    async with serve_confluence() as served:
        yield served


@asynccontextmanager
async def open_source(
    wiki: ConfluenceStandIn, *spaces: str, token: str = CONFLUENCE_TOKEN
) -> AsyncGenerator[ConfluenceSource]:
    site = ConfluenceSite(url=wiki.url, spaces=spaces, principals=MAPPING)
    credential = HeaderCredential(secret=SecretStr(token), user=CONFLUENCE_USER)
    async with open_confluence(site, credential, allow_private=True) as source:
        yield source


async def list_items(wiki: ConfluenceStandIn, *spaces: str, token: str = CONFLUENCE_TOKEN) -> list[SourceItem]:
    async with open_source(wiki, *spaces, token=token) as source:
        return [item async for item in source.list_items()]


async def fetch_pages(wiki: ConfluenceStandIn, folder: Path) -> dict[str, FetchedItem]:
    pages: dict[str, FetchedItem] = {}
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    async with open_source(wiki) as source:
        async for item in source.list_items():
            fetched = await source.fetch_item(item, "", folder)
            assert isinstance(fetched, FetchedItem)
            pages[item.id] = fetched
    return pages


async def readers_by_page(wiki: ConfluenceStandIn, folder: Path) -> dict[str, frozenset[Subject]]:
    return {page: fetched.readers for page, fetched in (await fetch_pages(wiki, folder)).items()}


# -- pages


async def test_the_pages_of_all_spaces_or_of_some_are_listed(wiki: ConfluenceStandIn) -> None:
    wiki.pages["HR"] = {str(number): ConfluencePage(title=f"Page {number}") for number in range(1, 6)}
    wiki.pages["IT"] = {"9": ConfluencePage(title="Printers")}

    assert [item.id for item in await list_items(wiki)] == ["1", "2", "3", "4", "5", "9"]
    assert [item.id for item in await list_items(wiki, "IT")] == ["9"]


async def test_a_page_becomes_html_with_its_title_its_space_and_a_link(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    body = (
        '<h2>Leave</h2><p>30 days &amp; more</p><ac:structured-macro ac:name="code"><ac:parameter ac:name="language">'
        "sql</ac:parameter><ac:plain-text-body><![CDATA[a < b]]></ac:plain-text-body></ac:structured-macro>"
    )
    wiki.pages["HR"] = {"7": ConfluencePage(title="Days <off>", body=body)}

    page = (await fetch_pages(wiki, tmp_path))["7"]

    assert (page.title, page.link) == ("Days <off>", f"{wiki.url}/spaces/HR/pages/7")
    assert page.fields == {"space": "HR", "updated": "2026-11-02"}
    html = page.path.read_text()
    assert "<h1>Days &lt;off&gt;</h1><h2>Leave</h2>" in html
    assert "<pre><code>a &lt; b</code></pre>" in html
    assert "sql" not in html


async def test_an_unchanged_page_keeps_its_version_and_a_changed_one_does_not(
    wiki: ConfluenceStandIn, tmp_path: Path
) -> None:
    wiki.pages["HR"] = {"1": ConfluencePage(title="Leave"), "2": ConfluencePage(title="Pay")}
    fetched, before = await fetch_pages(wiki, tmp_path), await list_items(wiki)

    wiki.pages["HR"]["2"] = ConfluencePage(title="Pay", body="<p>more</p>", version=2)

    async with open_source(wiki) as source:
        after = [item async for item in source.list_items()]
        unchanged = await source.fetch_item(after[0], fetched["1"].cursor, tmp_path)
    assert [item.version == other.version for item, other in zip(before, after, strict=True)] == [True, False]
    assert isinstance(unchanged, UnchangedItem)


# -- who may read them


async def test_the_readers_of_a_page_are_those_of_its_restriction(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    wiki.pages["HR"] = {
        "1": ConfluencePage(title="Open"),
        "2": ConfluencePage(title="Some", users=(MARA, HIDDEN), groups=("staff", "strangers")),
        "3": ConfluencePage(title="Unknown", users=(HIDDEN,), groups=("strangers",)),
    }

    assert await readers_by_page(wiki, tmp_path) == {
        "1": frozenset(),
        "2": {email_subject_for(MARA[1]), "group:employees"},
        "3": {NOBODY},
    }


async def test_a_page_is_restricted_by_all_pages_above_it(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    wiki.pages["HR"] = {
        "1": ConfluencePage(title="Top", users=(MARA, OLA)),
        "2": ConfluencePage(title="Middle", parent="1"),
        "3": ConfluencePage(title="Low", parent="2", users=(OLA, HIDDEN)),
        "4": ConfluencePage(title="Lowest", parent="3", users=(MARA,)),
    }

    readers = await readers_by_page(wiki, tmp_path)

    assert readers["2"] == readers["1"] == {email_subject_for(MARA[1]), email_subject_for(OLA[1])}
    assert readers["3"] == {email_subject_for(OLA[1])}
    assert readers["4"] == {NOBODY}


async def test_a_restriction_of_a_folder_above_counts_too(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    wiki.folders["50"] = ConfluencePage(title="Folder", users=(MARA,))
    wiki.pages["HR"] = {
        "1": ConfluencePage(title="In a folder", parent="50", parent_type="folder"),
        "2": ConfluencePage(title="Below", parent="1"),
    }

    assert await readers_by_page(wiki, tmp_path) == {page: {email_subject_for(MARA[1])} for page in ("1", "2")}


async def test_a_hidden_restriction_admits_nobody(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    wiki.pages["HR"] = {"1": ConfluencePage(title="Leave"), "2": ConfluencePage(title="Below", parent="1")}
    wiki.broken_restrictions["1"] = 403

    assert await readers_by_page(wiki, tmp_path) == {"1": {NOBODY}, "2": {NOBODY}}


async def test_another_restriction_gives_a_page_another_version(wiki: ConfluenceStandIn, tmp_path: Path) -> None:
    wiki.pages["HR"] = {"1": ConfluencePage(title="Pay", users=(MARA,))}
    fetched, [before] = (await fetch_pages(wiki, tmp_path))["1"], await list_items(wiki)

    wiki.pages["HR"]["1"].users = (OLA,)

    async with open_source(wiki) as source:
        [after] = [item async for item in source.list_items()]
        await asyncio.to_thread((tmp_path / "later").mkdir)
        changed = await source.fetch_item(after, fetched.cursor, tmp_path / "later")
    assert after.version != before.version
    assert isinstance(changed, FetchedItem)
    assert changed.readers == {email_subject_for(OLA[1])}


# -- failures


async def test_a_page_whose_restriction_cannot_be_had_now_is_left_out_of_an_incomplete_listing(
    wiki: ConfluenceStandIn,
) -> None:
    wiki.pages["HR"] = {
        "1": ConfluencePage(title="Leave"),
        "2": ConfluencePage(title="Pay"),
        "3": ConfluencePage(title="Below", parent="2"),
    }
    wiki.broken_restrictions["2"] = 418
    ids: list[str] = []

    async def collect() -> None:
        async with open_source(wiki) as source:
            async for item in source.list_items():
                ids.append(item.id)

    with pytest.raises(ListingFailed, match="who may read 2 of its pages could not be found out"):
        await collect()
    assert ids == ["1"]


async def test_a_wrong_token_is_explained_without_showing_it(wiki: ConfluenceStandIn) -> None:
    with pytest.raises(ListingFailed) as caught:
        await list_items(wiki, token="wrong secret")

    assert caught.value.reason == "the site refuses access (401); give another password or token"


async def test_a_space_that_is_not_there_makes_the_listing_incomplete(wiki: ConfluenceStandIn) -> None:
    wiki.pages["HR"] = {"1": ConfluencePage(title="Leave")}

    with pytest.raises(ListingFailed, match="there is no space XX that the user may see"):
        await list_items(wiki, "HR", "XX")


async def test_a_throttled_request_is_sent_again(wiki: ConfluenceStandIn) -> None:
    wiki.pages["HR"] = {"1": ConfluencePage(title="Leave")}
    wiki.next_responses = [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"})]

    assert [item.id for item in await list_items(wiki)] == ["1"]
