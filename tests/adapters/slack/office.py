"""Runs a whole bot, with its own database and index, in a stand-in Slack workspace.

The bot's agent lists 42 receipts. Waits between messages are recorded, not waited for.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.slack.posting.api import SlackApi
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import Subject
from bot.settings import load_settings
from storage.embedded.index import EmbeddedIndex
from storage.text.snowball_analyser import analyser_for
from tests.adapters.slack.conftest import RecordedPauses, build_surface, serve_surface
from tests.bot.conftest import running_workers
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackChannel, SlackMessage


@dataclass(frozen=True, kw_only=True)
class SlackOffice:
    slack: SlackServer
    bot: Application
    agent: ListingAgent
    pauses: RecordedPauses

    def posted_messages(self) -> list[SlackMessage]:
        """Returns all messages that Parley has posted."""
        return self.slack.workspace.bot_messages()

    async def wait_for_answer(self, number: int = 1) -> SlackMessage:
        """Wait for Parley's `number`th answer (counted from 1) and return its message."""
        await self.slack.wait_until(lambda: len(self.posted_answers()) >= number)
        return self.posted_answers()[number - 1]

    def posted_answers(self) -> list[SlackMessage]:
        return [
            message
            for message in self.posted_messages()
            if any(phrase in message.visible_text() for phrase in ("Which?", "There are", "no doc"))
        ]

    async def grant_receipts(self, subject: str) -> None:
        await self.bot.grants.grant_bucket_access(RECEIPTS, Subject(subject), by="operator")

    async def grant_receipts_to_channel(self, channel: SlackChannel) -> None:
        """Grant the receipts to the channel."""
        await self.grant_receipts(f"channel:slack:{TEAM}:{channel.id}")


@asynccontextmanager
async def open_slack_office(slack: SlackServer, home: Path, **environ: str) -> AsyncGenerator[SlackOffice]:
    default_settings = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_OVERLOAD_LIMIT": "10",
    }
    settings, agent = load_settings(home, default_settings | environ).settings, ListingAgent()
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
        pauses = RecordedPauses()
        surface = build_surface(bot, SlackApi(token=TOKEN, base_url=slack.api_url, sleep=pauses))
        bot.register_surface(surface)
        await stack.enter_async_context(serve_surface(surface, slack))
        await stack.enter_async_context(running_workers(bot))
        yield SlackOffice(slack=slack, bot=bot, agent=agent, pauses=pauses)
