"""The searches of one round trip, merged; that the answers stay the same is what the contract tests show."""

from collections.abc import Sequence

import pytest

from storage.opensearch.connection import JsonObject, RequestRefused
from storage.opensearch.reading.merged_searches import MAX_JOINED_INDEXES, SearchMerger, merge_searches
from storage.opensearch.reading.query_steps import OpenSearchRequest, build_search_request
from storage.opensearch.responses import OpenSearchResponse, parse_search_response

PAID: JsonObject = {"bool": {"filter": [{"term": {"kind": "document"}}, {"term": {"b0": True}}]}}
OPEN: JsonObject = {"bool": {"filter": [{"term": {"kind": "document"}}, {"term": {"b0": False}}]}}
BINS: JsonObject = {"cells": {"terms": {"field": "c1", "size": 10}}}


def a_response(total: int, aggregations: JsonObject | None = None) -> OpenSearchResponse:
    shards = {"total": 1, "successful": 1, "failed": 0}
    hits: JsonObject = {"total": {"value": total, "relation": "eq"}, "hits": []}
    found: JsonObject = {"timed_out": False, "_shards": shards, "hits": hits, "aggregations": aggregations or {}}
    return parse_search_response(found, "here")


class Cluster:
    """Answers every search with nothing found, except those that it refuses as too large."""

    def __init__(self, max_sets: int) -> None:
        self.max_sets = max_sets
        self.sent: list[int] = []

    async def send(self, searches: Sequence[OpenSearchRequest]) -> list[OpenSearchResponse]:
        self.sent.append(len(searches))
        if any(len(search.body.get("aggs", {}).get("f0", {}).get("aggs", {})) > self.max_sets for search in searches):
            raise RequestRefused("here", 503, "too_many_buckets_exception", "too many")
        return [a_response(0, search.body.get("aggs")) for search in searches]


def test_equal_searches_are_sent_once() -> None:
    merged = merge_searches([build_search_request("a", PAID, size=10)] * 2, across_indexes=True)

    assert len(merged.searches) == 1
    assert len(merged.readers) == 2


def test_counts_of_an_index_are_one_search_over_the_documents_of_any_of_them() -> None:
    merged = merge_searches(
        [build_search_request("a", PAID), build_search_request("a", OPEN, BINS)], across_indexes=True
    )

    (search,) = merged.searches
    assert search.body["query"] == {"bool": {"filter": [{"bool": {"should": [PAID, OPEN], "minimum_should_match": 1}}]}}
    assert search.body["size"] == 0


def test_a_set_within_another_does_not_widen_the_search() -> None:
    whole: JsonObject = {"term": {"kind": "document"}}

    merged = merge_searches([build_search_request("a", whole), build_search_request("a", PAID)], across_indexes=True)

    assert merged.searches[0].body["query"] == whole


def test_each_search_reads_its_own_part_of_the_response() -> None:
    searches = [build_search_request("a", PAID), build_search_request("a", OPEN, BINS)]
    merged = merge_searches(searches, across_indexes=True)
    bins = {"buckets": [{"key": "x", "doc_count": 2}]}
    tree = {"f0": {"doc_count": 7, "s0": {"doc_count": 5}, "s1": {"doc_count": 2, "a0": bins}}}

    paid, unpaid = (read([a_response(7, tree)]) for read in merged.readers)

    assert (paid.total, paid.aggregations) == (5, {})
    assert (unpaid.total, unpaid.aggregations) == (2, {"cells": bins})


def test_equal_counts_of_several_indexes_share_their_filters() -> None:
    searches = [build_search_request(index, query) for index in ("a", "b") for query in (PAID, OPEN)]
    merged = merge_searches(searches, across_indexes=True)
    (search,) = merged.searches
    branches = {
        "0": {"doc_count": 3, "f0": {"doc_count": 3, "s0": {"doc_count": 1}, "s1": {"doc_count": 2}}},
        "1": {"doc_count": 7, "f0": {"doc_count": 7, "s0": {"doc_count": 3}, "s1": {"doc_count": 4}}},
    }

    totals = [read([a_response(10, {"i0": {"buckets": branches}})]).total for read in merged.readers]

    assert search.indexes == ("a", "b")
    assert list(search.body["aggs"]) == ["i0"]
    assert totals == [1, 2, 3, 4]


def test_many_indexes_are_counted_one_by_one() -> None:
    indexes = [f"i{number}" for number in range(MAX_JOINED_INDEXES + 1)]
    searches = [build_search_request(index, query) for index in indexes for query in (PAID, OPEN)]

    merged = merge_searches(searches, across_indexes=True)

    assert [search.indexes for search in merged.searches] == [(index,) for index in indexes]


def test_a_count_is_taken_from_the_page_of_the_same_set() -> None:
    searches = [build_search_request("a", PAID), build_search_request("a", PAID, None, size=20)]

    merged = merge_searches(searches, across_indexes=True)

    assert merged.searches == (searches[1],)
    assert merged.readers[0]([a_response(12)]).total == 12


def test_indexes_stay_apart_where_a_search_reads_one_state_of_one_index() -> None:
    searches = [build_search_request(index, query) for index in ("a", "b") for query in (PAID, OPEN)]

    merged = merge_searches(searches, across_indexes=False)

    assert [search.indexes for search in merged.searches] == [("a",), ("b",)]


@pytest.mark.parametrize("name", ["composite", "global"])
def test_an_aggregation_that_stands_alone_keeps_its_search(name: str) -> None:
    alone = build_search_request("a", PAID, {"cells": {name: {}}})

    merged = merge_searches([alone, build_search_request("a", OPEN)], across_indexes=True)

    assert merged.searches[0] == alone
    assert len(merged.searches) == 2


async def test_what_is_too_large_for_one_search_is_sent_in_parts_from_then_on() -> None:
    merger, cluster = SearchMerger(), Cluster(max_sets=1)
    searches = [build_search_request("a", PAID, BINS), build_search_request("a", OPEN, BINS)]

    first = await merger.send_merged(cluster.send, searches, across_indexes=True)
    second = await merger.send_merged(cluster.send, searches, across_indexes=True)

    assert len(first) == len(second) == 2
    assert cluster.sent == [1, 2, 2]
