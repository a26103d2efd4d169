"""Checks of the index file: quick ones for each probe, and a reading of the whole file from time to time."""

import os
import sqlite3
import threading
import time
import uuid
from collections import OrderedDict
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from storage.embedded.database import EmbeddedDatabase, damage_reason_for
from storage.search.errors import IndexDamaged, IndexTimedOut, IndexUnavailable

_MAGIC = b"SQLite format 3\x00"  # https://www.sqlite.org/fileformat2.html
_CHECK_INTERVAL = timedelta(minutes=10)  # of readings of the whole file
_RECHECK_INTERVAL = timedelta(seconds=30)  # while the file is damaged
_FIRST_ANSWERS = timedelta(minutes=1)  # in which answers start no reading, because a process that starts has more to do
# What no document has: text of zeros, which a damaged page leaves, and values that are not JSON.
_BAD_DOCUMENTS = """
SELECT count(*) FROM document
WHERE instr(CAST(text AS BLOB), zeroblob(16)) OR NOT json_valid(vals) OR NOT json_valid(readers) OR doc_id = ''
"""


class IndexFileCheck:
    """Safe to share between threads."""

    def __init__(self, database: EmbeddedDatabase, *, interval: timedelta = _CHECK_INTERVAL) -> None:
        self._database, self._path = database, Path(database.location)
        self._interval_s = interval.total_seconds()
        self._opened_at_s = time.monotonic()
        self._checked_at_s: float | None = None
        self._damage: IndexDamaged | None = None
        self._reading: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @property
    def is_due(self) -> bool:
        """Whether the whole file should be read again."""
        if self._checked_at_s is None or self._database.has_read_damage:
            return True
        interval_s = self._interval_s if self._damage is None else _RECHECK_INTERVAL.total_seconds()
        return time.monotonic() - self._checked_at_s >= interval_s

    @property
    def is_due_for_answers(self) -> bool:
        """The same for a process that nobody asks whether it is ready."""
        return self.is_due and time.monotonic() - self._opened_at_s >= _FIRST_ANSWERS.total_seconds()

    @property
    def is_replaced(self) -> bool:
        """Whether another file is in the place of the one that was opened."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) != self._database.file_identity

    def raise_if_damaged(self) -> None:
        """Raises `IndexDamaged` if the last reading of the whole file found damage, or if the file was replaced."""
        if self._damage is not None:
            raise IndexDamaged(self._damage.location, self._damage.reason)
        self._check_identity()

    def check_quickly(self) -> None:
        """Check the header and the length of the file; write and read back.

        Raises `IndexDamaged`, `IndexUnavailable`. A busy writer counts as proof that the file can be written.
        """
        self._check_header()
        token = uuid.uuid4().hex
        try:
            with self._database.write_transaction(is_impatient=True) as connection:
                connection.execute("INSERT OR REPLACE INTO write_check(id, token) VALUES(1, ?)", (token,))
                (stored,) = connection.execute("SELECT token FROM write_check WHERE id = 1").fetchone()
        except IndexTimedOut:
            return
        if stored != token:
            raise IndexDamaged(self._database.location, "it does not keep what is written")

    def check_content(self) -> None:
        """Read the whole file, in a connection of its own that has nothing in its cache."""
        try:
            problem = self._find_content_problem()
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_INTERRUPT:  # the index is being closed
                return
            problem = str(exc)
        except sqlite3.Error as exc:
            problem = str(exc)
        self._database.has_read_damage = False
        self._checked_at_s = time.monotonic()
        self._damage = None if problem is None else self._damage_of(problem)

    def interrupt(self) -> None:
        """End a running `check_content` early."""
        with self._lock:
            if self._reading is not None:
                self._reading.interrupt()

    def _check_header(self) -> None:
        try:
            header, status = _read_header(self._path)
        except FileNotFoundError as exc:
            raise self._damage_of("it is missing") from exc
        except OSError as exc:
            raise IndexUnavailable(self._database.location, f"the file cannot be read ({exc.strerror})") from exc
        self._compare_identity(status)
        if not header.startswith(_MAGIC):
            raise self._damage_of("it is empty" if not header else "it does not begin like an index")
        page_size = int.from_bytes(header[16:18], "big")
        page_size = 65_536 if page_size == 1 else page_size
        is_page_count_valid = header[24:28] == header[92:96]
        if is_page_count_valid and status.st_size < page_size * int.from_bytes(header[28:32], "big"):
            raise self._damage_of("its end is missing")

    def _check_identity(self) -> None:
        try:
            status = os.stat(self._path)  # noqa: PTH116 - a third of the time of `Path.stat`, for every answer
        except FileNotFoundError as exc:
            raise self._damage_of("it is missing") from exc
        except OSError as exc:
            raise IndexUnavailable(self._database.location, f"the file cannot be read ({exc.strerror})") from exc
        self._compare_identity(status)

    def _compare_identity(self, status: os.stat_result) -> None:
        if (status.st_dev, status.st_ino) != self._database.file_identity:
            raise IndexDamaged(
                self._database.location, "the file was replaced after it had been opened: start Parley again"
            )

    def _find_content_problem(self) -> str | None:
        with closing(
            sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
        ) as connection:
            with self._lock:
                self._reading = connection
            try:
                (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if result != "ok":
                    return " ".join(str(result).split())
                (bad_documents,) = connection.execute(_BAD_DOCUMENTS).fetchone()
                return f"{bad_documents:,} documents are not what was stored" if bad_documents else None
            finally:
                with self._lock:
                    self._reading = None

    def _damage_of(self, problem: str) -> IndexDamaged:
        return IndexDamaged(self._database.location, damage_reason_for(problem))


_HEADER_BYTES = 100
_MAX_HELD_FILES = 32
_HELD_FILES: OrderedDict[Path, int] = OrderedDict()  # descriptors, the one that was read last at the end
_HELD_FILES_LOCK = threading.Lock()


def _read_header(path: Path) -> tuple[bytes, os.stat_result]:
    """The first bytes of the file, and its status. Raises `OSError`.

    On POSIX, closing any descriptor of a file ends all locks that the process has on it, those of SQLite too
    (https://www.sqlite.org/howtocorrupt.html, section 2.2): another process would take itself for the last one, and
    delete the write-ahead log while it is in use. So the descriptors of the latest 32 files stay open.
    """
    if not hasattr(os, "pread"):  # Windows, where each descriptor has its own locks
        with path.open("rb") as file:
            return file.read(_HEADER_BYTES), os.fstat(file.fileno())
    with _HELD_FILES_LOCK:
        status, descriptor = path.stat(), _HELD_FILES.pop(path, None)
        if descriptor is not None and not os.path.samestat(os.fstat(descriptor), status):
            os.close(descriptor)  # of the file that was replaced by this one
            descriptor = None
        if descriptor is None:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        _HELD_FILES[path] = descriptor
        if len(_HELD_FILES) > _MAX_HELD_FILES:
            os.close(_HELD_FILES.popitem(last=False)[1])
        return os.pread(descriptor, _HEADER_BYTES, 0), os.fstat(descriptor)
