"""Filters of a model as conditions: names, units, money, periods and values, and what cannot be linked."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.assumptions import CorrectedSpelling
from agent.decomposition import QuestionContext
from agent.model.linking.tool_filter_linking import ToolFilterLinker
from agent.rules.reasoner import RuleReasoner
from agent.tools.tool_filters import FilterOperator, LinkedFilters, ToolFilter
from storage.search.conditions import (
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
)
from storage.search.evaluation.condition_normal_form import bind_to_schema
from storage.search.ids import FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, a_receipt_schema, where


def the_schema() -> Schema:
    """Returns the receipts' schema with labels, synonyms and a field in one currency."""
    schema = a_receipt_schema()
    changes = {
        "vendor": {"title": "Vendor name", "synonyms": ("supplier", "seller"), "values": {"Acme": ("Acme Corp",)}},
        "weight": {"synonyms": ("mass",)},
    }
    fields = [replace(field, **changes.get(field.name, {})) for field in schema.fields]
    fee = SchemaField(name=FieldName("fee"), type=FieldType.MONEY, currency="EUR")
    return replace(schema, fields=(*fields, fee))


def link_filters(*filters: ToolFilter, question: str = "") -> LinkedFilters:
    schema = the_schema()
    vendors = FieldVocabulary(
        bucket=RECEIPTS,
        field=FieldName("vendor"),
        document_count=3,
        values=(ValueCount(value="Bolt GmbH", count=2), ValueCount(value="Acme", count=1)),
    )
    question_context = QuestionContext(
        schemas={RECEIPTS: schema},
        vocabulary=IndexVocabulary(generation=Generation("1"), fields=(vendors,), document_counts={RECEIPTS: 3}),
        analysers={RECEIPTS: analyser_for("en")},
        now=datetime(2026, 11, 22, tzinfo=UTC),
        locale="en",
        last_plan=None,
    )
    linker = ToolFilterLinker(
        lexicons=RuleReasoner().lexicons_for(question_context), question=question, today=question_context.now.date()
    )
    linked = linker.link_filters(RECEIPTS, filters)
    bind_to_schema(linked.condition, schema)  # an index would accept it
    return linked


def a_filter(field: str, op: str, *values: str) -> ToolFilter:
    return ToolFilter(field=field, op=FilterOperator(op), values=list(values))


EQ, IN, HAS, CONTAINS = (ComparisonOperator(name) for name in ("eq", "in", "has", "contains"))


