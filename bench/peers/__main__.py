"""Measures Parley beside Haystack and LangChain on one OpenSearch, in turn, with documents made from a seed.

`make bench-peers [ARGS="--documents N --runs N"]`. Each reads a file of the same documents, embeds the same passages
with the same model and writes them as it does by default. Parley also divides the documents, infers their schema and
claims their ids. Then each searches for the best ten passages of the same queries, one at a time.
"""

import argparse
import asyncio
import json
import logging
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
from rich.console import Console
from rich.table import Table

from bench.bulk_ingest import BUCKET, DOCUMENT_CHARACTERS, SERVER, empty_bucket, load_with_parley, write_contracts
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.opensearch.index import OpenSearchIndex
from storage.search.ids import TenantId
from storage.search.index import KeywordPassageRequest, SearchRequest, SemanticPassageRequest
from storage.search.plan import unfiltered_search_of
from storage.search.scope import Scope
from tests.servers.opensearch import opensearch_server
from tests.stand_ins.recorded_cluster import open_recorded_index

PARLEY, HAYSTACK, LANGCHAIN = "Parley", "haystack", "langchain"
_TENANT, _INSTALLATION, _HITS = TenantId("t"), "bench", 10
_PYTHON = Path(__file__).parents[2] / ".bench-peers" / "bin" / "python"
_PROGRAM = Path(__file__).with_name("peer_program.py")
_TIMEOUT_S = 900
_NO_TELEMETRY = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGCHAIN_TRACING_V2": "false"}


@dataclass(slots=True)
class PeerTimes:
    """Of each run: seconds to load, of the writer alone (0: not measured apart) and of own processor time."""

    load_s: list[float] = field(default_factory=list[float])
    write_s: list[float] = field(default_factory=list[float])
    cpu_s: list[float] = field(default_factory=list[float])
    keyword_ms: list[float] = field(default_factory=list[float])  # of each search
    semantic_ms: list[float] = field(default_factory=list[float])


def write_passages(documents: Path, file: Path) -> int:
    """Write the documents with the passages that Parley makes of them; returns the number of passages."""
    passage_count = 0
    with documents.open(encoding="utf-8") as lines, file.open("w", encoding="utf-8") as output:
        for record in map(json.loads, lines):
            text = record.pop("text")
            record["passages"] = [text[passage.start : passage.end] for passage in passages_of(text)]
            passage_count += len(record["passages"])
            output.write(json.dumps(record, ensure_ascii=False) + "\n")
    return passage_count


def pick_queries(file: Path, count: int) -> list[str]:
    """Returns queries of four rarer words of a passage each, the same in every run."""
    rng = random.Random(5)
    with file.open(encoding="utf-8") as lines:
        texts = [passage for record in map(json.loads, lines) for passage in record["passages"]]
    words = [[word for word in text.split() if len(word) > 5 and word.isalpha()] for text in rng.sample(texts, count)]
    return [" ".join(rng.sample(found, min(4, len(found)))) for found in words]


async def measure_parley(index: OpenSearchIndex, file: Path, queries: Sequence[str], times: PeerTimes) -> None:
    await empty_bucket(index)
    started_s, cpu_started_s = time.perf_counter(), time.process_time()
    await load_with_parley(index, file)
    times.load_s.append(time.perf_counter() - started_s)
    times.cpu_s.append(time.process_time() - cpu_started_s)
    search = unfiltered_search_of(BUCKET)
    for query in queries:
        times.keyword_ms.append(await _time_search(index, KeywordPassageRequest(search, text=query, limit=_HITS)))
    for query in queries:
        times.semantic_ms.append(await _time_search(index, SemanticPassageRequest(search, text=query, limit=_HITS)))


async def _time_search(index: OpenSearchIndex, request: SearchRequest[Any]) -> float:
    scoped = index.within_scope(Scope(tenant=_TENANT, buckets=frozenset({BUCKET}), ignores_readers=True))
    started_s = time.perf_counter()
    answers = await scoped.answer_requests(request)
    elapsed_ms = (time.perf_counter() - started_s) * 1000
    if not answers[request]:
        raise SystemExit("a query found nothing")
    return elapsed_ms


