"""The SQLite file of the index: its tables, its connections, and the translation of SQLite's errors.

A row id is never used again, and no document or passage is changed in place: to replace is to delete and insert. So the
ids alone are enough to update what a process has in memory.
"""

import os
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from storage.search.errors import IndexDamaged, IndexTimedOut, IndexTooNew, IndexUnavailable
from storage.search.ids import TenantId

FORMAT_VERSION = 1  # of the tables; stored as `user_version`
FILE_NAME = "index.sqlite"
_CACHE_KB = 16_000  # of each connection
_OLDEST_SQLITE = (3, 35, 0)

# `text` is the last column, so that SQLite reads the other columns without its overflow pages.
_TABLES = """
CREATE TABLE state(tenant TEXT NOT NULL, epoch TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE bucket(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, schema TEXT NOT NULL, revision INTEGER NOT NULL,
  analyser TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE document(
  id INTEGER PRIMARY KEY AUTOINCREMENT, bucket INTEGER NOT NULL, doc_id TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL,
  digest TEXT NOT NULL, embedder TEXT NOT NULL, readers TEXT NOT NULL, title TEXT NOT NULL, source TEXT NOT NULL,
  vals TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX document_by_bucket ON document(bucket, id);
CREATE TABLE passage(
  id INTEGER PRIMARY KEY AUTOINCREMENT, bucket INTEGER NOT NULL, doc INTEGER NOT NULL, position INTEGER NOT NULL,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, page INTEGER);
CREATE INDEX passage_by_bucket ON passage(bucket, id, doc, position);
CREATE INDEX passage_by_document ON passage(doc, position);
CREATE TABLE vector(passage INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, embedder TEXT NOT NULL, data BLOB NOT NULL);
CREATE INDEX vector_by_bucket ON vector(bucket, embedder, passage);
"""

# Tables of a later version of Parley, created in files that lack them. Such files have no annotations.
_LATER_TABLES = """
CREATE TABLE IF NOT EXISTS annotation(doc INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outline(
  doc INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, length INTEGER NOT NULL, summary TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS outline_by_bucket ON outline(bucket, doc, length);
CREATE INDEX IF NOT EXISTS document_by_embedder ON document(bucket, embedder);
CREATE TABLE IF NOT EXISTS passage_context(passage INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, context TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passage_context_by_bucket ON passage_context(bucket, passage);
CREATE TABLE IF NOT EXISTS write_check(id INTEGER PRIMARY KEY, token TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ingestion(doc INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, day TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS ingestion_by_bucket ON ingestion(bucket, doc, day);
CREATE TABLE IF NOT EXISTS vector_epoch(bucket INTEGER PRIMARY KEY, epoch INTEGER NOT NULL);
"""

# Each bucket has its own tables, so that the statistics and the size of one bucket do not affect another. The tokenizer
# `ascii` splits at ASCII characters that are neither letters nor digits; our terms have none, so it leaves them whole.
_TERM_TABLES = """
CREATE VIRTUAL TABLE terms_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE passages_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE words_{n} USING fts5(word, content='', detail='none', tokenize='ascii');
CREATE VIRTUAL TABLE common_{n} USING fts5vocab('passages_{n}', 'row');
CREATE VIRTUAL TABLE placed_{n} USING fts5vocab('passages_{n}', 'instance');
CREATE VIRTUAL TABLE spelt_{n} USING fts5vocab('words_{n}', 'row');
"""
_TERM_TABLE_NAMES = ("common", "placed", "told", "spelt", "terms", "passages", "outlines", "words")
# Tables of a later version of Parley. The documents of an earlier file are not in them yet.
_OUTLINE_TABLES = """
CREATE VIRTUAL TABLE outlines_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE told_{n} USING fts5vocab('outlines_{n}', 'instance');
"""
_OUTLINE_TABLE_NAMES = ("told", "outlines")
_FIND_OUTDATED_OUTLINE = """
SELECT EXISTS(SELECT id FROM document WHERE bucket = :bucket EXCEPT SELECT doc FROM outline WHERE bucket = :bucket)
  OR EXISTS(SELECT doc FROM outline WHERE bucket = :bucket EXCEPT SELECT id FROM document WHERE bucket = :bucket)
"""


