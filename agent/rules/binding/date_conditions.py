"""Conditions on date fields: periods, and ages and terms that are counted from today ("older than 3 years")."""

from dataclasses import replace
from datetime import date, timedelta

from agent.rules.binding.field_fit import field_key_of, is_deadline
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.literals.comparators import MIRRORED
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral
from storage.quantities.durations import is_time_unit, shift_by_duration
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField


def resolve_year(
    literal: DateLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon, today: date | None
) -> DateLiteral:
    """ "In December": returns the period in this, the next or the last year, else in the last one with data."""
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    if not isinstance(low, str) or not isinstance(high, str):
        return literal
    is_ahead = is_deadline(field) and today is not None and literal.last_day < today
    last_years = (int(high[:4]) - literal.first_day.year, int(high[:4]) - 1 - literal.first_day.year)
    for years in (*((1, 0, -1) if is_ahead else (0, 1, -1)), *last_years):
        first, last = _shift_years(literal.first_day, years), _shift_years(literal.last_day, years)
        if first.isoformat() <= high and last.isoformat() >= low:
            return replace(literal, first_day=first, last_day=last)
    return literal


def _shift_years(day: date, year_count: int) -> date:
    """Returns the same day in another year; February 28 for a leap day, the last of February for its last day."""
    if day.month == 2 and (day + timedelta(1)).month == 3:
        return date(day.year + year_count, 3, 1) - timedelta(1)
    return day.replace(year=day.year + year_count)


def build_date_condition(literal: DateLiteral, field: SchemaField, words: str) -> Condition:
    """Compares a date, or a number that is a year, with the period."""
    first: float | str = literal.first_day.isoformat()
    last: float | str = literal.last_day.isoformat()
    if field.type is FieldType.NUMBER:
        first, last = float(literal.first_day.year), float(literal.last_day.year)
    match literal.op:
        case ComparisonOperator.GT:
            op, value = ComparisonOperator.GT, last
        case ComparisonOperator.GTE:
            op, value = ComparisonOperator.GTE, first
        case ComparisonOperator.LT:
            op, value = ComparisonOperator.LT, first
        case ComparisonOperator.LTE:
            op, value = ComparisonOperator.LTE, last
        case _ if first == last:
            op, value = ComparisonOperator.EQ, first
        case _:
            return ComparisonCondition(
                field=field.name, op=ComparisonOperator.BETWEEN, value=(first, last), words=words
            )
    return ComparisonCondition(field=field.name, op=op, value=value, words=words)


def period_of_year(literal: QuantityLiteral) -> DateLiteral:
    """Returns the year that the number is."""
    year = int(literal.low)
    return _literal_between(date(year, 1, 1), date(year, 12, 31), literal.op)


def build_age_condition(literal: QuantityLiteral, field: SchemaField, today: date, words: str) -> Condition | None:
    """Compares a date, or a number that is a year, with the day that lies so long ago, or so far ahead of `today` if
    the field is a deadline. None beyond the calendar.
    """
    unit = literal.unit if is_time_unit(literal.unit) else "years"
    period = (
        _period_ahead(literal, unit, today)
        if is_deadline(field) and not literal.is_age
        else _period_past(literal, unit, today)
    )
    return None if period is None else build_date_condition(period, field, words)


def _period_ahead(literal: QuantityLiteral, unit: str, today: date) -> DateLiteral | None:
    """ "Ends within 30 days" lies between today and that day."""
    first = shift_by_duration(today, literal.low, unit)
    last = first if literal.high is None else shift_by_duration(today, literal.high, unit)
    if first is None or last is None:
        return None
    if literal.op in (ComparisonOperator.GT, ComparisonOperator.GTE):
        return _literal_between(first, first, literal.op)
    return _literal_between(first if literal.high is not None else today, last, ComparisonOperator.EQ)


def _period_past(literal: QuantityLiteral, unit: str, today: date) -> DateLiteral | None:
    """More than 3 years old is before the day 3 years ago; 3 years old is between 3 and 4 years ago."""
    last = shift_by_duration(today, -literal.low, unit)
    if last is not None and literal.is_overdue and literal.op is ComparisonOperator.EQ:
        return _literal_between(last, last, ComparisonOperator.LTE)
    if last is None or literal.op in MIRRORED:
        return last and _literal_between(last, last, MIRRORED[literal.op])
    top = literal.low if literal.high is None else literal.high
    before = shift_by_duration(today, -top if literal.is_approximate else -top - 1, unit)
    return before and _literal_between(before + timedelta(1), last, ComparisonOperator.EQ)


def _literal_between(first: date, last: date, op: ComparisonOperator) -> DateLiteral:
    return DateLiteral(start=0, end=0, op=op, first_day=first, last_day=last)
