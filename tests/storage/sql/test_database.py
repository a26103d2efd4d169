"""Opening a database: its address, migrations and pragmas, and the errors when it cannot be opened."""

import asyncio
import importlib
import socket
import sqlite3
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata  # pyright: ignore[reportUnknownVariableType]
from alembic.command import upgrade
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from storage.sql import migrations
from storage.sql.backup import list_stored_tables
from storage.sql.database import SqlDatabase
from storage.sql.database_url import display_url, parse_database_url, sqlite_url_for
from storage.sql.errors import (
    ConstraintBroken,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNotWritable,
    DatabaseTooNew,
    DatabaseUnavailable,
    InvalidDatabaseUrl,
    StatementRefused,
)
from storage.sql.stores.grants import LocalGroupStore
from storage.sql.stores.history import QuestionHistory
from storage.sql.stores.inbox import TurnInbox
from storage.sql.tables import TableRow
from tests.contracts.sql.databases import SetClock

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
_OPENER_SCRIPT = """
import asyncio, sys
from datetime import UTC, datetime
from storage.sql.database import SqlDatabase

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    database = await SqlDatabase.open(sys.argv[1], clock=lambda: datetime.now(UTC))
    await database.ping()
    await database.close()

asyncio.run(main())
"""


async def test_a_new_database_has_exactly_the_declared_tables(database: SqlDatabase) -> None:
    list_stored_tables()  # each store declares its tables
    importlib.import_module("storage.sql.health_store")

    def schema_differences(connection: Connection) -> list[object]:
        return compare_metadata(MigrationContext.configure(connection), TableRow.metadata)

    assert await database.run_read(schema_differences) == []


def test_the_latest_migration_is_the_declared_head() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    script = ScriptDirectory.from_config(config)

    assert script.get_heads() == [migrations.HEAD]
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)  # a later revision has a higher number


