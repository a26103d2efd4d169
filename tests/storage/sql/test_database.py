"""Opening a database: its address, its migrations, its pragmas, and what is said when it cannot be."""

import asyncio
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
from storage.sql.address import parsed, shown, sqlite_url
from storage.sql.database import Database
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
from storage.sql.grants import LocalGroups
from storage.sql.history import History
from storage.sql.inbox import Inbox
from storage.sql.tables import Row
from tests.contracts.sql.databases import SetClock

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
_OPENER = """
import asyncio, sys
from datetime import UTC, datetime
from storage.sql.database import Database

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    database = await Database.open(sys.argv[1], clock=lambda: datetime.now(UTC))
    await database.answers()
    await database.close()

asyncio.run(main())
"""


async def test_an_empty_database_gets_the_tables_that_the_program_declares(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        return compare_metadata(MigrationContext.configure(connection), Row.metadata)

    assert await database.read(differences) == []


def test_the_latest_migration_is_the_one_the_program_names() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    script = ScriptDirectory.from_config(config)

    assert script.get_heads() == [migrations.HEAD]
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)  # so that a later one can be told by its number


def turns_of_before(connection: Connection) -> None:
    """Two turns as the tables of the second migration held them: one that is open, one that is finished."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    upgrade(config, "0002")
    held = Table("turns", MetaData(), autoload_with=connection)
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
            held.insert().values(id=f"t{number}", event_id=f"e{number}", message_id=f"m{number}", **shared, **state)
        )


async def test_turns_of_before_are_there_after_all_later_migrations(database_url: str, clock: SetClock) -> None:
    url = parsed(database_url)
    if url.drivername == "sqlite":
        Path(url.database or "").parent.mkdir()
        old = create_engine(url)
        with old.begin() as connection:
            turns_of_before(connection)
        old.dispose()
    else:
        before = create_async_engine(url)
        async with before.begin() as connection:
            await connection.run_sync(turns_of_before)
        await before.dispose()

    database = await Database.open(database_url, clock=clock)
    [claimed] = await Inbox(database).claim("w", timedelta(seconds=30))
    listed = await History(database).of("slack:T1:ANN", 10)
    await database.close()

    assert (claimed.turn.id, claimed.turn.stopped_by, claimed.turn.revises) == ("t2", None, None)
    assert not claimed.turn.is_question
    assert listed == []


async def test_opening_again_changes_nothing(database: Database, database_url: str, clock: SetClock) -> None:
    await LocalGroups(database).create("g", "Kept", by="operator")

    again = await Database.open(database_url, clock=clock)

    [group] = await LocalGroups(again).all()
    await again.close()
    assert group.title == "Kept"


async def test_processes_may_open_an_empty_database_at_the_same_moment(database_url: str) -> None:
    openers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _OPENER, database_url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        await opener.stdout.readline()

    errors = [stderr for _, stderr in await asyncio.gather(*(opener.communicate(b"go\n") for opener in openers))]

    assert [(opener.returncode, error) for opener, error in zip(openers, errors, strict=True)] == [(0, b"")] * 4


async def test_a_database_of_a_later_parley_is_refused(database: Database, database_url: str, clock: SetClock) -> None:
    later = text("UPDATE alembic_version SET version_num = '9001'")
    await database.write(lambda connection: connection.execute(later).rowcount)

    with pytest.raises(DatabaseTooNew, match=r"later Parley \(revision 9001; .* update Parley") as caught:
        await Database.open(database_url, clock=clock)

    assert (caught.value.found, caught.value.known) == ("9001", migrations.HEAD)


async def test_work_that_raises_leaves_nothing_behind(database: Database) -> None:
    def write_and_fail(connection: Connection) -> None:
        connection.execute(text("INSERT INTO groups (id, title) VALUES ('g', '\"Gone\"')"))
        raise KeyError

    with pytest.raises(KeyError):
        await database.write(write_and_fail)

    assert await LocalGroups(database).all() == []


async def test_a_statement_that_cannot_be_is_refused_without_its_values(database: Database) -> None:
    asked = text("SELECT id FROM nowhere WHERE x = :x")

    with pytest.raises(StatementRefused) as caught:
        await database.read(lambda connection: connection.execute(asked, {"x": "secret"}).all())

    assert "nowhere" in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_database_that_answers_says_nothing(database: Database) -> None:
    await database.answers()


async def test_sqlite_writes_ahead_to_the_disk_and_holds_its_foreign_keys(
    sqlite_database: str, clock: SetClock
) -> None:
    def pragmas(connection: Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}

    database = await Database.open(sqlite_database, clock=clock)
    found = await database.write(pragmas)
    await database.close()

    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


async def test_what_waits_to_be_written_on_sqlite_is_written_together(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    database = await Database.open(sqlite_url(file), clock=clock)
    with closing(sqlite3.connect(file, check_same_thread=False)) as other:

        def seen_by_others(connection: Connection) -> tuple[int, int]:
            """Rows that this transaction sees, and those that have reached the disk."""
            return count(connection), other.execute("SELECT count(*) FROM groups").fetchone()[0]

        async with Held(database):
            written = [asyncio.create_task(insert(database, "a")), asyncio.create_task(database.write(seen_by_others))]
            await asyncio.sleep(0)

        await written[0]
        seen = await written[1]
    await database.close()

    assert seen == (1, 0)


async def test_of_those_that_wait_together_one_that_fails_is_undone_alone(tmp_path: Path, clock: SetClock) -> None:
    database = await Database.open(sqlite_url(tmp_path / "parley.db"), clock=clock)
    async with Held(database):
        written = [asyncio.create_task(insert(database, one)) for one in ("a", "twice", "twice", "b")]
        await asyncio.sleep(0)

    ended = await asyncio.gather(*written, return_exceptions=True)
    there = await database.read(count)
    await database.close()

    assert [type(one) for one in ended] == [int, int, ConstraintBroken, int]
    assert there == 3


async def test_who_closes_a_database_leaves_nobody_waiting(tmp_path: Path, clock: SetClock) -> None:
    database = await Database.open(sqlite_url(tmp_path / "parley.db"), clock=clock)
    held = Held(database)
    await held.__aenter__()
    waiting = asyncio.create_task(insert(database, "a"))
    await asyncio.sleep(0)
    closing_it = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    await held.__aexit__()

    await closing_it
    [ended] = await asyncio.gather(waiting, return_exceptions=True)

    assert isinstance(ended, DatabaseUnavailable | int)


async def test_only_what_is_written_lightly_does_not_wait_for_the_disk(tmp_path: Path, clock: SetClock) -> None:
    """SQLite's words for it: 1 is NORMAL, 2 is FULL."""

    def flushing(connection: Connection) -> int:
        return connection.execute(text("PRAGMA synchronous")).scalar_one()

    database = await Database.open(sqlite_url(tmp_path / "parley.db"), clock=clock)
    lightly = await database.write(flushing, lightly=True)
    alone = await database.write(flushing)
    async with Held(database):
        together = [asyncio.create_task(database.write(flushing, lightly=one)) for one in (True, False)]
        await asyncio.sleep(0)
    found = await asyncio.gather(*together)
    await database.close()

    assert (lightly, alone, found) == (1, 2, [2, 2])


