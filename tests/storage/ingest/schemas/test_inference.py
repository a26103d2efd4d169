"""Inferring schemas from metadata, and converting metadata to the types of a schema."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.schemas.inference import infer_schema, merge_schemas
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles, styles_of
from storage.ingest.schemas.synonyms import nouns_for_bucket
from storage.ingest.schemas.values import TypedMetadata, flatten_metadata, type_values
from storage.search.documents import Document
from storage.search.evaluation.value_validation import validate_values
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

BUCKET = BucketId("things")


def build_profiles(*metadata: Mapping[str, Any]) -> dict[FieldName, ValueProfile]:
    profiles: dict[FieldName, ValueProfile] = {}
    for document_metadata in metadata:
        add_to_profiles(flatten_metadata(document_metadata).values, profiles)
    return profiles


def infer_schema_of(*metadata: Mapping[str, Any]) -> Schema:
    return infer_schema(BUCKET, build_profiles(*metadata))


def infer_field_of(*values: Any, name: str = "x") -> SchemaField:
    return infer_schema_of(*({name: value} for value in values)).by_name[FieldName(name)]


def type_metadata(schema: Schema, *metadata: Mapping[str, Any]) -> list[TypedMetadata]:
    styles = styles_of(build_profiles(*metadata))
    return [
        type_values(flatten_metadata(document_metadata).values, schema.by_name, styles)
        for document_metadata in metadata
    ]


def infer_values_of(*metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the values of each document, in the types of the schema that is inferred from all of them."""
    return [{**result.values} for result in type_metadata(infer_schema_of(*metadata), *metadata)]


# -- types


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, 3], FieldType.NUMBER),
        (["1", "2.5"], FieldType.NUMBER),
        (["£95.00", "255", "£1,020.50", "60"], FieldType.MONEY),
        (["Fri 24/04/2026", "Sat 25/04/2026"], FieldType.DATE),
        ([*(["Y", "N"] * 10), "Y late"], FieldType.FLAG),
        ([*(["Y", "N"] * 2), "Y late"], FieldType.CATEGORY),
        (["007", "012"], FieldType.CATEGORY),
        (["12345678901234567"], FieldType.CATEGORY),
        (["1", "N/A", "-", "3"], FieldType.NUMBER),
        (["1", "two", "3"], FieldType.CATEGORY),
        ([*map(str, range(99)), "ca. 5"], FieldType.NUMBER),
        (["45 V", "12 mV"], FieldType.NUMBER),
        (["45 V", "12 kg"], FieldType.CATEGORY),
        (["2031-05-09", "2032-01-01T10:00:00Z"], FieldType.DATE),
        (["13/05/2031", "03/04/2031"], FieldType.DATE),
        (["03/04/2031", "04/05/2031"], FieldType.CATEGORY),
        (["2031-05", "2031-06"], FieldType.CATEGORY),
        ([True, False], FieldType.FLAG),
        (["yes", "No"], FieldType.FLAG),
        (["yes", "no", "maybe"], FieldType.CATEGORY),
        (["x", "y"], FieldType.CATEGORY),
        (["NO", "NO"], FieldType.CATEGORY),
        ([["a", "b"], ["c"]], FieldType.LIST),
        ([["a"], "b"], FieldType.LIST),
        ([[{"n": 1}], [{"n": 2}]], FieldType.ROWS),
        (["$12", "5 EUR"], FieldType.MONEY),
        ([{"amount": 5, "currency": "EUR"}], FieldType.MONEY),
        (["red", "blue"], FieldType.CATEGORY),
        ([*["2031-05-09"] * 9, "soon"], FieldType.DATE),
        ([*["2031-05-09"] * 8, "soon", "later"], FieldType.CATEGORY),
        (["red; blue", "blue; green", "red; green", "red"], FieldType.LIST),
        (["a, b", "b, c, a", "a, c", "b", "c, a"], FieldType.LIST),
        (["Austin, Texas", "Waco, Texas", "Austin, Texas", "Dallas, Texas", "Waco, Texas"], FieldType.CATEGORY),
        (["Doe, Jane", "Roe, Jim", "Poe, Ann", "Coe, Sue", "Loe, Max"], FieldType.CATEGORY),
        (["A sentence that goes on and on about the matter at hand, and then on. " * 2], FieldType.TEXT),
        (["two\nlines"], FieldType.TEXT),
    ],
)
def test_the_type_of_a_field_is_inferred_from_its_values(values: list[Any], kind: FieldType) -> None:
    assert infer_field_of(*values).type is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("year", "number"),
        ("zip", "category"),
        ("customer_id", "category"),
        ("id_a", "number"),
        ("invoice_number", "category"),
        ("number", "number"),
    ],
)
def test_numbers_that_are_identifiers_are_categories(name: str, kind: str) -> None:
    assert infer_field_of(10115, 20095, name=name).type.value == kind


