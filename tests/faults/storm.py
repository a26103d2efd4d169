"""Asks questions of a real `parley serve` in Slack while everything around it fails, and checks that each is answered
once.

The bot is a separate process on SQLite; the strict stand-in plays Slack. Faults come one after another, chosen by a
seed: the process is killed; Slack refuses, breaks, hangs, loses answers, delivers twice and in the wrong order. Slack
repeats what was not acknowledged. At the end every acknowledged message must have exactly one visible answer.
"""

import asyncio
import contextlib
import itertools
import json
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import aiohttp

from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.posting.render import RenderedMessage, slack_message_for
from bot.surface.json_codec import reply_from_json
from bot.surface.replies import FilePart, Reply
from tests.adapters.web.serving import find_free_port
from tests.cli.conftest import environment_for
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

PERSON_COUNT, CHANNEL_COUNT, MAX_OPEN_QUESTIONS = (
    8,
    3,
    16,
)  # people and channels in the workspace; unanswered questions at a time
MAX_PENDING_FAULTS, MAX_PENDING_PER_METHOD = (
    12,
    2,
)  # Web API faults that wait for a call at a time, in all and per method
HISTORY_SCOPES: Final = {"channels:history", "groups:history"}  # the app may read there, so it must post nothing twice
QUESTIONS: Final = (
    "List all receipts",
    "How many receipts from Kestrel?",
    "Receipts from Harbor in 2022",
    "Receipts from Nowhere",
    "Export all receipts from Northline as CSV",
)

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


class FaultKind(StrEnum):
    BUSY = "429"
    BROKEN = "5xx"
    CUT = "cut before the work"
    LOST = "cut after the work"
    HANG = "no answer"
    DUPLICATE = "delivered again"
    REORDER = "out of order"
    KILL = "kill -9"
    ENDED = "stream ended by Slack"


