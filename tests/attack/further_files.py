"""Hostile files of a second attack, which nobody had listed before: packages that refer to themselves, odd names, files
that grow while they are read, and rows that cost more than their size shows.
"""

import contextlib
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import docx

from tests.attack.hostile_packages import a_package, a_sheet_package, a_workbook_package, pdf_bytes, replace_parts
from tests.attack.hostile_texts import as_file, invent_words, write_lines

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LONG_RUNS = frozenset(  # that take minutes of CPU within their bounds
    (
        "million_short_rows.csv",
        "two_million_short_records.jsonl.gz",
        "2000_fields_and_short_records.jsonl",
        "new_keys_in_20000_lines.jsonl",
        "20_million_cells.csv",
        "names_in_20000_letters.jsonl",
        "growing.csv",
        "growing.jsonl",
    )
)
_GROWING_S = 5
_FOLDER_DEPTH = 1_500

# -- more work than the size shows


@as_file("million_short_rows.csv")
def write_short_rows(path: Path) -> None:
    write_lines(path, ["a", *("7" for _ in range(1_000_000))])


@as_file("two_million_short_records.jsonl.gz")
def write_short_records(path: Path) -> None:
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(f'{{"doc_id":"{number}","text":"a"}}\n' for number in range(2_000_000))


@as_file("2000_fields_and_short_records.jsonl")
def write_fields_and_records(path: Path) -> None:
    fields = ({f"key {line} {i}": f"value {i}" for i in range(50)} for line in range(40))
    lines = [json.dumps({"doc_id": f"f{i}", "text": "t", "metadata": keys}) for i, keys in enumerate(fields)]
    write_lines(path, lines + [json.dumps({"doc_id": f"d{i}", "text": "Dear all, words"}) for i in range(50_000)])


@as_file("new_keys_in_20000_lines.jsonl")
def write_many_new_keys(path: Path) -> None:
    write_lines(path, (json.dumps({"id": line, **{f"k{line}_{i}": i for i in range(30)}}) for line in range(20_000)))


@as_file("20_million_cells.csv")
def write_many_cells(path: Path) -> None:
    row = ",".join(["7"] * 2_000)
    write_lines(path, [",".join(f"c{i}" for i in range(2_000)), *(row for _ in range(11_000))])


@as_file("lists_in_600_lines.jsonl.gz")
def write_long_lists(path: Path) -> None:
    members = json.dumps([f"m{number}" for number in range(60_000)])
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(f'{{"doc_id":"{i}","text":"t","metadata":{{"members":{members}}}}}\n' for i in range(600))


@as_file("names_in_20000_letters.jsonl")
def write_letters(path: Path) -> None:
    words, rng = [word.capitalize() for word in invent_words(3_000, seed=5)], random.Random(6)
    letters = (
        f"Customer: {rng.choice(words)} {rng.choice(words)} Ltd\nContact: {rng.choice(words)} {rng.choice(words)}\n"
        f"Supplier: {rng.choice(words)} {rng.choice(words)} Inc.\nAmount: EUR {rng.randint(1, 9_999)}\n\nWords."
        for _ in range(20_000)
    )
    write_lines(path, (json.dumps({"doc_id": f"d{i}", "text": text}) for i, text in enumerate(letters)))


# -- packages


@as_file("relations_to_itself.docx")
def write_relation_loop(path: Path) -> None:
    relations = "".join(
        f'<Relationship Id="r{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(
            [("officeDocument", "document.xml"), ("aFChunk", "document.xml"), ("header", "header1.xml")] * 50
        )
    )
    back = f'<Relationships xmlns="{_RELATIONSHIPS}">{relations}</Relationships>'.encode()
    content = a_package(docx.Document())
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        before = package.read("word/_rels/document.xml.rels")
    parts = {
        "word/_rels/document.xml.rels": before.replace(b"</Relationships>", relations.encode() + b"</Relationships>"),
        "word/header1.xml": b"<w:hdr xmlns:w='urn:x'/>",
        "word/_rels/header1.xml.rels": back,
    }
    path.write_bytes(replace_parts(content, parts))


