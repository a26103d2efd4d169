"""Limits the CPU time that the main process spends on what was read from one file.

Nothing can end a thread from outside. So `check_work` appears in the loops over lines, stretches and fields, where each
step takes little time.
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, get_ident
from time import thread_time
from typing import TypeAlias

from storage.ingest.errors import UnparsableFile
from storage.ingest.limits import ParserLimits, work_too_long_error


class WorkBudget:
    """The CPU time for the documents of one file. As a context manager, counts the time of the calling thread.

    It cannot be entered again within itself.
    """

    def __init__(self, limits: ParserLimits) -> None:
        self._limits, self._lock = limits, Lock()
        self._spent_s, self._character_count, self._is_reported = 0.0, 0, False
        self.document_count = 0
        self.is_exceeded = False

    @property
    def limit_s(self) -> float:
        """Seconds of CPU for the documents that were added so far."""
        return self._limits.work_cpu_s_for(self.document_count, self._character_count)

    @property
    def error(self) -> UnparsableFile:
        return work_too_long_error(self.limit_s, self.document_count)

    def add_document(self, character_count: int) -> None:
        """Allows the time that a document with so many characters may take."""
        self.document_count += 1
        self._character_count += character_count

    def report_once(self) -> bool:
        """Whether this is the first call, so that a file is reported once."""
        was_reported, self._is_reported = self._is_reported, True
        return not was_reported

    def end(self) -> None:
        """Allows no more time. Raises `UnparsableFile`."""
        self.is_exceeded = True
        raise self.error

    def __enter__(self) -> "WorkBudget":
        self.check(0.0)
        _measurement.set((self, get_ident(), thread_time()))
        return self

    def __exit__(self, *exc: object) -> None:
        measurement = _measurement.get()
        _measurement.set(None)
        if measurement is not None:
            with self._lock:
                self._spent_s += thread_time() - measurement[2]

    def check(self, unsaved_s: float) -> None:
        """Raises `UnparsableFile` if more time was spent than the limit, with `unsaved_s` of the current block."""
        if self.is_exceeded or self._spent_s + unsaved_s > self.limit_s:
            self.end()


_Measurement: TypeAlias = tuple[WorkBudget, int, float]  # the budget, the thread, its CPU seconds at the beginning
_measurement: ContextVar[_Measurement | None] = ContextVar("measurement", default=None)
_lent_budget: ContextVar[WorkBudget | None] = ContextVar("lent_budget", default=None)


def check_work() -> None:
    """Raises `UnparsableFile` if the file that this thread works on has taken more CPU time than it may."""
    measurement = _measurement.get()
    if measurement is not None and measurement[1] == get_ident():
        measurement[0].check(thread_time() - measurement[2])


@contextmanager
def lend_budget(budget: WorkBudget | None) -> Generator[None]:
    """Lets a thread that is started within the block count its time in the budget, with `borrowed_budget`."""
    token = _lent_budget.set(budget)
    try:
        yield
    finally:
        _lent_budget.reset(token)


def borrowed_budget() -> AbstractContextManager[object]:
    """Returns the budget that the code that started this thread lends; a context without effect if it lends none."""
    return _lent_budget.get() or nullcontext()
