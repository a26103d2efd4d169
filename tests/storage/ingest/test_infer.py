"""Schemas from metadata, and metadata typed by a schema."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.infer import inferred, merged
from storage.ingest.profile import Profile, see_all, styles_of
from storage.ingest.synonyms import nouns_for
from storage.ingest.values import Typed, flattened, typed
from storage.search.documents import Document
from storage.search.fit import fitted
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import Field, FieldType, Schema

BUCKET = BucketId("things")


def profiled(*metadata: Mapping[str, Any]) -> dict[FieldName, Profile]:
    profiles: dict[FieldName, Profile] = {}
    for one in metadata:
        see_all(flattened(one).values, profiles)
    return profiles


def schema_of(*metadata: Mapping[str, Any]) -> Schema:
    return inferred(BUCKET, profiled(*metadata))


def field_of(*values: Any, name: str = "x") -> Field:
    return schema_of(*({name: value} for value in values)).by_name[FieldName(name)]


def typed_by(schema: Schema, *metadata: Mapping[str, Any]) -> list[Typed]:
    styles = styles_of(profiled(*metadata))
    return [typed(flattened(one).values, schema.by_name, styles) for one in metadata]


def values_of(*metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each as the schema inferred from all of them types it."""
    return [{**one.values} for one in typed_by(schema_of(*metadata), *metadata)]


# -- types


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, 3], FieldType.NUMBER),
        (["1", "2.5"], FieldType.NUMBER),
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
def test_values_make_their_type(values: list[Any], kind: FieldType) -> None:
    assert field_of(*values).type is kind


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
def test_numbers_that_only_name_something_are_categories(name: str, kind: str) -> None:
    assert field_of(10115, 20095, name=name).type.value == kind


def test_a_number_has_the_unit_of_its_name_and_a_title_without_it() -> None:
    field = field_of(45, 60, name="vceo_v")
    assert (field.type, field.unit, field.title) == (FieldType.NUMBER, "V", "Vceo")
    assert (field_of(2020, 2021, name="year").unit, field_of("a", "b", name="group_a").unit) == ("", "")


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
def test_a_suffix_is_a_unit_only_of_a_quantity_that_it_fits(names: list[str], units: list[str]) -> None:
    schema = schema_of(dict.fromkeys(names, 5), dict.fromkeys(names, 7))
    assert [one.unit for one in schema.fields] == units


def test_the_currency_may_stand_in_the_name() -> None:
    field = field_of(5, 7.5, name="salary_eur")
    assert (field.type, field.currency, field.title) == (FieldType.MONEY, "EUR", "Salary")
    assert field_of(5, 7.5, name="retry").type is FieldType.NUMBER


def test_lists_in_strings_are_parted() -> None:
    tags = [{"t": "red; blue"}, {"t": "blue;green"}, {"t": "red"}, {"t": "green; red; red"}]
    assert values_of(*tags) == [
        {"t": ("red", "blue")},
        {"t": ("blue", "green")},
        {"t": ("red",)},
        {"t": ("green", "red")},
    ]
    skills = [{"s": one} for one in ("a, b", "b, c, a", "a, c", "b", "c, a")]
    assert values_of(*skills)[1] == {"s": ("b", "c", "a")}


def test_numbers_written_with_units_are_converted_to_the_commonest() -> None:
    assert field_of("45 V", "60 V", "500 mV").unit == "V"
    assert values_of({"u": "45 V"}, {"u": "60 V"}, {"u": "500 mV"}) == [{"u": 45.0}, {"u": 60.0}, {"u": 0.5}]


def test_a_decimal_comma_anywhere_in_a_field_decides_for_all_of_it() -> None:
    assert values_of({"n": "1,50"}, {"n": "1,234"}) == [{"n": 1.5}, {"n": 1.234}]
    assert values_of({"n": "1.50"}, {"n": "1,234"}) == [{"n": 1.5}, {"n": 1234.0}]


def test_the_order_of_days_and_months_is_the_fields() -> None:
    assert values_of({"d": "13/05/2031"}, {"d": "03/04/2031"})[1] == {"d": "2031-04-03"}
    assert values_of({"d": "05/13/2031"}, {"d": "03/04/2031"})[1] == {"d": "2031-03-04"}


def test_absent_values_are_none_at_all() -> None:
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
    assert values_of(absent) == [{"h": ({"x": 1.0},)}]


# -- money


def test_a_currency_beside_a_price_makes_it_money() -> None:
    schema = schema_of(
        {"total": 12.5, "year": 2031, "currency": "EUR", "items": [{"name": "tyre", "price": 4, "qty": 2}]},
        {"total": 1, "year": 2030, "currency": "usd"},
    )
    total, items = schema.by_name[FieldName("total")], schema.by_name[FieldName("items")]
    assert (total.type, total.currency_field) == (FieldType.MONEY, "currency")
    assert schema.by_name[FieldName("year")].type is FieldType.NUMBER
    assert [(one.name, one.type) for one in items.columns] == [
        ("name", FieldType.CATEGORY),
        ("price", FieldType.MONEY),
        ("qty", FieldType.NUMBER),
    ]
    assert items.columns[1].currency == ""


def test_prices_in_rows_have_the_currency_of_all_documents_where_it_is_one() -> None:
    row = {"items": [{"price": 4.5}], "total": 9.0, "currency": "EUR"}
    assert schema_of(row, row).by_name[FieldName("items")].columns[0].currency == "EUR"


