"""One database, SQLite or PostgreSQL: opens it, upgrades its schema, and runs transactions.

A transaction is a function of a connection. On SQLite the whole function runs in one call to a thread, because a thread
call per statement costs many times more than the statement. On PostgreSQL the function runs in a greenlet beside the
event loop, on which its driver waits. On SQLite all waiting writes share one transaction (group commit), because
syncing many writes to the disk takes as long as syncing one.
"""

import asyncio
import json
import secrets
import sqlite3
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.pool import ConnectionPoolEntry

from storage.sql.database_url import display_url, is_file_url, parse_database_url
from storage.sql.error_translation import LIBRARY_ERRORS, translate_library_error
from storage.sql.errors import DatabaseBusy, DatabaseLost, DatabaseNotWritable, DatabaseUnavailable
from storage.sql.migrations.upgrade import upgrade_schema
from storage.sql.server_transactions import APPLICATION_NAME, DEFAULT_TIMEOUTS, ServerTimeouts, ServerTransactions

_BUSY_TIMEOUT_S: Final = 10
_THREAD_WAIT_S: Final = 30  # for a free SQLite thread
_LOCK_POLL_S: Final = 0.001  # between two attempts to lock while another process writes
_MAX_BATCH: Final = 64
_READER_COUNT: Final = 3
_SQLITE_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",  # acknowledged writes survive a power cut
)
_MIGRATION_LOCK: Final = 0x5041524C4559  # "PARLEY"
_OTHER_SESSIONS: Final = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND application_name = :name"
).bindparams(name=APPLICATION_NAME)

_new_id: Final = partial(secrets.token_urlsafe, 16)
# `default=dict` serialises any Mapping.
_json_text: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=dict).encode


def _parse_json_leniently(text: str) -> Any:
    """Parse JSON; invalid JSON becomes an empty object.

    One broken row then fails only where its values are used, and not every query that reads it.
    """
    try:
        return json.loads(text)
    except ValueError:
        return {}


_ENGINE_OPTIONS: Final = {
    "json_serializer": _json_text,
    "json_deserializer": _parse_json_leniently,
    "hide_parameters": True,
}

JsonMapping: TypeAlias = Mapping[str, Any]  # the caller's JSON: stored and returned, never interpreted
InsertStatement: TypeAlias = sqlite.Insert | postgresql.Insert
T = TypeVar("T")


