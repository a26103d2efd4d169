"""What models returned, kept in a file of the home, so that nothing is asked and paid twice."""

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from bot.errors import ResultCacheUnavailable

T = TypeVar("T")
FILE_NAME = "model_results.sqlite"
_BUSY_TIMEOUT_S = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS result(
  family TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(family, key)) WITHOUT ROWID
"""


def result_key_of(*parts: str) -> bytes:
    """A SHA-256 digest of texts; other texts, or other borders between them, have another one."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


class ResultCache:
    """Results by family (what was asked of which model) and key. Processes may share the file.

    Each method runs in a thread and raises `ResultCacheUnavailable`. The file is made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def load_results(self, family: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Returns the results that are there."""

        def select_results(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            query = "SELECT value FROM result WHERE family = ? AND key = ?"
            rows = {key: connection.execute(query, (family, key)).fetchone() for key in keys}
            return {key: row[0] for key, row in rows.items() if row is not None}

        return await self._run_job(select_results)

    async def store_results(self, family: str, results: Mapping[bytes, bytes]) -> None:
        """Store the results, in one transaction, in place of earlier ones."""

        def insert_results(connection: sqlite3.Connection) -> None:
            rows = [(family, key, value) for key, value in results.items()]
            with connection:
                connection.executemany("INSERT OR REPLACE INTO result VALUES(?, ?, ?)", rows)

        await self._run_job(insert_results)

    async def forget_families(self, prefix: str, *, exclude: str) -> None:
        """Delete the results of all families that begin with `prefix`, except one."""

        def delete_results(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute(
                    "DELETE FROM result WHERE substr(family, 1, ?) = ? AND family != ?", (len(prefix), prefix, exclude)
                )

        await self._run_job(delete_results)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def _run_job(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._run_job_in_thread, job)

    def _run_job_in_thread(self, job: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open_file()
                return job(self._connection)
            except (sqlite3.Error, OSError) as exc:
                raise ResultCacheUnavailable(str(self._path), str(exc)) from exc

    def _open_file(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection
