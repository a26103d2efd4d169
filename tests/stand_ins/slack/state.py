"""What the stand-in knows: one object that methods, deliveries and people change, and tests read."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.stand_ins.slack.faults import Fault, Faults
from tests.stand_ins.slack.manifest import manifest
from tests.stand_ins.slack.workspace import Channel, Message, User, Workspace

_TRIGGERS = itertools.count(1)  # of all servers: one database may outlive several of them
RESPONSE_URL_USES: Final = 5
RESPONSE_URL_S: Final = 30 * 60
TRIGGER_S: Final = 3.0


# What may be subscribed to, with the scopes of which one is needed.
EVENT_SCOPES: Final[dict[str, frozenset[str]]] = {
    "agent_session_stopped": frozenset(),
    "app_context_changed": frozenset(),
    "app_home_opened": frozenset(),
    "app_mention": frozenset({"app_mentions:read"}),
    "app_uninstalled": frozenset(),
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


@dataclass
class State:
    """`app_url` is where deliveries go; `origin` is where the stand-in listens."""

    scopes: frozenset[str] = field(default_factory=lambda: manifest().scopes)
    events: frozenset[str] = field(default_factory=lambda: manifest().events)
    commands: frozenset[str] = field(default_factory=lambda: manifest().commands)
    shortcuts: frozenset[str] = field(default_factory=lambda: manifest().shortcuts)
    is_agent: bool = field(default_factory=lambda: manifest().is_agent)
    home_tab: bool = field(default_factory=lambda: manifest().home_tab)
    app_url: str = ""
    one_a_second: bool = False  # messages posted, in each channel
    tiers: bool = False  # whether methods are limited by the minute
    clock: Callable[[], float] = time.time
    workspace: Workspace = field(default_factory=Workspace)
    calls: list[Call] = field(default_factory=list[Call])
    origin: str = field(init=False, default="")
    faults: Faults = field(init=False, default_factory=Faults)
    responses: dict[str, ResponseUrl] = field(init=False, default_factory=dict[str, ResponseUrl])
    dead: set[str] = field(init=False, default_factory=set[str])  # teams whose tokens are revoked
    triggers: dict[str, Trigger] = field(init=False, default_factory=dict[str, Trigger])
    spent: dict[tuple[str, str], list[float]] = field(init=False, default_factory=dict[tuple[str, str], list[float]])
    last_post: dict[str, float] = field(init=False, default_factory=dict[str, float])
    ids: int = field(init=False, default=0)
    changed: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)

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
        return [self.workspace]

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

    def hears(self, subscription: str) -> bool:
        """Whether the app is told of such events: subscribed to, and one of their scopes granted."""
        needed = EVENT_SCOPES[subscription]
        return subscription in self.events and (not needed or bool(needed & self.scopes))
