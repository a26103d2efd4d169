"""The contract of `DocumentSource`, for every implementation."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest

from storage.ingest.errors import ListingFailed
from storage.ingest.sources.folder import FolderSource
from storage.ingest.sources.site import open_site
from storage.ingest.sources.source import (
    DocumentSource,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnchangedItem,
    VanishedItem,
)
from storage.ingest.sources.stores.open_store import StoreLocation, open_file_store
from storage.ingest.sources.stores.store_source import StoreSource
from tests.servers.file_stores import (
    SECRET,
    USER,
    FolderOfServer,
    ObjectStoreServer,
    RequestGate,
    SftpServer,
    webdav_server,
)
from tests.servers.process import UNPRIVILEGED, scratch_folder
from tests.servers.samba import ShareServer
from tests.stand_ins.site import PageResponse, WebSite, serve_web_site

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


class ChangeablePlace(Protocol):
    """The place that a source reads, with methods to change it. Names are paths of text files: `a.txt`, `b/c.txt`."""

    def open_source(self) -> AbstractAsyncContextManager[DocumentSource]: ...

    def write(self, name: str, text: str) -> None: ...

    def remove(self, name: str) -> None: ...

    def break_listing(self) -> None:
        """Make a part of the place, or all of it, impossible to list."""
        ...

    def make_unreadable(self, name: str) -> None:
        """Make the file unreadable; it remains in the listing."""
        ...


class ChangeableFolder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir()

    @asynccontextmanager
    async def open_source(self) -> AsyncGenerator[DocumentSource]:
        yield FolderSource(self._path)

    def write(self, name: str, text: str) -> None:
        file = self._path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def remove(self, name: str) -> None:
        (self._path / name).unlink()

    def break_listing(self) -> None:
        """Remove the whole folder, since root can list any existing folder."""
        shutil.rmtree(self._path)

    def make_unreadable(self, name: str) -> None:
        self.remove(name)
        (self._path / name).symlink_to(self._path / "nowhere")


class ChangeableSite:
    def __init__(self, site: WebSite) -> None:
        self._site, self._writes = site, 0
        site.fixed_responses["/robots.txt"] = PageResponse(
            text=f"Sitemap: {site.url}/sitemap.xml\nSitemap: {site.url}/more.xml"
        )
        site.fixed_responses["/more.xml"] = PageResponse(text="<urlset/>")

    @asynccontextmanager
    async def open_source(self) -> AsyncGenerator[DocumentSource]:
        async with open_site(self._site.url, allow_private=True, clock=lambda: NOW) as source:
            yield source

    def write(self, name: str, text: str) -> None:
        self._writes += 1
        self._site.pages[f"/{name}"] = PageResponse(text=text, etag=f'"{self._writes}"')
        self._site.last_modified[f"/{name}"] = f"2026-01-{self._writes:02}"

    def remove(self, name: str) -> None:
        del self._site.pages[f"/{name}"]

    def break_listing(self) -> None:
        self._site.fixed_responses["/more.xml"] = PageResponse(status=403)

    def make_unreadable(self, name: str) -> None:
        self._site.last_modified.pop(f"/{name}")
        self._site.pages[f"/{name}"] = PageResponse(status=403)


@asynccontextmanager
async def open_store(location: StoreLocation) -> AsyncGenerator[DocumentSource]:
    with open_file_store(location) as store:
        yield StoreSource(store, location.url, clock=lambda: NOW)


class ChangeableObjectStore:
    def __init__(self, server: ObjectStoreServer) -> None:
        self._server, self._bucket = server, f"b{uuid4().hex}"
        server.create_bucket(self._bucket)
        server.request("PUT", f"/{self._bucket}/place/folder/")  # as consoles make folders
        self.location = StoreLocation(
            url=f"s3://{self._bucket}/place", user=USER, secret=SECRET, endpoint=server.url, allow_private=True
        )

    def open_source(self) -> AbstractAsyncContextManager[DocumentSource]:
        return open_store(self.location)

    def write(self, name: str, text: str) -> None:
        self._server.request("PUT", f"/{self._bucket}/place/{name}", text.encode())

    def remove(self, name: str) -> None:
        self._server.request("DELETE", f"/{self._bucket}/place/{name}")

    def break_listing(self) -> None:
        self._server.gate.forbidden.add(f"GET /{self._bucket}?list-type")

    def make_unreadable(self, name: str) -> None:
        self._server.gate.forbidden.add(f"/{self._bucket}/place/{name}")


class ChangeableServerFolder(FolderOfServer):
    """A folder behind SFTP or SMB."""

    def __init__(self, path: Path, location: StoreLocation) -> None:
        super().__init__(path)
        self._location = location

    def open_source(self) -> AbstractAsyncContextManager[DocumentSource]:
        return open_store(self._location)

    def break_listing(self) -> None:
        self.path.chmod(0)

    def make_unreadable(self, name: str) -> None:
        (self.path / name).chmod(0)


class ChangeableWebdavFolder(ChangeableServerFolder):
    def __init__(self, path: Path, url: str, gate: RequestGate) -> None:
        super().__init__(path, StoreLocation(url=url, user=USER, secret=SECRET, allow_private=True))
        self._gate = gate

    def break_listing(self) -> None:
        self._gate.forbidden.add("PROPFIND")

    def make_unreadable(self, name: str) -> None:
        self._gate.forbidden.add(f"GET /{name}")


@pytest.fixture(params=["folder", "site", "s3", "webdav", "sftp", "smb"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChangeablePlace]:
    match request.param:
        case "folder":
            yield ChangeableFolder(tmp_path / "place")
        case "site":
            async with serve_web_site() as site:
                yield ChangeableSite(site)
        case "s3":
            yield ChangeableObjectStore(request.getfixturevalue("object_store"))
        case "webdav":
            with scratch_folder("dav") as folder, webdav_server(folder) as (url, gate):
                yield ChangeableWebdavFolder(folder, url, gate)
        case "smb":
            samba: ShareServer = request.getfixturevalue("samba")
            folder = samba.share / uuid4().hex
            folder.mkdir()
            if UNPRIVILEGED is not None:
                shutil.chown(folder, UNPRIVILEGED)
            yield ChangeableServerFolder(folder, samba.location_of(folder))
        case _:
            server: SftpServer = request.getfixturevalue("sftp")
            with scratch_folder("sftp") as folder:
                yield ChangeableServerFolder(folder, server.location_of(folder))


async def list_by_name(place: ChangeablePlace) -> dict[str, SourceItem]:
    async with place.open_source() as source:
        return {item.id.lstrip("/"): item async for item in source.list_items()}


async def fetch_by_name(place: ChangeablePlace, name: str, folder: Path, cursor: str = "") -> FetchResult:
    await asyncio.to_thread(folder.mkdir)
    async with place.open_source() as source:
        items = [item async for item in source.list_items()]
        [item] = [item for item in items if item.id.endswith(name)]
        return await source.fetch_item(item, cursor, folder)


async def fetch_changed_item(place: ChangeablePlace, name: str, folder: Path) -> FetchedItem:
    result = await fetch_by_name(place, name, folder)
    assert isinstance(result, FetchedItem)
    return result


async def test_every_item_is_listed_once(place: ChangeablePlace) -> None:
    place.write("a.txt", "one")
    place.write("b/c.txt", "two")

    async with place.open_source() as source:
        ids = [item.id.lstrip("/") async for item in source.list_items()]

    assert sorted(ids) == ["a.txt", "b/c.txt"]


async def test_an_unchanged_item_keeps_its_id_and_version(place: ChangeablePlace) -> None:
    place.write("a.txt", "one")

    first, second = await list_by_name(place), await list_by_name(place)

    assert first == second
    assert first["a.txt"].version


async def test_a_changed_item_has_a_new_version_and_the_same_id(place: ChangeablePlace) -> None:
    place.write("a.txt", "one")
    before = await list_by_name(place)

    place.write("a.txt", "one and more")

    after = await list_by_name(place)
    assert after["a.txt"].id == before["a.txt"].id
    assert after["a.txt"].version != before["a.txt"].version


async def test_a_removed_item_is_not_listed(place: ChangeablePlace) -> None:
    place.write("a.txt", "one")
    place.write("b.txt", "two")

    place.remove("a.txt")

    assert [*await list_by_name(place)] == ["b.txt"]


async def test_an_incomplete_listing_raises_an_error_after_the_other_items(place: ChangeablePlace) -> None:
    place.write("a.txt", "one")
    place.break_listing()

    with pytest.raises(ListingFailed, match=r"\w"):
        await list_by_name(place)


async def test_the_content_is_fetched_to_a_file_with_the_suffix_of_its_format(
    place: ChangeablePlace, tmp_path: Path
) -> None:
    place.write("a.txt", "one")

    item = await fetch_changed_item(place, "a.txt", tmp_path / "got")

    assert (item.path.read_text(), item.path.suffix) == ("one", ".txt")
    assert item.version == (await list_by_name(place))["a.txt"].version


async def test_fetching_the_same_content_with_its_cursor_gives_unchanged(
    place: ChangeablePlace, tmp_path: Path
) -> None:
    place.write("a.txt", "one")
    item = await fetch_changed_item(place, "a.txt", tmp_path / "got")

    second_result = await fetch_by_name(place, "a.txt", tmp_path / "again", item.cursor)
    place.write("a.txt", "one")  # the same content, written later
    third_result = await fetch_by_name(place, "a.txt", tmp_path / "later", item.cursor)

    assert isinstance(second_result, UnchangedItem)
    assert isinstance(third_result, UnchangedItem)


async def test_changed_content_is_fetched_in_spite_of_a_cursor(place: ChangeablePlace, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    item = await fetch_changed_item(place, "a.txt", tmp_path / "got")

    place.write("a.txt", "two")

    result = await fetch_by_name(place, "a.txt", tmp_path / "other", item.cursor)
    assert isinstance(result, FetchedItem)
    assert result.path.read_text() == "two"


async def test_an_unreadable_cursor_is_ignored(place: ChangeablePlace, tmp_path: Path) -> None:
    place.write("a.txt", "one")

    assert isinstance(await fetch_by_name(place, "a.txt", tmp_path / "got", "[1]"), FetchedItem)


async def test_an_item_removed_after_the_listing_has_vanished(place: ChangeablePlace, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    async with place.open_source() as source:
        [item] = [item async for item in source.list_items()]
        place.remove("a.txt")

        assert await source.fetch_item(item, "", tmp_path) == VanishedItem()


async def test_an_unreadable_item_gives_a_failure_with_a_reason(place: ChangeablePlace, tmp_path: Path) -> None:
    place.write("a.txt", "one")
    place.make_unreadable("a.txt")

    result = await fetch_by_name(place, "a.txt", tmp_path / "got")

    assert isinstance(result, FetchFailure)
    assert result.reason
