"""The comparison of a field with a literal that binds to it."""

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal

from agent.english.date_roles import END_VERBS
from agent.rules.binding.date_conditions import build_age_condition, build_date_condition, period_of_year, resolve_year
from agent.rules.binding.field_fit import (
    holds_years,
    number_for_field,
    take_as_weight,
    unit_for_literal,
    words_of_field,
)
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.span_selection import SpanSelection, literal_extent_in
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from storage.quantities.units import convert_unit, parse_unit
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    RowCondition,
)
from storage.search.ids import FieldName
from storage.search.schema import BareValueMatch, FieldType, SchemaField

# The fewest and the most days of a unit, on average over several
_DAYS_OF_UNIT = {
    "month": (Decimal(30), Decimal("30.67")),
    "quarter": (Decimal(90), Decimal(92)),
    "year": (Decimal(365), Decimal(366)),
}
_WORDS_OF_VALIDITY = frozenset("until till valid expiry expires expiration".split())
_ENDING_WORDS = END_VERBS | frozenset("expiring expired ended due overdue past out up last lasts".split())


def condition_for_literal(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, selection: SpanSelection
) -> Condition:
    words = selection.question[slice(*literal_extent_in(literal, selection.lexicon))].strip()
    if isinstance(literal, QuantityLiteral) and literal.comparator_span is not None:
        words = f"{selection.question[slice(*literal.comparator_span)]} {words}"
        selection.usage.tokens.update(
            index
            for index, token in enumerate(selection.tokens)
            if literal.comparator_span[0] <= token.start < literal.comparator_span[1]
        )
    if isinstance(literal, QuantityLiteral) and literal.tail_start is not None:
        selection.usage.tokens.update(
            index for index, token in enumerate(selection.tokens) if literal.tail_start <= token.start < literal.end
        )
    if isinstance(literal, DateLiteral):
        if literal.lacks_year:
            literal = resolve_year(literal, field, row_field, selection.lexicon, selection.today)
        if _asks_what_is_valid(literal, field, selection):
            literal = replace(literal, op=ComparisonOperator.GTE)
        condition = build_date_condition(literal, field, words)
    elif literal.may_be_year and field.type is FieldType.DATE:
        condition = build_date_condition(period_of_year(literal), field, words)
    elif field.type is FieldType.DATE or _is_year_of_age(literal, field, row_field, selection.lexicon):
        condition = _age_condition(literal, field, selection.today, words)
    else:
        measured = take_as_weight(literal) if field.type is FieldType.NUMBER else literal
        condition = _number_condition(measured, field, words, selection.lexicon)
    return (
        condition
        if row_field is None
        else RowCondition(rows_field=row_field, condition=condition, words=words or field.name)
    )


def _asks_what_is_valid(literal: DateLiteral, field: SchemaField, selection: SpanSelection) -> bool:
    """ "Who is approved *today*", of an approval "until": whether the day is one on which the thing is still valid."""
    is_today = literal.op is ComparisonOperator.EQ and literal.first_day == literal.last_day == selection.today
    is_of_end = bool(words_of_field(field) & _WORDS_OF_VALIDITY)
    return is_today and is_of_end and _ENDING_WORDS.isdisjoint(token.word for token in selection.tokens)


def _is_year_of_age(
    literal: QuantityLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    return literal.is_age and holds_years(field, row_field, lexicon)


def _age_condition(literal: QuantityLiteral, field: SchemaField, today: date | None, words: str) -> Condition:
    """Compares the date with today; without a clock, and beyond the calendar, any date fits."""
    condition = None if today is None else build_age_condition(literal, field, today, words)
    return NotCondition(MissingCondition(field=field.name, words=words)) if condition is None else condition


def _number_condition(literal: QuantityLiteral, field: SchemaField, words: str, lexicon: BucketLexicon) -> Condition:
    if (extent := _extent_in_days(literal, field)) is not None:
        return _condition_of_extent(literal, extent, field, words)
    low = _number_in_field(literal, literal.low, field, lexicon)
    op = literal.op
    if literal.is_bare and field.bare is not BareValueMatch.EXACTLY:
        op = ComparisonOperator.GTE if field.bare is BareValueMatch.AT_LEAST else ComparisonOperator.LTE
    if literal.high is not None:
        high = _number_in_field(literal, literal.high, field, lexicon)
        comparison = ComparisonCondition(
            field=field.name, op=ComparisonOperator.BETWEEN, value=(min(low, high), max(low, high)), words=words
        )
    else:
        comparison = ComparisonCondition(field=field.name, op=op, value=low, words=words)
    if literal.currency and field.currency_field is not None:
        currency = ComparisonCondition(
            field=field.currency_field, op=ComparisonOperator.EQ, value=literal.currency, words=literal.currency
        )
        return AndCondition((comparison, currency))
    return comparison


def _extent_in_days(literal: QuantityLiteral, field: SchemaField) -> tuple[float, float] | None:
    """Returns the fewest and the most days of so many months or years; None for other units, and for a range of them.

    Three months are 90 days where a notice is counted so, and up to 92 days of the calendar.
    """
    days = _DAYS_OF_UNIT.get(parse_unit(literal.unit) or "")
    if days is None or field.unit != "day" or literal.high is not None:
        return None
    fewest, most = days
    return float(literal.low * fewest), float(math.ceil(literal.low * most))


def _condition_of_extent(
    literal: QuantityLiteral, extent: tuple[float, float], field: SchemaField, words: str
) -> Condition:
    fewest, most = extent
    match literal.op:
        case ComparisonOperator.EQ:
            op, value = ComparisonOperator.BETWEEN, extent
        case ComparisonOperator.GT | ComparisonOperator.LTE:
            op, value = literal.op, most
        case _:
            op, value = literal.op, fewest
    return ComparisonCondition(field=field.name, op=op, value=value, words=words)


def _number_in_field(literal: QuantityLiteral, number: Decimal, field: SchemaField, lexicon: BucketLexicon) -> float:
    unit = unit_for_literal(literal, field)
    converted = convert_unit(number, literal.unit, unit) if literal.unit and unit else None
    return number_for_field(literal, float(number), field, lexicon) if converted is None else converted
