"""Slack in a storm of faults, over the strict stand-in."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.posting.render import RenderedMessage, slack_message_for
from bot.surface.json_codec import reply_from_json
from bot.surface.replies import FilePart, Reply
from tests.faults.storm import (
    CHANNEL_COUNT,
    PERSON_COUNT,
    AskedQuestion,
    FaultKind,
    QuestionKey,
    ShownAnswers,
    StoredAnswer,
)
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

MAX_PENDING_PER_METHOD: Final = 2
HISTORY_SCOPES: Final = {"channels:history", "groups:history"}  # the app may read there, so it must post nothing twice
POST_METHOD, UPDATE_METHOD, STATUS_METHOD = "chat.postMessage", "chat.update", "assistant.threads.setStatus"
UPLOAD_METHODS: Final = ("files.getUploadURLExternal", "upload", "files.completeUploadExternal")
STREAM_METHODS: Final = ("chat.startStream", "chat.appendStream", "chat.stopStream")
READ_METHODS: Final = ("conversations.replies", "users.info")
ALL_METHODS: Final = (
    POST_METHOD,
    POST_METHOD,
    UPDATE_METHOD,
    UPDATE_METHOD,
    *READ_METHODS,
    STATUS_METHOD,
    *UPLOAD_METHODS,
    *STREAM_METHODS,
)
WEIGHTS: Final = {
    FaultKind.BUSY: 20,
    FaultKind.BROKEN: 27,
    FaultKind.CUT: 17,
    FaultKind.LOST: 14,
    FaultKind.DUPLICATE: 12,
    FaultKind.REORDER: 6,
    FaultKind.KILL: 2,
    FaultKind.HANG: 2,
    FaultKind.ENDED: 4,
}


@dataclass
class SlackStorm:
    """Fulfils `StormProduct`. A question's place is its channel, its thread the `ts` of its message."""

    slack: SlackServer
    name: str = "slack"
    fault_weights: Mapping[FaultKind, int] = field(default_factory=lambda: WEIGHTS)
    _pending: list[tuple[FaultKind, str, Fault]] = field(default_factory=list[tuple[FaultKind, str, Fault]])
    _events: dict[QuestionKey, tuple[str, Mapping[str, Any]]] = field(
        default_factory=dict[QuestionKey, tuple[str, Mapping[str, Any]]]
    )  # event ids and events

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self.slack.scopes |= HISTORY_SCOPES
        workspace = self.slack.workspace
        self._people = [workspace.add_user(SlackMember(id=f"U{n}STORM", name=f"P{n}")) for n in range(PERSON_COUNT)]
        members = [*(person.id for person in self._people), BOT_USER]
        self._channels = [workspace.direct_channel_of(person.id) for person in self._people]
        self._channels += [
            workspace.add_channel(SlackChannel(id=f"C{n}STORM", members=members)) for n in range(CHANNEL_COUNT)
        ]

    def connect_app(self, address: str) -> dict[str, str]:
        self.slack.app_url = f"{address}{EVENTS_PATH}"
        return {
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": self.slack.api_url,
        }

    @property
    def person_ids(self) -> list[str]:
        return [f"slack:{TEAM}:{person.id}" for person in self._people]

    # -- messages

    def post_question(self, rng: random.Random, text: str, after: AskedQuestion | None) -> AskedQuestion:
        channel = rng.choice(self._channels) if after is None else self.slack.workspace.channels[after.place]
        is_direct = channel.kind == "im"
        user = channel.members[0] if is_direct else rng.choice(self._people).id
        full_text = text if is_direct else f"<@{BOT_USER}> {text}"
        message = SlackMessage(ts=self.slack.workspace.next_ts(), channel=channel.id, user=user, text=full_text)
        event = {"type": "message", "channel_type": "im"} if is_direct else {"type": "app_mention"}
        event |= {
            "channel": channel.id,
            "user": user,
            "team": TEAM,
            "text": full_text,
            "ts": message.ts,
            "event_ts": message.ts,
        }
        if after is not None:
            message.thread_ts = event["thread_ts"] = after.thread
        self.slack.workspace.messages.append(message)
        question = AskedQuestion(key=(channel.id, message.ts), place=channel.id, thread=message.thread_ts or message.ts)
        self._events[question.key] = (f"EvStorm{next(self._numbers):06d}", event)
        return question

    async def deliver_question(self, question: AskedQuestion, copy: int) -> bool:
        """A repetition has another event id, as when the app is subscribed to two events of one message."""
        event_id, event = self._events[question.key]
        delivery = await self.slack.deliver_event(event, event_id=f"{event_id}-{copy}" if copy else event_id)
        return delivery.statuses[-1] == 200

    def key_of(self, conversation: str, message: str) -> QuestionKey:
        return conversation.split(":")[2], message

    # -- faults

    def plan_fault(self, rng: random.Random, kind: FaultKind) -> None:
        waiting = self.slack.faults.pending
        method = rng.choice([name for name in ALL_METHODS if len(waiting[name]) < MAX_PENDING_PER_METHOD])
        fault = _build_fault(rng, kind)
        self._pending.append((kind, method, fault))
        self.slack.plan_faults(method, fault)

    def take_triggered_faults(self) -> list[FaultKind]:
        waiting = self.slack.faults.pending
        triggered = [
            (kind, method, fault)
            for kind, method, fault in self._pending
            if not any(fault is waiting_fault for waiting_fault in waiting[method])
        ]
        for entry in triggered:
            self._pending.remove(entry)
        return [kind for kind, _, _ in triggered]

    @property
    def pending_fault_count(self) -> int:
        return len(self._pending)

    def clear_faults(self) -> None:
        self.slack.faults.pending.clear()

    def note_kill(self) -> None:
        """Slack tells which messages there are, so a killed process leaves nothing unknown."""

    async def use_answers(self) -> bool:
        """Files come without being asked for."""
        return False

    def end_stream(self, rng: random.Random) -> bool:
        """As if it had been idle too long."""
        streamed = [message for message in self.slack.workspace.bot_messages() if message.stream is not None]
        if not streamed:
            return False
        message = rng.choice(streamed)
        self.slack.end_streams(self.slack.workspace.channels[message.channel], message.thread_ts or "")
        return True

    # -- answers

    def collect_answers(self, questions: Sequence[AskedQuestion], answers: Sequence[StoredAnswer]) -> ShownAnswers:
        messages_by_turn: dict[str, list[SlackMessage]] = {}
        for message in self.slack.workspace.bot_messages():
            if message.metadata:
                messages_by_turn.setdefault(message.metadata["event_payload"]["turn"], []).append(message)
        final_messages = {
            answer.turn: _final_messages_of(reply_from_json(json.loads(answer.outcome)["reply"]))
            for answer in answers
            if answer.outcome
        }
        without_turn = [
            message for message in self.slack.workspace.bot_messages() if not message.metadata and not message.files
        ]
        return ShownAnswers(
            answered=frozenset(answer.turn for answer in answers if answer.turn in messages_by_turn),
            doubled=(
                *(f"{turn}: {len(posted)} messages" for turn, posted in messages_by_turn.items() if len(posted) > 1),
                *(f"{thread}: {count} files" for thread, count in self._count_files(questions).items() if count > 1),
            ),
            unfinished=(
                *(
                    f"{turn}: {message.text!r}, not {[final.text for final in final_messages.get(turn, ())]}"
                    for turn, posted in messages_by_turn.items()
                    for message in posted
                    if not any(_shows_message(message, final) for final in final_messages.get(turn, ()))
                ),
                *(
                    f"{message.channel}, {message.thread_ts}: {message.tasks}"
                    for message in without_turn
                    if message.visible_to is None
                ),
            ),
            streamed=len([call for call in self.slack.calls if call.method == STREAM_METHODS[0]]),
        )

    def _count_files(self, questions: Sequence[AskedQuestion]) -> Counter[str]:
        """The number of files in each thread with a single question."""
        question_counts = Counter(question.thread for question in questions)
        threads = [message.thread_ts for message in self.slack.workspace.bot_messages() for _ in message.files]
        return Counter(thread for thread in threads if thread and question_counts[thread] == 1)


def _build_fault(rng: random.Random, kind: FaultKind) -> Fault:
    match kind:
        case FaultKind.BUSY:
            return Fault(status=429, retry_after=rng.choice((1, 1, 1, 2)))
        case FaultKind.BROKEN:
            return Fault(status=rng.choice((500, 502, 503)))
        case FaultKind.LOST:
            return Fault(takes_effect=True)
        case FaultKind.HANG:
            return Fault(hang=True)
        case _:
            return Fault()  # cut


def _final_messages_of(reply: Reply) -> list[RenderedMessage]:
    """The final messages that are possible for a reply: with attached files, or with links to them."""
    paths = frozenset(part.path for part in reply.parts if isinstance(part, FilePart))
    return [slack_message_for(reply), slack_message_for(reply, paths)]


def _shows_message(message: SlackMessage, final_message: RenderedMessage) -> bool:
    """Whether the message shows the final one: by its fallback text, or by its blocks, because the end of a stream has
    no fallback text.
    """
    if message.stream is not None or any(task["status"] != "complete" for task in message.tasks):
        return False
    return message.text == final_message.text or (not message.text and message.blocks == list(final_message.blocks))
