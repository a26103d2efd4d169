"""Ranks passages by BM25 over analysed terms, and by cosine in a scan or a graph of the vectors.

Ranks documents by BM25 over their outlines. Buckets that are ranked by the same query are ranked in one search.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import (
    MAX_HITS,
    MIN_GRAPH_CANDIDATES,
    PASSAGE,
    VERSION_PATH,
    IndexLayout,
    VectorStorage,
    is_in_shared_index,
    version_query_for,
)
from storage.opensearch.reading.bucket_queries import BucketQuery
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.merged_searches import MAX_JOINED_INDEXES
from storage.opensearch.reading.query_steps import (
    OpenSearchRequest,
    QuerySteps,
    build_joint_request,
    build_search_request,
    run_pair_side_by_side,
    run_side_by_side,
    split_joint_indexes,
)
from storage.opensearch.responses import Aggregations, OpenSearchHit, OpenSearchResponse
from storage.opensearch.terms import indexed_tokens_of
from storage.opensearch.vector_bytes import round_to_bytes
from storage.search.ids import ChunkId, DocId
from storage.search.index import OutlineHit, PassageHit
from storage.text.term_weights import inverse_document_frequency, term_weights_by_bucket

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LargeIndexes: TypeAlias = dict[str, set[str]]
"""The indexes that rankings have found to be large, each with the terms that many of its passages hold."""

_MAX_RANKING_TERMS = 64  # of a ranking text; the rarest terms are kept
_MAX_TERM_REPEATS = 8  # how often a repeated term of a text counts at most
_MAX_TEXT_TERMS = 1_000  # terms of a text that are read; the server accepts 1,024 clauses
_OUTLINE_OPTIONS: JsonObject = {
    "_source": ["stored.doc_id", "stored.title", "stored.source", "stored.summary", f"stored.{VERSION_PATH}"],
    "sort": [{"_score": "desc"}, {"doc_id": "asc"}],
}
# The whole source, which is what is shown of a passage: the server reads it only where a part of it is wanted.
_PASSAGE_OPTIONS: JsonObject = {"_source": True, "sort": [{"_score": "desc"}, {"chunk": "asc"}]}
_MAX_NEAREST = 10_000  # passages of a shard that a search in a graph finds; the server's limit
# The server then passes over what cannot be among the best, which in a large index is nearly everything.
_UNCOUNTED: JsonObject = {"track_total_hits": False}
_MAX_INNER_HITS = 100  # of an index within a search of several; the server's limit
_MAX_SMALL_INDEX = 30_000  # passages that a search may visit; more searches of a larger index take less time
_MAX_VISITED_PASSAGES = 10_000  # with a term, up to which counting them costs less than a search for the term alone
_MAX_TERMS_AT_ONCE = 12  # of unknown frequency, that are counted in one search of a large index
_MAX_FREQUENT_TERMS = 10_000  # that are known of an index
MAX_UNITED_CLAUSES = 800  # of a search; the server accepts 1,024
_PASSAGES: JsonObject = {"term": {"kind": PASSAGE}}


def rank_by_terms(
    bucket_queries: Sequence[BucketQuery],
    text: str,
    limit: int,
    *,
    large_indexes: LargeIndexes,
    asks_each_index: bool = False,
) -> QuerySteps[tuple[PassageHit, ...]]:
    """Returns passages by BM25, best first.

    The server weighs each term by its rarity in the bucket alone. Of several buckets, each score is corrected for the
    weights that the terms found in the passage have in all of them; the counts for this are made in the same round
    trip. The indexes that turn out to be large are added to `large_indexes`; those that it has are asked otherwise, and
    the terms that turn out to be frequent in them are added.
    """
    occurrences = [Counter(indexed_tokens_of(text, bucket_query.layout.analyser)) for bucket_query in bucket_queries]
    terms = list(dict.fromkeys(term for counts in occurrences for term in counts))[:_MAX_TEXT_TERMS]
    if not terms or limit < 1:
        yield []
        return ()
    layouts, large = [query.layout for query in bucket_queries], frozenset(large_indexes)
    if len(terms) > _MAX_RANKING_TERMS:
        counted = yield from _count_passages_with(terms, layouts, large_indexes)
        terms = _rarest_terms(terms, [counts.by_term for counts in counted])
    rankings = [
        (query.layout, _term_ranking_query(query, [(term, counts[term]) for term in terms]))
        for query, counts in zip(bucket_queries, occurrences, strict=True)
    ]
    joins = not asks_each_index and limit <= _MAX_INNER_HITS and len(layouts) <= MAX_JOINED_INDEXES
    weighed_terms = terms if len(layouts) > 1 else []
    counted, hits_by_index = yield from run_pair_side_by_side(
        _count_passages_with(weighed_terms, layouts, large_indexes),
        _find_best_hits(_join_weighed_queries(rankings, joins=joins, alone=large), limit),
    )
    for layout, counts in zip(layouts, counted, strict=True):
        _note_frequencies(large_indexes, layout.index, counts)
    weights = _term_weights_of(
        weighed_terms, [counts.by_term for counts in counted], [counts.total for counts in counted]
    )
    hits = [
        _hit_from_response(hit, query.layout, _correct_score(hit, terms, counts, bucket_weights))
        for query, counts, bucket_weights in zip(bucket_queries, occurrences, weights, strict=True)
        for hit in hits_by_index.get(query.index, ())
    ]
    return _best_hits(hits, limit)


def _rarest_terms(terms: Sequence[str], frequencies: Sequence[Mapping[str, int]]) -> list[str]:
    totals = {term: sum(counts[term] for counts in frequencies) for term in terms}
    known = sorted((total, term) for term, total in totals.items() if total)
    return [term for _, term in known[:_MAX_RANKING_TERMS]] or list(terms[:1])


def _term_weights_of(
    terms: Sequence[str], frequencies: Sequence[Mapping[str, int]], totals: Sequence[int]
) -> list[dict[str, tuple[float, float]]]:
    """Returns for each bucket the weights of its terms: in all buckets, and the server's."""
    return [
        {term: (weight, inverse_document_frequency(counts[term], total)) for term, weight in weights.items()}
        for weights, counts, total in zip(
            term_weights_by_bucket(terms, frequencies, totals), frequencies, totals, strict=True
        )
    ]


