"""How a facet cuts numbers and days into cells, for every engine alike.

An engine gives the distinct values of a set with their counts; what becomes of them is decided here.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from itertools import accumulate

from storage.search.index import PeriodCount, RangeCount
from storage.search.plan import Period

_STEPS = (Decimal(10), Decimal(5), Decimal(2))  # within a power of ten, the roundest first
_FINEST = 20  # powers of ten tried below the larger number; doubles have 17 digits


def ranges_of(counted: Sequence[tuple[float, int]], parts: int) -> tuple[RangeCount, ...]:
    """At most `parts` ranges of near equal count, cut at the roundest number near each quantile.

    `counted`: distinct values, ascending, each with its documents. A cut may lie a third of a part beside its quantile
    where that makes it rounder. The first range begins at a round number at or below the lowest value.
    """
    if not counted:
        return ()
    values = [value for value, _ in counted]
    below = [0, *accumulate(count for _, count in counted)]  # documents under values[i]
    cuts = _cuts(values, below, parts)
    low = _roundest(2 * Decimal(repr(values[0])) - Decimal(repr(cuts[0])), values[0]) if cuts else values[0]
    lows, highs = [low, *cuts], [*cuts, None]
    at = [0, *(bisect_left(values, cut) for cut in cuts), len(values)]
    return tuple(
        RangeCount(low=low, high=high, count=below[at[i + 1]] - below[at[i]])
        for i, (low, high) in enumerate(zip(lows, highs, strict=True))
    )


def _cuts(values: Sequence[float], below: Sequence[int], parts: int) -> list[float]:
    total, last = below[-1], len(values) - 1
    if last == 0:
        return []
    cuts = dict[int, float]()  # the first value at or above the cut -> the cut
    for part in range(1, parts):
        target, slack = total * part / parts, total / parts / 3
        first = min(max(bisect_left(below, target - slack), 1), last)
        final = max(min(bisect_left(below, target + slack), last), first)
        if below[final] > target + slack and final > first:
            final -= 1
        cut = _roundest(Decimal(repr(values[first - 1])), values[final])
        cuts.setdefault(bisect_left(values, cut), cut)
    return [cuts[at] for at in sorted(cuts)]


def _roundest(low: Decimal, high: float) -> float:
    """The roundest number over `low`, up to and with `high`."""
    top = Decimal(repr(high))
    if low < 0 <= top:
        return 0.0
    power = max(abs(low), abs(top)).adjusted()
    for step in (base.scaleb(power - down) for down in range(_FINEST) for base in _STEPS):
        found = float((top / step).to_integral_value(ROUND_FLOOR) * step)
        if Decimal(repr(found)) > low and found <= high:
            return found + 0.0
    return high


def periods_of(counted: Sequence[tuple[str, int]], parts: int) -> tuple[PeriodCount, ...]:
    """The days of a set by the longest period that splits it: years, else quarters, months, days.

    `counted`: distinct ISO days, ascending, each with its documents. Beyond `parts` the oldest periods are merged into
    one cell, from the first day of the oldest to the last day of the newest of them. Days that nothing splits are one
    cell of their year.
    """
    for period in (Period.YEAR, Period.QUARTER, Period.MONTH, Period.DAY):
        cells = _by_period(counted, period)
        if len(cells) > 1:
            return _merged(cells, parts)
    return _by_period(counted, Period.YEAR)


def _by_period(counted: Sequence[tuple[str, int]], period: Period) -> tuple[PeriodCount, ...]:
    cells = dict[tuple[str, str], int]()
    for day, count in counted:
        span = period_around(day, period)
        cells[span] = cells.get(span, 0) + count
    return tuple(PeriodCount(period=period, first=f, last=t, count=n) for (f, t), n in cells.items())


def _merged(cells: tuple[PeriodCount, ...], parts: int) -> tuple[PeriodCount, ...]:
    if len(cells) <= parts:
        return cells
    old, kept = cells[: len(cells) - parts + 1], cells[len(cells) - parts + 1 :]
    count = sum(cell.count for cell in old)
    return (PeriodCount(period=old[0].period, first=old[0].first, last=old[-1].last, count=count), *kept)


@lru_cache(maxsize=65_536)
def period_around(day: str, period: Period) -> tuple[str, str]:
    """The first and the last day of the period that `day` lies in, ISO days."""
    if period is Period.DAY:
        return day, day
    year, month = int(day[:4]), int(day[5:7])
    length = {Period.YEAR: 12, Period.QUARTER: 3, Period.MONTH: 1}[period]
    first_month = (month - 1) // length * length + 1
    last_month = first_month + length - 1
    return date(year, first_month, 1).isoformat(), _last_day(year, last_month).isoformat()


def _last_day(year: int, month: int) -> date:
    return date(year, 12, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)
