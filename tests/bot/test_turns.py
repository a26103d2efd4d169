"""The life of a turn."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from bot.bootstrap import Bot
from bot.ids import ConversationId, MessageId
from bot.inbound import Said
from bot.outbox import OutboxFailed
from bot.replies import Choices, Chosen, Notice, Progress, Reply, Text
from storage.search.errors import IndexUnavailable
from storage.sql.database import Database
from tests.bot.conftest import Talk, finished, until, working
from tests.bot.fakes import Chat, Clock, ListingAgent


async def test_a_question_is_answered_in_the_message_that_said_it_is_being_looked_at(bot: Bot, chat: Chat) -> None:
    done = await Talk(bot).say("List every receipt")

    [message] = chat.of(done.turn)
    assert isinstance(message.said[0].parts[0], Progress)
    text, choices, _ = message.reply.parts
    assert isinstance(text, Text)
    assert text.markdown == "I found 42. Which?"
    assert isinstance(choices, Choices)
    assert [(button.label, button.count) for button in choices.buttons][:3] == [
        ("Acme", 37),
        ("Bolt", 5),
        ("Export all", 42),
    ]
    assert done.result["outcome"] == "overload"
    assert done.error is None


async def test_the_same_event_twice_is_one_turn(bot: Bot, chat: Chat) -> None:
    talk = Talk(bot)
    inbound = talk.inbound(Said("List every receipt"))
    first, second = await bot.accept(inbound), await bot.accept(inbound)

    assert first is not None
    assert second is None
    await bot.run(first)
    assert len(chat.messages) == 1


async def test_a_finished_turn_is_told_again_from_the_database(bot: Bot) -> None:
    done = await Talk(bot).say("List every receipt")

    assert await bot.done(done.turn) == done
    assert await bot.run(done.turn) == done


async def test_workers_answer_what_was_accepted_in_order(bot: Bot, chat: Chat) -> None:
    talk = Talk(bot)
    turns = [await talk.accepted(Said(f"question {n}")) for n in range(3)]
    async with working(bot):
        for turn in turns:
            await finished(bot, turn)

    assert [message.reply.turn for message in chat.messages.values()] == turns


async def test_an_index_that_is_down_is_said_in_one_sentence_and_the_turn_is_tried_again(
    bot: Bot, chat: Chat, agent: ListingAgent, clock: Clock
) -> None:
    agent.troubles = [IndexUnavailable("index:9200")]
    turn = await Talk(bot).accepted(Said("List every receipt"))
    async with working(bot):
        await until(lambda: any(isinstance(message.reply.parts[0], Notice) for message in chat.of(turn)))
        assert await bot.done(turn) is None
        clock.advance(timedelta(seconds=30))
        done = await finished(bot, turn)

    [message] = chat.of(turn)
    assert message.reply == done.reply
    assert done.result["outcome"] == "overload"
    notices = [part.text for said in message.said for part in said.parts if isinstance(part, Notice)]
    assert notices == ["The documents cannot be reached right now. I will try again in a moment."]


async def test_an_index_that_stays_down_ends_the_turn_with_a_word(bot: Bot, chat: Chat, agent: ListingAgent) -> None:
    agent.troubles = [IndexUnavailable("index:9200")]
    done = await Talk(bot).say("List every receipt")

    assert done.error == "The documents cannot be reached right now. Please ask again a little later."
    assert chat.of(done.turn)[0].reply == done.reply
    assert isinstance(done.cause, IndexUnavailable)
    assert (await Talk(bot).say("List every receipt")).result["outcome"] == "overload"


async def test_a_fault_of_the_program_is_one_plain_sentence(bot: Bot, chat: Chat, agent: ListingAgent) -> None:
    agent.troubles = [ZeroDivisionError("secret text")]
    done = await Talk(bot).say("List every receipt")

    assert done.error == "Something went wrong here, and I could not answer. Please ask again."
    assert done.result["outcome"] == "failed"
    assert "secret" not in (bot.settings.home / "logs" / "parley.log").read_text()


async def test_a_chat_that_fails_once_gets_the_noted_answer_later(
    bot: Bot, chat: Chat, agent: ListingAgent, clock: Clock
) -> None:
    chat.troubles = [OutboxFailed("down", retry=True), OutboxFailed("down", retry=True, after_s=60)]
    turn = await Talk(bot).accepted(Said("List every receipt"))
    async with working(bot):
        await until(lambda: not chat.troubles)
        done = await finished(bot, turn, meanwhile=lambda: clock.advance(timedelta(seconds=30)))

    assert len(agent.seen) == 1
    [message] = chat.of(turn)
    assert message.reply == done.reply


async def test_an_empty_and_an_endless_question_get_a_plain_sentence(bot: Bot) -> None:
    empty, endless = await Talk(bot).say("  "), await Talk(bot).say("x" * 50_000)

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
    bot: Bot, database: Database, chat: Chat, column: str, damaged: str
) -> None:
    address = {"channel": "C1"}
    unreadable = replace(Talk(bot, conversation="c1").inbound(Said("List every receipt")), address=address)
    other = replace(Talk(bot, conversation="c2").inbound(Said("List every receipt")), address=address)
    turns = [await bot.accept(one) for one in (unreadable, other)]
    damage = sql(f"UPDATE turns SET {column} = :damaged WHERE id = :one")
    await database.write(lambda connection: connection.execute(damage, {"damaged": damaged, "one": turns[0]}))

    async with working(bot):
        failed, answered = [await finished(bot, one) for one in turns if one is not None]

    assert failed.error is not None
    assert answered.error is None
    is_told = column == "audience"  # else it is not known where
    told = [message.reply for message in chat.messages.values() if message.reply.turn == failed.turn]
    assert told == ([failed.reply] if is_told else [])
    assert "cannot read" in failed.error


async def test_an_expired_offer_that_cannot_be_read_keeps_no_other_from_saying_so(
    bot: Bot, database: Database, chat: Chat, clock: Clock
) -> None:
    first = await Talk(bot, conversation="c1").say("List every receipt")
    second = await Talk(bot, conversation="c2").say("List every receipt")
    damage = sql("UPDATE turns SET audience = '{}' WHERE id = :one")
    await database.write(lambda connection: connection.execute(damage, {"one": first.turn}))
    clock.advance(timedelta(days=2))

    await bot.turns.expire_clarifications()

    [first_said], [second_said] = chat.of(first.turn), chat.of(second.turn)
    assert (first_said.chosen, second_said.chosen is None) == (None, False)


class Stuck(Chat):
    """That never answers when the first message is to be settled."""

    async def settle(
        self, conversation: ConversationId, address: Mapping[str, str], message: MessageId, reply: Reply, chosen: Chosen
    ) -> None:
        if message == next(iter(self.messages)):
            await asyncio.Event().wait()
        await super().settle(conversation, address, message, reply, chosen)


async def test_an_expired_offer_that_the_chat_does_not_take_holds_up_no_other(bot: Bot, clock: Clock) -> None:
    stuck = Stuck()
    bot.turns.reply_through("slack", stuck)
    first = await Talk(bot, conversation="c1").say("List every receipt")
    second = await Talk(bot, conversation="c2").say("List every receipt")
    clock.advance(timedelta(days=2))

    await bot.turns.expire_clarifications(patience=timedelta(milliseconds=50))

    [first_said], [second_said] = stuck.of(first.turn), stuck.of(second.turn)
    assert (first_said.chosen is None, second_said.chosen is None) == (True, False)
