"""Forms that are read with a plain schema: names, types and a few synonyms."""

import pytest

from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

DEVICE = SchemaField(name=FieldName("device"), type=FieldType.CATEGORY, title="Device", synonyms=("unit",))
TECHNICIAN = SchemaField(name=FieldName("technician"), type=FieldType.CATEGORY, title="Technician")
ORDER = SchemaField(name=FieldName("order"), type=FieldType.CATEGORY, title="Order no.")
PRICE = SchemaField(name=FieldName("price"), type=FieldType.MONEY, title="Unit price")
POWER = SchemaField(name=FieldName("power"), type=FieldType.NUMBER, title="Power", unit="W")
WEIGHT = SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, title="Weight", unit="kg")
NOTICE = SchemaField(name=FieldName("notice"), type=FieldType.NUMBER, title="Notice period", unit="day")
SCHEMA = Schema(
    bucket=BucketId("papers"),
    synonyms=("service report",),
    fields=(DEVICE, TECHNICIAN, ORDER, PRICE, POWER, WEIGHT, NOTICE),
)


def read_sure(text: str, title: str = "") -> dict[str, FieldValue]:
    """The values that ingestion takes."""
    candidates = RuleExtractor().extract_in_thread(ExtractionInput(title=title, text=text), SCHEMA)
    return {name: found[0].value for name, found in candidates.items() if found[0].confidence >= 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "Device: KX-4.2\nTechnician: M. Osei\nSite: Harbury",
        "Device:      KX-4.2\nTechnician:  M. Osei\nSite:        Harbury",
        "Device      KX-4.2\nTechnician  M. Osei\nSite        Harbury",
        "Device ........ KX-4.2\nTechnician ........ M. Osei\nSite ........ Harbury",
        "Device: | KX-4.2\nTechnician: | M. Osei\nSite: | Harbury",
        "| Field | Value |\n|---|---|\n| Unit | KX-4.2 |\n| Technician | M. Osei |",
        "Device: KX-4.2    Site: Harbury\nTechnician: M. Osei    Ref: C-17",
        "Device\nKX-4.2\n\nTechnician\nM. Osei\n",
        "## Device\n\nKX-4.2\n\n## Technician\n\nM. Osei\n",
        "**Device:** KX-4.2  \n**Technician:** M. Osei  ",
    ],
)
def test_a_value_stands_beside_its_label_in_any_layout(text: str) -> None:
    assert read_sure(text) == {"device": "KX-4.2", "technician": "M. Osei"}


def test_an_empty_label_does_not_take_the_next_label_as_its_value() -> None:
    assert read_sure("Device:\nTechnician:\nSite: Harbury") == {}
    assert "device" not in read_sure("Device | Technician\nTechnician | Ann Keane")


def test_a_label_that_ends_with_a_stop_is_read() -> None:
    assert read_sure("Order no.: PO-17\nDevice: X2") == {"order": "PO-17", "device": "X2"}


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("Unit price: 0.046 EUR", 0.046),
        ("Unit price: 0,046 EUR", 0.046),
        ("Unit price: 1.234 EUR\nFreight: 12.50 EUR", 1.234),
        ("Unit price: 1.234 EUR\nFracht: 12,50 EUR", 1234.0),
        ("Unit price: 2 207,02 EUR", 2207.02),
    ],
)
def test_other_amounts_decide_whether_three_digits_are_decimals(text: str, price: float) -> None:
    assert read_sure(text)["price"] == price


def test_numbers_of_a_document_with_decimal_commas_have_decimal_commas() -> None:
    assert read_sure("Weight: 67,323 kg\nPreis: 12,50 EUR")["weight"] == 67.323


def test_the_number_of_an_identifier_is_no_quantity() -> None:
    assert "power" not in read_sure("Power transistor in TO-220.\nPower TO-220")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Notice period: 45 days", 45.0),
        ("Notice period: drei Monate", 90.0),
        ("Notice period: six semaines", 42.0),
        ("Notice period: dos meses", 60.0),
    ],
)
def test_periods_are_read_in_several_languages(text: str, days: float) -> None:
    assert read_sure(text)["notice"] == days
