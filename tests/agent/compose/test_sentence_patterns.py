"""Sentence patterns of fields: those that a schema gives, and those that names and types give."""

import pytest

from agent.compose.phrases.conditions import describe_qualifier, describe_widening
from agent.compose.phrases.set_description import describe_empty_set
from storage.search.conditions import AndCondition, ComparisonCondition, ComparisonOperator, Condition, NotCondition
from storage.search.errors import InvalidSchema
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from tests.builders import a_search

EQ, HAS, GT, LT, BETWEEN = (
    ComparisonOperator.EQ,
    ComparisonOperator.HAS,
    ComparisonOperator.GT,
    ComparisonOperator.LT,
    ComparisonOperator.BETWEEN,
)


def a_named_field(name: str, type_: FieldType, says: str = "", unit: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=type_, says=says, unit=unit)


CONTRACTS = Schema(
    bucket=BucketId("contracts"),
    fields=(
        a_named_field("parties", FieldType.LIST),
        a_named_field("vendor", FieldType.CATEGORY),
        a_named_field("start_date", FieldType.DATE),
        a_named_field("expires_on", FieldType.DATE),
        a_named_field("signed_on", FieldType.DATE),
        a_named_field("first_day", FieldType.DATE, says="takes effect on {value}"),
        a_named_field("court", FieldType.CATEGORY, says="is governed by the courts of {value}"),
        a_named_field("law", FieldType.CATEGORY, says="under the law of {value}"),
        a_named_field("mass", FieldType.NUMBER, says="weighs {value}", unit="kg"),
        a_named_field("crew", FieldType.CATEGORY, says="carries {value} on board"),
    ),
)
SCHEMAS = {CONTRACTS.bucket: CONTRACTS}
YEAR = ("2031-01-01", "2031-12-31")


def where(name: str, op: ComparisonOperator, value: str | float | tuple[str, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(name), op=op, value=value)


def with_acme() -> ComparisonCondition:
    return where("parties", HAS, "ACME Corporation")


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (AndCondition((with_acme(), where("start_date", BETWEEN, YEAR))), "with ACME Corporation starts in 2031"),
        (AndCondition((where("start_date", BETWEEN, YEAR), with_acme())), "with ACME Corporation starts in 2031"),
        (where("expires_on", LT, "2031-05-03"), "expires before 2031-05-03"),
        (where("first_day", EQ, "2031-05-03"), "takes effect on 2031-05-03"),
        (where("first_day", GT, "2031-05-03"), "takes effect after 2031-05-03"),
        (where("court", EQ, "Berlin"), "is governed by the courts of Berlin"),
        (where("law", EQ, "Spain"), "is under the law of Spain"),
        (where("mass", GT, 5.0), "weighs more than 5 kg"),
        (where("crew", EQ, "divers"), "carries divers on board"),
        (
            AndCondition(
                (where("vendor", EQ, "Bolt"), NotCondition(where("law", EQ, "Spain")), where("mass", EQ, 5.0))
            ),
            "from Bolt, not under the law of Spain, weighs 5 kg",
        ),
    ],
)
def test_the_last_field_with_a_pattern_is_the_predicate_of_an_empty_set(condition: Condition, sentence: str) -> None:
    assert describe_empty_set(a_search(condition, bucket="contracts"), SCHEMAS) == f"No contract {sentence}"


@pytest.mark.parametrize("condition", [with_acme(), where("signed_on", BETWEEN, YEAR), where("vendor", EQ, "Bolt")])
def test_a_set_whose_fields_make_no_predicate_has_no_such_sentence(condition: Condition) -> None:
    assert describe_empty_set(a_search(condition, bucket="contracts"), SCHEMAS) is None


@pytest.mark.parametrize(
    ("condition", "qualifier", "widened"),
    [
        (with_acme(), "with ACME Corporation", "any party"),
        (where("vendor", EQ, "Bolt"), "from Bolt", "any vendor"),
        (where("first_day", BETWEEN, YEAR), "taking effect in 2031", "taking effect at any time"),
        (where("court", EQ, "Berlin"), "governed by the courts of Berlin", "any court"),
        (where("law", EQ, "Spain"), "under the law of Spain", "any law"),
        (where("mass", LT, 5.0), "weighing less than 5 kg", "no maximum mass"),
        (where("crew", EQ, "divers"), "carrying divers on board", "any crew"),
        (NotCondition(where("vendor", EQ, "Bolt")), "not from Bolt", "also Bolt"),
        (
            AndCondition((where("start_date", BETWEEN, YEAR), where("vendor", EQ, "Bolt"))),
            "from Bolt starting in 2031",
            None,
        ),
    ],
)
def test_patterns_stand_after_the_noun_and_on_buttons(
    condition: Condition, qualifier: str, widened: str | None
) -> None:
    assert describe_qualifier([condition], CONTRACTS, SCHEMAS) == qualifier
    if widened is not None:
        assert describe_widening(condition, CONTRACTS, SCHEMAS) == widened


def test_a_preposition_that_could_mean_two_fields_is_not_used() -> None:
    schema = Schema(
        bucket=BucketId("letters"),
        fields=(a_named_field("sender", FieldType.CATEGORY), a_named_field("vendor", FieldType.CATEGORY)),
    )
    assert describe_qualifier([where("sender", EQ, "Ada")], schema, {schema.bucket: schema}) == "with sender Ada"


def test_a_pattern_in_the_language_of_the_bucket_stands_in_no_english_sentence() -> None:
    first_day = a_named_field("beginn", FieldType.DATE, says="beginnt {value}")
    schema = Schema(bucket=BucketId("vertrag"), language="de", fields=(first_day,))
    qualifier = describe_qualifier([where("beginn", BETWEEN, YEAR)], schema, {schema.bucket: schema})
    assert "beginnt" not in qualifier


@pytest.mark.parametrize(
    ("says", "type_", "reason"),
    [
        ("starts in 2031", FieldType.DATE, "has {value} once"),
        ("starts {value} or {value}", FieldType.DATE, "has {value} once"),
        ("Starts in {value}", FieldType.DATE, "begins in lower case"),
        ("{value}", FieldType.DATE, "begins in lower case"),
        ("starts in {value}.", FieldType.DATE, "no full stop"),
        ("starts in {value} of {year}", FieldType.DATE, "no other braces"),
        (f"starts {'very ' * 20}late in {{value}}", FieldType.DATE, "at most 80 characters"),
        ("is {value}", FieldType.FLAG, "no `says`"),
        ("holds {value}", FieldType.ROWS, "no `says`"),
    ],
)
def test_a_pattern_that_makes_no_sentence_is_refused(says: str, type_: FieldType, reason: str) -> None:
    with pytest.raises(InvalidSchema, match="field 'start'") as refusal:
        Schema(bucket=BucketId("contracts"), fields=(a_named_field("start", type_, says=says),))
    assert reason in str(refusal.value)
