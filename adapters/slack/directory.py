"""Who is who in the workspace, who reads a channel, who is in which user group: looked up when needed, kept for a
minute at most, and forgotten as soon as Slack says that it has changed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from pydantic import BaseModel, Field
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.errors import SlackFailed, SlackRefused, SlackUnreachable
from adapters.slack.recent import Recent
from bot.ids import PersonId, Subject
from bot.inbound import Outsiders

KEPT: Final = timedelta(seconds=60)
READERS: Final = 10_000  # members of a channel, and people of a workspace, that are looked through; beyond: unknown
ONE_BY_ONE: Final = 20  # people that are asked for singly; more are looked for in the list of all
STRAGGLERS: Final = 100  # of those that are not in that list
SIDE_BY_SIDE: Final = 20
PAGE: Final = 999  # Slack's most
WORKSPACES: Final = 20  # of an Enterprise Grid, in which one person's user groups are looked for
LOOK_UP_S: Final = 1.5  # one answer of Slack's
READERS_S: Final = 20.0  # all readers of a channel, who come in pages

T = TypeVar("T")


class AuthTest(BaseModel):
    """The installation that the token belongs to."""

    team_id: str
    user_id: str
    bot_id: str | None = None
    enterprise_id: str | None = None
    is_enterprise_install: bool = False


class _Profile(BaseModel):
    display_name: str = ""
    real_name: str = ""


class _EnterpriseUser(BaseModel):
    enterprise_id: str
    teams: list[str] = []


class User(BaseModel):
    id: str
    team_id: str | None = None
    name: str = ""
    locale: str = "en-US"
    tz: str | None = None
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    profile: _Profile = _Profile()
    enterprise_user: _EnterpriseUser | None = None


class _UsersInfo(BaseModel):
    user: User


class _Cursor(BaseModel):
    next_cursor: str = ""


class _Page(BaseModel):
    response_metadata: _Cursor = Field(default_factory=_Cursor)

    @property
    def next(self) -> str:
        return self.response_metadata.next_cursor


class _UsersList(_Page):
    members: list[User]


class _Channel(BaseModel):
    """What is asked of it: whether it is public, and whether it is shared with others, or offered to them."""

    is_channel: bool = False
    is_private: bool = True
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False
    pending_shared: list[str] = []
    pending_connected_team_ids: list[str] = []

    @property
    def is_open_to_others(self) -> bool:
        pending = self.pending_shared or self.pending_connected_team_ids
        return self.is_ext_shared or self.is_pending_ext_shared or bool(pending)

    @property
    def is_public(self) -> bool:
        return self.is_channel and not self.is_private


class _Info(BaseModel):
    channel: _Channel


class _Members(_Page):
    members: list[str]


class _Usergroup(BaseModel):
    id: str
    users: list[str] = []


class _Usergroups(BaseModel):
    usergroups: list[_Usergroup]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user as Slack describes them. `guest`: or of another organisation; `gone`: deactivated."""

    home: str  # their Enterprise Grid, else their workspace
    name: str
    locale: str
    time_zone: str
    guest: bool
    gone: bool
    teams: frozenset[str] = frozenset()  # the workspaces of an Enterprise Grid that they are in

    def works_in(self, team: str) -> bool:
        """A full member of that workspace, who may look into its public channels."""
        return not self.guest and not self.gone and team in {self.home, *self.teams}


