"""Comparisons of two amounts: only amounts in one currency are compared."""

from dataclasses import replace
from datetime import date

import pytest

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import ComparisonOperator, Condition, FieldComparisonCondition, conjuncts_of
from storage.search.errors import InvalidCondition
from storage.search.evaluation.condition_normal_form import bind_to_schema
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

TODAY = date(2026, 11, 22)
TRIPS = BucketId("trips")
PLANNED = SchemaField(name=FieldName("planned"), type=FieldType.MONEY)
SPENT = SchemaField(name=FieldName("spent"), type=FieldType.MONEY)
PAID_IN = SchemaField(name=FieldName("paid_in"), type=FieldType.CATEGORY)
IN_PAID_CURRENCY = replace(SPENT, currency_field=PAID_IN.name)
COMPARISON = FieldComparisonCondition(field=SPENT.name, op=ComparisonOperator.GT, other_field=PLANNED.name)


def read_conditions(*fields: SchemaField) -> list[Condition]:
    schema = Schema(bucket=TRIPS, fields=(*fields, PAID_IN))
    values = {PAID_IN.name: ("EUR", "USD")}
    vocabulary = [
        FieldVocabulary(
            bucket=TRIPS, field=field.name, document_count=2,
            values=tuple(ValueCount(value=value, count=1) for value in values.get(field.name, ())),
        )
        for field in schema.fields
    ]  # fmt: skip
    lexicon = BucketLexicon(schema, vocabulary, analyser_for("en"), 2)
    reading = QuestionReader({TRIPS: lexicon}, TODAY).read_in_bucket("trips with spent more than planned", TRIPS)
    return [part for condition in reading.conditions for part in conjuncts_of(condition)]


def test_amounts_in_one_currency_are_compared() -> None:
    assert read_conditions(replace(SPENT, currency="EUR"), replace(PLANNED, currency="EUR")) == [COMPARISON]


def test_amounts_in_different_currencies_are_not_compared() -> None:
    fields = replace(SPENT, currency="EUR"), replace(PLANNED, currency="USD")

    assert COMPARISON not in read_conditions(*fields)
    with pytest.raises(InvalidCondition, match="different currencies"):
        bind_to_schema(COMPARISON, Schema(bucket=TRIPS, fields=fields))


def test_an_amount_in_a_currency_of_its_own_is_compared_only_in_the_fixed_one() -> None:
    conditions = read_conditions(IN_PAID_CURRENCY, replace(PLANNED, currency="USD"))

    assert COMPARISON in conditions
    assert [getattr(condition, "value", None) for condition in conditions if condition != COMPARISON] == ["USD"]


@pytest.mark.parametrize("question", ["trips that have gone over budget", "which trips went over budget?"])
@pytest.mark.parametrize("kind", [FieldType.MONEY, FieldType.NUMBER])
def test_a_budget_is_compared_with_what_is_spent(question: str, kind: FieldType) -> None:
    fields = [
        SchemaField(name=FieldName("budget"), type=kind),
        SchemaField(name=FieldName("spent_to_date"), type=kind),
        SchemaField(name=FieldName("deposit"), type=kind),
        SchemaField(name=FieldName("status"), type=FieldType.CATEGORY),
    ]
    statuses = (ValueCount(value="complete", count=1), ValueCount(value="running", count=1))
    vocabulary = [
        FieldVocabulary(
            bucket=TRIPS, field=field.name, document_count=2,
            values=statuses if field.type is FieldType.CATEGORY else (),
        )
        for field in fields
    ]  # fmt: skip
    lexicon = BucketLexicon(Schema(bucket=TRIPS, fields=tuple(fields)), vocabulary, analyser_for("en"), 2)

    reading = QuestionReader({TRIPS: lexicon}, TODAY).read_in_bucket(question, TRIPS)

    (condition,) = reading.conditions
    assert isinstance(condition, FieldComparisonCondition)
    assert (condition.field, condition.op, condition.other_field) == ("spent_to_date", ComparisonOperator.GT, "budget")
