"""Numbers, money, days, ranges and comparators as people write them."""

from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral
from agent.rules.literals.recognition import find_literals
from storage.search.conditions import ComparisonOperator

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("question", "op", "low", "high", "unit", "currency"),
    [
        ("over 200 MYR", ComparisonOperator.GT, "200", None, "", "MYR"),
        ("at least 0.5 W", ComparisonOperator.GTE, "0.5", None, "W", ""),
        ("Vceo >= 100 V", ComparisonOperator.GTE, "100", None, "V", ""),
        ("between 40 and 100 C", ComparisonOperator.BETWEEN, "40", "100", "C", ""),
        ("between 0.3 W and 700 mW", ComparisonOperator.BETWEEN, "0.3", "0.7", "W", ""),
        ("boiling below -10 °C", ComparisonOperator.LT, "-10", None, "°C", ""),
        ("$1,200 or more", ComparisonOperator.GTE, "1200", None, "", "USD"),
        ("1k dollars", ComparisonOperator.EQ, "1000", None, "", "USD"),
        ("no more than 5 A", ComparisonOperator.LTE, "5", None, "A", ""),
        ("€12.50 to €20", ComparisonOperator.BETWEEN, "12.50", "20", "", "EUR"),
        ("above 1300 kg/m³", ComparisonOperator.GT, "1300", None, "kg/m³", ""),
    ],
)
def test_a_quantity_is_read_with_its_comparator_and_unit(
    question: str, op: ComparisonOperator, low: str, high: str | None, unit: str, currency: str
) -> None:
    (literal,) = find_literals(question, TODAY)

    assert isinstance(literal, QuantityLiteral)
    assert (literal.op, literal.low, literal.unit, literal.currency) == (op, Decimal(low), unit, currency)
    assert literal.high == (None if high is None else Decimal(high))


@pytest.mark.parametrize(
    ("question", "op", "first", "last"),
    [
        ("in 2031", ComparisonOperator.EQ, "2031-01-01", "2031-12-31"),
        ("in Q2 2019", ComparisonOperator.EQ, "2019-04-01", "2019-06-30"),
        ("dated August 2019", ComparisonOperator.EQ, "2019-08-01", "2019-08-31"),
        ("from November 2023", ComparisonOperator.EQ, "2023-11-01", "2023-11-30"),
        ("between 5 and 20 March 2024", ComparisonOperator.EQ, "2024-03-05", "2024-03-20"),
        ("from October to December 2024", ComparisonOperator.EQ, "2024-10-01", "2024-12-31"),
        ("between 2016-01-01 and 2016-03-31", ComparisonOperator.EQ, "2016-01-01", "2016-03-31"),
        ("on 28 May 2018", ComparisonOperator.EQ, "2018-05-28", "2018-05-28"),
        ("May 28, 2018", ComparisonOperator.EQ, "2018-05-28", "2018-05-28"),
        ("since March 2024", ComparisonOperator.GTE, "2024-03-01", "2024-03-31"),
        ("before 2020", ComparisonOperator.LT, "2020-01-01", "2020-12-31"),
        ("the last two years", ComparisonOperator.EQ, "2024-11-21", "2026-11-21"),
        ("last month", ComparisonOperator.EQ, "2026-10-01", "2026-10-31"),
        ("this year", ComparisonOperator.EQ, "2026-01-01", "2026-12-31"),
        ("yesterday", ComparisonOperator.EQ, "2026-11-20", "2026-11-20"),
    ],
)
def test_a_period_is_read_by_the_askers_clock(question: str, op: ComparisonOperator, first: str, last: str) -> None:
    (literal,) = find_literals(question, TODAY)

    assert isinstance(literal, DateLiteral)
    assert (literal.op, literal.first_day.isoformat(), literal.last_day.isoformat()) == (op, first, last)


@pytest.mark.parametrize("question", ["the B-120 manual", "TO-220M parts", "receipt 00017", "31 February 2024 x"])
def test_identifiers_and_impossible_days_are_no_periods_and_no_numbers(question: str) -> None:
    literals = find_literals(question, TODAY)

    assert not any(isinstance(literal, DateLiteral) and literal.first_day == literal.last_day for literal in literals)
    numbers = {literal.low for literal in literals if isinstance(literal, QuantityLiteral)}
    assert not numbers & {Decimal(120), Decimal(220), Decimal(17)}


@given(st.text(max_size=300))
def test_any_text_gives_literals_in_order_that_do_not_overlap(text: str) -> None:
    literals = find_literals(text, TODAY)

    assert all(0 <= literal.start < literal.end <= len(text) for literal in literals)
    assert all(literal.end <= following.start for literal, following in pairwise(literals))


