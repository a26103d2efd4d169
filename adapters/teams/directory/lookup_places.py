"""The conversations in which people and channels are looked up: Teams describes people only within a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from cachetools import LRUCache

from adapters.teams.addresses import TeamsAddress, conversation_id_of
from adapters.teams.posting.protocols import ServiceUrlSource
from bot.ids import ConversationId, PersonId

_MAX_NOTED_PEOPLE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupPlace:
    """A conversation, and where its calls go. Whoever is missing in a personal conversation has left the
    organisation; whoever is missing elsewhere may have left that conversation alone.
    """

    service_url: str
    conversation: str
    is_personal: bool


class AddressBook(Protocol):
    """Fulfilled by `bot.surface.known_addresses.KnownAddresses`."""

    async def list_addresses_of_person(self, person: PersonId) -> Sequence[Mapping[str, str]]:
        """Those of the person's newest turns, newest first."""
        ...

    async def find_newest_address(self, conversation: ConversationId) -> Mapping[str, str] | None:
        """That of the newest turn of the conversation or of a thread in it."""
        ...


class LookupPlaces:
    """Knows places from the stored turns, so that they are known after a restart and in worker processes too.

    Their calls go to the conversation's newest service URL, which may be newer than the turn.
    """

    def __init__(self, addresses: AddressBook, service_urls: ServiceUrlSource) -> None:
        self._addresses, self._service_urls = addresses, service_urls
        self._noted_places: LRUCache[PersonId, TeamsAddress] = LRUCache(_MAX_NOTED_PEOPLE)

    def note_address(self, person: PersonId, address: TeamsAddress) -> None:
        """Remembers where the person has just written, for as long as no turn of theirs is stored."""
        self._noted_places[person] = address

    async def find_place_of_person(self, person: PersonId) -> LookupPlace | None:
        """The person's newest personal conversation, else the newest in which they wrote; None where there is none."""
        stored = await self._addresses.list_addresses_of_person(person)
        addresses = [address for address in map(_parse_address, stored) if address is not None]
        personal = (address for address in addresses if address.is_personal)
        newest = next(personal, addresses[0] if addresses else self._noted_places.get(person))
        return None if newest is None else await self._place_of(newest)

    async def find_place_of_channel(self, tenant: str, channel: str) -> LookupPlace | None:
        """`channel`: the id of a channel or of a group chat. None where nobody has written there."""
        stored = await self._addresses.find_newest_address(conversation_id_of(tenant, channel))
        address = None if stored is None else _parse_address(stored)
        return None if address is None else await self._place_of(address)

    async def _place_of(self, address: TeamsAddress) -> LookupPlace:
        newest_url = await self._service_urls.find_service_url(address.tenant, address.conversation)
        return LookupPlace(
            service_url=newest_url or address.service_url,
            conversation=address.conversation.partition(";")[0],  # a thread has no members of its own
            is_personal=address.is_personal,
        )


def _parse_address(stored: Mapping[str, str]) -> TeamsAddress | None:
    try:
        return TeamsAddress.from_mapping(stored)
    except (KeyError, ValueError):
        return None