class Directory:
    """People and channels of the one workspace (or Enterprise Grid) that the token is for."""

    def __init__(
        self,
        api: SlackApi,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
        ours: AuthTest | None = None,
    ) -> None:
        """`ours`: the installation, where it is known already."""
        self._api, self._clock, self._log = api, clock, log
        self._users = Recent[str, User](self._user, clock, KEPT)
        self._everybody = Recent[str, None](self._listed, clock, KEPT)  # by workspace; they are put in `_users`
        self._channels = Recent[str, _Channel](self._channel, clock, KEPT)
        self._members = Recent[str, Sequence[str] | None](self._all_members, clock, KEPT)
        self._usergroups = Recent[str, Mapping[str, frozenset[Subject]]](self._groups_in, clock, KEPT)
        self._told_of_scope = False
        self._installation = ours
        self._asking = asyncio.Lock()

    async def installation(self) -> AuthTest:
        """Asked of Slack once at most. Raises `SlackFailed`."""
        async with self._asking:
            if self._installation is None:
                self._installation = await self._api.call(AuthTest, "auth.test")
            return self._installation

    # -- people

    async def person(self, user: str) -> Person | None:
        """None where Slack does not say in time. Raises `SlackFailed` only for our own ids."""
        ours = await self.installation()
        try:
            return _person(await self._users.get(user), ours)
        except SlackFailed as exc:
            self._log.warning("slack person unknown", user=user, reason=type(exc).__name__)
            return None

    async def person_id(self, user: str, team: str | None) -> PersonId:
        """`team` as the delivery has it: enough, but on an Enterprise Grid, where people are named after that.

        Raises `SlackFailed` for our own ids.
        """
        ours = await self.installation()
        if ours.enterprise_id is None:
            return PersonId(f"slack:{team or ours.team_id}:{user}")
        person = await self.person(user)
        return PersonId(f"slack:{person.home if person else ours.enterprise_id}:{user}")

    async def homes(self, person: Person) -> frozenset[str]:
        """What may stand for the person's home in their id: on an Enterprise Grid, its workspaces as well.

        Raises `SlackFailed` for our own ids.
        """
        ours = await self.installation()
        if ours.enterprise_id is None or person.home != ours.enterprise_id:
            return frozenset({person.home})
        return frozenset({person.home, ours.team_id, *person.teams})

    async def groups(self, user: str, person: Person) -> frozenset[Subject]:
        """The user groups that the person is in. Never raises for Slack: what cannot be told is none."""
        ours = await self.installation()
        teams = sorted(person.teams)[:WORKSPACES] if ours.is_enterprise_install else [ours.team_id]
        found: frozenset[Subject] = frozenset()
        for team in teams:
            try:
                found |= (await self._usergroups.get(team)).get(user, frozenset())
            except SlackFailed as exc:
                self._log.warning("slack user groups unknown", team=team, reason=type(exc).__name__)
        return found

    # -- channels

    async def outsiders(self, channel: str) -> Outsiders:
        """Whether guests or strangers read the channel. Never raises for Slack: what cannot be told is unknown."""
        try:
            async with asyncio.timeout(READERS_S):
                return await self._outsiders(channel)
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack readers unknown", channel=channel, reason=type(exc).__name__)
            return Outsiders.UNKNOWN

    async def reads(self, user: str, channel: str, *, anyone: bool) -> bool | None:
        """Whether the user reads the channel; `anyone` in its workspace does, where it is public. None for unknown."""
        try:
            async with asyncio.timeout(READERS_S):
                if anyone and (await self._channels.get(channel)).is_public:
                    return True
                members = await self._members.get(channel)
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack member unknown", channel=channel, reason=type(exc).__name__)
            return None
        return None if members is None else user in members

    async def _outsiders(self, channel: str) -> Outsiders:
        if (await self._channels.get(channel)).is_open_to_others:
            return Outsiders.SOME
        members = await self._members.get(channel)
        readers = None if members is None else await self._readers(members)
        if readers is None:
            self._log.warning("slack readers unknown", channel=channel, reason="too many of them")
            return Outsiders.UNKNOWN
        ours = await self.installation()
        return Outsiders.SOME if any(_is_outsider(user, ours) for user in readers) else Outsiders.NONE

    async def _readers(self, members: Sequence[str]) -> list[User] | None:
        """None for too many that only Slack could tell one by one. Raises `SlackFailed`."""
        if len(self._unknown(members)) > ONE_BY_ONE:
            await self._look_at_everybody()
            if len(self._unknown(members)) > STRAGGLERS:
                return None
        return await self._all(members)

    async def _look_at_everybody(self) -> None:
        """A refusal leaves them to be asked for singly."""
        try:
            await self._everybody.get((await self.installation()).team_id)
        except SlackRefused as exc:
            self._log.warning("slack people not listed", reason=exc.error)

    def _unknown(self, members: Iterable[str]) -> list[str]:
        return [user for user in members if not self._users.holds(user)]

    # -- what has changed

    def forget_person(self, user: str) -> None:
        self._users.drop(user)

    def forget_channel(self, channel: str) -> None:
        self._channels.drop(channel)
        self._members.drop(channel)

    def forget_groups(self) -> None:
        """Of every workspace: an event does not always say of which."""
        self._usergroups.clear()

    # -- asked of Slack, each within its time; `SlackFailed` for all that goes wrong

    async def _user(self, user: str) -> User:
        asked = {"user": user, "include_locale": True}
        return (await _in_time(self._api.call(_UsersInfo, "users.info", asked))).user

    async def _listed(self, team: str) -> None:
        """Everybody of the workspace, up to `READERS`; Slack's list has those who are gone, too."""
        named = {"team_id": team} if (await self.installation()).is_enterprise_install else {}
        cursor, found = "", 0
        while found < READERS:
            mark, now = self._users.mark(), self._clock()
            asked = {"limit": PAGE, "include_locale": True, **named, **_after(cursor)}
            page = await self._api.call(_UsersList, "users.list", asked)
            for user in page.members:
                self._users.put(user.id, user, mark, now)
            cursor, found = page.next, found + len(page.members)
            if not cursor:
                return

    async def _channel(self, channel: str) -> _Channel:
        return (await _in_time(self._api.call(_Info, "conversations.info", {"channel": channel}))).channel

    async def _all_members(self, channel: str) -> Sequence[str] | None:
        """None beyond `READERS`."""
        members: list[str] = []
        cursor = ""
        while len(members) <= READERS:
            asked = {"channel": channel, "limit": PAGE, **_after(cursor)}
            page = await _in_time(self._api.call(_Members, "conversations.members", asked))
            members += page.members
            cursor = page.next
            if not cursor:
                return members if len(members) <= READERS else None
        return None

    async def _groups_in(self, team: str) -> Mapping[str, frozenset[Subject]]:
        """By user, those of one workspace. Without the scope there are none."""
        named = {"team_id": team} if (await self.installation()).is_enterprise_install else {}
        try:
            answer = await _in_time(self._api.call(_Usergroups, "usergroups.list", {"include_users": True, **named}))
        except SlackRefused as exc:
            if exc.error != "missing_scope":
                raise
            self._tell_of_scope()
            return {}
        return _by_user(team, answer.usergroups)

    def _tell_of_scope(self) -> None:
        if not self._told_of_scope:
            self._told_of_scope = True
            self._log.warning("slack user groups are not read", reason="the scope usergroups:read is missing")

    async def _all(self, users: Sequence[str]) -> list[User]:
        """Side by side, not too many at once. Raises the first `SlackFailed`."""
        gate = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(user: str) -> User | SlackFailed:
            async with gate:
                try:
                    return await self._users.get(user)
                except SlackFailed as exc:
                    return exc

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(user)) for user in users]
        found: list[User] = []
        for task in tasks:
            match task.result():
                case SlackFailed() as failed:
                    raise failed
                case user:
                    found.append(user)
        return found


