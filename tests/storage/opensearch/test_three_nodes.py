"""A cluster of three nodes loses one: what is answered stays exact, and nothing that was acknowledged is lost."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any as Json
from typing import Final

import aiohttp
import pytest

from storage.opensearch.index import OpenSearchIndex
from storage.search.errors import SearchError
from storage.search.ids import DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    KeywordPassageRequest,
    RecordPageRequest,
    ValueFacet,
)
from storage.search.record_pages import load_pages_ahead
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search, ordered_by, where
from tests.servers.missing import ServerMissing, skip_or_fail
from tests.servers.opensearch_cluster import ClusterNode, opensearch_cluster

NODES: Final = 3
KEPT: Final = 240  # documents that are there before, and do not change
BATCH: Final = 8
ROUNDS: Final = 1  # of each kind of work and one more, with every node, without the killed one, and when it is back
PAGE: Final = 50
_CALL_TIMEOUT: Final = aiohttp.ClientTimeout(total=70)


@pytest.fixture
def nodes() -> Iterator[list[ClusterNode]]:
    try:
        with opensearch_cluster(NODES) as nodes:
            yield nodes
    except ServerMissing as exc:
        skip_or_fail(exc)


async def call_cluster(nodes: list[ClusterNode], path: str) -> Json:
    """The answer of the first node that gives one, as soon as there is one."""
    while True:
        for node in nodes:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with aiohttp.request("GET", f"{node.url}{path}", timeout=_CALL_TIMEOUT) as response:
                    if response.status == 200:
                        return json.loads(await response.text())
        await asyncio.sleep(0.2)


async def wait_for_nodes(nodes: list[ClusterNode], node_count: int) -> None:
    """Wait until so many nodes have all shards and their replicas."""
    status = f"wait_for_nodes={node_count}&wait_for_status=green&wait_for_no_relocating_shards=true"
    await call_cluster(nodes, f"/_cluster/health?{status}&timeout=60s")


@dataclass(kw_only=True)
class ClusterWork:
    """Asks, exports and writes during a block. What fails with an error of the index is counted, and tried again."""

    index: OpenSearchIndex
    started: list[str] = field(default_factory=list[str])  # documents
    acknowledged: list[str] = field(default_factory=list[str])
    done: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    progress: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._repeat(kind, work))
                for kind, work in (("ask", self.ask), ("export", self.export), ("write", self.write))
            ]
            yield
            for task in tasks:
                task.cancel()

    async def wait_for_rounds(self) -> None:
        """Wait until each kind of work, begun from now on, was done."""
        before, kinds = self.done.copy(), ("ask", "export", "write")
        async with self.progress:
            await self.progress.wait_for(lambda: all(self.done[kind] > before[kind] + ROUNDS for kind in kinds))

    async def _repeat(self, kind: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except SearchError:
                self.failed[kind] += 1
                await asyncio.sleep(0.2)
                continue
            async with self.progress:
                self.done[kind] += 1
                self.progress.notify_all()

    async def ask(self) -> None:
        kept, new = a_search(where("weight", "gte", 0)), a_search(where("vendor", "eq", "new"))
        count, facet = CountRequest(kept), FacetRequest(kept, FieldName("vendor"))
        total, later = AggregateRequest(kept, FieldName("weight")), CountRequest(new)
        ranked = KeywordPassageRequest(a_search(), "number7", 5)
        least = len(self.acknowledged)

        answers = await self.index.within_scope(a_scope()).answer_requests(count, facet, total, later, ranked)

        assert answers[count] == KEPT
        vendors = answers[facet]
        assert isinstance(vendors, ValueFacet)
        assert {value.value: value.count for value in vendors.values} == {
            f"v{number}": KEPT // 4 for number in range(4)
        }
        assert answers[total][0].sum == sum(range(KEPT))
        assert least <= answers[later] <= len(self.started)
        assert [hit.doc_id for hit in answers[ranked]] == ["k7"]

    async def export(self) -> None:
        """All rows of one state, in order: an export that ends is complete."""
        request = RecordPageRequest(a_search(), order=ordered_by("weight", descending=False), limit=PAGE)
        least, rows = len(self.acknowledged), list[DocId]()
        async with (
            self.index.within_scope(a_scope()).open_snapshot(frozenset({RECEIPTS})) as snapshot,
            aclosing(load_pages_ahead(snapshot, request)) as pages,
        ):
            async for page in pages:
                rows += [record.doc_id for record in page.records]
        assert rows[:KEPT] == [f"k{number}" for number in range(KEPT)]
        assert set(self.acknowledged[:least]) <= set(rows[KEPT:]) <= set(self.started)
        assert len(set(rows)) == len(rows)

    async def write(self) -> None:
        new_ids = [f"n{len(self.started) + number}" for number in range(BATCH)]
        self.started += new_ids
        await self.index.put(RECEIPTS, [a_document(new_id, f"new {new_id}", vendor="new") for new_id in new_ids])
        self.acknowledged += new_ids


@pytest.mark.servers
@pytest.mark.timeout(600)
async def test_counts_exports_and_writes_hold_while_a_node_of_three_is_killed_and_comes_back(
    nodes: list[ClusterNode],
) -> None:
    async with asyncio.timeout(480), AsyncExitStack() as stack:
        await wait_for_nodes(nodes, NODES)
        index = await OpenSearchIndex.open(
            [node.url for node in nodes], tenant=TENANT, analysers=analyser_for, embedder=None, shard_count=NODES
        )
        stack.push_async_callback(index.close)
        await index.set_schema(a_receipt_schema())
        await index.put(
            RECEIPTS,
            [
                a_document(f"k{number}", f"number{number}", vendor=f"v{number % 4}", weight=float(number))
                for number in range(KEPT)
            ],
        )
        await wait_for_nodes(nodes, NODES)
        work = ClusterWork(index=index)
        async with work.running():
            await work.wait_for_rounds()
            [manager] = await call_cluster(nodes, "/_cat/cluster_manager?format=json")
            killed = nodes[int(manager["node"].removeprefix("node-"))]
            await asyncio.to_thread(killed.kill)
            await work.wait_for_rounds()
            killed.launch()
            await wait_for_nodes(nodes, NODES)
            await work.wait_for_rounds()

        await work.ask()
        await work.export()
        found = DocumentRequest(tuple(map(DocId, work.acknowledged)))
        documents = (await index.within_scope(a_scope()).answer_requests(found))[found]
        running = await call_cluster(nodes, "/_cat/nodes?format=json")

    assert {document.doc_id for document in documents} == set(work.acknowledged)
    assert manager["node"] in {node["name"] for node in running}
