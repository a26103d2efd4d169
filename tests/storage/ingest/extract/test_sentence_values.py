"""Values in sentences that name the fields of a plain schema."""

import pytest

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField


def a_field(name: str, kind: FieldType, *synonyms: str, unit: str = "") -> SchemaField:
    return SchemaField(name=FieldName(name), type=kind, synonyms=synonyms, unit=unit)


SCHEMA = Schema(
    bucket=BucketId("papers"),
    synonyms=("service report",),
    fields=(
        a_field("landlord", FieldType.CATEGORY),
        a_field("manufacturer", FieldType.CATEGORY, "maker"),
        a_field("technician", FieldType.CATEGORY, "serviced by"),
        a_field("device", FieldType.CATEGORY),
        a_field("monthly rent", FieldType.MONEY),
        a_field("start date", FieldType.DATE),
        a_field("end date", FieldType.DATE),
        a_field("notice period", FieldType.NUMBER, unit="day"),
        a_field("kündigungsfrist", FieldType.NUMBER, unit="day"),
    ),
)


def read_sure(text: str, title: str = "") -> dict[str, FieldValue]:
    """The values that ingestion takes."""
    candidates = RuleExtractor().extract_in_thread(ExtractionInput(title=title, text=text), SCHEMA)
    return {name: found[0].value for name, found in candidates.items() if found[0].confidence >= 0.5}


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("It may be terminated by notice of 45 days.", "notice period", 45.0),
        ("Either party may end it by giving six weeks notice.", "notice period", 42.0),
        ("The lease ends on 3 May 2031.", "end date", "2031-05-03"),
        ("It runs until 3 May 2031.", "end date", "2031-05-03"),
        ("Der Vertrag läuft bis zum 31. Dezember 2026.", "end date", "2026-12-31"),
        ("The lease starts on 3 May 2031.", "start date", "2031-05-03"),
        ("It is made by Orlo & Co. Ltd. The case is blue.", "manufacturer", "Orlo & Co. Ltd"),
        ("It is manufactured by Halden GmbH and sold here.", "manufacturer", "Halden GmbH"),
        ("The pump was serviced by M. Osei. All is well.", "technician", "M. Osei"),
        ("The landlord is Dr. Mara K. Lind. The flat is large.", "landlord", "Dr. Mara K. Lind"),
        ("The monthly rent is EUR 1,250.50 and due on the first.", "monthly rent", 1250.5),
        ("Die Kündigungsfrist beträgt drei Monate.", "kündigungsfrist", 90.0),
    ],
)
def test_a_sentence_gives_a_value(text: str, name: str, value: FieldValue) -> None:
    assert read_sure(text).get(name) == value


def test_the_number_of_a_document_is_not_the_thing_it_is_about() -> None:
    assert "device" not in read_sure("All is well.", title="Service report SR-0017")


def test_a_day_beside_the_label_of_another_field_is_not_taken() -> None:
    assert read_sure("End date: 3 May 2031\nSite: Harbury") == {"end date": "2031-05-03"}