@as_file("styles_based_on_each_other.docx")
def write_style_loop(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("words", style="Heading 1")
    content = a_package(document)
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        styles = package.read("word/styles.xml")
    looped = re.sub(rb'<w:basedOn w:val="[^"]*"/>', b'<w:basedOn w:val="Heading1"/>', styles)
    path.write_bytes(replace_parts(content, {"word/styles.xml": looped}))


@as_file("zip_in_a_part.xlsx")
def write_nested_zip(path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("a.xml", b"0" * 200_000_000)
    for _ in range(3):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("b.zip", bomb.getvalue())
        bomb = outer
    parts = {"xl/embeddings/a.xlsx": bomb.getvalue(), "xl/worksheets/sheet1.xml": bomb.getvalue()}
    path.write_bytes(replace_parts(a_workbook_package(), parts))


@as_file("numbers_beyond_days.xlsx")
def write_odd_numbers(path: Path) -> None:
    content = a_package_with_dates()
    values = ("1e308", "-1e308", "1e999", "99999999999", "-5", "1e-320", "9" * 4_000, "")
    rows = "".join(
        f'<row><c t="inlineStr"><is><t>n{i}</t></is></c><c s="1"><v>{v}</v></c></row>' for i, v in enumerate(values)
    )
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>'
        '<c t="inlineStr"><is><t>name</t></is></c><c t="inlineStr"><is><t>day</t></is></c></row>'
        f"{rows}</sheetData></worksheet>"
    )
    path.write_bytes(replace_parts(content, {"xl/worksheets/sheet1.xml": sheet.encode()}))


def a_package_with_dates() -> bytes:
    """Returns a workbook whose style 1 shows days."""
    import openpyxl

    book = openpyxl.Workbook()
    book.worksheets[0]["A1"].number_format = "yyyy-mm-dd"
    return a_package(book)


@as_file("30_million_shared_strings.xlsx")
def write_shared_strings(path: Path) -> None:
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts = {
        "xl/sharedStrings.xml": f'<sst xmlns="{sheet}">'.encode() + b"<si/>" * 30_000_000 + b"</sst>",
    }
    content = a_sheet_package(['<row><c t="s"><v>0</v></c></row>'])
    noise = random.Random(7).randbytes(2_000_000)  # against the limit of the ratio
    path.write_bytes(replace_parts(content, parts | {"xl/media/a.png": noise}))


@as_file("stream_of_a_gigabyte.pdf")
def write_flate_bomb(path: Path) -> None:
    compressor = zlib.compressobj(9)
    piece = b"(words) Tj 0 -9 Td " * 50_000
    data = b"".join(
        [compressor.compress(b"BT /F 9 Tf "), *(compressor.compress(piece) for _ in range(1_000)), compressor.flush()]
    )
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    content = b"<< /Length %d /Filter /FlateDecode >> stream\n%s\nendstream" % (len(data), data)
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, content, font]))


@as_file("form_in_itself.pdf")
def write_form_loop(path: Path) -> None:
    resources = b"/Resources << /XObject << /X 4 0 R /Y 5 0 R >> >>"
    forms = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] %s /Length 12 >> stream\n/X Do /Y Do \nendstream" % resources
    )
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R %s >>" % resources
    path.write_bytes(pdf_bytes([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, forms, forms]))


# -- character sets, names, and what is no ordinary file


@as_file("utf16_without_mark.csv")
def write_unmarked_utf16(path: Path) -> None:
    path.write_bytes("name;town\nÅsa;Malmö\n".encode("utf-16-le") * 1_000)


@as_file("chinese_utf16_without_mark.txt")
def write_unmarked_chinese(path: Path) -> None:
    path.write_bytes("租赁合同的期限为三年租金每月付款".encode("utf-16-le") * 3_000)


@as_file("line\nbreak\u202egnp.exe\u2066.txt")
def write_odd_name(path: Path) -> None:
    path.write_text("words", encoding="utf-8")


@as_file("n" * 251 + ".txt")
def write_long_file_name(path: Path) -> None:
    path.write_text("words", encoding="utf-8")


@as_file("pipe.txt")
def write_pipe(path: Path) -> None:
    os.mkfifo(path)


@as_file("endless.csv")
def write_endless_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@as_file("hole_of_3_gb.jsonl")
def write_hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3_000_000_000)


def _write_growing_file(path: Path, line: str) -> None:
    """Starts a process that appends to the file for a while."""
    code = (
        "import sys, time\nend = time.monotonic() + float(sys.argv[3])\n"
        "while time.monotonic() < end:\n"
        "    open(sys.argv[1], 'a').write(sys.argv[2] * 2000)\n    time.sleep(.01)\n"
    )
    path.write_text(line * 2_000, encoding="utf-8")
    subprocess.Popen([sys.executable, "-c", code, str(path), line, str(_GROWING_S)], stderr=subprocess.DEVNULL)


@as_file("growing.csv")
def write_growing_table(path: Path) -> None:
    _write_growing_file(path, "a,b,c\n")


@as_file("growing.jsonl")
def write_growing_records(path: Path) -> None:
    _write_growing_file(path, '{"id": 7, "name": "words"}\n')


@as_file("folder_1500_deep")
def write_deep_folder(path: Path) -> None:
    """Writes a file into the innermost of many folders, whose whole path is shorter than the system's limit."""
    path.mkdir()
    with contextlib.chdir(path):
        for _ in range(_FOLDER_DEPTH):
            Path("d").mkdir()
            os.chdir("d")
        Path("deep.txt").write_text("words", encoding="utf-8")


def remove_deep_folder(path: Path) -> None:
    """Removes the folder, which is too deep for `shutil.rmtree`."""
    for _ in range(_FOLDER_DEPTH):  # moves the folder within the folder up, again and again
        inner = path / "d"
        if not inner.exists():
            break
        inner.rename(path.with_name("d"))
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
        path.with_name("d").rename(path)
    for file in path.iterdir():
        file.unlink()
    path.rmdir()
