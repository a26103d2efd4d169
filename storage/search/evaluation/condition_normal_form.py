"""Conditions in the form that engines evaluate: bound to a schema, without three-valued logic.

`bind_to_schema` checks a condition against a schema and expands its short forms. `normal_form_of` then removes
*unknown*: it moves each negation down to the leaves, so that an engine needs only *matches* and *has a value but does
not match*.
"""

from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TypeAlias, assert_never

from storage.search.conditions import (
    DOC_ID_FIELD,
    ORDER_OPERATORS,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
    SemiJoinCondition,
)
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField, have_different_currencies

_MAX_RECENT_DAYS = 4_096  # whose form is remembered: records have the same days again and again
_ORDER_OPERATORS = frozenset(
    {
        ComparisonOperator.EQ,
        ComparisonOperator.IN,
        ComparisonOperator.GT,
        ComparisonOperator.GTE,
        ComparisonOperator.LT,
        ComparisonOperator.LTE,
        ComparisonOperator.BETWEEN,
    }
)
_FIELD_OPERATORS = {
    FieldType.NUMBER: _ORDER_OPERATORS,
    FieldType.MONEY: _ORDER_OPERATORS,
    FieldType.DATE: _ORDER_OPERATORS,
    FieldType.CATEGORY: frozenset({ComparisonOperator.EQ, ComparisonOperator.IN, ComparisonOperator.CONTAINS}),
    FieldType.TEXT: frozenset({ComparisonOperator.EQ, ComparisonOperator.IN, ComparisonOperator.CONTAINS}),
    FieldType.LIST: frozenset({ComparisonOperator.HAS, ComparisonOperator.IN, ComparisonOperator.CONTAINS}),
    FieldType.FLAG: frozenset({ComparisonOperator.EQ}),
    FieldType.ROWS: frozenset[ComparisonOperator](),
}
_RESERVED_OPERATORS = {
    TEXT_FIELD: {ComparisonOperator.CONTAINS},
    TITLE_FIELD: {ComparisonOperator.CONTAINS},
    DOC_ID_FIELD: {ComparisonOperator.EQ, ComparisonOperator.IN},
}
_ORDERED_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_FIELD_COMPARISONS = _ORDER_OPERATORS - {ComparisonOperator.IN, ComparisonOperator.BETWEEN}
_TEXTUAL_TYPES = (FieldType.CATEGORY, FieldType.TEXT)


@dataclass(frozen=True, slots=True)
class LeafNode:
    """The documents (or rows) that have a value and match; negated: those that have a value and do not match.

    A leaf is never unknown if its condition is a `MissingCondition`, or if a missing value means none (list, flag,
    rows, `text`, `title`, `doc_id`). Such a leaf, negated, is the complement.
    """

    condition: ComparisonCondition | FieldComparisonCondition | MissingCondition
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class RowNode:
    """The documents with a row that matches `form`; negated: the complement, which includes documents without rows."""

    rows_field: FieldName
    form: "ConditionNormalForm"
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class AndNode:
    members: tuple["ConditionNormalForm", ...]  # without members: every document


@dataclass(frozen=True, slots=True)
class OrNode:
    members: tuple["ConditionNormalForm", ...]  # without members: no document


ConditionNormalForm: TypeAlias = LeafNode | RowNode | AndNode | OrNode


def normal_form_of(condition: Condition, *, is_negated: bool = False) -> ConditionNormalForm:
    """Returns the set for which `condition` is true (negated: is false), without *unknown* and `NotCondition`."""
    match condition:
        case ComparisonCondition() | FieldComparisonCondition() | MissingCondition():
            return LeafNode(condition, is_negated)
        case RowCondition(rows_field=rows_field, condition=inner):
            return RowNode(rows_field, normal_form_of(inner), is_negated)
        case AndCondition(members):
            forms = tuple(normal_form_of(member, is_negated=is_negated) for member in members)
            return OrNode(forms) if is_negated else AndNode(forms)
        case OrCondition(members):
            forms = tuple(normal_form_of(member, is_negated=is_negated) for member in members)
            return AndNode(forms) if is_negated else OrNode(forms)
        case NotCondition(inner):
            return normal_form_of(inner, is_negated=not is_negated)
        case SemiJoinCondition():
            raise InvalidCondition("a semi-join must be resolved before its condition is evaluated")
        case _:
            assert_never(condition)


