"""Numbers in a sentence with their sign, scale, unit or currency: `$1,200`, `2.5 million EUR`, `half a volt`.

Parts of identifiers (`B-120`, `00017`) are no numbers. Comparators (`at least`) are left to the caller.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from storage.quantities.money import (
    BARE_SIGN_PATTERN,
    CURRENCY_CODE_PATTERN,
    CURRENCY_NAME_PATTERN,
    CURRENCY_SIGN_PATTERN,
    currency_of_name,
    currency_of_sign,
    parse_amount,
)
from storage.quantities.numbers import GROUP_MARKS_IN_TEXT, INDIAN_GROUPS, parse_number
from storage.quantities.spelled_numbers import (
    MULTIPLIERS_BY_WORD,
    NUMBERS_BY_WORD,
    alternatives_of,
    parse_spelled_number,
)

_SCALE_EXPONENTS = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
UNIT_PATTERN = (
    rf"(?i:{CURRENCY_NAME_PATTERN})(?!\w)|(?:degrees?|deg\.?)\s+(?:celsius|centigrade|fahrenheit|kelvin|[CFK](?!\w))"
    r"|(?:square|cubic|(?:sq|cu)\.?)\s+[A-Za-z]{1,11}|[kc]?m[23](?!\w)|ft[23](?!\w)|°\s?[CF]?|%|\"|″"
    rf"|{BARE_SIGN_PATTERN}|[A-Za-zµμΩ]{{1,16}}(?:/[A-Za-z]{{1,4}})?[²³]?(?![A-Za-z\d-])|zł|Kč"
)
SIGN_PATTERN = rf"(?:{CURRENCY_SIGN_PATTERN}\.?|{CURRENCY_CODE_PATTERN}\s?)"
_GROUP_MARKS = rf",\u00a0{GROUP_MARKS_IN_TEXT}"
DIGITS_PATTERN = (
    rf"\d{{1,3}}(?:\.\d{{3}})+,\d{{1,2}}(?!\d)|\d{{1,3}}(?:[{_GROUP_MARKS}]\d{{3}})+(?:[.,]\d+)?|(?!0\d)\d+(?:\.\d+)?"
    rf"|\d{{1,3}}(?:\.\d{{3}}){{2,}}|\.\d+|{INDIAN_GROUPS}(?:\.\d+)?|\d+,\d{{1,2}}(?!\d)"
)
_NUMBER_WITH_UNIT = re.compile(
    rf"(?<![\w.,])(?<!\w-)(?P<debit>(?<!\S)[-−](?={CURRENCY_SIGN_PATTERN}\d))?(?P<sign>{SIGN_PATTERN})?\s?"
    rf"(?P<minus>(?:minus\s+|[-−])(?=\d))?(?P<digits>{DIGITS_PATTERN})"
    r"(?:\s?(?P<scale>thousand|million|billion|mn|bn|k|m)\b(?![²³2]))?"
    rf"(?:[\s-]?(?P<unit>(?i:{UNIT_PATTERN})))?(?!\w|/|[.,:]\d|-[A-Za-z\d])",
)
_WORDS = alternatives_of(NUMBERS_BY_WORD, low=2)
_SPELLED_NUMBER_WITH_UNIT = re.compile(
    rf"(?<![\w-])(?P<number>(?:half\s+an?|half|an?|one|{_WORDS})"
    rf"(?:[\s-]+(?:and\s+)?(?:one|{_WORDS}|{alternatives_of(MULTIPLIERS_BY_WORD)})\b)*)\s+(?P<unit>{UNIT_PATTERN})",
    re.IGNORECASE,
)
_NOT_A_UNIT = re.compile(r"(?:in|is|or|and|of|to|at|by|on|as|for|a|the|with|from|per|each|but|not|days?\s+of)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSpan:
    """A number at `text[start:end]` with its sign, scale, unit or currency."""

    number: Decimal
    start: int
    end: int
    unit: str = ""  # as written; empty for none
    currency: str = ""  # ISO 4217; empty for none
    digits_start: int
    digits_end: int
    unit_start: int  # `end` where there is no unit
    is_article: bool = False  # `a volt`: an article in place of a number


def is_unit_word(word: str) -> bool:
    """Whether a word after a number can be its unit: not `in`, `of` and other words that continue the sentence."""
    return bool(word) and not _NOT_A_UNIT.fullmatch(word)


def find_measures(text: str) -> Iterator[MeasureSpan]:
    """Numbers in digits, in order, none overlapping."""
    for match in _NUMBER_WITH_UNIT.finditer(text):
        span = _measure_of_match(match)
        if span is not None:
            yield span


def find_spelled_measures(text: str) -> Iterator[MeasureSpan]:
    """Numbers in words with a unit or currency after them: `five watts`, `two hundred dollars`, `half a volt`."""
    for match in _SPELLED_NUMBER_WITH_UNIT.finditer(text):
        words, unit = match["number"], match["unit"]
        is_article = words.lower() in ("a", "an", "one")
        number = Decimal(1) if is_article else parse_spelled_number(words)
        if number is None or not is_unit_word(unit):
            continue
        currency = currency_of_measure("", unit)
        yield MeasureSpan(
            number=number, start=match.start(), end=match.end(), unit="" if currency else unit, currency=currency,
            digits_start=match.start(), digits_end=match.end("number"), unit_start=match.start("unit"),
            is_article=is_article,
        )  # fmt: skip


def currency_of_measure(sign: str, unit: str) -> str:
    """ISO 4217 of the sign (or code) before a number, else of the word (or sign) after it; empty for none."""
    bare = sign.strip()
    if bare:
        return currency_of_sign(bare) or bare.upper()
    return currency_of_name(unit) or (currency_of_sign(unit) if unit and not unit.isalpha() else None) or ""


def _measure_of_match(match: re.Match[str]) -> MeasureSpan | None:
    sign, unit, end = match["sign"] or "", match["unit"] or "", match.end()
    if not is_unit_word(unit):
        unit, end = "", max(match.end("digits"), match.end("scale"))
    scale = (match["scale"] or "").lower()
    if scale == "m" and not sign and not unit:
        scale, unit = "", "m"  # "5 m" is a length unless money is meant
    after, before = currency_of_measure("", unit), currency_of_measure(sign, "")
    number = parse_amount(match["digits"], before or after) if before or after else parse_number(match["digits"])
    if number is None:
        return None
    number *= 10 ** _SCALE_EXPONENTS.get(scale, 0)
    return MeasureSpan(
        number=-number if match["minus"] or match["debit"] else number, start=match.start(), end=end,
        unit="" if after else unit, currency=before or after, digits_start=match.start("digits"),
        digits_end=match.end("digits"), unit_start=match.start("unit") if unit and not after else end,
    )  # fmt: skip