def test_a_number_gets_its_unit_from_its_name_and_a_title_without_the_unit() -> None:
    field = infer_field_of(45, 60, name="vceo_v")
    assert (field.type, field.unit, field.title) == (FieldType.NUMBER, "V", "Vceo")
    assert (infer_field_of(2020, 2021, name="year").unit, infer_field_of("a", "b", name="group_a").unit) == ("", "")


@pytest.mark.parametrize(
    ("names", "units"),
    [
        (["nested_a", "nested_b"], ["", ""]),
        (["vds_v", "id_a", "pd_w"], ["V", "A", "W"]),
        (["sales_na", "sales_eu"], ["", ""]),
        (["price_min", "price_max"], ["", ""]),
        (["response_time_s", "checked_in"], ["s", ""]),
        (["release_year", "warranty_years"], ["", "year"]),
        (["top_k", "temp_c"], ["", "degC"]),
        (["weight_kg", "length_mm"], ["kg", "mm"]),
    ],
)
def test_a_suffix_is_a_unit_only_if_it_fits_the_quantity(names: list[str], units: list[str]) -> None:
    schema = infer_schema_of(dict.fromkeys(names, 5), dict.fromkeys(names, 7))
    assert [field.unit for field in schema.fields] == units


def test_a_currency_code_in_the_name_makes_the_field_money() -> None:
    field = infer_field_of(5, 7.5, name="salary_eur")
    assert (field.type, field.currency, field.title) == (FieldType.MONEY, "EUR", "Salary")
    assert infer_field_of(5, 7.5, name="retry").type is FieldType.NUMBER


def test_strings_that_contain_lists_are_split() -> None:
    tags = [{"t": "red; blue"}, {"t": "blue;green"}, {"t": "red"}, {"t": "green; red; red"}]
    assert infer_values_of(*tags) == [
        {"t": ("red", "blue")},
        {"t": ("blue", "green")},
        {"t": ("red",)},
        {"t": ("green", "red")},
    ]
    skills = [{"s": text} for text in ("a, b", "b, c, a", "a, c", "b", "c, a")]
    assert infer_values_of(*skills)[1] == {"s": ("b", "c", "a")}


def test_numbers_with_units_are_converted_to_the_most_common_unit() -> None:
    assert infer_field_of("45 V", "60 V", "500 mV").unit == "V"
    assert infer_values_of({"u": "45 V"}, {"u": "60 V"}, {"u": "500 mV"}) == [{"u": 45.0}, {"u": 60.0}, {"u": 0.5}]


def test_one_clear_decimal_comma_decides_the_notation_of_the_field() -> None:
    assert infer_values_of({"n": "1,50"}, {"n": "1,234"}) == [{"n": 1.5}, {"n": 1.234}]
    assert infer_values_of({"n": "1.50"}, {"n": "1,234"}) == [{"n": 1.5}, {"n": 1234.0}]


def test_one_clear_date_decides_the_day_and_month_order_of_the_field() -> None:
    assert infer_values_of({"d": "13/05/2031"}, {"d": "03/04/2031"})[1] == {"d": "2031-04-03"}
    assert infer_values_of({"d": "05/13/2031"}, {"d": "03/04/2031"})[1] == {"d": "2031-03-04"}


