"""What a run holds grows by little with the number of files."""

import tracemalloc
from pathlib import Path

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import ingest
from storage.ingest.rehearsal import Rehearsal
from storage.search.ids import BucketId, TenantId


def a_folder(path: Path, files: int) -> Path:
    path.mkdir()
    for number in range(files):
        (path / f"{number}.txt").write_text(f"{number} words")
    return path


async def peak_bytes(index: EmbeddedIndex, folder: Path) -> int:
    """Of a run that reads, builds and compares, and leaves the index out."""
    tracemalloc.start()
    await ingest(Rehearsal(index), [folder], bucket=BucketId("b"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


async def test_a_file_more_costs_less_than_two_kilobytes(tmp_path: Path) -> None:
    index = await EmbeddedIndex.open(tmp_path / "home", tenant=TenantId("test"), analysers=analyser_for, embedder=None)
    await peak_bytes(index, a_folder(tmp_path / "warm", 10))
    few = await peak_bytes(index, a_folder(tmp_path / "few", 1050))
    many = await peak_bytes(index, a_folder(tmp_path / "many", 1550))
    await index.close()

    assert (many - few) / 500 < 2000
