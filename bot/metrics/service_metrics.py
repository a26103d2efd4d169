"""The metrics that `/metrics` serves: what this process and its worker processes have done, and the state of what all
processes share.

No label holds a text, a person, a bucket or a document: the values of each are few and known beforehand, except for the
names of the configured models.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bot.language_model.measured_call import MeasuredCall
from bot.metrics.operation_measurements import (
    DeliveryMeasurement,
    ExportMeasurement,
    IndexRequestMeasurement,
    JobMeasurement,
    OperationMeasurement,
    SyncMeasurement,
    WebSearchMeasurement,
)
from bot.turns.measurements import TurnMeasurement

if TYPE_CHECKING:  # this module is loaded before most others, so that the worker processes start early
    from storage.sql.service_state import ServiceState

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SHARE_BOUNDS: Final = (0.2, 0.4, 0.6, 0.8, 1.0)
_DURATION_BOUNDS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_LATENCY_BOUNDS_S: Final = (*_DURATION_BOUNDS_S[2:], 120.0, 300.0, 600.0)


class ServiceMetrics:
    """Has its own registry, so that two applications in one process do not mix their metrics.

    `turn_slots`: how many turns one process works on at the same time.
    """

    def __init__(self, turn_slots: int = 0) -> None:
        self._registry, self._turn_slots = CollectorRegistry(), turn_slots
        ProcessCollector(registry=self._registry)
        Info("parley", "The program.", registry=self._registry).info({"version": version("parley")})
        self._turns = _TurnMetrics(self._registry)
        self._calls = _ModelCallMetrics(self._registry)
        self._operations = _OperationMetrics(self._registry)
        self._requests = _RequestMetrics(self._registry)
        self._service_state = _ServiceStateCollector()
        self._registry.register(self._service_state)
        self._ready_gauge = Gauge("parley_ready", "1 if /readyz says ready, else 0.", registry=self._registry)
        self._worker_gauge = Gauge(
            "parley_worker_processes", "Processes that answer.", ("state",), registry=self._registry
        )
        self._slot_gauge = Gauge(
            "parley_turn_slots", "Turns that this service can work on at the same time.", registry=self._registry
        )
        self._slot_gauge.set(turn_slots)

    def record_turn(self, measurement: TurnMeasurement) -> None:
        """Its model calls are recorded by `record_calls`, as are those after it."""
        self._turns.record_turn(measurement)

    def record_calls(self, calls: Sequence[MeasuredCall]) -> None:
        for call in calls:
            self._calls.record_call(call)

    def record_operation(self, measurement: OperationMeasurement) -> None:
        self._operations.record_operation(measurement)

    def record_request(self, *, route: str, status: int, seconds: float) -> None:
        """`route`: the pattern of its path, so that no path names anything."""
        self._requests.record_request(route, status, seconds)

    def set_ready_workers(self, ready: int) -> None:
        """The number of worker processes that are ready. Never set where no worker processes are configured."""
        self._worker_gauge.labels("ready").set(ready)
        self._slot_gauge.set(ready * self._turn_slots)

    def set_background_workers(self, ready: int) -> None:
        """The number of processes that are ready to answer background turns; they do not count in the others."""
        self._worker_gauge.labels("background").set(ready)

    def set_configured_workers(self, configured: int) -> None:
        """The number of worker processes that there should be."""
        self._worker_gauge.labels("configured").set(configured)

    def set_service_state(self, state: "ServiceState | None", *, is_ready: bool) -> None:
        """What the next texts show. None: it is unknown, and left out of them."""
        self._service_state.state = state
        self._ready_gauge.set(is_ready)

    def render_text(self) -> bytes:
        """The metrics in Prometheus' text format, with the content type `CONTENT_TYPE`."""
        return generate_latest(self._registry)


