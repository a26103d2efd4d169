"""Measures how OpenSearch finds passages by their vectors: what a search takes, what it finds, what the index takes.

`python -m bench.vectors [--vectors N] [--layouts NAME…]`. The passages are prose from a seed, which are embedded. To
reach N vectors, copies with noise of a fixed seed are added. Each layout is measured on the same vectors and queries.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import aiohttp
import numpy as np
from rich.console import Console

from bench.bulk_ingest import SERVER
from bench.synthetic_data import invent_prose, invent_words
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.opensearch.mapping import GRAPH_METHOD, MIN_GRAPH_CANDIDATES
from storage.opensearch.reading.ranking import script_for_scan
from storage.opensearch.vector_bytes import round_to_bytes
from tests.servers.opensearch import opensearch_server

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEST, _BATCH, _NOISE = 10, 500, 0.05
_BUSY, _MAX_ATTEMPTS = 429, 60
_MAX_PASSAGES, _QUERY_COUNT = 20_000, 100
_DOCUMENT_CHARACTERS, _WORDS_OF_DOCUMENT = 6_000, 400
_FLOATS, _BYTES, _GRAPH = LAYOUTS = "floats", "bytes", "graph"


@dataclass(frozen=True, slots=True, kw_only=True)
class _VectorLayout:
    name: str
    mapping: dict[str, Any]
    has_bytes: bool
    is_graph: bool


def _layouts(dimensions: int) -> list[_VectorLayout]:
    plain: dict[str, Any] = {"type": "knn_vector", "dimension": dimensions}
    small = plain | {"data_type": "byte"}
    return [
        _VectorLayout(name=_FLOATS, mapping=plain, has_bytes=False, is_graph=False),
        _VectorLayout(name=_BYTES, mapping=small, has_bytes=True, is_graph=False),
        _VectorLayout(name=_GRAPH, mapping=small | {"method": GRAPH_METHOD}, has_bytes=True, is_graph=True),
    ]


def _invent_passages(count: int) -> list[str]:
    """Passages that are the same in every run. Each document has words of its own beside those of all others."""
    rng, texts = random.Random(18), list[str]()
    vocabulary = invent_words(rng, 8_000)
    while len(texts) < count:
        own_words = rng.sample(vocabulary, _WORDS_OF_DOCUMENT)
        text = invent_prose(rng, own_words, _DOCUMENT_CHARACTERS)
        texts += [text[passage.start : passage.end] for passage in passages_of(text)]
    return texts[:count]


async def _make_vectors(count: int) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
    """The vectors, and those of the queries: the first words of passages that are not among them."""
    chance, texts = np.random.default_rng(18), _invent_passages(min(count, _MAX_PASSAGES) + _QUERY_COUNT)
    order: list[int] = chance.permutation(len(texts)).tolist()
    queries = [" ".join(texts[place].split()[:12]) for place in order[:_QUERY_COUNT]]
    embedder = WordLlamaEmbedder()
    known = await embedder.embed_texts([texts[place] for place in order[_QUERY_COUNT:]], are_passages=True)
    copies = known[chance.integers(len(known), size=max(0, count - len(known)))]
    copies += chance.normal(0, _NOISE, copies.shape).astype(np.float32)
    vectors = np.concatenate([known, copies])[:count]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, await embedder.embed_texts(queries)


def _to_json(vector: "NDArray[np.float32]", layout: _VectorLayout) -> list[float]:
    return [*round_to_bytes(vector)] if layout.has_bytes else vector.tolist()


class _VectorServer:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url

    async def send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        data = body if isinstance(body, str) or body is None else json.dumps(body)
        headers = {"content-type": "application/json"}
        answer = dict[str, Any]()
        for _ in range(_MAX_ATTEMPTS):
            async with self._session.request(method, self._url + path, data=data, headers=headers) as response:
                answer = cast(dict[str, Any], await response.json())
                if response.status != _BUSY:
                    break
            await asyncio.sleep(0.5)
        if "error" in answer or answer.get("errors"):
            raise RuntimeError(str(answer)[:500])
        return answer

    async def fill(self, layout: _VectorLayout, vectors: "NDArray[np.float32]") -> float:
        """Returns the seconds it took, with merging into the segments that a search meets."""
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1, "knn": layout.is_graph}
        mappings = {"properties": {"vector": layout.mapping}, "_source": {"enabled": False}}
        await self.send("PUT", "/bench", {"settings": {"index": settings}, "mappings": mappings})
        started = time.perf_counter()
        for start in range(0, len(vectors), _BATCH):
            lines = [
                f'{{"index":{{"_id":"{start + place}"}}}}\n{{"vector":{_to_json(vector, layout)}}}\n'
                for place, vector in enumerate(vectors[start : start + _BATCH])
            ]
            await self.send("POST", "/bench/_bulk", "".join(lines))
        await self.send("POST", "/bench/_refresh")
        return time.perf_counter() - started

    async def search(self, layout: _VectorLayout, query: "NDArray[np.float32]") -> tuple[list[int], float]:
        """Returns the places of the best vectors, and the milliseconds it took."""
        vector = _to_json(query, layout)
        nearest = {"vector": vector, "k": MIN_GRAPH_CANDIDATES}
        scan = {"query": {"exists": {"field": "vector"}}, "script": script_for_scan(vector)}
        found = {"knn": {"vector": nearest}} if layout.is_graph else {"script_score": scan}
        started = time.perf_counter()
        answer = await self.send("POST", "/bench/_search", {"query": found, "size": _BEST, "_source": False})
        return [int(hit["_id"]) for hit in answer["hits"]["hits"]], (time.perf_counter() - started) * 1000


async def _measure(url: str, count: int, layout_names: Sequence[str]) -> None:
    vectors, queries = await _make_vectors(count)
    console = Console(width=160)
    console.print(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions, {len(queries)} queries")
    truth = [set(np.argsort(-(vectors @ query))[:_BEST].tolist()) for query in queries]
    async with aiohttp.ClientSession() as session:
        server = _VectorServer(session, url)
        for layout in [layout for layout in _layouts(vectors.shape[1]) if layout.name in layout_names]:
            filled_s = await server.fill(layout, vectors)
            size = (await server.send("GET", "/bench/_stats/store"))["_all"]["primaries"]["store"]["size_in_bytes"]
            for query in queries[:20]:
                await server.search(layout, query)
            found = [await server.search(layout, query) for query in queries]
            recall = statistics.mean(
                len(best & set(places)) / _BEST for best, (places, _) in zip(truth, found, strict=True)
            )
            times = sorted(ms for _, ms in found)
            console.print(
                f"{layout.name:7} recall@10 {recall:.3f}  p50 {times[len(times) // 2]:6.1f} ms"
                f"  p95 {times[len(times) * 95 // 100]:6.1f} ms  {size / 1e6:6.1f} MB  filled in {filled_s:5.1f} s"
            )
            await server.send("DELETE", "/bench")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100_000, help="how many [100,000]")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=LAYOUTS, help="measure these [all]")
    options = parser.parse_args()
    with opensearch_server(SERVER) as url:
        asyncio.run(_measure(url, options.vectors, options.layouts))
    Console().print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
