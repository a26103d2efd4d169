"""Merges the searches of one round trip, because the cluster has a fixed cost for each of them.

Searches that only count are merged into one search of all their indexes: each becomes a filter aggregation, over the
documents that any of them matches. A plain count is taken from another search with the same query, if there is one. An
identical search is sent once. What is asked for stays the same.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from storage.opensearch.connection import JsonObject, RequestRefused
from storage.opensearch.mapping import VERSION_PATH, is_in_shared_index, version_query_for
from storage.opensearch.reading.query_steps import OpenSearchRequest
from storage.opensearch.responses import OpenSearchResponse

SendSearches: TypeAlias = Callable[[Sequence[OpenSearchRequest]], Awaitable[list[OpenSearchResponse]]]
ReadResponse: TypeAlias = Callable[[Sequence[OpenSearchResponse]], OpenSearchResponse]
_CountedSet: TypeAlias = tuple[str, str]  # an index, and the JSON of what is asked of it

MAX_JOINED_INDEXES = 16  # in one search of counts
MAX_JOINED_VERSIONS = 64  # of shared indexes
_COUNTING_KEYS = frozenset({"query", "size", "track_total_hits", "aggs"})
_TOP_LEVEL_AGGREGATIONS = frozenset({"composite", "global"})  # which the server accepts in no filter aggregation
# The merged search is too large, where each of its parts may not be.
_TOO_MANY_BINS = "too_many_buckets_exception"
_TOO_LARGE_ERRORS = frozenset({_TOO_MANY_BINS, "too_many_clauses", "too_many_nested_clauses", "query_shard_exception"})


@dataclass(kw_only=True)
class SearchMerger:
    """Sends the searches of round trips merged.

    `splits_bins_of`: the indexes whose values are so many that one search cannot hold the bins of several fields.
    """

    splits_bins_of: set[str] = field(default_factory=set[str])

    async def send_merged(
        self, send: SendSearches, searches: Sequence[OpenSearchRequest], *, across_indexes: bool
    ) -> list[OpenSearchResponse]:
        """Returns the response to each search. `across_indexes`: a search may name several indexes."""
        merged = merge_searches(searches, across_indexes=across_indexes, splits_bins_of=self.splits_bins_of)
        if len(merged.searches) == len(searches):
            return await send(searches)
        try:
            responses = await send(merged.searches)
        except RequestRefused as exc:
            if exc.error_type not in _TOO_LARGE_ERRORS:
                raise
            if exc.error_type == _TOO_MANY_BINS:
                self.splits_bins_of.update(
                    index for search in searches for index in search.indexes if _has_bins(search)
                )
            return await send(searches)
        return [read(responses) for read in merged.readers]


@dataclass(frozen=True, kw_only=True)
class MergedSearches:
    """The searches to send, and for each original search a function that finds its response among theirs."""

    searches: tuple[OpenSearchRequest, ...]
    readers: tuple[ReadResponse, ...]


def merge_searches(
    searches: Sequence[OpenSearchRequest], *, across_indexes: bool, splits_bins_of: Iterable[str] = ()
) -> MergedSearches:
    """Returns fewer searches with the same answers. The first search stays the first."""
    split = frozenset(splits_bins_of)
    distinct = dict[str, OpenSearchRequest]()
    keys = [_key_of(search) for search in searches]
    for key, search in zip(keys, searches, strict=True):
        distinct.setdefault(key, search)
    counting = {key: search for key, search in distinct.items() if _can_merge(search, split)}
    kept = {key: search for key, search in distinct.items() if key not in counting}
    readers = {key: _reader_at(position) for position, key in enumerate(kept)}
    positions = {_counted_set_of(search): position for position, search in enumerate(kept.values())}
    for key, search in list(counting.items()):
        if "aggs" not in search.body and (position := positions.get(_counted_set_of(search))) is not None:
            readers[key] = _reader_at(position)
            del counting[key]
    sent = list(kept.values())
    for group in _groups_of(counting, across_indexes=across_indexes):
        merged = _merge_counting_searches(group)
        readers |= {key: _reader_of_part(len(sent), part) for key, part in merged.parts.items()}
        sent.append(merged.search)
    return MergedSearches(searches=tuple(sent), readers=tuple(readers[key] for key in keys))


def _key_of(search: OpenSearchRequest) -> str:
    return json.dumps([search.indexes, search.body])


def _counted_set_of(search: OpenSearchRequest) -> _CountedSet | None:
    """Returns the set that the total of the search counts; None if it has no exact total or another set's."""
    is_counted = len(search.indexes) == 1 and search.body.get("track_total_hits") is True
    if not is_counted or "post_filter" in search.body:
        return None
    return search.indexes[0], json.dumps(search.body["query"])


