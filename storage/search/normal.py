"""Conditions for engines: bound to a schema, and in a form whose leaves are plain sets.

`bound` checks a condition against a schema and spells out its short forms. `true_form` then removes the third value:
it pushes `Not` down to the leaves, so that an engine needs only *matches* and *has a value but does not match*.
"""

from dataclasses import dataclass
from datetime import date
from typing import TypeAlias, assert_never

from storage.search.conditions import DOC_ID, TEXT, TITLE, All, Any, Compare, Condition, InRow, Missing, Not, Op, Scalar
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.schema import Field, FieldType, Schema

_ORDERED = frozenset({Op.EQ, Op.IN, Op.GT, Op.GTE, Op.LT, Op.LTE, Op.BETWEEN})
_OPS = {
    FieldType.NUMBER: _ORDERED,
    FieldType.MONEY: _ORDERED,
    FieldType.DATE: _ORDERED,
    FieldType.CATEGORY: frozenset({Op.EQ, Op.IN, Op.CONTAINS}),
    FieldType.TEXT: frozenset({Op.EQ, Op.IN, Op.CONTAINS}),
    FieldType.LIST: frozenset({Op.HAS, Op.IN, Op.CONTAINS}),
    FieldType.FLAG: frozenset({Op.EQ}),
    FieldType.ROWS: frozenset[Op](),
}
_RESERVED_OPS = {TEXT: {Op.CONTAINS}, TITLE: {Op.CONTAINS}, DOC_ID: {Op.EQ, Op.IN}}
_TEXTUAL = (FieldType.CATEGORY, FieldType.TEXT)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Documents (or rows) that have the value and match; negated: that have a value and do not match.

    A leaf on a field whose absence means none (list, flag, rows, `text`, `title`, `doc_id`) and any `Missing`
    is never unknown: negated, it is the plain complement.
    """

    condition: Compare | Missing
    negated: bool = False


@dataclass(frozen=True, slots=True)
class RowLeaf:
    """Documents with a row in `form`; negated: the plain complement, documents without rows among them."""

    row: FieldName
    form: "TrueForm"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    members: tuple["TrueForm", ...]  # none: every document


@dataclass(frozen=True, slots=True)
class AnyOf:
    members: tuple["TrueForm", ...]  # none: no document


TrueForm: TypeAlias = Leaf | RowLeaf | AllOf | AnyOf


def true_form(condition: Condition, *, negated: bool = False) -> TrueForm:
    """The set where `condition` is true (negated: where it is false), without a third value and without `Not`."""
    match condition:
        case Compare() | Missing():
            return Leaf(condition, negated)
        case InRow(row=row, condition=inner):
            return RowLeaf(row, true_form(inner), negated)
        case All(members):
            forms = tuple(true_form(member, negated=negated) for member in members)
            return AnyOf(forms) if negated else AllOf(forms)
        case Any(members):
            forms = tuple(true_form(member, negated=negated) for member in members)
            return AllOf(forms) if negated else AnyOf(forms)
        case Not(inner):
            return true_form(inner, negated=not negated)
        case _:
            assert_never(condition)


def bound(condition: Condition, schema: Schema) -> Condition:
    """The condition with its short forms spelled out and its values typed as the schema's fields.

    `items.name` becomes a row condition of one member, `contains` on a rows field any text column of one row, `eq` on
    a list `has`. Raises `UnknownField` and `InvalidCondition`.
    """
    match condition:
        case Compare():
            return _bound_compare(condition, schema)
        case Missing(field=name):
            if name.partition(".")[1]:
                raise InvalidCondition(f"'missing' holds for whole fields, not for the column {name!r}")
            _field(name, schema)
            return condition
        case InRow(row=row, condition=inner):
            rows = _field(row, schema)
            if rows.type is not FieldType.ROWS:
                raise InvalidCondition(f"field {row!r} has no rows")
            return InRow(row=row, condition=bound(inner, _columns(rows, schema)), words=condition.words)
        case All(members):
            return All(tuple(bound(member, schema) for member in members))
        case Any(members):
            return Any(tuple(bound(member, schema) for member in members))
        case Not(inner):
            return Not(bound(inner, schema))
        case _:
            assert_never(condition)


def _bound_compare(condition: Compare, schema: Schema) -> Condition:
    name, op = condition.field, condition.op
    if name in _RESERVED_OPS and not schema.of_rows:
        if op not in _RESERVED_OPS[name]:
            raise InvalidCondition(f"{op.value!r} does not go with {name!r}")
        return _typed(condition, FieldType.TEXT)
    row, dot, column = name.partition(".")
    if dot and name not in schema.by_name:
        inner = Compare(field=FieldName(column), op=op, value=condition.value, words=condition.words)
        return bound(InRow(row=FieldName(row), condition=inner, words=condition.words), schema)
    target = _field(name, schema)
    if target.type is FieldType.ROWS and op is Op.CONTAINS:
        columns = tuple(
            Compare(field=one.name, op=op, value=condition.value) for one in target.columns if one.type in _TEXTUAL
        )
        return bound(InRow(row=name, condition=Any(columns), words=condition.words), schema)
    if target.type is FieldType.LIST and op is Op.EQ:
        op = Op.HAS
    if op not in _OPS[target.type]:
        raise InvalidCondition(f"{op.value!r} does not go with the field {name!r}, which is a {target.type.value}")
    return _typed(Compare(field=name, op=op, value=condition.value, words=condition.words), target.type)


def _typed(condition: Compare, kind: FieldType) -> Compare:
    name, value, op = condition.field, condition.value, condition.op
    several = op in (Op.IN, Op.BETWEEN)
    if several != isinstance(value, tuple):
        raise InvalidCondition(f"{op.value!r} on {name!r} takes {'several values' if several else 'one value'}")
    many = value if isinstance(value, tuple) else (value,)
    if op is Op.BETWEEN and len(many) != 2:
        raise InvalidCondition(f"'between' on {condition.field!r} takes two values")
    typed = tuple(typed_scalar(one, kind, condition.field) for one in many)
    return Compare(
        field=condition.field, op=op, value=typed if isinstance(value, tuple) else typed[0], words=condition.words
    )


def typed_scalar(value: Scalar, kind: FieldType, name: FieldName) -> Scalar:
    """The value as fields of this kind hold it (a list or rows: as one string). Raises `InvalidCondition`."""
    match kind:
        case FieldType.NUMBER | FieldType.MONEY:
            if (
                isinstance(value, (int, float))
                and not isinstance(value, bool)
                and value == value
                and abs(value) < 1e308
            ):
                return float(value) + 0.0
            raise InvalidCondition(f"{value!r} is not a number, as the field {name!r} needs")
        case FieldType.DATE:
            if isinstance(value, str):
                try:
                    if date.fromisoformat(value).isoformat() == value:
                        return value
                except ValueError:
                    pass
            raise InvalidCondition(f"{value!r} is not a day such as 2031-05-09, as the field {name!r} needs")
        case FieldType.FLAG:
            if isinstance(value, bool):
                return value
            raise InvalidCondition(f"{value!r} is neither true nor false, as the field {name!r} needs")
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST | FieldType.ROWS:
            if isinstance(value, str):
                return value
            raise InvalidCondition(f"{value!r} is not text, as the field {name!r} needs")
        case _:
            assert_never(kind)


def _field(name: FieldName, schema: Schema) -> Field:
    try:
        return schema.by_name[name]
    except KeyError:
        raise UnknownField(name, schema.bucket) from None


def _columns(rows: Field, schema: Schema) -> Schema:
    return Schema(bucket=schema.bucket, fields=rows.columns, of_rows=True)
