"""One bucket's reading of a question, over a small schema with a dictionary of its own."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from agent.reasoner import Material, Planned
from agent.rules.reasoner import RuleReasoner
from storage.analysis import analyser_for
from storage.search.conditions import All, Compare, Condition, InRow, Missing, Not, Op, conjuncts
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, ValueCount, Vocabulary
from storage.search.plan import Compute, FindPassages, Function, ListDocuments, Plan, ReadFields, Summarise, Wanted
from storage.search.schema import Field, FieldType, Schema

BUCKET = BucketId("parcels")
SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("parcel",),
    fields=(
        Field(name=FieldName("sent"), type=FieldType.DATE, synonyms=("sending date",)),
        Field(name=FieldName("carrier"), type=FieldType.CATEGORY, facet=True),
        Field(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        Field(name=FieldName("length"), type=FieldType.NUMBER, unit="cm"),
        Field(name=FieldName("width"), type=FieldType.NUMBER, unit="cm"),
        Field(name=FieldName("coin"), type=FieldType.CATEGORY),
        Field(name=FieldName("postage"), type=FieldType.MONEY, currency_field=FieldName("coin")),
        Field(name=FieldName("insured"), type=FieldType.FLAG),
        Field(name=FieldName("marks"), type=FieldType.LIST),
        Field(
            name=FieldName("goods"),
            type=FieldType.ROWS,
            columns=(
                Field(name=FieldName("what"), type=FieldType.TEXT),
                Field(name=FieldName("pieces"), type=FieldType.NUMBER),
            ),
        ),
    ),
)


def values(field: str, *written: str) -> FieldVocabulary:
    counts = tuple(ValueCount(value=value, count=9) for value in written)
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), documents=90, values=counts)


def numbers(field: str, low: float | str, high: float | str) -> FieldVocabulary:
    return FieldVocabulary(bucket=BUCKET, field=FieldName(field), documents=90, low=low, high=high)


WEIGHT = FieldName("weight")
VOCABULARY = Vocabulary(
    generation=Generation("1"),
    documents={BUCKET: 100},
    fields=(
        numbers("sent", "2020-01-01", "2026-06-30"),
        values("carrier", "Blue Van", "Redline Post", "Northern Star", "OR"),
        numbers("weight", 0.1, 30.0),
        numbers("length", 1.0, 200.0),
        numbers("width", 1.0, 100.0),
        values("coin", "USD", "EUR"),
        numbers("postage", 1.0, 90.0),
        values("marks", "fragile", "this side up"),
        values("goods.what", "wool socks", "clay bowl", "copper bowl"),
        numbers("goods.pieces", 1.0, 40.0),
    ),
)


MATERIAL = Material(
    schemas={BUCKET: SCHEMA},
    vocabulary=VOCABULARY,
    analysers={BUCKET: analyser_for("en")},
    now=datetime(2026, 11, 21, tzinfo=UTC),
    locale="en",
    last=None,
)


def planned(question: str, last: Plan | None = None) -> Planned:
    return cast(Planned, RuleReasoner().decompose(question, replace(MATERIAL, last=last)))


def conditions(question: str) -> set[Condition]:
    return set(conjuncts(planned(question).plan.legs[0].search.clauses[0].condition))


def wanted(question: str) -> Wanted:
    return planned(question).plan.legs[0].wanted


def compare(field: str, op: Op, value: str | float | bool | tuple[str, ...] | tuple[float, ...]) -> Compare:
    return Compare(field=FieldName(field), op=op, value=value)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Parcels by Blue Van", {compare("carrier", Op.EQ, "Blue Van")}),
        ("parcels not with Blue Van", {Not(compare("carrier", Op.EQ, "Blue Van"))}),
        ("parcels by Blue Van or Redline Post", {compare("carrier", Op.IN, ("Blue Van", "Redline Post"))}),
        ("parcels over 500 g", {compare("weight", Op.GT, 0.5)}),
        ("parcels with a length of at least 1 m", {compare("length", Op.GTE, 100.0)}),
        ("parcels wider than 40 cm", {compare("width", Op.GT, 40.0)}),
        ("parcels with postage above 12 EUR", {compare("postage", Op.GT, 12.0), compare("coin", Op.EQ, "EUR")}),
        ("insured parcels", {compare("insured", Op.EQ, True)}),
        ("parcels that are not insured", {compare("insured", Op.EQ, False)}),
        ("parcels without a carrier", {Missing(field=FieldName("carrier"))}),
        ("fragile parcels", {compare("marks", Op.HAS, "fragile")}),
        ("parcels that are neither fragile nor insured", {
            Not(compare("marks", Op.HAS, "fragile")), compare("insured", Op.EQ, False)}),
        ("parcels sent in 2025", {compare("sent", Op.BETWEEN, ("2025-01-01", "2025-12-31"))}),
        ("parcels sent in August", {compare("sent", Op.BETWEEN, ("2025-08-01", "2025-08-31"))}),
        ("parcels that are not insured of last month", {
            compare("insured", Op.EQ, False), compare("sent", Op.BETWEEN, ("2026-10-01", "2026-10-31"))}),
        ("upcoming parcels", {compare("sent", Op.GTE, "2026-11-21")}),
        ("uninsured parcels", {compare("insured", Op.EQ, False)}),
        ("parcels not sent yet", {Missing(field=FieldName("sent"))}),
        ("non-fragile parcels by Blue Van", {
            Not(compare("marks", Op.HAS, "fragile")), compare("carrier", Op.EQ, "Blue Van")}),
        ("parcels of 2025 or younger", {compare("sent", Op.GTE, "2025-01-01")}),
        ("parcels of more than 2000 pieces over 3 kg", {compare("weight", Op.GT, 3.0), InRow(
            row=FieldName("goods"), condition=compare("pieces", Op.GT, 2000.0), words="more than 2000")}),
    ],
)  # fmt: skip
def test_a_list_question_becomes_the_conditions_it_says(question: str, expected: set[Condition]) -> None:
    assert conditions(question) == expected
    assert isinstance(wanted(question), ListDocuments)


def test_what_is_said_of_rows_holds_within_one_row() -> None:
    (row,) = conditions("parcels with at least 4 pieces of wool socks")

    assert isinstance(row, InRow)
    assert row.row == "goods"
    assert isinstance(row.condition, All)
    assert compare("pieces", Op.GTE, 4.0) in row.condition.members


def test_a_number_right_before_a_thing_counts_it() -> None:
    """Postage is an amount of money, and would hold a 4 as well."""
    (row,) = conditions("parcels with at least 4 wool socks")

    assert isinstance(row, InRow)
    assert compare("pieces", Op.GTE, 4.0) in conjuncts(row.condition)
    assert not planned("parcels with at least 4 wool socks").doubts[0].alike


def test_every_reading_of_a_number_keeps_what_is_said_of_a_row_in_one_row() -> None:
    readings = planned("parcels with wool socks, more than 20").doubts[0].alike

    rows = [one for reading in readings for one in conjuncts(reading.search.clauses[0].condition)]
    assert len([one for one in rows if isinstance(one, InRow)]) == len(readings)


def test_two_fields_of_one_dimension_are_an_ambiguity() -> None:
    plan = planned("parcels over 50 cm")
    (doubt,) = plan.doubts

    taken = conjuncts(plan.plan.legs[0].search.clauses[0].condition)
    others = [conjuncts(one.search.clauses[0].condition) for one in doubt.alike]
    assert {*taken, *(one for other in others for one in other)} == {
        compare("length", Op.GT, 50.0),
        compare("width", Op.GT, 50.0),
    }


def test_a_bare_value_means_exactly_that_with_at_least_beside_it() -> None:
    plan = planned("parcels of 2 kg")

    assert conjuncts(plan.plan.legs[0].search.clauses[0].condition) == (compare("weight", Op.EQ, 2.0),)
    (wider,) = plan.doubts[0].wider
    assert conjuncts(wider.search.clauses[0].condition) == (compare("weight", Op.GTE, 2.0),)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many parcels did Blue Van bring?", Compute(functions=(Function.COUNT,))),
        ("What is the average weight of the parcels?", Compute(functions=(Function.AVERAGE,), field=WEIGHT)),
        ("Total postage of fragile parcels", Compute(functions=(Function.SUM,), field=FieldName("postage"))),
        ("What is the weight of the Blue Van parcel?", ReadFields(fields=((BUCKET, FieldName("weight")),))),
        ("How should bowls be packed?", FindPassages()),
    ],
)  # fmt: skip
def test_the_form_of_answer_follows_from_how_it_is_asked(question: str, expected: Wanted) -> None:
    assert wanted(question) == expected


def test_words_that_mean_nothing_here_must_stand_in_the_text() -> None:
    clause = planned("parcels from Atlantis").plan.legs[0].search.clauses[0]

    assert clause.required == ("Atlantis",)


def test_a_follow_up_of_constraints_refines_the_last_plan() -> None:
    first = planned("Parcels by Blue Van in 2024").plan
    second = planned("only 2025", last=first)

    assert set(conjuncts(second.plan.legs[0].search.clauses[0].condition)) == {
        compare("carrier", Op.EQ, "Blue Van"),
        compare("sent", Op.BETWEEN, ("2025-01-01", "2025-12-31")),
    }
    assert second.kept == ("carrier = Blue Van",)


def test_a_question_of_its_own_does_not_refine_the_last_plan() -> None:
    first = planned("Parcels by Blue Van in 2024").plan
    second = planned("List all fragile parcels", last=first)

    assert conjuncts(second.plan.legs[0].search.clauses[0].condition) == (compare("marks", Op.HAS, "fragile"),)
    assert second.kept == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many of them?", Compute(functions=(Function.COUNT,))),
        ("What is the average weight of these?", Compute(functions=(Function.AVERAGE,), field=WEIGHT)),
    ],
)
def test_a_message_that_points_back_asks_of_the_documents_found_last(question: str, expected: Wanted) -> None:
    first = planned("Parcels by Blue Van in 2024").plan
    leg = planned(question, last=first).plan.legs[0]

    assert (leg.wanted, leg.search) == (expected, first.legs[0].search)


def test_only_what_goes_on_with_the_last_plan_follows_it() -> None:
    first = planned("Parcels by Blue Van in 2024")

    assert not first.follows
    assert planned("only 2025", last=first.plan).follows
    assert not planned("List all fragile parcels", last=first.plan).follows


@pytest.mark.parametrize("asking", ["Summarise", "Summarize", "Give me an overview of"])
def test_the_word_for_a_summary_is_no_word_of_the_documents(asking: str) -> None:
    question = f"{asking} the parcels by Blue Van"

    assert isinstance(wanted(question), Summarise)
    assert conditions(question) == {compare("carrier", Op.EQ, "Blue Van")}
    assert planned(question).plan.legs[0].search.clauses[0].required == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("parcels that are fragile or insured", set[str]()),
        ("parcels by OR", {"OR"}),
        ('parcels by "or"', {"OR"}),
    ],
)
def test_a_word_of_form_is_a_value_only_where_it_is_written_as_one(question: str, expected: set[str]) -> None:
    named = {one.value for one in conditions(question) if isinstance(one, Compare) and one.field == "carrier"}

    assert named == expected


@pytest.mark.parametrize(
    ("question", "form"), [("List all documents", ListDocuments), ("How many files are there?", Compute)]
)
def test_the_documents_of_a_bucket_may_be_called_just_that(question: str, form: type[Wanted]) -> None:
    assert isinstance(wanted(question), form)
    assert conditions(question) == set()


def test_only_with_an_unknown_word_narrows_by_the_text() -> None:
    first = planned("Parcels by Blue Van in 2024").plan
    second = planned("only Atlantis", last=first)

    assert second.follows
    assert second.plan.legs[0].search.clauses[0].required == ("Atlantis",)


def test_counting_documents_without_a_word_of_which_counts_them_all() -> None:
    leg = planned("How many documents are there?").plan.legs[0]

    assert leg.wanted == Compute(functions=(Function.COUNT,))
    assert leg.search.buckets == (BUCKET,)
    assert leg.search.clauses[0].everything == All()


def test_one_scopes_dictionary_is_never_anothers() -> None:
    reasoner = RuleReasoner()
    shown, hidden = VOCABULARY, replace(VOCABULARY, fields=())
    for vocabulary in (shown, hidden, shown):
        material = replace(MATERIAL, vocabulary=vocabulary)
        read = cast(Planned, reasoner.decompose("Parcels by Blue Van", material)).plan.legs[0].search.clauses[0]
        linked = bool(conjuncts(read.condition))
        assert linked is (vocabulary is shown)
