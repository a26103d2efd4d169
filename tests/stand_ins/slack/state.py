"""What the stand-in knows: one object that methods, deliveries and people change, and tests read."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.stand_ins.slack.faults import Fault, Faults
from tests.stand_ins.slack.manifest import manifest
from tests.stand_ins.slack.sockets import Sockets
from tests.stand_ins.slack.workspace import Channel, Message, User, Workspace

_TRIGGERS = itertools.count(1)  # of all servers: one database may outlive several of them
RESPONSE_URL_USES: Final = 5
RESPONSE_URL_S: Final = 30 * 60
TRIGGER_S: Final = 3.0
TOKEN: Final = "xoxb-parley-token"
APP_TOKEN: Final = "xapp-parley-token"


# What may be subscribed to, with the scopes of which one is needed.
EVENT_SCOPES: Final[dict[str, frozenset[str]]] = {
    "agent_session_stopped": frozenset(),
    "app_context_changed": frozenset(),
    "app_home_opened": frozenset(),
    "app_mention": frozenset({"app_mentions:read"}),
    "app_uninstalled": frozenset(),
    "channel_shared": frozenset({"channels:read", "groups:read", "im:read", "mpim:read"}),
    "channel_unshared": frozenset({"channels:read", "groups:read", "im:read", "mpim:read"}),
    "member_joined_channel": frozenset({"channels:read", "groups:read"}),
    "member_left_channel": frozenset({"channels:read", "groups:read"}),
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "message.im": frozenset({"im:history"}),
    "message.mpim": frozenset({"mpim:history"}),
    "subteam_members_changed": frozenset({"usergroups:read"}),
    "subteam_updated": frozenset({"usergroups:read"}),
    "tokens_revoked": frozenset(),
    "user_change": frozenset({"users:read"}),
}


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a method, as it came in."""

    method: str
    arguments: Mapping[str, Any]


@dataclass(kw_only=True)
class ResponseUrl:
    """`message` is what it belongs to; None where it belongs to no message of the app's."""

    place: Workspace
    channel: str
    user: str
    message: str | None
    thread_ts: str | None
    made: float
    uses: int = 0


@dataclass(kw_only=True)
class Trigger:
    """What lets the app open a modal for the person who did something, once, within three seconds."""

    user: str
    made: float
    used: bool = False


@dataclass(kw_only=True)
class Installation:
    """What a bot token is good for. Without `scopes` of its own it has those of the manifest."""

    place: Workspace
    is_org_wide: bool = False
    scopes: frozenset[str] | None = None
    user: str = ""
    expires: float | None = None
    refresh: str | None = None
    revoked: bool = False

    @property
    def enterprise(self) -> str | None:
        return self.place.enterprise

    def covers(self, place: Workspace) -> bool:
        return self.place is place or (self.is_org_wide and self.enterprise == place.enterprise)


@dataclass(kw_only=True)
class Code:
    """What a person's browser brings to the app."""

    grants: Installation
    redirect_uri: str
    made: float
    used: bool = False


