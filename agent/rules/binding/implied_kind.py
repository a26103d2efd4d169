"""Adds the kind of documents that a set implies: what was purchased is an asset sheet if only these have a purchase."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from agent.english.inflection import root_of_word
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm, Clause
from storage.search.schema import Schema, SchemaField


def add_implied_kind(clause: Clause, answer_form: AnswerForm, schema: Schema) -> Clause:
    """Returns the clause with the one kind whose documents alone can meet its conditions, or have what is computed.

    The set stays the same. Without the kind, all documents of other kinds would count as unknown.
    """
    kind_field = schema.kind_field
    if kind_field is None or kind_field.name in fields_of(clause.condition):
        return clause
    kinds = [*_kinds_by_conjunct(clause.condition, schema), *_kinds_of_measures(answer_form, schema)]
    common = reduce(lambda left, right: left & right, kinds) if kinds else frozenset[str]()
    if len(common) != 1:
        return clause
    kind = ComparisonCondition(field=kind_field.name, op=ComparisonOperator.EQ, value=next(iter(common)))
    return replace(clause, condition=conjunction_of(kind, *conjuncts_of(clause.condition)))


def select_fields_of_kind(
    names: Sequence[FieldName], conditions: Iterable[Condition], schema: Schema, words: Iterable[str] = ()
) -> tuple[FieldName, ...]:
    """Returns the fields that documents of the required kind can have; all, if the conditions require no kind.

    If they can have none of these, the fields of the same types that they have take their place. Without a condition,
    a word of the question that is in the name of a kind requires it: the most expensive *asset* is an "asset sheet".
    """
    kind_field = schema.kind_field
    required = {
        condition.value
        for condition in conditions
        if isinstance(condition, ComparisonCondition)
        and kind_field is not None
        and condition.field == kind_field.name
        and condition.op is ComparisonOperator.EQ
    }
    required = required or _kinds_named_by(words, schema)
    given = [schema.by_name[name] for name in names if name in schema.by_name]

    def select_own(fields: Iterable[SchemaField]) -> tuple[FieldName, ...]:
        return tuple(field.name for field in fields if not field.kinds or not required.isdisjoint(field.kinds))

    if not required:
        return tuple(names)
    types = {field.type for field in given}
    return select_own(given) or select_own(field for field in schema.fields if field.type in types)


def _kinds_named_by(words: Iterable[str], schema: Schema) -> set[object]:
    """Returns the kinds of which the question has a word, if no other kind has that word."""
    kinds = {kind for field in schema.fields for kind in field.kinds}
    roots = {kind: {root_of_word(word) for word in fold_text(kind).split()} for kind in kinds}
    asked = {root_of_word(word) for word in words}
    return {
        kind for kind in kinds for root in roots[kind] & asked if sum(root in other for other in roots.values()) == 1
    }


def _kinds_by_conjunct(condition: Condition, schema: Schema) -> Iterator[frozenset[str]]:
    for conjunct in conjuncts_of(condition):
        if kinds := _kinds_implied_by(conjunct, schema):
            yield kinds


def _kinds_implied_by(condition: Condition, schema: Schema) -> frozenset[str]:
    """Returns the kinds whose documents can meet the condition; empty: any."""
    match condition:
        case ComparisonCondition(field=name) | NotCondition(ComparisonCondition(field=name)):
            return _kinds_of_field(schema.by_name.get(name))
        case OrCondition(members) if members:
            kinds = [_kinds_implied_by(member, schema) for member in members]
            return frozenset[str]().union(*kinds) if all(kinds) else frozenset()
        case _:
            return frozenset()


def _kinds_of_measures(answer_form: AnswerForm, schema: Schema) -> Iterator[frozenset[str]]:
    names = [answer_form.computed_field]
    if answer_form.list_limit is not None and answer_form.list_order is not None:
        names.append(answer_form.list_order.field)
    for name in names:
        if name is not None and (kinds := _kinds_of_field(schema.by_name.get(name))):
            yield kinds


def _kinds_of_field(field: SchemaField | None) -> frozenset[str]:
    """Returns the kinds of a field whose absence is unknown; an absent list, flag or table says something itself."""
    return frozenset() if field is None or field.absent_means_none else frozenset(field.kinds)
