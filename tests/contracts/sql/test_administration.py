"""Admins, limits, feedback and the question history, on every database."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from storage.sql.database import SqlDatabase
from storage.sql.stores.admins import AdminRemoval, AdminStore
from storage.sql.stores.feedback import FeedbackStore
from storage.sql.stores.history import QuestionHistory, TurnOrigins
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.limits import LimitStore, QuestionLimit
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import LEASE, a_turn, accept_new_turn
from tests.stored_rows import list_audit_entries, list_feedback_of_turn

ANN, BOB, ROOT = "slack:T1:U1", "slack:T1:U2", "local:root"


@pytest.fixture
def inbox(database: SqlDatabase) -> TurnInbox:
    return TurnInbox(database)


class QuestionAsker:
    """Accepts turns of persons, each in its own conversation, received at the clock's time."""

    def __init__(self, inbox: TurnInbox, clock: SetClock) -> None:
        self._inbox, self._clock, self._number = inbox, clock, 0

    async def ask_question(self, person: str = ANN, *, is_question: bool = True) -> str:
        self._number += 1
        turn = a_turn(
            self._number,
            f"c{self._number}",
            person=person,
            received_at=self._clock(),
            is_question=is_question,
        )
        return await accept_new_turn(self._inbox, turn)

    async def ask_and_finish(self, ending: str, person: str = ANN) -> str:
        turn = await self.ask_question(person)
        [claimed] = await self._inbox.claim_due_turns("w", LEASE, up_to_turn=turn)
        assert await self._inbox.finish_turn(claimed, {}, ending=ending)
        return turn


@pytest.fixture
def asker(inbox: TurnInbox, clock: SetClock) -> QuestionAsker:
    return QuestionAsker(inbox, clock)


# -- admins


async def test_a_link_to_the_admin_page_is_used_once_however_many_come_at_once(database: SqlDatabase) -> None:
    admins = AdminStore(database)

    outcomes = await asyncio.gather(*(admins.record_link_use("link", person) for person in (ANN, BOB, ANN, BOB)))

    assert sorted(outcomes) == [False, False, False, True]
    assert await admins.record_link_use("another link", ANN)
    entries = await list_audit_entries(database)
    assert [(entry.action, entry.matter) for entry in entries] == [
        ("admin.enter", "another link"),
        ("admin.enter", "link"),
    ]


async def test_admins_are_added_and_removed_and_each_change_is_audited(database: SqlDatabase, clock: SetClock) -> None:
    admins = AdminStore(database)

    assert await admins.add_admin(ANN, by=ROOT)
    assert not await admins.add_admin(ANN, by=BOB)
    assert await admins.is_admin(ANN)
    assert [(admin.person, admin.added_by, admin.added_at) for admin in await admins.list_admins()] == [
        (ANN, ROOT, clock.now)
    ]
    assert await admins.remove_admin(ANN, by=BOB, has_other_admins=True) is AdminRemoval.REMOVED
    assert await admins.remove_admin(ANN, by=BOB, has_other_admins=True) is AdminRemoval.NOT_AN_ADMIN
    assert not await admins.is_admin(ANN)
    assert [
        (entry.action, entry.matter, entry.by, entry.before, entry.after)
        for entry in await list_audit_entries(database)
    ] == [
        ("admin.remove", ANN, BOB, {"added_by": ROOT}, None),
        ("admin.add", ANN, ROOT, None, {"added_by": ROOT}),
    ]


async def test_the_last_admin_is_not_removed_unless_there_are_other_admins(database: SqlDatabase) -> None:
    admins = AdminStore(database)
    await admins.add_admin(ANN, by=ROOT)

    assert await admins.remove_admin(ANN, by=ANN, has_other_admins=False) is AdminRemoval.LAST_ADMIN
    assert await admins.is_admin(ANN)
    assert await admins.remove_admin(ANN, by=ANN, has_other_admins=True) is AdminRemoval.REMOVED


async def test_an_admin_who_can_do_nothing_is_not_enough_to_remain(database: SqlDatabase) -> None:
    admins = AdminStore(database)
    for person in (ANN, BOB):
        await admins.add_admin(person, by=ROOT)

    last = await admins.remove_admin(ANN, by=ANN, has_other_admins=False, inactive={BOB})
    inactive = await admins.remove_admin(BOB, by=ANN, has_other_admins=False, inactive={BOB})

    assert (last, inactive) == (AdminRemoval.LAST_ADMIN, AdminRemoval.REMOVED)
    assert await admins.is_admin(ANN)


async def test_two_admins_who_remove_each_other_at_once_leave_one_admin(database: SqlDatabase) -> None:
    admins = AdminStore(database)
    await admins.add_admin(ANN, by=ROOT)
    await admins.add_admin(BOB, by=ROOT)

    outcomes = await asyncio.gather(
        admins.remove_admin(ANN, by=BOB, has_other_admins=False),
        admins.remove_admin(BOB, by=ANN, has_other_admins=False),
    )

    assert sorted(outcomes) == [AdminRemoval.REMOVED, AdminRemoval.LAST_ADMIN]
    assert len(await admins.list_admins()) == 1


