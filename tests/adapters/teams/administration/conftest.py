"""A bot with receipts behind the listener for administration, reached over HTTP as Teams reaches it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import structlog

from adapters.teams.addresses import SURFACE, person_id_of
from adapters.teams.administration.listener import AdministrationListener
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.conversations import TeamsConversations
from adapters.teams.directory.teams_directory import TeamsDirectory
from adapters.teams.events.reply_sending import ReplySending
from bot.application import Application
from bot.ids import OPERATOR, PersonId
from bot.surface.known_addresses import KnownAddresses
from storage.sql.stores.admins import AdminStore
from tests.adapters.teams.reception import ServiceUrlTable, TeamsReception, serve_reception
from tests.bot.conftest import agent, bot, chat, clock, database, index, settings
from tests.bot.fakes import Clock, FakeChat, PartialSurface
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantMessage, TenantPerson

__all__ = ["agent", "bot", "chat", "clock", "database", "index", "settings"]


def person_id_for(person: TenantPerson) -> PersonId:
    return person_id_of(TENANT, person.object_id)


@dataclass(frozen=True)
class AdminChat:
    """A person's chat with the bot."""

    teams: TeamsServer
    person: TenantPerson
    reception: TeamsReception

    async def send(self, text: str) -> str:
        """Write a message. Returns the text of the newest card."""
        await self.teams.say(self.person, None, text)
        return self.text

    async def click(self, label: str, **inputs: str) -> str:
        """Click a button of the newest card. Returns the text of the newest card."""
        assert (await self.teams.click(self.person, self.card, label, **inputs)).status == 202
        return self.text

    async def choose(self, title: str, button: str) -> str:
        """Choose from a menu of the newest card, and press the button."""
        assert (await self.teams.choose(self.person, self.card, title, button)).status == 202
        return self.text

    @property
    def cards(self) -> list[TenantMessage]:
        return self.teams.tenant.bot_messages(self.teams.tenant.personal_chat_of(self.person))

    @property
    def card(self) -> TenantMessage:
        return self.cards[-1]

    @property
    def text(self) -> str:
        """The text of the newest card, with the runs of a line joined."""
        return self.card.visible_text().replace("\n · ", " · ")


@pytest.fixture
def directory(bot: Application, chat: FakeChat, connector: TeamsConnectorClient, clock: Clock) -> TeamsDirectory:
    directory = TeamsDirectory(
        calls=connector,
        addresses=KnownAddresses(SURFACE, bot.database),
        service_urls=TeamsConversations(ServiceUrlTable()),
        accepted_tenants=[TENANT],
        clock=clock,
        log=structlog.get_logger(),
    )
    bot.register_surface(PartialSurface(name=SURFACE, outbox=chat, directory=directory))
    return directory


@pytest.fixture
async def reception(
    teams: TeamsServer, bot: Application, directory: TeamsDirectory, connector: TeamsConnectorClient
) -> AsyncIterator[TeamsReception]:
    reception = TeamsReception()
    replies = ReplySending(connector, reception.log, pauses_s=(0.0, 0.0, 0.0))
    listener = AdministrationListener(
        administration=bot.administration,
        personal_history=bot.personal_history,
        personal_searches=bot.personal_searches,
        reports=bot.admin_reports,
        directory=directory,
        replies=replies,
        log=reception.log,
    )
    async with serve_reception(reception, teams, listeners=[listener]):
        yield reception
    await replies.close()


@pytest.fixture
async def admin_chat(teams: TeamsServer, bot: Application, alan: TenantPerson, reception: TeamsReception) -> AdminChat:
    """The chat of Alan, the only admin."""
    teams.tenant.personal_chat_of(alan)
    await add_known_admin(bot, alan)
    return AdminChat(teams, alan, reception)


async def add_known_admin(bot: Application, person: TenantPerson) -> None:
    """Makes the person an admin, though they have not written yet."""
    assert await AdminStore(bot.database).add_admin(person_id_for(person), by=OPERATOR)


@pytest.fixture
def other_chat(teams: TeamsServer, beth: TenantPerson, reception: TeamsReception) -> AdminChat:
    """The chat of Beth, who is no admin."""
    teams.tenant.personal_chat_of(beth)
    return AdminChat(teams, beth, reception)
