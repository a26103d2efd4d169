"""The wording of sets and lists in sentences."""

from dataclasses import replace

import pytest

from agent.compose.phrases.conditions import describe_condition
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.words import join_words, lowercase_label
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    TEXT_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    RowCondition,
    SemiJoinCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import Clause, Search
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

DEEDS, WILLS = BucketId("deeds"), BucketId("wills")
TOWN, SIGNED = FieldName("town"), FieldName("signed")
FIELDS = (
    SchemaField(name=TOWN, type=FieldType.CATEGORY, title="Town of record"),
    SchemaField(name=SIGNED, type=FieldType.DATE, title="Signed"),
)
SCHEMAS = {bucket: Schema(bucket=bucket, fields=FIELDS) for bucket in (DEEDS, WILLS)}
IN_OSLO = ComparisonCondition(field=TOWN, op=ComparisonOperator.EQ, value="Oslo")


def describe_documents(
    condition: Condition = MATCH_ALL, *required_terms: str, buckets: tuple[BucketId, ...] = (DEEDS,)
) -> str:
    clauses = tuple(Clause(bucket=bucket, condition=condition, required_terms=required_terms) for bucket in buckets)
    return describe_set(Search(clauses=clauses), SCHEMAS)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (MATCH_ALL, "deeds"),
        (IN_OSLO, "deeds with town of record Oslo"),
        (MissingCondition(field=SIGNED), "deeds with no entry for “Signed”"),
        (
            AndCondition((IN_OSLO, MissingCondition(field=SIGNED))),
            "deeds with town of record Oslo and no entry for “Signed”",
        ),
        (NotCondition(MissingCondition(field=SIGNED)), "deeds with an entry for “Signed”"),
        (ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.EQ, value="a"), "deeds of these"),
    ],
)
def test_conditions_read_as_part_of_a_sentence(condition: Condition, expected: str) -> None:
    assert describe_documents(condition) == expected


KIND = FieldName("kind")
OF_KINDS = Schema(
    bucket=BucketId("shared"),
    item="document",
    fields=(
        SchemaField(
            name=KIND,
            type=FieldType.CATEGORY,
            origin=FieldOrigin.KIND,
            values={"policy": ("policies",), "minutes": ("meeting minutes",)},
        ),
        *FIELDS,
    ),
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("policy", "policies with town of record Oslo"), ("minutes", "sets of minutes with town of record Oslo")],
)
def test_a_set_of_one_kind_is_called_by_its_noun(kind: str, expected: str) -> None:
    condition = AndCondition((ComparisonCondition(field=KIND, op=ComparisonOperator.EQ, value=kind), IN_OSLO))

    described = describe_set(
        Search(clauses=(Clause(bucket=OF_KINDS.bucket, condition=condition),)), {OF_KINDS.bucket: OF_KINDS}
    )

    assert described == expected


def test_required_words_are_listed_once() -> None:
    assert describe_documents(MATCH_ALL, "barn", "well") == "deeds that mention “barn” and “well”"
    assert describe_documents(IN_OSLO, "barn") == "deeds with town of record Oslo, that mention “barn”"
    assert describe_documents(
        ComparisonCondition(field=TEXT_FIELD, op=ComparisonOperator.CONTAINS, value="barn"), "barn", "well"
    ) == ("deeds that mention “barn” and “well”")


def test_a_description_shared_by_all_buckets_appears_once() -> None:
    assert describe_documents(MATCH_ALL, "barn", buckets=(DEEDS, WILLS)) == "documents that mention “barn”"


def test_labels_are_lower_case_in_a_sentence_unless_they_contain_acronyms() -> None:
    assert lowercase_label("Notice period") == "notice period"
    assert lowercase_label("CAS number") == "CAS number"