async def _in_time(answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(LOOK_UP_S):
            return await answer
    except TimeoutError as exc:
        raise SlackUnreachable("Slack takes too long") from exc


def _after(cursor: str) -> dict[str, Any]:
    return {"cursor": cursor} if cursor else {}


def _by_user(team: str, groups: Iterable[_Usergroup]) -> Mapping[str, frozenset[Subject]]:
    found: dict[str, frozenset[Subject]] = {}
    for group in groups:
        subject = Subject(f"group:slack:{team}:{group.id}")
        for user in group.users:
            found[user] = found.get(user, frozenset()) | {subject}
    return found


def _person(user: User, ours: AuthTest) -> Person:
    return Person(
        home=_home_of(user) or ours.enterprise_id or ours.team_id,
        name=user.profile.display_name or user.profile.real_name or user.name or user.id,
        locale=user.locale,
        time_zone=user.tz or "UTC",
        guest=_is_outsider(user, ours),
        gone=user.deleted,
        teams=frozenset(user.enterprise_user.teams if user.enterprise_user else ()),
    )


def _home_of(user: User) -> str | None:
    """The Enterprise Grid of the user, else their workspace: the second part of a person's id."""
    return user.enterprise_user.enterprise_id if user.enterprise_user else user.team_id


def _is_outsider(user: User, ours: AuthTest) -> bool:
    if user.is_restricted or user.is_ultra_restricted or user.is_stranger or user.deleted:
        return True
    return _home_of(user) not in {ours.enterprise_id or ours.team_id, ours.team_id}
