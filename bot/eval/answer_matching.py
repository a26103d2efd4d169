"""Matches a reply against the gold answer, in any common notation.

A reply states the gold answer if its text, without Markdown marks and citation markers, contains:
- for *yes* or *no*: that word as its first word, or as its first bold word;
- for a number: a number within a relative difference of 1e-9; `1,234.50` and `1.234,5` are read either way. If the gold
  has a unit, the same quantity in another unit counts too (800 mW for 0.8 W), a quantity of another dimension does not;
- for a day (ISO, or 31/01/2025): the same day in any common notation, `March 5, 2020`, `the 5th day of March, 2020`;
- for a duration ("successive 1 year", "30 days"): a duration of the same length, `thirty (30) days`, `12 months`;
- for several things: every one of them;
- for other words: the same words in a row. Case, accents, punctuation and legal forms such as `Inc.` are ignored.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any as Json
from typing import cast

from storage.quantities.days import ENGLISH_MONTH_PATTERN, parse_date
from storage.quantities.durations import find_durations
from storage.quantities.numbers import parse_number
from storage.quantities.units import convert_exactly, parse_unit

MAX_SHORT_WORDS = 6  # a longer gold answer is prose, which a comparison of words cannot judge
_CITATION_MARKER = re.compile(r"\[\d{1,3}\](?:\([^)]*\))?")
_MARKDOWN_MARKS = re.compile(r"[*_`#>|\\]+")
_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.,])[-−+]?(?:\d[\d.,'\u00a0\u202f]*\d|\d)(?!\d|[^\W\d_]+\d)")
_UNIT = re.compile(r"[ \u00a0\u202f]?([^\W\d_°%ΩµμΩ]{1,8}|[°%ΩµμΩ][^\W\d_]{0,3}|[µμ]?[^\W\d_]{0,3}Ω)")
_YES_OR_NO = re.compile(r"(?:^\W*|\*\*)(yes|no|ja|nein|oui|non|s\u00ed)\b", re.IGNORECASE)
_DATE = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}"
    rf"|\d{{1,2}}\s*(?:st|nd|rd|th)?\s*(?:day\s+)?(?:of\s+)?{ENGLISH_MONTH_PATTERN}\.?,?\s*\d{{4}}"
    rf"|{ENGLISH_MONTH_PATTERN}\.?\s*\d{{1,2}}\s*(?:st|nd|rd|th)?\s*,?\s*\d{{4}}",
    re.IGNORECASE,
)
_DATE_FILLER = re.compile(r"(?<=\d)\s*(?:st|nd|rd|th)\b|\bday\b|\bof\b|,", re.IGNORECASE)
_LEGAL_FORMS = frozenset("inc incorporated corp corporation co company llc ltd limited lp plc gmbh ag sa nv bv".split())
_DURATION_UNITS = {
    "day": ("day", 1),
    "week": ("day", 7),
    "month": ("month", 1),
    "quarter": ("month", 3),
    "year": ("month", 12),
}


def states_answer(gold: Json, text: str, unit: str | None = None) -> bool:
    """Whether the text states the gold answer, as the module's docstring defines it. `unit`: of a gold number."""
    match gold:
        case bool():
            return parse_yes_or_no(text) is gold
        case int() | float():
            return _states_number(Decimal(str(gold)), strip_marks(text), unit or None)
        case list() | tuple():
            members = cast(Sequence[Json], gold)
            return bool(members) and all(states_answer(member, text, unit) for member in members)
        case str() if gold.strip().casefold() in ("yes", "no"):
            return parse_yes_or_no(text) is (gold.strip().casefold() == "yes")
        case str():
            return _states_words(gold, strip_marks(text), unit)
        case _:
            return False


def is_short_answer(gold: Json) -> bool:
    """Whether the gold answer can be compared with a text: a value, or a few words."""
    if isinstance(gold, str):
        return bool(split_words(gold)) and len(gold.split()) <= MAX_SHORT_WORDS
    if isinstance(gold, list):
        members = cast(list[Json], gold)
        return bool(members) and all(map(is_short_answer, members))
    return isinstance(gold, (bool, int, float))


def contains_all_words(gold: str, text: str) -> bool:
    """Whether every word of the gold answer is in the text, in any order."""
    return set(split_words(gold)) <= set(split_words(strip_marks(text)))


