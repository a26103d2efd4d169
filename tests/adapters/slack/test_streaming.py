"""Long work grows in one message, which ends as the answer, whatever becomes of the stream."""

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.posting import Posting
from adapters.slack.streams import GROWING, REFUSED_S, Pace
from bot.ids import MessageId, PersonId, TurnId
from bot.outbox import MessageGone, Opened, OutboxFailed
from bot.replies import File, Handle, Handles, Notice, Progress, Reply, Table, Text
from tests.adapters.slack.conftest import InboxBot, Pauses
from tests.adapters.slack.test_handles import PatientAgent, agent, office
from tests.adapters.slack.test_posting import ANY, Work, a_reply, address_of, csv, private
from tests.scenarios.test_slack_story import Office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User

__all__ = ["agent", "csv", "office", "private"]  # fixtures

pytestmark = pytest.mark.usefixtures("surface")

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
ANSWER = a_reply(Text(markdown="**42** receipts"))


@pytest.fixture
def outbox(slack: SlackServer, api: SlackApi, bot: InboxBot) -> Posting:
    slack.scopes |= slack.optional_scopes
    return Posting(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: User, general: Channel) -> Message:
    message, _ = await slack.say(ada, general, "a question")
    return message


def asker(question: Message) -> PersonId:
    return PersonId(f"slack:{TEAM}:{question.user}")


async def opened(outbox: Posting, question: Message, turn: str = "turn-1") -> Opened:
    """By work that takes long."""
    first = await outbox.open(ANY, address_of(question), asker(question), Work(turn=turn))
    assert first is not None
    return first


async def begun(outbox: Posting, question: Message, turn: str = "turn-1") -> MessageId:
    return (await opened(outbox, question, turn)).message


def progress(text: str) -> Reply:
    return a_reply(Progress(text=text), Handles(handles=(Handle.STOP,)))


async def told(outbox: Posting, question: Message, message: MessageId, reply: Reply = ANSWER) -> None:
    await outbox.update(ANY, address_of(question), message, reply)


def only(slack: SlackServer) -> Message:
    [message] = slack.workspace.answers()
    return message


def is_answered(message: Message) -> bool:
    """With the answer, its turn, and nothing that still seems to be done."""
    is_done = all(task["status"] == "complete" for task in message.tasks)
    marked = (message.metadata or {}).get("event_payload") == {"turn": "turn-1"}
    return message.stream is None and message.words() == "42 receipts" and is_done and marked


# One message


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_long_work_grows_task_by_task_and_ends_as_the_answer(
    slack: SlackServer, outbox: Posting, ada: User, question: Message, place: str
) -> None:
    if place == "direct":
        question, _ = await slack.say(ada, slack.workspace.direct(ada.id), "a question")
    ts = await begun(outbox, question)
    for text in ("Counting …", "Checking …"):
        await told(outbox, question, ts, progress(text))
    growing = [(task["title"], task["status"]) for task in only(slack).tasks]
    await told(outbox, question, ts)

    assert growing == [("Looking …", "complete"), ("Counting …", "complete"), ("Checking …", "in_progress")]
    assert is_answered(only(slack))
    assert (slack.called("chat.update"), slack.called("chat.postMessage")) == ([], [])
    assert slack.workspace.sessions[(question.channel, question.ts)].status == "active"


