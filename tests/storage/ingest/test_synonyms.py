"""What people call fields and documents, from the names that data has."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import storage.ingest.synonyms
from storage.ingest.infer import inferred
from storage.ingest.profile import Profile, see_all
from storage.ingest.synonyms import nouns_for, value_synonyms
from storage.ingest.values import flattened
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema

EXAMPLES = {FieldType.DATE: "2031-05-09", FieldType.NUMBER: 5, FieldType.CATEGORY: "x1", FieldType.FLAG: True}


def schema_of(*metadata: dict[str, Any], bucket: str = "things", language: str = "en") -> Schema:
    profiles: dict[FieldName, Profile] = {}
    for one in metadata:
        see_all(flattened(one).values, profiles)
    return inferred(BucketId(bucket), profiles, language)


def words_for(name: str, kind: FieldType, *beside: str, language: str = "en") -> set[str]:
    one = {name: EXAMPLES[kind], **dict.fromkeys(beside, EXAMPLES[kind])}
    return set(schema_of(one, language=language).by_name[FieldName(name)].synonyms)


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
def test_a_field_is_known_by_what_people_say_of_it(name: str, kind: FieldType, words: set[str]) -> None:
    assert words <= words_for(name, kind)


def test_words_of_other_types_are_not_given() -> None:
    assert words_for("expiration_date", FieldType.FLAG) == set()
    assert words_for("zorb", FieldType.CATEGORY) == set()


def test_a_word_goes_to_the_field_that_it_fits_best_and_to_none_of_two_alike() -> None:
    assert "town" in words_for("city", FieldType.CATEGORY, "birth_city")
    assert "town" not in words_for("birth_city", FieldType.CATEGORY, "city")
    billing = words_for("billing_city", FieldType.CATEGORY, "shipping_city")
    assert "billing town" in billing
    assert "town" not in billing


def test_the_name_of_another_field_a_noun_and_a_value_are_no_synonyms() -> None:
    schema = schema_of({"vendor": "A", "store": "B", "kind": "seller"}, bucket="merchants")
    assert not {"store", "seller", "merchant"} & set(schema.by_name[FieldName("vendor")].synonyms)


def test_german_documents_give_german_words() -> None:
    assert "gehalt" in words_for("salary", FieldType.NUMBER, language="de")
    assert "gehalt" not in words_for("salary", FieldType.NUMBER)
    assert "mitarbeiter" in schema_of({"x": 1}, bucket="employees", language="de").synonyms


def test_a_field_that_is_called_like_the_documents_takes_the_word() -> None:
    assert "component" in nouns_for("parts")
    assert "component" not in nouns_for("parts", taken=["component"])


def test_columns_have_words_of_their_own() -> None:
    items = schema_of({"items": [{"desc": "Tyre", "qty": 4}]}).by_name[FieldName("items")]
    assert "quantity" in items.columns[1].synonyms


def test_the_thesaurus_is_as_its_head_says() -> None:
    file = Path(storage.ingest.synonyms.__file__).with_name("thesaurus.yaml")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))

    assert set(data) == {"abbreviations", "groups", "values", "opposites", "documents"}
    for group in data["groups"]:
        assert set(group) <= {"words", "named", "said", "types", "de", "generic"}
        assert set(group.get("types", ())) <= set(FieldType)
        said = [word for key in ("words", "named", "said", "de") for word in group.get(key, ())]
        assert all(isinstance(word, str) and word == word.strip().lower() for word in said)


def test_values_are_called_by_the_words_of_their_group() -> None:
    said = value_synonyms(["Open", "Closed"], ["ticket"])

    assert "unresolved" in said["Open"]
    assert "solved" in said["Closed"]


def test_a_word_that_is_a_value_or_a_name_itself_is_no_synonym_of_another() -> None:
    said = value_synonyms(["closed", "resolved"], ["done"])

    assert not {"closed", "resolved", "done"} & {*said["closed"], *said["resolved"]}
    assert "solved" in said["closed"]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("Profit/Loss Sharing", {"Profit Sharing", "Loss Sharing"}),
        ("Rofr/Rofo", {"Rofr", "Rofo", "right of first refusal", "first offer"}),
        ("Revocable Or Fixed Term", {"Revocable Term", "Fixed Term"}),
    ],
)
def test_what_is_written_as_one_is_called_by_its_parts(value: str, parts: set[str]) -> None:
    assert parts <= set(value_synonyms([value], [])[value])


def test_an_abbreviation_with_a_slash_has_no_parts() -> None:
    assert value_synonyms(["N/A"], []) == {}
