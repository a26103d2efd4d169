"""Documents into the embedded index with vectors, beside what SQLite and the model take without Parley."""

import json
import random
import sqlite3
import time
from collections.abc import Sequence
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


async def ingesting(settings: Settings, folder: Path, runs: int) -> Figure:
    texts = _texts()
    file = folder / "contracts.jsonl"
    file.write_text("\n".join(_line(number, text) for number, text in enumerate(texts)), encoding="utf-8")
    passages = [text[one.start : one.end] for text in texts for one in passages_of(text)]
    measured = [await _ingested(settings, folder / f"index-{run}", file, len(passages)) for run in range(runs)]
    middle = sorted(measured)[len(measured) // 2]
    return Figure(
        name="ingest with vectors, CPU per 1,000 passages",
        unit="ms",
        runs=tuple(measured),
        aim=_AIM_MS,
        bare=_bare(folder / "bare.sqlite", texts, passages),
        note=f"{1e6 / middle:,.0f} passages a second of CPU; bare: wordllama and FTS5",
    )


def _texts() -> list[str]:
    rng = random.Random(11)
    vocabulary = words(rng, 8_000)
    return [prose(rng, vocabulary, _CHARACTERS) for _ in range(_DOCUMENTS)]


def _line(number: int, text: str) -> str:
    metadata = {"year": 2000 + number % 20, "law": f"Law {number % 7}"}
    record = {"doc_id": f"c{number}", "title": f"Contract {number}", "text": text, "metadata": metadata}
    return json.dumps(record, ensure_ascii=False)


async def _ingested(settings: Settings, folder: Path, file: Path, passages: int) -> float:
    """Milliseconds of processor time for 1,000 passages. The model is loaded before."""
    embedder = WordLlamaEmbedder()
    await embedder.embed(["a word"])
    index = await EmbeddedIndex.open(
        folder, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=embedder
    )
    try:
        started = time.process_time()
        await ingest(index, [file], bucket=_BUCKET)
        return (time.process_time() - started) * 1e6 / passages
    finally:
        await index.close()


def _bare(file: Path, texts: Sequence[str], passages: Sequence[str]) -> float:
    """The same texts embedded by the library, and put as they are into two tables of FTS5."""
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    beside = Path(wordllama.__file__).parent
    model = cast(Any, wordllama.WordLlama).load(cache_dir=beside, disable_download=True)
    connection = sqlite3.connect(file)
    try:
        for table in ("document", "passage"):
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='')")
        started = time.process_time()
        model.embed(list(passages))
        connection.executemany("INSERT INTO document(text) VALUES(?)", [(text,) for text in texts])
        connection.executemany("INSERT INTO passage(text) VALUES(?)", [(text,) for text in passages])
        connection.commit()
        return (time.process_time() - started) * 1e6 / len(passages)
    finally:
        connection.close()
