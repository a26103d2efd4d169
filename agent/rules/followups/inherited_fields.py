"""Follow-ups that name a function but no field: "and the maximum?" is about the field of the last question."""

from collections.abc import Mapping

from agent.english.function_words import AGGREGATE_PHRASES
from agent.rules.followups.followup_context import FollowUpMessage
from agent.rules.linking.lexicon import FieldMention
from storage.search.conditions import ComparisonCondition, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm, ComputeNumbers, ListDocuments
from storage.search.schema import FieldType, SchemaOrder

_FUNCTION_NOUNS: Mapping[str, AggregateFunction] = {
    word: AGGREGATE_PHRASES[(word,)] for word in "maximum max minimum min average mean avg median sum total".split()
}
_EXTREMES_OF_ANY_FIELD = frozenset("highest lowest largest smallest biggest greatest least most".split())
_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_MAX_WORDS = 6  # words of a message that only names a function: "and what is the maximum of those?"


def find_inherited_form(follow_up: FollowUpMessage, answer_form: AnswerForm) -> AnswerForm | None:
    """Returns the form with the field of the last question, for a message that names a function and no field."""
    if follow_up.has_own_content or follow_up.reading.has_noun or len(follow_up.words) > _MAX_WORDS:
        return None
    if any(isinstance(link.meaning, FieldMention) for link in follow_up.reading.links):
        return None
    field = _find_last_field(follow_up)
    if field is None:
        return None
    functions = tuple(dict.fromkeys(_FUNCTION_NOUNS[word] for word in follow_up.words if word in _FUNCTION_NOUNS))
    if functions:
        is_date = follow_up.lexicon.get_field(field).type is FieldType.DATE
        extremes = {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}
        return None if is_date and not set(functions) <= extremes else ComputeNumbers(functions=functions, field=field)
    order = answer_form.list_order
    if order is not None and set(follow_up.words) & _EXTREMES_OF_ANY_FIELD:
        return ListDocuments(order=SchemaOrder(field=field, descending=order.descending), limit=answer_form.list_limit)
    return None


def _find_last_field(follow_up: FollowUpMessage) -> FieldName | None:
    """Returns the field that the last question computed, ordered by, or compared with a number."""
    answer_form, fields = follow_up.leg.answer_form, follow_up.lexicon.schema.by_name
    order = answer_form.list_order
    if answer_form.computed_field is not None:
        return answer_form.computed_field
    clause = follow_up.leg.search.clause_for(follow_up.reading.bucket)
    if order is not None and follow_up.leg.answer_form.list_limit is not None:
        return order.field
    compared = [
        condition.field
        for condition in (conjuncts_of(clause.condition) if clause is not None else ())
        if isinstance(condition, ComparisonCondition)
        and condition.field in fields
        and fields[condition.field].type in _MEASURABLE_TYPES
        and fields[condition.field].type is not FieldType.DATE
    ]
    return compared[-1] if len(set(compared)) == 1 else None
