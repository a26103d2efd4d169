"""A dry run says what a run then does, and changes nothing."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import ingest
from storage.ingest.rehearsal import Rehearsal
from storage.ingest.report import Counts, Progress
from storage.search.ids import BucketId, TenantId


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TenantId("test"), analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


def write(path: Path, *documents: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


def a_record(doc_id: str, bucket: str, text: str = "words", **metadata: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "bucket": bucket, "text": text, "metadata": metadata}


async def test_a_dry_run_tells_for_each_bucket_what_a_run_then_does(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("same", "a"), a_record("other", "a"), a_record("taken", "b"))
    await ingest(index, [path])
    before = {name: (state.generation, state.schema) for name, state in (await index.buckets()).items()}
    write(
        path,
        a_record("same", "a"),
        a_record("other", "a", "new words"),
        a_record("taken", "a"),
        a_record("first", "c", power_w=5),
    )

    rehearsed = await ingest(Rehearsal(index), [path])
    after = {name: (state.generation, state.schema) for name, state in (await index.buckets()).items()}
    done = await ingest(index, [path])

    assert after == before
    assert rehearsed.by_bucket == {
        BucketId("a"): Counts(replaced=1, skipped=1, failed=1),
        BucketId("c"): Counts(added=1),
    }
    assert rehearsed.by_bucket == done.by_bucket
    assert rehearsed.last_line == done.last_line == "added 1, replaced 1, skipped 1, failed 1"
    assert [one.schema for one in rehearsed.schemas] == [one.schema for one in done.schemas]
    assert [one.path for one in rehearsed.schemas] == [None]


def test_what_remains_is_reckoned_by_bytes() -> None:
    one = Progress(looking=False, file="x", files=1, of_files=4, bytes=25, of_bytes=100, documents=50, elapsed_s=10.0)
    assert (one.documents_per_s, one.remaining_s) == (5.0, 30.0)
    start = Progress(looking=True, file="x", files=0, of_files=4, bytes=0, of_bytes=100, documents=0)
    assert (start.documents_per_s, start.remaining_s) == (0.0, None)
