"""The wording of sets, conditions, labels and figures in German."""

from collections.abc import Iterator

import pytest

from agent.compose.choices.choice_labels import describe_choice
from agent.compose.composed_leg import ComposedLeg
from agent.compose.phrases.conditions import describe_condition
from agent.compose.phrases.figures import describe_functions, format_amount, format_figure
from agent.compose.phrases.nouns import document_noun_of, format_count
from agent.compose.phrases.set_description import describe_set
from agent.compose.phrases.values import format_period, format_value
from agent.compose.phrases.words import format_label, join_words
from agent.outcome import Citation, ComputedFigure
from agent.refine.choice_labels import (
    AllOfThemLabel,
    AlsoMissingLabel,
    ChoiceLabel,
    ExportLabel,
    JustAnswerLabel,
    MoreValuesLabel,
    NearestValueLabel,
    RangeLabel,
    SpellingLabel,
    WithoutConditionLabel,
)
from agent.translation.languages import use_language
from agent.verify import verify_leg
from storage.search.conditions import (
    MATCH_ALL,
    TEXT_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
    text_condition_for,
)
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.plan import AggregateFunction, Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField
from tests.builders import where

BILLS, BRANCHES = BucketId("bills"), BucketId("branches")
VENDOR = SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY, title="Lieferant")
TOTAL = SchemaField(name=FieldName("total"), type=FieldType.MONEY, title="Betrag", currency="EUR")
DUE = SchemaField(name=FieldName("due"), type=FieldType.DATE, title="Fälligkeit")
TERM = SchemaField(name=FieldName("term"), type=FieldType.NUMBER, title="Frist", unit="day")
PAID = SchemaField(name=FieldName("paid"), type=FieldType.FLAG, title="Bezahlt")
TAGS = SchemaField(name=FieldName("tags"), type=FieldType.LIST, title="Themen")
BRANCH = SchemaField(name=FieldName("branch"), type=FieldType.CATEGORY, title="Filiale")
SCHEMA = Schema(
    bucket=BILLS, fields=(VENDOR, TOTAL, DUE, TERM, PAID, TAGS, BRANCH), title="Rechnungen", synonyms=("Rechnung",)
)
DELIVERIES = SchemaField(name=FieldName("deliveries"), type=FieldType.ROWS, title="Lieferungen", columns=(VENDOR, TERM))
BRANCH_SCHEMA = Schema(bucket=BRANCHES, fields=(BRANCH, DUE, DELIVERIES), title="Filialen", synonyms=("Filiale",))
SCHEMAS = {BILLS: SCHEMA, BRANCHES: BRANCH_SCHEMA}


@pytest.fixture(autouse=True)
def german() -> Iterator[None]:
    with use_language("de"):
        yield