async def measure_peer(peer: str, url: str, file: Path, queries: Sequence[str], times: PeerTimes) -> None:
    """Extends `times` by what the program of the peer measures of itself in a process of its own."""
    index = f"peer-{uuid4().hex}"
    figures = await asyncio.to_thread(_run_peer_program, [peer, url, index, str(file)], queries)
    async with aiohttp.ClientSession(url) as session, session.delete(f"/{index}*") as response:
        response.raise_for_status()
    for name in ("load_s", "write_s", "cpu_s"):
        getattr(times, name).append(figures[name])
    (times.keyword_ms if peer == HAYSTACK else times.semantic_ms).extend(figures["search_ms"])


def _run_peer_program(arguments: Sequence[str], queries: Sequence[str]) -> Mapping[str, Any]:
    finished = subprocess.run(
        [_PYTHON, _PROGRAM, *arguments],
        input="\n".join(queries),
        env={**os.environ, **_NO_TELEMETRY},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if finished.returncode:
        raise SystemExit(f"the program of {arguments[0]} failed: {finished.stderr[-2_000:]}")
    return json.loads(finished.stdout.splitlines()[-1])


async def measure_peers(folder: Path, document_count: int, runs: int, query_count: int) -> dict[str, PeerTimes]:
    """Measure each in turn. Raises `ServerMissing`."""
    documents, passages = folder / "contracts.jsonl", folder / "passages.jsonl"
    await asyncio.to_thread(write_contracts, documents, document_count, DOCUMENT_CHARACTERS)
    await asyncio.to_thread(write_passages, documents, passages)
    queries = await asyncio.to_thread(pick_queries, passages, query_count)
    embedder, times = WordLlamaEmbedder(), dict[str, PeerTimes]()
    await embedder.embed_texts(["a word"])
    logging.getLogger("opensearch").setLevel(logging.WARNING)  # the same for all
    with opensearch_server(SERVER) as url:
        async with open_recorded_index(url, tenant=_TENANT, installation=_INSTALLATION, embedder=embedder) as opened:
            for run in range(runs + 1):  # the first warms the server up
                laps = times if run else dict[str, PeerTimes]()
                await measure_parley(opened.index, documents, queries, laps.setdefault(PARLEY, PeerTimes()))
                for peer in (HAYSTACK, LANGCHAIN):
                    await measure_peer(peer, url, passages, queries, laps.setdefault(peer, PeerTimes()))
    return times


def build_peer_table(times: Mapping[str, PeerTimes], document_count: int) -> Table:
    table = Table(title="Parley beside other libraries on one OpenSearch", title_justify="left")
    headings = ("what", "documents/s", "writer alone", "own CPU ms a document", "Parley's rate against it")
    for heading in (*headings, "against its writer alone", "BM25 p50 ms", "vectors p50 ms"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    parley = times[PARLEY]
    for name, lap in times.items():
        table.add_row(
            name,
            f"{document_count / statistics.median(lap.load_s):,.0f}",
            f"{document_count / statistics.median(lap.write_s):,.0f}" if lap.write_s else "",
            f"{statistics.median(lap.cpu_s) * 1000 / document_count:.2f}",
            _format_ratios(lap.load_s, parley.load_s),
            _format_ratios(lap.write_s, parley.load_s) if lap.write_s else "",
            f"{statistics.median(lap.keyword_ms):.1f}" if lap.keyword_ms else "none",
            f"{statistics.median(lap.semantic_ms):.1f}" if lap.semantic_ms else "",
        )
    return table


def _format_ratios(peer_s: Sequence[float], parley_s: Sequence[float]) -> str:
    ratios = [theirs / ours for theirs, ours in zip(peer_s, parley_s, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.peers", description=__doc__)
    parser.add_argument("--documents", type=int, default=4_000, help="of 2,000 characters [4,000]")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured [3]")
    parser.add_argument("--queries", type=int, default=40, help="searched in each run [40]")
    options = parser.parse_args()
    if not _PYTHON.exists():
        raise SystemExit("The libraries are not installed; run make bench-peers.")
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        times = asyncio.run(measure_peers(Path(name), options.documents, options.runs, options.queries))
    Console(width=160).print(build_peer_table(times, options.documents))


if __name__ == "__main__":
    main()
