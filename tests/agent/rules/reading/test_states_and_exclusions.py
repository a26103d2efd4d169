"""Words for what lasts or is over, and phrases that leave documents out, become conditions and no words of the text."""

import asyncio
from datetime import UTC, datetime
from typing import cast

import pytest

from agent.decomposition import PlannedQuestion, QuestionContext
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

BUCKET = BucketId("rowers")
SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("rower", "rowers"),
    fields=(
        SchemaField(name=FieldName("name"), type=FieldType.TEXT),
        SchemaField(name=FieldName("boat"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("level"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("joined_on"), type=FieldType.DATE),
        SchemaField(name=FieldName("left_on"), type=FieldType.DATE),
        SchemaField(name=FieldName("mobile"), type=FieldType.TEXT, synonyms=("phone",)),
    ),
)
MISSING = MissingCondition(field=FieldName("left_on"))
KNOWN = NotCondition(MISSING)


def _vocabulary_of(field: str, *values: str) -> FieldVocabulary:
    counts = tuple(ValueCount(value=value, count=1) for value in values)
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), document_count=40, values=counts)


def _days_of(field: str, document_count: int) -> FieldVocabulary:
    return FieldVocabulary(
        bucket=BUCKET, field=FieldName(field), document_count=document_count, low="2010-01-01", high="2026-01-01"
    )


CONTEXT = QuestionContext(
    schemas={BUCKET: SCHEMA},
    vocabulary=IndexVocabulary(
        generation=Generation("1"),
        fields=(
            _vocabulary_of("name", "Ida Berg", "Tom Rill", "Una Koss"),
            _vocabulary_of("boat", "single", "double", "eight"),
            _vocabulary_of("level", "novice", "senior", "retired"),
            _days_of("joined_on", 40),
            _days_of("left_on", 12),
            _vocabulary_of("mobile", "0711 1", "0711 2"),
        ),
        document_counts={BUCKET: 40},
    ),
    analysers={BUCKET: analyser_for("en")},
    now=datetime(2026, 6, 1, tzinfo=UTC),
    locale="en",
    last_plan=None,
)


def _conditions_of(question: str) -> set[Condition]:
    planned = cast(PlannedQuestion, asyncio.run(RuleReasoner().decompose_question(question, CONTEXT)))
    clause = planned.plan.legs[0].search.clauses[0]
    assert (clause.required_terms, planned.alternatives[0].unknown_words) == ((), ())
    return set(conjuncts_of(clause.condition))


def _equals(field: str, value: str) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(field), op=ComparisonOperator.EQ, value=value)


EIGHT = _equals("boat", "eight")


@pytest.mark.parametrize(
    "question",
    [
        "rowers in the eight who are still with us",
        "current rowers of the eight",
        "rowers in the eight at present",
        "rowers of the eight, present ones only",
        "which of our current rowers are in the eight",
        "rowers in the eight, leaving out any that have left",
        "rowers of the eight, no former ones please",
        "rowers of the eight. Former ones don't matter.",
        "rowers who never left the eight",
    ],
)
def test_who_is_still_there_has_no_day_of_leaving(question: str) -> None:
    assert _conditions_of(question) == {EIGHT, MISSING}


@pytest.mark.parametrize(
    "question",
    ["former rowers of the eight", "rowers of the eight who have left", "rowers of the eight no longer with us"],
)
def test_who_is_gone_has_a_day_of_leaving(question: str) -> None:
    assert _conditions_of(question) == {EIGHT, KNOWN}


@pytest.mark.parametrize(
    "question",
    [
        "rowers of the eight, current or former",
        "rowers in the eight, past ones too",
        "past and present rowers of the eight",
    ],
)
def test_both_states_together_put_no_condition(question: str) -> None:
    assert _conditions_of(question) == {EIGHT}


def test_a_day_beside_a_verb_of_ending_is_the_day_of_the_end() -> None:
    (condition,) = _conditions_of("rowers who left us during 2025")

    assert isinstance(condition, ComparisonCondition)
    assert condition.field == "left_on"


@pytest.mark.parametrize(
    ("question", "excluded"),
    [
        ("rowers of the eight, not counting novice ones", ("level", "novice")),
        ("rowers of the eight apart from the novice ones", ("level", "novice")),
        ("rowers of the eight, novice ones not included", ("level", "novice")),
        ("rowers of the eight, ignoring whatever is retired", ("level", "retired")),
    ],
)
def test_an_exclusion_negates_what_stands_in_it(question: str, excluded: tuple[str, str]) -> None:
    assert _conditions_of(question) == {EIGHT, NotCondition(_equals(*excluded))}


def test_two_values_may_be_left_out_with_and() -> None:
    (condition,) = _conditions_of("all rowers apart from singles and doubles")

    values = ("single", "double")
    comparison = ComparisonCondition(field=FieldName("boat"), op=ComparisonOperator.IN, value=values)
    assert condition == NotCondition(comparison)


@pytest.mark.parametrize("question", ["rowers who never gave us a phone", "rowers with no phone on record"])
def test_what_was_never_given_is_missing(question: str) -> None:
    assert _conditions_of(question) == {MissingCondition(field=FieldName("mobile"))}
