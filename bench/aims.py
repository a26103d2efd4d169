"""Measures what the project has set itself as aims, each beside a bare loop in the same run, and prints one table.

`make bench`, or `python -m bench.aims [OPTION…]`; `--help` lists the sizes.
The default sizes are small: they show the way of a figure, and `docs/benchmarks.md` has those of the sizes of the aims.
"""

import argparse
import asyncio
import logging
import os
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.bulk_ingest import BARE_LOOP, PARLEY, measure_bulk_ingest
from bench.demo_index import open_demo_index, settings_in
from bench.figures import BenchmarkFigure
from bench.inbox import measure_inbox
from bench.layouts.request_shapes import THREE_SUB_QUERIES
from bench.layouts.whole_questions import open_shipment_questions
from bench.overhead import measure_overhead
from bench.pit_export import measure_pit_export
from bench.questions_at_once import measure_questions_at_once
from bot.demo.corpus import generate_corpus
from tests.scenarios.questions import questions
from tests.servers.missing import ServerMissing
from tests.servers.opensearch import ServerSize, opensearch_server

LOOK_UP, CLARIFICATION, LIST = "look-up of a value", "list, too long", "list"
_SERVER = ServerSize(heap_mb=1024, is_optimised=True, is_on_disk=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AimedFigure:
    """A measured value and what it should be: at most `aim`, or at least if `is_least`."""

    name: str
    value: float
    unit: str  # `times`: a ratio to the bare loop of the same run
    aim: float
    is_least: bool = False
    note: str = ""

    @property
    def is_reached(self) -> bool:
        return self.value >= self.aim if self.is_least else self.value <= self.aim


@dataclass(frozen=True, slots=True, kw_only=True)
class AimSizes:
    passages: int
    documents: int
    rows: int
    turns: int
    questions: int
    runs: int


async def measure_questions(sizes: AimSizes) -> list[AimedFigure]:
    """Whole questions over OpenSearch, and how their cost grows tenfold."""
    with opensearch_server(_SERVER) as url:
        async with open_shipment_questions(url, sizes.passages // 10) as small:
            small_costs = {name: await small.measure_by_rules(name, sizes.runs) for name in (LOOK_UP, CLARIFICATION)}
        async with open_shipment_questions(url, sizes.passages) as large:
            names = (LOOK_UP, LIST, CLARIFICATION, THREE_SUB_QUERIES)
            costs = {name: await large.measure_by_rules(name, sizes.runs) for name in names}
            scripted = await large.measure_scripted(sizes.runs)
    ratios = {name: cost.wall_ms / cost.bare_wall_ms for name, cost in costs.items()}
    bare = f"bare: one `_msearch` with the same bodies, {sizes.passages:,} passages"
    return [
        AimedFigure(
            name="three sub-queries, a scripted model without delay",
            value=scripted.wall_ms / scripted.bare_wall_ms,
            unit="times",
            aim=1.5,
            note=f"{scripted.wall_ms:.0f} ms; {bare}",
        ),
        AimedFigure(name="three sub-queries by the rules", value=ratios[THREE_SUB_QUERIES], unit="times", aim=1.5),
        AimedFigure(name="own CPU of three sub-queries, scripted model", value=scripted.cpu_ms, unit="ms", aim=6),
        AimedFigure(
            name="a clarification", value=ratios[CLARIFICATION], unit="times", aim=2, note="the aim is for 10⁶ passages"
        ),
        AimedFigure(name="searches of a look-up", value=costs[LOOK_UP].searches, unit="", aim=12),
        AimedFigure(name="searches of a list with facets", value=costs[LIST].searches, unit="", aim=25),
        *(
            AimedFigure(
                name=f"growth of the node's CPU with ten times the passages, {name}",
                value=costs[name].node_cpu_ms / max(cost.node_cpu_ms, 1.0),
                unit="times",
                aim=4,
                note="the aim is for 10⁴ to 10⁶",
            )
            for name, cost in small_costs.items()
        ),
    ]


async def measure_loading(folder: Path, sizes: AimSizes) -> list[AimedFigure]:
    times = await measure_bulk_ingest(folder, sizes.documents, sizes.runs)
    ratios = [bare / own for bare, own in zip(times[BARE_LOOP].wall_s, times[PARLEY].wall_s, strict=True)]
    return [
        AimedFigure(
            name="rate of loading documents into OpenSearch",
            value=statistics.median(ratios),
            unit="times",
            aim=0.8,
            is_least=True,
            note="bare: four bulks in flight; beside Haystack and LangChain: `make bench-peers`",
        )
    ]


async def measure_exports(sizes: AimSizes) -> list[AimedFigure]:
    rate, memory = await measure_pit_export(sizes.rows, sizes.runs)
    return [
        AimedFigure(
            name="rate of an export from OpenSearch",
            value=(rate.baseline or 0.0) / rate.median,
            unit="times",
            aim=0.7,
            is_least=True,
            note=f"{sizes.rows:,} rows; {rate.note}",
        ),
        AimedFigure(
            name="memory of an export",
            value=memory.median / (memory.baseline or memory.median),
            unit="times",
            aim=1.2,
            note=memory.note,
        ),
    ]


async def measure_claims(sizes: AimSizes) -> list[AimedFigure]:
    stored, claimed, *_ = await measure_inbox(sizes.runs, sizes.turns)
    return [
        AimedFigure(name=figure.name, value=figure.median, unit="a second", aim=aim, is_least=True, note=figure.note)
        for figure, aim in ((stored, 1_000), (claimed, 300))
    ]


async def measure_own_time(folder: Path, sizes: AimSizes) -> list[AimedFigure]:
    """The processor time of questions whose answers of the index are recorded."""
    corpus, settings = generate_corpus(), settings_in(folder)
    texts = [question.text for question in questions(corpus)][: sizes.questions]
    async with open_demo_index(settings, corpus, folder / "corpus") as index:
        figures: list[BenchmarkFigure] = [
            *await measure_overhead(index, settings, texts, sizes.runs),
            *await measure_questions_at_once(index, settings, texts, sizes.runs),
        ]
    return [
        AimedFigure(name=figure.name, value=figure.median, unit=figure.unit, aim=figure.target, note=figure.note)
        for figure in figures
        if figure.target is not None
    ]


async def measure_aims(sizes: AimSizes, console: Console) -> list[AimedFigure]:
    """What needs a server that cannot be had is left out, with a line that says why."""
    figures = list[AimedFigure]()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        folder = Path(name)
        measurements: list[Callable[[], Awaitable[list[AimedFigure]]]] = [
            lambda: measure_questions(sizes),
            lambda: measure_loading(folder, sizes),
            lambda: measure_exports(sizes),
            lambda: measure_claims(sizes),
            lambda: measure_own_time(folder, sizes),
        ]
        for measure in measurements:
            try:
                figures += await measure()
            except ServerMissing as exc:
                console.print(f"not measured: {exc}")
    return figures


def build_aim_table(figures: list[AimedFigure]) -> Table:
    table = Table(title="What Parley aims at, measured", title_justify="left")
    for heading in ("what", "measured", "aim", "reached", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right", overflow="fold")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.value:,.2f} {figure.unit}".rstrip(),
            f"{'≥' if figure.is_least else '≤'} {figure.aim:g}",
            "yes" if figure.is_reached else "no",
            figure.note,
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.aims", description=__doc__)
    parser.add_argument("--passages", type=int, default=20_000, help="of shipments in OpenSearch [20,000]")
    parser.add_argument("--documents", type=int, default=500, help="that are loaded [500]")
    parser.add_argument(
        "--rows", type=int, default=20_000, help="of an export, a quarter of them several pages [20,000]"
    )
    parser.add_argument("--turns", type=int, default=500, help="in the inbox [500]")
    parser.add_argument("--questions", type=int, default=30, help="of the demo [30]")
    parser.add_argument("--runs", type=int, default=2, help="how often each is measured [2]")
    sizes, console = AimSizes(**vars(parser.parse_args())), Console(width=180)
    logging.getLogger("opensearch").setLevel(logging.WARNING)  # the library of models makes all logs visible
    console.print(build_aim_table(asyncio.run(measure_aims(sizes, console))))
    console.print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