def test_an_amount_of_no_telling_name_is_money_when_it_alone_has_cents() -> None:
    schema = schema_of({"zorb": 12.5, "blib": 3, "quux": "EUR"}, {"zorb": 1, "blib": 4, "quux": "USD"})
    assert schema.by_name[FieldName("zorb")].currency_field == "quux"
    assert schema.by_name[FieldName("blib")].type is FieldType.NUMBER


def test_amounts_written_with_their_currency_are_split() -> None:
    metadata = [{"fee": "12.50 EUR"}, {"fee": "$3"}, {"fee": {"amount": "7", "currency": "EUR"}}]
    fee = schema_of(*metadata).by_name[FieldName("fee")]
    assert (fee.type, fee.currency_field) == (FieldType.MONEY, "fee_currency")
    assert values_of(*metadata) == [
        {"fee": 12.5, "fee_currency": "EUR"},
        {"fee": 3.0, "fee_currency": "USD"},
        {"fee": 7.0, "fee_currency": "EUR"},
    ]


def test_an_amount_whose_currency_the_document_denies_does_not_fit() -> None:
    metadata = [{"price": "12.50 EUR", "price_currency": "USD"}, {"price": "1 EUR", "price_currency": "EUR"}]
    first, second = typed_by(schema_of(*metadata), *metadata)
    assert [one.field for one in first.misfits] == ["price"]
    assert second.values == {"price": 1.0, "price_currency": "EUR"}


def test_a_key_that_looks_like_a_currency_but_is_none_is_left_alone() -> None:
    schema = schema_of({"price": "5 EUR", "price_currency": 3.5}, {"price": "6 EUR", "price_currency": 4})
    assert schema.by_name[FieldName("price")].currency_field == "price_currency_2"


# -- names


def test_keys_that_no_field_can_have_are_renamed() -> None:
    flat = flattened({"title": "T", "a.b": 1, "dims": {"w": 2, "h": {"x": 3}}, "a_b": 4, " ": 5, "k\x00": "v"})
    assert flat.values == {
        "metadata_title": "T",
        "a_b": 1,
        "dims_w": 2,
        "dims_h_x": 3,
        "a_b_2": 4,
        "unnamed": 5,
        "k_": "v",
    }
    assert flat.renamed["title"] == "metadata_title"
    assert flat.renamed["dims.w"] == "dims_w"
    assert "dims_w" not in flat.renamed


@pytest.mark.parametrize(
    ("bucket", "nouns"),
    [
        ("receipts", ("receipt", "receipts", "bill", "slip", "till slip", "sales slip")),
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
def test_a_bucket_is_known_by_its_singular_and_plural(bucket: str, nouns: tuple[str, ...]) -> None:
    assert nouns_for(bucket) == nouns


# -- facets


def test_what_repeats_is_a_facet_and_what_names_one_document_is_not() -> None:
    metadata = [{"colour": "red" if i % 2 else "blue", "name": f"part {i}", "tags": ["a", f"t{i}"]} for i in range(300)]
    schema = schema_of(*metadata)
    assert {one.name: one.facet for one in schema.fields} == {"colour": True, "name": False, "tags": False}


# -- what does not fit


def test_what_does_not_fit_is_kept_apart_and_the_rest_is_typed() -> None:
    columns = (Field(name=FieldName("qty"), type=FieldType.NUMBER),)
    schema = Schema(
        bucket=BUCKET,
        fields=(
            Field(name=FieldName("u"), type=FieldType.NUMBER, unit="V"),
            Field(name=FieldName("day"), type=FieldType.DATE),
            Field(name=FieldName("ok"), type=FieldType.FLAG),
            Field(name=FieldName("items"), type=FieldType.ROWS, columns=columns),
        ),
    )
    raw = {"u": "3 kg", "day": "soon", "ok": "perhaps", "items": [{"qty": 2, "colour": "red"}, {"qty": "many"}], "z": 1}
    (result,) = typed_by(schema, raw)
    assert result.values == {"items": ({"qty": 2.0},)}
    assert [one.field for one in result.misfits] == ["u", "day", "ok", "items.qty"]
    assert result.unknown == ["items.colour", "z"]


def test_new_keys_widen_a_schema_and_what_it_says_stays() -> None:
    existing = Schema(
        bucket=BUCKET,
        fields=(
            Field(name=FieldName("total"), type=FieldType.TEXT),
            Field(name=FieldName("currency"), type=FieldType.TEXT),
            Field(name=FieldName("items"), type=FieldType.ROWS),
        ),
        language="de",
    )
    found = schema_of({"total": 1.5, "price": 2.5, "currency": "EUR", "items": [{"n": 1}]})
    widened = merged(existing, found)
    assert widened.by_name[FieldName("total")] == existing.by_name[FieldName("total")]
    assert widened.by_name[FieldName("price")].type is FieldType.NUMBER
    assert [one.name for one in widened.by_name[FieldName("items")].columns] == ["n"]
    assert widened.language == "de"
    assert merged(widened, found) == widened


# -- whatever comes

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["12.50 EUR", "$5", "45 V", "3 kg", "2031-05-09", "03/04/2031", "1,5", "n/a", "yes", "EUR", "USD"]),
)
NAMES = st.one_of(st.sampled_from(["total", "currency", "total_currency", "x_v", "text", "a.b"]), st.text(max_size=5))
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(NAMES, ANYTHING, max_size=5), max_size=5))
def test_any_metadata_gives_a_schema_that_takes_it(metadata: list[dict[str, Any]]) -> None:
    schema = schema_of(*metadata)
    for one in typed_by(schema, *metadata):
        assert not one.unknown
        fitted(Document(doc_id=DocId("d"), title="", text="", values=one.values), schema)
    assert merged(schema, schema) == schema
