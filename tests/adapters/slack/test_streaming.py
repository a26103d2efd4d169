"""Streams: the progress of a long turn grows in one message, which becomes the answer after any fault."""

import pytest

from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.streams import MAX_OPEN_STREAMS, REFUSAL_TTL_S, StreamPace
from adapters.slack.posting.workspace_outbox import WorkspaceOutbox
from bot.ids import MessageId, PersonId, TurnId
from bot.surface.outbox import MessageGone, OpenedMessage, OutboxFailed
from bot.surface.replies import (
    FilePart,
    NoticePart,
    ProgressPart,
    Reply,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from tests.adapters.slack.conftest import InboxBot, RecordedPauses
from tests.adapters.slack.posting.test_workspace_outbox import (
    ANY,
    PendingContent,
    address_for_question,
    csv,
    private,
    reply_of_turn,
)
from tests.adapters.slack.story_office import StoryOffice
from tests.adapters.slack.test_handles import StallingAgent, agent, office
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

__all__ = ["agent", "csv", "office", "private"]  # fixtures

pytestmark = pytest.mark.usefixtures("surface")

START_METHOD, APPEND_METHOD, STOP_METHOD = "chat.startStream", "chat.appendStream", "chat.stopStream"
ANSWER_REPLY = reply_of_turn(TextPart(markdown="**42** receipts"))


@pytest.fixture
def outbox(slack: SlackServer, api: SlackApi, bot: InboxBot) -> WorkspaceOutbox:
    slack.scopes |= slack.optional_scopes
    return WorkspaceOutbox(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: SlackMember, general: SlackChannel) -> SlackMessage:
    message, _ = await slack.post_as_person(ada, general, "a question")
    return message


def asker_of(question: SlackMessage) -> PersonId:
    return PersonId(f"slack:{TEAM}:{question.user}")


async def open_long_work(outbox: WorkspaceOutbox, question: SlackMessage, turn: str = "turn-1") -> OpenedMessage:
    """Open a message with work that takes long."""
    message = await outbox.thread_for(ANY, address_for_question(question)).open_message(
        asker_of(question), PendingContent(turn=turn)
    )
    assert message is not None
    return message


async def begin_message(outbox: WorkspaceOutbox, question: SlackMessage, turn: str = "turn-1") -> MessageId:
    return (await open_long_work(outbox, question, turn)).message


def progress_reply(text: str) -> Reply:
    return reply_of_turn(ProgressPart(text=text), TurnActionsPart(handles=(TurnAction.STOP,)))


async def update_reply(
    outbox: WorkspaceOutbox, question: SlackMessage, message: MessageId, reply: Reply = ANSWER_REPLY
) -> None:
    await outbox.thread_for(ANY, address_for_question(question)).update_message(message, reply)


def single_answer(slack: SlackServer) -> SlackMessage:
    [message] = slack.workspace.bot_messages()
    return message


def is_answered(message: SlackMessage) -> bool:
    """Whether the message shows the answer and its turn id, and all tasks are complete."""
    is_done = all(task["status"] == "complete" for task in message.tasks)
    has_turn_id = (message.metadata or {}).get("event_payload") == {"turn": "turn-1"}
    return message.stream is None and message.visible_text() == "42 receipts" and is_done and has_turn_id


# One message


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_long_work_grows_task_by_task_and_ends_as_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, ada: SlackMember, question: SlackMessage, place: str
) -> None:
    if place == "direct":
        question, _ = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "a question")
    ts = await begin_message(outbox, question)
    for text in ("Counting …", "Checking …"):
        await update_reply(outbox, question, ts, progress_reply(text))
    growing = [(task["title"], task["status"]) for task in single_answer(slack).tasks]
    await update_reply(outbox, question, ts)

    assert growing == [("Looking …", "complete"), ("Counting …", "complete"), ("Checking …", "in_progress")]
    assert is_answered(single_answer(slack))
    assert (slack.calls_of("chat.update"), slack.calls_of("chat.postMessage")) == ([], [])
    assert slack.workspace.sessions[(question.channel, question.ts)].status == "active"


