"""Numbers, money, days, ranges and comparators as people write them."""

from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.atoms import Days, Quantity
from agent.rules.literals import literals_of
from storage.search.conditions import Op

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("question", "op", "low", "high", "unit", "currency"),
    [
        ("over 200 MYR", Op.GT, "200", None, "", "MYR"),
        ("at least 0.5 W", Op.GTE, "0.5", None, "W", ""),
        ("Vceo >= 100 V", Op.GTE, "100", None, "V", ""),
        ("between 40 and 100 C", Op.BETWEEN, "40", "100", "C", ""),
        ("between 0.3 W and 700 mW", Op.BETWEEN, "0.3", "0.7", "W", ""),
        ("boiling below -10 °C", Op.LT, "-10", None, "°C", ""),
        ("$1,200 or more", Op.GTE, "1200", None, "", "USD"),
        ("1k dollars", Op.EQ, "1000", None, "", "USD"),
        ("no more than 5 A", Op.LTE, "5", None, "A", ""),
        ("€12.50 to €20", Op.BETWEEN, "12.50", "20", "", "EUR"),
        ("above 1300 kg/m³", Op.GT, "1300", None, "kg/m³", ""),
    ],
)
def test_a_quantity_is_read_with_its_comparator_and_unit(
    question: str, op: Op, low: str, high: str | None, unit: str, currency: str
) -> None:
    (found,) = literals_of(question, TODAY)

    assert isinstance(found, Quantity)
    assert (found.op, found.low, found.unit, found.currency) == (op, Decimal(low), unit, currency)
    assert found.high == (None if high is None else Decimal(high))


@pytest.mark.parametrize(
    ("question", "op", "first", "last"),
    [
        ("in 2031", Op.EQ, "2031-01-01", "2031-12-31"),
        ("in Q2 2019", Op.EQ, "2019-04-01", "2019-06-30"),
        ("dated August 2019", Op.EQ, "2019-08-01", "2019-08-31"),
        ("from November 2023", Op.EQ, "2023-11-01", "2023-11-30"),
        ("between 5 and 20 March 2024", Op.EQ, "2024-03-05", "2024-03-20"),
        ("from October to December 2024", Op.EQ, "2024-10-01", "2024-12-31"),
        ("between 2016-01-01 and 2016-03-31", Op.EQ, "2016-01-01", "2016-03-31"),
        ("on 28 May 2018", Op.EQ, "2018-05-28", "2018-05-28"),
        ("May 28, 2018", Op.EQ, "2018-05-28", "2018-05-28"),
        ("since March 2024", Op.GTE, "2024-03-01", "2024-03-31"),
        ("before 2020", Op.LT, "2020-01-01", "2020-12-31"),
        ("the last two years", Op.EQ, "2024-11-21", "2026-11-21"),
        ("last month", Op.EQ, "2026-10-01", "2026-10-31"),
        ("this year", Op.EQ, "2026-01-01", "2026-12-31"),
        ("yesterday", Op.EQ, "2026-11-20", "2026-11-20"),
    ],
)
def test_a_period_is_read_by_the_askers_clock(question: str, op: Op, first: str, last: str) -> None:
    (found,) = literals_of(question, TODAY)

    assert isinstance(found, Days)
    assert (found.op, found.first.isoformat(), found.last.isoformat()) == (op, first, last)


@pytest.mark.parametrize("question", ["the B-120 manual", "TO-220M parts", "receipt 00017", "31 February 2024 x"])
def test_identifiers_and_impossible_days_are_no_periods_and_no_numbers(question: str) -> None:
    found = literals_of(question, TODAY)

    assert not any(isinstance(one, Days) and one.first == one.last for one in found)
    assert not any(isinstance(one, Quantity) and one.low in (Decimal(120), Decimal(220), Decimal(17)) for one in found)


@given(st.text(max_size=300))
def test_any_text_gives_literals_in_order_that_do_not_overlap(text: str) -> None:
    found = literals_of(text, TODAY)

    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("question", "op", "low", "high", "measure"),
    [
        ("above 56 degrees Celsius", Op.GT, "56", None, "degrees Celsius"),
        ("with a minimum drain current of 80 A", Op.GTE, "80", None, "A"),
        ("a maximum price of 20 USD", Op.LTE, "20", None, "USD"),
        ("EUR 10-25", Op.BETWEEN, "10", "25", "EUR"),
        ("between $1,000 and $2,000", Op.BETWEEN, "1000", "2000", "USD"),
        ("two hundred and fifty dollars", Op.EQ, "250", None, "USD"),
        ("half a volt", Op.EQ, "0.5", None, "volt"),
        ("1.000,50 EUR", Op.EQ, "1000.50", None, "EUR"),
        ("more than 500 THB", Op.GT, "500", None, "THB"),
        ("300 square metres", Op.EQ, "300", None, "square metres"),
    ],
)
def test_amounts_are_read_however_they_are_written(
    question: str, op: Op, low: str, high: str | None, measure: str
) -> None:
    (literal,) = literals_of(question, TODAY)

    assert isinstance(literal, Quantity)
    assert (literal.op, literal.low, literal.unit or literal.currency) == (op, Decimal(low), measure)
    assert literal.high == (Decimal(high) if high else None)


def test_two_ends_of_a_range_share_the_measure_that_is_written_once() -> None:
    low, high = literals_of("at least 10 and at most 25 EUR", TODAY)

    assert isinstance(low, Quantity)
    assert isinstance(high, Quantity)
    assert [(one.op, one.low, one.currency) for one in (low, high)] == [
        (Op.GTE, Decimal(10), "EUR"),
        (Op.LTE, Decimal(25), "EUR"),
    ]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("dated 2012-2015", date(2012, 1, 1), date(2015, 12, 31)),
        ("the 1990s", date(1990, 1, 1), date(1999, 12, 31)),
        ("H2 2019", date(2019, 7, 1), date(2019, 12, 31)),
        ("09/2012", date(2012, 9, 1), date(2012, 9, 30)),
        ("05/06/18", date(2018, 5, 6), date(2018, 5, 6)),
    ],
)
def test_periods_are_read_however_they_are_written(question: str, first: date, last: date) -> None:
    (literal,) = literals_of(question, TODAY)

    assert isinstance(literal, Days)
    assert (literal.first, literal.last) == (first, last)


def test_what_is_ahead_goes_by_the_askers_clock() -> None:
    year, months = literals_of("next year or in the next 3 months", date(2026, 11, 21))

    assert isinstance(year, Days)
    assert isinstance(months, Days)
    assert (year.first, year.last) == (date(2027, 1, 1), date(2027, 12, 31))
    assert (months.first, months.last) == (date(2026, 11, 21), date(2027, 2, 21))
