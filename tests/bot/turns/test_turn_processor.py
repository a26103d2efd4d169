"""The life of a turn."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from bot.application import Application
from bot.ids import ConversationId, MessageId
from bot.surface.inbound import TextMessage
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ChoicesPart, ChosenPart, NoticePart, ProgressPart, Reply, TextPart
from storage.search.errors import IndexUnavailable
from storage.sql.database import SqlDatabase
from tests.bot.conftest import ConversationDriver, running_workers, wait_until, wait_until_finished
from tests.bot.fakes import Clock, FakeChat, FakeChatThread, ListingAgent, PartialSurface


async def test_the_answer_replaces_the_progress_in_its_message(bot: Application, chat: FakeChat) -> None:
    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    [message] = chat.messages_of_turn(finished_turn.turn)
    assert isinstance(message.replies[0].parts[0], ProgressPart)
    text, choices, _ = message.reply.parts
    assert isinstance(text, TextPart)
    assert text.markdown == "I found 42. Which?"
    assert isinstance(choices, ChoicesPart)
    assert [(button.label, button.count) for button in choices.buttons][:3] == [
        ("Acme", 37),
        ("Bolt", 5),
        ("Export all", 42),
    ]
    assert finished_turn.result["outcome"] == "overload"
    assert finished_turn.error is None


async def test_the_same_event_twice_is_one_turn(bot: Application, chat: FakeChat) -> None:
    talk = ConversationDriver(bot)
    inbound = talk.build_inbound(TextMessage("List every receipt"))
    first, second = await bot.accept_inbound(inbound), await bot.accept_inbound(inbound)

    assert first is not None
    assert second is None
    await bot.run_turn(first)
    assert len(chat.messages) == 1


async def test_a_finished_turn_can_be_loaded_from_the_database(bot: Application) -> None:
    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    assert await bot.load_finished_turn(finished_turn.turn) == finished_turn
    assert await bot.run_turn(finished_turn.turn) == finished_turn


async def test_workers_answer_accepted_questions_in_order(bot: Application, chat: FakeChat) -> None:
    talk = ConversationDriver(bot)
    turns = [await talk.accept_body(TextMessage(f"question {n}")) for n in range(3)]
    async with running_workers(bot):
        for turn in turns:
            await wait_until_finished(bot, turn)

    assert [message.reply.turn for message in chat.messages.values()] == turns


async def test_an_index_that_is_down_is_reported_in_one_sentence_and_the_turn_is_retried(
    bot: Application, chat: FakeChat, agent: ListingAgent, clock: Clock
) -> None:
    agent.failures = [IndexUnavailable("index:9200")]
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    async with running_workers(bot):
        await wait_until(
            lambda: any(isinstance(message.reply.parts[0], NoticePart) for message in chat.messages_of_turn(turn))
        )
        assert await bot.load_finished_turn(turn) is None
        clock.advance(timedelta(seconds=30))
        finished_turn = await wait_until_finished(bot, turn)

    [message] = chat.messages_of_turn(turn)
    assert message.reply == finished_turn.reply
    assert finished_turn.result["outcome"] == "overload"
    notices = [part.text for reply in message.replies for part in reply.parts if isinstance(part, NoticePart)]
    assert notices == ["The documents cannot be reached right now. I will try again in a moment."]


async def test_an_index_that_stays_down_ends_the_turn_with_an_error(
    bot: Application, chat: FakeChat, agent: ListingAgent
) -> None:
    agent.failures = [IndexUnavailable("index:9200")]
    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    assert finished_turn.error == "The documents cannot be reached right now. Please ask again a little later."
    assert chat.messages_of_turn(finished_turn.turn)[0].reply == finished_turn.reply
    assert isinstance(finished_turn.cause, IndexUnavailable)
    assert (await ConversationDriver(bot).ask_question("List every receipt")).result["outcome"] == "overload"


async def test_a_programming_error_is_reported_in_one_plain_sentence(
    bot: Application, chat: FakeChat, agent: ListingAgent
) -> None:
    agent.failures = [ZeroDivisionError("secret text")]
    finished_turn = await ConversationDriver(bot).ask_question("List every receipt")

    assert finished_turn.error == "Something went wrong here, and I could not answer. Please ask again."
    assert finished_turn.result["outcome"] == "failed"
    assert "secret" not in (bot.settings.home / "logs" / "parley.log").read_text()


async def test_a_chat_that_fails_gets_the_recorded_answer_later(
    bot: Application, chat: FakeChat, agent: ListingAgent, clock: Clock
) -> None:
    chat.failures = [OutboxFailed("down", retry=True), OutboxFailed("down", retry=True, retry_after_s=60)]
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    async with running_workers(bot):
        await wait_until(lambda: not chat.failures)
        finished_turn = await wait_until_finished(bot, turn, meanwhile=lambda: clock.advance(timedelta(seconds=30)))

    assert len(agent.contexts) == 1
    [message] = chat.messages_of_turn(turn)
    assert message.reply == finished_turn.reply


async def test_an_empty_and_an_endless_question_get_a_plain_sentence(bot: Application) -> None:
    empty, endless = (
        await ConversationDriver(bot).ask_question("  "),
        await ConversationDriver(bot).ask_question("x" * 50_000),
    )

    assert empty.error == "There is no question here; ask me something about your documents."
    assert endless.error == "That is too long: a question may have 10,000 characters at most."


DAMAGE = {
    "no json": ("body", '{"said": "Li'),
    "no object": ("audience", "[]"),
    "another shape": ("audience", '{"kind": "private"}'),
    "no address": ("body", '{"said": "List", "name": "", "buckets": []}'),
}


@pytest.mark.parametrize(("column", "damaged"), DAMAGE.values(), ids=DAMAGE)
async def test_a_turn_that_cannot_be_read_fails_alone(
    bot: Application, database: SqlDatabase, chat: FakeChat, column: str, damaged: str
) -> None:
    address = {"channel": "C1"}
    unreadable = replace(
        ConversationDriver(bot, conversation="c1").build_inbound(TextMessage("List every receipt")), address=address
    )
    other = replace(
        ConversationDriver(bot, conversation="c2").build_inbound(TextMessage("List every receipt")), address=address
    )
    turns = [await bot.accept_inbound(inbound) for inbound in (unreadable, other)]
    damage = sql(f"UPDATE turns SET {column} = :damaged WHERE id = :one")
    await database.run_write(lambda connection: connection.execute(damage, {"damaged": damaged, "one": turns[0]}))

    async with running_workers(bot):
        failed, answered = [await wait_until_finished(bot, turn) for turn in turns if turn is not None]

    assert failed.error is not None
    assert answered.error is None
    has_address = column == "audience"  # else there is no address to post to
    posted = [message.reply for message in chat.messages.values() if message.reply.turn == failed.turn]
    assert posted == ([failed.reply] if has_address else [])
    assert "cannot read" in failed.error


async def test_an_expired_offer_that_cannot_be_read_does_not_block_others(
    bot: Application, database: SqlDatabase, chat: FakeChat, clock: Clock
) -> None:
    first = await ConversationDriver(bot, conversation="c1").ask_question("List every receipt")
    second = await ConversationDriver(bot, conversation="c2").ask_question("List every receipt")
    damage = sql("UPDATE turns SET audience = '{}' WHERE id = :one")
    await database.run_write(lambda connection: connection.execute(damage, {"one": first.turn}))
    clock.advance(timedelta(days=2))

    await bot.turn_processor.expire_clarifications()

    [first_message], [second_message] = chat.messages_of_turn(first.turn), chat.messages_of_turn(second.turn)
    assert (first_message.chosen, second_message.chosen is None) == (None, False)


class StuckChat(FakeChat):
    """A chat that never finishes showing the choice of its first message."""

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> FakeChatThread:
        return StuckThread(self, conversation)


class StuckThread(FakeChatThread):
    """A thread of a chat that never finishes showing the choice of its first message."""

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        if message == next(iter(self.chat.messages)):
            await asyncio.Event().wait()
        await super().show_chosen(message, reply, chosen)


async def test_an_expired_offer_that_times_out_in_the_chat_does_not_block_others(
    bot: Application, clock: Clock
) -> None:
    chat = StuckChat()
    bot.register_surface(PartialSurface(outbox=chat))
    first = await ConversationDriver(bot, conversation="c1").ask_question("List every receipt")
    second = await ConversationDriver(bot, conversation="c2").ask_question("List every receipt")
    clock.advance(timedelta(days=2))

    await bot.turn_processor.expire_clarifications(update_timeout=timedelta(milliseconds=50))

    [first_message], [second_message] = chat.messages_of_turn(first.turn), chat.messages_of_turn(second.turn)
    assert (first_message.chosen is None, second_message.chosen is None) == (True, False)
