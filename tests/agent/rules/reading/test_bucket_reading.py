"""The reading of a question for one bucket, with a small schema and vocabulary."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from agent.decomposition import Decomposition, KeptFieldCondition, PlannedQuestion, QuestionContext
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    RowCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    ComputeNumbers,
    FindPassages,
    ListDocuments,
    Plan,
    ReadFields,
    SummariseDocuments,
)
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

BUCKET = BucketId("parcels")
SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("parcel",),
    fields=(
        SchemaField(name=FieldName("sent"), type=FieldType.DATE, synonyms=("sending date",)),
        SchemaField(name=FieldName("carrier"), type=FieldType.CATEGORY, facet=True),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="cm"),
        SchemaField(name=FieldName("width"), type=FieldType.NUMBER, unit="cm"),
        SchemaField(name=FieldName("coin"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("postage"), type=FieldType.MONEY, currency_field=FieldName("coin")),
        SchemaField(name=FieldName("insured"), type=FieldType.FLAG),
        SchemaField(name=FieldName("marks"), type=FieldType.LIST),
        SchemaField(
            name=FieldName("goods"),
            type=FieldType.ROWS,
            columns=(
                SchemaField(name=FieldName("what"), type=FieldType.TEXT),
                SchemaField(name=FieldName("pieces"), type=FieldType.NUMBER),
            ),
        ),
    ),
)


def vocabulary_of_values(field: str, *values: str) -> FieldVocabulary:
    counts = tuple(ValueCount(value=value, count=9) for value in values)
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), document_count=90, values=counts)


def vocabulary_of_range(field: str, low: float | str, high: float | str) -> FieldVocabulary:
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), document_count=90, low=low, high=high)


WEIGHT = FieldName("weight")
VOCABULARY = IndexVocabulary(
    generation=Generation("1"),
    document_counts={BUCKET: 100},
    fields=(
        vocabulary_of_range("sent", "2020-01-01", "2026-06-30"),
        vocabulary_of_values("carrier", "Blue Van", "Redline Post", "Northern Star", "OR"),
        vocabulary_of_range("weight", 0.1, 30.0),
        vocabulary_of_range("length", 1.0, 200.0),
        vocabulary_of_range("width", 1.0, 100.0),
        vocabulary_of_values("coin", "USD", "EUR"),
        vocabulary_of_range("postage", 1.0, 90.0),
        vocabulary_of_values("marks", "fragile", "this side up"),
        vocabulary_of_values("goods.what", "wool socks", "clay bowl", "copper bowl"),
        vocabulary_of_range("goods.pieces", 1.0, 40.0),
    ),
)


QUESTION_CONTEXT = QuestionContext(
    schemas={BUCKET: SCHEMA},
    vocabulary=VOCABULARY,
    analysers={BUCKET: analyser_for("en")},
    now=datetime(2026, 11, 21, tzinfo=UTC),
    locale="en",
    last_plan=None,
)


def decompose_question(question: str, context: QuestionContext) -> Decomposition:
    return asyncio.run(RuleReasoner().decompose_question(question, context))


def plan_question(question: str, last_plan: Plan | None = None) -> PlannedQuestion:
    return cast(PlannedQuestion, decompose_question(question, replace(QUESTION_CONTEXT, last_plan=last_plan)))


def conditions_of_question(question: str) -> set[Condition]:
    return set(conjuncts_of(plan_question(question).plan.legs[0].search.clauses[0].condition))


def answer_form_for(question: str) -> AnswerForm:
    return plan_question(question).plan.legs[0].answer_form


def comparison_on(
    field: str, op: ComparisonOperator, value: str | float | bool | tuple[str, ...] | tuple[float, ...]
) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(field), op=op, value=value)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Parcels by Blue Van", {comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")}),
        ("parcels not with Blue Van", {NotCondition(comparison_on("carrier", ComparisonOperator.EQ, "Blue Van"))}),
        ("parcels by Blue Van or Redline Post", {
            comparison_on("carrier", ComparisonOperator.IN, ("Blue Van", "Redline Post"))}),
        ("parcels over 500 g", {comparison_on("weight", ComparisonOperator.GT, 0.5)}),
        ("parcels with a length of at least 1 m", {comparison_on("length", ComparisonOperator.GTE, 100.0)}),
        ("parcels wider than 40 cm", {comparison_on("width", ComparisonOperator.GT, 40.0)}),
        ("parcels with postage above 12 EUR", {
            comparison_on("postage", ComparisonOperator.GT, 12.0),
            comparison_on("coin", ComparisonOperator.EQ, "EUR")}),
        ("insured parcels", {comparison_on("insured", ComparisonOperator.EQ, True)}),
        ("parcels that are not insured", {comparison_on("insured", ComparisonOperator.EQ, False)}),
        ("parcels without a carrier", {MissingCondition(field=FieldName("carrier"))}),
        ("fragile parcels", {comparison_on("marks", ComparisonOperator.HAS, "fragile")}),
        ("parcels that are neither fragile nor insured", {
            NotCondition(comparison_on("marks", ComparisonOperator.HAS, "fragile")),
            comparison_on("insured", ComparisonOperator.EQ, False)}),
        ("parcels sent in 2025", {comparison_on("sent", ComparisonOperator.BETWEEN, ("2025-01-01", "2025-12-31"))}),
        ("parcels sent in August", {comparison_on("sent", ComparisonOperator.BETWEEN, ("2025-08-01", "2025-08-31"))}),
        ("parcels that are not insured of last month", {
            comparison_on("insured", ComparisonOperator.EQ, False),
            comparison_on("sent", ComparisonOperator.BETWEEN, ("2026-10-01", "2026-10-31"))}),
        ("upcoming parcels", {comparison_on("sent", ComparisonOperator.GTE, "2026-11-21")}),
        ("uninsured parcels", {comparison_on("insured", ComparisonOperator.EQ, False)}),
        ("parcels not sent yet", {MissingCondition(field=FieldName("sent"))}),
        ("non-fragile parcels by Blue Van", {
            NotCondition(comparison_on("marks", ComparisonOperator.HAS, "fragile")),
            comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")}),
        ("parcels of 2025 or younger", {comparison_on("sent", ComparisonOperator.GTE, "2025-01-01")}),
        ("parcels of more than 2000 pieces over 3 kg", {
            comparison_on("weight", ComparisonOperator.GT, 3.0), RowCondition(
            rows_field=FieldName("goods"),
            condition=comparison_on("pieces", ComparisonOperator.GT, 2000.0),
            words="more than 2000")}),
    ],
)  # fmt: skip
def test_a_list_question_becomes_conditions(question: str, expected: set[Condition]) -> None:
    assert conditions_of_question(question) == expected
    assert isinstance(answer_form_for(question), ListDocuments)


def test_conditions_on_rows_must_hold_within_one_row() -> None:
    (row,) = conditions_of_question("parcels with at least 4 pieces of wool socks")

    assert isinstance(row, RowCondition)
    assert row.rows_field == "goods"
    assert isinstance(row.condition, AndCondition)
    assert comparison_on("pieces", ComparisonOperator.GTE, 4.0) in row.condition.members


def test_a_number_right_before_an_item_counts_it() -> None:
    """The 4 would also be in the range of the postage, which is an amount of money."""
    (row,) = conditions_of_question("parcels with at least 4 wool socks")

    assert isinstance(row, RowCondition)
    assert comparison_on("pieces", ComparisonOperator.GTE, 4.0) in conjuncts_of(row.condition)
    assert not plan_question("parcels with at least 4 wool socks").alternatives[0].equal_readings


def test_every_reading_of_a_number_joins_the_conditions_on_one_row() -> None:
    readings = plan_question("parcels with wool socks, more than 20").alternatives[0].equal_readings

    rows = [condition for reading in readings for condition in conjuncts_of(reading.search.clauses[0].condition)]
    assert len([condition for condition in rows if isinstance(condition, RowCondition)]) == len(readings)


def test_two_fields_of_one_dimension_are_ambiguous() -> None:
    result = plan_question("parcels over 50 cm")
    (alternatives,) = result.alternatives

    taken_conditions = conjuncts_of(result.plan.legs[0].search.clauses[0].condition)
    other_conditions = [
        condition
        for reading in alternatives.equal_readings
        for condition in conjuncts_of(reading.search.clauses[0].condition)
    ]
    assert {*taken_conditions, *other_conditions} == {
        comparison_on("length", ComparisonOperator.GT, 50.0),
        comparison_on("width", ComparisonOperator.GT, 50.0),
    }


def test_a_bare_value_means_exactly_this_value_and_at_least_is_a_wider_reading() -> None:
    result = plan_question("parcels of 2 kg")

    assert conjuncts_of(result.plan.legs[0].search.clauses[0].condition) == (
        comparison_on("weight", ComparisonOperator.EQ, 2.0),
    )
    (wider_reading,) = result.alternatives[0].wider_readings
    assert conjuncts_of(wider_reading.search.clauses[0].condition) == (
        comparison_on("weight", ComparisonOperator.GTE, 2.0),
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many parcels did Blue Van bring?", ComputeNumbers(functions=(AggregateFunction.COUNT,))),
        ("What is the average weight of the parcels?", ComputeNumbers(
            functions=(AggregateFunction.AVERAGE,), field=WEIGHT)),
        ("Total postage of fragile parcels", ComputeNumbers(
            functions=(AggregateFunction.SUM,), field=FieldName("postage"))),
        ("What is the weight of the Blue Van parcel?", ReadFields(fields=((BUCKET, FieldName("weight")),))),
        ("How should bowls be packed?", FindPassages()),
    ],
)  # fmt: skip
def test_the_answer_form_follows_from_the_wording(question: str, expected: AnswerForm) -> None:
    assert answer_form_for(question) == expected


def test_unlinked_words_are_required_in_the_text() -> None:
    clause = plan_question("parcels from Atlantis").plan.legs[0].search.clauses[0]

    assert clause.required_terms == ("Atlantis",)


def test_a_follow_up_of_constraints_refines_the_last_plan() -> None:
    first = plan_question("Parcels by Blue Van in 2024").plan
    second = plan_question("only 2025", last_plan=first)

    first_carrier = comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")
    assert set(conjuncts_of(second.plan.legs[0].search.clauses[0].condition)) == {
        first_carrier,
        comparison_on("sent", ComparisonOperator.BETWEEN, ("2025-01-01", "2025-12-31")),
    }
    [kept] = second.kept_conditions
    assert kept == KeptFieldCondition(condition=first_carrier, bucket=BUCKET)


def test_an_independent_question_does_not_refine_the_last_plan() -> None:
    first = plan_question("Parcels by Blue Van in 2024").plan
    second = plan_question("List all fragile parcels", last_plan=first)

    assert conjuncts_of(second.plan.legs[0].search.clauses[0].condition) == (
        comparison_on("marks", ComparisonOperator.HAS, "fragile"),
    )
    assert second.kept_conditions == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many of them?", ComputeNumbers(functions=(AggregateFunction.COUNT,))),
        ("What is the average weight of these?", ComputeNumbers(functions=(AggregateFunction.AVERAGE,), field=WEIGHT)),
    ],
)
def test_a_message_with_a_reference_asks_about_the_last_results(question: str, expected: AnswerForm) -> None:
    first = plan_question("Parcels by Blue Van in 2024").plan
    leg = plan_question(question, last_plan=first).plan.legs[0]

    assert (leg.answer_form, leg.search) == (expected, first.legs[0].search)


def test_only_a_continuation_of_the_last_plan_is_a_follow_up() -> None:
    first = plan_question("Parcels by Blue Van in 2024")

    assert not first.is_followup
    assert plan_question("only 2025", last_plan=first.plan).is_followup
    assert not plan_question("List all fragile parcels", last_plan=first.plan).is_followup


@pytest.mark.parametrize("asking", ["Summarise", "Summarize", "Give me an overview of"])
def test_the_word_for_a_summary_is_not_required_in_the_text(asking: str) -> None:
    question = f"{asking} the parcels by Blue Van"

    assert isinstance(answer_form_for(question), SummariseDocuments)
    assert conditions_of_question(question) == {comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")}
    assert plan_question(question).plan.legs[0].search.clauses[0].required_terms == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("parcels that are fragile or insured", set[str]()),
        ("parcels by OR", {"OR"}),
        ('parcels by "or"', {"OR"}),
    ],
)
def test_a_function_word_is_a_value_only_if_it_is_written_as_one(question: str, expected: set[str]) -> None:
    carriers = {
        condition.value
        for condition in conditions_of_question(question)
        if isinstance(condition, ComparisonCondition) and condition.field == "carrier"
    }

    assert carriers == expected


@pytest.mark.parametrize(
    ("question", "form"), [("List all documents", ListDocuments), ("How many files are there?", ComputeNumbers)]
)
def test_generic_nouns_name_the_documents_of_a_bucket(question: str, form: type[AnswerForm]) -> None:
    assert isinstance(answer_form_for(question), form)
    assert conditions_of_question(question) == set()


def test_only_before_an_unknown_word_requires_it_in_the_text() -> None:
    first = plan_question("Parcels by Blue Van in 2024").plan
    second = plan_question("only Atlantis", last_plan=first)

    assert second.is_followup
    assert second.plan.legs[0].search.clauses[0].required_terms == ("Atlantis",)


def test_a_count_of_documents_without_conditions_counts_them_all() -> None:
    leg = plan_question("How many documents are there?").plan.legs[0]

    assert leg.answer_form == ComputeNumbers(functions=(AggregateFunction.COUNT,))
    assert leg.search.buckets == (BUCKET,)
    assert leg.search.clauses[0].display_condition == AndCondition()


async def test_the_vocabulary_of_one_scope_is_never_used_for_another() -> None:
    reasoner = RuleReasoner()
    full, empty = VOCABULARY, replace(VOCABULARY, fields=())
    for vocabulary in (full, empty, full):
        context = replace(QUESTION_CONTEXT, vocabulary=vocabulary)
        clause = (
            cast(PlannedQuestion, await reasoner.decompose_question("Parcels by Blue Van", context))
            .plan.legs[0]
            .search.clauses[0]
        )
        is_linked = bool(conjuncts_of(clause.condition))
        assert is_linked is (vocabulary is full)
