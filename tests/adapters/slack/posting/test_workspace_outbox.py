"""Replies reach their thread exactly once and in order, whatever faults Slack has."""

import asyncio
import inspect
import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import slack_sdk.errors
from pydantic import BaseModel

from adapters.slack.app import SlackSurface
from adapters.slack.errors import SlackRefusal, SlackUnreachable
from adapters.slack.posting.api import LONGEST_WAIT_S, M, SlackApi
from adapters.slack.posting.channel_queue import MIN_POST_INTERVAL_S
from adapters.slack.posting.workspace_outbox import WorkspaceOutbox
from bot.ids import ChoiceId, ClarificationId, ConversationId, MessageId, PersonId, TurnId
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    NoticePart,
    PictureKind,
    PicturePart,
    PicturePoint,
    ProgressPart,
    Reply,
    ReplyPart,
    TablePart,
    TextPart,
)
from tests.adapters.slack.conftest import InboxBot, RecordedPauses
from tests.adapters.slack.gallery import NOON, PARTS
from tests.stand_ins.slack.server import TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackChannel, SlackMember, SlackMessage

pytestmark = pytest.mark.usefixtures("surface")


class EmptyResponse(BaseModel):
    """A response without fields."""


class UnknownFieldResponse(BaseModel):
    """A response with a field that no method of Slack returns."""

    unknown_field: str


CSV = b"vendor,total\r\nAcme,12\r\n" * 20_000
ANY = ConversationId("any")
POST, UPDATE = "chat.postMessage", "chat.update"


def reply_of_turn(*parts: ReplyPart, turn: str = "turn-1") -> Reply:
    return Reply(turn=TurnId(turn), parts=parts or (NoticePart(text="words"),))


@pytest.fixture
def outbox(api: SlackApi, bot: InboxBot) -> WorkspaceOutbox:
    return WorkspaceOutbox(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: SlackMember, general: SlackChannel) -> SlackMessage:
    message, _ = await slack.post_as_person(ada, general, "a question")
    return message


@pytest.fixture
async def private(slack: SlackServer, ada: SlackMember) -> SlackMessage:
    message, _ = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "a question")
    return message


@pytest.fixture
def csv(tmp_path: Path) -> FilePart:
    path = tmp_path / "receipts.csv"
    path.write_bytes(CSV)
    return FilePart(
        name="receipts.csv",
        title="Receipts",
        rows=40_000,
        path=str(path),
        url="https://example.org/download/x",
        expires=NOON + timedelta(minutes=15),
    )


def address_for_question(question: SlackMessage) -> dict[str, str]:
    return {"channel": question.channel, "thread_ts": question.thread_ts or question.ts, "ts": question.ts}


# One message


async def test_a_reply_is_posted_in_its_thread_with_its_turn_id_and_without_previews(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(TextPart(markdown="**42** receipts"))
    )

    [answer] = slack.workspace.bot_messages()
    assert (answer.ts, answer.thread_ts) == (ts, question.ts)
    assert answer.metadata == {"event_type": "parley_turn", "event_payload": {"turn": "turn-1"}}
    assert answer.visible_text() == "42 receipts"


async def test_an_update_rewrites_the_message(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Looking …"))
    )
    await outbox.thread_for(ANY, address_for_question(question)).update_message(
        ts, reply_of_turn(TextPart(markdown="42 receipts"))
    )

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["42 receipts"]


class SlackWithoutDataTables(SlackApi):
    """A Slack without data tables."""

    async def call_method(self, model: type[M], method: str, /, arguments: Any = None, **how: Any) -> M:
        blocks: list[dict[str, str]] = dict[str, Any](arguments or {}).get("blocks", [])
        if any(block["type"] == "data_table" for block in blocks):
            raise SlackRefusal("invalid_blocks")
        return await super().call_method(model, method, arguments, **how)


