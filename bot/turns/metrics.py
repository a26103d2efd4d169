"""The metrics that `/metrics` serves: turns and their stages, and calls of language models. They cover this process and
its worker processes.
"""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bot.language_model.measured_call import MeasuredCall
from bot.turns.measurements import TurnMeasurement

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SHARE_BOUNDS = (0.2, 0.4, 0.6, 0.8, 1.0)
_DURATION_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class TurnMetrics:
    """Has its own registry, so that two applications in one process do not mix their metrics."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._turn_counter = Counter("parley_turns", "Turns finished.", ("surface", "outcome"), registry=self._registry)
        self._turn_seconds = self._create_histogram(
            "parley_turn_seconds", "From the claim of a turn to its end.", "surface"
        )
        self._stage_seconds = self._create_histogram("parley_stage_seconds", "Stages of answers.", "stage")
        self._fallback_counter = Counter(
            "parley_stage_fallbacks", "Stages that rules took over.", ("stage",), registry=self._registry
        )
        self._completeness = Histogram(
            "parley_evidence_completeness",
            "Share of a question that the evidence answers, at each review by a model.",
            ("surface",),
            buckets=_SHARE_BOUNDS,
            registry=self._registry,
        )
        self._worker_gauge = Gauge("parley_answerers", "Processes that answer.", ("state",), registry=self._registry)
        self._calls = _ModelCallMetrics(self._registry)

    def _create_histogram(self, name: str, description: str, label: str) -> Histogram:
        return Histogram(name, description, (label,), buckets=_DURATION_BOUNDS_S, registry=self._registry)

    def record_turn(self, measurement: TurnMeasurement) -> None:
        """Its model calls are recorded by `record_calls`, as are those after it."""
        self._turn_counter.labels(measurement.surface, measurement.outcome).inc()
        self._turn_seconds.labels(measurement.surface).observe(measurement.seconds)
        for stage in measurement.stages:
            self._stage_seconds.labels(stage.name).observe(stage.ms / 1000)
        for stage_name in measurement.fallback_stages:
            self._fallback_counter.labels(stage_name).inc()
        for completeness in measurement.completeness:
            self._completeness.labels(measurement.surface).observe(completeness)

    def record_calls(self, calls: Sequence[MeasuredCall]) -> None:
        for call in calls:
            self._calls.record_call(call)

    def set_ready_workers(self, ready: int) -> None:
        """The number of worker processes that are ready. Never set where no worker processes are configured."""
        self._worker_gauge.labels("ready").set(ready)

    def render_text(self) -> bytes:
        """The metrics in Prometheus' text format, with the content type `CONTENT_TYPE`."""
        return generate_latest(self._registry)


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
