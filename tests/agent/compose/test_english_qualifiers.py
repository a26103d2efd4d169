"""Conditions as an English speaker says them after a noun, and the buttons that drop them."""

import pytest

from agent.compose.phrases.conditions import describe_qualifier, describe_widening, list_conditions
from agent.compose.phrases.nouns import document_noun_of, format_count
from agent.translation.languages import use_language
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

EQ, HAS, IN, BETWEEN = (
    ComparisonOperator.EQ,
    ComparisonOperator.HAS,
    ComparisonOperator.IN,
    ComparisonOperator.BETWEEN,
)
GT, GTE, LT, LTE = ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT, ComparisonOperator.LTE
TYPES = {
    "provider": FieldType.CATEGORY,
    "town": FieldType.CATEGORY,
    "pets": FieldType.CATEGORY,
    "species": FieldType.CATEGORY,
    "valid_from": FieldType.DATE,
    "prepared_by": FieldType.CATEGORY,
    "parties": FieldType.LIST,
    "held_on": FieldType.DATE,
    "occurred_on": FieldType.DATE,
    "expires_on": FieldType.DATE,
    "date": FieldType.DATE,
    "start_date": FieldType.DATE,
    "agreement_date": FieldType.DATE,
    "from_town": FieldType.CATEGORY,
    "founded": FieldType.NUMBER,
    "departures_per_day": FieldType.NUMBER,
    "bedrooms": FieldType.NUMBER,
    "line": FieldType.NUMBER,
    "rent": FieldType.MONEY,
    "warranty_claim": FieldType.FLAG,
}
SCHEMA = Schema(
    bucket=BucketId("trainings"),
    fields=(
        *(
            SchemaField(name=FieldName(name), type=kind, currency="EUR" if kind is FieldType.MONEY else "")
            for name, kind in TYPES.items()
        ),
        SchemaField(name=FieldName("area"), type=FieldType.NUMBER, unit="m**2"),
        SchemaField(
            name=FieldName("lines"),
            type=FieldType.ROWS,
            columns=(SchemaField(name=FieldName("crates"), type=FieldType.NUMBER),),
        ),
    ),
)
SCHEMAS = {SCHEMA.bucket: SCHEMA}


def where(name: str, op: ComparisonOperator, value: object) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(name), op=op, value=value)  # pyright: ignore[reportArgumentType]


YEAR_2023 = ("2023-01-01", "2023-12-31")
YEAR_2025 = ("2025-01-01", "2025-12-31")


