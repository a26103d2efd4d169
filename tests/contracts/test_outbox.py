"""The contract of `Outbox` and `ChatThread`, for every surface and for the fakes in `tests/bot`."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import pytest
from rich.console import Console

from adapters.slack.app import SlackSurface
from adapters.teams.addresses import conversation_id_of as teams_conversation_id_of
from adapters.teams.addresses import person_id_of
from adapters.teams.posting.outbox import TeamsOutbox
from adapters.terminal.app import TerminalOutbox
from adapters.terminal.render import renderables_for
from adapters.web.outbox import WebOutbox, conversation_id_of, conversation_key_of
from adapters.web.transcript import WebTranscript
from bot.ids import ChoiceId, ClarificationId, ConversationId, MessageId, PersonId, TurnId
from bot.surface.json_codec import reply_from_json
from bot.surface.outbox import ChatThread, Outbox, OutboxFailed, open_message, post_privately, show_activity
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    NoticePart,
    ProgressPart,
    Reply,
    ReplyPart,
    TextPart,
)
from tests.adapters.slack.conftest import ada, api, bob, bot, general, pauses, slack, surface
from tests.adapters.teams.conftest import (
    access_tokens,
    address_in,
    alan,
    beth,
    connector,
    further_messages,
    personal_chat,
    stops,
    stream_pace,
    team_channel,
    teams,
    teams_log,
    teams_outbox,
    teams_settings,
    waits,
)
from tests.bot.diary import Diary
from tests.bot.fakes import FakeChat
from tests.stand_ins.slack.server import Fault, SlackServer
from tests.stand_ins.slack.workspace import TEAM, SlackMember, SlackMessage
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantPerson

__all__ = ["ada", "api", "bob", "bot", "general", "pauses", "slack", "surface"]
__all__ += ["access_tokens", "alan", "beth", "connector", "personal_chat", "stops", "stream_pace", "team_channel"]
__all__ += ["further_messages", "teams", "teams_log", "teams_outbox", "teams_settings", "waits"]

NOON = datetime(2031, 5, 9, 12, tzinfo=UTC)
TURN, OTHER_TURN = TurnId("turn-1"), TurnId("turn-2")
CHOSEN = ChosenPart(label="Acme", by="Ada")


class ReadConversation(Protocol):
    """A conversation of an outbox, with the view of the person who asks there."""

    outbox: Outbox
    conversation: ConversationId
    address: Mapping[str, str]
    person: PersonId

    async def shown_texts(self) -> list[str]:
        """What the person reads now, oldest first: a text per message, with the names of its files."""
        ...


class FailingConversation(ReadConversation, Protocol):
    def fail_next_call(self) -> None:
        """The product does not take the next message."""
        ...


def printed_text_of(reply: Reply) -> str:
    """The words of a reply, for fakes that show nothing themselves."""
    console = Console(file=io.StringIO(), width=200)
    for part in reply.parts:
        for renderable in renderables_for(part):
            console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@dataclass
class TerminalConversation:
    outbox: TerminalOutbox
    output: io.StringIO
    conversation = ConversationId("terminal:c")
    address: Mapping[str, str]
    person = PersonId("operator")

    async def shown_texts(self) -> list[str]:
        text = self.output.getvalue()
        return [text] if text else []


@dataclass
class WebConversation:
    outbox: WebOutbox
    transcript: WebTranscript
    folder: Path
    address: Mapping[str, str]
    conversation = conversation_id_of("a-conversation-key")
    person = PersonId("operator")

    async def shown_texts(self) -> list[str]:
        entries = await self.transcript.load_entries(conversation_key_of(self.conversation))
        return [printed_text_of(entry.content) for entry in entries if isinstance(entry.content, Reply)]

    def fail_next_call(self) -> None:
        self.folder.write_text("a file where the folder should be")


@dataclass
class FakeConversation:
    outbox: FakeChat
    address: Mapping[str, str]
    conversation = ConversationId("c1")
    person = PersonId("slack:T1:ANN")

    async def shown_texts(self) -> list[str]:
        messages = [
            printed_text_of(message.reply) + (message.chosen.label if message.chosen else "") + " ".join(message.files)
            for message in self.outbox.messages.values()
        ]
        return [
            *messages,
            *(printed_text_of(reply) for person, reply in self.outbox.private_replies if person == self.person),
        ]

    def fail_next_call(self) -> None:
        self.outbox.failures.append(OutboxFailed("down", retry=True))


@dataclass
class DiaryConversation:
    outbox: Diary
    address: Mapping[str, str]
    conversation = ConversationId("c1")
    person = PersonId("slack:T1:ANN")

    async def shown_texts(self) -> list[str]:
        labels = {line["message"]: line["label"] for line in self.outbox.read_lines() if line["did"] == "settle"}
        return [
            printed_text_of(reply_from_json(reply)) + labels.get(message, "")
            for message, reply in self.outbox.latest_replies().items()
        ]


@dataclass
class SlackConversation:
    outbox: Outbox
    server: SlackServer
    question: SlackMessage
    person: PersonId
    conversation = ConversationId("slack:c")

    @property
    def address(self) -> Mapping[str, str]:
        return {"channel": self.question.channel, "thread_ts": self.question.ts, "ts": self.question.ts}

    async def shown_texts(self) -> list[str]:
        workspace = self.server.workspace
        return [
            " ".join((message.visible_text(), *(workspace.files[file].name for file in message.files)))
            for message in workspace.bot_messages(self.question.channel)
            if message.visible_to in {None, self.question.user}
        ]

    def fail_next_call(self) -> None:
        self.server.plan_faults("chat.postMessage", Fault(error="not_in_channel"))


@dataclass
class TeamsConversation:
    """A personal chat, or a thread of a channel (`thread`: its first message), as `asker` reads it."""

    outbox: TeamsOutbox
    server: TeamsServer
    place: TenantConversation
    asker: TenantPerson
    thread: str = ""

    @property
    def address(self) -> Mapping[str, str]:
        return address_in(self.server, self.place, self.asker, thread=self.thread).to_mapping()

    @property
    def conversation(self) -> ConversationId:
        return teams_conversation_id_of(self.server.tenant.id, self.address["conversation"])

    @property
    def person(self) -> PersonId:
        return person_id_of(self.asker.tenant, self.asker.object_id)

    async def shown_texts(self) -> list[str]:
        tenant = self.server.tenant
        places = {self.place.id, tenant.personal_chat_of(self.asker).id}
        return [message.visible_text() for message in tenant.bot_messages() if message.conversation in places]

    def fail_next_call(self) -> None:
        self.server.plan_faults("send", TeamsFault(status=403, code="MessageWritesBlocked"))


@pytest.fixture
def terminal_conversation() -> TerminalConversation:
    output = io.StringIO()
    return TerminalConversation(TerminalOutbox(Console(file=output, width=200)), output, {})


@pytest.fixture
def web_conversation(tmp_path: Path) -> WebConversation:
    transcript = WebTranscript(tmp_path / "web")
    return WebConversation(WebOutbox(transcript, lambda: NOON), transcript, tmp_path / "web", {})


@pytest.fixture
def fake_conversation() -> FakeConversation:
    return FakeConversation(FakeChat(), {})


@pytest.fixture
def diary_conversation(tmp_path: Path) -> DiaryConversation:
    return DiaryConversation(Diary(tmp_path / "diary.jsonl"), {})


@pytest.fixture
async def slack_conversation(slack: SlackServer, ada: SlackMember, surface: SlackSurface) -> SlackConversation:
    question, _ = await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "a question")
    return SlackConversation(surface.outbox, slack, question, PersonId(f"slack:{TEAM}:{ada.id}"))


@pytest.fixture
def teams_chat_conversation(
    teams: TeamsServer, alan: TenantPerson, personal_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> TeamsConversation:
    return TeamsConversation(teams_outbox, teams, personal_chat, alan)


@pytest.fixture
async def teams_channel_conversation(
    teams: TeamsServer, alan: TenantPerson, team_channel: TenantConversation, teams_outbox: TeamsOutbox
) -> TeamsConversation:
    teams.tenant.personal_chat_of(alan).has_app = True  # where a private reply goes
    question, _ = await teams.say(alan, team_channel, "a question", mention=False)
    return TeamsConversation(teams_outbox, teams, team_channel, alan, thread=question.thread)


@pytest.fixture(params=["terminal", "web", "slack", "teams_chat", "teams_channel", "fake", "diary"])
def read_conversation(request: pytest.FixtureRequest) -> ReadConversation:
    return request.getfixturevalue(f"{request.param}_conversation")


@pytest.fixture(params=["web", "slack", "teams_chat", "teams_channel", "fake"])
def failing_conversation(request: pytest.FixtureRequest) -> FailingConversation:
    return request.getfixturevalue(f"{request.param}_conversation")


@pytest.fixture
def thread(read_conversation: ReadConversation) -> ChatThread:
    return read_conversation.outbox.thread_for(read_conversation.conversation, read_conversation.address)


def reply_with(*parts: ReplyPart, turn: TurnId = TURN) -> Reply:
    return Reply(turn=turn, parts=parts)


PROGRESS = reply_with(ProgressPart(text="Looking through everything"))
ANSWER = reply_with(TextPart(markdown="There are 42 receipts."))


@pytest.fixture
def file_reply(tmp_path: Path) -> Reply:
    path = tmp_path / "receipts.csv"
    path.write_bytes(b"vendor,total\r\nAcme,12\r\n")
    part = FilePart(
        name=path.name,
        title="Receipts",
        rows=1,
        path=str(path),
        url="http://127.0.0.1:8080/download/receipts.csv",
        expires=NOON + timedelta(minutes=15),
    )
    return reply_with(part)


# Messages


async def test_a_posted_reply_is_shown(read_conversation: ReadConversation, thread: ChatThread) -> None:
    await thread.post_message(ANSWER)

    assert "There are 42 receipts." in (await read_conversation.shown_texts())[-1]


async def test_a_thread_shows_nothing_before_a_call(read_conversation: ReadConversation, thread: ChatThread) -> None:
    assert await read_conversation.shown_texts() == []


async def test_an_updated_message_shows_the_new_reply(read_conversation: ReadConversation, thread: ChatThread) -> None:
    message = await thread.post_message(PROGRESS)
    await thread.update_message(message, ANSWER)

    [text] = await read_conversation.shown_texts()
    assert "There are 42 receipts." in text


async def test_the_same_reply_again_changes_nothing(read_conversation: ReadConversation, thread: ChatThread) -> None:
    message = await thread.post_message(PROGRESS)
    await thread.update_message(message, ANSWER)
    texts = await read_conversation.shown_texts()

    await thread.update_message(message, ANSWER)

    assert await read_conversation.shown_texts() == texts


async def test_a_message_is_found_by_its_turn_also_through_another_thread_object(
    read_conversation: ReadConversation, thread: ChatThread
) -> None:
    message = await thread.post_message(PROGRESS)
    same_thread = read_conversation.outbox.thread_for(read_conversation.conversation, read_conversation.address)

    assert await same_thread.find_message(TURN) == message
    assert await same_thread.find_message(TURN, other_messages=[MessageId("another")]) == message


async def test_a_message_of_another_turn_is_not_taken_for_the_turns_own(thread: ChatThread) -> None:
    message = await thread.post_message(ANSWER)

    assert await thread.find_message(OTHER_TURN) is None
    assert await thread.find_message(OTHER_TURN, other_messages=[message]) is None


async def test_a_settled_clarification_shows_the_choice(
    read_conversation: ReadConversation, thread: ChatThread
) -> None:
    button = ChoiceButton(id=ChoiceId("x"), label="Acme", count=12, kind="filter")
    choices = ChoicesPart(clarification=ClarificationId("k"), buttons=(button,), expires=NOON)
    offer = reply_with(TextPart(markdown="Which?"), choices)
    message = await thread.post_message(offer)

    await thread.show_chosen(message, offer, CHOSEN)

    [text] = await read_conversation.shown_texts()
    assert "Which?" in text
    assert "Acme" in text


async def test_files_are_attached_once(
    read_conversation: ReadConversation, thread: ChatThread, file_reply: Reply
) -> None:
    message = await thread.post_message(file_reply)
    await thread.attach_files(message, file_reply)
    texts = await read_conversation.shown_texts()

    await thread.attach_files(message, file_reply)

    assert "receipts.csv" in "\n".join(texts)
    assert await read_conversation.shown_texts() == texts


async def test_a_product_that_takes_no_message_raises_its_error_type(failing_conversation: FailingConversation) -> None:
    room = failing_conversation
    room.fail_next_call()

    with pytest.raises(OutboxFailed) as caught:
        await room.outbox.thread_for(room.conversation, room.address).post_message(ANSWER)

    assert caught.value.reason


# Optional capabilities: the functions work with every thread


@dataclass
class StaticOpening:
    """Fulfils `bot.surface.outbox.OpeningContent` with a fixed content."""

    reply: Reply | None

    async def wait_for_reply(self, within_s: float) -> None:
        """The content does not change."""

    async def get_current_reply(self) -> Reply | None:
        return self.reply


@pytest.mark.parametrize("content", [PROGRESS, ANSWER], ids=["progress", "answer"])
async def test_an_opening_posts_its_content_and_returns_it(
    read_conversation: ReadConversation, thread: ChatThread, content: Reply
) -> None:
    opened = await open_message(thread, read_conversation.person, StaticOpening(content))

    assert opened is not None
    assert opened.reply == content
    await thread.update_message(opened.message, reply_with(NoticePart(text="It is over.")))
    [text] = await read_conversation.shown_texts()
    assert "It is over." in text


async def test_an_opening_without_content_posts_nothing(
    read_conversation: ReadConversation, thread: ChatThread
) -> None:
    assert await open_message(thread, read_conversation.person, StaticOpening(None)) is None
    assert await read_conversation.shown_texts() == []


async def test_the_person_reads_a_private_reply(read_conversation: ReadConversation, thread: ChatThread) -> None:
    await post_privately(thread, read_conversation.person, reply_with(NoticePart(text="Between us.")))

    assert "Between us." in (await read_conversation.shown_texts())[-1]


async def test_an_activity_sign_is_no_message(read_conversation: ReadConversation, thread: ChatThread) -> None:
    await show_activity(thread)

    assert await read_conversation.shown_texts() == []