async def test_a_workspace_without_data_tables_gets_them_as_text(
    slack: SlackServer, bot: InboxBot, question: SlackMessage
) -> None:
    api = SlackWithoutDataTables(token=TOKEN, base_url=slack.api_url)
    await api.start()
    outbox = WorkspaceOutbox(api, bot.log)
    table = TablePart(caption="Receipts", columns=("Vendor", "Total"), rows=(("Bolt", "12"),))

    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn(table))
    await outbox.thread_for(ANY, address_for_question(question)).update_message(
        ts, reply_of_turn(table, NoticePart(text="again"))
    )
    await api.close()

    [answer] = slack.workspace.bot_messages()
    assert "Vendor | Total\nBolt | 12" in answer.visible_text()
    assert answer.edits == 1


async def test_messages_to_a_channel_go_out_in_order(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.plan_faults(POST, Fault(status=429, retry_after=1))

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(
                outbox.thread_for(ANY, address_for_question(question)).post_message(
                    reply_of_turn(NoticePart(text=f"{number}"))
                )
            )

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["0", "1", "2", "3", "4"]


@dataclass
class PendingContent:
    """Fulfils `bot.surface.outbox.OpeningContent`: shows progress until it has a reply or is over."""

    turn: str
    reply: Reply | None = None
    is_over: bool = False
    waits_s: list[float] = field(default_factory=list[float])

    async def wait_for_reply(self, within_s: float) -> None:
        self.waits_s.append(within_s)

    async def get_current_reply(self) -> Reply | None:
        return self.reply or (None if self.is_over else reply_of_turn(ProgressPart(text="Looking …"), turn=self.turn))


async def test_an_answer_that_is_ready_before_its_progress_is_sent_replaces_it(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    contents = [PendingContent(turn=f"turn-{number}") for number in range(10)]
    slack.plan_faults(POST, Fault(status=429, retry_after=1))
    person = PersonId(f"slack:{TEAM}:{question.user}")
    async with asyncio.TaskGroup() as group:
        opened = [
            group.create_task(outbox.thread_for(ANY, address_for_question(question)).open_message(person, content))
            for content in contents
        ]
        for number, work in enumerate(contents[1:], 1):
            work.reply = reply_of_turn(TextPart(markdown=f"answer {number}"), turn=work.turn)
        contents[5].reply, contents[5].is_over = None, True

    posted = sorted(answer.visible_text() for answer in slack.workspace.bot_messages())
    assert posted == ["Looking …", *(f"answer {number}" for number in range(1, 10) if number != 5)]
    assert opened[5].result() is None
    assert len(slack.calls_of(POST)) == len(posted)


async def test_messages_are_posted_one_second_apart(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    slack.limits_posts = True
    slack.clock = lambda: 1_790_000_000 + pauses.clock()

    for number in range(3):
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn(turn=f"turn-{number}"))

    assert len(slack.workspace.bot_messages()) == len(slack.calls_of(POST)) == 3  # none was refused
    assert pauses.durations_s == pytest.approx([MIN_POST_INTERVAL_S, MIN_POST_INTERVAL_S])


async def test_a_busy_channel_does_not_delay_another(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, private: SlackMessage
) -> None:

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(
                outbox.thread_for(ANY, address_for_question(question)).post_message(
                    reply_of_turn(turn=f"turn-{number}")
                )
            )
        group.create_task(
            outbox.thread_for(ANY, address_for_question(private)).post_message(reply_of_turn(turn="turn-p"))
        )

    assert private.channel in [answer.channel for answer in slack.workspace.bot_messages()[:2]]


async def test_all_calls_of_a_rate_limited_method_wait(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, private: SlackMessage, pauses: RecordedPauses
) -> None:
    posted = [
        (
            asked_message,
            await outbox.thread_for(ANY, address_for_question(asked_message)).post_message(
                reply_of_turn(ProgressPart(text="Looking …"))
            ),
        )
        for asked_message in (question, private)
    ]
    slack.plan_faults(UPDATE, Fault(status=429, retry_after=9))
    time_before = pauses.clock()

    for asked_message, message in posted:
        await outbox.thread_for(ANY, address_for_question(asked_message)).update_message(
            message, reply_of_turn(TextPart(markdown="42"))
        )

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["42", "42"]
    assert pauses.clock() == time_before + 9.5


async def test_a_rate_limited_channel_does_not_block_another(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, private: SlackMessage, pauses: RecordedPauses
) -> None:
    slack.plan_faults(POST, Fault(status=429, retry_after=2 * int(LONGEST_WAIT_S)))
    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    await outbox.thread_for(ANY, address_for_question(private)).post_message(reply_of_turn())
    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert [answer.channel for answer in slack.workspace.bot_messages()] == [private.channel]
    assert sum(pauses.durations_s) < LONGEST_WAIT_S


async def test_progress_is_not_retried_and_the_answer_waits_as_slack_asks(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Looking …"))
    )
    slack.plan_faults(UPDATE, Fault(status=429, retry_after=4))

    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, address_for_question(question)).update_message(
            ts, reply_of_turn(ProgressPart(text="Counting …"))
        )
    assert pauses.durations_s == []
    await outbox.thread_for(ANY, address_for_question(question)).update_message(
        ts, reply_of_turn(TextPart(markdown="42"))
    )

    assert pauses.durations_s == [4.5]
    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["42"]


async def test_progress_of_many_turns_leaves_rate_limit_for_the_answers(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    slack.limits_methods, slack.clock = True, pauses.clock
    messages = [
        await outbox.thread_for(ANY, address_for_question(question)).post_message(
            reply_of_turn(ProgressPart(text="Looking …"))
        )
        for _ in range(50)
    ]
    dropped = 0
    for second in range(3):
        for ts in messages:
            try:
                await outbox.thread_for(ANY, address_for_question(question)).update_message(
                    ts, reply_of_turn(ProgressPart(text=f"Counting {second} …"))
                )
            except OutboxFailed:
                dropped += 1
        await pauses(1.0)
    time_before = pauses.clock()
    for ts in messages[:30]:
        await outbox.thread_for(ANY, address_for_question(question)).update_message(
            ts, reply_of_turn(TextPart(markdown="42"))
        )

    assert dropped > 100
    assert pauses.clock() == time_before
    assert [answer.visible_text() for answer in slack.workspace.bot_messages()[:30]] == ["42"] * 30


async def test_progress_does_not_wait_for_a_rate_limited_method(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Looking …"))
    )
    slack.plan_faults(UPDATE, Fault(status=429, retry_after=9))
    for _ in range(2):
        with pytest.raises(OutboxFailed):
            await outbox.thread_for(ANY, address_for_question(question)).update_message(
                ts, reply_of_turn(ProgressPart(text="Counting …"))
            )

    assert pauses.durations_s == []


# Choices


@pytest.fixture
async def posted_offer(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> tuple[SlackMessage, Reply]:
    choices = ChoicesPart(
        clarification=ClarificationId("c1"),
        buttons=(ChoiceButton(id=ChoiceId("x1"), label="Acme", count=37, kind="filter"),),
        expires=NOON,
    )
    reply = reply_of_turn(TextPart(markdown="Which vendor?"), choices)
    await outbox.thread_for(ANY, address_for_question(question)).post_message(reply)
    return slack.workspace.bot_messages()[-1], reply


CHOSEN = ChosenPart(label="Acme · 37", by="Bob")


async def test_the_chosen_label_replaces_the_buttons(
    outbox: WorkspaceOutbox, question: SlackMessage, posted_offer: tuple[SlackMessage, Reply]
) -> None:
    message, reply = posted_offer

    await outbox.thread_for(ANY, address_for_question(question)).show_chosen(MessageId(message.ts), reply, CHOSEN)

    assert message.block_buttons() == []
    assert message.visible_text() == "Which vendor?✓ Acme · 37 — chosen by Bob"


async def test_a_message_that_cannot_be_updated_is_settled_through_the_response_url(
    slack: SlackServer,
    bot: InboxBot,
    outbox: WorkspaceOutbox,
    bob: SlackMember,
    general: SlackChannel,
    posted_offer: tuple[SlackMessage, Reply],
) -> None:
    message, reply = posted_offer
    await slack.click_button(bob, message, "Acme")
    general.members.clear()

    await outbox.thread_for(ANY, bot.accepted[-1].address).show_chosen(MessageId(message.ts), reply, CHOSEN)

    assert message.block_buttons() == []


# Private messages


@pytest.fixture
async def click_address(
    slack: SlackServer, bot: InboxBot, bob: SlackMember, posted_offer: tuple[SlackMessage, Reply]
) -> dict[str, str]:
    """Returns the address of a click on the offer."""
    await slack.click_button(bob, posted_offer[0], "Acme")
    return dict(bot.accepted[-1].address)


async def test_a_private_message_that_may_have_arrived_is_not_repeated(
    slack: SlackServer, outbox: WorkspaceOutbox, bob: SlackMember, click_address: dict[str, str]
) -> None:
    slack.plan_faults("response_url", Fault(takes_effect=True))

    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, click_address).post_privately(PersonId(bob.id), reply_of_turn())

    assert [answer.visible_text() for answer in slack.workspace.bot_messages() if answer.visible_to == bob.id] == [
        "words"
    ]


async def test_a_rate_limited_response_url_does_not_delay_another(
    slack: SlackServer,
    bot: InboxBot,
    outbox: WorkspaceOutbox,
    bob: SlackMember,
    posted_offer: tuple[SlackMessage, Reply],
    pauses: RecordedPauses,
) -> None:
    for _ in range(2):
        await slack.click_button(bob, posted_offer[0], "Acme")
    first, second = bot.accepted[-2].address, bot.accepted[-1].address
    slack.plan_faults("response_url", Fault(status=429, retry_after=int(LONGEST_WAIT_S) + 1))
    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, first).post_privately(PersonId(bob.id), reply_of_turn())

    await outbox.thread_for(ANY, second).post_privately(PersonId(bob.id), reply_of_turn())

    assert [answer.visible_to for answer in slack.workspace.bot_messages()].count(bob.id) == 1
    assert pauses.durations_s == []


async def test_a_replacement_of_a_message_is_retried_until_it_arrives(
    slack: SlackServer,
    outbox: WorkspaceOutbox,
    general: SlackChannel,
    posted_offer: tuple[SlackMessage, Reply],
    click_address: dict[str, str],
) -> None:
    message, reply = posted_offer
    general.members.clear()
    slack.plan_faults("response_url", Fault(takes_effect=True), Fault(status=500))

    await outbox.thread_for(ANY, click_address).show_chosen(MessageId(message.ts), reply, CHOSEN)

    assert message.block_buttons() == []
    assert message.visible_text() == "Which vendor?✓ Acme · 37 — chosen by Bob"


# Faults


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=503), Fault(), Fault(takes_effect=True)])
async def test_a_direct_answer_is_posted_once_after_any_fault_of_the_first_attempt(
    slack: SlackServer, outbox: WorkspaceOutbox, private: SlackMessage, fault: Fault
) -> None:
    slack.plan_faults(POST, fault)

    ts = await outbox.thread_for(ANY, address_for_question(private)).post_message(reply_of_turn())

    assert [answer.ts for answer in slack.workspace.bot_messages()] == [ts]