@pytest.mark.parametrize(
    ("condition", "qualifier", "widened"),
    [
        (where("provider", EQ, "Red Cross"), "with provider Red Cross", "any provider"),
        (where("provider", IN, ("A", "B")), "with provider A or B", "any provider"),
        (
            OrCondition((where("provider", EQ, "A"), where("provider", EQ, "B"))),
            "with provider A or B",
            "any provider",
        ),
        (where("town", EQ, "Belk"), "in Belk", "any town"),
        (where("pets", EQ, "dogs"), "with pets dogs", "any pets"),
        (where("prepared_by", EQ, "Ada Finch"), "prepared by Ada Finch", "prepared by anyone"),
        (where("parties", HAS, "ACME"), "with ACME", "any party"),
        (where("held_on", BETWEEN, YEAR_2025), "held in 2025", "held at any time"),
        (where("held_on", BETWEEN, ("2025-05-03", "2025-05-03")), "held on 2025-05-03", "held at any time"),
        (where("held_on", GTE, "2025-05-03"), "held on or after 2025-05-03", "also held earlier"),
        (where("occurred_on", LT, "2025-05-03"), "that occurred before 2025-05-03", "also those that occurred later"),
        (where("expires_on", BETWEEN, YEAR_2025), "expiring in 2025", "expiring at any time"),
        (where("date", BETWEEN, YEAR_2025), "dated 2025", "any date"),
        (where("date", EQ, "2025-05-03"), "dated 2025-05-03", "any date"),
        (where("start_date", BETWEEN, YEAR_2025), "starting in 2025", "starting at any time"),
        (where("agreement_date", BETWEEN, YEAR_2025), "with an agreement date in 2025", "any agreement date"),
        (where("bedrooms", EQ, 3.0), "with 3 bedrooms", "any number of bedrooms"),
        (where("bedrooms", GTE, 3.0), "with at least 3 bedrooms", "no minimum bedrooms"),
        (where("bedrooms", LT, 3.0), "with fewer than 3 bedrooms", "no maximum bedrooms"),
        (where("bedrooms", BETWEEN, (2.0, 3.0)), "with 2 to 3 bedrooms", "any number of bedrooms"),
        (where("from_town", EQ, "Luston"), "from Luston", "from anywhere"),
        (where("founded", LT, 1900.0), "founded before 1900", "founded at any time"),
        (
            where("departures_per_day", LT, 12.0),
            "with fewer than 12 departures per day",
            "no maximum departures per day",
        ),
        (where("line", EQ, 14.0), "with line 14", "any line"),
        (where("rent", LT, 900.0), "with a rent of less than EUR 900.00", "no maximum rent"),
        (where("area", GTE, 50.0), "with an area of at least 50 m²", "no minimum area"),
        (where("warranty_claim", EQ, True), "marked as warranty claim", "warranty claim or not"),
        (where("warranty_claim", EQ, False), "not marked as warranty claim", "warranty claim or not"),
        (where(TEXT_FIELD, ComparisonOperator.CONTAINS, "barn"), "mentioning “barn”", "without “barn”"),
        (
            where(TITLE_FIELD, ComparisonOperator.CONTAINS, "barn"),
            "with “barn” in the title",
            "without “barn” in the title",
        ),
        (MissingCondition(field=FieldName("rent")), "with no rent", "with or without rent"),
        (MissingCondition(field=FieldName("held_on")), "with no entry for “Held on”", "with or without “Held on”"),
        (NotCondition(MissingCondition(field=FieldName("rent"))), "with a known rent", "with or without rent"),
        (
            NotCondition(MissingCondition(field=FieldName("bedrooms"))),
            "with known bedrooms",
            "with or without bedrooms",
        ),
        (
            NotCondition(where(TEXT_FIELD, ComparisonOperator.CONTAINS, "barn")),
            "not mentioning “barn”",
            "also mentioning “barn”",
        ),
        (
            where("valid_from", BETWEEN, ("2026-06-03", "2026-08-31")),
            "valid from a day from 2026-06-03 to 2026-08-31",
            "valid from any day",
        ),
        (where("species", EQ, "rabbit"), "of species rabbit", "any species"),
        (NotCondition(where("provider", EQ, "A")), "with provider other than A", "also A"),
        (NotCondition(where("town", EQ, "Belk")), "not in Belk", "also Belk"),
        (NotCondition(where("parties", HAS, "ACME")), "without ACME among the parties", "also ACME"),
        (NotCondition(where("held_on", BETWEEN, YEAR_2025)), "not held in 2025", "held at any time"),
        (
            OrCondition((where("held_on", BETWEEN, YEAR_2025), where("held_on", BETWEEN, YEAR_2023))),
            "held in 2025 or 2023",
            "held at any time",
        ),
        (
            RowCondition(rows_field=FieldName("lines"), condition=where("crates", GT, 10.0)),
            "with lines with more than 10 crates",
            "any lines",
        ),
        (
            SemiJoinCondition(
                field=FieldName("provider"),
                bucket=SCHEMA.bucket,
                key=DOC_ID_FIELD,
                condition=where("held_on", BETWEEN, YEAR_2025),
            ),
            "whose provider is one of the trainings held in 2025",
            "any provider",
        ),
    ],
)  # fmt: skip
def test_a_condition_is_said_and_dropped_in_plain_words(condition: Condition, qualifier: str, widened: str) -> None:
    assert describe_qualifier([condition], SCHEMA, SCHEMAS) == qualifier
    assert describe_widening(condition, SCHEMA, SCHEMAS) == widened


