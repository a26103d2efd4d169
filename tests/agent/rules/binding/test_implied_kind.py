"""The kind of documents that a set implies."""

import pytest

from agent.rules.binding.implied_kind import add_implied_kind, select_fields_of_kind
from storage.search.conditions import (
    MATCH_ALL,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import AggregateFunction, AnswerForm, Clause, ComputeNumbers, ListDocuments
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

SHARED, KIND = BucketId("shared"), FieldName("kind")
WORTH = FieldName("worth")
BOUGHT, DATE, OWNER, TOTAL = FieldName("bought"), FieldName("date"), FieldName("owner"), FieldName("total")
SCHEMA = Schema(
    bucket=SHARED,
    fields=(
        SchemaField(name=KIND, type=FieldType.CATEGORY, origin=FieldOrigin.KIND, values={"asset": (), "bill": ()}),
        SchemaField(name=BOUGHT, type=FieldType.DATE, kinds=("asset",)),
        SchemaField(name=DATE, type=FieldType.DATE, kinds=("asset", "bill")),
        SchemaField(name=OWNER, type=FieldType.CATEGORY),
        SchemaField(name=TOTAL, type=FieldType.MONEY, currency="EUR", kinds=("bill",)),
        SchemaField(name=WORTH, type=FieldType.MONEY, currency="EUR", kinds=("asset",)),
    ),
)
IS_ASSET = ComparisonCondition(field=KIND, op=ComparisonOperator.EQ, value="asset")
IS_BILL = ComparisonCondition(field=KIND, op=ComparisonOperator.EQ, value="bill")
BOUGHT_EARLY = ComparisonCondition(field=BOUGHT, op=ComparisonOperator.LT, value="2031-01-01")
DATED_LATE = ComparisonCondition(field=DATE, op=ComparisonOperator.GT, value="2031-01-01")
ANN = ComparisonCondition(field=OWNER, op=ComparisonOperator.EQ, value="Ann")
LIST = ListDocuments()


def implied_conditions(condition: Condition, answer_form: AnswerForm = LIST) -> tuple[Condition, ...]:
    before = Clause(bucket=SHARED, condition=condition)
    after = add_implied_kind(before, answer_form, SCHEMA)
    return tuple(part for part in conjuncts_of(after.condition) if part not in conjuncts_of(condition))


@pytest.mark.parametrize(
    "condition",
    [
        BOUGHT_EARLY,
        NotCondition(BOUGHT_EARLY),
        AndCondition((BOUGHT_EARLY, ANN)),
        AndCondition((BOUGHT_EARLY, DATED_LATE)),
        OrCondition((BOUGHT_EARLY, ComparisonCondition(field=BOUGHT, op=ComparisonOperator.GT, value="2032-01-01"))),
    ],
)
def test_a_comparison_with_a_field_of_one_kind_implies_the_kind(condition: Condition) -> None:
    assert implied_conditions(condition) == (IS_ASSET,)


@pytest.mark.parametrize(
    "condition",
    [
        MATCH_ALL,
        ANN,
        DATED_LATE,
        MissingCondition(field=BOUGHT),
        OrCondition((BOUGHT_EARLY, ANN)),
        AndCondition((BOUGHT_EARLY, IS_BILL)),
    ],
)
def test_nothing_is_implied_where_other_kinds_could_be_meant(condition: Condition) -> None:
    assert implied_conditions(condition) == ()


def test_what_is_summed_implies_the_kind_that_has_it() -> None:
    sums = ComputeNumbers(field=TOTAL, functions=(AggregateFunction.SUM,))

    assert implied_conditions(MATCH_ALL, sums) == (IS_BILL,)


@pytest.mark.parametrize(
    ("names", "conditions", "expected"),
    [
        ((TOTAL, OWNER), (), (TOTAL, OWNER)),
        ((TOTAL, OWNER), (IS_ASSET,), (OWNER,)),
        ((TOTAL,), (IS_ASSET,), (WORTH,)),
        ((TOTAL,), (IS_BILL,), (TOTAL,)),
    ],
)
def test_a_kind_is_ordered_by_a_field_that_it_has(
    names: tuple[FieldName, ...], conditions: tuple[Condition, ...], expected: tuple[FieldName, ...]
) -> None:
    assert select_fields_of_kind(names, conditions, SCHEMA) == expected