async def test_a_lost_answer_is_posted_again_where_the_thread_is_not_readable(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.plan_faults(POST, Fault(takes_effect=True))

    await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert len(slack.workspace.bot_messages()) == 2  # a visible duplicate is better than a loss


@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(status=429, retry_after=2), Fault(), Fault(takes_effect=True)]
)
async def test_an_update_is_repeated(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, fault: Fault, pauses: RecordedPauses
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Looking …"))
    )
    slack.plan_faults(UPDATE, fault, fault)

    await outbox.thread_for(ANY, address_for_question(question)).update_message(
        ts, reply_of_turn(TextPart(markdown="42"))
    )

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["42"]
    assert pauses.durations_s == [2.5, 2.5] if fault.retry_after else pauses.durations_s == [1.0, 2.0]


async def test_a_longer_outage_of_slack_is_a_failure_with_a_retry(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    slack.plan_faults(POST, *[Fault(status=503)] * 3)

    with pytest.raises(OutboxFailed) as failed:
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert failed.value.retry
    assert len(slack.calls_of(POST)) == 0


async def test_a_long_wait_is_raised_to_the_caller(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, pauses: RecordedPauses
) -> None:
    slack.plan_faults(POST, Fault(status=429, retry_after=int(LONGEST_WAIT_S) + 1))

    with pytest.raises(OutboxFailed) as failed:
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert (failed.value.retry, failed.value.retry_after_s) == (True, LONGEST_WAIT_S + 1)
    assert pauses.durations_s == []


async def test_a_refused_message_is_not_retried(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, general: SlackChannel
) -> None:
    general.members.clear()

    with pytest.raises(OutboxFailed, match="not_in_channel") as failed:
        await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert not failed.value.retry
    assert len(slack.calls_of(POST)) == 1


async def test_the_message_of_a_turn_is_found_in_a_readable_thread(
    outbox: WorkspaceOutbox, private: SlackMessage
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(private)).post_message(reply_of_turn())

    assert await outbox.thread_for(ANY, address_for_question(private)).find_message(TurnId("turn-1")) == ts
    assert await outbox.thread_for(ANY, address_for_question(private)).find_message(TurnId("turn-2")) is None


async def test_the_message_of_a_turn_is_found_after_many_other_messages(
    outbox: WorkspaceOutbox, slack: SlackServer, private: SlackMessage
) -> None:
    for _ in range(240):
        slack.workspace.messages.append(
            SlackMessage(
                ts=slack.workspace.next_ts(), channel=private.channel, user="U1ADA", text="x", thread_ts=private.ts
            )
        )
    ts = await outbox.thread_for(ANY, address_for_question(private)).post_message(reply_of_turn())

    assert await outbox.thread_for(ANY, address_for_question(private)).find_message(TurnId("turn-1")) == ts


async def test_no_message_is_found_in_an_unreadable_channel(outbox: WorkspaceOutbox, question: SlackMessage) -> None:
    await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn())

    assert await outbox.thread_for(ANY, address_for_question(question)).find_message(TurnId("turn-1")) is None


