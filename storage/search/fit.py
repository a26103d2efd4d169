"""Whether values fit a schema: what `put` refuses, and what is read of documents kept from before a schema change."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never, cast

from storage.search.conditions import Scalar
from storage.search.documents import Document, Row, Value, Values
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.normal import typed_scalar
from storage.search.schema import Field, FieldType, Schema

Raw: TypeAlias = object  # of JSON, or of a caller


def fitted(document: Document, schema: Schema) -> Values:
    """The document's values, typed as the schema's fields. Raises `InvalidCondition` for the first that does not fit.

    Whole numbers become doubles. An empty string, list or row is no value, and neither is text that is not Unicode
    (lone surrogates). Passages lie within the text, in order.
    """
    _check_text(document)
    for name in document.values:
        if name not in schema.by_name:
            raise UnknownField(name, schema.bucket)
    return {name: _value(value, schema.by_name[name]) for name, value in document.values.items()}


def still_fitting(values: Mapping[str, Raw], schema: Schema) -> Values:
    """Those of the values that fit the schema, typed; the rest is as if absent. For values kept as JSON."""
    kept = dict[FieldName, Value]()
    for one in schema.fields:
        if one.name in values:
            value = values[one.name]
            fits = _fits(_with_fitting_rows(value, one) if one.type is FieldType.ROWS else value, one)
            kept |= {one.name: fits} if fits is not None else {}
    return kept


def _fits(value: Raw, one: Field) -> Value | None:
    try:
        return _value(value, one)
    except InvalidCondition:
        return None


def _with_fitting_rows(rows: Raw, one: Field) -> list[Row]:
    """The rows with the columns that still fit; none that is left without any."""
    kept = list[Row]()
    for row in cast(Sequence[Raw], rows) if isinstance(rows, (tuple, list)) else ():
        if isinstance(row, Mapping):
            raw = cast(Mapping[str, Raw], row)
            cells = {c.name: _fits(raw[c.name], c) for c in one.columns if c.name in raw}
            kept.append({name: cell for name, cell in cells.items() if isinstance(cell, (str, float, bool))})
    return [row for row in kept if row]


def _check_text(document: Document) -> None:
    texts = (document.doc_id, document.title, document.text, document.source, document.digest, *document.readers)
    if not all(map(is_unicode, texts)):
        raise InvalidCondition(f"document {document.doc_id!r} holds text that is not valid Unicode")
    start = 0
    for passage in document.passages:
        if not start <= passage.start <= passage.end <= len(document.text):
            raise InvalidCondition(f"document {document.doc_id!r} has passages out of order or beyond its text")
        start = passage.start


def is_unicode(text: str) -> bool:
    """Whether it can be stored: holds no lone surrogates."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _value(value: Raw, one: Field) -> Value:
    match one.type:
        case FieldType.LIST:
            members = _several(value, one)
            return tuple(str(_scalar(member, one)) for member in members)
        case FieldType.ROWS:
            return tuple(_row(row, one) for row in _several(value, one))
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE | FieldType.CATEGORY | FieldType.FLAG | FieldType.TEXT:
            return _scalar(value, one)
        case _:
            assert_never(one.type)


def _several(value: Raw, one: Field) -> tuple[Raw, ...]:
    if isinstance(value, (tuple, list)) and value:
        return tuple(cast(Sequence[Raw], value))
    raise InvalidCondition(f"the field {one.name!r} takes several values, at least one, not {value!r}")


def _row(row: Raw, rows: Field) -> Row:
    if not isinstance(row, Mapping) or not row:
        raise InvalidCondition(f"a row of {rows.name!r} holds at least one column, not {row!r}")
    columns = {one.name: one for one in rows.columns}
    typed = dict[FieldName, Scalar]()
    for name, value in cast(Mapping[FieldName, Raw], row).items():
        if name not in columns:
            raise InvalidCondition(f"the rows of {rows.name!r} have no column {name!r}")
        typed[name] = _scalar(value, columns[name])
    return typed


def _scalar(value: Raw, one: Field) -> Scalar:
    if not isinstance(value, (str, int, float)) or value == "":
        raise InvalidCondition(f"{value!r} is no value for the field {one.name!r}")
    if isinstance(value, str) and not is_unicode(value):
        raise InvalidCondition(f"the value of {one.name!r} is not valid Unicode")
    return typed_scalar(value, one.type, one.name)
