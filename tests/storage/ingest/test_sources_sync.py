"""Mark and sweep, from real folders into the real embedded index, with the books in a real database."""

import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.errors import ListingFailed, SyncLost
from storage.ingest.sources.folder import Folder
from storage.ingest.sources.site import opened
from storage.ingest.sources.source import Fetch, Item, Source
from storage.ingest.sources.sync import NotSwept, SweepRefused, Swept, Synced, SyncProgress, sync
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import Fetch as FetchDocuments
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.sql.address import sqlite_url
from storage.sql.database import Database
from storage.sql.sources import ClaimedSource, NewSource, SourceLedger, Sources
from tests.stand_ins.site import Served, a_site

TENANT = TenantId("test")
B = BucketId("b")
LEASE = timedelta(seconds=60)


class Died(BaseException):
    """As if the process had been killed at this point."""


@dataclass(kw_only=True)
class World:
    """A folder, an index and the books of sources, each `synced` by name under a lease of its own."""

    folder: Path
    index: EmbeddedIndex
    database: Database
    now: list[datetime]

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def synced(
        self,
        name: str = "s",
        *,
        place: Source | None = None,
        sweep_anyway: bool = False,
        dies_at: str = "",
        progress: Callable[[SyncProgress], None] = lambda progress: None,
    ) -> Synced:
        store = Sources(self.database)
        await store.add(
            NewSource(id=name, kind="folder", location=str(self.folder), bucket=B, options={}, every=timedelta(hours=1))
        )
        self.now[0] += timedelta(hours=1)
        claimed = await store.claim("w", LEASE, source=name)
        assert claimed is not None
        ledger = Dying(self.database, claimed, at=dies_at)
        place = place or Folder(self.folder)
        synced_now = await sync(
            place, ledger, self.index, name=name, bucket=B, sweep_anyway=sweep_anyway, progress=progress
        )
        assert await store.finish(claimed, "done", {})
        return synced_now

    async def documents(self) -> dict[str, Document]:
        ids = tuple(await self.index.digests(B)) if B in await self.index.buckets() else ()
        request = FetchDocuments(ids)
        scope = Scope(tenant=TENANT, buckets=frozenset({B}), all_readers=True)
        return {str(one.doc_id): one for one in (await self.index.within(scope).ask(request))[request]} if ids else {}

    async def ids(self) -> list[str]:
        return sorted(await self.documents())


class Dying(SourceLedger):
    """The real books, in which the process dies: after `claim`, before `note`, before `forget`."""

    def __init__(self, database: Database, claimed: ClaimedSource, *, at: str) -> None:
        super().__init__(database, claimed, LEASE)
        self._at = at

    async def claim(self, documents: Mapping[str, str]) -> bool:
        held = await super().claim(documents)
        if self._at == "claim":
            raise Died
        return held

    async def note(self, items: Mapping[str, tuple[str, str]], *, loaded: bool) -> bool:
        if self._at == "note":
            raise Died
        return await super().note(items, loaded=loaded)

    async def forget(self, doc_ids: Collection[str], items: Collection[str] = ()) -> bool:
        if self._at == "forget":
            raise Died
        return await super().forget(doc_ids, items)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    now = [datetime(2026, 11, 20, 9, 30, tzinfo=UTC)]
    index = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    database = await Database.open(sqlite_url(tmp_path / "books.db"), clock=lambda: now[0])
    (tmp_path / "in").mkdir()
    yield World(folder=tmp_path / "in", index=index, database=database, now=now)
    await database.close()
    await index.close()


def ten_notes(world: World) -> None:
    for number in range(10):
        world.write(f"n{number}.txt", f"note number {number}")


async def test_a_first_sync_loads_all_that_is_there_under_ids_of_its_own(world: World) -> None:
    world.write("a.txt", "one")
    world.write("sub/rows.csv", "id,price\nx,5\ny,6\n")
    world.write("data.jsonl", '{"doc_id": "j", "text": "words", "source": "elsewhere"}\n')
    world.write(".hidden/b.txt", "two")
    world.write("b.schema.yaml", "bucket: b")

    synced = await world.synced()

    assert await world.ids() == ["s:a.txt", "s:data.jsonl#j", "s:sub/rows.csv#x", "s:sub/rows.csv#y"]
    assert (synced.items, synced.added, synced.sweep) == (3, 4, Swept(documents=0))
    documents = await world.documents()
    assert [documents[one].source for one in ("s:a.txt", "s:data.jsonl#j")] == ["a.txt", "elsewhere"]
    assert documents["s:sub/rows.csv#x"].values[FieldName("price")] == 5.0


