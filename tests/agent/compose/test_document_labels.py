"""A button calls a document by what it says, where its title is the name of a file or a number."""

from collections.abc import Mapping

from agent.compose.choices.document_labels import describe_document, name_records
from agent.refine.choice_labels import DocumentLabel
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRecord
from storage.search.schema import FieldType, Schema, SchemaField

LOANS = BucketId("loans")
SCHEMA = Schema(
    bucket=LOANS,
    fields=(
        SchemaField(name=FieldName("code"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("borrower"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("day"), type=FieldType.DATE),
    ),
)


def label_of(title: str, first_line: str = "", **values: FieldValue) -> str:
    named = {FieldName(name): value for name, value in values.items()}
    label = DocumentLabel(title=title, doc_id=DocId("d"), bucket=LOANS, values=named, first_line=first_line)
    return describe_document(label, SCHEMA)


def test_a_title_of_words_is_the_label() -> None:
    assert label_of("Safety rules", "Wear a helmet in the yard") == "Safety rules"


def test_a_file_without_a_title_is_called_by_its_first_line() -> None:
    assert label_of("wk-04", "# Report from the east yard") == "Report from the east yard"


def test_a_row_with_a_number_is_called_by_its_first_name_and_date() -> None:
    label = label_of("L4245", "Code: L4245", code="L4245", borrower="Ida Marsh", day="2031-05-01")

    assert label == "Ida Marsh, 2031-05-01 (L4245)"


def test_a_code_stays_where_nothing_else_names_the_document() -> None:
    assert label_of("wk-04", "Code: wk-04") == "wk-04"
    assert label_of("wk-04", "A long sentence of a text. " * 5) == "wk-04"


def names_of(question: str, *rows: Mapping[str, FieldValue]) -> list[str]:
    records = [
        DocumentRecord(
            doc_id=DocId(str(row["code"])),
            bucket=LOANS,
            title=str(row["code"]),
            source="",
            values={FieldName(name): value for name, value in row.items()},
        )
        for row in rows
    ]
    fields = (*SCHEMA.fields, SchemaField(name=FieldName("guarantor"), type=FieldType.CATEGORY))
    return name_records(records, {LOANS: Schema(bucket=LOANS, fields=fields)}, question)


def test_a_list_of_codes_has_the_words_that_differ_before_them() -> None:
    first = {"code": "L1", "borrower": "Ida Marsh", "guarantor": "Ben Orr"}
    second = {"code": "L2", "borrower": "Cid Roe", "guarantor": "Dee Poe"}

    assert names_of("which loans are open", first, second) == ["Ida Marsh (L1)", "Cid Roe (L2)"]
    assert names_of("which guarantor has paid", first, second) == ["Ben Orr (L1)", "Dee Poe (L2)"]
    assert names_of("which loans are open", first, second | {"borrower": "Ida Marsh"}) == [
        "Ben Orr (L1)",
        "Dee Poe (L2)",
    ]


def test_a_state_is_not_a_name() -> None:
    row = {FieldName("code"): "L1", FieldName("loan status"): "Overdue"}
    record = DocumentRecord(doc_id=DocId("L1"), bucket=LOANS, title="L1", source="", values=row)
    status = SchemaField(name=FieldName("loan status"), type=FieldType.CATEGORY)

    assert name_records([record], {LOANS: Schema(bucket=LOANS, fields=(status,))}, "which loan is longest") == ["L1"]


def test_codes_stay_alone_where_no_words_tell_them_apart() -> None:
    assert names_of("which loans", {"code": "L1", "borrower": "Ida"}, {"code": "L2", "borrower": "Ida"}) == ["L1", "L2"]


def test_a_vehicle_is_called_by_what_it_is_known_as_before_its_plate() -> None:
    fleet = Schema(
        bucket=BucketId("fleet"),
        fields=(
            SchemaField(name=FieldName("make"), type=FieldType.CATEGORY),
            SchemaField(name=FieldName("known as"), type=FieldType.CATEGORY),
        ),
    )
    rows = [("AB12 XYZ", "Long box", "Bertha"), ("CD34 QRS", "Short box", "Pickle")]
    records = [
        DocumentRecord(
            doc_id=DocId(plate),
            bucket=fleet.bucket,
            title=plate,
            source="",
            values={FieldName("make"): make, FieldName("known as"): name},
        )
        for plate, make, name in rows
    ]

    assert name_records(records, {fleet.bucket: fleet}, "which vans") == ["Bertha (AB12 XYZ)", "Pickle (CD34 QRS)"]
