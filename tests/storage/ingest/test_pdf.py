"""PDF files in the real worker process: pages, broken and encrypted files, workers that hang or run out of memory."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption  # pyright: ignore[reportMissingTypeStubs]
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from storage.ingest.documents.chunk import passages_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.limits import ParserLimits
from storage.ingest.load import load_records
from storage.ingest.records import RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[ParserWorker]:
    with ParserWorker() as parser_worker:
        yield parser_worker


def a_pdf(path: Path, *pages: str, title: str = "", password: str = "") -> Path:
    canvas = Canvas(str(path), encrypt=StandardEncryption(password) if password else None)
    canvas.setTitle(title or "untitled")
    for text in pages:
        for number, line in enumerate(text.splitlines()):
            canvas.drawString(72, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return path


def load_item(path: Path, worker: ParserWorker) -> SourceRecord | RejectedInput:
    (item,) = load_records(SourceFile(path=path, name=path.name), worker)
    assert isinstance(item, (SourceRecord, RejectedInput))
    return item


def test_a_pdf_is_read_page_by_page(tmp_path: Path, worker: ParserWorker) -> None:
    record = load_item(
        a_pdf(tmp_path / "m.pdf", "Safety first", "", "Torque is 12 Nm\nEnd", title="The manual"), worker
    )
    assert isinstance(record, SourceRecord)
    assert (record.doc_id, record.title) == ("m.pdf", "The manual")
    passages = passages_of(record.text, record.page_starts)
    assert [(record.text[passage.start : passage.end], passage.page) for passage in passages] == [
        ("Safety first", 1),
        ("Torque is 12 Nm\nEnd", 3),
    ]


def test_table_cells_are_separated_and_words_and_list_marks_are_not(tmp_path: Path, worker: ParserWorker) -> None:
    canvas = Canvas(str(tmp_path / "t.pdf"))
    for row, cells in enumerate([("Part", "Interval", "Price"), ("Oil filter", "6 months", "12.50")]):
        for column, words in enumerate(cells):
            canvas.drawString(72 + 120 * column, 700 - 14 * row, words)
    canvas.drawString(72, 600, "1.")
    canvas.drawString(108, 600, "A wide  gap after a mark of a list")
    canvas.showPage()
    canvas.save()
    record = load_item(tmp_path / "t.pdf", worker)
    assert isinstance(record, SourceRecord)
    lines = ["Part | Interval | Price", "Oil filter | 6 months | 12.50", "1. A wide gap after a mark of a list"]
    assert [" ".join(line.split()) for line in record.text.splitlines()] == lines


def test_a_pdf_without_a_title_gets_its_file_name_as_title(tmp_path: Path, worker: ParserWorker) -> None:
    record = load_item(a_pdf(tmp_path / "plan b.pdf", "x"), worker)
    assert isinstance(record, SourceRecord)
    assert record.title == "plan b"


def test_broken_encrypted_and_textless_pdfs_are_reported_and_the_next_is_read(
    tmp_path: Path, worker: ParserWorker
) -> None:
    good = a_pdf(tmp_path / "good.pdf", "fine")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing more")
    rejected_files = [
        broken,
        a_pdf(tmp_path / "locked.pdf", "secret", password="x"),
        a_pdf(tmp_path / "scan.pdf", "", ""),
    ]
    loaded = [load_item(path, worker) for path in [*rejected_files, tmp_path / "gone.pdf", good]]
    reasons = [item.reason for item in loaded if isinstance(item, RejectedInput)]
    assert reasons == [
        "it is broken, or no PDF",
        "it is encrypted and needs a password",
        "it has no text on any of its 2 pages (a scan? it needs text recognition first)",
        "it cannot be read: No such file or directory",
    ]
    assert isinstance(loaded[-1], SourceRecord)


def a_pdf_in(folder: Path) -> SourceFile:
    return SourceFile(path=folder / "x.pdf", name="x.pdf")


def a_worker(program: str, limits: ParserLimits) -> ParserWorker:
    """Returns a worker that runs another program, to cause failures that no file causes reliably."""
    return ParserWorker(limits, (sys.executable, "-c", program))


def test_a_worker_that_hangs_is_killed(tmp_path: Path) -> None:
    with (
        a_worker("import time; time.sleep(600)", ParserLimits(page_timeout_s=0.2)) as worker,
        pytest.raises(UnparsableFile) as caught,
    ):
        worker.read_pages(a_pdf_in(tmp_path))
    assert "took too long" in caught.value.reason


def test_a_worker_that_never_finishes_is_killed(tmp_path: Path) -> None:
    endless = 'print(\'{"page": "x"}\', flush=True)'
    program = f"while True: {endless}"
    with (
        a_worker(program, ParserLimits(file_timeout_s=0.3)) as worker,
        pytest.raises(UnparsableFile, match="took too long"),
    ):
        worker.read_pages(a_pdf_in(tmp_path))
    with (
        a_worker(program, ParserLimits(max_characters=1000)) as worker,
        pytest.raises(UnparsableFile, match="more than 1,000"),
    ):
        worker.read_pages(a_pdf_in(tmp_path))


def test_a_worker_that_dies_is_restarted(tmp_path: Path) -> None:
    mark = tmp_path / "died"
    program = (
        "import pathlib, sys; sys.stdin.readline()\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        'if mark.exists(): print(\'{"page": "x"}\\n{"end": true}\', flush=True); sys.stdin.read()\n'
        "mark.touch()\n"
    )
    with a_worker(program, ParserLimits()) as worker:
        with pytest.raises(UnparsableFile, match="broke down"):
            worker.read_pages(a_pdf_in(tmp_path))
        assert worker.read_pages(a_pdf_in(tmp_path)).texts == ("x",)


def test_a_file_that_takes_too_much_memory_is_reported(tmp_path: Path) -> None:
    program = (
        "import sys; from storage.ingest import worker\n"
        "def hungry(path):\n    yield {'page': 'x' * 10**9}\n"
        "worker._load_parser = lambda kind: hungry\n"
        "worker.run_worker_loop(sys.argv[1:])\n"
    )
    with (
        a_worker(program, ParserLimits(memory_mb=400)) as worker,
        pytest.raises(UnparsableFile, match="more than 400 MB"),
    ):
        worker.read_pages(a_pdf_in(tmp_path))


def test_a_file_that_takes_too_much_cpu_is_reported_and_the_next_is_read(tmp_path: Path) -> None:
    program = (
        "import sys; from storage.ingest import worker\n"
        "def busy(path):\n"
        "    while path.stem == 'busy': pass\n"
        "    yield {'page': 'x'}\n"
        "worker._load_parser = lambda source: busy\n"
        "worker.run_worker_loop(sys.argv[1:])\n"
    )
    with a_worker(program, ParserLimits(cpu_s=1.0)) as worker:
        with pytest.raises(UnparsableFile, match="more than 1 seconds of CPU, the limit for a file of its size"):
            worker.read_pages(SourceFile(path=tmp_path / "busy.pdf", name="busy.pdf"))
        assert worker.read_pages(a_pdf_in(tmp_path)).texts == ("x",)
