"""Asks questions of a real `parley serve` in a chat product while everything around it fails, and checks that each is
answered once.

The bot is a separate process on SQLite; a strict stand-in plays the product. Faults come one after another, chosen by a
seed: the process is killed; the product refuses, breaks, hangs, loses answers, delivers twice and in the wrong order.
It repeats what was not acknowledged. At the end every acknowledged message must have exactly one visible answer.
"""

import asyncio
import contextlib
import itertools
import json
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

import aiohttp

from tests.adapters.web.serving import find_free_port
from tests.cli.conftest import environment_for

PERSON_COUNT, CHANNEL_COUNT = 8, 3
_START_TIMEOUT_S: Final = 180.0  # of a process, on a machine whose cores are busy
MAX_OPEN_QUESTIONS: Final = 16  # unanswered at a time
MAX_PENDING_FAULTS: Final = 12  # that wait for a call at a time
QUESTIONS: Final = (
    "List all receipts",
    "How many receipts from Kestrel?",
    "Receipts from Harbor in 2022",
    "Receipts from Nowhere",
    "Export all receipts from Northline as CSV",
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
    ENDED = "stream ended by the product"


SLOW_KINDS: Final = {
    FaultKind.KILL,
    FaultKind.HANG,
}  # none of these among the last faults: recovery from them takes longest
QuestionKey = tuple[str, str]  # a conversation and a message, as the product names them


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question that a person has sent, and that is delivered until it is acknowledged. `place`: where."""

    key: QuestionKey
    place: str
    thread: str


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """A turn of Parley's inbox: `outcome` as JSON, `message` the id of its own message."""

    key: QuestionKey
    turn: str
    outcome: str | None
    message: str | None
    is_finished: bool


@dataclass(frozen=True, kw_only=True)
class ShownAnswers:
    """What the product shows at the end. `answered` are ids of turns.

    `explained`: visible repeats of messages whose fate a fault hid from Parley, where the product has no way to ask.
    """

    answered: frozenset[str]
    doubled: tuple[str, ...]
    unfinished: tuple[str, ...]
    streamed: int
    explained: tuple[str, ...] = ()


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
    explained: tuple[str, ...]
    streamed: int  # messages for which a stream was started


class StormProduct(Protocol):
    """A chat product in a storm, with people, each with a private chat, and channels."""

    @property
    def name(self) -> str:
        """As in the inbox."""
        ...

    @property
    def fault_weights(self) -> Mapping[FaultKind, int]: ...

    def connect_app(self, address: str) -> dict[str, str]:
        """Delivers to this address from now on. Returns the environment of the bot."""
        ...

    def post_question(self, rng: random.Random, text: str, after: AskedQuestion | None) -> AskedQuestion:
        """A question in a random place, or in the thread of another one. It is not delivered yet."""
        ...

    async def deliver_question(self, question: AskedQuestion, copy: int) -> bool:
        """Delivers it once; whether it was acknowledged. `copy`: 0 for the first delivery, others are repetitions.
        Raises `aiohttp.ClientError` and `OSError`.
        """
        ...

    def plan_fault(self, rng: random.Random, kind: FaultKind) -> None:
        """Plans a fault for a call of a random kind."""
        ...

    def take_triggered_faults(self) -> list[FaultKind]:
        """The planned faults that a call has met since the last look."""
        ...

    @property
    def pending_fault_count(self) -> int: ...

    def clear_faults(self) -> None: ...

    def end_stream(self, rng: random.Random) -> bool:
        """Ends a random open stream; False where there is none."""
        ...

    def note_kill(self) -> None:
        """The process is about to be killed."""
        ...

    async def use_answers(self) -> bool:
        """People do what the answers ask of them. Returns whether something is still to come of that."""
        ...

    def key_of(self, conversation: str, message: str) -> QuestionKey:
        """The key of a stored turn."""
        ...

    def collect_answers(self, questions: Sequence[AskedQuestion], answers: Sequence[StoredAnswer]) -> ShownAnswers: ...


@dataclass
class FaultStorm:
    """Causes the given number of faults, chosen by `seed`. `home` has documents, and grants for everyone."""

    home: Path
    seed: int
    fault_target: int
    product: StormProduct
    port: int = field(default_factory=find_free_port)
    fault_counts: Counter[FaultKind] = field(default_factory=Counter[FaultKind])
    questions: list[AskedQuestion] = field(default_factory=list[AskedQuestion])

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._restart = asyncio.Event()
        self._ready = asyncio.Event()
        self._environ = self.product.connect_app(f"http://127.0.0.1:{self.port}")

    async def run(self, settling_timeout_s: float) -> StormOutcome:
        """Raises `TimeoutError` if turns are still open so many seconds after the last fault."""
        async with asyncio.TaskGroup() as group:
            server_task = group.create_task(self._keep_serving())
            await self._ready.wait()
            try:
                await self._inject_faults(group)
                self.product.clear_faults()
                async with asyncio.timeout(settling_timeout_s):
                    while await self.product.use_answers() or self._open_questions():  # noqa: ASYNC110 - another process
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
                self.product.note_kill()
                process.kill()

    @asynccontextmanager
    async def _start_process(self) -> AsyncGenerator[asyncio.subprocess.Process]:
        with (self.home / "stderr.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.faults.serving", self.product.name, str(self.home)),
                env=environment_for(self.home, PARLEY_PORT=str(self.port), **self._environ),
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
        async with asyncio.timeout(_START_TIMEOUT_S), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"http://127.0.0.1:{self.port}/healthz") as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(0.05)

    # -- faults

    async def _inject_faults(self, group: asyncio.TaskGroup) -> None:
        """Asks questions until all faults have happened; a prepared fault counts once a call has met it."""
        weights = self.product.fault_weights
        while (fault_count := sum(self.fault_counts.values())) < self.fault_target:
            self.fault_counts.update(self.product.take_triggered_faults())
            await self.product.use_answers()
            is_late = fault_count >= self.fault_target * 2 / 3
            kinds = [kind for kind in weights if not (is_late and kind in SLOW_KINDS)]
            if self.product.pending_fault_count < MAX_PENDING_FAULTS:
                await self._inject_fault(self._rng.choices(kinds, [weights[kind] for kind in kinds])[0], group)
            elif len(self._open_questions()) < MAX_OPEN_QUESTIONS:
                group.create_task(self._deliver_until_accepted(self._post_question()))
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
                self.fault_counts[kind] += self.product.end_stream(self._rng)
            case FaultKind.BUSY | FaultKind.BROKEN | FaultKind.CUT | FaultKind.LOST | FaultKind.HANG:
                self.product.plan_fault(self._rng, kind)

    # -- messages

    def _post_question(self, after: AskedQuestion | None = None) -> AskedQuestion:
        question = self.product.post_question(self._rng, self._rng.choice(QUESTIONS), after)
        self.questions.append(question)
        return question

    async def _deliver_until_accepted(self, question: AskedQuestion, copy: int = 0) -> None:
        """Delivers again and again until it is acknowledged, faster than the product would."""
        for attempt in itertools.count(1):
            with contextlib.suppress(aiohttp.ClientError, OSError):
                if await self.product.deliver_question(question, copy):
                    return
            await asyncio.sleep(min(0.1 * attempt, 1.0))

    async def _deliver_duplicates(self, question: AskedQuestion) -> None:
        """Delivers the question several times at once."""
        copies = range(1 + self._rng.randint(1, 9))
        await asyncio.gather(*(self._deliver_until_accepted(question, copy) for copy in copies))

    async def _deliver_out_of_order(self) -> None:
        """Delivers a question in a thread before the question that began the thread."""
        first_question = self._post_question()
        await self._deliver_until_accepted(self._post_question(after=first_question))
        await self._deliver_until_accepted(first_question)

    # -- the outcome

    def _open_questions(self) -> list[AskedQuestion]:
        finished = {answer.key for answer in self._load_answers() if answer.is_finished}
        return [question for question in self.questions if question.key not in finished]

    def _load_answers(self) -> list[StoredAnswer]:
        """The database allows only one turn per message."""
        with closing(sqlite3.connect(self.home / "parley.db", timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM turns WHERE surface = ?", (self.product.name,)).fetchall()
        return [
            StoredAnswer(
                key=self.product.key_of(row["conversation"], row["message_id"]),
                turn=row["id"],
                outcome=row["outcome"],
                message=row["placeholder"],
                is_finished=row["finished_at"] is not None,
            )
            for row in rows
        ]

    def _collect_outcome(self) -> StormOutcome:
        answers = self._load_answers()
        stored_keys, asked_keys = {answer.key for answer in answers}, {question.key for question in self.questions}
        shown = self.product.collect_answers(self.questions, answers)
        return StormOutcome(
            faults=dict(self.fault_counts),
            accepted=len(self.questions),
            answered=len(shown.answered),
            apologies=sum(
                json.loads(answer.outcome)["result"]["outcome"] == "failed" for answer in answers if answer.outcome
            ),
            lost=(
                *(f"{key}: no turn" for key in sorted(asked_keys - stored_keys)),
                *(f"{answer.key}: no answer" for answer in answers if answer.turn not in shown.answered),
            ),
            doubled=(*shown.doubled, *(f"{key}: a turn of no message" for key in sorted(stored_keys - asked_keys))),
            unfinished=shown.unfinished,
            explained=shown.explained,
            streamed=shown.streamed,
        )
