"""Whether choices lead to the same documents: two sets are equal if their intersection is as large as each of them.

Only searches with the same count are compared, so nothing is asked of the index where all counts differ.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, combinations
from typing import TypeAlias

from agent.retrieval.session import RetrievalSession
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ORDER_OPERATORS,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    Scalar,
    conjunction_of,
    conjuncts_of,
)
from storage.search.evaluation.condition_normal_form import is_iso_day
from storage.search.ids import FieldName
from storage.search.index import CountRequest
from storage.search.plan import Clause, Search

_Bound: TypeAlias = tuple[float, bool]  # a number or the ordinal of a day, and whether it is in the range itself
_RangedField: TypeAlias = tuple[FieldName, bool]  # and whether its values are days
_VALUE_OPERATORS = ORDER_OPERATORS | {ComparisonOperator.BETWEEN, ComparisonOperator.EQ}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedSearch:
    search: Search
    count: int  # documents, at least 1


async def find_repeated_sets(session: RetrievalSession, searches: Sequence[CountedSearch]) -> frozenset[int]:
    """Returns the positions of the searches that find the documents of an earlier one; at most one round trip."""
    pairs = [
        (first, second)
        for first, second in combinations(range(len(searches)), 2)
        if searches[first].count == searches[second].count
    ]
    certain = {(first, second) for first, second in pairs if _are_same(searches[first].search, searches[second].search)}
    requests = {
        (first, second): CountRequest(intersection)
        for first, second in pairs
        if (first, second) not in certain
        and (intersection := intersect_searches(searches[first].search, searches[second].search)) is not None
    }
    answers = await session.ask_index(tuple(requests.values())) if requests else None
    equal = certain | {
        pair
        for pair, request in requests.items()
        if answers is not None and answers[request] == searches[pair[0]].count
    }
    return frozenset(second for _, second in equal)


def intersect_searches(first: Search, second: Search) -> Search | None:
    """Returns the search for the documents that both find; None if it is certain that there are none."""
    clauses = [
        Clause(
            bucket=clause.bucket,
            condition=conjunction_of(clause.condition, other.condition),
            required_terms=(*clause.required_terms, *other.required_terms),
        )
        for clause in first.clauses
        if (other := second.clause_for(clause.bucket)) is not None and not _exclude_each_other(clause, other)
    ]
    return Search(clauses=tuple(clauses)) if clauses else None


def _are_same(first: Search, second: Search) -> bool:
    return first.clauses == second.clauses


def _exclude_each_other(first: Clause, second: Clause) -> bool:
    """Whether the clauses ask for different values of a field that has one value, as the values of a facet do."""
    conditions, others = conjuncts_of(first.condition), conjuncts_of(second.condition)
    return any(
        _has_other_value(condition, other) or _has_other_value(other, condition)
        for condition in conditions
        for other in others
    ) or _have_separate_ranges(conditions, others)


def _have_separate_ranges(conditions: Sequence[Condition], others: Sequence[Condition]) -> bool:
    """Whether no number or day lies in the ranges of both: a field that has an order has one value.

    The columns of rows have several (“items.price”), so that their ranges exclude nothing.
    """
    lows, highs = dict[_RangedField, _Bound](), dict[_RangedField, _Bound]()
    for condition in chain(conditions, others):
        if not isinstance(condition, ComparisonCondition) or "." in condition.field:
            continue
        for low, high, is_day in _ranges_of(condition):
            field = condition.field, is_day
            lows[field] = max(lows.get(field, low), low, key=lambda bound: (bound[0], not bound[1]))
            highs[field] = min(highs.get(field, high), high)
    return any(
        low > highs[field][0] or (low == highs[field][0] and not (is_included and highs[field][1]))
        for field, (low, is_included) in lows.items()
    )


def _ranges_of(condition: ComparisonCondition) -> Iterator[tuple[_Bound, _Bound, bool]]:
    """Yields the lowest and the highest value that meet the condition, and whether they are days; nothing for values
    without an order.
    """
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    numbers = [_number_of(value) for value in values]
    is_day, op = isinstance(values[0], str), condition.op
    known = [number for number in numbers if number is not None]
    if len(known) < len(values) or op not in _VALUE_OPERATORS:
        return
    low, high, includes = known[0], known[-1], op not in (ComparisonOperator.GT, ComparisonOperator.LT)
    yield (
        (-math.inf, True) if op in (ComparisonOperator.LT, ComparisonOperator.LTE) else (low, includes),
        (math.inf, True) if op in (ComparisonOperator.GT, ComparisonOperator.GTE) else (high, includes),
        is_day,
    )


def _number_of(value: Scalar) -> float | None:
    """Returns a number, or the ordinal of a day; None for values that have no order in the index."""
    if isinstance(value, str):
        return float(date.fromisoformat(value).toordinal()) if is_iso_day(value) else None
    return None if isinstance(value, bool) else float(value)


def _has_other_value(condition: Condition, other: Condition) -> bool:
    if not isinstance(condition, ComparisonCondition):
        return False
    if isinstance(other, MissingCondition) and condition.op in _VALUE_OPERATORS:
        return other.field == condition.field
    return (
        condition.op is ComparisonOperator.EQ
        and isinstance(other, ComparisonCondition)
        and other.op is ComparisonOperator.EQ
        and other.field == condition.field
        and _differ(condition.value, other.value)
    )


def _differ(value: object, other: object) -> bool:
    """Whether no document has both values; text is compared as the index compares it."""
    if isinstance(value, str) and isinstance(other, str):
        return fold_text(value).split() != fold_text(other).split()
    return type(value) is type(other) and value != other
