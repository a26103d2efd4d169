"""After a kill: the message is found again, the noted answer is said again, and nothing is said twice."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.bootstrap import Bot
from bot.codec import reply_from_json, reply_to_json
from bot.delivery import LEASE, Delivery, LeaseLost, News
from bot.ids import ChoiceId, ClarificationId, ConversationId, MessageId, PersonId, TurnId
from bot.inbound import Clicked, Inbound, Said
from bot.outbox import Opened, Opening, OutboxFailed
from bot.replies import Button, Choices, Chosen, File, Handle, Handles, Notice, Progress, Reply, Source, Table, Text
from storage.sql.inbox import ClaimedTurn, Inbox
from tests.bot.conftest import Talk, choice_of, finished, until, working
from tests.bot.fakes import Chat, Clock, ListingAgent


async def claimed_by_one_that_is_killed(bot: Bot, clock: Clock, turn: TurnId, message: str = "") -> ClaimedTurn:
    inbox = Inbox(bot.database)
    [claimed] = await inbox.claim("killed", LEASE)
    assert claimed.turn.id == turn
    if message:
        await inbox.note_placeholder(claimed, message)
    clock.advance(LEASE + timedelta(seconds=1))
    return claimed


async def test_a_placeholder_posted_but_not_noted_is_found_again(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk = Talk(bot)
    turn = await talk.accepted(Said("List every receipt"))
    await claimed_by_one_that_is_killed(bot, clock, turn)
    await chat.post(talk.conversation, {}, Reply(turn=turn, parts=(Progress(text="Looking …"),)))
    done = await bot.run(turn)

    [message] = chat.of(turn)
    assert message.reply == done.reply


@dataclass
class Places:
    """Fulfils `bot.outbox.Threads`: keeps whether a thread may have been begun before."""

    begun: list[bool] = field(default_factory=list[bool])

    async def place(self, inbound: Inbound, turn: TurnId, *, again: bool) -> Inbound:
        self.begun.append(again)
        return replace(inbound, unplaced=False)

    async def withdraw(
        self, inbound: Inbound, message: MessageId, reply: Reply, *, files: Collection[str] = ()
    ) -> None: ...

    async def alone(self, inbound: Inbound) -> Mapping[str, str] | None: ...


@pytest.mark.parametrize("before", [False, True])
async def test_a_thread_begun_by_a_worker_that_shut_down_is_looked_for(bot: Bot, before: bool) -> None:
    places, talk, inbox = Places(), Talk(bot), Inbox(bot.database)
    bot.turns.place_through("slack", places)
    turn = await bot.accept(replace(talk.inbound(Said("List every receipt")), unplaced=True))
    assert turn is not None
    if before:
        [claimed] = await inbox.claim("shut down", LEASE)
        await inbox.release(claimed)

    await bot.run(turn)

    assert places.begun == [before]


async def test_a_noted_placeholder_is_used(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk = Talk(bot)
    turn = await talk.accepted(Said("List every receipt"))
    message = await chat.post(talk.conversation, {}, Reply(turn=turn, parts=(Progress(text="Looking …"),)))
    await claimed_by_one_that_is_killed(bot, clock, turn, message)
    await bot.run(turn)

    assert len(chat.messages) == 1


async def test_an_answer_that_could_not_be_said_is_said_later_and_its_choice_stays_used_once(
    bot: Bot, chat: Chat, clock: Clock, agent: ListingAgent
) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    turn = await talk.accepted(Clicked(choice_of(asked, "Bolt")))
    chat.troubles = [OutboxFailed("down", retry=True)] * 2
    async with working(bot):
        await until(lambda: not chat.troubles)
        done = await finished(bot, turn, meanwhile=lambda: clock.advance(timedelta(seconds=30)))

    assert done.result["count"] == 5
    assert chat.messages[MessageId("m1")].chosen == Chosen(label="Bolt", by="operator")
    assert len(agent.seen) == 2
    assert chat.of(turn)[0].reply == done.reply


class Asked(Chat):
    """Keeps which messages it was told are other turns'."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[Collection[MessageId] | None] = []

    async def find(
        self,
        conversation: ConversationId,
        address: Mapping[str, str],
        turn: TurnId,
        *,
        others: Collection[MessageId] | None = None,
    ) -> MessageId | None:
        self.others.append(others)
        return await super().find(conversation, address, turn, others=others)


