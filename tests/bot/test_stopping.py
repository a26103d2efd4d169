"""A turn that somebody stops ends at once, and says what it had found."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent.context import Context
from agent.outcome import Attempt, Outcome
from bot.afterwards import Onlooker
from bot.bootstrap import Bot, build_bot
from bot.errors import EndedAlready, NotSaidHere, NotYourAnswer
from bot.ids import ConversationId, PersonId, TurnId
from bot.inbound import Audience, Operator, Said
from bot.replies import Handle, Handles, Notice, Part
from bot.settings import Settings
from bot.stopping import Stopped, Stops
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import Database
from storage.sql.inbox import Inbox
from tests.bot.conftest import Talk, finished, somebody, until, working
from tests.bot.fakes import NO_REASONER, Chat, Clock, ListingAgent

HERE = ConversationId("c1")


class EndlessAgent(ListingAgent):
    """Finds something, and goes on looking."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.ended = asyncio.Event(), False

    async def answer(self, question: str, context: Context) -> Outcome:
        if question == "write forever":
            context.progress("Writing the file: 12,000 rows")
        elif question == "forever":
            context.attempted(Attempt(tool="annotations_search", arguments={}, documents=1042, ms=1.0))
            context.attempted(Attempt(tool="search_text", arguments={}, documents=1, ms=1.0))
        else:
            return await super().answer(question, context)
        self.looking.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True
        raise AssertionError


@pytest.fixture
def agent() -> EndlessAgent:
    return EndlessAgent()


@pytest.fixture
async def elsewhere(settings: Settings, clock: Clock, index: EmbeddedIndex, chat: Chat) -> AsyncIterator[Bot]:
    """Another process over the same database."""
    database = await Database.open(settings.database, clock=clock)
    async with build_bot(
        settings, clock=clock, database=database, index=index, reasoner=NO_REASONER, outboxes={"slack": chat}
    ) as bot:
        yield bot
    await database.close()


def onlooker(name: str = "Ada", audience: Audience | None = None, conversation: ConversationId = HERE) -> Onlooker:
    return Onlooker(conversation=conversation, audience=audience or Operator(), person=PersonId("operator"), name=name)


def parts_of(chat: Chat, turn: TurnId) -> tuple[Part, ...]:
    return tuple(part for message in chat.of(turn) for part in message.reply.parts)


async def test_a_stopped_turn_says_by_whom_and_what_was_found(bot: Bot, chat: Chat, agent: EndlessAgent) -> None:
    turn = await Talk(bot).accepted(Said("forever"))
    async with working(bot):
        await agent.looking.wait()
        await bot.afterwards.stop(turn, onlooker())
        done = await finished(bot, turn)

    sentence = "Stopped by Ada. Found till then: 1,042 documents in the fields, 1 document in the text."
    assert agent.ended
    assert chat.of(turn)[0].reply == done.reply
    assert done.reply.parts == (Notice(text=sentence),)
    assert [attempt.documents for attempt in await Inbox(bot.database).attempts(turn)] == [1042, 1]


async def test_a_turn_that_runs_elsewhere_is_stopped_through_the_database(
    bot: Bot, elsewhere: Bot, agent: EndlessAgent
) -> None:
    turn = await Talk(bot).accepted(Said("forever"))
    async with working(bot):
        await agent.looking.wait()
        await elsewhere.afterwards.stop_all(onlooker("Bob"))
        done = await finished(bot, turn)

    assert agent.ended
    assert (done.error or "").startswith("Stopped by Bob. ")


async def test_work_that_finds_nothing_says_what_it_was_at(bot: Bot, agent: EndlessAgent) -> None:
    turn = await Talk(bot).accepted(Said("write forever"))
    async with working(bot):
        await agent.looking.wait()
        await bot.afterwards.stop(turn, onlooker())
        done = await finished(bot, turn)

    assert done.error == "Stopped by Ada. It had come to this: Writing the file: 12,000 rows"


async def test_a_turn_that_nobody_has_begun_ends_as_soon_as_somebody_does(bot: Bot, agent: EndlessAgent) -> None:
    turn = await Talk(bot).accepted(Said("forever"))
    await bot.afterwards.stop(turn, onlooker())
    done = await bot.run(turn)

    assert not agent.looking.is_set()
    assert done.error == "Stopped by Ada. Nothing had been found yet."


async def test_who_works_on_a_turn_again_is_not_disturbed_by_the_end_of_who_lost_it(bot: Bot) -> None:
    stops, turn = Stops(Inbox(bot.database), bot.log), await Talk(bot).accepted(Said("forever"))
    lost = asyncio.create_task(stops.unless_stopped(turn, asyncio.Event().wait))
    await asyncio.sleep(0)
    again = asyncio.create_task(stops.unless_stopped(turn, asyncio.Event().wait))
    await asyncio.sleep(0)
    lost.cancel()
    await asyncio.wait([lost])

    await stops.ask(turn, "Ada")
    with pytest.raises(Stopped):
        await again


async def test_the_conversation_goes_on_after_a_stop(bot: Bot, agent: EndlessAgent) -> None:
    turn = await Talk(bot).accepted(Said("forever"))
    await bot.afterwards.stop(turn, onlooker())

    assert (await Talk(bot).say("List every receipt")).result["outcome"] == "overload"


async def test_what_takes_long_shows_a_way_to_stop_it(bot: Bot, chat: Chat, agent: EndlessAgent) -> None:
    turn = await Talk(bot).accepted(Said("forever"))
    async with working(bot):
        await until(lambda: Handles(handles=(Handle.STOP,)) in parts_of(chat, turn))
        await bot.afterwards.stop(turn, onlooker())
        done = await finished(bot, turn)

    assert chat.of(turn)[0].reply == done.reply


async def test_only_those_who_read_the_message_can_stop_it_and_only_once(bot: Bot, agent: EndlessAgent) -> None:
    ada = somebody("ADA")
    turn = await Talk(bot, audience=ada, person=ada.person).accepted(Said("forever"))

    with pytest.raises(NotYourAnswer):
        await bot.afterwards.stop(turn, onlooker("Bob", somebody("BOB")))
    with pytest.raises(NotSaidHere):
        await bot.afterwards.stop(turn, onlooker("Ada", ada, ConversationId("c2")))
    with pytest.raises(NotSaidHere):
        await bot.afterwards.stop(TurnId("forged"), onlooker("Ada", ada))

    await bot.afterwards.stop(turn, onlooker("Ada", ada))
    await bot.run(turn)
    with pytest.raises(EndedAlready):
        await bot.afterwards.stop(turn, onlooker("Ada", ada))
