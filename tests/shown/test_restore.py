"""A backup is made while people ask, the machine is lost, and an empty one takes its place while they go on asking."""

import asyncio
import contextlib
import json
import random
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp

from adapters.slack.events.http_endpoint import EVENTS_PATH
from tests.cli.conftest import RECEIPTS
from tests.faults.servers.replicas import ServedReplica
from tests.faults.slack_storm import SlackStorm
from tests.faults.storm import AskedQuestion
from tests.shown.transcripts import RecordedShell, RecordedTranscript
from tests.stand_ins.slack.server import SlackServer

QUESTION: Final = "How many receipts from Kestrel?"
LIST_QUESTION, FOLLOW_UP = "Receipts from Kestrel", "only those from 2021"
RIGHT, MISSING = "40 receipts from Kestrel.", "Some of my documents are missing"
_TIMEOUT_S, _PAUSE_S = 240.0, 0.4


@dataclass
class SlackTraffic:
    """People who ask on and on. Slack delivers each question until the machine at `address` accepts it."""

    slack: SlackServer
    address: str = ""
    pause_s: float = _PAUSE_S
    accepted: list[tuple[str, AskedQuestion]] = field(default_factory=list[tuple[str, AskedQuestion]])

    def __post_init__(self) -> None:
        self.storm, self._rng = SlackStorm(self.slack), random.Random(1)

    async def ask_until_cancelled(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self.ask_question(QUESTION))
                await asyncio.sleep(self.pause_s)

    async def ask_question(self, text: str, after: AskedQuestion | None = None) -> AskedQuestion:
        question = self.storm.post_question(self._rng, text, after)
        while True:
            self.slack.app_url = address = f"{self.address}{EVENTS_PATH}"
            with contextlib.suppress(aiohttp.ClientError, OSError):
                if await self.storm.deliver_question(question, 0):
                    self.accepted.append((address, question))
                    return question
            await asyncio.sleep(self.pause_s)

    async def read_reply(self, question: AskedQuestion, number: int = 1) -> str:
        """Waits for the reply with this number in the thread of the question."""
        await self.wait_for(lambda: len(self.replies_to(question)) >= number)
        return self.replies_to(question)[number - 1]

    async def wait_for(self, is_reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(_TIMEOUT_S):
            while not is_reached():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)

    def replies_to(self, question: AskedQuestion) -> list[str]:
        """The finished messages of Parley in the thread of the question. What has grown as a stream has only blocks."""
        texts = [
            message.text or message.visible_text()
            for message in self.slack.workspace.bot_messages()
            if message.thread_ts == question.thread and message.stream is None
        ]
        return [text for text in texts if text and not text.rstrip().endswith("…")]

    def questions_at(self, address: str) -> list[AskedQuestion]:
        return [question for accepted_at, question in self.accepted if accepted_at.startswith(address)]


@asynccontextmanager
async def run_machine(home: Path, traffic: SlackTraffic, **settings: str) -> AsyncGenerator[ServedReplica]:
    """Runs `parley serve`, and kills it at the end. The traffic goes to it from now on."""
    replica = ServedReplica(home, traffic.storm.connect_app("") | settings)
    traffic.address = replica.address
    serving = asyncio.create_task(replica.keep_running())
    try:
        yield replica
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def write_receipts(folder: Path) -> None:
    (folder / "receipts.jsonl").write_text("\n".join(map(json.dumps, RECEIPTS)), encoding="utf-8")


async def test_an_empty_machine_takes_the_place_of_a_lost_one_while_people_ask(tmp_path: Path) -> None:
    write_receipts(tmp_path)
    transcript = RecordedTranscript("restore", {str(tmp_path): "/srv"})
    shell = RecordedShell(tmp_path, transcript)
    for command in ("parley ingest receipts.jsonl --bucket receipts", "parley grant receipts everyone"):
        await asyncio.to_thread(shell.run_unshown, command, home="first")
    async with SlackServer() as slack:
        traffic = SlackTraffic(slack)
        async with run_machine(tmp_path / "first", traffic) as first:
            asking = asyncio.create_task(traffic.ask_until_cancelled())
            listed = await traffic.ask_question(LIST_QUESTION)
            await traffic.read_reply(listed)
            await traffic.read_reply(await traffic.ask_question(QUESTION))
            transcript.add_lines(f"# people ask on and on: {QUESTION}")
            await asyncio.to_thread(shell.run, "parley backup parley.backup", home="first")
        transcript.add_lines(
            "# the machine is lost; the backup and the files of the documents are copied to another", ""
        )
        await asyncio.to_thread(shell.run, "parley restore parley.backup", home="second")
        async with run_machine(tmp_path / "second", traffic) as second:
            transcript.add_lines("# parley serve is started there at once, and gets what people have asked meanwhile")
            early = await traffic.read_reply(await traffic.ask_question(QUESTION))
            transcript.add_lines(f"Parley: {early}", "")
            await asyncio.to_thread(shell.run, "parley index rebuild --yes", home="second")
            await second.wait_until_ready()
            late = await traffic.read_reply(await traffic.ask_question(QUESTION))
            transcript.add_lines("# now", f"Parley: {late}", "")
            before = len(traffic.replies_to(listed))
            follow_up = await traffic.ask_question(FOLLOW_UP, listed)
            narrowed = await traffic.read_reply(follow_up, before + 1)
            transcript.add_lines("# in a conversation that began on the lost machine", f"Person: {FOLLOW_UP}")
            transcript.add_lines(f"Parley: {narrowed}", "")
            asking.cancel()
            await asyncio.wait([asking])
            asked = [q for q in traffic.questions_at(second.address) if q is not follow_up]
            await traffic.wait_for(lambda: all(map(traffic.replies_to, asked)))
            replies = [traffic.replies_to(question) for question in asked]

    wrong = [reply for texts in replies for reply in texts if not re.search(f"{RIGHT}|{MISSING}", reply)]
    transcript.add_lines(f"# questions that the second machine accepted and answered twice: {count_repeated(replies)}")
    transcript.add_lines(f"# answers of the second machine with another number than 40: {len(wrong)}")
    assert (MISSING in early, RIGHT in late) == (True, True)
    assert len(asked) >= 3
    assert (count_repeated(replies), wrong) == (0, [])
    assert "10 receipts" in narrowed
    assert traffic.questions_at(first.address)
    transcript.check_page()


def count_repeated(replies: list[list[str]]) -> int:
    return sum(len(texts) > 1 for texts in replies)
