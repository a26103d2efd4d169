"""Stores of files as sources, beside the contract: what is skipped, what is bounded, and what happens under load."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import pytest

from storage.ingest.errors import ListingFailed, SourceUnavailable
from storage.ingest.sources.access_list import AccessList
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import (
    ClosedItem,
    FetchedItem,
    FetchFailure,
    FetchResult,
    SourceItem,
    UnsupportedItem,
    VanishedItem,
)
from storage.ingest.sources.stores import open_store
from storage.ingest.sources.stores.file_store import StoreEntry, StoreProblem, StoreProblemKind
from storage.ingest.sources.stores.open_store import StoreLocation, open_file_store
from storage.ingest.sources.stores.store_source import StoreSource
from storage.search.ids import Subject
from storage.search.subjects import NOBODY
from tests.servers.file_stores import SECRET, USER, ObjectStoreServer, SftpServer, webdav_server
from tests.servers.process import scratch_folder
from tests.servers.samba import ShareServer

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
OLD = NOW - timedelta(days=1)


class StoreInMemory:
    """A store whose listing is given; a file has the content `TEXT`, or a problem. `access_by_path` has the access
    lists, or the problems with them.
    """

    max_calls = 2

    def __init__(self, folders: Mapping[str, Sequence[StoreEntry]], root: str = "docs/in") -> None:
        self.root, self._folders = root, folders
        self.access_by_path: dict[str, AccessList | StoreProblem] = {}
        self.content_problem: StoreProblem | None = None

    def list_folder(self, path: str) -> Sequence[StoreEntry]:
        try:
            return self._folders[path.rstrip("/")]
        except KeyError:
            raise StoreProblem("it does not exist", StoreProblemKind.MISSING) from None

    def read_file(self, path: str, sink: BinaryIO, *, max_bytes: int) -> None:
        if self.content_problem is not None:
            raise self.content_problem
        sink.write(b"TEXT")

    def read_root_access(self) -> Sequence[AccessList]:
        return [self._access_of(self.root)] if self.root in self.access_by_path else []

    def read_access(self, entry: StoreEntry) -> AccessList | None:
        return self._access_of(entry.path) if entry.path in self.access_by_path else None

    def _access_of(self, path: str) -> AccessList:
        access = self.access_by_path[path]
        if isinstance(access, StoreProblem):
            raise access
        return access


def file_entry(path: str, *, tag: str = "t", modified: datetime | None = OLD, size: int | None = 4) -> StoreEntry:
    return StoreEntry(path=path, is_folder=False, size=size, tag=tag, modified=modified)


def folder_entry(path: str) -> StoreEntry:
    return StoreEntry(path=path, is_folder=True, size=None, tag="", modified=None)


async def list_all(source: StoreSource) -> list[SourceItem]:
    return [item async for item in source.list_items()]


async def record_pauses(pauses: list[float], seconds: float) -> None:
    pauses.append(seconds)


async def test_hidden_files_links_schemas_and_what_lies_elsewhere_are_skipped() -> None:
    listed = [
        file_entry("docs/in/a.txt"),
        file_entry("docs/in/.hidden.txt"),
        file_entry("docs/in/b.schema.yaml"),
        file_entry("docs/in/link.txt", size=None),
        file_entry("docs/in/../../etc/passwd.txt"),
        file_entry("docs/inner/c.txt"),
        file_entry("docs/in/", size=0),
        folder_entry("docs/in/.git"),
        folder_entry("docs/in"),
        folder_entry("docs/other"),
    ]

    items = await list_all(StoreSource(StoreInMemory({"docs/in": listed}), "s3://docs/in", clock=lambda: NOW))

    assert [(item.id, item.location) for item in items] == [("a.txt", "s3://docs/in/a.txt")]


async def test_a_time_alone_identifies_the_content_only_after_some_minutes() -> None:
    listed = [
        file_entry("docs/in/new.txt", tag="", modified=NOW - timedelta(seconds=1)),
        file_entry("docs/in/old.txt", tag="", modified=OLD),
        file_entry("docs/in/tagged.txt", modified=NOW),
        file_entry("docs/in/timeless.txt", tag="", modified=None),
    ]

    items = await list_all(StoreSource(StoreInMemory({"docs/in": listed}), "s3://docs/in", clock=lambda: NOW))

    assert [(item.id, bool(item.version)) for item in items] == [
        ("new.txt", False),
        ("old.txt", True),
        ("tagged.txt", True),
        ("timeless.txt", False),
    ]


async def test_a_folder_that_vanishes_while_it_is_listed_makes_the_listing_incomplete() -> None:
    folders = {"docs/in": [folder_entry("docs/in/gone"), file_entry("docs/in/a.txt")]}
    source, ids = StoreSource(StoreInMemory(folders), "s3://docs/in", clock=lambda: NOW), list[str]()

    async def collect_ids() -> None:
        async for item in source.list_items():
            ids.append(item.id)

    with pytest.raises(ListingFailed, match="s3://docs/in/gone: it does not exist"):
        await collect_ids()
    assert ids == ["a.txt"]


async def test_a_file_in_the_place_of_the_folder_makes_the_listing_incomplete() -> None:
    store = StoreInMemory({"docs/a.txt": [file_entry("docs/a.txt")]}, root="docs/a.txt")

    with pytest.raises(ListingFailed, match="a source is a folder"):
        await list_all(StoreSource(store, "s3://docs/a.txt", clock=lambda: NOW))


async def test_folders_within_one_another_without_end_are_left() -> None:
    class EndlessStore(StoreInMemory):
        def list_folder(self, path: str) -> Sequence[StoreEntry]:
            return [folder_entry(f"{path}/deeper")]

    with pytest.raises(ListingFailed, match="nested deeper than"):
        await list_all(StoreSource(EndlessStore({}), "s3://docs/in", clock=lambda: NOW))


async def test_large_files_and_unknown_formats_are_not_fetched(tmp_path: Path) -> None:
    listed = [
        file_entry("docs/in/huge.txt", size=300 * 1024 * 1024),
        file_entry("docs/in/movie.mp4"),
        file_entry("docs/in/fine.txt"),
    ]
    source = StoreSource(StoreInMemory({"docs/in": listed}), "s3://docs/in", clock=lambda: NOW)

    results = [await source.fetch_item(item, "", tmp_path) for item in await list_all(source)]

    assert [type(result) for result in results] == [FetchFailure, UnsupportedItem, FetchedItem]
    assert isinstance(results[0], FetchFailure)
    assert "200 MB" in results[0].reason


# -- who may read a file

STAFF, LIZ, SAM = Subject("group:staff"), Subject("user:slack:T1:U1"), Subject("user:slack:T1:U2")
PRINCIPALS = PrincipalMapping({"group:hr": STAFF, "user:liz": LIZ, "user:sam": SAM})
HR, HR_AND_UNKNOWN = AccessList(allowed=(("group:hr",),)), AccessList(allowed=(("group:hr",), ("user:kim",)))
ALL = AccessList(allowed=(("user:root",), ("others",)), is_for_all=True)
UNREADABLE = StoreProblem("it is refused", StoreProblemKind.DENIED)


class GuardedStore(StoreInMemory):
    """A store with one file, `docs/in/a.txt`, whose access list can be set."""

    def __init__(self, access: AccessList | StoreProblem) -> None:
        super().__init__({"docs/in": [file_entry("docs/in/a.txt")]})
        self.access_by_path["docs/in/a.txt"] = access

    async def list_file(self) -> SourceItem:
        [item] = await list_all(self._open_source())
        return item

    async def fetch_file(self, folder: Path, cursor: str = "") -> FetchResult:
        source = self._open_source()
        [item] = await list_all(source)
        return await source.fetch_item(item, cursor, folder)

    async def load_readers(self, folder: Path) -> set[Subject]:
        fetched = await self.fetch_file(folder)
        assert isinstance(fetched, FetchedItem)
        return set(fetched.readers)

    def _open_source(self) -> StoreSource:
        return StoreSource(
            self, "s3://docs/in", clock=lambda: NOW, principals=PRINCIPALS, sleep=lambda seconds: record_pauses([], 0)
        )


@pytest.mark.parametrize(
    ("access", "readers"),
    [
        pytest.param(HR_AND_UNKNOWN, {STAFF}, id="an unknown principal counts as nobody"),
        pytest.param(AccessList(allowed=(("user:kim",),)), {NOBODY}, id="unknown principals alone close"),
        pytest.param(AccessList(allowed=()), {NOBODY}, id="an empty list closes"),
        pytest.param(ALL, {NOBODY}, id="what is open to all is closed until that is mapped"),
        pytest.param(
            AccessList(allowed=(("1001", "user:liz"), ("user:sam",)), denied=(("user:sam", "1002"),)),
            {LIZ},
            id="a denied person is left out",
        ),
        pytest.param(
            AccessList(allowed=(("group:hr",), ("user:liz",)), denied=(("user:sam",),)),
            {NOBODY},
            id="a denied person may be in a group that is allowed",
        ),
        pytest.param(
            AccessList(allowed=(("user:liz",),), denied=(("group:hr",),)),
            {NOBODY},
            id="a person who is allowed may be in a group that is denied",
        ),
        pytest.param(
            AccessList(allowed=(("user:liz",),), denied=(("user:kim",),)), {NOBODY}, id="nobody knows who is denied"
        ),
        pytest.param(
            AccessList(allowed=(("user:liz",),), denied=(("user:liz",),)), {NOBODY}, id="allowed and denied is denied"
        ),
    ],
)
async def test_an_access_list_gives_the_readers_or_closes(
    access: AccessList, readers: set[Subject], tmp_path: Path
) -> None:
    assert await GuardedStore(access).load_readers(tmp_path) == readers


@pytest.mark.parametrize(
    ("root", "file", "readers"),
    [
        pytest.param(ALL, HR, {STAFF}, id="an open folder restricts nothing"),
        pytest.param(HR, ALL, {STAFF}, id="a closed folder restricts an open file"),
        pytest.param(HR, AccessList(allowed=(("user:liz",),)), {NOBODY}, id="both restrict"),
        pytest.param(
            AccessList(allowed=(("others",),), denied=(("user:liz",),), is_for_all=True),
            HR,
            {NOBODY},
            id="a folder that denies somebody is not open",
        ),
    ],
)
async def test_a_file_is_read_by_those_who_may_pass_its_folders(
    root: AccessList, file: AccessList, readers: set[Subject], tmp_path: Path
) -> None:
    store = GuardedStore(file)
    store.access_by_path["docs/in"] = root

    assert await store.load_readers(tmp_path) == readers


@pytest.mark.parametrize(
    ("path", "problem", "expected"),
    [
        ("docs/in/a.txt", UNREADABLE, ClosedItem),
        ("docs/in", UNREADABLE, ClosedItem),
        ("docs/in/a.txt", StoreProblem("it is busy", StoreProblemKind.TRANSIENT), FetchFailure),
        ("docs/in/a.txt", StoreProblem("it is gone", StoreProblemKind.MISSING), VanishedItem),
    ],
)
async def test_a_file_whose_access_list_cannot_be_read_is_closed_unless_it_can_be_asked_later(
    path: str, problem: StoreProblem, expected: type[FetchResult], tmp_path: Path
) -> None:
    store = GuardedStore(HR)
    store.access_by_path[path] = problem

    assert not (await store.list_file()).version
    assert type(await store.fetch_file(tmp_path)) is expected


async def test_principals_that_stand_for_nobody_are_named(tmp_path: Path) -> None:
    fetched = await GuardedStore(AccessList(allowed=(("group:hr",), ("1003", "user:kim")))).fetch_file(tmp_path)

    assert isinstance(fetched, FetchedItem)
    assert [remark.partition(" ")[0] for remark in fetched.remarks] == ["user:kim"]


async def test_other_readers_replace_an_unchanged_file(tmp_path: Path) -> None:
    store = GuardedStore(HR)
    listed, fetched = await store.list_file(), await store.fetch_file(tmp_path)
    assert isinstance(fetched, FetchedItem)
    assert await store.list_file() == listed
    (tmp_path / "later").mkdir()

    store.access_by_path["docs/in/a.txt"] = AccessList(allowed=(("user:liz",),))

    assert (await store.list_file()).version != listed.version
    changed = await store.fetch_file(tmp_path / "later", fetched.cursor)
    assert isinstance(changed, FetchedItem)
    assert (changed.readers, changed.has_other_readers) == ({LIZ}, True)


async def test_a_file_with_other_readers_that_cannot_be_read_is_closed(tmp_path: Path) -> None:
    store = GuardedStore(HR)
    fetched = await store.fetch_file(tmp_path)
    assert isinstance(fetched, FetchedItem)
    store.content_problem = UNREADABLE

    kept = await store.fetch_file(tmp_path, fetched.cursor)
    store.access_by_path["docs/in/a.txt"] = AccessList(allowed=(("user:liz",),))
    closed = await store.fetch_file(tmp_path, fetched.cursor)

    assert (type(kept), type(closed)) == (FetchFailure, ClosedItem)


@pytest.fixture
def bucket(object_store: ObjectStoreServer) -> str:
    """A bucket with one object, `in/a.txt`."""
    name = f"b{uuid4().hex}"
    object_store.create_bucket(name)
    object_store.request("PUT", f"/{name}/in/a.txt", b"one")
    return name


def location_in(object_store: ObjectStoreServer, bucket: str, *, secret: str = SECRET) -> StoreLocation:
    return StoreLocation(
        url=f"s3://{bucket}/in", user=USER, secret=secret, endpoint=object_store.url, allow_private=True
    )


@pytest.fixture
async def s3_source_and_pauses(
    object_store: ObjectStoreServer, bucket: str
) -> AsyncIterator[tuple[StoreSource, list[float]]]:
    location, pauses = location_in(object_store, bucket), list[float]()
    with open_file_store(location) as store:
        yield (
            StoreSource(store, location.url, clock=lambda: NOW, sleep=lambda seconds: record_pauses(pauses, seconds)),
            pauses,
        )


async def test_a_busy_store_is_asked_again_after_growing_pauses(
    object_store: ObjectStoreServer, s3_source_and_pauses: tuple[StoreSource, list[float]]
) -> None:
    source, pauses = s3_source_and_pauses
    object_store.gate.busy_count = 6

    items = await list_all(source)

    assert [item.id for item in items] == ["a.txt"]
    assert pauses
    assert pauses == sorted(pauses) or len(pauses) == 2  # the jitter may swap the first two


async def test_a_store_that_stays_busy_is_left_alone(
    object_store: ObjectStoreServer, s3_source_and_pauses: tuple[StoreSource, list[float]], tmp_path: Path
) -> None:
    source, pauses = s3_source_and_pauses
    [item] = await list_all(source)
    object_store.gate.busy_count = 10_000

    results = [await source.fetch_item(item, "", tmp_path) for _ in range(20)]
    object_store.gate.busy_count = 0

    assert {type(result) for result in results} == {FetchFailure}
    assert len(pauses) == 9


async def test_a_key_that_is_refused_gives_one_sentence_without_the_secret(
    object_store: ObjectStoreServer, bucket: str
) -> None:
    object_store.gate.forbidden.add(f"/{bucket}")
    location = location_in(object_store, bucket)

    with open_file_store(location) as store, pytest.raises(ListingFailed) as failed:
        await list_all(StoreSource(store, location.url, clock=lambda: NOW))

    assert "password, key or token is wrong" in failed.value.reason
    assert SECRET not in failed.value.reason + repr(location)


async def test_a_wrong_password_of_webdav_and_a_wrong_key_of_sftp_are_refused(sftp: SftpServer) -> None:
    with scratch_folder("dav") as folder, webdav_server(folder) as (url, _):
        location = StoreLocation(url=url, user=USER, secret="not-the-password", allow_private=True)
        with open_file_store(location) as store, pytest.raises(ListingFailed, match="token is wrong") as failed:
            await list_all(StoreSource(store, url, clock=lambda: NOW))
        with (
            pytest.raises(SourceUnavailable, match="token is wrong") as refused,
            open_file_store(sftp.location_of(folder, secret="not-the-password")),
        ):
            pass

    assert "not-the-password" not in failed.value.reason + refused.value.reason


def test_a_wrong_password_of_a_share_is_refused(samba: ShareServer) -> None:
    with (
        pytest.raises(SourceUnavailable, match="token is wrong") as refused,
        open_file_store(samba.location_of(samba.share, secret="not-the-password")),
    ):
        pass

    assert "not-the-password" not in refused.value.reason


def test_an_sftp_server_with_an_unknown_host_key_gets_no_password(sftp: SftpServer) -> None:
    known = sftp.location_of(Path("/"))
    advice = re.escape(f"--host-key {known.host_key[:20]}")
    for host_key in ("", "SHA256:another"):
        location = StoreLocation(
            url=known.url, user=known.user, secret=known.secret, host_key=host_key, allow_private=True
        )
        with (
            pytest.raises(SourceUnavailable, match=advice),
            open_file_store(location),
        ):
            pass


@pytest.mark.parametrize(
    "url", ["s3://docs/in", "sftp://127.0.0.1:9/in", "smb://127.0.0.1:9/share/in", "webdav+http://127.0.0.1:9/in"]
)
def test_a_private_address_is_refused_without_the_option(url: str) -> None:
    endpoint = "http://127.0.0.1:9" if url.startswith("s3") else ""
    location = StoreLocation(url=url, user=USER, secret=SECRET, endpoint=endpoint)

    with pytest.raises(SourceUnavailable, match="--allow-private"), open_file_store(location):
        pass


@pytest.mark.parametrize("url", ["sftp://127.0.0.1:9/in", "smb://127.0.0.1:9/share/in"])
def test_a_server_that_does_not_answer_is_a_reason_to_read(url: str) -> None:
    location = StoreLocation(url=url, user=USER, secret=SECRET, allow_private=True)

    with pytest.raises(SourceUnavailable, match="cannot be reached"), open_file_store(location):
        pass


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        assert name == "s3fs"

    monkeypatch.setattr(open_store, "find_spec", find_nothing)

    with (
        pytest.raises(SourceUnavailable, match=r"uv pip install 'parley\[s3\]'"),
        open_file_store(StoreLocation(url="s3://docs")),
    ):
        pass


def test_the_secret_of_a_google_bucket_is_a_service_account() -> None:
    with (
        pytest.raises(SourceUnavailable, match="service account") as refused,
        open_file_store(StoreLocation(url="gs://docs/in", secret="no-json-hush")),
    ):
        pass

    assert "hush" not in refused.value.reason
