"""Combines the sets of several legs into one: "both together", "who was the biggest" after a comparison."""

from collections.abc import Sequence
from dataclasses import replace

from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    OrCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.plan import Clause, Leg


def unite_legs(legs: Sequence[Leg]) -> Leg | None:
    """Returns the last leg over the union of all sets; None if they are sets of different buckets."""
    clauses = [leg.search.clauses[0] for leg in legs if len(leg.search.clauses) == 1]
    if len(clauses) < len(legs) or len({(clause.bucket, clause.required_terms) for clause in clauses}) != 1:
        return None
    last = legs[-1]
    return replace(last, search=last.search.with_clauses(_unite_clauses(clauses)))


def _unite_clauses(clauses: Sequence[Clause]) -> Clause:
    """Returns a clause with the shared conditions, and one of the groups of the others."""
    groups = [conjuncts_of(clause.condition) for clause in clauses]
    shared = [condition for condition in groups[0] if all(condition in group for group in groups)]
    rests: list[Condition] = []
    for group in groups:
        rest = [condition for condition in group if condition not in shared]
        if not rest:
            return replace(clauses[-1], condition=conjunction_of(*shared))  # one set holds the others
        rests.append(conjunction_of(*rest))
    return replace(clauses[-1], condition=conjunction_of(*shared, _join_alternatives(rests)))


def _join_alternatives(alternatives: Sequence[Condition]) -> Condition:
    """Returns "a or b"; values of one field become one list of values."""
    joined = alternatives[0]
    for other in alternatives[1:]:
        widened = widen_value(joined, other) if fields_of(joined) == fields_of(other) else other
        if widened == other:
            return OrCondition(tuple(dict.fromkeys(alternatives)))
        joined = widened
    return joined


def widen_value(old_condition: Condition, new_condition: Condition) -> Condition:
    """ "Also from Acme": returns a condition that allows the old and the new values."""
    both = [
        condition
        for condition in (old_condition, new_condition)
        if isinstance(condition, ComparisonCondition) and condition.op in (ComparisonOperator.EQ, ComparisonOperator.IN)
    ]
    if len(both) < 2:
        return new_condition
    values = [
        value
        for condition in both
        for value in (condition.value if isinstance(condition.value, tuple) else (condition.value,))
    ]
    words = ", ".join(condition.words for condition in both if condition.words)
    return ComparisonCondition(
        field=both[0].field, op=ComparisonOperator.IN, value=tuple(dict.fromkeys(values)), words=words
    )
