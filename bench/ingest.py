"""Measures ingestion into the embedded index with vectors, against SQLite and the model without Parley."""

import json
import random
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bench.figures import BenchmarkFigure
from bench.synthetic_data import invent_prose, invent_words
from bot.settings import Settings
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId, TenantId
from storage.text.snowball_analyser import analyser_for

_TARGET_MS = 1000 / 1.5  # for 1,000 passages: 1,500 a second
_DOCUMENT_COUNT = 120
_DOCUMENT_CHARACTERS = 50_000  # the length of a contract
_BUCKET = BucketId("contracts")


async def measure_ingestion(settings: Settings, folder: Path, runs: int) -> list[BenchmarkFigure]:
    """Measure CPU time and wall time. They differ because two processes share the work."""
    texts = _make_texts()
    file = folder / "contracts.jsonl"
    file.write_text(
        "\n".join(_document_to_json_line(number, text) for number, text in enumerate(texts)), encoding="utf-8"
    )
    passages = [text[passage.start : passage.end] for text in texts for passage in passages_of(text)]
    runs_times = [await _ingest_file(settings, folder / f"index-{run}", file, len(passages)) for run in range(runs)]
    baseline = _ingest_without_parley(folder / "bare.sqlite", texts, passages)
    return [
        _ingest_figure_of("CPU", [times.cpu_ms for times in runs_times], baseline.cpu_ms),
        _ingest_figure_of("wall time", [times.wall_ms for times in runs_times], baseline.wall_ms),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassageTimes:
    """Milliseconds for 1,000 passages."""

    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True, slots=True)
class _RunClock:
    """A clock that starts when it is created."""

    cpu_started_s: float = field(default_factory=time.process_time)
    wall_started_s: float = field(default_factory=time.perf_counter)

    def times_per_thousand(self, passage_count: int) -> _PassageTimes:
        cpu, wall = time.process_time() - self.cpu_started_s, time.perf_counter() - self.wall_started_s
        return _PassageTimes(cpu_ms=cpu * 1e6 / passage_count, wall_ms=wall * 1e6 / passage_count)


def _ingest_figure_of(time_kind: str, run_values: Sequence[float], baseline_ms: float) -> BenchmarkFigure:
    median = sorted(run_values)[len(run_values) // 2]
    return BenchmarkFigure(
        name=f"ingest with vectors, {time_kind} per 1,000 passages",
        unit="ms",
        run_values=tuple(run_values),
        target=_TARGET_MS,
        baseline=baseline_ms,
        note=f"{1e6 / median:,.0f} passages a second; bare: wordllama and FTS5",
    )


def _make_texts() -> list[str]:
    rng = random.Random(11)
    vocabulary = invent_words(rng, 8_000)
    return [invent_prose(rng, vocabulary, _DOCUMENT_CHARACTERS) for _ in range(_DOCUMENT_COUNT)]


def _document_to_json_line(number: int, text: str) -> str:
    metadata = {"year": 2000 + number % 20, "law": f"Law {number % 7}"}
    record = {"doc_id": f"c{number}", "title": f"Contract {number}", "text": text, "metadata": metadata}
    return json.dumps(record, ensure_ascii=False)


async def _ingest_file(settings: Settings, folder: Path, file: Path, passage_count: int) -> _PassageTimes:
    """Ingest the file into a new index. The model is loaded before the clock starts."""
    embedder = WordLlamaEmbedder()
    await embedder.embed_texts(["a word"])
    index = await EmbeddedIndex.open(
        folder, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=embedder
    )
    try:
        clock = _RunClock()
        await ingest_files(index, [file], extractor=RuleExtractor(), bucket=_BUCKET)
        return clock.times_per_thousand(passage_count)
    finally:
        await index.close()


def _ingest_without_parley(file: Path, texts: Sequence[str], passages: Sequence[str]) -> _PassageTimes:
    """Embed the same texts with the library and insert them unchanged into two FTS5 tables."""
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    model_folder = Path(wordllama.__file__).parent
    model = cast(Any, wordllama.WordLlama).load(cache_dir=model_folder, disable_download=True)
    connection = sqlite3.connect(file)
    try:
        for table in ("document", "passage"):
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='')")
        clock = _RunClock()
        model.embed(list(passages))
        connection.executemany("INSERT INTO document(text) VALUES(?)", [(text,) for text in texts])
        connection.executemany("INSERT INTO passage(text) VALUES(?)", [(text,) for text in passages])
        connection.commit()
        return clock.times_per_thousand(len(passages))
    finally:
        connection.close()
