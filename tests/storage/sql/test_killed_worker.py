"""A worker is killed in the middle of a turn, at every point of it, and another one goes on."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage.sql.accepting import Accepted, NewTurn
from storage.sql.database import Database
from storage.sql.inbox import Inbox
from tests.storage.sql.worker import Chat

CONVERSATIONS, TURNS = 4, 12
ROOT = Path(__file__).parents[3]


@asynccontextmanager
async def a_worker(
    url: str, chat: Path, *, stop_at: str = "", lease_s: float = 1
) -> AsyncGenerator[asyncio.subprocess.Process]:
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.storage.sql.worker", url, str(chat), str(lease_s), stop_at),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        yield worker
    finally:
        if worker.returncode is None:
            worker.kill()
        await worker.communicate()


async def until(worker: asyncio.subprocess.Process, word: str) -> None:
    """The worker has said `word`."""
    assert worker.stdout is not None
    async with asyncio.timeout(60):
        while (line := await worker.stdout.readline()).decode().strip() != word:
            assert line


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    (tmp_path / "chat.jsonl").touch()
    return Chat(tmp_path / "chat.jsonl")


@pytest.fixture
async def turns(database_url: str) -> dict[str, int]:
    """Accepted turns: id to number. Conversations take turns, so that the number tells the conversation."""
    database = await Database.open(database_url, clock=lambda: datetime.now(UTC))
    numbers: dict[str, int] = {}
    for number in range(TURNS):
        answer = await Inbox(database).accept(a_turn(number))
        assert isinstance(answer, Accepted)
        numbers[answer.turn] = number
    await database.close()
    return numbers


def a_turn(number: int) -> NewTurn:
    return NewTurn(
        surface="file",
        event_id=f"event-{number}",
        conversation=f"conversation-{number % CONVERSATIONS}",
        message_id=f"message-{number}",
        person="local:ann",
        audience={},
        body={"said": f"question {number}"},
        locale="en",
        time_zone="UTC",
        received_at=datetime.now(UTC),
    )


async def all_finished(url: str, turns: dict[str, int], worker: asyncio.subprocess.Process) -> None:
    database = await Database.open(url, clock=lambda: datetime.now(UTC))
    while not all([await is_finished(Inbox(database), turn) for turn in turns]):
        await until(worker, "finished")
    await database.close()


async def is_finished(inbox: Inbox, turn: str) -> bool:
    found = await inbox.find(turn)
    return found is not None and found.finished_at is not None


def nothing_was_lost_doubled_or_moved(chat: Chat, turns: dict[str, int]) -> None:
    lines = chat.lines()
    posted = [turns[line.turn] for line in lines if not line.text]
    assert sorted(posted) == list(range(TURNS))
    for turn, number in turns.items():
        said = {(line.message, line.text) for line in lines if line.turn == turn and line.text}
        assert said == {(chat.find(turn), f"answer to question {number}")}  # the same update again changes nothing
    for conversation in range(CONVERSATIONS):
        in_order = [turns[line.turn] for line in lines if turns[line.turn] % CONVERSATIONS == conversation]
        assert in_order == sorted(in_order)


@pytest.mark.parametrize("point", ["posted", "noted", "updated", "delivered"])
async def test_after_a_kill_nothing_is_lost_doubled_or_out_of_order(
    point: str, database_url: str, tmp_path: Path, chat: Chat, turns: dict[str, int]
) -> None:
    async with a_worker(database_url, tmp_path / "chat.jsonl", stop_at=point) as first:
        await until(first, f"at {point}")
        first.kill()  # SIGKILL: it cannot say goodbye
        await first.wait()
        async with a_worker(database_url, tmp_path / "chat.jsonl") as second:
            await all_finished(database_url, turns, second)

    nothing_was_lost_doubled_or_moved(chat, turns)


async def test_a_worker_that_sleeps_through_its_lease_finds_out_before_it_says_anything(
    database_url: str, tmp_path: Path, chat: Chat, turns: dict[str, int]
) -> None:
    async with a_worker(database_url, tmp_path / "chat.jsonl", stop_at="worked", lease_s=4) as sleeper:
        await until(sleeper, "at worked")
        async with a_worker(database_url, tmp_path / "chat.jsonl", lease_s=4) as other:
            await all_finished(database_url, turns, other)
        before = chat.lines()

        assert sleeper.stdin is not None
        sleeper.stdin.write(b"wake up\n")
        await until(sleeper, "lost")

    assert chat.lines() == before
    nothing_was_lost_doubled_or_moved(chat, turns)
