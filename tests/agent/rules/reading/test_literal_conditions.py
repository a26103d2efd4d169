"""Which field a number, an age or a date belongs to, and what the words around it make of it."""

import asyncio
from datetime import UTC, datetime
from typing import cast

import pytest

from agent.assumptions import DateFieldTaken, MarginTaken, WordsTakenAsField
from agent.decomposition import PlannedQuestion, QuestionContext
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

BUCKET = BucketId("loans")
BETWEEN, EQ, GT, GTE, LT, LTE = (
    ComparisonOperator.BETWEEN, ComparisonOperator.EQ, ComparisonOperator.GT, ComparisonOperator.GTE,
    ComparisonOperator.LT, ComparisonOperator.LTE,
)  # fmt: skip


def field_of(name: str, field_type: FieldType, *synonyms: str, unit: str = "", currency: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=field_type, synonyms=synonyms, unit=unit, currency=currency)


SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("loan",),
    fields=(
        field_of("lent", FieldType.DATE, "lending date"),
        field_of("due_date", FieldType.DATE, "deadline"),
        field_of("returned_date", FieldType.DATE, "given back"),
        field_of("bought", FieldType.DATE, "purchase date"),
        field_of("weight", FieldType.NUMBER, unit="kg"),
        field_of("reach", FieldType.NUMBER, unit="m"),
        field_of("warranty_months", FieldType.NUMBER, unit="month"),
        field_of("drawers", FieldType.NUMBER),
        field_of("blades", FieldType.NUMBER),
        field_of("fee", FieldType.MONEY, "charge", currency="EUR"),
    ),
)
RANGES: dict[str, tuple[float | str, float | str]] = {
    "lent": ("2021-01-02", "2027-02-01"), "due_date": ("2021-02-02", "2027-09-01"),
    "returned_date": ("2021-02-02", "2027-02-08"), "bought": ("1998-05-05", "2026-12-01"), "weight": (0.5, 80.0),
    "reach": (0.2, 9.0), "warranty_months": (3.0, 60.0), "drawers": (1.0, 12.0), "blades": (1.0, 9.0),
    "fee": (100.0, 3000.0),
}  # fmt: skip
CONTEXT = QuestionContext(
    schemas={BUCKET: SCHEMA},
    vocabulary=IndexVocabulary(
        generation=Generation("1"),
        document_counts={BUCKET: 80},
        fields=tuple(
            FieldVocabulary(bucket=BUCKET, field=FieldName(name), document_count=80, low=low, high=high)
            for name, (low, high) in RANGES.items()
        ),
    ),
    analysers={BUCKET: analyser_for("en")},
    now=datetime(2027, 2, 10, tzinfo=UTC),
    locale="en",
    last_plan=None,
)


def plan_of(question: str) -> PlannedQuestion:
    return cast(PlannedQuestion, asyncio.run(RuleReasoner().decompose_question(question, CONTEXT)))


def conditions_of(question: str) -> set[Condition]:
    return set(conjuncts_of(plan_of(question).plan.legs[0].search.clauses[0].condition))


def compare(field: str, op: ComparisonOperator, *values: float | str) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(field), op=op, value=values[0] if len(values) == 1 else values)


