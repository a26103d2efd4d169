"""Databases with the tables and rows of an earlier version, on either engine."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, MetaData, Table, create_engine, func, insert, select, text
from sqlalchemy.ext.asyncio import create_async_engine

from storage.sql.backup_format import BackupReader, RowValues, TableStart, decode_row
from storage.sql.database_url import parse_database_url
from storage.sql.migrations.upgrade import run_migrations
from storage.sql.tables import restored_type_of
from tests.bot.upgrades.record_rows import ROWS

T = TypeVar("T")


def list_recorded_revisions() -> list[str]:
    return sorted(path.stem for path in ROWS.glob("*.jsonl"))


async def run_on(url: str, work: Callable[[Connection], T]) -> T:
    """Run `work` in a transaction of a process of its own, so to speak: with another engine than Parley's."""
    parsed_url = parse_database_url(url)
    if parsed_url.drivername != "sqlite":
        engine = create_async_engine(parsed_url)
        try:
            async with engine.begin() as connection:
                return await connection.run_sync(work)
        finally:
            await engine.dispose()

    def run_in_thread() -> T:
        file_engine = create_engine(parsed_url, connect_args={"timeout": 60})
        try:
            with file_engine.begin() as connection:
                return work(connection)
        finally:
            file_engine.dispose()

    return await asyncio.to_thread(run_in_thread)


async def create_earlier_database(url: str, revision: str) -> dict[str, list[RowValues]]:
    """Creates the tables of the revision with the rows that its version wrote; returns these by table."""
    parsed_url = parse_database_url(url)
    if parsed_url.drivername == "sqlite":
        await asyncio.to_thread(Path(parsed_url.database or "").parent.mkdir, parents=True, exist_ok=True)
    return await run_on(url, lambda connection: _create_tables_with_rows(connection, revision))


def _create_tables_with_rows(connection: Connection, revision: str) -> dict[str, list[RowValues]]:
    run_migrations(connection, until=revision)
    tables = reflect_tables(connection)
    rows = read_rows(revision, tables)
    for name, table in tables.items():
        if rows.get(name):
            connection.execute(insert(table), rows[name])
    if connection.dialect.name == "postgresql":
        _continue_numbering(connection, tables)
    return rows


def reflect_tables(connection: Connection) -> dict[str, Table]:
    """The tables that hold rows of Parley, each after those to which it refers."""
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: name not in ("alembic_version", "write_checks"))
    for table in metadata.tables.values():
        for column in table.columns:
            column.type = restored_type_of(column.type)
    return {table.name: table for table in metadata.sorted_tables}


def read_recorded_values(revision: str) -> dict[str, list[RowValues]]:
    """The rows as they were recorded, by table: times and the like are texts."""
    rows, columns, table = dict[str, list[RowValues]](), tuple[str, ...](), ""
    for line in _open_rows(revision).read_tables():
        if isinstance(line, TableStart):
            table, columns = line.table, line.columns
            rows[table] = []
        else:
            rows[table].append(dict(zip(columns, line, strict=True)))
    return rows


def read_rows(revision: str, tables: dict[str, Table]) -> dict[str, list[RowValues]]:
    rows, start = dict[str, list[RowValues]](), TableStart(table="", columns=())
    for line in _open_rows(revision).read_tables():
        if isinstance(line, TableStart):
            start = line
            rows[start.table] = []
        else:
            rows[start.table].append(decode_row(tables[start.table], start.columns, line))
    return rows


def _open_rows(revision: str) -> BackupReader:
    path = ROWS / f"{revision}.jsonl"
    reader = BackupReader(path, iter(path.read_bytes().splitlines(keepends=True)))
    assert reader.read_header().revision == revision
    return reader


def _continue_numbering(connection: Connection, tables: dict[str, Table]) -> None:
    for table in tables.values():
        key = next(iter(table.primary_key))
        find_sequence = select(func.pg_get_serial_sequence(table.name, key.name))
        sequence = connection.execute(find_sequence).scalar()
        last = connection.execute(select(func.max(key))).scalar()
        if sequence is not None and last is not None:
            connection.execute(text("SELECT setval(:sequence, :last)"), {"sequence": sequence, "last": last})
