"""What the directory says of people and channels of Teams, and what it asks Teams for."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import structlog

from adapters.teams.addresses import ConversationKind, channel_subject_of, person_id_of
from adapters.teams.connector.calls import TeamsMember
from adapters.teams.directory.member_lookup import MAX_READERS
from adapters.teams.directory.teams_directory import TeamsDirectory
from adapters.teams.errors import TeamsRefusal, TeamsThrottled, TeamsUnreachable
from bot.application import Application
from bot.ids import PersonId
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience, TextMessage
from bot.surface.known_addresses import KnownAddresses
from tests.adapters.teams.rosters import (
    ADA,
    BOB,
    CHANNEL,
    CHAT,
    GUEST,
    OTHER_TENANT,
    STRANGER,
    TENANT,
    NotedAddresses,
    RosterConnector,
    address_of,
    person_of,
    personal_address_of,
    personal_chat_of,
)
from tests.bot.conftest import ConversationDriver, agent, bot, chat, clock, database, index, settings
from tests.bot.fakes import Clock

__all__ = ["agent", "bot", "chat", "clock", "database", "index", "settings"]

GENERAL = channel_subject_of(TENANT, CHANNEL)
IN_THREAD = f"{CHANNEL};messageid=1700000000000"


@pytest.fixture
def connector() -> RosterConnector:
    connector = RosterConnector()
    for member in (ADA, BOB, GUEST, STRANGER):
        connector.add_member(personal_chat_of(member), member)
    connector.add_member(CHANNEL, ADA, BOB)
    return connector


@pytest.fixture
def addresses() -> NotedAddresses:
    addresses = NotedAddresses()
    for member in (ADA, BOB, GUEST, STRANGER):
        addresses.note_turn(member, personal_address_of(member))
    addresses.note_turn(ADA, address_of(ADA, IN_THREAD, ConversationKind.CHANNEL))
    return addresses


@pytest.fixture
def directory(connector: RosterConnector, addresses: NotedAddresses, clock: Clock) -> TeamsDirectory:
    return TeamsDirectory(
        calls=connector,
        addresses=addresses,
        service_urls=addresses,
        accepted_tenants=[TENANT],
        clock=clock,
        log=structlog.get_logger(),
    )


def audience_of(member: TeamsMember) -> PrivateAudience:
    return PrivateAudience(person=person_of(member), is_guest=True)


@pytest.mark.parametrize(
    ("member", "is_guest"),
    [
        (ADA, False),
        (GUEST, True),
        (STRANGER, True),
        (replace(ADA, role="anonymous"), True),
        (replace(ADA, role="Guest"), True),
        (replace(ADA, role=""), True),
        (replace(ADA, tenant=""), True),
        (replace(ADA, tenant=TENANT.upper()), False),
    ],
)
async def test_only_a_person_of_the_tenant_who_is_no_guest_is_a_full_member(
    directory: TeamsDirectory, connector: RosterConnector, member: TeamsMember, is_guest: bool
) -> None:
    connector.rosters[personal_chat_of(member)] = [member]

    refreshed = await directory.refresh_private_audience(audience_of(member))

    assert (refreshed.is_guest, refreshed.is_deactivated, refreshed.subjects) == (is_guest, False, frozenset())


async def test_the_profile_is_the_name_and_leaves_locale_and_time_zone_to_the_message(
    directory: TeamsDirectory,
) -> None:
    profile = await directory.load_person_profile(person_of(ADA))

    assert profile is not None
    assert (profile.name, profile.locale, profile.time_zone) == ("Ada Lovelace", None, None)


async def test_only_the_address_of_a_full_member_is_verified(directory: TeamsDirectory) -> None:
    profiles = [await directory.load_person_profile(person_of(member)) for member in (ADA, GUEST, STRANGER)]

    assert [profile and profile.verified_email for profile in profiles] == ["ada@example.org", "", ""]


async def test_a_person_missing_in_their_own_personal_chat_has_left(
    directory: TeamsDirectory, connector: RosterConnector
) -> None:
    connector.rosters[personal_chat_of(ADA)] = []

    refreshed = await directory.refresh_private_audience(audience_of(ADA))

    assert (refreshed.is_guest, refreshed.is_deactivated) == (True, True)
    assert await directory.is_channel_reader(person_of(ADA), GENERAL) is False


async def test_a_person_missing_in_a_group_chat_is_unknown_and_not_deactivated(
    directory: TeamsDirectory, connector: RosterConnector, addresses: NotedAddresses
) -> None:
    addresses.addresses.clear()
    addresses.note_turn(ADA, address_of(ADA, CHAT, ConversationKind.GROUP_CHAT))
    connector.rosters[CHAT] = [BOB]

    refreshed = await directory.refresh_private_audience(audience_of(ADA))

    assert (refreshed.is_guest, refreshed.is_deactivated) == (True, False)


async def test_without_a_personal_chat_the_newest_conversation_of_the_person_tells(
    directory: TeamsDirectory, connector: RosterConnector, addresses: NotedAddresses
) -> None:
    addresses.addresses.clear()
    addresses.note_turn(ADA, address_of(ADA, "19:old@thread.v2", ConversationKind.GROUP_CHAT))
    addresses.note_turn(ADA, address_of(ADA, CHAT, ConversationKind.GROUP_CHAT))
    connector.rosters[CHAT] = [ADA]

    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest


async def test_the_personal_chat_tells_also_where_a_channel_is_newer(
    directory: TeamsDirectory, connector: RosterConnector
) -> None:
    connector.rosters[CHANNEL] = [replace(ADA, role="guest")]

    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest


async def test_calls_go_to_the_newest_service_url_of_the_conversation(
    directory: TeamsDirectory, connector: RosterConnector, addresses: NotedAddresses
) -> None:
    connector.served_url = "https://smba.example/amer/"
    channel = ChannelAudience(channel=GENERAL, outsiders=OutsiderPresence.NONE)
    assert (await directory.refresh_private_audience(audience_of(ADA))).is_guest

    for conversation in (personal_chat_of(ADA), CHANNEL):
        addresses.newer_urls[conversation] = connector.served_url

    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest
    assert (await directory.refresh_channel_audience(channel)).outsiders is OutsiderPresence.NONE


async def test_a_person_who_never_wrote_is_unknown_until_they_do(
    directory: TeamsDirectory, addresses: NotedAddresses, connector: RosterConnector
) -> None:
    addresses.addresses.clear()

    assert (await directory.refresh_private_audience(audience_of(ADA))).is_guest
    assert await directory.load_person_profile(person_of(ADA)) is None
    assert connector.calls == {}
    directory.note_address(person_of(ADA), personal_address_of(ADA))
    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest


@pytest.mark.parametrize(
    "failure", [TeamsUnreachable(), TeamsThrottled(30), TeamsRefusal(403, "BotNotInConversationRoster")]
)
async def test_a_failure_is_unknown_and_is_not_cached(
    directory: TeamsDirectory, connector: RosterConnector, failure: TeamsUnreachable
) -> None:
    connector.failure = failure

    refreshed = await directory.refresh_private_audience(audience_of(ADA))
    channel = await directory.refresh_channel_audience(
        ChannelAudience(channel=GENERAL, outsiders=OutsiderPresence.NONE)
    )

    assert (refreshed.is_guest, refreshed.is_deactivated, refreshed.subjects) == (True, False, frozenset())
    assert channel.outsiders is OutsiderPresence.UNKNOWN
    assert await directory.is_channel_reader(person_of(ADA), GENERAL) is None
    connector.failure = None
    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest


async def test_an_answer_about_another_person_says_nothing(
    directory: TeamsDirectory, connector: RosterConnector
) -> None:
    connector.rosters[personal_chat_of(ADA)] = [replace(BOB, id=ADA.object_id)]

    refreshed = await directory.refresh_private_audience(audience_of(ADA))

    assert (refreshed.is_guest, refreshed.is_deactivated) == (True, False)


@pytest.mark.parametrize("person", [person_id_of(OTHER_TENANT, ADA.object_id), PersonId("teams:x:y")])
async def test_a_person_of_a_tenant_that_is_not_served_is_a_guest_and_is_not_looked_up(
    directory: TeamsDirectory, connector: RosterConnector, person: PersonId
) -> None:
    directory.note_address(person, personal_address_of(ADA))

    assert (await directory.refresh_private_audience(PrivateAudience(person=person))).is_guest
    assert connector.calls == {}


@pytest.mark.parametrize(
    ("members", "outsiders"),
    [
        ([ADA, BOB], OutsiderPresence.NONE),
        ([ADA, GUEST], OutsiderPresence.SOME),
        ([ADA, STRANGER], OutsiderPresence.SOME),
        ([ADA, replace(BOB, role="")], OutsiderPresence.SOME),
        ([], OutsiderPresence.UNKNOWN),
        ([ADA] * (MAX_READERS + 1), OutsiderPresence.UNKNOWN),
    ],
)
async def test_one_guest_or_stranger_among_the_members_makes_a_channel_open_to_outsiders(
    directory: TeamsDirectory, connector: RosterConnector, members: list[TeamsMember], outsiders: OutsiderPresence
) -> None:
    connector.rosters[CHANNEL] = members
    stored = ChannelAudience(
        channel=GENERAL, outsiders=OutsiderPresence.UNKNOWN, also_known_as=frozenset({channel_subject_of(TENANT, "x")})
    )

    refreshed = await directory.refresh_channel_audience(stored)

    assert refreshed == replace(stored, outsiders=outsiders)


async def test_people_of_every_accepted_tenant_belong_to_the_organisation(
    connector: RosterConnector, addresses: NotedAddresses, clock: Clock
) -> None:
    connector.rosters[CHANNEL] = [ADA, STRANGER]
    directory = TeamsDirectory(
        calls=connector,
        addresses=addresses,
        service_urls=addresses,
        accepted_tenants=[TENANT, OTHER_TENANT],
        clock=clock,
        log=structlog.get_logger(),
    )

    channel = await directory.refresh_channel_audience(
        ChannelAudience(channel=GENERAL, outsiders=OutsiderPresence.UNKNOWN)
    )

    assert channel.outsiders is OutsiderPresence.NONE
    assert not (await directory.refresh_private_audience(audience_of(STRANGER))).is_guest


async def test_a_channel_that_nobody_wrote_in_has_unknown_readers(directory: TeamsDirectory) -> None:
    channel = channel_subject_of(TENANT, "19:quiet@thread.tacv2")

    refreshed = await directory.refresh_channel_audience(
        ChannelAudience(channel=channel, outsiders=OutsiderPresence.NONE)
    )

    assert refreshed.outsiders is OutsiderPresence.UNKNOWN
    assert await directory.is_channel_reader(person_of(ADA), channel) is None


async def test_who_is_no_member_of_the_channel_does_not_read_it(directory: TeamsDirectory) -> None:
    assert await directory.is_channel_reader(person_of(ADA), GENERAL) is True
    assert await directory.is_channel_reader(person_of(GUEST), GENERAL) is False


async def test_look_ups_are_shared_and_cached_for_a_minute(
    directory: TeamsDirectory, connector: RosterConnector, clock: Clock
) -> None:
    channel = ChannelAudience(channel=GENERAL, outsiders=OutsiderPresence.NONE)
    await asyncio.gather(*[directory.refresh_private_audience(audience_of(ADA)) for _ in range(5)])
    await asyncio.gather(*[directory.refresh_channel_audience(channel) for _ in range(5)])
    assert connector.calls == {"member": 1, "members": 1}

    clock.now += timedelta(seconds=61)
    connector.rosters[CHANNEL].append(GUEST)

    assert (await directory.refresh_channel_audience(channel)).outsiders is OutsiderPresence.SOME


async def test_a_reported_change_of_members_counts_at_once(
    directory: TeamsDirectory, connector: RosterConnector
) -> None:
    channel = ChannelAudience(channel=GENERAL, outsiders=OutsiderPresence.NONE)
    assert (await directory.refresh_channel_audience(channel)).outsiders is OutsiderPresence.NONE
    assert await directory.is_channel_reader(person_of(GUEST), GENERAL) is False
    connector.rosters[CHANNEL].append(GUEST)

    directory.forget_members()

    assert (await directory.refresh_channel_audience(channel)).outsiders is OutsiderPresence.SOME
    assert await directory.is_channel_reader(person_of(GUEST), GENERAL) is True


async def test_the_stored_turns_tell_after_a_restart_where_to_look(
    bot: Application, connector: RosterConnector, clock: Clock
) -> None:
    thread = address_of(ADA, IN_THREAD, ConversationKind.CHANNEL)
    for address in (personal_address_of(ADA), thread):
        driver = ConversationDriver(
            bot, person=person_of(ADA), surface="teams", conversation=f"teams:{TENANT}:{address.conversation}"
        )
        inbound = driver.build_inbound(TextMessage("hello"))
        await bot.accept_inbound(replace(inbound, address=address.to_mapping(), received_at=datetime.now(UTC)))

    directory = TeamsDirectory(
        calls=connector,
        addresses=KnownAddresses("teams", bot.database),
        service_urls=NotedAddresses(),
        accepted_tenants=[TENANT],
        clock=clock,
        log=structlog.get_logger(),
    )

    assert not (await directory.refresh_private_audience(audience_of(ADA))).is_guest
    assert await directory.is_channel_reader(person_of(ADA), GENERAL) is True
    assert (await directory.refresh_private_audience(audience_of(BOB))).is_guest
