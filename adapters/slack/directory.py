"""Who is who in the workspace, and who reads a channel: looked up when needed, kept for a minute at most."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, Field
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.errors import SlackFailed
from bot.ids import PersonId
from bot.inbound import Outsiders

KEPT: Final = timedelta(seconds=60)
READERS: Final = 100  # members looked at one by one; a larger channel counts as unknown
SIDE_BY_SIDE: Final = 20
LOOK_UP_S: Final = 1.5  # of the three seconds that Slack waits for an acknowledgement
ENTRIES: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")


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


class _Channel(BaseModel):
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False


class _ConversationsInfo(BaseModel):
    channel: _Channel


class _Cursor(BaseModel):
    next_cursor: str = ""


class _Members(BaseModel):
    members: list[str]
    response_metadata: _Cursor = Field(default_factory=_Cursor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user as Slack describes them. `guest`: or of another organisation; `gone`: deactivated."""

    home: str  # their Enterprise Grid, else their workspace
    name: str
    locale: str
    time_zone: str
    guest: bool
    gone: bool


class Recent(Generic[K, V]):
    """What was fetched within `kept`. Those who ask for one key at once share one fetch; failures are not kept."""

    def __init__(self, fetch: Callable[[K], Awaitable[V]], clock: Callable[[], datetime], kept: timedelta) -> None:
        self._fetch, self._clock, self._kept = fetch, clock, kept
        self._values: dict[K, tuple[datetime, V]] = {}
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()

    async def get(self, key: K) -> V:
        """Raises what the fetch raises."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._values.pop(key, None)
            if known is None or known[0] + self._kept <= self._clock():
                known = (self._clock(), await self._fetch(key))
            self._values[key] = known
            while len(self._values) > ENTRIES:
                del self._values[next(iter(self._values))]  # the one not asked for longest
            return known[1]


class Directory:
    """People and channels of the one workspace (or Enterprise Grid) that the token is for."""

    def __init__(self, api: SlackApi, clock: Callable[[], datetime], log: FilteringBoundLogger) -> None:
        self._api, self._log = api, log
        self._users = Recent[str, User](self._user, clock, KEPT)
        self._channels = Recent[str, Outsiders](self._outsiders, clock, KEPT)
        self._installation: AuthTest | None = None
        self._asking = asyncio.Lock()

    async def installation(self) -> AuthTest:
        """Asked of Slack once. Raises `SlackFailed`."""
        async with self._asking:
            if self._installation is None:
                self._installation = await self._api.call(AuthTest, "auth.test")
            return self._installation

    async def person(self, user: str) -> Person | None:
        """None where Slack does not say in time. Raises `SlackFailed` only for our own ids."""
        ours = await self.installation()
        try:
            async with asyncio.timeout(LOOK_UP_S):
                return _person(await self._users.get(user), ours)
        except (SlackFailed, TimeoutError) as exc:
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

    async def outsiders(self, channel: str) -> Outsiders:
        """Whether guests or strangers read the channel. Never raises for Slack: what cannot be told is unknown."""
        try:
            async with asyncio.timeout(LOOK_UP_S):
                return await self._channels.get(channel)
        except (SlackFailed, TimeoutError) as exc:
            self._log.warning("slack readers unknown", channel=channel, reason=type(exc).__name__)
            return Outsiders.UNKNOWN

    async def _user(self, user: str) -> User:
        answer = await self._api.call(_UsersInfo, "users.info", {"user": user, "include_locale": True})
        return answer.user

    async def _outsiders(self, channel: str) -> Outsiders:
        info = (await self._api.call(_ConversationsInfo, "conversations.info", {"channel": channel})).channel
        if info.is_ext_shared or info.is_pending_ext_shared:
            return Outsiders.SOME
        page = await self._api.call(_Members, "conversations.members", {"channel": channel, "limit": READERS})
        if page.response_metadata.next_cursor or len(page.members) > READERS:
            return Outsiders.UNKNOWN
        ours = await self.installation()
        users = await self._all(page.members)
        return Outsiders.SOME if any(_is_outsider(user, ours) for user in users) else Outsiders.NONE

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


def _person(user: User, ours: AuthTest) -> Person:
    return Person(
        home=_home_of(user) or ours.enterprise_id or ours.team_id,
        name=user.profile.display_name or user.profile.real_name or user.name or user.id,
        locale=user.locale,
        time_zone=user.tz or "UTC",
        guest=_is_outsider(user, ours),
        gone=user.deleted,
    )


def _home_of(user: User) -> str | None:
    """The Enterprise Grid of the user, else their workspace: the second part of a person's id."""
    return user.enterprise_user.enterprise_id if user.enterprise_user else user.team_id


def _is_outsider(user: User, ours: AuthTest) -> bool:
    if user.is_restricted or user.is_ultra_restricted or user.is_stranger or user.deleted:
        return True
    return _home_of(user) not in {ours.enterprise_id or ours.team_id, ours.team_id}