def _correct_score(
    hit: OpenSearchHit, terms: Sequence[str], counts: Mapping[str, int], weights: Mapping[str, tuple[float, float]]
) -> float:
    """Returns the hit's score times the ratio of both weights of the terms that it matches; as it is without any."""
    matched = [terms[int(name)] for name in hit.matched_queries]
    pairs = [(weights[term], min(counts[term], _MAX_TERM_REPEATS)) for term in matched if term in weights]
    own = sum(own_weight * count for (_, own_weight), count in pairs)
    return _score_of_hit(hit) * sum(weight * count for (weight, _), count in pairs) / own if own else _score_of_hit(hit)


def rank_by_vector(
    bucket_queries: Sequence[BucketQuery],
    embedder_name: str,
    query_vector: "NDArray[np.float32] | None",
    limit: int,
    *,
    asks_each_index: bool = False,
) -> QuerySteps[tuple[PassageHit, ...]]:
    """Returns passages by cosine, best first. In a graph of vectors, a few of the most similar may be left out.

    `query_vector` is None without an embedder and zero for a text without words; both find nothing.
    """
    if query_vector is None or not query_vector.any() or limit < 1:
        yield []
        return ()
    comparable_queries = [
        bucket_query
        for bucket_query in bucket_queries
        if (bucket_query.layout.embedder_name, bucket_query.layout.dimensions) == (embedder_name, len(query_vector))
    ]
    requests = list[OpenSearchRequest]()
    for has_bytes in (False, True):
        vector: list[float] = [*round_to_bytes(query_vector)] if has_bytes else query_vector.tolist()
        rankings = [
            (bucket_query.index, _vector_ranking_query(bucket_query, vector, limit))
            for bucket_query in comparable_queries
            if bucket_query.layout.has_byte_vectors == has_bytes
        ]
        options = {**_PASSAGE_OPTIONS, "script_fields": {"cosine": _cosine_script_for(vector)}}
        requests += [
            build_joint_request(indexes, query, None, size=min(limit, MAX_HITS), **options)
            for all_indexes, query in _join_equal_queries(rankings, joins=not asks_each_index)
            for indexes in split_joint_indexes(all_indexes)
        ]
    responses = yield requests
    layouts = {bucket_query.index: bucket_query.layout for bucket_query in comparable_queries}
    hits = [
        _hit_from_response(hit, layouts[hit.version_name], float(hit.fields["cosine"][0]))
        for response in responses
        for hit in response.hits
    ]
    return _best_hits(hits, limit)


