"""One database, SQLite or PostgreSQL: opened, brought up to date, and worked on in transactions.

A transaction is a function of a connection. SQLite runs the whole of it in one trip to a thread, since a trip for each
statement costs many times what the statement does; PostgreSQL runs it beside the event loop, which its driver waits on.
On SQLite, those that wait to write reach the disk together: its time for one is its time for all of them.
"""

import asyncio
import json
import secrets
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
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
_POLL_S: Final = 0.001  # between two looks whether another process has ended its transaction
_TOGETHER: Final = 64
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

    async def run(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    """To be run in a transaction."""

    work: Callable[[Connection], Any]
    lightly: bool
    answer: Future[Any]


class _InThreads:
    """On SQLite: in as many threads as there are connections. What is cancelled while it runs ends nevertheless."""

    def __init__(self, engine: Engine, threads: int, most: int = 1) -> None:
        """`most`: so many of those that wait share a transaction."""
        self._engine, self._threads = engine, ThreadPoolExecutor(threads, thread_name_prefix="parley-sql")
        self._idle: deque[Connection] = deque()  # kept out of the engine's pool, which is slow to lend
        self._waiting: deque[_Waiting] = deque()
        self._most = most

    async def run(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T:
        running: Future[T] = Future()
        self._waiting.append(_Waiting(work, lightly, running))
        batch: list[_Waiting] = []
        self._threads.submit(self._together, batch).add_done_callback(partial(self._settle, batch))
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

    def _together(self, batch: list[_Waiting]) -> list[Any]:
        """What became of those that wait, which come into `batch`. None of them, where an earlier call took them."""
        while len(batch) < self._most and (one := self._longest_waiting()) is not None:
            if one.answer.set_running_or_notify_cancel():
                batch.append(one)
        return self._transacted(batch) if batch else []

    def _longest_waiting(self) -> _Waiting | None:
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _settle(self, batch: Sequence[_Waiting], done: Future[list[Any]]) -> None:
        """Where one of several fails, nothing is done yet, and each is on its own."""
        if done.cancelled():
            return
        if (failure := done.exception()) is None:
            for one, answer in zip(batch, done.result(), strict=True):
                one.answer.set_result(answer)
        elif len(batch) == 1:
            batch[0].answer.set_exception(failure)
        else:
            for one in batch:
                self._repeat(one)

    def _repeat(self, one: _Waiting) -> None:
        try:
            alone = self._threads.submit(self._transacted, [one])
        except RuntimeError as exc:  # it is being closed
            one.answer.set_exception(exc)
        else:
            alone.add_done_callback(partial(self._settle, [one]))

    def _transacted(self, batch: Sequence[_Waiting]) -> list[Any]:
        connection = self._connection()
        try:
            _flush(connection, all(one.lightly for one in batch))
            with connection.begin():
                return [one.work(connection) for one in batch]
        finally:
            self._idle.append(connection)

    def _connection(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.connect()

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        for one in self._waiting:
            one.answer.cancel()
        for connection in self._idle:
            connection.close()
        self._engine.dispose()


class _BesideTheLoop:
    """On PostgreSQL."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def run(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T:
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
        _prepare_sqlite(writer, _begin_to_write)
        _prepare_sqlite(reader, _begin_to_read, "PRAGMA query_only = ON")
        return cls(
            where=shown(url),
            clock=clock,
            new_id=new_id,
            is_file=True,
            _writer=_InThreads(writer, 1, _TOGETHER),
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
            url,
            connect_args=arguments,
            pool_pre_ping=True,
            pool_size=10,
            max_overflow=10,
            pool_use_lifo=True,  # the one that was used last has prepared what is asked most
            **_ENGINE,
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

    async def write(self, work: Callable[[Connection], T], *, lightly: bool = False) -> T:
        """What `work` returns, committed, to the disk, when this returns; undone when `work` raises.

        `work` may run in another thread: it takes along what it needs and touches nothing else. `lightly`: it outlives
        any kill, and on SQLite a power cut only together with the next that is not written so; for what is merely done
        again otherwise.
        """
        with self._translating():
            return await self._writer.run(work, lightly=lightly)

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


def _prepare_sqlite(engine: Engine, begin: Callable[[DBAPIConnection], None], *pragmas: str) -> None:
    """The driver's own idea of transactions is switched off: `begin` begins each."""

    def connected(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in (*_SQLITE_PRAGMAS, *pragmas):
            connection.cursor().execute(pragma)

    def begun(connection: Connection) -> None:
        if (driver := connection.connection.dbapi_connection) is not None:
            begin(driver)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _flush(connection: Connection, lightly: bool) -> None:
    """Whether the next transaction waits for the disk, https://sqlite.org/pragma.html#pragma_synchronous."""
    if connection.info.get("lightly", False) != lightly and (driver := connection.connection.dbapi_connection):
        driver.cursor().execute(f"PRAGMA synchronous = {'NORMAL' if lightly else 'FULL'}")
        connection.info["lightly"] = lightly


def _begin_to_read(driver: DBAPIConnection) -> None:
    driver.cursor().execute("BEGIN")


def _begin_to_write(driver: DBAPIConnection) -> None:
    """SQLite itself looks for the lock less and less often, until a tenth of a second lies between two looks."""
    cursor = driver.cursor()
    patience_ms = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
    deadline = time.monotonic() + patience_ms / 1000
    cursor.execute("PRAGMA busy_timeout = 0")
    try:
        while not _has_begun(cursor, is_last=time.monotonic() > deadline):
            time.sleep(_POLL_S)
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {patience_ms}")


def _has_begun(cursor: DBAPICursor, *, is_last: bool) -> bool:
    """False while another process writes; raises that where it is the last attempt."""
    try:
        cursor.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as exc:
        if is_last or exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


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