async def test_the_same_again_reads_nothing(world: World) -> None:
    ten_notes(world)
    await world.synced()

    class Unread(Folder):
        async def fetch(self, item: Item, cursor: str, folder: Path) -> Fetch:
            raise AssertionError(item.id)

    again = await world.synced(place=Unread(world.folder))

    assert (again.items, again.unchanged, again.added, again.skipped) == (10, 10, 0, 0)


async def test_another_time_with_the_same_content_is_no_change(world: World) -> None:
    file = world.write("a.txt", "one")
    await world.synced()
    generation = (await world.index.buckets())[B].generation

    os.utime(file, (1, 1))
    again = await world.synced()

    assert (again.unchanged, again.skipped) == (1, 0)
    assert (await world.index.buckets())[B].generation == generation


async def test_a_change_replaces_and_what_is_gone_goes(world: World) -> None:
    ten_notes(world)
    await world.synced()

    world.write("n1.txt", "another text")
    (world.folder / "n2.txt").unlink()
    synced = await world.synced()

    assert (synced.added, synced.replaced, synced.unchanged, synced.sweep) == (0, 1, 8, Swept(documents=1))
    documents = await world.documents()
    assert documents["s:n1.txt"].text == "another text"
    assert "s:n2.txt" not in documents
    assert len(documents) == 9


async def test_rows_that_went_from_a_changed_table_go(world: World) -> None:
    ten_notes(world)
    world.write("rows.csv", "id,price\nx,5\ny,6\nz,7\n")
    await world.synced()

    world.write("rows.csv", "id,price\nx,5\nz,8\n")
    synced = await world.synced()

    assert (synced.replaced, synced.skipped, synced.sweep) == (1, 1, Swept(documents=1))
    assert [one for one in await world.ids() if "csv" in one] == ["s:rows.csv#x", "s:rows.csv#z"]


async def test_a_fifth_may_go_and_more_may_not(world: World) -> None:
    ten_notes(world)
    await world.synced()
    for number in (0, 1):
        (world.folder / f"n{number}.txt").unlink()
    assert (await world.synced()).sweep == Swept(documents=2)

    for number in (2, 3):
        (world.folder / f"n{number}.txt").unlink()
    world.write("n4.txt", "changed meanwhile")
    refused = await world.synced()

    assert refused.sweep == SweepRefused(documents=2, of=8)
    assert len(await world.ids()) == 8
    assert (await world.documents())["s:n4.txt"].text == "changed meanwhile"
    assert (await world.synced()).sweep == SweepRefused(documents=2, of=8)
    assert (await world.synced(sweep_anyway=True)).sweep == Swept(documents=2)
    assert len(await world.ids()) == 6
    assert (await world.synced()).sweep == Swept(documents=0)


async def test_rows_count_in_a_sweep_and_stay_doomed_until_they_are_back(world: World) -> None:
    world.write("rows.csv", "id,price\n" + "".join(f"r{n},{n}\n" for n in range(10)))
    await world.synced()
    world.write("rows.csv", "id,price\nr0,0\n")

    assert (await world.synced()).sweep == SweepRefused(documents=9, of=10)
    assert (await world.synced()).sweep == SweepRefused(documents=9, of=10)
    world.write("rows.csv", "id,price\n" + "".join(f"r{n},{n}\n" for n in range(9)))
    assert (await world.synced()).sweep == Swept(documents=1)
    assert len(await world.ids()) == 9


async def test_what_comes_back_after_a_refused_sweep_is_as_it_was(world: World) -> None:
    ten_notes(world)
    await world.synced()
    elsewhere = world.folder.rename(world.folder.with_name("elsewhere"))
    world.folder.mkdir()
    assert (await world.synced()).sweep == SweepRefused(documents=10, of=10)

    world.folder.rmdir()
    elsewhere.rename(world.folder)
    back = await world.synced()

    assert (back.unchanged, back.sweep) == (10, Swept(documents=0))


