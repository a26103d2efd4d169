"""Numbers in a sentence with their sign, scale, unit or currency: `$1,200`, `2.5 million EUR`, `half a volt`.

Parts of identifiers (`B-120`, `00017`) are not numbers. Comparators (`at least`) are left to the caller.
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

_SCALE_EXPONENTS = {
    "k": 3, "thousand": 3, "grand": 3, "m": 6, "mn": 6, "mln": 6, "mio": 6, "million": 6, "bn": 9, "bln": 9, "mrd": 9,
    "billion": 9,
}  # fmt: skip
_SCALE_WORDS = "|".join(scale for scale in sorted(_SCALE_EXPONENTS, key=lambda scale: -len(scale)) if len(scale) > 1)
SCALE_PATTERN = rf"(?i:{_SCALE_WORDS})|[km]|(?<=\d)[KM]"
SCALE_LETTERS = {"m": 10**6, "M": 10**6, "K": 10**3}  # letters that are units as well: `5 m`, `300 K`
UNIT_PATTERN = (
    rf"(?i:{CURRENCY_NAME_PATTERN})(?!\w)|(?:degrees?|deg\.?)\s+(?:celsius|centigrade|fahrenheit|kelvin|[CFK](?!\w))"
    r"|(?:square|cubic|(?:sq|cu)\.?)\s+[A-Za-z]{1,11}|[kc]?m[23](?!\w)|ft[23](?!\w)|°\s?[CF]?|%|\"|″"
    rf"|{BARE_SIGN_PATTERN}|[A-Za-zµμΩ]{{1,16}}(?:/[A-Za-z]{{1,4}})?[²³]?(?![A-Za-z\d]|-(?!old\b))|zł|Kč"
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
    rf"(?:\s?(?P<scale>{SCALE_PATTERN})(?![\w²³2]))?"
    rf"(?:[\s-]?(?P<unit>(?i:{UNIT_PATTERN})))?(?!\w|/(?!\s?(?:month|year|week|day))|[.,:]\d|-(?!old\b)[A-Za-z\d])",
)
_WORDS = alternatives_of(NUMBERS_BY_WORD, low=2)
_COLLECTIVES = {"dozen": Decimal(12), "couple": Decimal(2), "grand": Decimal(1000)}
_SPELLED_NUMBER_WITH_UNIT = re.compile(
    rf"(?<![\w-])(?P<number>(?:half\s+a|an?|one|{_WORDS})\s+(?P<collective>dozen|couple|grand(?=\s*(?:$|[^\w\s]|(?:or|and|an?|per|tops|max)\b)))\b"
    rf"(?:\s+of\b)?"
    rf"|(?:half\s+an?|half|an?(?!\s+(?:{_WORDS})\b)|one|{_WORDS})\b"
    rf"(?:[\s-]+(?:and\s+)?(?:one|{_WORDS}|{alternatives_of(MULTIPLIERS_BY_WORD)})\b)*(?P<half>\s+and\s+a\s+half\b)?)"
    rf"(?:[\s-]+(?P<unit>{UNIT_PATTERN}))?",
    re.IGNORECASE,
)
_NOT_A_UNIT = re.compile(
    r"(?:in|is|or|and|of|to|at|by|on|as|for|a|an|the|with|from|per|each|every|but|not|days?\s+of|through|thru|up|upto|until"
    r"|till|tops|max|maximum|minimum|give|plus|upwards?|onwards?|old|aged|ago|most|least|more|less|fewer|than|then|over"
    r"|under|above|below|that|which|who|where|when|are|was|were|has|have|had|if|within|between|before|after|since)"
)


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
    scale: int = 1  # of `2.5 million`, which `number` includes
    is_article: bool = False  # `a volt`: an article in place of a number


def factor_of_scale(scale: str) -> int:
    """1000 for `k` and `thousand`; 1 for no scale."""
    return 10 ** _SCALE_EXPONENTS.get(scale.lower(), 0)


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
    """Numbers in words, with the unit or currency after them, if any: `five watts`, `half a volt`, `a dozen`."""
    for match in _SPELLED_NUMBER_WITH_UNIT.finditer(text):
        unit = match["unit"] if is_unit_word(match["unit"] or "") else ""
        is_article = match["number"].lower() in ("a", "an", "one")
        needs_unit = is_article or match["number"].lower() in ("half", "half a", "half an")
        number = _number_of_words(match)
        if number is None or (needs_unit and not unit):
            continue
        currency = currency_of_measure("", unit)
        end = match.end("number")
        yield MeasureSpan(
            number=number, start=match.start(), end=match.end() if unit else end, unit="" if currency else unit,
            currency=currency, digits_start=match.start(), digits_end=end,
            unit_start=match.start("unit") if unit else end, is_article=is_article,
        )  # fmt: skip


def _number_of_words(match: re.Match[str]) -> Decimal | None:
    words = match["number"].lower()
    if match["collective"]:
        factor = words.split(match["collective"].lower())[0].strip()
        count = Decimal(1) if factor in ("a", "an", "one") else parse_spelled_number(factor)
        return None if count is None else count * _COLLECTIVES[match["collective"].lower()]
    whole = words.removesuffix(match["half"].lower()) if match["half"] else words
    number = Decimal(1) if whole in ("a", "an", "one") else parse_spelled_number(whole)
    return number + Decimal("0.5") if number is not None and match["half"] else number


def currency_of_measure(sign: str, unit: str) -> str:
    """ISO 4217 of the sign (or code) before a number, else of the word (or sign) after it; empty for none."""
    bare = sign.strip()
    if bare:
        return currency_of_sign(bare) or bare.upper()
    return currency_of_name(unit) or (currency_of_sign(unit) if unit and not unit.isalpha() else None) or ""


def _start_of_unit(match: re.Match[str], unit: str, end: int) -> int:
    return match.start("unit") if match["unit"] == unit else end - len(unit)


def _measure_of_match(match: re.Match[str]) -> MeasureSpan | None:
    sign, unit, end = match["sign"] or "", match["unit"] or "", match.end()
    if not is_unit_word(unit):
        unit, end = "", max(match.end("digits"), match.end("scale"))
    scale = match["scale"] or ""
    if scale in SCALE_LETTERS and not sign and not currency_of_measure("", unit):
        scale, unit, end = "", scale, match.end("scale")  # "5 m" is a length unless money is meant
    after, before = currency_of_measure("", unit), currency_of_measure(sign, "")
    number = parse_amount(match["digits"], before or after) if before or after else parse_number(match["digits"])
    if number is None:
        return None
    factor = factor_of_scale(scale)
    number *= factor
    return MeasureSpan(
        number=-number if match["minus"] or match["debit"] else number, scale=factor, start=match.start(), end=end,
        unit="" if after else unit, currency=before or after, digits_start=match.start("digits"),
        digits_end=match.end("digits"), unit_start=_start_of_unit(match, unit, end) if unit and not after else end,
    )  # fmt: skip
