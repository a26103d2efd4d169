"""Who may read the files of stores, over real servers: modes of SFTP, security descriptors of SMB, lists of objects."""

import asyncio
import pwd
import shutil
import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from storage.ingest.sources.access_list import AccessList
from storage.ingest.sources.principals import PrincipalMapping
from storage.ingest.sources.source import ClosedItem, FetchedItem, FetchResult
from storage.ingest.sources.stores.open_store import StoreLocation, open_file_store
from storage.ingest.sources.stores.sftp_server import access_list_of as access_list_of_mode
from storage.ingest.sources.stores.share_access import UnreadableDescriptor, access_list_of
from storage.ingest.sources.stores.store_source import StoreSource
from storage.search.ids import EVERYONE, Subject
from storage.search.subjects import NOBODY, email_subject_for
from tests.servers.cloud_stores import GoogleBucket, google_bucket
from tests.servers.file_stores import SECRET, USER, FolderOfServer, ObjectStoreServer, SftpServer
from tests.servers.process import UNPRIVILEGED, scratch_folder
from tests.servers.samba import ShareServer

LIZ, STAFF = Subject("user:slack:T1:U1"), Subject("group:staff")


async def fetch_all(location: StoreLocation, mapping: Mapping[str, Subject], folder: Path) -> dict[str, FetchResult]:
    await asyncio.to_thread(folder.mkdir)
    with open_file_store(location) as store:
        source = StoreSource(store, location.url, clock=lambda: datetime.now(UTC), principals=PrincipalMapping(mapping))
        items = [item async for item in source.list_items()]
        return {item.id: await source.fetch_item(item, "", folder) for item in items}


async def load_readers(
    location: StoreLocation, mapping: Mapping[str, Subject], folder: Path
) -> dict[str, set[Subject]]:
    fetched = await fetch_all(location, mapping, folder)
    return {name: set(result.readers) for name, result in fetched.items() if isinstance(result, FetchedItem)}


async def list_versions(location: StoreLocation, mapping: Mapping[str, Subject]) -> dict[str, str]:
    with open_file_store(location) as store:
        source = StoreSource(store, location.url, clock=lambda: datetime.now(UTC), principals=PrincipalMapping(mapping))
        return {item.id: item.version async for item in source.list_items()}


# -- SFTP


@pytest.fixture
def open_folder() -> Iterator[FolderOfServer]:
    """A folder of the SFTP server's user that all may pass."""
    with scratch_folder("modes") as folder:
        folder.chmod(0o755)
        yield FolderOfServer(folder)


def names_of_owner(path: Path) -> tuple[str, str]:
    status = path.stat()
    return f"user:{pwd.getpwuid(status.st_uid).pw_name}", f"group:{status.st_gid}"


async def test_the_mode_of_a_file_says_who_may_read_it(
    sftp: SftpServer, open_folder: FolderOfServer, tmp_path: Path
) -> None:
    modes = {"group.txt": 0o640, "owner.txt": 0o600, "all.txt": 0o644, "not-group.txt": 0o604, "not-owner.txt": 0o440}
    for name, mode in modes.items():
        open_folder.write(name, "one")
        (open_folder.path / name).chmod(mode)
    owner, group = names_of_owner(open_folder.path / "all.txt")

    readers = await load_readers(
        sftp.location_of(open_folder.path), {owner: LIZ, group: STAFF, "others": EVERYONE}, tmp_path / "got"
    )

    assert readers == {
        "group.txt": {LIZ, STAFF},
        "owner.txt": {LIZ},
        "all.txt": {LIZ, STAFF, EVERYONE},
        "not-group.txt": {NOBODY},
        "not-owner.txt": {LIZ, STAFF},
    }


async def test_nobody_passes_a_private_folder_to_an_open_file(
    sftp: SftpServer, open_folder: FolderOfServer, tmp_path: Path
) -> None:
    open_folder.write("private/deep/all.txt", "one")
    (open_folder.path / "private" / "deep" / "all.txt").chmod(0o644)
    for folder, mode in (("private/deep", 0o755), ("private", 0o700)):
        if UNPRIVILEGED is not None:
            shutil.chown(open_folder.path / folder, UNPRIVILEGED)
        (open_folder.path / folder).chmod(mode)
    owner, group = names_of_owner(open_folder.path / "private")
    mapping = {
        owner: LIZ,
        f"user:{(open_folder.path / 'private').stat().st_uid}": LIZ,
        group: STAFF,
        "others": EVERYONE,
    }

    for place in ("", "private", "private/deep"):
        readers = await load_readers(sftp.location_of(open_folder.path / place), mapping, tmp_path / (place or "root"))
        assert [*readers.values()] == [{LIZ}], place


