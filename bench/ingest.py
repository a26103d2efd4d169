"""Documents into the embedded index with vectors, beside what SQLite and the model take without Parley."""

import json
import random
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bench.figures import Figure
from bench.inventing import prose, words
from bot.settings import Settings
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.chunk import passages_of
from storage.ingest.pipeline import ingest
from storage.search.ids import BucketId, TenantId

_AIM_MS = 1000 / 1.5  # for 1,000 passages: 1,500 a second
_DOCUMENTS = 120
_CHARACTERS = 50_000  # of a document: a contract's
_BUCKET = BucketId("contracts")


async def ingesting(settings: Settings, folder: Path, runs: int) -> list[Figure]:
    """Of processor time, and by the clock: two processors share the work."""
    texts = _texts()
    file = folder / "contracts.jsonl"
    file.write_text("\n".join(_line(number, text) for number, text in enumerate(texts)), encoding="utf-8")
    passages = [text[one.start : one.end] for text in texts for one in passages_of(text)]
    measured = [await _ingested(settings, folder / f"index-{run}", file, len(passages)) for run in range(runs)]
    bare = _bare(folder / "bare.sqlite", texts, passages)
    return [
        _figure("CPU", [one.cpu for one in measured], bare.cpu),
        _figure("wall time", [one.wall for one in measured], bare.wall),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    """Milliseconds for 1,000 passages."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class _Clock:
    """Started when made."""

    cpu: float = field(default_factory=time.process_time)
    wall: float = field(default_factory=time.perf_counter)

    def spent(self, passages: int) -> _Spent:
        cpu, wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        return _Spent(cpu=cpu * 1e6 / passages, wall=wall * 1e6 / passages)


def _figure(what: str, runs: Sequence[float], bare: float) -> Figure:
    middle = sorted(runs)[len(runs) // 2]
    return Figure(
        name=f"ingest with vectors, {what} per 1,000 passages",
        unit="ms",
        runs=tuple(runs),
        aim=_AIM_MS,
        bare=bare,
        note=f"{1e6 / middle:,.0f} passages a second; bare: wordllama and FTS5",
    )


def _texts() -> list[str]:
    rng = random.Random(11)
    vocabulary = words(rng, 8_000)
    return [prose(rng, vocabulary, _CHARACTERS) for _ in range(_DOCUMENTS)]


def _line(number: int, text: str) -> str:
    metadata = {"year": 2000 + number % 20, "law": f"Law {number % 7}"}
    record = {"doc_id": f"c{number}", "title": f"Contract {number}", "text": text, "metadata": metadata}
    return json.dumps(record, ensure_ascii=False)


async def _ingested(settings: Settings, folder: Path, file: Path, passages: int) -> _Spent:
    """The model is loaded before."""
    embedder = WordLlamaEmbedder()
    await embedder.embed(["a word"])
    index = await EmbeddedIndex.open(
        folder, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=embedder
    )
    try:
        clock = _Clock()
        await ingest(index, [file], bucket=_BUCKET)
        return clock.spent(passages)
    finally:
        await index.close()


def _bare(file: Path, texts: Sequence[str], passages: Sequence[str]) -> _Spent:
    """The same texts embedded by the library, and put as they are into two tables of FTS5."""
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    beside = Path(wordllama.__file__).parent
    model = cast(Any, wordllama.WordLlama).load(cache_dir=beside, disable_download=True)
    connection = sqlite3.connect(file)
    try:
        for table in ("document", "passage"):
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='')")
        clock = _Clock()
        model.embed(list(passages))
        connection.executemany("INSERT INTO document(text) VALUES(?)", [(text,) for text in texts])
        connection.executemany("INSERT INTO passage(text) VALUES(?)", [(text,) for text in passages])
        connection.commit()
        return clock.spent(len(passages))
    finally:
        connection.close()
