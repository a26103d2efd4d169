"""Ranges and bounds: whatever the wording, the bounds, their order and their unit, the same range is read."""

from datetime import date
from decimal import Decimal

import pytest
from babel.numbers import format_decimal
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral
from agent.rules.literals.recognition import find_literals
from storage.search.conditions import ComparisonOperator

TODAY = date(2027, 2, 10)
NUMBERS = st.integers(min_value=1, max_value=1700)
UNITS = st.sampled_from(["", " kg", " litres", " crates", " EUR", " °C", " hours"])
RANGES = (
    "between {low} and {high}{unit}",
    "anywhere from {low} through {high}{unit}",
    "somewhere between {low}{unit} and {high}{unit}",
    "from {low}{unit} to {high}{unit}",
    "from {low} up to {high}{unit}",
    "within {low} to {high}{unit}",
    "{low} to {high}{unit}",
    "ranging from {low} till {high}{unit}",
    "in the range of {low} to {high}{unit}",
    "{low} – {high}{unit}",
)
BOUNDS = {
    ComparisonOperator.GT: (
        "over {n}", "more than {n}", "above {n}", "exceeding {n}", "in excess of {n}", "north of {n}", "past {n}",
        "beyond {n}", "heavier than {n}", "pricier than {n}", "more durable than {n}", "> {n}", "which surpassed {n}",
        "well over {n}",
    ),
    ComparisonOperator.GTE: (
        "at least {n}", "no fewer than {n}", "not under {n}", "not below {n}", "a minimum of {n}", "min. {n}",
        "upwards of {n}", "{n} or more", "{n} and up", "{n} at the very least", "{n}+", "≥ {n}", "not less than {n}",
        "isn't below {n}", "no lighter than {n}", "{n} or heavier", "starting at {n}", "{n} minimum",
    ),
    ComparisonOperator.LT: (
        "under {n}", "less than {n}", "below {n}", "south of {n}", "shy of {n}", "fewer than {n}", "lighter than {n}",
        "less costly than {n}", "< {n}", "didn't reach {n}", "not even {n}",
    ),
    ComparisonOperator.LTE: (
        "at most {n}", "at the most {n}", "no more than {n}", "not over {n}", "did not exceed {n}", "up to {n}",
        "max {n}", "a maximum of {n}", "{n} tops", "{n} max", "{n} at the most", "{n} or less", "not more than {n}",
        "never went over {n}", "capped at {n}", "{n} or lighter", "no heavier than {n}", "≤ {n}",
    ),
    ComparisonOperator.EQ: ("exactly {n}", "precisely {n}", "equal to {n}"),
}  # fmt: skip


def read_quantities(text: str) -> list[QuantityLiteral]:
    literals = find_literals(text, TODAY)
    assert all(isinstance(literal, QuantityLiteral) for literal in literals)
    return [literal for literal in literals if isinstance(literal, QuantityLiteral)]


@settings(deadline=None)
@given(NUMBERS, NUMBERS, UNITS, st.sampled_from(RANGES))
def test_a_range_reads_back_with_the_same_bounds_in_any_wording(low: int, high: int, unit: str, wording: str) -> None:
    (literal,) = read_quantities(f"jars holding {wording.format(low=low, high=high, unit=unit)}")

    assert (literal.op, literal.low, literal.high) == (ComparisonOperator.BETWEEN, min(low, high), max(low, high))
    assert literal.unit == ("" if unit == " EUR" else unit.strip())
    assert literal.currency == ("EUR" if unit == " EUR" else "")


@settings(deadline=None)
@given(NUMBERS, UNITS, st.sampled_from([(op, wording) for op, wordings in BOUNDS.items() for wording in wordings]))
def test_a_bound_reads_back_in_any_wording(number: int, unit: str, bound: tuple[ComparisonOperator, str]) -> None:
    op, wording = bound
    (literal,) = read_quantities(f"jars {wording.format(n=f'{number}{unit}')}")

    assert (literal.op, literal.low, literal.high) == (op, number, None)
    assert not literal.is_bare


