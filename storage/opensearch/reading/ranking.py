"""Ranks passages by BM25 over analysed terms, and by cosine in a scan or a graph of the vectors.

Ranks documents by BM25 over their outlines. Buckets that are ranked by the same query are ranked in one search.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import MAX_HITS, MIN_GRAPH_CANDIDATES, PASSAGE, IndexLayout, VectorStorage
from storage.opensearch.reading.bucket_queries import BucketQuery
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.query_steps import (
    OpenSearchRequest,
    QuerySteps,
    build_joint_request,
    build_search_request,
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

_MAX_RANKING_TERMS = 64  # of a ranking text; the rarest terms are kept
_MAX_TERM_REPEATS = 8  # how often a repeated term of a text counts at most
_MAX_TEXT_TERMS = 1_000  # terms of a text that are read; the server accepts 1,024 clauses
_OUTLINE_OPTIONS: JsonObject = {
    "_source": ["stored.doc_id", "stored.title", "stored.source", "stored.summary"],
    "sort": [{"_score": "desc"}, {"doc_id": "asc"}],
}
# The whole source, which is what is shown of a passage: the server reads it only where a part of it is wanted.
_PASSAGE_OPTIONS: JsonObject = {"_source": True, "sort": [{"_score": "desc"}, {"chunk": "asc"}]}
_MAX_NEAREST = 10_000  # passages of a shard that a search in a graph finds; the server's limit
_MAX_INNER_HITS = 100  # of an index within a search of several; the server's limit


def rank_by_terms(
    bucket_queries: Sequence[BucketQuery], text: str, limit: int, *, asks_each_index: bool = False
) -> QuerySteps[tuple[PassageHit, ...]]:
    """Returns passages by BM25, best first.

    The server weighs each term by its rarity in the bucket alone. Each score is corrected for the weights that the
    terms found in the passage have in all buckets; the counts for this are made in the same round trip.
    """
    occurrences = [Counter(indexed_tokens_of(text, bucket_query.layout.analyser)) for bucket_query in bucket_queries]
    terms = list(dict.fromkeys(term for counts in occurrences for term in counts))[:_MAX_TEXT_TERMS]
    if not terms or limit < 1:
        yield []
        return ()
    frequency_requests = [_document_frequency_request(query.layout, terms) for query in bucket_queries]
    if len(terms) > _MAX_RANKING_TERMS:
        responses = yield frequency_requests
        terms = _rarest_terms(terms, [_document_frequencies_in(response, terms) for response in responses])
        frequency_requests = [_document_frequency_request(query.layout, terms) for query in bucket_queries]
    rankings = [
        (query.layout, _term_ranking_query(query, [(term, counts[term]) for term in terms]))
        for query, counts in zip(bucket_queries, occurrences, strict=True)
    ]
    joins = not asks_each_index and limit <= _MAX_INNER_HITS
    joint_rankings = _join_weighed_queries(rankings, joins=joins)
    responses = yield [*frequency_requests, *(_term_ranking_request(ranking, limit) for ranking in joint_rankings)]
    counted, ranked = responses[: len(bucket_queries)], responses[len(bucket_queries) :]
    hits_by_index = _hits_by_index(ranked)
    weights = _term_weights_of(
        terms, [_document_frequencies_in(response, terms) for response in counted], [found.total for found in counted]
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
    """Returns the hit's score times the ratio of both weights of the terms that it matches."""
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
            for indexes, query in _join_equal_queries(rankings, joins=not asks_each_index)
        ]
    responses = yield requests
    layouts = {bucket_query.index: bucket_query.layout for bucket_query in comparable_queries}
    hits = [
        _hit_from_response(hit, layouts[hit.index], float(hit.fields["cosine"][0]))
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
    responses = yield [
        ranking.build_request(None, size=min(limit, MAX_HITS), **_OUTLINE_OPTIONS)
        for ranking in _join_weighed_queries(rankings, joins=not asks_each_index)
    ]
    layouts = {bucket_query.index: bucket_query.layout for bucket_query in bucket_queries}
    outlines = [_outline_from_response(hit, layouts[hit.index]) for response in responses for hit in response.hits]
    return tuple(sorted(outlines, key=lambda hit: (-hit.score, hit.doc_id))[:limit])


def _outline_query(bucket_query: BucketQuery, text: str) -> JsonObject:
    terms = list(dict.fromkeys(indexed_tokens_of(text, bucket_query.layout.analyser)))[:_MAX_TEXT_TERMS]
    matching: JsonObject = {"match": {"outline_terms": {"query": " ".join(terms)}}}
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


def _join_weighed_queries(queries: Sequence[tuple[IndexLayout, JsonObject]], *, joins: bool) -> list[_JointRanking]:
    """Joins equal queries of indexes with one shard, whose statistics stay apart in a search of several indexes.

    The statistics of an index with several shards are gathered, so it is searched alone.
    """
    small = [(layout.index, query) for layout, query in queries if layout.shard_count == 1]
    return [
        _JointRanking(indexes=indexes, query=query, spans_shards=False)
        for indexes, query in _join_equal_queries(small, joins=joins)
    ] + [
        _JointRanking(indexes=(layout.index,), query=query, spans_shards=True)
        for layout, query in queries
        if layout.shard_count > 1
    ]


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


def _document_frequency_request(layout: IndexLayout, terms: Sequence[str]) -> OpenSearchRequest:
    """Count all passages of the bucket, whether visible or not, and those that contain each term.

    The counts only weigh terms and are never shown.
    """
    term_filters = {f"{position}": {"term": {"passage_terms": term}} for position, term in enumerate(terms)}
    return build_search_request(
        layout.index,
        {"term": {"kind": PASSAGE}},
        {"held": {"filters": {"filters": term_filters}}},
    )


def _document_frequencies_in(frequency_response: OpenSearchResponse, terms: Sequence[str]) -> dict[str, int]:
    """Returns the passage count of each term."""
    bins: JsonObject = frequency_response.aggregations["held"]["buckets"]
    return {term: int(bins[f"{position}"]["doc_count"]) for position, term in enumerate(terms)}


def _term_ranking_query(bucket_query: BucketQuery, terms_and_counts: Sequence[tuple[str, int]]) -> JsonObject:
    """Rank by terms, each as often as it stands in the text. The name of a term's query is its position."""
    queries: list[JsonObject] = [
        {"term": {"passage_terms": {"value": term, "boost": min(count, _MAX_TERM_REPEATS), "_name": str(position)}}}
        for position, (term, count) in enumerate(terms_and_counts)
        if count
    ]
    matching: JsonObject = {"bool": {"should": queries}} if queries else {"match_none": {}}
    return {"bool": {"must": [matching], "filter": [bucket_query.passages_query]}}


def _term_ranking_request(ranking: _JointRanking, limit: int) -> OpenSearchRequest:
    """Find the best passages of each index. Their scores are not comparable before they are corrected."""
    if len(ranking.indexes) == 1:
        return ranking.build_request(None, size=min(limit, MAX_HITS), **_PASSAGE_OPTIONS)
    best: JsonObject = {"top_hits": {"size": limit, "track_scores": True, **_PASSAGE_OPTIONS}}
    bins: JsonObject = {"terms": {"field": "_index", "size": len(ranking.indexes)}, "aggs": {"best": best}}
    return ranking.build_request({"indexes": bins})


def _hits_by_index(responses: Sequence[OpenSearchResponse]) -> dict[str, list[OpenSearchHit]]:
    """Returns the hits of term rankings, best first."""
    hits = dict[str, list[OpenSearchHit]]()
    for response in responses:
        for hit in [*response.hits, *response.hits_in_bins("indexes", "best")]:
            hits.setdefault(hit.index, []).append(hit)
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