def parse_yes_or_no(text: str) -> bool | None:
    """True for yes, False for no; None if neither is the first word or the first bold word."""
    match = _YES_OR_NO.search(text)
    return None if match is None else match[1].casefold() in ("yes", "ja", "oui", "s\u00ed")


def remove_titles(titles: Iterable[str], text: str) -> str:
    """The text without document titles. A title may contain the requested day, but it is not an answer."""
    unescaped = text.replace("\\", "")
    for title in sorted(titles, key=len, reverse=True):
        unescaped = unescaped.replace(title, " ") if title else unescaped
    return unescaped


def strip_marks(text: str) -> str:
    """The text without Markdown marks and citation markers."""
    return _MARKDOWN_MARKS.sub(" ", _CITATION_MARKER.sub(" ", text))


def split_words(text: str) -> list[str]:
    """The folded words and numbers of the text. Letters and digits are separate: `128GB` is two words."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _WORD_OR_NUMBER.findall(re.sub(r"(?<=\w)['’](?=s\b)|(?<=\d),(?=\d{3}\b)", "", folded))


# -- words


def _states_words(gold: str, text: str, unit: str | None) -> bool:
    if not gold.strip():
        return False
    if days := find_days(gold):
        return bool(days & find_days(text))
    if lengths := _find_durations(gold):
        return lengths <= _find_durations(text)
    if (number := parse_number(gold)) is not None:
        return _states_number(number, text, unit) or _contains_phrase(split_words(gold), split_words(text))
    return _contains_phrase(_name_words_of(gold), _name_words_of(text))


def _name_words_of(text: str) -> list[str]:
    """The words without legal forms: `MSCI Inc.` is `MSCI`. If all words are legal forms, all of them."""
    words = split_words(text)
    return [word for word in words if word not in _LEGAL_FORMS] or words


def _contains_phrase(phrase: Sequence[str], words: Sequence[str]) -> bool:
    return any(
        list(words[start : start + len(phrase)]) == list(phrase) for start in range(len(words) - len(phrase) + 1)
    )


# -- days and durations


@lru_cache(maxsize=10_000)
def find_days(text: str) -> frozenset[str]:
    """The days in the text, in ISO format. An ambiguous numeric day gives both readings."""
    days = set[str]()
    for match in _DATE.finditer(text):
        date_text = " ".join(_DATE_FILLER.sub(" ", match[0]).split())
        readings = (parse_date(date_text, day_first=day_first) for day_first in (True, False))
        days.update(day.isoformat() for day in readings if day is not None)
    return frozenset(days)


def _find_durations(text: str) -> frozenset[tuple[str, int]]:
    """The durations in the text, in days or in months."""
    return frozenset(
        (unit, int(span.number) * factor)
        for span in find_durations(text.lower())
        for unit, factor in [_DURATION_UNITS[span.unit]]
    )


# -- numbers


def _states_number(gold: Decimal, text: str, unit: str | None) -> bool:
    return any(_is_same_quantity(number, unit_text, gold, unit) for number, unit_text in _find_numbers(text))


def _is_same_quantity(number: Decimal, unit_text: str, gold: Decimal, gold_unit: str | None) -> bool:
    source = parse_unit(unit_text) if unit_text else None
    if gold_unit is None or source is None or source == gold_unit:
        return _is_close(number, gold)
    converted = convert_exactly(number, source, gold_unit)
    return converted is not None and _is_close(converted, gold)


def _is_close(number: Decimal, expected: Decimal) -> bool:
    return abs(number - expected) <= abs(expected) * Decimal("1e-9")


def _find_numbers(text: str) -> Iterator[tuple[Decimal, str]]:
    """Each reading of each number, with the text of the unit after it; empty if there is none."""
    for match in _NUMBER.finditer(text):
        unit = _UNIT.match(text, match.end())
        for number in _parse_number_readings(match[0]):
            yield number, unit[1] if unit else ""


def _parse_number_readings(text: str) -> set[Decimal]:
    """All readings of a number: `1,234` is 1234 and 1.234."""
    readings = (parse_number(text, decimal_comma=decimal_comma) for decimal_comma in (True, False))
    return {number for number in readings if number is not None}
