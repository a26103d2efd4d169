"""How a question is asked in as few round trips as it needs: as steps, which many questions take side by side.

A question is a generator that yields what it asks and is sent what was found. Nearly all ask once. Those that need
more (over 60,000 distinct values, documents outside the cells of a list) go on after the others are done.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import TypeAlias, TypeVar, cast

from storage.opensearch.connection import Object
from storage.opensearch.wire import Aggregations, Found

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
_MOST_CELLS = 60_000  # of one aggregation; the server's limit is 65,535


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One search. `indexes` is never empty: without a name OpenSearch searches everything there is."""

    indexes: tuple[str, ...]
    body: Object


Steps: TypeAlias = Generator[list[Ask], list[Found], T]


def together(questions: Sequence[Steps[T]]) -> Steps[list[T]]:
    """All of them side by side; their results in the same order."""
    results = dict[int, T]()
    answers: dict[int, list[Found] | None] = dict.fromkeys(range(len(questions)))
    while answers:
        waiting = dict[int, list[Ask]]()
        for at, found in answers.items():
            try:
                waiting[at] = questions[at].send(cast(list[Found], found))
            except StopIteration as stop:
                results[at] = cast(T, stop.value)
        if not waiting:
            break
        came = yield [ask for asks in waiting.values() for ask in asks]
        answers = {}
        for at, asks in waiting.items():
            answers[at], came = came[: len(asks)], came[len(asks) :]
    return [results[at] for at in range(len(questions))]


def side_by_side(first: Steps[A], second: Steps[B]) -> Steps[tuple[A, B]]:
    """Two of different kinds."""
    one, other = yield from together(cast("list[Steps[A | B]]", [first, second]))
    return cast("tuple[A, B]", (one, other))


def total(asks: Sequence[Ask]) -> Steps[int]:
    """What the searches find, added up."""
    found = yield list(asks)
    return sum(one.total for one in found)


def one_search(index: str, query: Object, aggregations: Aggregations | None = None, **more: Json) -> Ask:
    """Counts exactly and shows no hits, unless `more` says otherwise."""
    body: Object = {"query": query, "size": 0, "track_total_hits": True, **more}
    return Ask(indexes=(index,), body=body | ({"aggs": aggregations} if aggregations else {}))


def documents_by_term(index: str, query: Object, path: str, rows: str | None = None) -> Steps[dict[str, int]]:
    """For each term of a field the documents of `query` that have it; `rows`: the path of the rows it lies in."""
    cells: Object = {"terms": {"field": path, "size": _MOST_CELLS if rows is None else _MOST_CELLS // 2}}
    (found,) = yield [one_search(index, query, _within(cells, rows))]
    listed = _inside(found.aggregations, rows)
    if listed["sum_other_doc_count"] == 0:
        return {cell["key"]: _documents(cell, rows) for cell in listed["buckets"]}
    counted = dict[str, int]()
    for cell in (yield from every_cell(index, query, [{"term": {"terms": {"field": path}}}], {}, rows)):
        counted[cell["key"]["term"]] = _documents(cell, rows)
    return counted


def every_cell(
    index: str, query: Object, sources: Sequence[Object], aggregations: Aggregations, rows: str | None = None
) -> Steps[list[Object]]:
    """All cells of a composite aggregation, page by page."""
    cells, after = list[Object](), dict[str, Json]()
    while True:
        composite: Object = {"size": _MOST_CELLS // 2, "sources": list(sources), **after}
        asked: Object = {"composite": composite} | ({"aggs": aggregations} if aggregations else {})
        (found,) = yield [one_search(index, query, _within(asked, rows))]
        page = _inside(found.aggregations, rows)
        cells += page["buckets"]
        if "after_key" not in page or len(page["buckets"]) < _MOST_CELLS // 2:
            return cells
        after = {"after": page["after_key"]}


def _within(cells: Object, rows: str | None) -> Aggregations:
    if rows is None:
        return {"cells": cells}
    counting: Object = {"aggs": {**cells.get("aggs", {}), "documents": {"reverse_nested": {}}}}
    return {"rows": {"nested": {"path": rows}, "aggs": {"cells": cells | counting}}}


def _inside(aggregations: Aggregations, rows: str | None) -> Object:
    return aggregations["cells"] if rows is None else aggregations["rows"]["cells"]


def _documents(cell: Object, rows: str | None) -> int:
    return cell["doc_count"] if rows is None else cell["documents"]["doc_count"]
