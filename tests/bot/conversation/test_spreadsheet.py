"""Lines of CSV: reading returns the written values, and no cell starts a formula."""

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.spreadsheet import BYTE_ORDER_MARK, cell_text, neutralise_formula, sheet_for_schemas
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRecord
from storage.search.schema import FieldType, Schema
from tests.builders import RECEIPTS, a_field, a_row

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_TEXTS = st.text(st.one_of(st.sampled_from("=+-@\t\r\n＝'\",; \x00a1"), st.characters(codec="utf-8")), max_size=20)
_SCHEMA = Schema(
    bucket=RECEIPTS,
    fields=(a_field("note", FieldType.TEXT), a_field("total", FieldType.MONEY, currency="USD")),
)


def read_rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")))


def a_record(doc_id: str = "d", title: str = "t", source: str = "s", **values: str | float | bool) -> DocumentRecord:
    return DocumentRecord(
        doc_id=DocId(doc_id),
        bucket=RECEIPTS,
        title=title,
        source=source,
        values={FieldName(name): value for name, value in values.items()},
    )


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_no_cell_starts_a_formula_and_every_text_is_kept(doc_id: str, title: str, note: str, source: str) -> None:
    sheet = sheet_for_schemas({RECEIPTS: _SCHEMA})
    [row] = read_rows(sheet.record_lines([a_record(doc_id, title, source, note=note)]))

    assert len(row) == 5
    for text, cell in zip((doc_id, title, note, source), (row[0], row[1], row[2], row[4]), strict=True):
        assert cell.startswith("'") or not cell.lstrip(" \"'").startswith(_STARTS)
        assert cell in (text_without_nul := text.replace("\x00", ""), f"'{text_without_nul}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_stays_a_number_with_its_sign(number: float) -> None:
    [row] = read_rows(sheet_for_schemas({RECEIPTS: _SCHEMA}).record_lines([a_record(total=number)]))

    assert float(row[3]) == number


def test_a_text_that_looks_like_a_number_is_neutralised_and_a_number_is_not() -> None:
    assert cell_text("-12.5") == "'-12.5"
    assert cell_text(-12.5) == "-12.5"
    assert cell_text(3.0) == "3"


def test_the_header_names_titles_and_units_and_begins_with_a_byte_order_mark() -> None:
    schema = Schema(
        bucket=RECEIPTS,
        fields=(a_field("net_weight", FieldType.NUMBER, unit="kg"), a_field("total", FieldType.MONEY, currency="USD")),
    )
    header = sheet_for_schemas({RECEIPTS: schema}).header_line()

    assert header.startswith(BYTE_ORDER_MARK)
    assert read_rows(header) == [["doc_id", "title", "net weight (kg)", "total (USD)", "source"]]


def test_fields_of_several_buckets_with_the_same_meaning_share_a_column() -> None:
    invoices = BucketId("invoices")
    sheet = sheet_for_schemas(
        {
            RECEIPTS: Schema(bucket=RECEIPTS, fields=(a_field("vendor"), a_field("total", FieldType.NUMBER))),
            invoices: Schema(bucket=invoices, fields=(a_field("vendor"), a_field("total", FieldType.TEXT))),
        }
    )

    assert read_rows(sheet.header_line()) == [["doc_id", "title", "bucket", "vendor", "total", "total 2", "source"]]
    assert read_rows(sheet.record_lines([a_record(vendor="Acme", total=2.0)])) == [
        ["d", "t", "receipts", "Acme", "", "2", "s"]
    ]


def test_lists_rows_and_flags_have_a_cell_each() -> None:
    assert cell_text(("red", "blue")) == "red; blue"
    assert cell_text(("=1+1", "blue")) == "'=1+1; blue"
    assert cell_text(True) == "true"
    assert cell_text(None) == ""
    assert json.loads(cell_text((a_row(name="=tire", qty=4.0),))) == [{"name": "=tire", "qty": 4}]


@pytest.mark.parametrize("text", ["  =1+1", '"=1+1"', " ' \"@SUM(A1)", "\u201c=1+1\u201d", '"\t=1', "`-1"])
def test_a_formula_after_blanks_and_quotes_is_neutralised(text: str) -> None:
    assert neutralise_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["a=1", "it's", '"quoted"', "'tis", "", "''"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert neutralise_formula(text) == text


def test_column_titles_and_bucket_names_are_neutralised_too() -> None:
    invoices = BucketId("@invoices")
    schema = Schema(bucket=invoices, fields=(a_field("=cmd", FieldType.NUMBER),))
    sheet = sheet_for_schemas({RECEIPTS: _SCHEMA, invoices: schema})
    [row] = read_rows(sheet.record_lines([replace(a_record(), bucket=invoices)]))

    assert "'=cmd" in read_rows(sheet.header_line())[0]
    assert row[2] == "'@invoices"
