"""The person whom a card is for."""

from dataclasses import dataclass
from datetime import tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

from adapters.teams.addresses import TeamsAddress
from adapters.teams.events.received_activity import ReceivedActivity
from bot.admin.person_names import ProfileSource
from bot.ids import PersonId


class AdminDirectory(ProfileSource, Protocol):
    """Fulfilled by `adapters.teams.directory.teams_directory.TeamsDirectory`."""

    def note_address(self, person: PersonId, address: TeamsAddress) -> None:
        """Remembers where the person has just written."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CardViewer:
    person: PersonId
    tenant: str  # in which people and channels without a tenant are meant
    time_zone: tzinfo


def viewer_of(received: ReceivedActivity) -> CardViewer:
    return CardViewer(person=received.person, tenant=received.address.tenant, time_zone=ZoneInfo(received.time_zone))