FAULT_WEIGHTS: Final = {
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
SLOW_KINDS: Final = {
    FaultKind.KILL,
    FaultKind.HANG,
}  # none of these among the last faults: recovery from them takes longest


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question: its message and its event."""

    message: SlackMessage
    event: Mapping[str, Any]
    event_id: str

    @property
    def key(self) -> tuple[str, str]:
        return self.message.channel, self.message.ts


@dataclass(frozen=True, kw_only=True)
class StormOutcome:
    """The result of a storm. `lost`, `doubled` and `unfinished` should be empty."""

    faults: Mapping[FaultKind, int]
    accepted: int
    answered: int
    apologies: int  # among the answered: one plain sentence about a failure
    lost: tuple[str, ...]  # accepted messages without a turn or an answer
    doubled: tuple[str, ...]  # turns or answers too many
    unfinished: tuple[str, ...]  # messages that do not show the final reply
    streamed: int  # messages for which a stream was started


@dataclass
class FaultStorm:
    """Causes the given number of faults, chosen by `seed`. `home` has documents, and grants for everyone."""

    home: Path
    seed: int
    fault_target: int
    slack: SlackServer
    port: int = field(default_factory=find_free_port)
    fault_counts: Counter[FaultKind] = field(default_factory=Counter[FaultKind])
    questions: list[AskedQuestion] = field(default_factory=list[AskedQuestion])

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._numbers = itertools.count(1)
        self._pending_faults: list[tuple[FaultKind, str, Fault]] = []
        self._restart = asyncio.Event()
        self._ready = asyncio.Event()
        self.slack.scopes |= HISTORY_SCOPES
        self.slack.app_url = f"http://127.0.0.1:{self.port}{EVENTS_PATH}"
        self._people = [
            self.slack.workspace.add_user(SlackMember(id=f"U{n}STORM", name=f"P{n}")) for n in range(PERSON_COUNT)
        ]
        self._channels = [self.slack.workspace.direct_channel_of(person.id) for person in self._people]
        members = [*(person.id for person in self._people), BOT_USER]
        self._channels += [
            self.slack.workspace.add_channel(SlackChannel(id=f"C{n}STORM", members=members))
            for n in range(CHANNEL_COUNT)
        ]

    async def run(self, settling_timeout_s: float) -> StormOutcome:
        """Raises `TimeoutError` if turns are still open so many seconds after the last fault."""
        async with asyncio.TaskGroup() as group:
            server_task = group.create_task(self._keep_serving())
            await self._ready.wait()
            try:
                await self._inject_faults(group)
                self.slack.faults.pending.clear()
                async with asyncio.timeout(settling_timeout_s):
                    while self._open_questions():  # noqa: ASYNC110 - another process sets no event
                        await asyncio.sleep(0.5)
            finally:
                server_task.cancel()
        return self._collect_outcome()

    # -- the process

    async def _keep_serving(self) -> None:
        """Keeps a process running until cancelled; kills and restarts it on each request."""
        while True:
            async with self._start_process() as process:
                await self._wait_until_listening()
                self._ready.set()
                await self._restart.wait()
                self._restart.clear()
                self._ready.clear()
                process.kill()

    @asynccontextmanager
    async def _start_process(self) -> AsyncGenerator[asyncio.subprocess.Process]:
        settings = {
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": self.slack.api_url,
        }
        with (self.home / "stderr.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.faults.serving", str(self.home)),
                env=environment_for(self.home, PARLEY_PORT=str(self.port), **settings),
                stderr=log,
                stdout=log,
            )
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    async def _wait_until_listening(self) -> None:
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"http://127.0.0.1:{self.port}/healthz") as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(0.05)

    # -- faults

    async def _inject_faults(self, group: asyncio.TaskGroup) -> None:
        """Asks questions until all faults have happened; a prepared fault counts once a call has met it."""
        while (fault_count := sum(self.fault_counts.values())) < self.fault_target:
            self._count_triggered_faults()
            kinds = [
                kind for kind in FAULT_WEIGHTS if kind not in SLOW_KINDS or fault_count < self.fault_target * 2 / 3
            ]
            if len(self._pending_faults) < MAX_PENDING_FAULTS:
                await self._inject_fault(self._rng.choices(kinds, [FAULT_WEIGHTS[kind] for kind in kinds])[0], group)
            elif len(self._open_questions()) < MAX_OPEN_QUESTIONS:
                group.create_task(self._deliver_event(self._post_question()))
            await asyncio.sleep(0.02)

    async def _inject_fault(self, kind: FaultKind, group: asyncio.TaskGroup) -> None:
        match kind:
            case FaultKind.KILL:
                await self._ready.wait()
                self._restart.set()
                self.fault_counts[kind] += 1
            case FaultKind.DUPLICATE:
                self.fault_counts[kind] += 1
                group.create_task(self._deliver_duplicates(self._post_question()))
            case FaultKind.REORDER:
                self.fault_counts[kind] += 1
                group.create_task(self._deliver_out_of_order())
            case FaultKind.ENDED:
                self._end_random_stream()
            case _:
                waiting = self.slack.faults.pending
                method = self._rng.choice(
                    [method_name for method_name in ALL_METHODS if len(waiting[method_name]) < MAX_PENDING_PER_METHOD]
                )
                fault = self._build_fault(kind)
                self._pending_faults.append((kind, method, fault))
                self.slack.plan_faults(method, fault)

    def _end_random_stream(self) -> None:
        """Ends a random open stream, if there is one, as if it had been idle too long."""
        streamed = [message for message in self.slack.workspace.bot_messages() if message.stream is not None]
        if streamed:
            message = self._rng.choice(streamed)
            self.slack.end_streams(self.slack.workspace.channels[message.channel], message.thread_ts or "")
            self.fault_counts[FaultKind.ENDED] += 1

    def _build_fault(self, kind: FaultKind) -> Fault:
        match kind:
            case FaultKind.BUSY:
                return Fault(status=429, retry_after=self._rng.choice((1, 1, 1, 2)))
            case FaultKind.BROKEN:
                return Fault(status=self._rng.choice((500, 502, 503)))
            case FaultKind.LOST:
                return Fault(takes_effect=True)
            case FaultKind.HANG:
                return Fault(hang=True)
            case _:
                return Fault()  # cut

    def _count_triggered_faults(self) -> None:
        waiting = self.slack.faults.pending
        for kind, method, fault in [*self._pending_faults]:
            if not any(fault is waiting_fault for waiting_fault in waiting[method]):
                self._pending_faults.remove((kind, method, fault))
                self.fault_counts[kind] += 1

    # -- messages

    def _post_question(self, after: SlackMessage | None = None) -> AskedQuestion:
        """Posts a question in a random channel, or in the thread of another message."""
        channel = self._rng.choice(self._channels) if after is None else self.slack.workspace.channels[after.channel]
        is_direct = channel.kind == "im"
        user = channel.members[0] if is_direct else self._rng.choice(self._people).id
        question = self._rng.choice(QUESTIONS)
        text = question if is_direct else f"<@{BOT_USER}> {question}"
        message = SlackMessage(ts=self.slack.workspace.next_ts(), channel=channel.id, user=user, text=text)
        event = {"type": "message", "channel_type": "im"} if is_direct else {"type": "app_mention"}
        event |= {
            "channel": channel.id,
            "user": user,
            "team": TEAM,
            "text": text,
            "ts": message.ts,
            "event_ts": message.ts,
        }
        if after is not None:
            message.thread_ts = event["thread_ts"] = after.ts
        self.slack.workspace.messages.append(message)
        asked = AskedQuestion(message=message, event=event, event_id=f"EvStorm{next(self._numbers):06d}")
        self.questions.append(asked)
        return asked

    async def _deliver_event(self, question: AskedQuestion, event_id: str | None = None) -> None:
        """Delivers the event again and again until it is acknowledged, faster than Slack would."""
        for attempt in itertools.count(1):
            with contextlib.suppress(aiohttp.ClientError, OSError):
                delivery = await self.slack.deliver_event(question.event, event_id=event_id or question.event_id)
                if delivery.statuses[-1] == 200:
                    return
            await asyncio.sleep(min(0.1 * attempt, 1.0))

    async def _deliver_duplicates(self, question: AskedQuestion) -> None:
        """Delivers the event several times at once, under the same event id and under others."""
        ids = [question.event_id, *(f"{question.event_id}-{n}" for n in range(self._rng.randint(1, 9)))]
        await asyncio.gather(*(self._deliver_event(question, event_id) for event_id in ids))

    async def _deliver_out_of_order(self) -> None:
        """Delivers a question in a thread before the question that began the thread."""
        first_question = self._post_question()
        await self._deliver_event(self._post_question(after=first_question.message))
        await self._deliver_event(first_question)

    # -- the outcome

    def _open_questions(self) -> list[AskedQuestion]:
        turns = self._load_turns()
        return [
            question
            for question in self.questions
            if question.key not in turns or turns[question.key]["finished_at"] is None
        ]

    def _load_turns(self) -> dict[tuple[str, str], sqlite3.Row]:
        """The turns by channel and message. The database allows only one per message."""
        with closing(sqlite3.connect(self.home / "parley.db", timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM turns WHERE surface = 'slack'").fetchall()
        return {(row["conversation"].split(":")[2], row["message_id"]): row for row in rows}

    def _collect_outcome(self) -> StormOutcome:
        turns = self._load_turns()
        answers: dict[str, list[SlackMessage]] = {}
        for message in self.slack.workspace.bot_messages():
            if message.metadata:
                answers.setdefault(message.metadata["event_payload"]["turn"], []).append(message)
        lost = [f"{question.key}: no turn" for question in self.questions if question.key not in turns]
        lost += [f"{key}: no answer" for key, row in turns.items() if row["id"] not in answers]
        unknown = set(turns) - {question.key for question in self.questions}
        outcomes = {row["id"]: json.loads(row["outcome"]) for row in turns.values() if row["outcome"]}
        final_messages = {
            turn: _final_messages_of(reply_from_json(outcome["reply"])) for turn, outcome in outcomes.items()
        }
        without_turn = [
            message for message in self.slack.workspace.bot_messages() if not message.metadata and not message.files
        ]
        return StormOutcome(
            faults=dict(self.fault_counts),
            accepted=len(self.questions),
            answered=sum(row["id"] in answers for row in turns.values()),
            apologies=sum(outcome["result"]["outcome"] == "failed" for outcome in outcomes.values()),
            lost=tuple(lost),
            doubled=(
                *(f"{turn}: {len(messages)} messages" for turn, messages in answers.items() if len(messages) > 1),
                *(f"{key}: a turn of no message" for key in unknown),
                *(f"{thread}: {count} files" for thread, count in self._count_files().items() if count > 1),
            ),
            unfinished=(
                *(
                    f"{turn}: {message.text!r}, not {[final.text for final in final_messages.get(turn, ())]}"
                    for turn, messages in answers.items()
                    for message in messages
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

    def _count_files(self) -> Counter[str]:
        """The number of files in each thread with a single question."""
        with_replies = {question.message.thread_ts for question in self.questions if question.message.thread_ts}
        threads = [message.thread_ts for message in self.slack.workspace.bot_messages() for _ in message.files]
        return Counter(thread for thread in threads if thread and thread not in with_replies)


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
