"""Looks up people and channels of the tenants that the app serves. Fulfils `bot.surface.directory.Directory`."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import TeamsAddress
from adapters.teams.connector.calls import ConnectorCalls, TeamsMember
from adapters.teams.directory.lookup_places import AddressBook, LookupPlaces
from adapters.teams.directory.member_lookup import MemberLookup, MembershipState
from adapters.teams.posting.protocols import ServiceUrlSource
from bot.ids import PersonId, Subject
from bot.surface.directory import PersonProfile
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience


@dataclass(frozen=True, slots=True)
class _PersonStatus:
    """`member` None: Teams does not describe the person."""

    member: TeamsMember | None
    is_guest: bool
    is_deactivated: bool


_UNKNOWN_PERSON = _PersonStatus(member=None, is_guest=True, is_deactivated=False)
_FORMER_MEMBER = _PersonStatus(member=None, is_guest=True, is_deactivated=True)


class TeamsDirectory:
    """Teams tells of no groups of a person, so groups are Parley's own."""

    def __init__(
        self,
        *,
        calls: ConnectorCalls,
        addresses: AddressBook,
        service_urls: ServiceUrlSource,
        accepted_tenants: Collection[str],
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._places, self._lookup = (
            LookupPlaces(addresses, service_urls),
            MemberLookup(calls, accepted_tenants, clock, log),
        )

    async def load_person_profile(self, person: PersonId) -> PersonProfile | None:
        """Without locale and time zone, which Teams says with each message. The address is that of the tenant."""
        status = await self._find_status(person)
        if status.member is None or not status.member.name:
            return None
        return PersonProfile(name=status.member.name, verified_email="" if status.is_guest else status.member.email)

    async def refresh_private_audience(self, audience: PrivateAudience) -> PrivateAudience:
        """A guest, a person of another tenant and a person whom Teams does not describe count as guests. A person who
        is missing in their own personal conversation has left the organisation.
        """
        status = await self._find_status(audience.person)
        return replace(audience, is_guest=status.is_guest, is_deactivated=status.is_deactivated, subjects=frozenset())

    async def refresh_channel_audience(self, audience: ChannelAudience) -> ChannelAudience:
        tenant, channel = _parts_of_channel(audience.channel)
        place = await self._places.find_place_of_channel(tenant, channel) if self._lookup.is_accepted(tenant) else None
        if place is None:
            return replace(audience, outsiders=OutsiderPresence.UNKNOWN)
        return replace(audience, outsiders=await self._lookup.find_outsiders(place))

    async def is_channel_reader(self, person: PersonId, channel: Subject) -> bool | None:
        if (await self._find_status(person)).is_deactivated:
            return False
        place = await self._places.find_place_of_channel(*_parts_of_channel(channel))
        if place is None:
            return None
        _, object_id = _parts_of_person(person)
        match (await self._lookup.find_member(place, object_id)).state:
            case MembershipState.MEMBER:
                return True
            case MembershipState.ABSENT:
                return False
            case MembershipState.UNKNOWN:
                return None

    def note_address(self, person: PersonId, address: TeamsAddress) -> None:
        """Remembers where the person has just written. Needed before a look-up that no stored turn precedes."""
        self._places.note_address(person, address)

    def forget_members(self) -> None:
        """Teams has reported a change of members, somewhere: everybody is looked up again."""
        self._lookup.forget_members()

    async def _find_status(self, person: PersonId) -> _PersonStatus:
        tenant, object_id = _parts_of_person(person)
        place = await self._places.find_place_of_person(person) if self._lookup.is_accepted(tenant) else None
        if place is None:
            return _UNKNOWN_PERSON
        answer = await self._lookup.find_member(place, object_id)
        if answer.member is not None:
            is_guest = not self._lookup.is_full_member(answer.member)
            return _PersonStatus(member=answer.member, is_guest=is_guest, is_deactivated=False)
        has_left = answer.state is MembershipState.ABSENT and place.is_personal
        return _FORMER_MEMBER if has_left else _UNKNOWN_PERSON


def _parts_of_person(person: PersonId) -> tuple[str, str]:
    """The tenant and the object id."""
    _, tenant, object_id = person.split(":", 2)
    return tenant, object_id


def _parts_of_channel(channel: Subject) -> tuple[str, str]:
    """The tenant and the id of the channel or group chat."""
    _, _, tenant, channel_id = channel.split(":", 3)
    return tenant, channel_id
