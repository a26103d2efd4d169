"""Query steps: each index request runs as a generator, so that many requests share as few round trips as possible.

A generator yields the searches it needs and receives their responses. Nearly all generators yield once. The few that
need more round trips (over 60,000 distinct values, documents outside the bins of a list facet) continue after the
others are done.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import TypeAlias, TypeVar, cast

from storage.opensearch.connection import JsonObject
from storage.opensearch.responses import Aggregations, OpenSearchResponse
from storage.search.index import SNAPSHOT_IDLE_LIFETIME

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
_MAX_NAMED_INDEXES = 500  # of one search: in a shared index, each is a clause, of which the server accepts 1,024
_MAX_BINS = 60_000  # of one aggregation; the server's limit is 65,535
# Of a point in time, since it was opened or last read. What a killed process leaves costs disk and memory until then.
POINT_KEEP_ALIVE = f"{SNAPSHOT_IDLE_LIFETIME.total_seconds():.0f}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSearchRequest:
    """One search. `indexes` is never empty, because OpenSearch searches every index when none is named.

    With a `point_in_time`, the search reads its state of the one index. `weighs_whole_index`: scores use the term
    statistics of all shards together, at the cost of a further exchange with them; else those of each shard.
    `is_counted_apart`: the server counts it without visiting what it finds, so it is not merged with other counts.
    """

    indexes: tuple[str, ...]
    body: JsonObject
    point_in_time: str | None = None
    weighs_whole_index: bool = False
    is_counted_apart: bool = False


class MixedStates(Exception):
    """Searches of one reading saw different states: a write became visible between them, and its generation did not."""


QuerySteps: TypeAlias = Generator[list[OpenSearchRequest], list[OpenSearchResponse], T]


def run_side_by_side(steps: Sequence[QuerySteps[T]]) -> QuerySteps[list[T]]:
    """Run all the steps side by side and return their results in the same order."""
    results = dict[int, T]()
    responses_by_index: dict[int, list[OpenSearchResponse] | None] = dict.fromkeys(range(len(steps)))
    while responses_by_index:
        requests_by_index = dict[int, list[OpenSearchRequest]]()
        for index, responses in responses_by_index.items():
            try:
                requests_by_index[index] = steps[index].send(cast(list[OpenSearchResponse], responses))
            except StopIteration as stop:
                results[index] = cast(T, stop.value)
        if not requests_by_index:
            break
        new_responses = yield [request for requests in requests_by_index.values() for request in requests]
        responses_by_index = {}
        for index, requests in requests_by_index.items():
            responses_by_index[index], new_responses = new_responses[: len(requests)], new_responses[len(requests) :]
    return [results[index] for index in range(len(steps))]


def run_pair_side_by_side(first: QuerySteps[A], second: QuerySteps[B]) -> QuerySteps[tuple[A, B]]:
    """Run two steps of different result types side by side."""
    first_result, second_result = yield from run_side_by_side(cast("list[QuerySteps[A | B]]", [first, second]))
    return cast("tuple[A, B]", (first_result, second_result))


def count_matching_documents(searches: Sequence[OpenSearchRequest]) -> QuerySteps[int]:
    """Returns the sum of the searches' totals."""
    responses = yield list(searches)
    return sum(response.total for response in responses)


def build_search_request(
    index: str, query: JsonObject, aggregations: Aggregations | None = None, **options: Json
) -> OpenSearchRequest:
    """Returns a search that counts exactly and fetches no hits, unless `options` says otherwise."""
    return build_joint_request([index], query, aggregations, **options)


def build_joint_request(
    indexes: Sequence[str], query: JsonObject, aggregations: Aggregations | None = None, **options: Json
) -> OpenSearchRequest:
    """Returns one search of several indexes, with the options of `build_search_request`."""
    body: JsonObject = {"query": query, "size": 0, "track_total_hits": True, **options}
    return OpenSearchRequest(indexes=tuple(indexes), body=body | ({"aggs": aggregations} if aggregations else {}))


def split_joint_indexes(indexes: Sequence[str]) -> list[Sequence[str]]:
    """Returns the indexes in parts that one search may name."""
    return [indexes[start : start + _MAX_NAMED_INDEXES] for start in range(0, len(indexes), _MAX_NAMED_INDEXES)]


def documents_by_term(
    index: str, query: JsonObject, path: str, rows_path: str | None = None
) -> QuerySteps[dict[str, int]]:
    """Returns, for each term of the field, how many documents of `query` have it.

    `rows_path` is the path of the rows field that contains the field, if any.
    """
    size = _MAX_BINS if rows_path is None else _MAX_BINS // 2
    aggregation: JsonObject = {"terms": {"field": path, "size": size, "shard_size": size}}
    (response,) = yield [build_search_request(index, query, _nest_aggregation_in_rows(aggregation, rows_path))]
    bins = _bins_in_response(response.aggregations, rows_path)
    if bins["sum_other_doc_count"] == 0:
        return {term_bin["key"]: _document_count_of_bin(term_bin, rows_path) for term_bin in bins["buckets"]}
    document_counts = dict[str, int]()
    for term_bin in (
        yield from fetch_composite_bins(index, query, [{"term": {"terms": {"field": path}}}], {}, rows_path)
    ):
        document_counts[term_bin["key"]["term"]] = _document_count_of_bin(term_bin, rows_path)
    return document_counts


def fetch_composite_bins(
    index: str,
    query: JsonObject,
    sources: Sequence[JsonObject],
    aggregations: Aggregations,
    rows_path: str | None = None,
) -> QuerySteps[list[JsonObject]]:
    """Returns all bins of a composite aggregation, fetched page by page."""
    bins, after = list[JsonObject](), dict[str, Json]()
    while True:
        composite: JsonObject = {"size": _MAX_BINS // 2, "sources": list(sources), **after}
        aggregation: JsonObject = {"composite": composite} | ({"aggs": aggregations} if aggregations else {})
        (response,) = yield [build_search_request(index, query, _nest_aggregation_in_rows(aggregation, rows_path))]
        page = _bins_in_response(response.aggregations, rows_path)
        bins += page["buckets"]
        if "after_key" not in page or len(page["buckets"]) < _MAX_BINS // 2:
            return bins
        after = {"after": page["after_key"]}


def _nest_aggregation_in_rows(aggregation: JsonObject, rows_path: str | None) -> Aggregations:
    if rows_path is None:
        return {"cells": aggregation}
    counting_aggregations: JsonObject = {"aggs": {**aggregation.get("aggs", {}), "documents": {"reverse_nested": {}}}}
    return {"rows": {"nested": {"path": rows_path}, "aggs": {"cells": aggregation | counting_aggregations}}}


def _bins_in_response(aggregations: Aggregations, rows_path: str | None) -> JsonObject:
    return aggregations["cells"] if rows_path is None else aggregations["rows"]["cells"]


def _document_count_of_bin(aggregation_bin: JsonObject, rows_path: str | None) -> int:
    return aggregation_bin["doc_count"] if rows_path is None else aggregation_bin["documents"]["doc_count"]