@pytest.mark.parametrize(
    ("written", "condition"),
    [
        (a_filter("vendor", "eq", "Acme"), where("vendor", EQ, "Acme")),
        (a_filter("Vendor Name", "eq", "bolt gmbh"), where("vendor", EQ, "Bolt GmbH")),
        (a_filter("supplier", "eq", "acme corp"), where("vendor", EQ, "Acme")),
        (a_filter("vendor", "eq", "Unheard Ltd"), where("vendor", EQ, "Unheard Ltd")),
        (a_filter("vendor", "not_eq", "Acme"), NotCondition(where("vendor", EQ, "Acme"))),
        (a_filter("vendor", "in", "ACME", "Bolt GmbH"), where("vendor", IN, ("Acme", "Bolt GmbH"))),
        (a_filter("vendor", "contains", "bolt"), where("vendor", CONTAINS, "bolt")),
        (a_filter("tags", "eq", "winter"), where("tags", HAS, "winter")),
        (a_filter("title", "eq", "winter"), where("title", CONTAINS, "winter")),
        (
            a_filter("text", "contains", "tyre", "wheel"),
            OrCondition((where("text", CONTAINS, "tyre"), where("text", CONTAINS, "wheel"))),
        ),
        (a_filter("doc_id", "eq", "r1"), where("doc_id", IN, ("r1",))),
        (a_filter("total", "gt", "1,000.50"), where("total", "gt", 1000.5)),
        (
            a_filter("total", "gte", "$1.2k"),
            conjunction_of(where("total", "gte", 1200.0), where("currency", EQ, "USD")),
        ),
        (
            a_filter("total", "between", "500 EUR", "100 EUR"),
            conjunction_of(where("total", "between", (100.0, 500.0)), where("currency", EQ, "EUR")),
        ),
        (a_filter("fee", "lt", "EUR 2.5"), where("fee", "lt", 2.5)),
        (a_filter("weight", "lte", "500 g"), where("weight", "lte", 0.5)),
        (a_filter("mass", "eq", "2"), where("weight", EQ, 2.0)),
        (
            a_filter("weight", "in", "1 kg", "2 kg"),
            OrCondition((where("weight", EQ, 1.0), where("weight", EQ, 2.0))),
        ),
        (a_filter("date", "eq", "2024-03-01"), where("date", EQ, "2024-03-01")),
        (a_filter("date", "eq", "5 May 2024"), where("date", EQ, "2024-05-05")),
        (a_filter("date", "eq", "2024"), where("date", "between", ("2024-01-01", "2024-12-31"))),
        (a_filter("date", "gt", "Q1 2024"), where("date", "gt", "2024-03-31")),
        (a_filter("date", "gte", "2024-03"), where("date", "gte", "2024-03-01")),
        (a_filter("date", "lt", "March 2024"), where("date", "lt", "2024-03-01")),
        (a_filter("date", "lte", "2024-03"), where("date", "lte", "2024-03-31")),
        (a_filter("date", "between", "2023", "2024-03"), where("date", "between", ("2023-01-01", "2024-03-31"))),
        (
            a_filter("date", "in", "2023", "2025-01-02"),
            OrCondition((where("date", "between", ("2023-01-01", "2023-12-31")), where("date", EQ, "2025-01-02"))),
        ),
        (a_filter("paid", "eq", "yes"), where("paid", EQ, True)),
        (a_filter("paid", "not_eq", "true"), NotCondition(where("paid", EQ, True))),
        (a_filter("note", "missing"), MissingCondition(field=FieldName("note"))),
        (a_filter("note", "exists"), NotCondition(MissingCondition(field=FieldName("note")))),
        (
            a_filter("items.qty", "gte", "4"),
            RowCondition(rows_field=FieldName("items"), condition=where("qty", "gte", 4.0)),
        ),
        (
            a_filter("qty", "gte", "4"),
            RowCondition(rows_field=FieldName("items"), condition=where("qty", "gte", 4.0)),
        ),
        (
            a_filter("items", "contains", "tyre"),
            RowCondition(rows_field=FieldName("items"), condition=OrCondition((where("name", CONTAINS, "tyre"),))),
        ),
    ],
)
def test_a_filter_becomes_a_condition(written: ToolFilter, condition: Condition) -> None:
    linked = link_filters(written)

    assert (linked.condition, linked.problems) == (condition, ())


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (a_filter("colour", "eq", "red"), "receipts has no field 'colour'; its fields are vendor, currency"),
        (a_filter("vendor", "gt", "Acme"), "vendor is neither a number nor a date"),
        (a_filter("vendor", "eq"), "vendor needs a value to compare with"),
        (a_filter("vendor", "eq", " "), "vendor: an empty text is not a value"),
        (a_filter("total", "between", "1"), "total: `between` needs two values"),
        (a_filter("total", "gt", "1", "2"), "total: gt takes one value"),
        (a_filter("total", "gt", "much"), "'much' is not an amount"),
        (a_filter("total", "gt", "1e999"), "'1e999' is not an amount"),
        (a_filter("fee", "gt", "$5"), "fee is a money field in EUR: '$5' is not an amount"),
        (a_filter("weight", "gt", "5 EUR"), "weight is a number field in kg: '5 EUR' is not a number"),
        (a_filter("weight", "gt", "5 litres"), "weight is a number field in kg: '5 litres' is not a number"),
        (a_filter("date", "eq", "soon"), "'soon' is not a day, month or year"),
        (a_filter("date", "eq", "31 February 2024"), "'31 February 2024' is not a day"),
        (a_filter("paid", "eq", "maybe"), "paid is a flag"),
    ],
)
def test_a_filter_that_cannot_be_linked_is_a_problem(written: ToolFilter, problem: str) -> None:
    linked = link_filters(written)

    (found,) = linked.problems
    assert problem in found
    assert linked.notes == ()


def test_a_value_that_no_document_has_is_noted_and_finds_nothing() -> None:
    linked = link_filters(a_filter("vendor", "eq", "Unheard Ltd"))

    assert linked.condition == where("vendor", EQ, "Unheard Ltd")
    assert linked.problems == ()
    assert linked.notes == ("no document has vendor = 'Unheard Ltd'; the values hold nothing like it",)


def test_a_corrected_spelling_is_an_assumption() -> None:
    linked = link_filters(a_filter("vendor", "eq", "Bolt Gmhb"))

    assert linked.condition == where("vendor", EQ, "Bolt GmbH")
    assert linked.assumptions == (CorrectedSpelling(written="Bolt Gmhb", meant="Bolt GmbH"),)


def test_columns_hold_within_one_row() -> None:
    linked = link_filters(a_filter("items.name", "eq", "tyre"), a_filter("items.qty", "gt", "3"))

    assert isinstance(linked.condition, RowCondition)
    assert linked.condition.rows_field == "items"


def test_filters_are_joined_and_every_problem_is_reported() -> None:
    linked = link_filters(
        a_filter("vendor", "eq", "Acme"),
        a_filter("colour", "eq", "red"),
        a_filter("paid", "eq", "true"),
        a_filter("weight", "gt", "heavy"),
    )

    assert linked.condition == conjunction_of(where("vendor", EQ, "Acme"), where("paid", EQ, True))
    assert len(linked.problems) == 2
