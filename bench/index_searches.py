"""Measures what a question costs an OpenSearch node: round trips, searches, fetches, bytes and time, by kind.

The questions are asked over the demo corpus on a real server. Each is asked once before it is measured, so that the
vocabulary is loaded. The server's cache of counts is cleared before each timing, of the question and of the bare
`_msearch` beside it, because people seldom ask the same again.
"""

import asyncio
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from pydantic import BaseModel
from rich.table import Table

from agent.context import AgentContext
from agent.loop import answer
from agent.reasoner import Reasoner
from agent.rules.reasoner import RuleReasoner
from bench.demo_index import ingest_corpus, operator_scope_of
from bot.demo.corpus import DemoCorpus
from bot.settings import Settings
from storage.embedder import WordLlamaEmbedder
from storage.search.ids import TenantId
from storage.search.index import ScopedIndex
from tests.scenarios.questions_by_kind import QUESTIONS_BY_KIND
from tests.servers.opensearch import opensearch_server
from tests.stand_ins.recorded_cluster import RecordedConnection, open_recorded_index

_INSTALLATION = "bench"
_STATS_INTERVAL_S = 1.1  # the server renews its processor time once a second


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCost:
    """The cost of a question. `shard_queries` and `fetches` are the node's own counts, times are milliseconds."""

    round_trips: float
    searches: float
    shard_queries: float
    fetches: float
    response_bytes: float
    wall_ms: float
    bare_wall_ms: float  # of one `_msearch` with the same searches
    node_cpu_ms: float  # of the OpenSearch process
    cpu_ms: float  # of this process

    @classmethod
    def median_of(cls, costs: Sequence["SearchCost"]) -> "SearchCost":
        return cls(**{name: statistics.median(getattr(cost, name) for cost in costs) for name in _COST_NAMES})


_COST_NAMES = tuple(quantity.name for quantity in fields(SearchCost))


async def measure_index_searches(
    corpus: DemoCorpus, settings: Settings, folder: Path, runs: int
) -> dict[str, SearchCost]:
    """The median cost of the questions of each kind. Raises `ServerMissing`."""
    with opensearch_server() as url:
        tenant = TenantId(settings.tenant)
        async with (
            open_recorded_index(url, tenant=tenant, installation=_INSTALLATION, embedder=WordLlamaEmbedder()) as opened,
            aiohttp.ClientSession(url) as session,
        ):
            await ingest_corpus(opened.index, corpus, folder)
            scoped = opened.index.within_scope(await operator_scope_of(opened.index, settings))
            meter = QuestionMeter(scoped, opened.connection, session)
            return {
                kind: SearchCost.median_of([await meter.measure_question(text, runs) for text in texts])
                for kind, texts in QUESTIONS_BY_KIND.items()
            }


class _SearchStats(BaseModel):
    query_total: int
    fetch_total: int


class _IndicesStats(BaseModel):
    search: _SearchStats


class _CpuStats(BaseModel):
    total_in_millis: int


class _ProcessStats(BaseModel):
    cpu: _CpuStats


class _OneNodeStats(BaseModel):
    indices: _IndicesStats
    process: _ProcessStats


class _NodeStats(BaseModel):
    nodes: dict[str, _OneNodeStats]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCounts:
    """What all nodes have done since they started."""

    shard_queries: int
    fetches: int
    cpu_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionTiming:
    wall_ms: float
    cpu_ms: float
    bare_wall_ms: float


