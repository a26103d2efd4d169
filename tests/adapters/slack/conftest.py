"""A surface over real HTTP between the strict stand-in and a bot that keeps what it accepts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

import pytest
import structlog
from aiohttp import web
from pydantic import SecretStr
from structlog import make_filtering_bound_logger
from structlog.typing import FilteringBoundLogger

from adapters.slack.api import SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.receiving import PATH
from adapters.slack.workspaces import OneWorkspace, workspace_with
from bot.administration import Administration
from bot.afterwards import Afterwards
from bot.bootstrap import Bot
from bot.clarifications import Clarifications
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound
from bot.installations import Installations
from bot.personal import Personal
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, Channel, User


class StoreDown(Exception):
    """What a bot raises whose database does not answer."""


@dataclass
class InboxBot:
    """Stores what it accepts once by event and once by message, as the inbox does. `failures` writes fail first."""

    settings: "SlackTestSettings"
    accepted: list[Inbound] = field(default_factory=list[Inbound])
    failures: int = 0
    answered: set[ConversationId] = field(default_factory=set[ConversationId])
    lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])

    @property
    def administration(self) -> Administration:
        """Nobody opens a Home tab of this bot."""
        return cast(Administration, object())

    @property
    def afterwards(self) -> Afterwards:
        """What is done about this bot's turns is told to nobody."""
        return cast(Afterwards, object())

    @property
    def clarifications(self) -> Clarifications:
        """Nobody looks for more choices of this bot."""
        return cast(Clarifications, object())

    @property
    def personal(self) -> Personal:
        return cast(Personal, object())

    @property
    def clock(self) -> Callable[[], datetime]:
        return lambda: datetime.now(UTC)

    @property
    def log(self) -> FilteringBoundLogger:
        """Lines that can be read in `lines`."""
        return structlog.wrap_logger(None, processors=[self._keep], wrapper_class=make_filtering_bound_logger("info"))

    def _keep(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.lines.append({"level": level, **line})
        raise structlog.DropEvent

    def installations(self, product: str) -> Installations:
        """This bot has a token of its own."""
        return cast(Installations, object())

    async def accept(self, inbound: Inbound) -> TurnId | None:
        if self.failures:
            self.failures -= 1
            raise StoreDown
        if any(self._is_same(inbound, known) for known in self.accepted):
            return None
        self.accepted.append(inbound)
        return TurnId(f"turn-{len(self.accepted)}")

    async def has_answered(self, conversation: ConversationId) -> bool:
        return conversation in self.answered

    def _is_same(self, one: Inbound, other: Inbound) -> bool:
        by_message = (one.conversation, one.message_id) == (other.conversation, other.message_id)
        return one.event_id == other.event_id or by_message


@dataclass(frozen=True, kw_only=True)
class SlackTestSettings:
    slack_api_url: str
    slack_bot_token: SecretStr | None = field(default_factory=lambda: SecretStr(TOKEN))
    slack_signing_secret: SecretStr | None = field(default_factory=lambda: SecretStr(SIGNING_SECRET))
    slack_app_token: SecretStr | None = None
    slack_client_id: str | None = None
    slack_client_secret: SecretStr | None = None
    accounts: tuple[str, ...] = ()
    link_base: str = "http://127.0.0.1"
    slack_file_mb: int = 1_000
    slack_threads: bool = False
    slack_bots: tuple[str, ...] = ()


@dataclass
class Pauses:
    """Waits that are written down and not waited for."""

    taken: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)

    def clock(self) -> float:
        """Time that passes only while somebody waits."""
        return sum(self.taken)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture
def ada(slack: SlackServer) -> User:
    return slack.workspace.add_user(User(id="U1ADA", name="Ada", locale="de-DE"))


@pytest.fixture
def bob(slack: SlackServer) -> User:
    return slack.workspace.add_user(User(id="U2BOB", name="Bob"))


@pytest.fixture
def general(slack: SlackServer, ada: User, bob: User) -> Channel:
    return slack.workspace.add_channel(Channel(id="C1GENERAL", members=[ada.id, bob.id, BOT_USER]))


@pytest.fixture
def bot(slack: SlackServer) -> InboxBot:
    return InboxBot(SlackTestSettings(slack_api_url=slack.api_url))


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def api(slack: SlackServer, pauses: Pauses) -> SlackApi:
    return SlackApi(token=TOKEN, base_url=slack.api_url, pause=pauses, chance=lambda: 0.5, clock=pauses.clock)


@asynccontextmanager
async def served(surface: SlackSurface, slack: SlackServer) -> AsyncGenerator[SlackSurface]:
    """Started and on a port of its own; the stand-in delivers there."""
    app = web.Application()
    app.router.add_routes(surface.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
    await surface.start()
    try:
        yield surface
    finally:
        await surface.close()
        await runner.cleanup()


@pytest.fixture
async def surface(slack: SlackServer, bot: InboxBot, api: SlackApi) -> AsyncIterator[SlackSurface]:
    async with served(a_surface(bot, api), slack) as surface:
        yield surface


def a_surface(bot: InboxBot | Bot, api: SlackApi) -> SlackSurface:
    return SlackSurface(
        accept=bot.accept,
        administration=bot.administration,
        personal=bot.personal,
        afterwards=bot.afterwards,
        clarifications=bot.clarifications,
        workspaces=OneWorkspace(workspace_with(api, bot.clock, bot.log)),
        signing_secret=SIGNING_SECRET,
        answered=bot.has_answered if bot.settings.slack_threads else None,
        bots=bot.settings.slack_bots,
        clock=bot.clock,
        log=bot.log,
    )
