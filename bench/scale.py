"""Measures the cost of a question on a small bucket, and on a bucket with 300 fields and 200,000 distinct values."""

import time
from pathlib import Path

from bench.demo_index import operator_scope_of
from bench.figures import BenchmarkFigure
from bench.overhead import measure_agent
from bench.synthetic_data import SyntheticBucket, SyntheticBucketSize
from bot.settings import Settings
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import TenantId
from storage.text.snowball_analyser import analyser_for

_SMALL_BUCKET = SyntheticBucketSize(field_count=20, name_field_count=2, document_count=6_000)
_WIDE_BUCKET = SyntheticBucketSize(field_count=300, name_field_count=20, document_count=10_000)
_QUESTION_COUNT = 40
_BATCH_SIZE = 1_000
_PAGE_BYTES = 4096


async def measure_scale(settings: Settings, folder: Path, runs: int) -> list[BenchmarkFigure]:
    return [
        *await _measure_bucket(_SMALL_BUCKET, settings, folder / "small", runs, target_ms=5.0),
        *await _measure_bucket(_WIDE_BUCKET, settings, folder / "wide", runs, target_ms=15.0),
    ]


async def _measure_bucket(
    size: SyntheticBucketSize, settings: Settings, folder: Path, runs: int, target_ms: float
) -> list[BenchmarkFigure]:
    name = f"{size.document_count:,} documents, {size.field_count} fields, {size.distinct_name_count:,} names"
    bucket = SyntheticBucket(size)
    index = await EmbeddedIndex.open(folder, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=None)
    try:
        await _load_bucket(index, bucket)
        scope, questions = await operator_scope_of(index, settings), bucket.generate_questions(_QUESTION_COUNT)
        await index.within_scope(scope).load_vocabulary()  # loaded here because its time belongs to the index
        memory_before_mb, started_s = _resident_memory_mb(), time.process_time()
        first_question_figures, _ = await measure_agent(index, scope, questions[:1], 1, name=name, target_ms=target_ms)
        first_figure = BenchmarkFigure(
            name=f"{name}: the first question, CPU",
            unit="s",
            run_values=(time.process_time() - started_s - first_question_figures[0].median / 1000,),
            note=f"{_resident_memory_mb() - memory_before_mb:,.0f} MB for what the dictionary means",
        )
        figures, _ = await measure_agent(index, scope, questions, runs, name=name, target_ms=target_ms)
        return [first_figure, *figures]
    finally:
        await index.close()


async def _load_bucket(index: EmbeddedIndex, bucket: SyntheticBucket) -> None:
    await index.set_schema(bucket.schema)
    documents = list(bucket.generate_documents())
    for start in range(0, len(documents), _BATCH_SIZE):
        await index.put(bucket.schema.bucket, documents[start : start + _BATCH_SIZE])


def _resident_memory_mb() -> float:
    """The resident memory of this process; 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * _PAGE_BYTES / 1e6
