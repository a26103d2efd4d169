"""Counts the documents that do not state a value on which an answer depends, so that the reply can say so.

A condition on such a document is unknown: the document is not in the set, but it may belong there. A number, an order
or a ranking of groups leaves it out. Such is not a field whose absence has a meaning: none for lists, rows and flags,
"not yet" for the day of an end ("returned on").
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.decomposition import QuestionContext
from agent.english.state_words import is_unset_until_event
from agent.outcome import UnstatedRole, UnstatedValues
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.ids import BucketId, FieldName
from storage.search.index import CountRequest, IndexAnswers
from storage.search.plan import AnswerForm, Clause, ComputeNumbers, Leg, Search

OpenFields: TypeAlias = Mapping[BucketId, Collection[FieldName]]  # that some documents of the bucket do not state


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstatedRequests:
    """`possible`: the set with the documents for which a condition is unknown; `others`: without these conditions."""

    compared: tuple[FieldName, ...]  # of the conditions
    possible: CountRequest
    others: CountRequest
    measured: Mapping[FieldName, tuple[UnstatedRole, CountRequest]]  # documents of the set without the value

    def all_requests(self) -> Iterator[CountRequest]:
        if self.compared:
            yield from (self.possible, self.others)
        yield from (request for _, request in self.measured.values())


def build_unstated_requests(leg: Leg, context: QuestionContext, scope: Search | None = None) -> UnstatedRequests:
    """`scope`: its conditions name the documents that claims are about, and are taken as known."""
    search, fixed = leg.search, _conditions_of(scope)
    open_fields = {bucket: _find_open_fields(bucket, context) for bucket in search.buckets}
    names = _compared_fields_of(search, open_fields, fixed)
    return UnstatedRequests(
        compared=names,
        possible=CountRequest(_with_unknown_documents(search, open_fields, fixed)),
        others=CountRequest(search_without_fields(search, names, fixed)),
        measured={
            name: (role, CountRequest(search.with_condition(MissingCondition(field=name))))
            for role, name in _measured_fields_of(leg.answer_form)
            if name not in names and all(name in fields for fields in open_fields.values())
        },
    )


def _find_open_fields(bucket: BucketId, context: QuestionContext) -> frozenset[FieldName]:
    """Returns the fields that some of the bucket's documents do not state."""
    document_count = context.vocabulary.document_count_of(bucket)
    counts = {field.field: field.document_count for field in context.vocabulary.fields_of(bucket)}
    return frozenset(
        field.name
        for field in context.schemas[bucket].fields
        if not (field.absent_means_none or is_unset_until_event(field)) and counts.get(field.name, 0) < document_count
    )


def read_unstated_values(
    requests: UnstatedRequests, answers: IndexAnswers, count: int, lacking: Mapping[FieldName, int]
) -> tuple[UnstatedValues, ...]:
    """Returns what some documents do not state.

    `count`: documents in the set. `lacking`: documents that lack the field and meet all other conditions, where known.
    """
    result: list[UnstatedValues] = []
    unknown = answers[requests.possible] - count if requests.compared else 0
    if unknown > 0:
        stated_apart = sum(lacking.get(name, 0) for name in requests.compared)
        is_complete = stated_apart >= unknown  # else some documents lack several of the fields
        names = tuple(name for name in requests.compared if lacking.get(name) or not is_complete)
        total = answers[requests.others]
        result.append(
            UnstatedValues(
                role=UnstatedRole.CONDITION,
                fields=names,
                count=unknown,
                total=total,
                is_only_reason=len(requests.compared) == 1,
            )
        )
    for name, (role, request) in requests.measured.items():
        if answers[request]:
            result.append(UnstatedValues(role=role, fields=(name,), count=answers[request], total=count))
    return tuple(result)


def search_without_fields(search: Search, names: Collection[FieldName], fixed: Collection[Condition] = ()) -> Search:
    """Returns the search without the conditions that need a value of one of the fields, but for those in `fixed`."""
    clauses: list[Clause] = []
    for clause in search.clauses:
        conditions = conjuncts_of(clause.condition)
        kept = (condition for condition in conditions if condition in fixed or not _fields_needed_by(condition, names))
        clauses.append(replace(clause, condition=conjunction_of(*kept)))
    return search.with_clauses(*clauses)


def _with_unknown_documents(search: Search, open_fields: OpenFields, fixed: Collection[Condition]) -> Search:
    clauses: list[Clause] = []
    for clause in search.clauses:
        conditions: list[Condition] = []
        for condition in conjuncts_of(clause.condition):
            names = () if condition in fixed else _fields_needed_by(condition, open_fields[clause.bucket])
            lacking = (MissingCondition(field=name) for name in names)
            conditions.append(OrCondition((condition, *lacking)) if names else condition)
        clauses.append(replace(clause, condition=conjunction_of(*conditions)))
    return search.with_clauses(*clauses)


def _conditions_of(scope: Search | None) -> tuple[Condition, ...]:
    return () if scope is None else tuple(part for clause in scope.clauses for part in conjuncts_of(clause.condition))


def _compared_fields_of(search: Search, open_fields: OpenFields, fixed: Collection[Condition]) -> tuple[FieldName, ...]:
    """Returns the fields of the conditions, in their order."""
    return tuple(
        dict.fromkeys(
            name
            for clause in search.clauses
            for condition in conjuncts_of(clause.condition)
            if condition not in fixed
            for name in _fields_needed_by(condition, open_fields[clause.bucket])
        )
    )


def _fields_needed_by(condition: Condition, fields: Collection[FieldName]) -> tuple[FieldName, ...]:
    """Returns those of the fields without which the condition is unknown, unless it is true anyway."""
    names = fields_of(condition)
    if not _consists_of_comparisons(condition, is_single_field=len(names) == 1):
        return ()
    return tuple(name for name in sorted(names) if name in fields)


def _consists_of_comparisons(condition: Condition, *, is_single_field: bool) -> bool:
    """Whether the condition is a comparison, negated or not, or alternatives of such; of one field, any mixture."""
    match condition:
        case ComparisonCondition() | FieldComparisonCondition():
            return True
        case NotCondition(inner):
            is_plain = isinstance(inner, (ComparisonCondition, FieldComparisonCondition))
            return is_plain or (is_single_field and _consists_of_comparisons(inner, is_single_field=True))
        case OrCondition(members):
            return all(_consists_of_comparisons(member, is_single_field=is_single_field) for member in members)
        case AndCondition(members):
            return is_single_field and all(_consists_of_comparisons(part, is_single_field=True) for part in members)
        case _:
            return False


def _measured_fields_of(answer_form: AnswerForm) -> Iterator[tuple[UnstatedRole, FieldName]]:
    """Yields the fields whose values the answer computes with, or takes the first of.

    A whole list ends with the documents without a value, and a whole grouping has a line for them.
    """
    if answer_form.computed_field is not None:
        yield UnstatedRole.MEASURE, answer_form.computed_field
    if answer_form.computed_factor is not None:
        yield UnstatedRole.MEASURE, answer_form.computed_factor
    if answer_form.list_limit is not None and answer_form.list_order is not None:
        yield UnstatedRole.ORDER, answer_form.list_order.field
    if isinstance(answer_form, ComputeNumbers) and answer_form.limit is not None and answer_form.group is not None:
        yield UnstatedRole.GROUP, answer_form.group.field
