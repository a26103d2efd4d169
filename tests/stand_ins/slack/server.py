"""A strict Slack on 127.0.0.1: the Web API that Parley uses, signed deliveries to the app, and faults on demand.

It refuses what Slack refuses: wrong or missing tokens, scopes that the manifest does not name, channels the bot is not
in, JSON where Slack reads forms only, arguments a method does not have, and every message that `checker` refuses.

A person of the workspace does what people do: `say`, `edit`, `click`, `command`, `open_home`, `submit` and so on, each
of which raises `NotPossible` where Slack's clients offer no such thing. Each comes to the app only if the manifest
subscribes to it and its scope is granted; tests set `events`, `scopes`, `commands`, `home_tab` and the like.

`State` is what it knows, `Deliveries` what it sends to the app, and each module of people's doings adds its own to
that; the modules of methods have a table each, which `web_api` serves.
"""

from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from tests.stand_ins.slack.administering import Administering
from tests.stand_ins.slack.conversing import Conversing
from tests.stand_ins.slack.deliveries import SIGNING_SECRET, Delivered
from tests.stand_ins.slack.faults import Fault
from tests.stand_ins.slack.fields import NotPossible
from tests.stand_ins.slack.files import Files
from tests.stand_ins.slack.installing import Installing
from tests.stand_ins.slack.response_urls import ResponseUrls
from tests.stand_ins.slack.state import APP_TOKEN, EVENT_SCOPES, RESPONSE_URL_S, RESPONSE_URL_USES, TOKEN, Call
from tests.stand_ins.slack.viewing import Viewing
from tests.stand_ins.slack.web_api import SCOPES, WebApi

__all__ = [
    "APP_TOKEN",
    "EVENT_SCOPES",
    "RESPONSE_URL_S",
    "RESPONSE_URL_USES",
    "SCOPES",
    "SIGNING_SECRET",
    "TOKEN",
    "Call",
    "Delivered",
    "Fault",
    "NotPossible",
    "SlackServer",
]


@dataclass
class SlackServer(Conversing, Viewing, Administering, Installing):
    """`async with SlackServer() as slack:`; `slack.app_url` is where deliveries go."""

    _runner: web.AppRunner = field(init=False)

    async def __aenter__(self) -> "SlackServer":
        self._runner = web.AppRunner(self._application(), handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sockets.cut()
        await self.session.close()
        await self._runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        for served in (WebApi(self), Files(self), ResponseUrls(self), self.sockets):
            app.router.add_routes(served.routes())
        return app
