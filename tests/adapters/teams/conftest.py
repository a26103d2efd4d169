"""Fixtures of the Teams adapter: the strict stand-in of Microsoft's side, and the adapter's sending side against it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field

import pytest
import structlog
from pydantic import SecretStr
from structlog import make_filtering_bound_logger
from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import ConversationKind, MoreChoicesCard, TeamsAddress, conversation_id_of
from adapters.teams.connector.access_token import AccessTokenCache, token_request_for
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.posting.outbox import TeamsOutbox, TeamsThread
from adapters.teams.posting.streams import TeamsStreamPace
from adapters.teams.settings import AppType, TeamsSettings
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.outbox import OutboxFailed
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson


@dataclass
class RecordedWaits:
    """Records the waits instead of waiting. `clock` is ahead by their sum."""

    durations_s: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.durations_s.append(seconds)
        await asyncio.sleep(0)

    def clock(self) -> float:
        return sum(self.durations_s)

    def advance(self, seconds: float) -> None:
        self.durations_s.append(seconds)


@dataclass
class RecordedStops:
    """Fulfils `adapters.teams.posting.protocols.StreamStopListener`."""

    stops: list[tuple[TurnId, ConversationId, PersonId]] = field(
        default_factory=list[tuple[TurnId, ConversationId, PersonId]]
    )

    async def __call__(self, turn: TurnId, conversation: ConversationId, person: PersonId) -> None:
        self.stops.append((turn, conversation, person))


@dataclass
class FurtherMessageTable:
    """Fulfils `adapters.teams.posting.protocols.FurtherMessageRecords`. Fails as long as `error` is set."""

    messages: dict[tuple[ConversationId, MessageId], list[MessageId]] = field(
        default_factory=dict[tuple[ConversationId, MessageId], list[MessageId]]
    )
    error: OutboxFailed | None = None

    async def note_message(self, conversation: ConversationId, message: MessageId, further: MessageId) -> None:
        if self.error is not None:
            raise self.error
        self.messages.setdefault((conversation, message), []).append(further)

    async def list_messages(self, conversation: ConversationId, message: MessageId) -> Sequence[MessageId]:
        if self.error is not None:
            raise self.error
        return self.messages.get((conversation, message), [])

    async def forget_messages(self, conversation: ConversationId, message: MessageId) -> None:
        self.messages.pop((conversation, message), None)


@dataclass
class RecordedLog:
    lines: list[MutableMapping[str, object]] = field(default_factory=list[MutableMapping[str, object]])

    def logger(self) -> FilteringBoundLogger:
        return structlog.wrap_logger(
            None, processors=[self._record_line], wrapper_class=make_filtering_bound_logger("info")
        )

    def _record_line(self, _: object, level: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
        self.lines.append({"level": level, **line})
        raise structlog.DropEvent


@pytest.fixture
async def teams(waits: RecordedWaits) -> AsyncIterator[TeamsServer]:
    """The stand-in. Its time goes on with the waits of the adapter."""
    began_at_s = time.time()
    async with TeamsServer() as server:
        server.clock = lambda: began_at_s + waits.clock()
        yield server


@pytest.fixture
def waits() -> RecordedWaits:
    return RecordedWaits()


@pytest.fixture
def stops() -> RecordedStops:
    return RecordedStops()


@pytest.fixture
def further_messages() -> FurtherMessageTable:
    """Of all processes."""
    return FurtherMessageTable()


@pytest.fixture
def teams_log() -> RecordedLog:
    return RecordedLog()


@pytest.fixture
def teams_settings(teams: TeamsServer) -> TeamsSettings:
    return settings_for(teams)


def settings_for(teams: TeamsServer) -> TeamsSettings:
    """The settings of the app that the stand-in knows."""
    app = teams.registration
    return TeamsSettings(
        app_id=app.app_id,
        app_password=SecretStr(app.secret),
        app_tenant=teams.tenant.id,
        app_type=AppType(app.kind),
        token_url=teams.token_url,
        openid_url=teams.openid_url,
    )


@pytest.fixture
async def access_tokens(teams_settings: TeamsSettings, waits: RecordedWaits) -> AsyncIterator[AccessTokenCache]:
    tokens = AccessTokenCache(token_request_for(teams_settings), clock=waits.clock, sleep=waits, jitter=lambda: 0.5)
    await tokens.start()
    yield tokens
    await tokens.close()


@pytest.fixture
async def connector(access_tokens: AccessTokenCache, waits: RecordedWaits) -> AsyncIterator[TeamsConnectorClient]:
    client = TeamsConnectorClient(access_tokens, clock=waits.clock, sleep=waits, jitter=lambda: 0.5)
    await client.start()
    yield client
    await client.close()


@pytest.fixture
def stream_pace() -> TeamsStreamPace:
    """Without patience, so that each progress in a personal chat streams."""
    return TeamsStreamPace(patience_s=0.0)


@pytest.fixture
def teams_outbox(
    connector: TeamsConnectorClient,
    stops: RecordedStops,
    teams_log: RecordedLog,
    waits: RecordedWaits,
    stream_pace: TeamsStreamPace,
    further_messages: FurtherMessageTable,
) -> TeamsOutbox:
    """Not started: the tests look after its streams with `tend_streams`."""
    return TeamsOutbox(
        connector,
        files=None,
        service_urls=None,
        further_messages=further_messages,
        on_stop=stops,
        log=teams_log.logger(),
        pace=stream_pace,
        clock=waits.clock,
    )


@pytest.fixture
def other_outbox(
    connector: TeamsConnectorClient,
    stops: RecordedStops,
    teams_log: RecordedLog,
    further_messages: FurtherMessageTable,
) -> TeamsOutbox:
    """Of another process, which remembers nothing of what this one has posted."""
    return TeamsOutbox(
        connector,
        files=None,
        service_urls=None,
        further_messages=further_messages,
        on_stop=stops,
        log=teams_log.logger(),
    )


@pytest.fixture
def alan(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Alan")


@pytest.fixture
def beth(teams: TeamsServer) -> TenantPerson:
    return teams.tenant.add_person("Beth")


@pytest.fixture
def personal_chat(teams: TeamsServer, alan: TenantPerson) -> TenantConversation:
    return teams.tenant.personal_chat_of(alan)


@pytest.fixture
def group_chat(teams: TeamsServer, alan: TenantPerson, beth: TenantPerson) -> TenantConversation:
    return teams.tenant.add_group_chat("Shift", alan, beth)


@pytest.fixture
def team_channel(teams: TeamsServer, alan: TenantPerson, beth: TenantPerson) -> TenantConversation:
    return teams.tenant.add_channel(teams.tenant.add_team("Plant", alan, beth), "Pumps")


async def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for the condition. Raises `TimeoutError`."""
    async with asyncio.timeout(10):
        while True:
            if holds():
                return
            await asyncio.sleep(0.005)


def address_in(
    teams: TeamsServer,
    conversation: TenantConversation,
    asker: TenantPerson,
    *,
    thread: str = "",
    reply_to: str = "",
    clarification_card: str = "",
    more_cards: tuple[MoreChoicesCard, ...] = (),
) -> TeamsAddress:
    """The address of a question that the person asks there. `thread`: the first message of a channel's thread."""
    return TeamsAddress(
        service_url=teams.service_url,
        tenant=teams.tenant.id,
        conversation=f"{conversation.id};messageid={thread}" if thread else conversation.id,
        kind=ConversationKind(conversation.kind),
        bot_id=teams.tenant.bot_id,
        asker_id=asker.id,
        reply_to=reply_to or clarification_card,
        clarification_card=clarification_card,
        more_cards=more_cards,
        team=conversation.team.id if conversation.team else "",
        channel=conversation.id if conversation.team else "",
    )


def thread_at(outbox: TeamsOutbox, address: TeamsAddress) -> TeamsThread:
    return outbox.thread_for(conversation_id_of(address.tenant, address.conversation), address.to_mapping())