# -- limits


async def set_limits(database: SqlDatabase, limits: Mapping[QuestionLimit, int]) -> LimitStore:
    store = LimitStore(database)
    assert await store.change_limits_if_unchanged(await store.load_set_limits(), limits, by=ROOT)
    return store


async def test_limits_change_only_if_unchanged_and_each_change_is_audited(database: SqlDatabase) -> None:
    limits = LimitStore(database)

    assert await limits.load_set_limits() == {}
    assert await limits.change_limits_if_unchanged({}, {QuestionLimit.PERSON_DAY: 5}, by=ANN)
    assert not await limits.change_limits_if_unchanged({}, {QuestionLimit.PERSON_DAY: 9}, by=BOB)
    assert await limits.change_limits_if_unchanged({QuestionLimit.PERSON_DAY: 5}, {QuestionLimit.PERSON_DAY: 5}, by=BOB)
    assert await limits.change_limits_if_unchanged({QuestionLimit.PERSON_DAY: 5}, {}, by=BOB)

    assert await limits.load_set_limits() == {}
    assert [(entry.by, entry.before, entry.after) for entry in await list_audit_entries(database)] == [
        (BOB, {"person_day": 5}, {}),
        (ANN, {}, {"person_day": 5}),
    ]


async def test_without_a_limit_any_number_of_questions_is_allowed(database: SqlDatabase, asker: QuestionAsker) -> None:
    turns = [await asker.ask_question() for _ in range(3)]

    assert await LimitStore(database).find_reached_limit(turns[-1], exempt_person=ROOT) is None


