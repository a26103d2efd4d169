"""Numbers, money, days, ranges and comparators as people write them."""

from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.literals import Days, Quantity, literals_of
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
