"""Parley at work in a workspace: the stand-in on one side, on the other a bot with a database and an index of its own.

The bot's agent lists 42 receipts. Pauses between messages are written down and not waited for.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.slack.api import SlackApi
from bot.bootstrap import Bot, build_bot
from bot.ids import Subject
from bot.settings import load_settings
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from tests.adapters.slack.conftest import Pauses, a_surface, served
from tests.bot.conftest import working
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, Channel, Message


@dataclass(frozen=True, kw_only=True)
class Office:
    slack: SlackServer
    bot: Bot
    agent: ListingAgent
    pauses: Pauses

    def said(self) -> list[Message]:
        """All that Parley has posted."""
        return self.slack.workspace.answers()

    async def answer(self, number: int = 1) -> Message:
        """The `number`th message of Parley's with an answer in it: its last word, said."""
        await self.slack.until(lambda: len(self.answers()) >= number)
        return self.answers()[number - 1]

    def answers(self) -> list[Message]:
        return [one for one in self.said() if any(words in one.words() for words in ("Which?", "There are", "no doc"))]

    async def grant(self, subject: str) -> None:
        await self.bot.grants.grant(RECEIPTS, Subject(subject), by="operator")

    async def open_channel(self, channel: Channel) -> None:
        """Whoever reads it may see the receipts."""
        await self.grant(f"channel:slack:{TEAM}:{channel.id}")


@asynccontextmanager
async def an_office(slack: SlackServer, home: Path, **environ: str) -> AsyncGenerator[Office]:
    given = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_OVERLOAD_LIMIT": "10",
    }
    settings, agent = load_settings(home, given | environ).settings, ListingAgent()
    async with AsyncExitStack() as stack:
        index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
        stack.push_async_callback(index.close)
        await index.set_schema(a_receipt_schema())
        vendors = ["Acme"] * 37 + ["Bolt"] * 5
        documents = [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
        await index.put(RECEIPTS, documents)
        bot = await stack.enter_async_context(build_bot(settings, index=index, agent=agent, reasoner=NO_REASONER))
        pauses = Pauses()
        surface = a_surface(bot, SlackApi(token=TOKEN, base_url=slack.api_url, pause=pauses))
        bot.register(surface)
        await stack.enter_async_context(served(surface, slack))
        await stack.enter_async_context(working(bot))
        yield Office(slack=slack, bot=bot, agent=agent, pauses=pauses)
