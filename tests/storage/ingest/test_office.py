"""Word, PowerPoint, Excel and HTML files in the real worker process; the Office files are made by their libraries."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from storage.ingest.documents.chunk import passages_of
from storage.ingest.files import SourceFile
from storage.ingest.load import load_records
from storage.ingest.records import LoadedItem, LoadRemark, RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[ParserWorker]:
    with ParserWorker() as parser_worker:
        yield parser_worker


def load_items(path: Path, worker: ParserWorker) -> list[LoadedItem]:
    return list(load_records(SourceFile(path=path, name=path.name), worker))


def load_single_record(path: Path, worker: ParserWorker) -> SourceRecord:
    (item,) = load_items(path, worker)
    assert isinstance(item, SourceRecord), item
    return item


def rejection_reason_of(path: Path, worker: ParserWorker) -> str:
    (item,) = load_items(path, worker)
    assert isinstance(item, RejectedInput), item
    return item.reason


# -- Word

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def a_word_file(path: Path, fill: Callable[[Any], None], title: str = "") -> Path:
    document = docx.Document()
    document.core_properties.title = title
    fill(document)
    document.save(str(path))
    return path


def test_a_word_file_keeps_headings_lists_and_rows_of_tables_in_order(tmp_path: Path, worker: ParserWorker) -> None:
    def fill(document: Any) -> None:
        document.add_heading("Pump manual", 0)
        document.add_paragraph("Read this first.")
        document.add_heading("Service", 2)
        document.add_paragraph("Oil", style="List Bullet")
        document.add_paragraph("Filter", style="List Bullet")
        table = document.add_table(3, 3)
        for index, words in enumerate(["Part", "Interval", "Note", "Oil", "6 months", "", "Filter", "a year", ""]):
            table.cell(index // 3, index % 3).text = words
        table.cell(1, 2).merge(table.cell(2, 2)).text = "by hand"
        document.add_paragraph("The end.")

    record = load_single_record(a_word_file(tmp_path / "m.docx", fill), worker)
    assert (record.doc_id, record.title, record.page_starts) == ("m.docx", "Pump manual", ())
    assert record.text == (
        "# Pump manual\n\nRead this first.\n\n## Service\n\n- Oil\n- Filter\n\n"
        "Part | Interval | Note\nOil | 6 months | by hand\nFilter | a year | by hand\n\nThe end."
    )


@pytest.mark.parametrize(
    ("property_title", "title"),
    [("Lease of the hall", "Lease of the hall"), ("Microsoft Word - a.doc", "Terms"), ("Document1", "Terms")],
)
def test_the_first_heading_replaces_a_meaningless_title(
    tmp_path: Path, worker: ParserWorker, property_title: str, title: str
) -> None:
    path = a_word_file(tmp_path / "x.docx", lambda document: document.add_heading("Terms", 1), property_title)
    assert load_single_record(path, worker).title == title


def test_a_file_without_title_and_headings_gets_its_file_name_as_title(tmp_path: Path, worker: ParserWorker) -> None:
    path = a_word_file(tmp_path / "Annual_report.docx", lambda document: document.add_paragraph("Words"))
    assert load_single_record(path, worker).title == "Annual report"


def test_text_in_content_controls_boxes_and_notes_is_read_and_deleted_text_is_not(
    tmp_path: Path, worker: ParserWorker
) -> None:
    body = f"""<w:body xmlns:w="{NAMESPACE}">
      <w:sdt><w:sdtContent><w:p><w:r><w:t>Controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>
      <w:p><w:r><w:t>kept</w:t><w:tab/><w:t>on</w:t></w:r>
        <w:del><w:r><w:t>gone</w:t><w:delText>gone</w:delText></w:r></w:del>
        <w:ins><w:r><w:t> new</w:t></w:r></w:ins>
        <w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>
    </w:body>"""

    def fill(document: Any) -> None:
        elements: Any = parse_xml(body)
        for element in reversed(list(elements)):
            document.element.body.insert(0, element)

    assert (
        load_single_record(a_word_file(tmp_path / "x.docx", fill), worker).text == "Controlled\n\nkept\ton new\n\nBoxed"
    )


def test_a_long_paragraph_in_a_heading_style_is_text(tmp_path: Path, worker: ParserWorker) -> None:
    clause = "The supplier shall deliver the goods to the place named in the order within the time. " * 4
    path = a_word_file(tmp_path / "x.docx", lambda document: document.add_heading(clause, 2))
    assert load_single_record(path, worker).text == clause.strip()


def test_a_word_file_without_text_is_reported(tmp_path: Path, worker: ParserWorker) -> None:
    assert "has no text" in rejection_reason_of(a_word_file(tmp_path / "x.docx", lambda document: None), worker)


# -- PowerPoint


def test_each_slide_is_a_page_with_its_title_text_table_chart_and_notes(tmp_path: Path, worker: ParserWorker) -> None:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Sales"  # pyright: ignore[reportOptionalMemberAccess]
    placeholders: Any = first.placeholders
    body = placeholders[1].text_frame
    body.text = "Up by 5 %"
    sub_paragraph = body.add_paragraph()
    sub_paragraph.text, sub_paragraph.level = "mostly pumps", 1
    first.notes_slide.notes_text_frame.text = "Say thanks."  # pyright: ignore[reportOptionalMemberAccess]
    deck.slides.add_slide(deck.slide_layouts[6])
    third = deck.slides.add_slide(deck.slide_layouts[6])
    box = Inches(1), Inches(1), Inches(3), Inches(2)
    table = third.shapes.add_table(2, 2, *box).table
    for index, words in enumerate(["Region", "Total", "North", "7"]):
        table.cell(index // 2, index % 2).text = words
    chart: Any = CategoryChartData()
    chart.categories = ["2030", "2031"]
    chart.add_series("Pumps", (3, 4.5))
    third.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *box, chart)
    third.shapes.add_group_shape().shapes.add_textbox(*box).text_frame.text = "In a group"
    deck.save(str(tmp_path / "deck.pptx"))

    record = load_single_record(tmp_path / "deck.pptx", worker)

    text_by_page = {
        passage.page: record.text[passage.start : passage.end]
        for passage in passages_of(record.text, record.page_starts)
    }
    assert text_by_page == {
        1: "# Sales\n\nUp by 5 %\n- mostly pumps\n\nNotes: Say thanks.",
        3: "Region | Total\nNorth | 7\n\n | Pumps\n2030 | 3\n2031 | 4.5\n\nIn a group",
    }
    assert (record.title, len(record.page_starts)) == ("Sales", 3)


# -- Excel


def a_workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_each_row_of_each_sheet_is_a_document_with_typed_values(tmp_path: Path, worker: ParserWorker) -> None:
    parts = [
        ["id", "Name", "Price", "Since", "At", "In stock"],
        ["A1", "Pump", 12.5, datetime(2031, 3, 1), time(8, 30), True],  # noqa: DTZ001 - cells have no time zone
        [None] * 6,
        ["A2", "Valve", 7.0, date(2032, 1, 2), None, False],
    ]
    first, second, third = load_items(a_workbook(tmp_path / "x.xlsx", Parts=parts, Town=[["Town"], ["Bern"]]), worker)
    assert isinstance(first, SourceRecord)
    assert isinstance(second, SourceRecord)
    assert isinstance(third, SourceRecord)
    assert (first.doc_id, first.title, str(first.origin)) == ("x.xlsx#Parts#A1", "Pump", "x.xlsx, sheet Parts, line 2")
    assert first.metadata == {
        "id": "A1", "Name": "Pump", "Price": 12.5, "Since": "2031-03-01", "At": "08:30:00", "In stock": True,
    }  # fmt: skip
    assert first.text == "id: A1\nName: Pump\nPrice: 12.5\nSince: 2031-03-01\nAt: 08:30:00\nIn stock: yes"
    assert (second.doc_id, second.metadata["Price"], str(second.origin)) == (
        "x.xlsx#Parts#A2",
        7,
        "x.xlsx, sheet Parts, line 4",
    )
    assert (third.doc_id, third.metadata) == ("x.xlsx#Town#1", {"Town": "Bern"})


def test_the_header_is_found_below_titles_and_merged_cells(tmp_path: Path, worker: ParserWorker) -> None:
    rows = [
        ["Sales of pumps", None, None, None],
        [],
        ["Region", "Q1", None, "Q2", None, None],
        [None, "Units", "Total", "Units", "Total", None],
        ["North", 1, 10, 2, 20, None],
        [None, 3, 30, 4, 40, "a remark"],
    ]
    path = a_workbook(tmp_path / "x.xlsx", Sales=rows)
    book = openpyxl.load_workbook(path)
    for merged_range in ("A1:E1", "A3:A4", "B3:C3", "D3:E3", "A5:A6"):
        book["Sales"].merge_cells(merged_range)
    book.save(path)

    remark, first, second = load_items(path, worker)

    assert isinstance(remark, LoadRemark)
    assert "Sales of pumps" in remark.text
    assert isinstance(first, SourceRecord)
    assert isinstance(second, SourceRecord)
    names = ["Region", "Q1 Units", "Q1 Total", "Q2 Units", "Q2 Total"]
    assert first.metadata == dict(zip(names, ["North", 1, 10, 2, 20], strict=True))
    assert second.metadata == dict(zip([*names, "column 6"], ["North", 3, 30, 4, 40, "a remark"], strict=True))


def test_cells_right_of_the_last_column_that_is_read_are_remarked(tmp_path: Path, worker: ParserWorker) -> None:
    row = ["A1", "Pump", *[None] * 1_999, "far", "away"]
    path = a_workbook(tmp_path / "x.xlsx", Parts=[["id", "Name"], row])

    items = load_items(path, worker)

    remarks = [item.text for item in items if isinstance(item, LoadRemark)]
    [record] = [item for item in items if isinstance(item, SourceRecord)]
    assert any("2 cells of the sheet Parts are right of column 2,000" in remark for remark in remarks)
    assert record.metadata["Name"] == "Pump"


def test_formulas_without_results_and_hidden_sheets_are_remarked(tmp_path: Path, worker: ParserWorker) -> None:
    path = a_workbook(tmp_path / "x.xlsx", Sums=[["n", "twice"], [1, "=A2*2"], [2, "#N/A"]], Secret=[["a"], ["b"]])
    book = openpyxl.load_workbook(path)
    book["Secret"].sheet_state = "hidden"
    book.save(path)

    loaded = load_items(path, worker)

    assert [item.metadata for item in loaded if isinstance(item, SourceRecord)] == [{"n": 1}, {"n": 2}]
    remarks = [item.text for item in loaded if isinstance(item, LoadRemark)]
    assert ["1 formulas" in remarks[0], "Secret is hidden" in remarks[1]] == [True, True]


def test_an_empty_workbook_gives_nothing(tmp_path: Path, worker: ParserWorker) -> None:
    assert load_items(a_workbook(tmp_path / "x.xlsx", Empty=[]), worker) == []


# -- HTML


def a_web_page(path: Path, body: str, head: str = "") -> Path:
    path.write_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", encoding="utf-8")
    return path


def test_a_page_is_read_without_navigation_scripts_and_hidden_elements(tmp_path: Path, worker: ParserWorker) -> None:
    body = """<nav><a href="/">Home</a></nav><script>track()</script><style>p {}</style><p hidden>not shown</p>
      <p style="display: none">nor this</p><h1>The <em>pump</em></h1><p>First
      line.<br>Second&nbsp;line &amp; more.</p><ul><li>Oil</li><li><p>Filter</p></li></ul>
      <pre>  a\n    b</pre><dl><dt>Weight</dt><dd>3 kg</dd></dl><div>Loose <b>bold</b> text</div><form><button>Send
      </button></form>"""
    record = load_single_record(a_web_page(tmp_path / "x.htm", body, "<title>Pump B-120</title>"), worker)
    assert (record.doc_id, record.title) == ("x.htm", "Pump B-120")
    assert record.text == (
        "# The pump\n\nFirst line.\nSecond line & more.\n\n- Oil\n- Filter\n\n  a\n    b\n\nWeight: 3 kg\n\n"
        "Loose bold text"
    )


def test_table_rows_are_lines_and_spanning_cells_are_repeated(tmp_path: Path, worker: ParserWorker) -> None:
    body = """<table><caption>Prices</caption><tr><th>Kind<th>Size<th>Price</tr>
      <tr><td rowspan=2>Pump<td>small<td>5</tr><tr><td>large<td>9</tr></table>after"""
    text = load_single_record(a_web_page(tmp_path / "x.html", body), worker).text
    assert text == "Prices\nKind | Size | Price\nPump | small | 5\nPump | large | 9\n\nafter"


def test_a_layout_table_is_read_as_text(tmp_path: Path, worker: ParserWorker) -> None:
    body = "<table><tr><td>menu<td><h2>Title</h2><p>Words</p><table><tr><td>a<td>b</table></table>"
    assert (
        load_single_record(a_web_page(tmp_path / "x.html", body), worker).text == "menu\n\n## Title\n\nWords\n\na | b"
    )


def test_only_the_main_element_of_a_page_is_read(tmp_path: Path, worker: ParserWorker) -> None:
    body = "<header>Shop</header><main><h1>Pump</h1><p>Good.</p></main><footer>Imprint</footer>"
    assert load_single_record(a_web_page(tmp_path / "x.html", body), worker).text == "# Pump\n\nGood."


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-2", "cp1252", "utf-16"])
def test_a_page_is_read_in_its_encoding(tmp_path: Path, worker: ParserWorker, encoding: str) -> None:
    declared = "" if encoding == "cp1252" else f'<meta charset="{encoding}">'
    (tmp_path / "x.html").write_bytes(f"<html><head>{declared}</head><body>Größe {encoding}".encode(encoding))
    assert load_single_record(tmp_path / "x.html", worker).text == f"Größe {encoding}"


def test_a_page_without_text_is_reported(tmp_path: Path, worker: ParserWorker) -> None:
    assert "no text" in rejection_reason_of(a_web_page(tmp_path / "x.html", "<img src=x>"), worker)
    (tmp_path / "y.html").write_bytes(b"")
    assert "empty" in rejection_reason_of(tmp_path / "y.html", worker)