class Held:
    """The one thread that writes is busy for the length of the block."""

    def __init__(self, database: Database) -> None:
        self._database, self._go, self._begun = database, threading.Event(), threading.Event()

    async def __aenter__(self) -> None:
        self._holding = asyncio.create_task(self._database.write(self._hold))
        await asyncio.to_thread(self._begun.wait)

    async def __aexit__(self, *_: object) -> None:
        self._go.set()
        await self._holding

    def _hold(self, _: Connection) -> None:
        self._begun.set()
        self._go.wait()


async def insert(database: Database, group: str) -> int:
    row = text("INSERT INTO groups (id, title) VALUES (:id, :id)")
    return await database.write(lambda connection: connection.execute(row, {"id": group}).rowcount)


def count(connection: Connection) -> int:
    return connection.execute(text("SELECT count(*) FROM groups")).scalar_one()


async def test_what_only_reads_cannot_write_to_sqlite(sqlite_database: str, clock: SetClock) -> None:
    database = await Database.open(sqlite_database, clock=clock)

    with pytest.raises(DatabaseNotWritable):
        await database.read(lambda connection: connection.execute(text("DELETE FROM turns")).rowcount)
    await database.close()


# What cannot be opened


@pytest.mark.parametrize(
    "url", ["", "parley.db", "mysql://u@h/db", "sqlite://", "sqlite:///:memory:", "postgresql://h"]
)
async def test_what_is_no_address_is_said_so(url: str, clock: SetClock) -> None:
    with pytest.raises(InvalidDatabaseUrl, match="is not a database address; use postgresql://"):
        await Database.open(url, clock=clock)