class _TransactionRunner(Protocol):
    """Runs functions in transactions: commits when the function returns, rolls back when it raises."""

    async def run_transaction(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T: ...

    async def run_unlimited(self, work: Callable[[Connection], T]) -> T: ...

    async def watch_channel(self, channel: str, on_notification: Callable[[], None]) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _PendingTransaction:
    """A function that waits for its transaction."""

    work: Callable[[Connection], Any]
    durable: bool
    result: Future[Any]


class _ThreadedTransactions:
    """Runs transactions on SQLite, one thread per connection. A running transaction completes even if cancelled."""

    def __init__(self, engine: Engine, thread_count: int, max_batch: int = 1) -> None:
        """`max_batch`: how many pending functions may share a transaction."""
        self._engine, self._executor = engine, ThreadPoolExecutor(thread_count, thread_name_prefix="parley-sql")
        self._idle_connections: deque[Connection] = deque()  # not returned to the engine's pool, whose checkout is slow
        self._pending: deque[_PendingTransaction] = deque()
        self._max_batch = max_batch

    async def run_transaction(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T:
        result: Future[T] = Future()
        self._pending.append(_PendingTransaction(work, durable, result))
        batch: list[_PendingTransaction] = []
        self._executor.submit(self._run_pending_batch, batch).add_done_callback(partial(self._settle_batch, batch))
        # Has no effect once the function runs.
        timeout = asyncio.get_running_loop().call_later(_THREAD_WAIT_S, result.cancel)
        try:
            return await asyncio.wrap_future(result)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise TimeoutError("no connection came free") from None
        finally:
            timeout.cancel()

    async def run_unlimited(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction; no statement has a timeout on SQLite."""
        return await self.run_transaction(work)

    async def watch_channel(self, channel: str, on_notification: Callable[[], None]) -> None:
        """Returns at once: SQLite has no notifications."""

    def _run_pending_batch(self, batch: list[_PendingTransaction]) -> list[Any]:
        """Move pending functions into `batch`, run them, and return their results.

        Returns an empty list if an earlier call has taken all pending functions.
        """
        while len(batch) < self._max_batch and (pending := self._pop_longest_pending()) is not None:
            if pending.result.set_running_or_notify_cancel():
                batch.append(pending)
        return self._run_in_one_transaction(batch) if batch else []

    def _pop_longest_pending(self) -> _PendingTransaction | None:
        try:
            return self._pending.popleft()
        except IndexError:
            return None

    def _settle_batch(self, batch: Sequence[_PendingTransaction], completed: Future[list[Any]]) -> None:
        """Set the results of a batch.

        If one function of several fails, the transaction is rolled back and each function runs again alone.
        """
        if completed.cancelled():
            return
        if (failure := completed.exception()) is None:
            for pending, result in zip(batch, completed.result(), strict=True):
                pending.result.set_result(result)
        elif len(batch) == 1:
            batch[0].result.set_exception(failure)
        else:
            for pending in batch:
                self._rerun_alone(pending)

    def _rerun_alone(self, pending: _PendingTransaction) -> None:
        try:
            rerun = self._executor.submit(self._run_in_one_transaction, [pending])
        except RuntimeError as exc:  # the executor is shut down
            pending.result.set_exception(exc)
        else:
            rerun.add_done_callback(partial(self._settle_batch, [pending]))

    def _run_in_one_transaction(self, batch: Sequence[_PendingTransaction]) -> list[Any]:
        connection = self._take_connection()
        try:
            _set_sync_mode(connection, any(pending.durable for pending in batch))
            with connection.begin():
                return [pending.work(connection) for pending in batch]
        finally:
            self._idle_connections.append(connection)

    def _take_connection(self) -> Connection:
        try:
            return self._idle_connections.pop()
        except IndexError:
            return self._engine.connect()

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        for pending in self._pending:
            pending.result.cancel()
        for connection in self._idle_connections:
            connection.close()
        self._engine.dispose()


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlDatabase:
    """One open database, which every store takes. Created by `open`; the opener closes it."""

    location: str  # for messages: never contains a password
    clock: Callable[[], datetime]
    new_id: Callable[[], str]  # opaque, url-safe, unguessable
    is_file: bool
    file: Path | None  # None for a server
    _writer: _TransactionRunner
    _reader: _TransactionRunner

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str] = _new_id,
        timeouts: ServerTimeouts = DEFAULT_TIMEOUTS,
    ) -> "SqlDatabase":
        """Open a database and upgrade its schema under a lock, so that several processes may open it at the same time.

        `url` is `sqlite:///FILE` (the file and its folder are created if missing) or `postgresql://…`. `timeouts` are
        those of a server. Raises `InvalidDatabaseUrl`, `DatabaseUnavailable`, `DatabaseNotWritable`, `DatabaseDamaged`,
        `DatabaseTooNew`.
        """
        parsed_url = parse_database_url(url)
        database = cls._connect(parsed_url, clock, new_id, timeouts)
        try:
            await database._prepare_file_and_schema(parsed_url)
        except BaseException:
            await database.close()
            raise
        return database

    @classmethod
    @asynccontextmanager
    async def open_unchanged(cls, url: str, *, clock: Callable[[], datetime]) -> "AsyncGenerator[SqlDatabase]":
        """A database for the length of the block that is read as it is, whatever its schema. Creates no file.

        Raises `InvalidDatabaseUrl`, and `DatabaseUnavailable` if the file does not exist.
        """
        parsed_url = parse_database_url(url)
        if is_file_url(parsed_url) and not await asyncio.to_thread(Path(parsed_url.database or "").exists):
            raise DatabaseUnavailable(display_url(parsed_url), "there is no such file")
        database = cls._connect(parsed_url, clock, _new_id, DEFAULT_TIMEOUTS)
        try:
            yield database
        finally:
            await database.close()

    @classmethod
    async def is_open_elsewhere(cls, url: str, *, clock: Callable[[], datetime]) -> bool:
        """Whether a process of Parley has the database open. Changes nothing. Raises `SqlError`."""
        parsed_url = parse_database_url(url)
        if is_file_url(parsed_url):
            return await asyncio.to_thread(_is_file_open_elsewhere, Path(parsed_url.database or ""))
        async with cls.open_unchanged(url, clock=clock) as database:
            return await database.run_read(lambda connection: connection.execute(_OTHER_SESSIONS).scalar_one() > 0)

    @classmethod
    def _connect(
        cls, url: URL, clock: Callable[[], datetime], new_id: Callable[[], str], timeouts: ServerTimeouts
    ) -> "SqlDatabase":
        if is_file_url(url):
            return cls._open_sqlite_file(url, clock, new_id)
        transactions = ServerTransactions(url, timeouts, _ENGINE_OPTIONS)
        return cls(
            location=display_url(url),
            clock=clock,
            new_id=new_id,
            is_file=False,
            file=None,
            _writer=transactions,
            _reader=transactions,
        )

    @classmethod
    def _open_sqlite_file(cls, url: URL, clock: Callable[[], datetime], new_id: Callable[[], str]) -> "SqlDatabase":
        """SQLite allows one writer at a time; with a single thread, writers wait in order and do not poll its lock."""
        writer, reader = _create_file_engine(url, 1), _create_file_engine(url, _READER_COUNT)
        _prepare_sqlite_engine(writer, _begin_write_transaction)
        _prepare_sqlite_engine(reader, _begin_read_transaction, "PRAGMA query_only = ON")
        return cls(
            location=display_url(url),
            clock=clock,
            new_id=new_id,
            is_file=True,
            file=Path(url.database or ""),
            _writer=_ThreadedTransactions(writer, 1, _MAX_BATCH),
            _reader=_ThreadedTransactions(reader, _READER_COUNT),
        )

    async def _prepare_file_and_schema(self, url: URL) -> None:
        path = Path(url.database or "")
        if is_file_url(url):
            await asyncio.to_thread(_require_known_file, path, self.location)
            await asyncio.to_thread(_create_wal_file, path)
        if not await self.run_read(partial(upgrade_schema, location=self.location, check_only=True)):
            await self.run_unlimited(self._upgrade_under_lock)
        if is_file_url(url):
            await asyncio.to_thread(_note_that_file_exists, path)

    def _upgrade_under_lock(self, connection: Connection) -> None:
        self.lock_schema(connection)
        upgrade_schema(connection, self.location)

    def lock_schema(self, connection: Connection) -> None:
        """Wait until no other process upgrades or restores the database, and keep others waiting until the commit.

        SQLite has one writer anyway.
        """
        if not self.is_file:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))

    async def close(self) -> None:
        """Close the connections. Running SQLite transactions complete; open PostgreSQL transactions are rolled back."""
        await self._writer.close()
        if self._reader is not self._writer:
            await self._reader.close()

    def utc_now(self) -> datetime:
        """Returns the time of the injected clock, aware and in UTC."""
        return self.clock().astimezone(UTC)

    async def run_read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a read-only transaction and return its result. Library exceptions become `SqlError`s."""
        with self._translate_library_errors():
            return await self._reader.run_transaction(work, is_repeatable=True)

    async def run_write(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = True,
        is_repeatable: bool = False,
        is_single_statement: bool = False,
    ) -> T:
        """Run `work` in a transaction and return its result, committed to the disk. Rolls back if `work` raises.

        `work` may run in another thread, so it must use only its own arguments. It may also run twice: after a
        rollback, and with `is_repeatable` after a commit whose answer was lost. With `durable=False` the write survives
        a killed process, but on SQLite it survives a power cut only after the next durable write. Use that for work
        that is repeated if its result is lost. `is_single_statement`: `work` executes one statement, which takes fewer
        round trips to a server.
        """
        with self._translate_library_errors():
            return await self._writer.run_transaction(
                work, durable=durable, is_repeatable=is_repeatable, is_single_statement=is_single_statement
            )

    async def run_unlimited(self, work: Callable[[Connection], T]) -> T:
        """Run `work` once in a transaction that may take as long as it needs, and return its result."""
        with self._translate_library_errors():
            return await self._writer.run_unlimited(work)

    async def run_snapshot(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction that reads one state of the database and may take as long as it needs.

        Others may write meanwhile.
        """
        if self.is_file:
            return await self.run_read(work)

        def work_on_snapshot(connection: Connection) -> T:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
            return work(connection)

        return await self.run_unlimited(work_on_snapshot)

    async def overwrite_deleted_rows(self) -> bool:
        """Rewrite a file without what was deleted, whose bytes it otherwise keeps for a time; also in its log.

        False if other processes read or write so much that it could not be done now. A server does it by itself.
        """
        if self.file is None:
            return True
        return await asyncio.to_thread(_rewrite_file, self.file)

    async def watch_channel(self, channel: str, on_notification: Callable[[], None]) -> None:
        """Call `on_notification` for each notification that a process sends to the channel (`pg_notify`).

        Runs until cancelled; on SQLite, which has no notifications, it returns at once. Notifications may be lost, so
        it is also called after each connection to the server.
        """
        await self._reader.watch_channel(channel, on_notification)

    @contextmanager
    def _translate_library_errors(self) -> Generator[None]:
        try:
            yield
        except LIBRARY_ERRORS as exc:
            raise translate_library_error(exc, self.location) from exc

    async def check_file(self) -> None:
        """Raises `DatabaseLost` if the file is missing or empty by now: open connections do not notice it."""
        if self.file is not None:
            await asyncio.to_thread(_require_known_file, self.file, self.location)

    async def ping(self) -> None:
        """Run a trivial query. Raises `DatabaseUnavailable` or another `SqlError` if the database does not answer."""
        await self.run_read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    def insert_into(self, table: Table) -> InsertStatement:
        """Returns an insert with ON CONFLICT, which both databases have but standard SQL lacks."""
        return sqlite.insert(table) if self.is_file else postgresql.insert(table)


def _create_file_engine(url: URL, pool_size: int) -> Engine:
    return create_engine(url, pool_size=pool_size, max_overflow=0, **_ENGINE_OPTIONS)


def _prepare_sqlite_engine(engine: Engine, begin_transaction: Callable[[DBAPIConnection], None], *pragmas: str) -> None:
    """Switch off the driver's transaction handling; `begin_transaction` begins each transaction."""

    def configure_connection(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in (*_SQLITE_PRAGMAS, *pragmas):
            connection.cursor().execute(pragma)

    def begin_on_driver(connection: Connection) -> None:
        if (driver := connection.connection.dbapi_connection) is not None:
            begin_transaction(driver)

    event.listen(engine, "connect", configure_connection)
    event.listen(engine, "begin", begin_on_driver)


def _set_sync_mode(connection: Connection, durable: bool) -> None:
    """Set whether the next transaction waits for the disk, https://sqlite.org/pragma.html#pragma_synchronous."""
    if connection.info.get("durable", True) != durable and (driver := connection.connection.dbapi_connection):
        driver.cursor().execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.info["durable"] = durable


def _begin_read_transaction(driver: DBAPIConnection) -> None:
    driver.cursor().execute("BEGIN")


def _begin_write_transaction(driver: DBAPIConnection) -> None:
    """Begin a write transaction; waits for the lock in short intervals.

    SQLite's own wait checks the lock less and less often, in the end every tenth of a second.
    """
    cursor = driver.cursor()
    busy_timeout_ms = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
    deadline = time.monotonic() + busy_timeout_ms / 1000
    cursor.execute("PRAGMA busy_timeout = 0")
    try:
        while not _try_begin_write(cursor, is_last_attempt=time.monotonic() > deadline):
            time.sleep(_LOCK_POLL_S)
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {busy_timeout_ms}")


def _try_begin_write(cursor: DBAPICursor, *, is_last_attempt: bool) -> bool:
    """Begin a write transaction; False while another process writes. The last attempt raises the error instead."""
    try:
        cursor.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as exc:
        if is_last_attempt or exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _marker_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.created")


def _require_known_file(path: Path, location: str) -> None:
    """Raises `DatabaseLost` if the file is missing or empty, although a database was created in it before."""
    marker = _marker_of(path)
    with suppress(OSError):  # the opening tells what is wrong with the folder
        if marker.exists() and (not path.exists() or path.stat().st_size == 0):
            raise DatabaseLost(location, "missing" if not path.exists() else "empty", str(marker))


def _note_that_file_exists(path: Path) -> None:
    """Create the file beside the database by which its loss is noticed."""
    with suppress(OSError):
        _marker_of(path).touch(mode=0o600, exist_ok=True)


def _create_wal_file(file: Path) -> None:
    """Create the folder and the file, and enable WAL, which is stored in the file.

    Raises `DatabaseNotWritable`, `DatabaseDamaged` and `DatabaseBusy`.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise DatabaseNotWritable(str(file), exc.strerror or str(exc)) from exc
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while not _try_enable_wal(file):
        if time.monotonic() > deadline:
            raise DatabaseBusy(str(file), "others hold it")
        time.sleep(0.01)


def _rewrite_file(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(file, timeout=_BUSY_TIMEOUT_S, isolation_level=None)) as connection:
            connection.execute("VACUUM")
            is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not is_busy
    except sqlite3.Error as exc:
        error = translate_library_error(exc, str(file))
        if isinstance(error, DatabaseBusy):
            return False
        raise error from exc


def _is_file_open_elsewhere(file: Path) -> bool:
    """With WAL, each connection shares a lock on the file for as long as it is open."""
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            return False
    except sqlite3.Error as exc:
        error = translate_library_error(exc, str(file))
        if isinstance(error, DatabaseBusy):
            return True
        raise error from exc


def _try_enable_wal(file: Path) -> bool:
    """Enable WAL; False while another process does the same, since SQLite does not wait for the necessary lock."""
    try:
        with closing(sqlite3.connect(file, timeout=_BUSY_TIMEOUT_S)) as connection:
            return connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    except sqlite3.Error as exc:
        error = translate_library_error(exc, str(file))
        if isinstance(error, DatabaseBusy):
            return False
        raise error from exc
