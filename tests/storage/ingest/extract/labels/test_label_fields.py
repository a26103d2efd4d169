"""Which labels become fields, of which type, and which labels are joined."""

from collections.abc import Sequence

import pytest

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.label_fields import fields_of_labels
from storage.ingest.extract.labels.recurring_labels import LabelTally, min_documents_for
from storage.ingest.schemas.inference import infer_schema
from storage.search.ids import BucketId
from storage.search.schema import FieldType, Schema


def schema_of(texts: Sequence[str]) -> Schema:
    tally = LabelTally()
    for text in texts:
        tally.add_document(find_labelled_texts(DocumentText(ExtractionInput(title="paper", text=text))))
    fields = fields_of_labels(tally)
    return fields.add_details(infer_schema(BucketId("papers"), fields.profiles))


def types_of(schema: Schema) -> dict[str, FieldType]:
    return {field.label: field.type for field in schema.fields}


def labels_of(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {field.label: field.labels for field in schema.fields}


@pytest.mark.parametrize(("documents", "least"), [(2, 2), (10, 2), (11, 3), (60, 3), (61, 4), (200, 10)])
def test_a_label_must_recur_in_enough_documents(documents: int, least: int) -> None:
    assert min_documents_for(documents) == least


def test_types_follow_from_the_values() -> None:
    texts = [
        f"Keeper: {keeper}\nBuilt on: {day} May 2031\nHeight: {day} m\nYearly cost: EUR {day}00 a year\n"
        f"Automatic: {answer}\nLamps: {day} lamps\nColours: red; {colour}\nCrew: {keeper} and Ida Holm"
        for keeper, day, answer, colour in [
            ("Nora Falk", 3, "yes", "white"),
            ("Tim Brand", 4, "no", "red"),
            ("Olaf Ness", 5, "yes", "white"),
        ]
    ]

    assert types_of(schema_of(texts)) == {
        "Keeper": FieldType.CATEGORY,
        "Built on": FieldType.DATE,
        "Height": FieldType.NUMBER,
        "Yearly cost": FieldType.MONEY,
        "Automatic": FieldType.FLAG,
        "Lamps": FieldType.NUMBER,
        "Colours": FieldType.LIST,
        "Crew": FieldType.LIST,
    }


def test_one_document_gives_no_field() -> None:
    assert schema_of(["Keeper: Nora Falk\nHeight: 3 m"]).fields == ()


def test_a_label_of_one_document_among_many_gives_no_field() -> None:
    texts = [f"Keeper: Nora Falk\nHeight: {number} m" for number in range(12)]

    assert "Remark" not in types_of(schema_of([*texts, "Remark: none so far"]))


def test_sentences_after_a_colon_are_no_values() -> None:
    texts = [f"Keeper: Nora Falk\nNote: the lamp number {i} was lit again today." for i in range(4)]

    assert list(types_of(schema_of(texts))) == ["Keeper"]


def test_lines_of_a_dialogue_are_no_field() -> None:
    texts = [
        f"Place: Pier {i}\nNora: I would rather go home now, it is late and cold out here.\n"
        "Nora: Let us go then, the boat will not come any more this evening I fear."
        for i in range(4)
    ]

    assert "Nora" not in types_of(schema_of(texts))


def test_spellings_and_synonyms_of_a_label_are_joined_where_values_agree() -> None:
    texts = [
        *(f"Landlord: Ann Poe\nStart date: {i} May 2031\nMonthly rent: EUR {i}00" for i in range(1, 5)),
        *(f"Landlord: Ann Poe\nStarts on: {i} May 2032\nRent per month: EUR {i}50" for i in range(1, 5)),
        *(f"Lessor: Ann Poe\nBeginning: {i} May 2030\nMonthly rent: EUR {i}70" for i in range(1, 5)),
    ]

    labels = labels_of(schema_of(texts))

    assert {frozenset(each) for each in labels.values()} == {
        frozenset({"Landlord", "Lessor"}),
        frozenset({"Start date", "Starts on", "Beginning"}),
        frozenset({"Monthly rent", "Rent per month"}),
    }


def test_labels_of_one_document_and_labels_with_other_words_stay_apart() -> None:
    texts = [
        *(f"Net price: EUR {i}00\nStart date: {i} May 2031\nEnd date: {i} June 2031" for i in range(1, 5)),
        *(f"Gross price: EUR {i}20\nStart date: {i} May 2031\nEnd date: {i} June 2031" for i in range(1, 5)),
    ]

    assert all(len(labels) == 1 for labels in labels_of(schema_of(texts)).values())


def test_yes_and_no_in_a_few_documents_are_no_flag_since_absence_would_mean_no() -> None:
    texts = [f"Height: {i} m" for i in range(1, 9)]
    answers = ["Height: 3 m\nAutomatic: yes", "Height: 4 m\nAutomatic: no"]

    assert types_of(schema_of([*texts, *answers]))["Automatic"] is FieldType.CATEGORY


def test_a_month_first_notation_is_kept() -> None:
    texts = [f"Opened: 05/{day}/2031" for day in (3, 14, 25)]

    (field,) = schema_of(texts).fields

    assert (field.type, field.month_first) == (FieldType.DATE, True)


def test_one_currency_is_fixed_and_several_get_a_field() -> None:
    euros = schema_of([f"Fee: EUR {i}0" for i in range(1, 5)])
    mixed = schema_of([f"Fee: {code} {i}0" for i, code in enumerate(["EUR", "USD", "EUR", "USD"], 1)])

    assert [(field.label, field.currency) for field in euros.fields] == [("Fee", "EUR")]
    assert [field.label for field in mixed.fields] == ["Fee", "Fee currency"]


def test_kinds_come_from_headings_and_from_lines_that_take_their_place() -> None:
    texts = [
        *(f"# Complaint C-{i}0\n\nFrom the pier." for i in range(3)),
        *(f"# Offer O-{i}0\n\nFrom the shop." for i in range(3)),
    ]

    (kind, _) = schema_of(texts).fields

    assert (kind.label, sorted(kind.values)) == ("Document type", ["Complaint", "Offer"])


def test_documents_of_one_kind_are_called_by_it() -> None:
    schema = schema_of([f"# Survey report SR-{i}0\n\nHeight: {i} m" for i in range(1, 5)])

    assert {"survey report", "survey reports", "report", "reports"} <= set(schema.synonyms)
    assert "Document type" not in types_of(schema)
