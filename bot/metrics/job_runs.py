"""The runs of the background jobs of this process, for those who observe them from the beginning to the end."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import StrEnum
from time import perf_counter
from typing import TypeAlias

from bot.metrics.operation_measurements import JobMeasurement, OperationObserver


class JobName(StrEnum):
    """What runs in the background: `WARM_UP` once, `REPORT_SAVED_SEARCH` as a turn, and the others periodically."""

    WARM_UP = "warm_up"
    EXPIRE_CLARIFICATIONS = "expire_clarifications"
    DISCARD_STALE_INDEXES = "discard_stale_indexes"  # of attached files
    EXPIRE_EXPORTED_FILES = "expire_exported_files"
    EXPIRE_FILE_OFFERS = "expire_file_offers"
    EXPIRE_ATTACHED_FILES = "expire_attached_files"
    SYNC_SOURCES = "sync_sources"
    EXPIRE_TURNS = "expire_turns"
    EXPIRE_DOCUMENTS = "expire_documents"
    EXPIRE_WEB_PAGES = "expire_web_pages"
    START_SAVED_SEARCHES = "start_saved_searches"
    REPORT_SAVED_SEARCH = "report_saved_search"


JobObserver: TypeAlias = Callable[[JobName], AbstractContextManager[None]]


class JobRuns:
    """Enters the context managers of all observers around each run."""

    def __init__(self) -> None:
        self._observers: list[JobObserver] = []

    def add_observer(self, observer: JobObserver) -> None:
        """From now on, `observer(name)` is entered when a run begins, and left when it ends, fails or is cancelled."""
        self._observers.append(observer)

    @contextmanager
    def observed_run(self, name: JobName) -> Generator[None]:
        with ExitStack() as stack:
            for open_observation in self._observers:
                stack.enter_context(open_observation(name))
            yield


def job_measurer_for(observer: OperationObserver) -> JobObserver:
    """Reports each run that ends or fails to the metrics; not one that is cancelled."""

    @contextmanager
    def measured_run(name: JobName) -> Generator[None]:
        started_s, outcome = perf_counter(), "failed"
        try:
            yield
            outcome = "ok"
        except Exception:
            raise
        except BaseException:
            outcome = ""
            raise
        finally:
            if outcome:
                observer(JobMeasurement(name=name, outcome=outcome, seconds=perf_counter() - started_s))

    return measured_run
