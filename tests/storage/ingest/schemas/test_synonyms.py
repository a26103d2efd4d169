"""Synonyms of fields, values and documents, found by the names in the data."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import storage.ingest.schemas.synonyms
from storage.ingest.schemas.inference import infer_schema
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles
from storage.ingest.schemas.synonyms import nouns_for_bucket, synonyms_by_value
from storage.ingest.schemas.values import flatten_metadata
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema

EXAMPLES = {FieldType.DATE: "2031-05-09", FieldType.NUMBER: 5, FieldType.CATEGORY: "x1", FieldType.FLAG: True}


def infer_schema_of(*metadata: dict[str, Any], bucket: str = "things", language: str = "en") -> Schema:
    profiles: dict[FieldName, ValueProfile] = {}
    for document_metadata in metadata:
        add_to_profiles(flatten_metadata(document_metadata).values, profiles)
    return infer_schema(BucketId(bucket), profiles, language)


def synonyms_of(name: str, kind: FieldType, *other_names: str, language: str = "en") -> set[str]:
    document_metadata = {name: EXAMPLES[kind], **dict.fromkeys(other_names, EXAMPLES[kind])}
    return set(infer_schema_of(document_metadata, language=language).by_name[FieldName(name)].synonyms)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("expiration_date", FieldType.DATE, {"expires", "expiry date", "end date", "ends"}),
        ("ExpirationDate", FieldType.DATE, {"expires"}),
        ("supplier_name", FieldType.CATEGORY, {"vendor", "seller"}),
        ("qty", FieldType.NUMBER, {"quantity", "pieces"}),
        ("mfr", FieldType.CATEGORY, {"manufacturer", "maker", "made by"}),
        ("dept", FieldType.CATEGORY, {"department"}),
        ("monthly_salary", FieldType.NUMBER, {"monthly wage", "wage", "pay"}),
        ("gov_law", FieldType.CATEGORY, {"governing law", "jurisdiction"}),
        ("boiling_point_c", FieldType.NUMBER, {"boils", "boiling temperature"}),
        ("is_active", FieldType.FLAG, {"active", "enabled"}),
        ("weight_kg", FieldType.NUMBER, {"mass", "weighs"}),
        ("vcc_v", FieldType.NUMBER, {"voltage"}),
        ("lieferant", FieldType.CATEGORY, {"händler", "vendor"}),
        ("inv_no", FieldType.CATEGORY, {"invoice number"}),
    ],
)
def test_a_field_gets_the_synonyms_of_its_name(name: str, kind: FieldType, words: set[str]) -> None:
    assert words <= synonyms_of(name, kind)


def test_synonyms_for_another_field_type_are_left_out() -> None:
    assert synonyms_of("expiration_date", FieldType.FLAG) == set()
    assert synonyms_of("zorb", FieldType.CATEGORY) == set()


def test_a_synonym_goes_to_the_best_field_and_to_none_if_two_are_equal() -> None:
    assert "town" in synonyms_of("city", FieldType.CATEGORY, "birth_city")
    assert "town" not in synonyms_of("birth_city", FieldType.CATEGORY, "city")
    billing = synonyms_of("billing_city", FieldType.CATEGORY, "shipping_city")
    assert "billing town" in billing
    assert "town" not in billing


def test_field_names_bucket_nouns_and_values_are_no_synonyms() -> None:
    schema = infer_schema_of({"vendor": "A", "store": "B", "kind": "seller"}, bucket="merchants")
    assert not {"store", "seller", "merchant"} & set(schema.by_name[FieldName("vendor")].synonyms)


def test_a_german_bucket_gets_german_synonyms() -> None:
    assert "gehalt" in synonyms_of("salary", FieldType.NUMBER, language="de")
    assert "gehalt" not in synonyms_of("salary", FieldType.NUMBER)
    assert "mitarbeiter" in infer_schema_of({"x": 1}, bucket="employees", language="de").synonyms


def test_a_field_name_is_no_noun_of_the_bucket() -> None:
    assert "component" in nouns_for_bucket("parts")
    assert "component" not in nouns_for_bucket("parts", reserved_names=["component"])


def test_columns_get_their_own_synonyms() -> None:
    items = infer_schema_of({"items": [{"desc": "Tyre", "qty": 4}]}).by_name[FieldName("items")]
    assert "quantity" in items.columns[1].synonyms


def test_the_thesaurus_has_the_documented_structure() -> None:
    file = Path(storage.ingest.schemas.synonyms.__file__).with_name("thesaurus.yaml")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))

    assert set(data) == {"abbreviations", "groups", "values", "opposites", "documents"}
    for group in data["groups"]:
        assert set(group) <= {"words", "named", "said", "types", "de", "generic"}
        assert set(group.get("types", ())) <= set(FieldType)
        words = [word for key in ("words", "named", "said", "de") for word in group.get(key, ())]
        assert all(isinstance(word, str) and word == word.strip().lower() for word in words)


def test_values_get_the_synonyms_of_their_group() -> None:
    synonyms = synonyms_by_value(["Open", "Closed"], ["ticket"])

    assert "unresolved" in synonyms["Open"]
    assert "solved" in synonyms["Closed"]


def test_a_value_or_reserved_name_is_no_synonym_of_another_value() -> None:
    synonyms = synonyms_by_value(["closed", "resolved"], ["done"])

    assert not {"closed", "resolved", "done"} & {*synonyms["closed"], *synonyms["resolved"]}
    assert "solved" in synonyms["closed"]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("Profit/Loss Sharing", {"Profit Sharing", "Loss Sharing"}),
        ("Rofr/Rofo", {"Rofr", "Rofo", "right of first refusal", "first offer"}),
        ("Revocable Or Fixed Term", {"Revocable Term", "Fixed Term"}),
    ],
)
def test_the_parts_of_a_combined_value_are_its_synonyms(value: str, parts: set[str]) -> None:
    assert parts <= set(synonyms_by_value([value], [])[value])


def test_an_abbreviation_with_a_slash_has_no_parts() -> None:
    assert synonyms_by_value(["N/A"], []) == {}
