"""What is said for each field of an inferred schema."""

from storage.ingest.evidence import seen_in
from storage.ingest.infer import inferred
from storage.ingest.profile import Profile, see_all
from storage.ingest.values import flattened
from storage.search.ids import BucketId, FieldName


def test_each_type_has_its_evidence() -> None:
    profiles: dict[FieldName, Profile] = {}
    metadata = [
        {"colour": "red", "width_mm": 12.5, "due": "2031-05-09", "tags": ["a"], "ok": True, "code": "91"},
        {"colour": "red", "width_mm": 3, "due": "2031-01-02", "items": [{"name": "tyre", "qty": 4}], "code": "x"},
        {"colour": "blue", "width_mm": "7"},
    ]
    for one in metadata:
        see_all(flattened(one).values, profiles)

    said = seen_in(inferred(BucketId("b"), profiles), profiles, 3)

    assert said == {
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
