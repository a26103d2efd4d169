"""The clarifications shared by several forms: nothing found, too many documents, two readings, several documents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.evidence.word_meanings import WordMeanings
from agent.outcome import OutcomeKind
from agent.refine import facets, refinements, relaxations
from agent.refine.candidates import RefinementCandidate
from agent.refine.facets import FacetSplit
from agent.refine.unknown_words import unknown_word_candidates, values_of_facets
from agent.review.leg_review import (
    LegClarification,
    LegFacts,
    LegReview,
    assumptions_of,
    build_leg_result,
    distinguishing_conditions_of,
    hits_by_document,
    missing_counts_of,
)
from storage.search.analyser import fold_text
from storage.search.index import DocumentRecord
from storage.search.plan import AnswerForm
from storage.search.refinement import IncludeMissing

_WORDS_FOR_SEVERAL = frozenset("who whos whose which".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingFoundFacts(LegFacts):
    """The set holds no document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralReadingsFacts(LegFacts):
    """A constraint has two readings with the same score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralFieldsFacts(LegFacts):
    """The question may be about any of several fields, and none is likelier."""

    answer_form: AnswerForm


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyFacts(LegFacts):
    """The set has more documents than can be listed or read. Choices by `split` narrow it."""

    limit: int
    is_list: bool  # if False, the documents would be read
    split: FacetSplit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralDocumentsFacts(LegFacts):
    """A question about one document matches several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWordsFacts(LegFacts):
    """Words that restrict the set, or ask for a value, in a way that was not understood."""

    words: tuple[str, ...]
    mentioned_words: tuple[str, ...]  # all of `words` or one of them; none if no part of the set mentions them
    mention_count: int  # documents of the set that mention `mentioned_words`
    asks_for_value: bool


async def ask_about_unknown_words(review: LegReview, meanings: WordMeanings) -> LegClarification | None:
    """Asks what the words mean that were not understood; None if there are none, or nothing to ask about."""
    words = review.alternatives.unknown_words
    if not words or not review.may_ask_back or not review.count:
        return None
    mentioned_words, mention_count = _choose_mentioned_words(review)
    values = values_of_facets(review.requests.facets, review.answers)
    likeness_by_word = await meanings.compare_words([word.casefold() for word in words], values)
    likeness = {value: degree for by_value in likeness_by_word.values() for value, degree in by_value.items()}
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=replace(build_leg_result(review, OutcomeKind.AMBIGUOUS, None), unknown_words=words),
        facts=UnknownWordsFacts(
            words=words,
            mentioned_words=mentioned_words,
            mention_count=mention_count,
            asks_for_value=review.leg.answer_form.reads_values,
        ),
        candidates=tuple(
            unknown_word_candidates(
                review.leg,
                review.alternatives,
                review.answers,
                review.requests.facets,
                review.question_context.schemas,
                review.count,
                likeness,
            )
        ),
        hits=hits_by_document(review),
        assumptions=assumptions_of(review),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBackFacts(LegFacts):
    """What the person is asked by a language model. Raw text of the model, escaped where it is composed."""

    question: str
    missing: tuple[str, ...]  # what the person has to say
    is_about_set: bool  # the question is about the documents of the leg's set, which are counted


def _choose_mentioned_words(review: LegReview) -> tuple[tuple[str, ...], int]:
    """Returns the words that a part of the set mentions, with its count: all of the words, else the rarest of them."""
    requests = review.requests.mention_counts
    counts = {words: review.answers[request] for words, request in requests.items()}
    telling = [(words, count) for words, count in counts.items() if 0 < count < review.count]
    return min(telling, key=lambda mention: (-len(mention[0]), mention[1]), default=((), 0))


def report_nothing_found(review: LegReview) -> LegClarification:
    return LegClarification(
        kind=OutcomeKind.NO_RESULTS,
        result=build_leg_result(review, OutcomeKind.NO_RESULTS, 0),
        facts=NothingFoundFacts(),
        candidates=(),
        assumptions=assumptions_of(review),
    )


