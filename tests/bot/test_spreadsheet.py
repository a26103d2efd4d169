"""Lines of CSV: what is read back is what was written, and no cell starts a formula."""

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.spreadsheet import BOM, cell, neutral, sheet_for
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import Record
from storage.search.schema import FieldType, Schema
from tests.builders import RECEIPTS, a_field, a_row

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_TEXTS = st.text(st.one_of(st.sampled_from("=+-@\t\r\n＝'\",; \x00a1"), st.characters(codec="utf-8")), max_size=20)
_SCHEMA = Schema(
    bucket=RECEIPTS,
    fields=(a_field("note", FieldType.TEXT), a_field("total", FieldType.MONEY, currency="USD")),
)


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix(BOM), newline="")))


def a_record(doc_id: str = "d", title: str = "t", source: str = "s", **values: str | float | bool) -> Record:
    return Record(
        doc_id=DocId(doc_id),
        bucket=RECEIPTS,
        title=title,
        source=source,
        values={FieldName(name): value for name, value in values.items()},
    )


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_no_cell_starts_a_formula_and_every_text_comes_back(doc_id: str, title: str, note: str, source: str) -> None:
    sheet = sheet_for({RECEIPTS: _SCHEMA})
    [row] = read(sheet.lines([a_record(doc_id, title, source, note=note)]))

    assert len(row) == 5
    for written, said in zip((doc_id, title, note, source), (row[0], row[1], row[2], row[4]), strict=True):
        assert said.startswith("'") or not said.lstrip(" \"'").startswith(_STARTS)
        assert said in (clean := written.replace("\x00", ""), f"'{clean}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_stays_a_number_with_its_sign(number: float) -> None:
    [row] = read(sheet_for({RECEIPTS: _SCHEMA}).lines([a_record(total=number)]))

    assert float(row[3]) == number


def test_a_text_that_looks_like_a_number_is_neutralised_and_a_number_is_not() -> None:
    assert cell("-12.5") == "'-12.5"
    assert cell(-12.5) == "-12.5"
    assert cell(3.0) == "3"


def test_the_header_names_titles_and_units_and_begins_with_a_byte_order_mark() -> None:
    schema = Schema(
        bucket=RECEIPTS,
        fields=(a_field("net_weight", FieldType.NUMBER, unit="kg"), a_field("total", FieldType.MONEY, currency="USD")),
    )
    header = sheet_for({RECEIPTS: schema}).header()

    assert header.startswith(BOM)
    assert read(header) == [["doc_id", "title", "net weight (kg)", "total (USD)", "source"]]


def test_several_buckets_share_a_column_where_they_mean_the_same() -> None:
    other = BucketId("invoices")
    sheet = sheet_for(
        {
            RECEIPTS: Schema(bucket=RECEIPTS, fields=(a_field("vendor"), a_field("total", FieldType.NUMBER))),
            other: Schema(bucket=other, fields=(a_field("vendor"), a_field("total", FieldType.TEXT))),
        }
    )

    assert read(sheet.header()) == [["doc_id", "title", "bucket", "vendor", "total", "total 2", "source"]]
    assert read(sheet.lines([a_record(vendor="Acme", total=2.0)])) == [["d", "t", "receipts", "Acme", "", "2", "s"]]


def test_lists_rows_and_flags_have_a_cell_each() -> None:
    assert cell(("red", "blue")) == "red; blue"
    assert cell(("=1+1", "blue")) == "'=1+1; blue"
    assert cell(True) == "true"
    assert cell(None) == ""
    assert json.loads(cell((a_row(name="=tire", qty=4.0),))) == [{"name": "=tire", "qty": 4}]


@pytest.mark.parametrize("text", ["  =1+1", '"=1+1"', " ' \"@SUM(A1)", "\u201c=1+1\u201d", '"\t=1', "`-1"])
def test_a_formula_behind_blanks_and_quotes_is_neutralised_too(text: str) -> None:
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("text", ["a=1", "it's", '"quoted"', "'tis", "", "''"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert neutral(text) == text


def test_titles_of_columns_and_names_of_buckets_are_data_too() -> None:
    other = BucketId("@invoices")
    schema = Schema(bucket=other, fields=(a_field("=cmd", FieldType.NUMBER),))
    sheet = sheet_for({RECEIPTS: _SCHEMA, other: schema})
    [row] = read(sheet.lines([replace(a_record(), bucket=other)]))

    assert "'=cmd" in read(sheet.header())[0]
    assert row[2] == "'@invoices"
