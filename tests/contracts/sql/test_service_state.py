"""The state of the service in numbers, on every database."""

from datetime import timedelta

from storage.search.ids import BucketId
from storage.sql.database import SqlDatabase
from storage.sql.service_state import ServiceState, ServiceStateStore
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.sources import NewSource, SourceStore
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import LEASE, RECEIVED, a_turn, accept_new_turn, claim_one_turn

NOTHING = ServiceState(
    waiting_turns=0,
    running_turns=0,
    paused_turns=0,
    oldest_waiting_s=0.0,
    export_counts={},
    source_counts={},
)


async def test_a_new_database_has_nothing_to_tell(database: SqlDatabase) -> None:
    assert await ServiceStateStore(database).measure_state() == NOTHING


async def test_open_turns_are_counted_by_what_they_wait_for(database: SqlDatabase, clock: SetClock) -> None:
    clock.now = RECEIVED + timedelta(seconds=1)
    inbox, store = TurnInbox(database, max_attempts=3), ServiceStateStore(database)
    for number in range(1, 5):
        received_at = RECEIVED - timedelta(seconds=10 * number)
        await accept_new_turn(inbox, a_turn(number, conversation=f"c{number}", received_at=received_at))
    failed, finished = await claim_one_turn(inbox), await claim_one_turn(inbox)
    await inbox.fail_attempt(failed, "IndexUnavailable", timedelta(minutes=1))
    await inbox.finish_turn(finished, {})
    await claim_one_turn(inbox)

    state = await store.measure_state()
    clock.now += LEASE
    state_after_the_lease = await store.measure_state()

    assert (state.waiting_turns, state.running_turns, state.paused_turns) == (1, 1, 1)
    assert state.oldest_waiting_s == 41
    assert (state_after_the_lease.waiting_turns, state_after_the_lease.running_turns) == (2, 0)


async def test_sources_are_counted(database: SqlDatabase) -> None:
    sources = SourceStore(database)
    for name in ("a", "b"):
        source = NewSource(id=name, kind="folder", location=f"/{name}", bucket=BucketId("b"), options={}, every=None)
        await sources.add_source(source)
    claimed = await sources.claim_due_source("w1", LEASE, source_id="a")
    assert claimed is not None
    await sources.finish_source_run(claimed, "failed", {}, failure="not there")

    state = await ServiceStateStore(database).measure_state()

    assert state.source_counts == {"failed": 1, "never": 1}
