"""English sentences about values whose labels are no nouns, and descriptions of several conditions."""

import pytest

from agent.compose.choices.choice_labels import describe_choice
from agent.compose.phrases.conditions import describe_label, describe_qualifier
from agent.compose.phrases.label_grammar import LabelKind, parse_label
from agent.compose.phrases.order_words import order_by_quoted_label
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.value_sentences import claim_value, state_value
from agent.refine.choice_labels import FieldValueLabel, FlagLabel, MissingFieldLabel
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    SemiJoinCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField

EQ, BETWEEN, GT, CONTAINS = (
    ComparisonOperator.EQ,
    ComparisonOperator.BETWEEN,
    ComparisonOperator.GT,
    ComparisonOperator.CONTAINS,
)
YEAR = ("2025-01-01", "2025-12-31")


def a_field(title: str, field_type: FieldType = FieldType.TEXT, unit: str = "") -> SchemaField:
    name = FieldName("".join(character if character.isalnum() else "_" for character in title.lower()))
    return SchemaField(name=name, type=field_type, title=title, unit=unit)


def qualify(field: SchemaField, op: ComparisonOperator, value: object) -> str:
    schema = Schema(bucket=BucketId("courses"), fields=(field,))
    condition = ComparisonCondition(field=field.name, op=op, value=value)  # pyright: ignore[reportArgumentType]
    return describe_qualifier([condition], schema, {schema.bucket: schema})


@pytest.mark.parametrize(
    ("title", "field_type", "kind"),
    [
        ("Cost", FieldType.NUMBER, LabelKind.NOUN),
        ("Date of birth", FieldType.DATE, LabelKind.NOUN),
        ("First gift on", FieldType.DATE, LabelKind.NOUN),
        ("Held on", FieldType.DATE, LabelKind.STATE),
        ("Last inspected on", FieldType.DATE, LabelKind.STATE),
        ("Handed in", FieldType.DATE, LabelKind.STATE),
        ("Valid from", FieldType.DATE, LabelKind.OPEN_END),
        ("Promised for", FieldType.DATE, LabelKind.OPEN_END),
        ("Led by", FieldType.TEXT, LabelKind.ROLE),
        ("To", FieldType.TEXT, LabelKind.ROLE),
        ("From", FieldType.DATE, LabelKind.QUOTED),
        ("Apply by", FieldType.DATE, LabelKind.QUOTED),
        ("Relation since", FieldType.DATE, LabelKind.QUOTED),
        ("Runs for", FieldType.NUMBER, LabelKind.QUOTED),
        ("For the parents", FieldType.TEXT, LabelKind.QUOTED),
        ("What to bring", FieldType.TEXT, LabelKind.QUOTED),
        ("Pets agreed", FieldType.TEXT, LabelKind.QUOTED),
        ("Not present", FieldType.LIST, LabelKind.QUOTED),
    ],
)
def test_a_label_has_a_part_of_speech(title: str, field_type: FieldType, kind: LabelKind) -> None:
    assert parse_label(a_field(title, field_type)).kind is kind


@pytest.mark.parametrize(
    ("field", "op", "value", "qualifier"),
    [
        (a_field("Runs for", FieldType.NUMBER, "month"), GT, 12.0, "where “Runs for” is more than 12 months"),
        (a_field("From", FieldType.DATE), BETWEEN, YEAR, "where “From” is in 2025"),
        (a_field("On site", FieldType.DATE), BETWEEN, YEAR, "where “On site” is in 2025"),
        (a_field("For the parents"), CONTAINS, "classes", "with “classes” under “For the parents”"),
        (a_field("Pets agreed"), EQ, "one dog", "where “Pets agreed” is one dog"),
        (a_field("Absent", FieldType.LIST), ComparisonOperator.HAS, "Ada", "where “Absent” includes Ada"),
        (a_field("To"), EQ, "Birch House", "to Birch House"),
        (a_field("First gift on", FieldType.DATE), BETWEEN, YEAR, "with a first gift in 2025"),
        (a_field("Promised for", FieldType.DATE), BETWEEN, YEAR, "promised for 2025"),
        (a_field("Name"), EQ, "Mill", "called Mill"),
        (a_field("Total excl vat", FieldType.NUMBER, "kg"), GT, 5.0, "with a total excl. VAT of more than 5 kg"),
    ],
)
def test_a_condition_is_said_as_its_label_allows(
    field: SchemaField, op: ComparisonOperator, value: object, qualifier: str
) -> None:
    assert qualify(field, op, value) == qualifier


