"""What every kind of source promises, whatever it is."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.folder import Folder
from storage.ingest.sources.site import opened
from storage.ingest.sources.source import Fetch, Fetched, Gone, Item, Source, Unchanged, Unfetched
from tests.stand_ins.site import Served, WebSite, a_site

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


class Place(Protocol):
    """Where a source looks, as others change it. Names are of text files, `a.txt` or `b/c.txt`."""

    def source(self) -> AbstractAsyncContextManager[Source]: ...

    def write(self, name: str, text: str) -> None: ...

    def remove(self, name: str) -> None: ...

    def lose_some(self) -> None:
        """Afterwards a part of it, or all, cannot be listed."""
        ...

    def spoil(self, name: str) -> None:
        """It is there, and cannot be read."""
        ...


class AFolder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir()

    @asynccontextmanager
    async def source(self) -> AsyncGenerator[Source]:
        yield Folder(self._path)

    def write(self, name: str, text: str) -> None:
        file = self._path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def remove(self, name: str) -> None:
        (self._path / name).unlink()

    def lose_some(self) -> None:
        """All of it: any other folder could still be listed by root."""
        shutil.rmtree(self._path)

    def spoil(self, name: str) -> None:
        self.remove(name)
        (self._path / name).symlink_to(self._path / "nowhere")


class ASite:
    def __init__(self, site: WebSite) -> None:
        self._site, self._writes = site, 0
        site.fixed["/robots.txt"] = Served(text=f"Sitemap: {site.url}/sitemap.xml\nSitemap: {site.url}/more.xml")
        site.fixed["/more.xml"] = Served(text="<urlset/>")

    @asynccontextmanager
    async def source(self) -> AsyncGenerator[Source]:
        async with opened(self._site.url, allow_private=True, clock=lambda: NOW) as source:
            yield source

    def write(self, name: str, text: str) -> None:
        self._writes += 1
        self._site.pages[f"/{name}"] = Served(text=text, etag=f'"{self._writes}"')
        self._site.changed[f"/{name}"] = f"2026-01-{self._writes:02}"

    def remove(self, name: str) -> None:
        del self._site.pages[f"/{name}"]

    def lose_some(self) -> None:
        self._site.fixed["/more.xml"] = Served(status=403)

    def spoil(self, name: str) -> None:
        self._site.changed.pop(f"/{name}")
        self._site.pages[f"/{name}"] = Served(status=403)


@pytest.fixture(params=["folder", "site"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    if request.param == "folder":
        yield AFolder(tmp_path / "place")
    else:
        async with a_site() as site:
            yield ASite(site)


async def listed(place: Place) -> dict[str, Item]:
    async with place.source() as source:
        return {item.id.lstrip("/"): item async for item in source.items()}


async def fetched(place: Place, name: str, folder: Path, cursor: str = "") -> Fetch:
    await asyncio.to_thread(folder.mkdir)
    async with place.source() as source:
        items = [item async for item in source.items()]
        [item] = [item for item in items if item.id.endswith(name)]
        return await source.fetch(item, cursor, folder)


async def loaded(place: Place, name: str, folder: Path) -> Fetched:
    one = await fetched(place, name, folder)
    assert isinstance(one, Fetched)
    return one


async def test_everything_that_is_there_is_listed_once(place: Place) -> None:
    place.write("a.txt", "one")
    place.write("b/c.txt", "two")

    async with place.source() as source:
        ids = [item.id.lstrip("/") async for item in source.items()]

    assert sorted(ids) == ["a.txt", "b/c.txt"]


async def test_what_is_unchanged_keeps_its_id_and_version(place: Place) -> None:
    place.write("a.txt", "one")

    first, second = await listed(place), await listed(place)

    assert first == second
    assert first["a.txt"].version


async def test_a_change_changes_the_version_and_not_the_id(place: Place) -> None:
    place.write("a.txt", "one")
    before = await listed(place)

    place.write("a.txt", "one and more")

    after = await listed(place)
    assert after["a.txt"].id == before["a.txt"].id
    assert after["a.txt"].version != before["a.txt"].version


async def test_what_was_removed_is_not_listed(place: Place) -> None:
    place.write("a.txt", "one")
    place.write("b.txt", "two")

    place.remove("a.txt")

    assert [*await listed(place)] == ["b.txt"]


async def test_a_listing_that_may_have_missed_something_says_so_after_the_rest(place: Place) -> None:
    place.write("a.txt", "one")
    place.lose_some()

    with pytest.raises(ListingFailed, match=r"\w"):
        await listed(place)


async def test_the_content_comes_as_a_file_that_tells_its_format(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")

    one = await loaded(place, "a.txt", tmp_path / "got")

    assert (one.path.read_text(), one.path.suffix) == ("one", ".txt")
    assert one.version == (await listed(place))["a.txt"].version


async def test_the_same_content_for_its_cursor_is_unchanged(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    one = await loaded(place, "a.txt", tmp_path / "got")

    again = await fetched(place, "a.txt", tmp_path / "again", one.cursor)
    place.write("a.txt", "one")  # at another time
    later = await fetched(place, "a.txt", tmp_path / "later", one.cursor)

    assert isinstance(again, Unchanged)
    assert isinstance(later, Unchanged)


async def test_other_content_for_its_cursor_is_fetched(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    one = await loaded(place, "a.txt", tmp_path / "got")

    place.write("a.txt", "two")

    other = await fetched(place, "a.txt", tmp_path / "other", one.cursor)
    assert isinstance(other, Fetched)
    assert other.path.read_text() == "two"


async def test_a_cursor_that_is_not_understood_is_no_cursor(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")

    assert isinstance(await fetched(place, "a.txt", tmp_path / "got", "[1]"), Fetched)


async def test_what_went_after_the_listing_is_gone(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    async with place.source() as source:
        [item] = [item async for item in source.items()]
        place.remove("a.txt")

        assert await source.fetch(item, "", tmp_path) == Gone()


async def test_what_is_there_and_cannot_be_had_says_why(place: Place, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    place.spoil("a.txt")

    one = await fetched(place, "a.txt", tmp_path / "got")

    assert isinstance(one, Unfetched)
    assert one.reason
