"""The rule extractor on small invented documents."""

import pytest

from storage.ingest.extract.candidates import ExtractionInput, ValueCandidate
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.search.documents import FieldValue, Passage
from storage.search.ids import BucketId, FieldName
from storage.search.schema import BareValueMatch, FieldType, Schema, SchemaField

SLIP = """\
HARBOUR LIGHT BAKERY SDN BHD
12, Quay Road, 43300 Seri Harbour
Date: 28/05/2031 13:45
2 x RYE LOAF          4.50      9.00
APPLE TART
1001-7 1              6.20      6.20
SUB TOTAL                      15.20
GST 6%                          0.91
TOTAL RM                       16.11
ROUNDING                       -0.01
CASH RM 20.00
CHANGE RM 3.90
"""
LEASE = """\
SUPPLY AGREEMENT

This Supply Agreement is made and entered into as of the 7th day of September, 2029 (the "Effective Date") by and
between Quarry & Sons, Inc., a Delaware corporation ("Supplier"), and Tidewater Mills Ltd., a company of England
("Buyer").

1. Term. The initial term of this Agreement shall be three (3) years from the Effective Date. It renews for successive
periods of one (1) year unless either party gives ninety (90) days' prior written notice of non-renewal.

2. Neither party may assign this Agreement without the prior written consent of the other.

3. This Agreement shall be governed by and construed in accordance with the laws of the State of New York, without
regard to conflicts of laws.
"""


def a_field(name: str, kind: FieldType, **rest: object) -> SchemaField:
    return SchemaField(name=FieldName(name), type=kind, **rest)  # pyright: ignore[reportArgumentType]


def read(
    text: str, *fields: SchemaField, title: str = "", synonyms: tuple[str, ...] = ()
) -> dict[str, list[ValueCandidate]]:
    schema = Schema(bucket=BucketId("papers"), fields=fields, synonyms=synonyms)
    candidates_by_field = RuleExtractor().extract_in_thread(ExtractionInput(title=title, text=text), schema)
    return {name: list(candidates) for name, candidates in candidates_by_field.items()}


def best(text: str, field: SchemaField, *others: SchemaField, title: str = "") -> FieldValue | None:
    candidates = read(text, field, *others, title=title).get(field.name)
    return candidates[0].value if candidates else None


VOLTS = a_field("limit_v", FieldType.NUMBER, title="Limit voltage", synonyms=("Vlim",), unit="V")


@pytest.mark.parametrize(
    "text",
    [
        "Limit voltage: 0.8 kV",
        "Limit voltage ............ 800 V",
        "| Parameter | Value |\n|---|---|\n| V(LIM) | 800 V |",
        "Type X in a box. VLIM max 800 V, ILIM max 3 A.",
        "2A Ilim, 800V Vlim, in a box",
        "Limit voltage\n800 V",
        "Part   Limit voltage   Mass\nX9     800 V           3 kg",
    ],
)
def test_a_quantity_is_found_beside_its_label_in_the_fields_unit(text: str) -> None:
    assert best(text, VOLTS) == 800.0


def test_a_quantity_of_another_dimension_is_not_taken() -> None:
    assert best("Limit voltage: 800 kg", VOLTS) is None


def test_a_rating_has_no_sign_and_a_temperature_has_one() -> None:
    rated = a_field("limit_v", FieldType.NUMBER, title="Limit", unit="V", bare=BareValueMatch.AT_LEAST)
    melting = a_field("melting_c", FieldType.NUMBER, title="Melting point", unit="degC")

    assert best("Limit: -40 V", rated) == 40.0
    assert best("Melting point -40 °C.", melting) == -40.0


def test_a_month_of_a_year_is_no_day() -> None:
    assert best("Signed on: March 2024", a_field("signed_on", FieldType.DATE)) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Signed on: 2031-05-09", "2031-05-09"),
        ("Signed on 9 May 2031", "2031-05-09"),
        ("Signed on May 9th, 2031", "2031-05-09"),
        ("Signed on the 7th day of September, 2029", "2029-09-07"),
        ("Signed on the first day of March 2030", "2030-03-01"),
        ("Signed on 28/05/2031 13:45", "2031-05-28"),
        ("Signed on 05/28/31", "2031-05-28"),
        ("Signed on 2031/05/28", "2031-05-28"),
    ],
)
def test_days_are_read_in_many_forms(text: str, day: str) -> None:
    assert best(text, a_field("signed_on", FieldType.DATE)) == day


