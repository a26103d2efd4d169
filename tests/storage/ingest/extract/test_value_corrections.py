"""Values that a person has decided on, in the place of those that were read."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storage.ingest.documents.build import digest_of
from storage.ingest.extract.value_corrections import (
    ValueCorrection,
    annotations_of_field,
    apply_corrections,
    reading_version_of,
    restore_reading,
)
from storage.search.documents import Document, FieldAnnotation
from storage.search.ids import FieldName
from tests.builders import a_document, a_receipt_schema

VENDOR, TOTAL, TAGS = FieldName("vendor"), FieldName("total"), FieldName("tags")
TEXT = "Vendor: Kestrel\nTotal: 90.00\nTags: oak, fir"
SCHEMA = a_receipt_schema()


def a_reading() -> Document:
    document = replace(
        a_document("r-1", TEXT, vendor="Kestrel", total=90.0),
        annotations=(
            FieldAnnotation(field=VENDOR, value="Kestrel", confidence=0.6, start=8, end=15),
            FieldAnnotation(field=TOTAL, value=90.0, confidence=0.95, start=23, end=28),
        ),
    )
    return replace(document, digest=digest_of(document))


def test_an_accepted_value_is_sure_and_keeps_its_evidence() -> None:
    corrected = apply_corrections(a_reading(), {VENDOR: ValueCorrection(value="Kestrel")}, SCHEMA)

    (annotation,) = annotations_of_field(corrected, VENDOR)
    assert (annotation.confidence, annotation.start, annotation.end) == (1.0, 8, 15)
    assert corrected.values == {"vendor": "Kestrel", "total": 90.0}


def test_a_corrected_value_has_evidence_only_where_the_text_has_it() -> None:
    there = ValueCorrection(value="Total", wordings=("Total",))
    nowhere = ValueCorrection(value="Merlin", wordings=("Merlin",))

    found = apply_corrections(a_reading(), {VENDOR: there}, SCHEMA)
    missing = apply_corrections(a_reading(), {VENDOR: nowhere}, SCHEMA)

    assert annotations_of_field(found, VENDOR)[0].start == TEXT.index("Total")
    assert annotations_of_field(missing, VENDOR)[0].start is None
    assert missing.values[VENDOR] == "Merlin"


def test_a_list_is_corrected_as_a_whole() -> None:
    corrected = apply_corrections(
        a_reading(), {TAGS: ValueCorrection(value=("oak", "elm"), wordings=("oak", "elm"))}, SCHEMA
    )

    assert corrected.values[TAGS] == ("oak", "elm")
    assert [(a.value, a.start) for a in annotations_of_field(corrected, TAGS)] == [
        (("oak",), TEXT.index("oak")),
        (("elm",), None),
    ]


def test_a_document_may_have_no_value() -> None:
    corrected = apply_corrections(a_reading(), {VENDOR: ValueCorrection(value=None)}, SCHEMA)

    assert ("vendor" in corrected.values, annotations_of_field(corrected, VENDOR)) == (False, ())


def test_a_value_that_no_longer_fits_the_schema_changes_nothing() -> None:
    corrections = {TOTAL: ValueCorrection(value="much"), FieldName("gone"): ValueCorrection(value="x")}

    assert apply_corrections(a_reading(), corrections, SCHEMA) == a_reading()


def test_what_was_read_is_restored_with_its_digest() -> None:
    read = a_reading()
    corrected = apply_corrections(read, {VENDOR: ValueCorrection(value="Merlin")}, SCHEMA)

    restored = restore_reading(corrected, VENDOR, "Kestrel", annotations_of_field(read, VENDOR), SCHEMA)

    assert restored == read
    assert reading_version_of(corrected, VENDOR) != reading_version_of(read, VENDOR)


@given(
    st.one_of(st.none(), st.sampled_from(["Kestrel", "Total", "Merlin", "el"])),
    st.one_of(st.none(), st.floats(min_value=0, max_value=10_000)),
    st.sampled_from([("oak",), ("elm",), ("fir", "oak"), ("elm", "oak", "fir")]),
)
def test_correcting_twice_is_correcting_once(vendor: str | None, total: float | None, tags: tuple[str, ...]) -> None:
    corrections = {
        VENDOR: ValueCorrection(value=vendor, wordings=() if vendor is None else (vendor,)),
        TOTAL: ValueCorrection(value=total, wordings=("90.00",)),
        TAGS: ValueCorrection(value=tags, wordings=tags),
    }
    corrected = apply_corrections(a_reading(), corrections, SCHEMA)

    assert apply_corrections(corrected, corrections, SCHEMA) == corrected
    assert corrected.digest == digest_of(corrected)