def bind_to_schema(condition: Condition, schema: Schema) -> Condition:
    """Returns the condition with its short forms expanded and its values converted to the types of the schema's fields.

    A comparison on `items.qty` becomes a row condition on `items`. `contains` on a rows field becomes a row condition
    that any text column of one row contains the value. `eq` on a list field becomes `has`. Raises `UnknownField` and
    `InvalidCondition`.
    """
    match condition:
        case ComparisonCondition():
            return _bind_comparison(condition, schema)
        case FieldComparisonCondition():
            return _bind_field_comparison(condition, schema)
        case MissingCondition(field=name):
            if name.partition(".")[1]:
                raise InvalidCondition(f"'missing' holds for whole fields, not for the column {name!r}")
            _find_field(name, schema)
            return condition
        case RowCondition(rows_field=rows_field_name, condition=inner):
            return RowCondition(
                rows_field=rows_field_name,
                condition=bind_to_schema(inner, row_schema_of(rows_field_name, schema)),
                words=condition.words,
            )
        case AndCondition(members):
            return AndCondition(tuple(bind_to_schema(member, schema) for member in members))
        case OrCondition(members):
            return OrCondition(tuple(bind_to_schema(member, schema) for member in members))
        case NotCondition(inner):
            return NotCondition(bind_to_schema(inner, schema))
        case SemiJoinCondition():
            return _bind_semi_join(condition, schema)
        case _:
            assert_never(condition)


def _bind_semi_join(condition: SemiJoinCondition, schema: Schema) -> SemiJoinCondition:
    """Checks the outer field only: the inner set is bound to the schema of its own bucket."""
    check_join_field(condition.field, schema)
    if condition.op in ORDER_OPERATORS:
        is_reserved = is_reserved_join_field(condition.field, schema)
        if is_reserved or _find_field(condition.field, schema).type not in _ORDERED_TYPES:
            raise InvalidCondition(f"{condition.op.value!r} does not go with {condition.field!r}")
    return condition


def check_join_field(name: FieldName, schema: Schema) -> None:
    """Raises `UnknownField`, and `InvalidCondition` for a field whose values are not compared with those of others."""
    if is_reserved_join_field(name, schema):
        return
    if _find_field(name, schema).type in (FieldType.FLAG, FieldType.ROWS):
        raise InvalidCondition(f"a semi-join does not go with the field {name!r}")


def is_reserved_join_field(name: FieldName, schema: Schema) -> bool:
    """Whether the name means the title or the id of documents; a column may have such a name."""
    return name in (TITLE_FIELD, DOC_ID_FIELD) and not schema.is_row_schema


def _bind_comparison(condition: ComparisonCondition, schema: Schema) -> Condition:
    name, op = condition.field, condition.op
    if name in _RESERVED_OPERATORS and not schema.is_row_schema:
        if op not in _RESERVED_OPERATORS[name]:
            raise InvalidCondition(f"{op.value!r} does not go with {name!r}")
        return _convert_values(condition, FieldType.TEXT)
    rows_field_name, dot, column_name = name.partition(".")
    if dot and name not in schema.by_name:
        inner = replace(condition, field=FieldName(column_name))
        return bind_to_schema(
            RowCondition(rows_field=FieldName(rows_field_name), condition=inner, words=condition.words), schema
        )
    target = _find_field(name, schema)
    if target.type is FieldType.ROWS and op is ComparisonOperator.CONTAINS:
        column_conditions = tuple(
            ComparisonCondition(field=column.name, op=op, value=condition.value)
            for column in target.columns
            if column.type in _TEXTUAL_TYPES
        )
        return bind_to_schema(
            RowCondition(rows_field=name, condition=OrCondition(column_conditions), words=condition.words), schema
        )
    if target.type is FieldType.LIST and op is ComparisonOperator.EQ:
        op = ComparisonOperator.HAS
    if op not in _FIELD_OPERATORS[target.type]:
        raise InvalidCondition(f"{op.value!r} does not go with the field {name!r}, which is a {target.type.value}")
    return _convert_values(replace(condition, op=op), target.type)


