"""Edited and deleted questions: who takes whose place, what is stopped, and what the conversation remembers."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from agent.context import Context
from agent.outcome import Outcome
from bot.bootstrap import Bot
from bot.delivery import LEASE
from bot.feedback import Verdict
from bot.ids import BucketId, MessageId, Subject, TurnId
from bot.inbound import Body, Inbound, Outsiders, Said, Shared, Withdrawn
from bot.outbox import OutboxFailed
from bot.personal import questions_of
from bot.replies import Progress, Reply
from bot.turns import MAX_ATTEMPTS
from storage.search.plan import Plan
from storage.sql.conversations import Conversations
from storage.sql.database import Database
from storage.sql.history import History
from storage.sql.inbox import Inbox
from storage.sql.limits import Limit, Limits
from storage.sql.tables import COUNTED
from tests.bot.conftest import Talk, finished, somebody, until, working
from tests.bot.fakes import Chat, Clock, ListingAgent
from tests.builders import RECEIPTS


@dataclass
class Channels:
    """Fulfils `bot.outbox.Threads`: takes messages back, after `troubles`."""

    withdrawn: list[MessageId] = field(default_factory=list[MessageId])
    troubles: list[OutboxFailed] = field(default_factory=list[OutboxFailed])

    async def place(self, inbound: Inbound, turn: TurnId, *, again: bool) -> Inbound:
        return replace(inbound, unplaced=False)

    async def withdraw(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        if self.troubles:
            raise self.troubles.pop(0)
        self.withdrawn.append(message)

    async def alone(self, inbound: Inbound) -> Mapping[str, str] | None:
        return None


@pytest.fixture
def channels(bot: Bot) -> Channels:
    threads = Channels()
    bot.turns.place_through("slack", threads)
    return threads


async def asked(bot: Bot, text: str) -> Inbound:
    inbound = Talk(bot).inbound(Said(text))
    turn = await bot.accept(inbound)
    assert turn is not None
    await bot.run(turn)
    return inbound


async def revised(bot: Bot, earlier: Inbound, body: Body) -> TurnId:
    turn = await bot.accept(replace(Talk(bot).inbound(body), revises=earlier.message_id))
    assert turn is not None
    return turn


async def test_the_new_answer_stands_in_the_message_of_the_old_one(bot: Bot, chat: Chat) -> None:
    first = await asked(bot, "start over")

    done = await bot.run(await revised(bot, first, Said("List every receipt")))

    [message] = chat.messages.values()
    assert message.reply == done.reply


async def test_a_question_edited_twice_still_has_one_answer(bot: Bot, chat: Chat) -> None:
    first = await asked(bot, "start over")
    for text in ("List receipts", "List every receipt"):
        done = await bot.run(await revised(bot, first, Said(text)))

    [message] = chat.messages.values()
    assert message.reply == done.reply


async def test_what_was_never_asked_cannot_be_revised(bot: Bot) -> None:
    stranger = Talk(bot).inbound(Said("never stored"))

    assert await bot.accept(replace(Talk(bot).inbound(Said("new")), revises=stranger.message_id)) is None


async def test_the_same_edit_twice_is_one_turn(bot: Bot) -> None:
    first = await asked(bot, "List every receipt")
    edit = replace(Talk(bot).inbound(Said("List receipts")), revises=first.message_id)

    assert [await bot.accept(edit) is None for _ in range(2)] == [False, True]


async def test_the_conversation_forgets_what_the_old_wording_led_to(bot: Bot, agent: ListingAgent) -> None:
    await asked(bot, "List every receipt")
    second = await asked(bot, "only the old ones")

    await bot.run(await revised(bot, second, Said("only the new ones")))

    assert words(agent.seen[-1].last) == "List every receipt"
    assert agent.seen[-1].earlier == ()
    assert agent.seen[-1].asked_back == 0


async def test_the_first_question_edited_begins_afresh(bot: Bot, agent: ListingAgent) -> None:
    first = await asked(bot, "List every receipt")

    await bot.run(await revised(bot, first, Said("List receipts")))

    assert agent.seen[-1].last is None


async def test_an_edit_of_an_older_question_leaves_what_came_after(bot: Bot, agent: ListingAgent) -> None:
    first = await asked(bot, "List every receipt")
    await asked(bot, "only the old ones")

    await bot.run(await revised(bot, first, Said("List receipts")))

    assert words(agent.seen[-1].last) == "only the old ones"


async def test_choices_of_the_old_answer_are_not_settled_as_expired_later(bot: Bot, chat: Chat) -> None:
    first = await asked(bot, "List every receipt")
    done = await bot.run(await revised(bot, first, Said("start over")))

    await bot.turns.expire_clarifications()

    [message] = chat.messages.values()
    assert message.reply == done.reply


async def test_what_is_still_being_worked_on_is_stopped(bot: Bot, chat: Chat, agent: ListingAgent) -> None:
    working_on = asyncio.Event()

    async def endless(question: str, context: Context) -> Outcome:
        if question != "endless":
            return await ListingAgent().answer(question, context)
        working_on.set()
        await asyncio.Event().wait()
        raise AssertionError

    agent.answer = endless
    question = Talk(bot).inbound(Said("endless"))
    first = await bot.accept(question)
    assert first is not None
    async with working(bot):
        await working_on.wait()
        second = await revised(bot, question, Said("List every receipt"))
        done = await finished(bot, second)

    [message] = chat.messages.values()
    assert message.reply == done.reply
    assert done.result["outcome"] == "overload"


async def died_unheard(bot: Bot, chat: Chat, clock: Clock, *, noted: bool) -> Inbound:
    """A question whose workers were killed, with its message in the chat, which then did not take the word about it."""
    question, inbox = Talk(bot).inbound(Said("List every receipt")), Inbox(bot.database)
    turn = await bot.accept(question)
    assert turn is not None
    message = await chat.post(question.conversation, {}, Reply(turn=turn, parts=(Progress(text="Looking …"),)))
    for _ in range(MAX_ATTEMPTS):
        [claimed] = await inbox.claim("killed", LEASE)
        assert not noted or await inbox.note_placeholder(claimed, message)
        clock.advance(LEASE + timedelta(seconds=1))
    chat.troubles = [OutboxFailed("down", retry=True)] * 2
    async with working(bot):
        await until(lambda: not chat.troubles)
    return question


@pytest.mark.parametrize("noted", [True, False])
async def test_a_dead_turn_says_nothing_more_once_its_question_is_edited(
    bot: Bot, chat: Chat, clock: Clock, noted: bool
) -> None:
    question = await died_unheard(bot, chat, clock, noted=noted)
    [dead] = [message.reply.turn for message in chat.messages.values()]
    async with working(bot):
        done = await finished(bot, await revised(bot, question, Said("List receipts")))
        await finished(bot, dead, meanwhile=lambda: clock.advance(timedelta(seconds=10)))

    [message] = chat.messages.values()
    assert message.reply == done.reply
    assert done.error is None


@pytest.mark.parametrize("noted", [True, False])
async def test_the_message_of_a_dead_turn_goes_with_its_question(
    bot: Bot, chat: Chat, clock: Clock, channels: Channels, noted: bool
) -> None:
    question = await died_unheard(bot, chat, clock, noted=noted)
    said = [list(message.said) for message in chat.messages.values()]
    [dead] = [message.reply.turn for message in chat.messages.values()]
    async with working(bot):
        await finished(bot, await revised(bot, question, Withdrawn()))
        await finished(bot, dead, meanwhile=lambda: clock.advance(timedelta(seconds=10)))

    assert channels.withdrawn == list(chat.messages)
    assert [message.said for message in chat.messages.values()] == said


async def test_a_deleted_question_takes_back_what_answered_it(bot: Bot, chat: Chat, channels: Channels) -> None:
    first = await asked(bot, "List every receipt")

    await bot.run(await revised(bot, first, Withdrawn()))

    assert channels.withdrawn == list(chat.messages)


@pytest.mark.parametrize(("body", "left"), [(Said("new words"), ["new words"]), (Withdrawn(), [])])
async def test_nobody_looks_back_at_a_question_that_was_taken_back(
    bot: Bot, channels: Channels, body: Body, left: list[str]
) -> None:
    first = await asked(bot, "Which salary has Ann?")
    [done] = await History(bot.database).of(first.person, 10)
    await bot.feedback.record(TurnId(done.turn), first.person, Verdict.BAD, "no")

    await bot.run(await revised(bot, first, body))

    history, long_ago = History(bot.database), bot.clock() - timedelta(days=1)
    looked_back = [
        await history.of(first.person, 10),
        await history.unanswered(long_ago, 10),
        await history.rated_badly(long_ago, 10),
    ]
    assert [one.text for one in questions_of(looked_back[0])] == left
    assert all(one.turn != done.turn for past in looked_back for one in past)


async def test_a_deletion_that_the_chat_does_not_take_is_tried_again(bot: Bot, chat: Chat, channels: Channels) -> None:
    first = await asked(bot, "List every receipt")
    channels.troubles = [OutboxFailed("down", retry=True, after_s=0)]
    async with working(bot):
        await finished(bot, await revised(bot, first, Withdrawn()))

    assert channels.withdrawn == list(chat.messages)


async def test_a_deletion_that_the_chat_never_takes_ends_without_a_word(
    bot: Bot, chat: Chat, channels: Channels
) -> None:
    first = await asked(bot, "List every receipt")
    said = len(chat.messages)
    channels.troubles = [OutboxFailed("no", retry=False)]

    await bot.run(await revised(bot, first, Withdrawn()))

    assert len(chat.messages) == said
    assert channels.withdrawn == []


def words(plan: Plan | None) -> str | None:
    return None if plan is None else plan.question


async def test_a_deletion_is_forgotten_whatever_the_rights_were_that_it_was_said_under(bot: Bot) -> None:
    channel = Subject("channel:slack:T1:C1")
    await bot.grants.grant(RECEIPTS, channel, by="test")
    here = Shared(channel=channel, outsiders=Outsiders.NONE)
    talk = Talk(bot, audience=here, person="slack:T1:U1")
    asked = talk.inbound(Said("List every receipt"))
    await bot.run(await accepted(bot, asked))
    before = await Conversations(bot.database).all_of(asked.conversation)
    await bot.grants.grant(BucketId("contracts"), channel, by="test")

    await bot.run(await accepted(bot, replace(talk.inbound(Withdrawn()), revises=asked.message_id)))

    [kept] = await Conversations(bot.database).all_of(asked.conversation)
    assert [one.last_plan is None for one in before] == [False]
    assert kept.last_plan is None
    assert "receipt" not in str(kept.summary)


async def accepted(bot: Bot, inbound: Inbound) -> TurnId:
    turn = await bot.accept(inbound)
    assert turn is not None
    return turn


async def test_edits_before_an_answer_cost_nothing_until_there_are_many(bot: Bot, database: Database) -> None:
    await Limits(database).change({}, {Limit.PERSON_HOUR: 2}, by="test")
    talk = Talk(bot, audience=somebody("U1"), person="slack:T1:U1")
    first = talk.inbound(Said("question 0"))
    turns = [await accepted(bot, first)]
    for n in range(1, 8):
        edit = replace(talk.inbound(Said(f"question {n}")), revises=first.message_id)
        turns.append(await accepted(bot, edit))

    done = [await bot.run(turn) for turn in turns]

    found = [await Inbox(database).find(turn) for turn in turns]
    endings = [(one.outcome or {}).get("ending") for one in found if one is not None]
    assert endings[:-1] == ["stopped"] * 3 + ["edited"] * 2 + [None] * 2
    assert ["as many as one person may ask" in str(one.error) for one in done[5:]] == [True] * 3


async def test_the_limits_of_all_are_counted_in_their_index(bot: Bot, database: Database) -> None:
    plan = sql(f"EXPLAIN QUERY PLAN {_OF_ALL}")
    lines = await database.read(lambda connection: connection.execute(plan).all())

    assert "INDEX ix_turns_counted" in " ".join(line.detail for line in lines)


_OF_ALL = (
    f"SELECT received_at FROM turns WHERE person != 'operator' AND {COUNTED} AND position < 9"
    " AND received_at > '2020-01-01' ORDER BY received_at DESC LIMIT 1 OFFSET 99"
)
