"""What is still not done leaves out what was called off."""

from datetime import date

import pytest

from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import ComparisonCondition, ComparisonOperator, NotCondition
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

BUCKET = BucketId("errands")
STATUS = FieldName("status")
SCHEMA = Schema(
    bucket=BUCKET, synonyms=("errand", "errands"), fields=(SchemaField(name=STATUS, type=FieldType.CATEGORY),)
)
VOCABULARY = IndexVocabulary(
    generation=Generation("1"),
    document_counts={BUCKET: 9},
    fields=(
        FieldVocabulary(
            bucket=BUCKET,
            field=STATUS,
            document_count=9,
            values=tuple(ValueCount(value=value, count=3) for value in ("posted", "cancelled", "open")),
        ),
    ),
)


def condition_of(question: str) -> object:
    lexicons = build_lexicons({BUCKET: SCHEMA}, VOCABULARY, {BUCKET: analyser_for("en")})
    (condition,) = QuestionReader(lexicons, date(2026, 11, 21)).readings_of(question)[0].conditions
    assert isinstance(condition, NotCondition)
    assert isinstance(condition.condition, ComparisonCondition)
    return condition.condition.op, condition.condition.value


@pytest.mark.parametrize("question", ["errands not posted yet", "errands that are still not posted"])
def test_what_is_still_not_done_was_not_called_off(question: str) -> None:
    assert condition_of(question) == (ComparisonOperator.IN, ("posted", "cancelled"))


@pytest.mark.parametrize(
    ("question", "value"), [("errands that were not posted", "posted"), ("errands not cancelled yet", "cancelled")]
)
def test_a_plain_negation_leaves_out_its_own_value_alone(question: str, value: str) -> None:
    assert condition_of(question) == (ComparisonOperator.EQ, value)
