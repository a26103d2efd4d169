"""Replies reach their thread once, in order, whatever Slack does meanwhile."""

import asyncio
import inspect
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import slack_sdk.errors
from pydantic import BaseModel

from adapters.slack.api import LONGEST_WAIT_S, M, SlackApi
from adapters.slack.app import SlackSurface
from adapters.slack.errors import SlackRefused, SlackUnreachable
from adapters.slack.posting import Posting
from adapters.slack.queue import APART_S
from bot.ids import ChoiceId, ClarificationId, ConversationId, MessageId, PersonId, TurnId
from bot.outbox import OutboxFailed
from bot.replies import Button, Choices, Chosen, File, Notice, Part, Progress, Reply, Table, Text
from tests.adapters.slack.conftest import InboxBot, Pauses
from tests.adapters.slack.test_render import NOON
from tests.stand_ins.slack.server import TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, Channel, Message, User

pytestmark = pytest.mark.usefixtures("surface")


class Anything(BaseModel):
    """An answer of which nothing is read."""


class Unheard(BaseModel):
    """An answer with a field that no method of Slack's has."""

    unheard_of: str


CSV = b"vendor,total\r\nAcme,12\r\n" * 20_000
ANY = ConversationId("any")
POST, UPDATE = "chat.postMessage", "chat.update"


def a_reply(*parts: Part, turn: str = "turn-1") -> Reply:
    return Reply(turn=TurnId(turn), parts=parts or (Notice(text="words"),))


@pytest.fixture
def outbox(api: SlackApi, bot: InboxBot) -> Posting:
    return Posting(api, bot.log)


@pytest.fixture
async def question(slack: SlackServer, ada: User, general: Channel) -> Message:
    message, _ = await slack.say(ada, general, "a question")
    return message


@pytest.fixture
async def private(slack: SlackServer, ada: User) -> Message:
    message, _ = await slack.say(ada, slack.workspace.direct(ada.id), "a question")
    return message


@pytest.fixture
def csv(tmp_path: Path) -> File:
    path = tmp_path / "receipts.csv"
    path.write_bytes(CSV)
    return File(
        name="receipts.csv",
        title="Receipts",
        rows=40_000,
        path=str(path),
        url="https://example.org/download/x",
        expires=NOON + timedelta(minutes=15),
    )


def address_of(question: Message) -> dict[str, str]:
    return {"channel": question.channel, "thread_ts": question.thread_ts or question.ts, "ts": question.ts}


# One message


async def test_a_reply_is_posted_in_its_thread_with_its_turn_and_without_previews(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Text(markdown="**42** receipts")))

    [answer] = slack.workspace.answers()
    assert (answer.ts, answer.thread_ts) == (ts, question.ts)
    assert answer.metadata == {"event_type": "parley_turn", "event_payload": {"turn": "turn-1"}}
    assert answer.words() == "42 receipts"


async def test_an_update_rewrites_the_message(slack: SlackServer, outbox: Posting, question: Message) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …")))
    await outbox.update(ANY, address_of(question), ts, a_reply(Text(markdown="42 receipts")))

    assert [answer.words() for answer in slack.workspace.answers()] == ["42 receipts"]


class OldSlack(SlackApi):
    """Knows no data tables."""

    async def call(self, model: type[M], method: str, /, arguments: Any = None, **how: Any) -> M:
        blocks: list[dict[str, str]] = dict[str, Any](arguments or {}).get("blocks", [])
        if any(block["type"] == "data_table" for block in blocks):
            raise SlackRefused("invalid_blocks")
        return await super().call(model, method, arguments, **how)


async def test_a_workspace_without_data_tables_gets_them_as_text(
    slack: SlackServer, bot: InboxBot, question: Message
) -> None:
    api = OldSlack(token=TOKEN, base_url=slack.api_url)
    await api.start()
    outbox = Posting(api, bot.log)
    table = Table(caption="Receipts", columns=("Vendor", "Total"), rows=(("Bolt", "12"),))

    ts = await outbox.post(ANY, address_of(question), a_reply(table))
    await outbox.update(ANY, address_of(question), ts, a_reply(table, Notice(text="again")))
    await api.close()

    [answer] = slack.workspace.answers()
    assert "Vendor | Total\nBolt | 12" in answer.words()
    assert answer.edits == 1


async def test_messages_to_a_channel_go_out_in_order(slack: SlackServer, outbox: Posting, question: Message) -> None:
    slack.fail(POST, Fault(status=429, retry_after=1))

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(outbox.post(ANY, address_of(question), a_reply(Notice(text=f"{number}"))))

    assert [answer.words() for answer in slack.workspace.answers()] == ["0", "1", "2", "3", "4"]


