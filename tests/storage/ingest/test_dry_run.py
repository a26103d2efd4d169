"""A dry run reports what a real run would do, and changes nothing."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.dry_run import DryRunIndex
from storage.ingest.report import DocumentCounts, IngestProgress
from storage.search.ids import BucketId, TenantId
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    embedded_index = await EmbeddedIndex.open(
        tmp_path / "home", tenant=TenantId("test"), analysers=analyser_for, embedder=None
    )
    yield embedded_index
    await embedded_index.close()


def write_jsonl(path: Path, *documents: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def a_record(doc_id: str, bucket: str, text: str = "words", **metadata: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "bucket": bucket, "text": text, "metadata": metadata}


async def test_a_dry_run_reports_for_each_bucket_what_a_real_run_then_does(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("same", "a"), a_record("other", "a"), a_record("taken", "b"))
    await ingest_with_rules(index, [path])
    before = {name: (state.generation, state.schema) for name, state in (await index.load_bucket_states()).items()}
    write_jsonl(
        path,
        a_record("same", "a"),
        a_record("other", "a", "new words"),
        a_record("taken", "a"),
        a_record("first", "c", power_w=5),
    )

    dry_report = await ingest_with_rules(DryRunIndex(index), [path])
    after = {name: (state.generation, state.schema) for name, state in (await index.load_bucket_states()).items()}
    report = await ingest_with_rules(index, [path])

    assert after == before
    assert dry_report.by_bucket == {
        BucketId("a"): DocumentCounts(replaced=1, skipped=1, failed=1),
        BucketId("c"): DocumentCounts(added=1),
    }
    assert dry_report.by_bucket == report.by_bucket
    assert dry_report.summary_line == report.summary_line == "added 1, replaced 1, skipped 1, failed 1"
    assert [change.schema for change in dry_report.schema_changes] == [
        change.schema for change in report.schema_changes
    ]
    assert [change.path for change in dry_report.schema_changes] == [None]


def test_the_remaining_time_is_estimated_from_the_bytes() -> None:
    progress = IngestProgress(
        is_first_pass=False,
        file_name="x",
        files_done=1,
        files_total=4,
        bytes_done=25,
        bytes_total=100,
        documents=50,
        elapsed_s=10.0,
    )
    assert (progress.documents_per_s, progress.remaining_s) == (5.0, 30.0)
    start = IngestProgress(
        is_first_pass=True, file_name="x", files_done=0, files_total=4, bytes_done=0, bytes_total=100, documents=0
    )
    assert (start.documents_per_s, start.remaining_s) == (0.0, None)
