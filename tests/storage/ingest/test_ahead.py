"""Several workers at once: files in order, each by itself, none left behind."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.ingest.ahead import read_ahead
from storage.ingest.files import SourceFile, sources
from storage.ingest.load import records
from storage.ingest.records import Broken, Record
from storage.ingest.worker import Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as one:
        yield one


def a_folder(path: Path, count: int) -> list[SourceFile]:
    for number in range(count):
        (path / f"{number:02}.html").write_text(f"<p>page {number}" if number != 3 else "")
        (path / f"{number:02}.txt").write_text(f"text {number}")
    return [one for one in sources([path]) if isinstance(one, SourceFile)]


def test_files_come_in_order_with_those_that_break_between_them(tmp_path: Path, worker: Worker) -> None:
    files = a_folder(tmp_path, 8)
    found = [(source.name, list(loaded)) for source, loaded in read_ahead(files, worker, processes=3)]
    assert [name for name, _ in found] == [one.name for one in files]
    texts = {name: one.text if isinstance(one, Record) else None for name, (one,) in found}
    pages = {f"{number:02}.html": f"page {number}" if number != 3 else None for number in range(8)}
    assert texts == pages | {f"{number:02}.txt": f"text {number}" for number in range(8)}


def test_a_reader_that_stops_early_leaves_no_process_waiting(tmp_path: Path) -> None:
    program = 'import sys, time; sys.stdin.readline(); print(\'{"page": "x"}\', flush=True); time.sleep(600)'
    with Worker(command=(sys.executable, "-c", program)) as worker:
        reading = read_ahead(a_folder(tmp_path, 8), worker, processes=2)
        next(reading)
        reading.close()  # would wait for ten minutes


def test_a_worker_that_is_closed_does_nothing_more(tmp_path: Path, worker: Worker) -> None:
    files = a_folder(tmp_path, 1)
    worker.close()
    (one,) = records(files[0], worker)
    assert isinstance(one, Broken)
    assert one.reason == "the run was stopped"
