"""What single operations report to the metrics: no texts, and no names of people, buckets or documents.

This module is loaded before most others, so it imports none of them.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field


class IndexOperation(StrEnum):
    """A kind of request to the index."""

    SEARCH = "search"  # all requests of one round trip
    VOCABULARY = "vocabulary"  # the values by which words of questions are understood
    SCHEMA = "schema"
    WRITE = "write"
    DELETE = "delete"
    INSPECT = "inspect"  # sizes, states and digests of buckets
    EMBED = "embed"  # vectors of another embedder


class DeliveryOperation(StrEnum):
    """A kind of call of a chat product."""

    OPEN = "open"  # the first message of a turn, with a wait for a reply that is there soon
    POST = "post"
    UPDATE = "update"
    ATTACH = "attach"  # files
    FIND = "find"  # a message that an earlier attempt may have posted


class IndexRequestMeasurement(BaseModel):
    """One round trip. `outcome`: `ok`, or as `index_outcome_of` says."""

    kind: Literal["index"] = "index"
    operation: IndexOperation
    outcome: str
    seconds: float


class DeliveryMeasurement(BaseModel):
    """One call. `outcome`: `ok`, or as `delivery_outcome_of` says."""

    kind: Literal["delivery"] = "delivery"
    surface: str
    operation: DeliveryOperation
    outcome: str
    seconds: float


class ExportMeasurement(BaseModel):
    """A file that was written, or that cannot be."""

    kind: Literal["export"] = "export"
    outcome: Literal["done", "failed", "interrupted"]
    rows: int = 0
    seconds: float


class SyncMeasurement(BaseModel):
    """A run of a source. `documents` by what was done with them."""

    kind: Literal["sync"] = "sync"
    outcome: str
    documents: dict[str, int] = {}


class JobMeasurement(BaseModel):
    """A run of a background job. `name`: a `JobName`."""

    kind: Literal["job"] = "job"
    name: str
    outcome: Literal["ok", "failed"]
    seconds: float


class WebSearchMeasurement(BaseModel):
    """A search of the web for one question. `outcome`: the status of its report. `completeness`: from 0 to 1.

    `server_requests`: to the search server. `bytes_read`: of the crawled pages, uncompressed.
    """

    kind: Literal["web_search"] = "web_search"
    outcome: str
    rounds: int
    completeness: float
    urls_found: int
    urls_crawled: int
    server_requests: int = 0
    bytes_read: int = 0


OperationMeasurement: TypeAlias = Annotated[
    IndexRequestMeasurement
    | DeliveryMeasurement
    | ExportMeasurement
    | SyncMeasurement
    | JobMeasurement
    | WebSearchMeasurement,
    Field(discriminator="kind"),
]
OperationObserver: TypeAlias = Callable[[OperationMeasurement], None]


class OperationObservers:
    """Passes measurements on to all observers of this process."""

    def __init__(self) -> None:
        self._observers: list[OperationObserver] = []

    def add_observer(self, observer: OperationObserver) -> None:
        """Calls `observer` for each operation that ends in this process."""
        self._observers.append(observer)

    def report_operation(self, measurement: OperationMeasurement) -> None:
        for notify_observer in self._observers:
            notify_observer(measurement)


def ignore_operation(measurement: OperationMeasurement) -> None:
    """The default observer."""
