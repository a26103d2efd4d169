"""What strings of metadata say: numbers, days, amounts of money, quantities, yes and no.

Each function gives None for a string that is something else. Where the writing is ambiguous (1,234 and 03/04/2024)
the field decides: `Style` holds what its other values show.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache

from storage.ingest.units import written_unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a field's strings are written. None: its values do not say."""

    decimal_comma: bool | None = None
    day_first: bool | None = None
    comma_between: bool = False  # of lists in strings: `red, blue` is two members


@dataclass(frozen=True, slots=True)
class Money:
    """An amount and its ISO 4217 code."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit, as pint calls it."""

    number: Decimal
    unit: str


_NOTHING = frozenset(
    {"", "-", "--", "–", "—", "n/a", "n.a.", "na", "none", "null", "nil", "nan", "?", "unknown", "tbd"}
)
_FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("yes", "true", "y", "ja", "oui", "si", "sí", "wahr", "vrai", "✓"), True),
    **dict.fromkeys(("no", "false", "n", "nein", "non", "falsch", "faux"), False),
}
_NUMBER = re.compile(r"[-+−]?(?:\d[\d.,'’ \u00a0\u202f]*\d|\d|[.,]\d+)(?:[eE][-+]?\d{1,3})?")
_PLAIN = re.compile(r"-?\d{1,15}(?:\.\d+)?")
_GROUPED = {
    ".": re.compile(r"[-+]?\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+(?:\.\d+)?"),
    ",": re.compile(r"[-+]?\d{1,3}(?:[.'’ \u00a0\u202f]\d{3})+(?:,\d+)?"),
}
_UNGROUPED = {".": re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"), ",": re.compile(r"[-+]?\d*,?\d+")}
# A plain $ and a plain ¥ as most documents mean them
_SYMBOL_CODES = """
$ USD · US$ USD · A$ AUD · AU$ AUD · C$ CAD · CA$ CAD · NZ$ NZD · HK$ HKD · S$ SGD · R$ BRL · € EUR · £ GBP · ¥ JPY
₹ INR · ₩ KRW · ₺ TRY · ₽ RUB · zł PLN · ₪ ILS · ₫ VND · ฿ THB · ₴ UAH · RM MYR · Rp IDR
"""
_PAIRS = [pair.split() for line in _SYMBOL_CODES.strip().splitlines() for pair in line.split(" · ")]
_SYMBOLS = {symbol: code for symbol, code in _PAIRS}  # noqa: C416 - the pairs are lists
_AROUND = re.compile(rf"(?P<before>[^\d\s.,+−-]{{0,4}})\s*(?P<number>{_NUMBER.pattern})\s*(?P<after>[^\d\s]{{0,3}})")
_QUANTITY = re.compile(rf"({_NUMBER.pattern})\s*([^\d\s.,][^\s]{{0,9}})")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:Z|[+-]\d{2}:?(?:\d{2})?)?)?")
_NUMERIC_DAY = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{4}|\d{1,2})(?:[T ,]+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp][Mm])?)?"
)
_NAMED_DAY = (
    re.compile(
        r"(?:[A-Za-z]{3,9},?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?:of\s+)?(?P<month>[A-Za-z]{3,9})\.?,?[\s-]+(?P<year>\d{4})"
    ),
    re.compile(
        r"(?:[A-Za-z]{3,9},?\s+)?(?P<month>[A-Za-z]{3,9})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})"
    ),
)
_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = _MONTH_NAMES.split()


def is_nothing(text: str) -> bool:
    """Whether the string stands for no value in a field of numbers, days or flags."""
    return text.strip().casefold() in _NOTHING


def flag_in(text: str) -> bool | None:
    return _FLAGS.get(text.strip().casefold())


def number_in(text: str, style: Style = Style()) -> Decimal | None:
    """The number that the whole string is. 1,234 is a thousand and more unless the field writes decimal commas."""
    text = text.strip().replace("−", "-")
    if _PLAIN.fullmatch(text) and not style.decimal_comma:
        return Decimal(text)
    for point in (",", ".") if style.decimal_comma else (".", ","):
        if style.decimal_comma is False and point == ",":
            return None
        if _GROUPED[point].fullmatch(text):
            digits = re.sub(r"[^\d,+-]" if point == "," else r"[^\d.+-]", "", text)
            return Decimal(digits.replace(",", "."))
        if _UNGROUPED[point].fullmatch(text):
            return Decimal(text.replace(",", "."))
    return None


