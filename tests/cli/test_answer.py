"""`parley serve` with a chat product: it receives events, and a worker process answers them until it ends."""

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

from adapters.slack.events.http_endpoint import EVENTS_PATH
from tests.adapters.web.serving import serve_parley
from tests.cli.conftest import run_parley
from tests.faults.home import build_home
from tests.stand_ins.model.replies import HttpFault, ServerReply
from tests.stand_ins.model.request_bodies import ChatBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, SlackChannel, SlackMember, SlackMessage


@dataclass(frozen=True, kw_only=True)
class ServedSlackChat:
    """A workspace, and the process that serves it."""

    slack: SlackServer
    home: Path
    address: str
    ada: SlackMember

    async def ask(self, text: str) -> SlackMessage:
        """The finished answer to a direct message."""
        return await self.answer(self.slack.workspace.direct_channel_of(self.ada.id), text)

    async def answer(self, channel: SlackChannel, text: str) -> SlackMessage:
        question, _ = await self.slack.post_as_person(self.ada, channel, text)
        await self.slack.wait_until(lambda: any(map(is_final_answer, self.replies_to(question))), 60)
        return self.replies_to(question)[-1]

    def replies_to(self, question: SlackMessage) -> list[SlackMessage]:
        return [message for message in self.slack.workspace.bot_messages() if message.thread_ts == question.ts]

    async def wait_for_metric(self, sample: str) -> None:
        """Wait until `/metrics` has this sample."""
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{self.address}/metrics") as answer:
                    if sample in (await answer.text()).splitlines():
                        return
                await asyncio.sleep(0.05)

    def worker_pids(self) -> list[int]:
        """The ids of the worker processes for all turns, including ended ones."""
        return [line["pid"] for line in self.log_lines("answering process started") if "background" not in line]

    def background_pids(self) -> list[int]:
        """The ids of the worker processes for background turns, including ended ones."""
        return [line["pid"] for line in self.log_lines("answering process started") if "background" in line]

    def log_lines(self, event: str) -> list[dict[str, Any]]:
        lines = (self.home / "logs" / "parley.log").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == event]


def is_final_answer(message: SlackMessage) -> bool:
    """Whether the message is an answer. A progress message ends in an ellipsis."""
    return not message.text.rstrip().endswith("…")


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


def chat_at(slack: SlackServer, home: Path, address: str) -> ServedSlackChat:
    slack.app_url = f"{address}{EVENTS_PATH}"
    return ServedSlackChat(
        slack=slack, home=home, address=address, ada=slack.workspace.add_user(SlackMember(id="U1ADA", name="Ada"))
    )


def slack_settings(slack: SlackServer) -> dict[str, str]:
    return {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SIGNING_SECRET, "SLACK_API_URL": slack.api_url}


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.05)