async def test_a_changed_mode_is_a_new_version(sftp: SftpServer, open_folder: FolderOfServer) -> None:
    open_folder.write("a.txt", "one")
    location, file = sftp.location_of(open_folder.path), open_folder.path / "a.txt"
    owner, group = names_of_owner(file)
    mapping = {owner: LIZ, group: STAFF}
    file.chmod(0o640)
    before, again = await list_versions(location, mapping), await list_versions(location, mapping)

    file.chmod(0o600)

    assert before == again
    assert before["a.txt"]
    assert (await list_versions(location, mapping))["a.txt"] not in ("", before["a.txt"])


class SentAttributes:
    """The attributes of a file as paramiko has them."""

    def __init__(self, mode: int | None, long_name: str = "") -> None:
        self.st_mode, self.st_uid, self.st_gid, self.longname = mode, 1001, 100, long_name


@pytest.mark.parametrize(
    ("long_name", "owner"),
    [
        ("-rw-r--r--    1 liz      staff        10 Nov 20 09:30 a.txt", ("user:1001", "user:liz")),
        ("-rw-r--r--+   1 liz      staff        10 Nov 20 09:30 a.txt", ("user:1001", "user:liz")),
        ("-rw-r--r--    1 1002     staff        10 Nov 20 09:30 a.txt", ("user:1001",)),
        ("-rw-r--r--    1 liz of sales  staff   10 Nov 20 09:30 a.txt", ("user:1001",)),
        ("", ("user:1001",)),
    ],
)
def test_names_are_those_of_the_listing_where_it_is_clear(long_name: str, owner: tuple[str, ...]) -> None:
    access = access_list_of_mode(SentAttributes(0o100600, long_name))

    assert access == AccessList(allowed=(owner,))


def test_a_server_that_tells_no_mode_tells_nobody() -> None:
    assert access_list_of_mode(SentAttributes(None)) is None


# -- SMB


def sid_bytes(sid: str) -> bytes:
    authority, *parts = map(int, sid.split("-")[2:])
    return struct.pack("<BB", 1, len(parts)) + authority.to_bytes(6, "big") + struct.pack(f"<{len(parts)}I", *parts)


def entry_bytes(kind: int, rights: int, sid: str, *, flags: int = 0) -> bytes:
    body = struct.pack("<I", rights) + sid_bytes(sid)
    return struct.pack("<BBH", kind, flags, len(body) + 4) + body


def descriptor_of(*entries: bytes, count: int | None = None) -> bytes:
    body = b"".join(entries)
    dacl = struct.pack("<BBHHH", 2, 0, 8 + len(body), len(entries) if count is None else count, 0) + body
    return struct.pack("<BBHIIII", 1, 0, 0x8004, 0, 0, 0, 20) + dacl


HR_SID, LIZ_SID, WORLD_SID = "S-1-5-21-1-2-3-1104", "S-1-5-21-1-2-3-1105", "S-1-1-0"
READ = 0x0012_0089


def test_the_entries_of_a_descriptor_allow_and_deny() -> None:
    descriptor = descriptor_of(
        entry_bytes(1, READ, LIZ_SID),
        entry_bytes(1, 0x0001_0000, "S-1-5-21-1-2-3-1106"),  # only deleting
        entry_bytes(0, READ, HR_SID),
        entry_bytes(0, 0x1000_0000, "S-1-5-32-544", flags=0x03),
        entry_bytes(0, READ, "S-1-3-0", flags=0x0B),  # only for what is made in the folder
        entry_bytes(0, 0x0002_0000, "S-1-5-21-1-2-3-1107"),  # may only read the list
    )

    assert access_list_of(descriptor, 0x1 | 0x1000_0000) == AccessList(
        allowed=((HR_SID,), ("S-1-5-32-544",)), denied=((LIZ_SID,),)
    )


def test_who_is_allowed_nothing_is_denied_what_a_later_entry_allows() -> None:
    owner, none, everybody = entry_bytes(0, READ, LIZ_SID), entry_bytes(0, 0, HR_SID), entry_bytes(0, READ, WORLD_SID)

    assert access_list_of(descriptor_of(owner, none), 0x1) == AccessList(allowed=((LIZ_SID,),))
    assert access_list_of(descriptor_of(owner, none, everybody), 0x1) == AccessList(
        allowed=((LIZ_SID,), (WORLD_SID,)), denied=((HR_SID,),)
    )