def rank_by_outline(
    bucket_queries: Sequence[BucketQuery], text: str, limit: int, *, asks_each_index: bool = False
) -> QuerySteps[tuple[OutlineHit, ...]]:
    """Returns documents by BM25 over their titles and outlines, best first."""
    if limit < 1:
        yield []
        return ()
    rankings = [(bucket_query.layout, _outline_query(bucket_query, text)) for bucket_query in bucket_queries]
    joint = _join_weighed_queries(rankings, joins=not asks_each_index)
    responses = yield [
        ranking.build_request(None, size=min(limit, MAX_HITS), **_OUTLINE_OPTIONS, **_UNCOUNTED)
        for ranking in (joint if asks_each_index else _unite_shared_rankings(joint))
    ]
    layouts = {bucket_query.index: bucket_query.layout for bucket_query in bucket_queries}
    outlines = [
        _outline_from_response(hit, layouts[hit.version_name]) for response in responses for hit in response.hits
    ]
    return tuple(sorted(outlines, key=lambda hit: (-hit.score, hit.doc_id))[:limit])


def _outline_query(bucket_query: BucketQuery, text: str) -> JsonObject:
    terms = list(dict.fromkeys(indexed_tokens_of(text, bucket_query.layout.analyser)))[:_MAX_TEXT_TERMS]
    matching: JsonObject = {"match": {bucket_query.layout.outline_terms_path: {"query": " ".join(terms)}}}
    return {"bool": {"must": [matching], "filter": [bucket_query.documents_query]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _JointRanking:
    """A query that ranks by the term statistics of each index alone."""

    indexes: tuple[str, ...]
    query: JsonObject
    spans_shards: bool  # of its only index

    def build_request(self, aggregations: Aggregations | None, **options: object) -> OpenSearchRequest:
        request = build_joint_request(self.indexes, self.query, aggregations, **options)
        return replace(request, weighs_whole_index=self.spans_shards)


def _join_weighed_queries(
    queries: Sequence[tuple[IndexLayout, JsonObject]], *, joins: bool, alone: frozenset[str] = frozenset()
) -> list[_JointRanking]:
    """Joins equal queries of indexes with one shard, whose statistics stay apart in a search of several indexes.

    The statistics of an index with several shards are gathered, so it is searched alone, as are the indexes `alone`.
    """
    small = [
        (layout.index, query) for layout, query in queries if layout.shard_count == 1 and layout.index not in alone
    ]
    return [
        _JointRanking(indexes=indexes, query=query, spans_shards=False)
        for indexes, query in _join_equal_queries(small, joins=joins)
    ] + [
        _JointRanking(indexes=(layout.index,), query=query, spans_shards=layout.shard_count > 1)
        for layout, query in queries
        if layout.shard_count > 1 or layout.index in alone
    ]


def _unite_shared_rankings(rankings: Sequence[_JointRanking]) -> list[_JointRanking]:
    """Unites queries of versions in shared indexes, which rank by terms of their own, into one search of them all."""
    united = [ranking for ranking in rankings if not is_in_shared_index(ranking.indexes[0])]
    parts, clause_count = list[_JointRanking](), 0
    for ranking in rankings:
        if not is_in_shared_index(ranking.indexes[0]):
            continue
        text = json.dumps(ranking.query, separators=(",", ":"))
        added_count = text.count("{") + text.count(" ")  # of conditions and words: at least its clauses
        if parts and clause_count + added_count > MAX_UNITED_CLAUSES:
            united.append(_united_ranking_of(parts))
            parts, clause_count = [], 0
        parts.append(ranking)
        clause_count += added_count
    return [*united, _united_ranking_of(parts)] if parts else united


def _united_ranking_of(parts: Sequence[_JointRanking]) -> _JointRanking:
    if len(parts) == 1:
        return parts[0]
    indexes = tuple(index for part in parts for index in part.indexes)
    alternatives = [
        {"bool": {"must": [part.query], "filter": [version_query_for(index)]}}
        for part in parts
        for index in part.indexes
    ]
    query: JsonObject = {"bool": {"should": alternatives, "minimum_should_match": 1}}
    return _JointRanking(indexes=indexes, query=query, spans_shards=False)


def _join_equal_queries(
    queries: Sequence[tuple[str, JsonObject]], *, joins: bool
) -> list[tuple[tuple[str, ...], JsonObject]]:
    """Returns the indexes of each query."""
    if not joins:
        return [((index,), query) for index, query in queries]
    indexes_by_text, query_by_text = dict[str, tuple[str, ...]](), dict[str, JsonObject]()
    for index, query in queries:
        text = json.dumps(query)
        query_by_text[text] = query
        indexes_by_text[text] = (*indexes_by_text.get(text, ()), index)
    return [(indexes, query_by_text[text]) for text, indexes in indexes_by_text.items()]


def _outline_from_response(response_hit: OpenSearchHit, layout: IndexLayout) -> OutlineHit:
    stored = response_hit.stored_entry
    return OutlineHit(
        doc_id=DocId(stored["doc_id"]),
        bucket=layout.bucket,
        title=stored["title"],
        source=stored["source"],
        summary=stored.get("summary", ""),
        score=_score_of_hit(response_hit),
    )


def _best_hits(hits: Sequence[PassageHit], limit: int) -> tuple[PassageHit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassageCounts:
    """The passages of a bucket, whether visible or not, and those with each term.

    The counts only weigh terms and are never shown.
    """

    total: int
    by_term: Mapping[str, int]


def _note_frequencies(large_indexes: LargeIndexes, index: str, counts: _PassageCounts) -> None:
    """Adds what the counts tell of an index that is large."""
    if counts.total <= _MAX_SMALL_INDEX and index not in large_indexes:
        return
    frequent = large_indexes.setdefault(index, set[str]())
    if len(frequent) < _MAX_FREQUENT_TERMS:
        frequent.update(term for term, count in counts.by_term.items() if count > _MAX_VISITED_PASSAGES)


def _count_passages_with(
    terms: Sequence[str], layouts: Sequence[IndexLayout], large_indexes: LargeIndexes
) -> QuerySteps[list[_PassageCounts]]:
    return run_side_by_side(
        [
            _count_passages_apart(layout, terms, large_indexes[layout.index])
            if layout.index in large_indexes
            else _count_passages_at_once(layout, terms)
            for layout in layouts
        ]
    )


def _count_passages_at_once(layout: IndexLayout, terms: Sequence[str]) -> QuerySteps[_PassageCounts]:
    """Counts in one search, which visits each passage. Without terms, only the passages."""
    if not terms:
        (response,) = yield [build_search_request(layout.index, _PASSAGES)]
        return _PassageCounts(total=response.total, by_term={})
    (response,) = yield [build_search_request(layout.index, _PASSAGES, _aggregation_of_terms(layout, terms))]
    return _PassageCounts(total=response.total, by_term=_counts_of_terms(terms, response))


def _aggregation_of_terms(layout: IndexLayout, terms: Sequence[str]) -> Aggregations:
    filters = {f"{position}": _query_for_term(layout, term) for position, term in enumerate(terms)}
    return {"held": {"filters": {"filters": filters}}}


def _counts_of_terms(terms: Sequence[str], response: OpenSearchResponse) -> dict[str, int]:
    bins: JsonObject = response.aggregations["held"]["buckets"]
    return {term: int(bins[f"{position}"]["doc_count"]) for position, term in enumerate(terms)}


def _count_passages_apart(layout: IndexLayout, terms: Sequence[str], frequent: Set[str]) -> QuerySteps[_PassageCounts]:
    """Counts the terms that are known to be frequent in a search each, which the server answers from the statistics of
    the index; all others in one, which visits the few passages with them. Without terms, nothing is counted: that the
    index is large is known.
    """
    if not terms:
        yield []
        return _PassageCounts(total=0, by_term={})
    rare = [term for term in terms if term not in frequent]
    rare = rare if len(rare) <= _MAX_TERMS_AT_ONCE else []
    apart = [term for term in terms if term not in rare]
    searches = [
        replace(build_search_request(layout.index, query), is_counted_apart=True)
        for query in (_PASSAGES, *(_query_for_term(layout, term) for term in apart))
    ]
    if rare:
        holds_any: JsonObject = {"terms": {layout.passage_terms_path: rare}}
        searches.append(build_search_request(layout.index, all_of(holds_any), _aggregation_of_terms(layout, rare)))
    total, *responses = yield searches
    by_term = {term: response.total for term, response in zip(apart, responses, strict=False)}
    return _PassageCounts(total=total.total, by_term=by_term | (_counts_of_terms(rare, responses[-1]) if rare else {}))


def _query_for_term(layout: IndexLayout, term: str) -> JsonObject:
    return {"term": {layout.passage_terms_path: term}}


def _term_ranking_query(bucket_query: BucketQuery, terms_and_counts: Sequence[tuple[str, int]]) -> JsonObject:
    """Rank by terms, each as often as it appears in the text. The name of a term's query is its position."""
    path = bucket_query.layout.passage_terms_path
    queries: list[JsonObject] = [
        {"term": {path: {"value": term, "boost": min(count, _MAX_TERM_REPEATS), "_name": str(position)}}}
        for position, (term, count) in enumerate(terms_and_counts)
        if count
    ]
    matching: JsonObject = {"bool": {"should": queries}} if queries else {"match_none": {}}
    return {"bool": {"must": [matching], "filter": [bucket_query.passages_query]}}


def _term_ranking_request(ranking: _JointRanking, limit: int) -> OpenSearchRequest:
    """Find the best passages of each index. Their scores are not comparable before they are corrected."""
    if len(ranking.indexes) == 1:
        return ranking.build_request(None, size=min(limit, MAX_HITS), **_PASSAGE_OPTIONS, **_UNCOUNTED)
    best: JsonObject = {"top_hits": {"size": limit, "track_scores": True, **_PASSAGE_OPTIONS}}
    bins: JsonObject = {"terms": {"field": "_index", "size": len(ranking.indexes)}, "aggs": {"best": best}}
    return ranking.build_request({"indexes": bins})


def _find_best_hits(rankings: Sequence[_JointRanking], limit: int) -> QuerySteps[dict[str, list[OpenSearchHit]]]:
    """Returns the hits of each index, best first."""
    responses = yield [_term_ranking_request(ranking, limit) for ranking in rankings]
    hits = dict[str, list[OpenSearchHit]]()
    for response in responses:
        for hit in [*response.hits, *response.hits_in_bins("indexes", "best")]:
            hits.setdefault(hit.version_name, []).append(hit)
    return hits


def _vector_ranking_query(bucket_query: BucketQuery, vector: Sequence[float], limit: int) -> JsonObject:
    if bucket_query.layout.vector_storage is VectorStorage.GRAPH:
        count = min(max(limit, MIN_GRAPH_CANDIDATES), _MAX_NEAREST)
        nearest: JsonObject = {"vector": vector, "k": count, "filter": bucket_query.passages_query}
        return {"knn": {"vector": nearest}}
    candidates = all_of(bucket_query.passages_query, {"exists": {"field": "vector"}})
    return {"script_score": {"query": candidates, "script": script_for_scan(vector)}}


def _cosine_script_for(vector: Sequence[float]) -> JsonObject:
    """Returns the script of a hit's cosine. Scores are cosines too, but on a scale that differs between layouts."""
    return {"script": {"source": "cosineSimilarity(params.vector, doc['vector'])", "params": {"vector": list(vector)}}}


def script_for_scan(vector: Sequence[float]) -> JsonObject:
    params: JsonObject = {"field": "vector", "query_value": list(vector), "space_type": "cosinesimil"}
    return {"lang": "knn", "source": "knn_score", "params": params}


def _score_of_hit(hit: OpenSearchHit) -> float:
    return hit.score or 0.0


def _hit_from_response(response_hit: OpenSearchHit, layout: IndexLayout, score: float) -> PassageHit:
    stored = response_hit.stored_entry
    return PassageHit(
        doc_id=DocId(stored["doc_id"]),
        bucket=layout.bucket,
        chunk_id=ChunkId(stored["chunk_id"]),
        title=stored["title"],
        source=stored["source"],
        page=stored["page"],
        start=stored["start"],
        end=stored["end"],
        text=stored["text"],
        score=score,
    )
