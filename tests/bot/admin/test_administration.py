"""The administration: what admins may see and change, and that nobody else can."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.admin.administration import AdminOperations, QuestionLimit
from bot.application import Application
from bot.bootstrap import open_application
from bot.errors import (
    AdminFromSettings,
    ConcurrentChange,
    IneligibleAdmin,
    InvalidSubject,
    LastAdmin,
    MissingBucket,
    NotAdmin,
    UnknownGroup,
    UnknownTurn,
)
from bot.ids import EVERYONE, OPERATOR, BucketId, PersonId, Subject, TurnId
from bot.settings import Settings
from bot.surface.directory import PersonProfile
from bot.surface.inbound import ChannelAudience, PrivateAudience
from bot.turns.feedback import AnswerFeedback, FeedbackVerdict
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import SqlDatabase
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent, PartialSurface
from tests.builders import RECEIPTS
from tests.stored_rows import list_audit_entries

ANN, BOB = PersonId("slack:T1:ANN"), PersonId("slack:T1:BOB")
CHANNEL = Subject("channel:slack:T1:C1")


class MembershipDirectory:
    """Fulfils `bot.surface.directory.Directory`: everyone is a full member, except the guests and deactivated people
    named here.
    """

    def __init__(self) -> None:
        self.deactivated: set[PersonId] = set()
        self.guests: set[PersonId] = set()
        self.other_ids: dict[PersonId, PersonId] = {}

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        return None

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        other = self.other_ids.get(audience.person)
        others = frozenset({Subject(f"user:{other}")}) if other else frozenset[Subject]()
        refreshed = replace(audience, subjects=others)
        return replace(
            refreshed, is_guest=audience.person in self.guests, is_deactivated=audience.person in self.deactivated
        )

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        return audience

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        return person not in self.deactivated


@pytest.fixture
def directory(bot: Application, chat: FakeChat) -> MembershipDirectory:
    directory = MembershipDirectory()
    bot.register_surface(PartialSurface(outbox=chat, directory=directory))
    return directory


@pytest.fixture
async def administration(bot: Application, directory: MembershipDirectory) -> AdminOperations:
    """The administration with Ann as its only admin."""
    assert await bot.administration.add_admin(ANN, by=OPERATOR)
    return bot.administration


def all_operations(administration: AdminOperations) -> list[Callable[[PersonId], Awaitable[object]]]:
    """Every operation, as a function of the person who asks."""
    return [
        lambda by: administration.load_overview(by, max_questions=5),
        lambda by: administration.list_buckets(by),
        lambda by: administration.list_groups(by),
        lambda by: administration.grant_bucket(RECEIPTS, EVERYONE, by=by),
        lambda by: administration.revoke_grant(RECEIPTS, EVERYONE, by=by),
        lambda by: administration.list_admins(by),
        lambda by: administration.add_admin(by, by=by),
        lambda by: administration.remove_admin(ANN, by=by),
        lambda by: administration.list_limits(by),
        lambda by: administration.change_limits({}, {QuestionLimit.PERSON_DAY: 1}, by=by),
        lambda by: administration.list_unanswered_questions(by, 5),
        lambda by: administration.list_badly_rated_questions(by, 5),
    ]


async def test_a_person_who_is_no_admin_sees_and_changes_nothing(
    bot: Application, administration: AdminOperations
) -> None:
    for operation in all_operations(administration):
        with pytest.raises(NotAdmin):
            await operation(BOB)

    assert await bot.grants.list_grants() == []
    assert [entry.person for entry in await administration.list_admins(ANN)] == [ANN]


async def test_an_admin_who_left_the_organisation_is_no_admin(
    administration: AdminOperations, directory: MembershipDirectory
) -> None:
    directory.deactivated.add(ANN)

    assert not await administration.is_admin(ANN)
    assert await administration.is_admin(OPERATOR)


async def test_a_grant_by_an_admin_is_listed_audited_and_revoked(
    bot: Application, administration: AdminOperations
) -> None:
    await administration.grant_bucket(RECEIPTS, CHANNEL, include_external=True, by=ANN)

    [bucket] = await administration.list_buckets(ANN)
    assert [(grant.subject, grant.include_external, grant.granted_by) for grant in bucket.grants] == [
        (CHANNEL, True, ANN)
    ]
    assert (bucket.id, bucket.document_count, bucket.sync) == (RECEIPTS, 42, None)
    assert await administration.revoke_grant(RECEIPTS, CHANNEL, by=ANN)
    assert not await administration.revoke_grant(RECEIPTS, CHANNEL, by=ANN)
    revoke_entry, grant_entry, _ = await list_audit_entries(bot.database)
    assert (grant_entry.action, grant_entry.by, grant_entry.before) == ("grant", ANN, None)
    assert (revoke_entry.action, revoke_entry.before, revoke_entry.after) == ("revoke", grant_entry.after, None)


async def test_an_invalid_grant_is_refused_with_its_reason(bot: Application, administration: AdminOperations) -> None:
    with pytest.raises(MissingBucket):
        await administration.grant_bucket(BucketId("nothing"), EVERYONE, by=ANN)
    with pytest.raises(UnknownGroup):
        await administration.grant_bucket(RECEIPTS, Subject("group:nobody"), by=ANN)
    with pytest.raises(InvalidSubject):
        await administration.grant_bucket(RECEIPTS, EVERYONE, include_external=True, by=ANN)
    await bot.groups.create_group("staff", "Staff", by=OPERATOR)
    await administration.grant_bucket(RECEIPTS, Subject("group:staff"), by=ANN)
    await administration.grant_bucket(RECEIPTS, Subject("group:slack:T1:S1"), by=ANN)

    assert [grant.subject for grant in await bot.grants.list_grants()] == ["group:slack:T1:S1", "group:staff"]


async def test_a_grant_of_a_dropped_bucket_is_listed_and_can_be_revoked(
    bot: Application, administration: AdminOperations
) -> None:
    await administration.grant_bucket(RECEIPTS, EVERYONE, by=ANN)
    await bot.index.drop_bucket(RECEIPTS)

    [bucket] = await administration.list_buckets(ANN)

    assert (bucket.document_count, [grant.subject for grant in bucket.grants]) == (None, [EVERYONE])
    assert await administration.revoke_grant(RECEIPTS, EVERYONE, by=ANN)


async def test_the_last_admin_cannot_be_removed(administration: AdminOperations) -> None:
    with pytest.raises(LastAdmin):
        await administration.remove_admin(ANN, by=ANN)
    assert await administration.add_admin(BOB, by=ANN)
    assert not await administration.add_admin(BOB, by=ANN)

    assert await administration.remove_admin(ANN, by=ANN)
    with pytest.raises(NotAdmin):
        await administration.list_admins(ANN)


async def test_an_admin_who_has_left_is_not_enough_to_remain(
    administration: AdminOperations, directory: MembershipDirectory
) -> None:
    await administration.add_admin(BOB, by=ANN)
    directory.deactivated.add(BOB)
    with pytest.raises(LastAdmin):
        await administration.remove_admin(ANN, by=ANN)

    assert await administration.is_admin(ANN)
    assert await administration.remove_admin(BOB, by=ANN)


async def test_guests_and_deactivated_people_cannot_be_admins(
    administration: AdminOperations, directory: MembershipDirectory
) -> None:
    directory.guests.add(BOB)
    with pytest.raises(IneligibleAdmin):
        await administration.add_admin(BOB, by=ANN)
    directory.guests.clear()
    directory.deactivated.add(BOB)
    with pytest.raises(IneligibleAdmin):
        await administration.add_admin(BOB, by=ANN)


async def test_admins_from_the_settings_are_always_admins(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> None:
    settings_with_admin = settings.model_copy(update={"admins": (BOB,)})
    async with open_application(
        settings_with_admin, clock=clock, database=database, index=index, agent=ListingAgent(), reasoner=NO_REASONER
    ) as bot:
        administration = bot.administration
        await administration.add_admin(ANN, by=BOB)

        with pytest.raises(AdminFromSettings):
            await administration.remove_admin(BOB, by=ANN)
        assert not await administration.add_admin(BOB, by=ANN)
        assert await administration.remove_admin(ANN, by=ANN)
        assert [(entry.person, entry.is_from_settings) for entry in await administration.list_admins(BOB)] == [
            (BOB, True)
        ]


async def test_limits_change_only_from_the_values_that_were_shown(administration: AdminOperations) -> None:
    await administration.change_limits({}, {QuestionLimit.PERSON_HOUR: 5}, by=ANN)

    with pytest.raises(ConcurrentChange):
        await administration.change_limits({}, {QuestionLimit.PERSON_HOUR: 50}, by=ANN)
    assert await administration.list_limits(ANN) == {QuestionLimit.PERSON_HOUR: 5}


async def test_unanswered_and_badly_rated_questions_of_the_last_30_days_are_listed(
    bot: Application, administration: AdminOperations, clock: Clock
) -> None:
    refused = await ConversationDriver(bot, audience=private_audience_of("BOB"), person=BOB).ask_question(
        "what is secret?"
    )
    await administration.grant_bucket(RECEIPTS, EVERYONE, by=ANN)
    badly_rated = await ConversationDriver(
        bot, audience=private_audience_of("BOB"), person=BOB, conversation="c2"
    ).ask_question("all receipts")
    await bot.feedback.record_verdict(badly_rated.turn, BOB, FeedbackVerdict.BAD, "too many")

    overview = await administration.load_overview(ANN, max_questions=5)

    assert refused.result["outcome"] == "refused"
    assert [(past.text, past.ending) for past in overview.unanswered] == [("what is secret?", "refused")]
    assert [(past.text, past.ending, past.reason) for past in overview.rated_badly] == [
        ("all receipts", "overload", "too many")
    ]
    clock.advance(timedelta(days=31))
    assert await administration.list_unanswered_questions(ANN, 5) == ()


# -- limits at the turn


async def test_a_question_over_the_limit_is_refused_before_the_agent_runs(
    bot: Application, administration: AdminOperations, agent: ListingAgent, clock: Clock
) -> None:
    await administration.grant_bucket(RECEIPTS, EVERYONE, by=ANN)
    await administration.change_limits({}, {QuestionLimit.PERSON_HOUR: 1}, by=ANN)
    talk = ConversationDriver(bot, audience=private_audience_of("BOB"), person=BOB)
    first = await talk.ask_question("all receipts")

    limited = await talk.ask_question("once more")

    assert len(agent.contexts) == 1
    assert limited.error == (
        "You have asked 1 question within the last hour, which is as many as one person may ask here. "
        "You can ask again in 60 minutes."
    )
    assert (await talk.click_choice(first, "Bolt")).result["count"] == 5
    clock.advance(timedelta(hours=1))
    assert (await talk.ask_question("once more")).error is None


async def test_the_operator_has_no_limit(bot: Application, administration: AdminOperations) -> None:
    await administration.change_limits({}, {QuestionLimit.TENANT_DAY: 1}, by=ANN)
    talk = ConversationDriver(bot)

    assert [(await talk.ask_question("all receipts")).error for _ in range(3)] == [None] * 3


# -- feedback


async def test_feedback_on_an_unknown_turn_is_refused(bot: Application) -> None:
    with pytest.raises(UnknownTurn):
        await AnswerFeedback(bot.database).record_verdict(TurnId("none"), ANN, FeedbackVerdict.GOOD)


async def test_an_admin_is_recognised_by_each_of_their_ids(
    administration: AdminOperations, directory: MembershipDirectory
) -> None:
    enterprise_id = PersonId("slack:E1:ANN")
    directory.other_ids[enterprise_id] = ANN

    assert await administration.is_admin(enterprise_id)
    assert not await administration.is_admin(PersonId("slack:E1:BOB"))
