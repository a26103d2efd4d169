"""Stores of files as sources of a bucket: added, synced, changed, guarded, refused and continued, over real servers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
import structlog
from pydantic import SecretStr
from structlog.testing import LogCapture

from bot.admin.source_kinds.confluence_kind import ConfluenceKind
from bot.admin.source_kinds.mail_kind import MailKind
from bot.admin.source_kinds.rest_kind import RestKind
from bot.admin.source_kinds.source_kind import SourceRequest
from bot.admin.source_kinds.sql_kind import QueryKind
from bot.admin.source_kinds.store_kind import STORE_KINDS, StoreKind
from bot.admin.sources import SourceOperations, sync_counts_of, sync_outcome_of
from bot.errors import InvalidSource
from bot.surface.secret_sealing import SecretSeal
from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.sources.sync import SyncProgress
from storage.search.ids import BucketId, Subject
from storage.search.index import RecordPageRequest
from storage.search.plan import Clause, Search
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from tests.servers.file_stores import SECRET, USER, ObjectStoreServer

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DOCUMENT_COUNT = 10


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()


@pytest.fixture
def sources(database: SqlDatabase, index: EmbeddedIndex, tmp_path: Path, logged: LogCapture) -> SourceOperations:
    return SourceOperations(
        database=database,
        index=index,
        kinds=[
            *(StoreKind(name, lambda: NOW) for name in STORE_KINDS),
            QueryKind(),
            MailKind(),
            RestKind(lambda: NOW),
            ConfluenceKind(lambda: NOW),
        ],
        seal=SecretSeal([b"k1"]),
        extractor=RuleExtractor(),
        schemas=tmp_path / "schemas",
        worker="w1",
        log=structlog.wrap_logger(None, processors=[logged]),
    )


@pytest.fixture
def bucket(object_store: ObjectStoreServer) -> str:
    """A bucket of the store with ten objects in `in/`."""
    object_store.gate.forbidden.clear()  # what another test may have left
    name = f"b{uuid4().hex}"
    object_store.create_bucket(name)
    for number in range(DOCUMENT_COUNT):
        object_store.request("PUT", f"/{name}/in/n{number}.txt", f"note number {number}".encode())
    return name


@pytest.fixture
def request_for(object_store: ObjectStoreServer) -> Callable[[str], SourceRequest]:
    def build_request(bucket: str) -> SourceRequest:
        return SourceRequest(
            kind="s3",
            location=f"s3://{bucket}/in",
            bucket="notes",
            allow_private=True,
            options={"user": USER, "endpoint": object_store.url},
            secret=SecretStr(SECRET),
        )

    return build_request


async def test_new_changed_and_deleted_objects_are_followed(
    sources: SourceOperations,
    object_store: ObjectStoreServer,
    bucket: str,
    request_for: Callable[[str], SourceRequest],
) -> None:
    added = await sources.add_source(request_for(bucket))
    first = await sources.sync_source("in")
    object_store.request("PUT", f"/{bucket}/in/n0.txt", b"another text")
    object_store.request("DELETE", f"/{bucket}/in/n1.txt")
    object_store.gate.requests.clear()

    second = await sources.sync_source("in")

    assert (added.id, added.location) == ("in", f"s3://{bucket}/in")
    assert (first.added, sync_outcome_of(first)) == (DOCUMENT_COUNT, "done")
    counts = sync_counts_of(second)
    assert (counts["replaced"], counts["deleted"], counts["unchanged"]) == (1, 1, 8)
    fetched = {
        line for line in object_store.gate.requests if "n" in line and line.startswith("GET") and "/in/n" in line
    }
    assert all("/in/n0.txt" in line for line in fetched)


async def test_large_deletions_and_broken_listings_delete_nothing(
    sources: SourceOperations,
    object_store: ObjectStoreServer,
    bucket: str,
    request_for: Callable[[str], SourceRequest],
) -> None:
    await sources.add_source(request_for(bucket))
    await sources.sync_source("in")
    for number in range(3):
        object_store.request("DELETE", f"/{bucket}/in/n{number}.txt")

    refused = await sources.sync_source("in")
    object_store.gate.forbidden.add(f"GET /{bucket}?list-type")
    broken = await sources.sync_source("in", sweep_anyway=True)
    object_store.gate.forbidden.clear()
    confirmed = await sources.sync_source("in", sweep_anyway=True)

    assert [sync_outcome_of(synced) for synced in (refused, broken, confirmed)] == ["refused", "incomplete", "done"]
    assert [sync_counts_of(synced)["deleted"] for synced in (refused, broken, confirmed)] == [0, 0, 3]


async def test_a_sync_that_is_cut_off_is_continued(
    sources: SourceOperations,
    object_store: ObjectStoreServer,
    index: EmbeddedIndex,
    bucket: str,
    request_for: Callable[[str], SourceRequest],
) -> None:
    await sources.add_source(request_for(bucket))
    started = asyncio.Event()

    def note_progress(progress: SyncProgress) -> None:
        started.set()

    running = asyncio.create_task(sources.sync_source("in", progress=note_progress))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    continued = await sources.sync_source("in")

    assert sync_outcome_of(continued) == "done"
    assert (await index.load_bucket_sizes())[BucketId("notes")].document_count == DOCUMENT_COUNT


async def test_wrong_credentials_are_told_without_the_secret(
    sources: SourceOperations,
    object_store: ObjectStoreServer,
    bucket: str,
    request_for: Callable[[str], SourceRequest],
    logged: LogCapture,
) -> None:
    await sources.add_source(replace(request_for(bucket), secret=SecretStr("not-the-secret")))
    object_store.gate.forbidden.add(f"/{bucket}")

    await sources.sync_source("in")

    object_store.gate.forbidden.clear()
    [source] = await sources.list_sources()
    assert source.failure is not None
    assert "password, key or token is wrong" in source.failure
    assert "not-the-secret" not in repr((source, logged.entries))


def grant_read(object_store: ObjectStoreServer, path: str, principal: str) -> None:
    kind, _, name = principal.partition(":")
    grantee = f"http://acs.amazonaws.com/groups/global/{name}" if kind == "group" else name
    object_store.set_access(path, {grantee: "READ"})


@pytest.mark.parametrize("principal", ["group:AuthenticatedUsers", "user:fed2"])
async def test_only_those_whom_an_access_list_allows_find_an_object(
    sources: SourceOperations,
    index: EmbeddedIndex,
    object_store: ObjectStoreServer,
    bucket: str,
    request_for: Callable[[str], SourceRequest],
    principal: str,
) -> None:
    async def list_found(subject: str) -> list[str]:
        scope = Scope(
            tenant=index.tenant, buckets=frozenset({BucketId("notes")}), subjects=frozenset({Subject(subject)})
        )
        listing = RecordPageRequest(Search(clauses=(Clause(bucket=BucketId("notes")),)), order_by_id=True)
        page = (await index.within_scope(scope).answer_requests(listing))[listing]
        return [str(record.doc_id) for record in page.records]

    request = request_for(bucket)
    options = {**request.options, "readers": True, "principals": [f"{principal}=group:staff"]}
    await sources.add_source(replace(request, options=options))
    grant_read(object_store, f"/{bucket}/in/n0.txt", principal)

    first = await sources.sync_source("in")
    after_first = [await list_found(subject) for subject in ("group:staff", "everyone", "nobody-else")]
    grant_read(object_store, f"/{bucket}/in/n1.txt", principal)
    grant_read(object_store, f"/{bucket}/in/n0.txt", "user:somebody-else")
    second = await sources.sync_source("in")
    after_second = await list_found("group:staff")
    object_store.gate.forbidden.add("/in/n1.txt?acl")
    third = await sources.sync_source("in")

    assert after_first == [["in:n0.txt"], [], []]
    assert after_second == ["in:n1.txt"]
    assert await list_found("group:staff") == []
    counts = [sync_counts_of(synced) for synced in (first, second, third)]
    assert [(count["added"], count["replaced"], count["failed"]) for count in counts] == [
        (10, 0, 0),
        (0, 2, 0),
        (0, 0, 1),
    ]
    assert "who may read it cannot be found out" in third.failures[0].reason
    assert any("--principal" in remark for remark in first.remarks)


@pytest.mark.parametrize(
    ("kind", "location", "options", "secret", "reason"),
    [
        ("s3", "s3://key:hush@docs/in", {}, None, "a password, . or #"),
        ("s3", "s3://docs/in?token=hush", {}, None, "a password, . or #"),
        ("s3", "s3://", {}, None, "no address"),
        ("s3", "s3://docs", {"host_key": "x"}, None, "takes no --host-key"),
        ("s3", "s3://docs", {"endpoint": "ftp://x"}, None, "--endpoint"),
        ("s3", "s3://docs", {}, "hush", "--user"),
        ("s3", "s3://docs", {"anonymous": True, "user": "u"}, "hush", "not both"),
        ("abfs", "abfs://docs", {}, None, "--user"),
        ("smb", "smb://host/", {"user": "u"}, "hush", "smb://files.example.com/share"),
        ("webdav", "webdav://host/", {}, None, "webdav.https://"),
        ("sftp", "sftp://ann:hush@host/", {}, None, "a password, . or #"),
        ("sftp", "sftp://[x/", {}, None, "no address"),
        ("ftp", "ftp://host/", {}, None, "not a kind of source"),
        ("s3", "s3://docs", {"principals": ["user:a=user:local:ann"]}, None, "add --readers"),
        ("smb", "smb://files.example.com/docs", {"readers": True, "principals": ["S-1-1-0"]}, None, "no pair"),
        ("webdav", "webdav+https://files.example.com/docs", {"readers": True}, None, "takes no --readers, since"),
        ("abfs", "abfs://docs", {"user": "ann", "readers": True}, None, "grant the bucket to those who may read all"),
        ("abfs", "abfs://docs", {"principals": ["a=everyone"], "user": "ann"}, None, "takes no --readers, since"),
    ],
)
async def test_an_invalid_store_is_refused_with_a_reason(
    sources: SourceOperations, kind: str, location: str, options: dict[str, object], secret: str | None, reason: str
) -> None:
    request = SourceRequest(
        kind=kind,
        location=location,
        bucket="notes",
        options=options,
        secret=None if secret is None else SecretStr(secret),
    )

    with pytest.raises(InvalidSource, match=reason) as refused:
        await sources.add_source(request)

    assert "hush" not in str(refused.value)


async def test_the_user_of_a_url_is_kept_apart_from_it(sources: SourceOperations) -> None:
    request = SourceRequest(kind="sftp", location="sftp://ann@files.example.com/srv/Our%20Files/", bucket="notes")

    added = await sources.add_source(request)

    assert (added.id, added.location) == ("our-files", "sftp://files.example.com/srv/Our%20Files")
    assert added.options == {"user": "ann"}


@pytest.mark.parametrize(
    ("kind", "location", "options", "secret"),
    [
        ("sftp", "sftp://127.0.0.1/srv", {}, None),
        ("smb", "smb://10.1.2.3/share/in", {"user": "ann"}, "hush"),
        ("webdav", "webdav+https://192.168.7.1/in", {}, None),
        ("sql", "postgresql://ann@10.1.2.3/shop", {"query": "SELECT 1 AS id", "key": "id"}, None),
        ("imap", "imaps://ann@127.0.0.1/INBOX", {}, "hush"),
        ("rest", "https://10.1.2.3/list", {"items": "$.items", "id": "$.id", "text": "$.text"}, None),
        ("confluence", "https://[::1]/wiki", {}, "hush"),
    ],
)
async def test_a_private_address_is_refused_when_the_source_is_added(
    sources: SourceOperations, kind: str, location: str, options: dict[str, object], secret: str | None
) -> None:
    request = SourceRequest(
        kind=kind,
        location=location,
        bucket="notes",
        options=options,
        secret=None if secret is None else SecretStr(secret),
    )

    with pytest.raises(InvalidSource, match="add it with --allow-private"):
        await sources.add_source(request)
    allowed = await sources.add_source(replace(request, allow_private=True))

    assert allowed.kind == kind


async def test_an_unknown_scheme_is_told_the_kinds_of_files_first(sources: SourceOperations) -> None:
    with pytest.raises(InvalidSource) as refused:
        await sources.add_source(SourceRequest(kind="ftp", location="ftp://host/", bucket="notes"))

    reason = str(refused.value)
    assert reason.startswith("ftp:// is not a kind of source; files are in s3://")
    assert reason.index("webdav+https://") < reason.index("the other kinds are")
