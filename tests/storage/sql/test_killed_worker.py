"""A worker is killed at every point of a turn, and another worker continues."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage.sql.database import SqlDatabase
from storage.sql.group_commit import AcceptedTurn
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.turns import NewTurn
from tests.storage.sql.worker import FileChat

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


async def wait_for_line(worker: asyncio.subprocess.Process, word: str) -> None:
    """Wait until the worker has written the line `word`."""
    assert worker.stdout is not None
    async with asyncio.timeout(60):
        while (line := await worker.stdout.readline()).decode().strip() != word:
            assert line


@pytest.fixture
def chat(tmp_path: Path) -> FileChat:
    (tmp_path / "chat.jsonl").touch()
    return FileChat(tmp_path / "chat.jsonl")


@pytest.fixture
async def turn_numbers(database_url: str) -> dict[str, int]:
    """Accepted turns: id to number. The number modulo `CONVERSATIONS` is the number of the conversation."""
    database = await SqlDatabase.open(database_url, clock=lambda: datetime.now(UTC))
    numbers: dict[str, int] = {}
    for number in range(TURNS):
        acceptance = await TurnInbox(database).accept_turn(a_turn(number))
        assert isinstance(acceptance, AcceptedTurn)
        numbers[acceptance.turn_id] = number
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


async def wait_until_all_finished(url: str, turn_numbers: dict[str, int], worker: asyncio.subprocess.Process) -> None:
    database = await SqlDatabase.open(url, clock=lambda: datetime.now(UTC))
    while not all([await is_finished(TurnInbox(database), turn) for turn in turn_numbers]):
        await wait_for_line(worker, "finished")
    await database.close()


async def is_finished(inbox: TurnInbox, turn: str) -> bool:
    stored_turn = await inbox.find_turn(turn)
    return stored_turn is not None and stored_turn.finished_at is not None


def assert_each_turn_answered_once_in_order(chat: FileChat, turn_numbers: dict[str, int]) -> None:
    lines = chat.read_lines()
    posted = [turn_numbers[line.turn] for line in lines if not line.text]
    assert sorted(posted) == list(range(TURNS))
    for turn, number in turn_numbers.items():
        updates = {(line.message, line.text) for line in lines if line.turn == turn and line.text}
        assert updates == {
            (chat.find_message(turn), f"answer to question {number}")
        }  # a repeated update changes nothing
    for conversation in range(CONVERSATIONS):
        numbers = [turn_numbers[line.turn] for line in lines if turn_numbers[line.turn] % CONVERSATIONS == conversation]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("point", ["posted", "noted", "updated", "delivered"])
async def test_after_a_kill_no_turn_is_lost_or_duplicated_or_out_of_order(
    point: str, database_url: str, tmp_path: Path, chat: FileChat, turn_numbers: dict[str, int]
) -> None:
    async with a_worker(database_url, tmp_path / "chat.jsonl", stop_at=point) as first:
        await wait_for_line(first, f"at {point}")
        first.kill()  # SIGKILL: the worker cannot clean up
        await first.wait()
        async with a_worker(database_url, tmp_path / "chat.jsonl") as second:
            await wait_until_all_finished(database_url, turn_numbers, second)

    assert_each_turn_answered_once_in_order(chat, turn_numbers)


async def test_a_worker_that_outsleeps_its_lease_posts_nothing(
    database_url: str, tmp_path: Path, chat: FileChat, turn_numbers: dict[str, int]
) -> None:
    async with a_worker(database_url, tmp_path / "chat.jsonl", stop_at="worked", lease_s=4) as sleeper:
        await wait_for_line(sleeper, "at worked")
        async with a_worker(database_url, tmp_path / "chat.jsonl", lease_s=4) as other:
            await wait_until_all_finished(database_url, turn_numbers, other)
        lines_before = chat.read_lines()

        assert sleeper.stdin is not None
        sleeper.stdin.write(b"wake up\n")
        await wait_for_line(sleeper, "lost")

    assert chat.read_lines() == lines_before
    assert_each_turn_answered_once_in_order(chat, turn_numbers)
