"""The contract of `Directory`, for Slack, for Teams and for the fakes in `tests/bot`."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

import pytest
import structlog

from adapters.slack.app import SlackSurface
from adapters.teams.addresses import channel_subject_of, person_id_of
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.directory.teams_directory import TeamsDirectory
from bot.ids import PersonId, Subject
from bot.surface.directory import Directory
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience
from tests.adapters.slack.conftest import ada, api, bob, bot, general, pauses, slack, surface
from tests.adapters.teams.conftest import (
    access_tokens,
    address_in,
    alan,
    beth,
    connector,
    personal_chat,
    team_channel,
    teams,
    teams_settings,
    waits,
)
from tests.adapters.teams.rosters import NotedAddresses
from tests.bot.access.test_audience_scope import LookupCountingDirectory
from tests.bot.admin.test_administration import MembershipDirectory
from tests.bot.conversation.test_exports import ChangingDirectory
from tests.bot.fakes import Clock
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackChannel, SlackMember
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT as TEAMS_TENANT
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson

__all__ = [
    "access_tokens",
    "ada",
    "alan",
    "api",
    "beth",
    "bob",
    "bot",
    "connector",
    "general",
    "pauses",
    "personal_chat",
    "slack",
    "surface",
    "team_channel",
    "teams",
    "teams_settings",
    "waits",
]

_SLACK_LOOKUPS = ("users.info", "users.list", "conversations.info", "conversations.members", "usergroups.list")


class KnownPeople(Protocol):
    """A directory with one full member, who reads one channel."""

    directory: Directory
    person: PersonId
    channel: Subject


class ChangingPeople(KnownPeople, Protocol):
    def deactivate_person(self) -> None: ...


class SilencedPeople(KnownPeople, Protocol):
    def stop_answering(self) -> None: ...


@dataclass(frozen=True)
class FakePeople:
    directory: Directory
    person = PersonId("slack:T1:ANN")
    channel = Subject("channel:slack:T1:C1")


@dataclass(frozen=True)
class OfficePeople(FakePeople):
    directory: MembershipDirectory

    def deactivate_person(self) -> None:
        self.directory.deactivated.add(self.person)


@dataclass(frozen=True)
class ExportPeople(FakePeople):
    directory: ChangingDirectory

    def deactivate_person(self) -> None:
        self.directory.deactivated.add(self.person)

    def stop_answering(self) -> None:
        self.directory.is_silent = True


@dataclass(frozen=True)
class SlackPeople:
    directory: Directory
    server: SlackServer
    member: SlackMember
    room: SlackChannel

    @property
    def person(self) -> PersonId:
        return PersonId(f"slack:{TEAM}:{self.member.id}")

    @property
    def channel(self) -> Subject:
        return Subject(f"channel:slack:{TEAM}:{self.room.id}")

    def deactivate_person(self) -> None:
        self.server.workspace.add_user(replace(self.member, deleted=True))

    def stop_answering(self) -> None:
        for method in _SLACK_LOOKUPS:
            self.server.plan_faults(method, *[Fault(status=500)] * 20)


@dataclass(frozen=True)
class TeamsPeople:
    directory: Directory
    server: TeamsServer
    member: TenantPerson
    room: TenantConversation

    @property
    def person(self) -> PersonId:
        return person_id_of(TEAMS_TENANT, self.member.object_id)

    @property
    def channel(self) -> Subject:
        return channel_subject_of(TEAMS_TENANT, self.room.id)

    def deactivate_person(self) -> None:
        self.server.tenant.deactivate_person(self.member)

    def stop_answering(self) -> None:
        for call in ("member", "members"):
            self.server.plan_faults(call, *[TeamsFault(status=500)] * 20)


@pytest.fixture
def teams_people(
    teams: TeamsServer,
    connector: TeamsConnectorClient,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    team_channel: TenantConversation,
) -> TeamsPeople:
    """Alan has written in his chat with the app and in a channel."""
    addresses = NotedAddresses()
    directory = TeamsDirectory(
        calls=connector,
        addresses=addresses,
        service_urls=addresses,
        accepted_tenants=[TEAMS_TENANT],
        clock=Clock(datetime(2031, 5, 9, tzinfo=UTC)),
        log=structlog.get_logger(),
    )
    people = TeamsPeople(directory, teams, alan, team_channel)
    for conversation in (personal_chat, team_channel):
        addresses.addresses.append((people.person, address_in(teams, conversation, alan)))
    return people


@pytest.fixture
def counting_people() -> FakePeople:
    return FakePeople(LookupCountingDirectory())


@pytest.fixture
def office_people() -> OfficePeople:
    return OfficePeople(MembershipDirectory())


@pytest.fixture
def export_people() -> ExportPeople:
    return ExportPeople(ChangingDirectory())


@pytest.fixture
def slack_people(slack: SlackServer, surface: SlackSurface, ada: SlackMember, general: SlackChannel) -> SlackPeople:
    return SlackPeople(surface.directory, slack, ada, general)


@pytest.fixture(params=["slack", "teams", "office", "export", "counting"])
def known_people(request: pytest.FixtureRequest) -> KnownPeople:
    return request.getfixturevalue(f"{request.param}_people")


@pytest.fixture(params=["slack", "teams", "office", "export"])
def changing_people(request: pytest.FixtureRequest) -> ChangingPeople:
    return request.getfixturevalue(f"{request.param}_people")


@pytest.fixture(params=["slack", "teams", "export"])
def silenced_people(request: pytest.FixtureRequest) -> SilencedPeople:
    return request.getfixturevalue(f"{request.param}_people")


async def test_a_refreshed_person_is_the_same_person(known_people: KnownPeople) -> None:
    stored = PrivateAudience(person=known_people.person, is_guest=False)

    refreshed = await known_people.directory.refresh_private_audience(stored)

    assert (refreshed.person, refreshed.is_guest, refreshed.is_deactivated) == (stored.person, False, False)
    assert await known_people.directory.refresh_private_audience(refreshed) == refreshed


async def test_a_refreshed_channel_is_the_same_channel(known_people: KnownPeople) -> None:
    stored = ChannelAudience(channel=known_people.channel, outsiders=OutsiderPresence.NONE)

    refreshed = await known_people.directory.refresh_channel_audience(stored)

    assert refreshed.channel == stored.channel
    assert await known_people.directory.refresh_channel_audience(refreshed) == refreshed


async def test_a_member_of_a_channel_reads_it(known_people: KnownPeople) -> None:
    assert await known_people.directory.is_channel_reader(known_people.person, known_people.channel) is True


async def test_a_deactivated_person_is_reported_and_reads_no_channel(changing_people: ChangingPeople) -> None:
    changing_people.deactivate_person()
    stored = PrivateAudience(person=changing_people.person, is_guest=False)

    assert (await changing_people.directory.refresh_private_audience(stored)).is_deactivated
    assert await changing_people.directory.is_channel_reader(changing_people.person, changing_people.channel) is False


async def test_a_product_that_does_not_answer_says_unknown_and_raises_nothing(silenced_people: SilencedPeople) -> None:
    silenced_people.stop_answering()
    directory, person = silenced_people.directory, silenced_people.person

    assert await directory.is_channel_reader(person, silenced_people.channel) is None
    assert await directory.load_person_profile(person) is None
    refreshed = await directory.refresh_private_audience(PrivateAudience(person=person, is_guest=True))
    assert (refreshed.is_guest, refreshed.subjects) == (True, frozenset())
