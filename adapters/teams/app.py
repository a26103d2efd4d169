"""Wires the Teams surface together: the checked deliveries, the listeners and the outgoing replies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

from aiohttp import web
from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import SURFACE
from adapters.teams.administration.listener import AdministrationListener
from adapters.teams.connector.access_token import AccessTokenCache, token_request_for
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.conversations import TeamsConversations
from adapters.teams.directory.teams_directory import TeamsDirectory
from adapters.teams.events.choices import TeamsChoiceListener
from adapters.teams.events.directory_changes import DirectoryChangeForwarding, MemberChangeListener
from adapters.teams.events.dispatch import ActivityDispatcher
from adapters.teams.events.feedback import FeedbackHandler
from adapters.teams.events.listeners import ActivityListener
from adapters.teams.events.more_choices import MoreChoicesMemory
from adapters.teams.events.questions import TeamsMessageReader, TeamsQuestionListener
from adapters.teams.events.reply_sending import ReplySending
from adapters.teams.events.turn_buttons import TurnButtonListener
from adapters.teams.events.unknown_submissions import UnknownSubmissionListener
from adapters.teams.files.attachment_download import TeamsFiles, attached_files_of, sealed_locations_of
from adapters.teams.files.file_consent import FileConsents
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.files.uploads import FileUploads
from adapters.teams.posting.outbox import TeamsOutbox
from adapters.teams.posting.reply_cards import ClickReplyCards
from adapters.teams.posting.streams import TeamsStreamPace
from adapters.teams.posting.thread_placement import TeamsThreads
from adapters.teams.receiving.connector_keys import ConnectorKeys
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH, MessagesEndpoint
from adapters.teams.receiving.token_check import TokenCheck
from adapters.teams.reply_only import ReplyOnlyTeams, StoppedStreams
from adapters.teams.settings import TeamsSettings
from bot.admin.admin_page.usage import AdminReports
from bot.admin.administration import AdminOperations
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.file_offers import FileOffers
from bot.conversation.personal_history import PersonalHistory
from bot.errors import InvalidSettings
from bot.ids import TurnId
from bot.public_network import is_secure_url
from bot.saved_searches.personal_searches import PersonalSearches
from bot.settings_section import SectionT
from bot.surface.inbound import Inbound
from bot.surface.known_addresses import KnownAddresses, ServiceUrls
from bot.surface.secret_sealing import SecretSeal
from bot.turns.further_messages import FurtherMessages
from bot.turns.turn_actions import TurnActionHandler


class TeamsBotSettings(Protocol):
    """The bot's settings that this surface reads, and its section for Teams."""

    @property
    def secret_keys(self) -> tuple[bytes, ...]: ...

    def section(self, section_type: type[SectionT]) -> SectionT: ...


class TeamsBot(Protocol):
    """The parts of the bot that this surface needs."""

    @property
    def settings(self) -> TeamsBotSettings: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def log(self) -> FilteringBoundLogger: ...

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
    def file_offers(self) -> FileOffers: ...

    @property
    def service_urls(self) -> ServiceUrls: ...

    @property
    def further_messages(self) -> FurtherMessages: ...

    def known_addresses_for(self, surface: str) -> KnownAddresses: ...

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """Store the inbound. Returns None for a duplicate. Raises when it cannot be stored."""
        ...


