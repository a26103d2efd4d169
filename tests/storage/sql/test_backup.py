"""A backup holds every row of one state of the database, and restores into an empty database of either engine."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    insert,
    inspect,
    select,
    text,
)
from sqlmodel import AutoString

from storage.search.ids import BucketId, Generation
from storage.sql.backup import list_stored_tables, restore_backup, write_backup
from storage.sql.backup_format import BackupHeader, BackupWriter, create_backup_file
from storage.sql.database import SqlDatabase
from storage.sql.database_url import parse_database_url, sqlite_url_for
from storage.sql.errors import BackupDamaged, BackupRefused
from storage.sql.group_commit import AcceptedTurn
from storage.sql.health_store import HealthStore, RecordedBucket
from storage.sql.migrations import HEAD
from storage.sql.migrations.upgrade import list_pending_revisions, read_current_revision, run_migrations
from storage.sql.stores.grants import LocalGroupStore
from storage.sql.stores.inbox import TurnInbox
from storage.sql.tables import UtcTime, restored_type_of
from tests.contracts.sql.databases import SetClock
from tests.storage.sql.test_killed_worker import a_turn

REVISIONS = [revision.number for revision in list_pending_revisions(None)]
_ROWS_PER_TABLE = 3
_AWKWARD_TEXT = "Grüße 🚢 \x00 \ud83d 'quoted' \\n"  # in JSON both engines hold it


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def new_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url_for(tmp_path / "new" / "parley.db")
    return request.getfixturevalue("second_postgres_database")


@pytest.fixture
async def new_database(new_database_url: str, clock: SetClock) -> AsyncIterator[SqlDatabase]:
    """An empty database, beside the one of `database`."""
    opened = await SqlDatabase.open(new_database_url, clock=clock)
    yield opened
    await opened.close()


def value_for(table: Table, column: Column[Any], number: int) -> object:
    """A value that differs in each row, and is the same for a column and the columns that refer to it."""
    for foreign_key in column.foreign_keys:
        return value_for(foreign_key.column.table, foreign_key.column, number)
    match column.type:
        case UtcTime():
            return datetime(2031, 5, 1, 12, 30, 59, 123_456, tzinfo=UTC) + timedelta(days=number)
        case LargeBinary():
            return bytes(range(256)) * number
        case Boolean():
            return bool(number % 2)
        case Integer():
            return number
        case Float():
            return number + 0.1
        case String() | AutoString():
            return f"{table.name}-{column.name}-{number}"
        case _:
            return None if column.nullable and number == 1 else {"text": _AWKWARD_TEXT, "parts": [number, None, 1.5]}


def list_partial_files(folder: Path) -> list[Path]:
    return list(folder.glob(".*"))


def fill_tables(connection: Connection, tables: Sequence[Table] | None = None) -> None:
    for table in list_stored_tables() if tables is None else tables:
        rows = [
            {column.name: value_for(table, column, number) for column in table.columns}
            for number in range(1, _ROWS_PER_TABLE + 1)
        ]
        connection.execute(insert(table), rows)


def read_tables(connection: Connection) -> dict[str, Sequence[tuple[Any, ...]]]:
    return {
        table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
        for table in list_stored_tables()
    }


async def test_every_row_of_every_table_is_restored_into_either_engine(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path
) -> None:
    await database.run_write(fill_tables)
    file = tmp_path / "parley.backup"

    written = await write_backup(database, file, {"orders.schema.yaml": "name: orders"})
    restored = await restore_backup(new_database, file)

    rows = await database.run_read(read_tables)
    assert await new_database.run_read(read_tables) == rows
    assert {len(table_rows) for table_rows in rows.values()} == {_ROWS_PER_TABLE}
    assert restored.row_counts == written.row_counts == dict.fromkeys(rows, _ROWS_PER_TABLE)
    assert restored.header.files == {"orders.schema.yaml": "name: orders"}
    assert file.stat().st_mode & 0o777 == 0o600


async def test_no_table_is_left_out_but_that_of_readiness_checks(database: SqlDatabase) -> None:
    names = await database.run_read(lambda connection: inspect(connection).get_table_names())

    assert set(names) - {table.name for table in list_stored_tables()} == {"alembic_version", "write_checks"}


async def test_new_turns_come_after_the_restored_ones(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path, clock: SetClock
) -> None:
    for number in range(5):
        await TurnInbox(database).accept_turn(a_turn(number * 4))  # of one conversation
    await write_backup(database, tmp_path / "b", {})
    await restore_backup(new_database, tmp_path / "b")
    inbox = TurnInbox(new_database)

    again, later = await inbox.accept_turn(a_turn(4)), await inbox.accept_turn(a_turn(40))
    claimed_messages: list[str] = []
    while claimed := await inbox.claim_due_turns("worker", timedelta(seconds=30)):
        claimed_messages += [entry.turn.message_id for entry in claimed]
        assert await inbox.finish_turn(claimed[0], {})

    assert not isinstance(again, AcceptedTurn)
    assert isinstance(later, AcceptedTurn)
    assert claimed_messages == [f"message-{number}" for number in (0, 4, 8, 12, 16, 40)]


async def test_a_turn_that_was_not_finished_looks_for_the_message_that_may_have_been_posted_since(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path
) -> None:
    """A first claim does not look, since nothing can have been posted before."""
    inbox = TurnInbox(database)
    for number in range(2):
        await inbox.accept_turn(a_turn(number))
    [running] = await inbox.claim_due_turns("worker", timedelta(seconds=30), limit=1)
    await inbox.finish_turn(running, {})
    await write_backup(database, tmp_path / "b", {})
    await restore_backup(new_database, tmp_path / "b")

    [claimed] = await TurnInbox(new_database).claim_due_turns("worker", timedelta(seconds=30))

    assert claimed.turn.message_id == "message-1"
    assert claimed.fence == 2


async def test_a_database_that_is_open_is_told_from_one_that_is_not(new_database_url: str, clock: SetClock) -> None:
    before = await SqlDatabase.is_open_elsewhere(new_database_url, clock=clock)
    opened = await SqlDatabase.open(new_database_url, clock=clock)
    while_open = await SqlDatabase.is_open_elsewhere(new_database_url, clock=clock)
    await opened.close()

    assert (before, while_open) == (False, True)
    async with asyncio.timeout(30):
        while await SqlDatabase.is_open_elsewhere(new_database_url, clock=clock):  # noqa: ASYNC110 - the server
            await asyncio.sleep(0.05)


async def test_a_backup_holds_one_state_while_others_write(database: SqlDatabase, tmp_path: Path) -> None:
    """Each transaction writes a group and its member, in two tables that a backup reads one after the other."""

    def insert_group_and_member(number: int, connection: Connection) -> None:
        connection.execute(text("INSERT INTO groups (id, title) VALUES (:id, '\"G\"')"), {"id": f"g{number}"})
        statement = text("INSERT INTO members (\"group\", person) VALUES (:id, 'local:ann')")
        connection.execute(statement, {"id": f"g{number}"})

    async def write_until_cancelled() -> None:
        number = 0
        while True:
            number += 1
            await database.run_write(lambda connection, number=number: insert_group_and_member(number, connection))

    writer = asyncio.create_task(write_until_cancelled())
    counts: list[tuple[int, int]] = []
    while len({group_count for group_count, _ in counts}) < 5:
        summary = await write_backup(database, tmp_path / f"backup-{len(counts)}", {})
        counts.append((summary.row_counts["groups"], summary.row_counts["members"]))
    writer.cancel()
    await asyncio.wait({writer})

    assert [group_count for group_count, _ in counts] == [member_count for _, member_count in counts]


async def test_a_database_with_rows_is_not_restored_into(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path
) -> None:
    await write_backup(database, tmp_path / "b", {})
    await LocalGroupStore(new_database).create_group("g", "Kept", by="operator")

    with pytest.raises(BackupRefused, match="only be restored into an empty database"):
        await restore_backup(new_database, tmp_path / "b")

    assert [group.title for group in await LocalGroupStore(new_database).list_groups()] == ["Kept"]


async def test_the_record_of_an_index_that_was_found_is_replaced(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path
) -> None:
    """A process that starts on an empty database, beside an OpenSearch with documents, records its buckets."""
    ours = RecordedBucket(bucket=BucketId("receipts"), documents=3, generation=Generation("g1"), field_schema={})
    theirs = RecordedBucket(bucket=BucketId("letters"), documents=5, generation=Generation("g2"), field_schema={})
    await HealthStore(database).record_bucket(ours)
    await HealthStore(new_database).record_bucket(theirs)
    await write_backup(database, tmp_path / "backup", {})

    await restore_backup(new_database, tmp_path / "backup")

    assert await HealthStore(new_database).load_recorded_buckets() == {"receipts": ours}


async def test_a_refused_backup_leaves_the_record_of_the_index(new_database: SqlDatabase, tmp_path: Path) -> None:
    recorded = RecordedBucket(bucket=BucketId("letters"), documents=5, generation=Generation("g2"), field_schema={})
    await HealthStore(new_database).record_bucket(recorded)
    await LocalGroupStore(new_database).create_group("buyers", "", by="operator")
    await write_backup(new_database, tmp_path / "backup", {})

    with pytest.raises(BackupRefused):
        await restore_backup(new_database, tmp_path / "backup")

    assert await HealthStore(new_database).load_recorded_buckets() == {"letters": recorded}


async def test_a_file_that_cannot_be_opened_is_named_and_not_the_database(
    database: SqlDatabase, tmp_path: Path
) -> None:
    with pytest.raises(BackupRefused, match="missing: it cannot be read"):
        await restore_backup(database, tmp_path / "missing")
    with pytest.raises(BackupRefused, match="new: it cannot be written"):
        await write_backup(database, tmp_path / "missing" / "new", {})


async def test_an_existing_file_is_not_overwritten(database: SqlDatabase, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")

    with pytest.raises(BackupRefused, match="it exists already"):
        await write_backup(database, file, {})

    assert file.read_text() == "mine"
    assert list_partial_files(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"revision": "9001"}, "a later Parley has written it"),
        ({"version": 2}, "its format is version 2"),
    ],
)
async def test_a_backup_of_another_version_is_refused(
    change: dict[str, object], message: str, new_database: SqlDatabase, tmp_path: Path
) -> None:
    await write_backup(new_database, tmp_path / "b", {})
    header, *lines = gzip.decompress((tmp_path / "b").read_bytes()).splitlines()
    changed_header = json.dumps(json.loads(header) | change).encode()
    (tmp_path / "b").write_bytes(gzip.compress(b"\n".join([changed_header, *lines])))

    with pytest.raises(BackupRefused, match=message):
        await restore_backup(new_database, tmp_path / "b")


def fill_tables_of_revision(connection: Connection, revision: str, path: Path) -> None:
    """Creates the tables of an earlier revision with rows, and the backup that its Parley would have written."""
    run_migrations(connection, until=revision)
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name not in ("alembic_version", "write_checks"))
    for table in metadata.sorted_tables:
        for column in table.columns:
            column.type = restored_type_of(column.type)
    fill_tables(connection, metadata.sorted_tables)
    with create_backup_file(path) as file:
        writer = BackupWriter(file)
        writer.write_header(BackupHeader(revision=revision, engine="sqlite", created_at="2031-05-01", files={}))
        for table in metadata.sorted_tables:
            writer.start_table(table)
            for row in connection.execute(select(table)):
                writer.write_row(tuple(row))
        writer.write_end()


@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[len(REVISIONS) // 2], REVISIONS[-2]])
async def test_a_backup_of_an_earlier_revision_is_restored_as_its_database_is_upgraded(
    revision: str, new_database: SqlDatabase, tmp_path: Path, clock: SetClock
) -> None:
    url, file = sqlite_url_for(tmp_path / "earlier.db"), tmp_path / "earlier.backup"
    engine = create_engine(parse_database_url(url))
    with engine.begin() as connection:
        fill_tables_of_revision(connection, revision, file)
    engine.dispose()

    await restore_backup(new_database, file)

    upgraded = await SqlDatabase.open(url, clock=clock)
    rows = await upgraded.run_read(read_tables)
    await upgraded.close()
    assert await new_database.run_read(read_tables) == rows
    assert len(rows["turns"]) == _ROWS_PER_TABLE
    assert await new_database.run_read(read_current_revision) == HEAD


async def test_a_backup_of_an_earlier_revision_restores_nothing_if_it_is_damaged(
    new_database: SqlDatabase, tmp_path: Path
) -> None:
    await write_backup(new_database, tmp_path / "b", {})
    header, *lines = gzip.decompress((tmp_path / "b").read_bytes()).splitlines()
    changed_header = json.dumps(json.loads(header) | {"revision": REVISIONS[0]}).encode()
    (tmp_path / "b").write_bytes(gzip.compress(b"\n".join([changed_header, *lines])))

    with pytest.raises(BackupDamaged, match="is unknown or has other columns"):
        await restore_backup(new_database, tmp_path / "b")

    assert await new_database.run_read(read_current_revision) == HEAD
    assert set(map(len, (await new_database.run_read(read_tables)).values())) == {0}


async def test_a_file_that_was_cut_or_changed_restores_nothing(
    database: SqlDatabase, new_database: SqlDatabase, tmp_path: Path
) -> None:
    await database.run_write(fill_tables)
    await write_backup(database, tmp_path / "b", {})
    content = (tmp_path / "b").read_bytes()
    lines = gzip.decompress(content).splitlines(keepends=True)
    flipped = (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 255]) + content[len(content) // 2 + 1 :]
    )
    damaged_files = [
        content[:-9],
        content[:-4],
        content[: len(content) // 2],
        flipped,
        b"",
        b"these are my notes",
        gzip.compress(b"these are my notes"),
        gzip.compress(b"".join(lines[:-1])),  # cut between two lines
        gzip.compress(b"".join(lines[:5] + lines[6:])),  # a row is missing
        gzip.compress(b"".join([*lines[:2], b"[1]\n", *lines[2:]])),
        gzip.compress(b"".join([*lines[:1], b"[1]\n", *lines[1:]])),
        gzip.compress(b"".join([*lines[:1], b'{"table":"unknown","columns":[]}\n', *lines[1:]])),
    ]

    for damaged in damaged_files:
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(BackupDamaged, match="nothing was restored, use another backup"):
            await restore_backup(new_database, tmp_path / "damaged")

    assert set(map(len, (await new_database.run_read(read_tables)).values())) == {0}
    assert (await restore_backup(new_database, tmp_path / "b")).header.revision == HEAD


@pytest.mark.servers
async def test_a_value_that_postgresql_cannot_hold_is_named_by_its_table(
    sqlite_database: str, postgres_database: str, tmp_path: Path, clock: SetClock
) -> None:
    file_database = await SqlDatabase.open(sqlite_database, clock=clock)
    server_database = await SqlDatabase.open(postgres_database, clock=clock)
    insert_group = text("INSERT INTO groups (id, title) VALUES (:id, '\"G\"')")
    await file_database.run_write(lambda connection: connection.execute(insert_group, {"id": "a\x00b"}).rowcount)
    await write_backup(file_database, tmp_path / "b", {})

    with pytest.raises(BackupRefused, match="groups: the database at the new database cannot hold a value"):
        await restore_backup(server_database, tmp_path / "b")

    assert await LocalGroupStore(server_database).list_groups() == []
    await file_database.close()
    await server_database.close()
