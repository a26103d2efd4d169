"""Questions asked of a real `parley serve` in Slack while everything around it fails: who is answered, and how often.

The bot is a process of its own on SQLite, the strict stand-in plays Slack. Faults come one after another, chosen by a
seed: the process is killed, Slack refuses, breaks, hangs, loses answers, delivers twice and in the wrong order. Slack
repeats what was not acknowledged; in the end every message that was acknowledged must be answered once, visibly.
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

from adapters.slack.receiving import PATH
from adapters.slack.render import Message as Rendered
from adapters.slack.render import message_for
from bot.codec import reply_from_json
from bot.replies import File, Reply
from tests.adapters.web.serving import a_free_port
from tests.cli.conftest import environ
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User

PEOPLE, CHANNELS, OPEN = 8, 3, 16  # people and channels in the workspace, questions that wait at a time
WAITING, AT_ONE = 12, 2  # faults of the Web API that are prepared at a time, and at one method
HISTORY: Final = {"channels:history", "groups:history"}  # where the app may read, nothing is said twice
QUESTIONS: Final = (
    "List all receipts",
    "How many receipts from Kestrel?",
    "Receipts from Harbor in 2022",
    "Receipts from Nowhere",
    "Export all receipts from Northline as CSV",
)

POST, UPDATE, STATUS = "chat.postMessage", "chat.update", "assistant.threads.setStatus"
UPLOAD: Final = ("files.getUploadURLExternal", "upload", "files.completeUploadExternal")
STREAM: Final = ("chat.startStream", "chat.appendStream", "chat.stopStream")
READ: Final = ("conversations.replies", "users.info")
METHODS: Final = (POST, POST, UPDATE, UPDATE, *READ, STATUS, *UPLOAD, *STREAM)


class Kind(StrEnum):
    BUSY = "429"
    BROKEN = "5xx"
    CUT = "cut before the work"
    LOST = "cut after the work"
    HANG = "no answer"
    DUPLICATE = "delivered again"
    REORDER = "out of order"
    KILL = "kill -9"
    ENDED = "stream ended by Slack"


ODDS: Final = {
    Kind.BUSY: 20,
    Kind.BROKEN: 27,
    Kind.CUT: 17,
    Kind.LOST: 14,
    Kind.DUPLICATE: 12,
    Kind.REORDER: 6,
    Kind.KILL: 2,
    Kind.HANG: 2,
    Kind.ENDED: 4,
}
SLOW: Final = {Kind.KILL, Kind.HANG}  # none among the last: what they left takes longest


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A message, its event, and who reads the answer."""

    message: Message
    event: Mapping[str, Any]
    event_id: str

    @property
    def key(self) -> tuple[str, str]:
        return self.message.channel, self.message.ts


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was found in the end. Lost, doubled and unfinished should be empty."""

    faults: Mapping[Kind, int]
    accepted: int
    answered: int
    apologies: int  # of those answered: a plain sentence that it could not be done
    lost: tuple[str, ...]  # accepted, and no turn or no answer
    doubled: tuple[str, ...]  # a turn or an answer too many
    unfinished: tuple[str, ...]  # what stands there is not the end
    streamed: int  # messages that grew, or should have


@dataclass
class Storm:
    """So many `faults`, chosen by `seed`. `home` has documents, and grants for everyone."""

    home: Path
    seed: int
    faults: int
    slack: SlackServer
    port: int = field(default_factory=a_free_port)
    done: Counter[Kind] = field(default_factory=Counter[Kind])
    asked: list[Asked] = field(default_factory=list[Asked])

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._numbers = itertools.count(1)
        self._prepared: list[tuple[Kind, str, Fault]] = []
        self._restart = asyncio.Event()
        self._back = asyncio.Event()
        self.slack.scopes |= HISTORY
        self.slack.app_url = f"http://127.0.0.1:{self.port}{PATH}"
        self._people = [self.slack.workspace.add_user(User(id=f"U{n}STORM", name=f"P{n}")) for n in range(PEOPLE)]
        self._places = [self.slack.workspace.direct(one.id) for one in self._people]
        members = [*(one.id for one in self._people), BOT_USER]
        self._places += [
            self.slack.workspace.add_channel(Channel(id=f"C{n}STORM", members=members)) for n in range(CHANNELS)
        ]

    async def run(self, settling_s: float) -> Outcome:
        """Raises `TimeoutError` when turns are still open so long after the last fault."""
        async with asyncio.TaskGroup() as group:
            served = group.create_task(self._served())
            await self._back.wait()
            try:
                await self._blow(group)
                self.slack.faults.waiting.clear()
                async with asyncio.timeout(settling_s):
                    while self._open():  # noqa: ASYNC110 - another process sets no event
                        await asyncio.sleep(0.5)
            finally:
                served.cancel()
        return self._outcome()

    # -- the process

    async def _served(self) -> None:
        """Until cancelled; killed and started anew whenever it is asked for."""
        while True:
            async with self._process() as process:
                await self._listening()
                self._back.set()
                await self._restart.wait()
                self._restart.clear()
                self._back.clear()
                process.kill()

    @asynccontextmanager
    async def _process(self) -> AsyncGenerator[asyncio.subprocess.Process]:
        settings = {
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": self.slack.api_url,
        }
        with (self.home / "stderr.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.faults.serving", str(self.home)),
                env=environ(self.home, PARLEY_PORT=str(self.port), **settings),
                stderr=log,
                stdout=log,
            )
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    async def _listening(self) -> None:
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"http://127.0.0.1:{self.port}/healthz") as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.05)

    # -- faults

    async def _blow(self, group: asyncio.TaskGroup) -> None:
        """Questions as long as there are faults to come; a prepared fault counts once a call met it."""
        while (met := sum(self.done.values())) < self.faults:
            self._count_met()
            kinds = [one for one in ODDS if one not in SLOW or met < self.faults * 2 / 3]
            if len(self._prepared) < WAITING:
                await self._fault(self._rng.choices(kinds, [ODDS[one] for one in kinds])[0], group)
            elif len(self._open()) < OPEN:
                group.create_task(self._delivered(self._question()))
            await asyncio.sleep(0.02)

    async def _fault(self, kind: Kind, group: asyncio.TaskGroup) -> None:
        match kind:
            case Kind.KILL:
                await self._back.wait()
                self._restart.set()
                self.done[kind] += 1
            case Kind.DUPLICATE:
                self.done[kind] += 1
                group.create_task(self._several(self._question()))
            case Kind.REORDER:
                self.done[kind] += 1
                group.create_task(self._backwards())
            case Kind.ENDED:
                self._end_a_stream()
            case _:
                waiting = self.slack.faults.waiting
                method = self._rng.choice([one for one in METHODS if len(waiting[one]) < AT_ONE])
                fault = self._fault_of(kind)
                self._prepared.append((kind, method, fault))
                self.slack.fail(method, fault)

    def _end_a_stream(self) -> None:
        """As if it had rested too long: one that grows, if any does."""
        growing = [one for one in self.slack.workspace.answers() if one.stream is not None]
        if growing:
            one = self._rng.choice(growing)
            self.slack.end_streams(self.slack.workspace.channels[one.channel], one.thread_ts or "")
            self.done[Kind.ENDED] += 1

    def _fault_of(self, kind: Kind) -> Fault:
        match kind:
            case Kind.BUSY:
                return Fault(status=429, retry_after=self._rng.choice((1, 1, 1, 2)))
            case Kind.BROKEN:
                return Fault(status=self._rng.choice((500, 502, 503)))
            case Kind.LOST:
                return Fault(done=True)
            case Kind.HANG:
                return Fault(hang=True)
            case _:
                return Fault()  # cut

    def _count_met(self) -> None:
        waiting = self.slack.faults.waiting
        for kind, method, fault in [*self._prepared]:
            if not any(fault is one for one in waiting[method]):
                self._prepared.remove((kind, method, fault))
                self.done[kind] += 1

    # -- messages

    def _question(self, after: Message | None = None) -> Asked:
        """In a place of its own choice, or in the thread of another."""
        place = self._rng.choice(self._places) if after is None else self.slack.workspace.channels[after.channel]
        is_direct = place.kind == "im"
        user = place.members[0] if is_direct else self._rng.choice(self._people).id
        words = self._rng.choice(QUESTIONS)
        text = words if is_direct else f"<@{BOT_USER}> {words}"
        message = Message(ts=self.slack.workspace.next_ts(), channel=place.id, user=user, text=text)
        event = {"type": "message", "channel_type": "im"} if is_direct else {"type": "app_mention"}
        event |= {
            "channel": place.id,
            "user": user,
            "team": TEAM,
            "text": text,
            "ts": message.ts,
            "event_ts": message.ts,
        }
        if after is not None:
            message.thread_ts = event["thread_ts"] = after.ts
        self.slack.workspace.messages.append(message)
        asked = Asked(message=message, event=event, event_id=f"EvStorm{next(self._numbers):06d}")
        self.asked.append(asked)
        return asked

    async def _delivered(self, asked: Asked, event_id: str | None = None) -> None:
        """Again and again until it is acknowledged, in less time than Slack takes for it."""
        for pause_s in itertools.count(1):
            with contextlib.suppress(aiohttp.ClientError, OSError):
                told = await self.slack.deliver_event(asked.event, event_id=event_id or asked.event_id)
                if told.statuses[-1] == 200:
                    return
            await asyncio.sleep(min(0.1 * pause_s, 1.0))

    async def _several(self, asked: Asked) -> None:
        """At once, under the same event id and under others."""
        ids = [asked.event_id, *(f"{asked.event_id}-{n}" for n in range(self._rng.randint(1, 9)))]
        await asyncio.gather(*(self._delivered(asked, one) for one in ids))

    async def _backwards(self) -> None:
        first = self._question()
        await self._delivered(self._question(after=first.message))
        await self._delivered(first)

    # -- what came of it

    def _open(self) -> list[Asked]:
        turns = self._turns()
        return [one for one in self.asked if one.key not in turns or turns[one.key]["finished_at"] is None]

    def _turns(self) -> dict[tuple[str, str], sqlite3.Row]:
        """By channel and message. Unique: the database would not have it otherwise."""
        with closing(sqlite3.connect(self.home / "parley.db", timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM turns WHERE surface = 'slack'").fetchall()
        return {(row["conversation"].split(":")[2], row["message_id"]): row for row in rows}

    def _outcome(self) -> Outcome:
        turns = self._turns()
        answers: dict[str, list[Message]] = {}
        for message in self.slack.workspace.answers():
            if message.metadata:
                answers.setdefault(message.metadata["event_payload"]["turn"], []).append(message)
        lost = [f"{one.key}: no turn" for one in self.asked if one.key not in turns]
        lost += [f"{key}: no answer" for key, row in turns.items() if row["id"] not in answers]
        unknown = set(turns) - {one.key for one in self.asked}
        said = {row["id"]: json.loads(row["outcome"]) for row in turns.values() if row["outcome"]}
        ended = {turn: _ends(reply_from_json(one["reply"])) for turn, one in said.items()}
        bare = [one for one in self.slack.workspace.answers() if not one.metadata and not one.files]
        return Outcome(
            faults=dict(self.done),
            accepted=len(self.asked),
            answered=sum(row["id"] in answers for row in turns.values()),
            apologies=sum(one["result"]["outcome"] == "failed" for one in said.values()),
            lost=tuple(lost),
            doubled=(
                *(f"{turn}: {len(found)} messages" for turn, found in answers.items() if len(found) > 1),
                *(f"{key}: a turn of no message" for key in unknown),
                *(f"{place}: {count} files" for place, count in self._files().items() if count > 1),
            ),
            unfinished=(
                *(
                    f"{turn}: {message.text!r}, not {[one.text for one in ended.get(turn, ())]}"
                    for turn, found in answers.items()
                    for message in found
                    if not any(_says(message, end) for end in ended.get(turn, ()))
                ),
                *(f"{one.channel}, {one.thread_ts}: {one.tasks}" for one in bare if one.only_for is None),
            ),
            streamed=len([one for one in self.slack.calls if one.method == STREAM[0]]),
        )

    def _files(self) -> Counter[str]:
        """Shared in each thread with one question."""
        several = {one.message.thread_ts for one in self.asked if one.message.thread_ts}
        threads = [one.thread_ts for one in self.slack.workspace.answers() for _ in one.files]
        return Counter(one for one in threads if one and one not in several)


def _ends(reply: Reply) -> list[Rendered]:
    """What a message may say in the end: with its files beside it, or as links."""
    paths = frozenset(part.path for part in reply.parts if isinstance(part, File))
    return [message_for(reply), message_for(reply, paths)]


def _says(message: Message, ended: Rendered) -> bool:
    """By the text that stands in for its blocks, which the end of a stream does not have, or by the blocks."""
    if message.stream is not None or any(task["status"] != "complete" for task in message.tasks):
        return False
    return message.text == ended.text or (not message.text and message.blocks == list(ended.blocks))
