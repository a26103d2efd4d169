"""Days and periods as people say them, by the clock of the asker."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.rules.literals.literal_types import DateLiteral
from agent.rules.literals.recognition import find_literals
from storage.quantities.calendar_arithmetic import month_bounds
from storage.quantities.days import ENGLISH_MONTHS
from storage.search.conditions import ComparisonOperator

TODAY = date(2027, 2, 10)  # a Wednesday
YEARS = st.integers(min_value=1990, max_value=2035)


def read_date(text: str) -> DateLiteral:
    (literal,) = find_literals(text, TODAY)
    assert isinstance(literal, DateLiteral)
    return literal


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("loans in autumn 2024", "2024-09-01", "2024-11-30"),
        ("loans of the winter of 2023", "2023-12-01", "2024-02-29"),
        ("loans winter 2023/24", "2023-12-01", "2024-02-29"),
        ("loans from early 2023", "2023-01-01", "2023-04-30"),
        ("mid-May 2024 loans", "2024-05-11", "2024-05-20"),
        ("loans in late 2025", "2025-09-01", "2025-12-31"),
        ("loans in the first half of April 2024", "2024-04-01", "2024-04-15"),
        ("loans of the last quarter of 2023", "2023-10-01", "2023-12-31"),
        ("loans in the first week of March 2024", "2024-03-01", "2024-03-07"),
        ("loans in the first three months of 2026", "2026-01-01", "2026-03-31"),
        ("loans of the last two weeks of June 2025", "2025-06-17", "2025-06-30"),
        ("the peak on Monday (8th)", "2027-02-08", "2027-02-08"),
        ("loans of Saturday the 13th", "2027-02-13", "2027-02-13"),
        ("loans on Friday the 1st", "2027-01-01", "2027-01-01"),
        ("open on Boxing Day", "2027-12-26", "2027-12-26"),
        ("open on New Year's Day", "2028-01-01", "2028-01-01"),
        ("the week of 15 May 2024", "2024-05-13", "2024-05-19"),
        ("the day before 1 March 2024", "2024-02-29", "2024-02-29"),
        ("tools of the nineties", "1990-01-01", "1999-12-31"),
        ("tools from the early 80s", "1980-01-01", "1983-04-30"),
        ("loans march last year", "2026-03-01", "2026-03-31"),
        ("loans in Q3 of last year", "2026-07-01", "2026-09-30"),
        ("loans in May a year ago", "2026-05-01", "2026-05-31"),
        ("loans in May the year before", "2025-05-01", "2025-05-31"),
        ("loans last summer", "2026-06-01", "2026-08-31"),
        ("loans next May", "2027-05-01", "2027-05-31"),
        ("loans so far this year", "2027-01-01", "2027-02-10"),
        ("loans over the last couple of weeks", "2027-01-25", "2027-02-07"),
        ("loans of the day before yesterday", "2027-02-08", "2027-02-08"),
        ("loans last Friday", "2027-02-05", "2027-02-05"),
        ("the rest of the month", "2027-02-10", "2027-02-28"),
        ("5 days ago", "2027-02-05", "2027-02-05"),
        ("a year ago", "2026-01-01", "2026-12-31"),
        ("10 to 12 years ago", "2015-02-10", "2017-02-10"),
        ("loans around 2015", "2014-01-01", "2016-12-31"),
        ("loans summer '24", "2024-06-01", "2024-08-31"),
        ("2019 to 2021", "2019-01-01", "2021-12-31"),
    ],
)
def test_a_period_is_read_as_people_say_it(text: str, first: str, last: str) -> None:
    literal = read_date(text)

    assert (literal.op, str(literal.first_day), str(literal.last_day)) == (ComparisonOperator.EQ, first, last)


@pytest.mark.parametrize(
    ("text", "op", "day"),
    [
        ("due before the end of the year", ComparisonOperator.LTE, "2027-12-31"),
        ("before 2026 ends", ComparisonOperator.LTE, "2026-12-31"),
        ("by the end of June 2024", ComparisonOperator.LTE, "2024-06-30"),
        ("since the start of 2024", ComparisonOperator.GTE, "2024-01-01"),
        ("by Friday", ComparisonOperator.LTE, "2027-02-12"),
        ("from March 2024 on", ComparisonOperator.GTE, "2024-03-01"),
        ("more than 3 years ago", ComparisonOperator.LT, "2024-02-10"),
        ("less than two weeks ago", ComparisonOperator.GT, "2027-01-27"),
        ("not until 2026", ComparisonOperator.GTE, "2026-01-01"),
        ("not before 2026", ComparisonOperator.GTE, "2026-01-01"),
        ("older than 2019", ComparisonOperator.LT, "2019-01-01"),
        ("2019 or newer", ComparisonOperator.GTE, "2019-01-01"),
    ],
)
def test_a_day_is_compared_as_people_say_it(text: str, op: ComparisonOperator, day: str) -> None:
    literal = read_date(text)

    assert literal.op is op
    assert str(literal.first_day) == day


@settings(deadline=None)
@given(st.sampled_from(ENGLISH_MONTHS), YEARS, st.sampled_from(["loans {}", "{} loans", "loans in {}", "loans for {}"]))
def test_a_month_needs_no_preposition(month: str, year: int, wording: str) -> None:
    number = ENGLISH_MONTHS.index(month) + 1

    with_year = read_date(wording.format(f"{month.lower()} {year}"))
    assert (with_year.first_day, with_year.last_day) == month_bounds(year, number)
    if month != "May" or wording != "{} loans":  # a verb as well
        assert read_date(wording.format(month.lower())).first_day.month == number


@settings(deadline=None)
@given(YEARS, st.sampled_from(["early", "mid", "late"]))
def test_the_three_parts_of_a_year_lie_side_by_side(year: int, part: str) -> None:
    literal = read_date(f"loans in {part} {year}")

    assert literal.first_day.year == literal.last_day.year == year
    assert literal.first_day == {"early": date(year, 1, 1), "mid": date(year, 5, 1), "late": date(year, 9, 1)}[part]
    assert timedelta(119) <= literal.last_day - literal.first_day <= timedelta(123)


def test_two_months_share_the_year_written_once() -> None:
    literals = find_literals("loans of May or June 2024", TODAY)

    assert [literal.first_day for literal in literals if isinstance(literal, DateLiteral)] == [
        date(2024, 5, 1),
        date(2024, 6, 1),
    ]


@pytest.mark.parametrize("text", ["what may I borrow", "loans of April Quist", "April's drill", "orders of late"])
def test_a_verb_or_a_name_is_no_month(text: str) -> None:
    assert find_literals(text, TODAY) == ()


@pytest.mark.parametrize("text", ["over 2000", "more than 1950", "pricier than 2000"])
def test_a_year_after_a_comparator_of_numbers_may_be_a_number(text: str) -> None:
    (literal,) = find_literals(text, TODAY)

    assert not isinstance(literal, DateLiteral)
    assert literal.may_be_year


@pytest.mark.parametrize("text", ["tools from before the year 2013", "tools before 2013", "tools from before 1300"])
def test_the_word_year_and_early_centuries_leave_a_bound_a_bound(text: str) -> None:
    assert read_date(text).op is ComparisonOperator.LT


def test_the_last_month_of_a_name_beside_this_one_is_a_year_earlier() -> None:
    this, last = find_literals("more loans this January than last January", TODAY)

    assert isinstance(this, DateLiteral)
    assert isinstance(last, DateLiteral)
    assert (this.first_day, last.first_day) == (date(2027, 1, 1), date(2026, 1, 1))
