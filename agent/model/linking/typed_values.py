"""Reads the numbers, amounts and days that a model wrote, with the parsers that also read questions and documents."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from agent.model.linking.field_names import NamedField
from agent.model.linking.linked_parts import LinkingNotes
from agent.rules.binding.literal_comparison import condition_for_literal
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.exclusions import ExclusionPhrases
from agent.rules.linking.label_similarity import NO_SIMILARITIES
from agent.rules.linking.span_selection import SpanSelection, SpanUsage, has_known_unit, is_measured_in
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.literals.recognition import find_literals
from agent.rules.words.tokens import tokenize_question
from storage.quantities.units import convert_unit
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    OrCondition,
    RowCondition,
)
from storage.search.schema import FieldType, SchemaField

_ISO_PERIOD = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d{2})(?:-(\d{2}))?))?(?:T.*)?")
_OPERATORS = {
    "is": ComparisonOperator.EQ,
    "is_not": ComparisonOperator.EQ,
    "contains": ComparisonOperator.EQ,
    "not_contains": ComparisonOperator.EQ,
    "more_than": ComparisonOperator.GT,
    "at_least": ComparisonOperator.GTE,
    "less_than": ComparisonOperator.LT,
    "at_most": ComparisonOperator.LTE,
}
_WRITTEN_FORMS = {
    FieldType.DATE: "a day, month or year, such as 2031-05-09, 2031-05 or 2031",
    FieldType.MONEY: "an amount, such as EUR 500",
    FieldType.NUMBER: "a number, with its unit if it has one, such as 5 kW",
}


def build_typed_condition(
    named: NamedField,
    op: str,
    values: Sequence[str],
    words: str,
    lexicon: BucketLexicon,
    today: date,
    notes: LinkingNotes,
) -> Condition | None:
    """Returns the comparison of a number, amount or date field; None with a problem noted.

    `op` is an operator of `PlanConditionOutput`. The result has the form that the rules give the same comparison.
    """
    field = named.field
    if field is None:
        return None
    literals = [_read_value(value, field, lexicon, today) for value in values]
    for value, literal in zip(values, literals, strict=True):
        if literal is None:
            notes.report_problem(_describe_misfit(value, named, field))
            return None
    literals_by_words = _literals_of_words(words, field, lexicon, today)
    read = [_take_unit(literal, literals_by_words) for literal in literals if literal is not None]
    if op == "between":
        return _build_range(named, read, words, lexicon, today, notes)
    if not read:
        notes.report_problem(f"{named.path} needs a value to compare with")
        return None
    for literal, value in zip(read, values, strict=True):
        if not _agrees_with_words(literal, literals_by_words):
            notes.problems.append(f"{named.path}: the words {words!r} do not say {value!r}")
    conditions = [_compare_literal(literal, op, named, words, lexicon, today) for literal in read]
    return conditions[0] if len(conditions) == 1 else OrCondition(tuple(conditions))


def build_wider_condition(
    named: NamedField, values: Sequence[str], words: str, lexicon: BucketLexicon, today: date
) -> Condition | None:
    """Returns "at least" for one bare number that is to be equal; None for other fields and values."""
    if named.field is None or named.field.type is not FieldType.NUMBER or len(values) != 1:
        return None
    literal = _read_value(values[0], named.field, lexicon, today)
    if not isinstance(literal, QuantityLiteral):
        return None
    return _compare_literal(literal, "at_least", named, words, lexicon, today)


def _compare_literal(
    literal: QuestionLiteral, op: str, named: NamedField, words: str, lexicon: BucketLexicon, today: date
) -> Condition:
    operator = _OPERATORS[op]
    is_bare = isinstance(literal, QuantityLiteral) and op == "is"
    compared = (
        replace(literal, op=operator)
        if isinstance(literal, DateLiteral)
        else replace(literal, op=operator, is_bare=is_bare)
    )
    return _literal_condition(compared, named, words, lexicon, today)


def _literal_condition(
    literal: QuestionLiteral, named: NamedField, words: str, lexicon: BucketLexicon, today: date
) -> Condition:
    """Raises `ValueError` for a reserved field."""
    if named.field is None:
        raise ValueError("a reserved field has no numbers")
    condition = condition_for_literal(literal, named.field, None, _selection_of(words, lexicon, today))
    return _with_words(condition, words)


def _build_range(
    named: NamedField,
    literals: Sequence[QuestionLiteral],
    words: str,
    lexicon: BucketLexicon,
    today: date,
    notes: LinkingNotes,
) -> Condition | None:
    if len(literals) != 2 or type(literals[0]) is not type(literals[1]):
        notes.report_problem(f"{named.path}: `between` needs two values of one kind, the lower first")
        return None
    low, high = literals
    if isinstance(low, DateLiteral) and isinstance(high, DateLiteral):
        period = replace(low, op=ComparisonOperator.EQ, last_day=max(high.last_day, low.last_day))
        return _compare_literal(period, "is", named, words, lexicon, today)
    if isinstance(low, QuantityLiteral) and isinstance(high, QuantityLiteral) and _have_one_unit(low, high):
        ends = sorted((low.low, high.low))
        span = replace(low, op=ComparisonOperator.BETWEEN, low=ends[0], high=ends[1], is_bare=False)
        return _literal_condition(span, named, words, lexicon, today)
    return AndCondition(
        (
            _compare_literal(low, "at_least", named, words, lexicon, today),
            _compare_literal(high, "at_most", named, words, lexicon, today),
        )
    )


def _have_one_unit(literal: QuantityLiteral, other: QuantityLiteral) -> bool:
    return (literal.unit, literal.currency) == (other.unit, other.currency)


def _read_value(value: str, field: SchemaField, lexicon: BucketLexicon, today: date) -> QuestionLiteral | None:
    """Returns the value as a literal that fits the field; None if it does not."""
    text = value.strip()
    if field.type is FieldType.DATE:
        return _read_period(text) or _only_date(find_literals(text, today))
    literals = find_literals(text, today)
    if len(literals) != 1:
        return None
    [literal] = literals
    if isinstance(literal, DateLiteral):
        return literal if literal.is_year_only and field.type is FieldType.NUMBER else _year_as_number(text)
    if literal.is_age:
        literal = replace(literal, is_age=False)
    return literal if _fits_field(literal, field, lexicon) else None


def _year_as_number(text: str) -> QuestionLiteral | None:
    """ "2000" as an amount: a plain number that also reads as a year."""
    literals = find_literals(f"{text}.00", date.min) if text.isdigit() else ()
    return literals[0] if len(literals) == 1 and isinstance(literals[0], QuantityLiteral) else None


def _fits_field(literal: QuantityLiteral, field: SchemaField, lexicon: BucketLexicon) -> bool:
    if field.type is FieldType.MONEY:
        has_other_currency = literal.currency and field.currency and literal.currency != field.currency
        is_measure = literal.unit and (has_known_unit(literal, lexicon) or is_measured_in(literal.unit))
        return not has_other_currency and not is_measure
    if literal.currency and not literal.weight_unit:
        return False
    unit = literal.weight_unit or literal.unit
    if not unit or not field.unit:
        return True
    return convert_unit(literal.low, unit, field.unit) is not None or not is_measured_in(unit)


def _read_period(text: str) -> DateLiteral | None:
    """Returns a day, month, quarter or year in the notation of ISO 8601; None for any other text."""
    match = _ISO_PERIOD.fullmatch(text)
    if match is None:
        return None
    year, quarter, month, day = (int(part) if part else 0 for part in match.groups())
    try:
        if day:
            first = last = date(year, month, day)
        elif month:
            first, last = date(year, month, 1), _last_day_of(year, month)
        elif quarter:
            first, last = date(year, 3 * quarter - 2, 1), _last_day_of(year, 3 * quarter)
        else:
            first, last = date(year, 1, 1), date(year, 12, 31)
    except ValueError:
        return None
    return DateLiteral(start=0, end=len(text), op=ComparisonOperator.EQ, first_day=first, last_day=last)


def _last_day_of(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1)
    return following - timedelta(1)


def _only_date(literals: Sequence[QuestionLiteral]) -> DateLiteral | None:
    return literals[0] if len(literals) == 1 and isinstance(literals[0], DateLiteral) else None


def _literals_of_words(words: str, field: SchemaField, lexicon: BucketLexicon, today: date) -> list[QuestionLiteral]:
    """Returns the literals in the person's words that could belong to the field."""
    literals = find_literals(words, today)
    if field.type is FieldType.DATE:
        return [literal for literal in literals if isinstance(literal, DateLiteral) and not literal.lacks_year]
    return [
        literal
        for literal in literals
        if isinstance(literal, QuantityLiteral) and not literal.is_age and _fits_field(literal, field, lexicon)
    ]


