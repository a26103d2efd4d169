"""What Parley is shown to be doing, beside its messages."""

import pytest

from adapters.slack.api import SlackApi
from adapters.slack.posting import Posting
from adapters.slack.status import LOADING, STATUS
from bot.replies import Progress, Text
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.test_posting import ANY, a_reply, address_of
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import Channel, Message, User

pytestmark = pytest.mark.usefixtures("surface")

SET_STATUS = "assistant.threads.setStatus"


@pytest.fixture
def outbox(api: SlackApi, bot: InboxBot) -> Posting:
    return Posting(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: User, general: Channel) -> Message:
    message, _ = await slack.say(ada, general, "a question")
    return message


async def test_what_is_done_is_shown_in_texts_that_take_turns_until_the_answer_is_there(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    address = address_of(question)
    ts = await outbox.post(ANY, address, a_reply(Progress(text="Looking …")))
    await outbox.attend(ANY, address)
    [doing] = slack.workspace.shown.values()

    await outbox.update(ANY, address, ts, a_reply(Progress(text="Counting …")))
    during = len(slack.workspace.shown)
    await outbox.update(ANY, address, ts, a_reply(Text(markdown="42 receipts")))

    assert (doing.status, doing.loading_messages) == (STATUS, LOADING)
    assert during == 1
    assert slack.workspace.shown == {}


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429, retry_after=60), Fault(status=0)])
async def test_a_status_that_slack_does_not_take_changes_nothing(
    slack: SlackServer, outbox: Posting, question: Message, fault: Fault
) -> None:
    slack.fail(SET_STATUS, fault, fault)
    address = address_of(question)

    await outbox.attend(ANY, address)
    ts = await outbox.post(ANY, address, a_reply(Progress(text="Looking …")))
    await outbox.update(ANY, address, ts, a_reply(Text(markdown="42 receipts")))

    assert [answer.words() for answer in slack.workspace.answers()] == ["42 receipts"]


async def test_where_no_status_was_shown_none_is_ended(slack: SlackServer, outbox: Posting, question: Message) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …")))
    await outbox.update(ANY, address_of(question), ts, a_reply(Text(markdown="42 receipts")))

    assert slack.called(SET_STATUS) == []
