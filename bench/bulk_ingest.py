"""Measures ingestion into OpenSearch against two bare loops with four bulks in flight, on one server in turn.

`python -m bench.bulk_ingest [--documents N] [--runs N]`. One loop reads the same file, divides and embeds the texts
with the libraries and lets OpenSearch analyse them. The other sends the bulks that Parley sends, encoded beforehand: it
costs little but the server's own work.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast
from uuid import uuid4

import aiohttp
from rich.console import Console
from rich.table import Table

from bench.synthetic_data import invent_prose, invent_words
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexNames
from storage.search.ids import BucketId, TenantId
from storage.search.schema import Schema
from tests.servers.opensearch import ServerSize, opensearch_server
from tests.stand_ins.recorded_cluster import RecordedIndex, open_recorded_index

PARLEY, BARE_LOOP, BARE_BULKS = "Parley", "a bare loop over the documents", "Parley's bulks, encoded beforehand"
LoadStep: TypeAlias = Callable[[], Awaitable[None]]
_INSTALLATION = "bench"
SERVER = ServerSize(heap_mb=1024, is_optimised=True)  # a smaller one refuses bulks that are sent at full speed
_BARE_BULKS_IN_FLIGHT = 4
DOCUMENT_CHARACTERS = 2_000
_BODY_LOCK = threading.Lock()  # a generator takes one thread at a time
_BULK_BYTES = 2_000_000
BUCKET = BucketId("contracts")
_STATS_INTERVAL_S = 1.1  # the server renews its processor time once a second
_BARE_INDEX: dict[str, Any] = {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"},
    "mappings": {
        "properties": {
            "title": {"type": "text", "analyzer": "standard"},
            "text": {"type": "text", "analyzer": "standard"},
            "vector": {"type": "knn_vector", "dimension": 256},
            "metadata": {"properties": {"law": {"type": "keyword"}, "year": {"type": "integer"}}},
        }
    },
}


@dataclass(slots=True, kw_only=True)
class LoadTimes:
    """Seconds of each run of one way to load the documents."""

    wall_s: list[float] = field(default_factory=list[float])
    own_cpu_s: list[float] = field(default_factory=list[float])
    node_cpu_s: list[float] = field(default_factory=list[float])

    def add(self, other: "LoadTimes") -> None:
        self.wall_s += other.wall_s
        self.own_cpu_s += other.own_cpu_s
        self.node_cpu_s += other.node_cpu_s


def write_contracts(file: Path, document_count: int, characters: int) -> None:
    """Write the documents, which are the same in every run, as JSON lines."""
    rng = random.Random(11)
    vocabulary = invent_words(rng, 8_000)
    with file.open("w", encoding="utf-8") as lines:
        for number in range(document_count):
            record = {
                "doc_id": f"c{number}",
                "title": f"Contract {number}",
                "text": invent_prose(rng, vocabulary, characters),
                "metadata": {"year": 2000 + number % 20, "law": f"Law {number % 7}"},
            }
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


async def measure_load(session: aiohttp.ClientSession, times: LoadTimes, load_documents: LoadStep) -> None:
    """Extends `times` by one run."""
    node_started_s = await _read_node_cpu(session)
    started_s, cpu_started_s = time.perf_counter(), time.process_time()
    await load_documents()
    times.wall_s.append(time.perf_counter() - started_s)
    times.own_cpu_s.append(time.process_time() - cpu_started_s)
    times.node_cpu_s.append(await _read_node_cpu(session) - node_started_s)


async def _read_node_cpu(session: aiohttp.ClientSession) -> float:
    await asyncio.sleep(_STATS_INTERVAL_S)
    async with session.get("/_nodes/stats/process") as response:
        nodes = (await response.json())["nodes"].values()
    return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes) / 1000


async def load_with_parley(index: OpenSearchIndex, file: Path) -> None:
    report = await ingest_files(index, [file], extractor=RuleExtractor(), bucket=BUCKET)
    if report.failed:
        raise SystemExit(report.summary_line)


async def empty_bucket(index: OpenSearchIndex) -> None:
    if BUCKET in await index.load_bucket_sizes():
        await index.drop_bucket(BUCKET)


def load_bare_model() -> Any:
    """Returns the model of the embedder, without Parley."""
    import wordllama  # pyright: ignore[reportMissingTypeStubs]

    folder = Path(wordllama.__file__).parent
    return cast(Any, wordllama.WordLlama).load(cache_dir=folder, disable_download=True)


async def load_with_bare_loop(session: aiohttp.ClientSession, file: Path, model: Any) -> None:
    """Read, divide, embed and send the documents with the libraries alone."""
    index = f"bare-{uuid4().hex}"
    await _request(session, "PUT", f"/{index}", json.dumps(_BARE_INDEX).encode())
    await _send_in_flight(session, _encode_bare_bulks(index, file, model))
    await _request(session, "POST", f"/{index}/_refresh", b"")
    await _request(session, "DELETE", f"/{index}", b"")


def _encode_bare_bulks(index: str, file: Path, model: Any) -> Iterator[bytes]:
    lines, size = list[str](), 0
    with file.open(encoding="utf-8") as records:
        for line in records:
            record = json.loads(line)
            passages = [record["text"][passage.start : passage.end] for passage in passages_of(record["text"])]
            entries = [{key: record[key] for key in ("title", "text", "metadata")}]
            for passage, vector in zip(passages, model.embed(passages, norm=True), strict=True):
                entries.append({"title": record["title"], "text": passage, "vector": vector.tolist()})
            for place, entry in enumerate(entries):
                action = {"index": {"_index": index, "_id": f"{record['doc_id']}.{place}"}}
                lines.append(f"{json.dumps(action)}\n{json.dumps(entry)}\n")
                size += len(lines[-1])
            if size >= _BULK_BYTES:
                yield "".join(lines).encode()
                lines, size = [], 0
    yield "".join(lines).encode()


async def _send_in_flight(session: aiohttp.ClientSession, bodies: Iterator[bytes]) -> None:
    async def send_remaining() -> None:
        while True:
            body = await asyncio.to_thread(lambda: _next_body(bodies))
            if body is None:
                return
            items = (await _request(session, "POST", "/_bulk", body))["items"]
            # A conflict is the entry of an earlier generation of the bucket.
            if any(result["status"] not in (200, 201, 409) for item in items for result in item.values()):
                raise SystemExit("a bare write was refused")

    await asyncio.gather(*(send_remaining() for _ in range(_BARE_BULKS_IN_FLIGHT)))


def _next_body(bodies: Iterator[bytes]) -> bytes | None:
    with _BODY_LOCK:
        return next(bodies, None)


async def _request(session: aiohttp.ClientSession, method: str, path: str, body: bytes) -> Any:
    headers = {"content-type": "application/x-ndjson" if path == "/_bulk" else "application/json"}
    async with session.request(method, path, data=body or None, headers=headers) as response:
        response.raise_for_status()
        return await response.json()


async def replay_bulks(
    session: aiohttp.ClientSession, opened: RecordedIndex, schema: Schema, bodies: Sequence[str], alias: str
) -> LoadStep:
    """Returns the step that sends the bulks of a run of Parley, as they are, into a new index of the bucket."""
    await empty_bucket(opened.index)
    await opened.index.set_schema(schema)
    new_alias = await _write_alias_of(opened)
    encoded = [body.replace(alias, new_alias).encode() for body in bodies]

    async def send_bulks() -> None:
        await _send_in_flight(session, iter(encoded))
        await _request(session, "POST", f"/{new_alias}/_refresh", b"")

    return send_bulks


async def _write_alias_of(opened: RecordedIndex) -> str:
    names = IndexNames(opened.index.tenant, _INSTALLATION)
    aliases = await opened.connection.send_request("GET", f"/{names.bucket_alias_for(BUCKET)}/_alias")
    (index,) = aliases
    return names.write_alias_for(index)


async def measure_bulk_ingest(folder: Path, document_count: int, runs: int) -> dict[str, LoadTimes]:
    """Measure each way to load the documents, in turn. Raises `ServerMissing`."""
    file, times = folder / "contracts.jsonl", {name: LoadTimes() for name in (PARLEY, BARE_LOOP, BARE_BULKS)}
    await asyncio.to_thread(write_contracts, file, document_count, DOCUMENT_CHARACTERS)
    embedder, model = WordLlamaEmbedder(), load_bare_model()
    await embedder.embed_texts(["a word"])
    with opensearch_server(SERVER) as url:
        async with (
            open_recorded_index(url, tenant=TenantId("t"), installation=_INSTALLATION, embedder=embedder) as opened,
            aiohttp.ClientSession(url) as session,
        ):
            for run in range(runs + 1):  # the first warms the server up
                await empty_bucket(opened.index)
                opened.connection.take_requests()
                laps = {name: LoadTimes() for name in times}
                await measure_load(session, laps[PARLEY], lambda: load_with_parley(opened.index, file))
                alias = await _write_alias_of(opened)
                sent_bulks = [sent for sent in opened.connection.take_requests() if sent.path == "/_bulk"]
                bodies = [str(sent.body) for sent in sent_bulks if alias in str(sent.body)]
                schema = (await opened.index.load_bucket_sizes())[BUCKET].schema
                replay = await replay_bulks(session, opened, schema, bodies, alias)
                await measure_load(session, laps[BARE_BULKS], replay)
                await measure_load(session, laps[BARE_LOOP], lambda: load_with_bare_loop(session, file, model))
                if run:
                    for name, lap in laps.items():
                        times[name].add(lap)
    return times


def build_load_table(times: dict[str, LoadTimes], document_count: int) -> Table:
    table = Table(title="Loading documents into OpenSearch", title_justify="left")
    for heading in (
        "what",
        "documents/s",
        "own CPU ms a document",
        "node CPU ms a document",
        "Parley's rate against it",
    ):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for name, lap in times.items():
        ratios = [bare_s / wall_s for bare_s, wall_s in zip(lap.wall_s, times[PARLEY].wall_s, strict=True)]
        table.add_row(
            name,
            f"{document_count / statistics.median(lap.wall_s):,.0f}",
            f"{statistics.median(lap.own_cpu_s) * 1000 / document_count:.2f}",
            f"{statistics.median(lap.node_cpu_s) * 1000 / document_count:.2f}",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.bulk_ingest", description=__doc__)
    parser.add_argument("--documents", type=int, default=4_000, help="of 2,000 characters [4,000]")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured [3]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        times = asyncio.run(measure_bulk_ingest(Path(name), options.documents, options.runs))
    Console(width=160).print(build_load_table(times, options.documents))


if __name__ == "__main__":
    main()
