"""Broken, encrypted, mislabelled and malicious files: each is rejected with a reason."""

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import docx
import openpyxl
import pytest

from storage.ingest import load
from storage.ingest.files import SourceFile
from storage.ingest.limits import ParserLimits
from storage.ingest.pages import office_package
from storage.ingest.records import RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def worker() -> Iterator[ParserWorker]:
    with ParserWorker(ParserLimits(memory_mb=512)) as parser_worker:
        yield parser_worker


def text_or_reason_of(path: Path, worker: ParserWorker) -> str:
    """Returns the text of the document, or the reason why there is none."""
    (item,) = load.load_records(SourceFile(path=path, name=path.name), worker)
    assert isinstance(item, (SourceRecord, RejectedInput))
    return item.reason if isinstance(item, RejectedInput) else item.text


def a_word_file(words: str = "Words") -> bytes:
    buffer = io.BytesIO()
    document = docx.Document()
    document.add_paragraph(words)
    document.save(buffer)
    return buffer.getvalue()


def a_workbook() -> bytes:
    buffer, book = io.BytesIO(), openpyxl.Workbook()
    book.worksheets[0].append(["a"])
    book.worksheets[0].append(["b"])
    book.save(buffer)
    return buffer.getvalue()


def replace_part(content: bytes, part: str, data: bytes) -> bytes:
    """Returns the package with one part replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(name, data if name == part else before.read(name))
    return buffer.getvalue()


def claim_part_size(content: bytes, part: str, size: int) -> bytes:
    """Returns the package with a false unpacked size of the part in its directory."""
    name = part.encode()
    entry = content.index(b"PK\x01\x02", content.rindex(name) - 46)
    return content[: entry + 24] + size.to_bytes(4, "little") + content[entry + 28 :]


def write_file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "broken, or no Office file"),
        (b"just words", "broken, or no Office file"),
        (a_word_file()[:-200], "broken, or no Office file"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted and needs a password"),
        (OLE, "before 2007"),
    ],
)
def test_a_file_that_is_no_package_is_rejected(
    tmp_path: Path, worker: ParserWorker, kind: str, content: bytes, reason: str
) -> None:
    assert reason in text_or_reason_of(write_file(tmp_path / f"x.{kind}", content), worker)


def test_a_package_of_another_program_is_rejected(tmp_path: Path, worker: ParserWorker) -> None:
    assert "no Word document" in text_or_reason_of(write_file(tmp_path / "x.docx", a_workbook()), worker)
    assert "no PowerPoint" in text_or_reason_of(write_file(tmp_path / "x.pptx", a_workbook()), worker)
    assert "no Excel workbook" in text_or_reason_of(write_file(tmp_path / "x.xlsx", a_word_file()), worker)
    assert "no PDF" in text_or_reason_of(write_file(tmp_path / "x.pdf", a_word_file()), worker)


def test_a_package_with_a_damaged_part_is_rejected(tmp_path: Path, worker: ParserWorker) -> None:
    truncated = replace_part(a_word_file(), "word/document.xml", b"<w:document")
    assert "broken, or no Word document" in text_or_reason_of(write_file(tmp_path / "x.docx", truncated), worker)
    content = bytearray(a_word_file("x" * 5000))
    offset = content.index(b"word/document.xml") + 40
    content[offset : offset + 20] = b"\xff" * 20
    assert "broken, or no Office file" in text_or_reason_of(write_file(tmp_path / "y.docx", bytes(content)), worker)


def test_a_zip_bomb_is_detected_by_its_directory(tmp_path: Path, worker: ParserWorker) -> None:
    dense = replace_part(a_word_file(), "word/document.xml", b" " * 30 * MEGABYTE)
    assert "zip bomb" in text_or_reason_of(write_file(tmp_path / "x.docx", dense), worker)
    large = claim_part_size(a_workbook(), "xl/workbook.xml", 300 * MEGABYTE)
    assert "unpacks to more than 256 MB" in text_or_reason_of(write_file(tmp_path / "x.xlsx", large), worker)


def test_a_part_with_a_false_size_is_not_unpacked_completely(tmp_path: Path, worker: ParserWorker) -> None:
    dense = replace_part(a_word_file(), "word/document.xml", b" " * 30 * MEGABYTE)
    small = claim_part_size(dense, "word/document.xml", 1000)
    assert "broken, or no Office file" in text_or_reason_of(write_file(tmp_path / "x.docx", small), worker)


def test_entities_are_refused_and_nothing_outside_is_read(tmp_path: Path, worker: ParserWorker) -> None:
    secret = write_file(tmp_path / "secret.txt", b"the secret")
    for entity in (f'<!ENTITY a SYSTEM "{secret.as_uri()}">', '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">'):
        xml = f"<?xml version='1.0'?><!DOCTYPE w [{entity}]><w>&a;</w>"
        for encoding in ("utf-8", "utf-16"):
            content = replace_part(a_word_file(), "word/document.xml", xml.encode(encoding))
            assert "document type" in text_or_reason_of(write_file(tmp_path / "x.docx", content), worker)
            content = replace_part(a_workbook(), "xl/worksheets/sheet1.xml", xml.encode(encoding))
            assert "document type" in text_or_reason_of(write_file(tmp_path / "x.xlsx", content), worker)
        page = write_file(tmp_path / "x.html", f"<!DOCTYPE html [{entity}]><p>words &a;".encode())
        assert "secret" not in text_or_reason_of(page, worker)
        assert "haha" not in text_or_reason_of(page, worker)


def test_files_that_are_nested_too_deeply_are_rejected(tmp_path: Path, worker: ParserWorker) -> None:
    nested_page = b"<div>" * 100_000 + b"words"
    assert "nested too deeply" in text_or_reason_of(write_file(tmp_path / "x.html", nested_page), worker)
    namespace = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    xml = b'<w:document xmlns:w="' + namespace + b'"><w:body>' + b"<w:tbl>" * 100_000
    content = replace_part(a_word_file(), "word/document.xml", xml)
    assert "broken, or no Word document" in text_or_reason_of(write_file(tmp_path / "x.docx", content), worker)


def test_a_page_with_five_hundred_levels_is_read(tmp_path: Path, worker: ParserWorker) -> None:
    assert (
        text_or_reason_of(write_file(tmp_path / "x.html", b"<div>" * 500 + b"words" + b"</div>" * 500), worker)
        == "words"
    )


def test_a_file_that_needs_too_much_memory_is_rejected_and_the_next_is_read(tmp_path: Path) -> None:
    xml = b"<w:p/>" * 3_000_000
    namespace = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = b'<w:document xmlns:w="' + namespace + b'"><w:body>' + xml + b"</w:body></w:document>"
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(a_word_file())) as before,
        zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as after,
    ):
        for part_name in before.namelist():
            after.writestr(part_name, whole if part_name == "word/document.xml" else before.read(part_name))
    with ParserWorker(ParserLimits(memory_mb=300)) as worker:
        assert "more than 300 MB of memory" in text_or_reason_of(
            write_file(tmp_path / "x.docx", content.getvalue()), worker
        )
        assert text_or_reason_of(write_file(tmp_path / "y.docx", a_word_file()), worker) == "Words"


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path, worker: ParserWorker) -> None:
    for kind in ("pdf", "docx", "xlsx", "html", "txt"):
        path = tmp_path / f"x.{kind}"
        with path.open("wb") as sparse:
            sparse.truncate(201 * MEGABYTE)
        assert "larger than 200 MB" in text_or_reason_of(path, worker)


def test_a_text_that_is_too_long_is_rejected_in_every_format(tmp_path: Path, worker: ParserWorker) -> None:
    words = b"words\n" * 4_000_000
    assert "more than 20,000,000 characters" in text_or_reason_of(write_file(tmp_path / "x.txt", words), worker)
    line = b'{"doc_id": "d", "text": "' + words.replace(b"\n", b" ") + b'"}'
    assert "more than 20,000,000 characters" in text_or_reason_of(write_file(tmp_path / "x.jsonl", line), worker)


def test_a_pipe_is_rejected_without_waiting(tmp_path: Path, worker: ParserWorker) -> None:
    os.mkfifo(tmp_path / "x.txt")
    assert "not an ordinary file" in text_or_reason_of(tmp_path / "x.txt", worker)


def test_pictures_do_not_count_in_the_size_of_a_package(tmp_path: Path, worker: ParserWorker) -> None:
    buffer = io.BytesIO(a_word_file())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as after:
        after.writestr("word/media/film.mp4", b"\0")
    content = claim_part_size(buffer.getvalue(), "word/media/film.mp4", 3000 * MEGABYTE)
    assert text_or_reason_of(write_file(tmp_path / "x.docx", content), worker) == "Words"
    assert office_package.unpack_package(tmp_path / "x.docx").getbuffer().nbytes < MEGABYTE