class _TurnMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._turn_counter = Counter("parley_turns", "Turns finished.", ("surface", "outcome"), registry=registry)
        self._turn_seconds = Histogram(
            "parley_turn_seconds",
            "From the claim of a turn to its end.",
            ("surface",),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )
        self._latency_seconds = Histogram(
            "parley_turn_latency_seconds",
            "From the receipt of a message to the end of its turn, with waits and earlier attempts.",
            ("surface",),
            buckets=_LATENCY_BOUNDS_S,
            registry=registry,
        )
        self._stage_seconds = Histogram(
            "parley_stage_seconds", "Stages of answers.", ("stage",), buckets=_DURATION_BOUNDS_S, registry=registry
        )
        self._fallback_counter = Counter(
            "parley_stage_fallbacks", "Stages that rules took over.", ("stage",), registry=registry
        )
        self._completeness = Histogram(
            "parley_evidence_completeness",
            "Share of a question that the evidence answers, at each review by a model.",
            ("surface",),
            buckets=_SHARE_BOUNDS,
            registry=registry,
        )

    def record_turn(self, measurement: TurnMeasurement) -> None:
        self._turn_counter.labels(measurement.surface, measurement.outcome).inc()
        self._turn_seconds.labels(measurement.surface).observe(measurement.seconds)
        self._latency_seconds.labels(measurement.surface).observe(measurement.latency_s)
        for stage in measurement.stages:
            self._stage_seconds.labels(stage.name).observe(stage.ms / 1000)
        for stage_name in measurement.fallback_stages:
            self._fallback_counter.labels(stage_name).inc()
        for completeness in measurement.completeness:
            self._completeness.labels(measurement.surface).observe(completeness)


class _OperationMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._index_counter = Counter(
            "parley_index_requests", "Requests to the index.", ("operation", "outcome"), registry=registry
        )
        self._index_seconds = Histogram(
            "parley_index_request_seconds",
            "From a request to the index to its answer or failure.",
            ("operation",),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )
        self._delivery_counter = Counter(
            "parley_deliveries",
            "Calls of chat products for replies.",
            ("surface", "operation", "outcome"),
            registry=registry,
        )
        self._delivery_seconds = Histogram(
            "parley_delivery_seconds",
            "From a call of a chat product to its answer or failure.",
            ("surface", "operation"),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )
        self._export_counter = Counter("parley_exports", "Files written.", ("outcome",), registry=registry)
        self._row_counter = Counter("parley_exported_rows", "Rows of finished files.", registry=registry)
        self._export_seconds = Histogram(
            "parley_export_seconds",
            "The time that the last attempt at a finished file took.",
            buckets=_LATENCY_BOUNDS_S,
            registry=registry,
        )
        self._sync_counter = Counter("parley_source_syncs", "Runs of sources.", ("outcome",), registry=registry)
        self._document_counter = Counter(
            "parley_synced_documents", "Documents that sources brought.", ("result",), registry=registry
        )
        self._job_counter = Counter(
            "parley_job_runs", "Runs of background jobs.", ("name", "outcome"), registry=registry
        )
        self._job_seconds = Histogram(
            "parley_job_seconds",
            "From the beginning of a run of a background job to its end.",
            ("name",),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )
        self._web = _WebSearchMetrics(registry)

    def record_operation(self, measurement: OperationMeasurement) -> None:
        match measurement:
            case IndexRequestMeasurement(operation=operation, outcome=outcome, seconds=seconds):
                self._index_counter.labels(operation, outcome).inc()
                self._index_seconds.labels(operation).observe(seconds)
            case DeliveryMeasurement(surface=surface, operation=operation, outcome=outcome, seconds=seconds):
                self._delivery_counter.labels(surface, operation, outcome).inc()
                self._delivery_seconds.labels(surface, operation).observe(seconds)
            case ExportMeasurement(outcome=outcome, rows=rows, seconds=seconds):
                self._export_counter.labels(outcome).inc()
                self._row_counter.inc(rows)
                if outcome == "done":
                    self._export_seconds.observe(seconds)
            case SyncMeasurement(outcome=outcome, documents=documents):
                self._sync_counter.labels(outcome).inc()
                self._count_documents(documents)
            case JobMeasurement(name=name, outcome=outcome, seconds=seconds):
                self._job_counter.labels(name, outcome).inc()
                self._job_seconds.labels(name).observe(seconds)
            case WebSearchMeasurement():
                self._web.record_search(measurement)
            case _:
                assert_never(measurement)

    def _count_documents(self, documents: Mapping[str, int]) -> None:
        for result, count in documents.items():
            self._document_counter.labels(result).inc(count)