@pytest.mark.parametrize("is_alone", [True, False])
async def test_a_message_that_carries_no_turn_may_be_that_of_a_turn_that_is_alone(
    bot: Bot, clock: Clock, is_alone: bool
) -> None:
    chat, talk, inbox = Asked(), Talk(bot), Inbox(bot.database)
    before = await talk.accepted(Said("List every receipt"))
    [first] = await inbox.claim("here", LEASE)
    assert await inbox.note_placeholder(first, "m0")
    assert await inbox.finish(first, {})
    turn = await talk.accepted(Said("List every receipt"))
    await claimed_by_one_that_is_killed(bot, clock, turn)
    [claimed] = await inbox.claim("here", LEASE)
    claimed = replace(claimed, is_alone=is_alone)
    delivery = Delivery(claimed, talk.inbound(Said("")), chat, inbox, now=clock, log=bot.log)

    await delivery.deliver(Reply(turn=turn, parts=(Notice(text="words"),)))

    assert before != turn
    assert chat.others == [["m0"] if is_alone else None]


async def test_a_dead_turn_begins_nothing_but_its_word(bot: Bot, clock: Clock, chat: Chat) -> None:
    talk, inbox = Talk(bot), Inbox(bot.database)
    turn = await talk.accepted(Said("List every receipt"))
    for _ in range(3):
        await claimed_by_one_that_is_killed(bot, clock, turn)
    [dead] = await inbox.claim("here", LEASE)

    await Delivery(dead, talk.inbound(Said("")), chat, inbox, now=clock, log=bot.log).report(News())

    assert (dead.is_dead, chat.messages, chat.attended) == (True, {}, 0)


