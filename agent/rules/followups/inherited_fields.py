"""Follow-ups that name a function but no field: "and the maximum?" is about the field of the last question."""

import re
from collections.abc import Mapping

from agent.english.function_words import AGGREGATE_PHRASES
from agent.rules.cues.asked_fields import AskedKind, asked_kind
from agent.rules.cues.computed_fields import find_amount_said
from agent.rules.followups.followup_context import FollowUpMessage
from agent.rules.followups.result_references import is_about_whole_result
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.literals.literal_types import QuantityLiteral
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import ComparisonCondition, ComparisonOperator, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, AnswerForm, ComputeNumbers, Leg, ListDocuments
from storage.search.schema import FieldType, SchemaOrder

_FUNCTION_NOUNS: Mapping[str, AggregateFunction] = {
    word: AGGREGATE_PHRASES[(word,)] for word in "maximum max minimum min average mean avg median sum total".split()
}
_EXTREMES_OF_ANY_FIELD = frozenset("highest lowest largest smallest biggest greatest least most".split())
_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_COMPARING_WORDS = {
    ComparisonOperator.GT: "more than",
    ComparisonOperator.GTE: "at least",
    ComparisonOperator.LT: "less than",
    ComparisonOperator.LTE: "at most",
}
_WORD = re.compile(r"[^\W\d_]+")
_WORDS_BESIDE_NUMBERS = frozenset("and or but ok okay now then only just with what about how those these is it".split())
_COMES_TO = re.compile(r"\b(?:come|came|amount|amounted|add\s+up|added\s+up|run|ran)\s+to\b", re.IGNORECASE)
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
        factor = follow_up.leg.answer_form.computed_factor
        is_product_without_median = factor is not None and AggregateFunction.MEDIAN in functions
        if is_product_without_median or (is_date and not set(functions) <= extremes):
            return None
        return ComputeNumbers(functions=functions, field=field, factor=factor)
    order = answer_form.list_order
    if order is not None and set(follow_up.words) & _EXTREMES_OF_ANY_FIELD:
        return ListDocuments(order=SchemaOrder(field=field, descending=order.descending), limit=answer_form.list_limit)
    return None


def find_total_field(follow_up: FollowUpMessage, answer_form: AnswerForm) -> FieldName | None:
    """ "And what did these cost us?", after several documents: returns the only amount that is asked for."""
    last_form = follow_up.leg.answer_form
    is_of_several = last_form.computes or (last_form.lists_documents and last_form.list_limit != 1)
    if not is_of_several or not (follow_up.refers_to_results or follow_up.has_opener):
        return None
    is_whole = is_about_whole_result(follow_up.question)
    if is_whole and answer_form.computed_functions == (AggregateFunction.SUM,):
        return answer_form.computed_field
    asked = [mention.field for mention in follow_up.reading.asked_mentions if mention.column is None]
    named = [name for bucket, name in answer_form.requested_fields if bucket == follow_up.reading.bucket]
    is_money = asked_kind([token.word for token in follow_up.reading.tokens]) is AskedKind.MONEY
    asks_money = is_money or _COMES_TO.search(follow_up.question) is not None
    if asks_money and (said := find_amount_said(follow_up.words, follow_up.lexicon)) is not None:
        return said  # "what do they add up to with VAT"
    fields = [*dict.fromkeys(named or asked or (follow_up.lexicon.roles.amounts if asks_money else ()))]
    types = [follow_up.lexicon.get_field(name).type for name in fields]
    if is_whole and types[:1] == [FieldType.NUMBER] and follow_up.words[:1] == ("how",):
        return fields[0]  # "how many bottles is that"
    return fields[0] if asks_money and types == [FieldType.MONEY] else None


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


def add_last_field(text: str, leg: Leg, reading: BucketReading, reader: QuestionReader) -> str:
    """ "No, more than 800", "make it 300": returns the text with the only field that the leg compares with a number.

    A bare number takes the comparison of that field as well. Other texts are returned unchanged.
    """
    literals = [literal for literal in reader.literals_in(text) if isinstance(literal, QuantityLiteral)]
    if len(literals) != 1 or reading.conditions or reading.has_noun or reading.unlinked_quotations:
        return text
    lexicon = reader.lexicons[reading.bucket]
    compared = _find_compared_number(leg, lexicon)
    rest = f"{text[: literals[0].start]} {text[literals[0].end :]}"
    if compared is None or not set(_WORD.findall(rest.lower())) <= _WORDS_BESIDE_NUMBERS:
        return text
    written = text[literals[0].start : literals[0].end]
    comparison = _COMPARING_WORDS.get(compared.op, "") if literals[0].is_bare else ""
    return f"{lexicon.get_field(compared.field).label} {comparison} {written}"


def _find_compared_number(leg: Leg, lexicon: BucketLexicon) -> ComparisonCondition | None:
    """Returns the only condition of the leg on a number or an amount."""
    clause = leg.search.clause_for(lexicon.bucket)
    numbers = [
        condition
        for condition in (conjuncts_of(clause.condition) if clause is not None else ())
        if isinstance(condition, ComparisonCondition)
        and condition.field in lexicon.schema.by_name
        and lexicon.get_field(condition.field).type in (FieldType.NUMBER, FieldType.MONEY)
    ]
    return numbers[0] if len(numbers) == 1 else None
