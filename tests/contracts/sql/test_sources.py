"""Sources and their ledgers, on every database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from storage.search.ids import BucketId
from storage.sql.database import SqlDatabase
from storage.sql.stores.sources import ClaimedSource, NewSource, SourceLedger, SourceStore
from tests.contracts.sql.databases import SetClock
from tests.stored_rows import list_audit_entries

LEASE = timedelta(seconds=30)
HOUR = timedelta(hours=1)


def a_source(identity: str = "handbook", *, every: timedelta | None = HOUR) -> NewSource:
    return NewSource(
        id=identity,
        kind="folder",
        location="/srv/handbook \0 \ud800",
        bucket=BucketId("manuals"),
        options={"allow_private": True},
        every=every,
    )


@pytest.fixture
def sources(database: SqlDatabase) -> SourceStore:
    return SourceStore(database)


async def claim_source(sources: SourceStore, source: str | None = None, worker: str = "w1") -> ClaimedSource:
    claim = await sources.claim_due_source(worker, LEASE, source_id=source)
    assert claim is not None
    return claim


async def a_ledger(sources: SourceStore) -> SourceLedger:
    if await sources.find_source("handbook") is None:
        await sources.add_source(a_source())
    return sources.ledger_for(await claim_source(sources, "handbook"), LEASE)


async def test_a_source_is_listed_as_it_was_added(sources: SourceStore, clock: SetClock) -> None:
    assert await sources.add_source(a_source())
    assert await sources.add_source(a_source("site", every=None))

    first, second = await sources.list_sources()

    assert {name: getattr(first, name) for name in NewSource.__dataclass_fields__} == {
        name: getattr(a_source(), name) for name in NewSource.__dataclass_fields__
    }
    assert (first.created_at, first.due_at, second.due_at) == (clock.now, clock.now, None)
    assert (first.synced_at, first.outcome, first.documents) == (None, None, 0)
    assert await sources.find_source("site") == second
    assert await sources.find_source("nowhere") is None


async def test_a_source_id_is_used_once(sources: SourceStore) -> None:
    await sources.add_source(a_source())

    assert not await sources.add_source(replace(a_source(), location="/elsewhere"))
    [source] = await sources.list_sources()
    assert source.location == a_source().location


async def test_due_sources_are_claimed_once_and_in_order(sources: SourceStore, clock: SetClock) -> None:
    await sources.add_source(a_source("a"))
    clock.forward(seconds=1)
    await sources.add_source(a_source("b"))
    await sources.add_source(a_source("by hand", every=None))

    claims = [await claim_source(sources), await claim_source(sources, worker="w2")]

    assert [claim.source.id for claim in claims] == ["a", "b"]
    assert await sources.claim_due_source("w3", LEASE) is None


async def test_twelve_workers_claim_a_source_once(sources: SourceStore) -> None:
    await sources.add_source(a_source())

    claims = await asyncio.gather(*(sources.claim_due_source(f"w{number}", LEASE) for number in range(12)))

    assert len([claim for claim in claims if claim is not None]) == 1


async def test_a_source_claimed_by_id_need_not_be_due_but_must_be_free(sources: SourceStore) -> None:
    await sources.add_source(a_source(every=None))

    first = await claim_source(sources, "handbook")

    assert first.source.id == "handbook"
    assert await sources.claim_due_source("w2", LEASE, source_id="handbook") is None
    assert await sources.claim_due_source("w2", LEASE, source_id="nowhere") is None
    assert await sources.release_source(first)
    assert (await claim_source(sources, "handbook", "w2")).fence > first.fence


async def test_a_finished_source_is_due_again_after_its_interval(sources: SourceStore, clock: SetClock) -> None:
    await sources.add_source(a_source())
    clock.forward(minutes=5)
    first_claim = await claim_source(sources)

    assert await sources.finish_source_run(first_claim, "refused", {"items": 3}, failure="too many \0")

    [finished] = await sources.list_sources()
    assert (finished.synced_at, finished.due_at) == (clock.now, clock.now + HOUR)
    assert finished.succeeded_at == clock.now
    assert (finished.outcome, finished.counts, finished.failure) == ("refused", {"items": 3}, "too many \0")
    assert await sources.claim_due_source("w1", LEASE) is None
    clock.forward(hours=1)
    second_claim = await claim_source(sources)
    assert await sources.finish_source_run(second_claim, "done", {})
    assert [source.failure for source in await sources.list_sources()] == [None]


async def test_a_source_keeps_when_it_was_last_read_through_failures(sources: SourceStore, clock: SetClock) -> None:
    await sources.add_source(a_source())
    await sources.finish_source_run(await claim_source(sources), "done", {})
    read_at = clock.now
    clock.forward(hours=1)

    await sources.finish_source_run(await claim_source(sources), "failed", {}, failure="not there")

    [failed] = await sources.list_sources()
    assert (failed.outcome, failed.synced_at, failed.succeeded_at) == ("failed", clock.now, read_at)


async def test_an_abandoned_source_is_claimed_again_and_the_old_lease_cannot_write(
    sources: SourceStore, clock: SetClock
) -> None:
    await sources.add_source(a_source())
    lost_claim = await claim_source(sources)
    ledger = sources.ledger_for(lost_claim, LEASE)
    clock.forward(seconds=20)
    assert await ledger.renew_lease()
    clock.forward(seconds=20)
    assert await sources.claim_due_source("w2", LEASE) is None
    clock.forward(seconds=20)

    taken_over = await claim_source(sources, worker="w2")

    assert taken_over.fence > lost_claim.fence
    writes = [
        await ledger.renew_lease(),
        await ledger.claim_documents({"d": "i"}),
        await ledger.record_items({"i": ("1", "")}, is_loaded=True),
        await ledger.disclaim_documents(["d"]),
        await ledger.forget_documents(["d"], ["i"]),
        await sources.finish_source_run(lost_claim, "done", {}),
        await sources.release_source(lost_claim),
        await sources.remove_source(lost_claim, by="operator"),
    ]
    assert writes == [False] * 8
    assert (await ledger.known_items(), await ledger.count_documents()) == ({}, 0)


async def test_a_finished_run_can_no_longer_write(sources: SourceStore) -> None:
    await sources.add_source(a_source())
    claim = await claim_source(sources)
    await sources.finish_source_run(claim, "done", {})

    assert not await sources.ledger_for(claim, LEASE).claim_documents({"d": "i"})


async def test_claimed_documents_are_known_and_clear_the_version_of_their_item(sources: SourceStore) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim_documents({"h:a": "a", "h:b#1": "b", "h:b#2": "b"})
    await ledger.record_items({"a": ("1", "etag"), "b": ("2", "")}, is_loaded=True)
    assert await ledger.known_items() == {"a": ("1", "etag"), "b": ("2", "")}

    await ledger.claim_documents({"h:b#1": "b", "h:b#3": "b"})

    assert await ledger.known_items() == {"a": ("1", "etag"), "b": ("", "")}
    assert await ledger.count_documents() == 4
    assert await ledger.list_document_ids() == ["h:a", "h:b#1", "h:b#2", "h:b#3"]
    [source] = await sources.list_sources()
    assert source.documents == 4


async def test_a_forced_reload_clears_the_versions_of_all_items_of_the_bucket(sources: SourceStore) -> None:
    await sources.add_source(replace(a_source("other"), bucket=BucketId("elsewhere")))
    other_ledger = sources.ledger_for(await claim_source(sources, "other"), LEASE)
    await other_ledger.record_items({"a": ("1", "etag")}, is_loaded=True)
    ledger = await a_ledger(sources)
    await ledger.record_items({"a": ("1", "etag")}, is_loaded=True)

    assert await sources.force_full_reload(a_source().bucket) == [a_source().id]

    assert await ledger.known_items() == {"a": ("", "")}
    assert await other_ledger.known_items() == {"a": ("1", "etag")}


async def test_documents_that_a_later_run_did_not_find_in_their_item_are_stale(sources: SourceStore) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim_documents({"h:a": "a", "h:b#1": "b", "h:b#2": "b", "h:c#1": "c", "h:c#2": "c"})
    await ledger.record_items(dict.fromkeys("abc", ("1", "")), is_loaded=True)
    assert await ledger.find_stale_documents([]) == []
    assert await ledger.find_stale_documents(["a", "nowhere"]) == ["h:a"]
    await sources.release_source(await _first_claim_of(sources, ledger))

    later_ledger = await a_ledger(sources)
    await later_ledger.claim_documents({"h:b#1": "b", "h:c#1": "c"})
    await later_ledger.record_items({"a": ("1", "")}, is_loaded=False)
    await later_ledger.record_items({"b": ("2", "")}, is_loaded=True)

    assert await later_ledger.find_stale_documents([]) == ["h:b#2"]
    assert await later_ledger.find_stale_documents(["a"]) == ["h:a", "h:b#2"]
    await later_ledger.claim_documents({"h:b#2": "b"})
    assert await later_ledger.find_stale_documents([]) == []


async def test_the_documents_of_items_are_found_stale_or_not(sources: SourceStore) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim_documents({"h:b#2": "b", "h:a": "a", "h:b#1": "b", "h:c": "c"})
    await sources.add_source(a_source("other"))
    other_ledger = sources.ledger_for(await claim_source(sources, "other"), LEASE)
    await other_ledger.claim_documents({"o:b": "b"})

    assert await ledger.find_item_documents({"b", "nowhere"}) == ["h:b#1", "h:b#2"]
    assert await ledger.find_item_documents(()) == []


async def _first_claim_of(sources: SourceStore, ledger: SourceLedger) -> ClaimedSource:
    """Returns the claim of the first run."""
    source = await sources.find_source("handbook")
    assert source is not None
    assert await ledger.renew_lease()
    return ClaimedSource(source=source, fence=1)


async def test_an_item_is_lost_if_any_of_its_documents_is_missing(sources: SourceStore) -> None:
    await sources.add_source(a_source("beside"))
    await sources.ledger_for(await claim_source(sources, "beside"), LEASE).claim_documents({"b:a": "a"})
    await sources.add_source(replace(a_source("elsewhere"), bucket=BucketId("other")))
    await sources.ledger_for(await claim_source(sources, "elsewhere"), LEASE).claim_documents({"e:a": "a"})
    ledger = await a_ledger(sources)
    await ledger.claim_documents({"h:a": "a", "h:b#1": "b", "h:b#2": "b"})

    assert (await ledger.count_documents(), await ledger.count_bucket_documents()) == (3, 4)
    assert await ledger.find_lost_items({"h:a", "h:b#1", "b:a"}) == {"b"}
    assert await ledger.find_lost_items(()) == {"a", "b"}


async def test_forgotten_and_disclaimed_documents_leave_the_ledger(sources: SourceStore) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim_documents({"h:a": "a", "h:b": "b", "h:c": "c"})

    await ledger.forget_documents(["h:a"], ["a"])
    await ledger.disclaim_documents(["h:b"])

    assert await ledger.list_document_ids() == ["h:c"]
    assert set(await ledger.known_items()) == {"b", "c"}


async def test_many_documents_are_recorded_and_forgotten_at_once(sources: SourceStore) -> None:
    ledger = await a_ledger(sources)
    documents = {f"h:{number}": str(number) for number in range(1200)}

    await ledger.claim_documents(documents)
    await ledger.record_items(dict.fromkeys(documents.values(), ("1", "")), is_loaded=True)

    assert len(await ledger.find_stale_documents(set(documents.values()))) == 1200
    await ledger.forget_documents(documents, set(documents.values()))
    assert (await ledger.count_documents(), await ledger.known_items()) == (0, {})


async def test_the_audit_records_who_removed_a_source(sources: SourceStore, database: SqlDatabase) -> None:
    await sources.add_source(a_source())
    lost_claim = await claim_source(sources, "handbook")
    await sources.release_source(lost_claim)
    current_claim = await claim_source(sources, "handbook")

    results = [await sources.remove_source(claim, by="local:ann") for claim in (lost_claim, current_claim)]

    [entry] = await list_audit_entries(database)
    assert results == [False, True]
    assert (entry.by, entry.action, entry.matter) == ("local:ann", "source.remove", "handbook")
    assert entry.before is not None
    assert (entry.before["bucket"], entry.before["every_s"]) == ("manuals", 3600)


async def test_removing_a_source_removes_only_its_own_ledger(sources: SourceStore) -> None:
    await sources.add_source(a_source("other"))
    other_ledger = sources.ledger_for(await claim_source(sources, "other"), LEASE)
    await other_ledger.claim_documents({"h:a": "a"})
    await sources.add_source(a_source())
    claim = await claim_source(sources, "handbook")
    ledger = sources.ledger_for(claim, LEASE)
    await ledger.claim_documents({"h:a": "a", "h:b": "b"})

    assert await sources.remove_source(claim, by="operator")

    assert [source.id for source in await sources.list_sources()] == ["other"]
    assert await other_ledger.list_document_ids() == ["h:a"]
    assert await ledger.list_document_ids() == []


async def test_a_paused_source_is_due_only_when_asked_for_and_stays_paused(
    sources: SourceStore, clock: SetClock
) -> None:
    await sources.add_source(a_source())
    paused = [await sources.pause_source("handbook", by="local:ann") for _ in range(2)]
    clock.forward(hours=2)
    not_due = await sources.claim_due_source("w1", LEASE)

    asked = await sources.request_sync("handbook", by="local:ann")
    await sources.finish_source_run(await claim_source(sources), "done", {})
    after_run = await sources.find_source("handbook")
    resumed = [await sources.resume_source("handbook", by="local:bob") for _ in range(2)]
    again = await sources.find_source("handbook")

    assert (paused, not_due, asked, resumed) == ([True, False], None, True, [True, False])
    assert after_run is not None
    assert again is not None
    assert (after_run.due_at, after_run.paused_at is None) == (None, False)
    assert (again.due_at, again.paused_at) == (clock.now, None)


async def test_a_pause_during_a_run_holds_after_it(sources: SourceStore) -> None:
    await sources.add_source(a_source())
    claimed = await claim_source(sources)

    await sources.pause_source("handbook", by="local:ann")
    await sources.finish_source_run(claimed, "done", {})

    stored = await sources.find_source("handbook")
    assert stored is not None
    assert (stored.due_at, stored.outcome) == (None, "done")


async def test_a_source_without_a_schedule_is_synced_once_when_asked_for(
    sources: SourceStore, clock: SetClock, database: SqlDatabase
) -> None:
    await sources.add_source(a_source(every=None))
    await sources.request_sync("handbook", by="local:ann")
    await sources.finish_source_run(await claim_source(sources), "done", {})
    clock.forward(hours=2)

    assert await sources.claim_due_source("w1", LEASE) is None
    assert not await sources.request_sync("nowhere", by="local:ann")
    entries = await list_audit_entries(database)
    assert [(entry.action, entry.matter, entry.by) for entry in entries] == [("source.sync", "handbook", "local:ann")]