def describe(condition: Condition = MATCH_ALL, *required_terms: str) -> str:
    clause = Clause(bucket=BILLS, condition=condition, required_terms=required_terms)
    return describe_set(Search(clauses=(clause,)), SCHEMAS)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (where("vendor", "eq", "Acme"), "Lieferant Acme"),
        (where("total", "gt", 1234.5), "Betrag über 1.234,50\u00a0€"),
        (where("total", "gte", 5.0), "Betrag ab 5,00\u00a0€"),
        (where("total", "lt", 5.0), "Betrag unter 5,00\u00a0€"),
        (where("total", "lte", 5.0), "Betrag bis 5,00\u00a0€"),
        (where("total", "between", (5.0, 1000.0)), "Betrag 5,00\u00a0€ bis 1.000,00\u00a0€"),
        (where("term", "gte", 1.0), "Frist ab 1 Tag"),
        (where("term", "gte", 30.0), "Frist ab 30 Tagen"),
        (where("due", "gt", "2031-05-09"), "Fälligkeit nach dem 9. Mai 2031"),
        (where("due", "gte", "2031-05-09"), "Fälligkeit ab dem 9. Mai 2031"),
        (where("due", "lt", "2031-05-09"), "Fälligkeit vor dem 9. Mai 2031"),
        (where("due", "lte", "2031-05-09"), "Fälligkeit bis zum 9. Mai 2031"),
        (where("due", "eq", "2031-05-09"), "Fälligkeit am 9. Mai 2031"),
        (where("due", "between", ("2031-01-01", "2031-12-31")), "Fälligkeit im Jahr 2031"),
        (where("due", "between", ("2030-01-01", "2031-12-31")), "Fälligkeit in den Jahren 2030 bis 2031"),
        (where("due", "between", ("2031-04-01", "2031-06-30")), "Fälligkeit im 2. Quartal 2031"),
        (where("due", "between", ("2031-03-01", "2031-03-31")), "Fälligkeit im März 2031"),
        (where("due", "between", ("2031-03-03", "2031-03-03")), "Fälligkeit am 3. März 2031"),
        (
            where("due", "between", ("2031-03-03", "2031-04-05")),
            "Fälligkeit zwischen dem 3. März 2031 und dem 5. April 2031",
        ),
        (where("paid", "eq", True), "»Bezahlt«"),
        (where("paid", "eq", False), "ohne Merkmal »Bezahlt«"),
        (where("tags", "has", "Recht"), "Recht unter den Themen"),
        (where("vendor", "in", ("A", "B", "C", "D", "E")), "Lieferant A, B, C oder 2 weitere"),
        (MissingCondition(field=DUE.name), "ohne Fälligkeit"),
        (NotCondition(MissingCondition(field=DUE.name)), "Angabe zu »Fälligkeit«"),
        (NotCondition(where("vendor", "eq", "Acme")), "nicht mit Lieferant Acme"),
        (OrCondition((where("vendor", "eq", "A"), where("vendor", "eq", "B"))), "Lieferant A oder B"),
        (ComparisonCondition(field=TEXT_FIELD, op=ComparisonOperator.CONTAINS, value="Felge"), "“Felge” im Text"),
        (OrCondition((text_condition_for("Felge"), text_condition_for("Reifen"))), "“Felge” oder “Reifen” im Text"),
        (OrCondition(tuple(map(text_condition_for, "ABCDE"))), "“A” oder “B” oder “C” oder 2 andere Wörter im Text"),
        (
            SemiJoinCondition(
                field=BRANCH.name,
                bucket=BRANCHES,
                key=BRANCH.name,
                condition=MATCH_ALL,
                order_by=DUE.name,
                is_descending=True,
                limit=3,
            ),
            "Filiale unter Filiale (Filialen mit den 3 spätesten Werten für Fälligkeit)",
        ),
        (
            SemiJoinCondition(
                field=VENDOR.name,
                bucket=BRANCHES,
                key=VENDOR.name,
                key_rows=DELIVERIES.name,
                condition=RowCondition(
                    rows_field=DELIVERIES.name,
                    condition=ComparisonCondition(field=TERM.name, op=ComparisonOperator.GT, value=5.0),
                ),
            ),
            "Lieferant unter Lieferant in Lieferungen mit Frist über 5 Tage (Filialen)",
        ),
    ],
)
def test_a_condition_reads_as_german(condition: Condition, words: str) -> None:
    assert describe_condition(condition, SCHEMA, SCHEMAS) == words


@pytest.mark.parametrize(
    ("condition", "required_terms", "words"),
    [
        (MATCH_ALL, (), "Rechnungen"),
        (where("vendor", "eq", "Acme"), (), "Rechnungen mit Lieferant Acme"),
        (MissingCondition(field=DUE.name), (), "Rechnungen ohne Fälligkeit"),
        (MATCH_ALL, ("Felge", "Reifen"), "Rechnungen mit “Felge” und “Reifen” im Text"),
        (
            AndCondition((where("vendor", "eq", "Acme"), MissingCondition(field=DUE.name))),
            ("Felge",),
            "Rechnungen (Lieferant Acme; ohne Fälligkeit; “Felge” im Text)",
        ),
    ],
)
def test_a_set_reads_as_german(condition: Condition, required_terms: tuple[str, ...], words: str) -> None:
    assert describe(condition, *required_terms) == words


@pytest.mark.parametrize(
    ("count", "words", "dative"),
    [
        (1, "1 Dokument", "1 Dokument"),
        (3, "3 Dokumente", "3 Dokumenten"),
        (1042, "1.042 Dokumente", "1.042 Dokumenten"),
    ],
)
def test_counts_have_their_noun_in_the_right_form(count: int, words: str, dative: str) -> None:
    phrase = format_count(count)

    assert (phrase, phrase.dative) == (words, dative)


def test_a_bucket_gives_singular_and_plural() -> None:
    noun = document_noun_of(SCHEMA)

    assert [format_count(count, noun) for count in (1, 2)] == ["1 Rechnung", "2 Rechnungen"]


