"""Wires the Slack surface together: installations, incoming deliveries and outgoing replies."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from aiohttp import web
from structlog.typing import FilteringBoundLogger

from adapters.slack.actions.feedback import RatingListener
from adapters.slack.actions.full_answer import FullAnswerListener
from adapters.slack.actions.overflow_menu import OverflowMenuListener
from adapters.slack.actions.save_search import SaveSearchListener
from adapters.slack.actions.steps import StepsListener
from adapters.slack.actions.stop import StopListener
from adapters.slack.errors import SlackError
from adapters.slack.events.commands import CommandListener
from adapters.slack.events.delivery_listener import DeliveryListener
from adapters.slack.events.directory_events import DirectoryChangeListener
from adapters.slack.events.edits import EditListener
from adapters.slack.events.messages import SURFACE, DeliveryReader
from adapters.slack.events.peer_processes import PeerProcesses
from adapters.slack.events.questions import AcceptInbound, HasAnswered, QuestionListener
from adapters.slack.home.listener import HomeTabListener
from adapters.slack.home.messages_tab import MessagesTabListener
from adapters.slack.home.modal_work import ModalWork
from adapters.slack.home.report_listener import ReportListener
from adapters.slack.home.schema_listener import SchemaListener
from adapters.slack.home.viewer_context import ViewerResolver
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.outbox import SlackOutbox
from adapters.slack.posting.thread_placement import SlackThreads
from adapters.slack.reply_only import ReplyOnlySlack
from adapters.slack.settings import SlackSettings
from adapters.slack.workspaces.connection import ConnectionBot, slack_connection_for
from adapters.slack.workspaces.file_download import SlackFiles
from adapters.slack.workspaces.installed_workspaces import UninstallListener
from adapters.slack.workspaces.oauth import OAuthRoutes
from adapters.slack.workspaces.slack_directory import SlackDirectory
from adapters.slack.workspaces.workspace_registry import WorkspaceRegistry
from bot.admin.admin_page.retention_edits import RetentionEdits
from bot.admin.admin_page.schema_edits import SchemaEdits
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.personal_history import PersonalHistory
from bot.ids import ConversationId, TurnId
from bot.saved_searches.personal_searches import PersonalSearches
from bot.surface.background_work import BackgroundWork
from bot.surface.inbound import Inbound
from bot.surface.outbox import Outbox
from bot.turns.turn_actions import TurnActionHandler

if TYPE_CHECKING:
    from adapters.slack.events.receivers import DeliveryReceivers


class SlackBot(ConnectionBot, Protocol):
    """The parts of the bot that this surface needs."""

    @property
    def administration(self) -> AdminOperations: ...

    @property
    def personal_history(self) -> PersonalHistory: ...

    @property
    def turn_actions(self) -> TurnActionHandler: ...

    @property
    def clarifications(self) -> ClarificationOffers: ...

    @property
    def personal_searches(self) -> PersonalSearches: ...

    @property
    def admin_reports(self) -> AdminReports: ...

    @property
    def schema_edits(self) -> SchemaEdits: ...

    @property
    def retention_edits(self) -> RetentionEdits: ...

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """Store the inbound. Returns None for a duplicate. Raises when it cannot be stored."""
        ...

    async def has_answered(self, conversation: ConversationId) -> bool: ...


def surface(bot: SlackBot) -> "SlackSurface | None":
    """Build the surface from the settings; None where Slack is not set up. Raises `InvalidSettings`."""
    connection = slack_connection_for(bot)
    if connection is None:
        return None
    slack = bot.settings.section(SlackSettings)
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
        workspaces=connection.workspaces,
        signing_secret=connection.signing_secret,
        app_api=connection.app_api,
        oauth_routes=connection.oauth_routes,
        has_answered=bot.has_answered if slack.threads else None,
        allowed_bots=slack.bots,
        clock=bot.clock,
        log=bot.log,
    )


class SlackSurface:
    """Fulfils `bot.surface.surface.Surface`."""

    name = SURFACE

    def __init__(
        self,
        *,
        accept: AcceptInbound,
        administration: AdminOperations,
        personal_history: PersonalHistory,
        turn_actions: TurnActionHandler,
        clarifications: ClarificationOffers,
        personal_searches: PersonalSearches,
        reports: AdminReports,
        schemas: SchemaEdits,
        retention: RetentionEdits,
        workspaces: WorkspaceRegistry,
        signing_secret: str | None = None,
        app_api: SlackApi | None = None,
        has_answered: HasAnswered | None = None,
        allowed_bots: Sequence[str] = (),
        oauth_routes: OAuthRoutes | None = None,
        clock: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        """`signing_secret` adds an HTTP route for deliveries; `app_api`, with the app-level token, opens a socket."""
        self._workspaces, self._log = workspaces, log
        self._directory = SlackDirectory(workspaces, log)
        self._outbox, self._threads = SlackOutbox(workspaces), SlackThreads(workspaces)
        self._files = SlackFiles(workspaces)
        delivery_reader, peers = DeliveryReader(workspaces, clock, allowed_bots), PeerProcesses()
        self._reply_only = ReplyOnlySlack(workspaces, peers, log)
        viewers, self._background = (
            ViewerResolver(workspaces, log, clock),
            BackgroundWork(log, message="slack view not shown", failures=(SlackError,)),
        )
        modal_work = ModalWork(viewers=viewers, background=self._background, log=log)
        home = HomeTabListener(
            administration=administration,
            personal_history=personal_history,
            personal_searches=personal_searches,
            reports=reports,
            retention=retention,
            viewers=viewers,
            background=self._background,
            log=log,
        )
        self.listeners: tuple[DeliveryListener, ...] = (
            EditListener(accept, delivery_reader, clock, has_answered),
            QuestionListener(accept, delivery_reader, has_answered),
            CommandListener(accept, delivery_reader, clock, log),
            home,
            ReportListener(
                reports=reports,
                work=modal_work,
                publish_home=home.publish_home,
                accept=accept,
                reader=delivery_reader,
                clock=clock,
            ),
            SchemaListener(schemas=schemas, work=modal_work),
            RatingListener(turn_actions, delivery_reader, log),
            StepsListener(turn_actions, delivery_reader, log),
            StopListener(turn_actions, delivery_reader, log),
            SaveSearchListener(accept, delivery_reader, clock, log),
            FullAnswerListener(turn_actions, accept, delivery_reader, clock, log),
            OverflowMenuListener(clarifications, accept, delivery_reader, clock, log),
            MessagesTabListener(personal_history, delivery_reader, log),
            DirectoryChangeListener(workspaces, peers),
            UninstallListener(workspaces, peers, log),
        )
        self._signing_secret, self._app_api, self._clock = signing_secret, app_api, clock
        self._started_receivers: DeliveryReceivers | None = None
        self._oauth_routes = oauth_routes

    @cached_property
    def _receivers(self) -> "DeliveryReceivers":
        """A worker process has none, and does not import Bolt."""
        from adapters.slack.events.receivers import DeliveryReceivers

        return DeliveryReceivers(
            self.listeners,
            self._workspaces,
            signing_secret=self._signing_secret,
            app_api=self._app_api,
            clock=self._clock,
            log=self._log,
        )

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def directory(self) -> SlackDirectory:
        return self._directory

    @property
    def threads(self) -> SlackThreads:
        return self._threads

    @property
    def files(self) -> SlackFiles:
        return self._files

    @property
    def worker_support(self) -> ReplyOnlySlack:
        return self._reply_only

    def http_routes(self) -> Sequence[web.RouteDef]:
        return [
            *self._receivers.http_routes(),
            *(self._oauth_routes.installation_routes() if self._oauth_routes else []),
        ]

    async def start(self) -> None:
        """Raises `InvalidSettings` when Slack refuses a token; retries later when Slack is down."""
        await self._reply_only.start()
        self._started_receivers = self._receivers
        await self._started_receivers.start()

    async def close(self) -> None:
        """Acknowledge the deliveries already received, then closes the connections."""
        if self._started_receivers is not None:
            await self._started_receivers.close()
        await self._background.close()
        await self._workspaces.close()
