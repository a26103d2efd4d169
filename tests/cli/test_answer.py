"""`parley serve` with a chat product: it receives, and a process beside it answers, for as long as it lives."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.slack.receiving import PATH
from tests.adapters.web.serving import serving
from tests.cli.conftest import run
from tests.faults.home import a_home
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, Channel, Message, User


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A workspace, and the process that serves it."""

    slack: SlackServer
    home: Path
    address: str
    ada: User

    async def ask(self, text: str) -> Message:
        """The finished answer to a direct message."""
        return await self.answer(self.slack.workspace.direct(self.ada.id), text)

    async def answer(self, channel: Channel, text: str) -> Message:
        said, _ = await self.slack.say(self.ada, channel, text)
        await self.slack.until(lambda: any(map(is_final, self._replies(said))), 60)
        return self._replies(said)[-1]

    def _replies(self, said: Message) -> list[Message]:
        return [one for one in self.slack.workspace.answers() if one.thread_ts == said.ts]

    async def measured(self, sample: str) -> None:
        """Once `/metrics` says so."""
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{self.address}/metrics") as answer:
                    if sample in (await answer.text()).splitlines():
                        return
                await asyncio.sleep(0.05)

    def answering(self) -> list[int]:
        """Ids of the processes that answer, the ended ones too."""
        return [line["pid"] for line in self.logged("answering process started")]

    def logged(self, event: str) -> list[dict[str, Any]]:
        lines = (self.home / "logs" / "parley.log").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == event]


def is_final(message: Message) -> bool:
    """Progress ends in an ellipsis."""
    return not message.text.rstrip().endswith("…")


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


def chat_at(slack: SlackServer, home: Path, address: str) -> Chat:
    slack.app_url = f"{address}{PATH}"
    return Chat(slack=slack, home=home, address=address, ada=slack.workspace.add_user(User(id="U1ADA", name="Ada")))


def settings(slack: SlackServer) -> dict[str, str]:
    return {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SIGNING_SECRET, "SLACK_API_URL": slack.api_url}


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.05)


def priority(pid: int) -> int:
    """The higher, the later it gets a processor."""
    return os.getpriority(os.PRIO_PROCESS, pid)


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


async def test_questions_are_answered_beside_what_receives_them_and_counted_there(
    slack: SlackServer, tmp_path: Path
) -> None:
    async with serving(a_home(tmp_path), **settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        answer = await chat.ask("How many receipts from Kestrel?")
        await chat.measured('parley_turns_total{outcome="answer",surface="slack"} 1.0')
        await chat.measured('parley_answerers{state="ready"} 1.0')
        [pid] = chat.answering()
        assert lives(pid)
        assert priority(pid) > priority(parent_of(pid)), "whoever receives goes first"

    assert "40" in answer.text
    assert not lives(pid)


async def test_one_that_was_killed_is_followed_by_another(slack: SlackServer, tmp_path: Path) -> None:
    async with serving(a_home(tmp_path), **settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        [first] = chat.answering()
        os.kill(first, signal.SIGKILL)

        answer = await chat.ask("How many receipts from Kestrel?")
        _, second = chat.answering()

    assert "40" in answer.text
    assert [line["status"] for line in chat.logged("answering process ended")] == [-signal.SIGKILL]
    assert not lives(second)


async def test_none_outlives_a_process_that_was_killed(slack: SlackServer, tmp_path: Path) -> None:
    found: list[Chat] = []
    with contextlib.suppress(ProcessLookupError):  # who serves cannot be told to end any more
        async with serving(a_home(tmp_path), **settings(slack)) as address:
            found.append(chat_at(slack, tmp_path, address))
            [pid] = found[0].answering()
            os.kill(parent_of(pid), signal.SIGKILL)
            await until(lambda: not lives(pid))

    assert found[0].logged("receiving process is gone")


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


async def test_who_joins_a_channel_closes_it_there_before_slack_knows_that_it_was_heard(
    slack: SlackServer, tmp_path: Path
) -> None:
    async with serving(a_home(tmp_path), **settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        general = slack.workspace.add_channel(Channel(id="C1", members=[chat.ada.id, BOT_USER]))
        guest = slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
        before = await chat.answer(general, f"<@{BOT_USER}> How many receipts from Kestrel?")

        assert (await slack.join(guest, general)).statuses == [200]
        after = await chat.answer(general, f"<@{BOT_USER}> How many receipts from Kestrel?")

    assert "40" in before.text
    assert "40" not in after.text


async def test_in_one_process_where_none_is_wanted_beside_it(slack: SlackServer, tmp_path: Path) -> None:
    async with serving(a_home(tmp_path), PARLEY_WORKERS="0", **settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        answer = await chat.ask("How many receipts from Kestrel?")

    assert "40" in answer.text
    assert chat.answering() == []


def test_started_by_hand_it_says_what_it_is_for(home: Path) -> None:
    ended = run(home, "answer")

    assert (ended.status, ended.out) == (2, "")
    assert "is started by `parley serve`" in ended.err
