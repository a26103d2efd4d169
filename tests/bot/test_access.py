"""From an audience and the grants to a scope: the table of who sees what."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from bot.access import scope_key
from bot.bootstrap import Bot
from bot.directory import Profile
from bot.errors import InvalidSubject
from bot.ids import MessageId, PersonId, Subject, TurnId
from bot.inbound import Audience, Inbound, Operator, Outsiders, Private, Shared
from bot.replies import Reply
from bot.subjects import check_grant, parse_person, parse_subject
from storage.search.ids import BucketId
from tests.bot.conftest import Talk, somebody
from tests.builders import RECEIPTS, a_scope

CHANNEL = Subject("channel:slack:T1:C1")
MEMBER = Private(person=PersonId("slack:T1:U1"), subjects=frozenset({Subject("group:slack:T1:S1")}))


def channel(outsiders: Outsiders = Outsiders.NONE) -> Shared:
    return Shared(channel=CHANNEL, outsiders=outsiders)


async def granted(bot: Bot, *subjects: str, include_external: bool = False) -> None:
    for subject in subjects:
        await bot.grants.grant(RECEIPTS, Subject(subject), include_external=include_external, by="test")


async def sees(bot: Bot, audience: Audience) -> bool:
    return RECEIPTS in (await bot.access.scope(audience)).buckets


@pytest.mark.parametrize(
    "audience", [somebody("U1"), somebody("U1", guest=True), channel(), Private(person=PersonId("local:ann"))]
)
async def test_without_a_grant_nobody_sees_anything(bot: Bot, audience: Audience) -> None:
    assert not (await bot.access.scope(audience)).buckets


async def test_the_operator_sees_every_bucket_that_exists_and_every_document(bot: Bot) -> None:
    scope = await bot.access.scope(Operator())

    assert scope.buckets == {RECEIPTS}
    assert scope.all_readers


@pytest.mark.parametrize(
    ("subject", "audience", "expected"),
    [
        ("everyone", somebody("U1"), True),
        ("everyone", somebody("U1", guest=True), False),
        ("everyone", channel(), True),
        ("everyone", channel(Outsiders.SOME), False),
        ("everyone", channel(Outsiders.UNKNOWN), False),
        ("user:slack:T1:U1", somebody("U1"), True),
        ("user:slack:T1:U1", somebody("U1", guest=True), True),
        ("user:slack:T1:U1", somebody("U2"), False),
        ("user:slack:T1:U1", channel(), False),
        ("channel:slack:T1:C1", channel(), True),
        ("channel:slack:T1:C1", channel(Outsiders.SOME), False),
        ("channel:slack:T1:C1", channel(Outsiders.UNKNOWN), False),
        ("channel:slack:T1:C1", somebody("U1"), False),
        ("channel:slack:T1:C2", channel(), False),
        ("group:slack:T1:S1", MEMBER, True),
        ("group:slack:T1:S1", somebody("U1"), False),
        ("group:staff", somebody("U1"), False),
    ],
)
async def test_a_grant_opens_a_bucket_for(bot: Bot, subject: str, audience: Audience, expected: bool) -> None:
    await granted(bot, subject)

    assert await sees(bot, audience) is expected


async def test_an_admin_may_open_a_channel_with_outsiders_on_purpose(bot: Bot) -> None:
    await granted(bot, CHANNEL, include_external=True)

    assert await sees(bot, channel(Outsiders.SOME))
    assert await sees(bot, channel(Outsiders.UNKNOWN))
    assert (await bot.access.scope(channel(Outsiders.SOME))).subjects == {CHANNEL}
    assert (await bot.access.scope(channel())).subjects == {CHANNEL, "everyone"}


async def test_everyone_never_includes_outsiders_whatever_the_grant_says(bot: Bot) -> None:
    await granted(bot, "everyone", include_external=True)

    assert not await sees(bot, channel(Outsiders.SOME))
    assert not await sees(bot, somebody("U1", guest=True))


async def test_a_member_of_a_local_group_sees_what_the_group_is_granted_and_a_channel_does_not(bot: Bot) -> None:
    await bot.groups.create("staff", "Staff", by="test")
    await bot.groups.add("staff", "slack:T1:U1", by="test")
    await granted(bot, "group:staff")

    assert await sees(bot, somebody("U1"))
    assert not await sees(bot, somebody("U2"))
    assert not await sees(bot, channel())


async def test_a_channel_subject_that_a_surface_gives_a_person_does_not_count(bot: Bot) -> None:
    await granted(bot, CHANNEL)

    assert not await sees(bot, Private(person=PersonId("slack:T1:U1"), subjects=frozenset({CHANNEL})))


async def test_the_asker_may_go_private_where_that_shows_more(bot: Bot) -> None:
    person = PersonId("slack:T1:U1")
    scope = await bot.access.scope(channel())
    assert not await bot.access.may_go_private(channel(), person, scope)

    await granted(bot, "user:slack:T1:U1")
    assert await bot.access.may_go_private(channel(), person, scope)
    assert not await bot.access.may_go_private(somebody("U1"), person, scope)


async def test_a_revoked_grant_closes_the_bucket_at_the_next_look(bot: Bot) -> None:
    await granted(bot, "everyone")
    await bot.grants.revoke(RECEIPTS, Subject("everyone"), by="test")

    assert not await sees(bot, somebody("U1"))


def test_equal_rights_have_one_key_and_others_another() -> None:
    key = scope_key(a_scope("a", "b", subjects=["everyone"]))

    assert key == scope_key(a_scope("b", "a", subjects=["everyone"]))
    others = [a_scope("a", subjects=["everyone"]), a_scope("a", "b"), a_scope("a", "b", all_readers=True)]
    assert len({key, *map(scope_key, others)}) == 4
    assert scope_key(a_scope("a,b")) != scope_key(a_scope("a", "b"))


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
def test_a_subject_of_a_known_form_is_taken(text: str) -> None:
    assert parse_subject(text) == text


@pytest.mark.parametrize(
    "text", ["", "all", "user:ann", "user:slack:T1", "channel:slack:T1", "group:", "user:local:a b", "everyone "]
)
def test_a_subject_of_no_known_form_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(InvalidSubject, match=r"is no subject; write everyone, user:slack:T1:U1"):
        parse_subject(text)


def test_a_bare_name_is_a_local_person() -> None:
    assert parse_person("ann") == "local:ann"
    assert parse_person("slack:T1:U1") == "slack:T1:U1"
    with pytest.raises(InvalidSubject):
        parse_person("operator:x")


def test_only_a_channel_can_include_outsiders() -> None:
    check_grant(CHANNEL, include_external=True)
    check_grant(Subject("everyone"), include_external=False)
    with pytest.raises(InvalidSubject):
        check_grant(Subject("everyone"), include_external=True)


async def test_a_question_without_any_grant_is_refused_and_says_no_more(bot: Bot) -> None:
    done = await Talk(bot, audience=somebody("U1"), person="slack:T1:U1").say("List every receipt")

    assert done.result["outcome"] == "refused"
    assert "receipts" not in str(done.reply)
    assert not done.result["choices"]


async def test_only_the_operator_is_told_that_a_bucket_does_not_exist(bot: Bot) -> None:
    await granted(bot, "user:slack:T1:U1")
    told = await Talk(bot, buckets=("nowhere",)).say("List")
    refused = await Talk(bot, buckets=("nowhere",), audience=somebody("U1"), conversation="c2").say("List")

    assert told.error == "There is no bucket 'nowhere'."
    assert refused.result["outcome"] == "refused"
    assert BucketId("nowhere") not in str(refused.reply)


class Asked:
    """A directory that counts how often somebody is looked up alone."""

    def __init__(self) -> None:
        self.alone = 0

    async def profile(self, person: PersonId) -> Profile | None:
        return None

    async def private(self, audience: Private) -> Private:
        self.alone += 1
        return replace(audience, guest=False)

    async def shared(self, audience: Shared) -> Shared:
        return audience

    async def reads(self, person: PersonId, channel: Subject) -> bool | None:
        return True


class InPrivate:
    """Threads of a chat in which one may go on alone."""

    async def place(self, inbound: Inbound, turn: TurnId, *, again: bool) -> Inbound:
        return inbound

    async def withdraw(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None: ...

    async def alone(self, inbound: Inbound) -> Mapping[str, str] | None:
        return None


async def test_whether_the_asker_may_see_more_alone_is_looked_up_once_a_turn(bot: Bot) -> None:
    asked = Asked()
    bot.directories.ask("slack", asked)
    bot.dialogue.go_private_through("slack", InPrivate())
    await granted(bot, CHANNEL)
    await bot.grants.grant(BucketId("contracts"), Subject("user:slack:T1:U1"), by="test")

    done = await Talk(bot, audience=channel(), person="slack:T1:U1").say("List every receipt")

    assert "Continue in private" in [one["label"] for one in done.result["choices"]]
    assert asked.alone == 1
