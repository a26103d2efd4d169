"""Writes a backup of a database, and restores it into an empty one, of either engine.

The file holds rows, not pages, so a backup of SQLite restores into PostgreSQL and the other way round. A backup reads
one state of the database, while others go on writing; a restore writes all rows in one transaction. The backup of an
earlier revision is restored into its own tables, which are upgraded with their rows.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Connection,
    LargeBinary,
    MetaData,
    Table,
    delete,
    func,
    insert,
    inspect,
    null,
    select,
    text,
    update,
)

from storage.sql import administration, stores
from storage.sql.backup_format import (
    BackupHeader,
    BackupReader,
    BackupWriter,
    RowValues,
    TableStart,
    create_backup_file,
    decode_row,
    open_backup_file,
)
from storage.sql.database import SqlDatabase
from storage.sql.error_translation import LIBRARY_ERRORS, translate_library_error
from storage.sql.errors import BackupDamaged, BackupRefused
from storage.sql.health_store import recorded_buckets
from storage.sql.migrations import HEAD
from storage.sql.migrations.upgrade import list_pending_revisions, run_migrations
from storage.sql.stores.turns import turns
from storage.sql.tables import TableRow, restored_type_of

_EXCLUDED_TABLES: Final = frozenset({"write_checks"})  # what readiness checks write
_BATCH_ROWS: Final = 200  # rows in memory; of a table with contents of files, a single one


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSummary:
    """`row_counts` by table. `files`: texts that were stored beside the database, by name."""

    header: BackupHeader
    row_counts: Mapping[str, int]

    @property
    def row_count(self) -> int:
        return sum(self.row_counts.values())


def list_stored_tables() -> list[Table]:
    """Returns all tables that a backup holds, each after the tables to which its rows refer."""
    for folder in (stores, administration):
        for module in pkgutil.iter_modules(folder.__path__):  # each store declares its tables
            importlib.import_module(f"{folder.__name__}.{module.name}")
    for name in ("health_store", "saved_search_store", "web_page_store"):
        importlib.import_module(f"storage.sql.{name}")
    return [table for table in TableRow.metadata.sorted_tables if table.name not in _EXCLUDED_TABLES]


async def write_backup(database: SqlDatabase, path: Path, files: Mapping[str, str]) -> BackupSummary:
    """Write the database and the `files` into a new file at `path`, mode 0600, which is complete when it appears.

    Raises `BackupRefused` if the file exists, `OSError`, and what the database raises.
    """
    header = BackupHeader(
        revision=HEAD,
        engine="sqlite" if database.is_file else "postgresql",
        created_at=database.utc_now().isoformat(),
        files=dict(files),
    )
    return await database.run_snapshot(partial(_write_tables, path, header))


def _write_tables(path: Path, header: BackupHeader, connection: Connection) -> BackupSummary:
    with create_backup_file(path) as file:
        writer = BackupWriter(file)
        writer.write_header(header)
        row_counts = {table.name: _write_rows(writer, connection, table) for table in list_stored_tables()}
        writer.write_end()
    return BackupSummary(header=header, row_counts=row_counts)


def _write_rows(writer: BackupWriter, connection: Connection, table: Table) -> int:
    writer.start_table(table)
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_batch_size_of(table))
    row_count = 0
    with connection.execute(query) as rows:
        for row in rows:
            writer.write_row(tuple(row))
            row_count += 1
    return row_count


async def restore_backup(database: SqlDatabase, path: Path) -> BackupSummary:
    """Restore the backup into the database, whose tables have to be empty, in one transaction. The record of what is in
    the index may have rows, which those of the backup replace: a process that has found an index wrote them by itself.

    Turns that were not finished are answered again; if the chat has their messages by now, these are used again.

    Raises `BackupRefused` if the tables are not empty, or if those of the backup are of a later revision,
    `BackupDamaged`, `OSError`, and what the database raises. Nothing is restored then.
    """
    return await database.run_unlimited(partial(_restore_tables, database, path))


def _restore_tables(database: SqlDatabase, path: Path, connection: Connection) -> BackupSummary:
    database.lock_schema(connection)
    tables = newest_tables = list_stored_tables()
    if not database.is_file:  # until the commit, writers wait; what they write then is numbered after the rows
        names = ", ".join(f'"{table.name}"' for table in tables)
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    with open_backup_file(path) as reader:
        header = reader.read_header()
        _require_known_revision(path, header)
        connection.execute(delete(recorded_buckets))
        _require_empty_tables(path, database.location, connection, tables)
        if header.revision != HEAD:
            tables = _create_tables_of_revision(connection, header.revision)
        row_counts = dict.fromkeys((table.name for table in tables), 0)
        for table, batch in _read_batches(path, reader, {table.name: table for table in tables}):
            _insert_rows(path, connection, table, batch)
            row_counts[table.name] += len(batch)
    if header.revision != HEAD:
        run_migrations(connection)
    if not database.is_file:
        _continue_numbering(connection, newest_tables)
    connection.execute(_unfinished_turns_update)
    return BackupSummary(header=header, row_counts=row_counts)


# Whoever had a turn may have posted its message after the backup. From the second claim on, that message is looked for.
_unfinished_turns_update: Final = (
    update(turns).where(turns.c.finished_at.is_(None)).values(fence=turns.c.fence + 1, worker=null())
)


def _create_tables_of_revision(connection: Connection, revision: str) -> list[Table]:
    """Replaces all tables, which are empty, by those of an earlier revision, and returns these."""
    TableRow.metadata.drop_all(connection)
    connection.execute(text("DROP TABLE alembic_version"))
    other_tables = inspect(connection).get_table_names()  # a schema of PostgreSQL may hold more than Parley's
    run_migrations(connection, until=revision)
    names = set(inspect(connection).get_table_names()) - {*other_tables, *_EXCLUDED_TABLES, "alembic_version"}
    metadata = MetaData()
    metadata.reflect(connection, only=sorted(names))
    for table in metadata.tables.values():
        for column in table.columns:
            column.type = restored_type_of(column.type)
    return metadata.sorted_tables


def _require_known_revision(path: Path, header: BackupHeader) -> None:
    if header.revision > HEAD:
        raise BackupRefused(
            path, f"a later Parley has written it (revision {header.revision}; this one knows {HEAD}); update Parley"
        )
    if header.revision not in {revision.number for revision in list_pending_revisions(None)}:
        raise BackupDamaged(path, f"its revision {header.revision} is unknown")


def _require_empty_tables(path: Path, location: str, connection: Connection, tables: Sequence[Table]) -> None:
    filled = [table.name for table in tables if connection.execute(select(select(table).exists())).scalar_one()]
    if filled:
        raise BackupRefused(
            path, f"it can only be restored into an empty database, and {location} has rows in {', '.join(filled)}"
        )


def _read_batches(
    path: Path, reader: BackupReader, tables: Mapping[str, Table]
) -> Iterator[tuple[Table, list[RowValues]]]:
    table, columns, batch = None, tuple[str, ...](), list[RowValues]()
    for line in reader.read_tables():
        if isinstance(line, TableStart):
            if table is not None and batch:
                yield table, batch
            table, columns, batch = _find_table(path, tables, line), line.columns, []
            continue
        if table is None or len(line) != len(columns):
            raise BackupDamaged(path, "a row fits no table")
        batch.append(_decode_row(path, table, columns, line))
        if len(batch) == _batch_size_of(table):
            yield table, batch
            batch = []
    if table is not None and batch:
        yield table, batch


def _find_table(path: Path, tables: Mapping[str, Table], start: TableStart) -> Table:
    table = tables.get(start.table)
    if table is None or set(start.columns) != set(table.columns.keys()):
        raise BackupDamaged(path, f"the table {start.table} is unknown or has other columns")
    return table


def _decode_row(path: Path, table: Table, columns: Sequence[str], row: Sequence[Any]) -> RowValues:
    try:
        return decode_row(table, columns, row)
    except (TypeError, ValueError) as exc:
        raise BackupDamaged(path, f"a value of {table.name} cannot be read: {exc}") from exc


def _insert_rows(path: Path, connection: Connection, table: Table, batch: list[RowValues]) -> None:
    try:
        connection.execute(insert(table), batch)
    except LIBRARY_ERRORS as exc:
        raise BackupRefused(path, f"{table.name}: {translate_library_error(exc, 'the new database')}") from exc


def _continue_numbering(connection: Connection, tables: Sequence[Table]) -> None:
    """Number the next rows after the restored ones, which SQLite does by itself."""
    for table in tables:
        [*keys] = table.primary_key
        find_sequence = select(func.pg_get_serial_sequence(table.name, keys[0].name))
        if (sequence := connection.execute(find_sequence).scalar()) is None:
            continue
        if (last := connection.execute(select(func.max(keys[0]))).scalar()) is not None:
            connection.execute(text("SELECT setval(:sequence, :last)"), {"sequence": sequence, "last": last})


def _batch_size_of(table: Table) -> int:
    return 1 if any(isinstance(column.type, LargeBinary) for column in table.columns) else _BATCH_ROWS
