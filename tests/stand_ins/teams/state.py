"""The state of the stand-in: calls, deliveries and people's actions change it, and tests read it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.stand_ins.teams.faults import PlannedTeamsFaults, TeamsFault
from tests.stand_ins.teams.files import FileStore
from tests.stand_ins.teams.json_parts import objects_of
from tests.stand_ins.teams.signing import OPENID_PATH, SigningKeys
from tests.stand_ins.teams.streams import StandInStream
from tests.stand_ins.teams.tenancy import ADAPTIVE_CARD, StandInTenant
from tests.stand_ins.teams.throttling import SendLimits
from tests.stand_ins.teams.tokens import IDENTITY_PATH, AppRegistration, IssuedTokens


@dataclass(frozen=True, kw_only=True)
class ConnectorRequest:
    """One call that the app made. `name`: `send`, `update`, `delete`, `members`, `member`, `create`, `team` …"""

    name: str
    conversation: str  # as the app named it, in a channel with the id of the thread
    activity_id: str
    body: Mapping[str, Any]
    status: int
    error: str = ""  # the code of a refusal, a colon, and its text


@dataclass
class TeamsServerState:
    """The state of the server. `app_url`: the address for deliveries. `origin`: the stand-in's own address."""

    bot_name: str = "Parley"
    app_url: str = ""
    region: str = "emea"  # the part of the service URL that tells where the tenant is
    delivery_s: float = 15.0  # the time limit of an answer to a delivery
    limits_sends: bool = False  # whether Microsoft's limits of messages per second hold
    reads_all_messages: bool = False  # whether groups deliver messages without a mention (resource-specific consent)
    supports_files: bool = True  # of the manifest
    smallest_page: int = 50  # of members: smaller pages are made as large
    clock: Callable[[], float] = time.time
    tenant: StandInTenant = field(default_factory=StandInTenant)
    registration: AppRegistration = field(default_factory=AppRegistration)
    tokens: IssuedTokens = field(default_factory=IssuedTokens)
    keys: SigningKeys = field(default_factory=SigningKeys)
    calls: list[ConnectorRequest] = field(default_factory=list[ConnectorRequest])
    hidden_ids: list[str] = field(default_factory=list[str])  # of activities whose ids a fault has kept from the app
    origin: str = field(init=False, default="")
    faults: PlannedTeamsFaults = field(init=False, default_factory=PlannedTeamsFaults)
    limits: SendLimits = field(init=False, default_factory=SendLimits)
    streams: dict[str, StandInStream] = field(init=False, default_factory=dict[str, StandInStream])  # by message
    files: FileStore = field(init=False, default_factory=FileStore)
    changed: asyncio.Condition = field(init=False, default_factory=asyncio.Condition)

    @property
    def service_url(self) -> str:
        return f"{self.origin}/{self.region}/"

    @property
    def openid_url(self) -> str:
        return self.origin + OPENID_PATH

    @property
    def token_url(self) -> str:
        """The token endpoint of the app: of its tenant, or of the tenant that apps of many tenants share."""
        if self.registration.kind == "UserAssignedMSI":
            return self.origin + IDENTITY_PATH
        return f"{self.origin}/{self.registration.token_tenant}/oauth2/v2.0/token"

    def move_region(self, region: str) -> None:
        """Serve the tenant in another region from now on. The old one answers with 404."""
        self.region = region

    def plan_faults(self, name: str, *faults: TeamsFault) -> None:
        """Plan faults for the next calls of a name, one per call.

        `send`, `update`, `delete`, `members`, `member`, `create`, `team`, `channels`; `openid`, `keys`, `token`;
        `upload`, `download`.
        """
        self.faults.add_faults(name, *faults)

    def calls_of(self, name: str) -> list[ConnectorRequest]:
        return [call for call in self.calls if call.name == name]

    @property
    def refusals(self) -> list[ConnectorRequest]:
        """The calls that were refused because of the app. Planned faults are none."""
        return [call for call in self.calls if call.error]

    def sent_cards(self) -> list[dict[str, Any]]:
        """Returns every Adaptive Card that was accepted, also those of messages that have changed since."""
        return [
            part["content"]
            for call in self.calls
            if not call.error
            for part in objects_of(call.body, "attachments")
            if part["contentType"] == ADAPTIVE_CARD
        ]

    async def wait_until(self, holds: Callable[[], bool], within_s: float = 10) -> None:
        """Wait until the condition is true; it is checked after each change. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s), self.changed:
            await self.changed.wait_for(holds)

    async def notify_waiters(self) -> None:
        """Wake all waiters after a change."""
        async with self.changed:
            self.changed.notify_all()