@pytest.mark.parametrize("sid", ["S-1-1-0", "S-1-5-11", "S-1-5-32-545", "S-1-5-21-1-2-3-513"])
def test_an_entry_for_everybody_is_for_all_unless_somebody_is_denied(sid: str) -> None:
    everybody, denied = entry_bytes(0, READ, sid), entry_bytes(1, READ, LIZ_SID)

    assert access_list_of(descriptor_of(everybody), 0x1).is_for_all
    assert not access_list_of(descriptor_of(everybody, denied), 0x1).is_for_all
    assert not access_list_of(descriptor_of(entry_bytes(0, READ, HR_SID)), 0x1).is_for_all


def test_entries_with_conditions_allow_nobody_and_deny_somebody_unknown() -> None:
    allowing, denying = entry_bytes(0x09, READ, HR_SID), entry_bytes(0x0A, READ, HR_SID)

    assert access_list_of(descriptor_of(allowing), 0x1) == AccessList(allowed=())
    assert access_list_of(descriptor_of(denying), 0x1) == AccessList(allowed=(), denied=(("",),))


@pytest.mark.parametrize(
    "descriptor",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(struct.pack("<BBHIIII", 1, 0, 0x8004, 0, 0, 0, 0), id="no list, which would open it"),
        pytest.param(struct.pack("<BBHIIII", 1, 0, 0x8000, 0, 0, 0, 20), id="a list that is not told"),
        pytest.param(descriptor_of(entry_bytes(0, READ, HR_SID), count=2), id="fewer entries than told"),
        pytest.param(descriptor_of(entry_bytes(0, READ, HR_SID))[:-4], id="cut off"),
        pytest.param(descriptor_of(b"\0\0\4\0"), id="an entry without rights"),
    ],
)
def test_what_is_no_descriptor_is_not_read(descriptor: bytes) -> None:
    with pytest.raises(UnreadableDescriptor):
        access_list_of(descriptor, 0x1)


@pytest.fixture
def share_folder(samba: ShareServer) -> FolderOfServer:
    """A folder of the share that all may pass."""
    folder = samba.share / uuid4().hex
    folder.mkdir()
    if UNPRIVILEGED is not None:
        shutil.chown(folder, UNPRIVILEGED)
    folder.chmod(0o755)
    return FolderOfServer(folder)


async def find_owner_sid(location: StoreLocation, folder: Path) -> str:
    """Returns the principal of the owner, which a sync names where nobody has mapped it."""
    results = await fetch_all(location, {}, folder)
    fetched = results["owner.txt"]
    assert isinstance(fetched, FetchedItem)
    assert fetched.readers == {NOBODY}
    [remark] = fetched.remarks
    return remark.partition(" ")[0]


async def test_the_security_descriptor_of_a_file_says_who_may_read_it(
    samba: ShareServer, share_folder: FolderOfServer, tmp_path: Path
) -> None:
    modes = {"group.txt": 0o640, "owner.txt": 0o600, "all.txt": 0o644, "not-group.txt": 0o604}
    for name, mode in modes.items():
        share_folder.write(name, "one")
        (share_folder.path / name).chmod(mode)
    group = f"S-1-22-2-{(share_folder.path / 'all.txt').stat().st_gid}"  # as Samba numbers the groups of Unix
    location = samba.location_of(share_folder.path)
    owner = await find_owner_sid(location, tmp_path / "owner")

    readers = await load_readers(location, {owner: LIZ, group: STAFF, WORLD_SID: EVERYONE}, tmp_path / "got")

    assert readers == {
        "group.txt": {LIZ, STAFF},
        "owner.txt": {LIZ},
        "all.txt": {LIZ, STAFF, EVERYONE},
        "not-group.txt": {NOBODY},
    }


async def test_a_private_folder_of_a_share_closes_an_open_file_in_it(
    samba: ShareServer, share_folder: FolderOfServer, tmp_path: Path
) -> None:
    share_folder.write("owner.txt", "one")
    (share_folder.path / "owner.txt").chmod(0o600)
    owner = await find_owner_sid(samba.location_of(share_folder.path), tmp_path / "owner")
    share_folder.write("private/all.txt", "one")
    (share_folder.path / "private" / "all.txt").chmod(0o644)
    (share_folder.path / "private").chmod(0o700)

    for number, folder in enumerate((share_folder.path, share_folder.path / "private")):
        readers = await load_readers(
            samba.location_of(folder), {owner: LIZ, WORLD_SID: EVERYONE}, tmp_path / str(number)
        )
        assert set().union(*readers.values()) == {LIZ}