async def test_an_early_answer_is_one_plain_message(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    work = PendingContent(turn="turn-1", reply=ANSWER_REPLY)

    opened_message = await outbox.thread_for(ANY, address_for_question(question)).open_message(asker_of(question), work)

    assert work.waits_s == [StreamPace().patience_s]
    assert opened_message is not None
    assert (opened_message.reply, slack.calls_of(START_METHOD)) == (ANSWER_REPLY, [])
    assert is_answered(single_answer(slack))


async def test_progress_that_differs_in_numbers_is_one_task_and_a_repetition_makes_no_call(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    for text in ("Looking …", "1,000 rows", "2,000 rows", "2,000 rows"):
        await update_reply(outbox, question, ts, progress_reply(text))

    assert [task["title"] for task in single_answer(slack).tasks] == ["Looking …", "2,000 rows"]
    assert len(slack.calls_of(APPEND_METHOD)) == 2


@pytest.mark.parametrize("fault", [Fault(), Fault(takes_effect=True), Fault(status=429, retry_after=1)])
async def test_no_task_stays_in_progress_after_a_lost_update(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses, fault: Fault
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(APPEND_METHOD, fault)
    with pytest.raises(OutboxFailed):
        await update_reply(outbox, question, ts, progress_reply("Counting …"))
    await pauses(1.0)
    await update_reply(outbox, question, ts, progress_reply("Checking …"))
    await update_reply(outbox, question, ts)

    assert is_answered(single_answer(slack))
    assert slack.calls_of("chat.update") == []


async def test_a_finished_answer_can_be_updated(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    await update_reply(outbox, question, ts)
    await update_reply(outbox, question, ts, reply_of_turn(NoticePart(text="gone")))

    assert single_answer(slack).visible_text() == "gone"


async def test_progress_cannot_mention_anybody(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    await update_reply(outbox, question, ts, progress_reply("<!channel> " + "x" * 400))

    title = single_answer(slack).tasks[-1]["title"]
    assert "<" not in title
    assert len(title) <= 250


# Without streams


@pytest.mark.parametrize(
    ("error", "tries"), [("unknown_method", 1), ("not_allowed", 1), ("user_not_in_channel", 2), ("is_archived", 2)]
)
async def test_refused_streams_become_messages_and_are_not_retried_for_a_while(
    slack: SlackServer,
    outbox: WorkspaceOutbox,
    question: SlackMessage,
    private: SlackMessage,
    pauses: RecordedPauses,
    error: str,
    tries: int,
) -> None:
    """A refusal that applies to all channels prevents streams in other channels too."""
    slack.plan_faults(START_METHOD, Fault(error=error), Fault(error=error))
    for asked_message in (question, private, question, private):
        await begin_message(outbox, asked_message)
    unused_faults = len(slack.faults.pending[START_METHOD])
    await pauses(REFUSAL_TTL_S)
    slack.faults.pending[START_METHOD].clear()
    await begin_message(outbox, question)

    assert 2 - unused_faults == tries
    assert [message.visible_text() for message in slack.workspace.bot_messages()[:4]] == ["Looking …"] * 4
    assert slack.workspace.bot_messages()[4].stream is not None


@pytest.mark.parametrize("fault", [Fault(status=429, retry_after=1), Fault(status=429, retry_after=60)])
async def test_a_rate_limited_stream_is_not_waited_for(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses, fault: Fault
) -> None:
    slack.plan_faults(START_METHOD, fault)

    await begin_message(outbox, question)

    assert single_answer(slack).visible_text() == "Looking …"
    assert pauses.durations_s == []


async def test_nothing_is_streamed_in_an_unreadable_thread(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.scopes -= slack.optional_scopes
    for _ in range(2):
        await begin_message(outbox, question)

    assert slack.calls_of(START_METHOD) == []


async def test_nothing_is_streamed_without_slacks_stop_button(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.is_agent = False

    ts = await begin_message(outbox, question)
    await update_reply(outbox, question, ts, progress_reply("Counting …"))

    assert slack.calls_of(START_METHOD) == []
    assert [button["action_id"] for button in single_answer(slack).block_buttons()] == ["stop"]


@pytest.mark.parametrize("person", ["slack:E1GRID:U1ADA", "nobody"])
async def test_nothing_is_streamed_in_a_channel_for_a_person_of_an_unknown_workspace(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, person: str
) -> None:
    await outbox.thread_for(ANY, address_for_question(question)).open_message(
        PersonId(person), PendingContent(turn="turn-1")
    )

    assert slack.calls_of(START_METHOD) == []


async def test_streams_are_few_enough_that_slack_accepts_all_their_ends(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    slack.limits_methods, slack.clock = True, pauses.clock
    messages: list[MessageId] = []
    for number in range(60):
        messages.append(await begin_message(outbox, question, f"turn-{number}"))
        await pauses(1.0)
    time_before = pauses.clock()
    growing = [message.ts for message in slack.workspace.bot_messages() if message.stream is not None]
    for ts in growing:
        await update_reply(outbox, question, MessageId(ts))

    assert 0 < len(growing) <= MAX_OPEN_STREAMS
    assert pauses.clock() == time_before


# Faults at the end


async def test_a_stream_that_slack_ended_is_updated_to_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, general: SlackChannel
) -> None:
    ts = await begin_message(outbox, question)
    slack.end_streams(general, question.ts)
    await update_reply(outbox, question, ts, progress_reply("Counting …"))
    text_during = single_answer(slack).visible_text()
    await update_reply(outbox, question, ts)

    assert text_during == "Counting …Stop"
    assert is_answered(single_answer(slack))


@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(), Fault(takes_effect=True), Fault(status=429, retry_after=1)]
)
async def test_a_failed_or_lost_end_is_retried(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, fault: Fault
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(STOP_METHOD, fault, fault)

    await update_reply(outbox, question, ts)

    assert is_answered(single_answer(slack))


async def test_an_end_without_any_response_becomes_an_update(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(STOP_METHOD, *[Fault(takes_effect=True)] * 3)

    await update_reply(outbox, question, ts)

    assert is_answered(single_answer(slack))


async def test_a_stream_that_cannot_be_ended_is_ended_later(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(STOP_METHOD, *[Fault(status=503)] * 3)

    with pytest.raises(OutboxFailed) as failed:
        await update_reply(outbox, question, ts)
    await update_reply(outbox, question, ts)

    assert failed.value.retry
    assert is_answered(single_answer(slack))


@pytest.mark.parametrize("times", [1, 2])
async def test_a_refused_end_becomes_an_update_or_is_retried(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, times: int
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(STOP_METHOD, *[Fault(error="msg_blocks_too_long")] * times)
    if times == 2:
        with pytest.raises(OutboxFailed) as failed:
            await update_reply(outbox, question, ts)
        assert failed.value.retry

    await update_reply(outbox, question, ts)

    assert is_answered(single_answer(slack))


async def test_a_table_is_shown_at_the_end_of_a_stream(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    table = TablePart(caption="Receipts", columns=("Vendor", "Total"), rows=(("Bolt", "12"),) * 200)
    await update_reply(outbox, question, ts, reply_of_turn(TextPart(markdown="word " * 3_000), table))

    assert single_answer(slack).stream is None
    assert slack.calls_of("chat.update") == []


async def test_a_message_deleted_during_its_stream_raises_message_gone(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    slack.workspace.messages.remove(single_answer(slack))

    with pytest.raises(MessageGone):
        await update_reply(outbox, question, ts)


async def test_slacks_own_stop_button_stops_a_streamed_turn(office: StoryOffice, agent: StallingAgent) -> None:
    office.slack.scopes |= office.slack.optional_scopes
    question, _ = await office.slack.post_as_person(office.ada, office.general, f"<@{BOT_USER}> forever")
    await office.slack.wait_until(lambda: any(message.stream for message in office.slack.workspace.bot_messages()))
    growing = single_answer(office.slack)

    delivered = await office.slack.press_stop(office.bob, office.general, question.ts)
    await office.slack.wait_until(lambda: "Stopped" in growing.visible_text())

    assert delivered.statuses == [200]
    assert growing.visible_text() == "Stopped by Bob. Found till then: 42 documents in the fields."
    assert single_answer(office.slack) is growing
    assert growing.metadata is not None


# Another process takes over


@pytest.fixture
def successor_outbox(api: SlackApi, bot: InboxBot, outbox: WorkspaceOutbox) -> WorkspaceOutbox:
    """The outbox of another process, after this one was killed."""
    return WorkspaceOutbox(api, bot.log)


async def test_another_process_ends_the_stream_with_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, successor_outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    await update_reply(successor_outbox, question, ts, progress_reply("Counting …"))
    growing = [task["title"] for task in single_answer(slack).tasks]
    await update_reply(successor_outbox, question, ts)

    assert growing == ["Looking …", "Counting …"]
    assert is_answered(single_answer(slack))


async def test_a_lost_end_by_another_process_still_shows_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, successor_outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)
    slack.plan_faults(STOP_METHOD, Fault(takes_effect=True))

    await update_reply(successor_outbox, question, ts)

    assert is_answered(single_answer(slack))


async def test_an_unrecorded_stream_is_found_by_its_missing_turn_id(
    slack: SlackServer, outbox: WorkspaceOutbox, successor_outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await begin_message(outbox, question)

    message = await successor_outbox.thread_for(ANY, address_for_question(question)).find_message(
        TurnId("turn-1"), other_messages=[]
    )

    assert message == ts
    assert (
        await successor_outbox.thread_for(ANY, address_for_question(question)).find_message(
            TurnId("turn-1"), other_messages=[ts]
        )
        is None
    )
    assert await successor_outbox.thread_for(ANY, address_for_question(question)).find_message(TurnId("turn-1")) is None


async def test_no_other_message_is_mistaken_for_a_stream(
    slack: SlackServer,
    outbox: WorkspaceOutbox,
    question: SlackMessage,
    ada: SlackMember,
    general: SlackChannel,
    csv: FilePart,
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn(csv, turn="turn-0"))
    await outbox.thread_for(ANY, address_for_question(question)).attach_files(ts, reply_of_turn(csv, turn="turn-0"))
    await outbox.thread_for(ANY, address_for_question(question)).post_privately(PersonId(ada.id), reply_of_turn())
    later, _ = await slack.post_as_person(ada, general, "and then?", thread_ts=question.ts)

    assert (
        await outbox.thread_for(ANY, address_for_question(later)).find_message(TurnId("turn-1"), other_messages=[])
        is None
    )
    assert (
        await outbox.thread_for(ANY, address_for_question(question)).find_message(TurnId("turn-1"), other_messages=[])
        is None
    )


async def test_a_stream_with_a_lost_response_is_found(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.plan_faults(START_METHOD, Fault(takes_effect=True))
    with pytest.raises(OutboxFailed) as failed:
        await begin_message(outbox, question)
    message = await outbox.thread_for(ANY, address_for_question(question)).find_message(
        TurnId("turn-1"), other_messages=[]
    )
    assert message is not None
    await update_reply(outbox, question, message, progress_reply("Counting …"))
    await update_reply(outbox, question, message)

    assert failed.value.retry
    assert is_answered(single_answer(slack))
