"""Numbers in digits: decimal marks and group marks of the project's languages.

`1,234` and `1.234` are ambiguous. `parse_number` reads them by `decimal_comma`, which says how the source writes its
numbers, where the caller knows that. Marks come from CLDR (`number_symbols` of Babel).
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from storage.quantities.languages import LANGUAGES, load_locale


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """A number at `text[start:end]`, its unit included."""

    number: Decimal
    start: int
    end: int
    unit: str = ""  # pint's name; empty for none
    decimal_places: int = 0  # digits written after the decimal mark; only set for amounts of money


def _group_marks() -> str:
    """The marks between thousands, and the characters that keyboards have in place of U+202F and U+2019."""
    symbols = [load_locale(name).number_symbols["latn"] for name in (*LANGUAGES, "de_CH")]
    typed = [" ", "\u00a0", "'"]
    return "".join(sorted({symbol["group"] for symbol in symbols}.union(typed) - {".", ","}))


_MARKS_BUT_POINTS = _group_marks()
GROUP_MARKS_IN_TEXT = _MARKS_BUT_POINTS.replace(" ", "").replace("\u00a0", "")  # no blanks: they part columns
INDIAN_GROUPS = r"\d{1,2}(?:,\d{2})+,\d{3}"  # lakhs and crores: `12,34,567`
NUMBER_PATTERN = rf"[-+−]?(?:\d[\d.,{_MARKS_BUT_POINTS}]*\d|\d|[.,]\d+)(?:[eE][-+]?\d{{1,3}})?"
MAX_NUMBER_DIGITS = 100  # before the point, and zeros after it; a double holds 308, and conversions of units need some
_NUMBER = re.compile(NUMBER_PATTERN)
_PLAIN_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d+)?")
_GROUPED_NUMBER = {  # by the decimal mark; a zero alone is not a group
    ".": re.compile(
        rf"[-+]?(?!0\D)(?:\d{{1,3}}(?P<mark>[,{_MARKS_BUT_POINTS}])\d{{3}}(?:(?P=mark)\d{{3}})*|{INDIAN_GROUPS})"
        rf"(?:\.\d+)?"
    ),
    ",": re.compile(rf"[-+]?(?!0\D)\d{{1,3}}(?P<mark>[.{_MARKS_BUT_POINTS}])\d{{3}}(?:(?P=mark)\d{{3}})*(?:,\d+)?"),
}
_UNGROUPED_NUMBER = {
    ".": re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"),
    ",": re.compile(r"[-+]?\d*,?\d+"),
}
_NOT_OF_NUMBER = {".": re.compile(r"[^\d.+-]"), ",": re.compile(r"[^\d,+-]")}
_RATING = re.compile(
    r"(?P<number>\d{1,3}(?:[.,]\d{1,2})?)\s*(?:/|out\s+of|of)\s*(?P<most>5|10|100)(?:\s*(?:stars?|points?))?\.?",
    re.IGNORECASE,
)
_STARS = re.compile(r"[★⭐]{1,5}[☆\ufe0f]{0,8}")
_MARK = re.compile(r"[.,]")


@lru_cache(maxsize=8192)
def parse_number(
    text: str, *, decimal_comma: bool | None = None, max_digits: int = MAX_NUMBER_DIGITS
) -> Decimal | None:
    """The number that the whole string is; None for any other string.

    `decimal_comma=None`: both marks are tried, and a lone comma before three digits groups them, as in English
    (`1,234` is 1234, `0,123` and `1,23` have decimals). True: a comma is read as the decimal mark where that is
    possible. False: a comma never is. A number with more than `max_digits` on a side of the point is a string like any
    other.
    """
    number = _parse_decimal(text.strip().replace("−", "-"), decimal_comma=decimal_comma)
    return number if number is not None and _has_digits_within(number, max_digits) else None


def is_storable_number(number: Decimal) -> bool:
    """Whether a double is near the number in any unit: it is 0, or has at most 100 digits on a side of the point."""
    return _has_digits_within(number, MAX_NUMBER_DIGITS)


def _has_digits_within(number: Decimal, max_digits: int) -> bool:
    return not number or -max_digits <= number.adjusted() < max_digits


def _parse_decimal(text: str, *, decimal_comma: bool | None) -> Decimal | None:
    if _PLAIN_NUMBER.fullmatch(text) and not decimal_comma:
        return Decimal(text)
    for mark in (",", ".") if decimal_comma else (".", ","):
        if decimal_comma is False and mark == ",":
            return None
        if _GROUPED_NUMBER[mark].fullmatch(text):
            return Decimal(_NOT_OF_NUMBER[mark].sub("", text).replace(",", "."))
        if _UNGROUPED_NUMBER[mark].fullmatch(text):
            return Decimal(text.replace(",", "."))
    return None


def parse_rating(text: str) -> tuple[Decimal, int] | None:
    """Returns the number and the most of a rating: `4/5`, `7 out of 10`, `★★★` (of five); None for any other string."""
    if match := _RATING.fullmatch(text.strip()):
        number = parse_number(match["number"])
        return (number, int(match["most"])) if number is not None and number <= int(match["most"]) else None
    stars = _STARS.fullmatch(text.strip())
    return (Decimal(text.count("★") + text.count("⭐")), 5) if stars else None


def detect_decimal_comma(text: str) -> bool | None:
    """Whether the number's decimal mark must be a comma (or must not); None where it could be either or has none."""
    marks = [c for c in text if c in ".,"]
    if not marks or not (match := _NUMBER.search(text)):
        return None
    if len(set(marks)) == 2:
        return marks[-1] == ","
    tail = _MARK.split(match[0])[-1]
    if len(marks) > 1:
        return marks[0] == "."
    if len(re.sub(r"\D", "", tail)) != 3 or match[0].startswith(("0,", "0.", ",", ".")):
        return marks[0] == ","
    return None
