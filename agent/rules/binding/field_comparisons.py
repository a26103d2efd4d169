"""Reads comparisons of two fields of a document: "spent more than planned", "returned after the due date"."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent.english.date_roles import DUE_DATE_NAMES
from agent.english.function_words import FORMS_OF_BE
from agent.rules.binding.stock_levels import build_stock_condition
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.linking.span_selection import SpanSelection, token_range_in
from agent.rules.literals.literal_types import QuantityLiteral, QuestionLiteral
from storage.quantities.units import convert_unit
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
)
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField, have_different_currencies

_GREATER_WORDS = frozenset(
    "more higher greater over above exceed exceeds exceeding exceeded beyond after later".split()
)
_LESS_WORDS = frozenset("less lower fewer under below before earlier sooner".split())
_EQUAL_WORDS = frozenset("equal equals equalled same".split())
_LATE_WORDS, _EARLY_WORDS = frozenset({"late"}), frozenset({"early"})
_COMPARING_WORDS = _GREATER_WORDS | _LESS_WORDS | _EQUAL_WORDS | _LATE_WORDS | _EARLY_WORDS
_JOINING_WORDS = frozenset(
    """than the its their his her it they was were is are being been be as to of by a an that which what had has have
    date day up went go goes much originally first we us you they money cost costing""".split()
)
_LINKING_WORDS = FORMS_OF_BE | frozenset("went go goes gone going have ran run runs had has have got came".split())
# Of fields that say how much of a budget or a plan is used.
_USED_AMOUNT_NAMES = frozenset(
    "actual actuals spent spend spending used cost costs paid invoiced expenditure balance owed outstanding".split()
)
# "More than the limit *allows*", "over *their* limit": they add nothing to the name of the limit.
_VERBS_OF_LIMITS = frozenset("allow allows allowed permit permits".split())
_OWNERS_OF_LIMITS = frozenset("their its his her the our".split())
_ORDERED_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_MAX_GAP = 8  # tokens between the two names


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedField:
    """A field that `tokens[first:last]` names; `link`: its index among the links, None if only its family is named."""

    first: int
    last: int
    field: SchemaField
    row: FieldName | None
    link: int | None = None


@dataclass(frozen=True, slots=True)
class FieldPairComparison:
    """A comparison of two fields; `offset` is the literal for the time between them, which binds to no field.

    `tokens`: those of the words of the comparison, which tell no state ("*gone* over budget").
    """

    condition: Condition
    offset: QuestionLiteral | None = None
    tokens: range = range(0)


def build_field_comparison(selection: SpanSelection, literals: Sequence[QuestionLiteral]) -> FieldPairComparison | None:
    """Returns the comparison of two fields, if there is one, and records the words and mentions that it uses."""
    if (stock := build_stock_condition(selection)) is not None:
        return FieldPairComparison(stock[0], tokens=stock[1])
    if not _may_compare(selection):
        return None
    named = sorted(_named_fields(selection), key=lambda field: field.first)
    for index, left in enumerate(named):
        for right in named[index + 1 :]:
            comparison = _compare_pair(left, right, selection, literals)
            if comparison is not None:
                return comparison
    for bound in named:
        if (comparison := _compare_with_only_other(bound, selection)) is not None:
            return comparison
        if (condition := _compare_with_due_date(bound, selection)) is not None:
            return FieldPairComparison(condition)
    return None


def _may_compare(selection: SpanSelection) -> bool:
    words = {token.word for token in selection.tokens}
    return bool(words & _COMPARING_WORDS)


def _named_fields(selection: SpanSelection) -> Iterator[_NamedField]:
    """Yields the fields that have an order, named or hinted at by a word of the family ("planned")."""
    lexicon, covered = selection.lexicon, set[int]()
    for index, link in enumerate(selection.links):
        covered |= set(range(link.first, link.last))
        if isinstance(link.meaning, FieldMention) and not link.meaning.is_negated:
            field = lexicon.get_field(link.meaning.field, link.meaning.column)
            if field.type in _ORDERED_TYPES:
                row = link.meaning.field if link.meaning.column is not None else None
                yield _NamedField(first=link.first, last=link.last, field=field, row=row, link=index)
    ordered = [field.name for field in lexicon.schema.fields if field.type in _ORDERED_TYPES]
    for index, token in enumerate(selection.tokens):
        if index in covered or token.is_quoted or token.word in _JOINING_WORDS or token.word in _LINKING_WORDS:
            continue
        family = lexicon.roles.fields_of_family(token.word, ordered)
        if len(family) == 1:
            yield _NamedField(first=index, last=index + 1, field=lexicon.get_field(family[0]), row=None)


def _compare_pair(
    left: _NamedField, right: _NamedField, selection: SpanSelection, literals: Sequence[QuestionLiteral]
) -> FieldPairComparison | None:
    """ "*Spent* more than *planned*", "*returned* more than 30 days after the *due date*"."""
    if not _are_comparable(left, right) or not 0 < right.first - left.last <= _MAX_GAP:
        return None
    offset = _offset_between(left, right, selection, literals)
    literal, days = (None, 0.0) if offset is None else offset
    offset_tokens = range(*token_range_in(selection.tokens, literal.start, literal.end)) if literal else range(0)
    gap = [index for index in range(left.last, right.first) if index not in offset_tokens]
    words = [selection.tokens[index].word for index in gap]
    op = _operator_of(words)
    others = set(words) - _GREATER_WORDS - _LESS_WORDS - _EQUAL_WORDS - _JOINING_WORDS - _LINKING_WORDS
    if op is None or others or any(selection.tokens[index].word.isdigit() for index in gap):
        return None
    sign = -1 if op is ComparisonOperator.LT else 1
    return FieldPairComparison(_comparison_of(left, op, right, selection, offset=sign * days), literal)


def _are_comparable(left: _NamedField, right: _NamedField) -> bool:
    same_kind = left.field.type is right.field.type and left.field.unit == right.field.unit
    same_kind = same_kind and not have_different_currencies(left.field, right.field)
    return left.field.name != right.field.name and left.row == right.row and same_kind


def _operator_of(words: Iterable[str]) -> ComparisonOperator | None:
    """Returns the last comparison among the words: in "more than 30 days after" it is "after"."""
    found = None
    for word in words:
        if word in _GREATER_WORDS:
            found = ComparisonOperator.GT
        elif word in _LESS_WORDS:
            found = ComparisonOperator.LT
        elif word in _EQUAL_WORDS:
            found = ComparisonOperator.EQ
    return found


def _offset_between(
    left: _NamedField, right: _NamedField, selection: SpanSelection, literals: Sequence[QuestionLiteral]
) -> tuple[QuestionLiteral, float] | None:
    """ "More than 30 days after": returns the time between the two dates, and its days."""
    for literal in literals:
        first, last = token_range_in(selection.tokens, literal.start, literal.end)
        if not (isinstance(literal, QuantityLiteral) and left.last <= first < last <= right.first):
            continue
        days = convert_unit(literal.low, literal.unit, "day") if literal.unit else None
        if days is not None and left.field.type is FieldType.DATE:
            return literal, float(days)
    return None


def _compare_with_only_other(bound: _NamedField, selection: SpanSelection) -> FieldPairComparison | None:
    """ "Went *over budget*": compares the only other field of the kind, if no number follows."""
    start = bound.first
    while start and selection.tokens[start - 1].word in _OWNERS_OF_LIMITS:
        start -= 1
    before = selection.tokens[start - 1].word if start else ""
    follows_number = any(first in (bound.last, bound.last + 1) for _, first, _ in selection.literal_spans)
    if before not in ("over", "under", "above", "below", "beyond", "exceeding") or follows_number:
        return None
    if start > 1 and selection.tokens[start - 2].word.isdigit():
        return None
    lexicon = selection.lexicon
    others = [
        field
        for field in lexicon.schema.fields
        if bound.row is None
        and field.name in lexicon.vocabularies
        and field.name != bound.field.name
        and field.type is bound.field.type
        and field.unit == bound.field.unit
        and field.type in (FieldType.MONEY, FieldType.NUMBER)
        and not have_different_currencies(field, bound.field)
    ]
    if len(others) != 1 or bound.field.type is not FieldType.MONEY:
        others = [field for field in others if not _USED_AMOUNT_NAMES.isdisjoint(field.label.casefold().split())]
    if len(others) != 1:
        return None
    op = _operator_of([before])
    first = start - 1
    while first and selection.tokens[first - 1].word in _LINKING_WORDS:  # "have gone over"
        first -= 1
    other = _NamedField(first=first, last=bound.first, field=others[0], row=None)
    if op is None:
        return None
    return FieldPairComparison(_comparison_of(other, op, bound, selection, offset=0.0), tokens=range(first, bound.last))


def _compare_with_due_date(event: _NamedField, selection: SpanSelection) -> Condition | None:
    """ "*Returned late*": compares the day of the event with the day on which it was due."""
    after = selection.tokens[event.last].word if event.last < len(selection.tokens) else ""
    if event.field.type is not FieldType.DATE or event.row is not None or after not in _LATE_WORDS | _EARLY_WORDS:
        return None
    due = selection.lexicon.find_date_fields(DUE_DATE_NAMES)
    if not due or due[0] == event.field.name:
        return None
    op = ComparisonOperator.GT if after in _LATE_WORDS else ComparisonOperator.LT
    field = selection.lexicon.get_field(due[0])
    bound = _NamedField(first=event.last, last=event.last + 1, field=field, row=None)
    return _comparison_of(event, op, bound, selection, offset=0.0)


def _comparison_of(
    left: _NamedField, op: ComparisonOperator, right: _NamedField, selection: SpanSelection, *, offset: float
) -> Condition:
    """Returns the condition, and records what it uses."""
    first, last = min(left.first, right.first), max(left.last, right.last)
    if last < len(selection.tokens) and selection.tokens[last].word in _VERBS_OF_LIMITS:
        last += 1
    selection.usage.links |= {field.link for field in (left, right) if field.link is not None}
    selection.usage.tokens |= set(range(first, last))
    words = selection.question[selection.tokens[first].start : selection.tokens[last - 1].end]
    comparison = FieldComparisonCondition(
        field=left.field.name, op=op, other_field=right.field.name, offset=offset, words=words
    )
    if left.row is not None:
        return RowCondition(rows_field=left.row, condition=comparison, words=words)
    return conjunction_of(comparison, *_same_currency(left.field, right.field, selection))


def _same_currency(left: SchemaField, right: SchemaField, selection: SpanSelection) -> Iterator[Condition]:
    """Yields the condition that both amounts are in one currency, if their currencies may differ."""
    fields = (left.currency_field, right.currency_field)
    for name, currency in ((fields[0], right.currency), (fields[1], left.currency)):
        if name is not None and currency:
            yield ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=currency)
    if fields[0] is None or fields[1] is None or fields[0] == fields[1]:
        return
    vocabularies = [selection.lexicon.vocabulary_of(name) for name in fields if name is not None]
    currencies = [{value.value for value in vocabulary.values} for vocabulary in vocabularies if vocabulary]
    if len(currencies) < 2 or len(currencies[0] | currencies[1]) < 2:
        return
    yield OrCondition(
        tuple(
            conjunction_of(
                *(
                    ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=currency)
                    for name in fields
                    if name is not None
                )
            )
            for currency in sorted(currencies[0] & currencies[1])
        )
    )
