"""Looks up the members of conversations. Answers are cached for at most a minute, failures are not."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from structlog.typing import FilteringBoundLogger

from adapters.teams.connector.calls import ConnectorCalls, TeamsMember
from adapters.teams.directory.lookup_places import LookupPlace
from adapters.teams.errors import TeamsError
from bot.surface.inbound import OutsiderPresence
from bot.surface.lookup_cache import SingleFlightTtlCache

CACHE_TTL: Final = timedelta(seconds=60)
MAX_READERS: Final = 10_000  # members of a channel; with more, its outsiders are unknown
MEMBER_TIMEOUT_S: Final = 5.0
READERS_TIMEOUT_S: Final = 20.0  # for all members of a channel, which come in pages
_GUEST_ROLES: Final = frozenset({"guest", "anonymous"})


class MembershipState(StrEnum):
    """What Teams says when a person is looked up in a conversation."""

    MEMBER = "member"
    ABSENT = "absent"
    UNKNOWN = "unknown"  # Teams does not answer


@dataclass(frozen=True, slots=True)
class MemberAnswer:
    """`member` is there for `MembershipState.MEMBER` alone."""

    state: MembershipState
    member: TeamsMember | None = None


@dataclass(frozen=True, slots=True)
class _MemberKey:
    place: LookupPlace
    object_id: str


class MemberLookup:
    """Calls that do not answer in time count as unanswered. Raises nothing of Teams'."""

    def __init__(
        self,
        calls: ConnectorCalls,
        accepted_tenants: Collection[str],
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._calls, self._log = calls, log
        self._accepted_tenants = frozenset(tenant.casefold() for tenant in accepted_tenants)
        self._members = SingleFlightTtlCache[_MemberKey, TeamsMember | None](self._fetch_member, clock, CACHE_TTL)
        self._outsiders = SingleFlightTtlCache[LookupPlace, OutsiderPresence](self._fetch_outsiders, clock, CACHE_TTL)

    def is_accepted(self, tenant: str) -> bool:
        """Whether the tenant belongs to the organisation."""
        return tenant.casefold() in self._accepted_tenants

    def is_full_member(self, member: TeamsMember) -> bool:
        """Whether the member belongs to the organisation: no guest, nobody of another tenant, and nobody whose role or
        tenant Teams leaves out.
        """
        role = member.role.casefold()
        return bool(role) and role not in _GUEST_ROLES and self.is_accepted(member.tenant)

    async def find_member(self, place: LookupPlace, object_id: str) -> MemberAnswer:
        try:
            async with asyncio.timeout(MEMBER_TIMEOUT_S):
                member = await self._members.get(_MemberKey(place, object_id))
        except (TeamsError, TimeoutError) as exc:
            self._log.warning("teams person unknown", reason=type(exc).__name__)
            return MemberAnswer(MembershipState.UNKNOWN)
        if member is None:
            return MemberAnswer(MembershipState.ABSENT)
        if member.object_id.casefold() != object_id.casefold():
            self._log.warning("teams person unknown", reason="Teams describes another person")
            return MemberAnswer(MembershipState.UNKNOWN)
        return MemberAnswer(MembershipState.MEMBER, member)

    async def find_outsiders(self, place: LookupPlace) -> OutsiderPresence:
        """Whether the place has members who are not full members."""
        try:
            async with asyncio.timeout(READERS_TIMEOUT_S):
                return await self._outsiders.get(place)
        except (TeamsError, TimeoutError) as exc:
            self._log.warning("teams readers unknown", reason=type(exc).__name__)
            return OutsiderPresence.UNKNOWN

    def forget_members(self) -> None:
        """Teams has reported a change of members: nothing cached counts any more, also what is being fetched."""
        self._members.invalidate_all()
        self._outsiders.invalidate_all()

    async def _fetch_member(self, key: _MemberKey) -> TeamsMember | None:
        return await self._calls.get_member(key.place.service_url, key.place.conversation, key.object_id)

    async def _fetch_outsiders(self, place: LookupPlace) -> OutsiderPresence:
        members = await self._calls.list_members(place.service_url, place.conversation)
        if not 0 < len(members) <= MAX_READERS:
            self._log.warning("teams readers unknown", reason="none or too many of them", count=len(members))
            return OutsiderPresence.UNKNOWN
        are_all_full = all(self.is_full_member(member) for member in members)
        return OutsiderPresence.NONE if are_all_full else OutsiderPresence.SOME