@pytest.mark.parametrize(
    ("words", "joined"), [(["A"], "A"), (["A", "B"], "A und B"), (["A", "B", "C"], "A, B und C"), ([], "")]
)
def test_lists_are_joined_with_und(words: list[str], joined: str) -> None:
    assert join_words(words) == joined


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (AllOfThemLabel(), "alle"),
        (JustAnswerLabel(), "Einfach antworten"),
        (ExportLabel(), "Alle als CSV exportieren"),
        (AlsoMissingLabel(field=DUE), "auch die ohne Fälligkeit"),
        (MoreValuesLabel(field=VENDOR, count=1), "1 weiterer Wert für Lieferant"),
        (MoreValuesLabel(field=VENDOR, count=1200), "1.200 weitere Werte für Lieferant"),
        (RangeLabel(field=TOTAL, low=1000.0, high=2000.0), "1.000,00 bis unter 2.000,00\u00a0€"),
        (RangeLabel(field=TOTAL, low=1000.0, high=None), "ab 1.000,00\u00a0€"),
        (RangeLabel(field=TERM, low=5.0, high=10.5), "5 bis unter 10,5 Tage"),
        (SpellingLabel(old="Recnung", new="Rechnung"), "“Rechnung” statt “Recnung”"),
        (
            WithoutConditionLabel(condition=where("total", "gt", 5.0), bucket=BILLS),
            "Betrag: ohne Untergrenze",
        ),
        (
            NearestValueLabel(field=DUE, condition=where("due", "gte", "2031-05-09")),
            "Fälligkeit: ab 9. Mai 2031",
        ),
    ],
)
def test_a_button_reads_as_german(label: ChoiceLabel, words: str) -> None:
    assert describe_choice(label, SCHEMAS) == words


@pytest.mark.parametrize(
    ("value", "field", "words"),
    [
        (1234.56, TOTAL, "1.234,56\u00a0€"),
        (1.0, TERM, "1 Tag"),
        (1234.5, TERM, "1.234,5 Tage"),
        ("2031-05-09", DUE, "9. Mai 2031"),
        ("2031-05-09", VENDOR, "2031-05-09"),
        (True, PAID, "ja"),
        (("A", "B"), TAGS, "A, B"),
        (2031.0, None, "2031"),
    ],
)
def test_a_value_is_formatted_as_in_german(value: FieldValue, field: SchemaField | None, words: str) -> None:
    assert format_value(value, field) == words


def test_figures_name_their_function_in_german() -> None:
    figure = ComputedFigure(function=AggregateFunction.SUM, field=TOTAL.name, value=1042.5, unit="EUR", count=1)

    assert format_figure(figure, SCHEMA, document_noun_of(SCHEMA)) == (
        "Summe (Betrag): **1.042,50\u00a0€** (1 Rechnung)"
    )
    assert describe_functions((AggregateFunction.SUM, AggregateFunction.AVERAGE), TOTAL) == (
        "Summe und Durchschnitt (Betrag)"
    )
    assert format_amount(None, None, TOTAL) == "kein Wert"


def test_a_german_number_beside_a_quotation_passes_verification() -> None:
    """Only the numbers in quotations must stand in what is cited, and quotations stay as they are."""
    citation = Citation(
        marker="1",
        doc_id=DocId("r1"),
        title="R-1",
        page=None,
        start=0,
        end=20,
        text="Total EUR 1,234.50, due 2031-05-09",
    )
    amount, day = format_value(1234.5, TOTAL), format_value("2031-05-09", DUE)
    supported = f"Betrag von R-1: **{amount}**, Fälligkeit **{day}** — “Total EUR 1,234.50, due 2031-05-09” [1]"
    unsupported = "Betrag von R-1: **1.234,50 EUR** — “Total EUR 9,999.00” [1]"

    verified = verify_leg(ComposedLeg(sentences=(supported, unsupported), citations=(citation,)))

    assert verified.sentences == (supported,)
    assert "**1.234,50\u00a0€**, Fälligkeit **9. Mai 2031**" in supported


def test_labels_keep_their_capitals() -> None:
    assert format_label("Fälligkeit") == "Fälligkeit"
    assert format_period("2031-05-09", "2031-06-10") == "9. Mai 2031 bis 10. Juni 2031"
