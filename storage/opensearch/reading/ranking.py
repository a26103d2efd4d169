"""Ranks passages by BM25 over analysed terms, and by cosine in an exact scan of the vectors.

Ranks documents by BM25 over their outlines.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import COMMON_TERM_WEIGHT, MAX_HITS, PASSAGE, IndexLayout
from storage.opensearch.reading.bucket_queries import BucketQuery
from storage.opensearch.reading.compile import all_of
from storage.opensearch.reading.query_steps import OpenSearchRequest, QuerySteps, build_search_request, run_side_by_side
from storage.opensearch.responses import OpenSearchHit, OpenSearchResponse
from storage.opensearch.terms import indexed_tokens_of
from storage.search.ids import ChunkId, DocId
from storage.search.index import OutlineHit, PassageHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_RANKING_TERMS = 64  # of a ranking text; the rarest terms are kept
_MAX_TERM_REPEATS = 8  # how often a repeated term of a text counts at most
_MAX_TEXT_TERMS = 1_000  # terms of a text that are read; the server accepts 1,024 clauses
_MIN_DISTINCTIVE_SCORE = 1e-7  # above any score of common terms alone, below any score with a rarer term
_OUTLINE_OPTIONS: JsonObject = {
    "_source": ["stored.doc_id", "stored.title", "stored.source", "stored.summary"],
    "sort": [{"_score": "desc"}, {"doc_id": "asc"}],
}
_PASSAGE_OPTIONS: JsonObject = {"_source": ["stored"], "sort": [{"_score": "desc"}, {"chunk": "asc"}]}


def rank_by_terms(bucket_queries: Sequence[BucketQuery], text: str, limit: int) -> QuerySteps[tuple[PassageHit, ...]]:
    ranked = yield from run_side_by_side(
        [_rank_bucket_by_terms(bucket_query, text, limit) for bucket_query in bucket_queries]
    )
    return _best_hits([hit for hits in ranked for hit in hits], limit)


def rank_by_vector(
    bucket_queries: Sequence[BucketQuery], embedder_name: str, query_vector: "NDArray[np.float32] | None", limit: int
) -> QuerySteps[tuple[PassageHit, ...]]:
    """Returns passages by cosine, best first.

    `query_vector` is None without an embedder and zero for a text without words; both find nothing.
    """
    if query_vector is None or not query_vector.any() or limit < 1:
        yield []
        return ()
    comparable_queries = [
        bucket_query
        for bucket_query in bucket_queries
        if bucket_query.layout.embedder_name and bucket_query.layout.embedder_name == embedder_name
    ]
    vector: list[float] = query_vector.tolist()
    responses = yield [_vector_ranking_request(bucket_query, vector, limit) for bucket_query in comparable_queries]
    hits = [
        _hit_from_response(hit, bucket_query.layout, 2 * _score_of_hit(hit) - 1)  # OpenSearch gives (1 + cosine) / 2
        for bucket_query, response in zip(comparable_queries, responses, strict=True)
        for hit in response.hits
    ]
    return _best_hits(hits, limit)


def rank_by_outline(bucket_queries: Sequence[BucketQuery], text: str, limit: int) -> QuerySteps[tuple[OutlineHit, ...]]:
    """Returns documents by BM25 over their titles and outlines, best first."""
    requests = list[OpenSearchRequest]()
    for bucket_query in bucket_queries if limit > 0 else ():
        terms = list(dict.fromkeys(indexed_tokens_of(text, bucket_query.layout.analyser)))[:_MAX_TEXT_TERMS]
        matching: JsonObject = {"match": {"outline_terms": {"query": " ".join(terms)}}}
        query: JsonObject = {"bool": {"must": [matching], "filter": [bucket_query.documents_query]}}
        requests.append(
            build_search_request(bucket_query.index, query, None, size=min(limit, MAX_HITS), **_OUTLINE_OPTIONS)
        )
    responses = yield requests
    outlines = [
        _outline_from_response(hit, bucket_query.layout)
        for bucket_query, response in zip(bucket_queries, responses, strict=False)
        for hit in response.hits
    ]
    return tuple(sorted(outlines, key=lambda hit: (-hit.score, hit.doc_id))[: max(limit, 0)])


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


def _rank_bucket_by_terms(bucket_query: BucketQuery, text: str, limit: int) -> QuerySteps[list[PassageHit]]:
    occurrences = Counter(indexed_tokens_of(text, bucket_query.layout.analyser))
    terms = list(occurrences)[:_MAX_TEXT_TERMS]
    if not terms or limit < 1:
        yield []
        return []
    if len(terms) > _MAX_RANKING_TERMS:
        (frequency_response,) = yield [_document_frequency_request(bucket_query.layout, terms)]
        frequencies = sorted(
            (count, term) for term, count in _document_frequencies_in(frequency_response, terms).items()
        )
        terms = [term for _, term in frequencies[:_MAX_RANKING_TERMS]] or terms[:1]
    repeated_terms = [term for term in terms for _ in range(min(occurrences[term], _MAX_TERM_REPEATS))]
    frequency_response, ranking = yield [
        _document_frequency_request(bucket_query.layout, terms),
        _term_ranking_request(bucket_query, repeated_terms, limit),
    ]
    rare_terms = _find_rare_terms(frequency_response, terms)
    if not rare_terms.terms:
        return _hits_with_full_scores(ranking, bucket_query.layout)
    distinctive_hits = [hit for hit in ranking.hits if _score_of_hit(hit) > _MIN_DISTINCTIVE_SCORE]
    if ranking.hits and (rare_terms.server_may_disagree or not distinctive_hits):
        repeated_terms = [term for term in repeated_terms if term in rare_terms.terms]
        (ranking,) = yield [_term_ranking_request(bucket_query, repeated_terms, limit)]
        return _hits_with_full_scores(ranking, bucket_query.layout)
    return [_hit_from_response(hit, bucket_query.layout, _score_of_hit(hit)) for hit in distinctive_hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class _RareTerms:
    """The terms of a text that occur in at most a fifth of a bucket's passages. If there are any, only they find.

    The server's statistics, with which it scores, leave out passages without terms and include deleted passages. So it
    may take a rare term for a common one, and give the passages that hold it almost no score.
    """

    terms: frozenset[str]
    server_may_disagree: bool


def _find_rare_terms(frequency_response: OpenSearchResponse, terms: Sequence[str]) -> _RareTerms:
    frequencies = _document_frequencies_in(frequency_response, terms)
    rare_terms = frozenset(term for term, count in frequencies.items() if count * 5 <= frequency_response.total)
    passages_with_terms = int(frequency_response.aggregations["with_terms"]["doc_count"])
    return _RareTerms(
        terms=rare_terms, server_may_disagree=any(frequencies[term] * 5 > passages_with_terms for term in rare_terms)
    )


def _hits_with_full_scores(ranking: OpenSearchResponse, layout: IndexLayout) -> list[PassageHit]:
    """Returns all hits. A score of common terms alone is divided by their weight."""
    scores = [_score_of_hit(hit) for hit in ranking.hits]
    return [
        _hit_from_response(hit, layout, score if score > _MIN_DISTINCTIVE_SCORE else score / COMMON_TERM_WEIGHT)
        for hit, score in zip(ranking.hits, scores, strict=True)
    ]


def _document_frequency_request(layout: IndexLayout, terms: Sequence[str]) -> OpenSearchRequest:
    """Count all passages of the bucket, whether visible or not, and those that contain each term.

    The counts only weigh terms and are never shown.
    """
    term_filters = {f"{position}": {"term": {"passage_terms": term}} for position, term in enumerate(terms)}
    return build_search_request(
        layout.index,
        {"term": {"kind": PASSAGE}},
        {
            "held": {"filters": {"filters": term_filters}},
            "with_terms": {"filter": {"exists": {"field": "passage_terms"}}},
        },
    )


def _document_frequencies_in(frequency_response: OpenSearchResponse, terms: Sequence[str]) -> dict[str, int]:
    """Returns the passage count of each term that occurs in the bucket."""
    bins: JsonObject = frequency_response.aggregations["held"]["buckets"]
    counts = {term: int(bins[f"{position}"]["doc_count"]) for position, term in enumerate(terms)}
    return {term: count for term, count in counts.items() if count}


def _term_ranking_request(bucket_query: BucketQuery, terms: Sequence[str], limit: int) -> OpenSearchRequest:
    matching: JsonObject = {"match": {"passage_terms": {"query": " ".join(terms)}}}
    query: JsonObject = {"bool": {"must": [matching], "filter": [bucket_query.passages_query]}}
    return build_search_request(bucket_query.index, query, None, size=min(limit, MAX_HITS), **_PASSAGE_OPTIONS)


def _vector_ranking_request(bucket_query: BucketQuery, query_vector: Sequence[float], limit: int) -> OpenSearchRequest:
    params: JsonObject = {"field": "vector", "query_value": list(query_vector), "space_type": "cosinesimil"}
    script: JsonObject = {"lang": "knn", "source": "knn_score", "params": params}
    candidates = all_of(bucket_query.passages_query, {"exists": {"field": "vector"}})
    query: JsonObject = {"script_score": {"query": candidates, "script": script}}
    return build_search_request(bucket_query.index, query, None, size=min(limit, MAX_HITS), **_PASSAGE_OPTIONS)


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
