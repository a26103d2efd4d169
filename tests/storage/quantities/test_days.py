"""Days and periods as whole strings and in running text."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.quantities.days import detect_day_first, find_dates, parse_date
from storage.quantities.durations import find_durations
from storage.quantities.periods import find_periods


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2031-05-09", "2031-05-09"),
        ("2031-05-09T23:30:00-05:00", "2031-05-10"),
        ("2031-05-09 23:30", "2031-05-09"),
        ("2031-05-09T10:00:00Z", "2031-05-09"),
        ("9 May 2031", "2031-05-09"),
        ("9th of May, 2031", "2031-05-09"),
        ("Friday, May 9, 2031", "2031-05-09"),
        ("Freitag, 9. Mai 2031", "2031-05-09"),
        ("viernes, 9 de mayo de 2031", "2031-05-09"),
        ("1er août 2031", "2031-08-01"),
        ("Sept 3, 2020", "2020-09-03"),
        ("09.05.2031", "2031-05-09"),
        ("2031/5/9", "2031-05-09"),
        ("25/12/2031", "2031-12-25"),
        ("12/25/2031", "2031-12-25"),
        ("04/04/2031", "2031-04-04"),
        ("09-May-31", "2031-05-09"),
        ("9 May 31", "2031-05-09"),
        ("02-Apr-99", "1999-04-02"),
    ],
)
def test_a_day_is_read_as_written(text: str, day: str) -> None:
    assert str(parse_date(text)) == day


@pytest.mark.parametrize("text", ["03/04/2031", "2031-13-01", "May 2031", "2031-05", "2031", "32 May 2031", "1/2/31"])
def test_an_ambiguous_or_impossible_day_gives_none(text: str) -> None:
    assert parse_date(text) is None


def test_the_field_decides_which_number_is_the_month() -> None:
    assert parse_date("03/04/2031", day_first=True) == date(2031, 4, 3)
    assert parse_date("03/04/2031", day_first=False) == date(2031, 3, 4)
    assert [detect_day_first(text) for text in ("25/12/2031", "12/25/2031", "03/04/2031")] == [True, False, None]


@settings(deadline=None)
@given(st.dates())
def test_every_iso_day_is_itself(day: date) -> None:
    assert parse_date(str(day)) == day


@pytest.mark.parametrize(
    ("folded", "days"),
    [
        ("signed on the 26 t h day of may, 2018", ["2018-05-26"]),
        ("twenty-first day of march, 2019", ["2019-03-21"]),
        ("12 de dezembro de 2020 e 3 ogos 2021", ["2020-12-12", "2021-08-03"]),
        ("03/04/18", ["2018-04-03"]),
        ("in march 2024 or may, 2004", []),
    ],
)
def test_days_of_a_scanned_page_are_found(folded: str, days: list[str]) -> None:
    assert [span.iso for span in find_dates(folded)] == days


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("the 5th day of March 2020", "2020-03-05", "2020-03-05"),
        ("the first of March 2020", "2020-03-01", "2020-03-01"),
        ("5 March '24", "2024-03-05", "2024-03-05"),
        ("im März 2024", "2024-03-01", "2024-03-31"),
        ("25-12-2031", "2031-12-25", "2031-12-25"),
        ("second quarter of 2019", "2019-04-01", "2019-06-30"),
        ("the 1990s", "1990-01-01", "1999-12-31"),
    ],
)
def test_a_period_of_a_sentence_is_found(text: str, first: str, last: str) -> None:
    (span,) = find_periods(text)
    assert (str(span.first_day), str(span.last_day)) == (first, last)


@pytest.mark.parametrize("text", ["2000 volts", "€2019", "mars 2024 rover set 2010 V", "B-12-11-2019"])
def test_a_number_that_is_no_year_is_no_period(text: str) -> None:
    assert not any(span.first_day == span.last_day or not span.is_year_only for span in find_periods(text))


def test_a_name_with_a_dotless_i_is_no_month() -> None:
    assert not any(span.first_day == span.last_day for span in find_periods("5 APRıL 2019"))


@pytest.mark.parametrize(
    ("folded", "wording"),
    [
        ("thirty (30) days", "30 days"),
        ("one hundred twenty days", "120 days"),
        ("a six-month period", "6 months"),
        ("2 calendar quarters", "2 quarters"),
        ("one year", "1 year"),
    ],
)
def test_a_duration_is_found(folded: str, wording: str) -> None:
    assert [span.wording for span in find_durations(folded)] == [wording]