def surface(bot: TeamsBot) -> "TeamsSurface | None":
    """Build the surface from the settings; None where Teams is not set up. Raises `InvalidSettings`."""
    settings = bot.settings.section(TeamsSettings)
    if settings.app_id is None:
        return None
    if missing_settings := settings.list_missing_settings():
        raise missing_settings[0]
    if not is_secure_url(settings.openid_url, allows_loopback=True):
        raise InvalidSettings(
            "PARLEY_TEAMS_OPENID_URL", "is not https", "remove it: Microsoft's address is the default"
        )
    if not settings.has_secure_token_url:
        raise InvalidSettings("PARLEY_TEAMS_TOKEN_URL", "is not https", "remove it: Microsoft's address is the default")
    return TeamsSurface(bot, settings, settings.app_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SendingSide:
    """What posts to Teams, looks people up there and moves files."""

    tokens: AccessTokenCache
    connector: TeamsConnectorClient
    conversations: TeamsConversations
    directory: TeamsDirectory
    hosts: FileHosts
    uploads: FileUploads
    consents: FileConsents
    outbox: TeamsOutbox
    threads: TeamsThreads


class TeamsSurface:
    """Fulfils `bot.surface.surface.Surface`."""

    name = SURFACE

    def __init__(
        self, bot: TeamsBot, settings: TeamsSettings, app_id: str, *, pace: TeamsStreamPace | None = None
    ) -> None:
        """`pace`: of streams, for tests."""
        self._sending = _build_sending_side(bot, settings, pace)
        self._seal = SecretSeal(bot.settings.secret_keys)
        self._files = TeamsFiles(self._sending.hosts, self._seal)
        self._replies = ReplySending(self._sending.connector, bot.log)
        forwarding = DirectoryChangeForwarding()
        self._reply_only = ReplyOnlyTeams(
            tokens=self._sending.tokens,
            connector=self._sending.connector,
            outbox=self._sending.outbox,
            directory=self._sending.directory,
            forwarding=forwarding,
        )
        self._keys = ConnectorKeys(settings.openid_url, bot.log)
        dispatcher = ActivityDispatcher(
            listeners=self._build_listeners(bot, forwarding),
            invoke_handlers=(FeedbackHandler(bot.turn_actions, bot.log), self._sending.consents),
            conversations=self._sending.conversations,
            log=bot.log,
        )
        self._endpoint = MessagesEndpoint(
            dispatch=dispatcher.dispatch_activity,
            tokens=TokenCheck(keys=self._keys, issuer=settings.issuer, app_id=app_id, clock=bot.clock),
            accepted_tenants=settings.accepted_tenants,
            clock=bot.clock,
            log=bot.log,
        )

    def _build_listeners(self, bot: TeamsBot, forwarding: DirectoryChangeForwarding) -> Sequence[ActivityListener]:
        """In the order in which they are asked."""
        sending, more_choices = self._sending, MoreChoicesMemory(bot.accept_inbound)
        return (
            TeamsChoiceListener(more_choices.accept_inbound),
            TurnButtonListener(
                turn_actions=bot.turn_actions,
                offers=bot.file_offers,
                clarifications=bot.clarifications,
                accept=bot.accept_inbound,
                cards=ClickReplyCards(),
                replies=self._replies,
                note_more_card=more_choices.note_card,
            ),
            MemberChangeListener(sending.directory.forget_members, forwarding),
            AdministrationListener(
                administration=bot.administration,
                personal_history=bot.personal_history,
                personal_searches=bot.personal_searches,
                reports=bot.admin_reports,
                directory=sending.directory,
                replies=self._replies,
                log=bot.log,
            ),
            UnknownSubmissionListener(self._replies),
            TeamsQuestionListener(
                more_choices.accept_inbound,
                TeamsMessageReader(attached_files_of, partial(sealed_locations_of, seal=self._seal)),
            ),
        )

    @property
    def outbox(self) -> TeamsOutbox:
        return self._sending.outbox

    @property
    def directory(self) -> TeamsDirectory:
        return self._sending.directory

    @property
    def threads(self) -> TeamsThreads:
        return self._sending.threads

    @property
    def files(self) -> TeamsFiles:
        return self._files

    @property
    def worker_support(self) -> ReplyOnlyTeams:
        return self._reply_only

    def http_routes(self) -> Sequence[web.RouteDef]:
        return (web.post(MESSAGES_PATH, self._endpoint.receive_activity),)

    async def start(self) -> None:
        """An outage of Microsoft's is logged; what it keeps from loading is loaded when it is needed."""
        await self._reply_only.start()
        await self._sending.uploads.start()
        await self._keys.start()

    async def close(self) -> None:
        await self._keys.close()
        await self._replies.close()
        await self._sending.conversations.close()
        await self._sending.uploads.close()
        await self._reply_only.close()
        await self._sending.hosts.close()


def _build_sending_side(bot: TeamsBot, settings: TeamsSettings, pace: TeamsStreamPace | None) -> _SendingSide:
    tokens = AccessTokenCache(token_request_for(settings))
    connector = TeamsConnectorClient(tokens)
    conversations = TeamsConversations(bot.service_urls)
    directory = TeamsDirectory(
        calls=connector,
        addresses=bot.known_addresses_for(SURFACE),
        service_urls=conversations,
        accepted_tenants=settings.accepted_tenants,
        clock=bot.clock,
        log=bot.log,
    )
    is_stand_in = not is_secure_url(settings.openid_url)  # then it is on this machine, and so are the files
    hosts = FileHosts(allows_loopback=is_stand_in)
    uploads = FileUploads(
        connector=connector,
        service_urls=conversations,
        offers=bot.file_offers,
        hosts=hosts,
        log=bot.log,
        now=bot.clock,
    )
    consents = FileConsents(
        connector=connector,
        service_urls=conversations,
        offers=bot.file_offers,
        uploads=uploads,
        turn_actions=bot.turn_actions,
        log=bot.log,
        allows_loopback=is_stand_in,
    )
    outbox = TeamsOutbox(
        connector,
        files=consents,
        service_urls=conversations,
        further_messages=bot.further_messages,
        on_stop=StoppedStreams(bot.turn_actions),
        log=bot.log,
        pace=pace,
    )
    return _SendingSide(
        tokens=tokens,
        connector=connector,
        conversations=conversations,
        directory=directory,
        hosts=hosts,
        uploads=uploads,
        consents=consents,
        outbox=outbox,
        threads=TeamsThreads(connector, outbox, conversations, bot.further_messages),
    )