def test_missing_values_are_left_out() -> None:
    absent: dict[str, Any] = {
        "a": None,
        "b": "",
        "c": [],
        "d": {},
        "e": " ",
        "f": [None, ""],
        "g": [{}],
        "h": [{"x": 1}],
    }
    assert infer_values_of(absent) == [{"h": ({"x": 1.0},)}]


# -- money


def test_a_currency_field_makes_prices_money() -> None:
    schema = infer_schema_of(
        {"total": 12.5, "year": 2031, "currency": "EUR", "items": [{"name": "tyre", "price": 4, "qty": 2}]},
        {"total": 1, "year": 2030, "currency": "usd"},
    )
    total, items = schema.by_name[FieldName("total")], schema.by_name[FieldName("items")]
    assert (total.type, total.currency_field) == (FieldType.MONEY, "currency")
    assert schema.by_name[FieldName("year")].type is FieldType.NUMBER
    assert [(column.name, column.type) for column in items.columns] == [
        ("name", FieldType.CATEGORY),
        ("price", FieldType.MONEY),
        ("qty", FieldType.NUMBER),
    ]
    assert items.columns[1].currency == ""


def test_prices_in_rows_get_the_currency_that_all_documents_share() -> None:
    row = {"items": [{"price": 4.5}], "total": 9.0, "currency": "EUR"}
    assert infer_schema_of(row, row).by_name[FieldName("items")].columns[0].currency == "EUR"


def test_the_only_field_with_fractions_is_money_if_there_is_a_currency_field() -> None:
    schema = infer_schema_of({"zorb": 12.5, "blib": 3, "quux": "EUR"}, {"zorb": 1, "blib": 4, "quux": "USD"})
    assert schema.by_name[FieldName("zorb")].currency_field == "quux"
    assert schema.by_name[FieldName("blib")].type is FieldType.NUMBER


def test_amounts_written_with_their_currency_are_split() -> None:
    metadata = [{"fee": "12.50 EUR"}, {"fee": "$3"}, {"fee": {"amount": "7", "currency": "EUR"}}]
    fee = infer_schema_of(*metadata).by_name[FieldName("fee")]
    assert (fee.type, fee.currency_field) == (FieldType.MONEY, "fee_currency")
    assert infer_values_of(*metadata) == [
        {"fee": 12.5, "fee_currency": "EUR"},
        {"fee": 3.0, "fee_currency": "USD"},
        {"fee": 7.0, "fee_currency": "EUR"},
    ]


def test_an_amount_in_another_currency_than_its_currency_field_does_not_fit() -> None:
    metadata = [{"price": "12.50 EUR", "price_currency": "USD"}, {"price": "1 EUR", "price_currency": "EUR"}]
    first, second = type_metadata(infer_schema_of(*metadata), *metadata)
    assert [misfit.field for misfit in first.misfits] == ["price"]
    assert second.values == {"price": 1.0, "price_currency": "EUR"}


def test_a_key_named_like_a_currency_field_without_currencies_is_not_used() -> None:
    schema = infer_schema_of({"price": "5 EUR", "price_currency": 3.5}, {"price": "6 EUR", "price_currency": 4})
    assert schema.by_name[FieldName("price")].currency_field == "price_currency_2"


# -- keys and names


def test_keys_that_are_no_valid_field_names_are_renamed() -> None:
    flat = flatten_metadata({"title": "T", "a.b": 1, "dims": {"w": 2, "h": {"x": 3}}, "a_b": 4, " ": 5, "k\x00": "v"})
    assert flat.values == {
        "metadata_title": "T",
        "a_b": 1,
        "dims_w": 2,
        "dims_h_x": 3,
        "a_b_2": 4,
        "unnamed": 5,
        "k_": "v",
    }
    assert flat.renamed_keys["title"] == "metadata_title"
    assert flat.renamed_keys["dims.w"] == "dims_w"
    assert "dims_w" not in flat.renamed_keys


