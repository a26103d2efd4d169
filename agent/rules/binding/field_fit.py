"""How well a literal fits a field: by dimension, unit, the range of the field's values and the words of the schema."""

from collections.abc import Set
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from agent.english.date_roles import AGE_WORDS, BEGINNING_WORDS, BIRTH_WORDS, DEADLINE_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.span_selection import has_known_unit, is_measured_in
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from storage.quantities.durations import is_time_unit
from storage.quantities.measures import SCALE_LETTERS
from storage.quantities.units import convert_unit, parse_unit
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonOperator
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

FieldKey: TypeAlias = tuple[FieldName, FieldName | None]
_FAR_FACTOR = 20  # a number this many times above the highest value or below the lowest is far outside the range
_FIRST_YEAR, _LAST_YEAR = 1800, 2200  # the values of a number field that holds years
_FIT_BEYOND_YEARS = 0.4  # of a year that is none of those in which things of long ago began
_FIRST_NAMED_YEAR = 1000  # the same for a field whose name says that something began


def field_key_of(field: SchemaField, row_field: FieldName | None) -> FieldKey:
    return (field.name, None) if row_field is None else (row_field, field.name)


def words_of_field(field: SchemaField) -> frozenset[str]:
    """The folded words of the field's name, title and synonyms."""
    return _words_of_names((field.name.replace("_", " "), field.title, *field.synonyms))


def words_of_label(field: SchemaField) -> frozenset[str]:
    """The folded words of the field's name and title."""
    return _words_of_names((field.name.replace("_", " "), field.title))


