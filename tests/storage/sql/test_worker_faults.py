"""Four worker processes share the turns of a PostgreSQL, while workers are killed and the server ends connections."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from storage.sql.database import SqlDatabase
from storage.sql.group_commit import AcceptedTurn
from storage.sql.stores.inbox import TurnInbox
from tests.servers.missing import ServerMissing
from tests.servers.plugin import skip_or_fail
from tests.servers.postgres import RestartableServer, restartable_postgres_server
from tests.storage.sql.test_killed_worker import CONVERSATIONS, a_turn, a_worker
from tests.storage.sql.worker import FileChat

pytestmark = pytest.mark.servers
_WORKER_COUNT, _TURN_COUNT, _LEASE_S = 4, 80, 6.0
_END_CONNECTIONS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_COUNT_OPEN_TURNS = text("SELECT count(*) FROM turns WHERE finished_at IS NULL")


@pytest.fixture
def own_server() -> Iterator[RestartableServer]:
    try:
        with restartable_postgres_server() as server:
            yield server
    except ServerMissing as exc:
        skip_or_fail(exc)


@pytest.fixture
def chat(tmp_path: Path) -> FileChat:
    (tmp_path / "chat.jsonl").touch()
    return FileChat(tmp_path / "chat.jsonl")


@pytest.fixture
async def database(postgres_database: str) -> AsyncIterator[SqlDatabase]:
    opened = await SqlDatabase.open(postgres_database, clock=lambda: datetime.now(UTC))
    yield opened
    await opened.close()


class WorkerGroup:
    """Keeps four workers running: one that was killed or ended is replaced."""

    def __init__(self, url: str, chat: Path) -> None:
        self._url, self._chat, self._running = url, chat, list[asyncio.subprocess.Process]()
        self._stack, self.death_count = AsyncExitStack(), 0

    async def __aenter__(self) -> "WorkerGroup":
        await self.replace_dead_workers()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def replace_dead_workers(self) -> None:
        alive = [worker for worker in self._running if worker.returncode is None]
        self.death_count += len(self._running) - len(alive)
        while len(alive) < _WORKER_COUNT:
            alive.append(await self._stack.enter_async_context(a_worker(self._url, self._chat, lease_s=_LEASE_S)))
        self._running = alive

    async def kill_worker(self, choice: random.Random) -> None:
        worker = choice.choice(self._running)
        with suppress(ProcessLookupError):  # a lost connection has just ended it
            worker.kill()  # SIGKILL
        await worker.wait()


async def accept_turns(database: SqlDatabase, numbers: range) -> dict[str, int]:
    inbox, turns = TurnInbox(database), dict[str, int]()
    for number in numbers:
        acceptance = await inbox.accept_turn(a_turn(number))
        assert isinstance(acceptance, AcceptedTurn)
        turns[acceptance.turn_id] = number
    return turns


async def count_open_turns(database: SqlDatabase) -> int:
    return await database.run_read(lambda connection: connection.execute(_COUNT_OPEN_TURNS).scalar_one())


async def wait_until_open_turns(database: SqlDatabase, workers: WorkerGroup, count: int) -> None:
    """Wait until so few turns are open."""
    async with asyncio.timeout(300):
        while await count_open_turns(database) > count:
            await workers.replace_dead_workers()
            await asyncio.sleep(0.05)


def assert_each_turn_was_answered_once_in_order(chat: FileChat, turns: dict[str, int]) -> None:
    lines = chat.read_lines()
    posted = [turns[line.turn] for line in lines if not line.text]
    assert sorted(posted) == sorted(turns.values())
    assert {line.turn for line in lines if line.text} == turns.keys()
    assert len({(line.turn, line.message) for line in lines}) == len(turns)
    for conversation in range(CONVERSATIONS):
        numbers = [turns[line.turn] for line in lines if turns[line.turn] % CONVERSATIONS == conversation]
        assert numbers == sorted(numbers)


async def test_no_turn_is_lost_answered_twice_or_out_of_order_whatever_is_ended(
    database: SqlDatabase, postgres_database: str, tmp_path: Path, chat: FileChat
) -> None:
    choice = random.Random(18)
    turns = await accept_turns(database, range(_TURN_COUNT))
    async with WorkerGroup(postgres_database, tmp_path / "chat.jsonl") as workers:
        for open_count in range(_TURN_COUNT - 10, 0, -10):
            await wait_until_open_turns(database, workers, open_count)
            if choice.random() < 0.5:
                await workers.kill_worker(choice)
            await database.run_write(lambda connection: connection.execute(_END_CONNECTIONS).all())
        await wait_until_open_turns(database, workers, 0)

    assert_each_turn_was_answered_once_in_order(chat, turns)


async def test_workers_go_on_after_a_restart_of_the_server(
    own_server: RestartableServer, tmp_path: Path, chat: FileChat
) -> None:
    database = await SqlDatabase.open(own_server.url, clock=lambda: datetime.now(UTC))
    turns = await accept_turns(database, range(_TURN_COUNT))
    async with WorkerGroup(own_server.url, tmp_path / "chat.jsonl") as workers:
        await wait_until_open_turns(database, workers, _TURN_COUNT * 3 // 4)
        await asyncio.to_thread(own_server.stop)
        await asyncio.to_thread(own_server.start)
        await wait_until_open_turns(database, workers, _TURN_COUNT // 4)
        more_turns = await accept_turns(database, range(_TURN_COUNT, _TURN_COUNT + CONVERSATIONS))
        await wait_until_open_turns(database, workers, 0)
    await database.close()

    assert_each_turn_was_answered_once_in_order(chat, turns | more_turns)