async def test_a_question_over_the_limit_waits_until_the_first_one_is_an_hour_old(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    limits = await set_limits(database, {QuestionLimit.PERSON_HOUR: 2})
    first_at = clock.now
    await asker.ask_and_finish("answer")
    clock.forward(minutes=10)
    second, third = await asker.ask_question(), await asker.ask_question()

    reached = await limits.find_reached_limit(third, exempt_person=ROOT)

    assert await limits.find_reached_limit(second, exempt_person=ROOT) is None
    assert reached is not None
    assert (reached.limit, reached.questions, reached.until) == (
        QuestionLimit.PERSON_HOUR,
        2,
        first_at + timedelta(hours=1),
    )
    clock.forward(minutes=50)
    assert await limits.find_reached_limit(third, exempt_person=ROOT) is None


async def test_the_questions_that_count_now_are_counted_for_each_limit(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    limits = LimitStore(database)
    none_yet = await limits.count_recent_questions(exempt_person=ROOT)
    await asker.ask_and_finish("answer")
    clock.forward(minutes=70)
    for person, ending in ((ANN, "answer"), (BOB, "no_results"), (BOB, "failed"), (ROOT, "answer"), (ANN, "limited")):
        await asker.ask_and_finish(ending, person)

    counted = await limits.count_recent_questions(exempt_person=ROOT)

    assert none_yet == dict.fromkeys(QuestionLimit, 0)
    assert counted == {
        QuestionLimit.PERSON_HOUR: 1,
        QuestionLimit.PERSON_DAY: 2,
        QuestionLimit.TENANT_HOUR: 2,
        QuestionLimit.TENANT_DAY: 3,
    }


async def test_of_two_reached_limits_the_one_that_lasts_longer_is_returned(
    database: SqlDatabase, asker: QuestionAsker
) -> None:
    limits = await set_limits(database, {QuestionLimit.PERSON_HOUR: 1, QuestionLimit.TENANT_DAY: 1})
    await asker.ask_and_finish("answer")

    reached = await limits.find_reached_limit(await asker.ask_question(), exempt_person=ROOT)

    assert reached is not None
    assert reached.limit is QuestionLimit.TENANT_DAY


async def test_questions_of_others_count_for_the_tenant_limit_and_not_for_the_person(
    database: SqlDatabase, asker: QuestionAsker
) -> None:
    await asker.ask_and_finish("answer", BOB)
    turn = await asker.ask_question(ANN)

    by_person = await set_limits(database, {QuestionLimit.PERSON_HOUR: 1})
    assert await by_person.find_reached_limit(turn, exempt_person=ROOT) is None
    by_tenant = await set_limits(database, {QuestionLimit.TENANT_HOUR: 1})
    assert await by_tenant.find_reached_limit(turn, exempt_person=ROOT) is not None


@pytest.mark.parametrize("ending", ["refused", "failed", "limited"])
async def test_a_question_that_failed_or_was_refused_does_not_count(
    database: SqlDatabase, asker: QuestionAsker, ending: str
) -> None:
    limits = await set_limits(database, {QuestionLimit.PERSON_HOUR: 1})
    await asker.ask_and_finish(ending)

    assert await limits.find_reached_limit(await asker.ask_question(), exempt_person=ROOT) is None


async def test_clicks_do_not_count_and_are_never_limited(database: SqlDatabase, asker: QuestionAsker) -> None:
    limits = await set_limits(database, {QuestionLimit.PERSON_HOUR: 1})
    await asker.ask_question(is_question=False)

    question = await asker.ask_question()
    assert await limits.find_reached_limit(question, exempt_person=ROOT) is None
    assert await limits.find_reached_limit(await asker.ask_question(is_question=False), exempt_person=ROOT) is None


async def test_an_exempt_person_does_not_count_and_is_not_limited(database: SqlDatabase, asker: QuestionAsker) -> None:
    limits = await set_limits(database, {QuestionLimit.TENANT_DAY: 1})
    await asker.ask_and_finish("answer", ROOT)
    await asker.ask_and_finish("answer", ANN)

    assert await limits.find_reached_limit(await asker.ask_question(ROOT), exempt_person=ROOT) is None
    limits = await set_limits(database, {QuestionLimit.TENANT_DAY: 2})
    assert await limits.find_reached_limit(await asker.ask_question(BOB), exempt_person=ROOT) is None


# -- question history


async def test_the_questions_of_a_person_are_listed_newest_first(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    first = await asker.ask_and_finish("answer")
    clock.forward(minutes=1)
    second = await asker.ask_question()
    await asker.ask_question(is_question=False)
    await asker.ask_question(BOB)

    history = await QuestionHistory(database).list_asked_by(ANN, 10)

    assert [(question.turn, question.ending) for question in history] == [(second, None), (first, "answer")]
    assert history[1].body == {"said": "question 1"}
    assert [question.turn for question in await QuestionHistory(database).list_asked_by(ANN, 1)] == [second]


async def test_the_bodies_of_a_persons_turns_are_listed_newest_first(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    await asker.ask_question()
    clock.forward(minutes=1)
    await asker.ask_question(is_question=False)
    await asker.ask_question(BOB)
    origins = TurnOrigins(database)

    assert await origins.list_bodies_of_person("slack", ANN, 9) == [{"said": "question 2"}, {"said": "question 1"}]
    assert await origins.list_bodies_of_person("slack", ANN, 1) == [{"said": "question 2"}]
    assert await origins.list_bodies_of_person("teams", ANN, 9) == []


async def test_the_newest_turn_of_a_conversation_is_found_also_in_its_threads(
    database: SqlDatabase, inbox: TurnInbox
) -> None:
    for number, conversation in enumerate(["room", "room;1", "room_;2", "roomy", "else"], start=1):
        await accept_new_turn(inbox, a_turn(number, conversation))
    origins = TurnOrigins(database)

    assert await origins.find_newest_body("slack", "room") == {"said": "question 2"}
    assert await origins.find_newest_body("slack", "room;1") == {"said": "question 2"}
    assert await origins.find_newest_body("slack", "room_") == {"said": "question 3"}
    assert await origins.find_newest_body("slack", "roo_") is None
    assert await origins.find_newest_body("teams", "room") is None


async def test_unanswered_questions_are_listed_since_a_given_time(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    await asker.ask_and_finish("no_results")
    clock.forward(days=31)
    since = clock.now - timedelta(days=30)
    endings = ["no_results", "refused", "failed", "answer", "overload", "limited"]
    turns = {ending: await asker.ask_and_finish(ending) for ending in endings}

    unanswered_turns = {question.turn for question in await QuestionHistory(database).list_unanswered(since, 10)}

    assert unanswered_turns == {turns[ending] for ending in ("no_results", "refused", "failed")}


async def test_the_last_verdict_counts_and_badly_rated_questions_are_listed_with_the_reason(
    database: SqlDatabase, asker: QuestionAsker, clock: SetClock
) -> None:
    store, turn = FeedbackStore(database), await asker.ask_and_finish("answer")
    other = await asker.ask_and_finish("answer")

    assert await store.replace_feedback(turn, ANN, "good", "")
    assert await store.replace_feedback(turn, ANN, "bad", "wrong year \0")
    assert await store.replace_feedback(other, BOB, "good", "")
    assert not await store.replace_feedback("no turn", ANN, "bad", "")

    assert [
        (verdict.person, verdict.verdict, verdict.reason) for verdict in await list_feedback_of_turn(database, turn)
    ] == [(ANN, "bad", "wrong year \0")]
    [rated_question] = await QuestionHistory(database).list_rated_badly(clock.now - timedelta(days=30), 10)
    assert (rated_question.turn, rated_question.reason, rated_question.ending) == (turn, "wrong year \0", "answer")
    clock.forward(days=31)
    assert await QuestionHistory(database).list_rated_badly(clock.now - timedelta(days=30), 10) == []