def _can_merge(search: OpenSearchRequest, split_indexes: frozenset[str]) -> bool:
    body = search.body
    is_counting = body.keys() <= _COUNTING_KEYS and body.get("size") == 0 and len(search.indexes) == 1
    aggregations: Mapping[str, JsonObject] = body.get("aggs", {})
    return (
        is_counting
        and not search.is_counted_apart
        and not any(_TOP_LEVEL_AGGREGATIONS & aggregation.keys() for aggregation in aggregations.values())
        and not any(_has_composite(aggregation) for aggregation in aggregations.values())
        and not (_has_bins(search) and search.indexes[0] in split_indexes)
    )


def _has_composite(aggregation: JsonObject) -> bool:
    return any("composite" in part for part in aggregation.get("aggs", {}).values())


def _has_bins(search: OpenSearchRequest) -> bool:
    return '"terms": {"' in json.dumps(search.body.get("aggs", {}))


def _groups_of(
    counting: Mapping[str, OpenSearchRequest], *, across_indexes: bool
) -> list[dict[str, OpenSearchRequest]]:
    """Returns the searches that may be merged into one.

    In a search of several indexes each shard prepares the filters of all of them, so its cost grows by the square of
    their number. Many indexes are therefore searched one by one, while those in a shared index are one shard.
    """
    groups = dict[str, dict[str, OpenSearchRequest]]()
    indexes = list(dict.fromkeys(search.indexes[0] for search in counting.values()))
    shared = [index for index in indexes if is_in_shared_index(index)]
    names = {index: index for index in indexes}
    if across_indexes:
        names |= {index: f"shared {position // MAX_JOINED_VERSIONS}" for position, index in enumerate(shared)}
        if len(indexes) - len(shared) <= MAX_JOINED_INDEXES:
            names |= {index: "own" for index in indexes if not is_in_shared_index(index)}
    for key, search in counting.items():
        groups.setdefault(names[search.indexes[0]], {})[key] = search
    return list(groups.values())


# -- one search for many counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _ResponsePart:
    """Where the answer to a search appears in the response to the merged search."""

    path: tuple[str, ...]  # the names of the aggregations around its set; empty: the set of the merged search
    names: Mapping[str, str]  # of its aggregations: in the search, and in the merged search


@dataclass(frozen=True, slots=True, kw_only=True)
class _MergedCounts:
    search: OpenSearchRequest
    parts: Mapping[str, _ResponsePart]


@dataclass(kw_only=True)
class _CountedDocuments:
    """The documents of a query in an index, and what is asked of them."""

    index: str
    query: JsonObject
    aggregations: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    names_by_text: dict[str, str] = field(default_factory=dict[str, str])  # of the aggregations, by their JSON

    @property
    def conjuncts(self) -> Sequence[JsonObject]:
        return self.query["bool"]["filter"] if set(self.query.get("bool", ())) == {"filter"} else [self.query]

    @property
    def request_text(self) -> str:
        """What is asked, without the index."""
        return json.dumps([self.query, [*self.names_by_text]])

    def add_aggregations(self, search: OpenSearchRequest) -> Mapping[str, str]:
        """Returns the names that the aggregations of the search have here."""
        names = dict[str, str]()
        for name, aggregation in search.body.get("aggs", {}).items():
            names[name] = self.names_by_text.setdefault(json.dumps(aggregation), f"a{len(self.names_by_text)}")
            self.aggregations[names[name]] = aggregation
        return names


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexBranch:
    """Sets that are counted in the same indexes. `sets` has those of the first index only."""

    indexes: tuple[str, ...]
    sets: Sequence[_CountedDocuments]


def _merge_counting_searches(searches: Mapping[str, OpenSearchRequest]) -> _MergedCounts:
    """Returns one search for all of them. Each set is a filter aggregation within those that it shares with others."""
    sets = dict[tuple[str, str], _CountedDocuments]()
    names_by_key = dict[str, tuple[_CountedDocuments, Mapping[str, str]]]()
    for key, search in searches.items():
        index, query = search.indexes[0], search.body["query"]
        counted = sets.setdefault((index, json.dumps(query)), _CountedDocuments(index=index, query=query))
        names_by_key[key] = counted, counted.add_aggregations(search)
    branches = _branches_of(list(sets.values()))
    indexes = tuple(dict.fromkeys(counted.index for counted in sets.values()))
    if len(sets) == 1:
        only_set = next(iter(sets.values()))
        tree, paths = only_set.aggregations, {(only_set.index, only_set.request_text): ()}
    else:
        tree, paths = _build_filter_tree(branches, confines=len(indexes) > 1)
    query = _query_for_any(branches, confines=len(indexes) > 1)
    body: JsonObject = {"query": query, "size": 0, "track_total_hits": True}
    parts = {
        key: _ResponsePart(path=paths[counted.index, counted.request_text], names=names)
        for key, (counted, names) in names_by_key.items()
    }
    search = OpenSearchRequest(indexes=indexes, body=body | ({"aggs": tree} if tree else {}))
    return _MergedCounts(search=search, parts=parts)


