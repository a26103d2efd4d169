"""Times the same requests in both layouts, and compares what they find."""

import json
import statistics
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any as Json
from typing import cast

import aiohttp

from bench.index_searches import read_renewed_counts
from bench.layouts.request_shapes import RequestShape
from bench.layouts.rewriting import (
    IndexSearch,
    SearchRewriter,
    conditions_on_parents,
    format_searches,
    parse_searches,
)
from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import MAX_HITS
from storage.search.index import ScopedIndex
from tests.stand_ins.recorded_cluster import RecordedConnection

TODAY, APART = "one index", "one index, counts apart"
COPIED, COPIED_APART = "two, values copied", "two, values copied, counts apart"
IDS, SCRIPTED = "two, by ids", "two, scripted BM25"
_INDEX_DEPENDENT = frozenset({"_index", "_score", "max_score"})
PARLEY_VARIANTS = (TODAY, APART)
VARIANTS = (*PARLEY_VARIANTS, COPIED, COPIED_APART, IDS, SCRIPTED)


class SearchRefused(Exception):
    """The node answered a search with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeTimes:
    """Of each variant that the node answered: the least milliseconds, as other programs can only add, and its own.

    `differing`: variants that found otherwise. `refusals`: what the node said, by variant.
    """

    ms: Mapping[str, float]
    node_cpu_ms: Mapping[str, float]  # the median of the runs
    differing: Sequence[str]
    refusals: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSession:
    """Sends searches to the node, without Parley."""

    session: aiohttp.ClientSession

    async def send_searches(self, searches: Sequence[IndexSearch]) -> list[JsonObject]:
        headers = {"Content-Type": "application/x-ndjson"}
        async with self.session.post("/_msearch", data=format_searches(searches), headers=headers) as response:
            return json.loads(await response.read())["responses"]

    async def clear_caches(self) -> None:
        """Clear what the node remembers of earlier conditions and counts."""
        async with self.session.post("/_cache/clear", params={"request": "true", "query": "true"}) as response:
            await response.read()


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutComparison:
    merged: ScopedIndex  # Parley's index
    apart: ScopedIndex  # the same, which sends each count as a search of its own
    connection: RecordedConnection  # of both
    node: NodeSession
    rewriter: SearchRewriter
    scripted_rewriter: SearchRewriter
    variants: Sequence[str]
    times: dict[str, ShapeTimes] = field(default_factory=dict[str, ShapeTimes])

    async def compare_shape(self, name: str, shape: RequestShape, runs: int) -> ShapeTimes:
        merged, apart = await self._record(self.merged, shape), await self._record(self.apart, shape)
        sends = {
            TODAY: partial(self._send_rounds, merged),
            APART: partial(self._send_rounds, apart),
            COPIED: partial(self._send_rounds, _rewrite_rounds(merged, self.rewriter)),
            COPIED_APART: partial(self._send_rounds, _rewrite_rounds(apart, self.rewriter)),
            IDS: partial(self._send_by_ids, merged),
            SCRIPTED: partial(self._send_rounds, _rewrite_rounds(merged, self.scripted_rewriter)),
        }
        found, refusals = dict[str, list[Json]](), dict[str, str]()
        for variant in self.variants:
            try:
                found[variant] = _what_is_found(await sends[variant]())
            except SearchRefused as exc:
                refusals[variant] = str(exc)
        laps: dict[str, list[float]] = {variant: [] for variant in found}
        for run in range(runs):
            for variant in _rotate(list(found), run):
                await self.node.clear_caches()
                started = time.perf_counter()
                await sends[variant]()
                laps[variant].append((time.perf_counter() - started) * 1000)
        self.times[name] = ShapeTimes(
            ms={variant: min(times) for variant, times in laps.items()},
            node_cpu_ms=await self._measure_node_cpu({variant: sends[variant] for variant in found}, runs),
            differing=[variant for variant in found if found[variant] != found[_reference_of(variant)]],
            refusals=refusals,
        )
        return self.times[name]

    async def _measure_node_cpu(
        self, sends: Mapping[str, Callable[[], Awaitable[object]]], runs: int
    ) -> dict[str, float]:
        measured: dict[str, list[int]] = {variant: [] for variant in sends}
        before = await read_renewed_counts(self.node.session)
        for run in range(runs):
            for variant in _rotate(list(sends), run):
                await self.node.clear_caches()
                await sends[variant]()
                after = await read_renewed_counts(self.node.session)
                measured[variant].append(after.cpu_ms - before.cpu_ms)
                before = after
        return {variant: statistics.median(times) for variant, times in measured.items()}

    async def _record(self, scoped: ScopedIndex, shape: RequestShape) -> list[list[IndexSearch]]:
        """Returns the searches of each round trip, after the same has told which terms are frequent."""
        await scoped.answer_requests(*shape)
        self.connection.take_requests()
        await scoped.answer_requests(*shape)
        return [parse_searches(request.body) for request in self.connection.take_requests() if request.searches]

    async def _send_rounds(self, rounds: Sequence[Sequence[IndexSearch]]) -> list[JsonObject]:
        return [response for searches in rounds for response in await self.node.send_searches(searches)]

    async def _send_by_ids(self, rounds: Sequence[Sequence[IndexSearch]]) -> list[JsonObject]:
        responses = list[JsonObject]()
        for searches in rounds:
            conditions = conditions_on_parents(searches)
            matching_ids = dict[str, list[str]]()
            if conditions:
                found = await self.node.send_searches(
                    [self.rewriter.search_for_ids(*condition, MAX_HITS) for condition in conditions]
                )
                for (search, condition), response in zip(conditions, found, strict=True):
                    _raise_if_refused(response)
                    ids = [hit["fields"]["doc_id"][0] for hit in response["hits"]["hits"]]
                    matching_ids[json.dumps([search.indexes, condition])] = ids
            responses += await self.node.send_searches(
                [self.rewriter.rewrite(search, matching_ids) for search in searches]
            )
        return responses


def _rotate(variants: Sequence[str], count: int) -> list[str]:
    """Returns the variants from another one on, since the first that asks something of the node finds it cold."""
    start = count % len(variants)
    return [*variants[start:], *variants[:start]]


def choose_variants(chosen: Collection[str]) -> list[str]:
    """Returns the chosen variants, and those that they are compared with."""
    references = {TODAY, *map(_reference_of, chosen)}
    return [variant for variant in VARIANTS if variant in chosen or variant in references]


def _reference_of(variant: str) -> str:
    """Returns the variant over Parley's layout whose responses have the same form."""
    return APART if variant in (APART, COPIED_APART) else TODAY


