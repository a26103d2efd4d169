"""Admins, limits, feedback and the questions that people look back at, on every database."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from storage.sql.admins import Admins, Removal
from storage.sql.audit import Audit
from storage.sql.database import Database
from storage.sql.feedback import FeedbackStore
from storage.sql.history import History
from storage.sql.inbox import Inbox
from storage.sql.limits import Limit, Limits
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import LEASE, a_turn, accepted

ANN, BOB, ROOT = "slack:T1:U1", "slack:T1:U2", "local:root"


@pytest.fixture
def inbox(database: Database) -> Inbox:
    return Inbox(database)


class Asked:
    """Turns of people, each in a conversation of its own, received when the clock says so."""

    def __init__(self, inbox: Inbox, clock: SetClock) -> None:
        self._inbox, self._clock, self._number = inbox, clock, 0

    async def open(self, person: str = ANN, *, is_question: bool = True) -> str:
        self._number += 1
        turn = a_turn(
            self._number,
            f"c{self._number}",
            person=person,
            received_at=self._clock(),
            is_question=is_question,
        )
        return await accepted(self._inbox, turn)

    async def ended(self, ending: str, person: str = ANN) -> str:
        turn = await self.open(person)
        [claimed] = await self._inbox.claim("w", LEASE, up_to=turn)
        assert await self._inbox.finish(claimed, {}, ending=ending)
        return turn


@pytest.fixture
def asked(inbox: Inbox, clock: SetClock) -> Asked:
    return Asked(inbox, clock)


# -- admins


async def test_admins_come_and_go_and_each_change_is_audited(database: Database, clock: SetClock) -> None:
    admins = Admins(database)

    assert await admins.add(ANN, by=ROOT)
    assert not await admins.add(ANN, by=BOB)
    assert await admins.has(ANN)
    assert [(one.person, one.added_by, one.added_at) for one in await admins.all()] == [(ANN, ROOT, clock.now)]
    assert await admins.remove(ANN, by=BOB, others=True) is Removal.REMOVED
    assert await admins.remove(ANN, by=BOB, others=True) is Removal.NO_ADMIN
    assert not await admins.has(ANN)
    assert [(one.action, one.matter, one.by, one.before, one.after) for one in await Audit(database).entries()] == [
        ("admin.remove", ANN, BOB, {"added_by": ROOT}, None),
        ("admin.add", ANN, ROOT, None, {"added_by": ROOT}),
    ]


async def test_the_last_admin_stays_unless_there_are_others_elsewhere(database: Database) -> None:
    admins = Admins(database)
    await admins.add(ANN, by=ROOT)

    assert await admins.remove(ANN, by=ANN, others=False) is Removal.THE_LAST
    assert await admins.has(ANN)
    assert await admins.remove(ANN, by=ANN, others=True) is Removal.REMOVED


async def test_two_who_remove_one_another_at_once_leave_one(database: Database) -> None:
    admins = Admins(database)
    await admins.add(ANN, by=ROOT)
    await admins.add(BOB, by=ROOT)

    outcomes = await asyncio.gather(admins.remove(ANN, by=BOB, others=False), admins.remove(BOB, by=ANN, others=False))

    assert sorted(outcomes) == [Removal.REMOVED, Removal.THE_LAST]
    assert len(await admins.all()) == 1


# -- limits


async def limited(database: Database, limits: Mapping[Limit, int]) -> Limits:
    store = Limits(database)
    assert await store.change(await store.all(), limits, by=ROOT)
    return store


async def test_limits_change_only_from_what_was_shown_and_each_change_is_audited(database: Database) -> None:
    limits = Limits(database)

    assert await limits.all() == {}
    assert await limits.change({}, {Limit.PERSON_DAY: 5}, by=ANN)
    assert not await limits.change({}, {Limit.PERSON_DAY: 9}, by=BOB)
    assert await limits.change({Limit.PERSON_DAY: 5}, {Limit.PERSON_DAY: 5}, by=BOB)
    assert await limits.change({Limit.PERSON_DAY: 5}, {}, by=BOB)

    assert await limits.all() == {}
    assert [(one.by, one.before, one.after) for one in await Audit(database).entries()] == [
        (BOB, {"person_day": 5}, {}),
        (ANN, {}, {"person_day": 5}),
    ]


async def test_without_a_limit_any_number_may_be_asked(database: Database, asked: Asked) -> None:
    turns = [await asked.open() for _ in range(3)]

    assert await Limits(database).reached(turns[-1], uncounted=ROOT) is None


async def test_the_question_after_the_last_one_waits_until_the_first_is_an_hour_old(
    database: Database, asked: Asked, clock: SetClock
) -> None:
    limits = await limited(database, {Limit.PERSON_HOUR: 2})
    first_at = clock.now
    await asked.ended("answer")
    clock.forward(minutes=10)
    second, third = await asked.open(), await asked.open()

    reached = await limits.reached(third, uncounted=ROOT)

    assert await limits.reached(second, uncounted=ROOT) is None
    assert reached is not None
    assert (reached.limit, reached.questions, reached.until) == (Limit.PERSON_HOUR, 2, first_at + timedelta(hours=1))
    clock.forward(minutes=50)
    assert await limits.reached(third, uncounted=ROOT) is None


async def test_of_two_limits_the_one_that_lasts_longer_is_told(database: Database, asked: Asked) -> None:
    limits = await limited(database, {Limit.PERSON_HOUR: 1, Limit.TENANT_DAY: 1})
    await asked.ended("answer")

    reached = await limits.reached(await asked.open(), uncounted=ROOT)

    assert reached is not None
    assert reached.limit is Limit.TENANT_DAY


async def test_a_person_is_not_held_to_what_others_ask_but_the_tenant_is(database: Database, asked: Asked) -> None:
    await asked.ended("answer", BOB)
    turn = await asked.open(ANN)

    by_person = await limited(database, {Limit.PERSON_HOUR: 1})
    assert await by_person.reached(turn, uncounted=ROOT) is None
    by_tenant = await limited(database, {Limit.TENANT_HOUR: 1})
    assert await by_tenant.reached(turn, uncounted=ROOT) is not None


@pytest.mark.parametrize("ending", ["refused", "failed", "limited"])
async def test_what_came_to_nothing_does_not_count(database: Database, asked: Asked, ending: str) -> None:
    limits = await limited(database, {Limit.PERSON_HOUR: 1})
    await asked.ended(ending)

    assert await limits.reached(await asked.open(), uncounted=ROOT) is None


async def test_clicks_do_not_count_and_are_never_put_off(database: Database, asked: Asked) -> None:
    limits = await limited(database, {Limit.PERSON_HOUR: 1})
    await asked.open(is_question=False)

    question = await asked.open()
    assert await limits.reached(question, uncounted=ROOT) is None
    assert await limits.reached(await asked.open(is_question=False), uncounted=ROOT) is None


async def test_who_is_uncounted_fills_no_limit_and_meets_none(database: Database, asked: Asked) -> None:
    limits = await limited(database, {Limit.TENANT_DAY: 1})
    await asked.ended("answer", ROOT)
    await asked.ended("answer", ANN)

    assert await limits.reached(await asked.open(ROOT), uncounted=ROOT) is None
    limits = await limited(database, {Limit.TENANT_DAY: 2})
    assert await limits.reached(await asked.open(BOB), uncounted=ROOT) is None


# -- looking back


async def test_people_find_their_own_questions_again_the_newest_first(
    database: Database, asked: Asked, clock: SetClock
) -> None:
    first = await asked.ended("answer")
    clock.forward(minutes=1)
    second = await asked.open()
    await asked.open(is_question=False)
    await asked.open(BOB)

    past = await History(database).of(ANN, 10)

    assert [(one.turn, one.ending) for one in past] == [(second, None), (first, "answer")]
    assert past[1].body == {"said": "question 1"}
    assert [one.turn for one in await History(database).of(ANN, 1)] == [second]


async def test_questions_without_an_answer_are_found_since_a_day(
    database: Database, asked: Asked, clock: SetClock
) -> None:
    await asked.ended("no_results")
    clock.forward(days=31)
    since = clock.now - timedelta(days=30)
    ends = ["no_results", "refused", "failed", "answer", "overload", "limited"]
    turns = {ending: await asked.ended(ending) for ending in ends}

    found = {one.turn for one in await History(database).unanswered(since, 10)}

    assert found == {turns[ending] for ending in ("no_results", "refused", "failed")}


async def test_the_last_verdict_counts_and_bad_ones_are_found_with_their_reason(
    database: Database, asked: Asked, clock: SetClock
) -> None:
    store, turn = FeedbackStore(database), await asked.ended("answer")
    other = await asked.ended("answer")

    assert await store.put(turn, ANN, "good", "")
    assert await store.put(turn, ANN, "bad", "wrong year \0")
    assert await store.put(other, BOB, "good", "")
    assert not await store.put("no turn", ANN, "bad", "")

    assert [(one.person, one.verdict, one.reason) for one in await store.of_turn(turn)] == [
        (ANN, "bad", "wrong year \0")
    ]
    [bad] = await History(database).rated_badly(clock.now - timedelta(days=30), 10)
    assert (bad.turn, bad.reason, bad.ending) == (turn, "wrong year \0", "answer")
    clock.forward(days=31)
    assert await History(database).rated_badly(clock.now - timedelta(days=30), 10) == []
