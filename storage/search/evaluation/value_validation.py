"""Validation of field values against a schema, for `put` and for values stored before a schema change."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never, cast

from storage.search.conditions import Scalar
from storage.search.documents import Document, FieldValue, FieldValues, RowValues
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.evaluation.condition_normal_form import convert_scalar, is_iso_day
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField

RawValue: TypeAlias = object  # from JSON or from a caller
_MAX_NUMBER = 1e308  # what is as large as this or larger is no value


def validate_values(document: Document, schema: Schema) -> FieldValues:
    """Returns the document's values with the types of the schema's fields.

    Whole numbers become doubles. Raises `UnknownField`, and `InvalidCondition` for the first value that does not fit: a
    value of another type, an empty string, list or row, or text with lone surrogates. Raises `InvalidCondition` also
    for passages that are out of order or reach beyond the text.
    """
    _check_document_text(document)
    for name in document.values:
        if name not in schema.by_name:
            raise UnknownField(name, schema.bucket)
    return {name: _validate_value(value, schema.by_name[name]) for name, value in document.values.items()}


def select_fitting_values(values: Mapping[str, RawValue], schema: Schema) -> FieldValues:
    """Returns the values that fit the schema, typed. Drops all others. For values stored as JSON."""
    fitting_values = dict[FieldName, FieldValue]()
    for field in schema.fields:
        if field.name in values:
            value = values[field.name]
            plain_value = _find_plain_value(value, field.type)
            if plain_value is not None:
                fitting_values[field.name] = plain_value
                continue
            fitting_value = _value_or_none(
                _select_fitting_rows(value, field) if field.type is FieldType.ROWS else value, field
            )
            if fitting_value is not None:
                fitting_values[field.name] = fitting_value
    return fitting_values


def _find_plain_value(value: RawValue, field_type: FieldType) -> FieldValue | None:
    """Returns the value if it fits at first sight, as most stored values do; None: it has to be validated."""
    kind = type(value)
    if kind is str:
        text = cast(str, value)
        if field_type is FieldType.CATEGORY or field_type is FieldType.TEXT:
            return text if text and text.isascii() else None
        return text if field_type is FieldType.DATE and is_iso_day(text) else None
    if kind is float and (field_type is FieldType.NUMBER or field_type is FieldType.MONEY):
        number = cast(float, value)
        return number + 0.0 if -_MAX_NUMBER < number < _MAX_NUMBER else None
    if kind is list and field_type is FieldType.LIST:
        members = cast(list[RawValue], value)
        texts = [member for member in members if type(member) is str and member and member.isascii()]
        return tuple(texts) if texts and len(texts) == len(members) else None
    return None


def _value_or_none(value: RawValue, field: SchemaField) -> FieldValue | None:
    try:
        return _validate_value(value, field)
    except InvalidCondition:
        return None


def _select_fitting_rows(rows: RawValue, field: SchemaField) -> list[RowValues]:
    """Returns the rows with only the columns that fit, without rows that have no such column."""
    fitting_rows = list[RowValues]()
    for row in cast(Sequence[RawValue], rows) if isinstance(rows, (tuple, list)) else ():
        if isinstance(row, Mapping):
            raw_row = cast(Mapping[str, RawValue], row)
            cells = {
                column.name: _value_or_none(raw_row[column.name], column)
                for column in field.columns
                if column.name in raw_row
            }
            fitting_rows.append({name: cell for name, cell in cells.items() if isinstance(cell, (str, float, bool))})
    return [row for row in fitting_rows if row]


def _check_document_text(document: Document) -> None:
    texts = (document.doc_id, document.title, document.text, document.source, document.digest, *document.readers)
    if not all(map(is_valid_unicode, texts)):
        raise InvalidCondition(f"document {document.doc_id!r} holds text that is not valid Unicode")
    start = 0
    for passage in document.passages:
        if not start <= passage.start <= passage.end <= len(document.text):
            raise InvalidCondition(f"document {document.doc_id!r} has passages out of order or beyond its text")
        start = passage.start


def is_valid_unicode(text: str) -> bool:
    """Whether the text has no lone surrogates, so that it can be stored."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _validate_value(value: RawValue, field: SchemaField) -> FieldValue:
    match field.type:
        case FieldType.LIST:
            members = _require_members(value, field)
            return tuple(str(_validate_scalar(member, field)) for member in members)
        case FieldType.ROWS:
            return tuple(_validate_row(row, field) for row in _require_members(value, field))
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE | FieldType.CATEGORY | FieldType.FLAG | FieldType.TEXT:
            return _validate_scalar(value, field)
        case _:
            assert_never(field.type)


def _require_members(value: RawValue, field: SchemaField) -> tuple[RawValue, ...]:
    if isinstance(value, (tuple, list)) and value:
        return tuple(cast(Sequence[RawValue], value))
    raise InvalidCondition(f"the field {field.name!r} takes several values, at least one, not {value!r}")


def _validate_row(row: RawValue, rows_field: SchemaField) -> RowValues:
    if not isinstance(row, Mapping) or not row:
        raise InvalidCondition(f"a row of {rows_field.name!r} holds at least one column, not {row!r}")
    columns = {column.name: column for column in rows_field.columns}
    typed_values = dict[FieldName, Scalar]()
    for name, value in cast(Mapping[FieldName, RawValue], row).items():
        if name not in columns:
            raise InvalidCondition(f"the rows of {rows_field.name!r} have no column {name!r}")
        typed_values[name] = _validate_scalar(value, columns[name])
    return typed_values


def _validate_scalar(value: RawValue, field: SchemaField) -> Scalar:
    if not isinstance(value, (str, int, float)) or value == "":
        raise InvalidCondition(f"{value!r} is not a value for the field {field.name!r}")
    if isinstance(value, str) and not is_valid_unicode(value):
        raise InvalidCondition(f"the value of {field.name!r} is not valid Unicode")
    return convert_scalar(value, field.type, field.name)
