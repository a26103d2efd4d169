"""Edited and deleted questions: which message is replaced, which turn is stopped, and what the conversation keeps."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from agent.context import AgentContext
from agent.outcome import Outcome
from bot.application import Application
from bot.conversation.file_offers import FileAnswerer, FileOffer
from bot.conversation.personal_history import past_questions_of
from bot.errors import FileOfferEnded
from bot.ids import BucketId, MessageId, Subject, TurnId
from bot.surface.inbound import (
    ChannelAudience,
    FullTextRequest,
    Inbound,
    InboundBody,
    MessageDeletion,
    OutsiderPresence,
    TextMessage,
)
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ProgressPart, Reply
from bot.turns.delivery import TURN_LEASE
from bot.turns.feedback import FeedbackVerdict
from bot.turns.turn_actions import full_text_id
from bot.turns.turn_processor import MAX_ATTEMPTS
from storage.search.plan import Plan
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ConversationStore
from storage.sql.stores.history import QuestionHistory
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.limits import LimitStore, QuestionLimit
from storage.sql.stores.turns import COUNTED_CONDITION
from tests.bot.conftest import ConversationDriver, private_audience_of, running_workers, wait_until, wait_until_finished
from tests.bot.fakes import Clock, FakeChat, ListingAgent, PartialSurface
from tests.builders import RECEIPTS
from tests.stored_rows import list_offered_texts


@dataclass
class WithdrawingThreadPlacer:
    """Fulfils `bot.surface.outbox.ThreadPlacer`: withdraws messages; `failures` are raised first."""

    withdrawn: list[MessageId] = field(default_factory=list[MessageId])
    failures: list[OutboxFailed] = field(default_factory=list[OutboxFailed])

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        return replace(inbound, needs_thread=False)

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.withdrawn.append(message)

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None:
        return None


@pytest.fixture
def channels(bot: Application, chat: FakeChat) -> WithdrawingThreadPlacer:
    threads = WithdrawingThreadPlacer()
    bot.register_surface(PartialSurface(outbox=chat, threads=threads))
    return threads


async def ask_question(bot: Application, text: str) -> Inbound:
    inbound = ConversationDriver(bot).build_inbound(TextMessage(text))
    turn = await bot.accept_inbound(inbound)
    assert turn is not None
    await bot.run_turn(turn)
    return inbound


async def revise_question(bot: Application, earlier: Inbound, body: InboundBody) -> TurnId:
    turn = await bot.accept_inbound(replace(ConversationDriver(bot).build_inbound(body), revises=earlier.message_id))
    assert turn is not None
    return turn


async def test_the_new_answer_replaces_the_old_one_in_its_message(bot: Application, chat: FakeChat) -> None:
    first = await ask_question(bot, "start over")

    finished_turn = await bot.run_turn(await revise_question(bot, first, TextMessage("List every receipt")))

    [message] = chat.messages.values()
    assert message.reply == finished_turn.reply


async def test_a_question_edited_twice_still_has_one_answer(bot: Application, chat: FakeChat) -> None:
    first = await ask_question(bot, "start over")
    for text in ("List receipts", "List every receipt"):
        finished_turn = await bot.run_turn(await revise_question(bot, first, TextMessage(text)))

    [message] = chat.messages.values()
    assert message.reply == finished_turn.reply


async def test_an_unknown_question_cannot_be_revised(bot: Application) -> None:
    unknown = ConversationDriver(bot).build_inbound(TextMessage("never stored"))

    assert (
        await bot.accept_inbound(
            replace(ConversationDriver(bot).build_inbound(TextMessage("new")), revises=unknown.message_id)
        )
        is None
    )


async def test_the_same_edit_twice_is_one_turn(bot: Application) -> None:
    first = await ask_question(bot, "List every receipt")
    edit = replace(ConversationDriver(bot).build_inbound(TextMessage("List receipts")), revises=first.message_id)

    assert [await bot.accept_inbound(edit) is None for _ in range(2)] == [False, True]


async def test_the_conversation_forgets_the_plan_of_the_old_wording(bot: Application, agent: ListingAgent) -> None:
    await ask_question(bot, "List every receipt")
    second = await ask_question(bot, "only the old ones")

    await bot.run_turn(await revise_question(bot, second, TextMessage("only the new ones")))

    assert question_of(agent.contexts[-1].last_plan) == "List every receipt"
    assert agent.contexts[-1].earlier_plans == ()
    assert agent.contexts[-1].clarifications_in_a_row == 0


async def test_an_edit_of_the_only_question_starts_without_a_plan(bot: Application, agent: ListingAgent) -> None:
    first = await ask_question(bot, "List every receipt")

    await bot.run_turn(await revise_question(bot, first, TextMessage("List receipts")))

    assert agent.contexts[-1].last_plan is None


async def test_an_edit_of_an_older_question_keeps_the_plan_of_a_later_one(
    bot: Application, agent: ListingAgent
) -> None:
    first = await ask_question(bot, "List every receipt")
    await ask_question(bot, "only the old ones")

    await bot.run_turn(await revise_question(bot, first, TextMessage("List receipts")))

    assert question_of(agent.contexts[-1].last_plan) == "only the old ones"


async def test_choices_of_the_old_answer_are_not_shown_as_expired_later(bot: Application, chat: FakeChat) -> None:
    first = await ask_question(bot, "List every receipt")
    finished_turn = await bot.run_turn(await revise_question(bot, first, TextMessage("start over")))

    await bot.turn_processor.expire_clarifications()

    [message] = chat.messages.values()
    assert message.reply == finished_turn.reply


async def test_an_edit_stops_the_turn_in_progress(bot: Application, chat: FakeChat, agent: ListingAgent) -> None:
    is_running = asyncio.Event()

    async def endless(question: str, context: AgentContext) -> Outcome:
        if question != "endless":
            return await ListingAgent().answer(question, context)
        is_running.set()
        await asyncio.Event().wait()
        raise AssertionError

    agent.answer = endless
    question = ConversationDriver(bot).build_inbound(TextMessage("endless"))
    first_turn = await bot.accept_inbound(question)
    assert first_turn is not None
    async with running_workers(bot):
        await is_running.wait()
        second_turn = await revise_question(bot, question, TextMessage("List every receipt"))
        finished_turn = await wait_until_finished(bot, second_turn)

    [message] = chat.messages.values()
    assert message.reply == finished_turn.reply
    assert finished_turn.result["outcome"] == "overload"


async def exhaust_unreported_question(bot: Application, chat: FakeChat, clock: Clock, *, noted: bool) -> Inbound:
    """A question whose workers were all killed after they posted a message, and whose error the chat then refused."""
    question, inbox = ConversationDriver(bot).build_inbound(TextMessage("List every receipt")), TurnInbox(bot.database)
    turn = await bot.accept_inbound(question)
    assert turn is not None
    message = await chat.thread_for(question.conversation, {}).post_message(
        Reply(turn=turn, parts=(ProgressPart(text="Looking …"),))
    )
    for _ in range(MAX_ATTEMPTS):
        [claimed] = await inbox.claim_due_turns("killed", TURN_LEASE)
        assert not noted or await inbox.note_placeholder(claimed, message)
        clock.advance(TURN_LEASE + timedelta(seconds=1))
    chat.failures = [OutboxFailed("down", retry=True)] * 2
    async with running_workers(bot):
        await wait_until(lambda: not chat.failures)
    return question


@pytest.mark.parametrize("noted", [True, False])
async def test_a_failed_turn_posts_nothing_more_once_its_question_is_edited(
    bot: Application, chat: FakeChat, clock: Clock, noted: bool
) -> None:
    question = await exhaust_unreported_question(bot, chat, clock, noted=noted)
    [failed_turn] = [message.reply.turn for message in chat.messages.values()]
    async with running_workers(bot):
        finished_turn = await wait_until_finished(
            bot, await revise_question(bot, question, TextMessage("List receipts"))
        )
        await wait_until_finished(bot, failed_turn, meanwhile=lambda: clock.advance(timedelta(seconds=10)))

    [message] = chat.messages.values()
    assert message.reply == finished_turn.reply
    assert finished_turn.error is None


@pytest.mark.parametrize("noted", [True, False])
async def test_the_message_of_a_failed_turn_is_withdrawn_with_its_question(
    bot: Application, chat: FakeChat, clock: Clock, channels: WithdrawingThreadPlacer, noted: bool
) -> None:
    question = await exhaust_unreported_question(bot, chat, clock, noted=noted)
    replies_before = [list(message.replies) for message in chat.messages.values()]
    [failed_turn] = [message.reply.turn for message in chat.messages.values()]
    async with running_workers(bot):
        await wait_until_finished(bot, await revise_question(bot, question, MessageDeletion()))
        await wait_until_finished(bot, failed_turn, meanwhile=lambda: clock.advance(timedelta(seconds=10)))

    assert channels.withdrawn == list(chat.messages)
    assert [message.replies for message in chat.messages.values()] == replies_before


async def test_a_deleted_question_withdraws_its_answer(
    bot: Application, chat: FakeChat, channels: WithdrawingThreadPlacer
) -> None:
    first = await ask_question(bot, "List every receipt")

    await bot.run_turn(await revise_question(bot, first, MessageDeletion()))

    assert channels.withdrawn == list(chat.messages)


async def offer_full_text(bot: Application, question: Inbound, number: int) -> tuple[TurnId, FileOffer]:
    """The offer of the `number`th turn that shows the full text of the answer, and that turn."""
    answered = await TurnInbox(bot.database).find_by_message(question.conversation, question.message_id)
    assert answered is not None
    showing = await bot.accept_inbound(
        replace(
            ConversationDriver(bot).build_inbound(FullTextRequest(TurnId(answered.id))),
            message_id=MessageId(full_text_id(TurnId(answered.id), number)),
        )
    )
    assert showing is not None
    await bot.run_turn(showing)
    offer = await bot.file_offers.offer_text(showing, question.conversation, name="answer.txt", text="all of it")
    assert offer is not None
    return showing, offer


@pytest.mark.parametrize("body", [TextMessage("List receipts"), MessageDeletion()])
async def test_the_offered_full_text_of_a_revised_question_can_no_longer_be_accepted(
    bot: Application, channels: WithdrawingThreadPlacer, body: InboundBody
) -> None:
    first = await ask_question(bot, "List every receipt")
    other_question = await ask_question(bot, "List every other receipt")
    offers = [(await offer_full_text(bot, first, number))[1] for number in range(1, 8)]
    _, other_offer = await offer_full_text(bot, other_question, 1)
    answerer = FileAnswerer(person=first.person, conversation=first.conversation)
    upload = await bot.file_offers.accept_offer(offers[0].id, answerer, destination="there", message=MessageId("m1"))
    assert await bot.file_offers.read_piece(upload, 0, 3) == b"all"

    await bot.run_turn(await revise_question(bot, first, body))

    for offer in offers[1:]:
        with pytest.raises(FileOfferEnded):
            await bot.file_offers.accept_offer(offer.id, answerer, destination="there", message=MessageId("m1"))
    with pytest.raises(FileOfferEnded):
        await bot.file_offers.read_piece(upload, 3, 3)
    assert await list_offered_texts(bot.database) == [None] * 7 + ["all of it"]
    await bot.file_offers.accept_offer(other_offer.id, answerer, destination="there", message=MessageId("m2"))


@pytest.mark.parametrize(("body", "remaining"), [(TextMessage("new words"), ["new words"]), (MessageDeletion(), [])])
async def test_a_revised_question_does_not_appear_in_any_history(
    bot: Application, channels: WithdrawingThreadPlacer, body: InboundBody, remaining: list[str]
) -> None:
    first = await ask_question(bot, "Which salary has Ann?")
    [question] = await QuestionHistory(bot.database).list_asked_by(first.person, 10)
    await bot.feedback.record_verdict(TurnId(question.turn), first.person, FeedbackVerdict.BAD, "no")

    await bot.run_turn(await revise_question(bot, first, body))

    history, long_ago = QuestionHistory(bot.database), bot.clock() - timedelta(days=1)
    listings = [
        await history.list_asked_by(first.person, 10),
        await history.list_unanswered(long_ago, 10),
        await history.list_rated_badly(long_ago, 10),
    ]
    assert [past.text for past in past_questions_of(listings[0])] == remaining
    assert all(past.turn != question.turn for listing in listings for past in listing)


async def test_a_deletion_that_fails_in_the_chat_is_retried(
    bot: Application, chat: FakeChat, channels: WithdrawingThreadPlacer
) -> None:
    first = await ask_question(bot, "List every receipt")
    channels.failures = [OutboxFailed("down", retry=True, retry_after_s=0)]
    async with running_workers(bot):
        await wait_until_finished(bot, await revise_question(bot, first, MessageDeletion()))

    assert channels.withdrawn == list(chat.messages)


async def test_a_deletion_that_the_chat_refuses_ends_without_a_reply(
    bot: Application, chat: FakeChat, channels: WithdrawingThreadPlacer
) -> None:
    first = await ask_question(bot, "List every receipt")
    message_count = len(chat.messages)
    channels.failures = [OutboxFailed("no", retry=False)]

    await bot.run_turn(await revise_question(bot, first, MessageDeletion()))

    assert len(chat.messages) == message_count
    assert channels.withdrawn == []


def question_of(plan: Plan | None) -> str | None:
    return None if plan is None else plan.question


async def test_a_deletion_removes_the_question_from_states_under_earlier_rights(bot: Application) -> None:
    channel = Subject("channel:slack:T1:C1")
    await bot.grants.grant_bucket_access(RECEIPTS, channel, by="test")
    audience = ChannelAudience(channel=channel, outsiders=OutsiderPresence.NONE)
    talk = ConversationDriver(bot, audience=audience, person="slack:T1:U1")
    question = talk.build_inbound(TextMessage("List every receipt"))
    await bot.run_turn(await accept_inbound(bot, question))
    states_before = await ConversationStore(bot.database).list_states(question.conversation)
    await bot.grants.grant_bucket_access(BucketId("contracts"), channel, by="test")

    await bot.run_turn(
        await accept_inbound(bot, replace(talk.build_inbound(MessageDeletion()), revises=question.message_id))
    )

    [state] = await ConversationStore(bot.database).list_states(question.conversation)
    assert [state_before.last_plan is None for state_before in states_before] == [False]
    assert state.last_plan is None
    assert "receipt" not in str(state.summary)


async def accept_inbound(bot: Application, inbound: Inbound) -> TurnId:
    turn = await bot.accept_inbound(inbound)
    assert turn is not None
    return turn


async def test_the_first_edits_before_an_answer_do_not_count_as_questions(
    bot: Application, database: SqlDatabase
) -> None:
    await LimitStore(database).change_limits_if_unchanged({}, {QuestionLimit.PERSON_HOUR: 2}, by="test")
    talk = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
    first = talk.build_inbound(TextMessage("question 0"))
    turns = [await accept_inbound(bot, first)]
    for n in range(1, 8):
        edit = replace(talk.build_inbound(TextMessage(f"question {n}")), revises=first.message_id)
        turns.append(await accept_inbound(bot, edit))

    finished_turns = [await bot.run_turn(turn) for turn in turns]

    stored_turns = [await TurnInbox(database).find_turn(turn) for turn in turns]
    endings = [(stored.outcome or {}).get("ending") for stored in stored_turns if stored is not None]
    assert endings[:-1] == ["stopped"] * 3 + ["edited"] * 2 + [None] * 2
    assert ["as many as one person may ask" in str(finished_turn.error) for finished_turn in finished_turns[5:]] == [
        True
    ] * 3


async def test_the_limit_query_for_the_tenant_uses_its_index(bot: Application, database: SqlDatabase) -> None:
    plan = sql(f"EXPLAIN QUERY PLAN {_TENANT_LIMIT_QUERY}")
    lines = await database.run_read(lambda connection: connection.execute(plan).all())

    assert "INDEX ix_turns_counted" in " ".join(line.detail for line in lines)


_TENANT_LIMIT_QUERY = (
    f"SELECT received_at FROM turns WHERE person != 'operator' AND {COUNTED_CONDITION} AND position < 9"
    " AND received_at > '2020-01-01' ORDER BY received_at DESC LIMIT 1 OFFSET 99"
)
