"""Questions for the usual fields of contracts and invoices: notices in months, ends in order, what is overdue."""

from datetime import date

import pytest

from agent.rules.cues.function_phrases import find_functions
from agent.rules.cues.question_cues import find_cues
from agent.rules.cues.question_subject import asked_date_fields, find_day_of_payment
from agent.rules.forms.recognisers import recognise_form
from agent.rules.lexicon.bucket_lexicon import build_lexicons
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.reading.title_words import find_title_words
from storage.search.conditions import (
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    MissingCondition,
    NotCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.plan import ListDocuments
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from storage.text.snowball_analyser import analyser_for

BUCKET = BucketId("papers")
END, NOTICE, DUE, PAID = map(FieldName, ("End date", "Notice period", "Due date", "Paid"))
SCHEMA = Schema(
    bucket=BUCKET,
    synonyms=("paper", "papers"),
    fields=(
        SchemaField(name=END, type=FieldType.DATE, synonyms=("ends", "ending")),
        SchemaField(name=NOTICE, type=FieldType.NUMBER, unit="day", synonyms=("notice",)),
        SchemaField(name=DUE, type=FieldType.DATE, synonyms=("due",)),
        SchemaField(name=PAID, type=FieldType.FLAG, synonyms=("is paid",)),
    ),
)
VOCABULARY = IndexVocabulary(
    generation=Generation("1"),
    document_counts={BUCKET: 9},
    fields=(
        FieldVocabulary(bucket=BUCKET, field=END, document_count=9, low="2026-01-01", high="2029-01-01"),
        FieldVocabulary(bucket=BUCKET, field=NOTICE, document_count=9, low=14.0, high=360.0),
        FieldVocabulary(bucket=BUCKET, field=DUE, document_count=9, low="2026-01-01", high="2027-01-01"),
        FieldVocabulary(bucket=BUCKET, field=PAID, document_count=9),
        FieldVocabulary(
            bucket=BUCKET,
            field=TITLE_FIELD,
            document_count=3,
            values=tuple(
                ValueCount(value=title, count=1)
                for title in ("Lease of Shed 9, Quay Road", "Hire of the crane", "Lease of the yard")
            ),
        ),
    ),
)
LEXICONS = build_lexicons({BUCKET: SCHEMA}, VOCABULARY, {BUCKET: analyser_for("en")})


def read(question: str) -> BucketReading:
    return QuestionReader(LEXICONS, date(2026, 11, 27)).readings_of(question)[0]


@pytest.mark.parametrize(
    ("question", "op", "value"),
    [
        ("papers with a notice period of three months", ComparisonOperator.BETWEEN, (90.0, 93.0)),
        ("papers with a notice period of at least 3 months", ComparisonOperator.GTE, 90.0),
        ("papers with a notice period of more than two months", ComparisonOperator.GT, 62.0),
        ("papers with a notice period of less than a year", ComparisonOperator.LT, 365.0),
        ("papers with a notice period of 30 days", ComparisonOperator.EQ, 30.0),
    ],
)
def test_months_and_years_are_days_as_notices_count_them(
    question: str, op: ComparisonOperator, value: float | tuple[float, float]
) -> None:
    (condition,) = read(question).conditions
    assert isinstance(condition, ComparisonCondition)
    assert (condition.field, condition.op, condition.value) == (NOTICE, op, value)


@pytest.mark.parametrize(("last", "descending"), [("first", False), ("soonest", False), ("last", True)])
def test_first_behind_a_day_orders_by_it(last: str, descending: bool) -> None:
    form = recognise_form(find_cues(read(f"which paper ends {last}"), LEXICONS[BUCKET]))[1]

    assert isinstance(form, ListDocuments)
    assert (form.order, form.limit) == (SchemaOrder(field=END, descending=descending), 1)


def test_overdue_leaves_out_what_a_flag_calls_paid() -> None:
    (condition,) = read("overdue papers").conditions

    due, settled = conjuncts_of(condition)
    assert isinstance(due, ComparisonCondition)
    assert (due.field, due.op, due.value) == (DUE, ComparisonOperator.LT, "2026-11-27")
    assert isinstance(settled, NotCondition)
    assert isinstance(settled.condition, ComparisonCondition)
    assert (settled.condition.field, settled.condition.value) == (PAID, True)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("when does the lease on the quay end", ("lease", "quay")),  # a single title has both
        ("when does the lease on the boat end", ()),  # no title has both
    ],
)
def test_words_from_several_places_are_a_title_where_only_one_has_them(question: str, words: tuple[str, ...]) -> None:
    assert find_title_words(read(question), LEXICONS[BUCKET]) == words


def test_the_deadline_that_the_question_names_is_the_overdue_one() -> None:
    gas, lift = (SchemaField(name=FieldName(name), type=FieldType.DATE) for name in ("Gas test due", "Lift test due"))
    schema = Schema(bucket=BUCKET, synonyms=("paper", "papers"), fields=(gas, lift))
    days = tuple(
        FieldVocabulary(bucket=BUCKET, field=field.name, document_count=9, low="2026-01-01", high="2027-01-01")
        for field in schema.fields
    )
    vocabulary = IndexVocabulary(generation=Generation("2"), document_counts={BUCKET: 9}, fields=days)
    lexicons = build_lexicons({BUCKET: schema}, vocabulary, {BUCKET: analyser_for("en")})

    (condition,) = (
        QuestionReader(lexicons, date(2026, 11, 27)).readings_of("papers with an overdue lift test")[0].conditions
    )

    assert isinstance(condition, ComparisonCondition)
    assert condition.field == lift.name


