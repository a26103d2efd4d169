"""A strict Slack server on 127.0.0.1: the Web API that Parley uses, signed deliveries to the app, and planned faults.

It refuses what Slack refuses: wrong or missing tokens, scopes that the manifest does not name, channels without the
bot, JSON where Slack reads only forms, unknown arguments, and every message that `checker` refuses.

Tests act as people: they post, edit, click, use commands, open the Home tab and submit modals. An action that Slack's
clients do not offer raises `ActionNotPossible`. The app receives an event only if the manifest subscribes to it and its
scope is granted; tests change `events`, `scopes`, `commands`, `home_tab` and similar fields.

The state, the deliveries, and people's actions are base classes in their own modules. The modules of methods have a
table each, which `web_api` serves.
"""

from dataclasses import dataclass, field
from typing import Self

import aiohttp
from aiohttp import web

from tests.stand_ins.slack.administering import AdministrationActions
from tests.stand_ins.slack.conversing import ConversationActions
from tests.stand_ins.slack.deliveries import SIGNING_SECRET, DeliveryOutcome
from tests.stand_ins.slack.faults import Fault
from tests.stand_ins.slack.fields import ActionNotPossible
from tests.stand_ins.slack.files import FileRoutes
from tests.stand_ins.slack.installing import InstallationActions
from tests.stand_ins.slack.response_urls import ResponseUrls
from tests.stand_ins.slack.state import APP_TOKEN, EVENT_SCOPES, RESPONSE_URL_S, RESPONSE_URL_USES, TOKEN, MethodCall
from tests.stand_ins.slack.viewing import ViewActions
from tests.stand_ins.slack.web_api import SCOPES, WebApi

__all__ = [
    "APP_TOKEN",
    "EVENT_SCOPES",
    "RESPONSE_URL_S",
    "RESPONSE_URL_USES",
    "SCOPES",
    "SIGNING_SECRET",
    "TOKEN",
    "ActionNotPossible",
    "DeliveryOutcome",
    "Fault",
    "MethodCall",
    "SlackServer",
]


@dataclass
class SlackServer(ConversationActions, ViewActions, AdministrationActions, InstallationActions):
    """The server, used as `async with SlackServer() as slack:`. `slack.app_url` is the address for deliveries."""

    _runner: web.AppRunner = field(init=False)

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._application(), handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sockets.break_connections()
        await self.session.close()
        await self._runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        for component in (WebApi(self), FileRoutes(self), ResponseUrls(self), self.sockets):
            app.router.add_routes(component.server_routes())
        return app
