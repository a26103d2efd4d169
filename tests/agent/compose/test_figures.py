"""How numbers are rounded in replies."""

import pytest

from agent.compose.phrases.figures import format_computed_value
from agent.compose.phrases.values import format_number, format_value
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction
from storage.search.schema import FieldType, SchemaField

MASS = SchemaField(name=FieldName("mass"), type=FieldType.NUMBER, unit="kg")
PRICE = SchemaField(name=FieldName("price"), type=FieldType.MONEY, currency="JPY")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (18.15696389, "18.157 kg"),
        (1234567.891234, "1,234,567.89 kg"),
        (0.000123456789, "0.00012346 kg"),
        (196.9666, "196.9666 kg"),
        (123456789.0, "123,456,789 kg"),
        (-18.15696389, "-18.157 kg"),
        (3.5886602674830804e16, "35,886,602,674,800,000 kg"),
        (0.00000035, "0.00000035 kg"),
    ],
)
def test_a_number_has_no_more_digits_than_people_write(value: float, shown: str) -> None:
    assert format_value(value, MASS) == shown
    assert f"{format_number(value)} kg" == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(18.15696389, "18.16 kg"), (1234.56789, "1,234.6 kg"), (0.18156, "0.182 kg"), (12.0, "12 kg")]
)
def test_an_average_is_rounded_for_reading(value: float, shown: str) -> None:
    assert format_computed_value(AggregateFunction.AVERAGE, value, "kg", MASS) == shown


def test_an_average_of_money_has_the_decimals_of_its_currency() -> None:
    assert format_computed_value(AggregateFunction.AVERAGE, 1234.5678, "JPY", PRICE) == "JPY 1,235"
    assert format_computed_value(AggregateFunction.AVERAGE, 1234.5678, "EUR", PRICE) == "EUR 1,234.57"
