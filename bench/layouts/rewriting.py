"""Rewrites searches of Parley's layout into the same searches of the layout with documents beside passages."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any as Json
from typing import cast

from bench.layouts.indexes import SCRIPTED_TERMS, SplitIndexes
from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import DOCUMENT, PASSAGE
from storage.opensearch.reading.compile import any_term_query

_HAS_PARENT, _INDEX_PATH = "has_parent", "_index"


@dataclass(frozen=True, slots=True)
class IndexSearch:
    """One search of an `_msearch`. `options`: the other entries of its header, such as how terms are weighed."""

    indexes: tuple[str, ...]
    body: JsonObject
    options: JsonObject = field(default_factory=JsonObject)


def parse_searches(lines: str) -> list[IndexSearch]:
    """Returns the searches of a request body of `_msearch`."""
    parsed = [json.loads(line) for line in lines.splitlines()]
    return [
        IndexSearch(tuple(header.pop("index")), body, header)
        for header, body in zip(parsed[::2], parsed[1::2], strict=True)
    ]


def format_searches(searches: Sequence[IndexSearch]) -> str:
    """Returns a request body of `_msearch`."""
    return "".join(
        f"{json.dumps({'index': list(search.indexes), **search.options})}\n{json.dumps(search.body)}\n"
        for search in searches
    )


def conditions_on_parents(searches: Sequence[IndexSearch]) -> list[tuple[IndexSearch, JsonObject]]:
    """Returns the different conditions on the documents of passages, each with a search that has it."""
    found = dict[str, tuple[IndexSearch, JsonObject]]()

    def note_condition(search: IndexSearch, condition: JsonObject) -> JsonObject:
        found[json.dumps([search.indexes, condition])] = search, condition
        return condition

    for search in searches:
        _replace_parent_queries(search.body, lambda condition, search=search: note_condition(search, condition))
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRewriter:
    split_indexes: Mapping[str, SplitIndexes]
    is_scripted: bool = False  # ranks by the scripted similarity

    def rewrite(self, search: IndexSearch, matching_ids: Mapping[str, Sequence[str]] | None = None) -> IndexSearch:
        """Returns the search in the other layout. `matching_ids`: by condition; None: passages have copied values."""

        def passages_of(condition: JsonObject) -> JsonObject:
            if matching_ids is None:
                return condition
            return any_term_query("doc_id", matching_ids[json.dumps([search.indexes, condition])])

        body = _replace_parent_queries(search.body, passages_of)
        text = json.dumps(body)
        if self.is_scripted:
            text = text.replace('"passage_terms"', f'"{SCRIPTED_TERMS}"')
        kinds = [kind for kind in (DOCUMENT, PASSAGE) if f'"{kind}"' in text]
        return replace(
            search,
            indexes=tuple(target for index in search.indexes for target in self._targets_of(index, kinds)),
            body=cast(JsonObject, self._replace_index_names(json.loads(text))),
        )

    def search_for_ids(self, search: IndexSearch, condition: JsonObject, limit: int) -> IndexSearch:
        """Returns the search for the ids of the documents that meet a condition."""
        body = {
            "query": {"bool": {"filter": [{"term": {"kind": DOCUMENT}}, condition]}},
            "size": limit,
            "_source": False,
            "docvalue_fields": ["doc_id"],
            "sort": ["_doc"],
        }
        return IndexSearch(tuple(self.split_indexes[index].documents for index in search.indexes), body)

    def _targets_of(self, index: str, kinds: Sequence[str]) -> list[str]:
        if index not in self.split_indexes:
            return [index]
        split = self.split_indexes[index]
        return [split.documents if kind == DOCUMENT else split.passages for kind in kinds] or [
            split.documents,
            split.passages,
        ]

    def _replace_index_names(self, node: Json) -> Json:
        """Returns the query with both names of the other layout in each condition on the index."""
        if isinstance(node, list):
            return [self._replace_index_names(item) for item in cast(list[Json], node)]
        if not isinstance(node, dict):
            return node
        query = cast(JsonObject, node)
        for condition in (query.get(name) for name in ("term", "terms")):
            if isinstance(condition, dict) and _INDEX_PATH in condition:
                names = cast(str | list[str], condition[_INDEX_PATH])
                both = [target for name in _as_list(names) for target in self._targets_of(name, ())]
                return {"terms": {_INDEX_PATH: both}}
        return {name: self._replace_index_names(value) for name, value in query.items()}


def _as_list(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _replace_parent_queries(node: Json, replacement_for: Callable[[JsonObject], JsonObject]) -> Json:
    if isinstance(node, list):
        return [_replace_parent_queries(item, replacement_for) for item in cast(list[Json], node)]
    if not isinstance(node, dict):
        return node
    query = cast(JsonObject, node)
    if _HAS_PARENT in query:
        return replacement_for(query[_HAS_PARENT]["query"])
    return {name: _replace_parent_queries(value, replacement_for) for name, value in query.items()}
