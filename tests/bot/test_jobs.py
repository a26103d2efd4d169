"""What happens now and then: what is old goes, and says so."""

from datetime import timedelta
from pathlib import Path

from bot.bootstrap import Bot
from bot.jobs import ticking
from tests.bot.conftest import Talk, until
from tests.bot.fakes import Chat, Clock

OFTEN = timedelta(milliseconds=20)


async def test_old_offers_and_old_files_go_by_themselves(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    exported = await talk.say("export")
    unanswered = await Talk(bot, conversation="c2").say("List every receipt")
    clock.advance(timedelta(hours=25))
    file = Path(exported.result["files"][0]["path"])

    async with ticking(bot.turns, bot.exports, bot.sources, bot.log, every=OFTEN):
        await until(lambda: not file.exists() and chat.of(unanswered.turn)[0].chosen is not None)

    assert chat.of(asked.turn)[0].chosen == chat.of(unanswered.turn)[0].chosen
