"""Whether choices lead to the same documents: two sets are equal if their intersection is as large as each of them.

Only searches with the same count are compared, so nothing is asked of the index where all counts differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agent.retrieval.session import RetrievalSession
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.index import CountRequest
from storage.search.plan import Clause, Search


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
    return any(
        _has_other_value(condition, other) or _has_other_value(other, condition)
        for condition in conjuncts_of(first.condition)
        for other in conjuncts_of(second.condition)
    )


def _has_other_value(condition: Condition, other: Condition) -> bool:
    if not isinstance(condition, ComparisonCondition) or condition.op is not ComparisonOperator.EQ:
        return False
    if isinstance(other, MissingCondition):
        return other.field == condition.field
    return (
        isinstance(other, ComparisonCondition)
        and other.op is ComparisonOperator.EQ
        and other.field == condition.field
        and _differ(condition.value, other.value)
    )


def _differ(value: object, other: object) -> bool:
    """Whether no document has both values; text is compared as the index compares it."""
    if isinstance(value, str) and isinstance(other, str):
        return fold_text(value).split() != fold_text(other).split()
    return type(value) is type(other) and value != other
