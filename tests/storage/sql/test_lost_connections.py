"""PostgreSQL ends connections and transactions: the work is repeated, and nothing is written twice."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import Connection, make_url, text

from storage.sql.database import SqlDatabase
from storage.sql.errors import DatabaseBusy, DatabaseUnavailable
from storage.sql.migrations import HEAD
from storage.sql.server_transactions import ServerTimeouts
from storage.sql.stores.grants import LocalGroupStore
from storage.sql.stores.inbox import TurnInbox
from tests.contracts.sql.databases import SetClock
from tests.stand_ins.cut_connection import relay_connections
from tests.storage.sql.test_killed_worker import a_turn

pytestmark = pytest.mark.servers
_END_OTHERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_END_OWN = text("SELECT pg_terminate_backend(pg_backend_pid())")
_COUNT_GROUPS = text("SELECT count(*) FROM groups")
# https://www.postgresql.org/docs/current/protocol-message-formats.html: ErrorResponse, length, fields, end.
_SHUTDOWN_FIELDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0"
_SHUTDOWN_MESSAGE = b"E" + (len(_SHUTDOWN_FIELDS) + 4).to_bytes(4, "big") + _SHUTDOWN_FIELDS
_STOPPING_SCRIPT = """
import asyncio, os, signal, sys
from datetime import timedelta
from sqlalchemy import text
from storage.sql.database import SqlDatabase
from storage.sql.server_transactions import ServerTimeouts

def lock_and_stop(connection):
    connection.execute(text("UPDATE groups SET title = title WHERE id = 'g'"))
    print("locked", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)

async def main():
    timeouts = ServerTimeouts(idle_transaction=timedelta(milliseconds=500))
    database = await SqlDatabase.open(sys.argv[1], clock=lambda: datetime.now(UTC), timeouts=timeouts)
    await database.run_write(lock_and_stop)

