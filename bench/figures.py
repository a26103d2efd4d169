"""Measured figures, and their table."""

import math
import statistics
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFigure:
    """One quantity, measured once per run. `target`: the highest good value; `baseline`: the same without Parley."""

    name: str
    unit: str
    run_values: tuple[float, ...]
    target: float | None = None
    baseline: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.run_values)


@dataclass(slots=True)
class CpuStopwatch:
    """Measures CPU time in milliseconds, of all threads of the process, once for each `time_lap`."""

    laps_ms: list[float] = field(default_factory=list[float])

    @contextmanager
    def time_lap(self) -> Generator[None]:
        started = time.process_time()
        yield
        self.laps_ms.append((time.process_time() - started) * 1000)


def percentile_of(values: Iterable[float], percent: float) -> float:
    """The percentile by nearest rank: the smallest value such that `percent` % of the values are not above it."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def build_figure_table(figures: Sequence[BenchmarkFigure]) -> Table:
    table = Table(title="Parley, measured", title_justify="left")
    for heading in ("what", "median", "min", "max", "aim", "bare", "ratio", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right", overflow="fold")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.median:,.2f} {figure.unit}".rstrip(),
            f"{min(figure.run_values):,.2f}",
            f"{max(figure.run_values):,.2f}",
            "" if figure.target is None else f"≤ {figure.target:g}",
            "" if figure.baseline is None else f"{figure.baseline:,.2f}",
            "" if not figure.baseline else f"{figure.median / figure.baseline:.2f}",
            figure.note,
        )
    return table