# Files


async def post_with_files(outbox: WorkspaceOutbox, question: SlackMessage, reply: Reply) -> MessageId:
    """Post a reply with its files and return its message."""
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(reply)
    await outbox.thread_for(ANY, address_for_question(question)).attach_files(ts, reply)
    return ts


def shared_file_names(slack: SlackServer) -> list[str]:
    return [file.name for file in slack.workspace.files.values() if file.shared]


async def test_a_file_arrives_in_the_thread(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart
) -> None:
    await post_with_files(outbox, question, reply_of_turn(csv))

    message, upload = slack.workspace.bot_messages()
    [file] = slack.workspace.files.values()
    assert message.visible_text() == "Receipts · 40,000 rows"
    assert (upload.thread_ts, upload.files) == (question.ts, [file.id])
    assert (file.title, file.content) == ("Receipts", CSV)


async def test_a_repeated_update_uploads_no_file_again(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Exporting"))
    )

    for _ in range(2):
        await outbox.thread_for(ANY, address_for_question(question)).update_message(ts, reply_of_turn(csv))
        await outbox.thread_for(ANY, address_for_question(question)).attach_files(ts, reply_of_turn(csv))

    assert shared_file_names(slack) == ["receipts.csv"]


async def test_a_file_that_another_process_uploaded_is_not_uploaded_again(
    slack: SlackServer, api: SlackApi, bot: InboxBot, private: SlackMessage, csv: FilePart
) -> None:
    killed_outbox, successor = WorkspaceOutbox(api, bot.log), WorkspaceOutbox(api, bot.log)
    ts = await post_with_files(killed_outbox, private, reply_of_turn(csv))

    await successor.thread_for(ANY, address_for_question(private)).update_message(ts, reply_of_turn(csv))
    await successor.thread_for(ANY, address_for_question(private)).attach_files(ts, reply_of_turn(csv))

    assert shared_file_names(slack) == ["receipts.csv"]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429, retry_after=1), Fault()])
