"""Files are found at any depth; a folder that cannot be listed is told, and a file that changes while it is read."""

import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.files import SourceFile, find_source_files
from storage.ingest.records import RejectedInput
from storage.ingest.report import IngestProgress
from storage.ingest.sources.folder import FolderSource
from storage.search.ids import BucketId, TenantId
from storage.text.snowball_analyser import analyser_for
from tests.attack.further_files import remove_deep_folder, write_deep_folder
from tests.storage.ingest.runs import ingest_with_rules


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path / "home", tenant=TenantId("t"), analysers=analyser_for, embedder=None)
    yield index
    await index.close()


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "deep"
    write_deep_folder(folder)
    yield folder
    remove_deep_folder(folder)


async def test_a_file_below_1500_folders_is_found(deep_folder: Path) -> None:
    (file,) = find_source_files([deep_folder])
    items = [item async for item in FolderSource(deep_folder).list_items()]

    assert isinstance(file, SourceFile)
    assert file.name == "d/" * 1_500 + "deep.txt"
    assert [item.id for item in items] == [file.name]


def test_files_are_found_by_path_without_hidden_ones_and_links_to_folders(tmp_path: Path) -> None:
    for name in ("b/two.txt", "a.txt", "b/.hidden.txt", ".git/config.txt", "b/c/three.md", "b.schema.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("words", encoding="utf-8")
    (tmp_path / "again").symlink_to(tmp_path / "b")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")

    files = [file.name for file in find_source_files([tmp_path]) if isinstance(file, SourceFile)]

    assert files == ["a.txt", "b/c/three.md", "b/two.txt", "loop.txt"]


def test_a_folder_that_cannot_be_listed_is_told_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("words", encoding="utf-8")
    list_folder = os.scandir

    def refuse_closed(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return list_folder(path)

    monkeypatch.setattr("os.scandir", refuse_closed)
    rejected, file = find_source_files([tmp_path])

    assert isinstance(rejected, RejectedInput)
    assert rejected.origin.file.endswith("closed")
    assert rejected.reason == "the folder cannot be listed: Permission denied"
    assert isinstance(file, SourceFile)
    assert file.name == "open/a.txt"


async def test_a_file_that_changes_while_it_is_read_is_told(tmp_path: Path, index: EmbeddedIndex) -> None:
    table, other = tmp_path / "rows.jsonl", tmp_path / "still.txt"
    table.write_text("".join(json.dumps({"id": i, "name": "words"}) + "\n" for i in range(5)), encoding="utf-8")
    other.write_text("words", encoding="utf-8")

    def append_row(progress: IngestProgress) -> None:
        with table.open("a", encoding="utf-8") as file:
            file.write('{"id": 77, "name": "words"}\n')

    report = await ingest_with_rules(index, [table, other], bucket=BucketId("b"), progress=append_row)
    again = await ingest_with_rules(index, [table, other], bucket=BucketId("b"))

    assert [remark for remark in report.remarks if "changed" in remark] == [
        "rows.jsonl: it changed while it was read, so a part may be missing: load it again when it is complete"
    ]
    assert not any("changed" in remark for remark in again.remarks)
