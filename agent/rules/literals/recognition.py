"""Finds numbers, money, days, periods and ranges in a question, with the comparators beside them.

A literal has no field yet: a `QuantityLiteral` or `DateLiteral` may belong to any field of its dimension.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from agent.rules.literals.amounts import find_quantities
from agent.rules.literals.days import find_dates
from agent.rules.literals.literal_types import DateLiteral, QuantityLiteral, QuestionLiteral
from storage.quantities.units import convert_unit
from storage.search.conditions import ComparisonOperator

_COMPARATORS_BEFORE: tuple[tuple[str, ComparisonOperator], ...] = (
    (r"no(?:t)?\s+(?:less|fewer|lower|smaller|earlier|shorter|cheaper)\s+than", ComparisonOperator.GTE),
    (r"no(?:t)?\s+(?:more|greater|higher|larger|later|longer|bigger)\s+than", ComparisonOperator.LTE),
    (r"(?:more|greater|higher|larger|bigger|longer|wider|taller|heavier|deeper|better|later|newer|warmer|hotter|dearer)"
     r"\s+than", ComparisonOperator.GT),
    (r"(?:less|fewer|lower|smaller|shorter|narrower|lighter|cheaper|earlier|older|colder|cooler)\s+than",
     ComparisonOperator.LT),
    (r"at\s+least|a\s+minimum\s+of|minimum\s+of|minimum|min\.?|not\s+(?:under|below)|starting\s+(?:at|from)",
     ComparisonOperator.GTE),
    (r"at\s+most|a\s+maximum\s+of|maximum\s+of|maximum|max\.?|up\s+to|not\s+(?:over|above|exceeding)|no\s+later\s+than",
     ComparisonOperator.LTE),
    (r"(?:(?:did|does|do|is|was|were)(?:n['’]t|\s+not)|never|not)\s+(?:even\s+)?(?:reach(?:es|ed|ing)?|attain)",
     ComparisonOperator.LT),
    (r"(?:(?:did|does|do|is|was|were)(?:n['’]t|\s+not)|never|not)\s+(?:even\s+)?"
     r"(?:exceed|surpass|top|go\s+over)(?:ed|ing|s)?",
     ComparisonOperator.LTE),
    (r"over|above|exceed(?:s|ing|ed)?|surpass(?:es|ing|ed)?|top(?:s|ping|ped)|beyond|"
     r"in\s+excess\s+of|more\s+than|past|north\s+of",
     ComparisonOperator.GT),
    (r"upwards?\s+of|reach(?:es|ing|ed)?|no\s+fewer\s+than", ComparisonOperator.GTE),
    (r"under|below|beneath|south\s+of", ComparisonOperator.LT),
    (r"since|from|as\s+of|on\s+or\s+after|starting", ComparisonOperator.GTE),
    (r"until|till|through|by|on\s+or\s+before|up\s+until", ComparisonOperator.LTE),
    (r"after|later\s+than|following", ComparisonOperator.GT),
    (r"before|prior\s+to|earlier\s+than|ahead\s+of", ComparisonOperator.LT),
    (r">=|≥|=>", ComparisonOperator.GTE),
    (r"<=|≤|=<", ComparisonOperator.LTE),
    (r">", ComparisonOperator.GT),
    (r"<", ComparisonOperator.LT),
    (r"exactly|precisely|equal(?:s)?(?:\s+to)?|of\s+exactly|=", ComparisonOperator.EQ),
)  # fmt: skip
_COMPARATOR_BEFORE_PATTERNS = [
    (re.compile(rf"(?<!\w)(?:{pattern})\s*$", re.IGNORECASE), op) for pattern, op in _COMPARATORS_BEFORE
]
_TRAILING_FILLER = re.compile(
    r"(?:^|(?<=\s))(?:of|the|a|an|is|are|was|were|about|that|it|be|on|in|rated|rating|ratings)\s*$", re.IGNORECASE
)
_MORE_WORDS = "more|higher|above|greater|over|up|larger|better|later|newer|younger|longer|upwards?"
_LESS_WORDS = "less|lower|below|fewer|under|smaller|cheaper|earlier|older|shorter"
_COMPARATOR_AFTER_PATTERNS = (
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_MORE_WORDS})\b", re.I), ComparisonOperator.GTE),
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_LESS_WORDS})\b", re.I), ComparisonOperator.LTE),
    (re.compile(r"^\s*(?:at\s+least|minimum|min\b|upwards?|onwards?|on\b(?!\s+\w)|on\s+forward)", re.I),
     ComparisonOperator.GTE),
    (re.compile(r"^\s*(?:at\s+most|maximum|max\b|tops)", re.I), ComparisonOperator.LTE),
    (re.compile(r"^\+(?!\w)"), ComparisonOperator.GTE),
)  # fmt: skip
# "A minimum drain current of 8 A": the field's name stands between the comparator and the number.
_MORE_AFTER_FIELD = re.compile(
    rf"^(?:\s+(?!and\b|or\b|with\b|but\b)[A-Za-z()-]+){{1,3}}?\s+(?P<op>or\s+(?:{_MORE_WORDS})|minimum|min\b)", re.I
)
_LESS_AFTER_FIELD = re.compile(
    rf"^(?:\s+(?!and\b|or\b|with\b|but\b)[A-Za-z()-]+){{1,3}}?\s+(?P<op>or\s+(?:{_LESS_WORDS})|maximum|max\b)", re.I
)
_FIELD_NAME_PATTERN = r"(?:\s+[\w()/-]+){1,4}?"
_COMPARATOR_BEFORE_FIELD = (
    (re.compile(rf"(?<!\w)(?:minimum|min\.?)(?={_FIELD_NAME_PATTERN}\s*(?:of|is|:|=|at)?\s*$)", re.I),
     ComparisonOperator.GTE),
    (re.compile(rf"(?<!\w)(?:maximum|max\.?)(?={_FIELD_NAME_PATTERN}\s*(?:of|is|:|=|at)?\s*$)", re.I),
     ComparisonOperator.LTE),
    (re.compile(rf"(?<!\w)at\s+least(?=\s+an?{_FIELD_NAME_PATTERN}\s*(?:of|is|:|=)\s*$)", re.I),
     ComparisonOperator.GTE),
    (re.compile(rf"(?<!\w)at\s+most(?=\s+an?{_FIELD_NAME_PATTERN}\s*(?:of|is|:|=)\s*$)", re.I),
     ComparisonOperator.LTE),
)  # fmt: skip
_RANGE_START = re.compile(r"(?:\bbetween|\bfrom|\branging\s+from|\bbetween\s+the)\s*$", re.IGNORECASE)
_RANGE_JOIN = re.compile(r"^\s*(?:and|to|until|till|through|up\s+to|[-–—])\s*(?:the\s+)?$", re.IGNORECASE)


def find_literals(question: str, today: date) -> tuple[QuestionLiteral, ...]:
    """Returns the numbers, amounts, days and ranges outside quotation marks, in order and without overlaps."""
    singles = sorted(_find_single_literals(question, today), key=lambda literal: literal.start)
    compared = list(_attach_comparators(question, _join_ranges(question, singles)))
    return tuple(_share_operators(question, list(_share_units(question, compared))))


def _find_single_literals(question: str, today: date) -> Iterator[QuestionLiteral]:
    dates = list(find_dates(question, today))
    yield from dates
    yield from find_quantities(question, [(literal.start, literal.end) for literal in dates])


def _join_ranges(question: str, literals: Sequence[QuestionLiteral]) -> list[QuestionLiteral]:
    result: list[QuestionLiteral] = []
    for literal in literals:
        last = result[-1] if result else None
        between = question[last.end : literal.start] if last is not None else ""
        if last is not None and last.op is ComparisonOperator.EQ and _RANGE_JOIN.match(between):
            opening = _RANGE_START.search(question[: last.start])
            joined = _combine_range(last, literal) if opening or "and" not in between.lower() else None
            if joined is not None:
                result[-1] = replace(joined, start=opening.start() if opening else joined.start)
                continue
        result.append(literal)
    return result


def _combine_range(low: QuestionLiteral, high: QuestionLiteral) -> QuestionLiteral | None:
    match low, high:
        case QuantityLiteral(), QuantityLiteral():
            top = _convert_to_unit(high, low.unit)
            if top is None:
                return None
            return replace(
                low, end=high.end, op=ComparisonOperator.BETWEEN, high=top, unit=low.unit or high.unit,
                unit_start=high.unit_start, currency=low.currency or high.currency, is_bare=False,
            )  # fmt: skip
        case DateLiteral(), DateLiteral():
            first = low.first_day
            if low.lacks_year:  # "from October to December 2024"
                year = high.first_day.year
                first = first.replace(
                    year=year if (first.month, first.day) <= (high.first_day.month, high.first_day.day) else year - 1
                )
            return replace(
                low,
                end=high.end,
                first_day=first,
                last_day=high.last_day,
                is_year_only=low.is_year_only and high.is_year_only,
            )
        case QuantityLiteral(unit="", currency=""), DateLiteral() if (
            1 <= low.low <= 31 and high.first_day == high.last_day
        ):
            first = high.first_day.replace(day=int(low.low))  # "between 5 and 20 March 2024"
            return replace(high, start=low.start, first_day=first, number_start=low.start)
        case _:
            return None


def _convert_to_unit(quantity: QuantityLiteral, unit: str) -> Decimal | None:
    """Converts the number to the unit of the other end ("between 0.3 W and 700 mW"); None if that is impossible."""
    if not unit or not quantity.unit or unit == quantity.unit:
        return quantity.low
    result = convert_unit(quantity.low, quantity.unit, unit)
    return None if result is None else Decimal(repr(result))


def _attach_comparators(question: str, literals: Sequence[QuestionLiteral]) -> Iterator[QuestionLiteral]:
    search_start = 0
    for literal in literals:
        compared = _attach_comparator(question, literal, search_start)
        search_start = compared.end
        yield compared


_UPPER_BOUNDS, _LOWER_BOUNDS = (
    frozenset({ComparisonOperator.LT, ComparisonOperator.LTE}),
    frozenset({ComparisonOperator.GT, ComparisonOperator.GTE}),
)
_BOUND_SEPARATOR = re.compile(r"^\s*(?:,|,?\s*(?:and|but))\s*$", re.IGNORECASE)


def _share_units(question: str, literals: Sequence[QuestionLiteral]) -> Iterator[QuestionLiteral]:
    """ "At least 10 and at most 25 EUR": copies the unit of one end of a range to the other end."""
    for i, literal in enumerate(literals):
        neighbours = [
            other
            for other in (*literals[max(i - 1, 0) : i], *literals[i + 1 : i + 2])
            if isinstance(other, QuantityLiteral)
            and _BOUND_SEPARATOR.match(question[min(literal.end, other.end) : max(literal.start, other.start)])
        ]
        other_end = next(
            (
                other
                for other in neighbours
                if isinstance(literal, QuantityLiteral) and _completes_range(other, literal)
            ),
            None,
        )
        if isinstance(literal, QuantityLiteral) and other_end is not None:
            yield replace(literal, unit=other_end.unit, currency=other_end.currency)
        else:
            yield literal


_MEASURE_SEPARATOR = re.compile(r"^\s*(?:,|and|,\s*and|&)\s*$", re.IGNORECASE)
_BOUND_OPERATORS = (ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT, ComparisonOperator.LTE)


def _share_operators(question: str, literals: Sequence[QuestionLiteral]) -> Iterator[QuestionLiteral]:
    """ "100 V and 5 A or more", "at least 80 V and 5 A": copies a comparator to the adjacent measure."""
    for i, literal in enumerate(literals):
        neighbours = [
            other
            for other in (*literals[max(i - 1, 0) : i], *literals[i + 1 : i + 2])
            if isinstance(literal, QuantityLiteral)
            and isinstance(other, QuantityLiteral)
            and _are_coordinated(literal, other)
            and _MEASURE_SEPARATOR.match(question[min(literal.end, other.end) : max(literal.start, other.start)])
        ]
        yield (
            replace(literal, op=neighbours[0].op, is_bare=False)
            if neighbours and isinstance(literal, QuantityLiteral)
            else literal
        )


def _are_coordinated(quantity: QuantityLiteral, other_quantity: QuantityLiteral) -> bool:
    have_units = bool(quantity.unit) and bool(other_quantity.unit) and quantity.unit != other_quantity.unit
    return (
        have_units
        and quantity.is_bare
        and quantity.op is ComparisonOperator.EQ
        and other_quantity.op in _BOUND_OPERATORS
    )


def _completes_range(quantity: QuantityLiteral, other_quantity: QuantityLiteral) -> bool:
    are_two_ends = (quantity.op in _UPPER_BOUNDS and other_quantity.op in _LOWER_BOUNDS) or (
        quantity.op in _LOWER_BOUNDS and other_quantity.op in _UPPER_BOUNDS
    )
    return (
        are_two_ends
        and not (other_quantity.unit or other_quantity.currency)
        and bool(quantity.unit or quantity.currency)
    )


def _attach_comparator(question: str, literal: QuestionLiteral, search_start: int) -> QuestionLiteral:
    if literal.op is ComparisonOperator.BETWEEN:
        return literal
    before = question[search_start : literal.start]
    for _ in range(3):
        for pattern, op in _COMPARATOR_BEFORE_PATTERNS:
            match = pattern.search(before)
            if match and _is_comparator_for(op, match[0], literal):
                return _replace_operator(literal, op, start=search_start + match.start())
        shorter = _TRAILING_FILLER.sub("", before)
        if shorter == before:
            break
        before = shorter
    after = question[literal.end :]
    for pattern, op in _COMPARATOR_AFTER_PATTERNS:
        match = pattern.match(after)
        if match:
            return _replace_operator(literal, op, end=literal.end + match.end())
    return _attach_distant_comparator(question, literal, search_start)


def _attach_distant_comparator(question: str, literal: QuestionLiteral, search_start: int) -> QuestionLiteral:
    """ "A minimum power of 5 W": attaches a comparator that is separated by the field's name."""
    if isinstance(literal, DateLiteral):
        return literal
    for pattern, op in ((_MORE_AFTER_FIELD, ComparisonOperator.GTE), (_LESS_AFTER_FIELD, ComparisonOperator.LTE)):
        match = pattern.match(question[literal.end :])
        if match:
            span = (literal.end + match.start("op"), literal.end + match.end("op"))
            return replace(literal, op=op, is_bare=False, comparator_span=span)
    for pattern, op in _COMPARATOR_BEFORE_FIELD:
        match = pattern.search(question[search_start : literal.start])
        if match:
            return replace(
                literal,
                op=op,
                is_bare=False,
                comparator_span=(search_start + match.start(), search_start + match.end()),
            )
    return literal


def _is_comparator_for(op: ComparisonOperator, comparator: str, literal: QuestionLiteral) -> bool:
    """ "From 2021" begins a period, but "from 5 vendors" and "by 2" do not compare anything."""
    word = comparator.strip().lower()
    if isinstance(literal, QuantityLiteral):
        if word == "from" and (literal.unit or literal.currency):
            return True  # "from 80 V", with no end
        return word not in ("from", "by", "since", "through", "past", "starting")
    return word not in ("from", "over")  # "over the past five years" means within them


def _replace_operator(
    literal: QuestionLiteral, op: ComparisonOperator, start: int | None = None, end: int | None = None
) -> QuestionLiteral:
    start = literal.start if start is None else start
    end = literal.end if end is None else end
    if isinstance(literal, QuantityLiteral):
        return replace(literal, op=op, start=start, end=end, is_bare=False)
    return replace(literal, op=op, start=start, end=end)
