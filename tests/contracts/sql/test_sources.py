"""Sources and their books, on every database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from storage.search.ids import BucketId
from storage.sql.audit import Audit
from storage.sql.database import Database
from storage.sql.sources import ClaimedSource, NewSource, SourceLedger, Sources
from tests.contracts.sql.databases import SetClock

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
def sources(database: Database) -> Sources:
    return Sources(database)


async def claimed(sources: Sources, source: str | None = None, worker: str = "w1") -> ClaimedSource:
    one = await sources.claim(worker, LEASE, source=source)
    assert one is not None
    return one


async def a_ledger(sources: Sources) -> SourceLedger:
    if await sources.find("handbook") is None:
        await sources.add(a_source())
    return sources.ledger(await claimed(sources, "handbook"), LEASE)


async def test_a_source_is_listed_as_it_was_added(sources: Sources, clock: SetClock) -> None:
    assert await sources.add(a_source())
    assert await sources.add(a_source("site", every=None))

    first, second = await sources.all()

    assert {name: getattr(first, name) for name in NewSource.__dataclass_fields__} == {
        name: getattr(a_source(), name) for name in NewSource.__dataclass_fields__
    }
    assert (first.created_at, first.due_at, second.due_at) == (clock.now, clock.now, None)
    assert (first.synced_at, first.outcome, first.documents) == (None, None, 0)
    assert await sources.find("site") == second
    assert await sources.find("nowhere") is None


async def test_an_id_is_given_once(sources: Sources) -> None:
    await sources.add(a_source())

    assert not await sources.add(replace(a_source(), location="/elsewhere"))
    [only] = await sources.all()
    assert only.location == a_source().location


async def test_what_is_due_is_claimed_by_one_and_in_order(sources: Sources, clock: SetClock) -> None:
    await sources.add(a_source("a"))
    clock.forward(seconds=1)
    await sources.add(a_source("b"))
    await sources.add(a_source("by hand", every=None))

    due = [await claimed(sources), await claimed(sources, worker="w2")]

    assert [one.source.id for one in due] == ["a", "b"]
    assert await sources.claim("w3", LEASE) is None


async def test_twelve_replicas_claim_a_source_once(sources: Sources) -> None:
    await sources.add(a_source())

    claims = await asyncio.gather(*(sources.claim(f"w{number}", LEASE) for number in range(12)))

    assert len([one for one in claims if one is not None]) == 1


async def test_one_by_name_is_claimed_due_or_not_unless_it_is_held(sources: Sources) -> None:
    await sources.add(a_source(every=None))

    first = await claimed(sources, "handbook")

    assert first.source.id == "handbook"
    assert await sources.claim("w2", LEASE, source="handbook") is None
    assert await sources.claim("w2", LEASE, source="nowhere") is None
    assert await sources.release(first)
    assert (await claimed(sources, "handbook", "w2")).fence > first.fence


async def test_a_finished_source_is_due_again_in_its_own_time(sources: Sources, clock: SetClock) -> None:
    await sources.add(a_source())
    clock.forward(minutes=5)
    one = await claimed(sources)

    assert await sources.finish(one, "refused", {"items": 3}, failure="too many \0")

    [after] = await sources.all()
    assert (after.synced_at, after.due_at) == (clock.now, clock.now + HOUR)
    assert (after.outcome, after.counts, after.failure) == ("refused", {"items": 3}, "too many \0")
    assert await sources.claim("w1", LEASE) is None
    clock.forward(hours=1)
    again = await claimed(sources)
    assert await sources.finish(again, "done", {})
    assert [one.failure for one in await sources.all()] == [None]


async def test_a_source_left_behind_is_claimed_again_and_the_first_finds_out(sources: Sources, clock: SetClock) -> None:
    await sources.add(a_source())
    lost = await claimed(sources)
    ledger = sources.ledger(lost, LEASE)
    clock.forward(seconds=20)
    assert await ledger.renew()
    clock.forward(seconds=20)
    assert await sources.claim("w2", LEASE) is None
    clock.forward(seconds=20)

    taken_over = await claimed(sources, worker="w2")

    assert taken_over.fence > lost.fence
    writes = [
        await ledger.renew(),
        await ledger.claim({"d": "i"}),
        await ledger.note({"i": ("1", "")}, loaded=True),
        await ledger.disclaim(["d"]),
        await ledger.forget(["d"], ["i"]),
        await sources.finish(lost, "done", {}),
        await sources.release(lost),
        await sources.remove(lost, by="operator"),
    ]
    assert writes == [False] * 8
    assert (await ledger.items(), await ledger.documents()) == ({}, 0)


async def test_a_finished_run_writes_nothing_more(sources: Sources) -> None:
    await sources.add(a_source())
    one = await claimed(sources)
    await sources.finish(one, "done", {})

    assert not await sources.ledger(one, LEASE).claim({"d": "i"})


async def test_what_is_about_to_be_stored_is_known_and_its_item_is_in_doubt(sources: Sources) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim({"h:a": "a", "h:b#1": "b", "h:b#2": "b"})
    await ledger.note({"a": ("1", "etag"), "b": ("2", "")}, loaded=True)
    assert await ledger.items() == {"a": ("1", "etag"), "b": ("2", "")}

    await ledger.claim({"h:b#1": "b", "h:b#3": "b"})

    assert await ledger.items() == {"a": ("1", "etag"), "b": ("", "")}
    assert await ledger.documents() == 4
    assert await ledger.all_documents() == ["h:a", "h:b#1", "h:b#2", "h:b#3"]
    [listed] = await sources.all()
    assert listed.documents == 4


async def test_items_of_a_bucket_in_doubt_are_known_in_no_version(sources: Sources) -> None:
    await sources.add(replace(a_source("other"), bucket=BucketId("elsewhere")))
    other = sources.ledger(await claimed(sources, "other"), LEASE)
    await other.note({"a": ("1", "etag")}, loaded=True)
    ledger = await a_ledger(sources)
    await ledger.note({"a": ("1", "etag")}, loaded=True)

    assert await sources.doubt(a_source().bucket) == [a_source().id]

    assert await ledger.items() == {"a": ("", "")}
    assert await other.items() == {"a": ("1", "etag")}


async def test_what_a_later_run_no_longer_found_in_its_item_is_doomed(sources: Sources) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim({"h:a": "a", "h:b#1": "b", "h:b#2": "b", "h:c#1": "c", "h:c#2": "c"})
    await ledger.note(dict.fromkeys("abc", ("1", "")), loaded=True)
    assert await ledger.doomed([]) == []
    assert await ledger.doomed(["a", "nowhere"]) == ["h:a"]
    await sources.release(await _held(sources, ledger))

    later = await a_ledger(sources)
    await later.claim({"h:b#1": "b", "h:c#1": "c"})
    await later.note({"a": ("1", "")}, loaded=False)
    await later.note({"b": ("2", "")}, loaded=True)

    assert await later.doomed([]) == ["h:b#2"]
    assert await later.doomed(["a"]) == ["h:a", "h:b#2"]
    await later.claim({"h:b#2": "b"})
    assert await later.doomed([]) == []


async def _held(sources: Sources, ledger: SourceLedger) -> ClaimedSource:
    """The lease of the first run."""
    found = await sources.find("handbook")
    assert found is not None
    assert await ledger.renew()
    return ClaimedSource(source=found, fence=1)


async def test_an_item_is_lost_with_the_first_of_its_documents(sources: Sources) -> None:
    await sources.add(a_source("beside"))
    await sources.ledger(await claimed(sources, "beside"), LEASE).claim({"b:a": "a"})
    await sources.add(replace(a_source("elsewhere"), bucket=BucketId("other")))
    await sources.ledger(await claimed(sources, "elsewhere"), LEASE).claim({"e:a": "a"})
    ledger = await a_ledger(sources)
    await ledger.claim({"h:a": "a", "h:b#1": "b", "h:b#2": "b"})

    assert (await ledger.documents(), await ledger.documents_of_bucket()) == (3, 4)
    assert await ledger.lost({"h:a", "h:b#1", "b:a"}) == {"b"}
    assert await ledger.lost(()) == {"a", "b"}


async def test_what_is_gone_is_forgotten(sources: Sources) -> None:
    ledger = await a_ledger(sources)
    await ledger.claim({"h:a": "a", "h:b": "b", "h:c": "c"})

    await ledger.forget(["h:a"], ["a"])
    await ledger.disclaim(["h:b"])

    assert await ledger.all_documents() == ["h:c"]
    assert set(await ledger.items()) == {"b", "c"}


async def test_many_are_noted_and_forgotten_at_once(sources: Sources) -> None:
    ledger = await a_ledger(sources)
    documents = {f"h:{number}": str(number) for number in range(1200)}

    await ledger.claim(documents)
    await ledger.note(dict.fromkeys(documents.values(), ("1", "")), loaded=True)

    assert len(await ledger.doomed(set(documents.values()))) == 1200
    await ledger.forget(documents, set(documents.values()))
    assert (await ledger.documents(), await ledger.items()) == (0, {})


async def test_who_removed_a_source_is_kept(sources: Sources, database: Database) -> None:
    await sources.add(a_source())
    lost = await claimed(sources, "handbook")
    await sources.release(lost)
    mine = await claimed(sources, "handbook")

    removed = [await sources.remove(one, by="local:ann") for one in (lost, mine)]

    [entry] = await Audit(database).entries()
    assert removed == [False, True]
    assert (entry.by, entry.action, entry.matter) == ("local:ann", "source.remove", "handbook")
    assert entry.before is not None
    assert (entry.before["bucket"], entry.before["every_s"]) == ("manuals", 3600)


async def test_sources_keep_apart_and_one_goes_with_its_books(sources: Sources) -> None:
    await sources.add(a_source("other"))
    other = sources.ledger(await claimed(sources, "other"), LEASE)
    await other.claim({"h:a": "a"})
    await sources.add(a_source())
    mine = await claimed(sources, "handbook")
    ledger = sources.ledger(mine, LEASE)
    await ledger.claim({"h:a": "a", "h:b": "b"})

    assert await sources.remove(mine, by="operator")

    assert [one.id for one in await sources.all()] == ["other"]
    assert await other.all_documents() == ["h:a"]
    assert await ledger.all_documents() == []
