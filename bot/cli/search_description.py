"""Describes the search behind a result for a person: its queries, and the passages that they found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any as Json


def describe_search(result: Mapping[str, Json]) -> Iterator[str]:
    """Yields lines of plain text: the numbered sub-queries, the number of candidates, and the passages, best first.

    `result` has the format of `parley ask --json`. Yields nothing if no passages were ranked.
    """
    hits, meta = result["hits"], result["meta"]
    if not hits:
        return
    queries = result["sub_queries"]
    if result["decomposed"]:
        yield f"{len(queries)} sub-queries:"
        yield from (f"  {number}. {query}" for number, query in enumerate(queries, start=1))
    yield f"{meta['total_candidates']} unique candidates → top {len(hits)}"
    for rank, hit in enumerate(hits, start=1):
        yield f"  {rank:>2}. {hit['score']:.3f}  {_describe_place(hit)}  ({'; '.join(_describe_finders(hit, queries))})"


def _describe_place(hit: Mapping[str, Json]) -> str:
    page = f", page {hit['page']}" if hit["page"] is not None else ""
    return f"{hit['doc_id']}{page}"


def _describe_finders(hit: Mapping[str, Json], queries: Sequence[str]) -> Iterator[str]:
    yield f"found by {', '.join(hit['found_by'])}"
    if len(queries) > 1:
        numbers = ", ".join(map(str, hit["sub_queries"]))
        yield f"for {'query' if len(hit['sub_queries']) == 1 else 'queries'} {numbers}"
    if hit["validation_score"] is not None:
        yield f"validated {hit['validation_score']:.2f}"
