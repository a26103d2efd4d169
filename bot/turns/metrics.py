"""The metrics that `/metrics` serves: turns by surface and outcome, and their durations. They cover this process and
its worker processes.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_DURATION_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class TurnMetrics:
    """Has its own registry, so that two applications in one process do not mix their metrics."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._turn_counter = Counter("parley_turns", "Turns finished.", ("surface", "outcome"), registry=self._registry)
        self._turn_seconds = Histogram(
            "parley_turn_seconds",
            "From the claim of a turn to its end.",
            ("surface",),
            buckets=_DURATION_BOUNDS_S,
            registry=self._registry,
        )

        self._worker_gauge = Gauge("parley_answerers", "Processes that answer.", ("state",), registry=self._registry)

    def record_turn(self, surface: str, outcome: str, seconds: float) -> None:
        self._turn_counter.labels(surface, outcome).inc()
        self._turn_seconds.labels(surface).observe(seconds)

    def set_ready_workers(self, ready: int) -> None:
        """The number of worker processes that are ready. Never set where no worker processes are configured."""
        self._worker_gauge.labels("ready").set(ready)

    def render_text(self) -> bytes:
        """The metrics in Prometheus' text format, with the content type `CONTENT_TYPE`."""
        return generate_latest(self._registry)
