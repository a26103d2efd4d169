"""Facets of numbers, of days and of flags, the same for every engine.

An engine gives the distinct values of a set with their counts; this module divides them into ranges or periods, and
orders the two values of a flag.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from itertools import accumulate

from storage.search.index import PeriodCount, RangeCount, ValueCount, ValueFacet
from storage.search.plan import CalendarPeriod

_ROUND_STEPS = (Decimal(10), Decimal(5), Decimal(2))  # for one power of ten, the roundest first
_MAX_POWERS = 20  # powers of ten tried below the larger number; doubles have 17 digits


def bin_numbers(value_counts: Sequence[tuple[float, int]], max_bins: int) -> tuple[RangeCount, ...]:
    """Returns at most `max_bins` ranges of nearly equal count, divided at the roundest number near each quantile.

    `value_counts`: distinct values, ascending, each with the number of its documents. An edge may be up to a third of a
    bin away from its quantile if that makes it rounder. The first range begins at a round number at or below the lowest
    value.
    """
    if not value_counts:
        return ()
    values = [value for value, _ in value_counts]
    cumulative_counts = [0, *accumulate(count for _, count in value_counts)]  # [i]: documents below values[i]
    edges = _find_bin_edges(values, cumulative_counts, max_bins)
    lowest_edge = (
        _roundest_number(2 * Decimal(repr(values[0])) - Decimal(repr(edges[0])), values[0]) if edges else values[0]
    )
    lows, highs = [lowest_edge, *edges], [*edges, None]
    edge_indexes = [0, *(bisect_left(values, edge) for edge in edges), len(values)]
    return tuple(
        RangeCount(
            low=low,
            high=high,
            count=cumulative_counts[edge_indexes[i + 1]] - cumulative_counts[edge_indexes[i]],
        )
        for i, (low, high) in enumerate(zip(lows, highs, strict=True))
    )


def flag_facet_of(true_count: int, document_count: int, max_values: int) -> ValueFacet:
    """Returns the facet of a flag. A document without a value counts as false."""
    value_counts = [
        ValueCount(value=value, count=count)
        for value, count in (("false", document_count - true_count), ("true", true_count))
        if count
    ]
    value_counts.sort(key=lambda value_count: -value_count.count)
    shown_counts = tuple(value_counts[: max(max_values, 0)])
    return ValueFacet(
        values=shown_counts,
        other_count=document_count - sum(value_count.count for value_count in shown_counts),
        missing_count=0,
        distinct_count=len(value_counts),
        is_overlapping=False,
    )


def _find_bin_edges(values: Sequence[float], cumulative_counts: Sequence[int], max_bins: int) -> list[float]:
    total, last_index = cumulative_counts[-1], len(values) - 1
    if last_index == 0:
        return []
    edges = dict[int, float]()  # index of the first value at or above the edge -> the edge
    for part in range(1, max_bins):
        target, slack = total * part / max_bins, total / max_bins / 3
        first_index = min(max(bisect_left(cumulative_counts, target - slack), 1), last_index)
        last_candidate = max(min(bisect_left(cumulative_counts, target + slack), last_index), first_index)
        if cumulative_counts[last_candidate] > target + slack and last_candidate > first_index:
            last_candidate -= 1
        edge = _roundest_number(Decimal(repr(values[first_index - 1])), values[last_candidate])
        edges.setdefault(bisect_left(values, edge), edge)
    return [edges[index] for index in sorted(edges)]


def _roundest_number(low: Decimal, high: float) -> float:
    """Returns the roundest number that is greater than `low` and at most `high`."""
    high_decimal = Decimal(repr(high))
    if low < 0 <= high_decimal:
        return 0.0
    power = max(abs(low), abs(high_decimal)).adjusted()
    for step in (
        round_step.scaleb(power - power_offset) for power_offset in range(_MAX_POWERS) for round_step in _ROUND_STEPS
    ):
        multiple = float((high_decimal / step).to_integral_value(ROUND_FLOOR) * step)
        if Decimal(repr(multiple)) > low and multiple <= high:
            return multiple + 0.0
    return high


def bin_days(day_counts: Sequence[tuple[str, int]], max_bins: int) -> tuple[PeriodCount, ...]:
    """Return the number of documents in each period, by the longest period that splits the set.

    Periods are years, else quarters, months, days.

    `day_counts`: distinct ISO days, ascending, each with the number of its documents. If there are more than `max_bins`
    periods, the oldest are merged into one bin that spans all of them. A set that no period splits is one bin: its
    year.
    """
    for period in (CalendarPeriod.YEAR, CalendarPeriod.QUARTER, CalendarPeriod.MONTH, CalendarPeriod.DAY):
        bins = _count_by_period(day_counts, period)
        if len(bins) > 1:
            return _merge_oldest(bins, max_bins)
    return _count_by_period(day_counts, CalendarPeriod.YEAR)


def _count_by_period(day_counts: Sequence[tuple[str, int]], period: CalendarPeriod) -> tuple[PeriodCount, ...]:
    counts = dict[tuple[str, str], int]()
    for day, count in day_counts:
        days = period_containing(day, period)
        counts[days] = counts.get(days, 0) + count
    return tuple(
        PeriodCount(period=period, first_day=first_day, last_day=last_day, count=count)
        for (first_day, last_day), count in counts.items()
    )


def _merge_oldest(bins: tuple[PeriodCount, ...], max_bins: int) -> tuple[PeriodCount, ...]:
    if len(bins) <= max_bins:
        return bins
    oldest, newest_bins = bins[: len(bins) - max_bins + 1], bins[len(bins) - max_bins + 1 :]
    count = sum(period_count.count for period_count in oldest)
    return (
        PeriodCount(period=oldest[0].period, first_day=oldest[0].first_day, last_day=oldest[-1].last_day, count=count),
        *newest_bins,
    )


@lru_cache(maxsize=65_536)
def period_containing(day: str, period: CalendarPeriod) -> tuple[str, str]:
    """Returns the first and the last day of the period that contains `day`, as ISO days."""
    if period is CalendarPeriod.DAY:
        return day, day
    year, month = int(day[:4]), int(day[5:7])
    month_count = {CalendarPeriod.YEAR: 12, CalendarPeriod.QUARTER: 3, CalendarPeriod.MONTH: 1}[period]
    first_month = (month - 1) // month_count * month_count + 1
    last_month = first_month + month_count - 1
    return date(year, first_month, 1).isoformat(), _last_day_of(year, last_month).isoformat()


def _last_day_of(year: int, month: int) -> date:
    return date(year, 12, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)