@pytest.mark.parametrize(
    ("bucket", "nouns"),
    [
        ("receipts", ("receipt", "receipts", "bill", "slip", "till slip", "sales slip", "purchase", "expense")),
        ("cables_table", ("cable", "cables")),
        ("cables_2031", ("cable", "cables")),
        ("tire_loads", ("tire load", "tire loads", "load", "loads")),
        ("companies", ("company", "companies", "firm", "business", "organisation")),
        ("boxes", ("box", "boxes")),
        ("invoice", ("invoice", "invoices", "bill")),
        ("battery", ("battery", "batteries")),
        ("x1", ()),
    ],
)
def test_the_nouns_of_a_bucket_are_singular_plural_and_synonyms(bucket: str, nouns: tuple[str, ...]) -> None:
    assert nouns_for_bucket(bucket) == nouns


# -- facets


def test_fields_with_repeated_values_are_facets_and_unique_ones_are_not() -> None:
    metadata = [{"colour": "red" if i % 2 else "blue", "name": f"part {i}", "tags": ["a", f"t{i}"]} for i in range(300)]
    schema = infer_schema_of(*metadata)
    assert {field.name: field.facet for field in schema.fields} == {"colour": True, "name": False, "tags": False}


# -- values that do not fit


def test_misfits_and_unknown_keys_are_separated_from_typed_values() -> None:
    columns = (SchemaField(name=FieldName("qty"), type=FieldType.NUMBER),)
    schema = Schema(
        bucket=BUCKET,
        fields=(
            SchemaField(name=FieldName("u"), type=FieldType.NUMBER, unit="V"),
            SchemaField(name=FieldName("day"), type=FieldType.DATE),
            SchemaField(name=FieldName("ok"), type=FieldType.FLAG),
            SchemaField(name=FieldName("items"), type=FieldType.ROWS, columns=columns),
        ),
    )
    raw = {"u": "3 kg", "day": "soon", "ok": "perhaps", "items": [{"qty": 2, "colour": "red"}, {"qty": "many"}], "z": 1}
    (result,) = type_metadata(schema, raw)
    assert result.values == {"items": ({"qty": 2.0},)}
    assert [misfit.field for misfit in result.misfits] == ["u", "day", "ok", "items.qty"]
    assert result.unknown_keys == ["items.colour", "z"]


def test_merging_adds_new_fields_and_keeps_existing_ones() -> None:
    existing = Schema(
        bucket=BUCKET,
        fields=(
            SchemaField(name=FieldName("total"), type=FieldType.TEXT),
            SchemaField(name=FieldName("currency"), type=FieldType.TEXT),
            SchemaField(name=FieldName("items"), type=FieldType.ROWS),
        ),
        language="de",
    )
    inferred = infer_schema_of({"total": 1.5, "price": 2.5, "currency": "EUR", "items": [{"n": 1}]})
    merged = merge_schemas(existing, inferred)
    assert merged.by_name[FieldName("total")] == existing.by_name[FieldName("total")]
    assert merged.by_name[FieldName("price")].type is FieldType.NUMBER
    assert [column.name for column in merged.by_name[FieldName("items")].columns] == ["n"]
    assert merged.language == "de"
    assert merge_schemas(merged, inferred) == merged


# -- arbitrary metadata

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["12.50 EUR", "$5", "45 V", "3 kg", "2031-05-09", "03/04/2031", "1,5", "n/a", "yes", "EUR", "USD"]),
)
NAMES = st.one_of(st.sampled_from(["total", "currency", "total_currency", "x_v", "text", "a.b"]), st.text(max_size=5))
ANY_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(NAMES, ANY_VALUES, max_size=5), max_size=5))
def test_any_metadata_is_valid_under_its_inferred_schema(metadata: list[dict[str, Any]]) -> None:
    schema = infer_schema_of(*metadata)
    for result in type_metadata(schema, *metadata):
        assert not result.unknown_keys
        validate_values(Document(doc_id=DocId("d"), title="", text="", values=result.values), schema)
    assert merge_schemas(schema, schema) == schema