def _branches_of(sets: Sequence[_CountedDocuments]) -> list[_IndexBranch]:
    sets_by_request = dict[str, list[_CountedDocuments]]()
    for counted in sets:
        sets_by_request.setdefault(counted.request_text, []).append(counted)
    branches = dict[tuple[str, ...], list[_CountedDocuments]]()
    for equal_sets in sets_by_request.values():
        branches.setdefault(tuple(counted.index for counted in equal_sets), []).append(equal_sets[0])
    return [_IndexBranch(indexes=indexes, sets=branch_sets) for indexes, branch_sets in branches.items()]


def _build_filter_tree(
    branches: Sequence[_IndexBranch], *, confines: bool
) -> tuple[JsonObject, dict[_CountedSet, tuple[str, ...]]]:
    """Returns the aggregations of all sets, and the path to each set by its index and its request.

    The outer filters hold what several sets share (their indexes and the first conditions), so that an entry is
    compared with the conditions of few sets, and a shard prepares the conditions of its own index only.
    """
    tree, paths = JsonObject(), dict[_CountedSet, tuple[str, ...]]()
    for branch_number, branch in enumerate(branches):
        families, family_paths = _build_families(branch.sets)
        if not confines:
            tree |= families
            paths |= {(branch.indexes[0], text): path for text, path in family_paths.items()}
            continue
        name = f"i{branch_number}"
        filters = {f"{number}": version_query_for(index) for number, index in enumerate(branch.indexes)}
        tree[name] = {"filters": {"filters": filters}, "aggs": families}
        paths |= {
            (index, text): (name, "buckets", f"{number}", *path)
            for number, index in enumerate(branch.indexes)
            for text, path in family_paths.items()
        }
    return tree, paths


def _build_families(sets: Sequence[_CountedDocuments]) -> tuple[JsonObject, dict[str, tuple[str, ...]]]:
    """Returns the aggregations of the sets of a branch, and the path to each set by its request."""
    families = dict[str, list[_CountedDocuments]]()
    for counted in sets:
        families.setdefault(json.dumps(counted.conjuncts[0]), []).append(counted)
    tree, paths = JsonObject(), dict[str, tuple[str, ...]]()
    for family_number, members in enumerate(families.values()):
        family_name = f"f{family_number}"
        shared_count = _count_shared_conjuncts(members)
        children = JsonObject()
        for number, counted in enumerate(members):
            paths[counted.request_text] = (family_name,)
            if rest := counted.conjuncts[shared_count:]:
                paths[counted.request_text] += (f"s{number}",)
                children[f"s{number}"] = _filter_aggregation(rest, counted.aggregations)
            else:
                children |= counted.aggregations
        tree[family_name] = _filter_aggregation(members[0].conjuncts[:shared_count], children)
    return tree, paths


def _count_shared_conjuncts(sets: Sequence[_CountedDocuments]) -> int:
    """Returns how many first conjuncts all the sets share, at least one."""
    columns = zip(*(map(json.dumps, counted.conjuncts) for counted in sets), strict=False)
    return len([*takewhile(lambda texts: len(set(texts)) == 1, columns)])


def _filter_aggregation(conjuncts: Sequence[JsonObject], aggregations: JsonObject) -> JsonObject:
    return {"filter": {"bool": {"filter": list(conjuncts)}}} | ({"aggs": aggregations} if aggregations else {})


def _query_for_any(branches: Sequence[_IndexBranch], *, confines: bool) -> JsonObject:
    """Returns the query for the documents of all the sets. In other indexes, the fields of a set may not exist."""
    unions = [(branch.indexes, _union_of(branch.sets)) for branch in branches]
    if not confines:
        return _any_filter_of([union for _, union in unions])
    path = VERSION_PATH if is_in_shared_index(branches[0].indexes[0]) else "_index"  # of all of them
    return _any_filter_of(
        [{"bool": {"filter": [{"terms": {path: list(indexes)}}, union]}} for indexes, union in unions]
    )


def _union_of(sets: Sequence[_CountedDocuments]) -> JsonObject:
    """Returns the disjunction of the sets' queries, without those that only narrow another of them."""
    queries = {frozenset(map(json.dumps, counted.conjuncts)): counted.query for counted in sets}
    return _any_filter_of(
        [query for conjuncts, query in queries.items() if not any(other < conjuncts for other in queries)]
    )


def _any_filter_of(queries: Sequence[JsonObject]) -> JsonObject:
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"filter": [{"bool": {"should": list(queries), "minimum_should_match": 1}}]}}


# -- responses


def _reader_at(position: int) -> ReadResponse:
    return lambda responses: responses[position]


def _reader_of_part(position: int, part: _ResponsePart) -> ReadResponse:
    def read_part(responses: Sequence[OpenSearchResponse]) -> OpenSearchResponse:
        response = responses[position]
        found: JsonObject = response.aggregations
        for name in part.path:
            found = found[name]
        total = int(found["doc_count"]) if part.path else response.total
        return response.with_counts(total, {name: found[merged] for name, merged in part.names.items()})

    return read_part