@lru_cache(maxsize=4096)  # a few names for each field of the recent buckets
def _words_of_names(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(fold_text(" ".join(names)).replace("-", " ").split())


def is_deadline(field: SchemaField) -> bool:
    """Whether the date is one by which something ends or must be done."""
    if field.type is not FieldType.DATE:
        return False
    label_words = words_of_label(field)
    words = label_words if label_words & (BEGINNING_WORDS | DEADLINE_WORDS) else words_of_field(field)
    return bool(words & DEADLINE_WORDS)


def holds_years(field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon) -> bool:
    """Whether the numbers of the field are years."""
    bounds = _value_range(field, row_field, lexicon)
    is_plain = field.type is FieldType.NUMBER and not field.unit
    is_named = bool(words_of_field(field) & (BEGINNING_WORDS | {"year"}))
    first_year = _FIRST_NAMED_YEAR if is_named else _FIRST_YEAR
    return is_plain and bounds is not None and first_year <= bounds[0] <= bounds[1] <= _LAST_YEAR


def unit_for_literal(literal: QuantityLiteral, field: SchemaField) -> str:
    """The field's unit, or a unit in its name that measures what the literal's does: "term months"."""
    if field.unit or not literal.unit:
        return field.unit
    words = (word for word in sorted(words_of_field(field)) if parse_unit(word) is not None)
    return next((word for word in words if convert_unit(literal.low, literal.unit, word) is not None), "")


def number_for_field(literal: QuantityLiteral, number: float, field: SchemaField, lexicon: BucketLexicon) -> float:
    """Returns the number without its unit: "1.5m" is 1.5 million where nothing is measured in metres."""
    is_unit = literal.unit.lower() in words_of_field(field) or has_known_unit(literal, lexicon)
    return number if is_unit else number * SCALE_LETTERS.get(literal.unit, 1)


def candidate_fields_for(
    literal: QuestionLiteral, lexicon: BucketLexicon, mentioned_keys: Set[FieldKey] = frozenset()
) -> list[tuple[SchemaField, FieldName | None, float]]:
    """Returns the fields a literal may belong to, in the schema's order, with a score of their dimension and range.

    `mentioned_keys`: the fields mentioned near the literal, which may lack the unit that the schema does not give.
    """
    return [
        (field, row_field, score - (0.7 if row_field else 0.0))
        for field, row_field in lexicon.measurable_fields
        if (score := _field_fit(literal, field, row_field, lexicon, mentioned_keys)) is not None
    ]


def _field_fit(
    literal: QuestionLiteral,
    field: SchemaField,
    row_field: FieldName | None,
    lexicon: BucketLexicon,
    mentioned_keys: Set[FieldKey],
) -> float | None:
    filled = 0.3 * _filled_share(field, row_field, lexicon)
    is_mentioned = field_key_of(field, row_field) in mentioned_keys
    if isinstance(literal, DateLiteral):
        fit = _date_fit(literal, field, row_field, lexicon)
    elif literal.is_age:
        fit = _age_fit(literal, field, row_field, lexicon)
    elif field.type is FieldType.DATE:
        fit = _term_fit(literal, field, row_field, is_mentioned=is_mentioned)
    elif field.type is FieldType.MONEY:
        fit = _money_fit(literal, field, lexicon, is_mentioned=is_mentioned)
    elif literal.currency and row_field is None and field.name in lexicon.roles.amounts_without_currency:
        fit = 3.0
    else:
        fit = _number_fit(take_as_weight(literal), field, row_field, lexicon, is_mentioned=is_mentioned)
    return None if fit is None else fit + filled


def _filled_share(field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon) -> float:
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    return vocabulary.document_count / max(lexicon.document_count, 1) if vocabulary else 0.0


def _date_fit(
    literal: DateLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> float | None:
    if field.type is FieldType.DATE:
        if words_of_field(field) & BIRTH_WORDS:
            return 0.6  # a birthday is rarely the date of a document
        return 1.5 if _is_main_date(field, row_field, lexicon) else 1.0
    if not literal.is_year_only or not holds_years(field, row_field, lexicon):
        return None
    low, high = _value_range(field, row_field, lexicon) or (0.0, 0.0)
    is_in_range = literal.first_day.year <= high and literal.last_day.year >= low
    return 2.0 if is_in_range or low >= _FIRST_YEAR else _FIT_BEYOND_YEARS


def _age_fit(
    literal: QuantityLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> float | None:
    """ "Older than 5 years": the age itself, else the day or year of the beginning, else a duration."""
    words = words_of_field(field)
    if literal.is_overdue:
        return 4.0 if is_deadline(field) else None
    if field.type is FieldType.NUMBER and words & AGE_WORDS:
        return 4.0
    begins = bool(words & BEGINNING_WORDS)
    if field.type is FieldType.DATE:
        if is_deadline(field) and not begins:
            return 0.2
        fit = 4.0 if words & BIRTH_WORDS else 3.0 if begins else 1.5
        return fit + (0.3 if _is_main_date(field, row_field, lexicon) else 0.0)
    if holds_years(field, row_field, lexicon):
        return 2.5 if begins else 1.2
    is_duration = field.type is FieldType.NUMBER and bool(unit_for_literal(literal, field))
    return 1.0 if is_duration and literal.unit else None


def _term_fit(
    literal: QuantityLiteral, field: SchemaField, row_field: FieldName | None, *, is_mentioned: bool
) -> float | None:
    """ "Ends within 30 days", "in service for more than 5 years": whether a date is counted from today."""
    if literal.may_be_year:
        return 0.8 if is_mentioned else -1.0
    if row_field is not None or not is_time_unit(literal.unit):
        return None
    if literal.is_ongoing and is_deadline(field) and literal.op in (ComparisonOperator.GT, ComparisonOperator.GTE):
        return None  # "running for more than 5 years" says when it began
    words = words_of_field(field)
    began = literal.is_ongoing and words & BEGINNING_WORDS and not words & BIRTH_WORDS
    return 0.5 if is_mentioned or began else None


def _is_main_date(field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon) -> bool:
    natural_order = lexicon.schema.natural_order
    return natural_order is not None and natural_order.field == field.name and row_field is None


def _number_fit(
    literal: QuantityLiteral,
    field: SchemaField,
    row_field: FieldName | None,
    lexicon: BucketLexicon,
    *,
    is_mentioned: bool,
) -> float | None:
    if field.type is not FieldType.NUMBER or literal.currency:
        return None
    in_unit = _convert_for_field(literal, field)
    if in_unit is not None:
        score, value = 3.0, in_unit
    elif (_has_real_unit(literal, lexicon) and not (is_mentioned and not field.unit)) or (
        literal.is_rate and not is_mentioned
    ):
        return None
    else:
        score, value = 0.5 if not field.unit else 0.0, number_for_field(literal, float(literal.low), field, lexicon)
    bounds = _value_range(field, row_field, lexicon)
    if not is_mentioned and _measures_time(literal):
        is_beyond = not is_within_field_range(literal, field, row_field, lexicon)
        if is_beyond and (literal.is_ongoing or is_far_outside_range(literal, field, row_field, lexicon)):
            return None
    return score + (1.0 if bounds is not None and bounds[0] <= value <= bounds[1] else 0.0)


def take_as_weight(literal: QuantityLiteral) -> QuantityLiteral:
    """ "20 pounds" for a field of numbers: returns the weight instead of the money."""
    return replace(literal, unit=literal.weight_unit, currency="") if literal.weight_unit else literal


def _measures_time(literal: QuantityLiteral) -> bool:
    return bool(literal.unit) and convert_unit(literal.low, literal.unit, "day") is not None


def _convert_for_field(literal: QuantityLiteral, field: SchemaField) -> float | None:
    unit = unit_for_literal(literal, field)
    return convert_unit(literal.low, literal.unit, unit) if literal.unit and unit else None


def _has_real_unit(literal: QuantityLiteral, lexicon: BucketLexicon) -> bool:
    """Whether the word after the number is a unit of measurement, not a noun that the number counts."""
    if literal.unit in SCALE_LETTERS:
        return has_known_unit(literal, lexicon)
    return bool(literal.unit) and (has_known_unit(literal, lexicon) or is_measured_in(literal.unit))


def _money_fit(
    literal: QuantityLiteral, field: SchemaField, lexicon: BucketLexicon, *, is_mentioned: bool
) -> float | None:
    if _has_real_unit(literal, lexicon) and not (is_mentioned and literal.unit in SCALE_LETTERS):
        return None
    if literal.currency and field.currency and field.currency != literal.currency:
        return None
    return (3.0 if literal.currency else 1.0) + (1.0 if literal.is_rate else 0.0)


# -- the range of a field's values


def _value_range(field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon) -> tuple[float, float] | None:
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    return (low, high) if isinstance(low, float) and isinstance(high, float) else None


def is_within_field_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    """Whether the number lies between the lowest and the highest value of the field."""
    bounds = _number_and_range(literal, field, row_field, lexicon)
    return bounds is not None and bounds[1] <= bounds[0] <= bounds[2]


def is_far_outside_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    """ "Between 200k and 250k" is not a number of bedrooms: whether the number is far from all values of the field."""
    bounds = _number_and_range(literal, field, row_field, lexicon)
    return bounds is not None and (bounds[0] > _FAR_FACTOR * max(bounds[2], 1.0) or bounds[0] * _FAR_FACTOR < bounds[1])


def _number_and_range(
    literal: QuestionLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> tuple[float, float, float] | None:
    """Returns the number in the field's unit, the lowest and the highest value of the field; None for dates."""
    bounds = _value_range(field, row_field, lexicon)
    if isinstance(literal, DateLiteral) or bounds is None:
        return None
    in_unit = _convert_for_field(literal, field)
    return (number_for_field(literal, float(literal.low), field, lexicon) if in_unit is None else in_unit, *bounds)


def has_value_in_years(
    literal: DateLiteral, field: SchemaField, row_field: FieldName | None, lexicon: BucketLexicon
) -> bool:
    """Whether the first or the last value of the field lies in the years of the period, or beyond its bound."""
    vocabulary = lexicon.vocabulary_of(*field_key_of(field, row_field))
    if vocabulary is None or vocabulary.low is None or vocabulary.high is None:
        return False
    low, high = (int(str(value)[:4]) for value in (vocabulary.low, vocabulary.high))
    match literal.op:
        case ComparisonOperator.LT | ComparisonOperator.LTE:
            return low <= literal.last_day.year
        case ComparisonOperator.GT | ComparisonOperator.GTE:
            return high >= literal.first_day.year
        case _:
            return low <= literal.last_day.year and high >= literal.first_day.year
