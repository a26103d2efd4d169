"""Mark-and-sweep sync from real folders into the real embedded index, with the ledger in a real database."""

import json
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.errors import ListingFailed, SyncLost
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.sources.folder import FolderSource
from storage.ingest.sources.site import open_site
from storage.ingest.sources.source import ClosedItem, DocumentSource, FetchedItem, FetchResult, SourceItem
from storage.ingest.sources.sync import (
    SweepCompleted,
    SweepRefused,
    SweepSkipped,
    SyncProgress,
    SyncResult,
    sync_source,
)
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, Subject, TenantId
from storage.search.index import DocumentRequest as FetchDocuments
from storage.search.index import PutResult, SearchIndex
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.subjects import NOBODY
from storage.sql.database import SqlDatabase
from storage.sql.database_url import sqlite_url_for
from storage.sql.stores.sources import ClaimedSource, NewSource, SourceLedger, SourceStore
from storage.text.snowball_analyser import analyser_for
from tests.stand_ins.site import PageResponse, serve_web_site
from tests.stand_ins.wrapped_index import WrappedIndex

TENANT = TenantId("test")
BUCKET = BucketId("b")
LEASE = timedelta(seconds=60)


class SimulatedCrash(BaseException):
    """Simulates that the process is killed."""


@dataclass(kw_only=True)
class SyncWorld:
    """A folder, an index and the database with the source ledgers. Each sync claims its own lease."""

    folder: Path
    index: EmbeddedIndex
    database: SqlDatabase
    now: list[datetime]

    def write_file(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def run_sync(
        self,
        name: str = "s",
        *,
        source: DocumentSource | None = None,
        force_sweep: bool = False,
        crash_point: str = "",
        index: SearchIndex | None = None,
        progress: Callable[[SyncProgress], None] = lambda progress: None,
    ) -> SyncResult:
        store = SourceStore(self.database)
        await store.add_source(
            NewSource(
                id=name, kind="folder", location=str(self.folder), bucket=BUCKET, options={}, every=timedelta(hours=1)
            )
        )
        self.now[0] += timedelta(hours=1)
        claimed = await store.claim_due_source("w", LEASE, source_id=name)
        assert claimed is not None
        ledger = CrashingLedger(self.database, claimed, crash_point=crash_point)
        source = source or FolderSource(self.folder)
        result = await sync_source(
            source,
            ledger,
            index or self.index,
            extractor=RuleExtractor(),
            name=name,
            bucket=BUCKET,
            force_sweep=force_sweep,
            progress=progress,
        )
        assert await store.finish_source_run(claimed, "done", {})
        return result

    async def load_documents(self) -> dict[str, Document]:
        buckets = await self.index.load_bucket_names()
        ids = tuple([doc_id for bucket in sorted(buckets) for doc_id in await self.index.load_digests(bucket)])
        request = FetchDocuments(ids)
        scope = Scope(tenant=TENANT, buckets=buckets, ignores_readers=True)
        return (
            {
                str(document.doc_id): document
                for document in (await self.index.within_scope(scope).answer_requests(request))[request]
            }
            if ids
            else {}
        )

    async def list_document_ids(self) -> list[str]:
        return sorted(await self.load_documents())


class CrashingLedger(SourceLedger):
    """The real ledger, in which the process dies at one point.

    The points are `claim` (after `claim_documents`), `note` (before `record_items`) and `forget` (before
    `forget_documents`).
    """

    def __init__(self, database: SqlDatabase, claimed: ClaimedSource, *, crash_point: str) -> None:
        super().__init__(database, claimed, LEASE)
        self._crash_point = crash_point

    async def claim_documents(self, item_by_document: Mapping[str, str]) -> bool:
        has_lease = await super().claim_documents(item_by_document)
        if self._crash_point == "claim":
            raise SimulatedCrash
        return has_lease

    async def record_items(self, items: Mapping[str, tuple[str, str]], *, is_loaded: bool) -> bool:
        if self._crash_point == "note":
            raise SimulatedCrash
        return await super().record_items(items, is_loaded=is_loaded)

    async def forget_documents(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        if self._crash_point == "forget":
            raise SimulatedCrash
        return await super().forget_documents(doc_ids, items)


class RefusingIndex(WrappedIndex):
    """Stores no document, and keeps those that it has."""

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> PutResult:
        known_ids = await self.wrapped.load_digests(bucket)
        refused = {document.doc_id: "too deep" for document in documents}
        return PutResult(refused=refused, kept=tuple(doc_id for doc_id in refused if doc_id in known_ids))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SyncWorld]:
    now = [datetime(2026, 11, 20, 9, 30, tzinfo=UTC)]
    index = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    database = await SqlDatabase.open(sqlite_url_for(tmp_path / "books.db"), clock=lambda: now[0])
    (tmp_path / "in").mkdir()
    yield SyncWorld(folder=tmp_path / "in", index=index, database=database, now=now)
    await database.close()
    await index.close()


def write_ten_notes(world: SyncWorld) -> None:
    for number in range(10):
        world.write_file(f"n{number}.txt", f"note number {number}")


async def test_a_first_sync_loads_all_items_under_ids_with_the_source_name(world: SyncWorld) -> None:
    world.write_file("a.txt", "one")
    world.write_file("sub/rows.csv", "id,price\nx,5\ny,6\n")
    world.write_file("data.jsonl", '{"doc_id": "j", "text": "words", "source": "elsewhere"}\n')
    world.write_file(".hidden/b.txt", "two")
    world.write_file("b.schema.yaml", "bucket: b")

    synced = await world.run_sync()

    assert await world.list_document_ids() == ["s:a.txt", "s:data.jsonl#j", "s:sub/rows.csv#x", "s:sub/rows.csv#y"]
    assert (synced.items, synced.added, synced.sweep) == (3, 4, SweepCompleted(documents=0))
    documents = await world.load_documents()
    assert [documents[doc_id].source for doc_id in ("s:a.txt", "s:data.jsonl#j")] == ["a.txt", "elsewhere"]
    assert documents["s:sub/rows.csv#x"].values[FieldName("price")] == 5.0


async def test_a_repeated_sync_fetches_no_unchanged_item(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()

    class UnfetchableFolder(FolderSource):
        async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
            raise AssertionError(item.id)

    repeated = await world.run_sync(source=UnfetchableFolder(world.folder))

    assert (repeated.items, repeated.unchanged, repeated.added, repeated.skipped) == (10, 10, 0, 0)


async def test_a_new_file_time_with_the_same_content_is_no_change(world: SyncWorld) -> None:
    file = world.write_file("a.txt", "one")
    await world.run_sync()
    generation = (await world.index.load_bucket_states())[BUCKET].generation

    os.utime(file, (1, 1))
    repeated = await world.run_sync()

    assert (repeated.unchanged, repeated.skipped) == (1, 0)
    assert (await world.index.load_bucket_states())[BUCKET].generation == generation


async def test_changed_documents_are_replaced_and_vanished_ones_deleted(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()

    world.write_file("n1.txt", "another text")
    (world.folder / "n2.txt").unlink()
    synced = await world.run_sync()

    assert (synced.added, synced.replaced, synced.unchanged, synced.sweep) == (0, 1, 8, SweepCompleted(documents=1))
    documents = await world.load_documents()
    assert documents["s:n1.txt"].text == "another text"
    assert "s:n2.txt" not in documents
    assert len(documents) == 9


async def test_rows_removed_from_a_changed_table_are_deleted(world: SyncWorld) -> None:
    write_ten_notes(world)
    world.write_file("rows.csv", "id,price\nx,5\ny,6\nz,7\n")
    await world.run_sync()

    world.write_file("rows.csv", "id,price\nx,5\nz,8\n")
    synced = await world.run_sync()

    assert (synced.replaced, synced.skipped, synced.sweep) == (1, 1, SweepCompleted(documents=1))
    assert [doc_id for doc_id in await world.list_document_ids() if "csv" in doc_id] == ["s:rows.csv#x", "s:rows.csv#z"]


async def test_a_sweep_deletes_at_most_a_fifth_of_the_documents(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()
    for number in (0, 1):
        (world.folder / f"n{number}.txt").unlink()
    assert (await world.run_sync()).sweep == SweepCompleted(documents=2)

    for number in (2, 3):
        (world.folder / f"n{number}.txt").unlink()
    world.write_file("n4.txt", "changed meanwhile")
    refused = await world.run_sync()

    assert refused.sweep == SweepRefused(documents_to_delete=2, documents_before=8)
    assert len(await world.list_document_ids()) == 8
    assert (await world.load_documents())["s:n4.txt"].text == "changed meanwhile"
    assert (await world.run_sync()).sweep == SweepRefused(documents_to_delete=2, documents_before=8)
    assert (await world.run_sync(force_sweep=True)).sweep == SweepCompleted(documents=2)
    assert len(await world.list_document_ids()) == 6
    assert (await world.run_sync()).sweep == SweepCompleted(documents=0)


async def test_removed_rows_stay_stale_after_a_refused_sweep_until_they_return(world: SyncWorld) -> None:
    world.write_file("rows.csv", "id,price\n" + "".join(f"r{n},{n}\n" for n in range(10)))
    await world.run_sync()
    world.write_file("rows.csv", "id,price\nr0,0\n")

    assert (await world.run_sync()).sweep == SweepRefused(documents_to_delete=9, documents_before=10)
    assert (await world.run_sync()).sweep == SweepRefused(documents_to_delete=9, documents_before=10)
    world.write_file("rows.csv", "id,price\n" + "".join(f"r{n},{n}\n" for n in range(9)))
    assert (await world.run_sync()).sweep == SweepCompleted(documents=1)
    assert len(await world.list_document_ids()) == 9


async def test_items_that_return_after_a_refused_sweep_are_unchanged(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()
    moved_folder = world.folder.rename(world.folder.with_name("elsewhere"))
    world.folder.mkdir()
    assert (await world.run_sync()).sweep == SweepRefused(documents_to_delete=10, documents_before=10)

    world.folder.rmdir()
    moved_folder.rename(world.folder)
    restored = await world.run_sync()

    assert (restored.unchanged, restored.sweep) == (10, SweepCompleted(documents=0))


async def test_an_incomplete_listing_loads_changes_but_never_sweeps(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()

    class HalfListedFolder(FolderSource):
        async def list_items(self) -> AsyncIterator[SourceItem]:
            async for item in super().list_items():
                if item.id == "n5.txt":
                    raise ListingFailed("the network went away")
                yield item

    world.write_file("n1.txt", "another text")
    synced = await world.run_sync(source=HalfListedFolder(world.folder), force_sweep=True)

    assert synced.sweep == SweepSkipped(reason="the network went away")
    assert (synced.replaced, len(await world.list_document_ids())) == (1, 10)


async def test_a_missing_folder_is_not_treated_as_an_empty_one(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()

    synced = await world.run_sync(source=FolderSource(world.folder / "unmounted"), force_sweep=True)

    assert isinstance(synced.sweep, SweepSkipped)
    assert "unmounted" in synced.sweep.reason
    assert len(await world.list_document_ids()) == 10


async def test_a_broken_file_keeps_its_old_document_and_is_tried_again(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()
    world.write_file("n3.txt", "")
    (world.folder / "n4.txt").unlink()
    (world.folder / "n4.txt").symlink_to("nowhere")

    for _ in range(2):
        broken = await world.run_sync()
        assert [failure.where for failure in broken.failures] == ["s:n4.txt", "s:n3.txt"]
        assert (broken.failed, broken.sweep) == (2, SweepCompleted(documents=0))
        assert (await world.load_documents())["s:n3.txt"].text == "note number 3"
        assert "s:n4.txt" in await world.list_document_ids()

    world.write_file("n3.txt", "mended")
    assert (await world.run_sync()).failed == 1
    assert (await world.load_documents())["s:n3.txt"].text == "mended"


async def test_a_table_with_a_broken_row_keeps_all_its_documents(world: SyncWorld) -> None:
    world.write_file("rows.csv", "id,price\nx,5\ny,6\n")
    await world.run_sync()

    world.write_file("rows.csv", "id,price\nx,5\ny,6,7,8\n")
    synced = await world.run_sync()

    assert (synced.failed, synced.sweep) == (1, SweepCompleted(documents=0))
    assert await world.list_document_ids() == ["s:rows.csv#x", "s:rows.csv#y"]


class GuardedFolder(FolderSource):
    """A folder whose items all have the given readers, or are closed. Each item is new to each sync."""

    def __init__(self, path: Path, readers: frozenset[Subject] = frozenset()) -> None:
        super().__init__(path)
        self._readers = readers

    async def list_items(self) -> AsyncIterator[SourceItem]:
        async for item in super().list_items():
            yield replace(item, version="")

    async def fetch_item(self, item: SourceItem, cursor: str, folder: Path) -> FetchResult:
        fetched = await super().fetch_item(item, "", folder)
        assert isinstance(fetched, FetchedItem)
        if not self._readers:
            return ClosedItem(reason="who may read it cannot be found out")
        return replace(fetched, readers=self._readers, has_other_readers=True)


STAFF, LIZ = Subject("group:staff"), Subject("user:slack:T1:U1")


async def test_closed_items_lose_their_documents_whatever_the_guard_says_and_return(world: SyncWorld) -> None:
    write_ten_notes(world)
    world.write_file("rows.csv", "id,price\nx,5\ny,6\n")
    staff = GuardedFolder(world.folder, frozenset({STAFF}))
    await world.run_sync(source=staff)

    closed = await world.run_sync(source=GuardedFolder(world.folder))
    left = await world.list_document_ids()
    returned = await world.run_sync(source=staff)

    assert (closed.items, closed.failed, left) == (11, 11, [])
    assert closed.failures[0].reason == "who may read it cannot be found out"
    assert (returned.added, len(await world.list_document_ids())) == (12, 12)


async def test_closing_is_continued_after_a_sync_that_was_killed(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync(source=GuardedFolder(world.folder, frozenset({STAFF})))
    with pytest.raises(SimulatedCrash):
        await world.run_sync(source=GuardedFolder(world.folder), crash_point="forget")

    await world.run_sync(source=GuardedFolder(world.folder))

    assert await world.list_document_ids() == []


async def test_records_that_name_readers_are_read_by_those_of_their_file_alone(world: SyncWorld) -> None:
    lines = [{"doc_id": "open", "text": "a"}, {"doc_id": "liz", "text": "b", "readers": [LIZ, STAFF]}]
    lines += [{"doc_id": "sam", "text": "c", "readers": ["user:slack:T1:U2"]}]
    world.write_file("data.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))

    await world.run_sync(source=GuardedFolder(world.folder, frozenset({LIZ})))

    documents = await world.load_documents()
    readers = {doc_id.partition("#")[2]: documents[doc_id].readers for doc_id in documents}
    assert readers == {"open": {LIZ}, "liz": {LIZ}, "sam": {NOBODY}}


async def test_what_is_not_loaded_with_other_readers_is_deleted(world: SyncWorld) -> None:
    world.write_file("rows.csv", "id,price\nx,5\ny,6\n")
    await world.run_sync(source=GuardedFolder(world.folder, frozenset({STAFF})))

    world.write_file("rows.csv", "id,price\nx,5\ny,6,7,8\n")
    synced = await world.run_sync(source=GuardedFolder(world.folder, frozenset({LIZ})))

    documents = await world.load_documents()
    assert synced.failed == 1
    assert {doc_id: documents[doc_id].readers for doc_id in documents} == {"s:rows.csv#x": {LIZ}}


async def test_two_sources_of_one_bucket_keep_separate_documents(world: SyncWorld) -> None:
    world.write_file("a.txt", "one")
    world.write_file("data.jsonl", '{"doc_id": "j", "text": "words"}\n')
    await world.run_sync("s")
    await world.run_sync("t")

    (world.folder / "data.jsonl").unlink()
    await world.run_sync("t", force_sweep=True)

    assert await world.list_document_ids() == ["s:a.txt", "s:data.jsonl#j", "t:a.txt"]


async def test_an_id_that_belongs_to_another_bucket_is_reported_and_stays_there(world: SyncWorld) -> None:
    other = BucketId("other")
    await world.index.set_schema(Schema(bucket=other))
    await world.index.put(other, [Document(doc_id=DocId("s:a.txt"), title="Theirs", text="theirs")])
    world.write_file("a.txt", "ours")

    taken = await world.run_sync()
    (world.folder / "a.txt").unlink()
    await world.run_sync(force_sweep=True)

    assert taken.failed == 1
    assert [*await world.index.load_digests(other)] == ["s:a.txt"]


async def test_a_version_that_the_index_refuses_leaves_the_earlier_one_until_its_file_is_gone(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()
    world.write_file("n0.txt", "a later version of the note")
    world.write_file("new.txt", "a new note")

    refused = await world.run_sync(index=RefusingIndex(world.index))
    documents = await world.load_documents()
    for name in ("n0.txt", "new.txt"):
        (world.folder / name).unlink()
    swept = await world.run_sync()

    assert refused.failed == 2
    assert {failure.reason for failure in refused.failures} == {
        "the index cannot store it; its earlier version stays: too deep",
        "the index cannot store it: too deep",
    }
    assert documents["s:n0.txt"].text != "a later version of the note"
    assert swept.sweep == SweepCompleted(documents=1)
    assert "s:n0.txt" not in await world.load_documents()


@pytest.mark.parametrize("is_recreated", [False, True])
async def test_a_bucket_that_was_deleted_is_filled_again(world: SyncWorld, is_recreated: bool) -> None:
    write_ten_notes(world)
    for name in ("s", "t"):
        await world.run_sync(name)
    await world.index.drop_bucket(BUCKET)
    if is_recreated:
        await world.index.set_schema(Schema(bucket=BUCKET))

    assert [(await world.run_sync(name)).added for name in ("s", "t")] == [10, 10]
    assert [(await world.run_sync(name)).unchanged for name in ("s", "t")] == [10, 10]


@pytest.mark.parametrize("point", ["claim", "note", "forget"])
@pytest.mark.parametrize("is_file_deleted", [False, True])
async def test_the_next_sync_continues_after_one_that_was_killed(
    world: SyncWorld, point: str, is_file_deleted: bool
) -> None:
    write_ten_notes(world)
    await world.run_sync()
    (world.folder / "n0.txt").unlink()
    world.write_file("n1.txt", "another text")
    world.write_file("new.txt", "not there for long")

    with pytest.raises(SimulatedCrash):
        await world.run_sync(crash_point=point)
    if is_file_deleted:
        (world.folder / "new.txt").unlink()
    await world.run_sync(force_sweep=True)

    expected_ids = [f"s:n{number}.txt" for number in range(1, 10)]
    assert await world.list_document_ids() == expected_ids + ([] if is_file_deleted else ["s:new.txt"])
    assert (await world.load_documents())["s:n1.txt"].text == "another text"


async def test_a_sync_that_lost_its_lease_stops_before_it_writes(world: SyncWorld) -> None:
    write_ten_notes(world)
    await world.run_sync()
    (world.folder / "n0.txt").unlink()
    other = SourceStore(world.database)

    class LeaseLosingFolder(FolderSource):
        async def list_items(self) -> AsyncIterator[SourceItem]:
            world.now[0] += LEASE
            assert await other.claim_due_source("other", LEASE, source_id="s") is not None
            async for item in super().list_items():
                yield item

    with pytest.raises(SyncLost):
        await world.run_sync(source=LeaseLosingFolder(world.folder))

    assert len(await world.list_document_ids()) == 10


async def test_more_items_than_a_batch_holds_are_loaded_in_several(world: SyncWorld) -> None:
    for number in range(520):
        world.write_file(f"{number}.txt", f"note number {number}")

    updates: list[SyncProgress] = []

    synced = await world.run_sync(progress=updates.append)

    assert (synced.added, (await world.index.load_bucket_states())[BUCKET].document_count) == (520, 520)
    assert [update.items_done for update in updates] == sorted(update.items_done for update in updates)
    assert updates[-1] == SyncProgress(items_done=520, items_total=520, documents=520)
    assert {update.documents for update in updates} >= {0, 512}


async def test_a_document_id_that_is_too_long_is_reported(world: SyncWorld) -> None:
    world.write_file(
        "data.jsonl", '{"doc_id": "' + "x" * 479 + '", "text": "words"}\n{"doc_id": "y", "text": "words"}\n'
    )

    synced = await world.run_sync()

    assert (synced.added, synced.failed) == (1, 1)


async def test_unsupported_items_are_recorded_and_not_fetched_twice(world: SyncWorld) -> None:
    world.write_file("a.txt", "one")
    world.write_file("model.weights", "binary")
    os.mkfifo(world.folder / "pipe.txt")

    first, second = await world.run_sync(), await world.run_sync()

    assert (first.passed_over, first.added, first.failed) == (2, 1, 0)
    assert (second.passed_over, second.unchanged, second.failed) == (0, 3, 0)


async def test_a_site_is_synced_page_by_page(world: SyncWorld) -> None:
    async with serve_web_site() as site, open_site(site.url, allow_private=True, clock=lambda: world.now[0]) as source:
        site.pages = {f"/{n}.txt": PageResponse(text=f"page number {n}", etag=f'"{n}"') for n in range(10)}
        site.pages["/page"] = PageResponse(text="<h1>Tires</h1><p>They turn.</p>", type="text/html", etag='"h"')
        first = await world.run_sync(source=source)
        assert (first.added, first.failed) == (11, 0)
        site.answered_requests.clear()

        site.pages["/1.txt"] = PageResponse(text="other words", etag='"other"')
        site.pages["/2.txt"] = PageResponse(status=404)
        site.pages["/3.txt"] = PageResponse(status=403)
        del site.pages["/4.txt"]
        second = await world.run_sync(source=source)

    assert (second.replaced, second.failed, second.sweep) == (1, 1, SweepCompleted(documents=2))
    assert [path for path, status in site.answered_requests if status == 200] == ["/sitemap.xml", "/1.txt"]
    documents = await world.load_documents()
    assert sorted(documents) == [*(f"s:/{n}.txt" for n in (0, 1, 3, 5, 6, 7, 8, 9)), "s:/page"]
    assert documents["s:/1.txt"].text == "other words"
    assert documents["s:/page"].source == f"{site.url}/page"


async def test_a_page_that_robots_txt_now_disallows_is_deleted(world: SyncWorld) -> None:
    async with serve_web_site() as site:
        site.pages = {f"/{n}.txt": PageResponse(text=f"page number {n}") for n in range(10)}
        for robots in ("", "User-agent: Parley\nDisallow: /7\n"):
            site.fixed_responses["/robots.txt"] = PageResponse(text=robots)
            async with open_site(site.url, allow_private=True, clock=lambda: world.now[0]) as source:
                synced = await world.run_sync(source=source)

    assert synced.sweep == SweepCompleted(documents=1)
    assert "s:/7.txt" not in await world.list_document_ids()


async def test_a_site_with_a_broken_sitemap_keeps_its_documents(world: SyncWorld) -> None:
    async with serve_web_site() as site, open_site(site.url, allow_private=True, clock=lambda: world.now[0]) as source:
        site.pages = {f"/{n}.txt": PageResponse(text=f"page number {n}") for n in range(3)}
        await world.run_sync(source=source)
        site.fixed_responses["/sitemap.xml"] = PageResponse(text="<html>We are being mended</html>")

        synced = await world.run_sync(source=source, force_sweep=True)

    assert isinstance(synced.sweep, SweepSkipped)
    assert len(await world.list_document_ids()) == 3
