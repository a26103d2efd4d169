"""Runs a whole bot, with its own database and index, in the stand-in's tenant. The bot's agent lists 42 receipts."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from adapters.teams.app import TeamsSurface, surface
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.http_server import build_web_app
from bot.ids import Subject
from bot.metrics.service_metrics import ServiceMetrics
from bot.settings import load_settings
from storage.embedded.index import EmbeddedIndex
from storage.text.snowball_analyser import analyser_for
from tests.bot.conftest import running_workers
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TenantMessage


@dataclass(frozen=True, kw_only=True)
class TeamsOffice:
    teams: TeamsServer
    bot: Application
    surface: TeamsSurface
    agent: ListingAgent

    def posted_messages(self) -> list[TenantMessage]:
        """Returns all messages that Parley has posted and nobody has deleted."""
        return [
            message
            for message in self.teams.tenant.messages
            if message.sender == self.teams.tenant.bot_id and not message.is_deleted
        ]

    async def wait_for_text(self, text: str, number: int = 1) -> TenantMessage:
        """Wait for Parley's `number`th message (counted from 1) with this text, and return it."""
        await self.teams.wait_until(lambda: len(self._messages_with(text)) >= number)
        return self._messages_with(text)[number - 1]

    def _messages_with(self, text: str) -> list[TenantMessage]:
        return [message for message in self.posted_messages() if text in message.visible_text()]

    async def grant_receipts(self, subject: str) -> None:
        await self.bot.grants.grant_bucket_access(RECEIPTS, Subject(subject), by="operator")

    async def revoke_receipts(self, subject: str) -> None:
        await self.bot.grants.revoke_grant(RECEIPTS, Subject(subject), by="operator")


def environment_of(teams: TeamsServer) -> dict[str, str]:
    """The variables with which Parley works in the stand-in's tenant."""
    app = teams.registration
    return {
        "MICROSOFT_APP_ID": app.app_id,
        "MICROSOFT_APP_PASSWORD": app.secret,
        "MICROSOFT_APP_TENANT_ID": teams.tenant.id,
        "MICROSOFT_APP_TYPE": app.kind,
        "PARLEY_TEAMS_OPENID_URL": teams.openid_url,
        "PARLEY_TEAMS_TOKEN_URL": teams.token_url,
    }


@asynccontextmanager
async def open_teams_office(
    teams: TeamsServer, home: Path, agent: ListingAgent | None = None, *, answers: bool = True, **environ: str
) -> AsyncGenerator[TeamsOffice]:
    """`answers`: whether the bot answers here; else another process would, as it does in `parley serve`."""
    default_settings = {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "10"}
    settings = load_settings(home, default_settings | environment_of(teams) | environ).settings
    agent = agent or ListingAgent()
    async with AsyncExitStack() as stack:
        index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
        stack.push_async_callback(index.close)
        await index.set_schema(a_receipt_schema())
        vendors = ["Acme"] * 37 + ["Bolt"] * 5
        documents = [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
        await index.put(RECEIPTS, documents)
        bot = await stack.enter_async_context(
            open_application(settings, index=index, agent=agent, reasoner=NO_REASONER)
        )
        teams_surface = surface(bot)
        assert teams_surface is not None
        (bot.register_surface if answers else bot.register_receive_only)(teams_surface)
        await stack.enter_async_context(_serve_bot(bot, teams_surface, teams))
        if answers:
            await stack.enter_async_context(running_workers(bot))
        yield TeamsOffice(teams=teams, bot=bot, surface=teams_surface, agent=agent)


@asynccontextmanager
async def _serve_bot(bot: Application, teams_surface: TeamsSurface, teams: TeamsServer) -> AsyncGenerator[None]:
    runner = web.AppRunner(build_web_app(bot, [teams_surface], ServiceMetrics()))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    teams.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{MESSAGES_PATH}"
    await teams_surface.start()
    try:
        yield
    finally:
        await teams_surface.close()
        await runner.cleanup()