class Line(Chat):
    """In which the first message waits until it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.lets_through = asyncio.Event(), asyncio.Event()

    async def open(
        self, conversation: ConversationId, address: Mapping[str, str], person: PersonId, opening: Opening
    ) -> Opened | None:
        self.waits.set()
        await self.lets_through.wait()
        return await super().open(conversation, address, person, opening)


@pytest.fixture
async def at_work(bot: Bot, clock: Clock) -> tuple[Line, Delivery, TurnId]:
    line, talk = Line(), Talk(bot)
    turn = await talk.accepted(Said("List every receipt"))
    [claimed] = await Inbox(bot.database).claim("here", LEASE)
    delivery = Delivery(claimed, talk.inbound(Said("")), line, Inbox(bot.database), now=clock, log=bot.log)
    return line, delivery, turn


async def test_an_answer_that_is_ready_while_its_progress_waits_is_the_first_message(
    at_work: tuple[Line, Delivery, TurnId],
) -> None:
    (line, delivery, turn), news = at_work, News()
    reply = Reply(turn=turn, parts=(Text(markdown="42"),))
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report(news))
        await line.waits.wait()
        news.end(reply)
        news.end()
        line.lets_through.set()
    await delivery.deliver(reply)

    assert [message.said for message in line.messages.values()] == [[reply]]


async def test_progress_that_waits_when_the_work_fails_is_never_shown(at_work: tuple[Line, Delivery, TurnId]) -> None:
    (line, delivery, turn), news = at_work, News()
    apology = Reply(turn=turn, parts=(Notice(text="Something went wrong."),))
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report(news))
        await line.waits.wait()
        news.end()
        line.lets_through.set()
    await delivery.deliver(apology)

    assert [message.said for message in line.messages.values()] == [[apology]]


async def test_who_lost_the_lease_while_waiting_in_line_opens_nothing(
    bot: Bot, clock: Clock, at_work: tuple[Line, Delivery, TurnId]
) -> None:
    (line, delivery, _), news = at_work, News()
    reporting = asyncio.create_task(delivery.report(news))
    await line.waits.wait()
    clock.advance(LEASE + timedelta(seconds=1))
    await Inbox(bot.database).claim("there", LEASE)
    line.lets_through.set()
    with pytest.raises(LeaseLost):
        await reporting

    assert line.messages == {}


async def test_the_button_to_stop_comes_though_the_chat_did_not_take_it_at_first(
    bot: Bot, chat: Chat, clock: Clock
) -> None:
    talk, inbox, news = Talk(bot), Inbox(bot.database), News()
    turn = await talk.accepted(Said("List every receipt"))
    [claimed] = await inbox.claim("here", LEASE)
    delivery = Delivery(claimed, talk.inbound(Said("")), chat, inbox, now=clock, log=bot.log, patience_s=0.01)
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.report(news))
        await until(lambda: bool(chat.messages))
        chat.troubles = [OutboxFailed("no room", retry=True)]
        await until(lambda: Handles(handles=(Handle.STOP,)) in chat.of(turn)[0].reply.parts)
        news.end()

    assert chat.troubles == []


async def test_a_post_that_may_have_arrived_is_looked_for_before_it_is_repeated(bot: Bot, clock: Clock) -> None:
    chat, talk = Unanswering(), Talk(bot)
    turn = await talk.accepted(Said("List every receipt"))
    [claimed] = await Inbox(bot.database).claim("here", LEASE)
    delivery = Delivery(claimed, talk.inbound(Said("")), chat, Inbox(bot.database), now=clock, log=bot.log)

    with pytest.raises(OutboxFailed):
        await delivery.deliver(Reply(turn=turn, parts=(Notice(text="first"),)))
    await delivery.deliver(Reply(turn=turn, parts=(Notice(text="second"),)))

    [message] = chat.of(turn)
    assert message.reply.parts == (Notice(text="second"),)


async def test_a_message_is_known_before_its_files_are_handed_over(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk, inbox = Talk(bot), Inbox(bot.database)
    turn = await talk.accepted(Said("export"))
    [claimed] = await inbox.claim("here", LEASE)
    delivery = Delivery(claimed, talk.inbound(Said("")), chat, inbox, now=clock, log=bot.log)
    file = File(name="n", title="t", rows=3, path="/p", url="http://u", expires=clock.now)
    chat.handing_over = [OutboxFailed("neither file nor link", retry=True)]

    with pytest.raises(OutboxFailed):
        await delivery.deliver(Reply(turn=turn, parts=(file,)))
    noted = await inbox.find(turn)
    await delivery.deliver(Reply(turn=turn, parts=(file,)))

    assert noted is not None
    assert list(chat.messages) == [noted.placeholder]
    assert chat.of(turn)[0].files == ("n",)


class Unanswering(Chat):
    """Takes the first message, and does not say so."""

    async def post(self, conversation: ConversationId, address: Mapping[str, str], reply: Reply) -> MessageId:
        message = await super().post(conversation, address, reply)
        if len(self.messages) == 1:
            raise OutboxFailed("it did not answer in time", retry=True)
        return message


async def test_a_dead_turn_says_a_word(bot: Bot, chat: Chat, clock: Clock, agent: ListingAgent) -> None:
    turn = await Talk(bot).accepted(Said("List every receipt"))
    for _ in range(3):
        await claimed_by_one_that_is_killed(bot, clock, turn)
    done = await bot.run(turn)

    assert done.error == "Something went wrong here, and I could not answer. Please ask again."
    assert chat.of(turn)[0].reply == done.reply
    assert not agent.seen


async def test_who_lost_the_lease_says_nothing_more(bot: Bot, chat: Chat, clock: Clock) -> None:
    talk = Talk(bot)
    turn = await talk.accepted(Said("List every receipt"))
    lost = await claimed_by_one_that_is_killed(bot, clock, turn)
    await bot.run(turn)
    delivery = Delivery(lost, talk.inbound(Said("")), chat, Inbox(bot.database), now=clock, log=bot.log)
    said = len(chat.of(turn)[0].said)

    with pytest.raises(LeaseLost):
        await delivery.deliver(Reply(turn=turn, parts=()))
    assert len(chat.of(turn)[0].said) == said


def test_every_part_comes_back_from_json_as_it_was() -> None:
    at = datetime(2031, 5, 9, 12, 0, 0, 5, tzinfo=UTC)
    source = Source(marker="1", title="T", page=None, url=None, quote="q")
    button = Button(id=ChoiceId("x"), label="L", count=None, kind="anyway")
    reply = Reply(
        turn=TurnId("t"),
        parts=(
            Text(markdown="m", sources=(source,)),
            Table(caption="c", columns=("a", "b"), rows=(("1", "2"),)),
            Choices(clarification=ClarificationId("k"), buttons=(button,), expires=at),
            Chosen(label="L", by="Ann"),
            File(name="n", title="t", rows=3, path="/p", url="http://u", expires=at),
            Progress(text="p"),
            Notice(text="n"),
            Handles(handles=(Handle.RATE, Handle.STOP)),
        ),
    )

    assert reply_from_json(reply_to_json(reply)) == reply
