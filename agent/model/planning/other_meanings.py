"""Links the parts of a plan that are other meanings of a part: another set, or the same set by another measure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.decomposition import AlternativeForm, AlternativeReading
from agent.model.linking.linked_parts import LinkingNotes
from agent.model.planning.set_linking import LinkedSet, SetLinker
from prompts.outputs.question_plan import PlanPartOutput
from storage.search.conditions import MissingCondition, NotCondition, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm, Clause, Search

LinkForm: TypeAlias = Callable[[PlanPartOutput, Sequence[LinkedSet], LinkingNotes], tuple[Search, AnswerForm] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMeanings:
    """`forms` begins with the chosen form, and is empty without another one."""

    readings: tuple[AlternativeReading, ...]
    forms: tuple[AlternativeForm, ...]


def link_other_meanings(
    others: Sequence[PlanPartOutput],
    chosen: tuple[Search, AnswerForm],
    set_linker: SetLinker,
    link_form: LinkForm,
    notes: LinkingNotes,
) -> OtherMeanings:
    """Returns what can be linked whole, of one bucket as the chosen meaning is. Problems are in the notes."""
    chosen_search, chosen_form = chosen
    readings = list[AlternativeReading]()
    forms = dict[FieldName, AlternativeForm]()
    for other in others:
        own_notes = LinkingNotes()
        sets = set_linker.link_sets(other, own_notes)
        found = link_form(other, sets, own_notes) if sets else None
        notes.problems += own_notes.problems
        if own_notes.problems or found is None or len(chosen_search.clauses) != 1 or len(found[0].clauses) != 1:
            continue
        [clause], [chosen_clause] = found[0].clauses, chosen_search.clauses
        if clause != chosen_clause:
            readings.append(_read_otherwise(clause, chosen_clause, chosen_search))
        else:
            forms |= _measure_otherwise(found[1], chosen_form, chosen_search)
    chosen_measure = _measure_of(chosen_form)
    if forms and chosen_measure is not None:
        forms = {chosen_measure: _alternative_form(chosen_form, chosen_measure, chosen_search)} | forms
    return OtherMeanings(readings=tuple(readings), forms=tuple(forms.values()))


def _read_otherwise(clause: Clause, chosen: Clause, search: Search) -> AlternativeReading:
    own = conjuncts_of(chosen.condition)
    differing = tuple(condition for condition in conjuncts_of(clause.condition) if condition not in own)
    return AlternativeReading(bucket=clause.bucket, conditions=differing, search=replace(search, clauses=(clause,)))


def _measure_otherwise(form: AnswerForm, chosen: AnswerForm, search: Search) -> dict[FieldName, AlternativeForm]:
    """Returns the form by its measure, if it is of the same kind as the chosen one and has another measure."""
    measure = _measure_of(form)
    if measure is None or type(form) is not type(chosen) or measure == _measure_of(chosen):
        return {}
    return {measure: _alternative_form(form, measure, search)}


def _measure_of(form: AnswerForm) -> FieldName | None:
    """Returns the field that documents are ordered by, or of which numbers are computed."""
    return form.list_order.field if form.list_order is not None else form.computed_field


def _alternative_form(form: AnswerForm, measure: FieldName, search: Search) -> AlternativeForm:
    bucket = search.clauses[0].bucket
    return AlternativeForm(
        bucket=bucket,
        field=measure,
        answer_form=form,
        search=search.with_condition(NotCondition(MissingCondition(field=measure)), bucket),
    )
