"""Merging of two indexes' answers to the answer of one index over the documents of both."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from storage.federated.request_steps import RequestSteps, SearchHalves, StepAnswers, StepRequests, ask_both
from storage.search.analyser import fold_text
from storage.search.conditions import MATCH_ALL, ComparisonCondition, ComparisonOperator, Condition, MissingCondition
from storage.search.documents import Document
from storage.search.errors import InvalidCondition
from storage.search.evaluation.facet_binning import period_containing
from storage.search.evaluation.sort_keys import aggregate_sort_key
from storage.search.ids import FieldName
from storage.search.index import (
    AggregateLine,
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetAnswer,
    FacetRequest,
    NearestValueRequest,
    NearestValues,
    SpellingRequest,
    SpellingSuggestion,
)
from storage.search.numbers import median_of, round_money_totals, round_number_totals
from storage.search.plan import CalendarPeriod, GroupBy, Search
from storage.search.schema import FieldType

_GroupLabel: TypeAlias = str | float | bool | None
GroupKey: TypeAlias = tuple[_GroupLabel, str | None]  # the folded group and the unit
_UNLIMITED_WORDS = 1_000_000  # no limit, since a word that is rare in one index may be common in both together


def merge_counts(halves: SearchHalves) -> RequestSteps[int]:
    main_count, secondary_count = yield from ask_both(CountRequest(halves.main), CountRequest(halves.secondary))
    return main_count + secondary_count


def merge_documents(request: DocumentRequest) -> RequestSteps[tuple[Document, ...]]:
    main_documents, secondary_documents = yield from ask_both(request, request)
    by_id = {document.doc_id: document for document in (*main_documents, *secondary_documents)}
    return tuple(by_id[doc_id] for doc_id in dict.fromkeys(request.doc_ids) if doc_id in by_id)


def merge_nearest_values(halves: SearchHalves, request: NearestValueRequest) -> RequestSteps[NearestValues]:
    main, secondary = replace(request, search=halves.main), replace(request, search=halves.secondary)
    step_answers = yield StepRequests(main=(main,), secondary=(secondary,), needs_schemas=True)
    step_answers.fields_named(halves.whole, request.field)
    answers = (step_answers.main[main], step_answers.secondary[secondary])
    # `fields_named` has checked that all are of one type: numbers, or ISO days.
    below = cast(list[float], [nearest.below for nearest in answers if nearest.below is not None])
    above = cast(list[float], [nearest.above for nearest in answers if nearest.above is not None])
    return NearestValues(below=max(below, default=None), above=min(above, default=None))


def merge_spellings(main: SpellingRequest, secondary: SpellingRequest) -> RequestSteps[tuple[SpellingSuggestion, ...]]:
    limit = max(main.limit, 0)
    main_suggestions, secondary_suggestions = yield from ask_both(
        replace(main, limit=_UNLIMITED_WORDS), replace(secondary, limit=_UNLIMITED_WORDS)
    )
    merged = dict[str, SpellingSuggestion]()
    for suggestion in (*main_suggestions, *secondary_suggestions):
        previous = merged.get(suggestion.word)
        document_count = suggestion.document_count + (previous.document_count if previous else 0)
        merged[suggestion.word] = replace(suggestion, document_count=document_count)
    return tuple(
        sorted(
            merged.values(),
            key=lambda suggestion: (suggestion.distance, -suggestion.document_count, suggestion.word),
        )[:limit]
    )


def refuse_facet(halves: SearchHalves, request: FacetRequest) -> RequestSteps[FacetAnswer]:
    """Raise `InvalidCondition`, since no field of the secondary index is shared. Checks the search first."""
    main, secondary = CountRequest(halves.main), CountRequest(halves.secondary)
    answers = yield StepRequests(main=(main,), secondary=(secondary,), needs_schemas=True)
    answers.fields_named(halves.whole, request.field)
    raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")


# -- numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupLines:
    """The lines of one group and unit, from one index or from both."""

    lines: tuple[AggregateLine, ...]

    @property
    def group_name(self) -> _GroupLabel:
        """The name in the index with more documents; ties: first by code point. Exact if both names are equal."""
        ranked_lines = sorted(self.lines, key=lambda line: (-line.count, str(line.group)))
        return ranked_lines[0].group

    def merge_lines(self, *, is_money: bool | None) -> AggregateLine:
        """Merge the lines into one. `is_money`: None if the request only counts documents."""
        if len(self.lines) == 1:
            return self.lines[0]
        unit, document_count = self.lines[0].unit, sum(line.count for line in self.lines)
        total = sum(line.unrounded_sum for line in self.lines)
        minimum, maximum = min(line.minimum for line in self.lines), max(line.maximum for line in self.lines)
        rounded_sum, average = _round_totals(total, document_count, minimum, maximum, unit, is_money=is_money)
        return AggregateLine(
            group=self.group_name,
            unit=unit,
            count=document_count,
            sum=rounded_sum,
            average=average,
            minimum=minimum,
            maximum=maximum,
            unrounded_sum=total,
        )


def _round_totals(
    total: float, document_count: int, minimum: float, maximum: float, unit: str | None, *, is_money: bool | None
) -> tuple[float, float]:
    """Returns the rounded sum and the rounded average."""
    if is_money is None:
        return 0.0, 0.0
    largest_magnitude = max(abs(minimum), abs(maximum))
    if is_money:
        return round_money_totals(int(total), unit, document_count, largest_magnitude)
    return round_number_totals(total, document_count, largest_magnitude)


def merge_aggregates(halves: SearchHalves, request: AggregateRequest) -> RequestSteps[tuple[AggregateLine, ...]]:
    """If the indexes name a group differently, the name is from the index with more of its documents."""
    main, secondary = replace(request, search=halves.main), replace(request, search=halves.secondary)
    answers = yield StepRequests(main=(main,), secondary=(secondary,), needs_schemas=True)
    is_money = _is_money_field(answers, halves.whole, request)
    group_type = None if request.group is None else answers.fields_named(halves.whole, request.group.field)[0].type
    lines_by_key = _group_lines_by_key(answers.main[main], answers.secondary[secondary])
    merged_lines = {key: group_lines.merge_lines(is_money=is_money) for key, group_lines in lines_by_key.items()}
    if request.with_median and request.field is not None:
        shared_keys = {key for key, group_lines in lines_by_key.items() if len(group_lines.lines) > 1}
        medians = yield from _merge_medians(
            halves, request.field, request.group, group_type, shared_keys, is_money=bool(is_money)
        )
        merged_lines |= {key: replace(merged_lines[key], median=median) for key, median in medians.items()}
    return tuple(sorted(merged_lines.values(), key=aggregate_sort_key))


def _is_money_field(answers: StepAnswers, search: Search, request: AggregateRequest) -> bool | None:
    if request.field is None:
        return None
    return answers.fields_named(search, request.field)[0].type is FieldType.MONEY


def _group_lines_by_key(*answers: Sequence[AggregateLine]) -> dict[GroupKey, _GroupLines]:
    lines_by_key = dict[GroupKey, _GroupLines]()
    for line in (line for lines in answers for line in lines):
        key = (fold_text(line.group) if isinstance(line.group, str) else line.group, line.unit)
        previous = lines_by_key.get(key)
        lines_by_key[key] = _GroupLines(lines=(*(previous.lines if previous else ()), line))
    return lines_by_key


def _merge_medians(
    halves: SearchHalves,
    field: FieldName,
    group: GroupBy | None,
    group_type: FieldType | None,
    keys: set[GroupKey],
    *,
    is_money: bool,
) -> RequestSteps[dict[GroupKey, float]]:
    """Return the medians of groups with documents in both indexes, from counts of each value, in one round trip."""
    by_value = AggregateRequest(halves.whole, field, GroupBy(field=field))
    main, secondary = dict[_GroupLabel, AggregateRequest](), dict[_GroupLabel, AggregateRequest]()
    for label, _ in keys:
        group_condition = (
            MATCH_ALL if group is None or group_type is None else _group_condition_for(group, label, group_type)
        )
        main[label] = replace(by_value, search=halves.main.with_condition(group_condition))
        secondary[label] = replace(by_value, search=halves.secondary.with_condition(group_condition))
    if not keys:
        return {}
    answers = yield StepRequests(main=tuple(main.values()), secondary=tuple(secondary.values()))
    value_counts = {
        key: _count_values(key[1], answers.main[main[key[0]]], answers.secondary[secondary[key[0]]]) for key in keys
    }
    return {key: _median_of_counts(counts, key[1], is_money=is_money) for key, counts in value_counts.items()}


def _group_condition_for(group: GroupBy, value: _GroupLabel, group_type: FieldType) -> Condition:
    if value is None:
        return MissingCondition(field=group.field)
    if group_type is FieldType.DATE:
        return ComparisonCondition(
            field=group.field,
            op=ComparisonOperator.BETWEEN,
            value=period_containing(str(value), group.period or CalendarPeriod.DAY),
        )
    # For a list field the condition is that a member equals the value.
    return ComparisonCondition(field=group.field, op=ComparisonOperator.EQ, value=value)


def _count_values(unit: str | None, *answers: Sequence[AggregateLine]) -> Counter[float]:
    """Returns the number of documents with each value."""
    counts = Counter[float]()
    for line in (line for lines in answers for line in lines if line.unit == unit):
        counts[cast(float, line.group)] += line.count
    return counts


def _median_of_counts(value_counts: Mapping[float, int], unit: str | None, *, is_money: bool) -> float:
    positions, passed_count, middle_values = _median_positions(sum(value_counts.values())), 0, list[float]()
    for value in sorted(value_counts):
        passed_count += value_counts[value]
        middle_values += [value] * (sum(passed_count > position for position in positions) - len(middle_values))
    return median_of(middle_values[0], middle_values[-1], unit, is_money=is_money)


def _median_positions(document_count: int) -> tuple[int, int]:
    return (document_count - 1) // 2, document_count // 2
