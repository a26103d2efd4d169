"""A list interface as a source: paging, what counts as complete, where the token goes, and who may read an item."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.rest.item_paths import InvalidPath, ItemPaths, ListPath, ValuePath
from storage.ingest.sources.rest.json_client import HeaderCredential
from storage.ingest.sources.rest.paging import LinkPaging, OffsetPaging, Paging, PathPaging
from storage.ingest.sources.rest.rest_source import RestList, RestSource, open_rest_list
from storage.ingest.sources.source import ClosedItem, FetchedItem, FetchFailure, SourceItem, UnchangedItem, VanishedItem
from storage.search.ids import Subject
from storage.search.subjects import NOBODY, email_subject_for
from tests.stand_ins.list_interface import LIST_TOKEN, ListInterface, serve_list_interface

CONTENT_PATHS = ItemPaths(id=ValuePath("$.id"), text=ValuePath("$.body"), title=ValuePath("$.title"))
MAPPING = PrincipalMapping({"group:Staff": Subject("group:employees")}, takes_subjects=True)


@pytest.fixture
async def interface() -> AsyncIterator[ListInterface]:
    async with serve_list_interface() as served:
        yield served


@asynccontextmanager
async def open_source(
    interface: ListInterface,
    *,
    path: str = "/items",
    paths: ItemPaths = CONTENT_PATHS,
    paging: Paging = LinkPaging(),  # noqa: B008 - it never changes
    token: str = LIST_TOKEN,
    allow_private: bool = True,
) -> AsyncGenerator[RestSource]:
    rest_list = RestList(
        url=interface.url + path,
        items=ListPath("$.results[*]"),
        paths=paths,
        suffix=".txt",
        paging=paging,
        principals=MAPPING,
    )
    credential = HeaderCredential(secret=SecretStr(token))
    async with open_rest_list(rest_list, credential, allow_private=allow_private) as source:
        yield source


async def list_ids(source: RestSource) -> list[str]:
    return [item.id async for item in source.list_items()]


async def fetch_single_item(source: RestSource, folder: Path, cursor: str = "") -> tuple[SourceItem, object]:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    [item] = [item async for item in source.list_items()]
    return item, await source.fetch_item(item, cursor, folder)


async def readers_of(interface: ListInterface, folder: Path, **fields: object) -> frozenset[Subject]:
    interface.items = {"a": {"title": "A", "body": "words", **fields}}
    paths = ItemPaths(id=ValuePath("$.id"), text=ValuePath("$.body"), readers=ValuePath("$.readers[*]"))
    async with open_source(interface, paths=paths) as source:
        _, fetched = await fetch_single_item(source, folder)
    assert isinstance(fetched, FetchedItem)
    return fetched.readers


def a_list(count: int) -> dict[str, dict[str, object]]:
    return {f"n{number}": {"title": f"note {number}", "body": f"text {number}"} for number in range(count)}


# -- listing


@pytest.mark.parametrize(
    "paging",
    [
        LinkPaging(),
        PathPaging(path=ValuePath("$.next")),
        PathPaging(path=ValuePath("cursor"), parameter="cursor"),
        OffsetPaging(parameter="offset"),
    ],
)
async def test_all_pages_are_listed_by_links_cursors_and_offsets(interface: ListInterface, paging: Paging) -> None:
    interface.items = a_list(5)

    async with open_source(interface, paging=paging) as source:
        assert await list_ids(source) == ["n0", "n1", "n2", "n3", "n4"]


async def test_a_page_that_fails_makes_the_listing_incomplete_after_the_others(interface: ListInterface) -> None:
    interface.items, interface.broken_after = a_list(5), 2
    ids: list[str] = []

    async def collect() -> None:
        async with open_source(interface) as source:
            async for item in source.list_items():
                ids.append(item.id)

    with pytest.raises(ListingFailed, match="the site answers 404"):
        await collect()
    assert ids == ["n0", "n1"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/error", r"an answer has no list at \$\.results"),
        ("/moved", "another host, which may not get the token"),
        ("/items?limit=500", "the site answers 400"),
        ("/items?cursor=oops", "the site answers 400"),
    ],
)
async def test_an_answer_without_the_list_is_no_empty_list(interface: ListInterface, path: str, reason: str) -> None:
    async with open_source(interface, path=path) as source:
        with pytest.raises(ListingFailed, match=reason):
            await list_ids(source)


async def test_an_empty_list_is_a_complete_listing(interface: ListInterface) -> None:
    async with open_source(interface) as source:
        assert await list_ids(source) == []


async def test_an_item_without_an_id_makes_the_listing_incomplete(interface: ListInterface) -> None:
    interface.items = {"a": {"id": None}}

    async with open_source(interface) as source:
        with pytest.raises(ListingFailed, match=r"no id at \$\.id"):
            await list_ids(source)


async def test_a_cursor_without_a_parameter_is_explained(interface: ListInterface) -> None:
    interface.items = a_list(3)

    async with open_source(interface, paging=PathPaging(path=ValuePath("$.cursor"))) as source:
        with pytest.raises(ListingFailed, match="--cursor-param NAME"):
            await list_ids(source)


async def test_a_wrong_token_is_explained_without_showing_it(interface: ListInterface) -> None:
    async with open_source(interface, token="wrong secret") as source:
        with pytest.raises(ListingFailed) as caught:
            await list_ids(source)

    assert caught.value.reason == "the site refuses access (401); give another password or token"


async def test_a_throttled_request_is_sent_again(interface: ListInterface) -> None:
    interface.items, interface.next_responses = a_list(1), [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"})]

    async with open_source(interface) as source:
        assert await list_ids(source) == ["n0"]


async def test_a_site_that_asks_for_a_long_rest_is_left_alone(interface: ListInterface) -> None:
    interface.next_responses = [(429, {"Retry-After": "3600"})]

    async with open_source(interface) as source:
        with pytest.raises(ListingFailed, match="3600 seconds of rest"):
            await list_ids(source)
    assert len(interface.answered_requests) == 1


async def test_a_private_address_is_refused_unless_it_is_allowed(interface: ListInterface) -> None:
    async with open_source(interface, allow_private=False) as source:
        with pytest.raises(ListingFailed, match="private network"):
            await list_ids(source)
    assert interface.answered_requests == []


# -- content


async def test_the_content_of_the_list_is_fetched_without_a_request(interface: ListInterface, tmp_path: Path) -> None:
    interface.items = a_list(1)

    async with open_source(interface) as source:
        item, fetched = await fetch_single_item(source, tmp_path)
        assert isinstance(fetched, FetchedItem)
        again = await source.fetch_item(item, fetched.cursor, tmp_path)

    assert (fetched.path.read_text(), fetched.title, fetched.readers) == ("text 0", "note 0", frozenset())
    assert isinstance(again, UnchangedItem)
    assert len(interface.answered_requests) == 1


async def test_separate_content_is_fetched_only_if_the_list_or_its_etag_changed(
    interface: ListInterface, tmp_path: Path
) -> None:
    paths = ItemPaths(id=ValuePath("$.id"), text=ValuePath("$.text"), content_url=ValuePath("$.href"))
    interface.items = {"a": {"href": "/contents/a"}}
    interface.contents["a"] = ("application/json", '{"text": "long words"}')

    async with open_source(interface, paths=paths) as source:
        item, fetched = await fetch_single_item(source, tmp_path)
        assert isinstance(fetched, FetchedItem)
        unchanged = await source.fetch_item(item, fetched.cursor, tmp_path)
        interface.contents["a"] = ("text/html", "<p>other words</p>")
        await asyncio.to_thread((tmp_path / "later").mkdir)
        changed = await source.fetch_item(item, fetched.cursor, tmp_path / "later")
        del interface.contents["a"]
        gone = await source.fetch_item(item, fetched.cursor, tmp_path)

    assert (item.version, fetched.path.read_text()) == ("", "long words")
    assert isinstance(unchanged, UnchangedItem)
    assert interface.answered_requests[2] == ("/contents/a", 304)
    assert isinstance(changed, FetchedItem)
    assert (changed.path.suffix, changed.path.read_text()) == (".html", "<p>other words</p>")
    assert gone == VanishedItem()


async def test_content_on_another_host_is_not_requested(interface: ListInterface, tmp_path: Path) -> None:
    paths = ItemPaths(id=ValuePath("$.id"), text=ValuePath("$.text"), content_url=ValuePath("$.href"))
    interface.items = {"a": {"href": "http://localhost:9/secret"}}

    async with open_source(interface, paths=paths) as source:
        _, result = await fetch_single_item(source, tmp_path)

    assert result == FetchFailure(reason="it leads to another host, which may not get the token")


# -- readers


async def test_principals_are_mapped_to_subjects(interface: ListInterface, tmp_path: Path) -> None:
    principals = ["group:staff", "Mara@Mills.example", "user:slack:T1:U1", "group-we-do-not-know"]

    assert await readers_of(interface, tmp_path, readers=principals) == {
        "group:employees",
        email_subject_for("mara@mills.example"),
        "user:slack:T1:U1",
    }


@pytest.mark.parametrize("fields", [{}, {"readers": []}, {"readers": None}, {"readers": ["strangers", 7, True]}])
async def test_an_item_whose_readers_are_unknown_is_for_nobody(
    fields: dict[str, object], interface: ListInterface, tmp_path: Path
) -> None:
    assert await readers_of(interface, tmp_path, **fields) == {NOBODY}


async def test_other_readers_replace_a_document_whose_content_is_the_same(
    interface: ListInterface, tmp_path: Path
) -> None:
    paths = ItemPaths(id=ValuePath("$.id"), text=ValuePath("$.body"), readers=ValuePath("$.readers"))
    interface.items = {"a": {"body": "words", "readers": ["user:slack:T1:U1"]}}
    async with open_source(interface, paths=paths) as source:
        before, fetched = await fetch_single_item(source, tmp_path)
    assert isinstance(fetched, FetchedItem)

    interface.items["a"]["readers"] = ["user:slack:T1:U2"]

    async with open_source(interface, paths=paths) as source:
        after, changed = await fetch_single_item(source, tmp_path / "later", fetched.cursor)
    assert before.version != after.version
    assert isinstance(changed, FetchedItem)
    assert (changed.readers, changed.has_other_readers) == ({"user:slack:T1:U2"}, True)


async def test_a_document_closes_if_its_readers_change_while_its_content_cannot_be_had(
    interface: ListInterface, tmp_path: Path
) -> None:
    paths = ItemPaths(
        id=ValuePath("$.id"),
        text=ValuePath("$.text"),
        readers=ValuePath("$.readers"),
        content_url=ValuePath("$.href"),
    )
    interface.items = {"a": {"href": "/contents/a", "readers": ["user:slack:T1:U1"]}}
    interface.contents["a"] = ("text/plain", "the salaries")
    async with open_source(interface, paths=paths) as source:
        _, fetched = await fetch_single_item(source, tmp_path)
    assert isinstance(fetched, FetchedItem)

    interface.items["a"]["readers"] = ["user:slack:T1:U2"]
    interface.broken_contents.add("a")

    async with open_source(interface, paths=paths) as source:
        _, closed = await fetch_single_item(source, tmp_path / "later", fetched.cursor)
    assert isinstance(closed, ClosedItem)


# -- paths


@pytest.mark.parametrize("text", ["", "$.[", "$..", "a b", "$" * 600])
def test_what_is_no_path_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidPath) as caught:
        ValuePath(text)
    assert "is no path such as $.results" in caught.value.reason


def test_a_text_may_consist_of_several_values() -> None:
    value = {"parts": [{"text": "one"}, {"text": None}, {"text": 2}, {"text": {"no": "text"}}]}

    assert ValuePath("$.parts[*].text").find_texts(value) == ["one", "2"]
