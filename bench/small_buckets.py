"""Measures many small buckets on one OpenSearch node: each in an index of its own, then all in shared indexes.

`python -m bench.small_buckets [--buckets N] [--runs N] [--layouts own shared]`. Each bucket is a list of twenty
documents with fields of its own. Each question is asked once before it is measured, so that the vocabulary is loaded.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from rich.console import Console

from bench.index_searches import QuestionMeter, SearchCost, build_search_table
from bench.synthetic_data import invent_prose, invent_words
from storage.embedder import WordLlamaEmbedder
from storage.ingest.documents.chunk import passages_of
from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from tests.servers.opensearch import ServerSize, opensearch_server
from tests.stand_ins.recorded_cluster import open_recorded_index

_TENANT, _DOCUMENTS = TenantId("t"), 20
_LAYOUTS = {"own": "each in an index of its own", "shared": "all in shared indexes"}
QUESTIONS = {
    "a count in one bucket": "How many list0 have owner Ada Finch?",
    "a value of a document": "What is the amount of list0 item 3?",
    "words of a text": "What does the list say about {word}?",
}


def make_documents(number: int, rng: random.Random, vocabulary: list[str]) -> list[Document]:
    texts = [invent_prose(rng, vocabulary, 600) for _ in range(_DOCUMENTS)]
    return [
        Document(
            doc_id=DocId(f"b{number}.{place}"),
            title=f"list{number} item {place}",
            text=text,
            passages=passages_of(text),
            values={
                FieldName("owner"): ("Ada Finch", "Ben Okoro", "Cleo Marsh")[place % 3],
                FieldName(f"code {number}"): f"{number}-{place}",
                FieldName("amount"): float(place * 10 + number),
                FieldName("due"): f"2026-0{1 + place % 9}-15",
            },
        )
        for place, text in enumerate(texts)
    ]


async def fill_small_buckets(index: OpenSearchIndex, bucket_count: int) -> str:
    """Create the buckets. Returns a word of a text."""
    rng = random.Random(5)
    vocabulary = invent_words(rng, 3_000)
    for number in range(bucket_count):
        bucket = BucketId(f"list{number}")
        fields = (
            SchemaField(name=FieldName("owner"), type=FieldType.CATEGORY, facet=True),
            SchemaField(name=FieldName(f"code {number}"), type=FieldType.CATEGORY),
            SchemaField(name=FieldName("amount"), type=FieldType.MONEY, currency="EUR"),
            SchemaField(name=FieldName("due"), type=FieldType.DATE, facet=True),
        )
        await index.set_schema(Schema(bucket=bucket, fields=fields))
        await index.put(bucket, make_documents(number, rng, vocabulary))
    return vocabulary[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketsCost:
    """What the buckets cost the node, and the median cost of each question."""

    shard_count: int
    state_bytes: int  # of the state that each node of the cluster holds
    filling_s: float  # to create and to fill the buckets
    questions: Mapping[str, SearchCost]


async def measure_small_buckets(bucket_count: int, runs: int, *, are_shared: bool) -> BucketsCost:
    """Raises `ServerMissing`."""
    with opensearch_server(ServerSize(heap_mb=1_024)) as url:
        async with (
            open_recorded_index(
                url,
                tenant=_TENANT,
                installation="bench",
                embedder=WordLlamaEmbedder(),
                shared_from=0 if are_shared else None,
            ) as opened,
            aiohttp.ClientSession(url) as session,
        ):
            started = time.perf_counter()
            word = await fill_small_buckets(opened.index, bucket_count)
            filling_s = time.perf_counter() - started
            async with session.get("/_cluster/state") as response:
                state_bytes = len(await response.read())
            async with session.get("/_cluster/health") as response:
                shard_count = int((await response.json())["active_primary_shards"])
            buckets = frozenset(await opened.index.load_bucket_sizes())
            scoped = opened.index.within_scope(Scope(tenant=_TENANT, buckets=buckets, ignores_readers=True))
            meter = QuestionMeter(scoped, opened.connection, session)
            questions = {
                kind: await meter.measure_question(text.format(word=word), runs) for kind, text in QUESTIONS.items()
            }
            return BucketsCost(
                shard_count=shard_count, state_bytes=state_bytes, filling_s=filling_s, questions=questions
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.small_buckets", description=__doc__)
    parser.add_argument("--buckets", type=int, default=150)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--layouts", nargs="+", choices=_LAYOUTS, default=list(_LAYOUTS))
    options = parser.parse_args()
    console = Console(width=160)
    for layout in options.layouts:
        cost = asyncio.run(measure_small_buckets(options.buckets, options.runs, are_shared=layout == "shared"))
        table = build_search_table(dict(cost.questions))
        table.title = f"A question over {options.buckets} small buckets of OpenSearch, one node: {_LAYOUTS[layout]}"
        table.caption = (
            f"{cost.shard_count} shards, {cost.state_bytes / 1e6:.1f} MB of cluster state, created and filled in "
            f"{cost.filling_s:.1f} s"
        )
        console.print(table)


if __name__ == "__main__":
    main()
