"""Runs the Slack surface over real HTTP, between the strict Slack stand-in and a bot that records what it accepts."""

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

from adapters.slack.app import SlackSurface
from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.posting.api import SlackApi
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces.workspace_registry import SingleWorkspace, build_workspace
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.admin_page.schema_edits import SchemaEdits
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.application import Application
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.personal_history import PersonalHistory
from bot.http.request_checks import build_request_checks
from bot.ids import ConversationId, TurnId
from bot.saved_searches.personal_searches import PersonalSearches
from bot.settings_section import SectionT
from bot.surface.inbound import Inbound
from bot.surface.installations import AppInstallations
from bot.turns.turn_actions import TurnActionHandler
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, SlackChannel, SlackMember


class StoreDown(Exception):
    """Raised by a bot whose database does not answer."""


@dataclass
class InboxBot:
    """Stores inbounds without duplicates by event and message, as the inbox does. The first writes can fail."""

    settings: "SlackTestSettings"
    accepted: list[Inbound] = field(default_factory=list[Inbound])
    remaining_failures: int = 0
    answered_conversations: set[ConversationId] = field(default_factory=set[ConversationId])
    log_lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])

    @property
    def administration(self) -> AdminOperations:
        """A placeholder: no test opens this bot's Home tab."""
        return cast(AdminOperations, object())

    @property
    def turn_actions(self) -> TurnActionHandler:
        """A placeholder: no test uses this bot's turn actions."""
        return cast(TurnActionHandler, object())

    @property
    def clarifications(self) -> ClarificationOffers:
        """A placeholder: no test opens more choices of this bot."""
        return cast(ClarificationOffers, object())

    @property
    def personal_history(self) -> PersonalHistory:
        return cast(PersonalHistory, object())

    @property
    def personal_searches(self) -> PersonalSearches:
        return cast(PersonalSearches, object())

    @property
    def admin_reports(self) -> AdminReports:
        return cast(AdminReports, object())

    @property
    def schema_edits(self) -> SchemaEdits:
        return cast(SchemaEdits, object())

    @property
    def retention_edits(self) -> RetentionEdits:
        return cast(RetentionEdits, object())

    @property
    def clock(self) -> Callable[[], datetime]:
        return lambda: datetime.now(UTC)

    @property
    def log(self) -> FilteringBoundLogger:
        """A logger that records its lines in `log_lines`."""
        return structlog.wrap_logger(
            None, processors=[self._record_line], wrapper_class=make_filtering_bound_logger("info")
        )

    def _record_line(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.log_lines.append({"level": level, **line})
        raise structlog.DropEvent

    def installations_for(self, product: str) -> AppInstallations:
        """A placeholder: this bot has a single token and no stored installations."""
        return cast(AppInstallations, object())

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        if self.remaining_failures:
            self.remaining_failures -= 1
            raise StoreDown
        if any(self._is_same_inbound(inbound, accepted) for accepted in self.accepted):
            return None
        self.accepted.append(inbound)
        return TurnId(f"turn-{len(self.accepted)}")

    async def has_answered(self, conversation: ConversationId) -> bool:
        return conversation in self.answered_conversations

    def _is_same_inbound(self, first: Inbound, second: Inbound) -> bool:
        by_message = (first.conversation, first.message_id) == (second.conversation, second.message_id)
        return first.event_id == second.event_id or by_message


class SlackTestSettings(SlackSettings):
    """Slack's section, and the settings of the bot that the surface reads beside it."""

    bot_token: SecretStr | None = SecretStr(TOKEN)
    signing_secret: SecretStr | None = SecretStr(SIGNING_SECRET)
    accounts: tuple[str, ...] = ()
    link_base: str = "http://127.0.0.1"

    def section(self, section_type: type[SectionT]) -> SectionT:
        assert isinstance(self, section_type)
        return self


@dataclass
class RecordedPauses:
    """Records the waits instead of waiting."""

    durations_s: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.durations_s.append(seconds)
        await asyncio.sleep(0)

    def clock(self) -> float:
        """Returns the sum of all recorded waits, in seconds."""
        return sum(self.durations_s)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture
def ada(slack: SlackServer) -> SlackMember:
    return slack.workspace.add_user(SlackMember(id="U1ADA", name="Ada", locale="de-DE"))


@pytest.fixture
def bob(slack: SlackServer) -> SlackMember:
    return slack.workspace.add_user(SlackMember(id="U2BOB", name="Bob"))


@pytest.fixture
def general(slack: SlackServer, ada: SlackMember, bob: SlackMember) -> SlackChannel:
    return slack.workspace.add_channel(SlackChannel(id="C1GENERAL", members=[ada.id, bob.id, BOT_USER]))


@pytest.fixture
def bot(slack: SlackServer) -> InboxBot:
    return InboxBot(SlackTestSettings(api_url=slack.api_url))


@pytest.fixture
def pauses() -> RecordedPauses:
    return RecordedPauses()


@pytest.fixture
def api(slack: SlackServer, pauses: RecordedPauses) -> SlackApi:
    return SlackApi(token=TOKEN, base_url=slack.api_url, sleep=pauses, jitter=lambda: 0.5, clock=pauses.clock)


@asynccontextmanager
async def serve_surface(surface: SlackSurface, slack: SlackServer) -> AsyncGenerator[SlackSurface]:
    """Serve the surface on a free port, to which the stand-in delivers."""
    app = web.Application(middlewares=[build_request_checks(structlog.get_logger())])
    app.router.add_routes(surface.http_routes())
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{EVENTS_PATH}"
    await surface.start()
    try:
        yield surface
    finally:
        await surface.close()
        await runner.cleanup()


@pytest.fixture
async def surface(slack: SlackServer, bot: InboxBot, api: SlackApi) -> AsyncIterator[SlackSurface]:
    async with serve_surface(build_surface(bot, api), slack) as surface:
        yield surface


def build_surface(bot: InboxBot | Application, api: SlackApi) -> SlackSurface:
    settings = bot.settings.section(SlackSettings)
    return SlackSurface(
        accept=bot.accept_inbound,
        administration=bot.administration,
        personal_history=bot.personal_history,
        turn_actions=bot.turn_actions,
        clarifications=bot.clarifications,
        personal_searches=bot.personal_searches,
        reports=bot.admin_reports,
        schemas=bot.schema_edits,
        retention=bot.retention_edits,
        workspaces=SingleWorkspace(build_workspace(api, bot.clock, bot.log)),
        signing_secret=SIGNING_SECRET,
        has_answered=bot.has_answered if settings.threads else None,
        allowed_bots=settings.bots,
        clock=bot.clock,
        log=bot.log,
    )
