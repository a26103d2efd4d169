"""Numbers, money, days, periods and ranges in a question, with the comparators that stand beside them.

What is found here has no field yet: a `Quantity` or `Days` may belong to any field of its dimension.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from agent.rules.amounts import quantities_in
from agent.rules.atoms import Days, Literal, Quantity
from agent.rules.days import days_in
from agent.rules.units import converted
from storage.search.conditions import Op

_BEFORE: tuple[tuple[str, Op], ...] = (
    (r"no(?:t)?\s+(?:less|fewer|lower|smaller|earlier|shorter|cheaper)\s+than", Op.GTE),
    (r"no(?:t)?\s+(?:more|greater|higher|larger|later|longer|bigger)\s+than", Op.LTE),
    (r"(?:more|greater|higher|larger|bigger|longer|wider|taller|heavier|deeper|better|later|newer|warmer|hotter|dearer)\s+than",
     Op.GT),
    (r"(?:less|fewer|lower|smaller|shorter|narrower|lighter|cheaper|earlier|older|colder|cooler)\s+than", Op.LT),
    (r"at\s+least|a\s+minimum\s+of|minimum\s+of|minimum|min\.?|not\s+(?:under|below)|starting\s+(?:at|from)", Op.GTE),
    (r"at\s+most|a\s+maximum\s+of|maximum\s+of|maximum|max\.?|up\s+to|not\s+(?:over|above|exceeding)|no\s+later\s+than",
     Op.LTE),
    (r"(?:(?:did|does|do|is|was|were)(?:n['’]t|\s+not)|never|not)\s+(?:even\s+)?(?:reach(?:es|ed|ing)?|attain)", Op.LT),
    (r"(?:(?:did|does|do|is|was|were)(?:n['’]t|\s+not)|never|not)\s+(?:even\s+)?(?:exceed|surpass|top|go\s+over)(?:ed|ing|s)?",
     Op.LTE),
    (r"over|above|exceed(?:s|ing|ed)?|surpass(?:es|ing|ed)?|top(?:s|ping|ped)|beyond|in\s+excess\s+of|more\s+than|past|north\s+of",
     Op.GT),
    (r"upwards?\s+of|reach(?:es|ing|ed)?|no\s+fewer\s+than", Op.GTE),
    (r"under|below|beneath|south\s+of", Op.LT),
    (r"since|from|as\s+of|on\s+or\s+after|starting", Op.GTE),
    (r"until|till|through|by|on\s+or\s+before|up\s+until", Op.LTE),
    (r"after|later\s+than|following", Op.GT),
    (r"before|prior\s+to|earlier\s+than|ahead\s+of", Op.LT),
    (r">=|≥|=>", Op.GTE),
    (r"<=|≤|=<", Op.LTE),
    (r">", Op.GT),
    (r"<", Op.LT),
    (r"exactly|precisely|equal(?:s)?(?:\s+to)?|of\s+exactly|=", Op.EQ),
)  # fmt: skip
_BEFORE_RES = [(re.compile(rf"(?<!\w)(?:{pattern})\s*$", re.IGNORECASE), op) for pattern, op in _BEFORE]
_FILL = re.compile(
    r"(?:^|(?<=\s))(?:of|the|a|an|is|are|was|were|about|that|it|be|on|in|rated|rating|ratings)\s*$", re.IGNORECASE
)
_MORE = "more|higher|above|greater|over|up|larger|better|later|newer|younger|longer|upwards?"
_LESS = "less|lower|below|fewer|under|smaller|cheaper|earlier|older|shorter"
_AFTER = (
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_MORE})\b", re.I), Op.GTE),
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_LESS})\b", re.I), Op.LTE),
    (re.compile(r"^\s*(?:at\s+least|minimum|min\b|upwards?|onwards?|on\b(?!\s+\w)|on\s+forward)", re.I), Op.GTE),
    (re.compile(r"^\s*(?:at\s+most|maximum|max\b|tops)", re.I), Op.LTE),
    (re.compile(r"^\+(?!\w)"), Op.GTE),
)  # fmt: skip
# "A minimum drain current of 8 A": the field stands between the comparator and its number.
_MORE_AFTER = re.compile(
    rf"^(?:\s+(?!and\b|or\b|with\b|but\b)[A-Za-z()-]+){{1,3}}?\s+(?P<op>or\s+(?:{_MORE})|minimum|min\b)", re.I
)
_LESS_AFTER = re.compile(
    rf"^(?:\s+(?!and\b|or\b|with\b|but\b)[A-Za-z()-]+){{1,3}}?\s+(?P<op>or\s+(?:{_LESS})|maximum|max\b)", re.I
)
_NAMED = r"(?:\s+[\w()/-]+){1,4}?"
_APART = (
    (re.compile(rf"(?<!\w)(?:minimum|min\.?)(?={_NAMED}\s*(?:of|is|:|=|at)?\s*$)", re.I), Op.GTE),
    (re.compile(rf"(?<!\w)(?:maximum|max\.?)(?={_NAMED}\s*(?:of|is|:|=|at)?\s*$)", re.I), Op.LTE),
    (re.compile(rf"(?<!\w)at\s+least(?=\s+an?{_NAMED}\s*(?:of|is|:|=)\s*$)", re.I), Op.GTE),
    (re.compile(rf"(?<!\w)at\s+most(?=\s+an?{_NAMED}\s*(?:of|is|:|=)\s*$)", re.I), Op.LTE),
)  # fmt: skip
_BETWEEN = re.compile(r"(?:\bbetween|\bfrom|\branging\s+from|\bbetween\s+the)\s*$", re.IGNORECASE)
_JOINED = re.compile(r"^\s*(?:and|to|until|till|through|up\s+to|[-–—])\s*(?:the\s+)?$", re.IGNORECASE)


def literals_of(question: str, today: date) -> tuple[Literal, ...]:
    """Every number, amount, day and range outside quotation marks, in order, none overlapping."""
    found = sorted(_atoms(question, today), key=lambda literal: literal.start)
    return tuple(
        _alike_in_op(question, list(_alike_in_unit(question, list(_compared(question, _joined(question, found))))))
    )


def _atoms(question: str, today: date) -> Iterator[Literal]:
    days = list(days_in(question, today))
    yield from days
    yield from quantities_in(question, [(one.start, one.end) for one in days])


def _joined(question: str, atoms: Sequence[Literal]) -> list[Literal]:
    result: list[Literal] = []
    for atom in atoms:
        last = result[-1] if result else None
        if last is not None and last.op is Op.EQ and _JOINED.match(question[last.end : atom.start]):
            dashed = "and" not in question[last.end : atom.start].lower()
            opened = _BETWEEN.search(question[: last.start])
            joined = _range(last, atom) if opened or dashed else None
            if joined is not None:
                result[-1] = replace(joined, start=opened.start() if opened else joined.start)
                continue
        result.append(atom)
    return result


def _range(low: Literal, high: Literal) -> Literal | None:
    match low, high:
        case Quantity(), Quantity():
            top = _in_unit(high, low.unit)
            if top is None:
                return None
            return replace(
                low, end=high.end, op=Op.BETWEEN, high=top, unit=low.unit or high.unit, unit_start=high.unit_start,
                currency=low.currency or high.currency, bare=False,
            )  # fmt: skip
        case Days(), Days():
            first = low.first
            if low.yearless:  # "from October to December 2024"
                year = high.first.year
                first = first.replace(
                    year=year if (first.month, first.day) <= (high.first.month, high.first.day) else year - 1
                )
            return replace(low, end=high.end, first=first, last=high.last, year_only=low.year_only and high.year_only)
        case Quantity(unit="", currency=""), Days() if 1 <= low.low <= 31 and high.first == high.last:
            first = high.first.replace(day=int(low.low))  # "between 5 and 20 March 2024"
            return replace(high, start=low.start, first=first, number_start=low.start)
        case _:
            return None


def _in_unit(quantity: Quantity, unit: str) -> Decimal | None:
    """The number in another unit as written ("between 0.3 W and 700 mW"); None where it measures something else."""
    if not unit or not quantity.unit or unit == quantity.unit:
        return quantity.low
    result = converted(quantity.low, quantity.unit, unit)
    return None if result is None else Decimal(repr(result))


def _compared(question: str, literals: Sequence[Literal]) -> Iterator[Literal]:
    floor = 0
    for literal in literals:
        compared = _with_comparator(question, literal, floor)
        floor = compared.end
        yield compared


_UPPER, _LOWER = frozenset({Op.LT, Op.LTE}), frozenset({Op.GT, Op.GTE})
_BESIDE = re.compile(r"^\s*(?:,|,?\s*(?:and|but))\s*$", re.IGNORECASE)


def _alike_in_unit(question: str, literals: Sequence[Literal]) -> Iterator[Literal]:
    """ "At least 10 and at most 25 EUR": the two ends of a range share what is written once."""
    for at, literal in enumerate(literals):
        beside = [
            other
            for other in (*literals[max(at - 1, 0) : at], *literals[at + 1 : at + 2])
            if isinstance(other, Quantity)
            and _BESIDE.match(question[min(literal.end, other.end) : max(literal.start, other.start)])
        ]
        shared = next((one for one in beside if isinstance(literal, Quantity) and _completes(one, literal)), None)
        if isinstance(literal, Quantity) and shared is not None:
            yield replace(literal, unit=shared.unit, currency=shared.currency)
        else:
            yield literal


_TOGETHER = re.compile(r"^\s*(?:,|and|,\s*and|&)\s*$", re.IGNORECASE)
_ENDS = (Op.GT, Op.GTE, Op.LT, Op.LTE)


def _alike_in_op(question: str, literals: Sequence[Literal]) -> Iterator[Literal]:
    """ "100 V and 5 A or more", "at least 80 V and 5 A": measures set side by side compare alike."""
    for at, literal in enumerate(literals):
        beside = [
            other
            for other in (*literals[max(at - 1, 0) : at], *literals[at + 1 : at + 2])
            if isinstance(literal, Quantity)
            and isinstance(other, Quantity)
            and _are_coordinated(literal, other)
            and _TOGETHER.match(question[min(literal.end, other.end) : max(literal.start, other.start)])
        ]
        yield replace(literal, op=beside[0].op, bare=False) if beside and isinstance(literal, Quantity) else literal


def _are_coordinated(bare: Quantity, other: Quantity) -> bool:
    measured = bool(bare.unit) and bool(other.unit) and bare.unit != other.unit
    return measured and bare.bare and bare.op is Op.EQ and other.op in _ENDS


def _completes(one: Quantity, other: Quantity) -> bool:
    ends = (one.op in _UPPER and other.op in _LOWER) or (one.op in _LOWER and other.op in _UPPER)
    return ends and not (other.unit or other.currency) and bool(one.unit or one.currency)


def _with_comparator(question: str, literal: Literal, floor: int) -> Literal:
    if literal.op is Op.BETWEEN:
        return literal
    before = question[floor : literal.start]
    for _ in range(3):
        for pattern, op in _BEFORE_RES:
            match = pattern.search(before)
            if match and _goes(op, match[0], literal):
                return _with_op(literal, op, start=floor + match.start())
        shorter = _FILL.sub("", before)
        if shorter == before:
            break
        before = shorter
    after = question[literal.end :]
    for pattern, op in _AFTER:
        match = pattern.match(after)
        if match:
            return _with_op(literal, op, end=literal.end + match.end())
    return _compared_apart(question, literal, floor)


def _compared_apart(question: str, literal: Literal, floor: int) -> Literal:
    """ "A minimum power of 5 W": the comparator stands before the field's name."""
    if isinstance(literal, Days):
        return literal
    for pattern, op in ((_MORE_AFTER, Op.GTE), (_LESS_AFTER, Op.LTE)):
        match = pattern.match(question[literal.end :])
        if match:
            span = (literal.end + match.start("op"), literal.end + match.end("op"))
            return replace(literal, op=op, bare=False, apart=span)
    for pattern, op in _APART:
        match = pattern.search(question[floor : literal.start])
        if match:
            return replace(literal, op=op, bare=False, apart=(floor + match.start(), floor + match.end()))
    return literal


def _goes(op: Op, words: str, literal: Literal) -> bool:
    """ "From 2021" begins a period; "from 5 vendors" and "by 2" compare nothing."""
    word = words.strip().lower()
    if isinstance(literal, Quantity):
        if word == "from" and (literal.unit or literal.currency):
            return True  # "from 80 V", with no end
        return word not in ("from", "by", "since", "through", "past", "starting")
    return word not in ("from", "over")  # "over the past five years": within them


def _with_op(literal: Literal, op: Op, start: int | None = None, end: int | None = None) -> Literal:
    start = literal.start if start is None else start
    end = literal.end if end is None else end
    if isinstance(literal, Quantity):
        return replace(literal, op=op, start=start, end=end, bare=False)
    return replace(literal, op=op, start=start, end=end)
