"""The evidence line for each field of an inferred schema."""

from storage.ingest.schemas.evidence import evidence_from_profiles
from storage.ingest.schemas.inference import infer_schema
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles
from storage.ingest.schemas.values import flatten_metadata
from storage.search.ids import BucketId, FieldName


def test_each_type_has_its_evidence() -> None:
    profiles: dict[FieldName, ValueProfile] = {}
    metadata = [
        {"colour": "red", "width_mm": 12.5, "due": "2031-05-09", "tags": ["a"], "ok": True, "code": "91"},
        {"colour": "red", "width_mm": 3, "due": "2031-01-02", "items": [{"name": "tyre", "qty": 4}], "code": "x"},
        {"colour": "blue", "width_mm": "7"},
    ]
    for document_metadata in metadata:
        add_to_profiles(flatten_metadata(document_metadata).values, profiles)

    evidence = evidence_from_profiles(infer_schema(BucketId("b"), profiles), profiles, 3)

    assert evidence == {
        "colour": '3 of 3 documents; 2 different, e.g. "red", "blue"',
        "width_mm": "3 of 3 documents; 3 to 12.5",
        "due": "2 of 3 documents; 2031-01-02 to 2031-05-09",
        "tags": '1 of 3 documents; 1 different, e.g. "a"',
        "ok": "1 of 3 documents",
        "code": '2 of 3 documents; 2 different, e.g. "91", "x"',
        "items": "1 of 3 documents",
        "items.name": '1 rows; 1 different, e.g. "tyre"',
        "items.qty": "1 rows; 4 to 4",
    }