async def test_a_changed_security_descriptor_is_a_new_version(samba: ShareServer, share_folder: FolderOfServer) -> None:
    share_folder.write("a.txt", "one")
    location, file = samba.location_of(share_folder.path), share_folder.path / "a.txt"
    file.chmod(0o644)
    before, again = [await list_versions(location, {WORLD_SID: EVERYONE}) for _ in range(2)]

    file.chmod(0o640)

    assert before == again
    assert before["a.txt"]
    assert (await list_versions(location, {WORLD_SID: EVERYONE}))["a.txt"] not in ("", before["a.txt"])


# -- S3


@pytest.fixture
def bucket(object_store: ObjectStoreServer) -> StoreLocation:
    name = f"b{uuid4().hex}"
    object_store.create_bucket(name)
    return StoreLocation(url=f"s3://{name}/in", user=USER, secret=SECRET, endpoint=object_store.url, allow_private=True)


def put_object(object_store: ObjectStoreServer, location: StoreLocation, name: str, grants: Mapping[str, str]) -> None:
    path = f"{location.url.removeprefix('s3:/')}/{name}"
    object_store.request("PUT", path, b"one")
    object_store.set_access(path, grants)


ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers"
SIGNED_IN = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"


async def test_the_grants_of_an_object_say_who_may_read_it(
    object_store: ObjectStoreServer, bucket: StoreLocation, tmp_path: Path
) -> None:
    put_object(object_store, bucket, "liz.txt", {"abc1": "FULL_CONTROL", "fed2": "READ"})
    put_object(object_store, bucket, "write.txt", {"abc1": "WRITE_ACP", "fed2": "READ_ACP"})
    put_object(object_store, bucket, "all.txt", {ALL_USERS: "READ"})
    put_object(object_store, bucket, "signed-in.txt", {SIGNED_IN: "READ"})
    mapping = {"user:fed2": LIZ, "group:AuthenticatedUsers": STAFF}

    readers = await load_readers(bucket, mapping, tmp_path / "got")
    with_all = await load_readers(bucket, mapping | {"group:AllUsers": EVERYONE}, tmp_path / "again")

    assert readers == {"liz.txt": {LIZ}, "write.txt": {NOBODY}, "all.txt": {NOBODY}, "signed-in.txt": {STAFF}}
    assert with_all == readers | {"all.txt": {EVERYONE}}


async def test_an_access_list_that_is_refused_closes_its_object(
    object_store: ObjectStoreServer, bucket: StoreLocation, tmp_path: Path
) -> None:
    put_object(object_store, bucket, "a.txt", {"fed2": "READ"})
    put_object(object_store, bucket, "b.txt", {"fed2": "READ"})
    object_store.gate.forbidden.add("/in/a.txt?acl")

    fetched = await fetch_all(bucket, {"user:fed2": LIZ}, tmp_path / "got")

    assert {name: type(result) for name, result in fetched.items()} == {"a.txt": ClosedItem, "b.txt": FetchedItem}


# -- Google Cloud Storage


@pytest.fixture
def google() -> Iterator[GoogleBucket]:
    with google_bucket() as bucket:
        yield bucket


async def test_the_entities_of_a_google_object_say_who_may_read_it(google: GoogleBucket, tmp_path: Path) -> None:
    entities = {
        "liz.txt": {"user-liz@example.com": "READER"},
        "staff.txt": {"group-staff@example.com": "OWNER", "allUsers": "WRITER"},
        "all.txt": {"allUsers": "READER"},
        "domain.txt": {"domain-example.com": "READER", "project-viewers-12": "READER"},
        "none.txt": {},
    }
    for name, role_by_entity in entities.items():
        google.write(name, "one")
        google.set_access(name, role_by_entity)
    mapping = {"user:liz@example.com": LIZ, "group:staff@example.com": STAFF, "domain:example.com": EVERYONE}

    readers = await load_readers(google.location, mapping, tmp_path / "got")

    assert readers == {
        "liz.txt": {LIZ, email_subject_for("liz@example.com")},
        "staff.txt": {STAFF},
        "all.txt": {NOBODY},
        "domain.txt": {EVERYONE},
        "none.txt": {NOBODY},
    }
