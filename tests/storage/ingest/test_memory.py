"""The memory of a run grows only slightly with the number of files."""

import tracemalloc
from pathlib import Path

from storage.embedded.index import EmbeddedIndex
from storage.ingest.dry_run import DryRunIndex
from storage.search.ids import BucketId, TenantId
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules


def a_folder(path: Path, files: int) -> Path:
    path.mkdir()
    for number in range(files):
        (path / f"{number}.txt").write_text(f"{number} words")
    return path


async def measure_peak_bytes(index: EmbeddedIndex, folder: Path) -> int:
    """Returns the peak memory of a dry run, which reads, builds and compares but does not write to the index."""
    tracemalloc.start()
    await ingest_with_rules(DryRunIndex(index), [folder], bucket=BucketId("b"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


async def test_each_further_file_takes_less_than_two_kilobytes(tmp_path: Path) -> None:
    index = await EmbeddedIndex.open(tmp_path / "home", tenant=TenantId("test"), analysers=analyser_for, embedder=None)
    await measure_peak_bytes(index, a_folder(tmp_path / "warm", 10))
    few = await measure_peak_bytes(index, a_folder(tmp_path / "few", 3050))
    folder = a_folder(tmp_path / "many", 4050)
    many = min([await measure_peak_bytes(index, folder) for _ in range(2)])  # reading runs ahead where writing is slow
    await index.close()

    assert (many - few) / 1000 < 2000
