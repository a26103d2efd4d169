"""A turn that a person stops ends at once, and reports what it had found."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent.context import AgentContext
from agent.outcome import Outcome, SearchAttempt
from bot.application import Application
from bot.bootstrap import open_application
from bot.errors import AnswerNotFound, NotYourAnswer, TurnAlreadyEnded
from bot.ids import ConversationId, PersonId, TurnId
from bot.settings import Settings
from bot.surface.inbound import Audience, OperatorAudience, TextMessage
from bot.surface.replies import NoticePart, ReplyPart, TurnAction, TurnActionsPart
from bot.turns.stop_requests import StopRequests, TurnStopped
from bot.turns.turn_actions import TurnActor
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import SqlDatabase
from storage.sql.stores.inbox import TurnInbox
from tests.bot.conftest import ConversationDriver, private_audience_of, running_workers, wait_until, wait_until_finished
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent

HERE = ConversationId("c1")


class EndlessAgent(ListingAgent):
    """Reports a find, and then searches forever."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.ended = asyncio.Event(), False

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question == "write forever":
            context.report_progress("Writing the file: 12,000 rows")
        elif question == "forever":
            context.report_attempt(SearchAttempt(tool="annotations_search", arguments={}, documents=1042, ms=1.0))
            context.report_attempt(SearchAttempt(tool="search_text", arguments={}, documents=1, ms=1.0))
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
async def other_process(
    settings: Settings, clock: Clock, index: EmbeddedIndex, chat: FakeChat
) -> AsyncIterator[Application]:
    """Another process over the same database."""
    database = await SqlDatabase.open(settings.effective_database_url, clock=clock)
    async with open_application(
        settings, clock=clock, database=database, index=index, reasoner=NO_REASONER, outboxes={"slack": chat}
    ) as bot:
        yield bot
    await database.close()


def build_actor(name: str = "Ada", audience: Audience | None = None, conversation: ConversationId = HERE) -> TurnActor:
    return TurnActor(
        conversation=conversation, audience=audience or OperatorAudience(), person=PersonId("operator"), name=name
    )


def parts_of(chat: FakeChat, turn: TurnId) -> tuple[ReplyPart, ...]:
    return tuple(part for message in chat.messages_of_turn(turn) for part in message.reply.parts)


async def test_a_stopped_turn_names_the_person_and_what_was_found(
    bot: Application, chat: FakeChat, agent: EndlessAgent
) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("forever"))
    async with running_workers(bot):
        await agent.looking.wait()
        await bot.turn_actions.stop_turn(turn, build_actor())
        finished_turn = await wait_until_finished(bot, turn)

    sentence = "Stopped by Ada. Found till then: 1,042 documents in the fields, 1 document in the text."
    assert agent.ended
    assert chat.messages_of_turn(turn)[0].reply == finished_turn.reply
    assert finished_turn.reply.parts == (NoticePart(text=sentence),)
    assert [attempt.documents for attempt in await TurnInbox(bot.database).list_attempts(turn)] == [1042, 1]


async def test_a_turn_in_another_process_is_stopped_through_the_database(
    bot: Application, other_process: Application, agent: EndlessAgent
) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("forever"))
    async with running_workers(bot):
        await agent.looking.wait()
        await other_process.turn_actions.stop_conversation(build_actor("Bob"))
        finished_turn = await wait_until_finished(bot, turn)

    assert agent.ended
    assert (finished_turn.error or "").startswith("Stopped by Bob. ")


async def test_stopped_work_without_searches_reports_its_activity(bot: Application, agent: EndlessAgent) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("write forever"))
    async with running_workers(bot):
        await agent.looking.wait()
        await bot.turn_actions.stop_turn(turn, build_actor())
        finished_turn = await wait_until_finished(bot, turn)

    assert finished_turn.error == "Stopped by Ada. It had come to this: Writing the file: 12,000 rows"


async def test_a_turn_that_is_stopped_before_its_start_ends_at_its_start(bot: Application, agent: EndlessAgent) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("forever"))
    await bot.turn_actions.stop_turn(turn, build_actor())
    finished_turn = await bot.run_turn(turn)

    assert not agent.looking.is_set()
    assert finished_turn.error == "Stopped by Ada. Nothing had been found yet."


async def test_the_end_of_a_lost_attempt_does_not_affect_the_next_attempt(bot: Application) -> None:
    stop_requests, turn = (
        StopRequests(TurnInbox(bot.database), bot.log),
        await ConversationDriver(bot).accept_body(TextMessage("forever")),
    )
    lost_attempt = asyncio.create_task(stop_requests.run_unless_stopped(turn, asyncio.Event().wait))
    await asyncio.sleep(0)
    next_attempt = asyncio.create_task(stop_requests.run_unless_stopped(turn, asyncio.Event().wait))
    await asyncio.sleep(0)
    lost_attempt.cancel()
    await asyncio.wait([lost_attempt])

    await stop_requests.request_stop(turn, "Ada")
    with pytest.raises(TurnStopped):
        await next_attempt


async def test_the_conversation_goes_on_after_a_stop(bot: Application, agent: EndlessAgent) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("forever"))
    await bot.turn_actions.stop_turn(turn, build_actor())

    assert (await ConversationDriver(bot).ask_question("List every receipt")).result["outcome"] == "overload"


async def test_a_long_turn_shows_a_stop_button(bot: Application, chat: FakeChat, agent: EndlessAgent) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("forever"))
    async with running_workers(bot):
        await wait_until(lambda: TurnActionsPart(handles=(TurnAction.STOP,)) in parts_of(chat, turn))
        await bot.turn_actions.stop_turn(turn, build_actor())
        finished_turn = await wait_until_finished(bot, turn)

    assert chat.messages_of_turn(turn)[0].reply == finished_turn.reply


async def test_only_readers_of_the_message_can_stop_the_turn_and_only_once(
    bot: Application, agent: EndlessAgent
) -> None:
    ada = private_audience_of("ADA")
    turn = await ConversationDriver(bot, audience=ada, person=ada.person).accept_body(TextMessage("forever"))

    with pytest.raises(NotYourAnswer):
        await bot.turn_actions.stop_turn(turn, build_actor("Bob", private_audience_of("BOB")))
    with pytest.raises(AnswerNotFound):
        await bot.turn_actions.stop_turn(turn, build_actor("Ada", ada, ConversationId("c2")))
    with pytest.raises(AnswerNotFound):
        await bot.turn_actions.stop_turn(TurnId("forged"), build_actor("Ada", ada))

    await bot.turn_actions.stop_turn(turn, build_actor("Ada", ada))
    await bot.run_turn(turn)
    with pytest.raises(TurnAlreadyEnded):
        await bot.turn_actions.stop_turn(turn, build_actor("Ada", ada))