def test_several_conditions_read_as_one_phrase() -> None:
    conditions = [
        where("provider", EQ, "Red Cross"),
        where("held_on", BETWEEN, YEAR_2025),
        AndCondition((where("rent", LT, 900.0), where("warranty_claim", EQ, True))),
    ]

    assert describe_qualifier(conditions, SCHEMA, SCHEMAS) == (
        "held in 2025 and marked as warranty claim with provider Red Cross and a rent of less than EUR 900.00"
    )


def test_what_is_excluded_stands_apart_so_that_nothing_else_is_excluded_with_it() -> None:
    provider, year = where("provider", EQ, "Red Cross"), where("held_on", BETWEEN, YEAR_2025)

    assert describe_qualifier([NotCondition(year), provider], SCHEMA, SCHEMAS) == (
        "with provider Red Cross, not held in 2025"
    )
    assert describe_qualifier(
        [NotCondition(AndCondition((provider, year))), where("town", EQ, "Belk")], SCHEMA, SCHEMAS
    ) == ("in Belk, except those held in 2025 with provider Red Cross")
    assert describe_qualifier([OrCondition((provider, year)), where("rent", LT, 900.0)], SCHEMA, SCHEMAS) == (
        "with a rent of less than EUR 900.00, with provider Red Cross or held in 2025"
    )


def test_both_ends_of_a_range_have_buttons_of_their_own() -> None:
    ends = [where("rent", GTE, 500.0), where("rent", LTE, 900.0)]

    assert len({describe_widening(end, SCHEMA, SCHEMAS) for end in ends}) == 2


def test_other_languages_have_words_of_their_own() -> None:
    with use_language("de"):
        assert describe_widening(where("provider", EQ, "A"), SCHEMA, SCHEMAS) == "provider: beliebig"


@pytest.mark.parametrize(
    ("bucket", "item", "singular", "plural"),
    [
        ("staff", "", "1 employee", "430 employees"),
        ("furniture", "", "1 piece of furniture", "430 pieces of furniture"),
        ("shared-drive", "", "1 document", "430 documents"),
        ("companies", "", "1 company", "430 companies"),
        ("boats", "vessel", "1 vessel", "430 vessels"),
        ("people", "", "1 person", "430 people"),
        ("calendar", "", "1 entry of the calendar", "430 entries of the calendar"),
        ("lunch_plan", "", "1 entry of the lunch plan", "430 entries of the lunch plan"),
        ("office_handbook", "", "1 page of the office handbook", "430 pages of the office handbook"),
        ("calendars", "", "1 calendar", "430 calendars"),
        ("meeting_minutes", "", "1 set of minutes", "430 sets of minutes"),
        ("visitor_mail", "", "1 message", "430 messages"),
        ("press_releases", "", "1 press release", "430 press releases"),
        ("hills_and_lakes", "", "1 hill or lake", "430 hills and lakes"),
        ("houseshare", "", "1 document", "430 documents"),
    ],
)
def test_one_of_its_documents_has_a_name(bucket: str, item: str, singular: str, plural: str) -> None:
    noun = document_noun_of(Schema(bucket=BucketId(bucket), item=item))

    assert (format_count(1, noun), format_count(430, noun)) == (singular, plural)


def test_large_counts_have_separators_and_no_quotation_marks() -> None:
    assert describe_qualifier([where("bedrooms", GT, 20000.0)], SCHEMA, SCHEMAS) == "with more than 20,000 bedrooms"


def test_members_of_a_list_of_conditions_have_one_form() -> None:
    conditions = [where("provider", EQ, "Red Cross"), where("occurred_on", BETWEEN, ("2025-01-01", "2025-12-31"))]

    assert list_conditions(conditions, SCHEMA, SCHEMAS) == ["provider: Red Cross", "occurred in 2025"]


@pytest.mark.parametrize(
    ("days", "qualifier"),
    [(("2025-03-01", "2026-03-01"), "held on 2025-03-01 or 2026-03-01"), ((), "held on no day")],
)
def test_single_days_are_no_period(days: tuple[str, ...], qualifier: str) -> None:
    assert describe_qualifier([where("held_on", IN, days)], SCHEMA, SCHEMAS) == qualifier