def _rewrite_rounds(rounds: Sequence[Sequence[IndexSearch]], rewriter: SearchRewriter) -> list[list[IndexSearch]]:
    return [[rewriter.rewrite(search) for search in searches] for searches in rounds]


def _what_is_found(responses: Sequence[JsonObject]) -> list[Json]:
    """Returns totals, hits and aggregations. Scores are rounded: the scripted similarity computes in doubles."""
    found = list[Json]()
    for response in responses:
        _raise_if_refused(response)
        hits = [
            (hit["_id"], None if hit.get("_score") is None else round(hit["_score"], 3))
            for hit in response["hits"]["hits"]
            if "registry" not in hit["_index"]
        ]
        found.append([response["hits"].get("total"), hits, _without_names(response.get("aggregations"))])
    return found


def _raise_if_refused(response: JsonObject) -> None:
    if "error" in response:
        raise SearchRefused(json.dumps(response["error"])[:2_000])


def _without_names(node: Json) -> Json:
    """Returns aggregations without the names of indexes and the scores of their hits."""
    if isinstance(node, list):
        return [_without_names(item) for item in cast(list[Json], node)]
    if isinstance(node, dict):
        named = cast(JsonObject, node)
        return {name: _without_names(value) for name, value in named.items() if name not in _INDEX_DEPENDENT}
    return round(node, 3) if isinstance(node, float) else node
