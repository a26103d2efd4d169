"""Asks back where a computed answer is probably to another question than the one that was asked.

The reply says how the question was read, and which words the reading makes no use of. The first choice is the answer of
this reading, which is then given without asking again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.english.telling_words import select_telling_words
from agent.forms.change_over_time import ChangeFacts
from agent.forms.check_claims import CountedClaimFacts
from agent.forms.clarifications import NothingFoundFacts, report_nothing_found
from agent.forms.compare_sides import SideFacts
from agent.forms.compute_numbers import ComputationFacts, ShareFacts
from agent.forms.cross_table import CrossTableFacts
from agent.forms.list_documents import ListFacts
from agent.forms.read_fields import FieldValuesFacts, SeveralValuesFacts
from agent.outcome import OutcomeKind, SearchRoute
from agent.refine.candidates import RefinementCandidate
from agent.refine.choice_labels import OtherBucketLabel, TextSearchLabel, ThisReadingLabel
from agent.refine.refinements import fuller_set_candidates
from agent.refine.unknown_words import groups_of_words, mention_candidate
from agent.retrieval.quotations import CitedQuote
from agent.review.answer_confidence import MIN_CONFIDENCE, score_reading
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview, build_leg_result
from storage.search.plan import AnswerForm, FindPassages
from storage.search.refinement import UseForm, UseReading

_COMPUTED_FACTS = (
    ListFacts,
    ComputationFacts,
    ShareFacts,
    ChangeFacts,
    CrossTableFacts,
    CountedClaimFacts,
    FieldValuesFacts,
    SeveralValuesFacts,
)
_MAX_NAMED_WORDS = 4
_MAX_MENTIONED_WORDS = 2
_MAX_OTHER_BUCKETS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulReadingFacts(LegFacts):
    """How the question was read, without the answer."""

    answer_form: AnswerForm
    answered: LegFacts
    unused_words: tuple[str, ...]  # of the question, as written; empty if the doubt has other reasons

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulAbsenceFacts(LegFacts):
    """How the question was read. The set of this reading is empty, which does not tell that there is nothing."""

    answer_form: AnswerForm
    unused_words: tuple[str, ...]  # of the question, as written; empty if the doubt has other reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulComparisonFacts(LegFacts):
    """What would be compared, without the answer. The same for all sides."""

    sides: tuple[tuple[LegReview, SideFacts], ...]
    unused_words: tuple[str, ...]  # of the question, as written


def ask_about_doubtful_comparison(
    reviews: Sequence[LegReview], decisions: Sequence[Enough | LegClarification]
) -> list[Enough | LegClarification]:
    """Returns the question whether this comparison is meant, as the decision on all sides, if its confidence is too
    low; else the decisions as they are. A comparison that a side cannot answer stays as it is.
    """
    assessment = reviews[0].alternatives.assessment
    sides = [
        (review, decision.facts)
        for review, decision in zip(reviews, decisions, strict=True)
        if isinstance(decision, Enough)
        and isinstance(decision.facts, SideFacts)
        and decision.route is SearchRoute.STRUCTURED
    ]
    if (
        assessment is None
        or not reviews[0].may_ask_back
        or len(sides) < len(reviews)
        or score_reading(assessment.features) >= MIN_CONFIDENCE
    ):
        return list(decisions)
    facts = DoubtfulComparisonFacts(sides=tuple(sides), unused_words=assessment.unused_words[:_MAX_NAMED_WORDS])
    return [
        LegClarification(
            kind=OutcomeKind.AMBIGUOUS,
            result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
            facts=facts,
            candidates=(
                RefinementCandidate(label=ThisReadingLabel(), refinement=UseReading(search=review.leg.search)),
            ),
        )
        for review in reviews
    ]


def ask_about_doubtful_reading(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Returns the question whether the reading is meant, if its confidence is too low; else the decision as it is.

    Of an empty set it says how the question was read, instead of that there is nothing.
    """
    assessment = review.alternatives.assessment
    if isinstance(decision, LegClarification) or claims_absence(decision):
        return _admit_doubtful_absence(review, decision)
    if (
        assessment is None
        or not review.may_ask_back
        or not may_be_doubtful(review, decision)
        or score_reading(assessment.features) >= MIN_CONFIDENCE
    ):
        return decision
    words = assessment.unused_words[:_MAX_NAMED_WORDS]
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=DoubtfulReadingFacts(answer_form=review.leg.answer_form, answered=decision.facts, unused_words=words),
        candidates=tuple(_list_candidates(review, words)),
        hits=decision.hits,
        assumptions=decision.assumptions,
        route=decision.route,
    )


def _admit_doubtful_absence(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Says how an empty set was read, if the reading is doubtful."""
    assessment = review.alternatives.assessment
    if assessment is None or not claims_absence(decision):
        return decision
    confidence = score_reading(replace(assessment.features, finds_nothing=1.0))
    unknown_words = review.alternatives.unknown_words  # of an empty set nothing else asks about them
    if confidence >= MIN_CONFIDENCE and not assessment.guesses_condition and not unknown_words:
        return decision
    words = (select_telling_words(assessment.unused_words) or assessment.unused_words)[:_MAX_NAMED_WORDS]
    words = tuple(dict.fromkeys((*unknown_words, *words)))[:_MAX_NAMED_WORDS]
    facts = DoubtfulAbsenceFacts(answer_form=review.leg.answer_form, unused_words=words)
    if isinstance(decision, LegClarification):
        return replace(decision, facts=facts)
    return replace(report_nothing_found(review), facts=facts)


def claims_absence(decision: Enough | LegClarification) -> bool:
    """Whether the decision says that there are no documents such as the plan has read: "No", "0%", "I found no …"."""
    match decision.facts:
        case NothingFoundFacts():
            return True
        case ShareFacts(figure=figure):
            return figure.count == 0
        case CountedClaimFacts(count=count, verdict=verdict, scope_count=scope_count):
            return count == 0 and verdict is False and scope_count != 1  # of a single document its values are said
        case _:
            return False


def may_be_doubtful(review: LegReview, answer: Enough) -> bool:
    """Whether the answer is computed from documents that are found, so that its plan alone may be wrong."""
    is_computed = isinstance(answer.facts, _COMPUTED_FACTS) and answer.route is SearchRoute.STRUCTURED
    return is_computed and review.count > 0


def _list_candidates(review: LegReview, words: tuple[str, ...]) -> Iterator[RefinementCandidate]:
    """Yields the reading itself, documents of its set that mention the words, readings in other buckets, and texts."""
    form, search = review.leg.answer_form, review.leg.search
    yield RefinementCandidate(label=ThisReadingLabel(), refinement=UseReading(search=search))
    if form.is_document_count or form.lists_documents:
        yield from fuller_set_candidates(review.alternatives, review.leg)
    if form.names_a_set and words:
        telling = (select_telling_words(words) or words)[:_MAX_MENTIONED_WORDS]
        yield from (mention_candidate(search, group) for group in groups_of_words(telling))
    if form.is_document_count or (form.lists_documents and form.list_order is None):
        for clause in review.alternatives.other_bucket_clauses[:_MAX_OTHER_BUCKETS]:
            yield RefinementCandidate(
                label=OtherBucketLabel(clause=clause),
                refinement=UseReading(search=replace(search, clauses=(clause,))),
            )
    yield RefinementCandidate(label=TextSearchLabel(), refinement=UseForm(answer_form=FindPassages(), search=search))
