"""The inbox's contract, on every database."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import ClassVar, TypeVar

import pytest
from sqlalchemy import Connection
from sqlalchemy.util import await_only

from storage.sql.database import SqlDatabase
from storage.sql.errors import DatabaseUnavailable, ValueRefused
from storage.sql.group_commit import AcceptedTurn, DuplicateTurn, NothingToRevise
from storage.sql.stores.conversations import ConversationState, ConversationStore
from storage.sql.stores.inbox import (
    AttemptsExhausted,
    ClaimedTurn,
    ClaimLost,
    RetryScheduled,
    StoredAttempt,
    TurnInbox,
    TurnShare,
)
from storage.sql.stores.turns import NewTurn
from tests.contracts.sql.databases import SetClock

LEASE = timedelta(seconds=30)
PAUSE = timedelta(seconds=5)
T = TypeVar("T")
RECEIVED = datetime(2026, 11, 20, 9, 29, 59, 123456, tzinfo=UTC)


def a_turn(number: int = 1, conversation: str = "slack:T1:C1:1", **changes: object) -> NewTurn:
    turn = NewTurn(
        surface="slack",
        event_id=f"event-{number}",
        conversation=conversation,
        message_id=f"message-{number}",
        person="slack:T1:U1",
        audience={"private": "slack:T1:U1"},
        body={"said": f"question {number}"},
        locale="en-GB",
        time_zone="Europe/Berlin",
        received_at=RECEIVED,
    )
    return replace(turn, **changes)


@pytest.fixture
def inbox(database: SqlDatabase) -> TurnInbox:
    return TurnInbox(database, max_attempts=3)


async def accept_new_turn(inbox: TurnInbox, turn: NewTurn) -> str:
    acceptance = await inbox.accept_turn(turn)
    assert isinstance(acceptance, AcceptedTurn)
    return acceptance.turn_id


async def claim_one_turn(inbox: TurnInbox, worker: str = "w1") -> ClaimedTurn:
    [claimed] = await inbox.claim_due_turns(worker, LEASE)
    return claimed


def question_texts(claimed: list[ClaimedTurn]) -> list[str]:
    return [claim.turn.body["said"] for claim in claimed]


async def test_a_turn_is_claimed_as_it_was_accepted(inbox: TurnInbox) -> None:
    hostile_text = "NUL \0, lone surrogate \ud800, \u202eright to left, 😀"
    turn = a_turn(body={"said": hostile_text, "nested": [1, 2.5, None, {"a": True}]}, audience={})

    turn_id = await accept_new_turn(inbox, turn)

    claimed = await claim_one_turn(inbox)
    assert claimed.turn.id == turn_id
    assert {name: getattr(claimed.turn, name) for name in NewTurn.__dataclass_fields__} == {
        name: getattr(turn, name) for name in NewTurn.__dataclass_fields__
    }
    assert await inbox.find_turn(turn_id) == claimed.turn


async def test_times_are_stored_as_the_same_instant_in_utc(inbox: TurnInbox) -> None:
    berlin_time = RECEIVED.astimezone(timezone(timedelta(hours=1)))

    turn = await inbox.find_turn(await accept_new_turn(inbox, a_turn(received_at=berlin_time)))

    assert turn is not None
    assert turn.received_at == RECEIVED
    assert turn.received_at.tzinfo is UTC


async def test_a_time_without_a_zone_is_refused(inbox: TurnInbox) -> None:
    with pytest.raises(ValueRefused):
        await inbox.accept_turn(a_turn(received_at=RECEIVED.replace(tzinfo=None)))


async def test_an_unknown_turn_is_not_found(inbox: TurnInbox) -> None:
    assert await inbox.find_turn("no such turn") is None


async def test_one_person_with_many_open_turns_does_not_hold_up_another(inbox: TurnInbox) -> None:
    for number in range(1, 7):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C{number}:1"))
    await accept_new_turn(inbox, a_turn(7, conversation="slack:T1:C7:1", person="slack:T1:U2"))

    claimed = await inbox.claim_due_turns("w1", LEASE, limit=8, limit_per_person=2)

    assert question_texts(claimed) == ["question 1", "question 2", "question 7"]
    assert await inbox.claim_due_turns("w2", LEASE, limit=8, limit_per_person=2) == []
    assert await inbox.finish_turn(claimed[0], {})
    assert question_texts(await inbox.claim_due_turns("w2", LEASE, limit=8, limit_per_person=2)) == ["question 3"]


async def test_turns_of_a_surface_that_nobody_answers_do_not_hold_up_the_person_elsewhere(inbox: TurnInbox) -> None:
    for number in (1, 2, 3):
        await accept_new_turn(inbox, a_turn(number, conversation=f"terminal:{number}", surface="terminal"))
    await accept_new_turn(inbox, a_turn(4))

    claimed = await inbox.claim_due_turns(
        "w1", LEASE, limit=8, limit_per_person=1, surfaces=("slack",), share=TurnShare.PROMPT
    )

    assert question_texts(claimed) == ["question 4"]


async def test_a_turn_that_pauses_after_a_failure_does_not_count_against_its_person(inbox: TurnInbox) -> None:
    for number in (1, 2):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C{number}:1"))
    await inbox.fail_attempt(await claim_one_turn(inbox), "test", PAUSE)

    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=8, limit_per_person=1)) == ["question 2"]


async def test_long_turns_and_further_turns_of_a_person_are_claimed_apart_from_the_others(inbox: TurnInbox) -> None:
    for number, person, is_long in ((1, "U1", False), (2, "U1", False), (3, "U2", True), (4, "U3", False)):
        conversation = f"slack:T1:C{number}:1"
        await accept_new_turn(inbox, a_turn(number, conversation, person=f"slack:T1:{person}", is_long=is_long))

    background = await inbox.claim_due_turns("w1", LEASE, limit=8, share=TurnShare.BACKGROUND)
    prompt = await inbox.claim_due_turns("w2", LEASE, limit=8, share=TurnShare.PROMPT)

    assert question_texts(background) == ["question 2", "question 3"]
    assert question_texts(prompt) == ["question 1", "question 4"]


async def test_a_further_turn_of_a_person_is_no_background_turn_once_the_earlier_ones_have_ended(
    inbox: TurnInbox,
) -> None:
    for number in (1, 2):
        await accept_new_turn(inbox, a_turn(number, f"slack:T1:C{number}:1"))
    [claimed] = await inbox.claim_due_turns("w1", LEASE, limit=8, share=TurnShare.PROMPT)
    assert await inbox.finish_turn(claimed, {})

    assert await inbox.claim_due_turns("w2", LEASE, limit=8, share=TurnShare.BACKGROUND) == []
    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=8, share=TurnShare.PROMPT)) == ["question 2"]


async def test_an_accepted_turn_outlives_the_process(inbox: TurnInbox, database_url: str, clock: SetClock) -> None:
    turn_id = await accept_new_turn(inbox, a_turn())

    reopened = await SqlDatabase.open(database_url, clock=clock)

    assert await TurnInbox(reopened).find_turn(turn_id) is not None
    await reopened.close()


@pytest.mark.parametrize(
    "repeated",
    [a_turn(1), a_turn(2, event_id="event-1"), a_turn(2, message_id="message-1")],
    ids=["everything the same", "the same event", "the same message under another event id"],
)
async def test_a_turn_that_was_accepted_before_is_a_duplicate(inbox: TurnInbox, repeated: NewTurn) -> None:
    first_turn_id = await accept_new_turn(inbox, a_turn(1))

    assert await inbox.accept_turn(repeated) == DuplicateTurn(first_turn_id)
    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=10)) == ["question 1"]


async def test_equal_ids_of_other_surfaces_and_conversations_are_no_duplicates(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2, surface="teams", event_id="event-1"))
    await accept_new_turn(inbox, a_turn(3, conversation="slack:T1:C2:1", message_id="message-1"))


async def test_a_turn_that_equals_two_turns_is_a_duplicate_of_the_first(inbox: TurnInbox) -> None:
    first_turn_id = await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2))

    assert await inbox.accept_turn(a_turn(3, event_id="event-2", message_id="message-1")) == DuplicateTurn(
        first_turn_id
    )


async def test_twenty_deliveries_of_one_message_at_once_are_accepted_once(inbox: TurnInbox) -> None:
    acceptances = await asyncio.gather(*(inbox.accept_turn(a_turn(1, event_id=f"retry-{n % 3}")) for n in range(20)))

    [accepted_turn] = [acceptance for acceptance in acceptances if isinstance(acceptance, AcceptedTurn)]
    assert acceptances.count(DuplicateTurn(accepted_turn.turn_id)) == 19


async def test_an_empty_inbox_has_no_due_turns(inbox: TurnInbox) -> None:
    assert await inbox.claim_due_turns("w1", LEASE) == []


async def test_turns_of_a_conversation_are_claimed_one_after_the_other(inbox: TurnInbox) -> None:
    for number in range(3):
        await accept_new_turn(inbox, a_turn(number))

    first = await claim_one_turn(inbox)
    blocked_claims = await inbox.claim_due_turns("w2", LEASE, limit=10)
    await inbox.finish_turn(first, {})
    second = await claim_one_turn(inbox, "w2")

    assert blocked_claims == []
    assert question_texts([first, second]) == ["question 0", "question 1"]


async def test_turns_of_different_conversations_are_claimed_together(inbox: TurnInbox) -> None:
    for number in range(6):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C{number % 3}:1"))

    claimed = await inbox.claim_due_turns("w1", LEASE, limit=10)

    assert question_texts(claimed) == ["question 0", "question 1", "question 2"]


async def test_no_more_turns_are_claimed_than_the_limit(inbox: TurnInbox) -> None:
    for number in range(5):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C{number}:1"))

    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=2)) == ["question 0", "question 1"]
    assert question_texts(await inbox.claim_due_turns("w2", LEASE, limit=2)) == ["question 2", "question 3"]


async def test_a_claim_may_be_restricted_to_surfaces_or_to_a_conversation_up_to_a_turn(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1, conversation="terminal:1", surface="terminal"))
    await accept_new_turn(inbox, a_turn(2, conversation="slack:1"))
    third = await accept_new_turn(inbox, a_turn(3, conversation="slack:2"))
    fourth = await accept_new_turn(inbox, a_turn(4, conversation="slack:2"))

    [claimed] = await inbox.claim_due_turns("w1", LEASE, limit=9, up_to_turn=fourth)
    assert claimed.turn.id == third
    assert await inbox.claim_due_turns("w1", LEASE, up_to_turn=fourth) == []
    assert await inbox.finish_turn(claimed, {})
    assert await inbox.claim_due_turns("w1", LEASE, up_to_turn=third) == []
    assert await inbox.claim_due_turns("w1", LEASE, up_to_turn="no such turn") == []
    assert question_texts(await inbox.claim_due_turns("w1", LEASE, up_to_turn=fourth)) == ["question 4"]
    assert await inbox.claim_due_turns("w1", LEASE, surfaces=[]) == []
    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=9, surfaces=["slack", "teams"])) == [
        "question 2"
    ]


async def test_twelve_workers_claim_no_turn_twice_and_keep_the_order(inbox: TurnInbox) -> None:
    for number in range(60):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C{number % 7}:1"))
    done: list[int] = []

    async def work(worker: str) -> None:
        while len(done) < 60:
            for claimed in await inbox.claim_due_turns(worker, LEASE, limit=2):
                done.append(int(claimed.turn.event_id.removeprefix("event-")))
                assert await inbox.finish_turn(claimed, {})

    await asyncio.gather(*(work(f"w{n}") for n in range(12)))

    assert sorted(done) == list(range(60))
    for lane in range(7):
        in_lane = [number for number in done if number % 7 == lane]
        assert in_lane == sorted(in_lane)


class SlowCommitDatabase(SqlDatabase):
    """Sets `written` after a write, and commits when `commit` is set."""

    written: ClassVar[asyncio.Event]
    commit: ClassVar[asyncio.Event]

    async def run_write(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T:
        loop = asyncio.get_running_loop()

        def wait_before_commit(connection: Connection) -> T:
            result = work(connection)
            loop.call_soon_threadsafe(self.written.set)
            if self.is_file:  # it runs in a thread
                asyncio.run_coroutine_threadsafe(self.commit.wait(), loop).result()
            else:
                await_only(self.commit.wait())
            return result

        return await super().run_write(wait_before_commit, durable=durable)


async def test_a_later_turn_is_not_visible_before_an_earlier_one(
    inbox: TurnInbox, database_url: str, clock: SetClock
) -> None:
    """The transactions may overlap in any way; otherwise both turns could be claimed at once."""
    SlowCommitDatabase.written, SlowCommitDatabase.commit = asyncio.Event(), asyncio.Event()
    slow_database = await SlowCommitDatabase.open(database_url, clock=clock)
    earlier = asyncio.create_task(TurnInbox(slow_database).accept_turn(a_turn(1)))
    await SlowCommitDatabase.written.wait()
    later = asyncio.create_task(inbox.accept_turn(a_turn(2)))

    overtaking_tasks, _ = await asyncio.wait({later}, timeout=0.3)
    SlowCommitDatabase.commit.set()
    await asyncio.gather(earlier, later)

    assert not overtaking_tasks
    assert question_texts(await inbox.claim_due_turns("w1", LEASE, limit=9)) == ["question 1"]
    await slow_database.close()


async def test_every_write_fails_after_the_lease_is_lost(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn())
    lost_claim = await claim_one_turn(inbox, "w1")
    clock.forward(seconds=30)
    taken_over = await claim_one_turn(inbox, "w2")

    assert await inbox.renew_lease(lost_claim, LEASE) is False
    assert await inbox.note_placeholder(lost_claim, "p1") is False
    assert await inbox.mark_delivered(lost_claim) is False
    assert await inbox.release_claim(lost_claim) is False
    assert await inbox.fail_attempt(lost_claim, "too late", PAUSE) == ClaimLost()
    assert await inbox.finish_turn(lost_claim, {"answer": "too late"}) is False
    turn = await inbox.find_turn(lost_claim.turn.id)
    assert turn == taken_over.turn
    assert taken_over.fence > lost_claim.fence
    assert (lost_claim.turn.attempt, taken_over.turn.attempt) == (1, 2)


async def test_finishing_without_the_lease_stores_nothing(
    inbox: TurnInbox, database: SqlDatabase, clock: SetClock
) -> None:
    await accept_new_turn(inbox, a_turn())
    lost_claim = await claim_one_turn(inbox, "w1")
    clock.forward(seconds=30)
    await claim_one_turn(inbox, "w2")
    state = ConversationState(conversation=lost_claim.turn.conversation, scope_key="s", clarifications_in_a_row=1)

    await inbox.finish_turn(
        lost_claim, {}, state=state, attempts=[StoredAttempt(tool="t", arguments={}, documents=0, ms=1)]
    )

    assert (
        await ConversationStore(database).load_state(lost_claim.turn.conversation, "s")
    ).clarifications_in_a_row == 0
    assert await inbox.list_attempts(lost_claim.turn.id) == []


async def test_a_turn_with_an_expired_lease_can_be_finished_if_no_worker_took_over(
    inbox: TurnInbox, clock: SetClock
) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)
    clock.forward(minutes=5)

    assert await inbox.finish_turn(claimed, {})


async def test_a_renewed_lease_is_not_taken_over(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)
    clock.forward(seconds=29)
    assert await inbox.renew_lease(claimed, LEASE)
    clock.forward(seconds=29)

    assert await inbox.claim_due_turns("w2", LEASE) == []
    assert await inbox.finish_turn(claimed, {})


async def test_a_later_claim_has_the_placeholder_and_the_delivery(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn())
    first = await claim_one_turn(inbox)
    assert (first.turn.placeholder, first.turn.delivered_at) == (None, None)
    assert await inbox.note_placeholder(first, "1700000000.1")
    assert await inbox.mark_delivered(first)
    delivered = clock.now
    clock.forward(seconds=31)

    second = await claim_one_turn(inbox, "w2")

    assert (second.turn.placeholder, second.turn.delivered_at) == ("1700000000.1", delivered)


async def test_a_later_claim_has_the_noted_outcome(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn())
    lost_claim = await claim_one_turn(inbox)
    assert await inbox.note_outcome(lost_claim, {"said": "42"})
    clock.forward(seconds=31)

    assert (await claim_one_turn(inbox, "w2")).turn.outcome == {"said": "42"}
    assert await inbox.note_outcome(lost_claim, {"said": "43"}) is False


async def test_a_finished_turn_stores_its_outcome_and_attempts_and_state(
    inbox: TurnInbox, database: SqlDatabase
) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)
    attempts = [
        StoredAttempt(tool="annotations_search", arguments={"year": 2031}, documents=0, ms=3.5),
        StoredAttempt(tool="search_text", arguments={}, documents=7, ms=0.25),
    ]
    state = ConversationState(
        conversation=claimed.turn.conversation,
        scope_key="all",
        summary={"topic": "contracts"},
        last_plan={"legs": []},
        clarifications_in_a_row=1,
    )

    outcome, route = {"outcome": "overload"}, {"took": "hybrid"}
    assert await inbox.finish_turn(claimed, outcome, state=state, route=route, attempts=attempts)

    turn = await inbox.find_turn(claimed.turn.id)
    assert turn is not None
    assert (turn.outcome, turn.route) == (outcome, route)
    assert turn.finished_at is not None
    assert await inbox.list_attempts(turn.id) == attempts
    assert await ConversationStore(database).load_state(state.conversation, "all") == state


async def test_finishing_marks_the_delivery_unless_it_was_marked_before(inbox: TurnInbox, clock: SetClock) -> None:
    delivery_times: list[datetime | None] = []
    for number, is_marked_before, is_delivered in ((1, False, False), (2, False, True), (3, True, True)):
        turn_id = await accept_new_turn(inbox, a_turn(number))
        claimed = await claim_one_turn(inbox)
        if is_marked_before:
            await inbox.mark_delivered(claimed)
            clock.forward(seconds=5)
        assert await inbox.finish_turn(claimed, {}, is_delivered=is_delivered)
        stored_turn = await inbox.find_turn(turn_id)
        delivery_times.append(stored_turn and stored_turn.delivered_at)

    assert delivery_times == [None, clock.now - timedelta(seconds=5), clock.now - timedelta(seconds=5)]


async def test_a_turn_is_finished_once(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)

    assert await inbox.finish_turn(claimed, {"n": 1})
    assert await inbox.finish_turn(claimed, {"n": 2}) is False
    assert await inbox.fail_attempt(claimed, "late", PAUSE) == ClaimLost()


async def test_a_failed_turn_and_its_conversation_pause(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2))
    claimed = await claim_one_turn(inbox)

    assert await inbox.fail_attempt(claimed, "the index is down", PAUSE) == RetryScheduled(clock.now + PAUSE)
    assert await inbox.claim_due_turns("w2", LEASE, limit=10) == []
    clock.forward(seconds=5)

    second_claim = await claim_one_turn(inbox, "w2")
    assert question_texts([second_claim]) == ["question 1"]
    assert (second_claim.turn.attempt, second_claim.turn.failure, second_claim.is_exhausted) == (
        2,
        "the index is down",
        False,
    )


async def test_a_failed_claim_can_no_longer_write(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)
    await inbox.fail_attempt(claimed, "no", PAUSE)

    assert await inbox.renew_lease(claimed, LEASE) is False
    assert await inbox.finish_turn(claimed, {}) is False


async def test_after_the_last_attempt_a_turn_is_claimed_once_more_as_exhausted(
    inbox: TurnInbox, clock: SetClock
) -> None:
    await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2))
    for _ in range(2):
        assert isinstance(await inbox.fail_attempt(await claim_one_turn(inbox), "no", PAUSE), RetryScheduled)
        clock.forward(seconds=5)

    assert await inbox.fail_attempt(await claim_one_turn(inbox), "still no", PAUSE) == AttemptsExhausted()

    exhausted = await claim_one_turn(inbox)
    assert (exhausted.is_exhausted, exhausted.turn.failure) == (True, "still no")
    assert await inbox.claim_due_turns("w2", LEASE) == []
    assert await inbox.finish_turn(exhausted, {"outcome": "failed"})
    assert question_texts([await claim_one_turn(inbox)]) == ["question 2"]


async def test_attempts_that_ended_in_a_killed_worker_count(inbox: TurnInbox, clock: SetClock) -> None:
    await accept_new_turn(inbox, a_turn())
    for _ in range(3):
        assert not (await claim_one_turn(inbox)).is_exhausted
        clock.forward(seconds=31)

    assert (await claim_one_turn(inbox)).is_exhausted


async def test_the_turn_of_a_reply_is_found_by_its_message_in_its_conversation_alone(inbox: TurnInbox) -> None:
    first = await accept_new_turn(inbox, a_turn(1))
    claimed = await claim_one_turn(inbox)
    assert await inbox.note_placeholder(claimed, "p1")

    assert await inbox.find_by_reply(claimed.turn.conversation, "p1") == first
    assert await inbox.find_by_reply("slack:T1:C2:1", "p1") is None
    assert await inbox.find_by_reply(claimed.turn.conversation, "p2") is None


async def claim_exhausted_turn(inbox: TurnInbox, clock: SetClock) -> ClaimedTurn:
    """Accept two turns and claim the first one as exhausted, after three killed workers."""
    await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2))
    for _ in range(3):
        await claim_one_turn(inbox)
        clock.forward(seconds=31)
    exhausted = await claim_one_turn(inbox)
    assert (exhausted.is_exhausted, exhausted.turn.event_id) == (True, "event-1")
    return exhausted


async def test_an_error_message_that_cannot_be_posted_blocks_no_turn_and_is_retried(
    inbox: TurnInbox, clock: SetClock
) -> None:
    exhausted = await claim_exhausted_turn(inbox, clock)
    assert await inbox.claim_due_turns("w2", LEASE, limit=9) == []

    assert await inbox.fail_attempt(exhausted, "the chat is down", PAUSE) == RetryScheduled(clock.now + PAUSE)
    [second] = await inbox.claim_due_turns("w2", LEASE, limit=9)
    assert second.turn.event_id == "event-2"
    assert await inbox.finish_turn(second, {})
    for _ in range(10):
        clock.forward(seconds=5)
        exhausted = await claim_one_turn(inbox)
        assert (exhausted.is_exhausted, exhausted.turn.event_id) == (True, "event-1")
        assert isinstance(await inbox.fail_attempt(exhausted, "still down", PAUSE), RetryScheduled)

    clock.forward(seconds=5)
    assert await inbox.finish_turn(await claim_one_turn(inbox), {"outcome": "failed"})
    clock.forward(days=1)
    assert await inbox.claim_due_turns("w1", LEASE) == []


async def test_an_exhausted_turn_of_a_killed_worker_is_claimed_again_and_blocks_no_turn(
    inbox: TurnInbox, clock: SetClock
) -> None:
    await claim_exhausted_turn(inbox, clock)
    clock.forward(seconds=31)

    second_claim = await claim_one_turn(inbox, "w2")

    assert (second_claim.is_exhausted, second_claim.turn.event_id) == (True, "event-1")
    assert question_texts(await inbox.claim_due_turns("w3", LEASE, limit=9)) == ["question 2"]
    assert await inbox.finish_turn(second_claim, {"outcome": "failed"})


async def test_an_exhausted_turn_with_an_unposted_error_is_not_sole_in_its_conversation(
    inbox: TurnInbox, clock: SetClock
) -> None:
    exhausted = await claim_exhausted_turn(inbox, clock)
    assert exhausted.is_sole_in_conversation
    assert isinstance(await inbox.fail_attempt(exhausted, "the chat is down", PAUSE), RetryScheduled)
    clock.forward(seconds=5)

    reclaimed, second_turn = await inbox.claim_due_turns("w1", LEASE, limit=9)

    assert (reclaimed.turn.id, reclaimed.is_sole_in_conversation, second_turn.is_sole_in_conversation) == (
        exhausted.turn.id,
        False,
        True,
    )


async def test_the_reply_messages_of_the_other_turns_of_a_conversation_are_listed(inbox: TurnInbox) -> None:
    for number, conversation in enumerate(("1", "1", "2", "1"), 1):
        await accept_new_turn(inbox, a_turn(number, conversation=f"slack:T1:C1:{conversation}"))
    for message in ("p1", "p3", "p2"):
        for claimed in await inbox.claim_due_turns("w1", LEASE, limit=1):
            assert await inbox.note_placeholder(claimed, message)
            assert await inbox.finish_turn(claimed, {})
    last = await claim_one_turn(inbox)
    assert await inbox.note_placeholder(last, "p4")

    assert sorted(await inbox.list_other_reply_messages(last.turn.id)) == ["p1", "p3"]


async def test_a_released_turn_is_claimed_again_without_a_lost_attempt(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn())
    claimed = await claim_one_turn(inbox)

    assert await inbox.release_claim(claimed)
    assert await inbox.finish_turn(claimed, {}) is False

    second_claim = await claim_one_turn(inbox, "w2")
    assert second_claim.turn.attempt == 1
    assert second_claim.fence > claimed.fence


async def test_turns_accepted_at_once_keep_their_order_and_get_their_own_results(inbox: TurnInbox) -> None:
    """Accepts new turns, one turn that is delivered twice, and one that was accepted before."""
    earlier_turn_id = await accept_new_turn(inbox, a_turn(1))
    new_turns = [a_turn(number, conversation=f"slack:T1:C{number % 5}:1") for number in range(2, 60)]
    duplicates = [new_turns[7], a_turn(1, event_id="event-1-again")]

    acceptances = await asyncio.gather(*(inbox.accept_turn(turn) for turn in (*new_turns, *duplicates)))

    new_acceptances, (twice_delivered, earlier_delivered) = acceptances[: len(new_turns)], acceptances[len(new_turns) :]
    assert all(isinstance(acceptance, AcceptedTurn) for acceptance in new_acceptances)
    assert isinstance(new_acceptances[7], AcceptedTurn)
    assert (twice_delivered, earlier_delivered) == (
        DuplicateTurn(new_acceptances[7].turn_id),
        DuplicateTurn(earlier_turn_id),
    )
    stored_turns = [
        await inbox.find_turn(acceptance.turn_id)
        for acceptance in new_acceptances
        if isinstance(acceptance, AcceptedTurn)
    ]
    assert [turn.event_id for turn in stored_turns if turn] == [turn.event_id for turn in new_turns]
    claimed_events = {claim.turn.event_id for claim in await inbox.claim_due_turns("w1", LEASE, limit=99)}
    assert claimed_events == {f"event-{number}" for number in range(1, 6)}  # the first of each conversation


async def test_an_edit_and_its_message_may_arrive_at_once_in_any_order(inbox: TurnInbox) -> None:
    """Either the message is accepted and then its edit, or the edit first and the message as its duplicate."""
    message, edit = a_turn(1), a_turn(2, revises="message-1")
    late_message = a_turn(3, conversation="slack:T1:C9:1", message_id="message-9")
    early_edit = a_turn(4, conversation="slack:T1:C9:1", revises="message-9")

    message_acceptance, edit_acceptance = await asyncio.gather(inbox.accept_turn(message), inbox.accept_turn(edit))
    early_edit_acceptance, late_message_acceptance = await asyncio.gather(
        inbox.accept_turn(early_edit, may_precede_original=True), inbox.accept_turn(late_message)
    )

    assert isinstance(message_acceptance, AcceptedTurn)
    assert isinstance(edit_acceptance, AcceptedTurn)
    assert isinstance(early_edit_acceptance, AcceptedTurn)
    assert late_message_acceptance == DuplicateTurn(early_edit_acceptance.turn_id)


async def test_a_turn_that_cannot_be_stored_does_not_affect_others_of_its_batch(inbox: TurnInbox) -> None:
    invalid_turn = a_turn(5, received_at=RECEIVED.replace(tzinfo=None))
    incoming_turns = [
        *(a_turn(number) for number in range(1, 5)),
        invalid_turn,
        *(a_turn(number) for number in range(6, 9)),
    ]

    results = await asyncio.gather(*(inbox.accept_turn(turn) for turn in incoming_turns), return_exceptions=True)

    assert isinstance(results.pop(4), ValueRefused)
    assert all(isinstance(result, AcceptedTurn) for result in results)


class UnreachableDatabase(SqlDatabase):
    """A database whose writes fail while `is_away`."""

    is_away: ClassVar[bool] = False
    asked: ClassVar[int] = 0

    async def run_write(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T:
        if not UnreachableDatabase.is_away:
            return await super().run_write(work, durable=durable)
        UnreachableDatabase.asked += 1
        await asyncio.sleep(0.01)
        raise DatabaseUnavailable(self.location, "away")


async def test_one_failed_write_to_an_unreachable_database_fails_all_waiting_turns(
    database_url: str, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await UnreachableDatabase.open(database_url, clock=clock)
    inbox = TurnInbox(database)
    with monkeypatch.context() as patched:
        patched.setattr(UnreachableDatabase, "is_away", True)
        patched.setattr(UnreachableDatabase, "asked", 0)
        acceptances = (inbox.accept_turn(a_turn(number)) for number in range(99))
        results = await asyncio.gather(*acceptances, return_exceptions=True)
        assert UnreachableDatabase.asked == 1

    assert [type(result) for result in results] == [DatabaseUnavailable] * 99
    assert isinstance(await inbox.accept_turn(a_turn(1)), AcceptedTurn)
    await database.close()


async def test_waiting_turns_are_stored_even_if_another_caller_is_cancelled(inbox: TurnInbox) -> None:
    tasks = [asyncio.create_task(inbox.accept_turn(a_turn(number))) for number in range(9)]
    while not any(task.done() for task in tasks):
        await asyncio.sleep(0)
        next(task for task in tasks if not task.done()).cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert any(isinstance(result, AcceptedTurn) for result in results)
    for number, result in enumerate(results):
        if isinstance(result, AcceptedTurn):
            repeated = await inbox.accept_turn(a_turn(number))
            assert repeated == DuplicateTurn(result.turn_id)
        else:
            assert isinstance(result, asyncio.CancelledError)


async def test_the_database_works_after_cancelled_writes(inbox: TurnInbox) -> None:
    tasks = [asyncio.create_task(inbox.accept_turn(a_turn(n, conversation=f"c{n}"))) for n in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(await inbox.accept_turn(a_turn(99, conversation="c99")), AcceptedTurn)
    claimed_events = {claim.turn.event_id for claim in await inbox.claim_due_turns("w1", LEASE, limit=20)}
    assert claimed_events >= {"event-1", "event-3", "event-5", "event-7", "event-9", "event-99"}


async def test_a_moved_turn_is_queued_in_its_new_conversation(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1, conversation="command:1"))
    moved = await claim_one_turn(inbox)

    assert await inbox.move_to_conversation(moved, "slack:T1:C1:1", {"private": "slack:T1:U1"}, {"said": "moved"})
    await accept_new_turn(inbox, a_turn(2))

    assert await inbox.claim_due_turns("w2", LEASE) == []
    assert await inbox.finish_turn(moved, {})
    assert question_texts(await inbox.claim_due_turns("w2", LEASE)) == ["question 2"]
    stored_turn = await inbox.find_turn(moved.turn.id)
    assert stored_turn is not None
    assert (stored_turn.conversation, stored_turn.body) == ("slack:T1:C1:1", {"said": "moved"})


async def test_a_worker_that_lost_the_lease_cannot_move_a_turn(inbox: TurnInbox) -> None:
    turn_id = await accept_new_turn(inbox, a_turn(1))
    claimed = await claim_one_turn(inbox)
    await inbox.release_claim(claimed)

    assert not await inbox.move_to_conversation(claimed, "elsewhere", {}, {})
    stored_turn = await inbox.find_turn(turn_id)
    assert stored_turn is not None
    assert stored_turn.conversation == "slack:T1:C1:1"


async def test_a_conversation_has_a_delivered_reply_once_a_turn_is_delivered(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1))
    claimed = await claim_one_turn(inbox)
    has_reply_before = await inbox.has_delivered_reply("slack:T1:C1:1")

    await inbox.mark_delivered(claimed)

    assert not has_reply_before
    assert await inbox.has_delivered_reply("slack:T1:C1:1")
    assert not await inbox.has_delivered_reply("slack:T1:C1:2")


async def test_a_revision_lists_all_earlier_versions_of_its_message(inbox: TurnInbox) -> None:
    first = await accept_new_turn(inbox, a_turn(1))
    await accept_new_turn(inbox, a_turn(2))
    await accept_new_turn(inbox, a_turn(3, conversation="slack:T1:C1:2", message_id="message-1"))
    second = await accept_new_turn(inbox, a_turn(4, revises="message-1"))
    third = await accept_new_turn(inbox, a_turn(5, revises="message-1"))

    assert [version.id for version in await inbox.list_earlier_versions(third)] == [first, second]
    assert [version.id for version in await inbox.list_earlier_versions(second)] == [first]
    assert await inbox.list_earlier_versions(first) == []


async def test_a_message_that_was_never_accepted_cannot_be_revised(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1, conversation="slack:T1:C1:2"))

    assert await inbox.accept_turn(a_turn(2, revises="message-1")) == NothingToRevise()
    assert len(await inbox.claim_due_turns("w1", LEASE, limit=9)) == 1


async def test_a_message_that_arrives_after_its_revision_is_a_duplicate_of_it(inbox: TurnInbox) -> None:
    acceptance = await inbox.accept_turn(a_turn(2, revises="message-1"), may_precede_original=True)
    assert isinstance(acceptance, AcceptedTurn)

    assert await inbox.accept_turn(a_turn(1)) == DuplicateTurn(acceptance.turn_id)
    later_turn_id = await accept_new_turn(inbox, a_turn(3, revises="message-1"))
    assert await inbox.accept_turn(a_turn(1)) == DuplicateTurn(later_turn_id)
    assert [version.id for version in await inbox.list_earlier_versions(later_turn_id)] == [acceptance.turn_id]


async def test_an_edit_of_an_exhausted_turn_waits_while_the_error_is_posted_and_then_replaces_it(
    inbox: TurnInbox, clock: SetClock
) -> None:
    exhausted = await claim_exhausted_turn(inbox, clock)
    assert isinstance(await inbox.fail_attempt(exhausted, "the chat is down", PAUSE), RetryScheduled)
    assert await inbox.finish_turn(await claim_one_turn(inbox), {})
    clock.forward(seconds=5)
    posting_claim = await claim_one_turn(inbox)
    edit_turn_id = await accept_new_turn(inbox, a_turn(3, revises="message-1"))

    assert await inbox.claim_due_turns("w2", LEASE, limit=9) == []
    clock.forward(seconds=31)
    [claimed] = await inbox.claim_due_turns("w2", LEASE, limit=9)

    assert (posting_claim.turn.event_id, claimed.turn.id) == ("event-1", edit_turn_id)


async def test_an_edit_ends_its_earlier_versions_even_if_another_worker_claims_them(
    inbox: TurnInbox, clock: SetClock
) -> None:
    exhausted = await claim_exhausted_turn(inbox, clock)
    assert isinstance(await inbox.fail_attempt(exhausted, "the chat is down", PAUSE), RetryScheduled)
    assert await inbox.finish_turn(await claim_one_turn(inbox), {})
    clock.forward(seconds=5)
    posting_claim = await claim_one_turn(inbox)
    await accept_new_turn(inbox, a_turn(3, revises="message-1"))
    clock.forward(seconds=31)
    edit_claim = await claim_one_turn(inbox, "w2")

    assert await inbox.end_version(edit_claim, posting_claim.turn.id, {"said": "stopped"}, "stopped")
    assert not await inbox.end_version(edit_claim, posting_claim.turn.id, {}, "stopped")
    assert not await inbox.renew_lease(posting_claim, LEASE)
    ended_turn = await inbox.find_turn(posting_claim.turn.id)
    assert ended_turn is not None
    assert (ended_turn.outcome, ended_turn.finished_at, ended_turn.delivered_at) == (
        {"said": "stopped"},
        clock.now,
        None,
    )


async def test_a_worker_that_lost_the_lease_cannot_end_an_earlier_version(inbox: TurnInbox, clock: SetClock) -> None:
    first_turn_id = await accept_new_turn(inbox, a_turn(1))
    assert await inbox.release_claim(await claim_one_turn(inbox))
    other_turn_id = await accept_new_turn(inbox, a_turn(2, conversation="slack:T1:C1:2"))
    lost_claim = next(
        claim for claim in await inbox.claim_due_turns("w1", LEASE, limit=9) if claim.turn.id == other_turn_id
    )
    clock.forward(seconds=31)
    await inbox.claim_due_turns("w2", LEASE, limit=9)

    assert not await inbox.end_version(lost_claim, first_turn_id, {}, "stopped")


async def test_the_same_revision_twice_is_a_duplicate(inbox: TurnInbox) -> None:
    await accept_new_turn(inbox, a_turn(1))
    turn_id = await accept_new_turn(inbox, a_turn(2, revises="message-1"))

    assert await inbox.accept_turn(a_turn(2, revises="message-1")) == DuplicateTurn(turn_id)
