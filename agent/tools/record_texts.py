"""Documents with their field values as text for a model."""

from collections.abc import Sequence

from agent.compose.phrases.values import format_money, format_value
from agent.forms.figures import currency_of_value
from agent.tools.collected_evidence import CollectedRecord
from prompts.data_texts import quote_value
from storage.search.documents import FieldValue
from storage.search.ids import FieldName
from storage.search.index import DocumentRecord
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_SHOWN_FIELDS = 12  # where none are named
_MAX_SHOWN_ROWS = 5
_MAX_VALUE_CHARACTERS = 160
_LONG_TYPES = (FieldType.ROWS, FieldType.TEXT)


def describe_record(item: CollectedRecord, schema: Schema, fields: Sequence[SchemaField]) -> str:
    """Returns one line: the id, the title, the document id and the values of the fields that it has."""
    record = item.record
    values = "".join(f" | {describe_field(record, field)}" for field in fields if field.name in record.values)
    return f"[{item.id}] {quote_value(record.title)}, doc_id {quote_value(record.doc_id)}{values}"


def short_fields_of(schema: Schema, first: FieldName | None = None) -> Sequence[SchemaField]:
    """Returns the fields that are shown where none are named; `first` is among them."""
    chosen = [field for field in schema.fields if field.name == first]
    chosen += [field for field in schema.fields if field.name != first and field.type not in _LONG_TYPES]
    return chosen[:_MAX_SHOWN_FIELDS]


def describe_field(record: DocumentRecord, field: SchemaField) -> str:
    """Returns "total: USD 12.50"; text of documents appears in quotation marks."""
    return f"{field.name}: {_describe_value(record.values[field.name], field, record)}"


def _describe_value(value: FieldValue, field: SchemaField, record: DocumentRecord) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float() if field.type is FieldType.MONEY:
            return format_money(value, currency_of_value(record.values, field))
        case float():
            return format_value(value, field)
        case str():
            return quote_value(value, _MAX_VALUE_CHARACTERS)
        case tuple() if field.type is FieldType.LIST:
            return ", ".join(quote_value(str(member), _MAX_VALUE_CHARACTERS) for member in value)
        case _:
            return _describe_rows(value, field, record)


def _describe_rows(value: FieldValue, field: SchemaField, record: DocumentRecord) -> str:
    rows = [row for row in value if not isinstance(row, str)] if isinstance(value, tuple) else []
    columns = {column.name: column for column in field.columns}
    shown = [
        "(" + ", ".join(f"{name}: {_describe_value(cell, columns[name], record)}" for name, cell in row.items()) + ")"
        for row in rows[:_MAX_SHOWN_ROWS]
    ]
    rest = len(rows) - len(shown)
    return " ".join(shown) + (f" and {rest} more rows" if rest > 0 else "")
