"""Joins literals: two ends become a range, and what is written once (a unit, a comparator) is shared."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from storage.quantities.calendar_arithmetic import month_bounds
from storage.quantities.units import convert_unit
from storage.search.conditions import ComparisonOperator

_RANGE_START = re.compile(
    r"(?:\b(?:anywhere|somewhere|anything|ranging|ranges?|lying)\s+)?"
    r"\b(?:between|from|within|in\s+the\s+range(?:\s+of)?|(?:in\s+)?a\s+range\s+of)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_RANGE_JOIN = re.compile(
    r"\s*(?:and\s+up\s+to|up\s+to|upto|and|to|until|till|through|thru|&|[-–—]|\.{2,3}|…)\s*(?:the\s+)?", re.IGNORECASE
)
_UPPER_BOUNDS = frozenset({ComparisonOperator.LT, ComparisonOperator.LTE})
_LOWER_BOUNDS = frozenset({ComparisonOperator.GT, ComparisonOperator.GTE})
_BOUND_SEPARATOR = re.compile(r"\s*(?:,|,?\s*(?:and|but|or))\s*", re.IGNORECASE)
_CHOICE_SEPARATOR = re.compile(r"\s*(?:,|/|,?\s*or)\s*", re.IGNORECASE)
_MEASURE_SEPARATOR = re.compile(r"\s*(?:,|and|,\s*and|&)\s*", re.IGNORECASE)


def join_ranges(question: str, literals: Sequence[QuestionLiteral]) -> list[QuestionLiteral]:
    """Returns the literals, two ends of a range as one: "between 5 and 9 kg", "12 up to 30", "May to July"."""
    result: list[QuestionLiteral] = []
    for literal in literals:
        joined = _join_to_last(question, result[-1], literal) if result else None
        if joined is None:
            result.append(literal)
        else:
            result[-1] = joined
    return result


def _join_to_last(question: str, last: QuestionLiteral, literal: QuestionLiteral) -> QuestionLiteral | None:
    between = question[last.end : literal.start]
    if last.op is not ComparisonOperator.EQ or not _RANGE_JOIN.fullmatch(between):
        return None
    opening = _RANGE_START.search(question, 0, last.start)
    is_ambiguous = between.strip().lower() in ("and", "&")
    joined = _combine_ends(last, literal) if opening or not is_ambiguous else None
    if joined is None or opening is None:
        return joined
    return replace(joined, start=opening.start())


def _combine_ends(low: QuestionLiteral, high: QuestionLiteral) -> QuestionLiteral | None:
    match low, high:
        case QuantityLiteral(), QuantityLiteral():
            return _combine_quantities(low, high)
        case DateLiteral(), DateLiteral():
            return _combine_dates(low, high)
        case QuantityLiteral(unit="", currency=""), DateLiteral() if (
            1 <= low.low <= 31 and high.first_day == high.last_day
        ):
            first = _first_day_of_range(int(low.low), high.first_day)
            return None if first is None else replace(high, start=low.start, first_day=first, number_start=low.start)
        case DateLiteral(is_year_only=True), QuantityLiteral() if low.first_day.year == low.last_day.year:
            return _combine_quantities(_number_of_year(low), high)  # "between 2000 and 2500"
        case QuantityLiteral(), DateLiteral(is_year_only=True) if high.first_day.year == high.last_day.year:
            return _combine_quantities(low, _number_of_year(high))
        case _:
            return None


def _first_day_of_range(day: int, last_day: date) -> date | None:
    """ "Between *5* and 20 March 2024"; "from *31* to 5 April" begins in March. None if that month has no such day."""
    year, month = (last_day.year, last_day.month) if day <= last_day.day else _month_before(last_day)
    return _day_of_month(year, month, day) if day <= month_bounds(year, month)[1].day else None


def _month_before(day: date) -> tuple[int, int]:
    return (day.year, day.month - 1) if day.month > 1 else (max(day.year - 1, 1), 12)


def _day_of_month(year: int, month: int, day: int) -> date:
    """Returns the day, or the last one of a month that is shorter: 29 February of any year."""
    return date(year, month, min(day, month_bounds(year, month)[1].day))


def _number_of_year(literal: DateLiteral) -> QuantityLiteral:
    return QuantityLiteral(
        start=literal.start, end=literal.end, op=ComparisonOperator.EQ, low=Decimal(literal.first_day.year),
        is_bare=True, number_start=literal.number_start, unit_start=literal.end,
    )  # fmt: skip


def _combine_quantities(low: QuantityLiteral, high: QuantityLiteral) -> QuantityLiteral | None:
    if low.high is not None or high.high is not None or (low.is_rate and not high.is_rate):
        return None
    if low.scale == 1 and low.low < high.low / high.scale:
        low = replace(low, low=low.low * high.scale)  # "50 to 60 thousand"
    top = _convert_to_unit(high, low.unit)
    if top is None or (low.currency and high.currency and low.currency != high.currency):
        return None
    unit = low.unit or high.unit
    first, last = sorted((low.low, top))
    return replace(
        low, end=high.end, op=ComparisonOperator.BETWEEN, low=first, high=last, unit=unit, is_rate=high.is_rate,
        unit_start=high.unit_start, currency=low.currency or high.currency, is_bare=False,
    )  # fmt: skip


def _combine_dates(low: DateLiteral, high: DateLiteral) -> DateLiteral:
    first, last = low.first_day, high.last_day
    if low.lacks_year:  # "from October to December 2024"
        year = high.first_day.year
        is_same_year = (first.month, first.day) <= (high.first_day.month, high.first_day.day)
        first = _day_of_month(year if is_same_year else max(year - 1, 1), first.month, first.day)
    elif first > last and high.lacks_year and not low.lacks_year and high.last_day.year < date.max.year:
        last = _day_of_month(last.year + 1, last.month, last.day)  # "between now and 5 March"
    elif first > last:
        first, last = high.first_day, low.last_day
    return replace(
        low, end=high.end, first_day=first, last_day=last, compared_day=None,
        is_year_only=low.is_year_only and high.is_year_only, lacks_year=low.lacks_year and high.lacks_year,
    )  # fmt: skip


def _convert_to_unit(quantity: QuantityLiteral, unit: str) -> Decimal | None:
    """Converts the number to the unit of the other end ("between 0.3 W and 700 mW"); None if that is impossible."""
    if not unit or not quantity.unit or unit == quantity.unit:
        return quantity.low
    result = convert_unit(quantity.low, quantity.unit, unit)
    return None if result is None else Decimal(repr(result))


def share_measures(question: str, literals: Sequence[QuestionLiteral]) -> tuple[QuestionLiteral, ...]:
    """Copies a unit ("over 5 and under 10 kg") and a comparator ("100 V and 5 A or more") to the literal beside."""
    completed = list(literals)
    for index in reversed(range(len(completed))):
        completed[index] = _complete_from_neighbours(question, completed, index, _with_unit_of)
    with_units = list(completed)
    return tuple(
        _complete_from_neighbours(question, with_units, index, _with_operator_of) for index in range(len(with_units))
    )


def _complete_from_neighbours(
    question: str,
    literals: Sequence[QuestionLiteral],
    index: int,
    complete: Callable[[QuantityLiteral, QuantityLiteral, str], QuantityLiteral | None],
) -> QuestionLiteral:
    literal = literals[index]
    if not isinstance(literal, QuantityLiteral):
        return literal
    for other in _neighbours_of(literals, index):
        between = question[min(literal.end, other.end) : max(literal.start, other.start)]
        completed = complete(literal, other, between)
        if completed is not None:
            return completed
    return literal


def _neighbours_of(literals: Sequence[QuestionLiteral], index: int) -> Iterator[QuantityLiteral]:
    for other in (*literals[max(index - 1, 0) : index], *literals[index + 1 : index + 2]):
        if isinstance(other, QuantityLiteral):
            yield other


def _with_unit_of(quantity: QuantityLiteral, other: QuantityLiteral, between: str) -> QuantityLiteral | None:
    lacks_unit = not (quantity.unit or quantity.currency) and bool(other.unit or other.currency)
    are_ends = _are_two_ends(quantity.op, other.op) and _BOUND_SEPARATOR.fullmatch(between)
    have_no_bound = {quantity.op, other.op} <= {ComparisonOperator.EQ, ComparisonOperator.BETWEEN}
    are_choices = have_no_bound and _CHOICE_SEPARATOR.fullmatch(between)
    is_before = quantity.start < other.start
    is_near = (quantity.low < other.low) == is_before or max(quantity.low, other.low) < 10 * min(
        quantity.low, other.low
    )
    if not lacks_unit or not ((are_ends and is_near) or (are_choices and is_before)):
        return None  # "no more than 900 and at least 40 sqm" are two measures
    return replace(quantity, unit=other.unit, currency=other.currency, unit_start=quantity.end)


def _with_operator_of(quantity: QuantityLiteral, other: QuantityLiteral, between: str) -> QuantityLiteral | None:
    have_units = bool(quantity.unit) and bool(other.unit) and quantity.unit != other.unit
    is_bound = other.op in _UPPER_BOUNDS | _LOWER_BOUNDS
    if not (have_units and quantity.is_bare and is_bound and quantity.op is ComparisonOperator.EQ):
        return None
    return replace(quantity, op=other.op, is_bare=False) if _MEASURE_SEPARATOR.fullmatch(between) else None


def _are_two_ends(op: ComparisonOperator, other_op: ComparisonOperator) -> bool:
    bounds = {op, other_op}
    return bool(bounds & _UPPER_BOUNDS) and bool(bounds & _LOWER_BOUNDS)