async def test_an_answer_within_the_patience_is_one_plain_message(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    work = Work(turn="turn-1", reply=ANSWER)

    first = await outbox.open(ANY, address_of(question), asker(question), work)

    assert work.waited == [Pace().patience_s]
    assert first is not None
    assert (first.says, slack.called(START)) == (ANSWER, [])
    assert is_answered(only(slack))


async def test_news_that_differ_in_numbers_are_one_task_and_the_same_news_no_call(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    for text in ("Looking …", "1,000 rows", "2,000 rows", "2,000 rows"):
        await told(outbox, question, ts, progress(text))

    assert [task["title"] for task in only(slack).tasks] == ["Looking …", "2,000 rows"]
    assert len(slack.called(APPEND)) == 2


@pytest.mark.parametrize("fault", [Fault(), Fault(done=True), Fault(status=429, retry_after=1)])
async def test_no_task_stays_in_progress_whose_news_were_lost(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses, fault: Fault
) -> None:
    ts = await begun(outbox, question)
    slack.fail(APPEND, fault)
    with pytest.raises(OutboxFailed):
        await told(outbox, question, ts, progress("Counting …"))
    await pauses(1.0)
    await told(outbox, question, ts, progress("Checking …"))
    await told(outbox, question, ts)

    assert is_answered(only(slack))
    assert slack.called("chat.update") == []


async def test_a_settled_answer_is_changed_as_any_other(slack: SlackServer, outbox: Posting, question: Message) -> None:
    ts = await begun(outbox, question)
    await told(outbox, question, ts)
    await told(outbox, question, ts, a_reply(Notice(text="gone")))

    assert only(slack).words() == "gone"


async def test_news_cannot_mention_anybody(slack: SlackServer, outbox: Posting, question: Message) -> None:
    ts = await begun(outbox, question)
    await told(outbox, question, ts, progress("<!channel> " + "x" * 400))

    title = only(slack).tasks[-1]["title"]
    assert "<" not in title
    assert len(title) <= 250


# Where there are none


@pytest.mark.parametrize(
    ("error", "tries"), [("unknown_method", 1), ("not_allowed", 1), ("user_not_in_channel", 2), ("is_archived", 2)]
)
async def test_where_slack_refuses_streams_progress_is_a_message_and_they_are_not_tried_for_a_while(
    slack: SlackServer, outbox: Posting, question: Message, private: Message, pauses: Pauses, error: str, tries: int
) -> None:
    """What is refused for all is not tried elsewhere either."""
    slack.fail(START, Fault(error=error), Fault(error=error))
    for place in (question, private, question, private):
        await begun(outbox, place)
    left = len(slack.faults.waiting[START])
    await pauses(REFUSED_S)
    slack.faults.waiting[START].clear()
    await begun(outbox, question)

    assert 2 - left == tries
    assert [message.words() for message in slack.workspace.answers()[:4]] == ["Looking …"] * 4
    assert slack.workspace.answers()[4].stream is not None


@pytest.mark.parametrize("fault", [Fault(status=429, retry_after=1), Fault(status=429, retry_after=60)])
async def test_where_no_stream_may_begin_now_nobody_waits_for_one(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses, fault: Fault
) -> None:
    slack.fail(START, fault)

    await begun(outbox, question)

    assert only(slack).words() == "Looking …"
    assert pauses.taken == []


async def test_where_the_thread_may_not_be_read_nothing_is_streamed(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    slack.scopes -= slack.optional_scopes
    for _ in range(2):
        await begun(outbox, question)

    assert slack.called(START) == []


async def test_where_slack_has_no_button_to_stop_nothing_is_streamed(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    slack.is_agent = False

    ts = await begun(outbox, question)
    await told(outbox, question, ts, progress("Counting …"))

    assert slack.called(START) == []
    assert [button["action_id"] for button in only(slack).buttons()] == ["stop"]


@pytest.mark.parametrize("person", ["slack:E1GRID:U1ADA", "nobody"])
async def test_in_a_channel_nothing_is_streamed_for_people_of_whom_slack_would_not_know_the_workspace(
    slack: SlackServer, outbox: Posting, question: Message, person: str
) -> None:
    await outbox.open(ANY, address_of(question), PersonId(person), Work(turn="turn-1"))

    assert slack.called(START) == []


async def test_so_few_grow_and_begin_that_slack_takes_all_their_ends(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    slack.tiers, slack.clock = True, pauses.clock
    messages: list[MessageId] = []
    for number in range(60):
        messages.append(await begun(outbox, question, f"turn-{number}"))
        await pauses(1.0)
    before = pauses.clock()
    growing = [one.ts for one in slack.workspace.answers() if one.stream is not None]
    for ts in growing:
        await told(outbox, question, MessageId(ts))

    assert 0 < len(growing) <= GROWING
    assert pauses.clock() == before


# When it ends otherwise


async def test_a_stream_that_slack_ended_is_changed_into_the_answer(
    slack: SlackServer, outbox: Posting, question: Message, general: Channel
) -> None:
    ts = await begun(outbox, question)
    slack.end_streams(general, question.ts)
    await told(outbox, question, ts, progress("Counting …"))
    during = only(slack).words()
    await told(outbox, question, ts)

    assert during == "Counting …Stop"
    assert is_answered(only(slack))


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(), Fault(done=True), Fault(status=429, retry_after=1)])
async def test_an_end_that_fails_or_is_lost_is_tried_again(
    slack: SlackServer, outbox: Posting, question: Message, fault: Fault
) -> None:
    ts = await begun(outbox, question)
    slack.fail(STOP, fault, fault)

    await told(outbox, question, ts)

    assert is_answered(only(slack))


async def test_an_end_whose_answers_are_all_lost_is_a_change(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    slack.fail(STOP, *[Fault(done=True)] * 3)

    await told(outbox, question, ts)

    assert is_answered(only(slack))


async def test_a_stream_that_cannot_be_ended_now_is_ended_later(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    slack.fail(STOP, *[Fault(status=503)] * 3)

    with pytest.raises(OutboxFailed) as failed:
        await told(outbox, question, ts)
    await told(outbox, question, ts)

    assert failed.value.retry
    assert is_answered(only(slack))


@pytest.mark.parametrize("times", [1, 2])
async def test_what_slack_refuses_at_the_end_of_a_stream_is_a_change_or_tried_again(
    slack: SlackServer, outbox: Posting, question: Message, times: int
) -> None:
    ts = await begun(outbox, question)
    slack.fail(STOP, *[Fault(error="msg_blocks_too_long")] * times)
    if times == 2:
        with pytest.raises(OutboxFailed) as failed:
            await told(outbox, question, ts)
        assert failed.value.retry

    await told(outbox, question, ts)

    assert is_answered(only(slack))


async def test_a_table_is_shown_at_the_end_of_a_stream(slack: SlackServer, outbox: Posting, question: Message) -> None:
    ts = await begun(outbox, question)
    table = Table(caption="Receipts", columns=("Vendor", "Total"), rows=(("Bolt", "12"),) * 200)
    await told(outbox, question, ts, a_reply(Text(markdown="word " * 3_000), table))

    assert only(slack).stream is None
    assert slack.called("chat.update") == []


async def test_a_message_that_was_deleted_while_it_grew_is_gone(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    slack.workspace.messages.remove(only(slack))

    with pytest.raises(MessageGone):
        await told(outbox, question, ts)


async def test_slacks_own_button_stops_work_that_is_streamed(office: Office, agent: PatientAgent) -> None:
    office.slack.scopes |= office.slack.optional_scopes
    asked, _ = await office.slack.say(office.ada, office.general, f"<@{BOT_USER}> forever")
    await office.slack.until(lambda: any(one.stream for one in office.slack.workspace.answers()))
    growing = only(office.slack)

    delivered = await office.slack.stop(office.bob, office.general, asked.ts)
    await office.slack.until(lambda: "Stopped" in growing.words())

    assert delivered.statuses == [200]
    assert growing.words() == "Stopped by Bob. Found till then: 42 documents in the fields."
    assert only(office.slack) is growing
    assert growing.metadata is not None


# When the process does


@pytest.fixture
def next_one(api: SlackApi, bot: InboxBot, outbox: Posting) -> Posting:
    """Of another process, after this one was killed."""
    return Posting(api, bot.log)


async def test_whoever_takes_over_ends_the_stream_as_the_answer(
    slack: SlackServer, outbox: Posting, next_one: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    await told(next_one, question, ts, progress("Counting …"))
    growing = [task["title"] for task in only(slack).tasks]
    await told(next_one, question, ts)

    assert growing == ["Looking …", "Counting …"]
    assert is_answered(only(slack))


async def test_a_stream_whose_end_is_lost_by_whoever_takes_over_is_the_answer(
    slack: SlackServer, outbox: Posting, next_one: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)
    slack.fail(STOP, Fault(done=True))

    await told(next_one, question, ts)

    assert is_answered(only(slack))


async def test_a_stream_that_was_not_noted_is_known_by_having_no_turn(
    slack: SlackServer, outbox: Posting, next_one: Posting, question: Message
) -> None:
    ts = await begun(outbox, question)

    found = await next_one.find(ANY, address_of(question), TurnId("turn-1"), others=[])

    assert found == ts
    assert await next_one.find(ANY, address_of(question), TurnId("turn-1"), others=[ts]) is None
    assert await next_one.find(ANY, address_of(question), TurnId("turn-1")) is None


async def test_no_other_message_is_taken_for_a_stream(
    slack: SlackServer, outbox: Posting, question: Message, ada: User, general: Channel, csv: File
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(csv, turn="turn-0"))
    await outbox.hand_over(ANY, address_of(question), ts, a_reply(csv, turn="turn-0"))
    await outbox.whisper(ANY, address_of(question), PersonId(ada.id), a_reply())
    later, _ = await slack.say(ada, general, "and then?", thread_ts=question.ts)

    assert await outbox.find(ANY, address_of(later), TurnId("turn-1"), others=[]) is None
    assert await outbox.find(ANY, address_of(question), TurnId("turn-1"), others=[]) is None


async def test_a_beginning_whose_answer_was_lost_is_found_again(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    slack.fail(START, Fault(done=True))
    with pytest.raises(OutboxFailed) as failed:
        await begun(outbox, question)
    found = await outbox.find(ANY, address_of(question), TurnId("turn-1"), others=[])
    assert found is not None
    await told(outbox, question, found, progress("Counting …"))
    await told(outbox, question, found)

    assert failed.value.retry
    assert is_answered(only(slack))
