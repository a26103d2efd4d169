"""What a row of a table is called."""

from pathlib import Path

import openpyxl
import pytest

from storage.ingest.files import SourceFile
from storage.ingest.load import load_records
from storage.ingest.records import SourceRecord
from storage.ingest.worker import ParserWorker

_ORDERS = """\
order_id,status,order_date,amount
5001,open,2026-03-01,20
5002,paid,2026-03-02,30
5003,open,2026-03-04,10
5004,paid,2026-03-09,40
5005,open,2026-03-11,70
"""
_CUSTOMERS = "cust_no,customer\n1,Pine Bakery\n2,Rook Studio\n3,Ida Berg\n4,Tom Fox\n"
_TAKINGS = "Business Date,Site,Cash\n" + "".join(
    f"{day:02d}/10/2026,{site},{day * 10}\n" for day in range(1, 5) for site in ("Old Market", "Harbourside")
)


def _titles_of(path: Path) -> list[str]:
    with ParserWorker() as worker:
        items = list(load_records(SourceFile(path=path, name=path.name), worker))
    return [item.title for item in items if isinstance(item, SourceRecord)]


@pytest.mark.parametrize(
    ("table", "titles"),
    [
        pytest.param(_ORDERS, ["Order 5001", "Order 5002", "Order 5003"], id="its number, not a status that repeats"),
        pytest.param(_ORDERS.replace("order_id", "id"), ["Order 5001"], id="the table's noun before a bare id"),
        pytest.param(_ORDERS.replace("order_id", "Case"), ["Case 5001"], id="the first column numbers the rows"),
        pytest.param(_ORDERS.replace("500", "A-500"), ["A-5001", "A-5002"], id="a code needs no noun"),
        pytest.param(_ORDERS.replace("status", "name"), ["open", "paid"], id="a name is a name"),
        pytest.param(_CUSTOMERS, ["Pine Bakery"], id="names that differ"),
        pytest.param(_TAKINGS, ["Old Market, 01/10/2026", "Harbourside, 01/10/2026"], id="a place and a day"),
    ],
)
def test_rows_of_a_csv_file_have_names_of_their_own(tmp_path: Path, table: str, titles: list[str]) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(table, encoding="utf-8")

    assert _titles_of(path)[: len(titles)] == titles


def test_rows_of_a_sheet_are_named_as_those_of_a_csv_file(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for line in _ORDERS.splitlines():
        sheet.append([int(cell) if cell.isdigit() else cell for cell in line.split(",")])
    workbook.save(path := tmp_path / "book.xlsx")

    assert _titles_of(path)[:2] == ["Order 5001", "Order 5002"]
