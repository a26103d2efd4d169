"""The title of a field is what people read, not the abbreviation in a column's header."""

import pytest

from storage.ingest.schemas.written_titles import write_out_title
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField


def title_of(title: str, kind: FieldType, unit: str = "") -> str:
    return write_out_title(SchemaField(name=FieldName("f"), type=kind, title=title, unit=unit))


@pytest.mark.parametrize(
    ("header", "kind", "title"),
    [
        ("Room cat", FieldType.CATEGORY, "Room category"),
        ("Qty ordered", FieldType.NUMBER, "Quantity ordered"),
        ("Dept.", FieldType.CATEGORY, "Department"),
        ("Invoice no", FieldType.TEXT, "Invoice number"),
        ("Last cal", FieldType.DATE, "Last calibration"),
        ("Order dt", FieldType.DATE, "Order date"),
        ("Line mgr", FieldType.CATEGORY, "Line manager"),
    ],
)
def test_an_office_abbreviation_is_written_out(header: str, kind: FieldType, title: str) -> None:
    assert title_of(header, kind) == title


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Cal", FieldType.NUMBER),  # calories
        ("Cat", FieldType.FLAG),  # the animal
        ("No smoking", FieldType.FLAG),
        ("QTY", FieldType.NUMBER),
        ("Customer", FieldType.CATEGORY),
    ],
)
def test_a_word_that_may_mean_something_else_stays(header: str, kind: FieldType) -> None:
    assert title_of(header, kind) == header


def test_a_unit_behind_a_plural_stands_in_brackets() -> None:
    assert title_of("Terms days", FieldType.NUMBER, "day") == "Terms (days)"
    assert title_of("Notice days", FieldType.NUMBER, "day") == "Notice days"
    assert title_of("Business hours", FieldType.TEXT) == "Business hours"
