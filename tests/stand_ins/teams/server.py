"""A strict stand-in of Microsoft's side of Teams on 127.0.0.1: keys, tokens, the connector, and planned faults.

It refuses what the services refuse: missing or expired tokens, conversations without the app, messages and cards that
are too large or not sound, streams against the rules, uploads out of sequence.

Tests act as people: they write, edit, click, choose, rate, accept files and stop answers. An action that Teams' clients
do not offer raises `TeamsActionNotPossible`. The app receives an activity only if Teams would deliver it.

The state, the deliveries, and people's actions are base classes in their own modules.
"""

from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from tests.stand_ins.teams.connector import ConnectorRoutes
from tests.stand_ins.teams.conversing import TeamsActionNotPossible
from tests.stand_ins.teams.deliveries import ActivityDelivery
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.files import TeamsFileRoutes
from tests.stand_ins.teams.installing import TeamsInstalling
from tests.stand_ins.teams.signing import OpenIdRoutes
from tests.stand_ins.teams.state import ConnectorRequest
from tests.stand_ins.teams.tokens import TokenRoutes

__all__ = ["ActivityDelivery", "ConnectorRequest", "TeamsActionNotPossible", "TeamsFault", "TeamsServer"]


@dataclass
class TeamsServer(TeamsInstalling):
    """The server, used as `async with TeamsServer() as teams:`. `teams.app_url` is the address for deliveries."""

    _runner: web.AppRunner = field(init=False)

    async def __aenter__(self) -> "TeamsServer":
        self._runner = web.AppRunner(self._application(), handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()
        await self._runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        openid = OpenIdRoutes(keys=self.keys, faults=self.faults, origin=lambda: self.origin)
        tokens = TokenRoutes(app=self.registration, tokens=self.tokens, faults=self.faults, clock=lambda: self.clock())
        files = TeamsFileRoutes(
            store=self.files,
            faults=self.faults,
            clock=lambda: self.clock(),
            accepts_token=lambda token: self.tokens.is_valid(token, self.clock()),
            notify_waiters=self.notify_waiters,
        )
        for component in (openid, tokens, ConnectorRoutes(teams=self), files):
            app.router.add_routes(component.server_routes())
        return app
