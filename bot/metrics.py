"""What `/metrics` says: turns by surface and outcome, and how long they took. Of this process, and of those that it has
answer beside it.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Its own registry: two bots in one process do not mix."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._turns = Counter("parley_turns", "Turns finished.", ("surface", "outcome"), registry=self._registry)
        self._seconds = Histogram(
            "parley_turn_seconds",
            "From the claim of a turn to its end.",
            ("surface",),
            buckets=_SECONDS,
            registry=self._registry,
        )

        self._answerers = Gauge("parley_answerers", "Processes that answer.", ("state",), registry=self._registry)

    def turn(self, surface: str, outcome: str, seconds: float) -> None:
        self._turns.labels(surface, outcome).inc()
        self._seconds.labels(surface).observe(seconds)

    def answerers(self, ready: int) -> None:
        """Processes that work on turns beside this one; not told of where there are none to be."""
        self._answerers.labels("ready").set(ready)

    def text(self) -> bytes:
        """In Prometheus' text format, of `CONTENT_TYPE`."""
        return generate_latest(self._registry)
