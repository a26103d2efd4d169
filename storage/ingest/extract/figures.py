"""Numbers as running text has them: quantities with units, amounts of money, numbers in words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from storage.ingest.units import converted, written_unit
from storage.search.numbers import nearest_double

_QUANTITY = re.compile(
    r"([-+−±]?)\s?(\d[\d.,]{0,18}(?<=\d)|\d)\s?(°\s?[CFK]|[^\W\d_%°]{1,8}(?:[23](?!\w))?(?:/[a-zA-Z³^0-9]{1,4})?|%|°)?"
)
_AMOUNT = re.compile(
    r"(?:(?<![\w,])(?<![\w,]\.)|(?<=[Rr][MmPp])|(?<=[Rr][Pp]\.)|(?<=EUR)|(?<=USD)|(?<=IDR))(-?)\s?((?:\d{1,3}(?:[.,']\d{3})+|\d{1,9})(?:[.,]\d{1,3})?)(?!\d|\s?%)(?![.,]\d)"
)
_GROUPS = re.compile(r"\d{1,3}(?:[.,' ]\d{3})+")
_WORDS: Mapping[str, int] = (
    {"hundred": 100}
    | {
        word: number
        for number, word in enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen".split()
        )
    }
    | {
        word: 10 * number
        for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
    }
)
WORDS = "|".join(sorted(_WORDS, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and where it stands."""

    number: Decimal
    start: int
    end: int
    unit: str = ""  # pint's name
    decimals: int = 0


def decimal_of(digits: str, *, money: bool = False) -> Decimal | None:
    """`1,234.50`, `1.234,50`, `22.000`. One mark before three digits groups them in an amount of money, a lone comma
    before three digits groups them everywhere.
    """
    marks = [c for c in digits if c in ".,' "]
    if not marks:
        return _decimal(digits)
    last = marks[-1]
    tail = len(digits) - digits.rindex(last) - 1
    groups = len(set(marks)) == 1 and _GROUPS.fullmatch(digits) is not None
    if groups and (len(marks) > 1 or last in "' " or money or (last == "," and not digits.startswith("0"))):
        return _decimal(re.sub(r"[.,' ]", "", digits))
    if tail == 0:
        return None
    head = re.sub(r"[.,' ]", "", digits[: digits.rindex(last)])
    return _decimal(f"{head}.{digits[digits.rindex(last) + 1 :]}")


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def quantities(text: str, start: int, end: int) -> Iterator[Figure]:
    """Numbers in `text[start:end]`, each with the unit written behind it, if it is one."""
    for match in _QUANTITY.finditer(text, start, end):
        number = decimal_of(match[2])
        if number is None:
            continue
        unit = unit_of(match[3]) if match[3] else None
        stop = match.end(3) if unit else match.end(2)
        yield Figure(-number if match[1] in ("-", "−") else number, match.start(), stop, unit or "")


@lru_cache(maxsize=2048)
def unit_of(written: str) -> str | None:
    text = written.replace(" ", "").rstrip(".")
    return written_unit(text) or written_unit(text.replace("Ohm", "ohm")) or _alternating(text)


def _alternating(text: str) -> str | None:
    """`VDC`, `Vac`."""
    return written_unit(text[:-2]) if text[-2:].upper() in ("DC", "AC") and len(text) > 2 else None


@lru_cache(maxsize=4096)
def in_unit(number: Decimal, unit: str, target: str) -> float | None:
    """None where the dimensions differ."""
    there = converted(number, unit, target) if unit and target else number
    if there is None:
        return None
    try:
        return nearest_double(round(there, 12) if unit != target else there)
    except (ValueError, OverflowError, InvalidOperation):
        return None


def amounts(text: str, start: int, end: int, mark: str = "") -> Iterator[Figure]:
    """Numbers that can be amounts of money; no percentages, no parts of longer identifiers. `mark`: that of decimals,
    where it is known.
    """
    for match in _AMOUNT.finditer(text, start, end):
        number = _decimal(match[2].replace(",", ".")) if _is_lone(match[2], mark) else decimal_of(match[2], money=True)
        if number is not None:
            decimals = max(0, -int(number.as_tuple().exponent))
            yield Figure(-number if match[1] else number, match.start(2), match.end(2), "", decimals)


def _is_lone(digits: str, mark: str) -> bool:
    """Whether the mark of decimals is the only one, once."""
    return mark != "" and digits.count(mark) == 1 and digits.replace(mark, "").isdigit()


def number_in_words(words: str) -> int | None:
    """`thirty`, `one hundred and twenty`, `sixty-five`; None where a word is no number."""
    total = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word == "and":
            continue
        if word not in _WORDS:
            return None
        total = max(total, 1) * 100 if word == "hundred" else total + _WORDS[word]
    return total or None
