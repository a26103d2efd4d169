"""What was measured, as lines of one table."""

import math
import statistics
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One quantity, once per run. `aim`: at most; `bare`: the same without Parley, for the ratio."""

    name: str
    unit: str
    runs: tuple[float, ...]
    aim: float | None = None
    bare: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.runs)


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds of processor time of the whole process, all threads, one for each `lap`."""

    laps: list[float] = field(default_factory=list[float])

    @contextmanager
    def lap(self) -> Generator[None]:
        started = time.process_time()
        yield
        self.laps.append((time.process_time() - started) * 1000)


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest of the values that at least so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def table(figures: Sequence[Figure]) -> Table:
    shown = Table(title="Parley, measured", title_justify="left")
    for heading in ("what", "median", "min", "max", "aim", "bare", "ratio", ""):
        shown.add_column(heading, justify="left" if heading in ("what", "") else "right", overflow="fold")
    for one in figures:
        shown.add_row(
            one.name,
            f"{one.median:,.2f} {one.unit}".rstrip(),
            f"{min(one.runs):,.2f}",
            f"{max(one.runs):,.2f}",
            "" if one.aim is None else f"≤ {one.aim:g}",
            "" if one.bare is None else f"{one.bare:,.2f}",
            "" if not one.bare else f"{one.median / one.bare:.2f}",
            one.note,
        )
    return shown
