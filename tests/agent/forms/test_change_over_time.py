"""Figures by period, each beside that of the period before."""

import pytest

from agent.forms.change_over_time import (
    PeriodFigure,
    _choose_period,  # pyright: ignore[reportPrivateUsage]
    _figures_of,  # pyright: ignore[reportPrivateUsage]
)
from storage.search.index import AggregateLine
from storage.search.plan import AggregateFunction, CalendarPeriod


def line(day: str, amount: float, unit: str | None = "EUR") -> AggregateLine:
    return AggregateLine(group=day, unit=unit, count=2, sum=amount, average=amount / 2, minimum=0.0, maximum=amount)


def figures(function: AggregateFunction, *lines: AggregateLine) -> list[PeriodFigure]:
    return list(_figures_of(lines, function, CalendarPeriod.MONTH))


def test_each_period_is_set_beside_the_one_before() -> None:
    first, second = figures(AggregateFunction.SUM, line("2031-02-01", 150.0), line("2031-01-01", 100.0))

    assert (first.label, first.value, first.change, first.change_percent) == ("2031-01", 100.0, None, None)
    assert (second.label, second.value, second.change, second.change_percent) == ("2031-02", 150.0, 50.0, 50.0)


def test_a_month_without_documents_is_nothing_and_what_follows_has_no_per_cent() -> None:
    found = figures(AggregateFunction.SUM, line("2031-01-01", 100.0), line("2031-03-01", 40.0))

    assert [(row.value, row.count, row.change, row.change_percent) for row in found] == [
        (100.0, 2, None, None),
        (0.0, 0, -100.0, -100.0),
        (40.0, 2, 40.0, None),
    ]


def test_a_month_without_documents_has_no_average_and_nothing_is_set_beside_it() -> None:
    found = figures(AggregateFunction.AVERAGE, line("2031-01-01", 100.0), line("2031-03-01", 40.0))

    assert [(row.label, row.value, row.change) for row in found] == [("2031-01", 50.0, None), ("2031-03", 20.0, None)]


@pytest.mark.parametrize(
    ("last_month", "period"),
    [
        ("2031-12-01", CalendarPeriod.MONTH),
        ("2033-01-01", CalendarPeriod.QUARTER),
        ("2040-01-01", CalendarPeriod.YEAR),
    ],
)
def test_the_longer_the_span_the_longer_the_period(last_month: str, period: CalendarPeriod) -> None:
    assert _choose_period([line("2031-01-01", 1.0), line(last_month, 1.0)]) is period