def create_old_turns(connection: Connection) -> None:
    """Create two turns as the second migration stored them: a finished one and an open one."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    upgrade(config, "0002")
    turns_table = Table("turns", MetaData(), autoload_with=connection)
    shared: dict[str, object] = {
        "surface": "slack",
        "conversation": "c1",
        "person": "slack:T1:ANN",
        "audience": {"kind": "operator"},
        "body": {"said": "which?", "name": "Ann", "address": {}, "buckets": []},
        "locale": "en",
        "time_zone": "UTC",
        "received_at": LONG_AGO,
        "attempt": 0,
        "fence": 0,
        "due_at": LONG_AGO,
    }
    for number, state in enumerate(({"finished_at": LONG_AGO}, {"lane": "c1"}), 1):
        connection.execute(
            turns_table.insert().values(
                id=f"t{number}", event_id=f"e{number}", message_id=f"m{number}", **shared, **state
            )
        )


async def test_turns_of_an_old_database_survive_all_migrations(database_url: str, clock: SetClock) -> None:
    url = parse_database_url(database_url)
    if url.drivername == "sqlite":
        Path(url.database or "").parent.mkdir()
        old_engine = create_engine(url)
        with old_engine.begin() as connection:
            create_old_turns(connection)
        old_engine.dispose()
    else:
        old_async_engine = create_async_engine(url)
        async with old_async_engine.begin() as connection:
            await connection.run_sync(create_old_turns)
        await old_async_engine.dispose()

    database = await SqlDatabase.open(database_url, clock=clock)
    [claimed] = await TurnInbox(database).claim_due_turns("w", timedelta(seconds=30))
    listed_questions = await QuestionHistory(database).list_asked_by("slack:T1:ANN", 10)
    await database.close()

    assert (claimed.turn.id, claimed.turn.stopped_by, claimed.turn.revises) == ("t2", None, None)
    assert not claimed.turn.is_question
    assert listed_questions == []


async def test_opening_again_changes_nothing(database: SqlDatabase, database_url: str, clock: SetClock) -> None:
    await LocalGroupStore(database).create_group("g", "Kept", by="operator")

    reopened = await SqlDatabase.open(database_url, clock=clock)

    [group] = await LocalGroupStore(reopened).list_groups()
    await reopened.close()
    assert group.title == "Kept"


async def test_several_processes_may_open_a_new_database_at_the_same_time(database_url: str) -> None:
    openers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _OPENER_SCRIPT, database_url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        await opener.stdout.readline()

    errors = [
        error_output for _, error_output in await asyncio.gather(*(opener.communicate(b"go\n") for opener in openers))
    ]

    assert [(opener.returncode, error) for opener, error in zip(openers, errors, strict=True)] == [(0, b"")] * 4


async def test_a_database_of_a_later_parley_is_refused(
    database: SqlDatabase, database_url: str, clock: SetClock
) -> None:
    set_later_revision = text("UPDATE alembic_version SET version_num = '9001'")
    await database.run_write(lambda connection: connection.execute(set_later_revision).rowcount)

    with pytest.raises(DatabaseTooNew, match=r"later Parley \(revision 9001; .* update Parley") as caught:
        await SqlDatabase.open(database_url, clock=clock)

    assert (caught.value.found_revision, caught.value.known_revision) == ("9001", migrations.HEAD)


async def test_a_transaction_that_raises_is_rolled_back(database: SqlDatabase) -> None:
    def write_and_fail(connection: Connection) -> None:
        connection.execute(text("INSERT INTO groups (id, title) VALUES ('g', '\"Gone\"')"))
        raise KeyError

    with pytest.raises(KeyError):
        await database.run_write(write_and_fail)

    assert await LocalGroupStore(database).list_groups() == []


async def test_the_error_of_an_invalid_statement_contains_no_values(database: SqlDatabase) -> None:
    query = text("SELECT id FROM nowhere WHERE x = :x")

    with pytest.raises(StatementRefused) as caught:
        await database.run_read(lambda connection: connection.execute(query, {"x": "secret"}).all())

    assert "nowhere" in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_pinging_a_running_database_raises_nothing(database: SqlDatabase) -> None:
    await database.ping()


async def test_sqlite_uses_a_synchronous_wal_and_enforces_foreign_keys(sqlite_database: str, clock: SetClock) -> None:
    def pragma_values(connection: Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}

    database = await SqlDatabase.open(sqlite_database, clock=clock)
    values = await database.run_write(pragma_values)
    await database.close()

    assert values == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


async def test_pending_sqlite_writes_share_a_transaction(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    database = await SqlDatabase.open(sqlite_url_for(file), clock=clock)
    with closing(sqlite3.connect(file, check_same_thread=False)) as other_connection:

        def count_own_and_committed(connection: Connection) -> tuple[int, int]:
            """Returns the rows that this transaction sees, and the committed rows."""
            return count_groups(connection), other_connection.execute("SELECT count(*) FROM groups").fetchone()[0]

        async with BusyWriter(database):
            tasks = [
                asyncio.create_task(insert_group(database, "a")),
                asyncio.create_task(database.run_write(count_own_and_committed)),
            ]
            await asyncio.sleep(0)

        await tasks[0]
        counts = await tasks[1]
    await database.close()

    assert counts == (1, 0)


async def test_a_failing_write_of_a_shared_transaction_is_rolled_back_alone(tmp_path: Path, clock: SetClock) -> None:
    database = await SqlDatabase.open(sqlite_url_for(tmp_path / "parley.db"), clock=clock)
    async with BusyWriter(database):
        tasks = [asyncio.create_task(insert_group(database, group)) for group in ("a", "twice", "twice", "b")]
        await asyncio.sleep(0)

    results = await asyncio.gather(*tasks, return_exceptions=True)
    group_count = await database.run_read(count_groups)
    await database.close()

    assert [type(result) for result in results] == [int, int, ConstraintBroken, int]
    assert group_count == 3


async def test_closing_a_database_ends_every_pending_write(tmp_path: Path, clock: SetClock) -> None:
    database = await SqlDatabase.open(sqlite_url_for(tmp_path / "parley.db"), clock=clock)
    busy_writer = BusyWriter(database)
    await busy_writer.__aenter__()
    pending_write = asyncio.create_task(insert_group(database, "a"))
    await asyncio.sleep(0)
    closing_task = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    await busy_writer.__aexit__()

    await closing_task
    [result] = await asyncio.gather(pending_write, return_exceptions=True)

    assert isinstance(result, DatabaseUnavailable | int)


async def test_only_writes_that_are_not_durable_skip_the_wait_for_the_disk(tmp_path: Path, clock: SetClock) -> None:
    """SQLite's value 1 is NORMAL, 2 is FULL."""

    def sync_mode(connection: Connection) -> int:
        return connection.execute(text("PRAGMA synchronous")).scalar_one()

    database = await SqlDatabase.open(sqlite_url_for(tmp_path / "parley.db"), clock=clock)
    not_durable_mode = await database.run_write(sync_mode, durable=False)
    durable_mode = await database.run_write(sync_mode)
    async with BusyWriter(database):
        tasks = [asyncio.create_task(database.run_write(sync_mode, durable=durable)) for durable in (False, True)]
        await asyncio.sleep(0)
    shared_modes = await asyncio.gather(*tasks)
    await database.close()

    assert (not_durable_mode, durable_mode, shared_modes) == (1, 2, [2, 2])


