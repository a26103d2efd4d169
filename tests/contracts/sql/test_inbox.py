"""The inbox's contract, on every database."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import ClassVar, TypeVar

import pytest
from sqlalchemy import Connection
from sqlalchemy.util import await_only

from storage.sql.accepting import Accepted, Duplicate, Groundless, NewTurn
from storage.sql.conversations import Conversations, ConversationState
from storage.sql.database import Database
from storage.sql.errors import DatabaseUnavailable, ValueRefused
from storage.sql.inbox import Attempt, ClaimedTurn, Dead, Inbox, Lost, Retry
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
def inbox(database: Database) -> Inbox:
    return Inbox(database, max_attempts=3)


async def accepted(inbox: Inbox, turn: NewTurn) -> str:
    answer = await inbox.accept(turn)
    assert isinstance(answer, Accepted)
    return answer.turn


async def claimed_one(inbox: Inbox, worker: str = "w1") -> ClaimedTurn:
    [claimed] = await inbox.claim(worker, LEASE)
    return claimed


def questions(claimed: list[ClaimedTurn]) -> list[str]:
    return [one.turn.body["said"] for one in claimed]


async def test_a_turn_comes_back_as_it_was_accepted(inbox: Inbox) -> None:
    hostile = "NUL \0, lone surrogate \ud800, \u202eright to left, 😀"
    turn = a_turn(body={"said": hostile, "nested": [1, 2.5, None, {"a": True}]}, audience={})

    identity = await accepted(inbox, turn)

    claimed = await claimed_one(inbox)
    assert claimed.turn.id == identity
    assert {name: getattr(claimed.turn, name) for name in NewTurn.__dataclass_fields__} == {
        name: getattr(turn, name) for name in NewTurn.__dataclass_fields__
    }
    assert await inbox.find(identity) == claimed.turn


async def test_times_are_kept_as_the_same_moment_in_utc(inbox: Inbox) -> None:
    berlin = RECEIVED.astimezone(timezone(timedelta(hours=1)))

    turn = await inbox.find(await accepted(inbox, a_turn(received_at=berlin)))

    assert turn is not None
    assert turn.received_at == RECEIVED
    assert turn.received_at.tzinfo is UTC


async def test_a_time_without_a_zone_is_refused(inbox: Inbox) -> None:
    with pytest.raises(ValueRefused):
        await inbox.accept(a_turn(received_at=RECEIVED.replace(tzinfo=None)))


async def test_an_unknown_turn_is_not_found(inbox: Inbox) -> None:
    assert await inbox.find("no such turn") is None


async def test_an_accepted_turn_outlives_the_process(inbox: Inbox, database_url: str, clock: SetClock) -> None:
    identity = await accepted(inbox, a_turn())

    reopened = await Database.open(database_url, clock=clock)

    assert await Inbox(reopened).find(identity) is not None
    await reopened.close()


@pytest.mark.parametrize(
    "again",
    [a_turn(1), a_turn(2, event_id="event-1"), a_turn(2, message_id="message-1")],
    ids=["everything the same", "the same event", "the same message under another event id"],
)
async def test_what_was_accepted_before_is_a_duplicate(inbox: Inbox, again: NewTurn) -> None:
    first = await accepted(inbox, a_turn(1))

    assert await inbox.accept(again) == Duplicate(first)
    assert questions(await inbox.claim("w1", LEASE, limit=10)) == ["question 1"]


async def test_equal_ids_of_other_surfaces_and_conversations_are_no_duplicates(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2, surface="teams", event_id="event-1"))
    await accepted(inbox, a_turn(3, conversation="slack:T1:C2:1", message_id="message-1"))


async def test_a_duplicate_of_two_turns_at_once_is_a_duplicate_of_the_first(inbox: Inbox) -> None:
    first = await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2))

    assert await inbox.accept(a_turn(3, event_id="event-2", message_id="message-1")) == Duplicate(first)


async def test_twenty_deliveries_of_one_message_at_once_are_accepted_once(inbox: Inbox) -> None:
    answers = await asyncio.gather(*(inbox.accept(a_turn(1, event_id=f"retry-{n % 3}")) for n in range(20)))

    [one] = [answer for answer in answers if isinstance(answer, Accepted)]
    assert answers.count(Duplicate(one.turn)) == 19


async def test_an_empty_inbox_gives_nothing(inbox: Inbox) -> None:
    assert await inbox.claim("w1", LEASE) == []


async def test_turns_of_a_conversation_are_claimed_one_after_the_other(inbox: Inbox) -> None:
    for number in range(3):
        await accepted(inbox, a_turn(number))

    first = await claimed_one(inbox)
    held_up = await inbox.claim("w2", LEASE, limit=10)
    await inbox.finish(first, {})
    second = await claimed_one(inbox, "w2")

    assert held_up == []
    assert questions([first, second]) == ["question 0", "question 1"]


async def test_conversations_go_on_side_by_side(inbox: Inbox) -> None:
    for number in range(6):
        await accepted(inbox, a_turn(number, conversation=f"slack:T1:C{number % 3}:1"))

    claimed = await inbox.claim("w1", LEASE, limit=10)

    assert questions(claimed) == ["question 0", "question 1", "question 2"]


async def test_no_more_are_claimed_than_asked_for(inbox: Inbox) -> None:
    for number in range(5):
        await accepted(inbox, a_turn(number, conversation=f"slack:T1:C{number}:1"))

    assert questions(await inbox.claim("w1", LEASE, limit=2)) == ["question 0", "question 1"]
    assert questions(await inbox.claim("w2", LEASE, limit=2)) == ["question 2", "question 3"]


async def test_a_worker_may_ask_for_surfaces_or_for_one_conversation_up_to_a_turn(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1, conversation="terminal:1", surface="terminal"))
    await accepted(inbox, a_turn(2, conversation="slack:1"))
    third = await accepted(inbox, a_turn(3, conversation="slack:2"))
    fourth = await accepted(inbox, a_turn(4, conversation="slack:2"))

    [claimed] = await inbox.claim("w1", LEASE, limit=9, up_to=fourth)
    assert claimed.turn.id == third
    assert await inbox.claim("w1", LEASE, up_to=fourth) == []
    assert await inbox.finish(claimed, {})
    assert await inbox.claim("w1", LEASE, up_to=third) == []
    assert await inbox.claim("w1", LEASE, up_to="no such turn") == []
    assert questions(await inbox.claim("w1", LEASE, up_to=fourth)) == ["question 4"]
    assert await inbox.claim("w1", LEASE, surfaces=[]) == []
    assert questions(await inbox.claim("w1", LEASE, limit=9, surfaces=["slack", "teams"])) == ["question 2"]


async def test_twelve_claimers_claim_none_twice_and_keep_the_order(inbox: Inbox) -> None:
    for number in range(60):
        await accepted(inbox, a_turn(number, conversation=f"slack:T1:C{number % 7}:1"))
    done: list[int] = []

    async def work(worker: str) -> None:
        while len(done) < 60:
            for claimed in await inbox.claim(worker, LEASE, limit=2):
                done.append(int(claimed.turn.event_id.removeprefix("event-")))
                assert await inbox.finish(claimed, {})

    await asyncio.gather(*(work(f"w{n}") for n in range(12)))

    assert sorted(done) == list(range(60))
    for lane in range(7):
        in_lane = [number for number in done if number % 7 == lane]
        assert in_lane == sorted(in_lane)


class SlowToCommit(Database):
    """Writes, says so, and commits when it is told to."""

    written: ClassVar[asyncio.Event]
    commit: ClassVar[asyncio.Event]

    async def write(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T:
        loop = asyncio.get_running_loop()

        def slowly(connection: Connection) -> T:
            done = work(connection)
            loop.call_soon_threadsafe(self.written.set)
            if self.is_file:  # it runs in a thread
                asyncio.run_coroutine_threadsafe(self.commit.wait(), loop).result()
            else:
                await_only(self.commit.wait())
            return done

        return await super().write(slowly, lightly=lightly)


async def test_a_later_turn_is_not_there_before_an_earlier_one_is(
    inbox: Inbox, database_url: str, clock: SetClock
) -> None:
    """However the transactions overlap: else both could be claimed at once."""
    SlowToCommit.written, SlowToCommit.commit = asyncio.Event(), asyncio.Event()
    slow = await SlowToCommit.open(database_url, clock=clock)
    earlier = asyncio.create_task(Inbox(slow).accept(a_turn(1)))
    await SlowToCommit.written.wait()
    later = asyncio.create_task(inbox.accept(a_turn(2)))

    overtaking, _ = await asyncio.wait({later}, timeout=0.3)
    SlowToCommit.commit.set()
    await asyncio.gather(earlier, later)

    assert not overtaking
    assert questions(await inbox.claim("w1", LEASE, limit=9)) == ["question 1"]
    await slow.close()


async def test_a_lost_lease_is_found_out_at_every_write(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    lost = await claimed_one(inbox, "w1")
    clock.forward(seconds=30)
    taken_over = await claimed_one(inbox, "w2")

    assert await inbox.renew(lost, LEASE) is False
    assert await inbox.note_placeholder(lost, "p1") is False
    assert await inbox.mark_delivered(lost) is False
    assert await inbox.release(lost) is False
    assert await inbox.fail(lost, "too late", PAUSE) == Lost()
    assert await inbox.finish(lost, {"answer": "too late"}) is False
    turn = await inbox.find(lost.turn.id)
    assert turn == taken_over.turn
    assert taken_over.fence > lost.fence
    assert (lost.turn.attempt, taken_over.turn.attempt) == (1, 2)


async def test_a_finish_without_the_lease_keeps_nothing(inbox: Inbox, database: Database, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    lost = await claimed_one(inbox, "w1")
    clock.forward(seconds=30)
    await claimed_one(inbox, "w2")
    state = ConversationState(conversation=lost.turn.conversation, scope_key="s", clarifications_in_a_row=1)

    await inbox.finish(lost, {}, state=state, attempts=[Attempt(tool="t", arguments={}, documents=0, ms=1)])

    assert (await Conversations(database).load(lost.turn.conversation, "s")).clarifications_in_a_row == 0
    assert await inbox.attempts(lost.turn.id) == []


async def test_a_lease_that_nobody_took_over_can_still_be_finished(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)
    clock.forward(minutes=5)

    assert await inbox.finish(claimed, {})


async def test_a_renewed_lease_is_not_taken_over(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)
    clock.forward(seconds=29)
    assert await inbox.renew(claimed, LEASE)
    clock.forward(seconds=29)

    assert await inbox.claim("w2", LEASE) == []
    assert await inbox.finish(claimed, {})


async def test_the_next_worker_knows_the_placeholder_and_the_delivery(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    first = await claimed_one(inbox)
    assert (first.turn.placeholder, first.turn.delivered_at) == (None, None)
    assert await inbox.note_placeholder(first, "1700000000.1")
    assert await inbox.mark_delivered(first)
    delivered = clock.now
    clock.forward(seconds=31)

    second = await claimed_one(inbox, "w2")

    assert (second.turn.placeholder, second.turn.delivered_at) == ("1700000000.1", delivered)


async def test_the_next_worker_knows_the_outcome_that_was_noted(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    lost = await claimed_one(inbox)
    assert await inbox.note_outcome(lost, {"said": "42"})
    clock.forward(seconds=31)

    assert (await claimed_one(inbox, "w2")).turn.outcome == {"said": "42"}
    assert await inbox.note_outcome(lost, {"said": "43"}) is False


async def test_a_finished_turn_keeps_all_that_came_of_it(inbox: Inbox, database: Database) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)
    attempts = [
        Attempt(tool="annotations_search", arguments={"year": 2031}, documents=0, ms=3.5),
        Attempt(tool="search_text", arguments={}, documents=7, ms=0.25),
    ]
    state = ConversationState(
        conversation=claimed.turn.conversation,
        scope_key="all",
        summary={"topic": "contracts"},
        last_plan={"legs": []},
        clarifications_in_a_row=1,
    )

    outcome, route = {"outcome": "overload"}, {"took": "hybrid"}
    assert await inbox.finish(claimed, outcome, state=state, route=route, attempts=attempts)

    turn = await inbox.find(claimed.turn.id)
    assert turn is not None
    assert (turn.outcome, turn.route) == (outcome, route)
    assert turn.finished_at is not None
    assert await inbox.attempts(turn.id) == attempts
    assert await Conversations(database).load(state.conversation, "all") == state


async def test_a_finish_marks_the_delivery_unless_it_was_marked_before(inbox: Inbox, clock: SetClock) -> None:
    ends: list[datetime | None] = []
    for number, marked, delivered in ((1, False, False), (2, False, True), (3, True, True)):
        turn = await accepted(inbox, a_turn(number))
        claimed = await claimed_one(inbox)
        if marked:
            await inbox.mark_delivered(claimed)
            clock.forward(seconds=5)
        assert await inbox.finish(claimed, {}, delivered=delivered)
        found = await inbox.find(turn)
        ends.append(found and found.delivered_at)

    assert ends == [None, clock.now - timedelta(seconds=5), clock.now - timedelta(seconds=5)]


async def test_a_finished_turn_is_finished_once(inbox: Inbox) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)

    assert await inbox.finish(claimed, {"n": 1})
    assert await inbox.finish(claimed, {"n": 2}) is False
    assert await inbox.fail(claimed, "late", PAUSE) == Lost()


async def test_a_failed_turn_pauses_with_its_conversation(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2))
    claimed = await claimed_one(inbox)

    assert await inbox.fail(claimed, "the index is down", PAUSE) == Retry(clock.now + PAUSE)
    assert await inbox.claim("w2", LEASE, limit=10) == []
    clock.forward(seconds=5)

    again = await claimed_one(inbox, "w2")
    assert questions([again]) == ["question 1"]
    assert (again.turn.attempt, again.turn.failure, again.is_dead) == (2, "the index is down", False)


async def test_a_claim_that_failed_writes_nothing_more(inbox: Inbox) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)
    await inbox.fail(claimed, "no", PAUSE)

    assert await inbox.renew(claimed, LEASE) is False
    assert await inbox.finish(claimed, {}) is False


async def test_after_the_last_attempt_a_turn_is_handed_out_once_more_as_dead(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2))
    for _ in range(2):
        assert isinstance(await inbox.fail(await claimed_one(inbox), "no", PAUSE), Retry)
        clock.forward(seconds=5)

    assert await inbox.fail(await claimed_one(inbox), "still no", PAUSE) == Dead()

    dead = await claimed_one(inbox)
    assert (dead.is_dead, dead.turn.failure) == (True, "still no")
    assert await inbox.claim("w2", LEASE) == []
    assert await inbox.finish(dead, {"outcome": "failed"})
    assert questions([await claimed_one(inbox)]) == ["question 2"]


async def test_attempts_that_ended_in_a_kill_count_as_well(inbox: Inbox, clock: SetClock) -> None:
    await accepted(inbox, a_turn())
    for _ in range(3):
        assert not (await claimed_one(inbox)).is_dead
        clock.forward(seconds=31)

    assert (await claimed_one(inbox)).is_dead


async def dead_turn(inbox: Inbox, clock: SetClock) -> ClaimedTurn:
    """The first of two turns, after three kills."""
    await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2))
    for _ in range(3):
        await claimed_one(inbox)
        clock.forward(seconds=31)
    dead = await claimed_one(inbox)
    assert (dead.is_dead, dead.turn.event_id) == (True, "event-1")
    return dead


async def test_a_word_that_could_not_be_said_holds_nothing_up_and_is_tried_until_it_was(
    inbox: Inbox, clock: SetClock
) -> None:
    dead = await dead_turn(inbox, clock)
    assert await inbox.claim("w2", LEASE, limit=9) == []

    assert await inbox.fail(dead, "the chat is down", PAUSE) == Retry(clock.now + PAUSE)
    [second] = await inbox.claim("w2", LEASE, limit=9)
    assert second.turn.event_id == "event-2"
    assert await inbox.finish(second, {})
    for _ in range(10):
        clock.forward(seconds=5)
        dead = await claimed_one(inbox)
        assert (dead.is_dead, dead.turn.event_id) == (True, "event-1")
        assert isinstance(await inbox.fail(dead, "still down", PAUSE), Retry)

    clock.forward(seconds=5)
    assert await inbox.finish(await claimed_one(inbox), {"outcome": "failed"})
    clock.forward(days=1)
    assert await inbox.claim("w1", LEASE) == []


async def test_a_worker_killed_while_it_said_the_word_is_taken_over_and_holds_nothing_up(
    inbox: Inbox, clock: SetClock
) -> None:
    await dead_turn(inbox, clock)
    clock.forward(seconds=31)

    again = await claimed_one(inbox, "w2")

    assert (again.is_dead, again.turn.event_id) == (True, "event-1")
    assert questions(await inbox.claim("w3", LEASE, limit=9)) == ["question 2"]
    assert await inbox.finish(again, {"outcome": "failed"})


async def test_a_dead_turn_whose_word_could_not_be_said_is_not_alone_any_more(inbox: Inbox, clock: SetClock) -> None:
    dead = await dead_turn(inbox, clock)
    assert dead.is_alone
    assert isinstance(await inbox.fail(dead, "the chat is down", PAUSE), Retry)
    clock.forward(seconds=5)

    again, second = await inbox.claim("w1", LEASE, limit=9)

    assert (again.turn.id, again.is_alone, second.is_alone) == (dead.turn.id, False, True)


async def test_a_turn_knows_the_messages_of_the_others_in_its_conversation(inbox: Inbox) -> None:
    for number, conversation in enumerate(("1", "1", "2", "1"), 1):
        await accepted(inbox, a_turn(number, conversation=f"slack:T1:C1:{conversation}"))
    for message in ("p1", "p3", "p2"):
        for claimed in await inbox.claim("w1", LEASE, limit=1):
            assert await inbox.note_placeholder(claimed, message)
            assert await inbox.finish(claimed, {})
    last = await claimed_one(inbox)
    assert await inbox.note_placeholder(last, "p4")

    assert sorted(await inbox.messages_but(last.turn.id)) == ["p1", "p3"]


async def test_a_released_turn_is_claimed_again_at_once_and_has_lost_no_attempt(inbox: Inbox) -> None:
    await accepted(inbox, a_turn())
    claimed = await claimed_one(inbox)

    assert await inbox.release(claimed)
    assert await inbox.finish(claimed, {}) is False

    again = await claimed_one(inbox, "w2")
    assert again.turn.attempt == 1
    assert again.fence > claimed.fence


async def test_what_comes_at_once_keeps_its_order_and_each_gets_its_own_answer(inbox: Inbox) -> None:
    """New ones, one delivered twice, and one delivered before."""
    before = await accepted(inbox, a_turn(1))
    coming = [a_turn(number, conversation=f"slack:T1:C{number % 5}:1") for number in range(2, 60)]
    again = [coming[7], a_turn(1, event_id="event-1-again")]

    answers = await asyncio.gather(*(inbox.accept(turn) for turn in (*coming, *again)))

    new, (twice, old) = answers[: len(coming)], answers[len(coming) :]
    assert all(isinstance(answer, Accepted) for answer in new)
    assert isinstance(new[7], Accepted)
    assert (twice, old) == (Duplicate(new[7].turn), Duplicate(before))
    found = [await inbox.find(answer.turn) for answer in new if isinstance(answer, Accepted)]
    assert [turn.event_id for turn in found if turn] == [turn.event_id for turn in coming]
    claimed = {one.turn.event_id for one in await inbox.claim("w1", LEASE, limit=99)}
    assert claimed == {f"event-{number}" for number in range(1, 6)}  # the first of each conversation


async def test_an_edit_and_its_message_at_once(inbox: Inbox) -> None:
    """Whichever comes first: the message counts, then its edit; or the edit, of which the message is a duplicate."""
    message, edit = a_turn(1), a_turn(2, revises="message-1")
    late = a_turn(3, conversation="slack:T1:C9:1", message_id="message-9")
    early = a_turn(4, conversation="slack:T1:C9:1", revises="message-9")

    said, edited = await asyncio.gather(inbox.accept(message), inbox.accept(edit))
    first, then = await asyncio.gather(inbox.accept(early, first=True), inbox.accept(late))

    assert isinstance(said, Accepted)
    assert isinstance(edited, Accepted)
    assert isinstance(first, Accepted)
    assert then == Duplicate(first.turn)


async def test_what_cannot_be_stored_costs_those_beside_it_nothing(inbox: Inbox) -> None:
    wrong = a_turn(5, received_at=RECEIVED.replace(tzinfo=None))
    coming = [*(a_turn(number) for number in range(1, 5)), wrong, *(a_turn(number) for number in range(6, 9))]

    answers = await asyncio.gather(*(inbox.accept(turn) for turn in coming), return_exceptions=True)

    assert isinstance(answers.pop(4), ValueRefused)
    assert all(isinstance(answer, Accepted) for answer in answers)


class Away(Database):
    """Not to be reached while `is_away`."""

    is_away: ClassVar[bool] = False
    asked: ClassVar[int] = 0

    async def write(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T:
        if not Away.is_away:
            return await super().write(work, lightly=lightly)
        Away.asked += 1
        await asyncio.sleep(0.01)
        raise DatabaseUnavailable(self.where, "away")


async def test_where_the_database_is_away_nobody_waits_for_it_in_turns(
    database_url: str, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = await Away.open(database_url, clock=clock)
    inbox = Inbox(away)
    with monkeypatch.context() as patched:
        patched.setattr(Away, "is_away", True)
        patched.setattr(Away, "asked", 0)
        coming = (inbox.accept(a_turn(number)) for number in range(99))
        answers = await asyncio.gather(*coming, return_exceptions=True)
        assert Away.asked == 1

    assert [type(answer) for answer in answers] == [DatabaseUnavailable] * 99
    assert isinstance(await inbox.accept(a_turn(1)), Accepted)
    await away.close()


async def test_those_that_wait_for_a_caller_who_gives_up_are_stored_nevertheless(inbox: Inbox) -> None:
    tasks = [asyncio.create_task(inbox.accept(a_turn(number))) for number in range(9)]
    while not any(task.done() for task in tasks):
        await asyncio.sleep(0)
        next(task for task in tasks if not task.done()).cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)

    assert any(isinstance(answer, Accepted) for answer in answers)
    for number, answer in enumerate(answers):
        if isinstance(answer, Accepted):
            again = await inbox.accept(a_turn(number))
            assert again == Duplicate(answer.turn)
        else:
            assert isinstance(answer, asyncio.CancelledError)


async def test_a_cancelled_write_leaves_the_database_in_order(inbox: Inbox) -> None:
    tasks = [asyncio.create_task(inbox.accept(a_turn(n, conversation=f"c{n}"))) for n in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(await inbox.accept(a_turn(99, conversation="c99")), Accepted)
    claimed = {one.turn.event_id for one in await inbox.claim("w1", LEASE, limit=20)}
    assert claimed >= {"event-1", "event-3", "event-5", "event-7", "event-9", "event-99"}


async def test_a_turn_that_moves_stands_in_line_where_it_came_to(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1, conversation="command:1"))
    moved = await claimed_one(inbox)

    assert await inbox.move(moved, "slack:T1:C1:1", {"private": "slack:T1:U1"}, {"said": "moved"})
    await accepted(inbox, a_turn(2))

    assert await inbox.claim("w2", LEASE) == []
    assert await inbox.finish(moved, {})
    assert questions(await inbox.claim("w2", LEASE)) == ["question 2"]
    found = await inbox.find(moved.turn.id)
    assert found is not None
    assert (found.conversation, found.body) == ("slack:T1:C1:1", {"said": "moved"})


async def test_who_lost_the_lease_moves_nothing(inbox: Inbox) -> None:
    identity = await accepted(inbox, a_turn(1))
    claimed = await claimed_one(inbox)
    await inbox.release(claimed)

    assert not await inbox.move(claimed, "elsewhere", {}, {})
    found = await inbox.find(identity)
    assert found is not None
    assert found.conversation == "slack:T1:C1:1"


async def test_a_conversation_has_a_reply_once_one_is_delivered(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1))
    claimed = await claimed_one(inbox)
    before = await inbox.has_delivered("slack:T1:C1:1")

    await inbox.mark_delivered(claimed)

    assert not before
    assert await inbox.has_delivered("slack:T1:C1:1")
    assert not await inbox.has_delivered("slack:T1:C1:2")


async def test_a_turn_takes_the_place_of_all_earlier_versions_of_its_message(inbox: Inbox) -> None:
    first = await accepted(inbox, a_turn(1))
    await accepted(inbox, a_turn(2))
    await accepted(inbox, a_turn(3, conversation="slack:T1:C1:2", message_id="message-1"))
    second = await accepted(inbox, a_turn(4, revises="message-1"))
    third = await accepted(inbox, a_turn(5, revises="message-1"))

    assert [one.id for one in await inbox.versions(third)] == [first, second]
    assert [one.id for one in await inbox.versions(second)] == [first]
    assert await inbox.versions(first) == []


async def test_what_was_never_accepted_cannot_be_revised(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1, conversation="slack:T1:C1:2"))

    assert await inbox.accept(a_turn(2, revises="message-1")) == Groundless()
    assert len(await inbox.claim("w1", LEASE, limit=9)) == 1


async def test_a_revision_that_comes_first_stands_and_its_message_is_a_duplicate_of_it(inbox: Inbox) -> None:
    answer = await inbox.accept(a_turn(2, revises="message-1"), first=True)
    assert isinstance(answer, Accepted)

    assert await inbox.accept(a_turn(1)) == Duplicate(answer.turn)
    later = await accepted(inbox, a_turn(3, revises="message-1"))
    assert await inbox.accept(a_turn(1)) == Duplicate(later)
    assert [one.id for one in await inbox.versions(later)] == [answer.turn]


async def test_a_dead_turn_is_left_to_the_edit_that_waits_while_its_word_is_said(inbox: Inbox, clock: SetClock) -> None:
    dead = await dead_turn(inbox, clock)
    assert isinstance(await inbox.fail(dead, "the chat is down", PAUSE), Retry)
    assert await inbox.finish(await claimed_one(inbox), {})
    clock.forward(seconds=5)
    saying = await claimed_one(inbox)
    edit = await accepted(inbox, a_turn(3, revises="message-1"))

    assert await inbox.claim("w2", LEASE, limit=9) == []
    clock.forward(seconds=31)
    [claimed] = await inbox.claim("w2", LEASE, limit=9)

    assert (saying.turn.event_id, claimed.turn.id) == ("event-1", edit)


async def test_an_edit_ends_its_earlier_versions_whoever_holds_them(inbox: Inbox, clock: SetClock) -> None:
    dead = await dead_turn(inbox, clock)
    assert isinstance(await inbox.fail(dead, "the chat is down", PAUSE), Retry)
    assert await inbox.finish(await claimed_one(inbox), {})
    clock.forward(seconds=5)
    saying = await claimed_one(inbox)
    await accepted(inbox, a_turn(3, revises="message-1"))
    clock.forward(seconds=31)
    edit = await claimed_one(inbox, "w2")

    assert await inbox.end_version(edit, saying.turn.id, {"said": "stopped"}, "stopped")
    assert not await inbox.end_version(edit, saying.turn.id, {}, "stopped")
    assert not await inbox.renew(saying, LEASE)
    ended = await inbox.find(saying.turn.id)
    assert ended is not None
    assert (ended.outcome, ended.finished_at, ended.delivered_at) == ({"said": "stopped"}, clock.now, None)


async def test_who_lost_the_lease_ends_no_earlier_version(inbox: Inbox, clock: SetClock) -> None:
    first = await accepted(inbox, a_turn(1))
    assert await inbox.release(await claimed_one(inbox))
    other = await accepted(inbox, a_turn(2, conversation="slack:T1:C1:2"))
    lost = next(one for one in await inbox.claim("w1", LEASE, limit=9) if one.turn.id == other)
    clock.forward(seconds=31)
    await inbox.claim("w2", LEASE, limit=9)

    assert not await inbox.end_version(lost, first, {}, "stopped")


async def test_the_same_revision_twice_is_a_duplicate(inbox: Inbox) -> None:
    await accepted(inbox, a_turn(1))
    identity = await accepted(inbox, a_turn(2, revises="message-1"))

    assert await inbox.accept(a_turn(2, revises="message-1")) == Duplicate(identity)
