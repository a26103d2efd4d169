"""A snapshot of the index: a read transaction that stays open over many requests.

SQLite keeps what the transaction sees in its write-ahead log, which cannot be shortened meanwhile. So a snapshot has a
bounded lifetime.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import TypeVar

from storage.embedded.bucket_snapshot import IndexState, LruCache, SnapshotCache
from storage.embedded.database import EmbeddedDatabase
from storage.embedded.reading.records import RecordOrder
from storage.search.errors import SnapshotGone

T = TypeVar("T")


class KeptTransaction:
    """A read transaction with the state in memory that belongs to it. Used by one thread at a time."""

    def __init__(self, database: EmbeddedDatabase, snapshots: SnapshotCache, lifetime: timedelta) -> None:
        """Begin the transaction. Raises `IndexUnavailable`."""
        self._database, self._stack, self._lock = database, ExitStack(), threading.Lock()
        self._ends_at = time.monotonic() + lifetime.total_seconds()
        self._connection = self._stack.enter_context(database.read_transaction())
        try:
            with database.translate_errors():
                self.snapshots = snapshots.copy_for(self._connection)
                self.state = self.snapshots.read_state(self._connection)
        except BaseException:
            self._stack.close()
            raise
        self.order_cache = LruCache[RecordOrder](4)

    def run_read(self, job: Callable[[sqlite3.Connection, IndexState], T]) -> T:
        """Run the job in the transaction. Raises `SnapshotGone` after its lifetime."""
        with self._lock:
            if time.monotonic() >= self._ends_at:
                self._stack.close()
                raise SnapshotGone
            with self._database.translate_errors():
                return job(self._connection, self.state)

    def close(self) -> None:
        with self._lock:
            self._ends_at = 0.0
            self._stack.close()
