"""Finds numbers, money, days, periods and ranges in a question, with the comparators beside them.

A literal has no field yet: a `QuantityLiteral` or `DateLiteral` may belong to any field of its dimension.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import zip_longest

from agent.rules.literals.amounts import find_quantities
from agent.rules.literals.comparators import (
    MIRRORED,
    ComparatorMatch,
    find_comparator_after,
    find_comparator_before,
    find_distant_comparator,
)
from agent.rules.literals.days import find_dates
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from agent.rules.literals.ranges import join_ranges, share_measures
from storage.quantities.durations import is_time_unit
from storage.search.conditions import ComparisonOperator

_AGE_AFTER = re.compile(r"[\s-]*(?:old|of\s+age|in\s+age)\b", re.IGNORECASE)
_OVERDUE_AFTER = re.compile(
    r"\s+(?:overdue|late|past\s+(?:(?:its|their|the)\s+)?(?:due(?:\s+dates?)?|deadlines?))\b", re.IGNORECASE
)
_OVERDUE_BEFORE = re.compile(r"\b(?:overdue|late)\s+(?:by|for)\s+$", re.IGNORECASE)
_AGE_BEFORE = re.compile(r"\baged\s+$", re.IGNORECASE)
# "*I've been ill for* nine days": how long somebody in the conversation is or was something, of which no document is.
_OWN_STATE = re.compile(
    r"""(?: ^ | [,.;:?!–-] | \b(?:and|but|if|when|because|so|that) ) \s*
        (?:i|we|you|he|she) \s* (?: ['’]?ve | [ ]have | [ ]has | ['’]s | [ ]had | ['’]d )? \s*
        (?: been | am | ['’]?m | are | ['’]re | is | was | were | will\s+be | ['’]ll\s+be ) \b
        [^,.;:?!]{0,60} \b for \s+ (?: (?:about|around|over|nearly|almost|only|just|more\s+than) \s+ )? $""",
    re.IGNORECASE | re.VERBOSE,
)
_TOLERANCE = Decimal("0.1")  # of "around 50"
_FIRST_YEAR, _LAST_YEAR = 1000, 2200


def find_literals(question: str, today: date) -> tuple[QuestionLiteral, ...]:
    """Returns the numbers, amounts, days and ranges outside quotation marks, in order and without overlaps."""
    singles = sorted(_find_single_literals(question, today), key=lambda literal: literal.start)
    compared = list(_attach_comparators(question, join_ranges(question, singles)))
    return tuple(
        literal
        for literal in share_measures(question, compared)
        if not (_is_number_word(literal) or _is_own_duration(question, literal))
    )


def _find_single_literals(question: str, today: date) -> Iterator[QuestionLiteral]:
    dates = list(find_dates(question, today))
    yield from dates
    yield from find_quantities(question, [(literal.start, literal.end) for literal in dates])


def _is_number_word(literal: QuestionLiteral) -> bool:
    """ "The two of them": whether the literal is a number in words that measures and compares nothing."""
    if not isinstance(literal, QuantityLiteral) or not literal.is_spelled or not literal.is_bare:
        return False
    return not (literal.unit or literal.currency or literal.is_age or literal.is_rate)


def _is_own_duration(question: str, literal: QuestionLiteral) -> bool:
    """ "I've been ill for *nine days*": whether the literal measures no document, but somebody in the conversation."""
    if not isinstance(literal, QuantityLiteral) or not is_time_unit(literal.unit):
        return False
    return _OWN_STATE.search(question[: literal.start]) is not None


def _attach_comparators(question: str, literals: Sequence[QuestionLiteral]) -> Iterator[QuestionLiteral]:
    search_start = 0
    for literal, following in zip_longest(literals, literals[1:]):
        aged = _extend_age(question, literal)
        compared = _attach_comparator(question, aged, search_start)
        compared = _mark_ongoing(question, _widen_to_age_before(question, compared, search_start))
        if following is not None and compared.end > following.start:
            compared = aged
        search_start = compared.end
        yield compared


def _extend_age(question: str, literal: QuestionLiteral) -> QuestionLiteral:
    """ "Ten years *old*": returns the literal with the words that make it an age."""
    if not isinstance(literal, QuantityLiteral) or not is_time_unit(literal.unit):
        return literal
    if match := _AGE_AFTER.match(question, literal.end):
        return replace(literal, end=match.end(), is_age=True)
    if match := _OVERDUE_AFTER.match(question, literal.end):
        return replace(literal, end=match.end(), is_age=True, is_overdue=True)
    return literal


def _widen_to_age_before(question: str, literal: QuestionLiteral, search_start: int) -> QuestionLiteral:
    """ "*Aged* over 60"."""
    if not isinstance(literal, QuantityLiteral) or not _may_be_age(literal):
        return literal
    before = question[search_start : literal.start]
    if match := _AGE_BEFORE.search(before):
        return replace(literal, start=search_start + match.start(), is_age=True)
    if is_time_unit(literal.unit) and (match := _OVERDUE_BEFORE.search(before)):
        return replace(literal, start=search_start + match.start(), is_age=True, is_overdue=True)
    return literal


def _mark_ongoing(question: str, literal: QuestionLiteral) -> QuestionLiteral:
    """ "In use *for* more than 3 years"."""
    if not isinstance(literal, QuantityLiteral) or not is_time_unit(literal.unit):
        return literal
    return replace(literal, is_ongoing=question[: literal.start].rstrip().lower().endswith((" for", " since")))


def _may_be_age(literal: QuantityLiteral) -> bool:
    return is_time_unit(literal.unit) or not (literal.unit or literal.currency)


def _attach_comparator(question: str, literal: QuestionLiteral, search_start: int) -> QuestionLiteral:
    if literal.op is ComparisonOperator.BETWEEN:
        return literal
    before = find_comparator_before(question, search_start, literal.start)
    literal = literal if before is None else _read_as_year(literal, before)
    number = literal if before is None else _read_as_number(literal, before)
    if before is not None and _fits_literal(before, question, number):
        return _apply_comparator(number, before, start=before.start)
    after = find_comparator_after(question, literal.end)
    literal = literal if after is None else _read_as_number(literal, after)
    if after is not None and not (after.is_temporal and isinstance(literal, QuantityLiteral)):
        compared = _apply_comparator(literal, after, end=after.end)
        return compared if isinstance(compared, DateLiteral) else replace(compared, tail_start=after.start)
    if isinstance(literal, DateLiteral) or literal.is_age:
        return literal
    distant = find_distant_comparator(question, search_start, literal.start, literal.end)
    if distant is None:
        return literal
    return replace(literal, op=distant.op, is_bare=False, comparator_span=(distant.start, distant.end))


def _read_as_year(literal: QuestionLiteral, comparator: ComparatorMatch) -> QuestionLiteral:
    """ "Before 1300": returns the year, which no pattern of dates takes a number so small for."""
    if not isinstance(literal, QuantityLiteral) or not comparator.is_temporal or not literal.is_bare:
        return literal
    year = int(literal.low)
    is_number = literal.high is None and literal.low == year and not (literal.unit or literal.currency)
    if (
        not is_number
        or literal.scale != 1
        or literal.end - literal.start != len("1300")
        or not _FIRST_YEAR <= year <= _LAST_YEAR
    ):
        return literal
    return DateLiteral(
        start=literal.start, end=literal.end, op=ComparisonOperator.EQ, first_day=date(year, 1, 1),
        last_day=date(year, 12, 31), is_year_only=True, number_start=literal.start,
    )  # fmt: skip


def _read_as_number(literal: QuestionLiteral, comparator: ComparatorMatch) -> QuestionLiteral:
    """ "Over 2000": returns the year as a number, unless the comparator compares days ("since", "newer than")."""
    if not isinstance(literal, DateLiteral) or not literal.is_year_only or comparator.op not in MIRRORED:
        return literal
    is_single_year = literal.first_day.year == literal.last_day.year and literal.end - literal.start == len("2000")
    if not is_single_year or comparator.is_temporal or comparator.is_weak or comparator.is_age or comparator.is_day:
        return literal
    return QuantityLiteral(
        start=literal.start, end=literal.end, op=ComparisonOperator.EQ, low=Decimal(literal.first_day.year),
        is_bare=True, number_start=literal.start, unit_start=literal.end, may_be_year=True,
    )  # fmt: skip


def _fits_literal(comparator: ComparatorMatch, question: str, literal: QuestionLiteral) -> bool:
    """ "From 2021" begins a period, but "from 5 vendors" and "by 2" do not compare anything."""
    word = question[comparator.start : comparator.end].strip().lower()
    if isinstance(literal, DateLiteral):
        return word not in ("from", "over", "within", "past") or literal.counts_back
    if word in ("from", "starting", "beginning", "starting from"):
        return word == "from" and bool(literal.unit or literal.currency)  # "from 80 V", with no end
    if word == "past":
        return not question[: comparator.start].rstrip().lower().endswith("the")
    return word != "by" and (not comparator.is_temporal or word in ("after", "before"))


def _apply_comparator(
    literal: QuestionLiteral, comparator: ComparatorMatch, start: int | None = None, end: int | None = None
) -> QuestionLiteral:
    start, end = literal.start if start is None else start, literal.end if end is None else end
    if isinstance(literal, DateLiteral):
        return _compare_date(literal, comparator, start, end)
    is_age = literal.is_age or (comparator.is_age and _may_be_age(literal))
    if not comparator.is_approximate:
        return replace(literal, op=comparator.op, start=start, end=end, is_bare=False, is_age=is_age)
    margin = abs(literal.low) * _TOLERANCE
    return replace(
        literal, start=start, end=end, is_bare=False, is_approximate=True, is_age=is_age,
        op=ComparisonOperator.BETWEEN, low=literal.low - margin, high=literal.low + margin,
    )  # fmt: skip


def _compare_date(literal: DateLiteral, comparator: ComparatorMatch, start: int, end: int) -> DateLiteral:
    if comparator.is_approximate:
        return _widen_period(replace(literal, start=start, end=end))
    op = comparator.op
    if comparator.is_age or (literal.counts_back and not comparator.is_temporal):
        op = MIRRORED.get(op, op)
    if literal.compared_day is None or op is ComparisonOperator.EQ:
        return replace(literal, op=op, start=start, end=end)
    includes_edge = {ComparisonOperator.LT: ComparisonOperator.LTE, ComparisonOperator.GT: ComparisonOperator.GTE}
    op = op if literal.counts_back else includes_edge.get(op, op)
    return replace(
        literal, op=op, start=start, end=end, first_day=literal.compared_day, last_day=literal.compared_day
    )  # fmt: skip


def _widen_period(literal: DateLiteral) -> DateLiteral:
    """ "Around 2015", "about 5 May": returns the period with as much again before and after it, 3 days at least."""
    days = max((literal.last_day - literal.first_day).days, 3)
    if literal.is_year_only and literal.first_day.year == literal.last_day.year:
        first = literal.first_day.replace(year=literal.first_day.year - 1)
        return replace(
            literal, first_day=first, last_day=literal.last_day.replace(year=literal.last_day.year + 1),
            is_approximate=True, is_year_only=True,
        )  # fmt: skip
    return replace(
        literal, first_day=literal.first_day - timedelta(days), last_day=literal.last_day + timedelta(days),
        is_approximate=True,
    )  # fmt: skip