@dataclass(frozen=True, slots=True)
class QuestionMeter:
    """Asks questions, and counts what they ask of the node.

    `clears`: the caches that are cleared before each timing. `summarise_ms`: makes the figure of the times of all runs.
    """

    scoped: ScopedIndex
    connection: RecordedConnection
    session: aiohttp.ClientSession
    reasoner: Reasoner = field(default_factory=RuleReasoner)
    clears: Sequence[str] = ("request",)
    summarise_ms: Callable[[Iterable[float]], float] = statistics.median

    async def measure_question(self, text: str, runs: int) -> SearchCost:
        await self._answer_question(text)
        self.connection.take_requests()
        before = await read_node_counts(self.session)
        await self._answer_question(text)
        requests = self.connection.take_requests()
        after = await read_node_counts(self.session)
        searches = "".join(request.body for request in requests if request.searches)
        timings = [await self._time_question(text, searches) for _ in range(runs)]
        return SearchCost(
            round_trips=len(requests),
            searches=sum(request.searches for request in requests),
            shard_queries=after.shard_queries - before.shard_queries,
            fetches=after.fetches - before.fetches,
            response_bytes=len(await self._send_bare(searches)),
            wall_ms=self.summarise_ms(timing.wall_ms for timing in timings),
            bare_wall_ms=self.summarise_ms(timing.bare_wall_ms for timing in timings),
            node_cpu_ms=await self._measure_node_cpu(text, runs),
            cpu_ms=self.summarise_ms(timing.cpu_ms for timing in timings),
        )

    async def _time_question(self, text: str, searches: str) -> _QuestionTiming:
        await self._clear_caches()
        started, cpu_started = time.perf_counter(), time.process_time()
        await self._answer_question(text)
        wall_ms, cpu_ms = (time.perf_counter() - started) * 1000, (time.process_time() - cpu_started) * 1000
        await self._clear_caches()
        started = time.perf_counter()
        await self._send_bare(searches)
        return _QuestionTiming(
            wall_ms=wall_ms,
            cpu_ms=cpu_ms,
            bare_wall_ms=(time.perf_counter() - started) * 1000,
        )

    async def _measure_node_cpu(self, text: str, runs: int) -> float:
        """The processor time of the node for the question, in ms."""
        before = await read_renewed_counts(self.session)
        for _ in range(runs):
            await self._clear_caches()
            await self._answer_question(text)
        return ((await read_renewed_counts(self.session)).cpu_ms - before.cpu_ms) / runs

    async def _answer_question(self, text: str) -> None:
        await answer(text, AgentContext(index=self.scoped, reasoner=self.reasoner, now=datetime.now(UTC)))

    async def _send_bare(self, searches: str) -> bytes:
        headers = {"Content-Type": "application/x-ndjson"}
        async with self.session.post("/_msearch", data=searches.encode(), headers=headers) as response:
            return await response.read()

    async def _clear_caches(self) -> None:
        async with self.session.post("/_cache/clear", params=dict.fromkeys(self.clears, "true")) as response:
            await response.read()


async def read_renewed_counts(session: aiohttp.ClientSession) -> NodeCounts:
    """Returns the counts with the processor time of all that ended before."""
    await asyncio.sleep(_STATS_INTERVAL_S)
    return await read_node_counts(session)


async def read_node_counts(session: aiohttp.ClientSession) -> NodeCounts:
    async with session.get("/_nodes/stats/indices,process/search") as response:
        nodes = _NodeStats.model_validate(await response.json()).nodes.values()
    return NodeCounts(
        shard_queries=sum(node.indices.search.query_total for node in nodes),
        fetches=sum(node.indices.search.fetch_total for node in nodes),
        cpu_ms=sum(node.process.cpu.total_in_millis for node in nodes),
    )


def build_search_table(costs: dict[str, SearchCost]) -> Table:
    table = Table(title="A question over OpenSearch, one node", title_justify="left")
    headings = (
        "round trips",
        "searches",
        "shard queries",
        "fetches",
        "KB back",
        "ms",
        "bare ms",
        "ratio",
        "node CPU",
        "own CPU",
    )
    table.add_column("kind")
    for heading in headings:
        table.add_column(heading, justify="right")
    for kind, cost in costs.items():
        table.add_row(
            kind,
            *(f"{count:g}" for count in (cost.round_trips, cost.searches, cost.shard_queries, cost.fetches)),
            f"{cost.response_bytes / 1000:,.0f}",
            f"{cost.wall_ms:.0f}",
            f"{cost.bare_wall_ms:.0f}",
            f"{cost.wall_ms / cost.bare_wall_ms:.1f}",
            f"{cost.node_cpu_ms:.0f}",
            f"{cost.cpu_ms:.0f}",
        )
    return table