async def test_a_listing_that_failed_half_way_loads_and_never_sweeps(world: World) -> None:
    ten_notes(world)
    await world.synced()

    class HalfWay(Folder):
        async def items(self) -> AsyncIterator[Item]:
            async for item in super().items():
                if item.id == "n5.txt":
                    raise ListingFailed("the network went away")
                yield item

    world.write("n1.txt", "another text")
    synced = await world.synced(place=HalfWay(world.folder), sweep_anyway=True)

    assert synced.sweep == NotSwept(reason="the network went away")
    assert (synced.replaced, len(await world.ids())) == (1, 10)


async def test_a_folder_that_is_not_there_is_not_an_empty_one(world: World) -> None:
    ten_notes(world)
    await world.synced()

    synced = await world.synced(place=Folder(world.folder / "unmounted"), sweep_anyway=True)

    assert isinstance(synced.sweep, NotSwept)
    assert "unmounted" in synced.sweep.reason
    assert len(await world.ids()) == 10


async def test_what_broke_keeps_its_old_document_and_is_tried_again(world: World) -> None:
    ten_notes(world)
    await world.synced()
    world.write("n3.txt", "")
    (world.folder / "n4.txt").unlink()
    (world.folder / "n4.txt").symlink_to("nowhere")

    for _ in range(2):
        broken = await world.synced()
        assert [one.where for one in broken.failures] == ["s:n4.txt", "s:n3.txt"]
        assert (broken.failed, broken.sweep) == (2, Swept(documents=0))
        assert (await world.documents())["s:n3.txt"].text == "note number 3"
        assert "s:n4.txt" in await world.ids()

    world.write("n3.txt", "mended")
    assert (await world.synced()).failed == 1
    assert (await world.documents())["s:n3.txt"].text == "mended"


async def test_a_table_with_a_broken_row_loses_none(world: World) -> None:
    world.write("rows.csv", "id,price\nx,5\ny,6\n")
    await world.synced()

    world.write("rows.csv", "id,price\nx,5\ny,6,7,8\n")
    synced = await world.synced()

    assert (synced.failed, synced.sweep) == (1, Swept(documents=0))
    assert await world.ids() == ["s:rows.csv#x", "s:rows.csv#y"]


async def test_two_sources_of_one_bucket_never_meet(world: World) -> None:
    world.write("a.txt", "one")
    world.write("data.jsonl", '{"doc_id": "j", "text": "words"}\n')
    await world.synced("s")
    await world.synced("t")

    (world.folder / "data.jsonl").unlink()
    await world.synced("t", sweep_anyway=True)

    assert await world.ids() == ["s:a.txt", "s:data.jsonl#j", "t:a.txt"]


async def test_an_id_that_belongs_to_another_bucket_is_reported_and_stays_there(world: World) -> None:
    other = BucketId("other")
    await world.index.set_schema(Schema(bucket=other))
    await world.index.put(other, [Document(doc_id=DocId("s:a.txt"), title="Theirs", text="theirs")])
    world.write("a.txt", "ours")

    taken = await world.synced()
    (world.folder / "a.txt").unlink()
    await world.synced(sweep_anyway=True)

    assert taken.failed == 1
    assert [*await world.index.digests(other)] == ["s:a.txt"]


@pytest.mark.parametrize("made_anew", [False, True])
async def test_a_bucket_that_was_deleted_is_filled_again(world: World, made_anew: bool) -> None:
    ten_notes(world)
    for name in ("s", "t"):
        await world.synced(name)
    await world.index.drop_bucket(B)
    if made_anew:
        await world.index.set_schema(Schema(bucket=B))

    assert [(await world.synced(name)).added for name in ("s", "t")] == [10, 10]
    assert [(await world.synced(name)).unchanged for name in ("s", "t")] == [10, 10]


@pytest.mark.parametrize("point", ["claim", "note", "forget"])
@pytest.mark.parametrize("then", ["the same", "gone again"])
async def test_a_sync_that_is_killed_anywhere_is_gone_on_with(world: World, point: str, then: str) -> None:
    ten_notes(world)
    await world.synced()
    (world.folder / "n0.txt").unlink()
    world.write("n1.txt", "another text")
    world.write("new.txt", "not there for long")

    with pytest.raises(Died):
        await world.synced(dies_at=point)
    if then == "gone again":
        (world.folder / "new.txt").unlink()
    await world.synced(sweep_anyway=True)

    there = [f"s:n{number}.txt" for number in range(1, 10)]
    assert await world.ids() == there + (["s:new.txt"] if then == "the same" else [])
    assert (await world.documents())["s:n1.txt"].text == "another text"