def niceness_of(pid: int) -> int:
    """The niceness of the process. A higher value gets less CPU time."""
    return os.getpriority(os.PRIO_PROCESS, pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


async def test_a_worker_process_answers_and_the_receiving_process_counts_the_turns(
    slack: SlackServer, tmp_path: Path
) -> None:
    async with serve_parley(build_home(tmp_path), slack_settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        answer = await chat.ask("How many receipts from Kestrel?")
        await chat.wait_for_metric('parley_turns_total{outcome="answer",surface="slack"} 1.0')
        await chat.wait_for_metric('parley_worker_processes{state="ready"} 1.0')
        [pid] = chat.worker_pids()
        assert is_running(pid)
        assert niceness_of(pid) > niceness_of(parent_pid_of(pid)), "whoever receives goes first"

    assert "40" in answer.text
    assert not is_running(pid)


async def test_a_killed_worker_is_replaced(slack: SlackServer, tmp_path: Path) -> None:
    async with serve_parley(build_home(tmp_path), slack_settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        [first_pid] = chat.worker_pids()
        os.kill(first_pid, signal.SIGKILL)

        answer = await chat.ask("How many receipts from Kestrel?")
        _, second_pid = chat.worker_pids()

    assert "40" in answer.text
    assert [line["status"] for line in chat.log_lines("answering process ended")] == [-signal.SIGKILL]
    assert not is_running(second_pid)


async def test_a_long_question_is_answered_by_a_process_of_lower_priority(slack: SlackServer, tmp_path: Path) -> None:
    async with serve_parley(build_home(tmp_path), slack_settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        await chat.wait_for_metric('parley_worker_processes{state="background"} 1.0')
        # In this order, since a turn is open for a moment after its answer, and so the next one of its person waits.
        answer = await chat.ask("How many receipts from Kestrel?")
        long_answer = await chat.ask("How many receipts from Kestrel? " + "Please tell me soon. " * 20)
        [pid], [background_pid] = chat.worker_pids(), chat.background_pids()
        assert niceness_of(background_pid) > niceness_of(pid)

    assert "40" in long_answer.text
    assert "40" in answer.text
    assert [line["process"] for line in chat.log_lines("turn")] == [pid, background_pid]
    assert not is_running(background_pid)


async def test_workers_end_when_the_receiving_process_is_killed(slack: SlackServer, tmp_path: Path) -> None:
    chats: list[ServedSlackChat] = []
    # The serving process cannot be ended a second time, and did not exit cleanly.
    with contextlib.suppress(ProcessLookupError, AssertionError):
        async with serve_parley(build_home(tmp_path), slack_settings(slack)) as address:
            chats.append(chat_at(slack, tmp_path, address))
            [pid] = chats[0].worker_pids()
            os.kill(parent_pid_of(pid), signal.SIGKILL)
            await wait_until(lambda: not is_running(pid))

    assert chats[0].log_lines("receiving process is gone")


def parent_pid_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


async def test_a_guest_who_joins_closes_the_channel_before_the_event_is_acknowledged(
    slack: SlackServer, tmp_path: Path
) -> None:
    async with serve_parley(build_home(tmp_path), slack_settings(slack)) as address:
        chat = chat_at(slack, tmp_path, address)
        general = slack.workspace.add_channel(SlackChannel(id="C1", members=[chat.ada.id, BOT_USER]))
        guest = slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
        answer_before = await chat.answer(general, f"<@{BOT_USER}> How many receipts from Kestrel?")

        assert (await slack.join_channel(guest, general)).statuses == [200]
        answer_after = await chat.answer(general, f"<@{BOT_USER}> How many receipts from Kestrel?")

    assert "40" in answer_before.text
    assert "40" not in answer_after.text


async def test_without_workers_one_process_does_everything(slack: SlackServer, tmp_path: Path) -> None:
    async with serve_parley(build_home(tmp_path), {"PARLEY_WORKERS": "0", **slack_settings(slack)}) as address:
        chat = chat_at(slack, tmp_path, address)
        answer = await chat.ask("How many receipts from Kestrel?")

    assert "40" in answer.text
    assert chat.worker_pids() == []


class HeldModel:
    """A language model that answers a call, with an error, once it is released."""

    def __init__(self) -> None:
        self.called, self.released = asyncio.Event(), asyncio.Event()
        self.server = ScriptedModelServer(answer_chat=self._answer)

    async def _answer(self, _: ChatBody) -> ServerReply:
        self.called.set()
        await self.released.wait()
        return HttpFault(status=400, message="no")

    @property
    def settings(self) -> dict[str, str]:
        return {
            "PARLEY_MODEL": "openai/main-model",
            "PARLEY_MODEL_API_BASE": self.server.url,
            "PARLEY_MODEL_API_KEY": API_KEY,
            "PARLEY_MODEL_WHEN": "always",
            "PARLEY_MODEL_TIMEOUT": "60",
        }


async def test_a_turn_that_outlasts_the_stop_is_answered_once_after_the_next_start(
    slack: SlackServer, tmp_path: Path
) -> None:
    model, home = HeldModel(), build_home(tmp_path)
    async with model.server:
        more = {**slack_settings(slack), **model.settings, "PARLEY_STOP_TIMEOUT": "5"}
        async with serve_parley(home, more) as address:
            chat = chat_at(slack, home, address)
            question, _ = await slack.post_as_person(
                chat.ada, slack.workspace.direct_channel_of(chat.ada.id), "How many receipts from Kestrel?"
            )
            await model.called.wait()
        [given_back] = chat.log_lines("turn given back")
        texts_at_the_stop = [reply.text for reply in chat.replies_to(question)]

    async with serve_parley(home, slack_settings(slack)):
        await slack.wait_until(lambda: any("40" in reply.text for reply in chat.replies_to(question)), 60)

    assert not any("40" in text for text in texts_at_the_stop)
    assert ["40" in reply.text for reply in chat.replies_to(question)] == [True]
    assert [line["turn"] for line in chat.log_lines("turn")] == [given_back["turn"]]


async def test_a_turn_that_ends_in_time_is_answered_before_the_end(slack: SlackServer, tmp_path: Path) -> None:
    model, home, chats = HeldModel(), build_home(tmp_path), list[ServedSlackChat]()
    # It gets a second signal at the end of the block, which ends it at once if it still runs.
    with contextlib.suppress(ProcessLookupError, AssertionError):
        async with model.server, serve_parley(home, slack_settings(slack) | model.settings) as address:
            chats.append(chat_at(slack, home, address))
            [pid] = chats[0].worker_pids()
            channel = slack.workspace.direct_channel_of(chats[0].ada.id)
            await slack.post_as_person(chats[0].ada, channel, "How many receipts from Kestrel?")
            await model.called.wait()
            os.kill(parent_pid_of(pid), signal.SIGTERM)
            model.released.set()
            await wait_until(lambda: not is_running(pid))

    assert [line["outcome"] for line in chats[0].log_lines("turn")] == ["answer"]
    assert chats[0].log_lines("turn given back") == []
    assert any("40" in str(message) for message in slack.workspace.bot_messages())


def test_the_answer_command_refuses_to_start_by_hand(home: Path) -> None:
    ended = run_parley(home, "answer")

    assert (ended.status, ended.stdout) == (2, "")
    assert "is started by `parley serve`" in ended.stderr