@dataclass
class Work:
    """Fulfils `bot.outbox.Opening`: at it until it has a reply, or ends without."""

    turn: str
    reply: Reply | None = None
    is_over: bool = False
    waited: list[float] = field(default_factory=list[float])

    async def settled(self, within_s: float) -> None:
        self.waited.append(within_s)

    async def words(self) -> Reply | None:
        return self.reply or (None if self.is_over else a_reply(Progress(text="Looking …"), turn=self.turn))


async def test_an_answer_that_is_there_before_its_progress_was_sent_takes_the_place_of_it(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    works = [Work(turn=f"turn-{number}") for number in range(10)]
    slack.fail(POST, Fault(status=429, retry_after=1))
    person = PersonId(f"slack:{TEAM}:{question.user}")
    async with asyncio.TaskGroup() as group:
        opened = [group.create_task(outbox.open(ANY, address_of(question), person, work)) for work in works]
        for number, work in enumerate(works[1:], 1):
            work.reply = a_reply(Text(markdown=f"answer {number}"), turn=work.turn)
        works[5].reply, works[5].is_over = None, True

    said = sorted(answer.words() for answer in slack.workspace.answers())
    assert said == ["Looking …", *(f"answer {number}" for number in range(1, 10) if number != 5)]
    assert opened[5].result() is None
    assert len(slack.called(POST)) == len(said)


async def test_one_message_a_second_is_waited_for(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    slack.one_a_second = True
    slack.clock = lambda: 1_790_000_000 + pauses.clock()

    for number in range(3):
        await outbox.post(ANY, address_of(question), a_reply(turn=f"turn-{number}"))

    assert len(slack.workspace.answers()) == len(slack.called(POST)) == 3  # none was refused
    assert pauses.taken == pytest.approx([APART_S, APART_S])


async def test_a_busy_channel_takes_nothing_from_another(
    slack: SlackServer, outbox: Posting, question: Message, private: Message
) -> None:

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(outbox.post(ANY, address_of(question), a_reply(turn=f"turn-{number}")))
        group.create_task(outbox.post(ANY, address_of(private), a_reply(turn="turn-p")))

    assert private.channel in [answer.channel for answer in slack.workspace.answers()[:2]]


async def test_a_method_that_slack_closed_is_left_alone_by_all_until_it_opens(
    slack: SlackServer, outbox: Posting, question: Message, private: Message, pauses: Pauses
) -> None:
    answers = [
        (at, await outbox.post(ANY, address_of(at), a_reply(Progress(text="Looking …")))) for at in (question, private)
    ]
    slack.fail(UPDATE, Fault(status=429, retry_after=9))
    before = pauses.clock()

    for at, message in answers:
        await outbox.update(ANY, address_of(at), message, a_reply(Text(markdown="42")))

    assert [answer.words() for answer in slack.workspace.answers()] == ["42", "42"]
    assert pauses.clock() == before + 9.5


async def test_a_channel_that_takes_no_more_messages_closes_no_other(
    slack: SlackServer, outbox: Posting, question: Message, private: Message, pauses: Pauses
) -> None:
    slack.fail(POST, Fault(status=429, retry_after=2 * int(LONGEST_WAIT_S)))
    with pytest.raises(OutboxFailed):
        await outbox.post(ANY, address_of(question), a_reply())

    await outbox.post(ANY, address_of(private), a_reply())
    with pytest.raises(OutboxFailed):
        await outbox.post(ANY, address_of(question), a_reply())

    assert [answer.channel for answer in slack.workspace.answers()] == [private.channel]
    assert sum(pauses.taken) < LONGEST_WAIT_S


async def test_progress_is_not_tried_again_and_the_answer_waits_as_slack_wants(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …")))
    slack.fail(UPDATE, Fault(status=429, retry_after=4))

    with pytest.raises(OutboxFailed):
        await outbox.update(ANY, address_of(question), ts, a_reply(Progress(text="Counting …")))
    assert pauses.taken == []
    await outbox.update(ANY, address_of(question), ts, a_reply(Text(markdown="42")))

    assert pauses.taken == [4.5]
    assert [answer.words() for answer in slack.workspace.answers()] == ["42"]


async def test_progress_of_many_leaves_room_for_the_answers(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    slack.tiers, slack.clock = True, pauses.clock
    many = [await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …"))) for _ in range(50)]
    left_out = 0
    for second in range(3):
        for ts in many:
            try:
                await outbox.update(ANY, address_of(question), ts, a_reply(Progress(text=f"Counting {second} …")))
            except OutboxFailed:
                left_out += 1
        await pauses(1.0)
    before = pauses.clock()
    for ts in many[:30]:
        await outbox.update(ANY, address_of(question), ts, a_reply(Text(markdown="42")))

    assert left_out > 100
    assert pauses.clock() == before
    assert [answer.words() for answer in slack.workspace.answers()[:30]] == ["42"] * 30


async def test_progress_does_not_wait_in_line_for_a_method_that_slack_closed(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …")))
    slack.fail(UPDATE, Fault(status=429, retry_after=9))
    for _ in range(2):
        with pytest.raises(OutboxFailed):
            await outbox.update(ANY, address_of(question), ts, a_reply(Progress(text="Counting …")))

    assert pauses.taken == []


# Choices


@pytest.fixture
async def offer(slack: SlackServer, outbox: Posting, question: Message) -> tuple[Message, Reply]:
    choices = Choices(
        clarification=ClarificationId("c1"),
        buttons=(Button(id=ChoiceId("x1"), label="Acme", count=37, kind="filter"),),
        expires=NOON,
    )
    reply = a_reply(Text(markdown="Which vendor?"), choices)
    await outbox.post(ANY, address_of(question), reply)
    return slack.workspace.answers()[-1], reply


CHOSEN = Chosen(label="Acme · 37", by="Bob")


async def test_what_was_chosen_takes_the_place_of_the_buttons(
    outbox: Posting, question: Message, offer: tuple[Message, Reply]
) -> None:
    message, reply = offer

    await outbox.settle(ANY, address_of(question), MessageId(message.ts), reply, CHOSEN)

    assert message.buttons() == []
    assert message.words() == "Which vendor?✓ Acme · 37 — chosen by Bob"


async def test_a_message_that_may_not_be_updated_is_settled_through_the_click(
    slack: SlackServer, bot: InboxBot, outbox: Posting, bob: User, general: Channel, offer: tuple[Message, Reply]
) -> None:
    message, reply = offer
    await slack.click(bob, message, "Acme")
    general.members.clear()

    await outbox.settle(ANY, bot.accepted[-1].address, MessageId(message.ts), reply, CHOSEN)

    assert message.buttons() == []


# Words for one person


@pytest.fixture
async def click(slack: SlackServer, bot: InboxBot, bob: User, offer: tuple[Message, Reply]) -> dict[str, str]:
    """The address of a click on the offer."""
    await slack.click(bob, offer[0], "Acme")
    return dict(bot.accepted[-1].address)


async def test_a_word_for_one_person_that_may_have_arrived_is_not_said_again(
    slack: SlackServer, outbox: Posting, bob: User, click: dict[str, str]
) -> None:
    slack.fail("response_url", Fault(done=True))

    with pytest.raises(OutboxFailed):
        await outbox.whisper(ANY, click, PersonId(bob.id), a_reply())

    assert [answer.words() for answer in slack.workspace.answers() if answer.only_for == bob.id] == ["words"]


async def test_a_click_that_is_busy_is_answered_later_and_holds_up_no_other(
    slack: SlackServer, bot: InboxBot, outbox: Posting, bob: User, offer: tuple[Message, Reply], pauses: Pauses
) -> None:
    for _ in range(2):
        await slack.click(bob, offer[0], "Acme")
    first, second = bot.accepted[-2].address, bot.accepted[-1].address
    slack.fail("response_url", Fault(status=429, retry_after=int(LONGEST_WAIT_S) + 1))
    with pytest.raises(OutboxFailed):
        await outbox.whisper(ANY, first, PersonId(bob.id), a_reply())

    await outbox.whisper(ANY, second, PersonId(bob.id), a_reply())

    assert [answer.only_for for answer in slack.workspace.answers()].count(bob.id) == 1
    assert pauses.taken == []


async def test_what_takes_the_place_of_a_message_is_said_again_until_it_arrives(
    slack: SlackServer, outbox: Posting, general: Channel, offer: tuple[Message, Reply], click: dict[str, str]
) -> None:
    message, reply = offer
    general.members.clear()
    slack.fail("response_url", Fault(done=True), Fault(status=500))

    await outbox.settle(ANY, click, MessageId(message.ts), reply, CHOSEN)

    assert message.buttons() == []
    assert message.words() == "Which vendor?✓ Acme · 37 — chosen by Bob"


# Troubles


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=503), Fault(), Fault(done=True)])
async def test_a_direct_answer_is_posted_once_whatever_happens_to_the_first_attempt(
    slack: SlackServer, outbox: Posting, private: Message, fault: Fault
) -> None:
    slack.fail(POST, fault)

    ts = await outbox.post(ANY, address_of(private), a_reply())

    assert [answer.ts for answer in slack.workspace.answers()] == [ts]


async def test_where_the_thread_may_not_be_read_a_lost_answer_is_posted_again(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    slack.fail(POST, Fault(done=True))

    await outbox.post(ANY, address_of(question), a_reply())

    assert len(slack.workspace.answers()) == 2  # a visible double beats a loss


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429, retry_after=2), Fault(), Fault(done=True)])
async def test_an_update_is_repeated(
    slack: SlackServer, outbox: Posting, question: Message, fault: Fault, pauses: Pauses
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Looking …")))
    slack.fail(UPDATE, fault, fault)

    await outbox.update(ANY, address_of(question), ts, a_reply(Text(markdown="42")))

    assert [answer.words() for answer in slack.workspace.answers()] == ["42"]
    assert pauses.taken == [2.5, 2.5] if fault.retry_after else pauses.taken == [1.0, 2.0]


async def test_slack_down_for_longer_is_a_failure_to_be_tried_again(
    slack: SlackServer, outbox: Posting, question: Message
) -> None:
    slack.fail(POST, *[Fault(status=503)] * 3)

    with pytest.raises(OutboxFailed) as failed:
        await outbox.post(ANY, address_of(question), a_reply())

    assert failed.value.retry
    assert len(slack.called(POST)) == 0


async def test_a_long_wait_is_left_to_the_caller(
    slack: SlackServer, outbox: Posting, question: Message, pauses: Pauses
) -> None:
    slack.fail(POST, Fault(status=429, retry_after=int(LONGEST_WAIT_S) + 1))

    with pytest.raises(OutboxFailed) as failed:
        await outbox.post(ANY, address_of(question), a_reply())

    assert (failed.value.retry, failed.value.after_s) == (True, LONGEST_WAIT_S + 1)
    assert pauses.taken == []


async def test_what_slack_refuses_is_not_tried_again(
    slack: SlackServer, outbox: Posting, question: Message, general: Channel
) -> None:
    general.members.clear()

    with pytest.raises(OutboxFailed, match="not_in_channel") as failed:
        await outbox.post(ANY, address_of(question), a_reply())

    assert not failed.value.retry
    assert len(slack.called(POST)) == 1


async def test_the_message_of_a_turn_is_found_where_the_thread_may_be_read(outbox: Posting, private: Message) -> None:
    ts = await outbox.post(ANY, address_of(private), a_reply())

    assert await outbox.find(ANY, address_of(private), TurnId("turn-1")) == ts
    assert await outbox.find(ANY, address_of(private), TurnId("turn-2")) is None


async def test_the_message_of_a_turn_is_found_behind_many_others(
    outbox: Posting, slack: SlackServer, private: Message
) -> None:
    for _ in range(240):
        slack.workspace.messages.append(
            Message(ts=slack.workspace.next_ts(), channel=private.channel, user="U1ADA", text="x", thread_ts=private.ts)
        )
    ts = await outbox.post(ANY, address_of(private), a_reply())

    assert await outbox.find(ANY, address_of(private), TurnId("turn-1")) == ts


async def test_in_a_channel_that_may_not_be_read_no_message_is_found(outbox: Posting, question: Message) -> None:
    await outbox.post(ANY, address_of(question), a_reply())

    assert await outbox.find(ANY, address_of(question), TurnId("turn-1")) is None


# Files


async def said(outbox: Posting, question: Message, reply: Reply) -> MessageId:
    """Posted, with its files beside it."""
    ts = await outbox.post(ANY, address_of(question), reply)
    await outbox.hand_over(ANY, address_of(question), ts, reply)
    return ts


def shared_files(slack: SlackServer) -> list[str]:
    return [file.name for file in slack.workspace.files.values() if file.shared]


async def test_a_file_arrives_in_the_thread(slack: SlackServer, outbox: Posting, question: Message, csv: File) -> None:
    await said(outbox, question, a_reply(csv))

    words, upload = slack.workspace.answers()
    [file] = slack.workspace.files.values()
    assert words.words() == "Receipts · 40,000 rows"
    assert (upload.thread_ts, upload.files) == (question.ts, [file.id])
    assert (file.title, file.content) == ("Receipts", CSV)


async def test_the_same_update_again_uploads_nothing_again(
    slack: SlackServer, outbox: Posting, question: Message, csv: File
) -> None:
    ts = await outbox.post(ANY, address_of(question), a_reply(Progress(text="Exporting")))

    for _ in range(2):
        await outbox.update(ANY, address_of(question), ts, a_reply(csv))
        await outbox.hand_over(ANY, address_of(question), ts, a_reply(csv))

    assert shared_files(slack) == ["receipts.csv"]


async def test_a_file_that_another_process_uploaded_is_not_uploaded_again(
    slack: SlackServer, api: SlackApi, bot: InboxBot, private: Message, csv: File
) -> None:
    killed, next_one = Posting(api, bot.log), Posting(api, bot.log)
    ts = await said(killed, private, a_reply(csv))

    await next_one.update(ANY, address_of(private), ts, a_reply(csv))
    await next_one.hand_over(ANY, address_of(private), ts, a_reply(csv))

    assert shared_files(slack) == ["receipts.csv"]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429, retry_after=1), Fault()])
