"""Refinements: derives candidates, counts them all in one round trip, drops those without results, ranks the rest.

There are two round trips at most: one asks the index for nearest values and spellings, one counts. An overload needs
only the second, since its facets came with its count.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.decomposition import AlternativeReading, LegAlternatives
from agent.refine.choice_labels import (
    AlsoMissingLabel,
    BucketLabel,
    ChoiceLabel,
    ConditionsLabel,
    ExportLabel,
    FlagLabel,
    GivenLabel,
    JustAnswerLabel,
    LikelyFieldLabel,
    MissingFieldLabel,
    MoreValuesLabel,
    NearestValueLabel,
    NoneOfTheseLabel,
    OnlyConditionLabel,
    OtherBucketLabel,
    OtherDocumentLabel,
    PeriodLabel,
    RangeLabel,
    SearchByMeaningLabel,
    SpellingLabel,
    WithoutConditionLabel,
    WithoutWordLabel,
)
from agent.retrieval.session import RetrievalSession
from storage.search.conditions import (
    DOC_ID_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    Scalar,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.index import (
    CountRequest,
    DocumentRecord,
    FacetAnswer,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    NearestValueRequest,
    PeriodFacet,
    RangeFacet,
    SpellingRequest,
    ValueCount,
    ValueFacet,
)
from storage.search.plan import Clause, Leg, Search
from storage.search.refinement import (
    Action,
    AddBucket,
    AddFilter,
    ChooseDocument,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    UseForm,
    UseNearest,
    UseReading,
    apply_refinement,
)
from storage.search.schema import FieldType, Schema, SchemaField

_SHOWN_VALUES = 6
_FACET_PARTS = 6
_MAX_FACETS = 12
_MAX_RELAXATIONS = 10
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
class RefinementCandidate:
    """A refinement that may be offered, not yet counted."""

    label: ChoiceLabel
    refinement: Refinement


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedChoice:
    """A choice before its label is composed. `count` is None for an action that leads to no set of documents."""

    label: ChoiceLabel
    count: int | None
    leg: LegId
    effect: Refinement | Action


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetSplit:
    """How choices split a set: by the values of `field`, or by bucket where it is None."""

    field: SchemaField | None
    is_overlapping: bool = False


async def count_refinements(
    session: RetrievalSession, leg: Leg, candidates: Sequence[RefinementCandidate]
) -> list[OfferedChoice]:
    """Returns the candidates that lead to documents as choices with counts, in the order given; one round trip.

    A candidate that changes nothing is left out, unless it is the reading that was taken: the user compares the other
    readings with it.
    """
    offered = [
        candidate
        for candidate in candidates
        if isinstance(candidate.refinement, (UseReading, UseForm))
        or apply_refinement(candidate.refinement, leg.search) != leg.search
    ]
    if not offered:
        return []
    counts = [CountRequest(apply_refinement(candidate.refinement, leg.search)) for candidate in offered]
    now = CountRequest(leg.search)
    answers = await session.ask_index((now, *counts))
    seen: set[object] = set()
    choices: list[OfferedChoice] = []
    for candidate, count in zip(offered, counts, strict=True):
        widens = not isinstance(candidate.refinement, AddBucket) or answers[count] > answers[now]
        leads_to = candidate.refinement if isinstance(candidate.refinement, UseForm) else count.search
        if answers[count] and leads_to not in seen and widens:
            seen.add(leads_to)
            choices.append(
                OfferedChoice(
                    label=candidate.label,
                    count=_count_after_click(leg, answers[count]),
                    leg=leg.id,
                    effect=candidate.refinement,
                )
            )
    return choices


def _count_after_click(leg: Leg, count: int) -> int:
    """Returns how many documents a click leads to: a limit of three stays a limit of three."""
    limit = leg.answer_form.list_limit
    return count if limit is None else min(count, limit)


# -- too many documents


def form_candidates(leg_alternatives: LegAlternatives, schemas: SchemasByBucket) -> list[RefinementCandidate]:
    """Returns a choice for each field that the question may be about."""
    return [
        RefinementCandidate(
            label=LikelyFieldLabel(field=schemas[form.bucket].by_name[form.field]),
            refinement=UseForm(answer_form=form.answer_form, search=form.search),
        )
        for form in leg_alternatives.equal_forms
    ]


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
        (_entropy_of(answers[request]), _is_overlapping(answers[request]), index)
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


def action_choices(
    leg: Leg, export_count: int | None, *, offer_just_answer: bool, question: str = ""
) -> list[OfferedChoice]:
    """Returns the choices that are not refinements: the export of `export_count` rows, if any, and the plain answer.

    `question`: the leg that the export belongs to, if several legs have one.
    """
    offered: list[OfferedChoice] = []
    if export_count:
        offered.append(
            OfferedChoice(label=ExportLabel(question=question), count=export_count, leg=leg.id, effect=ExportAll())
        )
    if offer_just_answer:
        offered.append(OfferedChoice(label=JustAnswerLabel(), count=None, leg=leg.id, effect=JustAnswer()))
    return offered


# -- no documents


def relaxation_requests(leg: Leg, schemas: SchemasByBucket) -> list[IndexRequest[object]]:
    """Returns the requests that relaxations need: the nearest values of each condition, the spellings of each word."""
    requests: list[IndexRequest[object]] = []
    for clause in leg.search.clauses:
        for condition in conjuncts_of(clause.condition):
            requests += _nearest_requests(clause, condition, schemas[clause.bucket])
        for _, inner in _inner_clauses_of(clause, schemas):
            inner_leg = replace(leg, search=Search(clauses=(inner,)))
            requests += relaxation_requests(inner_leg, schemas)
    buckets = frozenset(leg.search.buckets)
    words = _words_to_spell_check(leg)
    requests += [SpellingRequest(buckets, word) for word in sorted(words)]
    return requests


def _words_to_spell_check(leg: Leg) -> set[str]:
    """Returns the required words that may be misspelt: no phrases, no numbers."""
    required = {word for clause in leg.search.clauses for word in clause.required_terms}
    return {word for word in required if " " not in word and not word.isdigit()}


def _nearest_requests(clause: Clause, condition: Condition, schema: Schema) -> Iterator[NearestValueRequest]:
    if not isinstance(condition, ComparisonCondition) or condition.field not in schema.by_name:
        return
    field = schema.by_name[condition.field]
    if field.type not in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
        return
    without = Search(clauses=(_clause_without_condition(clause, condition),))
    for value in dict.fromkeys(condition.value if isinstance(condition.value, tuple) else (condition.value,)):
        if not isinstance(value, bool):
            yield NearestValueRequest(without, field.name, value)


def _clause_without_condition(clause: Clause, condition: Condition) -> Clause:
    kept = (conjunct for conjunct in conjuncts_of(clause.condition) if conjunct != condition)
    return replace(clause, condition=conjunction_of(*kept))


def derive_relaxations(
    leg: Leg, answers: IndexAnswers | None, alternatives: LegAlternatives, schemas: SchemasByBucket
) -> list[RefinementCandidate]:
    """Returns, in this order: nearest values, spellings, the search without one constraint, other readings, documents
    with a missing value, other buckets, and each constraint alone.
    """
    candidates: list[RefinementCandidate] = []
    for clause in leg.search.clauses:
        schema = schemas[clause.bucket]
        for condition in conjuncts_of(clause.condition):
            if answers is not None:
                candidates += _nearest_candidates(leg.search, clause, condition, schema, answers)
        candidates += _inner_set_candidates(clause, answers, schemas)
    candidates += _spelling_candidates(leg, answers)
    for clause in leg.search.clauses:
        candidates += _drop_candidates(clause)
    candidates += [
        reading_candidate(reading) for reading in (*alternatives.equal_readings, *alternatives.wider_readings)
    ]
    for clause in leg.search.clauses:
        candidates += _missing_candidates_of_clause(clause, schemas[clause.bucket])
    candidates += other_bucket_candidates(leg, alternatives, schemas)
    return [*candidates, *_single_constraint_candidates(leg)]


def _inner_clauses_of(clause: Clause, schemas: SchemasByBucket) -> Iterator[tuple[SemiJoinCondition, Clause]]:
    """Yields each condition that compares with a set of another bucket, and the clause of that set."""
    for condition in conjuncts_of(clause.condition):
        if isinstance(condition, SemiJoinCondition) and condition.bucket in schemas:
            yield condition, Clause(bucket=condition.bucket, condition=condition.condition)


def _inner_set_candidates(
    clause: Clause, answers: IndexAnswers | None, schemas: SchemasByBucket
) -> Iterator[RefinementCandidate]:
    """Yields what the inner sets may be instead: with the nearest values, or without one of their conditions."""
    for semi_join, inner in _inner_clauses_of(clause, schemas):
        inner_search = Search(clauses=(inner,))
        candidates: list[RefinementCandidate] = []
        if answers is not None:
            for condition in conjuncts_of(inner.condition):
                schema = schemas[inner.bucket]
                candidates += _nearest_candidates(inner_search, inner, condition, schema, answers)
        candidates += [*_inner_set_candidates(inner, answers, schemas), *_drop_candidates(inner)]
        for candidate in candidates:
            relaxed = apply_refinement(candidate.refinement, inner_search).clauses[0].condition
            new = replace(semi_join, condition=relaxed)
            yield replace(candidate, refinement=UseNearest(old=semi_join, new=new, bucket=clause.bucket))


def other_bucket_candidates(
    leg: Leg, alternatives: LegAlternatives, schemas: SchemasByBucket
) -> list[RefinementCandidate]:
    """Returns a candidate for each bucket that was not chosen: it adds the clause of the question for this bucket."""
    return [
        RefinementCandidate(
            label=OtherBucketLabel(clause=clause),
            refinement=AddBucket(clause=clause),
        )
        for clause in alternatives.other_bucket_clauses
        if _supports_order(leg, schemas[clause.bucket], schemas)
    ]


def _supports_order(leg: Leg, other_schema: Schema, schemas: SchemasByBucket) -> bool:
    """Whether the documents of another bucket can be sorted in the order that the leg asks for."""
    order = leg.answer_form.list_order
    if order is None:
        return True
    field = schemas[leg.search.clauses[0].bucket].by_name[order.field]
    return order.field in other_schema.by_name and other_schema.by_name[order.field].type is field.type


def _nearest_candidates(
    search: Search, clause: Clause, condition: Condition, schema: Schema, answers: IndexAnswers
) -> Iterator[RefinementCandidate]:
    for request in _nearest_requests(clause, condition, schema):
        if not isinstance(condition, ComparisonCondition):
            continue
        field = schema.by_name[condition.field]
        around = answers[request]
        for value in (around.below, around.above):
            new = None if value is None else _nearest_condition(condition, value)
            if new is not None and value is not None:
                label = NearestValueLabel(field=field, condition=new)
                yield RefinementCandidate(
                    label=label, refinement=UseNearest(old=condition, new=new, bucket=clause.bucket)
                )


def _nearest_condition(condition: ComparisonCondition, value: float | str) -> ComparisonCondition | None:
    """Returns the condition with the nearest existing value; a year becomes the year of this value."""
    name, op = condition.field, condition.op
    if op is ComparisonOperator.BETWEEN and isinstance(condition.value, tuple) and isinstance(value, str):
        first, last = (str(day) for day in condition.value)
        if first[4:] == "-01-01" and last[4:] == "-12-31":
            return ComparisonCondition(
                field=name, op=ComparisonOperator.BETWEEN, value=(f"{value[:4]}-01-01", f"{value[:4]}-12-31")
            )
        return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=value)
    if op in (ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT, ComparisonOperator.LTE):
        return ComparisonCondition(
            field=name,
            op=ComparisonOperator.GTE
            if op in (ComparisonOperator.GT, ComparisonOperator.GTE)
            else ComparisonOperator.LTE,
            value=value,
        )
    return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=value)


def _spelling_candidates(leg: Leg, answers: IndexAnswers | None) -> Iterator[RefinementCandidate]:
    buckets = frozenset(leg.search.buckets)
    words = _words_to_spell_check(leg)
    if answers is None:
        return
    for word in sorted(words):
        for spelling in answers[SpellingRequest(buckets, word)][:3]:
            yield RefinementCandidate(
                label=SpellingLabel(old=word, new=spelling.word), refinement=CorrectWord(old=word, new=spelling.word)
            )


def _drop_candidates(clause: Clause) -> Iterator[RefinementCandidate]:
    conditions = conjuncts_of(clause.condition)
    if len(conditions) + len(clause.required_terms) < 2:
        return  # dropping the only constraint leaves the bucket, which answers nothing
    for condition in conditions:
        yield RefinementCandidate(
            label=WithoutConditionLabel(condition=condition, bucket=clause.bucket),
            refinement=DropFilter(condition=condition, bucket=clause.bucket),
        )
    for word in clause.required_terms:
        yield RefinementCandidate(
            label=WithoutWordLabel(word=word), refinement=DropWord(word=word, bucket=clause.bucket)
        )


def comparisons_with_missing(clause: Clause, schema: Schema) -> Iterator[tuple[Condition, FieldName]]:
    """Yields the comparisons of the clause, negated or not, on fields that may be missing in a document."""
    for condition in conjuncts_of(clause.condition):
        compared = condition.condition if isinstance(condition, NotCondition) else condition
        field = schema.by_name.get(compared.field) if isinstance(compared, ComparisonCondition) else None
        if field is not None and not field.absent_means_none:
            yield condition, field.name


def _missing_candidates_of_clause(clause: Clause, schema: Schema) -> Iterator[RefinementCandidate]:
    for condition, name in comparisons_with_missing(clause, schema):
        yield RefinementCandidate(
            label=AlsoMissingLabel(field=schema.by_name[name]),
            refinement=IncludeMissing(condition=condition, field=name, bucket=clause.bucket),
        )


def missing_candidates(leg: Leg, schemas: SchemasByBucket) -> list[RefinementCandidate]:
    """Returns candidates that include the documents with a missing value for a condition."""
    return [
        candidate
        for clause in leg.search.clauses
        for candidate in _missing_candidates_of_clause(clause, schemas[clause.bucket])
    ]


def _single_constraint_candidates(leg: Leg) -> Iterator[RefinementCandidate]:
    """Yields each constraint alone, for cases where dropping one of them is not enough."""
    for clause in leg.search.clauses:
        conditions = conjuncts_of(clause.condition)
        if len(conditions) + len(clause.required_terms) < 3:
            continue
        for condition in conditions:
            alone = Search(
                clauses=(Clause(bucket=clause.bucket, condition=condition),), ranking_text=leg.search.ranking_text
            )
            label = OnlyConditionLabel(condition=condition, bucket=clause.bucket)
            yield RefinementCandidate(label=label, refinement=UseReading(search=alone))


def limit_relaxations(choices: Sequence[OfferedChoice]) -> list[OfferedChoice]:
    """Returns the first choices, as many as fit; the order of derivation puts those closest to the question first."""
    return list(choices[:_MAX_RELAXATIONS])


def search_by_meaning_choices(leg: Leg) -> list[OfferedChoice]:
    """Returns the choice to search by meaning, if required words may be the reason for an empty result."""
    asks = any(clause.required_terms for clause in leg.search.clauses)
    label = SearchByMeaningLabel()
    return [OfferedChoice(label=label, count=None, leg=leg.id, effect=SearchByMeaning())] if asks else []


# -- several meanings


def reading_candidates(
    leg: Leg, alternatives: LegAlternatives, distinguishing_conditions: tuple[Condition, ...]
) -> list[RefinementCandidate]:
    """Returns the reading that was taken, then the readings with an equal score."""
    label = ConditionsLabel(conditions=distinguishing_conditions, bucket=leg.search.clauses[0].bucket)
    first = RefinementCandidate(label=label, refinement=UseReading(search=leg.search))
    return [first, *map(reading_candidate, alternatives.equal_readings)]


def reading_candidate(reading: AlternativeReading) -> RefinementCandidate:
    label = ConditionsLabel(conditions=reading.conditions, bucket=reading.bucket)
    return RefinementCandidate(label=label, refinement=UseReading(search=reading.search))


def document_candidates(records: Sequence[DocumentRecord], has_more: bool) -> list[RefinementCandidate]:
    """Returns candidates for single documents; the last one leads to the rest, if there are more."""
    shown = records[:_SHOWN_VALUES]
    candidates = [
        RefinementCandidate(
            label=GivenLabel(text=record.title or record.doc_id),
            refinement=ChooseDocument(
                condition=_document_condition(ComparisonOperator.EQ, record.doc_id), bucket=record.bucket
            ),
        )
        for record in shown
    ]
    if has_more or len(records) > len(shown):
        other_documents = NotCondition(
            _document_condition(ComparisonOperator.IN, tuple(str(record.doc_id) for record in shown))
        )
        candidates.append(
            RefinementCandidate(label=OtherDocumentLabel(), refinement=OpenTail(condition=other_documents))
        )
    return candidates


def _document_condition(op: ComparisonOperator, value: Scalar | tuple[Scalar, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=DOC_ID_FIELD, op=op, value=value)
