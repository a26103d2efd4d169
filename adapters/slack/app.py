"""The Slack surface, put together: where it is installed, what it hears, where replies go."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from aiohttp import web
from pydantic import SecretStr
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.asking import Accept, Asking
from adapters.slack.dispatch import Listener, dispatcher
from adapters.slack.errors import SlackFailed
from adapters.slack.home.listener import AppHome
from adapters.slack.inbound import SURFACE, Reader
from adapters.slack.outbox import SlackOutbox
from adapters.slack.people import People
from adapters.slack.receiving import PATH, Receiving
from adapters.slack.workspaces import OneWorkspace, Workspaces, workspace_with
from bot.administration import Administration
from bot.errors import InvalidSettings
from bot.ids import TurnId
from bot.inbound import Inbound
from bot.outbox import Outbox
from bot.personal import Personal


class SlackSettings(Protocol):
    """What this surface reads of the bot's settings."""

    @property
    def slack_bot_token(self) -> SecretStr | None: ...

    @property
    def slack_signing_secret(self) -> SecretStr | None: ...

    @property
    def slack_api_url(self) -> str: ...


class SlackBot(Protocol):
    """What this surface needs of the bot."""

    @property
    def settings(self) -> SlackSettings: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

    @property
    def administration(self) -> Administration: ...

    @property
    def personal(self) -> Personal: ...

    async def accept(self, inbound: Inbound) -> TurnId | None:
        """Stores it. None where it is known already; raises where it could not be stored."""
        ...


def surface(bot: SlackBot) -> "SlackSurface | None":
    """None without a bot token. Raises `InvalidSettings` when the secret that proves deliveries is missing."""
    token, secret = bot.settings.slack_bot_token, bot.settings.slack_signing_secret
    if token is None:
        return None
    if secret is None:
        advice = "copy it from your Slack app's page, Basic Information"
        raise InvalidSettings("SLACK_SIGNING_SECRET", "is not set, but SLACK_BOT_TOKEN is", advice)
    api = SlackApi(token=token.get_secret_value(), base_url=bot.settings.slack_api_url)
    return SlackSurface(
        accept=bot.accept,
        administration=bot.administration,
        personal=bot.personal,
        workspaces=OneWorkspace(workspace_with(api, bot.clock, bot.log)),
        signing_secret=secret.get_secret_value(),
        clock=bot.clock,
        log=bot.log,
    )


class SlackSurface:
    """Fulfils `bot.surfaces.Surface`."""

    name = SURFACE

    def __init__(
        self,
        *,
        accept: Accept,
        administration: Administration,
        personal: Personal,
        workspaces: Workspaces,
        signing_secret: str,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._workspaces, self._log = workspaces, log
        self._people = People(workspaces, log)
        self._outbox = SlackOutbox(workspaces)
        home = AppHome(administration=administration, personal=personal, workspaces=workspaces, clock=clock, log=log)
        self.listeners: tuple[Listener, ...] = (Asking(accept, Reader(workspaces, clock)), home)
        app = dispatcher(self.listeners, log)
        self._receiving = Receiving(app, workspaces, signing_secret=signing_secret, clock=clock, log=log)

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def directory(self) -> People:
        return self._people

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post(PATH, self._receiving.receive)]

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses the token; a Slack that is down is asked again later."""
        try:
            await self._workspaces.start()
        except SlackFailed as exc:
            self._log.warning("slack unreachable at start", reason=str(exc))

    async def close(self) -> None:
        await self._workspaces.close()
