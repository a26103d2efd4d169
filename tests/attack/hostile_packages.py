"""Hostile files that are packages or PDF: Word, PowerPoint, Excel, PDF."""

import io
import random
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx

from tests.attack.hostile_texts import as_file

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MEGABYTE = 1024 * 1024


def a_package(document: Any) -> bytes:
    """Returns the bytes of a Word document, presentation or workbook."""
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def a_workbook_package() -> bytes:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["name", "value"])
    return a_package(book)


def replace_parts(content: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Returns the package with parts replaced or added."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            if name not in parts:
                after.writestr(name, before.read(name))
        for name, data in parts.items():
            after.writestr(name, data)
    return buffer.getvalue()


def a_word_package(body: bytes) -> bytes:
    whole = f'<w:document xmlns:w="{_WORD}"><w:body>'.encode() + body + b"</w:body></w:document>"
    return replace_parts(a_package(docx.Document()), {"word/document.xml": whole})


def a_sheet_package(rows: Iterable[str], after_rows: str = "") -> bytes:
    data = f'<worksheet xmlns="{_SHEET}"><sheetData>{"".join(rows)}</sheetData>{after_rows}</worksheet>'
    return replace_parts(a_workbook_package(), {"xl/worksheets/sheet1.xml": data.encode()})


# -- Word


@as_file("zip_bomb.docx")
def write_word_bomb(path: Path) -> None:
    path.write_bytes(a_word_package(b"<w:p><w:r><w:t>" + b"a" * 200 * _MEGABYTE + b"</w:t></w:r></w:p>"))


@as_file("million_paragraphs.docx")
def write_paragraphs(path: Path) -> None:
    rng = random.Random(3)
    body = "".join(f"<w:p><w:r><w:t>{rng.getrandbits(64)}</w:t></w:r></w:p>" for _ in range(1_000_000))
    path.write_bytes(a_word_package(body.encode()))


@as_file("nested_tables.docx")
def write_nested_word_tables(path: Path) -> None:
    start, end = b"<w:tbl><w:tr><w:tc>", b"</w:tc></w:tr></w:tbl>"
    cell = b"<w:p><w:r><w:t>words</w:t></w:r></w:p>"
    path.write_bytes(a_word_package(start * 80 + cell * 100_000 + end * 80))


@as_file("nested_text_boxes.docx")
def write_text_boxes(path: Path) -> None:
    start, end = b"<w:p><w:r><w:txbxContent>", b"</w:txbxContent></w:r></w:p>"
    path.write_bytes(a_word_package(start * 60 + b"<w:p><w:r><w:t>words</w:t></w:r></w:p>" * 50_000 + end * 60))


@as_file("wide_spans.docx")
def write_word_spans(path: Path) -> None:
    cell = b'<w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>'
    path.write_bytes(a_word_package(b"<w:tbl>" + (b"<w:tr>" + cell * 100 + b"</w:tr>") * 1_000 + b"</w:tbl>"))


# -- PowerPoint


@as_file("zip_bomb.pptx")
def write_slide_bomb(path: Path) -> None:
    content = a_package(pptx.Presentation())
    path.write_bytes(replace_parts(content, {"ppt/presentation.xml": b" " * 200 * _MEGABYTE}))


@as_file("nested_groups.pptx")
def write_nested_groups(path: Path) -> None:
    deck = pptx.Presentation()
    slide: Any = deck.slides.add_slide(deck.slide_layouts[6])
    shapes = slide.shapes
    for _ in range(60):
        shapes = shapes.add_group_shape().shapes
    for _ in range(300):
        shapes.add_textbox(0, 0, 9, 9).text_frame.text = "words"
    path.write_bytes(a_package(deck))


@as_file("one_slide_100000_times.pptx")
def write_repeated_slide(path: Path) -> None:
    deck = pptx.Presentation()
    slide: Any = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "words"
    content = a_package(deck)
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        presentation = package.read("ppt/presentation.xml")
    entry = re.search(rb"<p:sldId [^>]*/>", presentation)
    assert entry is not None
    parts = {"ppt/presentation.xml": presentation.replace(entry[0], entry[0] * 100_000)}
    path.write_bytes(replace_parts(content, parts))


# -- Excel


@as_file("zip_bomb.xlsx")
def write_sheet_bomb(path: Path) -> None:
    row = '<row><c t="inlineStr"><is><t>' + "a" * 30_000 + "</t></is></c></row>"
    path.write_bytes(a_sheet_package(row for _ in range(7_000)))


@as_file("million_rows.xlsx")
def write_rows(path: Path) -> None:
    rng = random.Random(4)
    head = '<row><c t="inlineStr"><is><t>name</t></is></c><c t="inlineStr"><is><t>value</t></is></c></row>'
    rows = (f"<row><c><v>{i}</v></c><c><v>{rng.getrandbits(40)}</v></c></row>" for i in range(1_000_000))
    path.write_bytes(a_sheet_package([head, *rows]))


@as_file("far_row.xlsx")
def write_far_row(path: Path) -> None:
    cell = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    path.write_bytes(a_sheet_package([cell.format(1, "A"), *(cell.format(1048576 - i, "XFD") for i in (2, 1, 0))]))


@as_file("wide_rows.xlsx")
def write_wide_sheet(path: Path) -> None:
    path.write_bytes(a_sheet_package(f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(1, 30_000)))


@as_file("merged_everything.xlsx")
def write_merged_cells(path: Path) -> None:
    merged = "".join(f'<mergeCell ref="A{i}:XFD{i + 9_999}"/>' for i in range(1, 3_000))
    rows = (f'<row r="{i}"><c r="A{i}"><v>{i}</v></c></row>' for i in range(1, 4_000))
    path.write_bytes(a_sheet_package(rows, f"<mergeCells>{merged}</mergeCells>"))


@as_file("tiny_sheets.xlsx")
def write_tiny_sheets(path: Path) -> None:
    count = 15_000
    sheet = (
        f'<worksheet xmlns="{_SHEET}"><sheetData><row><c><v>1</v></c></row><row><c><v>2</v></c></row></sheetData>'
        "</worksheet>"
    )
    sheets = "".join(f'<sheet name="s{i}" sheetId="{i}" r:id="r{i}"/>' for i in range(1, count))
    relations = "".join(
        f'<Relationship Id="r{i}" Type="{_RELATIONS}/worksheet" Target="worksheets/s{i}.xml"/>' for i in range(1, count)
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/s{i}.xml" ContentType="{kind}.worksheet+xml"/>' for i in range(1, count)
    )
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATIONS}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{relations}</Relationships>',
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml"'
        f' ContentType="{kind}.sheet.main+xml"/>{overrides}</Types>',
        **{f"xl/worksheets/s{i}.xml": sheet for i in range(1, count)},
    }
    path.write_bytes(replace_parts(a_workbook_package(), {name: text.encode() for name, text in parts.items()}))