async def test_a_failed_upload_is_retried(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart, step: str, fault: Fault
) -> None:
    slack.plan_faults(step, fault)

    await post_with_files(outbox, question, reply_of_turn(csv))

    assert shared_file_names(slack) == ["receipts.csv"]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
async def test_a_file_that_slack_refuses_is_a_link(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart, step: str
) -> None:
    slack.plan_faults(step, *[Fault(status=503)] * 3)

    await post_with_files(outbox, question, reply_of_turn(csv))

    [answer] = slack.workspace.bot_messages()
    assert csv.url in str(answer.blocks)


async def test_a_message_remains_when_slack_refuses_its_file_and_the_link(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart
) -> None:
    slack.plan_faults("upload", *[Fault(status=503)] * 3)
    slack.plan_faults(UPDATE, *[Fault(status=503)] * 3)

    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(reply_of_turn(csv))
    with pytest.raises(OutboxFailed):
        await outbox.thread_for(ANY, address_for_question(question)).attach_files(ts, reply_of_turn(csv))
    await outbox.thread_for(ANY, address_for_question(question)).attach_files(ts, reply_of_turn(csv))

    assert [answer.ts for answer in slack.workspace.bot_messages() if not answer.files] == [ts]
    assert shared_file_names(slack) == ["receipts.csv"]


