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

EXAMPLES = {
    FieldType.DATE: "2031-05-09",
    FieldType.NUMBER: 5,
    FieldType.CATEGORY: "x1",
    FieldType.FLAG: True,
    FieldType.MONEY: "5 CHF",
}


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


@pytest.mark.parametrize(
    ("name", "kind", "phrase"),
    [
        ("mobile_no", FieldType.CATEGORY, "how … reach"),
        ("line_mgr", FieldType.CATEGORY, "who … boss"),
        ("gross_mass_kg", FieldType.NUMBER, "how heavy …"),
        ("keeper_birth_date", FieldType.DATE, "how old …"),
        ("wood_type", FieldType.CATEGORY, "what sort of wood …"),
        ("price_per_metre", FieldType.NUMBER, "what … cost"),
        ("member_since", FieldType.DATE, "since when …"),
        ("dateFinished", FieldType.DATE, "when … finish"),
        ("monthly_pay_chf", FieldType.MONEY, "how much … earn"),
    ],
)
def test_a_field_gets_the_question_phrases_of_its_name(name: str, kind: FieldType, phrase: str) -> None:
    assert phrase in synonyms_of(name, kind)


def test_two_fields_may_share_a_question_phrase_but_no_name() -> None:
    first, second = infer_schema_of({"visa_expiry": "2031-05-09", "badge_expiry": "2031-05-09"}).fields
    assert "when … run out" in first.question_phrases
    assert "when … run out" in second.question_phrases
    assert not set(first.plain_synonyms) & set(second.plain_synonyms)


def test_a_date_is_not_asked_for_by_who_or_where() -> None:
    assert not [word for word in synonyms_of("last_contact", FieldType.DATE) if word.startswith(("who", "where"))]


@pytest.mark.parametrize(
    ("bucket", "noun"),
    [
        ("personnel_2031", "people"),
        ("lessons_taught", "lessons"),
        ("workOrders", "job"),
        ("pets", "animal"),
        ("incident log 2031", "incidents"),
        ("customer_accounts", "customers"),
        ("loan register", "loan"),
        ("visitors_book", "guest"),
        ("helper rota 2031", "shifts"),
        ("engine_temps_oct-nov_2031", "temps"),
    ],
)
def test_a_bucket_gets_the_everyday_nouns(bucket: str, noun: str) -> None:
    assert noun in nouns_for_bucket(bucket)


def test_a_person_of_a_rota_is_none_of_its_rows() -> None:
    assert "helper" not in nouns_for_bucket("helper rota")


def test_a_value_is_no_noun_of_the_bucket() -> None:
    assert "truck" in infer_schema_of({"kind": "x"}, bucket="vehicles").synonyms
    assert "truck" not in infer_schema_of({"kind": "truck"}, bucket="vehicles").synonyms


def test_columns_get_their_own_synonyms() -> None:
    items = infer_schema_of({"items": [{"desc": "Tyre", "qty": 4}]}).by_name[FieldName("items")]
    assert "quantity" in items.columns[1].synonyms


def test_the_thesaurus_has_the_documented_structure() -> None:
    file = Path(storage.ingest.schemas.synonyms.__file__).with_name("thesaurus.yaml")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))

    assert set(data) == {"abbreviations", "groups", "values", "opposites", "documents", "kinds"}
    for group in data["groups"]:
        assert set(group) <= {"words", "named", "said", "asked", "types", "de", "generic"}
        assert set(group.get("types", ())) <= set(FieldType)
        words = [word for key in ("words", "named", "said", "asked", "de") for word in group.get(key, ())]
        assert all(isinstance(word, str) and word == word.strip().lower() for word in words)


def test_values_get_the_synonyms_of_their_group() -> None:
    synonyms = synonyms_by_value(["Open", "Closed"], ["ticket"])

    assert "unresolved" in synonyms["Open"]
    assert "solved" in synonyms["Closed"]


@pytest.mark.parametrize(
    ("value", "word"),
    [("retired", "former"), ("vacant", "empty"), ("rejected", "turned down"), ("defective", "out of order")],
)
def test_states_get_everyday_words(value: str, word: str) -> None:
    assert word in synonyms_by_value([value, "other"], [])[value]


def test_an_address_on_the_web_has_no_parts() -> None:
    assert synonyms_by_value(["https://a.example/b"], []) == {}


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


def test_a_price_is_no_cost_where_each_has_a_column() -> None:
    schema = infer_schema_of({"ListPriceGBP": 5.5, "CostGBP": 3.25})

    assert not {name for name in schema.by_name[FieldName("CostGBP")].synonyms if "price" in name.split()}


def test_a_price_may_be_called_a_cost_where_it_is_alone() -> None:
    assert any("cost" in name for name in synonyms_of("price", FieldType.NUMBER))


@pytest.mark.parametrize(("bucket", "noun"), [("rma_log", "returns"), ("pcn_export", "parking ticket")])
def test_documents_with_an_abbreviated_name_are_called_by_words(bucket: str, noun: str) -> None:
    nouns = infer_schema_of({"id": "x1"}, bucket=bucket).synonyms

    assert noun.removesuffix("s") in {name.removesuffix("s") for name in nouns}
