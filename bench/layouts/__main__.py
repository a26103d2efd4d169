"""`python -m bench.layouts`: compares two layouts of an OpenSearch, and measures whole questions over Parley's.

It starts an OpenSearch of one node, and loads documents from a seed into both layouts; at the server that
`PARLEY_TEST_OPENSEARCH_URL` names, they are loaded once and kept. Each time is the least of the runs, since other
programs can only add to it. `bare ms` is one `_msearch` with the searches of the question.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp
from rich.console import Console
from rich.table import Table

from bench.index_searches import QuestionMeter, SearchCost, build_search_table, read_renewed_counts
from bench.layouts.comparison import (
    PARLEY_VARIANTS,
    TODAY,
    VARIANTS,
    LayoutComparison,
    NodeSession,
    choose_variants,
)
from bench.layouts.corpus import PASSAGES_PER_DOCUMENT, ShipmentCorpus
from bench.layouts.indexes import LayoutLoader, RandomEmbedder, SplitIndexes
from bench.layouts.request_shapes import RequestShapes
from bench.layouts.rewriting import SearchRewriter
from bench.layouts.whole_questions import SCRIPTED, ShipmentQuestions
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.opensearch.reading.merged_searches import SearchMerger, SendSearches
from storage.opensearch.reading.query_steps import OpenSearchRequest
from storage.opensearch.reading.requests import IndexReader
from storage.opensearch.reading.scoped_index import ScopedOpenSearchIndex
from storage.opensearch.responses import OpenSearchResponse
from storage.search.ids import TenantId
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.servers.opensearch import ServerSize, opensearch_server
from tests.stand_ins.recorded_cluster import RecordedConnection

ONLY = ("shapes", "questions", "scripted")  # the last: the question of three sub-queries with a scripted model
_TENANT = TenantId("bench")
_CLIENT_TIMEOUT = aiohttp.ClientTimeout(total=300)


class SeparateSearches(SearchMerger):
    """Sends every search as it is."""

    async def send_merged(
        self, send: SendSearches, searches: Sequence[OpenSearchRequest], *, across_indexes: bool
    ) -> list[OpenSearchResponse]:
        return await send(searches)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    passages: int
    runs: int
    shards: int
    heap_mb: int
    variants: Sequence[str]
    only: str
    without_vectors: bool
    without_split: bool


async def measure_layouts(url: str, options: BenchOptions, console: Console) -> None:
    corpus, connection = ShipmentCorpus(analyser_for("en")), RecordedConnection([url])
    embedder = None if options.without_vectors else RandomEmbedder()
    kind = ("" if embedder else "-words") + ("" if options.shards == 1 else f"-{options.shards}-shards")
    names = IndexNames(_TENANT, f"bench-{options.passages}{kind}")
    async with aiohttp.ClientSession(url, timeout=_CLIENT_TIMEOUT) as session:
        try:
            catalogue = BucketCatalogue(connection=connection, names=names, analysers=analyser_for)
            await catalogue.open()
            index = OpenSearchIndex(catalogue, tenant=_TENANT, embedder=embedder, shard_count=options.shards)
            for schema in corpus.schemas:
                await index.set_schema(schema)
            await catalogue.reload_layouts()
            await _load_layouts(LayoutLoader(session=session, catalogue=catalogue, corpus=corpus), options, console)
            scope = Scope(tenant=_TENANT, buckets=frozenset(catalogue.layouts), ignores_readers=True)
            scoped, shapes = index.within_scope(scope), RequestShapes(corpus)
            if options.only not in ("questions", "scripted"):
                comparison = _comparison_over(scoped, catalogue, connection, session, options)
                for name, shape in shapes.by_name().items():
                    await comparison.compare_shape(name, shape, options.runs)
                    console.log(f"{name}: load {os.getloadavg()[0]:.1f}")
                for table in _build_comparison_tables(comparison):
                    console.print(table)
            if options.only != "shapes":
                meter = QuestionMeter(scoped, connection, session, clears=("request", "query"), summarise_ms=min)
                costs = {SCRIPTED: await ShipmentQuestions(meter=meter, shapes=shapes).measure_scripted(options.runs)}
                if options.only != "scripted":
                    costs = await _measure_questions(meter, shapes.questions(), options.runs) | costs
                console.print(build_search_table(costs))
        finally:
            await connection.close()


async def _load_layouts(loader: LayoutLoader, options: BenchOptions, console: Console) -> None:
    """Load what is not there yet; what is there costs no time."""
    shipment_count = options.passages // PASSAGES_PER_DOCUMENT
    loads = {"one index": loader.load_parley_layout}
    if not options.without_split:
        loads["two"] = loader.load_split_layout
    table = Table(title=f"{options.passages:,} passages in {options.shards} shards", title_justify="left")
    for heading in ("layout", "loaded in, s", "node CPU s", "MB"):
        table.add_column(heading, justify="right")
    for name, load in loads.items():
        before, started = await read_renewed_counts(loader.session), time.perf_counter()
        indexes = await load(shipment_count)
        wall_s, after = time.perf_counter() - started, await read_renewed_counts(loader.session)
        megabytes = await loader.measure_indexes(indexes) / 1_000_000
        table.add_row(name, f"{wall_s:.0f}", f"{(after.cpu_ms - before.cpu_ms) / 1000:.0f}", f"{megabytes:,.0f}")
    console.print(table)


def _comparison_over(
    scoped: ScopedOpenSearchIndex,
    catalogue: BucketCatalogue,
    connection: RecordedConnection,
    session: aiohttp.ClientSession,
    options: BenchOptions,
) -> LayoutComparison:
    embedder = None if options.without_vectors else RandomEmbedder()
    reader = IndexReader(catalogue=catalogue, embedder=embedder, merger=SeparateSearches())
    split = {layout.index: SplitIndexes.beside(layout.index) for layout in catalogue.layouts.values()}
    return LayoutComparison(
        merged=scoped,
        apart=ScopedOpenSearchIndex(reader, scoped.scope),
        connection=connection,
        node=NodeSession(session=session),
        rewriter=SearchRewriter(split_indexes=split),
        scripted_rewriter=SearchRewriter(split_indexes=split, is_scripted=True),
        variants=PARLEY_VARIANTS if options.without_split else choose_variants(options.variants),
    )


async def _measure_questions(meter: QuestionMeter, questions: Mapping[str, str], runs: int) -> dict[str, SearchCost]:
    return {name: await meter.measure_question(text, runs) for name, text in questions.items()}


def _build_comparison_tables(comparison: LayoutComparison) -> list[Table]:
    """The times, and the processor time of the node. Of the last row, variants count where they were answered."""
    wall, node = (
        Table(title=f"The same searches in two layouts, {unit}", title_justify="left") for unit in ("ms", "node CPU ms")
    )
    for table in (wall, node):
        table.add_column("request")
        for variant in comparison.variants:
            table.add_column(variant, justify="right")
        table.add_column("found otherwise by")
    for name, times in comparison.times.items():
        for table, figures in ((wall, times.ms), (node, times.node_cpu_ms)):
            cells = [f"{figures[name]:.0f}" if name in figures else "refused" for name in comparison.variants]
            table.add_row(name, *cells, ", ".join(times.differing))
    all_times = list(comparison.times.values())
    wall_ratios = [
        statistics.geometric_mean(times.ms[name] / times.ms[TODAY] for times in all_times if name in times.ms)
        for name in comparison.variants
    ]
    wall.add_row("against today, geometric mean", *(f"{ratio:.2f}" for ratio in wall_ratios), "")
    node_sums = [
        (
            sum(times.node_cpu_ms[name] for times in all_times if name in times.ms),
            sum(times.node_cpu_ms[TODAY] for times in all_times if name in times.ms),
        )
        for name in comparison.variants
    ]
    node.add_row("against today, sum of all", *(f"{cpu_ms / today_ms:.2f}" for cpu_ms, today_ms in node_sums), "")
    return [wall, node]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.layouts", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000, help="how many [100,000]")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    parser.add_argument("--shards", type=int, default=1, help="of each index of both layouts [1]")
    parser.add_argument("--heap-mb", type=int, default=1024, help="of the server that is started [1,024]")
    parser.add_argument("--only", choices=ONLY, default="", help="measure these only")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS, help="compare these [all]")
    parser.add_argument("--without-vectors", action="store_true", help="rank by words only")
    parser.add_argument("--without-split", action="store_true", help="load and measure Parley's layout only")
    options, console = BenchOptions(**vars(parser.parse_args())), Console(width=200)
    server_size = ServerSize(heap_mb=options.heap_mb, is_optimised=True, is_on_disk=True)
    with opensearch_server(server_size) as url:
        asyncio.run(measure_layouts(url, options, console))
    console.print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
