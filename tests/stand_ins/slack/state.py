"""The state of the stand-in: methods, deliveries and people's actions change it, and tests read it."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.stand_ins.slack.faults import Fault, PlannedFaults
from tests.stand_ins.slack.manifest import load_manifest
from tests.stand_ins.slack.sockets import SocketConnections
from tests.stand_ins.slack.workspace import SlackChannel, SlackMember, SlackMessage, StandInWorkspace

_TRIGGERS = itertools.count(1)  # shared by all servers, because one database may outlive several of them
RESPONSE_URL_USES: Final = 5
RESPONSE_URL_S: Final = 30 * 60
TRIGGER_S: Final = 3.0
TOKEN: Final = "xoxb-parley-token"
APP_TOKEN: Final = "xapp-parley-token"


# The events to subscribe to, each with the scopes of which one is needed.
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
class MethodCall:
    """One received call of a method."""

    method: str
    arguments: Mapping[str, Any]


@dataclass(kw_only=True)
class ResponseUrl:
    """A response URL. `message`: the app's message that it belongs to, or None."""

    workspace: StandInWorkspace
    channel: str
    user: str
    message: str | None
    thread_ts: str | None
    created_at_s: float
    uses: int = 0


@dataclass(kw_only=True)
class ModalTrigger:
    """A trigger id, with which the app can open a modal for a person once, within three seconds."""

    user: str
    created_at_s: float
    used: bool = False


@dataclass(kw_only=True)
class TokenInstallation:
    """The rights of a bot token. Without own `scopes` it has those of the manifest."""

    workspace: StandInWorkspace
    is_org_wide: bool = False
    scopes: frozenset[str] | None = None
    user: str = ""
    expires: float | None = None
    refresh: str | None = None
    revoked: bool = False

    @property
    def enterprise(self) -> str | None:
        return self.workspace.enterprise

    def covers_workspace(self, workspace: StandInWorkspace) -> bool:
        return self.workspace is workspace or (self.is_org_wide and self.enterprise == workspace.enterprise)


@dataclass(kw_only=True)
class OAuthCode:
    """The code that a person's browser passes to the app."""

    installation: TokenInstallation
    redirect_uri: str
    created_at_s: float
    used: bool = False


@dataclass
class SlackState:
    """The state of the server. `app_url`: the address for deliveries. `origin`: the stand-in's own address."""

    scopes: frozenset[str] = field(default_factory=lambda: load_manifest().scopes)
    events: frozenset[str] = field(default_factory=lambda: load_manifest().events)
    commands: frozenset[str] = field(default_factory=lambda: load_manifest().commands)
    shortcuts: frozenset[str] = field(default_factory=lambda: load_manifest().shortcuts)
    is_agent: bool = field(default_factory=lambda: load_manifest().is_agent)
    home_tab: bool = field(default_factory=lambda: load_manifest().home_tab)
    socket_mode: bool = field(default_factory=lambda: load_manifest().socket_mode)
    rotation: bool = field(default_factory=lambda: load_manifest().rotation)
    redirect_urls: frozenset[str] = field(default_factory=lambda: load_manifest().redirect_urls)
    optional_scopes: frozenset[str] = field(default_factory=lambda: load_manifest().optional_scopes)
    client_id: str = "111.222"
    client_secret: str = "parley-client-secret"
    delivery_s: float = 3.0  # the time limit of an acknowledgement
    app_url: str = ""
    limits_posts: bool = False  # whether each channel takes only one new message per second
    limits_methods: bool = False  # whether methods have rate limits per minute
    clock: Callable[[], float] = time.time
    workspace: StandInWorkspace = field(default_factory=StandInWorkspace)
    calls: list[MethodCall] = field(default_factory=list[MethodCall])
    origin: str = field(init=False, default="")
    faults: PlannedFaults = field(init=False, default_factory=PlannedFaults)
    responses: dict[str, ResponseUrl] = field(init=False, default_factory=dict[str, ResponseUrl])
    other_workspaces: list[StandInWorkspace] = field(init=False, default_factory=list[StandInWorkspace])
    installations: dict[str, TokenInstallation] = field(
        init=False, default_factory=dict[str, TokenInstallation]
    )  # by token
    codes: dict[str, OAuthCode] = field(init=False, default_factory=dict[str, OAuthCode])
    sockets: SocketConnections = field(init=False, default_factory=SocketConnections)
    triggers: dict[str, ModalTrigger] = field(init=False, default_factory=dict[str, ModalTrigger])
    calls_by_method: dict[tuple[str, str], list[float]] = field(
        init=False, default_factory=dict[tuple[str, str], list[float]]
    )
    last_post: dict[str, float] = field(init=False, default_factory=dict[str, float])
    ids: int = field(init=False, default=0)
    changed: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self.installations[TOKEN] = TokenInstallation(workspace=self.workspace)

    @property
    def api_url(self) -> str:
        return f"{self.origin}/api/"

    def plan_faults(self, method: str, *faults: Fault) -> None:
        """Plan faults for the next calls of a method, one per call. `upload` and `response_url` count as methods."""
        self.faults.add_faults(method, *faults)

    def calls_of(self, method: str) -> list[Mapping[str, Any]]:
        return [call.arguments for call in self.calls if call.method == method]

    async def wait_until(self, holds: Callable[[], bool], within_s: float = 10) -> None:
        """Wait until the condition is true; it is checked after each change. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self.changed:
            await self.changed.wait_for(holds)

    async def notify_waiters(self) -> None:
        """Wake all waiters after a change."""
        async with self.changed:
            self.changed.notify_all()

    def next_id(self) -> str:
        self.ids += 1
        return f"{self.ids:06d}"

    def workspace_of_user(self, user: SlackMember) -> StandInWorkspace:
        """Returns the workspace of a person; for a stranger, the first workspace."""
        return next((workspace for workspace in self.workspaces if user.id in workspace.users), self.workspace)

    def workspace_of_channel(self, channel: SlackChannel) -> StandInWorkspace:
        return next((workspace for workspace in self.workspaces if channel.id in workspace.channels), self.workspace)

    @property
    def workspaces(self) -> list[StandInWorkspace]:
        return [self.workspace, *self.other_workspaces]

    def installation_of(self, workspace: StandInWorkspace) -> TokenInstallation | None:
        """Returns the installation that covers a workspace; None where the app is not installed."""
        active = (
            installation
            for installation in self.installations.values()
            if installation.covers_workspace(workspace) and not installation.revoked
        )
        return next(active, None)

    def create_trigger_id(self, user: SlackMember) -> str:
        key = f"{self.next_id()}.{next(_TRIGGERS)}.parley"
        self.triggers[key] = ModalTrigger(user=user.id, created_at_s=self.clock())
        return key

    def create_response_url(
        self,
        user: SlackMember,
        channel: SlackChannel,
        message: SlackMessage | None = None,
        thread_ts: str | None = None,
    ) -> str:
        key = self.next_id()
        self.responses[key] = ResponseUrl(
            workspace=self.workspace_of_channel(channel),
            channel=channel.id,
            user=user.id,
            message=message.ts if message is not None else None,
            thread_ts=thread_ts,
            created_at_s=self.clock(),
        )
        return f"{self.origin}/response/{key}"

    def is_subscribed(self, workspace: StandInWorkspace, subscription: str) -> bool:
        """Whether the app receives such events: it is installed, subscribed, and has one of their scopes."""
        needed, installation = EVENT_SCOPES[subscription], self.installation_of(workspace)
        if installation is None or subscription not in self.events:
            return False
        return not needed or bool(needed & (self.scopes if installation.scopes is None else installation.scopes))
