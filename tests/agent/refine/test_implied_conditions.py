"""Conditions that a tighter condition implies are dropped."""

from hypothesis import given
from hypothesis import strategies as st

from agent.refine.implied_conditions import drop_implied_conditions
from storage.search.conditions import AndCondition, ComparisonCondition, ComparisonOperator, Condition, MissingCondition
from storage.search.documents import Document
from storage.search.evaluation.naive_evaluation import evaluate_condition
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

TOTAL, DATE = FieldName("total"), FieldName("date")


def total_condition(op: ComparisonOperator, value: float | tuple[float, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=TOTAL, op=op, value=value)


def date_condition(first: str, last: str) -> ComparisonCondition:
    return ComparisonCondition(field=DATE, op=ComparisonOperator.BETWEEN, value=(first, last))


def test_only_the_tighter_of_two_bounds_stays() -> None:
    conditions = [
        total_condition(ComparisonOperator.GT, 5.0),
        total_condition(ComparisonOperator.GTE, 8.0),
        total_condition(ComparisonOperator.LT, 11.0),
        total_condition(ComparisonOperator.LTE, 11.0),
    ]

    assert drop_implied_conditions(conditions) == [
        total_condition(ComparisonOperator.GTE, 8.0),
        total_condition(ComparisonOperator.LT, 11.0),
    ]


def test_a_month_implies_its_year() -> None:
    year, march = date_condition("2024-01-01", "2024-12-31"), date_condition("2024-03-01", "2024-03-31")

    assert drop_implied_conditions([year, march]) == [march]


def test_conditions_on_other_fields_and_of_other_kinds_stay() -> None:
    conditions: list[Condition] = [
        total_condition(ComparisonOperator.GT, 5.0),
        total_condition(ComparisonOperator.EQ, 5.0),
        date_condition("2024-01-01", "2024-12-31"),
        MissingCondition(field=DATE),
    ]

    assert drop_implied_conditions(conditions) == conditions


def matches_condition(condition: Condition, value: float) -> bool | None:
    document = Document(doc_id=DocId("one"), title="", text="", values={TOTAL: value})
    schema = Schema(bucket=BucketId("receipts"), fields=(SchemaField(name=TOTAL, type=FieldType.NUMBER),))
    return evaluate_condition(condition, document, schema, analyser_for(""))


def bound_condition(op: ComparisonOperator, low: float, width: float) -> ComparisonCondition:
    return total_condition(op, (low, low + width) if op is ComparisonOperator.BETWEEN else low)


bound_conditions = st.builds(
    bound_condition,
    st.sampled_from(
        [
            ComparisonOperator.GT,
            ComparisonOperator.GTE,
            ComparisonOperator.LT,
            ComparisonOperator.LTE,
            ComparisonOperator.BETWEEN,
        ]
    ),
    st.integers(0, 6).map(float),
    st.integers(0, 3).map(float),
)


@given(st.lists(bound_conditions, min_size=1, max_size=4), st.integers(-1, 10).map(float))
def test_the_reduced_conditions_match_the_same_values(conditions: list[Condition], value: float) -> None:
    reduced = drop_implied_conditions(conditions)

    assert reduced
    assert set(reduced) <= set(conditions)
    assert matches_condition(AndCondition(tuple(reduced)), value) is matches_condition(
        AndCondition(tuple(conditions)), value
    )
