"""Measures reading a whole set from OpenSearch as an export does, against a bare loop over a point in time.

`python -m bench.pit_export [--rows N] [--runs N]`. Both read the same documents in the order of a field. The export
also makes CSV lines. Memory is the peak of `tracemalloc`, with that of a quarter of the rows beside it.
"""

import argparse
import asyncio
import statistics
import time
import tracemalloc
from contextlib import aclosing
from typing import Any

import aiohttp
from rich.console import Console

from bench.bulk_ingest import SERVER
from bench.export_parcels import NUMBER_FIELD, PARCELS_BUCKET, PARCELS_SCHEMA, first_parcels_search, put_parcels
from bench.figures import BenchmarkFigure, build_figure_table
from bot.conversation.spreadsheet import sheet_for_schemas
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.search.ids import TenantId
from storage.search.index import RecordPageRequest
from storage.search.record_pages import load_pages_ahead
from storage.search.schema import SchemaOrder
from storage.search.scope import Scope
from tests.servers.opensearch import opensearch_server
from tests.stand_ins.recorded_cluster import open_recorded_index

_TENANT, _INSTALLATION = TenantId("t"), "bench"
_EXPORT_PAGE_ROWS, _BARE_PAGE_ROWS = 2_000, 5_000


async def read_as_export(index: OpenSearchIndex, rows: int) -> int:
    """Reads the first rows in pages, and makes CSV lines of them. Returns the number of rows."""
    scope = Scope(tenant=_TENANT, buckets=frozenset({PARCELS_BUCKET}), ignores_readers=True)
    sheet, order, row_count = sheet_for_schemas({PARCELS_BUCKET: PARCELS_SCHEMA}), SchemaOrder(field=NUMBER_FIELD), 0
    async with index.within_scope(scope).open_snapshot(frozenset({PARCELS_BUCKET})) as snapshot:
        request = RecordPageRequest(first_parcels_search(rows), order=order, limit=_EXPORT_PAGE_ROWS)
        async with aclosing(load_pages_ahead(snapshot, request)) as pages:
            async for page in pages:
                row_count += len(page.records)
                await asyncio.to_thread(sheet.record_lines, page.records)
    return row_count


async def read_bare(session: aiohttp.ClientSession, index: str, field_path: str) -> int:
    """Reads all rows from a point in time with `search_after`. Returns their number."""
    async with session.post(f"/{index}/_search/point_in_time", params={"keep_alive": "2m"}) as response:
        point_id = (await response.json())["pit_id"]
    row_count, after = 0, list[Any]()
    try:
        while True:
            body = {
                "size": _BARE_PAGE_ROWS,
                "query": {"term": {"kind": "document"}},
                "pit": {"id": point_id, "keep_alive": "2m"},
                "sort": [{field_path: "asc"}, {"doc_id": "asc"}],
                "_source": ["stored.doc_id", "stored.title", "stored.source", "stored.values"],
                "track_total_hits": False,
                **({"search_after": after} if after else {}),
            }
            async with session.post("/_search", json=body) as response:
                hits = (await response.json())["hits"]["hits"]
            row_count += len(hits)
            if len(hits) < _BARE_PAGE_ROWS:
                return row_count
            after = hits[-1]["sort"]
    finally:
        async with session.delete("/_search/point_in_time", json={"pit_id": [point_id]}) as response:
            await response.read()


async def measure_pit_export(rows: int, runs: int) -> list[BenchmarkFigure]:
    """Measure both in turn. Raises `ServerMissing`."""
    export_s, bare_s, names = list[float](), list[float](), IndexNames(_TENANT, _INSTALLATION)
    with opensearch_server(SERVER) as url:
        async with (
            open_recorded_index(url, tenant=_TENANT, installation=_INSTALLATION, embedder=None) as opened,
            aiohttp.ClientSession(url) as session,
        ):
            index = opened.index
            async for _ in put_parcels(index, rows):
                opened.connection.take_requests()
            async with session.get(f"/{names.bucket_alias_for(PARCELS_BUCKET)}") as response:
                (definition,) = (await response.json()).values()
            number_path = next(
                name for name, field in definition["mappings"]["properties"].items() if field["type"] == "double"
            )
            for run in range(runs + 1):  # the first warms the server up
                started_s = time.perf_counter()
                export_count = await read_as_export(index, rows)
                export_end_s = time.perf_counter()
                bare_count = await read_bare(session, names.bucket_alias_for(PARCELS_BUCKET), number_path)
                if export_count != rows or bare_count != rows:
                    raise SystemExit(f"{export_count} and {bare_count} rows, not {rows}")
                if run:
                    export_s.append(export_end_s - started_s)
                    bare_s.append(time.perf_counter() - export_end_s)
                opened.connection.take_requests()
            peaks_mb = list[float]()
            for read_rows in (rows // 4, rows):
                tracemalloc.start()
                await read_as_export(index, read_rows)
                peaks_mb.append(tracemalloc.get_traced_memory()[1] / 1e6)
                tracemalloc.stop()
                opened.connection.take_requests()
    return [
        BenchmarkFigure(
            name=f"reading {rows:,} rows from OpenSearch for an export",
            unit="s",
            run_values=tuple(export_s),
            baseline=statistics.median(bare_s),
            target=round(statistics.median(bare_s) / 0.7, 2),
            note=f"bare: a point in time in pages of {_BARE_PAGE_ROWS:,}",
        ),
        BenchmarkFigure(
            name=f"peak memory of reading {rows:,} rows",
            unit="MB",
            run_values=(peaks_mb[1],),
            baseline=peaks_mb[0],
            target=round(peaks_mb[0] * 1.2, 1),
            note=f"bare: {rows // 4:,} rows of the same documents",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.pit_export", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    Console(width=160).print(build_figure_table(asyncio.run(measure_pit_export(options.rows, options.runs))))


if __name__ == "__main__":
    main()