async def test_a_file_that_is_too_large_for_slack_is_a_link_without_an_upload(
    slack: SlackServer, api: SlackApi, bot: InboxBot, question: SlackMessage, csv: FilePart
) -> None:
    await post_with_files(WorkspaceOutbox(api, bot.log, file_mb=0), question, reply_of_turn(csv))

    [answer] = slack.workspace.bot_messages()
    assert csv.url in str(answer.blocks)
    assert slack.calls_of("files.getUploadURLExternal") == []


async def test_a_file_that_no_longer_exists_is_a_link(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart
) -> None:
    missing_file = replace(csv, path=f"{csv.path}.gone")

    await post_with_files(outbox, question, reply_of_turn(missing_file))

    assert csv.url in str(slack.workspace.bot_messages()[0].blocks)


async def test_without_the_scope_for_files_a_file_is_a_link(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, csv: FilePart
) -> None:
    slack.scopes -= {"files:write"}

    await post_with_files(outbox, question, reply_of_turn(csv))

    assert csv.url in str(slack.workspace.bot_messages()[0].blocks)


# Errors of the libraries

SDK_ERRORS = [
    error
    for _, error in inspect.getmembers(slack_sdk.errors, inspect.isclass)
    if issubclass(error, Exception) and error.__module__ == slack_sdk.errors.__name__
]
HTTP_ERRORS = [
    aiohttp.ClientError,
    aiohttp.ClientConnectionError,
    aiohttp.ClientOSError,
    aiohttp.ClientPayloadError,
    aiohttp.InvalidURL,
    aiohttp.ServerDisconnectedError,
    aiohttp.ServerTimeoutError,
    aiohttp.TooManyRedirects,
    TimeoutError,
]


@pytest.mark.parametrize("error", SDK_ERRORS, ids=lambda error: error.__name__)
def test_every_error_of_the_sdk_has_a_translation(error: type[Exception]) -> None:
    assert issubclass(error, slack_sdk.errors.SlackClientError)


