"""Saved searches, on every database: numbered, limited, claimed by one replica, and recorded once for a due time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import (
    NewSavedSearch,
    RunRecord,
    SavedSearchStatus,
    SavedSearchStore,
    StoredSavedSearch,
    run_message_id,
)
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.turns import NewTurn
from tests.contracts.sql.databases import SetClock

LEASE = timedelta(seconds=60)
ANN = "slack:T1:ANN"


def a_saved_search(due_at: datetime, turn: str = "t1", *, person: str = ANN) -> NewSavedSearch:
    return NewSavedSearch(
        creating_turn=turn,
        surface="slack",
        conversation="slack:c1",
        person=person,
        question="contracts with \x00 ACME",
        origin={"body": {"said": "…"}},
        buckets=["contracts"],
        schedule="every Monday at 09:00",
        time_zone="Europe/Berlin",
        seen={"c1": "h1"},
        index_state="s1",
        due_at=due_at,
    )


def a_run_of(search: StoredSavedSearch, received_at: datetime) -> NewTurn:
    message_id = run_message_id(search.position, received_at)
    return NewTurn(
        surface="slack",
        event_id=message_id,
        conversation="slack:c1",
        message_id=message_id,
        person=search.person,
        audience={},
        body={},
        locale="en",
        time_zone="UTC",
        received_at=received_at,
    )


@pytest.fixture
def store(database: SqlDatabase) -> SavedSearchStore:
    return SavedSearchStore(database)


@pytest.fixture
async def replica(database_url: str, clock: SetClock, database: SqlDatabase) -> AsyncIterator[SavedSearchStore]:
    """Another process on the same database, which is open already."""
    opened = await SqlDatabase.open(database_url, clock=clock)
    yield SavedSearchStore(opened)
    await opened.close()


async def add(store: SavedSearchStore, new: NewSavedSearch) -> StoredSavedSearch:
    stored = await store.add_search(new, max_of_person=20)
    assert stored is not None
    return stored


async def test_a_search_is_stored_once_for_its_turn(store: SavedSearchStore, clock: SetClock) -> None:
    first = await add(store, a_saved_search(clock.now))

    again = await add(store, a_saved_search(clock.now))

    assert again == first
    assert first.status is SavedSearchStatus.ACTIVE
    assert (first.reported_due_at, first.seen) == (None, {"c1": "h1"})
    assert await store.find_search(first.position) == first
    assert await store.find_search(first.position + 1) is None


async def test_a_person_has_a_limited_number_of_searches(store: SavedSearchStore, clock: SetClock) -> None:
    first = await store.add_search(a_saved_search(clock.now, "t1"), max_of_person=1)
    assert first is not None

    assert await store.add_search(a_saved_search(clock.now, "t2"), max_of_person=1) is None
    assert await store.add_search(a_saved_search(clock.now, "t3", person="bob"), max_of_person=1) is not None
    assert await store.add_search(a_saved_search(clock.now, "t1"), max_of_person=1) == first
    await store.stop_search(first.position)
    assert await store.add_search(a_saved_search(clock.now, "t4"), max_of_person=1) is not None


async def test_searches_are_listed_by_person_and_conversation(store: SavedSearchStore, clock: SetClock) -> None:
    first = await add(store, a_saved_search(clock.now, "t1"))
    other = await add(store, a_saved_search(clock.now, "t2", person="bob"))
    stopped = await add(store, a_saved_search(clock.now, "t3"))
    await store.stop_search(stopped.position)

    assert await store.list_searches() == [first, other]
    assert await store.list_searches(person=ANN) == [first]
    assert await store.list_searches(person=ANN, conversation="elsewhere") == []


async def test_a_stopped_search_is_never_due_again(store: SavedSearchStore, clock: SetClock) -> None:
    search = await add(store, a_saved_search(clock.now))

    assert await store.stop_search(search.position)

    assert not await store.stop_search(search.position)
    assert not await store.make_due(search.position, clock.now)
    assert await store.claim_due_search("w1", LEASE, surfaces=["slack"]) is None


async def test_of_two_replicas_one_claims_a_due_search(
    store: SavedSearchStore, replica: SavedSearchStore, clock: SetClock
) -> None:
    for number in range(6):
        await add(store, a_saved_search(clock.now, f"t{number}"))
    await add(store, a_saved_search(clock.now + timedelta(hours=1), "later"))

    async def claim_all(claiming: SavedSearchStore, worker: str) -> list[int]:
        positions: list[int] = []
        while claimed := await claiming.claim_due_search(worker, LEASE, surfaces=["slack"]):
            positions.append(claimed.search.position)
        return positions

    first, second = await asyncio.gather(claim_all(store, "w1"), claim_all(replica, "w2"))

    assert len(first) + len(second) == len({*first, *second}) == 6


async def test_a_search_is_claimed_for_the_surfaces_of_the_process_only(
    store: SavedSearchStore, clock: SetClock
) -> None:
    await add(store, a_saved_search(clock.now))

    assert await store.claim_due_search("w1", LEASE, surfaces=["teams"]) is None
    assert await store.claim_due_search("w1", LEASE, surfaces=[]) is None
    assert await store.claim_due_search("w1", LEASE, surfaces=["teams", "slack"]) is not None


async def test_a_claim_that_was_not_finished_is_handed_out_again(
    store: SavedSearchStore, replica: SavedSearchStore, clock: SetClock
) -> None:
    await add(store, a_saved_search(clock.now))
    lost = await store.claim_due_search("w1", LEASE, surfaces=["slack"])
    assert lost is not None
    clock.forward(seconds=61)

    taken = await replica.claim_due_search("w2", LEASE, surfaces=["slack"])

    assert taken is not None
    assert taken.search.due_at == lost.search.due_at
    assert not await store.finish_claim(lost, clock.now + timedelta(days=7))
    assert await replica.finish_claim(taken, clock.now + timedelta(days=7))
    assert await store.claim_due_search("w1", LEASE, surfaces=["slack"]) is None


async def test_of_two_replicas_none_claims_a_search_with_an_open_run_and_one_does_after_it(
    store: SavedSearchStore, replica: SavedSearchStore, database: SqlDatabase, clock: SetClock
) -> None:
    running, other = await add(store, a_saved_search(clock.now)), await add(store, a_saved_search(clock.now, "t2"))
    inbox, due_at = TurnInbox(database), clock.now + timedelta(hours=1)
    await inbox.accept_turn(a_run_of(running, clock.now))
    first = await store.claim_due_search("w1", LEASE, surfaces=["slack"])
    assert first is not None
    assert first.search.position == other.position
    await store.finish_claim(first, due_at)
    clock.forward(days=1)

    async def claim_both() -> list[int]:
        claims = await asyncio.gather(
            store.claim_due_search("w1", LEASE, surfaces=["slack"]),
            replica.claim_due_search("w2", LEASE, surfaces=["slack"]),
        )
        return [claimed.search.position for claimed in claims if claimed is not None]

    while_open = await claim_both()
    [run] = await inbox.claim_due_turns("w3", LEASE)
    while_in_progress = await claim_both()
    was_open = await replica.was_running(running.position, clock.now)
    clock.forward(seconds=1)
    assert await inbox.finish_turn(run, {})

    assert (while_open, while_in_progress) == ([other.position], [])
    assert await claim_both() == [running.position]
    assert was_open
    assert await store.was_running(running.position, clock.now - timedelta(seconds=1))
    assert not await store.was_running(running.position, clock.now)
    assert not await store.was_running(other.position, clock.now - timedelta(seconds=1))


async def test_open_turns_that_are_no_run_of_the_search_hold_up_nothing(
    store: SavedSearchStore, database: SqlDatabase, clock: SetClock
) -> None:
    search, inbox = await add(store, a_saved_search(clock.now)), TurnInbox(database)
    run = a_run_of(search, clock.now)
    for number, turn in enumerate(
        (
            replace(run, message_id=run_message_id(search.position + 10, clock.now)),
            replace(run, message_id=f"x{run.message_id}"),
            replace(run, message_id="1700.1"),
            replace(run, person="slack:T1:BOB"),
        )
    ):
        await inbox.accept_turn(replace(turn, event_id=f"e{number}", conversation=f"slack:c{number}"))

    assert await store.claim_due_search("w1", LEASE, surfaces=["slack"]) is not None


async def test_a_search_that_is_stopped_while_it_starts_stays_stopped(store: SavedSearchStore, clock: SetClock) -> None:
    search = await add(store, a_saved_search(clock.now))
    claimed = await store.claim_due_search("w1", LEASE, surfaces=["slack"])
    assert claimed is not None

    await store.stop_search(search.position)
    await store.finish_claim(claimed, clock.now + timedelta(days=7))

    stopped = await store.find_search(search.position)
    assert stopped is not None
    assert (stopped.status, stopped.due_at) == (SavedSearchStatus.STOPPED, None)


async def test_a_run_is_recorded_once_for_its_due_time(store: SavedSearchStore, clock: SetClock) -> None:
    search = await add(store, a_saved_search(clock.now))
    record = RunRecord(position=search.position, due_at=clock.now, seen={"c2": "h2"}, index_state="s2")

    assert await store.record_run(record)

    assert not await store.record_run(replace(record, seen={}))
    assert not await store.record_run(replace(record, due_at=clock.now - timedelta(days=1)))
    stored = await store.find_search(search.position)
    assert stored is not None
    assert (stored.seen, stored.index_state, stored.reported_due_at) == ({"c2": "h2"}, "s2", clock.now)


async def test_a_run_can_pause_the_search_until_it_is_made_due(store: SavedSearchStore, clock: SetClock) -> None:
    search = await add(store, a_saved_search(clock.now))

    await store.record_run(RunRecord(position=search.position, due_at=clock.now, seen={}, index_state="", pauses=True))

    paused = await store.find_search(search.position)
    assert paused is not None
    assert (paused.status, paused.due_at, paused.seen) == (SavedSearchStatus.PAUSED, None, {"c1": "h1"})
    assert await store.claim_due_search("w1", LEASE, surfaces=["slack"]) is None
    assert await store.make_due(search.position, clock.now)
    assert await store.claim_due_search("w1", LEASE, surfaces=["slack"]) is not None
