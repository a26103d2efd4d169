"""Passages in order: by BM25 over analysed terms, and by cosine in an exact scan of the vectors. Documents likewise: by
BM25 over their outlines.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from storage.opensearch.asking import Ask, Steps, one_search, together
from storage.opensearch.compile import both
from storage.opensearch.connection import Object
from storage.opensearch.layout import COMMON_WEIGHT, MOST_HITS, PASSAGE, Layout
from storage.opensearch.parts import Part
from storage.opensearch.terms import tokens
from storage.opensearch.wire import Found, WireHit
from storage.search.ids import ChunkId, DocId
from storage.search.index import Hit, Outline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_TERMS = 64  # of a ranking text; the rarest are kept
_MOST_SAID = 8  # times that one term of a text counts
_MOST_ASKED = 1_000  # terms of a text that are looked at: the server takes 1,024 clauses
_TELLING = 1e-7  # between the best score of common terms alone and the least of one that is not
_TOLD: Object = {
    "_source": ["stored.doc_id", "stored.title", "stored.source", "stored.summary"],
    "sort": [{"_score": "desc"}, {"doc_id": "asc"}],
}
_SHOWN: Object = {"_source": ["stored"], "sort": [{"_score": "desc"}, {"chunk": "asc"}]}


def by_terms(parts: Sequence[Part], text: str, limit: int) -> Steps[tuple[Hit, ...]]:
    found = yield from together([_in_part_by_terms(part, text, limit) for part in parts])
    return _best([hit for hits in found for hit in hits], limit)


def by_meaning(
    parts: Sequence[Part], embedder: str, wanted: "NDArray[np.float32] | None", limit: int
) -> Steps[tuple[Hit, ...]]:
    """`wanted` is None without an embedder, and zero for a text without words: both find nothing."""
    if wanted is None or not wanted.any() or limit < 1:
        yield []
        return ()
    comparable = [part for part in parts if part.layout.embedder and part.layout.embedder == embedder]
    asked: list[float] = wanted.tolist()
    found = yield [_nearest(part, asked, limit) for part in comparable]
    hits = [
        _hit(hit, part.layout, 2 * _score(hit) - 1)  # OpenSearch gives (1 + cosine) / 2
        for part, one in zip(comparable, found, strict=True)
        for hit in one.hits
    ]
    return _best(hits, limit)


def by_outline(parts: Sequence[Part], text: str, limit: int) -> Steps[tuple[Outline, ...]]:
    """Documents by BM25 over their titles and outlines."""
    asks = list[Ask]()
    for part in parts if limit > 0 else ():
        asked = list(dict.fromkeys(tokens(text, part.layout.analyser)))[:_MOST_ASKED]
        matching: Object = {"match": {"outline_terms": {"query": " ".join(asked)}}}
        query: Object = {"bool": {"must": [matching], "filter": [part.query]}}
        asks.append(one_search(part.index, query, None, size=min(limit, MOST_HITS), **_TOLD))
    found = yield asks
    outlines = [_outline(hit, part.layout) for part, one in zip(parts, found, strict=False) for hit in one.hits]
    return tuple(sorted(outlines, key=lambda one: (-one.score, one.doc_id))[: max(limit, 0)])


def _outline(found: WireHit, layout: Layout) -> Outline:
    stored = found.stored
    return Outline(
        doc_id=DocId(stored["doc_id"]),
        bucket=layout.bucket,
        title=stored["title"],
        source=stored["source"],
        summary=stored.get("summary", ""),
        score=_score(found),
    )


def _best(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)])


def _in_part_by_terms(part: Part, text: str, limit: int) -> Steps[list[Hit]]:
    said = Counter(tokens(text, part.layout.analyser))
    terms = list(said)[:_MOST_ASKED]
    if not terms or limit < 1:
        yield []
        return []
    if len(terms) > _MOST_TERMS:
        (census,) = yield [_census(part.layout, terms)]
        held = sorted((count, term) for term, count in _held(census, terms).items())
        terms = [term for _, term in held[:_MOST_TERMS]] or terms[:1]
    asked = [term for term in terms for _ in range(min(said[term], _MOST_SAID))]
    census, found = yield [_census(part.layout, terms), _ranked(part, asked, limit)]
    return _trimmed(part, census, found, terms)


def _trimmed(part: Part, census: Found, found: Found, terms: Sequence[str]) -> list[Hit]:
    """Without the passages that hold common terms only, if any of the others exists; else with their full scores."""
    held = _held(census, terms)
    if any(count * 5 <= census.total for count in held.values()):
        return [_hit(hit, part.layout, _score(hit)) for hit in found.hits if _score(hit) > _TELLING]
    return [_hit(hit, part.layout, _score(hit) / COMMON_WEIGHT) for hit in found.hits]


def _census(layout: Layout, terms: Sequence[str]) -> Ask:
    """The passages of the bucket, whoever sees them, and how many hold each of the terms. Shown to no one."""
    holding = {f"{at}": {"term": {"passage_terms": term}} for at, term in enumerate(terms)}
    return one_search(layout.index, {"term": {"kind": PASSAGE}}, {"held": {"filters": {"filters": holding}}})


def _held(census: Found, terms: Sequence[str]) -> dict[str, int]:
    """Those of the terms that exist."""
    cells: Object = census.aggregations["held"]["buckets"]
    counted = {term: int(cells[f"{at}"]["doc_count"]) for at, term in enumerate(terms)}
    return {term: count for term, count in counted.items() if count}


def _ranked(part: Part, terms: Sequence[str], limit: int) -> Ask:
    matching: Object = {"match": {"passage_terms": {"query": " ".join(terms)}}}
    query: Object = {"bool": {"must": [matching], "filter": [part.passages]}}
    return one_search(part.index, query, None, size=min(limit, MOST_HITS), **_SHOWN)


def _nearest(part: Part, wanted: Sequence[float], limit: int) -> Ask:
    params: Object = {"field": "vector", "query_value": list(wanted), "space_type": "cosinesimil"}
    script: Object = {"lang": "knn", "source": "knn_score", "params": params}
    among_these = both(part.passages, {"exists": {"field": "vector"}})
    query: Object = {"script_score": {"query": among_these, "script": script}}
    return one_search(part.index, query, None, size=min(limit, MOST_HITS), **_SHOWN)


def _score(hit: WireHit) -> float:
    return hit.score or 0.0


def _hit(found: WireHit, layout: Layout, score: float) -> Hit:
    stored = found.stored
    return Hit(
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