@pytest.mark.parametrize("error", HTTP_ERRORS, ids=lambda error: error.__name__)
def test_every_error_of_the_connection_has_a_translation(error: type[Exception]) -> None:
    assert issubclass(error, aiohttp.ClientError | TimeoutError)


async def test_a_refused_connection_raises_slack_unreachable(pauses: RecordedPauses, surface: SlackSurface) -> None:
    api = SlackApi(token="xoxb", base_url="http://127.0.0.1:9/api/", sleep=pauses)
    await api.start()
    try:
        with pytest.raises(SlackUnreachable):
            await api.call_method(EmptyResponse, "auth.test")
    finally:
        await api.close()


async def test_an_invalid_response_raises_slack_unreachable(slack: SlackServer, api: SlackApi) -> None:
    with pytest.raises(SlackUnreachable):
        await api.call_method(UnknownFieldResponse, "auth.test")


async def test_a_refusal_keeps_slacks_error_code(slack: SlackServer, api: SlackApi) -> None:
    with pytest.raises(SlackRefusal) as refused:
        await api.call_method(EmptyResponse, "users.info", {"user": "U0NOBODY"})
    assert refused.value.error == "user_not_found"


# Pictures


def picture_reply() -> Reply:
    picture = PARTS["picture"]
    return reply_of_turn(TextPart(markdown="Sum of total, by vendor:"), picture, turn="turn-0123456789")


async def test_a_picture_arrives_in_the_thread_as_an_image_with_its_alternative_text(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    await post_with_files(outbox, question, picture_reply())

    message, upload = slack.workspace.bot_messages()
    [file] = slack.workspace.files.values()
    assert message.visible_text() == "Sum of total, by vendor:"
    assert (upload.thread_ts, upload.files) == (question.ts, [file.id])
    assert (file.name, file.title) == ("picture-23456789-1.png", "Sum of total, by vendor")
    assert file.alternative_text == "Bars: Acme & Sons USD 1,200.00, <!channel> USD 600.50"
    assert (file.content or b"").startswith(b"\x89PNG")


async def test_two_pictures_arrive_in_one_message(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    pictures = (PARTS["picture"], PARTS["picture"])

    await post_with_files(outbox, question, reply_of_turn(TextPart(markdown="By vendor:"), *pictures, turn="turn-01"))

    _, upload = slack.workspace.bot_messages()
    assert upload.files == list(slack.workspace.files)
    assert shared_file_names(slack) == ["picture-turn-01-1.png", "picture-turn-01-2.png"]


async def test_a_picture_is_uploaded_once_also_by_the_successor_of_a_killed_process(
    slack: SlackServer, api: SlackApi, bot: InboxBot, private: SlackMessage
) -> None:
    killed_outbox, successor = WorkspaceOutbox(api, bot.log), WorkspaceOutbox(api, bot.log)
    ts = await post_with_files(killed_outbox, private, picture_reply())

    for outbox in (killed_outbox, successor):
        await outbox.thread_for(ANY, address_for_question(private)).attach_files(ts, picture_reply())

    assert shared_file_names(slack) == ["picture-23456789-1.png"]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
async def test_the_reply_stands_without_a_picture_that_slack_does_not_take(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, step: str
) -> None:
    slack.plan_faults(step, *[Fault(status=503)] * 3)

    await post_with_files(outbox, question, picture_reply())

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["Sum of total, by vendor:"]
    assert shared_file_names(slack) == []


async def test_the_reply_stands_without_a_picture_that_cannot_be_drawn(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    points = tuple(PicturePoint(label=label, value=math.nan, value_text="?") for label in "ab")
    picture = PicturePart(kind=PictureKind.BARS, title="Sum", points=points, description="Bars")

    await post_with_files(outbox, question, reply_of_turn(TextPart(markdown="Sum:"), picture, PARTS["picture"]))

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["Sum:", ""]
    assert shared_file_names(slack) == ["picture-turn-1-2.png"]