@pytest.mark.parametrize(
    ("parts", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_joins_its_last_item_with_and(parts: list[str], expected: str) -> None:
    assert join_words(parts) == expected


@pytest.mark.parametrize(
    ("key", "order_by", "expected"),
    [
        (TOWN, None, "deeds whose town of record is among the towns of record of the wills with town of record Oslo"),
        (TOWN, SIGNED, "deeds whose town of record is the town of record of the will with the latest signed"
         " and town of record Oslo"),
        (DOC_ID_FIELD, None, "deeds whose town of record is one of the wills with town of record Oslo"),
    ],
)  # fmt: skip
def test_a_set_within_a_set_is_described_in_words(key: FieldName, order_by: FieldName | None, expected: str) -> None:
    joined = SemiJoinCondition(field=TOWN, bucket=WILLS, key=key, condition=IN_OSLO, order_by=order_by)

    assert describe_documents(joined) == expected


LINES = SchemaField(
    name=FieldName("lines"),
    type=FieldType.ROWS,
    columns=(
        SchemaField(name=FieldName("beer"), type=FieldType.TEXT),
        SchemaField(name=FieldName("crates"), type=FieldType.NUMBER),
    ),
)
ORDERS = Schema(bucket=BucketId("sales_orders"), fields=(LINES, FIELDS[1]))
MANY_CRATES = RowCondition(
    rows_field=LINES.name,
    condition=ComparisonCondition(field=FieldName("crates"), op=ComparisonOperator.GT, value=10.0),
)
ORDERED_BEER = SemiJoinCondition(
    field=TOWN, bucket=ORDERS.bucket, key=FieldName("beer"), key_rows=LINES.name, condition=MATCH_ALL
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ORDERED_BEER, "town of record is among the beers in the lines of the sales orders"),
        (
            replace(ORDERED_BEER, condition=AndCondition((MANY_CRATES, MissingCondition(field=SIGNED)))),
            "town of record is among the beers in the lines with crates > 10 of the sales orders with no entry for"
            " “Signed”",
        ),
        (
            replace(ORDERED_BEER, order_by=SIGNED),
            "town of record is among the beers in the lines of the sales order with the latest signed",
        ),
        (
            NotCondition(replace(ORDERED_BEER, min_count=2)),
            "town of record is not the beer in the lines of at least 2 sales orders",
        ),
        (
            replace(ORDERED_BEER, key=FieldName("crates"), op=ComparisonOperator.GT, field=SIGNED),
            "signed > crates in the lines of the sales orders",
        ),
    ],
)  # fmt: skip
def test_a_key_in_rows_is_described_with_the_rows_that_count(condition: Condition, expected: str) -> None:
    schemas = {**SCHEMAS, ORDERS.bucket: ORDERS}

    assert describe_condition(condition, SCHEMAS[DEEDS], schemas) == expected


def test_a_column_among_the_values_of_other_documents_is_described_with_its_rows() -> None:
    of_town = SemiJoinCondition(field=FieldName("beer"), bucket=WILLS, key=TOWN, condition=IN_OSLO)
    condition = RowCondition(rows_field=LINES.name, condition=of_town)

    assert describe_condition(condition, ORDERS, {**SCHEMAS, ORDERS.bucket: ORDERS}) == (
        "lines with beer is among the towns of record of the wills with town of record Oslo"
    )


PRICE = FieldName("price")
VANS = Schema(
    bucket=BucketId("vans"),
    fields=(
        SchemaField(name=FieldName("name"), type=FieldType.TEXT),
        SchemaField(name=PRICE, type=FieldType.MONEY, currency="EUR"),
    ),
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (
            ComparisonCondition(field=FieldName("name"), op=ComparisonOperator.EQ, value="Sample"),
            "price is higher than that of Sample",
        ),
        (MATCH_ALL, "price is higher than that of the vans"),
    ],
)
def test_a_comparison_with_other_documents_has_no_signs(condition: Condition, expected: str) -> None:
    dearer = SemiJoinCondition(
        field=PRICE, bucket=VANS.bucket, key=PRICE, op=ComparisonOperator.GT, condition=condition
    )

    assert describe_condition(dearer, VANS, {VANS.bucket: VANS}) == expected
