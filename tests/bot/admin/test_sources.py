"""Sources: added, synced when due by one replica, and removed; and what is logged."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr
from structlog.testing import LogCapture

from bot.admin.bucket_syncs import BucketSync
from bot.admin.periodic_jobs import run_periodic_jobs
from bot.admin.source_kinds.folder_kind import FOLDER_KIND, FolderKind
from bot.admin.source_kinds.site_kind import SITE_KIND, SiteKind
from bot.admin.source_kinds.source_kind import SourceRequest
from bot.admin.sources import SourceOperations, sync_outcome_of
from bot.application import Application
from bot.errors import InvalidSource, SourceBusy, UnknownSource
from bot.surface.secret_sealing import SecretSeal
from storage.embedded.index import EmbeddedIndex
from storage.ingest.errors import SourceUnavailable, SyncLost
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.sources.folder import FolderSource
from storage.ingest.sources.source import DocumentSource, SourceItem
from storage.ingest.sources.sync import SyncResult
from storage.search.ids import BucketId
from storage.sql.database import SqlDatabase
from storage.sql.stores.sources import StoredSource
from tests.bot.conftest import wait_until
from tests.bot.fakes import Clock

NOTES = BucketId("notes")
HOUR = timedelta(hours=1)
OFTEN = timedelta(milliseconds=20)


class GatedFolderSource(FolderSource):
    """A folder that lists its items only after `opened` is set."""

    def __init__(self, path: Path, entered: asyncio.Event, opened: asyncio.Event) -> None:
        super().__init__(path)
        self._entered, self._opened = entered, opened

    async def list_items(self) -> AsyncIterator[SourceItem]:
        self._entered.set()
        await self._opened.wait()
        async for item in super().list_items():
            yield item


class RecordingFolderKind(FolderKind):
    """Opens the sources of these tests, and records which were opened."""

    def __init__(self) -> None:
        self.opened_sources: list[str] = []
        self.secrets: list[SecretStr | None] = []
        self.broken: set[str] = set()
        self.gate_events: tuple[asyncio.Event, asyncio.Event] | None = None

    @asynccontextmanager
    async def open_source(self, source: StoredSource, secret: SecretStr | None) -> AsyncGenerator[DocumentSource]:
        self.opened_sources.append(source.id)
        self.secrets.append(secret)
        if source.id in self.broken:
            raise PermissionError(13, "not for us")
        path = Path(source.location)
        yield FolderSource(path) if self.gate_events is None else GatedFolderSource(path, *self.gate_events)


@pytest.fixture
def openers() -> RecordingFolderKind:
    return RecordingFolderKind()


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()


@pytest.fixture
def a_replica(
    database: SqlDatabase, index: EmbeddedIndex, openers: RecordingFolderKind, tmp_path: Path, logged: LogCapture
) -> "SourceReplica":
    return SourceReplica(database, index, openers, tmp_path / "schemas", logged)


class SourceReplica:
    """Builds the source operations of one more process."""

    def __init__(
        self,
        database: SqlDatabase,
        index: EmbeddedIndex,
        openers: RecordingFolderKind,
        schemas: Path,
        logged: LogCapture,
    ) -> None:
        self._database, self._index, self._openers, self._schemas = database, index, openers, schemas
        self._log = structlog.wrap_logger(None, processors=[logged])

    def __call__(
        self, worker: str = "w1", lease: timedelta = timedelta(seconds=60), keys: Sequence[bytes] = (b"k1",)
    ) -> SourceOperations:
        return SourceOperations(
            database=self._database,
            index=self._index,
            kinds=(self._openers, SiteKind(lambda: datetime(2026, 11, 20, tzinfo=UTC))),
            seal=SecretSeal(keys),
            extractor=RuleExtractor(),
            schemas=self._schemas,
            worker=worker,
            log=self._log,
            lease=lease,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Hand Book"
    folder.mkdir()
    for number in range(10):
        (folder / f"n{number}.txt").write_text(f"note number {number}")
    return folder


def source_request_for(folder: Path, every: timedelta | None = HOUR) -> SourceRequest:
    return SourceRequest(kind=FOLDER_KIND, location=str(folder), bucket=NOTES, sync_interval=every)


async def count_documents(index: EmbeddedIndex) -> int:
    states = await index.load_bucket_states()
    return states[NOTES].document_count if NOTES in states else 0


async def test_a_source_is_named_after_its_folder_or_host(
    a_replica: SourceReplica, tmp_path: Path, folder: Path
) -> None:
    sources = a_replica()
    (tmp_path / "other" / "hand book").mkdir(parents=True)

    added = [
        await sources.add_source(source_request_for(folder)),
        await sources.add_source(source_request_for(tmp_path / "other" / "hand book")),
        await sources.add_source(SourceRequest(kind=SITE_KIND, location="HTTPS://www.Example.com:443", bucket=NOTES)),
    ]

    assert [source.id for source in added] == ["hand-book", "hand-book-2", "example.com"]
    assert added[2].location == "https://www.example.com/"


@pytest.mark.parametrize(
    ("kind", "location", "bucket", "reason"),
    [
        (FOLDER_KIND, "nowhere", "notes", "there is no folder"),
        (FOLDER_KIND, __file__, "notes", "is no folder"),
        (FOLDER_KIND, "\0", "notes", "folder"),
        (FOLDER_KIND, ".", "../x", "name of a bucket"),
        (SITE_KIND, "example.com", "notes", "https://"),
        (SITE_KIND, "ftp://example.com", "notes", "https://"),
        (SITE_KIND, "https://", "notes", "https://"),
        (SITE_KIND, "https://h:99999/", "notes", "https://"),
        (SITE_KIND, "https://[x/", "notes", "https://"),
        (SITE_KIND, "https://ann:hush@example.com", "notes", "password"),
    ],
)
async def test_an_invalid_source_is_refused_with_a_reason(
    a_replica: SourceReplica, kind: str, location: str, bucket: str, reason: str
) -> None:
    with pytest.raises(InvalidSource, match=reason) as refused:
        await a_replica().add_source(SourceRequest(kind=kind, location=location, bucket=bucket))

    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("every", [timedelta(seconds=59), timedelta(weeks=999_999)])
async def test_the_sync_interval_is_between_a_minute_and_a_year(
    a_replica: SourceReplica, folder: Path, every: timedelta
) -> None:
    with pytest.raises(InvalidSource, match="every minute"):
        await a_replica().add_source(source_request_for(folder, every=every))


async def test_the_same_location_is_added_only_once_to_a_bucket(a_replica: SourceReplica, folder: Path) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder))

    with pytest.raises(InvalidSource, match="already"):
        await sources.add_source(source_request_for(folder / ".." / folder.name))


async def test_the_outcome_of_a_sync_is_stored(
    a_replica: SourceReplica, index: EmbeddedIndex, clock: Clock, folder: Path
) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder, every=None))
    assert [sync.ended_at for sync in (await sources.list_bucket_syncs()).values()] == [None]

    synced = await sources.sync_source("hand-book")

    assert (sync_outcome_of(synced), await count_documents(index)) == ("done", 10)
    [source] = await sources.list_sources()
    assert (source.outcome, source.documents, source.failure) == ("done", 10, None)
    assert source.counts is not None
    assert (source.counts["added"], source.counts["deleted"]) == (10, 0)
    assert await sources.list_bucket_syncs() == {NOTES: BucketSync(ended_at=clock(), succeeded_at=clock())}


async def test_a_refused_sweep_is_an_outcome_that_says_what_to_do(a_replica: SourceReplica, folder: Path) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder))
    await sources.sync_source("hand-book")
    for number in range(3):
        (folder / f"n{number}.txt").unlink()

    await sources.sync_source("hand-book")

    [source] = await sources.list_sources()
    assert (source.outcome, source.documents) == ("refused", 10)
    assert source.failure is not None
    assert "3 of its 10 documents" in source.failure
    assert "--sweep-anyway" in source.failure


async def test_a_source_is_removed_with_or_without_its_documents(
    a_replica: SourceReplica, index: EmbeddedIndex, folder: Path
) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder))
    await sources.sync_source("hand-book")

    assert await sources.remove_source("hand-book", keep_documents=True, by="test") == 10
    assert (await count_documents(index), await sources.list_sources()) == (10, [])
    await sources.add_source(source_request_for(folder))
    await sources.sync_source("hand-book")
    assert await sources.remove_source("hand-book", by="test") == 10
    assert (await count_documents(index), await sources.list_sources()) == (0, [])
    with pytest.raises(UnknownSource, match="none yet"):
        await sources.remove_source("hand-book", by="test")


async def test_only_one_of_two_replicas_syncs_a_due_source(
    a_replica: SourceReplica, openers: RecordingFolderKind, index: EmbeddedIndex, folder: Path
) -> None:
    openers.gate_events = asyncio.Event(), asyncio.Event()
    entered, opened = openers.gate_events
    first, second = a_replica("w1"), a_replica("w2")
    await first.add_source(source_request_for(folder))
    running = asyncio.create_task(first.sync_due_sources())
    await entered.wait()

    await second.sync_due_sources()
    with pytest.raises(SourceBusy):
        await second.sync_source("hand-book")
    with pytest.raises(SourceBusy):
        await second.remove_source("hand-book", by="test")
    opened.set()
    await running
    await second.sync_due_sources()

    assert (openers.opened_sources, await count_documents(index)) == (["hand-book"], 10)


async def test_a_source_is_due_again_after_its_interval(
    a_replica: SourceReplica, openers: RecordingFolderKind, clock: Clock, folder: Path
) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder))

    for minutes in (0, 59, 1):
        clock.advance(timedelta(minutes=minutes))
        await sources.sync_due_sources()

    assert openers.opened_sources == ["hand-book"] * 2


async def test_a_source_that_fails_blocks_no_other_and_is_logged_once(
    a_replica: SourceReplica,
    openers: RecordingFolderKind,
    index: EmbeddedIndex,
    tmp_path: Path,
    folder: Path,
    logged: LogCapture,
) -> None:
    sources = a_replica()
    (tmp_path / "broken").mkdir()
    for source_folder in (tmp_path / "broken", folder):
        await sources.add_source(source_request_for(source_folder))
    openers.broken = {"broken"}

    await sources.sync_due_sources()
    await sources.sync_due_sources()

    assert {source.id: source.outcome for source in await sources.list_sources()} == {
        "broken": "failed",
        "hand-book": "done",
    }
    assert await count_documents(index) == 10
    assert [(entry["source"], entry["log_level"]) for entry in logged.entries if entry["log_level"] == "warning"] == [
        ("broken", "warning")
    ]


async def test_a_cancelled_sync_releases_its_lease(
    a_replica: SourceReplica, openers: RecordingFolderKind, index: EmbeddedIndex, folder: Path
) -> None:
    openers.gate_events = asyncio.Event(), asyncio.Event()
    sources = a_replica()
    await sources.add_source(source_request_for(folder))
    running = asyncio.create_task(sources.sync_source("hand-book"))
    await openers.gate_events[0].wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    openers.gate_events = None
    assert (await a_replica("w2").sync_source("hand-book")).added == 10


async def test_the_secret_of_a_source_is_sealed_and_given_only_to_its_kind(
    a_replica: SourceReplica, openers: RecordingFolderKind, folder: Path
) -> None:
    sources = a_replica()

    added = await sources.add_source(replace(source_request_for(folder), secret=SecretStr("hush-hush")))
    await sources.sync_source("hand-book")

    assert added.credential is not None
    assert "hush" not in repr(added)
    assert openers.secrets == [SecretStr("hush-hush")]


async def test_a_secret_that_no_key_opens_is_asked_for_again_and_can_be_replaced(
    a_replica: SourceReplica, openers: RecordingFolderKind, folder: Path
) -> None:
    await a_replica().add_source(replace(source_request_for(folder), secret=SecretStr("old")))
    other = a_replica(keys=[b"k2"])

    with pytest.raises(SourceUnavailable, match="parley source secret hand-book"):
        await other.sync_source("hand-book")
    await other.replace_secret("hand-book", SecretStr("new"))
    await other.sync_source("hand-book")

    assert openers.secrets == [SecretStr("new")]
    assert [source.outcome for source in await other.list_sources()] == ["done"]


async def test_a_kind_that_is_not_known_is_refused_with_those_that_are(a_replica: SourceReplica) -> None:
    with pytest.raises(InvalidSource, match="there are folder, site"):
        await a_replica().add_source(SourceRequest(kind="ftp", location="ftp://example.com/", bucket=NOTES))


async def take_over_sync(taking: SourceOperations, clock: Clock) -> SyncResult:
    """The sync by a replica that finds the lease expired. The holder may renew it just before, so this retries."""
    while True:
        clock.advance(timedelta(minutes=5))
        with contextlib.suppress(SourceBusy):
            return await taking.sync_source("hand-book")


async def test_a_sync_that_loses_its_lease_ends_by_itself(
    a_replica: SourceReplica, openers: RecordingFolderKind, clock: Clock, folder: Path
) -> None:
    openers.gate_events = asyncio.Event(), asyncio.Event()
    lease = timedelta(milliseconds=60)
    slow_replica = a_replica("w1", lease=lease)
    await slow_replica.add_source(source_request_for(folder))
    running = asyncio.create_task(slow_replica.sync_source("hand-book"))
    await openers.gate_events[0].wait()

    other_replica = a_replica("w2")
    openers.gate_events = None
    synced = await take_over_sync(other_replica, clock)

    with pytest.raises(SyncLost):
        await running
    assert synced.added == 10
    [source] = await other_replica.list_sources()
    assert source.outcome == "done"


async def test_a_due_source_is_synced_by_the_periodic_jobs(
    a_replica: SourceReplica, bot: Application, index: EmbeddedIndex, folder: Path, logged: LogCapture
) -> None:
    sources = a_replica()
    await sources.add_source(source_request_for(folder))

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        sources,
        bot.log,
        job_runs=bot.job_runs,
        interval=OFTEN,
    ):
        await wait_until(lambda: bool(logged.entries))

    assert [entry["event"] for entry in logged.entries] == ["source synced"]
    assert await count_documents(index) == 10


async def test_a_running_sync_is_cancelled_and_releases_its_lease_when_the_process_ends(
    a_replica: SourceReplica, openers: RecordingFolderKind, bot: Application, folder: Path
) -> None:
    openers.gate_events = asyncio.Event(), asyncio.Event()
    sources = a_replica()
    await sources.add_source(source_request_for(folder))

    async with run_periodic_jobs(
        bot.turn_processor,
        bot.exports,
        bot.file_offers,
        bot.attachments,
        sources,
        bot.log,
        job_runs=bot.job_runs,
        interval=OFTEN,
    ):
        await openers.gate_events[0].wait()

    openers.gate_events = None
    assert (await a_replica("w2").sync_source("hand-book")).added == 10
