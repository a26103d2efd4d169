"""The one SQLite file: its tables, its connections, and the translation of SQLite's errors.

Every row has an id that is never used again, and no document or passage is changed in place: replacing is deleting and
inserting. So what a process keeps in memory follows by ids alone.
"""

import sqlite3
import threading
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from storage.search.errors import IndexTimedOut, IndexTooNew, IndexUnavailable
from storage.search.ids import TenantId

FORMAT = 1  # of the tables; kept as `user_version`
FILE = "index.sqlite"
_OLDEST_SQLITE = (3, 35, 0)

# `text` stands last in its row: reading the columns before it does not walk its overflow pages.
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

# Came later: made where it is missing, and a file without any reads as one without annotations.
_LATER_TABLES = """
CREATE TABLE IF NOT EXISTS annotation(doc INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outline(
  doc INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, length INTEGER NOT NULL, summary TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS outline_by_bucket ON outline(bucket, doc, length);
"""

# Each bucket has its own: one bucket's statistics and size do not touch another's. The tokenizer `ascii` splits at
# ASCII characters that are neither letters nor digits, which our terms do not hold, and leaves all others as they are.
_TERM_TABLES = """
CREATE VIRTUAL TABLE terms_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE passages_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE words_{n} USING fts5(word, content='', detail='none', tokenize='ascii');
CREATE VIRTUAL TABLE common_{n} USING fts5vocab('passages_{n}', 'row');
CREATE VIRTUAL TABLE placed_{n} USING fts5vocab('passages_{n}', 'instance');
CREATE VIRTUAL TABLE spelt_{n} USING fts5vocab('words_{n}', 'row');
"""
_TERM_TABLE_NAMES = ("common", "placed", "told", "spelt", "terms", "passages", "outlines", "words")
# Came later: a file made before holds documents that are in none of these yet.
_OUTLINE_TABLES = """
CREATE VIRTUAL TABLE outlines_{n} USING fts5(title, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE told_{n} USING fts5vocab('outlines_{n}', 'instance');
"""


class Database:
    """Connections to the file, each used by one thread at a time. Safe to share between threads."""

    def __init__(self, folder: Path, tenant: TenantId, patience: timedelta) -> None:
        """Creates folder and file if need be; waits for other writers as long as `patience`.

        Raises `IndexUnavailable` (not writable, not an index, another tenant's) and `IndexTooNew`.
        """
        self.where = str(folder / FILE)
        self._patience = patience
        self._idle = list[sqlite3.Connection]()
        self._lock = threading.Lock()
        self._closed = False
        self._check_library()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise IndexUnavailable(self.where, f"the folder cannot be made ({exc.strerror})") from exc
        try:
            with self._translated(), self._leased() as connection:
                self._prepare(connection, tenant)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """One read transaction: all that is read is of one state of the file."""
        with self._translated(), self._leased() as connection:
            connection.execute("PRAGMA query_only = 1")
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One write transaction, the only one at a time across processes; committed unless the block raises."""
        with self._translated(), self._leased() as connection:
            connection.execute("PRAGMA query_only = 0")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """When no thread is at work in it any more."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _leased(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            if self._closed:
                raise IndexUnavailable(self.where, "it was closed")
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                kept = not self._closed
                if kept:
                    self._idle.append(connection)
            if not kept:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.where, timeout=self._patience.total_seconds(), isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA mmap_size = 2147418112")
            connection.execute("PRAGMA cache_size = -32000")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection, tenant: TenantId) -> None:
        version = _version(connection)
        if version > FORMAT:
            raise IndexTooNew(self.where)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")  # also tells whether the folder can be written
        try:
            if _version(connection) == 0:  # asked again under the lock: another process may have been quicker
                self._create(connection, tenant)
            _add_views(connection)
            _run(connection, _LATER_TABLES)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        (owner,) = connection.execute("SELECT tenant FROM state").fetchone()
        if owner != tenant:
            raise IndexUnavailable(self.where, "it belongs to another tenant")

    def _create(self, connection: sqlite3.Connection, tenant: TenantId) -> None:
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise IndexUnavailable(self.where, "the file is another program's database")
        _run(connection, _TABLES)
        connection.execute("INSERT INTO state VALUES(?, ?, 0)", (tenant, uuid.uuid4().hex))
        connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_library(self) -> None:
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise IndexUnavailable(self.where, f"SQLite {sqlite3.sqlite_version} is older than 3.35")

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as exc:
            raise self._translation(exc) from exc

    def _translation(self, error: sqlite3.Error) -> IndexUnavailable:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the primary one
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
            return IndexTimedOut(self.where)
        return IndexUnavailable(self.where, _REASONS.get(code, str(error)))


_REASONS = {
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; may the folder be written?",
    sqlite3.SQLITE_READONLY: "the folder or the file cannot be written",
    sqlite3.SQLITE_PERM: "the file may not be opened",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup or ingest again",
}


def create_term_tables(connection: sqlite3.Connection, bucket: int) -> None:
    _run(connection, _TERM_TABLES.format(n=bucket))
    create_outline_tables(connection, bucket)


def has_outlines(connection: sqlite3.Connection, bucket: int) -> bool:
    """Whether the bucket has its table of outlines; one made by an earlier Parley has none."""
    name = f"outlines_{bucket:d}"
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def create_outline_tables(connection: sqlite3.Connection, bucket: int) -> None:
    _run(connection, _OUTLINE_TABLES.format(n=bucket))


def _add_views(connection: sqlite3.Connection) -> None:
    """The views of terms that files made before there were any lack; they hold no rows of their own."""
    for (bucket,) in connection.execute("SELECT id FROM bucket").fetchall():
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS placed_{bucket:d} USING fts5vocab('passages_{bucket:d}', 'instance')"
        )


def drop_term_tables(connection: sqlite3.Connection, bucket: int) -> None:
    for name in _TERM_TABLE_NAMES:
        connection.execute(f"DROP TABLE IF EXISTS {name}_{bucket:d}")


def _run(connection: sqlite3.Connection, statements: str) -> None:
    # Not executescript, which would commit first.
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
