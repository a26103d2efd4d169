"""Numbers, days, money, quantities and units as people write them."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.literals import Money, Quantity, Style, day_in, money_in, number_in, quantity_in
from storage.ingest.units import Label, converted, label_of, written_unit

COMMA = Style(decimal_comma=True)


@pytest.mark.parametrize(
    ("text", "style", "number"),
    [
        ("1,234", Style(), "1234"),
        ("1,234", COMMA, "1.234"),
        ("1.234,5", Style(), "1234.5"),
        ("1.234", COMMA, "1234"),
        ("12,5", COMMA, "12.5"),
        ("1 234.50", Style(), "1234.50"),
        ("1'000", Style(), "1000"),
        ("−5", Style(), "-5"),
        ("1e-3", Style(), "0.001"),
        (".5", Style(), "0.5"),
        ("0.10", COMMA, "0.10"),
    ],
)
def test_a_number_is_read_as_its_field_writes_numbers(text: str, style: Style, number: str) -> None:
    assert number_in(text, style) == Decimal(number)


@pytest.mark.parametrize("text", ["", "5-3", "1,23,456", "B-120", "12 V", "1.2.3", "²", "--5", "1e9999"])
def test_what_is_no_number_gives_none(text: str) -> None:
    assert number_in(text) is None


@settings(deadline=None)
@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_a_number_is_read_back_however_it_is_grouped(number: Decimal) -> None:
    english = f"{number:,}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert number_in(english, Style(decimal_comma=False)) == number
    assert number_in(german, COMMA) == number


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("$12", Money(Decimal(12), "USD")),
        ("12.50 EUR", Money(Decimal("12.50"), "EUR")),
        ("-€ 1.234,50", Money(Decimal("-1234.50"), "EUR")),
        ("usd 5", Money(Decimal(5), "USD")),
        ("US$ 1,000", Money(Decimal(1000), "USD")),
    ],
)
def test_an_amount_is_read_with_its_currency(text: str, money: Money) -> None:
    assert money_in(text) == money


@pytest.mark.parametrize("text", ["12", "12 V", "EUR", "$12 USD", "12 apples"])
def test_an_amount_without_one_clear_currency_gives_none(text: str) -> None:
    assert money_in(text) is None


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
        ("Sept 3, 2020", "2020-09-03"),
        ("09.05.2031", "2031-05-09"),
        ("2031/5/9", "2031-05-09"),
        ("25/12/2031", "2031-12-25"),
        ("12/25/2031", "2031-12-25"),
        ("04/04/2031", "2031-04-04"),
    ],
)
def test_a_day_is_read_as_written(text: str, day: str) -> None:
    assert day_in(text) == day


@pytest.mark.parametrize("text", ["03/04/2031", "2031-13-01", "May 2031", "2031-05", "2031", "32 May 2031", "1/2/31"])
def test_a_day_that_could_be_another_gives_none(text: str) -> None:
    assert day_in(text) is None


def test_the_field_decides_which_number_is_the_month() -> None:
    assert day_in("03/04/2031", Style(day_first=True)) == "2031-04-03"
    assert day_in("03/04/2031", Style(day_first=False)) == "2031-03-04"


@settings(deadline=None)
@given(st.dates())
def test_every_iso_day_is_itself(day: object) -> None:
    assert day_in(str(day)) == str(day)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_string_breaks_a_reader(text: str) -> None:
    for style in (Style(), COMMA, Style(day_first=True)):
        for read in (number_in, money_in, day_in, quantity_in):
            read(text, style)


def test_quantities_have_the_units_that_pint_knows() -> None:
    assert quantity_in("45 mV") == Quantity(Decimal(45), "mV")
    assert quantity_in("0.5Ω") == Quantity(Decimal("0.5"), "ohm")
    assert quantity_in("30 days") == Quantity(Decimal(30), "day")
    assert quantity_in("12 apples") is None


def test_units_are_converted_in_decimals() -> None:
    assert converted(Decimal("0.8"), "W", "mW") == Decimal(800)
    assert converted(Decimal(212), "degF", "degC") == pytest.approx(Decimal(100))
    assert converted(Decimal(1), "V", "A") is None


@pytest.mark.parametrize("spelling", ["V", "°C", "µF", "Ω", "m²", "km/h", "g/cm³", "%", "mΩ", "hours", "rpm", "g/mol"])
def test_every_unit_is_one_that_pint_converts(spelling: str) -> None:
    unit = written_unit(spelling)
    assert unit is not None
    assert converted(Decimal(1), unit, f"1 * {unit}") is not None


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("vceo_v", Label("Vceo", "V")),
        ("power_w", Label("Power", "W")),
        ("bp_c", Label("Bp", "degC")),
        ("weight_kg", Label("Weight", "kg")),
        ("notice_days", Label("Notice days", "day")),
        ("growth_pct", Label("Growth", "percent")),
        ("weightKg", Label("Weight", "kg")),
        ("Width (mm)", Label("Width", "mm")),
        ("Speed [km/h]", Label("Speed", "km/hour")),
        ("max_k", Label("Max k", "")),
        ("temp_k", Label("Temp", "K")),
        ("year", Label("Year", "")),
        ("days", Label("Days", "")),
    ],
)
def test_a_name_says_its_unit(name: str, label: Label) -> None:
    assert label_of(name) == label
