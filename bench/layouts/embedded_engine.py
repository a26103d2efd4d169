"""`python -m bench.layouts.embedded_engine`: the requests and questions of this benchmark over the embedded engine.

For each number of passages it loads the same seeded documents into a file of its own. Each time is the least of the
runs, after one that loads the caches of the process.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.context import AgentContext
from agent.loop import answer
from agent.rules.reasoner import RuleReasoner
from bench.layouts.corpus import PASSAGES_PER_DOCUMENT, ShipmentCorpus
from bench.layouts.indexes import RandomEmbedder
from bench.layouts.request_shapes import RequestShapes
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import TenantId
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

_TENANT = TenantId("bench")
_DOCUMENTS_A_PUT = 500


@dataclass(frozen=True, kw_only=True)
class EngineFigures:
    """Of one size: what loading took, and milliseconds by request and by question."""

    passages: int
    load_s: float
    file_mb: float
    request_ms: dict[str, float] = field(default_factory=dict[str, float])
    question_ms: dict[str, float] = field(default_factory=dict[str, float])
    question_cpu_ms: dict[str, float] = field(default_factory=dict[str, float])


async def measure_engine(passages: int, runs: int) -> EngineFigures:
    corpus = ShipmentCorpus(analyser_for("en"))
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        async with _open_loaded_index(Path(name), corpus, passages) as (index, load_s):
            figures = EngineFigures(passages=passages, load_s=load_s, file_mb=await asyncio.to_thread(_size_mb, name))
            scope = Scope(tenant=_TENANT, buckets=frozenset(await index.load_bucket_states()), ignores_readers=True)
            scoped, shapes, reasoner = index.within_scope(scope), RequestShapes(corpus), RuleReasoner()
            for shape_name, shape in shapes.by_name().items():
                figures.request_ms[shape_name], _ = await _time_least(partial(scoped.answer_requests, *shape), runs)
            for question_name, text in shapes.questions().items():
                context = AgentContext(index=scoped, reasoner=reasoner, now=datetime.now(UTC))
                wall_ms, cpu_ms = await _time_least(partial(answer, text, context), runs)
                figures.question_ms[question_name], figures.question_cpu_ms[question_name] = wall_ms, cpu_ms
            return figures


def _size_mb(folder: str) -> float:
    return sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6


@asynccontextmanager
async def _open_loaded_index(
    folder: Path, corpus: ShipmentCorpus, passages: int
) -> AsyncGenerator[tuple[EmbeddedIndex, float]]:
    """Gives the index, and the seconds that loading took."""
    index = await EmbeddedIndex.open(folder, tenant=_TENANT, analysers=analyser_for, embedder=RandomEmbedder())
    try:
        shipments, suppliers = corpus.schemas
        loads = [
            (suppliers, corpus.generate_suppliers()),
            (shipments, corpus.generate_shipments(passages // PASSAGES_PER_DOCUMENT)),
        ]
        started_s = time.perf_counter()
        for schema, documents in loads:
            await index.set_schema(schema)
            while batch := [*islice(documents, _DOCUMENTS_A_PUT)]:
                await index.put(schema.bucket, batch)
        yield index, time.perf_counter() - started_s
    finally:
        await index.close()


async def _time_least(ask: Callable[[], Awaitable[object]], runs: int) -> tuple[float, float]:
    """Milliseconds by the clock and of the processor."""
    await ask()
    wall_ms, cpu_ms = list[float](), list[float]()
    for _ in range(runs):
        started_s, started_cpu_s = time.perf_counter(), time.process_time()
        await ask()
        wall_ms.append(1000 * (time.perf_counter() - started_s))
        cpu_ms.append(1000 * (time.process_time() - started_cpu_s))
    return min(wall_ms), min(cpu_ms)


def _build_table(sizes: Sequence[EngineFigures]) -> Table:
    table = Table(title="The embedded engine, ms", title_justify="left")
    table.add_column("request")
    for figures in sizes:
        table.add_column(f"{figures.passages:,}", justify="right")
    table.add_column("growth", justify="right")
    for name in sizes[0].request_ms:
        _add_row(table, name, [figures.request_ms[name] for figures in sizes])
    for name in sizes[0].question_ms:
        _add_row(table, f"question: {name}", [figures.question_ms[name] for figures in sizes])
        _add_row(table, "  CPU", [figures.question_cpu_ms[name] for figures in sizes])
    medians = [statistics.median(figures.question_ms.values()) for figures in sizes]
    _add_row(table, "median of the questions", medians)
    _add_row(table, "passages loaded a second", [figures.passages / figures.load_s for figures in sizes])
    _add_row(table, "MB of the file", [figures.file_mb for figures in sizes])
    return table


def _add_row(table: Table, name: str, values: Sequence[float]) -> None:
    table.add_row(name, *(f"{value:,.1f}" for value in values), f"{values[-1] / values[0]:.1f}" if values[0] else "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.layouts.embedded_engine", description=__doc__)
    parser.add_argument(
        "--passages", type=int, nargs="+", default=[10_000, 100_000, 500_000], help="sizes [10,000 100,000 500,000]"
    )
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    options, console = parser.parse_args(), Console(width=160)
    sizes = [asyncio.run(measure_engine(passages, options.runs)) for passages in options.passages]
    console.print(_build_table(sizes))
    console.print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
