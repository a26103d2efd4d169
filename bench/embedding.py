"""Measures the embedding of passages in a thread of the process against a pool of processes, in turn.

`python -m bench.embedding [--passages N] [--runs N]`. Meanwhile the event loop wakes up every few milliseconds: how
late it does is what people who ask in the same process wait longer. The last rows load the documents of these passages
into an embedded index, with either way of embedding and without vectors.
"""

import argparse
import asyncio
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console
from rich.table import Table

from bench.figures import percentile_of
from bench.synthetic_data import invent_prose, invent_words
from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.schema import Schema
from storage.text.snowball_analyser import analyser_for

if TYPE_CHECKING:
    from storage.embedder import Vectors

THREAD, ONE_PROCESS, TWO_PROCESSES = "a thread of the process", "a process of its own", "two processes"
LOAD, LOAD_WITH_PROCESS = "loading the documents, a thread", "loading them, a process of its own"
LOAD_WITHOUT = "loading them without vectors"
MeasuredWork: TypeAlias = Callable[[], Awaitable[None]]
_BUCKET, _TENANT = BucketId("contracts"), TenantId("bench")
_PASSAGES_PER_CALL = 200  # about what the embedded engine embeds at once
_DOCUMENT_CHARACTERS = 6_000
_TICK_S = 0.002

_process_embedder = WordLlamaEmbedder()  # of a process of the pool


@dataclass(slots=True)
class WorkTimes:
    """One value for each run: seconds of the work, of processor time of this process, and how late the loop woke up."""

    wall_s: list[float] = field(default_factory=list[float])
    own_cpu_s: list[float] = field(default_factory=list[float])
    median_lag_ms: list[float] = field(default_factory=list[float])
    late_lag_ms: list[float] = field(default_factory=list[float])
    longest_lag_ms: list[float] = field(default_factory=list[float])


def embed_in_process(texts: Sequence[str]) -> "Vectors":
    return asyncio.run(_process_embedder.embed_texts(texts))


@asynccontextmanager
async def recording_lags(lags_ms: list[float]) -> AsyncGenerator[None]:
    """Adds how late the event loop wakes up during the block."""

    async def tick() -> None:
        while True:
            due = time.perf_counter() + _TICK_S
            await asyncio.sleep(_TICK_S)
            lags_ms.append((time.perf_counter() - due) * 1000)

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        await asyncio.wait({ticker})


async def measure_work(work: MeasuredWork, times: WorkTimes) -> None:
    lags_ms = list[float]()
    started, started_cpu = time.perf_counter(), time.process_time()
    async with recording_lags(lags_ms):
        await work()
    times.wall_s.append(time.perf_counter() - started)
    times.own_cpu_s.append(time.process_time() - started_cpu)
    times.median_lag_ms.append(statistics.median(lags_ms))
    times.late_lag_ms.append(percentile_of(lags_ms, 99))
    times.longest_lag_ms.append(max(lags_ms))


def build_documents(passage_count: int) -> list[Document]:
    """Documents that are the same in every run, with about so many passages."""
    rng, documents, count = random.Random(18), list[Document](), 0
    vocabulary = invent_words(rng, 8_000)
    while count < passage_count:
        text = invent_prose(rng, vocabulary, _DOCUMENT_CHARACTERS)
        passages = passages_of(text)
        documents.append(
            Document(
                doc_id=DocId(f"c{len(documents)}"),
                title=f"Contract {len(documents)}",
                text=text,
                passages=passages,
                readers=frozenset(),
            )
        )
        count += len(passages)
    return documents


class ProcessEmbedder(WordLlamaEmbedder):
    """Embeds passages in the processes of a pool."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        super().__init__()
        self._pool = pool

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        return await asyncio.get_running_loop().run_in_executor(self._pool, embed_in_process, list(texts))


async def load_documents(documents: Sequence[Document], embedder: WordLlamaEmbedder | None) -> None:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        index = await EmbeddedIndex.open(Path(folder), tenant=_TENANT, analysers=analyser_for, embedder=embedder)
        try:
            await index.set_schema(Schema(bucket=_BUCKET, fields=()))
            await index.put(_BUCKET, documents)
        finally:
            await index.close()


def list_works(documents: Sequence[Document], stack: ExitStack) -> dict[str, MeasuredWork]:
    texts = [
        f"{document.title}\n{document.text[passage.start : passage.end]}"
        for document in documents
        for passage in document.passages
    ]
    calls = [texts[start : start + _PASSAGES_PER_CALL] for start in range(0, len(texts), _PASSAGES_PER_CALL)]
    context = multiprocessing.get_context("spawn")
    pools = {
        name: stack.enter_context(ProcessPoolExecutor(count, mp_context=context))
        for name, count in ((ONE_PROCESS, 1), (TWO_PROCESSES, 2))
    }
    embedder = WordLlamaEmbedder()

    async def embed_in_thread() -> None:
        for call in calls:
            await embedder.embed_texts(call)

    def embed_in_pool(name: str) -> MeasuredWork:
        async def embed() -> None:
            loop = asyncio.get_running_loop()
            await asyncio.gather(*(loop.run_in_executor(pools[name], embed_in_process, call) for call in calls))

        return embed

    return {
        THREAD: embed_in_thread,
        ONE_PROCESS: embed_in_pool(ONE_PROCESS),
        TWO_PROCESSES: embed_in_pool(TWO_PROCESSES),
        LOAD: lambda: load_documents(documents, embedder),
        LOAD_WITH_PROCESS: lambda: load_documents(documents, ProcessEmbedder(pools[ONE_PROCESS])),
        LOAD_WITHOUT: lambda: load_documents(documents, None),
    }


async def measure_embedding(documents: Sequence[Document], run_count: int) -> dict[str, WorkTimes]:
    with ExitStack() as stack:
        works = list_works(documents, stack)
        for work in works.values():  # loads the model, here and in the processes
            await work()
        times = {name: WorkTimes() for name in works}
        for run in range(run_count):
            names = list(works)
            for name in names[run % len(names) :] + names[: run % len(names)]:
                await measure_work(works[name], times[name])
    return times


def build_table(times: dict[str, WorkTimes], passage_count: int) -> Table:
    table = Table(title=f"{passage_count:,} passages, medians of the runs", title_justify="left")
    for heading in ("what", "passages a second", "rate against the thread", "own CPU s", "loop late by, median ms"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for heading in ("99th percentile ms", "at most ms"):
        table.add_column(heading, justify="right")
    for name, measured in times.items():
        compared = times[LOAD if name in (LOAD, LOAD_WITH_PROCESS, LOAD_WITHOUT) else THREAD]
        ratios = [thread / own for thread, own in zip(compared.wall_s, measured.wall_s, strict=True)]
        table.add_row(
            name,
            f"{passage_count / statistics.median(measured.wall_s):,.0f}",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            f"{statistics.median(measured.own_cpu_s):.2f}",
            f"{statistics.median(measured.median_lag_ms):.2f}",
            f"{statistics.median(measured.late_lag_ms):.1f}",
            f"{statistics.median(measured.longest_lag_ms):.1f}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.embedding", description=__doc__)
    parser.add_argument("--passages", type=int, default=3_000, help="about how many passages are embedded [3000]")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    options = parser.parse_args()
    documents = build_documents(options.passages)
    passage_count = sum(len(document.passages) for document in documents)
    times = asyncio.run(measure_embedding(documents, options.runs))
    Console(width=160).print(build_table(times, passage_count))


if __name__ == "__main__":
    main()
