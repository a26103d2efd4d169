"""Receives the stand-in's deliveries over real HTTP, and records what is accepted."""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog
from aiohttp import web
from structlog import make_filtering_bound_logger
from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import TeamsAddress
from adapters.teams.conversations import TeamsConversations
from adapters.teams.events.choices import TeamsChoiceListener
from adapters.teams.events.dispatch import INVOKE_TIMEOUT_S, ActivityDispatcher
from adapters.teams.events.listeners import ActivityListener, InvokeHandler
from adapters.teams.events.questions import TeamsMessageReader, TeamsQuestionListener
from adapters.teams.payloads.activities import ActivityAttachment
from adapters.teams.receiving.connector_keys import ConnectorKeys
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH, MessagesEndpoint
from adapters.teams.receiving.token_check import TokenCheck
from bot.errors import BotError
from bot.http_server import RouteHandler
from bot.ids import TurnId
from bot.surface.inbound import AttachedFile, Inbound
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.signing import ISSUER
from tests.stand_ins.teams.tenancy import APP_ID, TENANT


class InboxUnavailable(BotError):
    """The database does not answer."""


@dataclass
class ReceptionClock:
    """Seconds since 1970, from now on moved by the test alone."""

    now_s: float = field(default_factory=time.time)

    def read_seconds(self) -> float:
        return self.now_s

    def read_time(self) -> datetime:
        return datetime.fromtimestamp(self.now_s, UTC)


@dataclass
class ServiceUrlTable:
    """Fulfils `adapters.teams.conversations.ServiceUrlRecords`."""

    urls: dict[str, str] = field(default_factory=dict[str, str])
    writes: int = 0

    async def find_url(self, conversation: str) -> str | None:
        return self.urls.get(conversation)

    async def save_url(self, conversation: str, url: str) -> None:
        self.urls[conversation] = url
        self.writes += 1


@dataclass
class TeamsReception:
    """`accepted`: without duplicates. `failures`: how many of the next inbounds cannot be stored."""

    clock: ReceptionClock = field(default_factory=ReceptionClock)
    accepted: list[Inbound] = field(default_factory=list[Inbound])
    failures: int = 0
    invoke_timeout_s: float = INVOKE_TIMEOUT_S
    service_urls: ServiceUrlTable = field(default_factory=ServiceUrlTable)
    log_lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])
    has_new_line: asyncio.Event = field(default_factory=asyncio.Event)
    conversations: TeamsConversations = field(init=False)  # of the endpoint built last

    async def wait_for_lines(self, event: str, count: int) -> None:
        """Waits until so many lines of the event are in the log."""
        async with asyncio.timeout(10):
            while [line["event"] for line in self.log_lines].count(event) < count:
                self.has_new_line.clear()
                await self.has_new_line.wait()

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        if self.failures:
            self.failures -= 1
            raise InboxUnavailable
        if any(inbound.event_id == other.event_id for other in self.accepted):
            return None
        self.accepted.append(inbound)
        return TurnId(f"turn-{len(self.accepted)}")

    @property
    def log(self) -> FilteringBoundLogger:
        return structlog.wrap_logger(
            None, processors=[self._record_line], wrapper_class=make_filtering_bound_logger("info")
        )

    def _record_line(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.log_lines.append({"level": level, **line})
        self.has_new_line.set()
        raise structlog.DropEvent

    def build_keys(self, openid_url: str) -> ConnectorKeys:
        return ConnectorKeys(openid_url, self.log, self.clock.read_seconds)

    def build_endpoint(
        self,
        keys: ConnectorKeys,
        *,
        listeners: Sequence[ActivityListener] = (),
        invoke_handlers: Sequence[InvokeHandler] = (),
        tenants: Collection[str] = (TENANT,),
    ) -> MessagesEndpoint:
        """The endpoint with the listeners for questions and choices behind those given."""
        self.conversations = TeamsConversations(self.service_urls, self.clock.read_seconds)
        dispatcher = ActivityDispatcher(
            listeners=[
                *listeners,
                TeamsChoiceListener(self.accept_inbound),
                TeamsQuestionListener(
                    self.accept_inbound, TeamsMessageReader(read_named_files, lambda attachments: {})
                ),
            ],
            invoke_handlers=invoke_handlers,
            conversations=self.conversations,
            log=self.log,
            invoke_timeout_s=self.invoke_timeout_s,
        )
        return MessagesEndpoint(
            dispatch=dispatcher.dispatch_activity,
            tokens=TokenCheck(keys=keys, issuer=ISSUER, app_id=APP_ID, clock=self.clock.read_time),
            accepted_tenants=tenants,
            clock=self.clock.read_time,
            log=self.log,
        )

    def addresses(self) -> list[TeamsAddress]:
        return [TeamsAddress.from_mapping(inbound.address) for inbound in self.accepted]


def read_named_files(attachments: Sequence[ActivityAttachment]) -> list[AttachedFile]:
    """The attachments with a name, as files."""
    return [
        AttachedFile(id=part.content_url, name=part.name, kind=part.name.rpartition(".")[2])
        for part in attachments
        if part.name
    ]


@asynccontextmanager
async def serve_reception(
    reception: TeamsReception,
    teams: TeamsServer,
    *,
    listeners: Sequence[ActivityListener] = (),
    invoke_handlers: Sequence[InvokeHandler] = (),
) -> AsyncGenerator[TeamsReception]:
    """Serves the endpoint on a free port, to which the stand-in delivers."""
    teams.clock = reception.clock.read_seconds
    keys = reception.build_keys(teams.openid_url)
    endpoint = reception.build_endpoint(keys, listeners=listeners, invoke_handlers=invoke_handlers)
    app = web.Application(middlewares=[answer_unavailable])
    app.router.add_post(MESSAGES_PATH, endpoint.receive_activity)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    teams.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{MESSAGES_PATH}"
    await keys.start()
    try:
        yield reception
    finally:
        await runner.cleanup()
        await keys.close()


@web.middleware
async def answer_unavailable(request: web.Request, handler: RouteHandler) -> web.StreamResponse:
    """As `bot.http_server` does."""
    try:
        return await handler(request)
    except InboxUnavailable:
        return web.Response(status=503)
