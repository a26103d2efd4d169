"""Asks back about a set if too many documents do not state the value that decides who belongs to it.

Only values read from texts are meant: a text may say in other words what no label says. An empty cell of a table is
taken for what it is. The limit was chosen on the rounds in `tests/rounds`: of answers whose condition more than a third
of the other documents leave open, two were right and seven were wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent.forms.clarifications import missing_candidates
from agent.forms.compute_numbers import ComputationFacts
from agent.forms.list_documents import ListFacts
from agent.outcome import OutcomeKind, UnstatedValues
from agent.refine.candidates import RefinementCandidate
from agent.refine.choice_labels import OnlyTheseLabel
from agent.refine.unknown_words import mention_candidate
from agent.refine.unstated_values import search_without_fields
from agent.retrieval.quotations import CitedQuote
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview, build_leg_result
from storage.search.conditions import ComparisonCondition, ComparisonOperator, conjuncts_of
from storage.search.refinement import UseReading
from storage.search.schema import FieldOrigin

_MAX_OPEN_SHARE = 1 / 3  # of the documents outside the set
_MIN_OPEN_DOCUMENTS = 3
_OPERATORS_OF_WORDS = (ComparisonOperator.EQ, ComparisonOperator.HAS, ComparisonOperator.CONTAINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyStatedFacts(LegFacts):
    """An answer from the documents that state a value, while many others leave it open."""

    answered: LegFacts

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return self.answered.quotes


def ask_about_open_documents(review: LegReview, decision: Enough | LegClarification) -> Enough | LegClarification:
    """Returns the question back whether those documents count, with what is known; else the decision as it is."""
    is_answer_of_set = isinstance(decision, Enough) and isinstance(decision.facts, ListFacts | ComputationFacts)
    has_asked = review.session.context.clarifications_in_a_row > 0
    if not is_answer_of_set or has_asked or not review.may_ask_back or len(review.leg.search.clauses) != 1:
        return decision
    unknown = review.unknown_documents
    if unknown is None or not _leaves_much_open(unknown, review.count) or not _is_read_from_texts(unknown, review):
        return decision
    these = RefinementCandidate(label=OnlyTheseLabel(), refinement=UseReading(search=review.leg.search))
    candidates = (these, *_mention_candidates(review, unknown), *missing_candidates(review))
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=replace(build_leg_result(review, OutcomeKind.AMBIGUOUS, None), records=decision.result.records),
        facts=PartlyStatedFacts(answered=decision.facts),
        candidates=candidates,
        hits=decision.hits,
        assumptions=decision.assumptions,
        route=decision.route,
    )


def _mention_candidates(review: LegReview, unknown: UnstatedValues) -> Iterator[RefinementCandidate]:
    """Offers the documents that mention the words for the value, wherever they appear."""
    wider = search_without_fields(review.leg.search, unknown.fields)
    conditions = conjuncts_of(review.leg.search.clauses[0].condition)
    for condition in conditions:
        if (
            isinstance(condition, ComparisonCondition)
            and condition.field in unknown.fields
            and condition.op in _OPERATORS_OF_WORDS
            and condition.words
        ):
            yield mention_candidate(wider, (condition.words,))


def _leaves_much_open(unknown: UnstatedValues, count: int) -> bool:
    others = unknown.total - count
    return count > 0 and unknown.count >= _MIN_OPEN_DOCUMENTS and unknown.count > others * _MAX_OPEN_SHARE


def _is_read_from_texts(unknown: UnstatedValues, review: LegReview) -> bool:
    schema = review.question_context.schemas[review.leg.search.clauses[0].bucket]
    fields = [schema.by_name[name] for name in unknown.fields if name in schema.by_name]
    return bool(fields) and all(field.labels or field.origin is FieldOrigin.KIND for field in fields)
