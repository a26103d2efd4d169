"""Channel readers and user groups: in large channels, and immediately after changes."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from adapters.slack.app import SlackSurface
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.slack_directory import SlackDirectory
from adapters.slack.workspaces.workspace_directory import WorkspaceDirectory
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, build_workspace
from bot.access.audience_scope import AccessResolver
from bot.health.index_record import IndexRecord
from bot.ids import PersonId, Subject
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience
from bot.surface.lookup_cache import SingleFlightTtlCache
from bot.surface.product_directories import ProductDirectories
from bot.surface.surface_registry import SurfaceRegistry
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import BucketId
from storage.sql.database import SqlDatabase
from storage.sql.health_store import HealthStore
from storage.sql.stores.grants import GrantStore, LocalGroupStore
from storage.sql.stores.sources import SourceStore
from tests.adapters.slack.conftest import InboxBot
from tests.bot.conftest import clock, database, index, settings
from tests.bot.fakes import Clock, FakeChat, PartialSurface
from tests.builders import RECEIPTS, TENANT
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackUsergroup

__all__ = ["clock", "database", "index", "settings"]

pytestmark = pytest.mark.usefixtures("surface")


async def find_outsiders(surface: SlackSurface, channel: SlackChannel) -> OutsiderPresence:
    audience = ChannelAudience(
        channel=Subject(f"channel:slack:{TEAM}:{channel.id}"), outsiders=OutsiderPresence.UNKNOWN
    )
    return (await surface.directory.refresh_channel_audience(audience)).outsiders


async def private_audience_of(surface: SlackSurface, user: SlackMember) -> PrivateAudience:
    return await surface.directory.refresh_private_audience(
        PrivateAudience(person=PersonId(f"slack:{TEAM}:{user.id}"), is_guest=True)
    )


def add_crowd(slack: SlackServer, channel: SlackChannel, size: int) -> list[SlackMember]:
    crowd = [slack.workspace.add_user(SlackMember(id=f"U{n:05}", name=f"Person {n}")) for n in range(size)]
    channel.members += [user.id for user in crowd]
    return crowd


async def email_of(surface: SlackSurface, user: SlackMember) -> str | None:
    profile = await surface.directory.load_person_profile(PersonId(f"slack:{TEAM}:{user.id}"))
    return None if profile is None else profile.verified_email


async def test_only_a_confirmed_address_of_a_full_member_is_verified(surface: SlackSurface, slack: SlackServer) -> None:
    members = [
        SlackMember(id="UANN", name="Ann", email="ann@example.org"),
        SlackMember(id="UBO", name="Bo", email="bo@example.org", has_confirmed_email=False),
        SlackMember(id="UGIL", name="Gil", email="gil@example.org", is_guest=True),
    ]
    slack.scopes |= {"users:read.email"}

    users = [slack.workspace.add_user(member) for member in members]
    assert [await email_of(surface, user) for user in users] == ["ann@example.org", "", ""]


async def test_without_the_optional_scope_no_address_is_known(surface: SlackSurface, slack: SlackServer) -> None:
    ann = slack.workspace.add_user(SlackMember(id="UANN", name="Ann", email="ann@example.org"))

    assert await email_of(surface, ann) == ""


# Large channels


async def test_the_readers_of_a_large_channel_come_from_the_user_list(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    add_crowd(slack, general, 1_500)

    assert await find_outsiders(surface, general) is OutsiderPresence.NONE
    assert await find_outsiders(surface, general) is OutsiderPresence.NONE
    assert len(slack.calls_of("conversations.members")) == len(slack.calls_of("users.list")) == 2  # pages
    assert slack.calls_of("users.info") == []


async def test_one_guest_on_the_last_page_closes_a_large_channel(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    add_crowd(slack, general, 1_500)
    general.members.append(slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True)).id)

    assert await find_outsiders(surface, general) is OutsiderPresence.SOME


async def test_a_channel_with_too_many_members_is_unknown(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: SlackChannel
) -> None:
    general.members += [f"U{n:05}" for n in range(10_000)]

    assert await find_outsiders(surface, general) is OutsiderPresence.UNKNOWN
    assert [line["reason"] for line in bot.log_lines] == ["too many of them"]
    assert slack.calls_of("users.list") == slack.calls_of("users.info") == []


async def test_people_are_looked_up_one_by_one_when_the_user_list_is_refused(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: SlackChannel
) -> None:
    add_crowd(slack, general, 40)
    slack.workspace.users["U00001"] = SlackMember(id="U00001", name="Guest", is_guest=True)
    slack.scopes -= {"users:read"}

    assert await find_outsiders(surface, general) is OutsiderPresence.UNKNOWN
    assert "missing_scope" in [line["reason"] for line in bot.log_lines]


# Group messages


async def test_a_group_message_is_read_by_its_members(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember
) -> None:
    group = slack.workspace.add_channel(SlackChannel(id="G1", kind="mpim", members=[ada.id, BOT_USER]))

    assert await find_outsiders(surface, group) is OutsiderPresence.NONE


async def test_without_its_scope_the_readers_of_a_group_message_are_unknown(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember
) -> None:
    slack.scopes -= {"mpim:read"}
    group = slack.workspace.add_channel(SlackChannel(id="G1", kind="mpim", members=[ada.id, BOT_USER]))

    assert await find_outsiders(surface, group) is OutsiderPresence.UNKNOWN


# Changes


async def test_a_channel_has_outsiders_while_a_guest_is_a_member(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))

    before_joining = await find_outsiders(surface, general)
    await slack.join_channel(guest, general)
    while_member = await find_outsiders(surface, general)
    await slack.leave_channel(guest, general)

    assert [before_joining, while_member, await find_outsiders(surface, general)] == [
        OutsiderPresence.NONE,
        OutsiderPresence.SOME,
        OutsiderPresence.NONE,
    ]


async def test_a_member_who_becomes_a_guest_is_an_outsider_at_once(
    surface: SlackSurface, slack: SlackServer, bob: SlackMember, general: SlackChannel
) -> None:
    before_change = await find_outsiders(surface, general)
    await slack.change_user_fields(bob, is_guest=True)

    assert [before_change, await find_outsiders(surface, general)] == [OutsiderPresence.NONE, OutsiderPresence.SOME]


async def test_only_the_changed_member_of_a_large_channel_is_looked_up_again(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    crowd = add_crowd(slack, general, 200)
    await find_outsiders(surface, general)
    await slack.change_user_fields(crowd[100], is_guest=True)

    assert await find_outsiders(surface, general) is OutsiderPresence.SOME
    assert [call["user"] for call in slack.calls_of("users.info")] == [crowd[100].id]
    assert len(slack.calls_of("users.list")) == 1


async def test_a_channel_has_outsiders_while_it_is_shared(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    before_sharing = await find_outsiders(surface, general)
    await slack.share_channel(general, "T9OTHER")
    while_shared = await find_outsiders(surface, general)
    await slack.unshare_channel(general, "T9OTHER")

    assert [before_sharing, while_shared, await find_outsiders(surface, general)] == [
        OutsiderPresence.NONE,
        OutsiderPresence.SOME,
        OutsiderPresence.NONE,
    ]


async def test_a_channel_offered_to_another_organisation_has_outsiders_before_it_accepts(
    surface: SlackSurface, slack: SlackServer, general: SlackChannel
) -> None:
    general.is_pending_ext_shared = True

    assert await find_outsiders(surface, general) is OutsiderPresence.SOME


async def test_a_deactivation_takes_effect_at_once(surface: SlackSurface, slack: SlackServer, ada: SlackMember) -> None:
    slack.workspace.add_group(SlackUsergroup(id="S1", handle="buyers", name="Buyers", members=[ada.id]))
    audience_before = await private_audience_of(surface, ada)
    await slack.change_user_fields(ada, deleted=True)
    audience_after = await private_audience_of(surface, ada)

    assert (audience_before.is_deactivated, audience_before.subjects) == (False, {f"group:slack:{TEAM}:S1"})
    assert (audience_after.is_deactivated, audience_after.subjects) == (True, frozenset())


async def test_a_change_without_an_event_is_noticed_within_a_minute(
    slack: SlackServer, api: SlackApi, bot: InboxBot, bob: SlackMember, general: SlackChannel
) -> None:
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    directory = WorkspaceDirectory(api, clock, bot.log)
    slack.events = frozenset()

    outcomes = [await directory.find_channel_outsiders(general.id)]
    await slack.change_user_fields(bob, is_guest=True)
    for _ in range(2):
        clock.advance(timedelta(seconds=30))
        outcomes.append(await directory.find_channel_outsiders(general.id))

    assert outcomes == [OutsiderPresence.NONE, OutsiderPresence.NONE, OutsiderPresence.SOME]


async def test_a_value_that_changes_during_its_fetch_is_fetched_again() -> None:
    source, fetch_started, fetch_may_finish = ["old"], asyncio.Event(), asyncio.Event()

    async def fetch(key: str) -> str:
        value_at_start = source[0]
        fetch_started.set()
        await fetch_may_finish.wait()
        return value_at_start

    cache = SingleFlightTtlCache[str, str](fetch, Clock(datetime(2031, 5, 9, tzinfo=UTC)), timedelta(seconds=60))
    request = asyncio.create_task(cache.get("it"))
    await fetch_started.wait()
    source[0] = "new"
    cache.invalidate_all()
    fetch_may_finish.set()

    assert await request == "new"
    assert await cache.get("it") == "new"


# User groups


@pytest.fixture
def buyers(slack: SlackServer, ada: SlackMember) -> SlackUsergroup:
    slack.workspace.add_group(SlackUsergroup(id="S2", handle="gone", name="Gone", members=[ada.id], disabled=True))
    return slack.workspace.add_group(SlackUsergroup(id="S1", handle="buyers", name="Buyers", members=[ada.id]))


async def test_a_private_audience_has_the_persons_user_groups(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, bob: SlackMember, buyers: SlackUsergroup
) -> None:
    assert (await private_audience_of(surface, ada)).subjects == {Subject(f"group:slack:{TEAM}:{buyers.id}")}
    assert (await private_audience_of(surface, bob)).subjects == frozenset()
    assert len(slack.calls_of("usergroups.list")) == 1


@pytest.mark.parametrize("with_bob", [[], ["U2BOB"]])
async def test_leaving_a_user_group_takes_effect_at_once(
    surface: SlackSurface,
    slack: SlackServer,
    ada: SlackMember,
    bob: SlackMember,
    buyers: SlackUsergroup,
    with_bob: Sequence[str],
) -> None:
    await private_audience_of(surface, ada)
    await slack.change_group(buyers, with_bob)

    assert (await private_audience_of(surface, ada)).subjects == frozenset()
    assert len((await private_audience_of(surface, bob)).subjects) == len(with_bob)


async def test_a_disabled_user_group_is_ignored(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, buyers: SlackUsergroup
) -> None:
    await private_audience_of(surface, ada)
    await slack.disable_group(buyers)

    assert (await private_audience_of(surface, ada)).subjects == frozenset()


async def test_without_the_scope_there_are_no_user_groups_and_one_warning(
    slack: SlackServer, api: SlackApi, bot: InboxBot, ada: SlackMember, buyers: SlackUsergroup
) -> None:
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    directory = WorkspaceDirectory(api, clock, bot.log)
    slack.scopes -= {"usergroups:read"}
    profile = await directory.load_person(ada.id)
    assert profile is not None

    for _ in range(3):
        assert await directory.load_user_groups(ada.id, profile) == frozenset()
        clock.advance(timedelta(minutes=2))

    assert [line["event"] for line in bot.log_lines] == ["slack user groups are not read"]
    assert buyers.members == [ada.id]


# Whether one person reads a channel


async def is_reader(surface: SlackSurface, user: SlackMember, channel: SlackChannel) -> bool | None:
    subject = Subject(f"channel:slack:{TEAM}:{channel.id}")
    return await surface.directory.is_channel_reader(PersonId(f"slack:{TEAM}:{user.id}"), subject)


async def test_a_person_who_leaves_a_private_channel_is_no_reader(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, bob: SlackMember
) -> None:
    secret = slack.workspace.add_channel(SlackChannel(id="G1SECRET", kind="group", members=[ada.id, bob.id, BOT_USER]))
    could_read = await is_reader(surface, bob, secret)

    await slack.leave_channel(bob, secret)

    assert (could_read, await is_reader(surface, bob, secret), await is_reader(surface, ada, secret)) == (
        True,
        False,
        True,
    )


async def test_all_members_except_guests_can_read_public_channels(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    general.members.remove(bob.id)

    can_read = [await is_reader(surface, user, general) for user in (bob, guest)]
    await slack.join_channel(guest, general)

    assert can_read == [True, False]
    assert await is_reader(surface, guest, general) is True


async def test_a_deactivated_person_reads_no_channel(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.change_user_fields(ada, deleted=True)

    assert await is_reader(surface, ada, general) is False


async def test_readership_is_unknown_while_slack_does_not_answer(
    surface: SlackSurface, slack: SlackServer, ada: SlackMember
) -> None:
    secret = slack.workspace.add_channel(SlackChannel(id="G1SECRET", kind="group", members=[ada.id, BOT_USER]))
    slack.plan_faults("conversations.members", Fault(hang=True))

    assert await is_reader(surface, ada, secret) is None
    assert await is_reader(surface, ada, secret) is True


# Enterprise Grid


@pytest.fixture
def cy(slack: SlackServer) -> SlackMember:
    """A person in another workspace of the same Enterprise Grid."""
    slack.workspace.enterprise = "E1GRID"
    return slack.workspace.add_user(SlackMember(id="W1", name="Cy", team="T2SISTER", enterprise="E1GRID"))


@pytest.fixture
def grid(cy: SlackMember, api: SlackApi, bot: InboxBot) -> SlackDirectory:
    return SlackDirectory(SingleWorkspace(build_workspace(api, bot.clock, bot.log)), bot.log)


@pytest.mark.parametrize("spelled", ["E1GRID", "T2SISTER", TEAM])
@pytest.mark.parametrize("asked_as", ["E1GRID", "T2SISTER", TEAM])
async def test_a_grant_to_a_person_of_a_grid_counts_under_every_account_id(
    grid: SlackDirectory, cy: SlackMember, database: SqlDatabase, index: EmbeddedIndex, spelled: str, asked_as: str
) -> None:
    grants, groups = GrantStore(database), LocalGroupStore(database)
    await grants.grant_bucket_access(RECEIPTS, Subject(f"user:slack:{spelled}:{cy.id}"), by="test")
    await groups.create_group("staff", "Staff", by="test")
    await groups.add_group_member("staff", f"slack:{spelled}:{cy.id}", by="test")
    await grants.grant_bucket_access(BucketId("contracts"), Subject("group:staff"), by="test")
    surfaces = SurfaceRegistry()
    surfaces.register_surface(PartialSurface(outbox=FakeChat(), directory=grid))
    record = IndexRecord(index=index, store=HealthStore(database), grants=grants, sources=SourceStore(database))
    access = AccessResolver(TENANT, grants, groups, index, ProductDirectories(surfaces), record)

    scope = await access.scope_for_audience(
        PrivateAudience(person=PersonId(f"slack:{asked_as}:{cy.id}"), is_guest=True)
    )

    assert scope.buckets == {RECEIPTS, "contracts"}
    assert "everyone" in scope.subjects


async def test_a_public_channel_on_a_grid_is_read_by_its_workspace_and_its_members(
    grid: SlackDirectory, cy: SlackMember, slack: SlackServer, general: SlackChannel
) -> None:
    person = PersonId(f"slack:E1GRID:{cy.id}")
    joined_channel = slack.workspace.add_channel(SlackChannel(id="C2OTHER", members=[cy.id, BOT_USER]))

    can_read = [
        await grid.is_channel_reader(person, Subject(f"channel:slack:{TEAM}:{channel.id}"))
        for channel in (general, joined_channel)
    ]

    assert can_read == [False, True]


async def test_the_same_user_id_in_another_organisation_counts_as_a_guest(
    grid: SlackDirectory, cy: SlackMember
) -> None:
    stranger = await grid.refresh_private_audience(
        PrivateAudience(person=PersonId(f"slack:T9OTHER:{cy.id}"), is_guest=True)
    )

    assert stranger.is_guest
    assert stranger.subjects == frozenset()
