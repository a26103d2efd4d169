"""Finds the forms that fit as well as the recognised one, with another field: "biggest" by area or by people."""

from collections.abc import Collection
from dataclasses import replace

from agent.rules.cues.asked_fields import find_asked_fields
from agent.rules.cues.asked_prices import find_asked_price
from agent.rules.cues.computed_fields import computed_fields
from agent.rules.cues.grouping import unnamed_groups
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.cues.question_subject import NUMERIC_TYPES, leading_persons
from agent.rules.cues.ranked_fields import is_descending, ordering_fields
from storage.search.conditions import fields_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm, ComputeNumbers, GroupBy, ListDocuments, ReadFields
from storage.search.schema import SchemaOrder

_MAX_EQUAL_FIELDS = 8
_FIELD_FUNCTIONS = frozenset(AggregateFunction) - {
    AggregateFunction.COUNT, AggregateFunction.DISTINCT, AggregateFunction.SHARE,
}  # fmt: skip


def find_equal_forms(answer_form: AnswerForm, cues: QuestionCues) -> tuple[tuple[FieldName, AnswerForm], ...]:
    """Returns each field that is as likely with its form, the recognised one first; empty if the field is certain."""
    fields = _equally_likely_fields(answer_form, cues)
    used = _field_of_form(answer_form, fields)
    if len(fields) < 2 or used is None:
        return ()
    ordered = (used, *(name for name in fields if name != used))[:_MAX_EQUAL_FIELDS]
    return tuple((name, _form_with_field(answer_form, name, cues)) for name in ordered)


def _equally_likely_fields(answer_form: AnswerForm, cues: QuestionCues) -> tuple[FieldName, ...]:
    words, reading, lexicon = cues.words, cues.reading, cues.lexicon
    superlative = cues.superlative
    match answer_form:
        case ListDocuments(order=SchemaOrder()) if superlative is not None:
            return ordering_fields(superlative, words, reading, lexicon)
        case ComputeNumbers(field=str(), limit=int()) if superlative is not None:
            return ordering_fields(superlative, words, reading, lexicon)
        case ComputeNumbers(group=GroupBy(field=name)) if name in fields_of(reading.condition):
            return ()  # the groups are named
        case ComputeNumbers(group=GroupBy(field=name)) if name in leading_persons(words, reading, lexicon):
            return leading_persons(words, reading, lexicon)
        case ComputeNumbers(group=GroupBy(field=name)) if name in (groups := unnamed_groups(words, reading, lexicon)):
            return groups
        case ComputeNumbers(field=str(), functions=functions, group=group) if _FIELD_FUNCTIONS & set(functions):
            excluded = group.field if group is not None else None
            return computed_fields(reading, lexicon, words, cues.functions, excluded)
        case ReadFields(of_each=True):
            return ()  # the names of the persons, and not their numbers
        case ReadFields() if find_asked_price(words, reading, lexicon) is not None:
            return ()  # the question tells which of the prices
        case ReadFields():
            return find_asked_fields(words, reading, lexicon).fields
        case _:
            return ()


def _field_of_form(answer_form: AnswerForm, fields: Collection[FieldName]) -> FieldName | None:
    """Returns the field of the form that the others would replace."""
    order, group = answer_form.list_order, answer_form.grouping
    requested = answer_form.requested_fields
    used = (
        order.field if order is not None else None,
        requested[0][1] if len(requested) == 1 else None,
        answer_form.computed_field,
        group.field if group is not None else None,
    )
    return next((name for name in used if name in fields), None)


def _form_with_field(answer_form: AnswerForm, name: FieldName, cues: QuestionCues) -> AnswerForm:
    match answer_form:
        case ListDocuments():
            field = cues.lexicon.get_field(name)
            descending = cues.superlative is None or is_descending(cues.superlative, cues.words, field)
            return replace(answer_form, order=SchemaOrder(field=name, descending=descending))
        case ReadFields(fields=((bucket, _),)):
            return replace(answer_form, fields=((bucket, name),))
        case ComputeNumbers() if cues.lexicon.get_field(name).type in NUMERIC_TYPES:
            return replace(answer_form, field=name)
        case ComputeNumbers():
            return replace(answer_form, group=GroupBy(field=name))
        case _:
            return answer_form
