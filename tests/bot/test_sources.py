"""Sources as the bot keeps them: added, synced when due by one replica, removed; and what is logged."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from structlog.testing import LogCapture

from bot.bootstrap import Bot
from bot.errors import InvalidSource, SourceBusy, UnknownSource
from bot.jobs import ticking
from bot.sources import FOLDER, SITE, Sources, Wanted, outcome_of
from storage.embedded.index import EmbeddedIndex
from storage.ingest.errors import SyncLost
from storage.ingest.sources.folder import Folder
from storage.ingest.sources.source import Item
from storage.ingest.sources.source import Source as Place
from storage.ingest.sources.sync import Synced
from storage.search.ids import BucketId
from storage.sql.database import Database
from storage.sql.sources import Source
from tests.bot.conftest import until
from tests.bot.fakes import Clock

NOTES = BucketId("notes")
HOUR = timedelta(hours=1)
OFTEN = timedelta(milliseconds=20)


class Gate(Folder):
    """Lists when it is let through."""

    def __init__(self, path: Path, entered: asyncio.Event, opened: asyncio.Event) -> None:
        super().__init__(path)
        self._entered, self._opened = entered, opened

    async def items(self) -> AsyncIterator[Item]:
        self._entered.set()
        await self._opened.wait()
        async for item in super().items():
            yield item


class Openers:
    """How the sources of these tests are opened, and how often each was."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.broken: set[str] = set()
        self.gate: tuple[asyncio.Event, asyncio.Event] | None = None

    @asynccontextmanager
    async def __call__(self, source: Source) -> AsyncGenerator[Place]:
        self.opened.append(source.id)
        if source.id in self.broken:
            raise PermissionError(13, "not for us")
        path = Path(source.location)
        yield Folder(path) if self.gate is None else Gate(path, *self.gate)


@pytest.fixture
def openers() -> Openers:
    return Openers()


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()


@pytest.fixture
def a_replica(
    database: Database, index: EmbeddedIndex, openers: Openers, tmp_path: Path, logged: LogCapture
) -> "Replica":
    return Replica(database, index, openers, tmp_path / "schemas", logged)


