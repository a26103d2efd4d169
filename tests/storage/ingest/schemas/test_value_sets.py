"""The values of fields are compared as sets of hashes whose size is bounded."""

from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.ingest.schemas import value_sets
from storage.ingest.schemas.value_sets import ValueSet
from storage.search.ids import BucketId, FieldName
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT


def _a_set(*values: str) -> ValueSet:
    value_set = ValueSet()
    for value in values:
        value_set.add_values((value,))
    return value_set


def test_values_are_shared_by_their_folds() -> None:
    harbours, boats = _a_set("Sund", "Vik", "Ås", "sund"), _a_set("SUND", "ås", "Holm")

    assert (harbours.count_shared(boats), boats.count_shared(harbours)) == (2, 2)
    assert (len(harbours.hashes), harbours.value_count, harbours.filled_count) == (3, 4, 4)


def test_a_document_without_a_value_does_not_count() -> None:
    value_set = ValueSet()

    value_set.add_values(())
    value_set.add_values(("a", "b"))

    assert (value_set.filled_count, value_set.value_count) == (1, 2)


def test_a_set_of_too_many_values_is_dropped_while_they_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sets, "MAX_VALUES", 20_000)

    value_set = _a_set(*(f"value {number}" for number in range(60_000)))

    assert (value_set.is_complete, len(value_set.hashes), value_set.count_shared(_a_set("value 1"))) == (False, 0, 0)


def test_the_largest_sets_are_dropped_first_when_all_have_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sets, "MAX_ALL_VALUES", 10)
    small, large = _a_set(*map(str, range(4))), _a_set(*map(str, range(8)))
    buckets = {BucketId("b"): value_sets.BucketValues(sets={FieldName("small"): small, FieldName("large"): large})}

    value_sets.limit_all_values(buckets)

    assert (small.is_complete, buckets[BucketId("b")].uncompared_fields) == (True, ("large",))


async def test_fields_with_too_many_values_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sets, "MAX_VALUES", 40)
    path = tmp_path / "boats.csv"
    path.write_text("name,harbour\n" + "".join(f"Gull {number},Sund {number % 3}\n" for number in range(50)))
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    try:
        report = await ingest_files(index, [path], extractor=RuleExtractor(), bucket=BucketId("boats"))
    finally:
        await index.close()

    (remark,) = (remark for remark in report.remarks if "too many different values" in remark)
    assert "'name'" in remark
    assert "harbour" not in remark
