"""The field whose values divide the documents found best, and a candidate for each of its values."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.refine.candidates import RefinementCandidate
from agent.refine.choice_labels import (
    BucketLabel,
    ChoiceLabel,
    FlagLabel,
    GivenLabel,
    MissingFieldLabel,
    MoreValuesLabel,
    NoneOfTheseLabel,
    PeriodLabel,
    RangeLabel,
)
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId
from storage.search.index import (
    FacetAnswer,
    FacetRequest,
    IndexAnswers,
    PeriodFacet,
    RangeFacet,
    ValueCount,
    ValueFacet,
)
from storage.search.plan import Clause, Leg, Search
from storage.search.refinement import AddFilter, OnlyBucket, OnlyMissing, OpenTail
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

_SHOWN_VALUES = 6
_FACET_PARTS = 6
_MAX_FACETS = 12
_KIND_WORTH = 100.0
_RANGE_WEIGHT = 0.6  # ranges are cut to equal counts, so their entropy is high whatever the field says
_PLACE_OF_FILE_WEIGHT = 0.5  # people know what they look for better than where its file is
_UNLIKELY_WEIGHT = 0.1  # for values by which nobody chooses: times, codes, values of which each document has its own
_MAX_DISTINCT_SHARE = 0.8  # of the documents with a value, if its values sort them
_MAX_VALUE_WORDS = 4.0  # on average, of values by which people choose; longer ones are remarks
_CODE = re.compile(r"[\W\d_]*\d[\W\d_]*|\S*\d\S*")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[/-]\d{2,4})?")
_FACETABLE_TYPES = (
    FieldType.CATEGORY,
    FieldType.DATE,
    FieldType.NUMBER,
    FieldType.MONEY,
    FieldType.FLAG,
    FieldType.LIST,
)
SchemasByBucket = Mapping[BucketId, Schema]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetSplit:
    """How choices split a set: by the values of `field`, or by bucket where it is None."""

    field: SchemaField | None
    is_overlapping: bool = False


def facet_requests(search: Search, schemas: SchemasByBucket) -> list[FacetRequest]:
    """Returns the facets that may split the set; none if it spans several buckets, since the buckets split it."""
    if len(search.clauses) != 1:
        return []
    clause = search.clauses[0]
    fields = [
        field for field in schemas[clause.bucket].fields if field.type in _FACETABLE_TYPES and _can_split(field, clause)
    ]
    declared = [field for field in fields if field.facet]
    return [FacetRequest(search, field.name, max_bins=_FACET_PARTS) for field in (declared or fields)[:_MAX_FACETS]]


def _can_split(field: SchemaField, clause: Clause) -> bool:
    """Whether the field may split the set: it has no fixed value, and its amounts are in one currency."""
    fixed = {
        comparison.field
        for comparison in conjuncts_of(clause.condition)
        if isinstance(comparison, ComparisonCondition) and comparison.op is ComparisonOperator.EQ
    }
    if field.name in fixed:
        return False
    return field.type is not FieldType.MONEY or bool(field.currency) or field.currency_field in fixed


def choose_best_facet(
    leg: Leg, answers: IndexAnswers, facets: Sequence[FacetRequest], schemas: SchemasByBucket
) -> tuple[FacetSplit | None, list[RefinementCandidate]]:
    """Returns the facet that splits the set best, with its candidates; None and no candidates if none splits it."""
    if len(leg.search.clauses) != 1:
        return FacetSplit(field=None), [
            RefinementCandidate(label=BucketLabel(bucket=bucket), refinement=OnlyBucket(bucket=bucket))
            for bucket in leg.search.buckets
        ]
    schema = schemas[leg.search.clauses[0].bucket]
    scored = [
        (_worth_of(answers[request], schema.by_name[request.field]), _is_overlapping(answers[request]), index)
        for index, request in enumerate(facets)
    ]
    disjoint = [split for split in scored if split[0] > 0.05 and not split[1]]
    best = max(
        disjoint or [split for split in scored if split[0] > 0.05],
        key=lambda split: (split[0], -split[2]),
        default=None,
    )
    if best is None:
        return None, []
    field = schema.by_name[facets[best[2]].field]
    return FacetSplit(field=field, is_overlapping=best[1]), list(_facet_candidates(field, answers[facets[best[2]]]))


def _is_overlapping(answer: FacetAnswer) -> bool:
    return isinstance(answer, ValueFacet) and answer.is_overlapping


def _worth_of(answer: FacetAnswer, field: SchemaField) -> float:
    """Returns the entropy in bits, less for ranges of numbers: people choose a kind, a status or a place first.

    Where the bucket holds several kinds and the set does, too, the kind comes before all else.
    """
    entropy = _entropy_of(answer) * (1.0 if sorts_documents(answer) else _UNLIKELY_WEIGHT)
    if field.origin is FieldOrigin.KIND:
        return _KIND_WORTH * entropy
    if field.origin in (FieldOrigin.FOLDER, FieldOrigin.SHEET):
        return entropy * _PLACE_OF_FILE_WEIGHT
    return entropy * (_RANGE_WEIGHT if isinstance(answer, RangeFacet) else 1.0)


def sorts_documents(answer: FacetAnswer) -> bool:
    """Whether people choose by the values: words that several documents share, no times, codes, titles or remarks."""
    if not isinstance(answer, ValueFacet):
        return True
    total = sum(value_count.count for value_count in answer.values) + answer.other_count
    are_words = any(not _is_code(value_count.value) for value_count in answer.values)
    lengths = [len(value_count.value.split()) for value_count in answer.values]
    if lengths and sum(lengths) > _MAX_VALUE_WORDS * len(lengths):
        return False
    return are_words and answer.distinct_count <= max(2, _MAX_DISTINCT_SHARE * total)


def _is_code(value: str) -> bool:
    """Whether the value is a time, a number or a code such as "D-107"; a year is none."""
    return _CODE.fullmatch(value) is not None and _YEAR.fullmatch(value) is None


def _entropy_of(answer: FacetAnswer) -> float:
    """Returns the entropy in bits over the groups on the buttons: the values shown, the other values, the missing."""
    match answer:
        case ValueFacet():
            shown = _shown_values_of(answer)
            parts = [value_count.count for value_count in shown]
            parts += [sum(value_count.count for value_count in answer.values[len(shown) :]) + answer.other_count]
        case RangeFacet():
            parts = [value_range.count for value_range in answer.ranges]
        case PeriodFacet():
            parts = [period.count for period in answer.periods]
    return _entropy_bits([*parts, answer.missing_count])


def _entropy_bits(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(part / total * math.log2(part / total) for part in counts if part) if total else 0.0


def _shown_values_of(answer: ValueFacet) -> Sequence[ValueCount]:
    """Returns the values for buttons: all of them, where only one would be left over."""
    fits = _SHOWN_VALUES + 1 if answer.distinct_count == _SHOWN_VALUES + 1 else _SHOWN_VALUES
    return answer.values[:fits]


def _facet_candidates(field: SchemaField, answer: FacetAnswer) -> Iterator[RefinementCandidate]:
    match answer:
        case ValueFacet():
            yield from _value_candidates(field, answer)
        case RangeFacet():
            for value_range in answer.ranges:
                yield RefinementCandidate(
                    label=RangeLabel(field=field, low=value_range.low, high=value_range.high),
                    refinement=_range_filter(field, value_range.low, value_range.high),
                )
        case PeriodFacet():
            for period in answer.periods:
                between = ComparisonCondition(
                    field=field.name, op=ComparisonOperator.BETWEEN, value=(period.first_day, period.last_day)
                )
                yield RefinementCandidate(
                    label=PeriodLabel(first_day=period.first_day, last_day=period.last_day),
                    refinement=AddFilter(condition=between),
                )
    if answer.missing_count and not field.absent_means_none:
        yield RefinementCandidate(label=MissingFieldLabel(field=field), refinement=OnlyMissing(field=field.name))


def _value_candidates(field: SchemaField, answer: ValueFacet) -> Iterator[RefinementCandidate]:
    shown = [value_count.value for value_count in answer.values[: len(_shown_values_of(answer))]]
    for value in shown:
        yield RefinementCandidate(
            label=_value_label(field, value), refinement=AddFilter(condition=equality_condition_for(field, value))
        )
    if answer.distinct_count > len(shown):
        tail = NotCondition(ComparisonCondition(field=field.name, op=ComparisonOperator.IN, value=tuple(shown)))
        other_count = answer.distinct_count - len(shown)
        label = (
            NoneOfTheseLabel(field=field)
            if field.type is FieldType.LIST
            else MoreValuesLabel(field=field, count=other_count)
        )
        yield RefinementCandidate(label=label, refinement=OpenTail(condition=tail))


def _value_label(field: SchemaField, value: str) -> ChoiceLabel:
    if field.type is FieldType.FLAG:
        return FlagLabel(field=field, is_set=value == "true")
    return GivenLabel(text=value)


def equality_condition_for(field: SchemaField, value: str) -> Condition:
    """Returns the condition that a document has the value; of a flag, "true" or "false"."""
    if field.type is FieldType.FLAG:
        return ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=value == "true")
    return ComparisonCondition(
        field=field.name,
        op=ComparisonOperator.HAS if field.type is FieldType.LIST else ComparisonOperator.EQ,
        value=value,
    )


def _range_filter(field: SchemaField, low: float, high: float | None) -> AddFilter:
    bounds: list[Condition] = [ComparisonCondition(field=field.name, op=ComparisonOperator.GTE, value=low)]
    if high is not None:
        bounds.append(ComparisonCondition(field=field.name, op=ComparisonOperator.LT, value=high))
    return AddFilter(condition=AndCondition(tuple(bounds)))