class Replica:
    """Makes the sources of one more process."""

    def __init__(
        self, database: Database, index: EmbeddedIndex, openers: Openers, schemas: Path, logged: LogCapture
    ) -> None:
        self._database, self._index, self._openers, self._schemas = database, index, openers, schemas
        self._log = structlog.wrap_logger(None, processors=[logged])

    def __call__(self, worker: str = "w1", lease: timedelta = timedelta(seconds=60)) -> Sources:
        return Sources(
            database=self._database,
            index=self._index,
            opener=self._openers,
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


def wanted(folder: Path, every: timedelta | None = HOUR) -> Wanted:
    return Wanted(kind=FOLDER, location=str(folder), bucket=NOTES, every=every)


async def count(index: EmbeddedIndex) -> int:
    states = await index.buckets()
    return states[NOTES].documents if NOTES in states else 0


async def test_a_source_is_named_after_its_folder_or_host(a_replica: Replica, tmp_path: Path, folder: Path) -> None:
    sources = a_replica()
    (tmp_path / "other" / "hand book").mkdir(parents=True)

    added = [
        await sources.add(wanted(folder)),
        await sources.add(wanted(tmp_path / "other" / "hand book")),
        await sources.add(Wanted(kind=SITE, location="HTTPS://www.Example.com:443", bucket=NOTES)),
    ]

    assert [one.id for one in added] == ["hand-book", "hand-book-2", "example.com"]
    assert added[2].location == "https://www.example.com/"


@pytest.mark.parametrize(
    ("kind", "location", "bucket", "said"),
    [
        (FOLDER, "nowhere", "notes", "there is no folder"),
        (FOLDER, __file__, "notes", "is no folder"),
        (FOLDER, "\0", "notes", "folder"),
        (FOLDER, ".", "../x", "name of a bucket"),
        (SITE, "example.com", "notes", "https://"),
        (SITE, "ftp://example.com", "notes", "https://"),
        (SITE, "https://", "notes", "https://"),
        (SITE, "https://h:99999/", "notes", "https://"),
        (SITE, "https://[x/", "notes", "https://"),
        (SITE, "https://ann:hush@example.com", "notes", "password"),
    ],
)
async def test_what_cannot_be_a_source_is_refused_with_a_reason(
    a_replica: Replica, kind: str, location: str, bucket: str, said: str
) -> None:
    with pytest.raises(InvalidSource, match=said) as refused:
        await a_replica().add(Wanted(kind=kind, location=location, bucket=bucket))

    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("every", [timedelta(seconds=59), timedelta(weeks=999_999)])
async def test_a_schedule_is_between_a_minute_and_a_year(a_replica: Replica, folder: Path, every: timedelta) -> None:
    with pytest.raises(InvalidSource, match="every minute"):
        await a_replica().add(wanted(folder, every=every))


async def test_the_same_place_for_the_same_bucket_is_added_once(a_replica: Replica, folder: Path) -> None:
    sources = a_replica()
    await sources.add(wanted(folder))

    with pytest.raises(InvalidSource, match="already"):
        await sources.add(wanted(folder / ".." / folder.name))


async def test_what_a_sync_came_to_is_kept(
    a_replica: Replica, index: EmbeddedIndex, clock: Clock, folder: Path
) -> None:
    sources = a_replica()
    await sources.add(wanted(folder, every=None))
    assert await sources.last_synced() == {}

    synced = await sources.sync("hand-book")

    assert (outcome_of(synced), await count(index)) == ("done", 10)
    [source] = await sources.all()
    assert (source.outcome, source.documents, source.failure) == ("done", 10, None)
    assert source.counts is not None
    assert (source.counts["added"], source.counts["deleted"]) == (10, 0)
    assert await sources.last_synced() == {NOTES: clock()}


async def test_a_refused_sweep_is_an_outcome_that_says_how_to_go_on(a_replica: Replica, folder: Path) -> None:
    sources = a_replica()
    await sources.add(wanted(folder))
    await sources.sync("hand-book")
    for number in range(3):
        (folder / f"n{number}.txt").unlink()

    await sources.sync("hand-book")

    [source] = await sources.all()
    assert (source.outcome, source.documents) == ("refused", 10)
    assert source.failure is not None
    assert "3 of its 10 documents" in source.failure
    assert "--sweep-anyway" in source.failure


async def test_a_source_goes_with_its_documents_or_without(
    a_replica: Replica, index: EmbeddedIndex, folder: Path
) -> None:
    sources = a_replica()
    await sources.add(wanted(folder))
    await sources.sync("hand-book")

    assert await sources.remove("hand-book", keep_documents=True, by="test") == 10
    assert (await count(index), await sources.all()) == (10, [])
    await sources.add(wanted(folder))
    await sources.sync("hand-book")
    assert await sources.remove("hand-book", by="test") == 10
    assert (await count(index), await sources.all()) == (0, [])
    with pytest.raises(UnknownSource, match="none yet"):
        await sources.remove("hand-book", by="test")


async def test_of_two_replicas_one_syncs_what_is_due(
    a_replica: Replica, openers: Openers, index: EmbeddedIndex, folder: Path
) -> None:
    openers.gate = asyncio.Event(), asyncio.Event()
    entered, opened = openers.gate
    first, second = a_replica("w1"), a_replica("w2")
    await first.add(wanted(folder))
    running = asyncio.create_task(first.sync_due())
    await entered.wait()

    await second.sync_due()
    with pytest.raises(SourceBusy):
        await second.sync("hand-book")
    with pytest.raises(SourceBusy):
        await second.remove("hand-book", by="test")
    opened.set()
    await running
    await second.sync_due()

    assert (openers.opened, await count(index)) == (["hand-book"], 10)


async def test_a_source_is_due_again_when_its_time_has_come(
    a_replica: Replica, openers: Openers, clock: Clock, folder: Path
) -> None:
    sources = a_replica()
    await sources.add(wanted(folder))

    for minutes in (0, 59, 1):
        clock.advance(timedelta(minutes=minutes))
        await sources.sync_due()

    assert openers.opened == ["hand-book"] * 2


async def test_one_that_fails_stops_no_other_and_is_logged_once(
    a_replica: Replica, openers: Openers, index: EmbeddedIndex, tmp_path: Path, folder: Path, logged: LogCapture
) -> None:
    sources = a_replica()
    (tmp_path / "broken").mkdir()
    for place in (tmp_path / "broken", folder):
        await sources.add(wanted(place))
    openers.broken = {"broken"}

    await sources.sync_due()
    await sources.sync_due()

    assert {one.id: one.outcome for one in await sources.all()} == {"broken": "failed", "hand-book": "done"}
    assert await count(index) == 10
    assert [(one["source"], one["log_level"]) for one in logged.entries if one["log_level"] == "warning"] == [
        ("broken", "warning")
    ]


async def test_a_sync_that_is_told_to_end_gives_its_lease_back(
    a_replica: Replica, openers: Openers, index: EmbeddedIndex, folder: Path
) -> None:
    openers.gate = asyncio.Event(), asyncio.Event()
    sources = a_replica()
    await sources.add(wanted(folder))
    running = asyncio.create_task(sources.sync("hand-book"))
    await openers.gate[0].wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    openers.gate = None
    assert (await a_replica("w2").sync("hand-book")).added == 10


async def _taken_over(taking: Sources, clock: Clock) -> Synced:
    """The sync of a replica that finds the lease run out; the one that holds it may renew it just before."""
    while True:
        clock.advance(timedelta(minutes=5))
        with contextlib.suppress(SourceBusy):
            return await taking.sync("hand-book")


async def test_a_sync_whose_lease_was_lost_ends_by_itself(
    a_replica: Replica, openers: Openers, clock: Clock, folder: Path
) -> None:
    openers.gate = asyncio.Event(), asyncio.Event()
    short = timedelta(milliseconds=60)
    slow = a_replica("w1", lease=short)
    await slow.add(wanted(folder))
    running = asyncio.create_task(slow.sync("hand-book"))
    await openers.gate[0].wait()

    taking = a_replica("w2")
    openers.gate = None
    synced = await _taken_over(taking, clock)

    with pytest.raises(SyncLost):
        await running
    assert synced.added == 10
    [source] = await taking.all()
    assert source.outcome == "done"


async def test_what_is_due_is_synced_by_itself(
    a_replica: Replica, bot: Bot, index: EmbeddedIndex, folder: Path, logged: LogCapture
) -> None:
    sources = a_replica()
    await sources.add(wanted(folder))

    async with ticking(bot.turns, bot.exports, bot.attached, sources, bot.log, every=OFTEN):
        await until(lambda: bool(logged.entries))

    assert [one["event"] for one in logged.entries] == ["source synced"]
    assert await count(index) == 10


async def test_a_sync_that_runs_when_the_process_ends_is_waited_for(
    a_replica: Replica, openers: Openers, bot: Bot, folder: Path
) -> None:
    openers.gate = asyncio.Event(), asyncio.Event()
    sources = a_replica()
    await sources.add(wanted(folder))

    async with ticking(bot.turns, bot.exports, bot.attached, sources, bot.log, every=OFTEN):
        await openers.gate[0].wait()

    openers.gate = None
    assert (await a_replica("w2").sync("hand-book")).added == 10