def test_the_seller_day_total_currency_and_rows_of_a_slip_are_read() -> None:
    columns = (
        a_field("name", FieldType.TEXT),
        a_field("qty", FieldType.NUMBER),
        a_field("price", FieldType.MONEY),
        a_field("total", FieldType.MONEY),
    )
    fields = (
        a_field("shop", FieldType.CATEGORY),
        a_field("bought_on", FieldType.DATE, title="Date"),
        a_field("currency", FieldType.CATEGORY),
        a_field("total", FieldType.MONEY, currency_field=FieldName("currency")),
        a_field("lines", FieldType.ROWS, columns=columns),
    )

    candidates = read(SLIP, *fields)

    assert candidates["shop"][0].value == "HARBOUR LIGHT BAKERY SDN BHD"
    assert candidates["bought_on"][0].value == "2031-05-28"
    assert candidates["currency"][0].value == "MYR"
    assert candidates["total"][0].value in (16.1, 16.11)
    assert [row for line in candidates["lines"] for row in line.value if isinstance(line.value, tuple)] == [  # pyright: ignore
        {"name": "RYE LOAF", "qty": 2.0, "price": 4.5, "total": 9.0},
        {"name": "APPLE TART", "qty": 1.0, "price": 6.2, "total": 6.2},
    ]


def test_the_total_is_neither_the_sum_before_tax_nor_the_change() -> None:
    text = "Subtotal 40.00\nTax 4.00\nTotal 44.00\nCash 50.00\nChange 6.00"

    assert best(text, a_field("total", FieldType.MONEY)) == 44.0


def test_the_days_parties_law_notice_and_clauses_of_an_agreement_are_read() -> None:
    fields = (
        a_field("agreement_date", FieldType.DATE),
        a_field("effective_date", FieldType.DATE),
        a_field("end_date", FieldType.DATE),
        a_field("parties", FieldType.LIST),
        a_field("governing_law", FieldType.LIST),
        a_field("notice_days", FieldType.NUMBER, unit="day"),
        a_field("provisions", FieldType.LIST, values={"No assignment": (), "Audit rights": ("audit",)}),
        a_field("year", FieldType.NUMBER, description="The year of the agreement date"),
    )

    values = {name: [candidate.value for candidate in candidates] for name, candidates in read(LEASE, *fields).items()}

    assert values["agreement_date"][0] == values["effective_date"][0] == "2029-09-07"
    assert values["end_date"][0] == "2032-09-07"
    assert values["parties"] == [("Quarry & Sons, Inc.",), ("Tidewater Mills Ltd.",)]
    assert values["governing_law"] == [("New York",)]
    assert values["notice_days"][0] == 90.0
    assert values["provisions"] == [("No assignment",)]
    assert values["year"][0] == 2029.0


def test_a_category_is_one_of_the_values_that_the_schema_names() -> None:
    kind = a_field("kind", FieldType.CATEGORY, values={"fuel": ("petrol", "diesel"), "food": ("restaurant", "meal")})

    assert best("Kind: petrol station", kind) == "fuel"
    assert best("A meal for two. Restaurant bill.", kind) == "food"
    assert best("Nothing of the sort.", kind) is None


def test_a_category_without_listed_values_is_the_text_beside_its_label() -> None:
    colour = a_field("colour", FieldType.CATEGORY)

    assert best("Size: 3 m\nColour: dark red\nWeight: 2 kg", colour) == "dark red"
    assert best("| Size | Colour |\n| 3 m | dark red |", colour) == "dark red"


def test_a_flag_is_an_answer_beside_its_label_or_a_mention_of_the_label() -> None:
    flag = a_field("waterproof", FieldType.FLAG)

    assert best("Waterproof: no", flag) is False
    assert best("Waterproof | yes", flag) is True
    assert best("It is waterproof.", flag) is True
    assert best("It is not waterproof.", flag) is False
    assert best("It floats.", flag) is None


def test_the_name_in_a_title_has_no_kind_of_document_and_no_day() -> None:
    shop = a_field("vendor", FieldType.CATEGORY)

    candidates = read("TOTAL 3.00", shop, title="Receipt Blue Door 2031-02-03", synonyms=("receipt",))

    assert candidates["vendor"][0].value == "Blue Door"


def test_the_page_count_is_the_highest_page_of_the_passages() -> None:
    pages = a_field("pages", FieldType.NUMBER)
    passages = [Passage(start=0, end=1, page=1), Passage(start=1, end=2, page=7)]
    schema = Schema(bucket=BucketId("papers"), fields=(pages,))

    candidates = RuleExtractor().extract_in_thread(ExtractionInput(title="", text="ab", passages=passages), schema)

    assert candidates[FieldName("pages")][0].value == 7.0


def test_renaming_the_bucket_changes_nothing() -> None:
    fields = (a_field("total", FieldType.MONEY), a_field("vendor", FieldType.CATEGORY))
    material = ExtractionInput(title="", text=SLIP)

    first = RuleExtractor().extract_in_thread(material, Schema(bucket=BucketId("receipts"), fields=fields))
    second = RuleExtractor().extract_in_thread(material, Schema(bucket=BucketId("zebra"), fields=fields))

    assert first == second
