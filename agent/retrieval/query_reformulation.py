"""Query reformulation: another search, where the result of the first shows that another reading was meant."""

from collections.abc import Sequence
from dataclasses import replace

from agent.assumptions import CorrectedSpelling, FallbackReading
from agent.decomposition import AlternativeReading, LegAlternatives
from agent.english.function_words import QUESTION_WORDS
from agent.retrieval.leg_requests import drop_unknown_words
from agent.review.leg_review import LegReview, More
from storage.search.conditions import MATCH_ALL
from storage.search.plan import FindPassages, Leg, Search, unfiltered_search_of


def reformulate_search(review: LegReview) -> More | None:
    """Returns what to search instead, with the assumptions; None where the leg stays as it is.

    A word that is in no document is replaced by its probable spelling, or dropped if the question does not need it. If
    the field of a number was ambiguous and the likeliest field matches nothing, the likeliest one that matches is used.
    """
    return (
        _correct_spelling(review)
        or _leave_out_unknown_words(review)
        or _take_fallback_reading(review)
        or _search_as_text(review)
    )


def _correct_spelling(review: LegReview) -> More | None:
    respelled = review.alternatives.spelling_correction
    if (
        respelled is None
        or review.assumptions
        or any(review.answers[count] for count in review.requests.misspelt_word_counts)
    ):
        return None
    corrected = tuple(CorrectedSpelling(written=written, meant=meant) for written, meant in respelled.corrections)
    return More(leg=respelled.leg, ignored_words=review.ignored_words, assumptions=(*review.assumptions, *corrected))


def _leave_out_unknown_words(review: LegReview) -> More | None:
    leg, unknown = drop_unknown_words(review.leg, review.alternatives, review.requests, review.answers)
    return (
        More(leg=leg, ignored_words=(*review.ignored_words, *unknown), assumptions=review.assumptions)
        if unknown
        else None
    )


def alternatives_without_words(alternatives: LegAlternatives, words: Sequence[str]) -> LegAlternatives:
    """Returns the alternatives of a leg whose search no longer requires `words`."""

    def reading_without_words(reading: AlternativeReading) -> AlternativeReading:
        clauses = tuple(
            replace(clause, required_terms=tuple(word for word in clause.required_terms if word not in words))
            for clause in reading.search.clauses
        )
        return replace(reading, search=reading.search.with_clauses(*clauses))

    return replace(
        alternatives,
        equal_readings=tuple(map(reading_without_words, alternatives.equal_readings)),
        fallback_readings=tuple(map(reading_without_words, alternatives.fallback_readings)),
        wider_readings=tuple(map(reading_without_words, alternatives.wider_readings)),
        spelling_correction=None,
    )


def _take_fallback_reading(review: LegReview) -> More | None:
    if review.count or review.assumptions or review.leg.answer_form.reads_text or review.alternatives.is_checked:
        return None
    counted = [
        *zip(review.alternatives.equal_readings, review.requests.equal_reading_counts, strict=False),
        *zip(review.alternatives.fallback_readings, review.requests.fallback_reading_counts, strict=True),
    ]
    leading = [reading for reading, count in counted if review.answers[count]]
    if not leading:
        return None
    best, leg = leading[0], review.leg
    return More(
        leg=replace(leg, search=best.search),
        ignored_words=review.ignored_words,
        assumptions=(FallbackReading(bucket=best.bucket, conditions=best.conditions),),
    )


def _search_as_text(review: LegReview) -> More | None:
    """ "What devices are in the family pack?": a list request whose required words no document contains together."""
    leg = review.leg
    asks = leg.question.split()[:1]
    words = any(clause.required_terms for clause in leg.search.clauses)
    if review.alternatives.is_confined:
        return None
    if review.count or not words or not leg.answer_form.lists_documents or not asks:
        return None
    if asks[0].casefold() not in QUESTION_WORDS or asks[0].casefold() == "which":
        return None
    narrowed = tuple(
        replace(clause, required_terms=()) for clause in leg.search.clauses if clause.condition != MATCH_ALL
    )
    clauses = narrowed or unfiltered_search_of(*review.question_context.schemas).clauses
    searched = Leg(
        id=leg.id,
        question=leg.question,
        search=Search(clauses=clauses, ranking_text=leg.question),
        answer_form=FindPassages(),
    )
    return More(leg=searched, ignored_words=(), assumptions=review.assumptions)
