"""Numbers as people write them, with a sign, scale, unit or currency."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import cast

from babel.core import get_global

from agent.rules.atoms import Quantity
from storage.search.conditions import Op

_CURRENCY_SIGNS = {
    "$": "USD", "US$": "USD", "C$": "CAD", "A$": "AUD", "S$": "SGD", "HK$": "HKD", "NZ$": "NZD", "R$": "BRL",
    "€": "EUR", "£": "GBP", "¥": "JPY", "RM": "MYR", "Rp": "IDR", "₹": "INR", "₩": "KRW", "₺": "TRY", "zł": "PLN",
}  # fmt: skip
_CODES = "|".join(sorted(cast(Iterable[str], get_global("all_currencies"))))  # ISO 4217, as Babel has it
CURRENCIES = {
    "us dollar": "USD", "us dollars": "USD", "canadian dollars": "CAD", "canadian dollar": "CAD",
    "australian dollars": "AUD", "australian dollar": "AUD", "singapore dollars": "SGD", "singapore dollar": "SGD",
    "hong kong dollars": "HKD", "hong kong dollar": "HKD",
    "dollar": "USD", "dollars": "USD", "usd": "USD", "bucks": "USD", "euro": "EUR", "euros": "EUR", "eur": "EUR",
    "pound": "GBP", "pounds": "GBP", "sterling": "GBP", "gbp": "GBP", "yen": "JPY", "jpy": "JPY", "franc": "CHF",
    "francs": "CHF", "chf": "CHF", "ringgit": "MYR", "myr": "MYR", "rupiah": "IDR", "idr": "IDR", "rupees": "INR",
    "inr": "INR", "yuan": "CNY", "cny": "CNY", "cad": "CAD", "aud": "AUD", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "pln": "PLN", "sgd": "SGD", "brl": "BRL", "krw": "KRW", "won": "KRW", "mxn": "MXN", "nzd": "NZD", "czk": "CZK",
}  # fmt: skip
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
_UNIT = (
    r"(?:US|Canadian|Australian|Singapore|Hong\s+Kong)\s+dollars?|(?:degrees?|deg\.?)\s+(?:celsius|centigrade|fahrenheit|kelvin|[CFK](?!\w))|(?:square|cubic|(?:sq|cu)\.?)\s+[A-Za-z]{1,11}"
    r"|[kc]?m[23](?!\w)|ft[23](?!\w)|°\s?[CF]?|%|\"|″|[A-Za-zµμΩ]{1,16}(?:/[A-Za-z]{1,4})?[²³]?(?![A-Za-z\d-])"
)
_DIGITS = (
    r"\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:[,\u202f']\d{3})+(?:\.\d+)?|(?!0\d)\d+(?:\.\d+)?|\.\d+"
    r"|\d+,\d{1,2}(?!\d)"
)
_SIGN = rf"(?:US|HK|NZ|[CASR])?\$|[€£¥₹₩₺]|RM|Rp\.?|(?:{_CODES})\s?"
_DASHED = re.compile(
    rf"(?<![\w.,-])(?P<sign>{_SIGN})?\s?(?P<low>{_DIGITS})\s?[-–—]\s?(?:{_SIGN})?\s?(?P<high>{_DIGITS})"
    rf"(?:\s?(?P<unit>(?i:{_UNIT})))?(?![\w-]|[.,]\d)"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?<!\w-)(?P<sign>{_SIGN})?\s?"
    rf"(?P<minus>(?:minus\s+|[-−])(?=\d))?(?P<digits>{_DIGITS})"
    r"(?:\s?(?P<scale>thousand|million|billion|mn|bn|k|m)\b(?![²³2]))?"
    rf"(?:[\s-]?(?P<unit>(?i:{_UNIT})))?(?!\w|/|[.,:]\d|-[A-Za-z\d])",
)
_SMALL = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SPELLED = re.compile(
    rf"(?<![\w-])(?P<first>an?|one|half\s+an?|half|{'|'.join(_SMALL)})"
    rf"(?P<rest>(?:[\s-]+(?:and\s+)?(?:{'|'.join((*_SMALL, *_LARGE))}))*)\s+(?P<unit>{_UNIT})",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\b(?:than|over|under|least|most|within|exceeding|above|below)\s+$", re.IGNORECASE)
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_STRICT_WORDS = re.compile(r"^(?:in|is|or|and|of|to|at|by|on|as|for|a|the|with|from|per|each|but|not|days?\s+of)$")


def quantities_in(question: str, taken: Sequence[tuple[int, int]]) -> Iterator[Quantity]:
    """Every number outside `taken`, with its sign, scale, unit or currency; spelled ones where a measure follows."""
    spans = list(taken)
    for match in _DASHED.finditer(question):
        quantity = _dashed(match)
        if quantity is not None and _is_free(quantity.start, quantity.end, spans):
            spans.append((quantity.start, quantity.end))
            yield quantity
    for match in _NUMBER.finditer(question):
        quantity = _quantity(match)
        if _is_free(quantity.start, match.start("digits") + 1, spans):
            end = min([quantity.end, *(a for a, _ in spans if a >= match.end("digits"))])
            spans.append((quantity.start, end))
            yield quantity if end == quantity.end else replace(quantity, end=match.end("digits"), unit="")
    for match in _SPELLED.finditer(question):
        quantity = _spelled(match)
        if quantity is not None and _is_free(match.start(), match.end(), spans):
            spans.append((quantity.start, quantity.end))
            yield quantity


def _dashed(match: re.Match[str]) -> Quantity | None:
    """ "EUR 10-25", "0.3–0.7 W": a range where a currency or unit shows that it is one."""
    unit, sign = match["unit"] or "", (match["sign"] or "").strip()
    currency = _CURRENCY_SIGNS.get(sign.rstrip("."), sign.upper()) or _currency_named(unit)
    if _STRICT_WORDS.match(unit) or not (currency or unit):
        return None
    end = match.end("high") if _currency_named(unit) == "" and currency and unit else match.end()
    return Quantity(
        start=match.start(), end=end, op=Op.BETWEEN, low=_number(match["low"]), high=_number(match["high"]),
        unit="" if currency else unit, currency=currency, number_start=match.start(), unit_start=match.start("unit"),
    )  # fmt: skip


def _currency_named(unit: str) -> str:
    """ISO 4217 of a word or code after a number; empty for none."""
    return CURRENCIES.get(" ".join(unit.casefold().split()), unit if unit in get_global("all_currencies") else "")


def _number(written: str) -> Decimal:
    decimal_comma = re.fullmatch(r"\d+,\d{1,2}|\d{1,3}(?:\.\d{3})+,\d{1,2}", written)
    return Decimal(written.replace(".", "").replace(",", ".") if decimal_comma else re.sub(r"[,\u202f']", "", written))


def _is_free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return all(end <= a or start >= b for a, b in taken)


def _spelled(match: re.Match[str]) -> Quantity | None:
    """ "Five watts", "two hundred and fifty dollars", "half a volt"."""
    first, unit = match["first"].lower(), match["unit"]
    words = [word for word in re.split(r"[\s-]+", match["rest"].lower()) if word and word != "and"]
    is_one = first in ("a", "an", "one") and not words
    if _STRICT_WORDS.match(unit) or (is_one and not _COMPARED.search(match.string, 0, match.start())):
        return None
    whole, part = Decimal(0), Decimal("0.5") if first.startswith("half") else Decimal(_SMALL.get(first, 1))
    for word in words:
        if word == "hundred":
            part *= 100
        elif word in _LARGE:
            whole, part = whole + part * _LARGE[word], Decimal(0)
        else:
            part += _SMALL[word]
    currency = _currency_named(unit)
    return Quantity(
        start=match.start(), end=match.end(), op=Op.EQ, low=whole + part, unit="" if currency else unit,
        currency=currency, bare=True, number_start=match.start(), unit_start=match.start("unit"),
    )  # fmt: skip


def _quantity(match: re.Match[str]) -> Quantity:
    number = _number(match["digits"])
    if _DOTTED.fullmatch(match["digits"]) and (match["sign"] or _currency_named(match["unit"] or "")):
        number = Decimal(match["digits"].replace(".", ""))  # no currency has three decimals in use: these are thousands
    sign, unit, end = (match["sign"] or "").strip(), match["unit"] or "", match.end()
    if _STRICT_WORDS.match(unit):
        unit, end = "", max(match.end("digits"), match.end("scale"))
    scale = (match["scale"] or "").lower()
    if scale == "m" and not sign and not unit:
        scale, unit = "", "m"  # "5 m" is a length unless money is meant
    number *= 10 ** _SCALES.get(scale, 0)
    currency = _CURRENCY_SIGNS.get(sign.rstrip("."), sign.upper())
    if named := _currency_named(unit):
        currency, unit = currency or named, ""
    return Quantity(
        start=match.start(), end=end, op=Op.EQ, low=-number if match["minus"] else number, unit=unit,
        currency=currency, bare=True, number_start=match.start(),
        unit_start=match.start("unit") if unit else end,
    )  # fmt: skip
