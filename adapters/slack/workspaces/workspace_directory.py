"""Looks up a workspace's people, channel members and user groups.

Results are cached for at most a minute and invalidated as soon as Slack reports a change.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from structlog.typing import FilteringBoundLogger

from adapters.slack.errors import SlackError, SlackRefusal, SlackUnreachable
from adapters.slack.payloads.responses import (
    BotIdentity,
    ChannelInfo,
    ChannelInfoResponse,
    ChannelMembersResponse,
    SlackUser,
    UsergroupInfo,
    UsergroupListResponse,
    UserInfoResponse,
    UserListResponse,
)
from adapters.slack.posting.api import SlackApi
from bot.ids import PersonId, Subject
from bot.surface.inbound import OutsiderPresence
from bot.surface.lookup_cache import SingleFlightTtlCache

CACHE_TTL: Final = timedelta(seconds=60)
MAX_READERS: Final = 10_000  # members of a channel or people of a workspace; more count as unknown
MAX_SINGLE_LOOKUPS: Final = 20  # people looked up one by one; for more, the whole list is loaded
MAX_UNLISTED_USERS: Final = 100  # people that the list may lack; they are looked up one by one
MAX_CONCURRENT_LOOKUPS: Final = 20
PAGE_SIZE: Final = 999  # Slack's maximum
MAX_WORKSPACES: Final = 20  # workspaces of an Enterprise Grid searched for a person's user groups
LOOKUP_TIMEOUT_S: Final = 1.5  # for one answer of Slack
READERS_TIMEOUT_S: Final = 20.0  # for all readers of a channel, which come in pages

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPerson:
    """A user as Slack describes them. `is_guest` is also true for a person of another organisation."""

    account_id: str  # the person's Enterprise Grid, else their workspace
    name: str
    locale: str
    time_zone: str
    is_guest: bool
    is_deactivated: bool
    team_ids: frozenset[str] = frozenset()  # the person's workspaces in an Enterprise Grid
    verified_email: str = ""  # of a full member, who has confirmed it; empty without the scope `users:read.email`

    def is_member_of(self, team: str) -> bool:
        """Whether the person is a full member of that workspace, who may read its public channels."""
        return not self.is_guest and not self.is_deactivated and team in {self.account_id, *self.team_ids}


class WorkspaceDirectory:
    """The people and channels of the one workspace (or Enterprise Grid) that the token is for."""

    def __init__(
        self,
        api: SlackApi,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
        identity: BotIdentity | None = None,
    ) -> None:
        """`identity`: the installation, if it is known already."""
        self._api, self._clock, self._log = api, clock, log
        self._user_cache = SingleFlightTtlCache[str, SlackUser](self._fetch_user, clock, CACHE_TTL)
        self._user_list_cache = SingleFlightTtlCache[str, None](
            self._fetch_all_users, clock, CACHE_TTL
        )  # by workspace; the fetch puts the users in `_user_cache`
        self._channel_cache = SingleFlightTtlCache[str, ChannelInfo](self._fetch_channel, clock, CACHE_TTL)
        self._member_cache = SingleFlightTtlCache[str, Sequence[str] | None](
            self._fetch_channel_members, clock, CACHE_TTL
        )
        self._usergroup_cache = SingleFlightTtlCache[str, Mapping[str, frozenset[Subject]]](
            self._fetch_group_memberships, clock, CACHE_TTL
        )
        self._warned_of_scope = False
        self._identity = identity
        self._identity_lock = asyncio.Lock()

    async def load_bot_identity(self) -> BotIdentity:
        """Returns the bot's own identity. Calls Slack at most once. Raises `SlackError`."""
        async with self._identity_lock:
            if self._identity is None:
                self._identity = await self._api.call_method(BotIdentity, "auth.test")
            return self._identity

    # -- people

    async def load_person(self, user: str) -> SlackPerson | None:
        """Returns a person; None where Slack does not answer in time.

        Raises `SlackError` only when the bot's own identity cannot be loaded.
        """
        identity = await self.load_bot_identity()
        try:
            return _person_from_user(await self._user_cache.get(user), identity)
        except SlackError as exc:
            self._log.warning("slack person unknown", user=user, reason=type(exc).__name__)
            return None

    async def person_id_of(self, user: str, team: str | None) -> PersonId:
        """Returns a person's id. `team`: the person's team in the delivery.

        On an Enterprise Grid the id contains the Grid instead, which may take a lookup. Raises `SlackError` when the
        bot's own identity cannot be loaded.
        """
        identity = await self.load_bot_identity()
        if identity.enterprise_id is None:
            return PersonId(f"slack:{team or identity.team_id}:{user}")
        person = await self.load_person(user)
        return PersonId(f"slack:{person.account_id if person else identity.enterprise_id}:{user}")

    async def account_ids_of(self, person: SlackPerson) -> frozenset[str]:
        """Returns the account ids that the person's id may contain: on an Enterprise Grid, also its workspaces.

        Raises `SlackError` when the bot's own identity cannot be loaded.
        """
        identity = await self.load_bot_identity()
        if identity.enterprise_id is None or person.account_id != identity.enterprise_id:
            return frozenset({person.account_id})
        return frozenset({person.account_id, identity.team_id, *person.team_ids})

    async def load_user_groups(self, user: str, person: SlackPerson) -> frozenset[Subject]:
        """Returns the person's user groups; none where Slack does not answer."""
        identity = await self.load_bot_identity()
        teams = sorted(person.team_ids)[:MAX_WORKSPACES] if identity.is_enterprise_install else [identity.team_id]
        groups: frozenset[Subject] = frozenset()
        for team in teams:
            try:
                groups |= (await self._usergroup_cache.get(team)).get(user, frozenset())
            except SlackError as exc:
                self._log.warning("slack user groups unknown", team=team, reason=type(exc).__name__)
        return groups

    # -- channels

    async def find_channel_outsiders(self, channel: str) -> OutsiderPresence:
        """Returns whether guests or people of other organisations read the channel; `UNKNOWN` if Slack fails."""
        try:
            async with asyncio.timeout(READERS_TIMEOUT_S):
                return await self._find_outsiders_unbounded(channel)
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack readers unknown", channel=channel, reason=type(exc).__name__)
            return OutsiderPresence.UNKNOWN

    async def is_channel_reader(self, user: str, channel: str, *, is_workspace_member: bool) -> bool | None:
        """Whether the user can read the channel; None if unknown.

        `is_workspace_member`: the user is a member of the channel's workspace, who can read its public channels.
        """
        try:
            async with asyncio.timeout(READERS_TIMEOUT_S):
                if is_workspace_member and (await self._channel_cache.get(channel)).is_public:
                    return True
                members = await self._member_cache.get(channel)
        except (SlackError, TimeoutError) as exc:
            self._log.warning("slack member unknown", channel=channel, reason=type(exc).__name__)
            return None
        return None if members is None else user in members

    async def _find_outsiders_unbounded(self, channel: str) -> OutsiderPresence:
        if (await self._channel_cache.get(channel)).is_open_to_others:
            return OutsiderPresence.SOME
        members = await self._member_cache.get(channel)
        readers = None if members is None else await self._load_channel_readers(members)
        if readers is None:
            self._log.warning("slack readers unknown", channel=channel, reason="too many of them")
            return OutsiderPresence.UNKNOWN
        identity = await self.load_bot_identity()
        return OutsiderPresence.SOME if any(_is_outsider(user, identity) for user in readers) else OutsiderPresence.NONE

    async def _load_channel_readers(self, members: Sequence[str]) -> list[SlackUser] | None:
        """Returns the members as users; None if too many would need single lookups. Raises `SlackError`."""
        if len(self._uncached_users(members)) > MAX_SINGLE_LOOKUPS:
            await self._cache_all_users()
            if len(self._uncached_users(members)) > MAX_UNLISTED_USERS:
                return None
        return await self._load_users(members)

    async def _cache_all_users(self) -> None:
        """Cache all users of the workspace. After a refusal, users are looked up one by one."""
        try:
            await self._user_list_cache.get((await self.load_bot_identity()).team_id)
        except SlackRefusal as exc:
            self._log.warning("slack people not listed", reason=exc.error)

    def _uncached_users(self, members: Iterable[str]) -> list[str]:
        return [user for user in members if not self._user_cache.has_fresh_value(user)]

    # -- invalidation

    def forget_person(self, user: str) -> None:
        self._user_cache.invalidate_key(user)

    def forget_channel(self, channel: str) -> None:
        self._channel_cache.invalidate_key(channel)
        self._member_cache.invalidate_key(channel)

    def forget_groups(self) -> None:
        """Invalidate the groups of every workspace, because an event may not name the workspace."""
        self._usergroup_cache.invalidate_all()

    # -- calls to Slack, each with a timeout; all failures raise `SlackError`

    async def _fetch_user(self, user: str) -> SlackUser:
        arguments = {"user": user, "include_locale": True}
        return (await _within_lookup_timeout(self._api.call_method(UserInfoResponse, "users.info", arguments))).user

    async def _fetch_all_users(self, team: str) -> None:
        """Fetch up to `MAX_READERS` users of the workspace into the cache. Slack's list includes deactivated users."""
        team_arguments = {"team_id": team} if (await self.load_bot_identity()).is_enterprise_install else {}
        cursor, count = "", 0
        while count < MAX_READERS:
            mark, now = self._user_cache.current_invalidation_mark(), self._clock()
            arguments = {"limit": PAGE_SIZE, "include_locale": True, **team_arguments, **_cursor_argument(cursor)}
            page = await self._api.call_method(UserListResponse, "users.list", arguments)
            for user in page.members:
                self._user_cache.put_fetched_value(user.id, user, mark, now)
            cursor, count = page.next_cursor, count + len(page.members)
            if not cursor:
                return

    async def _fetch_channel(self, channel: str) -> ChannelInfo:
        return (
            await _within_lookup_timeout(
                self._api.call_method(ChannelInfoResponse, "conversations.info", {"channel": channel})
            )
        ).channel

    async def _fetch_channel_members(self, channel: str) -> Sequence[str] | None:
        """Fetch the channel's members; None if they are more than `MAX_READERS`."""
        members: list[str] = []
        cursor = ""
        while len(members) <= MAX_READERS:
            arguments = {"channel": channel, "limit": PAGE_SIZE, **_cursor_argument(cursor)}
            page = await _within_lookup_timeout(
                self._api.call_method(ChannelMembersResponse, "conversations.members", arguments)
            )
            members += page.members
            cursor = page.next_cursor
            if not cursor:
                return members if len(members) <= MAX_READERS else None
        return None

    async def _fetch_group_memberships(self, team: str) -> Mapping[str, frozenset[Subject]]:
        """Fetch the user groups of one workspace, by user. Empty without the scope."""
        team_arguments = {"team_id": team} if (await self.load_bot_identity()).is_enterprise_install else {}
        try:
            response = await _within_lookup_timeout(
                self._api.call_method(
                    UsergroupListResponse, "usergroups.list", {"include_users": True, **team_arguments}
                )
            )
        except SlackRefusal as exc:
            if exc.error != "missing_scope":
                raise
            self._warn_of_missing_scope()
            return {}
        return _groups_by_user(team, response.usergroups)

    def _warn_of_missing_scope(self) -> None:
        if not self._warned_of_scope:
            self._warned_of_scope = True
            self._log.warning("slack user groups are not read", reason="the scope usergroups:read is missing")

    async def _load_users(self, users: Sequence[str]) -> list[SlackUser]:
        """Load the users concurrently, with a bound. Raises the first `SlackError`."""
        semaphore = asyncio.Semaphore(MAX_CONCURRENT_LOOKUPS)

        async def load_or_error(user: str) -> SlackUser | SlackError:
            async with semaphore:
                try:
                    return await self._user_cache.get(user)
                except SlackError as exc:
                    return exc

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(load_or_error(user)) for user in users]
        loaded: list[SlackUser] = []
        for task in tasks:
            match task.result():
                case SlackError() as error:
                    raise error
                case user:
                    loaded.append(user)
        return loaded


