"""What happens now and then: what is old goes, and says so."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.bootstrap import Bot
from bot.jobs import ticking
from tests.bot.conftest import Talk, until
from tests.bot.fakes import Chat, Clock, ListingAgent

OFTEN = timedelta(milliseconds=20)


async def test_old_offers_and_old_files_go_by_themselves(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    exported = await talk.say("export")
    unanswered = await Talk(bot, conversation="c2").say("List every receipt")
    clock.advance(timedelta(hours=25))
    file = Path(exported.result["files"][0]["path"])

    async with ticking(bot.turns, bot.exports, bot.attached, bot.sources, bot.log, every=OFTEN):
        await until(lambda: not file.exists() and chat.of(unanswered.turn)[0].chosen is not None)

    assert chat.of(asked.turn)[0].chosen == chat.of(unanswered.turn)[0].chosen


async def test_what_is_made_once_is_made_before_anybody_asks(bot: Bot, agent: ListingAgent, chat: Chat) -> None:
    stop = asyncio.Event()
    working = asyncio.create_task(bot.work(stop, prepare=True))

    await until(lambda: bool(agent.seen))
    stop.set()
    await working

    assert [one.index.scope.all_readers for one in agent.seen] == [True]
    assert chat.messages == {}
