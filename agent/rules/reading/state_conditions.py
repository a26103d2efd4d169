"""Conditions for words that say whether something lasts or is over: "still with us", "former", "alive"."""

from collections.abc import Iterator, Sequence

from agent.english.state_words import EndKind
from agent.rules.binding.field_fit import words_of_field
from agent.rules.lexicon.end_fields import EndField
from agent.rules.linking.span_selection import SpanSelection
from agent.rules.linking.state_spans import StateSpan
from storage.search.analyser import fold_text
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    conjunction_of,
    fields_of,
)
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType

# Values of a status that say that a matter is over, though it was never completed.
_CALLED_OFF_VALUES = frozenset(
    """cancelled canceled withdrawn abandoned aborted rejected declined void voided duplicate storniert abgesagt
    zurückgezogen annulé cancelado""".split()
)
# "Without a completion date" is said of the column, whatever became of the matter.
_WORDS_FOR_OPEN = frozenset(
    """not never open outstanding pending unfinished incomplete uncompleted unresolved unclosed still yet ongoing unpaid
    owe owes owed owing unsettled""".split()
)
_WORDS_FOR_UNPAID = frozenset({"unpaid", "unsettled", "outstanding"})
_WORDS_OF_COMPLETION = frozenset(
    "completed complete completion finished closed done resolved paid payment settled settlement".split()
)
_KINDS_AHEAD = frozenset({EndKind.STAY, EndKind.USE, EndKind.TERM})  # their ends may be known in advance


def build_state_conditions(selection: SpanSelection) -> Iterator[Condition]:
    """Yields a condition for each state: somebody is still there who has neither left nor died."""
    for span in selection.states:
        is_negated = any(index in selection.negated_tokens for index in range(span.first, span.last))
        words = selection.question[selection.tokens[span.first].start : selection.tokens[span.last - 1].end]
        yield _state_condition(selection, span, words, has_ended=span.has_ended is not is_negated)


def build_called_off_conditions(selection: SpanSelection, conditions: Sequence[Condition]) -> Iterator[Condition]:
    """ "Not finished yet": yields that the status of a matter without a day of completion does not say "cancelled"."""
    lexicon = selection.lexicon
    unsettled = [
        condition
        for condition in conditions
        if isinstance(condition, MissingCondition)
        and not _WORDS_FOR_OPEN.isdisjoint(fold_text(condition.words).split())
        and lexicon.get_field(condition.field).type is FieldType.DATE
        and words_of_field(lexicon.get_field(condition.field)) & _WORDS_OF_COMPLETION
    ]
    for condition in tuple(conditions):  # "unpaid", by a status "paid"; the caller adds what is yielded
        compared = condition.condition if isinstance(condition, NotCondition) else None
        if isinstance(compared, ComparisonCondition) and fold_text(compared.words) in _WORDS_FOR_UNPAID:
            vocabulary = lexicon.vocabulary_of(compared.field)
            values = () if vocabulary is None else _called_off_values(vocabulary)
            if values:
                yield NotCondition(_value_comparison(compared.field, values, compared.words))
    taken = frozenset[FieldName]().union(*map(fields_of, conditions))
    for field in lexicon.schema.fields if unsettled else ():
        vocabulary = lexicon.vocabulary_of(field.name) if field.type is FieldType.CATEGORY else None
        if vocabulary is None or field.name in taken:
            continue
        values = _called_off_values(vocabulary)
        if values:
            yield NotCondition(_value_comparison(field.name, values, unsettled[0].words))


def _called_off_values(vocabulary: FieldVocabulary) -> tuple[str, ...]:
    return tuple(value.value for value in vocabulary.values if fold_text(value.value) in _CALLED_OFF_VALUES)


def _value_comparison(name: FieldName, values: tuple[str, ...], words: str) -> ComparisonCondition:
    if len(values) == 1:
        return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=values[0], words=words)
    return ComparisonCondition(field=name, op=ComparisonOperator.IN, value=values, words=words)


def _state_condition(selection: SpanSelection, span: StateSpan, words: str, *, has_ended: bool) -> Condition:
    if not has_ended:
        lasting = [_lasting_condition(selection, field, words) for field in span.fields]
        return conjunction_of(*lasting, *_started_conditions(selection, span, words))
    return _any_of([_ended_condition(selection, field, words) for field in span.fields])


def _started_conditions(selection: SpanSelection, span: StateSpan, words: str) -> Iterator[Condition]:
    """A term, an employment or a use lasts only if it has begun: yields this, if some begin later than today."""
    start = selection.lexicon.end_fields.start
    ends = all(field.type is FieldType.DATE and field.kind in _KINDS_AHEAD for field in span.fields)
    if span.fields and ends and start is not None and selection.today is not None:
        today = selection.today.isoformat()
        if start.latest_day > today:
            yield ComparisonCondition(field=start.name, op=ComparisonOperator.LTE, value=today, words=words)


def _lasting_condition(selection: SpanSelection, field: EndField, words: str) -> Condition:
    """An end that is missing or ahead."""
    if field.type is not FieldType.DATE:
        return _status_condition(field, words, has_ended=False)
    missing = MissingCondition(field=field.name, words=words)
    today = _today_before_end(selection, field)
    if today is None:
        return missing
    ahead = ComparisonCondition(field=field.name, op=ComparisonOperator.GTE, value=today, words=words)
    return OrCondition((missing, ahead))


def _ended_condition(selection: SpanSelection, field: EndField, words: str) -> Condition:
    if field.type is not FieldType.DATE:
        return _status_condition(field, words, has_ended=True)
    today = _today_before_end(selection, field)
    if today is None:
        return NotCondition(MissingCondition(field=field.name, words=words))
    return ComparisonCondition(field=field.name, op=ComparisonOperator.LT, value=today, words=words)


def _today_before_end(selection: SpanSelection, field: EndField) -> str | None:
    """Returns the current day if some end lies ahead."""
    today = None if selection.today is None else selection.today.isoformat()
    may_be_ahead = field.kind in _KINDS_AHEAD
    return today if today is not None and may_be_ahead and field.latest_day >= today else None


def _status_condition(field: EndField, words: str, *, has_ended: bool) -> Condition:
    if field.type is FieldType.FLAG:
        value = has_ended is not field.is_set_while_lasting
        return ComparisonCondition(field=field.name, op=ComparisonOperator.EQ, value=value, words=words)
    comparison = _value_comparison(field.name, field.ended_values, words)
    return comparison if has_ended else NotCondition(comparison)


def _any_of(conditions: list[Condition]) -> Condition:
    return OrCondition(tuple(conditions)) if len(conditions) > 1 else conditions[0]
