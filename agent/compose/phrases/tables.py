"""Shows documents as rows of a table."""

from collections.abc import Mapping, Sequence

from agent.compose.phrases.values import format_money, format_value
from agent.forms.figures import currency_of_value
from agent.limits import SHOWN_DOCUMENTS
from agent.outcome import ResultTable
from agent.translation.message_catalogues import translate_message
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    RowCondition,
    conjuncts_of,
    fields_of,
)
from storage.search.documents import FieldValues
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord
from storage.search.plan import Search
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_MAX_COLUMNS = 4


def table_of_records(
    records: Sequence[DocumentRecord],
    search: Search,
    schemas: Mapping[BucketId, Schema],
    caption: str,
    order: SchemaOrder | None = None,
) -> ResultTable:
    """Returns the first documents as a table.

    The columns are the title, the sort field, the fields of the conditions, and other informative fields.
    """
    shown = records[:SHOWN_DOCUMENTS]
    schema = schemas[shown[0].bucket]
    same = all(record.bucket == schema.bucket for record in shown)
    fields = _choose_columns(search, schema, shown, order) if same else []
    columns = (translate_message("Document"), *(field.label[:1].upper() + field.label[1:] for field in fields))
    rows = tuple((record.title, *(_format_cell(record.values, field, schema) for field in fields)) for record in shown)
    return ResultTable(caption=caption, columns=columns, rows=rows)


def _choose_columns(
    search: Search, schema: Schema, records: Sequence[DocumentRecord], order: SchemaOrder | None
) -> list[SchemaField]:
    clause = search.clause_for(schema.bucket)
    conditions = conjuncts_of(clause.condition) if clause else ()
    fixed = {
        condition.field
        for condition in conditions
        if isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.EQ
    }
    search_fields: list[FieldName] = [order.field] if order is not None else []
    for condition in conditions:
        search_fields += [name for name in fields_of(condition) if not _is_constant_condition(condition)]
    default_order = [schema.natural_order.field] if schema.natural_order else []
    informative = [
        field.name for field in schema.fields if field.type in (FieldType.MONEY, FieldType.NUMBER, FieldType.CATEGORY)
    ]
    names = [name for name in dict.fromkeys([*search_fields, *default_order, *informative]) if name in schema.by_name]
    currencies = {field.currency_field for field in schema.fields if field.currency_field}
    fields = [schema.by_name[name] for name in names if name not in currencies | fixed]
    filled = [
        field
        for field in fields
        if field.type is not FieldType.ROWS and any(field.name in record.values for record in records)
    ]
    return [field for field in filled if any(record.values.get(field.name) != record.title for record in records)][
        :_MAX_COLUMNS
    ]


def _is_constant_condition(condition: Condition) -> bool:
    """Whether every document of the set has the same value, so that a column would add nothing."""
    return (isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.EQ) or isinstance(
        condition, RowCondition
    )


def _format_cell(values: FieldValues, field: SchemaField, schema: Schema) -> str:
    value = values.get(field.name)
    if value is None:
        return ""
    if field.type is FieldType.MONEY and isinstance(value, float):
        return format_money(value, currency_of_value(values, field))
    return format_value(value, field)