def ask_which_reading(review: LegReview) -> LegClarification | None:
    """Asks which of the readings with the same score is meant; None if there is no reason or no permission to ask."""
    review = _without_equal_sets(review)
    has_results = any(review.answers[count] for count in review.requests.equal_reading_counts)
    if not has_results or not review.count or not review.may_ask_back:
        return None  # if only one reading finds documents, that one is meant
    conditions = distinguishing_conditions_of(review)
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=SeveralReadingsFacts(),
        candidates=tuple(refinements.reading_candidates(review.leg, review.alternatives, conditions)),
        assumptions=assumptions_of(review),
        offer_just_answer=True,
    )


def _without_equal_sets(review: LegReview) -> LegReview:
    """Returns the review without the readings of another plan that find as many documents: one set in other words."""
    pairs = tuple(zip(review.alternatives.equal_readings, review.requests.equal_reading_counts, strict=False))
    kept = [
        (reading, count)
        for reading, count in pairs
        if not (reading.is_of_other_plan and review.answers[count] == review.count)
    ]
    if len(kept) == len(pairs):
        return review
    return replace(
        review,
        alternatives=replace(review.alternatives, equal_readings=tuple(reading for reading, _ in kept)),
        requests=replace(review.requests, equal_reading_counts=tuple(count for _, count in kept)),
    )


def ask_which_field(review: LegReview) -> LegClarification | None:
    """Asks which field is meant; None if one is certain, the set is empty, or there is no permission to ask."""
    if len(review.alternatives.equal_forms) < 2 or not review.count or not review.may_ask_back:
        return None
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=SeveralFieldsFacts(answer_form=review.leg.answer_form),
        candidates=tuple(refinements.form_candidates(review.alternatives, review.question_context.schemas)),
        assumptions=assumptions_of(review),
        offer_just_answer=True,
    )


def ask_to_narrow(review: LegReview, limit: int, *, is_list: bool = False) -> LegClarification:
    split, cells = facets.choose_best_facet(
        review.leg, review.answers, review.requests.facets, review.question_context.schemas
    )
    return LegClarification(
        kind=OutcomeKind.OVERLOAD,
        result=build_leg_result(review, OutcomeKind.OVERLOAD, review.count),
        facts=TooManyFacts(limit=limit, is_list=is_list, split=split),
        candidates=(*cells, *missing_candidates(review)),
        hits=hits_by_document(review),
        assumptions=assumptions_of(review),
        offer_just_answer=True,
        export_count=review.count,
    )


def ask_which_document(review: LegReview, records: Sequence[DocumentRecord]) -> LegClarification:
    """Asks which of several documents is meant; "who has a ticket that runs out soon" may mean all of them."""
    opening = fold_text(review.leg.question).replace("’", "'").partition("'")[0].split()[:1]
    everything = (refinements.list_candidate(review.leg),) if _WORDS_FOR_SEVERAL & set(opening) else ()
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=SeveralDocumentsFacts(),
        candidates=(*everything, *refinements.document_candidates(records, review.count > len(records))),
        hits=hits_by_document(review),
        assumptions=assumptions_of(review),
        offer_just_answer=True,
    )


# -- choices beside an answer


def wider_reading_candidates(review: LegReview) -> list[RefinementCandidate]:
    return [refinements.reading_candidate(reading) for reading in review.alternatives.wider_readings]


def list_candidates(review: LegReview) -> list[RefinementCandidate]:
    """Offers the documents that a number was computed from, if there are several."""
    return [refinements.list_candidate(review.leg)] if review.count > 1 else []


def missing_candidates(review: LegReview) -> list[RefinementCandidate]:
    """Offers to include documents that lack a field of the search, if there are any."""
    lacking = {missing.field for missing in missing_counts_of(review)}
    offered = relaxations.missing_candidates(review.leg, review.question_context.schemas)
    return [
        candidate
        for candidate in offered
        if isinstance(candidate.refinement, IncludeMissing) and candidate.refinement.field in lacking
    ]