CLINIC = SchemaField(name=FieldName("clinic_id"), type=FieldType.CATEGORY, references="clinics.id")
VISITS = Schema(
    bucket=BucketId("visits"),
    fields=(
        CLINIC,
        SchemaField(name=FieldName("status"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("settled_on"), type=FieldType.DATE),
        SchemaField(name=FieldName("visit_date"), type=FieldType.DATE),
    ),
)
CLINICS = Schema(
    bucket=BucketId("clinics"),
    fields=tuple(SchemaField(name=FieldName(name), type=FieldType.CATEGORY) for name in ("id", "town", "region_code")),
)
SCHEMAS = {VISITS.bucket: VISITS, CLINICS.bucket: CLINICS}
DONE = ComparisonCondition(field=FieldName("status"), op=EQ, value="done")
UNSETTLED = MissingCondition(field=FieldName("settled_on"))
IN_2025 = ComparisonCondition(field=FieldName("visit_date"), op=BETWEEN, value=YEAR)
IN_BATH = SemiJoinCondition(
    field=FieldName("clinic_id"),
    bucket=CLINICS.bucket,
    key=FieldName("id"),
    condition=ComparisonCondition(field=FieldName("town"), op=EQ, value="Bath"),
)


@pytest.mark.parametrize(
    ("conditions", "described"),
    [
        ((DONE, IN_2025), "visits with status done and a visit date in 2025"),
        ((DONE, UNSETTLED), "visits with status done, not settled"),
        ((NotCondition(UNSETTLED),), "visits settled"),
        ((IN_BATH,), "visits whose clinic is in Bath"),
        ((DONE, IN_2025, UNSETTLED), "visits (status: done; visit date in 2025; not settled)"),
    ],
)
def test_three_conditions_become_a_list(conditions: tuple[Condition, ...], described: str) -> None:
    search = Search(clauses=(Clause(bucket=VISITS.bucket, condition=AndCondition(conditions)),))

    assert describe_set(search, SCHEMAS) == described


@pytest.mark.parametrize(
    ("field", "stated", "claimed"),
    [
        (a_field("Phone"), "Phone of Mill: 5", "the phone of Mill is 5"),
        (a_field("Taught by"), "Mill is taught by 5", "Mill is taught by 5"),
        (a_field("Signed on", FieldType.DATE), "Mill was signed on 5", "Mill was signed on 5"),
        (a_field("Expires on", FieldType.DATE), "Mill expires on 5", "Mill expires on 5"),
        (a_field("Runs for"), "Mill, “Runs for”: 5", "“Runs for” of Mill is 5"),
        (a_field("Total excl vat"), "Total excl. VAT of Mill: 5", "the total excl. VAT of Mill is 5"),
    ],
)
def test_a_value_is_stated_in_a_sentence(field: SchemaField, stated: str, claimed: str) -> None:
    assert (state_value(field, "Mill", "5"), claim_value(field, "Mill", "5")) == (stated, claimed)


def test_a_title_with_a_colon_follows_the_value() -> None:
    assert state_value(a_field("Duration"), "Visit 5: Rex", "20 min") == "20 min (duration), Visit 5: Rex"


def test_fields_are_named_in_remarks_and_on_buttons() -> None:
    settled, active = VISITS.by_name[FieldName("settled_on")], a_field("Active", FieldType.FLAG)

    assert describe_label("Visit date", FieldType.DATE) == "the visit date"
    assert describe_label("Settled on", FieldType.DATE) == "“Settled on”"
    assert describe_choice(MissingFieldLabel(field=settled), {}) == "not settled"
    assert describe_choice(FieldValueLabel(field=settled, value=""), {}) == "settled"
    assert describe_choice(MissingFieldLabel(field=a_field("Runs for")), {}) == "nothing under “Runs for”"
    assert describe_choice(FlagLabel(field=active, is_set=False), {}) == "Active: no"


def test_a_list_is_ordered_by_a_label_that_is_no_noun() -> None:
    field = a_field("Acquired on", FieldType.DATE)

    assert order_by_quoted_label(field, descending=True, is_single=False) == "by “Acquired on”, latest first"
    assert order_by_quoted_label(field, descending=True, is_single=True) == "the latest day for “Acquired on”"
