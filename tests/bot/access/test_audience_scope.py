"""From an audience and the grants to a scope: the table of what each audience may see."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from bot.access.audience_scope import rights_of, scope_key_of
from bot.access.subjects import check_grant_subject, parse_person, parse_subject
from bot.application import Application
from bot.errors import InvalidSubject, MissingBucket
from bot.ids import OPERATOR, MessageId, PersonId, Subject, TurnId
from bot.surface.directory import PersonProfile
from bot.surface.inbound import Audience, ChannelAudience, Inbound, OperatorAudience, OutsiderPresence, PrivateAudience
from bot.surface.replies import Reply
from storage.search.bucket_parts import part_of_bucket
from storage.search.ids import BucketId
from storage.search.schema import Schema
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import FakeChat, PartialSurface
from tests.builders import RECEIPTS, a_scope

CHANNEL = Subject("channel:slack:T1:C1")
TEAMS_CHANNEL = Subject("channel:teams:tenant:19:channel@thread.tacv2")
OTHER_CHANNEL = Subject("channel:teams:tenant:19:other@thread.tacv2")
TEAM = Subject("team:teams:tenant:19:team@thread.tacv2")
MEMBER = PrivateAudience(person=PersonId("slack:T1:U1"), subjects=frozenset({Subject("group:slack:T1:S1")}))


def channel_audience(outsiders: OutsiderPresence = OutsiderPresence.NONE) -> ChannelAudience:
    return ChannelAudience(channel=CHANNEL, outsiders=outsiders)


async def grant_receipts(bot: Application, *subjects: str, include_external: bool = False) -> None:
    for subject in subjects:
        await bot.grants.grant_bucket_access(RECEIPTS, Subject(subject), include_external=include_external, by="test")


async def sees_receipts(bot: Application, audience: Audience) -> bool:
    return RECEIPTS in (await bot.access.scope_for_audience(audience)).buckets


@pytest.mark.parametrize(
    "audience",
    [
        private_audience_of("U1"),
        private_audience_of("U1", guest=True),
        channel_audience(),
        PrivateAudience(person=PersonId("local:ann")),
    ],
)
async def test_without_a_grant_nobody_sees_anything(bot: Application, audience: Audience) -> None:
    assert not (await bot.access.scope_for_audience(audience)).buckets


async def test_a_grant_of_a_bucket_holds_for_its_parts_and_for_no_other_bucket(bot: Application) -> None:
    part, other = part_of_bucket(RECEIPTS, "lots"), BucketId("receipts 2031")
    for bucket in (part, other, part_of_bucket(other, "lots")):
        await bot.index.set_schema(Schema(bucket=bucket))
    await grant_receipts(bot, "everyone")

    scope = await bot.access.scope_for_audience(private_audience_of("U1"))

    assert scope.buckets == {RECEIPTS, part}


async def test_a_part_has_no_grants_of_its_own(bot: Application) -> None:
    part = part_of_bucket(RECEIPTS, "lots")
    await bot.index.set_schema(Schema(bucket=part))

    with pytest.raises(MissingBucket):
        await bot.administration.grant_bucket(part, Subject("everyone"), by=OPERATOR)


async def test_the_operator_sees_every_bucket_that_exists_and_every_document(bot: Application) -> None:
    scope = await bot.access.scope_for_audience(OperatorAudience())

    assert scope.buckets == {RECEIPTS}
    assert scope.ignores_readers


@pytest.mark.parametrize(
    ("subject", "audience", "expected"),
    [
        ("everyone", private_audience_of("U1"), True),
        ("everyone", private_audience_of("U1", guest=True), False),
        ("everyone", channel_audience(), True),
        ("everyone", channel_audience(OutsiderPresence.SOME), False),
        ("everyone", channel_audience(OutsiderPresence.UNKNOWN), False),
        ("user:slack:T1:U1", private_audience_of("U1"), True),
        ("user:slack:T1:U1", private_audience_of("U1", guest=True), True),
        ("user:slack:T1:U1", private_audience_of("U2"), False),
        ("user:slack:T1:U1", channel_audience(), False),
        ("channel:slack:T1:C1", channel_audience(), True),
        ("channel:slack:T1:C1", channel_audience(OutsiderPresence.SOME), False),
        ("channel:slack:T1:C1", channel_audience(OutsiderPresence.UNKNOWN), False),
        ("channel:slack:T1:C1", private_audience_of("U1"), False),
        ("channel:slack:T1:C2", channel_audience(), False),
        ("group:slack:T1:S1", MEMBER, True),
        ("group:slack:T1:S1", private_audience_of("U1"), False),
        ("group:staff", private_audience_of("U1"), False),
    ],
)
async def test_a_grant_opens_a_bucket_only_for_its_subject(
    bot: Application, subject: str, audience: Audience, expected: bool
) -> None:
    await grant_receipts(bot, subject)

    assert await sees_receipts(bot, audience) is expected


async def test_a_grant_may_include_the_outsiders_of_a_channel(bot: Application) -> None:
    await grant_receipts(bot, CHANNEL, include_external=True)

    assert await sees_receipts(bot, channel_audience(OutsiderPresence.SOME))
    assert await sees_receipts(bot, channel_audience(OutsiderPresence.UNKNOWN))
    assert (await bot.access.scope_for_audience(channel_audience(OutsiderPresence.SOME))).subjects == {CHANNEL}
    assert (await bot.access.scope_for_audience(channel_audience())).subjects == {CHANNEL, "everyone"}


def teams_channel(outsiders: OutsiderPresence = OutsiderPresence.NONE) -> ChannelAudience:
    return ChannelAudience(channel=TEAMS_CHANNEL, outsiders=outsiders, also_known_as=frozenset({TEAM}))


@pytest.mark.parametrize("subject", [TEAMS_CHANNEL, TEAM])
async def test_a_grant_of_a_channel_or_of_its_team_opens_the_channel(bot: Application, subject: Subject) -> None:
    await grant_receipts(bot, subject)

    assert await sees_receipts(bot, teams_channel())
    assert not await sees_receipts(bot, teams_channel(OutsiderPresence.SOME))
    assert not await sees_receipts(bot, teams_channel(OutsiderPresence.UNKNOWN))
    assert not await sees_receipts(bot, ChannelAudience(channel=OTHER_CHANNEL, outsiders=OutsiderPresence.NONE))


@pytest.mark.parametrize("subject", [TEAMS_CHANNEL, TEAM])
async def test_outsiders_of_a_channel_need_include_external_on_the_grant_that_counts(
    bot: Application, subject: Subject
) -> None:
    await grant_receipts(bot, subject, include_external=True)
    await bot.grants.grant_bucket_access(BucketId("contracts"), TEAMS_CHANNEL, by="test")
    await bot.grants.grant_bucket_access(BucketId("contracts"), TEAM, by="test")

    scope = await bot.access.scope_for_audience(teams_channel(OutsiderPresence.SOME))

    assert (scope.buckets, scope.subjects) == ({RECEIPTS}, {TEAMS_CHANNEL, TEAM})
    assert (await bot.access.scope_for_audience(teams_channel())).buckets == {RECEIPTS, "contracts"}


async def test_only_channels_and_teams_count_as_another_name_of_a_channel(bot: Application) -> None:
    await grant_receipts(bot, "user:teams:tenant:ann", "everyone")
    names = frozenset({Subject("user:teams:tenant:ann"), Subject("everyone")})

    audience = ChannelAudience(channel=TEAMS_CHANNEL, outsiders=OutsiderPresence.SOME, also_known_as=names)

    assert (await bot.access.scope_for_audience(audience)).subjects == {TEAMS_CHANNEL}
    assert not await sees_receipts(bot, audience)


async def test_everyone_never_includes_outsiders_whatever_the_grant_says(bot: Application) -> None:
    await grant_receipts(bot, "everyone", include_external=True)

    assert not await sees_receipts(bot, channel_audience(OutsiderPresence.SOME))
    assert not await sees_receipts(bot, private_audience_of("U1", guest=True))


async def test_a_member_of_a_local_group_sees_what_the_group_is_granted_and_a_channel_does_not(
    bot: Application,
) -> None:
    await bot.groups.create_group("staff", "Staff", by="test")
    await bot.groups.add_group_member("staff", "slack:T1:U1", by="test")
    await grant_receipts(bot, "group:staff")

    assert await sees_receipts(bot, private_audience_of("U1"))
    assert not await sees_receipts(bot, private_audience_of("U2"))
    assert not await sees_receipts(bot, channel_audience())


async def test_a_channel_among_the_subjects_of_a_person_does_not_count(bot: Application) -> None:
    await grant_receipts(bot, CHANNEL)

    assert not await sees_receipts(bot, PrivateAudience(person=PersonId("slack:T1:U1"), subjects=frozenset({CHANNEL})))


async def test_the_asker_may_go_private_where_that_shows_more(bot: Application) -> None:
    person = PersonId("slack:T1:U1")
    scope = await bot.access.scope_for_audience(channel_audience())
    assert not await bot.access.may_go_private(channel_audience(), person, scope)

    await grant_receipts(bot, "user:slack:T1:U1")
    assert await bot.access.may_go_private(channel_audience(), person, scope)
    assert not await bot.access.may_go_private(private_audience_of("U1"), person, scope)


async def test_a_revoked_grant_closes_the_bucket_at_the_next_question(bot: Application) -> None:
    await grant_receipts(bot, "everyone")
    await bot.grants.revoke_grant(RECEIPTS, Subject("everyone"), by="test")

    assert not await sees_receipts(bot, private_audience_of("U1"))


def test_equal_rights_have_equal_keys_and_other_rights_have_other_keys() -> None:
    key = scope_key_of(a_scope("a", "b", subjects=["everyone"]))

    assert key == scope_key_of(a_scope("b", "a", subjects=["everyone"]))
    others = [a_scope("a", subjects=["everyone"]), a_scope("a", "b"), a_scope("a", "b", all_readers=True)]
    assert len({key, *map(scope_key_of, others)}) == 4
    assert scope_key_of(a_scope("a,b")) != scope_key_of(a_scope("a", "b"))


def test_the_rights_of_a_scope_are_within_those_of_every_wider_scope_and_no_other() -> None:
    rights = set(rights_of(a_scope("a", subjects=["everyone"])))

    assert rights < set(rights_of(a_scope("a", "b", subjects=["everyone", "user:x"])))
    assert not rights <= set(rights_of(a_scope("b", subjects=["everyone", "a"])))
    assert not set(rights_of(a_scope("everyone", subjects=["a"]))) & rights
    assert rights < set(rights_of(a_scope("a", subjects=["everyone"], all_readers=True)))


@pytest.mark.parametrize(
    "text",
    [
        "everyone",
        "user:slack:T1:U1",
        "user:teams:tenant:object",
        "user:local:ann",
        "channel:slack:T1:C1",
        "team:teams:tenant:19:abc@thread.tacv2",
        "group:staff",
        "group:slack:T1:S1",
    ],
)
def test_a_subject_of_a_known_form_is_accepted(text: str) -> None:
    assert parse_subject(text) == text


@pytest.mark.parametrize(
    "text", ["", "all", "user:ann", "user:slack:T1", "channel:slack:T1", "group:", "user:local:a b", "everyone "]
)
def test_a_subject_of_an_unknown_form_is_refused_and_the_error_lists_the_forms(text: str) -> None:
    with pytest.raises(InvalidSubject, match=r"is not a subject; write everyone, user:slack:T1:U1"):
        parse_subject(text)


def test_a_bare_name_is_a_local_person() -> None:
    assert parse_person("ann") == "local:ann"
    assert parse_person("slack:T1:U1") == "slack:T1:U1"
    with pytest.raises(InvalidSubject):
        parse_person("operator:x")


def test_only_a_channel_can_include_outsiders() -> None:
    check_grant_subject(CHANNEL, include_external=True)
    check_grant_subject(Subject("everyone"), include_external=False)
    with pytest.raises(InvalidSubject):
        check_grant_subject(Subject("everyone"), include_external=True)


async def test_a_question_without_any_grant_is_refused_without_details(bot: Application) -> None:
    finished_turn = await ConversationDriver(
        bot, audience=private_audience_of("U1"), person="slack:T1:U1"
    ).ask_question("List every receipt")

    assert finished_turn.result["outcome"] == "refused"
    assert "receipts" not in str(finished_turn.reply)
    assert not finished_turn.result["choices"]


async def test_only_the_operator_is_told_that_a_bucket_does_not_exist(bot: Application) -> None:
    await grant_receipts(bot, "user:slack:T1:U1")
    answered = await ConversationDriver(bot, buckets=("nowhere",)).ask_question("List")
    refused = await ConversationDriver(
        bot, buckets=("nowhere",), audience=private_audience_of("U1"), conversation="c2"
    ).ask_question("List")

    assert answered.error == "There is no bucket 'nowhere'."
    assert refused.result["outcome"] == "refused"
    assert BucketId("nowhere") not in str(refused.reply)


class LookupCountingDirectory:
    """A directory that counts the lookups of persons."""

    def __init__(self) -> None:
        self.lookup_count = 0

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        return None

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        self.lookup_count += 1
        return replace(audience, is_guest=False)

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        return audience

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        return True


class UnplacingThreadPlacer:
    """The threads of a chat in which a person may continue in private."""

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        return inbound

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None: ...

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None:
        return None


async def test_the_rights_of_the_asker_alone_are_looked_up_once_per_turn(bot: Application, chat: FakeChat) -> None:
    directory = LookupCountingDirectory()
    bot.register_surface(PartialSurface(outbox=chat, directory=directory, threads=UnplacingThreadPlacer()))
    await grant_receipts(bot, CHANNEL)
    await bot.grants.grant_bucket_access(BucketId("contracts"), Subject("user:slack:T1:U1"), by="test")

    finished_turn = await ConversationDriver(bot, audience=channel_audience(), person="slack:T1:U1").ask_question(
        "List every receipt"
    )

    assert "Continue in private" in [choice["label"] for choice in finished_turn.result["choices"]]
    assert directory.lookup_count == 1
