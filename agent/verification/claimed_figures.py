"""Numbers, amounts, days and times of a sentence, and whether a text holds the same ones, however they are written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import cast

from storage.quantities.days import MONTH_NUMBERS, MONTH_PATTERN, may_name_month
from storage.quantities.measures import MeasureSpan, find_measures, find_spelled_measures
from storage.quantities.money import (
    CURRENCIES_BY_SIGN,
    CURRENCY_CODES,
    CURRENCY_WORD_PATTERN,
    SIGN_CHARACTERS,
    currency_of_name,
)
from storage.quantities.numbers import parse_number
from storage.quantities.periods import find_periods
from storage.quantities.spelled_numbers import ORDINALS_BY_WORD
from storage.quantities.units import convert_exactly, parse_unit
from storage.search.analyser import fold_text

_DECIMAL_COMMA_LANGUAGES = frozenset({"de", "fr", "es", "pt", "it", "id", "nl", "da", "sv", "pl"})
_SPELLED_NUMBERS: Mapping[str, Mapping[str, int]] = {  # of languages other than English
    "de": {
        word: number
        for number, word in enumerate("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), 2)
    },
    "fr": {
        word: number
        for number, word in enumerate("deux trois quatre cinq six sept huit neuf dix onze douze".split(), 2)
    },
    "es": {word: number for number, word in enumerate("dos tres cuatro cinco seis siete ocho nueve diez".split(), 2)},
}
_ALL_SPELLED_NUMBERS = {word: number for words in _SPELLED_NUMBERS.values() for word, number in words.items()}
_LONG_SPAN_DAYS = 367  # a longer period is claimed only where both of its ends are known
_TOLERANCE = Decimal("1e-9")  # relative, of converted quantities
_MAX_CLAIMED_DIGITS = 400  # records may hold any double, which has up to 309 digits, and a sum may have a few more
_MIN_ROUNDED_TO_WHOLE = 10  # a smaller number is not shown without its decimals

_BLANK_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d])")
_SCALES_AFTER_DIGITS = (
    (re.compile(r"(?<=\d)\s*(?:Millionen|Million\b|millions?|millón|millones|milhões)(?!\w)", re.IGNORECASE),
     " million"),
    (re.compile(r"(?<=\d)\s*(?:Milliarden?|milliards?)(?!\w)", re.IGNORECASE), " billion"),
    (re.compile(r"(?<=\d)\s*(?:Tausend|Tsd)(?!\w)", re.IGNORECASE), " thousand"),
)  # fmt: skip
_PERCENT_WORDS = re.compile(r"\b(?:per cent|Prozent|pour cent|por ciento)\b", re.IGNORECASE)
_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\d:])(?P<clock>[01]?\d|2[0-4]):(?P<minutes>[0-5]\d)(?::[0-5]\d)?(?![\d:])",
    re.IGNORECASE,
)
_DAY_OF_MONTH = re.compile(
    rf"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.)?(?:\s+(?:of|de))?\s+(?P<month>{MONTH_PATTERN})\b"
    r"(?!\s+of\b)"  # "1 set of minutes" is not a day in "set"
    rf"|\b(?P<name>{MONTH_PATTERN})\.?\s+(?P<number>[0-3]?\d)(?:st|nd|rd|th)?\b(?![.,]\d)",
    re.IGNORECASE,
)
_DAY_IN_DIGITS = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}")  # the day may appear first or second
_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,3})(?:st|nd|rd|th)\b", re.IGNORECASE)
_TOKEN_WITH_DIGIT = re.compile(r"[^\s()\[\]{}<>|“”„«»\"*;]*\d[^\s()\[\]{}<>|“”„«»\"*;]*")
_NUMBERS_ONLY = re.compile(r"[\d.,/:+×x%°'’–—-]+")
_PLAIN_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_AMBIGUOUS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_WORD = re.compile(r"[^\W\d_]+|[%°][CF]?")
_COMPOUND_UNIT = re.compile(r"(?<!\S)[^\W\d_]{1,12}/[^\W\d_]{1,12}(?!\S)")  # km/h
_CURRENCY_WORD = re.compile(rf"\b(?:{CURRENCY_WORD_PATTERN})\b", re.IGNORECASE)
_WORD_OR_SIGN = re.compile(rf"[A-Z]{{3}}|[{re.escape(SIGN_CHARACTERS)}]|[^\W\d_]{{1,3}}[$]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFigure:
    """A number with its unit (by pint's name) or currency (ISO 4217), if these are known.

    `readings` has more than one number for `1.200`, which is a thousand and more in some languages; the first is the
    likeliest.
    """

    readings: tuple[Decimal, ...]
    unit: str = ""
    currency: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFigures:
    """The figures of a text."""

    numbers: tuple[NumberFigure, ...] = ()
    periods: tuple[frozenset[tuple[date, date]], ...] = ()  # first and last day, as each may be read
    days_of_months: frozenset[tuple[int, int]] = frozenset()  # month and day, where the year is not said
    minutes: frozenset[int] = frozenset()  # times, from midnight
    tokens: tuple[str, ...] = ()  # words with digits that are none of these, folded


@dataclass(frozen=True, slots=True, kw_only=True)
class _EvidenceFigures:
    """The figures of the evidence with what its words say about units and currencies."""

    figures: TextFigures
    folded: str
    units: frozenset[str]
    currencies: frozenset[str]


def find_unsupported_figure(sentence: str, evidence: str, language: str) -> str | None:
    """Returns a figure of the sentence that the evidence does not hold, for logs; None if it holds all of them.

    Formats and units may differ: `1.2k` is `1,200`, `12 June 2031` is `2031-06-12`, `1.2 kW` is `1200 W`, `three` is
    `3`. `50 %` is not `0.5`. A month or a year is held by a day in it.
    """
    claimed = _scan_sentence(sentence, language)
    if claimed == TextFigures():
        return None
    known = _scan_evidence(evidence)
    unsupported = (
        *(figure for figure in claimed.numbers if not _holds_number(figure, known)),
        *(readings for readings in claimed.periods if not _holds_period(readings, known)),
        *(day for day in claimed.days_of_months if not _holds_day_of_month(day, known)),
        *(minute for minute in claimed.minutes if minute not in known.figures.minutes),
        *(token for token in claimed.tokens if not _holds_token(token, known.folded)),
    )
    return str(unsupported[0]) if unsupported else None


def find_unfounded_figure(
    sentence: str, numbers: Set[float], evidence: str, unit_text: str, language: str
) -> str | None:
    """Like `find_unsupported_figure`, with numbers beside the text; a figure may be one of them, rounded.

    The unit or the currency of such a figure must appear in `unit_text`.
    """
    claimed = _scan_sentence(sentence, language)
    if claimed == TextFigures():
        return None
    unfounded = [figure for figure in claimed.numbers if not _is_rounded_from(figure, numbers, unit_text)]
    if not unfounded and replace(claimed, numbers=()) == TextFigures():
        return None
    known = _scan_evidence(evidence)
    unsupported = (
        *(figure for figure in unfounded if not _holds_number(figure, known)),
        *(
            readings
            for readings in claimed.periods
            if not _is_year_among(readings, numbers) and not _holds_period(readings, known)
        ),
        *(day for day in claimed.days_of_months if not _holds_day_of_month(day, known)),
        *(minute for minute in claimed.minutes if minute not in known.figures.minutes),
        *(token for token in claimed.tokens if not _holds_token(token, known.folded)),
    )
    return str(unsupported[0]) if unsupported else None


def _is_year_among(readings: Set[tuple[date, date]], numbers: Set[float]) -> bool:
    """Whether one of the numbers is the year: a field such as “built” has years as numbers, not as days."""
    return any(
        (first, last) == (date(first.year, 1, 1), date(first.year, 12, 31)) and float(first.year) in numbers
        for first, last in readings
    )


def _is_rounded_from(claimed: NumberFigure, numbers: Set[float], unit_text: str) -> bool:
    """Whether a number has the claimed digits; its sign may be said in words."""
    number = claimed.readings[0]
    if claimed.currency and claimed.currency not in _currencies_named_in(unit_text):
        return False
    if claimed.unit and claimed.unit not in _units_named_in(unit_text):
        return False
    shown = float(number)
    if shown in numbers or -shown in numbers:
        return True  # as most figures are
    return any(_rounds_to(other, number) for other in numbers)


def _rounds_to(number: float, shown: Decimal) -> bool:
    exact = _decimal_of(number)
    digits = cast(int, shown.as_tuple().exponent)
    if abs(abs(exact) - abs(shown)) <= _TOLERANCE * max(abs(exact), Decimal(1)):
        return True
    is_rounded = digits < 0 or abs(exact) >= _MIN_ROUNDED_TO_WHOLE
    is_whole = exact == exact.to_integral_value()
    return is_rounded and not is_whole and abs(abs(exact) - abs(shown)) <= Decimal(1).scaleb(digits) / 2


@lru_cache(maxsize=4096)
def _decimal_of(number: float) -> Decimal:
    """Remembered, since each figure of a sentence is compared with all numbers of the facts."""
    return Decimal(repr(number))


# -- scanning


def _scan_sentence(text: str, language: str) -> TextFigures:
    spelled = _SPELLED_NUMBERS.get(language, {})
    return _scan_text(_join_groups(text), spelled, decimal_comma=language in _DECIMAL_COMMA_LANGUAGES or None)


@lru_cache(maxsize=512)
def _scan_evidence(text: str) -> _EvidenceFigures:
    """Scans a text in which `1 200` may be one number or two."""
    apart = _scan_text(text, _ALL_SPELLED_NUMBERS, decimal_comma=None)
    has_blanks = _BLANK_GROUPS.search(text) is not None
    joined = _scan_text(_join_groups(text), _ALL_SPELLED_NUMBERS, decimal_comma=None) if has_blanks else apart
    figures = TextFigures(
        numbers=tuple(dict.fromkeys((*apart.numbers, *joined.numbers))),
        periods=apart.periods,
        days_of_months=apart.days_of_months,
        minutes=apart.minutes,
        tokens=apart.tokens,
    )
    return _EvidenceFigures(
        figures=figures,
        folded=fold_text(text),
        units=_units_named_in(text),
        currencies=_currencies_named_in(text),
    )


@lru_cache(maxsize=512)
def _units_named_in(text: str) -> frozenset[str]:
    words = {*_WORD.findall(_PERCENT_WORDS.sub("%", text)), *_COMPOUND_UNIT.findall(text)}
    return frozenset(unit for word in words if (unit := parse_unit(word) or parse_unit(word.lower())) is not None)


@lru_cache(maxsize=512)
def _currencies_named_in(text: str) -> frozenset[str]:
    signs = set(_WORD_OR_SIGN.findall(text))
    currencies = {CURRENCIES_BY_SIGN[sign] for sign in signs & CURRENCIES_BY_SIGN.keys()} | (signs & CURRENCY_CODES)
    named = {currency_of_name(word) for word in _CURRENCY_WORD.findall(text)}
    return frozenset(currencies | {name for name in named if name is not None})


def _join_groups(text: str) -> str:
    return _BLANK_GROUPS.sub(lambda match: re.sub(r"\s", "", match[0]), text)


def _scan_text(text: str, spelled: Mapping[str, int], *, decimal_comma: bool | None) -> TextFigures:
    for pattern, scale in _SCALES_AFTER_DIGITS:
        text = pattern.sub(scale, text)
    text = _PERCENT_WORDS.sub("%", text)
    periods, text = _take_periods(text)
    minutes, text = _take_times(text)
    days, text = _take_days_of_months(text)
    ordinals = [Decimal(match[1]) for match in _ORDINAL.finditer(text)]
    text = _ORDINAL.sub(" ", text)
    measures = [span for span in find_measures(text) if not _is_part_of_token(text, span)]
    numbers = [_figure_of(span, text, decimal_comma=decimal_comma) for span in measures]
    text = _blank_spans(text, ((span.start, span.end) for span in measures))
    tokens, further = _read_tokens(text)
    numbers += [*further, *(NumberFigure(readings=(number,)) for number in ordinals), *_spelled_figures(text, spelled)]
    return TextFigures(
        numbers=tuple(dict.fromkeys(numbers)),
        periods=tuple(periods),
        days_of_months=frozenset(days),
        minutes=frozenset(minutes),
        tokens=tuple(tokens),
    )


def _take_periods(text: str) -> tuple[list[frozenset[tuple[date, date]]], str]:
    """Returns the periods as they may be read, and the text without them."""
    readings: dict[tuple[int, int], set[tuple[date, date]]] = {}
    for day_first in (False, True) if _DAY_IN_DIGITS.search(text) else (False,):
        for span in find_periods(text, day_first=day_first):
            readings.setdefault((span.start, span.end), set()).add((span.first_day, span.last_day))
    return [frozenset(found) for found in readings.values()], _blank_spans(text, readings)


def _take_times(text: str) -> tuple[list[int], str]:
    minutes: list[int] = []
    spans: list[tuple[int, int]] = []
    for match in _TIME.finditer(text):
        spans.append(match.span())
        if match["clock"]:
            minutes.append(60 * int(match["clock"]) + int(match["minutes"]))
            continue
        is_afternoon = match["half"].lower().startswith("p")
        minutes.append(60 * (int(match["hour"]) % 12 + 12 * is_afternoon) + int(match["minute"] or 0))
    return minutes, _blank_spans(text, spans)


def _take_days_of_months(text: str) -> tuple[list[tuple[int, int]], str]:
    days: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    if not may_name_month(text):
        return days, text
    for match in _DAY_OF_MONTH.finditer(text):
        if "may" in (match["month"], match["name"]):  # "7 may fit" names no month
            continue
        month = MONTH_NUMBERS.get((match["month"] or match["name"]).lower())
        day = int(match["day"] or match["number"])
        if month is not None and 1 <= day <= 31:
            days.append((month, day))
            spans.append(match.span())
    return days, _blank_spans(text, spans)


def _blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def _is_part_of_token(text: str, span: MeasureSpan) -> bool:
    """Whether the digits belong to a longer word: `INV-2041/7`, `4.2.1`."""
    before = text[span.digits_start - 1] if span.digits_start else " "
    return before in "/_#" or (before == "-" and span.digits_start > 1 and text[span.digits_start - 2].isalnum())


def _figure_of(span: MeasureSpan, text: str, *, decimal_comma: bool | None) -> NumberFigure:
    digits = text[span.digits_start : span.digits_end]
    likeliest = parse_number(digits, decimal_comma=decimal_comma)
    sign = -1 if span.number < 0 else 1
    number = span.number if likeliest is None or span.currency else sign * likeliest * span.scale
    readings = [number]
    if _AMBIGUOUS.fullmatch(digits):
        readings += [span.number, sign * Decimal(re.sub(r"\D", "", digits)) * span.scale]
    if span.unit == "M":
        readings.append(number * 10**6)
    unit = parse_unit(span.unit) or parse_unit(span.unit.lower()) or ""
    return NumberFigure(readings=tuple(dict.fromkeys(readings)), unit=unit, currency=span.currency)


def _read_tokens(text: str) -> tuple[list[str], list[NumberFigure]]:
    """Returns the words with digits, and the numbers in words of digits alone, as `3-5` and `24/7`."""
    tokens: list[str] = []
    numbers: list[NumberFigure] = []
    for match in _TOKEN_WITH_DIGIT.finditer(text):
        token = match[0].strip(".,:!?'’–—-−/")
        parts = [parse_number(part, max_digits=_MAX_CLAIMED_DIGITS) for part in _PLAIN_NUMBER.findall(token)]
        known = [part for part in parts if part is not None]
        if _NUMBERS_ONLY.fullmatch(token) and len(known) == len(parts):
            numbers += [NumberFigure(readings=(part,)) for part in known]
        elif token:
            tokens.append(fold_text(token))
    return tokens, numbers


def _spelled_figures(text: str, spelled: Mapping[str, int]) -> Iterator[NumberFigure]:
    for span in find_spelled_measures(text):
        unit = parse_unit(span.unit.lower()) or ""
        is_counted = not span.is_article or (text[span.start : span.end].lower().startswith("one") and unit)
        if is_counted:
            yield NumberFigure(readings=(span.number,), unit=unit, currency=span.currency)
    for word in _WORD.findall(text):
        if (number := spelled.get(word.lower())) is not None:
            yield NumberFigure(readings=(Decimal(number),))


# -- comparing


def _holds_number(claimed: NumberFigure, known: _EvidenceFigures) -> bool:
    return any(_is_same_figure(claimed, figure, known) for figure in known.figures.numbers) or (
        not claimed.unit and not claimed.currency and _is_known_elsewhere(claimed, known)
    )


def _is_same_figure(claimed: NumberFigure, figure: NumberFigure, known: _EvidenceFigures) -> bool:
    if claimed.unit and figure.unit:
        return any(
            _is_close(_convert_or_none(number, claimed.unit, figure.unit), other)
            for number in claimed.readings
            for other in _readings_of_evidence(figure)
        )
    if not _is_same_number(claimed, figure):
        return False
    if claimed.currency:
        return claimed.currency == figure.currency or (
            not figure.currency and not figure.unit and claimed.currency in known.currencies
        )
    if claimed.unit:
        return not figure.currency and claimed.unit in known.units
    return True


def _is_same_number(claimed: NumberFigure, figure: NumberFigure) -> bool:
    """Whether the likeliest reading is one of the figure's, or both are the same digits in another notation."""
    return bool({claimed.readings[0], claimed.readings[-1]} & _readings_of_evidence(figure))


def _readings_of_evidence(figure: NumberFigure) -> set[Decimal]:
    """A negative number of the evidence may be claimed in words: "a loss of 5"."""
    return {*figure.readings, *map(abs, figure.readings)}


def _is_known_elsewhere(claimed: NumberFigure, known: _EvidenceFigures) -> bool:
    """Whether the number is a year of the evidence, or appears there as an ordinal in words."""
    number = claimed.readings[0]
    years = {day.year for readings in known.figures.periods for period in readings for day in period}
    words = {word for word in known.folded.split() if ORDINALS_BY_WORD.get(word.strip(".,;:")) == number}
    return number in years or bool(words)


def _convert_or_none(number: Decimal, unit: str, target: str) -> Decimal | None:
    """Returns the number in another unit; None where that cannot be."""
    try:
        return convert_exactly(number, unit, target)
    except (InvalidOperation, OverflowError):
        return None


def _is_close(number: Decimal | None, other: Decimal) -> bool:
    return number is not None and abs(number - other) <= _TOLERANCE * max(abs(other), Decimal(1))


def _holds_period(readings: frozenset[tuple[date, date]], known: _EvidenceFigures) -> bool:
    known_periods = {period for periods in known.figures.periods for period in periods}
    return any(_holds_reading(first, last, known_periods, known) for first, last in readings)


def _holds_reading(first: date, last: date, periods: set[tuple[date, date]], known: _EvidenceFigures) -> bool:
    if (last - first).days >= _LONG_SPAN_DAYS:
        ends = {day.year for period in periods for day in period}
        return (first, last) in periods or {first.year, last.year} <= ends
    if any(first <= other_first and other_last <= last for other_first, other_last in periods):
        return True
    if first == last:
        return (first.month, first.day) in known.figures.days_of_months and str(first.year) in known.folded
    is_year = first.month == first.day == 1 and (last.month, last.day) == (12, 31)
    return is_year and any(first.year in figure.readings for figure in known.figures.numbers)


def _holds_day_of_month(day: tuple[int, int], known: _EvidenceFigures) -> bool:
    days = {(first.month, first.day) for periods in known.figures.periods for first, last in periods if first == last}
    return day in days | known.figures.days_of_months


def _holds_token(token: str, folded_evidence: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(token)}(?!\w)", folded_evidence) is not None
