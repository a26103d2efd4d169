"""`python -m bench.layouts`: compares two layouts of an OpenSearch, and measures whole questions over Parley's.

It starts an OpenSearch of one node with 1 GB of heap, and loads documents from a seed into both layouts; at the server
that `PARLEY_TEST_OPENSEARCH_URL` names, they are loaded once and kept. Each time is the least of the runs, since other
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

from bench.index_searches import QuestionMeter, SearchCost, build_search_table
from bench.layouts.comparison import PARLEY_VARIANTS, TODAY, VARIANTS, LayoutComparison, NodeSession
from bench.layouts.corpus import PASSAGES_PER_DOCUMENT, ShipmentCorpus
from bench.layouts.indexes import LayoutLoader, RandomEmbedder, SplitIndexes
from bench.layouts.request_shapes import RequestShapes
from bench.layouts.rewriting import SearchRewriter
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

_TENANT = TenantId("bench")
_SERVER_SIZE = ServerSize(heap_mb=1024, is_optimised=True, is_on_disk=True)
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
    only: str
    without_vectors: bool
    without_split: bool


async def measure_layouts(url: str, options: BenchOptions, console: Console) -> None:
    corpus, connection = ShipmentCorpus(analyser_for("en")), RecordedConnection([url])
    embedder = None if options.without_vectors else RandomEmbedder()
    names = IndexNames(_TENANT, f"bench-{options.passages}{'' if embedder else '-words'}")
    async with aiohttp.ClientSession(url, timeout=_CLIENT_TIMEOUT) as session:
        try:
            catalogue = BucketCatalogue(connection=connection, names=names, analysers=analyser_for)
            await catalogue.open()
            index = OpenSearchIndex(catalogue, tenant=_TENANT, embedder=embedder)
            for schema in corpus.schemas:
                await index.set_schema(schema)
            await catalogue.reload_layouts()
            await _load_layouts(LayoutLoader(session=session, catalogue=catalogue, corpus=corpus), options, console)
            scope = Scope(tenant=_TENANT, buckets=frozenset(catalogue.layouts), ignores_readers=True)
            scoped, shapes = index.within_scope(scope), RequestShapes(corpus)
            if options.only != "questions":
                comparison = _comparison_over(scoped, catalogue, connection, session, options)
                for name, shape in shapes.by_name().items():
                    await comparison.compare_shape(name, shape, options.runs)
                console.print(_build_comparison_table(comparison))
            if options.only != "shapes":
                meter = QuestionMeter(scoped, connection, session, clears=("request", "query"), summarise_ms=min)
                console.print(build_search_table(await _measure_questions(meter, shapes.questions(), options.runs)))
        finally:
            await connection.close()


async def _load_layouts(loader: LayoutLoader, options: BenchOptions, console: Console) -> None:
    started, shipment_count = time.perf_counter(), options.passages // PASSAGES_PER_DOCUMENT
    passage_count = await loader.load_parley_layout(shipment_count)
    console.print(f"{passage_count:,} passages in Parley's layout after {time.perf_counter() - started:.0f} s")
    if not options.without_split:
        await loader.load_split_layout(shipment_count)
        console.print(f"the same in the other layout after {time.perf_counter() - started:.0f} s")


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
        variants=PARLEY_VARIANTS if options.without_split else VARIANTS,
    )


async def _measure_questions(meter: QuestionMeter, questions: Mapping[str, str], runs: int) -> dict[str, SearchCost]:
    return {name: await meter.measure_question(text, runs) for name, text in questions.items()}


def _build_comparison_table(comparison: LayoutComparison) -> Table:
    table = Table(title="The same searches in two layouts, ms", title_justify="left")
    table.add_column("request")
    for variant in comparison.variants:
        table.add_column(variant, justify="right")
    table.add_column("found otherwise by")
    for name, times in comparison.times.items():
        table.add_row(
            name, *(f"{times.ms[variant]:.1f}" for variant in comparison.variants), ", ".join(times.differing)
        )
    ratios = [
        statistics.geometric_mean(times.ms[variant] / times.ms[TODAY] for times in comparison.times.values())
        for variant in comparison.variants
    ]
    table.add_row("against today, geometric mean", *(f"{ratio:.2f}" for ratio in ratios), "")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.layouts", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000, help="how many [100,000]")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    parser.add_argument("--only", choices=("shapes", "questions"), default="", help="measure these only")
    parser.add_argument("--without-vectors", action="store_true", help="rank by words only")
    parser.add_argument("--without-split", action="store_true", help="load and measure Parley's layout only")
    options, console = BenchOptions(**vars(parser.parse_args())), Console(width=200)
    with opensearch_server(_SERVER_SIZE) as url:
        asyncio.run(measure_layouts(url, options, console))
    console.print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