def _take_unit(literal: QuestionLiteral, literals_of_words: Sequence[QuestionLiteral]) -> QuestionLiteral:
    """Returns the number with the unit that the person gave it, where the model wrote none: "5" for "5 t"."""
    if not isinstance(literal, QuantityLiteral) or literal.unit:
        return literal
    units = {
        other.unit
        for other in literals_of_words
        if isinstance(other, QuantityLiteral) and other.unit and literal.low in (other.low, other.high)
    }
    return replace(literal, unit=units.pop()) if len(units) == 1 else literal


def _agrees_with_words(literal: QuestionLiteral, literals_of_words: Sequence[QuestionLiteral]) -> bool:
    """Whether a number or period of the words is that of the model; also if the words hold none."""
    same_kind = [other for other in literals_of_words if type(other) is type(literal)]
    return not same_kind or any(_are_equal_values(literal, other) for other in same_kind)


def _are_equal_values(literal: QuestionLiteral, other: QuestionLiteral) -> bool:
    if isinstance(literal, DateLiteral) and isinstance(other, DateLiteral):
        return literal.first_day <= other.last_day and other.first_day <= literal.last_day
    if not isinstance(literal, QuantityLiteral) or not isinstance(other, QuantityLiteral):
        return False
    numbers = [number for number in (other.low, other.high) if number is not None]
    if literal.low in numbers:
        return not (literal.unit and other.unit) or literal.unit == other.unit or _in_one_unit(literal, other)
    return _in_one_unit(literal, other)


