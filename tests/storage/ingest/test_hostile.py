"""Files that are broken, locked, not what they seem, or made to do harm: each is told with its reason."""

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
from storage.ingest.limits import Limits
from storage.ingest.pages import package
from storage.ingest.records import Broken, Record
from storage.ingest.worker import Worker

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(Limits(memory_mb=512)) as one:
        yield one


def outcome(path: Path, worker: Worker) -> str:
    """The reason why it gives no document, or its text."""
    (one,) = load.records(SourceFile(path=path, name=path.name), worker)
    assert isinstance(one, (Record, Broken))
    return one.reason if isinstance(one, Broken) else one.text


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


def rewritten(content: bytes, part: str, data: bytes) -> bytes:
    """The package with one part replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after:
        for one in before.namelist():
            after.writestr(one, data if one == part else before.read(one))
    return buffer.getvalue()


def claiming(content: bytes, part: str, size: int) -> bytes:
    """The package with another size of the unpacked part in its directory."""
    name = part.encode()
    entry = content.index(b"PK\x01\x02", content.rindex(name) - 46)
    return content[: entry + 24] + size.to_bytes(4, "little") + content[entry + 28 :]


def file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "broken, or no Office file"),
        (b"just words", "broken, or no Office file"),
        (a_word_file()[:-200], "broken, or no Office file"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted and needs a password"),
        (OLE, "before 2007"),
    ],
)
def test_what_is_no_package_is_told(tmp_path: Path, worker: Worker, kind: str, content: bytes, said: str) -> None:
    assert said in outcome(file(tmp_path / f"x.{kind}", content), worker)


def test_a_package_of_another_program_is_told(tmp_path: Path, worker: Worker) -> None:
    assert "no Word document" in outcome(file(tmp_path / "x.docx", a_workbook()), worker)
    assert "no PowerPoint" in outcome(file(tmp_path / "x.pptx", a_workbook()), worker)
    assert "no Excel workbook" in outcome(file(tmp_path / "x.xlsx", a_word_file()), worker)
    assert "no PDF" in outcome(file(tmp_path / "x.pdf", a_word_file()), worker)


def test_a_damaged_part_is_told(tmp_path: Path, worker: Worker) -> None:
    cut = rewritten(a_word_file(), "word/document.xml", b"<w:document")
    assert "broken, or no Word document" in outcome(file(tmp_path / "x.docx", cut), worker)
    content = bytearray(a_word_file("x" * 5000))
    at = content.index(b"word/document.xml") + 40
    content[at : at + 20] = b"\xff" * 20
    assert "broken, or no Office file" in outcome(file(tmp_path / "y.docx", bytes(content)), worker)


def test_a_zip_bomb_is_known_by_its_directory(tmp_path: Path, worker: Worker) -> None:
    dense = rewritten(a_word_file(), "word/document.xml", b" " * 30 * MEGABYTE)
    assert "zip bomb" in outcome(file(tmp_path / "x.docx", dense), worker)
    large = claiming(a_workbook(), "xl/workbook.xml", 300 * MEGABYTE)
    assert "unpacks to more than 256 MB" in outcome(file(tmp_path / "x.xlsx", large), worker)


def test_a_part_that_lies_about_its_size_is_not_unpacked_further(tmp_path: Path, worker: Worker) -> None:
    dense = rewritten(a_word_file(), "word/document.xml", b" " * 30 * MEGABYTE)
    small = claiming(dense, "word/document.xml", 1000)
    assert "broken, or no Office file" in outcome(file(tmp_path / "x.docx", small), worker)


def test_entities_are_refused_and_nothing_outside_is_read(tmp_path: Path, worker: Worker) -> None:
    secret = file(tmp_path / "secret.txt", b"the secret")
    for entity in (f'<!ENTITY a SYSTEM "{secret.as_uri()}">', '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">'):
        xml = f"<?xml version='1.0'?><!DOCTYPE w [{entity}]><w>&a;</w>"
        for encoding in ("utf-8", "utf-16"):
            content = rewritten(a_word_file(), "word/document.xml", xml.encode(encoding))
            assert "document type" in outcome(file(tmp_path / "x.docx", content), worker)
            content = rewritten(a_workbook(), "xl/worksheets/sheet1.xml", xml.encode(encoding))
            assert "document type" in outcome(file(tmp_path / "x.xlsx", content), worker)
        page = file(tmp_path / "x.html", f"<!DOCTYPE html [{entity}]><p>words &a;".encode())
        assert "secret" not in outcome(page, worker)
        assert "haha" not in outcome(page, worker)


def test_what_is_nested_beyond_measure_is_told(tmp_path: Path, worker: Worker) -> None:
    deep = b"<div>" * 100_000 + b"words"
    assert "nested too deeply" in outcome(file(tmp_path / "x.html", deep), worker)
    name = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    xml = b'<w:document xmlns:w="' + name + b'"><w:body>' + b"<w:tbl>" * 100_000
    content = rewritten(a_word_file(), "word/document.xml", xml)
    assert "broken, or no Word document" in outcome(file(tmp_path / "x.docx", content), worker)


def test_a_page_of_five_hundred_levels_is_read(tmp_path: Path, worker: Worker) -> None:
    assert outcome(file(tmp_path / "x.html", b"<div>" * 500 + b"words" + b"</div>" * 500), worker) == "words"


def test_a_file_that_fills_the_memory_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    xml = b"<w:p/>" * 3_000_000
    name = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = b'<w:document xmlns:w="' + name + b'"><w:body>' + xml + b"</w:body></w:document>"
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(a_word_file())) as before,
        zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as after,
    ):
        for one in before.namelist():
            after.writestr(one, whole if one == "word/document.xml" else before.read(one))
    with Worker(Limits(memory_mb=300)) as worker:
        assert "more than 300 MB of memory" in outcome(file(tmp_path / "x.docx", content.getvalue()), worker)
        assert outcome(file(tmp_path / "y.docx", a_word_file()), worker) == "Words"


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path, worker: Worker) -> None:
    for kind in ("pdf", "docx", "xlsx", "html", "txt"):
        path = tmp_path / f"x.{kind}"
        with path.open("wb") as sparse:
            sparse.truncate(201 * MEGABYTE)
        assert "larger than 200 MB" in outcome(path, worker)


def test_a_text_that_is_too_long_is_told_wherever_it_stands(tmp_path: Path, worker: Worker) -> None:
    words = b"words\n" * 4_000_000
    assert "more than 20,000,000 characters" in outcome(file(tmp_path / "x.txt", words), worker)
    line = b'{"doc_id": "d", "text": "' + words.replace(b"\n", b" ") + b'"}'
    assert "more than 20,000,000 characters" in outcome(file(tmp_path / "x.jsonl", line), worker)


def test_a_pipe_is_not_waited_for(tmp_path: Path, worker: Worker) -> None:
    os.mkfifo(tmp_path / "x.txt")
    assert "no ordinary file" in outcome(tmp_path / "x.txt", worker)


def test_pictures_in_a_package_do_not_count(tmp_path: Path, worker: Worker) -> None:
    buffer = io.BytesIO(a_word_file())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as after:
        after.writestr("word/media/film.mp4", b"\0")
    content = claiming(buffer.getvalue(), "word/media/film.mp4", 3000 * MEGABYTE)
    assert outcome(file(tmp_path / "x.docx", content), worker) == "Words"
    assert package.unpacked(tmp_path / "x.docx").getbuffer().nbytes < MEGABYTE
