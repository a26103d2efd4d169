"""PDFs through the real worker process: pages, and files that break, lock, hang or fill the memory."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption  # pyright: ignore[reportMissingTypeStubs]
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from storage.ingest.chunk import passages_of
from storage.ingest.errors import Unparsable
from storage.ingest.files import SourceFile
from storage.ingest.limits import Limits
from storage.ingest.load import records
from storage.ingest.records import Broken, Record
from storage.ingest.worker import Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as one:
        yield one


def a_pdf(path: Path, *pages: str, title: str = "", password: str = "") -> Path:
    canvas = Canvas(str(path), encrypt=StandardEncryption(password) if password else None)
    canvas.setTitle(title or "untitled")
    for text in pages:
        for number, line in enumerate(text.splitlines()):
            canvas.drawString(72, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return path


def load(path: Path, worker: Worker) -> Record | Broken:
    (one,) = records(SourceFile(path=path, name=path.name), worker)
    assert isinstance(one, (Record, Broken))
    return one


def test_a_pdf_is_read_page_by_page(tmp_path: Path, worker: Worker) -> None:
    record = load(a_pdf(tmp_path / "m.pdf", "Safety first", "", "Torque is 12 Nm\nEnd", title="The manual"), worker)
    assert isinstance(record, Record)
    assert (record.doc_id, record.title) == ("m.pdf", "The manual")
    passages = passages_of(record.text, record.page_starts)
    assert [(record.text[one.start : one.end], one.page) for one in passages] == [
        ("Safety first", 1),
        ("Torque is 12 Nm\nEnd", 3),
    ]


def test_cells_of_a_table_are_parted_and_words_and_list_marks_are_not(tmp_path: Path, worker: Worker) -> None:
    canvas = Canvas(str(tmp_path / "t.pdf"))
    for row, cells in enumerate([("Part", "Interval", "Price"), ("Oil filter", "6 months", "12.50")]):
        for column, words in enumerate(cells):
            canvas.drawString(72 + 120 * column, 700 - 14 * row, words)
    canvas.drawString(72, 600, "1.")
    canvas.drawString(108, 600, "A wide  gap after a mark of a list")
    canvas.showPage()
    canvas.save()
    record = load(tmp_path / "t.pdf", worker)
    assert isinstance(record, Record)
    lines = ["Part | Interval | Price", "Oil filter | 6 months | 12.50", "1. A wide gap after a mark of a list"]
    assert [" ".join(line.split()) for line in record.text.splitlines()] == lines


def test_a_pdf_without_a_title_is_called_by_its_file(tmp_path: Path, worker: Worker) -> None:
    record = load(a_pdf(tmp_path / "plan b.pdf", "x"), worker)
    assert isinstance(record, Record)
    assert record.title == "plan b"


def test_broken_locked_and_wordless_pdfs_are_reported_and_the_next_is_read(tmp_path: Path, worker: Worker) -> None:
    good = a_pdf(tmp_path / "good.pdf", "fine")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing more")
    bad = [broken, a_pdf(tmp_path / "locked.pdf", "secret", password="x"), a_pdf(tmp_path / "scan.pdf", "", "")]
    loaded = [load(path, worker) for path in [*bad, tmp_path / "gone.pdf", good]]
    reasons = [one.reason for one in loaded if isinstance(one, Broken)]
    assert reasons == [
        "it is broken, or no PDF",
        "it is encrypted and needs a password",
        "it has no text on any of its 2 pages (a scan? it needs text recognition first)",
        "it cannot be read: No such file or directory",
    ]
    assert isinstance(loaded[-1], Record)


def a_worker(program: str, limits: Limits) -> Worker:
    """A worker that runs another program, which may do what no file can be made to do at will."""
    return Worker(limits, (sys.executable, "-c", program))


def test_a_worker_that_hangs_is_ended(tmp_path: Path) -> None:
    with a_worker("import time; time.sleep(600)", Limits(page_s=0.2)) as worker, pytest.raises(Unparsable) as caught:
        worker.pages(tmp_path / "x.pdf", "pdf")
    assert "took too long" in caught.value.reason


def test_a_worker_that_goes_on_for_ever_is_ended(tmp_path: Path) -> None:
    endless = 'print(\'{"page": "x"}\', flush=True)'
    program = f"while True: {endless}"
    with a_worker(program, Limits(file_s=0.3)) as worker, pytest.raises(Unparsable, match="took too long"):
        worker.pages(tmp_path / "x.pdf", "pdf")
    with a_worker(program, Limits(characters=1000)) as worker, pytest.raises(Unparsable, match="more than 1,000"):
        worker.pages(tmp_path / "x.pdf", "pdf")


def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    mark = tmp_path / "died"
    program = (
        "import pathlib, sys; sys.stdin.readline()\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        'if mark.exists(): print(\'{"page": "x"}\\n{"end": true}\', flush=True); sys.stdin.read()\n'
        "mark.touch()\n"
    )
    with a_worker(program, Limits()) as worker:
        with pytest.raises(Unparsable, match="broke down"):
            worker.pages(tmp_path / "x.pdf", "pdf")
        assert worker.pages(tmp_path / "x.pdf", "pdf").texts == ("x",)


def test_a_file_that_takes_too_much_memory_is_reported(tmp_path: Path) -> None:
    program = (
        "import sys; from storage.ingest import worker\n"
        "def hungry(path):\n    yield {'page': 'x' * 10**9}\n"
        "worker._parser = lambda kind: hungry\n"
        "worker.main(sys.argv[1:])\n"
    )
    with a_worker(program, Limits(memory_mb=400)) as worker, pytest.raises(Unparsable, match="more than 400 MB"):
        worker.pages(tmp_path / "x.pdf", "pdf")
