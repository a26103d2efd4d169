"""Merging of the rankings of two indexes.

Cosines of the same embedder are comparable. Scores by words are not: each index has its own statistics and formula. So
the scores of the smaller index are multiplied by one factor, which does not change their order. The factor is chosen so
that the ratio of the two best scores equals the ratio of the shares of query terms that the two best passages contain.
Each term is weighted by its rarity among the documents of both indexes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from storage.federated.request_steps import RequestSteps, SearchHalves, StepAnswers, StepRequests, ask_both
from storage.search.analyser import Analyser
from storage.search.ids import BucketId, DocId
from storage.search.index import (
    CountRequest,
    DocumentRequest,
    KeywordPassageRequest,
    OutlineHit,
    OutlineRequest,
    PassageHit,
    SemanticPassageRequest,
)
from storage.search.plan import Clause, Search, unfiltered_search_of

_MAX_WORDS = 32  # distinct words of a ranking text; further words are ignored
_MAX_WORD_COUNT = 8  # occurrences of one word in a ranking text; further ones add no weight


@dataclass(frozen=True, slots=True, kw_only=True)
class _RankingWords:
    """The words of a ranking text, with their weights by rarity in both indexes."""

    word_counts: Counter[str]
    halves: SearchHalves

    def count_requests_for(self, half: Search) -> tuple[CountRequest, ...]:
        """Return requests for the count of all documents in the buckets, then of the documents with each word."""
        whole = unfiltered_search_of(*half.buckets)
        return (CountRequest(whole), *(CountRequest(_require_word(whole, word)) for word in self.word_counts))

    def word_weights(self, answers: StepAnswers) -> dict[str, float]:
        main_counts = [answers.main[request] for request in self.count_requests_for(self.halves.main)]
        secondary_counts = [answers.secondary[request] for request in self.count_requests_for(self.halves.secondary)]
        total, *document_counts = (
            main_count + secondary_count
            for main_count, secondary_count in zip(main_counts, secondary_counts, strict=True)
        )
        return {
            word: min(self.word_counts[word], _MAX_WORD_COUNT)
            * log(1 + (total - document_count + 0.5) / (document_count + 0.5))
            for word, document_count in zip(self.word_counts, document_counts, strict=True)
        }


def _require_word(search: Search, word: str) -> Search:
    return search.with_clauses(*(Clause(bucket=clause.bucket, required_terms=(word,)) for clause in search.clauses))


def _ranking_words_of(text: str, halves: SearchHalves, analyser: Analyser) -> _RankingWords:
    terms = analyser.extract_terms(text)
    first_forms = dict[str, str]()  # term -> the first word with this term
    for term in terms:
        first_forms.setdefault(term.text, text[term.start : term.end])
    word_counts = Counter(first_forms[term.text] for term in terms)
    return _RankingWords(
        word_counts=Counter({word: word_counts[word] for word in list(word_counts)[:_MAX_WORDS]}), halves=halves
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _BestMatch:
    """The best hit of one index: its score, and the text that was searched."""

    bucket: BucketId
    score: float
    text: str

    def weight_share(self, weights: dict[str, float], answers: StepAnswers) -> float:
        """Returns the sum of the weights of the words that the text contains."""
        analyser = answers.analyser_for(self.bucket)
        text_terms = {term.text for term in analyser.extract_terms(self.text)}
        return sum(weight for word, weight in weights.items() if text_terms.issuperset(_term_texts_of(word, analyser)))


def _term_texts_of(word: str, analyser: Analyser) -> list[str]:
    return [term.text for term in analyser.extract_terms(word)]


def _score_factor_of(main: _BestMatch, secondary: _BestMatch, words: _RankingWords, answers: StepAnswers) -> float:
    """Returns the factor for the scores of the secondary index."""
    weights = words.word_weights(answers)
    main_share, secondary_share = main.weight_share(weights, answers), secondary.weight_share(weights, answers)
    return main.score / secondary.score * (secondary_share / main_share if main_share and secondary_share else 1.0)


def merge_semantic_passages(
    halves: SearchHalves, request: SemanticPassageRequest
) -> RequestSteps[tuple[PassageHit, ...]]:
    main_hits, secondary_hits = yield from ask_both(
        replace(request, search=halves.main), replace(request, search=halves.secondary)
    )
    return _top_hits((*main_hits, *secondary_hits), request.limit)


def merge_keyword_passages(
    halves: SearchHalves, request: KeywordPassageRequest, analyser: Analyser
) -> RequestSteps[tuple[PassageHit, ...]]:
    """`analyser`: the analyser of a bucket of the secondary index; it divides the text into words."""
    words = _ranking_words_of(request.text, halves, analyser)
    main, secondary = replace(request, search=halves.main), replace(request, search=halves.secondary)
    answers = yield StepRequests(
        main=(main, *words.count_requests_for(halves.main)),
        secondary=(secondary, *words.count_requests_for(halves.secondary)),
    )
    main_hits, secondary_hits = answers.main[main], answers.secondary[secondary]
    if main_hits and secondary_hits:
        factor = _score_factor_of(_best_match_of_hits(main_hits), _best_match_of_hits(secondary_hits), words, answers)
        secondary_hits = tuple(replace(hit, score=hit.score * factor) for hit in secondary_hits)
    return _top_hits((*main_hits, *secondary_hits), request.limit)


def _best_match_of_hits(hits: Sequence[PassageHit]) -> _BestMatch:
    return _BestMatch(bucket=hits[0].bucket, score=hits[0].score, text=f"{hits[0].title}\n{hits[0].text}")


def _top_hits(hits: Sequence[PassageHit], limit: int) -> tuple[PassageHit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(limit, 0)])


def merge_outlines(
    halves: SearchHalves, request: OutlineRequest, analyser: Analyser
) -> RequestSteps[tuple[OutlineHit, ...]]:
    """Merge the outlines. A best document without a summary costs one more round trip, which reads its text."""
    words = _ranking_words_of(request.text, halves, analyser)
    main, secondary = replace(request, search=halves.main), replace(request, search=halves.secondary)
    answers = yield StepRequests(
        main=(main, *words.count_requests_for(halves.main)),
        secondary=(secondary, *words.count_requests_for(halves.secondary)),
    )
    main_hits, secondary_hits = answers.main[main], answers.secondary[secondary]
    if main_hits and secondary_hits:
        texts = yield from _fetch_texts(main_hits[0], secondary_hits[0])
        factor = _score_factor_of(
            _best_match_of_outline(main_hits[0], texts),
            _best_match_of_outline(secondary_hits[0], texts),
            words,
            answers,
        )
        secondary_hits = tuple(replace(outline, score=outline.score * factor) for outline in secondary_hits)
    merged = sorted((*main_hits, *secondary_hits), key=lambda hit: (-hit.score, hit.doc_id))
    return tuple(merged[: max(request.limit, 0)])


def _fetch_texts(main: OutlineHit, secondary: OutlineHit) -> RequestSteps[dict[DocId, str]]:
    main_request, secondary_request = DocumentRequest((main.doc_id,)), DocumentRequest((secondary.doc_id,))
    step_requests = StepRequests(
        main=() if main.summary else (main_request,), secondary=() if secondary.summary else (secondary_request,)
    )
    if not step_requests.main and not step_requests.secondary:
        return {}
    answers = yield step_requests
    documents = (
        *(answers.main[main_request] if step_requests.main else ()),
        *(answers.secondary[secondary_request] if step_requests.secondary else ()),
    )
    return {document.doc_id: document.text for document in documents}


def _best_match_of_outline(outline: OutlineHit, texts: dict[DocId, str]) -> _BestMatch:
    text = outline.summary or texts.get(outline.doc_id, "")
    return _BestMatch(bucket=outline.bucket, score=outline.score, text=f"{outline.title}\n{text}")