@settings(deadline=None)
@given(NUMBERS, NUMBERS, st.sampled_from(["kg", "crates", "EUR"]), st.booleans())
def test_two_bounds_share_the_unit_written_once(first: int, second: int, unit: str, is_but: bool) -> None:
    low, high = sorted((first, second))
    literals = read_quantities(f"jars of more than {low} {'but' if is_but else 'and'} less than {high} {unit}")

    assert [(literal.op, literal.low) for literal in literals] == [
        (ComparisonOperator.GT, low),
        (ComparisonOperator.LT, high),
    ]
    assert {literal.unit or literal.currency for literal in literals} == {unit}


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=999), st.sampled_from(["en", "de"]))
def test_around_a_number_is_ten_percent_more_or_less(number: int, locale: str) -> None:
    written = format_decimal(number, locale=locale)
    for wording in (
        f"around {written} kg",
        f"roughly {written} kg",
        f"{written} kg or so",
        f"{written} kg give or take",
    ):
        (literal,) = read_quantities(f"jars {wording}")
        assert literal.is_approximate
        assert (literal.low, literal.high) == (number * Decimal("0.9"), number * Decimal("1.1"))


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("more than a dozen crates", "12"), ("over half a dozen crates", "6"), ("above 2k", "2000"),
        ("at least half a million", "500000"), ("over 1,5 Mio EUR", "1500000"), ("over three and a half kg", "3.5"),
        ("under a grand", "1000"), ("more than two hundred", "200"),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, low: str) -> None:
    (literal,) = read_quantities(text)

    assert literal.low == Decimal(low)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("jars for 50 to 60 thousand", 50000, 60000), ("10-15k", 10000, 15000), ("12-30 crates", 12, 30),
        ("five to ten crates", 5, 10), ("between 2000 and 2500 litres", 2000, 2500),
    ],
)  # fmt: skip
def test_a_scale_written_once_counts_for_both_ends(text: str, low: int, high: int) -> None:
    (literal,) = read_quantities(text)

    assert (literal.op, literal.low, literal.high) == (ComparisonOperator.BETWEEN, low, high)


def test_a_sign_after_the_number_bounds_from_below() -> None:
    low, high = read_quantities("5 < weight < 10")

    assert [(low.op, low.low), (high.op, high.low)] == [(ComparisonOperator.GT, 5), (ComparisonOperator.LT, 10)]


@pytest.mark.parametrize("text", ["the two of them", "what else is in there, or another one", "one of the jars"])
def test_a_number_word_that_measures_nothing_is_no_literal(text: str) -> None:
    assert find_literals(text, TODAY) == ()


@pytest.mark.parametrize(
    ("text", "op", "low"),
    [
        ("kilns older than 12 years", ComparisonOperator.GT, 12),
        ("kilns not yet three months old", ComparisonOperator.LT, 3),
        ("people aged 40 or more", ComparisonOperator.GTE, 40),
        ("a ten-year-old kiln", ComparisonOperator.EQ, 10),
        ("no younger than 5 years", ComparisonOperator.GTE, 5),
        ("people in their forties", ComparisonOperator.BETWEEN, 40),
    ],
)  # fmt: skip
def test_an_age_is_marked_as_one(text: str, op: ComparisonOperator, low: int) -> None:
    (literal,) = read_quantities(text)

    assert literal.is_age
    assert (literal.op, literal.low) == (op, low)


def test_two_measures_do_not_share_a_unit() -> None:
    price, area = read_quantities("lofts at no more than 900 and at least 40 sqm")

    assert (price.unit, area.unit) == ("", "sqm")


@pytest.mark.parametrize(
    ("question", "first_day", "last_day"),
    [
        ("from 31 to 5 April 2024", date(2024, 3, 31), date(2024, 4, 5)),
        ("between 5 and 20 March 2024", date(2024, 3, 5), date(2024, 3, 20)),
        ("from 30 to 2 January 2025", date(2024, 12, 30), date(2025, 1, 2)),
        ("29 February to 3 May 2025", date(2025, 2, 28), date(2025, 5, 3)),
    ],
)
def test_a_range_of_days_across_months_or_years_stays_within_the_calendar(
    question: str, first_day: date, last_day: date
) -> None:
    (literal,) = find_literals(question, date(2028, 2, 10))

    assert isinstance(literal, DateLiteral)
    assert (literal.first_day, literal.last_day) == (first_day, last_day)


_WORDS_OF_DATES = (
    "from to between and until of in the since before last next 0 1 5 28 29 30 31 32 99 1900 2024 2025 2100 January "
    "February April December 29/2 31.4. 2024-02-30 spring winter quarter week month year decade first third fourth end "
    "beginning early rest Q1 Q5 H2 '24 ago days years decades 999 9999 - , 1st 31st weekend Monday day after kg EUR"
).split()


@settings(max_examples=300, deadline=None)
@given(
    words=st.lists(st.sampled_from(_WORDS_OF_DATES), max_size=9), today=st.dates(date(1999, 1, 1), date(2099, 12, 31))
)
def test_any_words_of_dates_are_read_without_an_error(words: list[str], today: date) -> None:
    find_literals(" ".join(words), today)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("loans due between now and new year's eve", date(2027, 12, 31)),
        ("loans due between now and New Year", date(2027, 12, 31)),
        ("loans due between today and Christmas", date(2027, 12, 25)),
        ("loans due from now until 5 March", date(2027, 3, 5)),
        ("loans due between now and 5 January", date(2028, 1, 5)),
    ],
)
def test_a_range_that_begins_now_ends_at_the_next_day_of_that_name(text: str, last: date) -> None:
    [literal] = find_literals(text, TODAY)

    assert isinstance(literal, DateLiteral)
    assert (literal.first_day, literal.last_day) == (TODAY, last)
