"""Reading files with several workers: the order is kept, failures stay separate, no process remains."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.ingest.files import SourceFile, find_source_files
from storage.ingest.load import load_records
from storage.ingest.parallel_reading import read_files_ahead
from storage.ingest.records import RejectedInput, SourceRecord
from storage.ingest.worker import ParserWorker


@pytest.fixture
def worker() -> Iterator[ParserWorker]:
    with ParserWorker() as parser_worker:
        yield parser_worker


def a_folder(path: Path, count: int) -> list[SourceFile]:
    for number in range(count):
        (path / f"{number:02}.html").write_text(f"<p>page {number}" if number != 3 else "")
        (path / f"{number:02}.txt").write_text(f"text {number}")
    return [file for file in find_source_files([path]) if isinstance(file, SourceFile)]


def test_files_are_yielded_in_order_including_broken_ones(tmp_path: Path, worker: ParserWorker) -> None:
    files = a_folder(tmp_path, 8)
    items_by_file = [(source.name, list(items)) for source, items in read_files_ahead(files, worker, process_count=3)]
    assert [name for name, _ in items_by_file] == [file.name for file in files]
    texts = {name: item.text if isinstance(item, SourceRecord) else None for name, (item,) in items_by_file}
    pages = {f"{number:02}.html": f"page {number}" if number != 3 else None for number in range(8)}
    assert texts == pages | {f"{number:02}.txt": f"text {number}" for number in range(8)}


def test_closing_the_generator_early_kills_its_processes(tmp_path: Path) -> None:
    program = 'import sys, time; sys.stdin.readline(); print(\'{"page": "x"}\', flush=True); time.sleep(600)'
    with ParserWorker(command=(sys.executable, "-c", program)) as worker:
        files = read_files_ahead(a_folder(tmp_path, 8), worker, process_count=2)
        next(files)
        files.close()  # waits for ten minutes if it does not kill the processes


def test_a_closed_worker_rejects_every_file(tmp_path: Path, worker: ParserWorker) -> None:
    files = a_folder(tmp_path, 1)
    worker.close()
    (item,) = load_records(files[0], worker)
    assert isinstance(item, RejectedInput)
    assert item.reason == "the run was stopped"
