"""The Slack surface, put together: where it is installed, what it hears, where replies go."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from aiohttp import web
from structlog.typing import FilteringBoundLogger

from adapters.slack.apart import Others
from adapters.slack.api import SlackApi
from adapters.slack.asking import Accept, Answered, Asking
from adapters.slack.changes import Changes
from adapters.slack.commands import Commands
from adapters.slack.connection import ConnectionBot, ConnectionSettings, connection
from adapters.slack.dispatch import Dispatch, Listener, dispatcher
from adapters.slack.edits import Edits
from adapters.slack.feedback import Rating
from adapters.slack.fetching import SlackFiles
from adapters.slack.home.listener import AppHome
from adapters.slack.inbound import SURFACE, Reader
from adapters.slack.install import Installing
from adapters.slack.installations import Leaving
from adapters.slack.messages_tab import MessagesTab
from adapters.slack.more import MoreChoices
from adapters.slack.outbox import SlackOutbox
from adapters.slack.people import People
from adapters.slack.receiving import PATH, Receiving
from adapters.slack.replying import Replying
from adapters.slack.socket import Socket
from adapters.slack.steps import ShowingSteps
from adapters.slack.stopping import Stopping
from adapters.slack.threads import SlackThreads
from adapters.slack.whole import ShowingAll
from adapters.slack.workspaces import Workspaces
from bot.administration import Administration
from bot.afterwards import Afterwards
from bot.clarifications import Clarifications
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound
from bot.outbox import Outbox
from bot.personal import Personal


class SlackSettings(ConnectionSettings, Protocol):
    """What this surface reads of the bot's settings."""

    @property
    def slack_threads(self) -> bool: ...

    @property
    def slack_bots(self) -> Sequence[str]: ...


class SlackBot(ConnectionBot, Protocol):
    """What this surface needs of the bot."""

    @property
    def settings(self) -> SlackSettings: ...

    @property
    def administration(self) -> Administration: ...

    @property
    def personal(self) -> Personal: ...

    @property
    def afterwards(self) -> Afterwards: ...

    @property
    def clarifications(self) -> Clarifications: ...

    async def accept(self, inbound: Inbound) -> TurnId | None:
        """Stores it. None where it is known already; raises where it could not be stored."""
        ...

    async def has_answered(self, conversation: ConversationId) -> bool: ...


def surface(bot: SlackBot) -> "SlackSurface | None":
    """None where Slack is not set up. Raises `InvalidSettings`."""
    connected = connection(bot)
    if connected is None:
        return None
    return SlackSurface(
        accept=bot.accept,
        administration=bot.administration,
        personal=bot.personal,
        afterwards=bot.afterwards,
        clarifications=bot.clarifications,
        workspaces=connected.workspaces,
        signing_secret=connected.signing_secret,
        app_api=connected.app_api,
        installing=connected.installing,
        answered=bot.has_answered if bot.settings.slack_threads else None,
        bots=bot.settings.slack_bots,
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
        afterwards: Afterwards,
        clarifications: Clarifications,
        workspaces: Workspaces,
        signing_secret: str | None = None,
        app_api: SlackApi | None = None,
        answered: Answered | None = None,
        bots: Sequence[str] = (),
        installing: Installing | None = None,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        """With the signing secret there is a route for deliveries; with the app's own token, a socket."""
        self._workspaces, self._log = workspaces, log
        self._people = People(workspaces, log)
        self._outbox, self._threads = SlackOutbox(workspaces), SlackThreads(workspaces)
        self._files = SlackFiles(workspaces)
        reader, others = Reader(workspaces, clock, bots), Others()
        self._apart = Replying(workspaces, others, log)
        home = AppHome(administration=administration, personal=personal, workspaces=workspaces, clock=clock, log=log)
        self.listeners: tuple[Listener, ...] = (
            Edits(accept, reader, clock, answered),
            Asking(accept, reader, answered),
            Commands(accept, reader, clock, log),
            home,
            Rating(afterwards, reader, log),
            ShowingSteps(afterwards, reader, log),
            Stopping(afterwards, reader, log),
            ShowingAll(afterwards, accept, reader, clock, log),
            MoreChoices(clarifications, accept, reader, clock, log),
            MessagesTab(personal, reader, log),
            Changes(workspaces, others),
            Leaving(workspaces, others, log),
        )
        dispatch = Dispatch(dispatcher(self.listeners, log), workspaces, log)
        self._receiving = Receiving(dispatch, signing_secret=signing_secret, clock=clock) if signing_secret else None
        self._socket = Socket(app_api, dispatch, log) if app_api else None
        self._installing = installing

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def directory(self) -> People:
        return self._people

    @property
    def threads(self) -> SlackThreads:
        return self._threads

    @property
    def files(self) -> SlackFiles:
        return self._files

    @property
    def apart(self) -> Replying:
        return self._apart

    def routes(self) -> Sequence[web.RouteDef]:
        delivered = [web.post(PATH, self._receiving.receive)] if self._receiving else []
        return [*delivered, *(self._installing.routes() if self._installing else [])]

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses a token; a Slack that is down is asked again later."""
        await self._apart.start()
        if self._socket is not None:
            await self._socket.start()

    async def close(self) -> None:
        """What was delivered is acknowledged first."""
        if self._socket is not None:
            await self._socket.close()
        await self._workspaces.close()
