"""One database, SQLite or PostgreSQL: opened, brought up to date, and handed out as transactions."""

import asyncio
import json
import secrets
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import aiosqlite
from sqlalchemy import Connection, Table, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from storage.sql.address import parsed, shown
from storage.sql.errors import DatabaseBusy, DatabaseNotWritable
from storage.sql.migrations.upgrade import upgrade
from storage.sql.translate import LIBRARY_ERRORS, translated

_BUSY_S: Final = 10
_CONNECT_S: Final = 10
_STATEMENT_S: Final = 30
_SQLITE_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_S * 1000}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",  # what was acknowledged outlives a power cut
)
_MIGRATION_LOCK: Final = 0x5041524C4559  # "PARLEY"

_new_id: Final = partial(secrets.token_urlsafe, 16)
_json_text: Final = partial(json.dumps, allow_nan=False, separators=(",", ":"), default=dict)  # any Mapping will do

Object: TypeAlias = Mapping[str, Any]  # JSON of the caller's making: kept, given back, never looked into
Insert: TypeAlias = sqlite.Insert | postgresql.Insert


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Made by `open`; whoever opened it closes it. Every store takes one."""

    where: str  # for people: never a password
    clock: Callable[[], datetime]
    new_id: Callable[[], str]  # opaque, url-safe, unguessable
    _writer: AsyncEngine
    _reader: AsyncEngine

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str] = _new_id,
    ) -> "Database":
        """Open and bring up to date, under a lock: several processes may open one at the same time.

        `sqlite:///FILE` (made with its folder if missing) or `postgresql://…`. Raises `InvalidDatabaseUrl`,
        `DatabaseUnavailable`, `DatabaseNotWritable`, `DatabaseDamaged`, `DatabaseTooNew`.
        """
        address = parsed(url)
        database = cls._of_file(address, clock, new_id) if _is_file(address) else cls._of_server(address, clock, new_id)
        try:
            await database._prepare(address)
        except BaseException:
            await database.close()
            raise
        return database

    @classmethod
    def _of_file(cls, url: URL, clock: Callable[[], datetime], new_id: Callable[[], str]) -> "Database":
        """SQLite takes one writer at a time: a pool of one makes tasks wait in order instead of polling its lock."""
        options = {"max_overflow": 0, "pool_timeout": _STATEMENT_S}
        writer, reader = _engine(url, pool_size=1, **options), _engine(url, pool_size=3, **options)
        _prepare_sqlite(writer, "BEGIN IMMEDIATE")
        _prepare_sqlite(reader, "BEGIN", "PRAGMA query_only = ON")
        return cls(where=shown(url), clock=clock, new_id=new_id, _writer=writer, _reader=reader)

    @classmethod
    def _of_server(cls, url: URL, clock: Callable[[], datetime], new_id: Callable[[], str]) -> "Database":
        arguments = {
            "timeout": _CONNECT_S,
            "command_timeout": _STATEMENT_S,
            "server_settings": {"application_name": "parley"},
        }
        engine = _engine(url, connect_args=arguments, pool_pre_ping=True, pool_size=10, max_overflow=10)
        return cls(where=shown(url), clock=clock, new_id=new_id, _writer=engine, _reader=engine)

    async def _prepare(self, url: URL) -> None:
        if _is_file(url):
            await asyncio.to_thread(_make_file, Path(url.database or ""))
        async with self.reading() as connection:
            if await connection.run_sync(upgrade, self.where, check_only=True):
                return
        async with self.writing() as connection:
            if not _is_file(url):
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await connection.run_sync(upgrade, self.where)

    async def close(self) -> None:
        """Waits for nothing: transactions still open are rolled back."""
        for engine in {self._writer, self._reader}:
            await engine.dispose()

    def now(self) -> datetime:
        """The injected clock's time, aware, in UTC."""
        return self.clock().astimezone(UTC)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that only reads. Library exceptions leave it as the project's own."""
        with self._translating():
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that is committed, to the disk, when the block ends, and undone when it raises."""
        with self._translating():
            async with self._writer.begin() as connection:
                yield connection

    @contextmanager
    def _translating(self) -> Generator[None]:
        try:
            yield
        except LIBRARY_ERRORS as exc:
            raise translated(exc, self.where) from exc

    async def answers(self) -> None:
        """Raises `DatabaseUnavailable` and its like when it does not."""
        async with self.reading() as connection:
            await connection.execute(text("SELECT 1"))

    def insert(self, table: Table) -> Insert:
        """An insert that knows ON CONFLICT, which both databases have and the standard has not."""
        return sqlite.insert(table) if self.is_file else postgresql.insert(table)

    @property
    def is_file(self) -> bool:
        return self._writer.dialect.name == "sqlite"


def _is_file(url: URL) -> bool:
    return url.drivername.startswith("sqlite")


def _engine(url: URL, **options: Any) -> AsyncEngine:
    return create_async_engine(url, json_serializer=_json_text, hide_parameters=True, **options)


def _prepare_sqlite(engine: AsyncEngine, begin: str, *pragmas: str) -> None:
    """The driver's own idea of transactions is switched off: `begin` begins each."""

    def connected(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in (*_SQLITE_PRAGMAS, *pragmas):
            _run(connection, pragma)

    def begun(connection: Connection) -> None:
        if (driver := connection.connection.dbapi_connection) is not None:
            _run(driver, begin)

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)


def _run(connection: Any, statement: str) -> None:
    """In one trip to the driver's thread; a cursor would take three."""

    async def run(driver: aiosqlite.Connection) -> None:
        await driver.execute(statement)

    connection.run_async(run)


def _make_file(file: Path) -> None:
    """The folder, the file, and WAL, which stays with the file. Raises `DatabaseNotWritable`, `DatabaseDamaged`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise DatabaseNotWritable(str(file), exc.strerror or str(exc)) from exc
    deadline = time.monotonic() + _BUSY_S
    while not _has_wal(file):
        if time.monotonic() > deadline:
            raise DatabaseBusy(str(file), "others hold it")
        time.sleep(0.01)


def _has_wal(file: Path) -> bool:
    """False when another process is at the same: SQLite does not wait for the lock that the switch needs."""
    try:
        with closing(sqlite3.connect(file, timeout=_BUSY_S)) as connection:
            return connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    except sqlite3.Error as exc:
        error = translated(exc, str(file))
        if isinstance(error, DatabaseBusy):
            return False
        raise error from exc