def _bind_field_comparison(condition: FieldComparisonCondition, schema: Schema) -> Condition:
    """Two columns of the same rows ("items.qty") are compared within one row."""
    rows_name, dot, column_name = condition.field.partition(".")
    other_rows, _, other_column = condition.other_field.partition(".")
    if dot and condition.field not in schema.by_name and other_rows == rows_name:
        inner = replace(condition, field=FieldName(column_name), other_field=FieldName(other_column))
        return bind_to_schema(
            RowCondition(rows_field=FieldName(rows_name), condition=inner, words=condition.words), schema
        )
    left, right = _find_field(condition.field, schema), _find_field(condition.other_field, schema)
    if left.type is not right.type or left.type not in _ORDERED_TYPES or left.unit != right.unit:
        raise InvalidCondition(f"{condition.field!r} and {condition.other_field!r} cannot be compared")
    if have_different_currencies(left, right):
        raise InvalidCondition(f"{condition.field!r} and {condition.other_field!r} are in different currencies")
    if condition.op not in _FIELD_COMPARISONS or not abs(condition.offset) < 1e308:
        raise InvalidCondition(f"{condition.op.value!r} does not compare two fields")
    return condition


def _convert_values(condition: ComparisonCondition, field_type: FieldType) -> ComparisonCondition:
    name, value, op = condition.field, condition.value, condition.op
    takes_several = op in (ComparisonOperator.IN, ComparisonOperator.BETWEEN)
    if takes_several != isinstance(value, tuple):
        raise InvalidCondition(f"{op.value!r} on {name!r} takes {'several values' if takes_several else 'one value'}")
    values = value if isinstance(value, tuple) else (value,)
    if op is ComparisonOperator.BETWEEN and len(values) != 2:
        raise InvalidCondition(f"'between' on {condition.field!r} takes two values")
    typed_values = tuple(convert_scalar(scalar, field_type, condition.field) for scalar in values)
    return replace(condition, value=typed_values if isinstance(value, tuple) else typed_values[0])


def convert_scalar(value: Scalar, field_type: FieldType, field_name: FieldName) -> Scalar:
    """Returns the value as fields of this type store it (of a list or rows: one string). Raises `InvalidCondition`."""
    match field_type:
        case FieldType.NUMBER | FieldType.MONEY:
            if (
                isinstance(value, (int, float))
                and not isinstance(value, bool)
                and value == value
                and abs(value) < 1e308
            ):
                return float(value) + 0.0
            raise InvalidCondition(f"{value!r} is not a number, as the field {field_name!r} needs")
        case FieldType.DATE:
            if isinstance(value, str) and is_iso_day(value):
                return value
            raise InvalidCondition(f"{value!r} is not a day such as 2031-05-09, as the field {field_name!r} needs")
        case FieldType.FLAG:
            if isinstance(value, bool):
                return value
            raise InvalidCondition(f"{value!r} is neither true nor false, as the field {field_name!r} needs")
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST | FieldType.ROWS:
            if isinstance(value, str):
                return value
            raise InvalidCondition(f"{value!r} is not text, as the field {field_name!r} needs")
        case _:
            assert_never(field_type)


@lru_cache(maxsize=_MAX_RECENT_DAYS)
def is_iso_day(text: str) -> bool:
    """Whether the text is a day as it is stored: `2031-05-09`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _find_field(name: FieldName, schema: Schema) -> SchemaField:
    try:
        return schema.by_name[name]
    except KeyError:
        raise UnknownField(name, schema.bucket) from None


def row_schema_of(rows_field_name: FieldName, schema: Schema) -> Schema:
    """Returns the schema of the rows. Raises `UnknownField`, and `InvalidCondition` for a field without rows."""
    rows_field = _find_field(rows_field_name, schema)
    if rows_field.type is not FieldType.ROWS:
        raise InvalidCondition(f"field {rows_field_name!r} has no rows")
    return Schema(bucket=schema.bucket, fields=rows_field.columns, is_row_schema=True)