class EmbeddedDatabase:
    """Connections to the file, each used by one thread at a time. Safe to share between threads."""

    def __init__(self, folder: Path, tenant: TenantId, lock_timeout: timedelta) -> None:
        """Create the folder and the file if they do not exist. Waits for other writers for up to `lock_timeout`.

        Raises `IndexUnavailable` (the file is not writable, is not an index, or belongs to another tenant) and
        `IndexTooNew`.
        """
        self.location = str(folder / FILE_NAME)
        self._lock_timeout = lock_timeout
        self._idle_connections = list[sqlite3.Connection]()
        self._lock = threading.Lock()
        self._is_closed = False
        self.file_identity: tuple[int, int] | None = None  # device and inode; None until the file is open
        self.has_read_damage = False  # since the file was last checked
        self._check_sqlite_version()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise IndexUnavailable(self.location, f"the folder cannot be made ({exc.strerror})") from exc
        try:
            with (
                _lock_folder(folder, exclusive=False),
                self.translate_errors(),
                self._borrow_connection() as connection,
            ):
                self._prepare_file(connection, tenant)
            status = Path(self.location).stat()
            self.file_identity = (status.st_dev, status.st_ino)
        except BaseException:
            self.close()
            raise

    def measure_free_bytes(self) -> int | None:
        """Returns the free bytes of the disk with the file; None if the disk does not say."""
        try:
            return shutil.disk_usage(Path(self.location).parent).free
        except OSError:
            return None

    @contextmanager
    def read_transaction(self) -> Generator[sqlite3.Connection]:
        """Begin a read transaction: all reads in the block see the same state of the file."""
        with self.translate_errors(), self._borrow_connection() as connection:
            connection.execute("PRAGMA query_only = 1")
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write_transaction(self, *, is_impatient: bool = False) -> Generator[sqlite3.Connection]:
        """Begin a write transaction, the only one at a time in all processes. Commits unless the block raises.

        `is_impatient`: does not wait for other writers, but raises `IndexTimedOut`.
        """
        with self.translate_errors(), self._borrow_connection() as connection:
            connection.execute("PRAGMA query_only = 0")
            self._set_busy_timeout(connection, timedelta() if is_impatient else self._lock_timeout)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close all connections. Call it when no thread uses the database any more."""
        with self._lock:
            self._is_closed = True
            idle, self._idle_connections = self._idle_connections, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _borrow_connection(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            if self._is_closed:
                raise IndexUnavailable(self.location, "it was closed")
            connection = self._idle_connections.pop() if self._idle_connections else None
        connection = connection or self._open_connection()
        try:
            yield connection
        finally:
            with self._lock:
                keeps_connection = not self._is_closed
                if keeps_connection:
                    self._idle_connections.append(connection)
            if not keeps_connection:
                connection.close()

    @staticmethod
    def _set_busy_timeout(connection: sqlite3.Connection, timeout: timedelta) -> None:
        connection.execute(f"PRAGMA busy_timeout = {timeout // timedelta(milliseconds=1):d}")

    def _open_connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.location, timeout=self._lock_timeout.total_seconds(), isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
            # Pages of a mapped file count as memory of the process, for each connection: so none are mapped.
            connection.execute("PRAGMA mmap_size = 0")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KB:d}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepare_file(self, connection: sqlite3.Connection, tenant: TenantId) -> None:
        version = _read_format_version(connection)
        if version > FORMAT_VERSION:
            raise IndexTooNew(self.location)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")  # fails if the folder cannot be written
        try:
            # Read the version again under the lock: another process may have created the tables meanwhile.
            if _read_format_version(connection) == 0:
                self._create_tables(connection, tenant)
            _add_position_views(connection)
            _run_statements(connection, _LATER_TABLES)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        (file_tenant,) = connection.execute("SELECT tenant FROM state").fetchone()
        if file_tenant != tenant:
            raise IndexUnavailable(self.location, "it belongs to another tenant")

    def _create_tables(self, connection: sqlite3.Connection, tenant: TenantId) -> None:
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise IndexUnavailable(self.location, "the file is another program's database")
        _run_statements(connection, _TABLES)
        connection.execute("INSERT INTO state VALUES(?, ?, 0)", (tenant, uuid.uuid4().hex))
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    def _check_sqlite_version(self) -> None:
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise IndexUnavailable(self.location, f"SQLite {sqlite3.sqlite_version} is older than 3.35")

    @contextmanager
    def translate_errors(self) -> Generator[None]:
        """Translate the errors of statements in the block."""
        try:
            yield
        except sqlite3.Error as exc:
            raise self._translate_error(exc) from exc

    def _translate_error(self, error: sqlite3.Error) -> IndexUnavailable:
        error_code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the primary error code
        if error_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
            return IndexTimedOut(self.location)
        if error_code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self.has_read_damage = True
            return IndexDamaged(self.location, damage_reason_for(str(error)))
        return IndexUnavailable(self.location, _ERROR_REASONS.get(error_code, str(error)))


_ERROR_REASONS = {
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; may the folder be written?",
    sqlite3.SQLITE_READONLY: "the folder or the file cannot be written",
    sqlite3.SQLITE_PERM: "the file may not be opened",
    sqlite3.SQLITE_FULL: "the disk is full",
}


@contextmanager
def _lock_folder(folder: Path, *, exclusive: bool) -> Generator[None]:
    """Hold a lock while the file is opened or moved away, so that nobody opens it between its parts.

    It is a lock of the folder: SQLite's own locks are lost when another handle on the file is closed.
    """
    try:
        import fcntl  # not on Windows: there nobody can move a file that is open
    except ImportError:
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as exc:
        raise IndexUnavailable(str(folder), f"the folder cannot be opened ({exc.strerror})") from exc
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def move_index_file_away(folder: Path, name: str) -> Path:
    """Move the index file, with its write-ahead log, into the new folder `name` below `folder`; returns that folder.

    A process that has the file open goes on with the moved file; `IndexFileCheck` tells it. Raises `IndexUnavailable`.
    """
    target = folder / name
    with _lock_folder(folder, exclusive=True):
        target.mkdir(mode=0o700)
        for suffix in ("", "-wal", "-shm"):  # never a new file beside the log of the old one
            with suppress(FileNotFoundError):
                (folder / f"{FILE_NAME}{suffix}").rename(target / f"{FILE_NAME}{suffix}")
    return target


def damage_reason_for(problem: str) -> str:
    """Returns the reason of an `IndexDamaged`, with what to do."""
    return f"the file is damaged ({problem}): parley index rebuild loads the documents again; or restore a backup of it"


def create_term_tables(connection: sqlite3.Connection, bucket: int) -> None:
    _run_statements(connection, _TERM_TABLES.format(n=bucket))
    create_outline_tables(connection, bucket)


def has_outlines(connection: sqlite3.Connection, bucket: int) -> bool:
    """Whether the bucket has its table of outlines. A bucket of an earlier version of Parley has none."""
    name = f"outlines_{bucket:d}"
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def has_outdated_outlines(connection: sqlite3.Connection, bucket: int) -> bool:
    """Whether a process of an earlier version of Parley has put or deleted documents, and left their outlines as is."""
    (is_outdated,) = connection.execute(_FIND_OUTDATED_OUTLINE, {"bucket": bucket}).fetchone()
    return bool(is_outdated)


def drop_outline_tables(connection: sqlite3.Connection, bucket: int) -> None:
    """Drop the tables, if they exist. The summaries of the bucket's documents are kept."""
    for name in _OUTLINE_TABLE_NAMES:
        connection.execute(f"DROP TABLE IF EXISTS {name}_{bucket:d}")
    connection.execute(
        "DELETE FROM outline WHERE bucket = :bucket AND doc NOT IN (SELECT id FROM document WHERE bucket = :bucket)",
        {"bucket": bucket},
    )


def create_outline_tables(connection: sqlite3.Connection, bucket: int) -> None:
    _run_statements(connection, _OUTLINE_TABLES.format(n=bucket))


def _add_position_views(connection: sqlite3.Connection) -> None:
    """Create the views of term positions in files of an earlier version. The views have no rows of their own."""
    for (bucket,) in connection.execute("SELECT id FROM bucket").fetchall():
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS placed_{bucket:d} USING fts5vocab('passages_{bucket:d}', 'instance')"
        )


def drop_term_tables(connection: sqlite3.Connection, bucket: int) -> None:
    for name in _TERM_TABLE_NAMES:
        connection.execute(f"DROP TABLE IF EXISTS {name}_{bucket:d}")


def _run_statements(connection: sqlite3.Connection, statements: str) -> None:
    # `executescript` would commit the transaction first.
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def _read_format_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