@pytest.mark.parametrize("question", ["when do we have to pay paper 7", "by when must paper 7 be paid"])
def test_what_must_be_paid_is_due_on_a_day(question: str) -> None:
    words = [token.word for token in read(question).tokens]

    assert find_day_of_payment(words, LEXICONS[BUCKET]) == (DUE,)


@pytest.mark.parametrize("question", ["when did we pay paper 7", "when do we have to leave"])
def test_other_days_are_not_those_of_payments(question: str) -> None:
    assert find_day_of_payment(question.split(), LEXICONS[BUCKET]) == ()


@pytest.mark.parametrize("typed", ["bed and breakfast", "Bed & Breakfast", "bed & breakfast"])
def test_the_sign_and_the_word_for_and_are_one(typed: str) -> None:
    board = SchemaField(name=FieldName("Board"), type=FieldType.CATEGORY)
    values = tuple(ValueCount(value=value, count=3) for value in ("Bed & Breakfast", "Half board", "Room only"))
    vocabulary = IndexVocabulary(
        generation=Generation("3"),
        document_counts={BUCKET: 9},
        fields=(FieldVocabulary(bucket=BUCKET, field=board.name, document_count=9, values=values),),
    )
    schema = Schema(bucket=BUCKET, synonyms=("paper", "papers"), fields=(board,))
    lexicons = build_lexicons({BUCKET: schema}, vocabulary, {BUCKET: analyser_for("en")})

    (condition,) = QuestionReader(lexicons, date(2026, 11, 27)).readings_of(f"papers for {typed}")[0].conditions

    assert isinstance(condition, ComparisonCondition)
    assert condition.value == "Bed & Breakfast"


@pytest.mark.parametrize("question", ["when is the lease up", "when does the hire run out", "when are they up"])
def test_what_is_up_has_ended(question: str) -> None:
    assert asked_date_fields(question.split(), LEXICONS[BUCKET]) == (END,)


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("how many papers have Orlo and Velm each sent", "Sender"),
        ("how many papers have Orlo and Velm sent", None),
    ],
)
def test_each_of_several_names_is_a_group(question: str, field: str | None) -> None:
    sender = SchemaField(name=FieldName("Sender"), type=FieldType.CATEGORY)
    values = tuple(ValueCount(value=value, count=3) for value in ("Orlo", "Velm", "Skarv"))
    vocabulary = IndexVocabulary(
        generation=Generation("4"),
        document_counts={BUCKET: 9},
        fields=(FieldVocabulary(bucket=BUCKET, field=sender.name, document_count=9, values=values),),
    )
    schema = Schema(bucket=BUCKET, synonyms=("paper", "papers"), fields=(sender,))
    lexicons = build_lexicons({BUCKET: schema}, vocabulary, {BUCKET: analyser_for("en")})
    reading = QuestionReader(lexicons, date(2026, 11, 27)).readings_of(question)[0]

    group = find_cues(reading, lexicons[BUCKET]).group

    assert (None if group is None else group.field) == field


def test_a_number_of_an_unknown_kind_is_no_count() -> None:
    unknown, counted = read("what's the reg number of the paper"), read("what's the number of papers")

    assert list(find_functions([token.word for token in unknown.tokens], unknown)) == []
    assert len(list(find_functions([token.word for token in counted.tokens], counted))) == 1


@pytest.mark.parametrize("tax", ["inc VAT", "incl. VAT", "excl VAT", "including vat"])
def test_words_for_an_amount_with_a_tax_restrict_nothing(tax: str) -> None:
    assert not {"inc", "incl", "excl", "including"} & set(read(f"how much are the papers {tax}").unlinked_words)


def test_a_day_that_is_set_beforehand_tells_of_no_payment() -> None:
    due = SchemaField(name=DUE, type=FieldType.DATE, synonyms=("due", "payment due", "paid by"))
    schema = Schema(bucket=BUCKET, synonyms=("paper", "papers"), fields=(due,))
    vocabulary = IndexVocabulary(
        generation=Generation("5"),
        document_counts={BUCKET: 9},
        fields=(FieldVocabulary(bucket=BUCKET, field=DUE, document_count=9, low="2026-01-01", high="2027-01-01"),),
    )
    lexicons = build_lexicons({BUCKET: schema}, vocabulary, {BUCKET: analyser_for("en")})

    assert not QuestionReader(lexicons, date(2026, 11, 27)).readings_of("which papers are not paid")[0].conditions


def test_the_date_that_a_question_names_by_its_label_is_the_one_without_a_value() -> None:
    completion = SchemaField(name=FieldName("completion_date"), type=FieldType.DATE, synonyms=("completed", "ended"))
    schema = Schema(bucket=BUCKET, synonyms=("paper", "papers"), fields=(completion,))
    known = FieldVocabulary(bucket=BUCKET, field=completion.name, document_count=6, low="2026-01-01", high="2027-01-01")
    vocabulary = IndexVocabulary(generation=Generation("6"), document_counts={BUCKET: 9}, fields=(known,))
    lexicons = build_lexicons({BUCKET: schema}, vocabulary, {BUCKET: analyser_for("en")})

    for question in ("papers without a completion date", "which papers have no completion date?"):
        reading = QuestionReader(lexicons, date(2026, 11, 27)).readings_of(question)[0]
        assert [type(condition) for condition in reading.conditions] == [MissingCondition], question