def inferred_types(columns: Mapping[str, list[str]]) -> dict[str, tuple[FieldType, str]]:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return {field.name: (field.type, field.unit or field.currency) for field in infer_schema_of(*rows).fields}


def test_ratings_durations_short_years_and_signs_in_names_are_typed() -> None:
    columns = {
        "grade": ["4/5", "3/5", "5/5"],
        "stars": ["★★★", "★★★★", "★"],
        "spent": ["1 h 30 min", "45 min", "2 h"],
        "seen": ["9/5/31", "21/5/31", "30/6/31"],
        "has_roof": ["1", "0", "1"],
        "Fee (€)": ["12", "13", "14"],
        "cost in GBP": ["12", "13", "15"],
    }

    assert inferred_types(columns) == {
        "grade": (FieldType.NUMBER, ""),
        "stars": (FieldType.NUMBER, ""),
        "spent": (FieldType.NUMBER, "min"),
        "seen": (FieldType.DATE, ""),
        "has_roof": (FieldType.FLAG, ""),
        "Fee (€)": (FieldType.MONEY, "EUR"),
        "cost in GBP": (FieldType.MONEY, "GBP"),
    }


def test_a_sign_at_the_beginning_of_a_name_is_the_currency_of_a_price() -> None:
    names = "£ per unit|€/kg|$ each|£ net|12 £ vouchers".split("|")
    rows: list[dict[str, str]] = [dict.fromkeys(names, number) for number in ("12", "13", "15")]
    schema = infer_schema_of(*rows)

    assert [(field.label, field.currency) for field in schema.fields] == [
        ("Price per unit", "GBP"), ("Price per kg", "EUR"), ("Price each", "USD"), ("Net", "GBP"),
        ("12 £ vouchers", ""),
    ]  # fmt: skip


def test_ratings_of_several_scales_are_no_number() -> None:
    assert inferred_types({"grade": ["4/5", "7/10", "5/5"]})["grade"] == (FieldType.CATEGORY, "")


def test_a_mark_for_nothing_is_no_category_but_a_word_is() -> None:
    fields = {
        FieldName(name): SchemaField(name=FieldName(name), type=FieldType.CATEGORY)
        for name in ("hull", "damage", "mast")
    }

    typed = type_values({FieldName("hull"): "n/a", FieldName("damage"): "none", FieldName("mast"): "–"}, fields, {})

    assert typed.values == {"damage": "none"}


def test_amounts_without_a_currency_have_that_of_their_column() -> None:
    fees = [{"fee": value} for value in ("£95.00", "255", "free", "£1,020.50")]

    assert infer_schema_of(*fees).by_name[FieldName("fee")].currency == "GBP"
    assert [values["fee"] for values in infer_values_of(*fees)] == [95, 255, 0, 1020.5]
    mixed = infer_schema_of({"fee": "£95.00"}, {"fee": "€40.00"}, {"fee": "12"})
    assert mixed.by_name[FieldName("fee")].currency == ""


def test_a_sign_beside_other_words_in_brackets_makes_the_column_money() -> None:
    fee = infer_field_of("1,320", "500", name="Fee (£, no VAT)")

    assert (fee.type, fee.currency, fee.label) == (FieldType.MONEY, "GBP", "Fee (no VAT)")


def test_a_remark_behind_yes_or_no_is_left_out() -> None:
    rows = [{"turned up": value} for value in [*(["Y", "N"] * 10), "Y late", "no - rang in"]]

    assert [values["turned up"] for values in infer_values_of(*rows)][-2:] == [True, False]


@pytest.mark.parametrize("name", ["ReportsTo", "OrderedBy", "mechanic", "supervisor"])
def test_numbers_of_persons_are_no_quantities(name: str) -> None:
    assert infer_field_of("1031", "1052", "1077", name=name).type is FieldType.CATEGORY


@pytest.mark.parametrize("name", ["guest", "employees", "visitors"])
def test_numbers_of_people_who_are_counted_are_quantities(name: str) -> None:
    assert infer_field_of("3", "12", "7", name=name).type is FieldType.NUMBER