async def test_a_broken_upload_is_repeated(
    slack: SlackServer, outbox: Posting, question: Message, csv: File, step: str, fault: Fault
) -> None:
    slack.fail(step, fault)

    await said(outbox, question, a_reply(csv))

    assert shared_files(slack) == ["receipts.csv"]


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
async def test_a_file_that_slack_does_not_take_is_a_link(
    slack: SlackServer, outbox: Posting, question: Message, csv: File, step: str
) -> None:
    slack.fail(step, *[Fault(status=503)] * 3)

    await said(outbox, question, a_reply(csv))

    [answer] = slack.workspace.answers()
    assert csv.url in str(answer.blocks)


async def test_a_message_stands_though_slack_takes_neither_its_file_nor_the_link(
    slack: SlackServer, outbox: Posting, question: Message, csv: File
) -> None:
    slack.fail("upload", *[Fault(status=503)] * 3)
    slack.fail(UPDATE, *[Fault(status=503)] * 3)

    ts = await outbox.post(ANY, address_of(question), a_reply(csv))
    with pytest.raises(OutboxFailed):
        await outbox.hand_over(ANY, address_of(question), ts, a_reply(csv))
    await outbox.hand_over(ANY, address_of(question), ts, a_reply(csv))

    assert [answer.ts for answer in slack.workspace.answers() if not answer.files] == [ts]
    assert shared_files(slack) == ["receipts.csv"]


