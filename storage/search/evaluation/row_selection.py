"""Selects the rows of a document whose column gives the values of a semi-join, one row at a time."""

import operator
from collections.abc import Callable, Mapping
from datetime import date
from typing import TypeAlias, assert_never

from storage.search.analyser import fold_text
from storage.search.conditions import (
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
    conjuncts_of,
)
from storage.search.documents import RowValues
from storage.search.errors import InvalidCondition
from storage.search.evaluation.condition_normal_form import (
    AndNode,
    ConditionNormalForm,
    LeafNode,
    OrNode,
    RowNode,
    normal_form_of,
)
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema

RowMatcher: TypeAlias = Callable[[RowValues], bool]
_ValueTest: TypeAlias = Callable[[Scalar], bool]
_ORDER_TESTS: Mapping[ComparisonOperator, Callable[[float, float], bool]] = {
    ComparisonOperator.GT: operator.gt,
    ComparisonOperator.GTE: operator.ge,
    ComparisonOperator.LT: operator.lt,
    ComparisonOperator.LTE: operator.le,
}


def row_condition_of(condition: Condition, rows_field: FieldName) -> Condition | None:
    """Returns the condition that a row of the documents must meet to count; None: all their rows count.

    It is the one row condition on `rows_field` that all documents meet, or the disjunction of row conditions of which
    all documents meet one. Negated row conditions choose documents only, and all rows of these meet them. Raises
    `InvalidCondition` if several row conditions must be met, perhaps by different rows, or if one is an alternative to
    a condition on the documents.
    """
    found = list[Condition]()
    for member in conjuncts_of(condition):
        alternatives = member.members if isinstance(member, OrCondition) else (member,)
        inner = [
            part.condition for part in alternatives if isinstance(part, RowCondition) and part.rows_field == rows_field
        ]
        if inner and len(inner) == len(alternatives):
            found.append(inner[0] if len(inner) == 1 else OrCondition(tuple(inner)))
        elif _requires_row(member, rows_field, is_negated=False):
            raise InvalidCondition(f"a condition on rows of {rows_field!r} among others does not say which rows count")
    if len(found) > 1:
        raise InvalidCondition(f"{len(found)} conditions on rows of {rows_field!r} do not say which rows count")
    return found[0] if found else None


def _requires_row(condition: Condition, rows_field: FieldName, *, is_negated: bool) -> bool:
    """Whether a row condition on the rows field stands anywhere in the condition without a negation."""
    match condition:
        case RowCondition(rows_field=name):
            return name == rows_field and not is_negated
        case AndCondition(members) | OrCondition(members):
            return any(_requires_row(member, rows_field, is_negated=is_negated) for member in members)
        case NotCondition(inner):
            return _requires_row(inner, rows_field, is_negated=not is_negated)
        case _:
            return False


def row_matcher_for(condition: Condition, row_schema: Schema) -> RowMatcher:
    """Returns the test whether a condition is true for a row. It must be bound to `row_schema`, without semi-joins."""
    return _matcher_for_form(normal_form_of(condition), row_schema)


def _matcher_for_form(form: ConditionNormalForm, row_schema: Schema) -> RowMatcher:
    match form:
        case LeafNode(condition=condition, is_negated=is_negated):
            return _matcher_for_leaf(condition, row_schema, is_negated=is_negated)
        case AndNode(members):
            matchers = [_matcher_for_form(member, row_schema) for member in members]
            return lambda row: all(matches(row) for matches in matchers)
        case OrNode(members):
            matchers = [_matcher_for_form(member, row_schema) for member in members]
            return lambda row: any(matches(row) for matches in matchers)
        case RowNode(rows_field=rows_field):
            raise InvalidCondition(f"column {rows_field!r} has no rows")
        case _:
            assert_never(form)


def _matcher_for_leaf(
    condition: ComparisonCondition | FieldComparisonCondition | MissingCondition,
    row_schema: Schema,
    *,
    is_negated: bool,
) -> RowMatcher:
    name = condition.field
    is_flag = row_schema.by_name[name].type is FieldType.FLAG
    match condition:
        case MissingCondition():
            return lambda row: (name not in row and not is_flag) != is_negated
        case FieldComparisonCondition(other_field=other_name):
            return lambda row: name in row and other_name in row and _compare_columns(condition, row) != is_negated
        case ComparisonCondition(value=value) if is_flag:
            return lambda row: (bool(row.get(name)) == value) != is_negated
        case ComparisonCondition():
            is_met = _value_test_for(condition)
            return lambda row: name in row and is_met(row[name]) != is_negated
        case _:
            assert_never(condition)


def _compare_columns(condition: FieldComparisonCondition, row: RowValues) -> bool:
    left, right = _ordinal_of(row[condition.field]), _ordinal_of(row[condition.other_field]) + condition.offset
    return left == right if condition.op is ComparisonOperator.EQ else _ORDER_TESTS[condition.op](left, right)


def _value_test_for(condition: ComparisonCondition) -> _ValueTest:
    value = condition.value
    operands = tuple(map(_fold_value, value if isinstance(value, tuple) else (value,)))
    match condition.op:
        case ComparisonOperator.EQ | ComparisonOperator.HAS | ComparisonOperator.IN:
            accepted = frozenset(operands)
            return lambda value: _fold_value(value) in accepted
        case ComparisonOperator.CONTAINS:
            return lambda value: str(operands[0]) in str(_fold_value(value))
        case ComparisonOperator.BETWEEN:
            low, high = map(_ordinal_of, operands)
            return lambda value: low <= _ordinal_of(value) <= high
        case op:
            compare, operand = _ORDER_TESTS[op], _ordinal_of(operands[0])
            return lambda value: compare(_ordinal_of(value), operand)


def _fold_value(value: Scalar) -> Scalar:
    return fold_text(value) if isinstance(value, str) else value


def _ordinal_of(value: Scalar) -> float:
    """Returns the number, or that of the day."""
    return float(date.fromisoformat(value).toordinal()) if isinstance(value, str) else float(value)
