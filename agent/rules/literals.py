"""Numbers, money, days, periods and ranges in a question, with the comparators that stand beside them.

What is found here has no field yet: a `Quantity` or a `Span` of days may belong to any field of its dimension.
"""

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from agent.rules.units import converted
from storage.search.conditions import Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number (or a range) at `question[start:end]`, comparator included. `bare`: none was said."""

    start: int
    end: int
    op: Op
    low: Decimal
    high: Decimal | None = None  # of `between`
    unit: str = ""  # as written; empty for none
    currency: str = ""  # ISO 4217; empty for none
    bare: bool = False
    number_start: int = 0  # where the number itself begins
    unit_start: int = 0  # where the unit begins; a word that proves to be none is left to others


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """A day or period at `question[start:end]`: the first and the last day, and how the question compares with it."""

    start: int
    end: int
    op: Op  # EQ for within the period, else before its first, after its last, …
    first: date
    last: date
    year_only: bool = False  # it was written as a bare year, and may be a number as well
    yearless: bool = False  # it was written without a year; a range takes it from its end
    number_start: int = 0


Literal: TypeAlias = Quantity | Days

_MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name} | {
    name.lower(): n for n, name in enumerate(calendar.month_abbr) if name
}
_MONTHS["sept"] = 9
_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<month>{_NAMES})\.?"
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<m>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])\b",
        rf"\b{_YEAR}/(?P<m>0[1-9]|1[0-2])/(?P<day>0[1-9]|[12]\d|3[01])\b",
        rf"\b{_YEAR}-(?P<m>0[1-9]|1[0-2])\b(?!-\d)",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?P<day>0?[1-9]|[12]\d|3[01])\.(?P<m>0?[1-9]|1[0-2])\.{_YEAR}\b",
        rf"\b(?P<a>0?[1-9]|[12]\d|3[01])/(?P<b>0?[1-9]|[12]\d|3[01])/{_YEAR}\b",
        rf"\bQ(?P<quarter>[1-4])[\s/-]*(?:of\s+)?{_YEAR}\b",
        rf"\b{_YEAR}[\s/-]*Q(?P<quarter>[1-4])\b",
        rf"\b(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?P<half>first|second)\s+half\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}\b(?!\s+\d)",
        rf"\b{_MONTH}\s+{_DAY}\b(?![\d,.]*\d)",
        rf"\b{_MONTH}(?=\s*(?:to|and|until|till|through|-|–)\s*(?:(?:{_NAMES})\b))",
        r"\b(?P<relative>today|yesterday)\b",
        r"\b(?P<which>this|last|past|previous|current)\s+(?P<count>\d{1,3}\s+|two\s+|three\s+|four\s+|five\s+|six\s+|twelve\s+)?"
        r"(?P<span>day|week|month|quarter|year)s?\b",
        rf"(?<![\w.,/$€£-]){_YEAR}(?![\w%°]|[.,/-]\d)(?!\s*(?:V|mV|kV|A|mA|W|mW|kW|C|F|K|mm|cm|m|kg|g|MYR|USD|EUR|GBP|IDR)\b)",
        rf"\b(?:in|during)\s+(?P<lone>{'|'.join(name.lower() for name in calendar.month_name if name)})\b(?!\s+\d)",
    )
]
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "twelve": 12}

_CURRENCY_SIGNS = {
    "$": "USD",
    "US$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "RM": "MYR",
    "Rp": "IDR",
    "₹": "INR",
    "CHF": "CHF",
}
_CURRENCY_WORDS = {
    "dollar": "USD", "dollars": "USD", "usd": "USD", "bucks": "USD", "euro": "EUR", "euros": "EUR", "eur": "EUR",
    "pound": "GBP", "pounds": "GBP", "sterling": "GBP", "gbp": "GBP", "yen": "JPY", "jpy": "JPY", "franc": "CHF",
    "francs": "CHF", "chf": "CHF", "ringgit": "MYR", "myr": "MYR", "rupiah": "IDR", "idr": "IDR", "rupees": "INR",
    "inr": "INR", "yuan": "CNY", "cny": "CNY", "cad": "CAD", "aud": "AUD", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "pln": "PLN", "sgd": "SGD", "brl": "BRL", "krw": "KRW", "won": "KRW", "mxn": "MXN", "nzd": "NZD", "czk": "CZK",
}  # fmt: skip
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
_NUMBER = re.compile(
    r"(?<![\w.,])(?<!\w-)(?P<sign>US\$|[$€£¥₹]|RM|Rp|(?:USD|EUR|GBP|MYR|IDR|JPY|CHF|CAD|AUD|INR|SGD)\s?)?\s?"
    r"(?P<minus>[-−](?=\d))?(?P<digits>\d{1,3}(?:[,\u202f']\d{3})+(?:\.\d+)?|(?!0\d)\d+(?:\.\d+)?|\.\d+|\d+,\d{1,2}(?!\d))"
    r"(?:\s?(?P<scale>thousand|million|billion|mn|bn|k|m)\b(?![²³2]))?"
    r"(?:\s?(?P<unit>°\s?[CF]?|%|\"|″|[A-Za-zµμΩ]{1,16}(?:/[A-Za-z]{1,4})?[²³]?(?![A-Za-z\d-])))?"
    r"(?![\w/]|[.,:]\d|-[A-Za-z\d])",
)
_WORD_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "sixty": 60,
    "ninety": 90, "hundred": 100, "thousand": 1000,
}  # fmt: skip

_BEFORE: tuple[tuple[str, Op], ...] = (
    (r"no(?:t)?\s+(?:less|fewer|lower|smaller|earlier|shorter|cheaper)\s+than", Op.GTE),
    (r"no(?:t)?\s+(?:more|greater|higher|larger|later|longer|bigger)\s+than", Op.LTE),
    (r"(?:more|greater|higher|larger|bigger|longer|wider|taller|heavier|deeper|better|later|newer|warmer|hotter|dearer)\s+than",
     Op.GT),
    (r"(?:less|fewer|lower|smaller|shorter|narrower|lighter|cheaper|earlier|older|colder|cooler)\s+than", Op.LT),
    (r"at\s+least|a\s+minimum\s+of|minimum\s+of|minimum|min\.?|not\s+(?:under|below)|starting\s+(?:at|from)", Op.GTE),
    (r"at\s+most|a\s+maximum\s+of|maximum\s+of|maximum|max\.?|up\s+to|not\s+(?:over|above|exceeding)|no\s+later\s+than",
     Op.LTE),
    (r"over|above|exceed(?:s|ing|ed)?|beyond|in\s+excess\s+of|more\s+than|past|north\s+of", Op.GT),
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
_MORE = "more|higher|above|greater|over|up|larger|better|later|newer|longer|upwards?"
_LESS = "less|lower|below|fewer|under|smaller|cheaper|earlier|older|shorter"
_AFTER = (
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_MORE})\b", re.I), Op.GTE),
    (re.compile(rf"^\s*(?:or|and)\s+(?:{_LESS})\b", re.I), Op.LTE),
    (re.compile(r"^\s*(?:at\s+least|minimum|min\b|upwards?|onwards?|on\b(?!\s+\w)|on\s+forward)", re.I), Op.GTE),
    (re.compile(r"^\s*(?:at\s+most|maximum|max\b|tops)", re.I), Op.LTE),
    (re.compile(r"^\+(?!\w)"), Op.GTE),
)  # fmt: skip
_BETWEEN = re.compile(r"(?:\bbetween|\bfrom|\branging\s+from|\bbetween\s+the)\s*$", re.IGNORECASE)
_JOINED = re.compile(r"^\s*(?:and|to|until|till|through|up\s+to|[-–—])\s*(?:the\s+)?$", re.IGNORECASE)
_EXCLUSIVE = {Op.GT, Op.LT, Op.GTE, Op.LTE}
_STRICT_WORDS = re.compile(r"^(?:in|is|or|and|of|to|at|by|on|as|for|a|the|with|from|per|each|but|not|days?\s+of)$")


def literals_of(question: str, today: date) -> tuple[Literal, ...]:
    """Every number, amount, day and range outside quotation marks, in order, none overlapping."""
    found = sorted(_atoms(question, today), key=lambda literal: literal.start)
    return tuple(_compared(question, _joined(question, found)))


def _atoms(question: str, today: date) -> Iterator[Literal]:
    taken: list[tuple[int, int]] = []

    def is_free(start: int, end: int) -> bool:
        return all(end <= a or start >= b for a, b in taken)

    for pattern in _DATES:
        for match in pattern.finditer(question):
            days = _days(match, today)
            if days is not None and is_free(match.start(), match.end()):
                start = match.start("lone") if "lone" in match.groupdict() and match["lone"] else match.start()
                taken.append((start, match.end()))
                yield replace(days, start=start, end=match.end(), number_start=start)
    for match in _NUMBER.finditer(question):
        quantity = _quantity(match)
        if quantity is not None and is_free(quantity.start, match.start("digits") + 1):
            end = min([quantity.end, *(a for a, _ in taken if a >= match.end("digits"))])
            taken.append((quantity.start, end))
            yield quantity if end == quantity.end else replace(quantity, end=match.end("digits"), unit="")


def _days(match: re.Match[str], today: date) -> Days | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    try:
        first, last = _period(parts, today)
    except ValueError:  # 31 February
        return None
    return Days(
        start=0,
        end=0,
        op=Op.EQ,
        first=first,
        last=last,
        year_only=set(parts) == {"year"},
        yearless="month" in parts and "year" not in parts,
    )


def _period(parts: dict[str, str], today: date) -> tuple[date, date]:
    if "relative" in parts:
        day = today if parts["relative"].lower() == "today" else today - timedelta(days=1)
        return day, day
    if "span" in parts:
        return _relative(parts, today)
    if "lone" in parts:
        month = _MONTHS[parts["lone"].lower()]
        return _month(today.year if month <= today.month else today.year - 1, month)
    year = int(parts.get("year", today.year))
    if "quarter" in parts or "ordinal" in parts:
        quarter = int(parts["quarter"]) if "quarter" in parts else _ORDINALS[parts["ordinal"].lower()]
        return date(year, quarter * 3 - 2, 1), _month(year, quarter * 3)[1]
    if "half" in parts:
        later = _ORDINALS[parts["half"].lower()] == 2
        return (date(year, 7, 1), date(year, 12, 31)) if later else (date(year, 1, 1), date(year, 6, 30))
    if "a" in parts:
        a, b = int(parts["a"]), int(parts["b"])
        day = date(year, a, b) if a <= 12 else date(year, b, a)  # month first where it can be, as in the United States
        return day, day
    month = _MONTHS[parts["month"].lower()] if "month" in parts else int(parts["m"]) if "m" in parts else 0
    if "day" in parts and month:
        day = date(year, month, int(parts["day"]))
        return day, day
    return _month(year, month) if month else (date(year, 1, 1), date(year, 12, 31))


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _relative(parts: dict[str, str], today: date) -> tuple[date, date]:
    written = parts.get("count", "1").strip().lower()
    count = _COUNTS.get(written) or int(written)
    now = parts["which"].lower() in ("this", "current")
    rolling = "count" in parts
    match parts["span"].lower():
        case "day":
            return (
                (today, today) if now else (today - timedelta(days=count), today if rolling else today - timedelta(1))
            )
        case "week":
            monday = today - timedelta(days=today.weekday())
            return (monday, monday + timedelta(6)) if now else (monday - timedelta(7 * count), monday - timedelta(1))
        case "month":
            return _months_back(today, 0 if now else count, rolling)
        case "quarter":
            start = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
            first = _shifted(start, 0 if now else -3 * count)
            return first, (_shifted(start, 3) if now else start) - timedelta(1)
        case _:
            if now:
                return date(today.year, 1, 1), date(today.year, 12, 31)
            if rolling:
                return _shifted(today, -12 * count), today
            return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def _months_back(today: date, count: int, rolling: bool) -> tuple[date, date]:
    start = today.replace(day=1)
    if rolling:
        return _shifted(today, -count), today
    first = _shifted(start, -count)
    return first, _month(first.year, first.month)[1]


def _shifted(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _quantity(match: re.Match[str]) -> Quantity | None:
    written = match["digits"]
    digits = written.replace(",", ".") if re.fullmatch(r"\d+,\d{1,2}", written) else re.sub(r"[,\u202f']", "", written)
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return None
    sign, unit, end = (match["sign"] or "").strip(), match["unit"] or "", match.end()
    scale = (match["scale"] or "").lower()
    if scale == "m" and not sign and not unit:
        scale, unit = "", "m"  # "5 m" is a length unless money is meant
    number *= 10 ** _SCALES.get(scale, 0)
    currency = _CURRENCY_SIGNS.get(sign, sign.upper())
    if unit.casefold() in _CURRENCY_WORDS:
        currency, unit = currency or _CURRENCY_WORDS[unit.casefold()], ""
    elif unit and _STRICT_WORDS.match(unit):
        unit, end = "", max(match.end("digits"), match.end("scale"))
    return Quantity(
        start=match.start(), end=end, op=Op.EQ, low=-number if match["minus"] else number, unit=unit,
        currency=currency, bare=True, number_start=match.start(),
        unit_start=match.start("unit") if unit else end,
    )  # fmt: skip


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
            return replace(low, end=high.end, first=first, last=high.last, year_only=False)
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
    return literal


def _goes(op: Op, words: str, literal: Literal) -> bool:
    """ "From 2021" begins a period; "from 5 vendors" and "by 2" compare nothing."""
    word = words.strip().lower()
    if isinstance(literal, Quantity):
        return word not in ("from", "by", "since", "through", "past", "starting")
    return word != "from"


def _with_op(literal: Literal, op: Op, start: int | None = None, end: int | None = None) -> Literal:
    start = literal.start if start is None else start
    end = literal.end if end is None else end
    if isinstance(literal, Quantity):
        return replace(literal, op=op, start=start, end=end, bare=False)
    return replace(literal, op=op, start=start, end=end)
