"""The status line of a thread."""

import pytest

from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.status import LOADING_MESSAGES, STATUS_TEXT
from adapters.slack.posting.workspace_outbox import WorkspaceOutbox
from bot.surface.replies import ProgressPart, TextPart
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.posting.test_workspace_outbox import ANY, address_for_question, reply_of_turn
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import SlackChannel, SlackMember, SlackMessage

pytestmark = pytest.mark.usefixtures("surface")

SET_STATUS = "assistant.threads.setStatus"


@pytest.fixture
def outbox(api: SlackApi, bot: InboxBot) -> WorkspaceOutbox:
    return WorkspaceOutbox(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: SlackMember, general: SlackChannel) -> SlackMessage:
    message, _ = await slack.post_as_person(ada, general, "a question")
    return message


async def test_the_status_is_shown_until_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    address = address_for_question(question)
    ts = await outbox.thread_for(ANY, address).post_message(reply_of_turn(ProgressPart(text="Looking …")))
    await outbox.thread_for(ANY, address).show_activity()
    [status] = slack.workspace.status_lines.values()

    await outbox.thread_for(ANY, address).update_message(ts, reply_of_turn(ProgressPart(text="Counting …")))
    count_during_progress = len(slack.workspace.status_lines)
    await outbox.thread_for(ANY, address).update_message(ts, reply_of_turn(TextPart(markdown="42 receipts")))

    assert (status.status, status.loading_messages) == (STATUS_TEXT, LOADING_MESSAGES)
    assert count_during_progress == 1
    assert slack.workspace.status_lines == {}


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429, retry_after=60), Fault(status=0)])
async def test_a_status_that_slack_refuses_does_not_affect_the_answer(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage, fault: Fault
) -> None:
    slack.plan_faults(SET_STATUS, fault, fault)
    address = address_for_question(question)

    await outbox.thread_for(ANY, address).show_activity()
    ts = await outbox.thread_for(ANY, address).post_message(reply_of_turn(ProgressPart(text="Looking …")))
    await outbox.thread_for(ANY, address).update_message(ts, reply_of_turn(TextPart(markdown="42 receipts")))

    assert [answer.visible_text() for answer in slack.workspace.bot_messages()] == ["42 receipts"]


async def test_a_status_that_was_not_shown_is_not_cleared(
    slack: SlackServer, outbox: WorkspaceOutbox, question: SlackMessage
) -> None:
    ts = await outbox.thread_for(ANY, address_for_question(question)).post_message(
        reply_of_turn(ProgressPart(text="Looking …"))
    )
    await outbox.thread_for(ANY, address_for_question(question)).update_message(
        ts, reply_of_turn(TextPart(markdown="42 receipts"))
    )

    assert slack.calls_of(SET_STATUS) == []
