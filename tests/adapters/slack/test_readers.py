"""Who reads a channel, and in which groups somebody is: of Slack's large channels, and as soon as it changes."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.directory import Directory
from adapters.slack.people import People
from adapters.slack.recent import Recent
from adapters.slack.workspaces import OneWorkspace, workspace_with
from bot.access import Access
from bot.directory import Directories
from bot.ids import PersonId, Subject
from bot.inbound import Outsiders, Private, Shared
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import BucketId
from storage.sql.database import Database
from storage.sql.grants import Grants, LocalGroups
from tests.adapters.slack.conftest import InboxBot
from tests.bot.conftest import clock, database, index, settings
from tests.bot.fakes import Clock
from tests.builders import RECEIPTS, TENANT
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, User, Usergroup

__all__ = ["clock", "database", "index", "settings"]

pytestmark = pytest.mark.usefixtures("surface")


async def read_by(surface: SlackSurface, channel: Channel) -> Outsiders:
    asked = Shared(channel=Subject(f"channel:slack:{TEAM}:{channel.id}"), outsiders=Outsiders.UNKNOWN)
    return (await surface.directory.shared(asked)).outsiders


async def alone(surface: SlackSurface, user: User) -> Private:
    return await surface.directory.private(Private(person=PersonId(f"slack:{TEAM}:{user.id}"), guest=True))


def a_crowd(slack: SlackServer, channel: Channel, size: int) -> list[User]:
    crowd = [slack.workspace.add_user(User(id=f"U{n:05}", name=f"Person {n}")) for n in range(size)]
    channel.members += [one.id for one in crowd]
    return crowd


# Large channels


async def test_the_readers_of_a_large_channel_are_found_in_the_list_of_all(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    a_crowd(slack, general, 1_500)

    assert await read_by(surface, general) is Outsiders.NONE
    assert await read_by(surface, general) is Outsiders.NONE
    assert len(slack.called("conversations.members")) == len(slack.called("users.list")) == 2  # pages
    assert slack.called("users.info") == []


async def test_one_guest_on_the_last_page_closes_a_large_channel(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    a_crowd(slack, general, 1_500)
    general.members.append(slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True)).id)

    assert await read_by(surface, general) is Outsiders.SOME


async def test_a_channel_with_more_members_than_are_looked_through_is_unknown(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: Channel
) -> None:
    general.members += [f"U{n:05}" for n in range(10_000)]

    assert await read_by(surface, general) is Outsiders.UNKNOWN
    assert [line["reason"] for line in bot.lines] == ["too many of them"]
    assert slack.called("users.list") == slack.called("users.info") == []


async def test_a_refused_list_of_people_leaves_them_to_be_asked_for_singly(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: Channel
) -> None:
    a_crowd(slack, general, 40)
    slack.workspace.users["U00001"] = User(id="U00001", name="Guest", is_guest=True)
    slack.scopes -= {"users:read"}

    assert await read_by(surface, general) is Outsiders.UNKNOWN
    assert "missing_scope" in [line["reason"] for line in bot.lines]


# Group messages


async def test_a_group_message_is_read_by_its_members(surface: SlackSurface, slack: SlackServer, ada: User) -> None:
    group = slack.workspace.add_channel(Channel(id="G1", kind="mpim", members=[ada.id, BOT_USER]))

    assert await read_by(surface, group) is Outsiders.NONE


async def test_without_its_scope_nobody_knows_who_reads_a_group_message(
    surface: SlackSurface, slack: SlackServer, ada: User
) -> None:
    slack.scopes -= {"mpim:read"}
    group = slack.workspace.add_channel(Channel(id="G1", kind="mpim", members=[ada.id, BOT_USER]))

    assert await read_by(surface, group) is Outsiders.UNKNOWN


# What changes


async def test_a_guest_who_joins_closes_the_channel_at_once_and_opens_it_when_they_leave(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))

    before = await read_by(surface, general)
    await slack.join(guest, general)
    during = await read_by(surface, general)
    await slack.leave(guest, general)

    assert [before, during, await read_by(surface, general)] == [Outsiders.NONE, Outsiders.SOME, Outsiders.NONE]


async def test_a_reader_who_is_made_a_guest_closes_the_channel_at_once(
    surface: SlackSurface, slack: SlackServer, bob: User, general: Channel
) -> None:
    before = await read_by(surface, general)
    await slack.change_user(bob, is_guest=True)

    assert [before, await read_by(surface, general)] == [Outsiders.NONE, Outsiders.SOME]


async def test_of_a_large_channel_only_who_has_changed_is_asked_for_again(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    crowd = a_crowd(slack, general, 200)
    await read_by(surface, general)
    await slack.change_user(crowd[100], is_guest=True)

    assert await read_by(surface, general) is Outsiders.SOME
    assert [call["user"] for call in slack.called("users.info")] == [crowd[100].id]
    assert len(slack.called("users.list")) == 1


async def test_a_channel_that_is_shared_with_others_is_closed_at_once(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    before = await read_by(surface, general)
    await slack.share(general, "T9OTHER")
    during = await read_by(surface, general)
    await slack.unshare(general, "T9OTHER")

    assert [before, during, await read_by(surface, general)] == [Outsiders.NONE, Outsiders.SOME, Outsiders.NONE]


async def test_a_channel_that_is_offered_to_others_is_closed_before_they_accept(
    surface: SlackSurface, slack: SlackServer, general: Channel
) -> None:
    general.is_pending_ext_shared = True

    assert await read_by(surface, general) is Outsiders.SOME


async def test_somebody_who_is_deactivated_is_gone_at_once(
    surface: SlackSurface, slack: SlackServer, ada: User
) -> None:
    slack.workspace.add_group(Usergroup(id="S1", handle="buyers", name="Buyers", members=[ada.id]))
    before = await alone(surface, ada)
    await slack.change_user(ada, deleted=True)
    after = await alone(surface, ada)

    assert (before.gone, before.subjects) == (False, {f"group:slack:{TEAM}:S1"})
    assert (after.gone, after.subjects) == (True, frozenset())


async def test_what_slack_does_not_tell_is_found_out_within_a_minute(
    slack: SlackServer, api: SlackApi, bot: InboxBot, bob: User, general: Channel
) -> None:
    time = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    directory = Directory(api, time, bot.log)
    slack.events = frozenset()

    seen = [await directory.outsiders(general.id)]
    await slack.change_user(bob, is_guest=True)
    for _ in range(2):
        time.advance(timedelta(seconds=30))
        seen.append(await directory.outsiders(general.id))

    assert seen == [Outsiders.NONE, Outsiders.NONE, Outsiders.SOME]


async def test_what_changes_while_it_is_fetched_is_fetched_again() -> None:
    truth, under_way, go_on = ["old"], asyncio.Event(), asyncio.Event()

    async def fetch(key: str) -> str:
        found = truth[0]
        under_way.set()
        await go_on.wait()
        return found

    recent = Recent[str, str](fetch, Clock(datetime(2031, 5, 9, tzinfo=UTC)), timedelta(seconds=60))
    asking = asyncio.create_task(recent.get("it"))
    await under_way.wait()
    truth[0] = "new"
    recent.clear()
    go_on.set()

    assert await asking == "new"
    assert await recent.get("it") == "new"


# User groups


@pytest.fixture
def buyers(slack: SlackServer, ada: User) -> Usergroup:
    slack.workspace.add_group(Usergroup(id="S2", handle="gone", name="Gone", members=[ada.id], disabled=True))
    return slack.workspace.add_group(Usergroup(id="S1", handle="buyers", name="Buyers", members=[ada.id]))


async def test_somebody_in_private_is_in_their_user_groups(
    surface: SlackSurface, slack: SlackServer, ada: User, bob: User, buyers: Usergroup
) -> None:
    assert (await alone(surface, ada)).subjects == {Subject(f"group:slack:{TEAM}:{buyers.id}")}
    assert (await alone(surface, bob)).subjects == frozenset()
    assert len(slack.called("usergroups.list")) == 1


@pytest.mark.parametrize("with_bob", [[], ["U2BOB"]])
async def test_who_leaves_a_user_group_is_out_of_it_at_once(
    surface: SlackSurface, slack: SlackServer, ada: User, bob: User, buyers: Usergroup, with_bob: Sequence[str]
) -> None:
    await alone(surface, ada)
    await slack.change_group(buyers, with_bob)

    assert (await alone(surface, ada)).subjects == frozenset()
    assert len((await alone(surface, bob)).subjects) == len(with_bob)


async def test_a_disabled_user_group_is_none(
    surface: SlackSurface, slack: SlackServer, ada: User, buyers: Usergroup
) -> None:
    await alone(surface, ada)
    await slack.disable_group(buyers)

    assert (await alone(surface, ada)).subjects == frozenset()


async def test_without_the_scope_nobody_is_in_a_user_group_and_the_log_says_so_once(
    slack: SlackServer, api: SlackApi, bot: InboxBot, ada: User, buyers: Usergroup
) -> None:
    time = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    directory = Directory(api, time, bot.log)
    slack.scopes -= {"usergroups:read"}
    ada_now = await directory.person(ada.id)
    assert ada_now is not None

    for _ in range(3):
        assert await directory.groups(ada.id, ada_now) == frozenset()
        time.advance(timedelta(minutes=2))

    assert [line["event"] for line in bot.lines] == ["slack user groups are not read"]
    assert buyers.members == [ada.id]


# Whether one person reads a channel


async def reads(surface: SlackSurface, user: User, channel: Channel) -> bool | None:
    named = Subject(f"channel:slack:{TEAM}:{channel.id}")
    return await surface.directory.reads(PersonId(f"slack:{TEAM}:{user.id}"), named)


async def test_who_leaves_a_private_channel_reads_it_no_more(
    surface: SlackSurface, slack: SlackServer, ada: User, bob: User
) -> None:
    secret = slack.workspace.add_channel(Channel(id="G1SECRET", kind="group", members=[ada.id, bob.id, BOT_USER]))
    before = await reads(surface, bob, secret)

    await slack.leave(bob, secret)

    assert (before, await reads(surface, bob, secret), await reads(surface, ada, secret)) == (True, False, True)


async def test_anyone_of_the_workspace_but_a_guest_reads_its_public_channels(
    surface: SlackSurface, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    general.members.remove(bob.id)

    outside = [await reads(surface, one, general) for one in (bob, guest)]
    await slack.join(guest, general)

    assert outside == [True, False]
    assert await reads(surface, guest, general) is True


async def test_somebody_deactivated_reads_nothing(
    surface: SlackSurface, slack: SlackServer, ada: User, general: Channel
) -> None:
    await slack.change_user(ada, deleted=True)

    assert await reads(surface, ada, general) is False


async def test_whether_somebody_reads_a_channel_is_unknown_while_slack_does_not_say(
    surface: SlackSurface, slack: SlackServer, ada: User
) -> None:
    secret = slack.workspace.add_channel(Channel(id="G1SECRET", kind="group", members=[ada.id, BOT_USER]))
    slack.fail("conversations.members", Fault(hang=True))

    assert await reads(surface, ada, secret) is None
    assert await reads(surface, ada, secret) is True


# Enterprise Grid


@pytest.fixture
def cy(slack: SlackServer) -> User:
    """In another workspace of the same Enterprise Grid."""
    slack.workspace.enterprise = "E1GRID"
    return slack.workspace.add_user(User(id="W1", name="Cy", team="T2SISTER", enterprise="E1GRID"))


@pytest.fixture
def grid(cy: User, api: SlackApi, bot: InboxBot) -> People:
    return People(OneWorkspace(workspace_with(api, bot.clock, bot.log)), bot.log)


@pytest.mark.parametrize("spelled", ["E1GRID", "T2SISTER", TEAM])
@pytest.mark.parametrize("asked_as", ["E1GRID", "T2SISTER", TEAM])
async def test_a_grant_to_somebody_of_a_grid_counts_however_it_is_spelled(
    grid: People, cy: User, database: Database, index: EmbeddedIndex, spelled: str, asked_as: str
) -> None:
    grants, groups = Grants(database), LocalGroups(database)
    await grants.grant(RECEIPTS, Subject(f"user:slack:{spelled}:{cy.id}"), by="test")
    await groups.create("staff", "Staff", by="test")
    await groups.add("staff", f"slack:{spelled}:{cy.id}", by="test")
    await grants.grant(BucketId("contracts"), Subject("group:staff"), by="test")
    directories = Directories()
    directories.ask("slack", grid)
    access = Access(TENANT, grants, groups, index, directories)

    scope = await access.scope(Private(person=PersonId(f"slack:{asked_as}:{cy.id}"), guest=True))

    assert scope.buckets == {RECEIPTS, "contracts"}
    assert "everyone" in scope.subjects


async def test_of_a_grid_only_its_workspace_and_members_read_a_channel(
    grid: People, cy: User, slack: SlackServer, general: Channel
) -> None:
    person = PersonId(f"slack:E1GRID:{cy.id}")
    other = slack.workspace.add_channel(Channel(id="C2OTHER", members=[cy.id, BOT_USER]))

    found = [await grid.reads(person, Subject(f"channel:slack:{TEAM}:{one.id}")) for one in (general, other)]

    assert found == [False, True]


async def test_the_same_id_in_another_organisation_is_a_stranger(grid: People, cy: User) -> None:
    stranger = await grid.private(Private(person=PersonId(f"slack:T9OTHER:{cy.id}"), guest=True))

    assert stranger.guest
    assert stranger.subjects == frozenset()