@dataclass
class State:
    """`app_url` is where deliveries go; `origin` is where the stand-in listens."""

    scopes: frozenset[str] = field(default_factory=lambda: manifest().scopes)
    events: frozenset[str] = field(default_factory=lambda: manifest().events)
    commands: frozenset[str] = field(default_factory=lambda: manifest().commands)
    shortcuts: frozenset[str] = field(default_factory=lambda: manifest().shortcuts)
    is_agent: bool = field(default_factory=lambda: manifest().is_agent)
    home_tab: bool = field(default_factory=lambda: manifest().home_tab)
    socket_mode: bool = field(default_factory=lambda: manifest().socket_mode)
    rotation: bool = field(default_factory=lambda: manifest().rotation)
    redirect_urls: frozenset[str] = field(default_factory=lambda: manifest().redirect_urls)
    optional_scopes: frozenset[str] = field(default_factory=lambda: manifest().optional_scopes)
    client_id: str = "111.222"
    client_secret: str = "parley-client-secret"
    delivery_s: float = 3.0  # within which the app acknowledges
    app_url: str = ""
    one_a_second: bool = False  # messages posted, in each channel
    tiers: bool = False  # whether methods are limited by the minute
    clock: Callable[[], float] = time.time
    workspace: Workspace = field(default_factory=Workspace)
    calls: list[Call] = field(default_factory=list[Call])
    origin: str = field(init=False, default="")
    faults: Faults = field(init=False, default_factory=Faults)
    responses: dict[str, ResponseUrl] = field(init=False, default_factory=dict[str, ResponseUrl])
    others: list[Workspace] = field(init=False, default_factory=list[Workspace])
    installations: dict[str, Installation] = field(init=False, default_factory=dict[str, Installation])  # by token
    codes: dict[str, Code] = field(init=False, default_factory=dict[str, Code])
    sockets: Sockets = field(init=False, default_factory=Sockets)
    triggers: dict[str, Trigger] = field(init=False, default_factory=dict[str, Trigger])
    spent: dict[tuple[str, str], list[float]] = field(init=False, default_factory=dict[tuple[str, str], list[float]])
    last_post: dict[str, float] = field(init=False, default_factory=dict[str, float])
    ids: int = field(init=False, default=0)
    changed: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self.installations[TOKEN] = Installation(place=self.workspace)

    @property
    def api_url(self) -> str:
        return f"{self.origin}/api/"

    def fail(self, method: str, *faults: Fault) -> None:
        """The next calls of the method end so, one each. `upload` and `response_url` are methods, too."""
        self.faults.add(method, *faults)

    def called(self, method: str) -> list[Mapping[str, Any]]:
        return [call.arguments for call in self.calls if call.method == method]

    async def until(self, holds: Callable[[], bool], within_s: float = 10) -> None:
        """Waits until a change of the workspace makes it hold. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self.changed:
            await self.changed.wait_for(holds)

    async def tell(self) -> None:
        """Something has changed."""
        async with self.changed:
            self.changed.notify_all()

    def next_id(self) -> str:
        self.ids += 1
        return f"{self.ids:06d}"

    def home_of(self, user: User) -> Workspace:
        """The workspace that a person works in; a stranger comes to ours."""
        return next((one for one in self.workspaces if user.id in one.users), self.workspace)

    def place_of(self, channel: Channel) -> Workspace:
        return next((one for one in self.workspaces if channel.id in one.channels), self.workspace)

    @property
    def workspaces(self) -> list[Workspace]:
        return [self.workspace, *self.others]

    def installed(self, place: Workspace) -> Installation | None:
        """By which the app is there now; None where it is not."""
        living = (one for one in self.installations.values() if one.covers(place) and not one.revoked)
        return next(living, None)

    def trigger_id(self, user: User) -> str:
        made = f"{self.next_id()}.{next(_TRIGGERS)}.parley"
        self.triggers[made] = Trigger(user=user.id, made=self.clock())
        return made

    def response_url(
        self, user: User, channel: Channel, message: Message | None = None, thread_ts: str | None = None
    ) -> str:
        key = self.next_id()
        self.responses[key] = ResponseUrl(
            place=self.place_of(channel),
            channel=channel.id,
            user=user.id,
            message=message.ts if message is not None else None,
            thread_ts=thread_ts,
            made=self.clock(),
        )
        return f"{self.origin}/response/{key}"

    def hears(self, place: Workspace, subscription: str) -> bool:
        """Whether the app is told of such events: installed there, subscribed, and one of their scopes granted."""
        needed, by = EVENT_SCOPES[subscription], self.installed(place)
        if by is None or subscription not in self.events:
            return False
        return not needed or bool(needed & (self.scopes if by.scopes is None else by.scopes))
