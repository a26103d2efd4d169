"""The currency of an amount is said with the amount, not as a condition of its own."""

from agent.compose.phrases.conditions import describe_qualifier, list_conditions
from agent.refine.currency_conditions import join_currencies
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

PRICE, CURRENCY = FieldName("price"), FieldName("price_currency")
SCHEMA = Schema(
    bucket=BucketId("lamps"),
    fields=(
        SchemaField(name=PRICE, type=FieldType.MONEY, currency_field=CURRENCY),
        SchemaField(name=CURRENCY, type=FieldType.CATEGORY),
    ),
)
CHEAP = ComparisonCondition(field=PRICE, op=ComparisonOperator.LT, value=10)
IN_EUROS = ComparisonCondition(field=CURRENCY, op=ComparisonOperator.EQ, value="EUR")


def test_an_amount_is_said_in_its_currency() -> None:
    assert describe_qualifier([CHEAP, IN_EUROS], SCHEMA, {}) == "with a price of less than EUR 10.00"
    assert list_conditions([IN_EUROS, CHEAP], SCHEMA, {}) == ["price of less than EUR 10.00"]


def test_a_currency_without_an_amount_stays_a_condition() -> None:
    conditions, schema = join_currencies([IN_EUROS], SCHEMA)

    assert conditions == [IN_EUROS]
    assert schema is SCHEMA
