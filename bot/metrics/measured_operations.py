"""Reports requests to the index and calls of chat products to the metrics, also those that fail."""

from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

from bot.metrics.operation_measurements import (
    DeliveryMeasurement,
    DeliveryOperation,
    IndexOperation,
    IndexRequestMeasurement,
    OperationObserver,
)
from bot.surface.outbox import MessageGone, OutboxFailed
from storage.search.errors import EmbedderUnavailable, IndexDamaged, IndexTimedOut, IndexUnavailable, SearchError


@contextmanager
def measured_index_request(observer: OperationObserver, operation: IndexOperation) -> Generator[None]:
    """Reports the block as a request to the index if it ends or raises `SearchError`; not if it is cancelled."""
    started_s = perf_counter()

    def report_outcome(outcome: str) -> None:
        seconds = perf_counter() - started_s
        observer(IndexRequestMeasurement(operation=operation, outcome=outcome, seconds=seconds))

    try:
        yield
    except SearchError as exc:
        report_outcome(index_outcome_of(exc))
        raise
    report_outcome("ok")


@contextmanager
def measured_delivery(observer: OperationObserver, surface: str, operation: DeliveryOperation) -> Generator[None]:
    """Reports the block as a call of a chat product if it ends or raises `OutboxFailed`; not if it is cancelled."""
    started_s = perf_counter()

    def report_outcome(outcome: str) -> None:
        seconds = perf_counter() - started_s
        observer(DeliveryMeasurement(surface=surface, operation=operation, outcome=outcome, seconds=seconds))

    try:
        yield
    except OutboxFailed as exc:
        report_outcome(delivery_outcome_of(exc))
        raise
    report_outcome("ok")


def index_outcome_of(exc: SearchError) -> str:
    """`timed_out`, `damaged`, `unavailable`, `embedder` (it does not answer), or `refused` (a wrong request)."""
    match exc:
        case IndexTimedOut():
            return "timed_out"
        case IndexDamaged():
            return "damaged"
        case IndexUnavailable():
            return "unavailable"
        case EmbedderUnavailable():
            return "embedder"
        case _:
            return "refused"


def delivery_outcome_of(exc: OutboxFailed) -> str:
    """`gone`: a person has deleted the message. `unavailable`: another try may help. `refused`: none will."""
    match exc:
        case MessageGone():
            return "gone"
        case OutboxFailed(retry=True):
            return "unavailable"
        case _:
            return "refused"
