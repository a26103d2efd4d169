"""Joins the condition on a currency with the one on the amount: "more than EUR 10.00"."""

from collections.abc import Sequence
from dataclasses import replace

from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition, fields_of
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema


def join_currencies(conditions: Sequence[Condition], schema: Schema) -> tuple[Sequence[Condition], Schema]:
    """Returns the conditions without those that only say the currency of another one's amount.

    The schema that describes the others then has this currency. A currency by itself stays a condition.
    """
    amounts = {
        field.currency_field: field.name
        for field in schema.fields
        if field.type is FieldType.MONEY and field.currency_field is not None
    }
    limited = frozenset[FieldName]().union(*map(fields_of, conditions))
    currencies = {
        amounts[condition.field]: condition.value
        for condition in conditions
        if isinstance(condition, ComparisonCondition)
        and condition.op is ComparisonOperator.EQ
        and isinstance(condition.value, str)
        and amounts.get(condition.field) in limited
    }
    if not currencies:
        return conditions, schema
    names = {field.currency_field for field in schema.fields if field.name in currencies}
    kept = [
        condition
        for condition in conditions
        if not (isinstance(condition, ComparisonCondition) and condition.field in names)
    ]
    fields = tuple(
        replace(field, currency=currencies[field.name], currency_field=None) if field.name in currencies else field
        for field in schema.fields
    )
    return kept, replace(schema, fields=fields)