class _WebSearchMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._search_counter = Counter(
            "parley_web_searches", "Questions for which the web was searched.", ("outcome",), registry=registry
        )
        self._url_counter = Counter(
            "parley_web_urls",
            "URLs that web searches found, and those that were crawled.",
            ("state",),
            registry=registry,
        )
        self._request_counter = Counter(
            "parley_web_server_requests", "Requests to the search server.", registry=registry
        )
        self._byte_counter = Counter(
            "parley_web_page_bytes", "Bytes of the crawled pages, uncompressed.", registry=registry
        )
        self._completeness = Histogram(
            "parley_web_completeness",
            "Share of a question that the pages of the web answer.",
            buckets=_SHARE_BOUNDS,
            registry=registry,
        )

    def record_search(self, measurement: WebSearchMeasurement) -> None:
        self._search_counter.labels(measurement.outcome).inc()
        self._url_counter.labels("found").inc(measurement.urls_found)
        self._url_counter.labels("crawled").inc(measurement.urls_crawled)
        self._request_counter.inc(measurement.server_requests)
        self._byte_counter.inc(measurement.bytes_read)
        self._completeness.observe(measurement.completeness)


class _RequestMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._request_counter = Counter(
            "parley_http_requests", "Requests answered.", ("route", "status"), registry=registry
        )
        self._request_seconds = Histogram(
            "parley_http_request_seconds",
            "From a request's header to the end of its answer.",
            ("route",),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )

    def record_request(self, route: str, status: int, seconds: float) -> None:
        self._request_counter.labels(route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)


class _ServiceStateCollector:
    """Gauges of what all processes share: each service reports the same, so a query takes `max` of them."""

    def __init__(self) -> None:
        self.state: ServiceState | None = None

    def collect(self) -> Iterator[Metric]:
        """No family while the state is unknown."""
        if (state := self.state) is None:
            return
        turns = {"waiting": state.waiting_turns, "running": state.running_turns, "paused": state.paused_turns}
        yield _gauge_of("parley_queue_turns", "Open turns.", "state", turns)
        yield GaugeMetricFamily(
            "parley_queue_oldest_seconds", "Since the oldest waiting turn was received.", state.oldest_waiting_s
        )
        export_counts = {"queued": 0, "running": 0} | dict(state.export_counts)
        yield _gauge_of("parley_export_jobs", "Exports that are not finished.", "state", export_counts)
        yield _gauge_of("parley_sources", "Sources by the outcome of their last run.", "outcome", state.source_counts)


def _gauge_of(name: str, description: str, label: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, description, labels=(label,))
    for value, count in counts.items():
        family.add_metric((value,), count)
    return family


class _ModelCallMetrics:
    """The part of the metrics about language models. A call of unknown price adds nothing to the cost."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._call_counter = Counter(
            "parley_model_calls", "Calls of language models.", ("model", "prompt", "outcome"), registry=registry
        )
        self._token_counter = Counter(
            "parley_model_tokens", "Tokens sent and received.", ("model", "direction"), registry=registry
        )
        self._cost_counter = Counter(
            "parley_model_cost_usd", "Cost of the calls whose price is known.", ("model",), registry=registry
        )
        self._unpriced_counter = Counter(
            "parley_model_unpriced_calls", "Calls whose price is unknown.", ("model",), registry=registry
        )
        self._call_seconds = Histogram(
            "parley_model_call_seconds",
            "From a request to the end of its reply.",
            ("model",),
            buckets=_DURATION_BOUNDS_S,
            registry=registry,
        )

    def record_call(self, call: MeasuredCall) -> None:
        self._call_counter.labels(call.model, call.prompt, "failed" if call.is_failed else "ok").inc()
        self._token_counter.labels(call.model, "in").inc(call.input_tokens)
        self._token_counter.labels(call.model, "out").inc(call.output_tokens)
        self._call_seconds.labels(call.model).observe(call.seconds)
        if call.cost_usd is not None:
            self._cost_counter.labels(call.model).inc(call.cost_usd)
        elif not call.is_failed:
            self._unpriced_counter.labels(call.model).inc()