@pytest.mark.parametrize(
    "url", ["mysql://ann:hunter2@h/db", "postgresql://ann:hunter2@h:port/db", "no scheme ann:hunter2@h"]
)
async def test_a_wrong_address_is_named_without_its_password(url: str, clock: SetClock) -> None:
    with pytest.raises(InvalidDatabaseUrl) as caught:
        await Database.open(url, clock=clock)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_every_spelling_of_postgresql_means_asyncpg(scheme: str) -> None:
    url = parsed(f"{scheme}://ann:hunter2@db.example:6543/parley?sslmode=require")

    assert url.drivername == "postgresql+asyncpg"
    assert dict(url.query) == {"ssl": "require"}
    assert shown(url) == "postgresql://db.example:6543/parley"


def test_a_path_of_any_kind_makes_an_address(tmp_path: Path) -> None:
    file = tmp_path / "ä folder #1?%" / "parley.db"

    assert make_url(sqlite_url(file)).database == str(file)


async def test_an_unreachable_server_is_named_with_what_to_check_and_without_password(clock: SetClock) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

        with pytest.raises(DatabaseUnavailable) as caught:
            await Database.open(f"postgresql://ann:hunter2@127.0.0.1:{port}/parley", clock=clock)

    assert f"postgresql://127.0.0.1:{port}/parley is not available" in str(caught.value)
    assert "check that it runs" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_a_host_that_does_not_exist_is_unavailable(clock: SetClock) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"postgresql://no-such-host\.invalid:5432/parley"):
        await Database.open("postgresql://ann@no-such-host.invalid/parley", clock=clock)


@pytest.mark.servers
async def test_a_database_that_the_server_does_not_have_is_unavailable(postgres_url: str, clock: SetClock) -> None:
    url = make_url(postgres_url).set(drivername="postgresql", database="no_such_database")

    with pytest.raises(DatabaseUnavailable, match="no_such_database"):
        await Database.open(url.render_as_string(hide_password=False), clock=clock)


async def test_a_home_that_cannot_be_made_is_said_so(tmp_path: Path, clock: SetClock) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "parley.db"

    with pytest.raises(DatabaseNotWritable, match=r"cannot be written .*; check the rights and the disk"):
        await Database.open(sqlite_url(home), clock=clock)


async def test_a_folder_in_place_of_the_file_is_said_so(tmp_path: Path, clock: SetClock) -> None:
    with pytest.raises(DatabaseNotWritable):
        await Database.open(sqlite_url(tmp_path), clock=clock)


async def test_a_file_that_is_no_database_is_said_so_and_left_alone(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    file.write_text("these are my notes\n" * 100)

    with pytest.raises(DatabaseDamaged, match="restore it from a backup"):
        await Database.open(sqlite_url(file), clock=clock)

    assert file.read_text().startswith("these are my notes")


async def test_a_database_that_others_hold_for_too_long_is_busy(tmp_path: Path, clock: SetClock) -> None:
    file = tmp_path / "parley.db"
    database = await Database.open(sqlite_url(file), clock=clock)
    impatient = text("PRAGMA busy_timeout = 10")  # ms, instead of ten seconds
    await database.write(lambda connection: connection.execute(impatient).all())
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await database.answers()  # readers do not mind

        with pytest.raises(DatabaseBusy, match="check what else uses it"):
            await LocalGroups(database).create("g", "Group", by="operator")
    assert await LocalGroups(database).create("g", "Group", by="operator")
    await database.close()