async def _within_lookup_timeout(answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(LOOKUP_TIMEOUT_S):
            return await answer
    except TimeoutError as exc:
        raise SlackUnreachable("Slack takes too long") from exc


def _cursor_argument(cursor: str) -> dict[str, Any]:
    return {"cursor": cursor} if cursor else {}


def _groups_by_user(team: str, groups: Iterable[UsergroupInfo]) -> Mapping[str, frozenset[Subject]]:
    groups_by_user: dict[str, frozenset[Subject]] = {}
    for group in groups:
        subject = Subject(f"group:slack:{team}:{group.id}")
        for user in group.users:
            groups_by_user[user] = groups_by_user.get(user, frozenset()) | {subject}
    return groups_by_user


def _person_from_user(user: SlackUser, identity: BotIdentity) -> SlackPerson:
    is_guest = _is_outsider(user, identity)
    return SlackPerson(
        account_id=_account_id_of(user) or identity.enterprise_id or identity.team_id,
        name=user.profile.display_name or user.profile.real_name or user.name or user.id,
        locale=user.locale,
        time_zone=user.tz or "UTC",
        is_guest=is_guest,
        is_deactivated=user.deleted,
        verified_email=user.profile.email if user.is_email_confirmed and not is_guest else "",
        team_ids=frozenset(user.enterprise_user.teams if user.enterprise_user else ()),
    )


def _account_id_of(user: SlackUser) -> str | None:
    """Returns the user's Enterprise Grid, else their workspace: the second part of a person's id."""
    return user.enterprise_user.enterprise_id if user.enterprise_user else user.team_id


def _is_outsider(user: SlackUser, identity: BotIdentity) -> bool:
    if user.is_restricted or user.is_ultra_restricted or user.is_stranger or user.deleted:
        return True
    return _account_id_of(user) not in {identity.enterprise_id or identity.team_id, identity.team_id}
