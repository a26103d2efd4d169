"""Which columns a list of documents has."""

from dataclasses import replace

from agent.compose.phrases.tables import table_of_records
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
)
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRecord
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from tests.builders import a_search

SHIPS = Schema(
    bucket=BucketId("ships"),
    fields=(
        SchemaField(name=FieldName("register_no"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("flag_state"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="m"),
        SchemaField(name=FieldName("crew"), type=FieldType.NUMBER, synonyms=("sailors",)),
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, facet=True),
        SchemaField(name=FieldName("home_port"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("built"), type=FieldType.DATE),
    ),
)


def a_ship(number: int, **values: FieldValue) -> DocumentRecord:
    common: dict[str, FieldValue] = {
        "register_no": f"SR-{number}",
        "flag_state": "Norway" if number % 2 else "Spain",
        "length": 10.0 + number,
        "crew": float(number),
        "kind": "ferry" if number % 2 else "tug",
        "home_port": f"Port of {'ABC'[number % 3]}",
        "built": f"201{number}-01-01",
    }
    ship_values = {FieldName(name): value for name, value in (common | values).items()}
    return DocumentRecord(
        doc_id=DocId(f"s{number}"), bucket=SHIPS.bucket, title=f"Ship {number}", source="", values=ship_values
    )


def list_columns(question: str, *conditions: Condition, order: str = "") -> tuple[str, ...]:
    search = a_search(AndCondition(conditions), bucket="ships")
    sort_order = SchemaOrder(field=FieldName(order)) if order else None
    records = [a_ship(number) for number in (1, 2, 3)]
    return table_of_records(records, search, {SHIPS.bucket: SHIPS}, "", sort_order, question).columns[1:]


def where(name: str, op: ComparisonOperator, value: str | float) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(name), op=op, value=value)


def test_fields_that_the_question_names_come_first_then_those_of_conditions_and_of_the_order() -> None:
    longer = where("length", ComparisonOperator.GT, 10.0)
    columns = list_columns("Home ports and sailors of ships over 10 m by date", longer, order="built")
    assert columns == ("Home port", "Crew", "Length", "Built")


def test_facets_come_before_other_fields_and_codes_are_left_out() -> None:
    assert list_columns("List the ships") == ("Built", "Kind", "Flag state", "Length")


def test_a_code_that_the_question_names_is_a_column() -> None:
    assert list_columns("List the register no of each ship")[0] == "Register no"


def test_a_field_whose_value_the_condition_decides_is_no_column() -> None:
    assert "Kind" not in list_columns("Ferries", where("kind", ComparisonOperator.EQ, "ferry"))


def test_a_condition_on_rows_leaves_the_other_columns() -> None:
    rows = SchemaField(name=FieldName("repairs"), type=FieldType.ROWS, columns=(SHIPS.by_name[FieldName("built")],))
    schema = replace(SHIPS, fields=(*SHIPS.fields, rows))
    search = a_search(NotCondition(MissingCondition(field=FieldName("repairs"))), bucket="ships")
    records = [a_ship(number, repairs=({FieldName("built"): "2031-01-01"},)) for number in (1, 2)]

    columns = table_of_records(records, search, {SHIPS.bucket: schema}, "", None, "Ships with repairs").columns

    assert columns[1:] == ("Built", "Kind", "Flag state", "Length")
