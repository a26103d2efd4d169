"""Asks from where on an adjective is meant: "good" as a rating of 4 or more, with the number of documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from agent.decomposition import VagueCondition
from agent.outcome import OutcomeKind
from agent.refine.candidates import RefinementCandidate
from agent.refine.choice_labels import ConditionsLabel
from agent.review.leg_review import LegClarification, LegFacts, LegReview, assumptions_of, build_leg_result
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.index import FacetAnswer, FacetRequest, PeriodFacet, RangeFacet
from storage.search.refinement import AddFilter
from storage.search.schema import SchemaField

_QUANTILES = 5  # parts of the set, so up to four thresholds for one field
_MAX_FIELDS = 3
_MAX_THRESHOLDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdFacts(LegFacts):
    """An adjective needs a threshold; `fields` may measure it."""

    word: str
    fields: tuple[SchemaField, ...]


async def ask_threshold(review: LegReview) -> LegClarification | None:
    """Asks for the threshold of a vague adjective; None without one, for an empty set, or if nothing divides it."""
    vague = review.alternatives.vague_condition
    if vague is None or not review.count or not review.may_ask_back:
        return None
    fields = vague.fields[:_MAX_FIELDS]
    requests = [FacetRequest(review.leg.search, name, max_bins=_QUANTILES) for name in fields]
    answers = await review.session.ask_index(requests)
    schema = review.question_context.schemas[vague.bucket]
    each = _MAX_THRESHOLDS // len(fields)
    candidates = [
        candidate
        for request in requests
        for candidate in islice(_threshold_candidates(vague, schema.by_name[request.field], answers[request]), each)
    ]
    if not candidates:
        return None
    return LegClarification(
        kind=OutcomeKind.AMBIGUOUS,
        result=build_leg_result(review, OutcomeKind.AMBIGUOUS, None),
        facts=ThresholdFacts(word=vague.word, fields=tuple(schema.by_name[name] for name in fields)),
        candidates=tuple(candidates),
        assumptions=assumptions_of(review),
        offer_just_answer=True,
    )


def _threshold_candidates(
    vague: VagueCondition, field: SchemaField, answer: FacetAnswer
) -> Iterator[RefinementCandidate]:
    """Yields the thresholds, the strictest first."""
    edges = _edges_of(answer)
    for edge in reversed(edges) if vague.is_high_end else edges:
        condition = ComparisonCondition(
            field=field.name, op=ComparisonOperator.GTE if vague.is_high_end else ComparisonOperator.LT, value=edge
        )
        yield RefinementCandidate(
            label=ConditionsLabel(conditions=(condition,), bucket=vague.bucket),
            refinement=AddFilter(condition=condition),
        )


def _edges_of(answer: FacetAnswer) -> Sequence[float | str]:
    """Returns the values that divide the set, ascending."""
    match answer:
        case RangeFacet(ranges=ranges):
            return [part.low for part in ranges[1:]]
        case PeriodFacet(periods=periods):
            return [period.first_day for period in periods[1:]]
        case _:
            return []