async def test_a_run_that_lost_its_lease_stops_before_it_writes(world: World) -> None:
    ten_notes(world)
    await world.synced()
    (world.folder / "n0.txt").unlink()
    other = Sources(world.database)

    class TakenOver(Folder):
        async def items(self) -> AsyncIterator[Item]:
            world.now[0] += LEASE
            assert await other.claim("other", LEASE, source="s") is not None
            async for item in super().items():
                yield item

    with pytest.raises(SyncLost):
        await world.synced(place=TakenOver(world.folder))

    assert len(await world.ids()) == 10


async def test_more_items_than_a_batch_holds_are_loaded_in_several(world: World) -> None:
    for number in range(520):
        world.write(f"{number}.txt", f"note number {number}")

    told: list[SyncProgress] = []

    synced = await world.synced(progress=told.append)

    assert (synced.added, (await world.index.buckets())[B].documents) == (520, 520)
    assert [one.fetched for one in told] == sorted(one.fetched for one in told)
    assert told[-1] == SyncProgress(fetched=520, of=520, documents=520)
    assert {one.documents for one in told} >= {0, 512}


async def test_an_id_that_no_index_could_hold_is_reported(world: World) -> None:
    world.write("data.jsonl", '{"doc_id": "' + "x" * 479 + '", "text": "words"}\n{"doc_id": "y", "text": "words"}\n')

    synced = await world.synced()

    assert (synced.added, synced.failed) == (1, 1)


async def test_what_cannot_be_read_in_principle_is_passed_over_once(world: World) -> None:
    world.write("a.txt", "one")
    world.write("model.weights", "binary")
    os.mkfifo(world.folder / "pipe.txt")

    first, second = await world.synced(), await world.synced()

    assert (first.passed_over, first.added, first.failed) == (2, 1, 0)
    assert (second.passed_over, second.unchanged, second.failed) == (0, 3, 0)


async def test_a_site_is_kept_in_step_page_by_page(world: World) -> None:
    async with a_site() as site, opened(site.url, allow_private=True, clock=lambda: world.now[0]) as place:
        site.pages = {f"/{n}.txt": Served(text=f"page number {n}", etag=f'"{n}"') for n in range(10)}
        site.pages["/page"] = Served(text="<h1>Tires</h1><p>They turn.</p>", type="text/html", etag='"h"')
        first = await world.synced(place=place)
        assert (first.added, first.failed) == (11, 0)
        site.answered.clear()

        site.pages["/1.txt"] = Served(text="other words", etag='"other"')
        site.pages["/2.txt"] = Served(status=404)
        site.pages["/3.txt"] = Served(status=403)
        del site.pages["/4.txt"]
        second = await world.synced(place=place)

    assert (second.replaced, second.failed, second.sweep) == (1, 1, Swept(documents=2))
    assert [path for path, status in site.answered if status == 200] == ["/sitemap.xml", "/1.txt"]
    documents = await world.documents()
    assert sorted(documents) == [*(f"s:/{n}.txt" for n in (0, 1, 3, 5, 6, 7, 8, 9)), "s:/page"]
    assert documents["s:/1.txt"].text == "other words"
    assert documents["s:/page"].source == f"{site.url}/page"


async def test_a_page_that_the_site_no_longer_lets_us_read_goes(world: World) -> None:
    async with a_site() as site:
        site.pages = {f"/{n}.txt": Served(text=f"page number {n}") for n in range(10)}
        for robots in ("", "User-agent: Parley\nDisallow: /7\n"):
            site.fixed["/robots.txt"] = Served(text=robots)
            async with opened(site.url, allow_private=True, clock=lambda: world.now[0]) as place:
                synced = await world.synced(place=place)

    assert synced.sweep == Swept(documents=1)
    assert "s:/7.txt" not in await world.ids()


async def test_a_site_whose_sitemap_fails_loses_nothing(world: World) -> None:
    async with a_site() as site, opened(site.url, allow_private=True, clock=lambda: world.now[0]) as place:
        site.pages = {f"/{n}.txt": Served(text=f"page number {n}") for n in range(3)}
        await world.synced(place=place)
        site.fixed["/sitemap.xml"] = Served(text="<html>We are being mended</html>")

        synced = await world.synced(place=place, sweep_anyway=True)

    assert isinstance(synced.sweep, NotSwept)
    assert len(await world.ids()) == 3