class BusyWriter:
    """Keeps the writing thread busy for the length of the block."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database, self._release, self._started = database, threading.Event(), threading.Event()

    async def __aenter__(self) -> None:
        self._busy_task = asyncio.create_task(self._database.run_write(self._wait_for_release))
        await asyncio.to_thread(self._started.wait)

    async def __aexit__(self, *_: object) -> None:
        self._release.set()
        await self._busy_task

    def _wait_for_release(self, _: Connection) -> None:
        self._started.set()
        self._release.wait()


async def insert_group(database: SqlDatabase, group: str) -> int:
    statement = text("INSERT INTO groups (id, title) VALUES (:id, :id)")
    return await database.run_write(lambda connection: connection.execute(statement, {"id": group}).rowcount)


def count_groups(connection: Connection) -> int:
    return connection.execute(text("SELECT count(*) FROM groups")).scalar_one()


async def test_a_read_transaction_cannot_write_to_sqlite(sqlite_database: str, clock: SetClock) -> None:
    database = await SqlDatabase.open(sqlite_database, clock=clock)

    with pytest.raises(DatabaseNotWritable):
        await database.run_read(lambda connection: connection.execute(text("DELETE FROM turns")).rowcount)
    await database.close()


# Databases that cannot be opened


@pytest.mark.parametrize(
    "url", ["", "parley.db", "mysql://u@h/db", "sqlite://", "sqlite:///:memory:", "postgresql://h"]
)
async def test_an_invalid_address_is_refused(url: str, clock: SetClock) -> None:
    with pytest.raises(InvalidDatabaseUrl, match="is not a database address; use postgresql://"):
        await SqlDatabase.open(url, clock=clock)


@pytest.mark.parametrize(
    "url", ["mysql://ann:hunter2@h/db", "postgresql://ann:hunter2@h:port/db", "no scheme ann:hunter2@h"]
)
async def test_the_error_of_an_invalid_address_contains_no_password(url: str, clock: SetClock) -> None:
    with pytest.raises(InvalidDatabaseUrl) as caught:
        await SqlDatabase.open(url, clock=clock)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_every_spelling_of_postgresql_selects_asyncpg(scheme: str) -> None:
    url = parse_database_url(f"{scheme}://ann:hunter2@db.example:6543/parley?sslmode=require")

    assert url.drivername == "postgresql+asyncpg"
    assert dict(url.query) == {"ssl": "require"}
    assert display_url(url) == "postgresql://db.example:6543/parley"


def test_any_file_path_becomes_a_valid_address(tmp_path: Path) -> None:
    file = tmp_path / "ä folder #1?%" / "parley.db"

    assert make_url(sqlite_url_for(file)).database == str(file)


async def test_the_error_of_an_unreachable_server_gives_advice_and_no_password(clock: SetClock) -> None:
    with socket.socket() as unused_socket:
        unused_socket.bind(("127.0.0.1", 0))
        port = unused_socket.getsockname()[1]

        with pytest.raises(DatabaseUnavailable) as caught:
            await SqlDatabase.open(f"postgresql://ann:hunter2@127.0.0.1:{port}/parley", clock=clock)

    assert f"postgresql://127.0.0.1:{port}/parley is not available" in str(caught.value)
    assert "check that it runs" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_a_host_that_does_not_exist_is_unavailable(clock: SetClock) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"postgresql://no-such-host\.invalid:5432/parley"):
        await SqlDatabase.open("postgresql://ann@no-such-host.invalid/parley", clock=clock)


@pytest.mark.servers
async def test_a_database_that_does_not_exist_on_the_server_is_unavailable(postgres_url: str, clock: SetClock) -> None:
    url = make_url(postgres_url).set(drivername="postgresql", database="no_such_database")

    with pytest.raises(DatabaseUnavailable, match="no_such_database"):
        await SqlDatabase.open(url.render_as_string(hide_password=False), clock=clock)


async def test_a_folder_that_cannot_be_created_is_not_writable(tmp_path: Path, clock: SetClock) -> None:
    (tmp_path / "file").touch()
    database_file = tmp_path / "file" / "parley.db"

    with pytest.raises(DatabaseNotWritable, match=r"cannot be written .*; check the rights and the disk"):
        await SqlDatabase.open(sqlite_url_for(database_file), clock=clock)


async def test_a_folder_in_place_of_the_file_is_not_writable(tmp_path: Path, clock: SetClock) -> None:
    with pytest.raises(DatabaseNotWritable):
        await SqlDatabase.open(sqlite_url_for(tmp_path), clock=clock)


async def test_a_file_that_is_no_database_is_reported_and_not_changed(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    file.write_text("these are my notes\n" * 100)

    with pytest.raises(DatabaseDamaged, match="restore it from a backup"):
        await SqlDatabase.open(sqlite_url_for(file), clock=clock)

    assert file.read_text().startswith("these are my notes")


async def test_a_database_that_another_process_locks_too_long_is_busy(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    database = await SqlDatabase.open(sqlite_url_for(file), clock=clock)
    short_timeout = text("PRAGMA busy_timeout = 10")  # ms instead of ten seconds
    await database.run_write(lambda connection: connection.execute(short_timeout).all())
    with closing(sqlite3.connect(file, isolation_level=None)) as other_connection:
        other_connection.execute("BEGIN IMMEDIATE")
        await database.ping()  # readers are not blocked

        with pytest.raises(DatabaseBusy, match="check what else uses it"):
            await LocalGroupStore(database).create_group("g", "Group", by="operator")
    assert await LocalGroupStore(database).create_group("g", "Group", by="operator")
    await database.close()