@pytest.mark.parametrize(
    ("question", "field", "op", "values"),
    [
        ("loans of tools older than 10 years", "bought", LT, ("2017-02-10",)),
        ("loans bought not yet six months ago", "bought", GT, ("2026-08-10",)),
        ("tools at least 3 years old on loan, all loans", "bought", LTE, ("2024-02-10",)),
        ("loans of 5 to 8 years old tools", "bought", BETWEEN, ("2018-02-11", "2022-02-10")),
        ("loans of tools in use for more than 4 years", "warranty_months", GT, (48.0,)),
        ("loans with a warranty of over a year", "warranty_months", GT, (12.0,)),
        ("loans with a warranty of at least two quarters", "warranty_months", GTE, (6.0,)),
        ("loans due within 30 days", "due_date", BETWEEN, ("2027-02-10", "2027-03-12")),
        ("loans due in the next two weeks", "due_date", BETWEEN, ("2027-02-10", "2027-02-24")),
        ("loans due before the end of the year", "due_date", LTE, ("2027-12-31",)),
        ("loans due in june", "due_date", BETWEEN, ("2027-06-01", "2027-06-30")),
        ("loans march", "lent", BETWEEN, ("2026-03-01", "2026-03-31")),
        ("Q4 loans", "lent", BETWEEN, ("2026-10-01", "2026-12-31")),
        ("loans given back since january", "returned_date", GTE, ("2027-01-01",)),
        ("loans at 1,500 a month", "fee", EQ, (1500.0,)),
        ("loans for no more than 900 per month", "fee", LTE, (900.0,)),
        ("loans north of 1.5k", "fee", GT, (1500.0,)),
        ("loans over 2000", "fee", GT, (2000.0,)),
        ("loans heavier than 20 pounds", "weight", GT, (9.07184740000,)),
        ("loans around 50 kg", "weight", BETWEEN, (45.0, 55.0)),
        ("loans anywhere from 12 through 30 kg", "weight", BETWEEN, (12.0, 30.0)),
        ("loans with 2-5 drawers", "drawers", BETWEEN, (2.0, 5.0)),
        ("loans with a couple of drawers", "drawers", EQ, (2.0,)),
        ("loans with half a dozen blades or more", "blades", GTE, (6.0,)),
    ],
)
def test_a_literal_goes_to_the_field_that_it_measures(
    question: str, field: str, op: ComparisonOperator, values: tuple[float | str, ...]
) -> None:
    (condition,) = conditions_of(question)

    assert isinstance(condition, ComparisonCondition)
    assert (condition.field, condition.op) == (field, op)
    assert condition.value == pytest.approx(values[0] if len(values) == 1 else values)


@pytest.mark.parametrize("question", ["loans of 3 hours", "loans of shelf 12", "loans above 5 kHz", "drawer 12"])
def test_a_number_goes_to_no_field_just_because_one_is_there(question: str) -> None:
    fields = {part.field for part in conditions_of(question) if isinstance(part, ComparisonCondition)}

    assert not fields & {field.name for field in SCHEMA.fields}


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("loans under 3 kg and over 50 kg", {compare("weight", LT, 3.0), compare("weight", GT, 50.0)}),
        ("loans lent before 2022, after 2025", {compare("lent", LT, "2022-01-01"), compare("lent", GT, "2025-12-31")}),
    ],
)
def test_bounds_that_leave_nothing_are_alternatives(question: str, bounds: set[Condition]) -> None:
    (condition,) = conditions_of(question)

    assert isinstance(condition, OrCondition)
    assert set(condition.members) == bounds


def test_a_range_of_two_bounds_stays_a_range() -> None:
    assert conditions_of("loans over 5 and under 10 kg") == {compare("weight", GT, 5.0), compare("weight", LT, 10.0)}


def test_overdue_is_past_the_deadline_and_not_given_back() -> None:
    late = {compare("due_date", LT, "2027-02-10"), MissingCondition(field=FieldName("returned_date"))}

    assert conditions_of("overdue loans") == late
    assert conditions_of("loans past their due date") == late
    assert late | {compare("due_date", LT, "2026-12-12")} == conditions_of("loans more than 60 days overdue")
    (negated,) = conditions_of("loans that are not overdue")
    assert isinstance(negated, NotCondition)


def test_what_is_due_has_a_deadline_that_has_come() -> None:
    assert compare("due_date", LTE, "2027-02-10") in conditions_of("which loans are due?")


def test_a_date_without_a_field_is_the_main_one_and_said_so() -> None:
    assumptions = plan_of("loans from early 2026").assumptions

    (assumption,) = (part for part in assumptions if isinstance(part, DateFieldTaken))
    assert assumption.field_label == "lent"
    assert "due date" in assumption.other_labels
    assert not any(isinstance(part, DateFieldTaken) for part in plan_of("loans lent in early 2026").assumptions)


def test_a_margin_and_a_field_at_hand_are_said() -> None:
    assert MarginTaken(words="around 50 kg") in plan_of("loans around 50 kg").assumptions
    taken = plan_of("loans above 500").assumptions
    assert WordsTakenAsField(words="above 500", field_label="fee") in taken
