"""The receivers of deliveries: one HTTP route, or a socket, with Bolt behind them.

Importing this module imports Bolt, a tenth of what a process that only replies would load.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from aiohttp import web
from structlog.typing import FilteringBoundLogger

from adapters.slack.events.delivery_listener import DeliveryListener
from adapters.slack.events.dispatch import DeliveryDispatcher, build_bolt_app
from adapters.slack.events.http_endpoint import EVENTS_PATH, HttpEndpoint
from adapters.slack.events.socket_mode import SocketModeReceiver
from adapters.slack.posting.api import SlackApi
from adapters.slack.workspaces.workspace_registry import WorkspaceRegistry


class DeliveryReceivers:
    """`signing_secret` adds an HTTP route; `app_api`, with the app-level token, opens a socket."""

    def __init__(
        self,
        listeners: Iterable[DeliveryListener],
        workspaces: WorkspaceRegistry,
        *,
        signing_secret: str | None,
        app_api: SlackApi | None,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        dispatcher = DeliveryDispatcher(build_bolt_app(listeners, log), workspaces, log)
        self._http_endpoint = (
            HttpEndpoint(dispatcher, signing_secret=signing_secret, clock=clock) if signing_secret else None
        )
        self._socket = SocketModeReceiver(app_api, dispatcher, log) if app_api else None

    def http_routes(self) -> Sequence[web.RouteDef]:
        return [web.post(EVENTS_PATH, self._http_endpoint.receive_delivery)] if self._http_endpoint else []

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses the app-level token; retries later when Slack is down."""
        if self._socket is not None:
            await self._socket.start()

    async def close(self) -> None:
        """Acknowledge the deliveries already received."""
        if self._socket is not None:
            await self._socket.close()
