"""Questions in everyday words that ask for a field by a verb or adjective."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from agent.decomposition import QuestionContext
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.plan import ReadFields
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.agent.rules.reading.test_bucket_reading import decompose_question

BUCKET = BucketId("kayaks")
NAMES = ("Otter", "Pike", "Heron")


def schema_field(name: str, kind: FieldType, *synonyms: str) -> SchemaField:
    return SchemaField(name=FieldName(name), type=kind, synonyms=synonyms)


SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("kayak", "kayaks"),
    fields=(
        schema_field("label", FieldType.CATEGORY),
        schema_field("fitter", FieldType.CATEGORY, "mended by", "who … mend"),
        schema_field("keeper", FieldType.CATEGORY, "owner", "who … own"),
        schema_field("keeper_tel", FieldType.CATEGORY, "phone", "how … reach"),
        schema_field("acquired", FieldType.DATE, "when … buy"),
        schema_field("licence_end", FieldType.DATE, "when … run out"),
        schema_field("cover_end", FieldType.DATE, "when … run out"),
        schema_field("fate", FieldType.CATEGORY),
        schema_field("fate_reason", FieldType.CATEGORY, "why … scrap"),
        schema_field("checked", FieldType.FLAG),
        schema_field("checked_on", FieldType.DATE, "check"),
    ),
)
SCHEMA_WITH_STATES = Schema(
    bucket=BUCKET,
    synonyms=SCHEMA.synonyms,
    fields=tuple(
        SchemaField(name=field.name, type=field.type, values={"scrapped": ("gone",), "sold": ("gone",), "kept": ()})
        if field.name == "fate"
        else field
        for field in SCHEMA.fields
    ),
)


def vocabulary_of(field: str, *values: str) -> FieldVocabulary:
    counts = tuple(ValueCount(value=value, count=1) for value in values)
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), document_count=len(values), values=counts)


VOCABULARY = IndexVocabulary(
    generation=Generation("1"),
    document_counts={BUCKET: 3},
    fields=(
        vocabulary_of("label", *NAMES),
        vocabulary_of("fitter", "Ann Lee", "Bo Berg"),
        vocabulary_of("fate", "scrapped", "sold", "kept"),
        FieldVocabulary(
            bucket=BUCKET, field=FieldName("acquired"), document_count=3, low="2019-01-01", high="2024-01-01"
        ),
    ),
)
CONTEXT = QuestionContext(
    schemas={BUCKET: SCHEMA_WITH_STATES},
    vocabulary=VOCABULARY,
    analysers={BUCKET: analyser_for("en")},
    now=datetime(2026, 11, 21, tzinfo=UTC),
    locale="en",
    last_plan=None,
)


def reader() -> QuestionReader:
    lexicons = build_lexicons(CONTEXT.schemas, CONTEXT.vocabulary, CONTEXT.analysers)
    return QuestionReader(lexicons, date(2026, 11, 21))


def conditions_of(question: str) -> Sequence[Condition]:
    return reader().readings_of(question)[0].conditions


def fields_read_for(question: str) -> set[str]:
    plan = getattr(decompose_question(question, CONTEXT), "plan", None)
    form = None if plan is None else plan.legs[0].answer_form
    return {name for _, name in form.fields} if isinstance(form, ReadFields) else set()


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("who mended the Otter?", {"fitter"}),
        ("who owns Pike", {"keeper"}),
        ("how do I reach the owner of Heron", {"keeper_tel"}),
        ("when did we buy the Otter", {"acquired"}),
        ("when does the licence of Pike run out", {"licence_end"}),
        ("when does Heron run out", {"licence_end", "cover_end"}),
        ("why was Pike scrapped", {"fate_reason"}),
    ],
)
def test_a_verb_asks_for_the_field_of_one_document(question: str, fields: set[str]) -> None:
    assert fields_read_for(question) == fields


def test_a_verb_beside_a_date_is_a_condition_on_its_field() -> None:
    (condition,) = conditions_of("kayaks bought after 2020")

    assert isinstance(condition, ComparisonCondition)
    assert (condition.field, condition.op) == ("acquired", ComparisonOperator.GT)


def test_a_verb_alone_gives_no_condition() -> None:
    assert conditions_of("all the kayaks that we bought") == ()


def test_a_word_for_two_values_means_either() -> None:
    (condition,) = conditions_of("kayaks that are gone")

    assert isinstance(condition, ComparisonCondition)
    assert condition.value == ("scrapped", "sold")


def test_a_negated_flag_is_found_beside_a_date_of_the_same_word() -> None:
    (condition,) = conditions_of("unchecked kayaks")

    assert isinstance(condition, ComparisonCondition)
    assert (condition.field, condition.value) == ("checked", False)


def test_a_verb_without_anything_of_the_bucket_is_no_reason_to_ask_it() -> None:
    reading = reader().readings_of("who mended the printer")[0]

    assert not reading.is_credible
