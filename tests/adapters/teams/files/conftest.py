"""A bot with exports, and the files' part of the Teams adapter, between it and the strict stand-in."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from aiohttp import web

from adapters.teams.addresses import ConversationKind, TeamsAddress
from adapters.teams.connector.access_token import AccessTokenCache, token_request_for
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.conversations import TeamsConversations
from adapters.teams.events.received_activity import describe_activity
from adapters.teams.files.file_consent import FileConsents
from adapters.teams.files.file_hosts import FileHosts
from adapters.teams.files.uploads import FileUploads
from adapters.teams.receiving.request_body import parse_activity
from adapters.teams.settings import TeamsSettings
from bot.application import Application
from bot.conversation.exports import ExportFileRequest
from bot.ids import ConversationId, MessageId, PersonId, Subject, TurnId
from bot.surface.inbound import PrivateAudience
from bot.surface.replies import FilePart
from tests.bot.conftest import agent, bot, chat, clock, database, index, settings
from tests.bot.conversation.test_exports import LEG
from tests.builders import RECEIPTS
from tests.stand_ins.teams.conftest import ada, bob, teams
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import CONSENT_CARD, TenantMessage, TenantPerson

__all__ = ["ada", "agent", "bob", "bot", "chat", "clock", "database", "index", "settings", "teams"]

TURN = TurnId("t1")


@dataclass
class ConsentDesk:
    """Offers Ada's export in her chat with the app, and passes people's answers on."""

    teams: TeamsServer
    bot: Application
    person: TenantPerson
    consents: FileConsents
    uploads: FileUploads
    hosts: FileHosts
    pauses: list[float]
    conversations: TeamsConversations

    @property
    def person_id(self) -> PersonId:
        return PersonId(f"teams:{self.teams.tenant.id}:{self.person.object_id}")

    @property
    def address(self) -> TeamsAddress:
        return TeamsAddress(
            service_url=self.teams.service_url,
            tenant=self.teams.tenant.id,
            conversation=self.teams.tenant.personal_chat_of(self.person).id,
            kind=ConversationKind.PERSONAL,
            bot_id=self.teams.tenant.bot_id,
            asker_id=self.person.id,
        )

    def move_region(self) -> None:
        """Teams serves the chat elsewhere from now on, and says so with something that the person does."""
        self.teams.move_region("amer")
        self.conversations.note_service_url(self.address)

    async def write_export(self) -> FilePart:
        subject = Subject(f"user:{self.person_id}")
        await self.bot.grants.grant_bucket_access(RECEIPTS, subject, by="test")
        request = ExportFileRequest(
            turn=TURN,
            conversation=ConversationId(f"teams:{self.teams.tenant.id}:{self.address.conversation}"),
            person=self.person_id,
            audience=PrivateAudience(person=self.person_id),
            leg=LEG,
        )
        return await self.bot.exports.write_file(request)

    async def revoke_access(self) -> None:
        await self.bot.grants.revoke_grant(RECEIPTS, Subject(f"user:{self.person_id}"), by="test")

    async def offer_export(self) -> TenantMessage:
        await self.consents.offer_file(self.address, TURN, MessageId("m1"), await self.write_export())
        return self.offers()[-1]

    def messages(self) -> list[TenantMessage]:
        return self.teams.tenant.bot_messages(self.teams.tenant.personal_chat_of(self.person))

    def offers(self) -> list[TenantMessage]:
        return [message for message in self.messages() if kinds_of(message) == [CONSENT_CARD]]

    async def wait_for_end(self) -> None:
        """Waits until no upload is in progress."""
        async with asyncio.timeout(20):
            while self.uploads.running_count:  # noqa: ASYNC110 - nothing sets an event
                await asyncio.sleep(0.005)


def kinds_of(message: TenantMessage) -> list[str]:
    """The types of the message's attachments."""
    return [attachment["contentType"] for attachment in message.attachments]


@pytest.fixture
async def connector(teams: TeamsServer) -> AsyncIterator[TeamsConnectorClient]:
    app = teams.registration
    teams_settings = TeamsSettings.model_validate(
        {"app_id": app.app_id, "app_password": app.secret, "app_tenant": teams.tenant.id, "token_url": teams.token_url}
    )
    tokens = AccessTokenCache(token_request_for(teams_settings))
    client = TeamsConnectorClient(tokens)
    await tokens.start()
    await client.start()
    yield client
    await client.close()
    await tokens.close()


@pytest.fixture
async def hosts(pauses: list[float]) -> AsyncIterator[FileHosts]:
    async def record_pause(seconds: float) -> None:
        pauses.append(seconds)

    hosts = FileHosts(allows_loopback=True, sleep=record_pause)
    yield hosts
    await hosts.close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
async def desk(
    teams: TeamsServer,
    bot: Application,
    ada: TenantPerson,
    connector: TeamsConnectorClient,
    hosts: FileHosts,
    pauses: list[float],
) -> AsyncIterator[ConsentDesk]:
    conversations = TeamsConversations(bot.service_urls)
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
        allows_loopback=True,
    )

    async def receive_delivery(request: web.Request) -> web.Response:
        received = describe_activity(parse_activity(await request.read()), bot.clock())
        assert received is not None
        answer = await consents.answer_invoke(received)
        return web.json_response(answer.body, status=answer.status)

    app = web.Application()
    app.router.add_post("/api/messages", receive_delivery)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    teams.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
    yield ConsentDesk(teams, bot, ada, consents, uploads, hosts, pauses, conversations)
    await conversations.close()
    await uploads.close()
    await runner.cleanup()