asyncio.run(main())
"""


@pytest.fixture
async def server(postgres_database: str, clock: SetClock) -> AsyncIterator[SqlDatabase]:
    opened = await SqlDatabase.open(postgres_database, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def other_process(postgres_database: str, clock: SetClock) -> AsyncIterator[SqlDatabase]:
    opened = await SqlDatabase.open(postgres_database, clock=clock)
    yield opened
    await opened.close()


async def count_groups(database: SqlDatabase) -> int:
    return await database.run_read(lambda connection: connection.execute(_COUNT_GROUPS).scalar_one())


def insert_group(connection: Connection, name: str) -> None:
    connection.execute(text("INSERT INTO groups (id, title) VALUES (:id, '\"Title\"')"), {"id": name})


async def test_work_goes_on_after_all_idle_connections_were_ended(
    server: SqlDatabase, other_process: SqlDatabase
) -> None:
    await asyncio.gather(*(server.ping() for _ in range(8)))  # several connections in the pool
    await other_process.run_write(lambda connection: connection.execute(_END_OTHERS).all())

    created = await asyncio.gather(
        *(LocalGroupStore(server).create_group(f"g{number}", "Group", by="operator") for number in range(8))
    )

    assert created == [True] * 8
    assert await count_groups(server) == 8


async def test_a_transaction_whose_connection_is_ended_runs_again_from_its_beginning(server: SqlDatabase) -> None:
    attempts: list[int] = []

    def insert_and_lose_connection(connection: Connection) -> str:
        attempts.append(len(attempts))
        insert_group(connection, "g")
        if len(attempts) <= 2:
            connection.execute(_END_OWN)
        return "done"

    assert await server.run_write(insert_and_lose_connection) == "done"
    assert (len(attempts), await count_groups(server)) == (3, 1)


async def test_two_transactions_in_deadlock_both_succeed(server: SqlDatabase) -> None:
    for name in ("a", "b"):
        await LocalGroupStore(server).create_group(name, "Group", by="operator")

    def update_in_order(first: str, second: str, connection: Connection) -> None:
        for name in (first, second):
            connection.execute(text("UPDATE groups SET title = title WHERE id = :id"), {"id": name})
            connection.execute(text("SELECT pg_sleep(0.2)"))

    await asyncio.gather(
        server.run_write(lambda connection: update_in_order("a", "b", connection)),
        server.run_write(lambda connection: update_in_order("b", "a", connection)),
    )


@pytest.mark.parametrize("is_single_statement", [False, True])
async def test_a_statement_between_the_last_message_of_a_server_and_the_end_of_the_connection_runs_on_another(
    postgres_database: str, clock: SetClock, *, is_single_statement: bool
) -> None:
    address = make_url(postgres_database)
    assert address.port is not None
    insert = text("INSERT INTO groups (id, title) VALUES ('g', '\"Title\"') RETURNING id")
    async with relay_connections(address.port) as relay:
        relayed = address.set(host="127.0.0.1", port=relay.port).render_as_string(hide_password=False)
        database = await SqlDatabase.open(relayed, clock=clock)
        await database.run_write(lambda connection: connection.execute(_COUNT_GROUPS).all(), is_single_statement=True)
        await database.ping()
        await relay.send_as_server(_SHUTDOWN_MESSAGE)
        await asyncio.sleep(0.05)  # the driver has read it

        written = await database.run_write(
            lambda connection: connection.execute(insert).all(), is_single_statement=is_single_statement
        )
        count = await count_groups(database)
        await database.close()

    assert (len(written), count) == (1, 1)


async def test_a_connection_that_is_always_lost_is_an_error_in_the_end(server: SqlDatabase) -> None:
    with pytest.raises(DatabaseUnavailable):
        await server.run_write(lambda connection: connection.execute(_END_OWN).all())

    await server.ping()


async def test_a_statement_that_takes_too_long_is_ended_by_the_server_and_not_repeated(
    postgres_database: str, clock: SetClock
) -> None:
    attempts: list[int] = []

    def sleep_long(connection: Connection) -> None:
        attempts.append(len(attempts))
        connection.execute(text("SELECT pg_sleep(60)"))

    database = await SqlDatabase.open(
        postgres_database, clock=clock, timeouts=ServerTimeouts(statement=timedelta(milliseconds=300))
    )
    with pytest.raises(DatabaseBusy, match="statement timeout"):
        await database.run_write(sleep_long)
    await database.close()

    assert len(attempts) == 1


async def test_an_opener_waits_for_the_upgrade_of_another_process_longer_than_for_a_statement(
    postgres_database: str, clock: SetClock, other_process: SqlDatabase
) -> None:
    set_earlier = text("UPDATE alembic_version SET version_num = '0015'")
    set_current = text(f"UPDATE alembic_version SET version_num = '{HEAD}'")
    await other_process.run_write(lambda connection: connection.execute(set_earlier).rowcount)

    def upgrade_slowly(connection: Connection) -> None:
        other_process.lock_schema(connection)
        is_locked.set()
        connection.execute(text("SELECT pg_sleep(1.5)"))
        connection.execute(set_current)

    is_locked = asyncio.Event()
    upgrade = asyncio.create_task(other_process.run_unlimited(upgrade_slowly))
    await is_locked.wait()
    database = await SqlDatabase.open(
        postgres_database, clock=clock, timeouts=ServerTimeouts(statement=timedelta(milliseconds=200))
    )
    await upgrade
    await database.ping()
    await database.close()


async def test_a_process_that_stops_in_a_transaction_holds_no_lock_for_long(
    postgres_database: str, server: SqlDatabase
) -> None:
    await LocalGroupStore(server).create_group("g", "Group", by="operator")
    lock_row = text("UPDATE groups SET title = title WHERE id = 'g'")
    stopped_process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _STOPPING_SCRIPT, postgres_database), stdout=asyncio.subprocess.PIPE
    )
    assert stopped_process.stdout is not None
    await stopped_process.stdout.readline()

    await server.run_write(lambda connection: connection.execute(lock_row).rowcount)

    stopped_process.kill()
    await stopped_process.wait()


class ArrivalWatch:
    """Counts the calls of `watch_arrivals` in the background of a block."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database, self.calls, self._changed = database, 0, asyncio.Condition()

    async def __aenter__(self) -> "ArrivalWatch":
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(TurnInbox(self._database).watch_arrivals(self._count_call))
        await self.wait_for_calls(1)  # it is connected
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    def _count_call(self) -> None:
        self.calls += 1
        self._notice = self._loop.create_task(self._notify_waiters())

    async def _notify_waiters(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def wait_for_calls(self, count: int) -> None:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: self.calls >= count)


async def test_workers_of_another_process_are_told_of_a_stored_turn(
    server: SqlDatabase, other_process: SqlDatabase
) -> None:
    async with ArrivalWatch(other_process) as watch:
        await TurnInbox(server).accept_turn(a_turn(1))

        await watch.wait_for_calls(2)
        [claimed] = await TurnInbox(other_process).claim_due_turns("worker", timedelta(seconds=30))

    assert claimed.turn.message_id == "message-1"  # it was committed before the notification


async def test_a_watch_whose_connection_is_lost_connects_again_and_looks_for_what_it_missed(
    server: SqlDatabase, other_process: SqlDatabase
) -> None:
    async with ArrivalWatch(other_process) as watch:
        await server.run_write(lambda connection: connection.execute(_END_OTHERS).all())
        await watch.wait_for_calls(2)
        await TurnInbox(server).accept_turn(a_turn(1))

        await watch.wait_for_calls(3)