@pytest.mark.parametrize(
    ("question", "op", "low", "high", "measure"),
    [
        ("above 56 degrees Celsius", ComparisonOperator.GT, "56", None, "degrees Celsius"),
        ("with a minimum drain current of 80 A", ComparisonOperator.GTE, "80", None, "A"),
        ("a maximum price of 20 USD", ComparisonOperator.LTE, "20", None, "USD"),
        ("EUR 10-25", ComparisonOperator.BETWEEN, "10", "25", "EUR"),
        ("between $1,000 and $2,000", ComparisonOperator.BETWEEN, "1000", "2000", "USD"),
        ("two hundred and fifty dollars", ComparisonOperator.EQ, "250", None, "USD"),
        ("half a volt", ComparisonOperator.EQ, "0.5", None, "volt"),
        ("1.000,50 EUR", ComparisonOperator.EQ, "1000.50", None, "EUR"),
        ("more than 500 THB", ComparisonOperator.GT, "500", None, "THB"),
        ("300 square metres", ComparisonOperator.EQ, "300", None, "square metres"),
        ("above 20 €", ComparisonOperator.GT, "20", None, "EUR"),
        ("1.234.567 EUR", ComparisonOperator.EQ, "1234567", None, "EUR"),
        ("₹1,20,000", ComparisonOperator.EQ, "120000", None, "INR"),
        ("500 Mexican pesos", ComparisonOperator.EQ, "500", None, "MXN"),
        ("under ฿300", ComparisonOperator.LT, "300", None, "THB"),
        ("EUR 10-25 in Berlin", ComparisonOperator.BETWEEN, "10", "25", "EUR"),
    ],
)
def test_amounts_are_read_however_they_are_written(
    question: str, op: ComparisonOperator, low: str, high: str | None, measure: str
) -> None:
    (literal,) = find_literals(question, TODAY)

    assert isinstance(literal, QuantityLiteral)
    assert (literal.op, literal.low, literal.unit or literal.currency) == (op, Decimal(low), measure)
    assert literal.high == (Decimal(high) if high else None)


def test_two_ends_of_a_range_share_the_measure_that_is_written_once() -> None:
    low, high = find_literals("at least 10 and at most 25 EUR", TODAY)

    assert isinstance(low, QuantityLiteral)
    assert isinstance(high, QuantityLiteral)
    assert [(literal.op, literal.low, literal.currency) for literal in (low, high)] == [
        (ComparisonOperator.GTE, Decimal(10), "EUR"),
        (ComparisonOperator.LTE, Decimal(25), "EUR"),
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
    (literal,) = find_literals(question, TODAY)

    assert isinstance(literal, DateLiteral)
    assert (literal.first_day, literal.last_day) == (first, last)


def test_a_period_ahead_is_read_by_the_askers_clock() -> None:
    year, months = find_literals("next year or in the next 3 months", date(2026, 11, 21))

    assert isinstance(year, DateLiteral)
    assert isinstance(months, DateLiteral)
    assert (year.first_day, year.last_day) == (date(2027, 1, 1), date(2027, 12, 31))
    assert (months.first_day, months.last_day) == (date(2026, 11, 21), date(2027, 2, 21))


@pytest.mark.parametrize(
    "question",
    [
        "flats with 2 bedrooms and shower", "5 A and power", "3 tanks or water", "orders of 4 and customer Acme",
        "10 kg and supplier Bolt",
    ],
)  # fmt: skip
def test_a_noun_in_er_after_a_number_compares_nothing(question: str) -> None:
    (literal,) = find_literals(question, TODAY)

    assert isinstance(literal, QuantityLiteral)
    assert literal.op is ComparisonOperator.EQ
    assert question[literal.end :].split()[-1] in ("shower", "power", "water", "Acme", "Bolt")


@pytest.mark.parametrize("word", ["heavier", "larger", "pricier", "hotter", "lighter", "older", "scarcer", "costlier"])
def test_a_comparative_of_a_known_scale_after_a_number_is_a_bound(word: str) -> None:
    (literal,) = find_literals(f"20 or {word}", TODAY)

    assert isinstance(literal, QuantityLiteral)
    assert literal.op is not ComparisonOperator.EQ


@pytest.mark.parametrize("question", ["I've been ill for nine days, must I write", "we were away for over 2 weeks"])
def test_how_long_somebody_in_the_conversation_is_something_measures_no_document(question: str) -> None:
    assert find_literals(question, TODAY) == ()


@pytest.mark.parametrize("question", ["pumps in use for nine days", "tenants we have been billing for nine days"])
def test_how_long_documents_are_something_is_measured(question: str) -> None:
    assert len(find_literals(question, TODAY)) == 1
