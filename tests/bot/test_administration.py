"""What admins may see and change, and that nobody else does."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.administration import Administration, Limit
from bot.bootstrap import Bot, build_bot
from bot.directory import Profile
from bot.errors import (
    AdminBySettings,
    ChangedMeanwhile,
    InvalidSubject,
    LastAdmin,
    NoSuchBucket,
    NoSuchGroup,
    NotAdmin,
    UnfitAdmin,
    UnknownTurn,
)
from bot.feedback import Feedback, Verdict
from bot.ids import EVERYONE, OPERATOR, BucketId, PersonId, Subject, TurnId
from bot.inbound import Private, Shared
from bot.settings import Settings
from storage.embedded.index import EmbeddedIndex
from storage.sql.audit import Audit
from storage.sql.database import Database
from tests.bot.conftest import Talk, somebody
from tests.bot.fakes import NO_REASONER, Clock, ListingAgent
from tests.builders import RECEIPTS

ANN, BOB = PersonId("slack:T1:ANN"), PersonId("slack:T1:BOB")
CHANNEL = Subject("channel:slack:T1:C1")


class Office:
    """Fulfils `bot.directory.Directory`: everyone is a member, but for those named."""

    def __init__(self) -> None:
        self.gone: set[PersonId] = set()
        self.guests: set[PersonId] = set()
        self.other_ids: dict[PersonId, PersonId] = {}

    async def profile(self, person: PersonId) -> Profile | None:
        return None

    async def private(self, audience: Private) -> Private:
        other = self.other_ids.get(audience.person)
        others = frozenset({Subject(f"user:{other}")}) if other else frozenset[Subject]()
        known = replace(audience, subjects=others)
        return replace(known, guest=audience.person in self.guests, gone=audience.person in self.gone)

    async def shared(self, audience: Shared) -> Shared:
        return audience

    async def reads(self, person: PersonId, channel: Subject) -> bool | None:
        return person not in self.gone


@pytest.fixture
def office(bot: Bot) -> Office:
    office = Office()
    bot.directories.ask("slack", office)
    return office


@pytest.fixture
async def administration(bot: Bot, office: Office) -> Administration:
    """With Ann as its one admin."""
    assert await bot.administration.add_admin(ANN, by=OPERATOR)
    return bot.administration


def changes(administration: Administration) -> list[Callable[[PersonId], Awaitable[object]]]:
    """All that can be asked or changed, by somebody."""
    return [
        lambda by: administration.overview(by, questions=5),
        lambda by: administration.buckets(by),
        lambda by: administration.groups(by),
        lambda by: administration.grant(RECEIPTS, EVERYONE, by=by),
        lambda by: administration.revoke(RECEIPTS, EVERYONE, by=by),
        lambda by: administration.admins(by),
        lambda by: administration.add_admin(by, by=by),
        lambda by: administration.remove_admin(ANN, by=by),
        lambda by: administration.limits(by),
        lambda by: administration.change_limits({}, {Limit.PERSON_DAY: 1}, by=by),
        lambda by: administration.unanswered(by, 5),
        lambda by: administration.rated_badly(by, 5),
    ]


async def test_who_is_no_admin_sees_and_changes_nothing(bot: Bot, administration: Administration) -> None:
    for change in changes(administration):
        with pytest.raises(NotAdmin):
            await change(BOB)

    assert await bot.grants.all() == []
    assert [one.person for one in await administration.admins(ANN)] == [ANN]


async def test_an_admin_who_left_the_organisation_is_none(administration: Administration, office: Office) -> None:
    office.gone.add(ANN)

    assert not await administration.is_admin(ANN)
    assert await administration.is_admin(OPERATOR)


async def test_a_grant_of_an_admin_is_shown_audited_and_taken_back(bot: Bot, administration: Administration) -> None:
    await administration.grant(RECEIPTS, CHANNEL, include_external=True, by=ANN)

    [bucket] = await administration.buckets(ANN)
    assert [(one.subject, one.include_external, one.granted_by) for one in bucket.grants] == [(CHANNEL, True, ANN)]
    assert (bucket.id, bucket.documents, bucket.synced) == (RECEIPTS, 42, None)
    assert await administration.revoke(RECEIPTS, CHANNEL, by=ANN)
    assert not await administration.revoke(RECEIPTS, CHANNEL, by=ANN)
    revoked, granted, _ = await Audit(bot.database).entries()
    assert (granted.action, granted.by, granted.before) == ("grant", ANN, None)
    assert (revoked.action, revoked.before, revoked.after) == ("revoke", granted.after, None)


async def test_what_cannot_be_granted_is_refused_by_its_reason(bot: Bot, administration: Administration) -> None:
    with pytest.raises(NoSuchBucket):
        await administration.grant(BucketId("nothing"), EVERYONE, by=ANN)
    with pytest.raises(NoSuchGroup):
        await administration.grant(RECEIPTS, Subject("group:nobody"), by=ANN)
    with pytest.raises(InvalidSubject):
        await administration.grant(RECEIPTS, EVERYONE, include_external=True, by=ANN)
    await bot.groups.create("staff", "Staff", by=OPERATOR)
    await administration.grant(RECEIPTS, Subject("group:staff"), by=ANN)
    await administration.grant(RECEIPTS, Subject("group:slack:T1:S1"), by=ANN)

    assert [one.subject for one in await bot.grants.all()] == ["group:slack:T1:S1", "group:staff"]


async def test_a_grant_outlives_its_bucket_visibly_and_can_be_taken_back(
    bot: Bot, administration: Administration
) -> None:
    await administration.grant(RECEIPTS, EVERYONE, by=ANN)
    await bot.index.drop_bucket(RECEIPTS)

    [bucket] = await administration.buckets(ANN)

    assert (bucket.documents, [one.subject for one in bucket.grants]) == (None, [EVERYONE])
    assert await administration.revoke(RECEIPTS, EVERYONE, by=ANN)


async def test_the_last_admin_cannot_go(administration: Administration) -> None:
    with pytest.raises(LastAdmin):
        await administration.remove_admin(ANN, by=ANN)
    assert await administration.add_admin(BOB, by=ANN)
    assert not await administration.add_admin(BOB, by=ANN)

    assert await administration.remove_admin(ANN, by=ANN)
    with pytest.raises(NotAdmin):
        await administration.admins(ANN)


async def test_guests_and_those_who_left_cannot_be_admins(administration: Administration, office: Office) -> None:
    office.guests.add(BOB)
    with pytest.raises(UnfitAdmin):
        await administration.add_admin(BOB, by=ANN)
    office.guests.clear()
    office.gone.add(BOB)
    with pytest.raises(UnfitAdmin):
        await administration.add_admin(BOB, by=ANN)


async def test_admins_of_the_settings_are_admins_always(
    settings: Settings, clock: Clock, database: Database, index: EmbeddedIndex
) -> None:
    named = settings.model_copy(update={"admins": (BOB,)})
    async with build_bot(
        named, clock=clock, database=database, index=index, agent=ListingAgent(), reasoner=NO_REASONER
    ) as bot:
        administration = bot.administration
        await administration.add_admin(ANN, by=BOB)

        with pytest.raises(AdminBySettings):
            await administration.remove_admin(BOB, by=ANN)
        assert not await administration.add_admin(BOB, by=ANN)
        assert await administration.remove_admin(ANN, by=ANN)
        assert [(one.person, one.by_settings) for one in await administration.admins(BOB)] == [(BOB, True)]


async def test_limits_change_from_what_was_shown_alone(administration: Administration) -> None:
    await administration.change_limits({}, {Limit.PERSON_HOUR: 5}, by=ANN)

    with pytest.raises(ChangedMeanwhile):
        await administration.change_limits({}, {Limit.PERSON_HOUR: 50}, by=ANN)
    assert await administration.limits(ANN) == {Limit.PERSON_HOUR: 5}


async def test_questions_without_an_answer_and_rated_badly_are_looked_back_at(
    bot: Bot, administration: Administration, clock: Clock
) -> None:
    refused = await Talk(bot, audience=somebody("BOB"), person=BOB).say("what is secret?")
    await administration.grant(RECEIPTS, EVERYONE, by=ANN)
    bad = await Talk(bot, audience=somebody("BOB"), person=BOB, conversation="c2").say("all receipts")
    await bot.feedback.record(bad.turn, BOB, Verdict.BAD, "too many")

    overview = await administration.overview(ANN, questions=5)

    assert refused.result["outcome"] == "refused"
    assert [(one.text, one.ending) for one in overview.unanswered] == [("what is secret?", "refused")]
    assert [(one.text, one.ending, one.reason) for one in overview.rated_badly] == [
        ("all receipts", "overload", "too many")
    ]
    clock.advance(timedelta(days=31))
    assert await administration.unanswered(ANN, 5) == ()


# -- limits at the turn


async def test_a_question_beyond_the_limit_is_put_off_before_the_agent_is_troubled(
    bot: Bot, administration: Administration, agent: ListingAgent, clock: Clock
) -> None:
    await administration.grant(RECEIPTS, EVERYONE, by=ANN)
    await administration.change_limits({}, {Limit.PERSON_HOUR: 1}, by=ANN)
    talk = Talk(bot, audience=somebody("BOB"), person=BOB)
    first = await talk.say("all receipts")

    put_off = await talk.say("once more")

    assert len(agent.seen) == 1
    assert put_off.error == (
        "You have asked 1 question within the last hour, which is as many as one person may ask here. "
        "You can ask again in 60 minutes."
    )
    assert (await talk.click(first, "Bolt")).result["count"] == 5
    clock.advance(timedelta(hours=1))
    assert (await talk.say("once more")).error is None


async def test_the_operator_is_held_to_no_limit(bot: Bot, administration: Administration) -> None:
    await administration.change_limits({}, {Limit.TENANT_DAY: 1}, by=ANN)
    talk = Talk(bot)

    assert [(await talk.say("all receipts")).error for _ in range(3)] == [None] * 3


# -- feedback


async def test_feedback_on_nothing_is_refused(bot: Bot) -> None:
    with pytest.raises(UnknownTurn):
        await Feedback(bot.database).record(TurnId("none"), ANN, Verdict.GOOD)


async def test_an_admin_is_one_by_each_of_their_ids(administration: Administration, office: Office) -> None:
    in_the_grid = PersonId("slack:E1:ANN")
    office.other_ids[in_the_grid] = ANN

    assert await administration.is_admin(in_the_grid)
    assert not await administration.is_admin(PersonId("slack:E1:BOB"))