def decimal_comma_in(text: str) -> bool | None:
    """Whether the number's decimal mark must be a comma (or must not); None where it could be either or has none."""
    marks = [c for c in text if c in ".,"]
    if not marks or not (match := _NUMBER.search(text)):
        return None
    if len(set(marks)) == 2:
        return marks[-1] == ","
    tail = re.split(r"[.,]", match[0])[-1]
    if len(marks) > 1:
        return marks[0] == "."
    if len(re.sub(r"\D", "", tail)) != 3 or match[0].startswith(("0,", "0.", ",", ".")):
        return marks[0] == ","
    return None


def money_in(text: str, style: Style = Style()) -> Money | None:
    """`12.50 EUR`, `$12`, `USD 5`, `-€ 1.234,50`. None without a currency."""
    text = text.strip().replace("−", "-")
    sign, text = ("-", text[1:].lstrip()) if text.startswith("-") else ("", text)
    match = _AROUND.fullmatch(text)
    if not match or bool(match["before"]) == bool(match["after"]):
        return None
    currency = currency_of(match["before"] or match["after"])
    amount = number_in(sign + match["number"], style)
    return Money(amount, currency) if currency and amount is not None else None


def currency_of(text: str) -> str | None:
    """The ISO 4217 code that a code or a symbol stands for."""
    code = text.strip()
    return _SYMBOLS.get(code) or (code.upper() if code.upper() in currency_codes() else None)


@lru_cache(maxsize=1)
def currency_codes() -> frozenset[str]:
    """Of ISO 4217, former ones as well."""
    from babel.numbers import list_currencies  # here: not needed by a source without amounts

    return frozenset(list_currencies())


def quantity_in(text: str, style: Style = Style()) -> Quantity | None:
    """`45 V`, `12.5kg`, `30 days`. None without a known unit."""
    match = _QUANTITY.fullmatch(text.strip().replace("−", "-"))
    unit = written_unit(match[2]) if match else None
    number = number_in(match[1], style) if match else None
    return Quantity(number, unit) if unit and number is not None else None


def day_in(text: str, style: Style = Style()) -> str | None:
    """The ISO day of `2031-05-09`, `2031-05-09T23:30:00-05:00` (the day in UTC), `9 May 2031`, `May 9, 2031`,
    `09.05.2031`, `2031/05/09`; of `03/04/2031` only where the field's style says which is the month.
    """
    text = text.strip()
    if len(text) < 6 or not any(c.isdigit() for c in text):
        return None
    if _ISO.fullmatch(text):
        return _iso_day(text)
    if match := _NUMERIC_DAY.fullmatch(text):
        return _numeric_day(match, style)
    for pattern in _NAMED_DAY:
        if match := pattern.fullmatch(text):
            return _named_day(match)
    return None


def day_first_in(text: str) -> bool | None:
    """Whether the day stands before the month in a date of numbers; None where it could be either, or is no date."""
    match = _NUMERIC_DAY.fullmatch(text.strip())
    if not match or len(match[1]) == 4 or len(match[1]) == 3:
        return None
    first, second = int(match[1]), int(match[3])
    if match[2] == ".":
        return True
    return None if (first > 12) == (second > 12) else first > 12


def _iso_day(text: str) -> str | None:
    if len(text) == 10:
        return _day(text[:4], text[5:7], text[8:])
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return _day(text[:4], text[5:7], text[8:10])
    return _utc_day(moment)


def _utc_day(moment: datetime) -> str | None:
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()
    except OverflowError:
        return None


def _numeric_day(match: re.Match[str], style: Style) -> str | None:
    first, mark, second, third = match.groups()
    if len(first) == 4:
        return _day(first, second, third) if len(third) <= 2 else None
    if len(third) != 4 or len(first) > 2:
        return None
    day_first = True if mark == "." else day_first_in(match[0])
    if day_first is None:
        day_first = style.day_first if first != second else True
    if day_first is None:
        return None
    return _day(third, second, first) if day_first else _day(third, first, second)


def _named_day(match: re.Match[str]) -> str | None:
    name = match["month"].casefold()
    found = [number for number, month in enumerate(_MONTHS, 1) if month.startswith(name) or name == month[:3] + "t"]
    return _day(match["year"], str(found[0]), match["day"]) if len(found) == 1 else None


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