async def test_a_file_that_is_larger_than_slack_takes_is_a_link_at_once(
    slack: SlackServer, api: SlackApi, bot: InboxBot, question: Message, csv: File
) -> None:
    await said(Posting(api, bot.log, file_mb=0), question, a_reply(csv))

    [answer] = slack.workspace.answers()
    assert csv.url in str(answer.blocks)
    assert slack.called("files.getUploadURLExternal") == []


async def test_a_file_that_is_gone_is_a_link_that_will_say_so(
    slack: SlackServer, outbox: Posting, question: Message, csv: File
) -> None:
    gone = replace(csv, path=f"{csv.path}.gone")

    await said(outbox, question, a_reply(gone))

    assert csv.url in str(slack.workspace.answers()[0].blocks)


async def test_without_the_scope_for_files_a_file_is_a_link(
    slack: SlackServer, outbox: Posting, question: Message, csv: File
) -> None:
    slack.scopes -= {"files:write"}

    await said(outbox, question, a_reply(csv))

    assert csv.url in str(slack.workspace.answers()[0].blocks)


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


async def test_a_slack_that_is_not_there_is_unreachable(pauses: Pauses, surface: SlackSurface) -> None:
    api = SlackApi(token="xoxb", base_url="http://127.0.0.1:9/api/", pause=pauses)
    await api.start()
    try:
        with pytest.raises(SlackUnreachable):
            await api.call(Anything, "auth.test")
    finally:
        await api.close()


async def test_an_answer_that_makes_no_sense_is_unreachable(slack: SlackServer, api: SlackApi) -> None:
    with pytest.raises(SlackUnreachable):
        await api.call(Unheard, "auth.test")


async def test_an_error_of_slacks_keeps_its_name(slack: SlackServer, api: SlackApi) -> None:
    with pytest.raises(SlackRefused) as refused:
        await api.call(Anything, "users.info", {"user": "U0NOBODY"})
    assert refused.value.error == "user_not_found"