@as_file("shared_string_of_30_mb.xlsx")
def write_shared_string(path: Path) -> None:
    rng = random.Random(5)
    text = "".join(rng.choices("abcdefgh ", k=30_000_000))
    strings = f'<sst xmlns="{_SHEET}"><si><t>{text}</t></si></sst>'
    rows = "".join('<row><c t="s"><v>0</v></c></row>' for _ in range(3_000))
    data = f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {"xl/worksheets/sheet1.xml": data.encode(), "xl/sharedStrings.xml": strings.encode()}
    path.write_bytes(replace_parts(a_workbook_package(), parts))


@as_file("open_formulas.xlsx")
def write_open_formulas(path: Path) -> None:
    path.write_bytes(a_sheet_package(["<row><c><v>1</v></c></row>"], "<x></f>" + " " * 4_000_000 + "</x>"))


# -- PDF


def pdf_bytes(objects: list[bytes]) -> bytes:
    """Returns a PDF with the objects 1, 2, …; the first is the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = list[int]()
    for number, data in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


def a_text_pdf(pages: Iterable[Sequence[str]]) -> bytes:
    """Returns a PDF with the lines of each page in Helvetica."""
    contents = [_page_content(lines) for lines in pages]
    numbers = range(4, 4 + 2 * len(contents), 2)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
    resources = b" /Resources << /Font << /F 3 0 R >> >> >>"
    return pdf_bytes(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(contents), kids),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *chain.from_iterable(
                (page % (number + 1) + resources, content) for number, content in zip(numbers, contents, strict=True)
            ),
        ]
    )


def _page_content(lines: Sequence[str]) -> bytes:
    shown = "".join(f"({line}) Tj 0 -11 Td " for line in lines).encode("latin-1")
    data = b"BT /F 9 Tf 50 750 Td " + shown + b"ET"
    return b"<< /Length %d >> stream\n%s\nendstream" % (len(data), data)


@as_file("cyclic_pages.pdf")
def write_cyclic_pages(path: Path) -> None:
    node = b"<< /Type /Pages /Count 1000000 /Kids [%s] /Parent %d 0 R >>"
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", node % (b"3 0 R " * 9, 3), node % (b"2 0 R", 2)]))


@as_file("claimed_pages.pdf")
def write_claimed_pages(path: Path) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    pages = b"<< /Type /Pages /Count 2000000000 /Kids [3 0 R] >>"
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page]))


@as_file("300000_pages.pdf")
def write_many_pages(path: Path) -> None:
    count = 300_000
    pages = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (count, b"3 0 R " * count)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    content = b"<< /Length 31 >> stream\nBT /F 9 Tf 9 9 Td (words) Tj ET \nendstream"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, content, font]))


@as_file("page_of_20_mb.pdf")
def write_large_page(path: Path) -> None:
    data = b"BT /F 9 Tf 9 9 Td " + b"(words and words) Tj 0 -9 Td " * 700_000 + b" ET"
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    content = b"<< /Length %d >> stream\n%s\nendstream" % (len(data), data)
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, content, font]))
