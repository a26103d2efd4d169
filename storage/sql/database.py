"""One database, SQLite or PostgreSQL: opened, brought up to date, and worked on in transactions.

A transaction is a function of a connection. SQLite runs the whole of it in one trip to a thread, since a trip for each
statement costs many times what the statement does; PostgreSQL runs it beside the event loop, which its driver waits on.
"""

import asyncio
import json
import secrets
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from storage.sql.address import parsed, shown
from storage.sql.errors import DatabaseBusy, DatabaseNotWritable
from storage.sql.migrations.upgrade import upgrade
from storage.sql.translate import LIBRARY_ERRORS, translated

_BUSY_S: Final = 10
_CONNECT_S: Final = 10
_STATEMENT_S: Final = 30
_WAIT_S: Final = 30  # for a thread of SQLite's
_READERS: Final = 3
_SQLITE_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_S * 1000}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",  # what was acknowledged outlives a power cut
)
_MIGRATION_LOCK: Final = 0x5041524C4559  # "PARLEY"

_new_id: Final = partial(secrets.token_urlsafe, 16)
_json_text: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=dict).encode  # any Mapping will do


def _json_read(text: str) -> Any:
    """What is no JSON reads as an empty object: whoever misses something in it fails alone, and not all that read
    along with it.
    """
    try:
        return json.loads(text)
    except ValueError:
        return {}


_ENGINE: Final = {"json_serializer": _json_text, "json_deserializer": _json_read, "hide_parameters": True}

Object: TypeAlias = Mapping[str, Any]  # JSON of the caller's making: kept, given back, never looked into
Insert: TypeAlias = sqlite.Insert | postgresql.Insert
T = TypeVar("T")


class _Transactions(Protocol):
    """Runs functions, each in a transaction of its own: committed when it returns, undone when it raises."""

    async def run(self, work: Callable[[Connection], T]) -> T: ...

    async def close(self) -> None: ...


class _InThreads:
    """On SQLite: in as many threads as there are connections. What is cancelled while it runs ends nevertheless."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine, self._threads = engine, ThreadPoolExecutor(threads, thread_name_prefix="parley-sql")
        self._idle: deque[Connection] = deque()  # kept out of the engine's pool, which is slow to lend

    async def run(self, work: Callable[[Connection], T]) -> T:
        running = self._threads.submit(self._transacted, work)
        too_long = asyncio.get_running_loop().call_later(_WAIT_S, running.cancel)  # changes nothing once it has begun
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise TimeoutError("no connection came free") from None
        finally:
            too_long.cancel()

    def _transacted(self, work: Callable[[Connection], T]) -> T:
        connection = self._connection()
        try:
            with connection.begin():
                return work(connection)
        finally:
            self._idle.append(connection)

    def _connection(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.connect()

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        for connection in self._idle:
            connection.close()
        self._engine.dispose()


class _BesideTheLoop:
    """On PostgreSQL."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def run(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        await self._engine.dispose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Made by `open`; whoever opened it closes it. Every store takes one."""

    where: str  # for people: never a password
    clock: Callable[[], datetime]
    new_id: Callable[[], str]  # opaque, url-safe, unguessable
    is_file: bool
    _writer: _Transactions
    _reader: _Transactions

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
        """SQLite takes one writer at a time: with one thread, tasks wait in order instead of polling its lock."""
        writer, reader = _file_engine(url, 1), _file_engine(url, _READERS)
        _prepare_sqlite(writer, "BEGIN IMMEDIATE")
        _prepare_sqlite(reader, "BEGIN", "PRAGMA query_only = ON")
        return cls(
            where=shown(url),
            clock=clock,
            new_id=new_id,
            is_file=True,
            _writer=_InThreads(writer, 1),
            _reader=_InThreads(reader, _READERS),
        )

    @classmethod
    def _of_server(cls, url: URL, clock: Callable[[], datetime], new_id: Callable[[], str]) -> "Database":
        arguments = {
            "timeout": _CONNECT_S,
            "command_timeout": _STATEMENT_S,
            "server_settings": {"application_name": "parley"},
        }
        engine = create_async_engine(
            url, connect_args=arguments, pool_pre_ping=True, pool_size=10, max_overflow=10, **_ENGINE
        )
        both = _BesideTheLoop(engine)
        return cls(where=shown(url), clock=clock, new_id=new_id, is_file=False, _writer=both, _reader=both)

    async def _prepare(self, url: URL) -> None:
        if _is_file(url):
            await asyncio.to_thread(_make_file, Path(url.database or ""))
        if await self.read(partial(upgrade, where=self.where, check_only=True)):
            return
        await self.write(self._upgraded)

    def _upgraded(self, connection: Connection) -> None:
        if not self.is_file:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        upgrade(connection, self.where)

    async def close(self) -> None:
        """What is under way on SQLite ends; what is still open on PostgreSQL is rolled back."""
        await self._writer.close()
        if self._reader is not self._writer:
            await self._reader.close()

    def now(self) -> datetime:
        """The injected clock's time, aware, in UTC."""
        return self.clock().astimezone(UTC)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, in a transaction that only reads. Library exceptions come out as the project's own."""
        with self._translating():
            return await self._reader.run(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, committed, to the disk, when this returns; undone when `work` raises.

        `work` may run in another thread: it takes along what it needs and touches nothing else.
        """
        with self._translating():
            return await self._writer.run(work)

    @contextmanager
    def _translating(self) -> Generator[None]:
        try:
            yield
        except LIBRARY_ERRORS as exc:
            raise translated(exc, self.where) from exc

    async def answers(self) -> None:
        """Raises `DatabaseUnavailable` and its like when it does not."""
        await self.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    def insert(self, table: Table) -> Insert:
        """An insert that knows ON CONFLICT, which both databases have and the standard has not."""
        return sqlite.insert(table) if self.is_file else postgresql.insert(table)


def _is_file(url: URL) -> bool:
    return url.drivername.startswith("sqlite")


def _file_engine(url: URL, connections: int) -> Engine:
    return create_engine(url, pool_size=connections, max_overflow=0, **_ENGINE)


def _prepare_sqlite(engine: Engine, begin: str, *pragmas: str) -> None:
    """The driver's own idea of transactions is switched off: `begin` begins each."""

    def connected(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in (*_SQLITE_PRAGMAS, *pragmas):
            connection.cursor().execute(pragma)

    def begun(connection: Connection) -> None:
        if (driver := connection.connection.dbapi_connection) is not None:
            driver.cursor().execute(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


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
