"""The summary in sentences: made after the reply, kept only if nothing happened meanwhile."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from agent.errors import ModelUnavailable
from agent.gateway.messages import ModelRole
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import TurnId
from bot.settings import Settings
from bot.surface.replies import TextPart
from storage.embedded.index import EmbeddedIndex
from storage.sql.database import SqlDatabase
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, ListingAgent, PausableModel
from tests.stored_rows import list_model_calls

POLISHED = "The person lists receipts of Acme."
OpenBot = Callable[[PausableModel], AbstractAsyncContextManager[Application]]


def reply_of(text: str = POLISHED) -> dict[str, str]:
    return {"summary": text}


@pytest.fixture
def open_bot(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex, agent: ListingAgent, chat: FakeChat
) -> OpenBot:
    def open_with(model: PausableModel) -> AbstractAsyncContextManager[Application]:
        return open_application(
            settings,
            clock=clock,
            database=database,
            index=index,
            agent=agent,
            reasoner=NO_REASONER,
            model=model,
            outboxes={"slack": chat},
        )

    return open_with


async def ask(bot: Application, *questions: str, conversation: str = "c1") -> list[TurnId]:
    talk = ConversationDriver(bot, conversation=conversation)
    return [(await talk.ask_question(question)).turn for question in questions]


async def test_the_third_question_is_followed_by_a_summary_that_the_fourth_gets(
    open_bot: OpenBot, agent: ListingAgent, database: SqlDatabase
) -> None:
    model = PausableModel(reply_of(), reply_of())
    async with open_bot(model) as bot:
        await ask(bot, "one", "two")
        assert model.requests == []
        [third_turn] = await ask(bot, "three")
    async with open_bot(model) as bot:  # closing the application has waited for the summary
        await ask(bot, "four")

    assert agent.contexts[3].conversation_summary == POLISHED
    [first_request, second_request] = model.requests
    assert (first_request.role, first_request.prompt) == (ModelRole.SMALL, "summarise_conversation@1")
    assert "asked: three" in first_request.messages[-1].content
    assert POLISHED in second_request.messages[-1].content
    assert (await list_model_calls(database))[0].turn == third_turn


async def test_the_reply_is_delivered_before_the_model_is_asked(open_bot: OpenBot, chat: FakeChat) -> None:
    model = PausableModel(reply_of())
    model.may_reply.clear()
    async with open_bot(model) as bot:
        [*_, turn] = await ask(bot, "one", "two", "three")
        [message] = chat.messages_of_turn(turn)
        assert any(isinstance(part, TextPart) for part in message.reply.parts)
        finished_turn = await bot.load_finished_turn(turn)
        assert finished_turn is not None
        await model.called.wait()
        model.may_reply.set()

    assert finished_turn.result["model_calls"] == 0


async def test_a_newer_turn_keeps_an_older_summary_out(open_bot: OpenBot, agent: ListingAgent) -> None:
    model = PausableModel(reply_of("Of four."))
    model.may_reply.clear()
    async with open_bot(model) as bot:
        await ask(bot, "one", "two", "three")
        await model.called.wait()
        await ask(bot, "four")
        model.may_reply.set()
    async with open_bot(PausableModel(reply_of())) as bot:
        await ask(bot, "five")

    assert agent.contexts[3].conversation_summary.startswith("asked: one")
    assert agent.contexts[4].conversation_summary == "Of four."


@pytest.mark.parametrize(
    "reply", [ModelUnavailable("down"), "no JSON", reply_of("word " * 1_000)], ids=["down", "unusable", "too long"]
)
async def test_a_failure_leaves_the_structured_summary(
    open_bot: OpenBot, agent: ListingAgent, database: SqlDatabase, reply: dict[str, str] | str | ModelUnavailable
) -> None:
    async with open_bot(PausableModel(reply)) as bot:
        await ask(bot, "one", "two", "three")
    async with open_bot(PausableModel(reply_of())) as bot:
        await ask(bot, "four")

    assert agent.contexts[3].conversation_summary.startswith("asked: one -> ")
    assert len(await list_model_calls(database)) == 2


async def test_each_scope_of_a_conversation_has_its_own(open_bot: OpenBot, agent: ListingAgent) -> None:
    async with open_bot(PausableModel(reply_of())) as bot:
        await ask(bot, "one", "two", "three")
        await ask(bot, "other", conversation="c2")

    assert agent.contexts[-1].conversation_summary == ""


async def test_starting_over_ends_what_was_polished(open_bot: OpenBot, agent: ListingAgent) -> None:
    async with open_bot(PausableModel(reply_of())) as bot:
        await ask(bot, "one", "two", "three")
    async with open_bot(PausableModel()) as bot:
        await ask(bot, "start over", "again")

    assert agent.contexts[-1].conversation_summary == ""
