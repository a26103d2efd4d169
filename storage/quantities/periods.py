"""Days and periods with a year, in a sentence: dates, months, quarters, halves, decades, years.

Stricter than `days.find_dates`, which tolerates errors of scanners: here `march 5 10 parts` has no year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from storage.quantities.calendar_arithmetic import month_bounds
from storage.quantities.days import (
    CLEAR_MONTH_PATTERN,
    ENGLISH_MONTH_PATTERN,
    MONTH_NUMBERS,
    MONTH_PATTERN,
    WEEKDAY_PATTERN,
    full_year,
    may_name_month,
)
from storage.quantities.money import CURRENCIES_BY_NAME, SIGN_CHARACTERS
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD, alternatives_of
from storage.quantities.units import UNITS_BY_SPELLING

YEAR_PATTERN = r"(?P<year>(?:19|20|21)\d\d)"
DAY_PATTERN = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|er|\.)?"
_MONTH_NUMBER = r"(?P<m>0?[1-9]|1[0-2])"
_PADDED_MONTH, _PADDED_DAY = r"(?P<m>0[1-9]|1[0-2])", r"(?P<day>0[1-9]|[12]\d|3[01])"
_DAY_NUMBER = r"0?[1-9]|[12]\d|3[01]"
_WEEKDAY_BEFORE = rf"(?:{WEEKDAY_PATTERN}\.?,?\s+)?"
_DAY_OF = r"(?:\s+day)?(?:\s+(?:of|de))?"
_YEAR_OF_DAY = rf"(?:{YEAR_PATTERN}|['’](?P<short>\d\d))"
# Words after a number that is not a year: `2000 volts`. Words with another meaning (`in`, `bar`) are left out.
_UNIT_WORDS = {
    *"V A W C F K m g pieces units calories square minutes seconds kilos days weeks months".split(),
    *(word for word in {**UNITS_BY_SPELLING, **CURRENCIES_BY_NAME} if word.isalpha() and len(word) > 1),
} - set(
    """in min mins ha deg bar sec secs year years yr yrs decade decades month week day mile um won bucks sterling
    pa""".split()
)
_UNIT_AFTER = rf"(?:{'|'.join(sorted(_UNIT_WORDS, key=lambda word: (-len(word), word)))}|met(?:er|re)s?|lit(?:er|re)s?)"
_ORDINALS = {word: number for word, number in ORDINALS_BY_WORD.items() if number <= 4} | {
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4
}  # fmt: skip
_ORDINAL_DAY = alternatives_of(ORDINALS_BY_WORD, high=31)
DECADES_BY_WORD = {f"{word[:-1]}ies": number for word, number in NUMBERS_BY_WORD.items() if 20 <= number <= 90}
_BEFORE_DECADE = r"(?:(?<=\bthe\s)|(?<=\bearly\s)|(?<=\bmid\s)|(?<=\bmid-)|(?<=\blate\s)|(?<=['’]))"
_MONTH_MARK = ("month",)  # stands for the names of all months
# One of the marks that a text in ASCII and small letters needs, and the pattern. Where two match, the first is the more
# exact.
_MARKED_PATTERNS = tuple(
    (marks, re.compile(pattern, re.IGNORECASE))
    for marks, pattern in (
        (("-",), rf"\b{YEAR_PATTERN}-{_PADDED_MONTH}-{_PADDED_DAY}\b"),
        (("/",), rf"\b{YEAR_PATTERN}/{_PADDED_MONTH}/{_PADDED_DAY}\b"),
        (("-",), rf"\b{YEAR_PATTERN}-{_PADDED_MONTH}\b(?!-\d)"),
        (("-",), rf"(?<![\d/.-]){YEAR_PATTERN}\s?[-–—]\s?(?P<until>(?:19|20|21)\d\d)\b(?![-/]\d)"),
        (("/",), rf"(?<![\d/]){_MONTH_NUMBER}/{YEAR_PATTERN}\b"),
        (("h1", "h2"), rf"\bH(?P<half>[12])[\s/-]*{YEAR_PATTERN}\b"),
        (("0s",), r"\b(?:the\s+)?(?P<decade>(?:19|20)\d0)s\b"),
        (("0s", "0's"), rf"{_BEFORE_DECADE}(?P<tens>[2-9]0)['’]?s\b"),
        (("ties",), rf"{_BEFORE_DECADE}(?P<tens>{'|'.join(DECADES_BY_WORD)})\b"),
        (
            _MONTH_MARK,
            rf"\b{_WEEKDAY_BEFORE}{DAY_PATTERN}{_DAY_OF}\s+(?P<month>{MONTH_PATTERN})\.?,?(?:\s+de)?\s+{_YEAR_OF_DAY}\b",
        ),
        (
            _MONTH_MARK,
            rf"\b{_WEEKDAY_BEFORE}(?P<month>{ENGLISH_MONTH_PATTERN})\.?\s+{DAY_PATTERN},?\s+{_YEAR_OF_DAY}\b",
        ),
        (_MONTH_MARK, rf"\b(?P<word>{_ORDINAL_DAY})\s+(?:day\s+)?of\s+(?P<month>{MONTH_PATTERN}),?\s+{YEAR_PATTERN}\b"),
        (_MONTH_MARK, rf"\b(?P<month>{CLEAR_MONTH_PATTERN})\.?,?\s+(?:(?:of|de)\s+)?{YEAR_PATTERN}\b"),
        ((".",), rf"\b(?P<day>{_DAY_NUMBER})\.{_MONTH_NUMBER}\.{YEAR_PATTERN}\b"),
        (("/", "-"), rf"(?<!\w-)\b(?P<a>{_DAY_NUMBER})(?P<mark>[/-])(?P<b>{_DAY_NUMBER})(?P=mark){YEAR_PATTERN}\b"),
        (("/",), rf"(?<![\d/])(?P<a>{_DAY_NUMBER})/(?P<b>{_DAY_NUMBER})/(?P<short>\d\d)\b(?!/)"),
        (("q",), rf"\bQ(?P<quarter>[1-4])[\s/-]*(?:of\s+)?{YEAR_PATTERN}\b"),
        (("q",), rf"\b{YEAR_PATTERN}[\s/-]*Q(?P<quarter>[1-4])\b"),
        (("quarter",), rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})\s+quarter\s+(?:of\s+)?{YEAR_PATTERN}\b"),
        (("half",), rf"\b(?P<half>first|second)\s+half\s+(?:of\s+)?{YEAR_PATTERN}\b"),
        (
            ("",),
            rf"(?:(?<![\w.,/{SIGN_CHARACTERS}-])|(?<=\bmid-)){YEAR_PATTERN}(?![\w%°]|[.,/-]\d)(?!\s*{_UNIT_AFTER}\b)",
        ),
    )
)
# A part of every pattern: a year of four digits, one of two digits with the mark before it, or a decade.
_MAY_HOLD_PERIOD = re.compile(
    rf"(?:19|20|21)\d\d|['’]\d\d|/\d\d|[2-9]0['’]?s|{'|'.join(DECADES_BY_WORD)}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PeriodSpan:
    """The first and the last day of the period at `text[start:end]`; equal for a date."""

    first_day: date
    last_day: date
    start: int
    end: int
    is_year_only: bool = False  # bare years or a decade, which may be a number as well


def find_periods(text: str, *, day_first: bool = False) -> list[PeriodSpan]:
    """Days and periods, none overlapping, the most exact first. `day_first`: which of `03/04/2031` is the day, where
    both could be.
    """
    spans = list[PeriodSpan]()
    if _MAY_HOLD_PERIOD.search(text) is None:
        return spans
    for pattern in _patterns_for(text):
        for match in pattern.finditer(text):
            span = _period_of_match(match, day_first)
            if span is not None and all(match.end() <= other.start or match.start() >= other.end for other in spans):
                spans.append(span)
    return spans


def _patterns_for(text: str) -> Iterator[re.Pattern[str]]:
    """The patterns that may match: all are slow, and most need a mark or a name that the text does not have."""
    lowered, is_ascii, may_name = text.lower(), text.isascii(), may_name_month(text)
    for marks, pattern in _MARKED_PATTERNS:
        if not is_ascii or (may_name if marks is _MONTH_MARK else any(mark in lowered for mark in marks)):
            yield pattern


def _period_of_match(match: re.Match[str], day_first: bool) -> PeriodSpan | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    try:
        first, last = _bounds_of_parts(parts, day_first)
    except (KeyError, ValueError):  # a dotless i matches an i in a name; the calendar has no such day
        return None
    is_year_only = set(parts) <= {"year", "until", "decade", "tens"}
    return PeriodSpan(first, last, match.start(), match.end(), is_year_only)


def _bounds_of_parts(parts: dict[str, str], day_first: bool) -> tuple[date, date]:
    """Raises `ValueError` for a day that does not exist."""
    if "decade" in parts:
        return date(int(parts["decade"]), 1, 1), date(int(parts["decade"]) + 9, 12, 31)
    if "tens" in parts:
        tens = int(parts["tens"]) if parts["tens"].isdigit() else DECADES_BY_WORD[parts["tens"].lower()]
        first_year = (2000 if tens == 20 else 1900) + tens
        return date(first_year, 1, 1), date(first_year + 9, 12, 31)
    year = int(parts["year"]) if "year" in parts else full_year(parts["short"])
    if "until" in parts:
        return date(year, 1, 1), date(int(parts["until"]), 12, 31)
    if "quarter" in parts or "ordinal" in parts:
        quarter = int(parts["quarter"]) if "quarter" in parts else _ORDINALS[parts["ordinal"].lower()]
        return date(year, quarter * 3 - 2, 1), month_bounds(year, quarter * 3)[1]
    if "half" in parts:
        is_second = parts["half"].lower() in ("second", "2")
        return (date(year, 7, 1), date(year, 12, 31)) if is_second else (date(year, 1, 1), date(year, 6, 30))
    if "a" in parts:
        day = _day_of_pair(year, int(parts["a"]), int(parts["b"]), day_first)
        return day, day
    month = MONTH_NUMBERS[parts["month"].lower()] if "month" in parts else int(parts["m"]) if "m" in parts else 0
    if month and ("day" in parts or "word" in parts):
        number = int(parts["day"]) if "day" in parts else ORDINALS_BY_WORD[parts["word"].lower()]
        return date(year, month, number), date(year, month, number)
    return month_bounds(year, month) if month else (date(year, 1, 1), date(year, 12, 31))


def _day_of_pair(year: int, first: int, second: int, day_first: bool) -> date:
    is_day_first = second <= 12 if day_first else first > 12
    return date(year, second, first) if is_day_first else date(year, first, second)
