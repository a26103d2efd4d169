"""Units as people write them, and their conversion."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.quantities.units import (
    UNITS_BY_SPELLING,
    MeasuredQuantity,
    convert_exactly,
    convert_to_double,
    convert_unit,
    find_quantities,
    parse_quantity,
    parse_unit,
)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("45 mV", "45", "mV"),
        ("0.5Ω", "0.5", "ohm"),
        ("30 days", "30", "day"),
        ("12 square metres", "12", "m**2"),
        ("20 degrees Celsius", "20", "degC"),
        ("5 sq ft", "5", "ft**2"),
    ],
)
def test_a_quantity_is_read_with_the_unit_that_pint_knows(text: str, number: str, unit: str) -> None:
    assert parse_quantity(text) == MeasuredQuantity(Decimal(number), unit)


@pytest.mark.parametrize("text", ["12 apples", "12", "V", "12 square apples"])
def test_a_string_without_a_known_unit_gives_none(text: str) -> None:
    assert parse_quantity(text) is None


def test_units_are_converted_in_decimals() -> None:
    assert convert_exactly(Decimal("0.8"), "W", "mW") == Decimal(800)
    assert convert_exactly(Decimal(212), "degF", "degC") == pytest.approx(Decimal(100))
    assert convert_exactly(Decimal(1), "V", "A") is None


@pytest.mark.parametrize("spelling", UNITS_BY_SPELLING)
def test_pint_converts_every_unit(spelling: str) -> None:
    unit = parse_unit(spelling)
    assert unit is not None
    assert convert_exactly(Decimal(1), unit, f"1 * {unit}") is not None


@pytest.mark.parametrize(
    ("number", "unit", "target", "result"),
    [
        ("700", "mw", "W", 0.7),
        ("5", "C", "degC", 5.0),
        ("212", "degrees fahrenheit", "degC", 100.0),
        ("2", "sq km", "m**2", 2_000_000.0),
        ("3", "kilos", "g", 3000.0),
        ("90", "mins", "hour", 1.5),
        ("5", "apples", "kg", None),
        ("12345678901234567890123", "km", "m", 12345678901234567890123000.0),
    ],
)
def test_a_written_unit_is_converted_by_the_meaning_that_fits(
    number: str, unit: str, target: str, result: float | None
) -> None:
    converted = convert_unit(Decimal(number), unit, target)
    assert converted == (None if result is None else pytest.approx(result))


def test_a_quantity_of_a_data_sheet_is_found_with_its_unit() -> None:
    text = "VCEO 60VDC, 1.2.3, -55 °C 10 Ohm"
    spans = [(span.number, span.unit) for span in find_quantities(text, 0, len(text))]
    assert spans == [(Decimal(60), "V"), (Decimal(-55), "degC"), (Decimal(10), "ohm")]


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=20), st.sampled_from(["W", "degC", "m**2", "day", ""]))
def test_any_text_may_stand_for_a_unit(text: str, target: str) -> None:
    parse_unit(text)
    convert_unit(Decimal(1), text, target)
    assert convert_to_double(Decimal(1), "W", "W") == 1.0