def _in_one_unit(literal: QuantityLiteral, other: QuantityLiteral) -> bool:
    """Whether the two are the same quantity in different units, or in different scales: "5 million", "5000000"."""
    converted = convert_unit(literal.low, literal.unit, other.unit) if literal.unit and other.unit else None
    return converted is not None and any(
        number is not None and abs(converted - float(number)) <= 1e-9 * max(abs(converted), 1.0)
        for number in (other.low, other.high)
    )


def _selection_of(words: str, lexicon: BucketLexicon, today: date) -> SpanSelection:
    """Returns a selection without links: all that a single literal needs to become a condition."""
    return SpanSelection(
        lexicon=lexicon,
        question=words,
        tokens=tokenize_question(words, lexicon.analyser),
        links=(),
        measure_links=(),
        rival_links=(),
        literal_spans=(),
        negated_tokens=frozenset(),
        doubly_negated_tokens=frozenset(),
        exclusions=ExclusionPhrases(),
        states=(),
        today=today,
        similarities=NO_SIMILARITIES,
        usage=SpanUsage(),
    )


def _with_words(condition: Condition, words: str) -> Condition:
    """Returns the condition with the person's words, which the reply may repeat."""
    match condition:
        case ComparisonCondition():
            return replace(condition, words=words)
        case AndCondition(members):
            return AndCondition(tuple(_with_words(member, words) for member in members))
        case OrCondition(members):
            return OrCondition(tuple(_with_words(member, words) for member in members))
        case RowCondition():
            return replace(condition, words=words)
        case _:
            return condition


def _describe_misfit(value: str, named: NamedField, field: SchemaField) -> str:
    unit = f" in {field.unit}" if field.unit else f" in {field.currency}" if field.currency else ""
    return f"{named.path} is a {field.type.value} field{unit}: {value!r} is not {_WRITTEN_FORMS[field.type]}"
