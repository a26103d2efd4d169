"""Full-text fallback: searches all text where the conditions of a question match no document.

Words of the vocabulary occur by chance in questions about something else: "how many matches were won" need not ask for
amounts in the currency won. If a question names no kind of document, its set is empty, and some passage covers nearly
all its words, this passage answers it. Otherwise nothing is quoted, and the clarification gets the nearest passages as
hits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.assumptions import AnyTextSearched
from agent.decomposition import LegAlternatives
from agent.english.function_words import DOCUMENT_NOUNS, QUESTION_WORDS, YES_NO_VERBS
from agent.forms.find_passages import quote_answer
from agent.forms.registry import build_leg_requests
from agent.outcome import FoundPassage, SearchRoute
from agent.retrieval.fusion import coverage_of_hit, fuse_hits, matchers_by_bucket, rerank_passages
from agent.retrieval.leg_requests import LegInquiry, hits_by_collector, outlines_for, weigh_question_terms
from agent.retrieval.named_documents import is_confined_to_named_documents, passages_mentioning_names
from agent.retrieval.relevance import QueryTerm
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.index import KeywordPassageRequest, SemanticPassageRequest
from storage.search.plan import FindPassages, Leg, unfiltered_search_of

_MIN_COVERAGE = 0.75  # share of the question's weight; a word that is in no document weighs most
_QUESTION_STARTS = QUESTION_WORDS | YES_NO_VERBS


async def fall_back_to_full_text(review: LegReview, no_results: LegClarification) -> Enough | LegClarification:
    """Quotes a passage that covers nearly all of the question; else returns `no_results` with the nearest hits."""
    if review.requests.fallback_requests:
        return _attach_nearest_passages(review, no_results, review.requests.fallback_requests)[0]
    text_review = await search_all_text(review)
    decided, ranked = _attach_nearest_passages(
        replace(review, requests=text_review.requests, answers=text_review.answers),
        no_results,
        text_review.requests.passage_requests,
    )
    if not ranked or not _can_fall_back(review):
        return decided
    question = weigh_question_terms(
        text_review.requests, text_review.answers, review.question_context, include_naming_terms=True
    )
    if _best_coverage_of(text_review, question, ranked) < _MIN_COVERAGE:
        return decided
    quoted = quote_answer(text_review, question, passages_mentioning_names(review, ranked), SearchRoute.HYBRID)
    if not isinstance(quoted, Enough):
        return decided
    return replace(quoted, assumptions=(*quoted.assumptions, AnyTextSearched(search=review.leg.search)))


async def search_all_text(review: LegReview) -> LegReview:
    """Searches the text of all documents in scope for the question of the leg, without its conditions."""
    leg = _full_text_leg_for(review.leg, review)
    alternatives = LegAlternatives(leg=leg.id)
    requests = build_leg_requests(
        LegInquiry(
            leg=leg,
            alternatives=alternatives,
            question_context=review.question_context,
            limits=review.session.context.limits,
            may_ask_back=False,
        )
    )
    answers = await review.session.ask_index([*requests.all_requests()], record=[*requests.recorded_requests()])
    return replace(review, leg=leg, alternatives=alternatives, requests=requests, answers=answers)


def _full_text_leg_for(leg: Leg, review: LegReview) -> Leg:
    search = replace(unfiltered_search_of(*review.question_context.schemas), ranking_text=leg.question)
    return Leg(id=leg.id, question=leg.question, search=search, answer_form=FindPassages(), probes=leg.probes)


def _attach_nearest_passages(
    review: LegReview,
    no_results: LegClarification,
    requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest],
) -> tuple[LegClarification, list[FoundPassage]]:
    question = weigh_question_terms(review.requests, review.answers, review.question_context, include_naming_terms=True)
    ranked = rerank_passages(
        fuse_hits(hits_by_collector(requests, review.answers), outlines_for(review.requests, requests, review.answers)),
        question,
        review.question_context.analysers,
    )
    return replace(
        no_results, hits=no_results.hits or tuple(ranked[: review.session.context.limits.reported_hits])
    ), ranked


def _can_fall_back(review: LegReview) -> bool:
    """Whether the leg is a question (no request to list) that names no kind of document and no certain document."""
    words = review.leg.question.casefold().split()
    if (
        review.alternatives.is_understood
        or not words
        or words[0] not in _QUESTION_STARTS
        or is_confined_to_named_documents(review)
    ):
        return False
    noun_stems = set[str]()
    for clause in review.leg.search.clauses:
        schema, analyser = (
            review.question_context.schemas[clause.bucket],
            review.question_context.analysers[clause.bucket],
        )
        nouns = (clause.bucket.replace("_", " "), *schema.synonyms, *DOCUMENT_NOUNS)
        stems = {term.text for term in analyser.extract_terms(review.leg.question)}
        noun_stems |= stems & {term.text for noun in nouns for term in analyser.extract_terms(noun)}
    return not noun_stems


def _best_coverage_of(review: LegReview, query_terms: Sequence[QueryTerm], passages: Sequence[FoundPassage]) -> float:
    matchers = matchers_by_bucket(query_terms, review.question_context.analysers)
    return max(
        (coverage_of_hit(passage.hit, query_terms, matchers[passage.hit.bucket]) for passage in passages[:5]),
        default=0.0,
    )
