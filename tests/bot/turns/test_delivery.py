"""Deliveries after a worker was killed: the message is found again, the recorded answer is posted, and nothing is
posted twice.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.application import Application
from bot.ids import ChoiceId, ClarificationId, ConversationId, MessageId, PersonId, TurnId
from bot.surface.inbound import ButtonClick, Inbound, TextMessage
from bot.surface.json_codec import reply_from_json, reply_to_json
from bot.surface.outbox import OpenedMessage, OpeningContent, OutboxFailed, open_immediately
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    NoticePart,
    ProgressPart,
    Reply,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from bot.turns.delivery import TURN_LEASE, LeaseLost, ProgressFeed, TurnDelivery
from storage.search.ids import LegId
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox
from tests.bot.conftest import ConversationDriver, choice_of, running_workers, wait_until, wait_until_finished
from tests.bot.fakes import Clock, FakeChat, FakeChatThread, ListingAgent, PartialSurface


async def claim_until_lease_expires(bot: Application, clock: Clock, turn: TurnId, message: str = "") -> ClaimedTurn:
    inbox = TurnInbox(bot.database)
    [claimed] = await inbox.claim_due_turns("killed", TURN_LEASE)
    assert claimed.turn.id == turn
    if message:
        await inbox.note_placeholder(claimed, message)
    clock.advance(TURN_LEASE + timedelta(seconds=1))
    return claimed


async def test_a_placeholder_that_was_posted_but_not_recorded_is_found_again(
    bot: Application, chat: FakeChat, clock: Clock
) -> None:
    talk = ConversationDriver(bot)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    await claim_until_lease_expires(bot, clock, turn)
    await chat.thread_for(talk.conversation, {}).post_message(Reply(turn=turn, parts=(ProgressPart(text="Looking …"),)))
    finished_turn = await bot.run_turn(turn)

    [message] = chat.messages_of_turn(turn)
    assert message.reply == finished_turn.reply


@dataclass
class RecordingThreadPlacer:
    """Fulfils `bot.surface.outbox.ThreadPlacer`: records whether a thread may exist already."""

    may_exist_flags: list[bool] = field(default_factory=list[bool])

    async def place_question(self, inbound: Inbound, turn: TurnId, *, may_exist: bool) -> Inbound:
        self.may_exist_flags.append(may_exist)
        return replace(inbound, needs_thread=False)

    async def withdraw_message(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None: ...

    async def find_private_address(self, inbound: Inbound) -> Mapping[str, str] | None: ...


@pytest.mark.parametrize("before", [False, True])
async def test_a_thread_that_a_stopped_worker_may_have_begun_is_looked_for(
    bot: Application, chat: FakeChat, before: bool
) -> None:
    placer, talk, inbox = RecordingThreadPlacer(), ConversationDriver(bot), TurnInbox(bot.database)
    bot.register_surface(PartialSurface(outbox=chat, threads=placer))
    turn = await bot.accept_inbound(replace(talk.build_inbound(TextMessage("List every receipt")), needs_thread=True))
    assert turn is not None
    if before:
        [claimed] = await inbox.claim_due_turns("shut down", TURN_LEASE)
        await inbox.release_claim(claimed)

    await bot.run_turn(turn)

    assert placer.may_exist_flags == [before]


async def test_a_recorded_placeholder_is_reused(bot: Application, chat: FakeChat, clock: Clock) -> None:
    talk = ConversationDriver(bot)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    message = await chat.thread_for(talk.conversation, {}).post_message(
        Reply(turn=turn, parts=(ProgressPart(text="Looking …"),))
    )
    await claim_until_lease_expires(bot, clock, turn, message)
    await bot.run_turn(turn)

    assert len(chat.messages) == 1


async def test_an_answer_that_failed_to_post_is_posted_later_and_its_choice_is_used_once(
    bot: Application, chat: FakeChat, clock: Clock, agent: ListingAgent
) -> None:
    talk = ConversationDriver(bot)
    overload = await talk.ask_question("List every receipt")
    turn = await talk.accept_body(ButtonClick(choice_of(overload, "Bolt")))
    chat.failures = [OutboxFailed("down", retry=True)] * 2
    async with running_workers(bot):
        await wait_until(lambda: not chat.failures)
        finished_turn = await wait_until_finished(bot, turn, meanwhile=lambda: clock.advance(timedelta(seconds=30)))

    assert finished_turn.result["count"] == 5
    assert chat.messages[MessageId("m1")].chosen == ChosenPart(label="Bolt", by="operator")
    assert len(agent.contexts) == 2
    assert chat.messages_of_turn(turn)[0].reply == finished_turn.reply


class LookupRecordingChat(FakeChat):
    """Records the messages of other turns that each lookup was given."""

    def __init__(self) -> None:
        super().__init__()
        self.lookups: list[Collection[MessageId] | None] = []

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> FakeChatThread:
        return LookupRecordingThread(self, conversation, self.lookups)


class LookupRecordingThread(FakeChatThread):
    def __init__(
        self, chat: FakeChat, conversation: ConversationId, recorded: list[Collection[MessageId] | None]
    ) -> None:
        super().__init__(chat, conversation)
        self._recorded = recorded

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        self._recorded.append(other_messages)
        return await super().find_message(turn, other_messages=other_messages)


@pytest.mark.parametrize("is_alone", [True, False])
async def test_a_message_without_a_turn_may_belong_to_the_only_turn_in_progress(
    bot: Application, clock: Clock, is_alone: bool
) -> None:
    chat, talk, inbox = LookupRecordingChat(), ConversationDriver(bot), TurnInbox(bot.database)
    earlier_turn = await talk.accept_body(TextMessage("List every receipt"))
    [earlier_claim] = await inbox.claim_due_turns("here", TURN_LEASE)
    assert await inbox.note_placeholder(earlier_claim, "m0")
    assert await inbox.finish_turn(earlier_claim, {})
    turn = await talk.accept_body(TextMessage("List every receipt"))
    await claim_until_lease_expires(bot, clock, turn)
    [claimed] = await inbox.claim_due_turns("here", TURN_LEASE)
    claimed = replace(claimed, is_sole_in_conversation=is_alone)
    delivery = TurnDelivery(claimed, talk.person, chat.thread_for(talk.conversation, {}), inbox, now=clock, log=bot.log)

    await delivery.deliver_reply(Reply(turn=turn, parts=(NoticePart(text="words"),)))

    assert earlier_turn != turn
    assert chat.lookups == [["m0"] if is_alone else None]


async def test_a_turn_without_attempts_left_shows_no_progress(bot: Application, clock: Clock, chat: FakeChat) -> None:
    talk, inbox = ConversationDriver(bot), TurnInbox(bot.database)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    for _ in range(3):
        await claim_until_lease_expires(bot, clock, turn)
    [claimed] = await inbox.claim_due_turns("here", TURN_LEASE)

    await TurnDelivery(
        claimed, talk.person, chat.thread_for(talk.conversation, {}), inbox, now=clock, log=bot.log
    ).report_progress(ProgressFeed())

    assert (claimed.is_exhausted, chat.messages, chat.activity_count) == (True, {}, 0)


class QueueingChat(FakeChat):
    """A chat in which the first message waits until the test lets it through."""

    def __init__(self) -> None:
        super().__init__()
        self.is_waiting, self.may_post = asyncio.Event(), asyncio.Event()

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> FakeChatThread:
        return QueueingFakeThread(self, conversation, self.is_waiting, self.may_post)


class QueueingFakeThread(FakeChatThread):
    """Fulfils `bot.surface.outbox.QueueingThread`."""

    def __init__(
        self, chat: FakeChat, conversation: ConversationId, waits: asyncio.Event, lets_through: asyncio.Event
    ) -> None:
        super().__init__(chat, conversation)
        self._waits, self._lets_through = waits, lets_through

    async def open_message(self, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
        self._waits.set()
        await self._lets_through.wait()
        return await open_immediately(self, opening)


@pytest.fixture
async def waiting_delivery(bot: Application, clock: Clock) -> tuple[QueueingChat, TurnDelivery, TurnId]:
    chat, talk = QueueingChat(), ConversationDriver(bot)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    [claimed] = await TurnInbox(bot.database).claim_due_turns("here", TURN_LEASE)
    delivery = TurnDelivery(
        claimed, talk.person, chat.thread_for(talk.conversation, {}), TurnInbox(bot.database), now=clock, log=bot.log
    )
    return chat, delivery, turn


async def test_an_answer_that_is_ready_while_its_progress_waits_becomes_the_first_message(
    waiting_delivery: tuple[QueueingChat, TurnDelivery, TurnId],
) -> None:
    (chat, delivery, turn), feed = waiting_delivery, ProgressFeed()
    reply = Reply(turn=turn, parts=(TextPart(markdown="42"),))
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report_progress(feed))
        await chat.is_waiting.wait()
        feed.close_feed(reply)
        feed.close_feed()
        chat.may_post.set()
    await delivery.deliver_reply(reply)

    assert [message.replies for message in chat.messages.values()] == [[reply]]


async def test_progress_that_still_waits_when_the_work_fails_is_never_shown(
    waiting_delivery: tuple[QueueingChat, TurnDelivery, TurnId],
) -> None:
    (chat, delivery, turn), feed = waiting_delivery, ProgressFeed()
    apology = Reply(turn=turn, parts=(NoticePart(text="Something went wrong."),))
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report_progress(feed))
        await chat.is_waiting.wait()
        feed.close_feed()
        chat.may_post.set()
    await delivery.deliver_reply(apology)

    assert [message.replies for message in chat.messages.values()] == [[apology]]


async def test_a_worker_that_loses_the_lease_while_it_waits_posts_nothing(
    bot: Application, clock: Clock, waiting_delivery: tuple[QueueingChat, TurnDelivery, TurnId]
) -> None:
    (chat, delivery, _), feed = waiting_delivery, ProgressFeed()
    reporting = asyncio.create_task(delivery.report_progress(feed))
    await chat.is_waiting.wait()
    clock.advance(TURN_LEASE + timedelta(seconds=1))
    await TurnInbox(bot.database).claim_due_turns("there", TURN_LEASE)
    chat.may_post.set()
    with pytest.raises(LeaseLost):
        await reporting

    assert chat.messages == {}


async def test_the_stop_button_appears_although_the_chat_refused_it_at_first(
    bot: Application, chat: FakeChat, clock: Clock
) -> None:
    talk, inbox, feed = ConversationDriver(bot), TurnInbox(bot.database), ProgressFeed()
    turn = await talk.accept_body(TextMessage("List every receipt"))
    [claimed] = await inbox.claim_due_turns("here", TURN_LEASE)
    delivery = TurnDelivery(
        claimed,
        talk.person,
        chat.thread_for(talk.conversation, {}),
        inbox,
        now=clock,
        log=bot.log,
        stoppable_after_s=0.01,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report_progress(feed))
        await wait_until(lambda: bool(chat.messages))
        chat.failures = [OutboxFailed("no room", retry=True)]
        await wait_until(
            lambda: TurnActionsPart(handles=(TurnAction.STOP,)) in chat.messages_of_turn(turn)[0].reply.parts
        )
        feed.close_feed()

    assert chat.failures == []


async def test_a_post_that_may_have_arrived_is_looked_for_before_it_is_repeated(bot: Application, clock: Clock) -> None:
    chat, talk = TimingOutChat(), ConversationDriver(bot)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    [claimed] = await TurnInbox(bot.database).claim_due_turns("here", TURN_LEASE)
    delivery = TurnDelivery(
        claimed, talk.person, chat.thread_for(talk.conversation, {}), TurnInbox(bot.database), now=clock, log=bot.log
    )

    with pytest.raises(OutboxFailed):
        await delivery.deliver_reply(Reply(turn=turn, parts=(NoticePart(text="first"),)))
    await delivery.deliver_reply(Reply(turn=turn, parts=(NoticePart(text="second"),)))

    [message] = chat.messages_of_turn(turn)
    assert message.reply.parts == (NoticePart(text="second"),)


async def test_a_message_is_recorded_before_its_files_are_attached(
    bot: Application, chat: FakeChat, clock: Clock
) -> None:
    talk, inbox = ConversationDriver(bot), TurnInbox(bot.database)
    turn = await talk.accept_body(TextMessage("export"))
    [claimed] = await inbox.claim_due_turns("here", TURN_LEASE)
    delivery = TurnDelivery(claimed, talk.person, chat.thread_for(talk.conversation, {}), inbox, now=clock, log=bot.log)
    file = FilePart(name="n", title="t", rows=3, path="/p", url="http://u", expires=clock.now)
    chat.file_failures = [OutboxFailed("neither file nor link", retry=True)]

    with pytest.raises(OutboxFailed):
        await delivery.deliver_reply(Reply(turn=turn, parts=(file,)))
    stored = await inbox.find_turn(turn)
    await delivery.deliver_reply(Reply(turn=turn, parts=(file,)))

    assert stored is not None
    assert list(chat.messages) == [stored.placeholder]
    assert chat.messages_of_turn(turn)[0].files == ("n",)


class TimingOutChat(FakeChat):
    """Posts the first message, but times out."""

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> FakeChatThread:
        return UnansweringThread(self, conversation)


class UnansweringThread(FakeChatThread):
    async def post_message(self, reply: Reply) -> MessageId:
        message = await super().post_message(reply)
        if len(self.chat.messages) == 1:
            raise OutboxFailed("it did not answer in time", retry=True)
        return message


async def test_a_turn_without_attempts_left_posts_an_error(
    bot: Application, chat: FakeChat, clock: Clock, agent: ListingAgent
) -> None:
    turn = await ConversationDriver(bot).accept_body(TextMessage("List every receipt"))
    for _ in range(3):
        await claim_until_lease_expires(bot, clock, turn)
    finished_turn = await bot.run_turn(turn)

    assert finished_turn.error == "Something went wrong here, and I could not answer. Please ask again."
    assert chat.messages_of_turn(turn)[0].reply == finished_turn.reply
    assert not agent.contexts


async def test_a_worker_without_the_lease_posts_nothing_more(bot: Application, chat: FakeChat, clock: Clock) -> None:
    talk = ConversationDriver(bot)
    turn = await talk.accept_body(TextMessage("List every receipt"))
    lost_claim = await claim_until_lease_expires(bot, clock, turn)
    await bot.run_turn(turn)
    delivery = TurnDelivery(
        lost_claim, talk.person, chat.thread_for(talk.conversation, {}), TurnInbox(bot.database), now=clock, log=bot.log
    )
    reply_count = len(chat.messages_of_turn(turn)[0].replies)

    with pytest.raises(LeaseLost):
        await delivery.deliver_reply(Reply(turn=turn, parts=()))
    assert len(chat.messages_of_turn(turn)[0].replies) == reply_count


def test_every_part_survives_the_json_round_trip() -> None:
    expires = datetime(2031, 5, 9, 12, 0, 0, 5, tzinfo=UTC)
    source = ShownCitation(marker="1", title="T", page=None, url=None, quote="q")
    button = ChoiceButton(id=ChoiceId("x"), label="L", count=None, kind="anyway")
    reply = Reply(
        turn=TurnId("t"),
        parts=(
            TextPart(markdown="m", sources=(source,)),
            TablePart(caption="c", columns=("a", "b"), rows=(("1", "2"),)),
            ChoicesPart(clarification=ClarificationId("k"), buttons=(button,), expires=expires),
            ChosenPart(label="L", by="Ann"),
            FilePart(name="n", title="t", rows=3, path="/p", url="http://u", expires=expires),
            ProgressPart(text="p"),
            NoticePart(text="n"),
            TurnActionsPart(handles=(TurnAction.RATE, TurnAction.STOP)),
        ),
    )

    assert reply_from_json(reply_to_json(reply)) == reply


async def test_the_sentences_of_an_answer_are_shown_while_it_is_written(
    waiting_delivery: tuple[QueueingChat, TurnDelivery, TurnId],
) -> None:
    (chat, delivery, turn), feed = waiting_delivery, ProgressFeed()
    reply = Reply(turn=turn, parts=(TextPart(markdown="Nine tonnes. Forty metres."),))
    feed.publish_progress("Writing the answer")
    feed.publish_partial_answer(LegId("b"), "Forty metres.")
    feed.publish_partial_answer(LegId("a"), "Nine tonnes.")
    feed.publish_partial_answer(LegId("c"), "Wrong.")
    feed.publish_partial_answer(LegId("c"), "")
    chat.may_post.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report_progress(feed))
        await wait_until(lambda: bool(chat.messages))
        feed.close_feed(reply)
    await delivery.deliver_reply(reply)

    [message] = chat.messages.values()
    assert message.replies[0].parts == (
        TextPart(markdown="Nine tonnes.\n\nForty metres."),
        ProgressPart(text="Writing the answer"),
    )
    assert message.replies[-1] == reply
