"""Amounts of money: currency signs, codes and names, and the numbers beside them.

Signs and names come from CLDR through Babel. A sign that several countries use stands for the currency that most
documents mean: `$` is USD, `£` GBP, `¥` JPY.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import cast

from babel.core import get_global
from babel.numbers import get_currency_name, list_currencies

from storage.quantities.languages import LANGUAGES, load_locale, strip_accents
from storage.quantities.numbers import GROUP_MARKS_IN_TEXT, INDIAN_GROUPS, NUMBER_PATTERN, NumberSpan, parse_number
from storage.search.numbers import minor_digits_of

# A language of the country writes these currencies with a sign that other languages do not use.
_HOME_LANGUAGES = {
    "CZK": "cs", "IDR": "id", "ILS": "he", "MYR": "ms", "PHP": "en", "PLN": "pl", "RUB": "ru", "THB": "th", "TRY": "tr",
    "UAH": "uk",
}  # fmt: skip
_SIGNS_BESIDE_CLDR = {"US$": "USD", "C$": "CAD", "AU$": "AUD", "S$": "SGD", "SG$": "SGD", "Rs": "INR"}
# Names of one word that several currencies share, for the commonest of these
_CURRENCIES_OF_WORDS = {
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "pound": "GBP", "pounds": "GBP", "sterling": "GBP",
    "franc": "CHF", "francs": "CHF", "rupee": "INR", "rupees": "INR", "won": "KRW", "ruble": "RUB", "rubles": "RUB",
}  # fmt: skip
_WEIGHTS = frozenset({"pound", "pounds"})  # a whole string of these is not an amount of money: `5 pounds`
_OTHER_MEANINGS = frozenset(  # nouns in CLDR's names that have other meanings in English
    "gold mark marks real reals rand sol soles dram drams lev leva som soms kip kips lek loti lotis pula pulas "
    "kina tala lari laris leone leones balboa balboas florin guarani guaranis dong taka takas colon colons dobra "
    "dobras".split()
)
_CODES_IN_SMALL_LETTERS = (
    "USD EUR GBP JPY CHF MYR IDR INR CNY CAD AUD SEK NOK DKK PLN SGD BRL KRW MXN NZD CZK HKD THB VND".split()
)
_DOTTED_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")


@dataclass(frozen=True, slots=True)
class MoneyAmount:
    """An amount and its ISO 4217 code."""

    amount: Decimal
    currency: str


def _currency_signs() -> Iterator[tuple[str, str]]:
    for language in reversed(LANGUAGES):  # the sign that English uses wins
        for code, sign in cast(Mapping[str, str], load_locale(language).currency_symbols).items():
            if any(unicodedata.category(c) == "Sc" for c in sign) and not code.startswith("X"):
                yield sign, code
    for code, language in _HOME_LANGUAGES.items():
        yield cast(Mapping[str, str], load_locale(language).currency_symbols)[code], code
    yield from _SIGNS_BESIDE_CLDR.items()


def _current_currencies() -> frozenset[str]:
    """Codes that are legal tender somewhere today."""
    history = cast(Mapping[str, Iterable[tuple[str, object, object, bool]]], get_global("territory_currencies"))
    return frozenset(
        code for spans in history.values() for code, _, until, is_tender in spans if is_tender and until is None
    )


CURRENCIES_BY_SIGN: Mapping[str, str] = dict(_currency_signs())
CURRENCY_CODES = frozenset(cast(Iterable[str], get_global("all_currencies")))  # ISO 4217, former ones as well


def _english_currency_names() -> Iterator[tuple[str, str]]:
    """`swiss francs` and its code, singular and plural, in small letters without accents."""
    for code in _current_currencies():
        for count in (1, 2):
            yield strip_accents(get_currency_name(code, count=count, locale=load_locale("en"))).casefold(), code


def _currencies_by_name() -> Iterator[tuple[str, str]]:
    names = dict(_english_currency_names())
    codes_by_noun = dict[str, set[str]]()
    for name, code in names.items():
        codes_by_noun.setdefault(name.split()[-1], set()).add(code)
    yield from names.items()
    yield from _CURRENCIES_OF_WORDS.items()
    yield from ((code.lower(), code) for code in _CODES_IN_SMALL_LETTERS)
    for noun, codes in codes_by_noun.items():
        if len(codes) == 1 and noun not in _OTHER_MEANINGS and noun not in _CURRENCIES_OF_WORDS:
            yield noun, min(codes)


# In small letters: `dollars`, `swiss franc`, `usd`. Codes of three letters that are English words are left out.
CURRENCIES_BY_NAME: Mapping[str, str] = dict(_currencies_by_name())


def _alternatives(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=lambda text: (-len(text), text)))


# Patterns for longer patterns. A sign in letters (`RM`, `zł`) counts in this case only.
CURRENCY_SIGN_PATTERN = rf"(?:{_alternatives(CURRENCIES_BY_SIGN)})"
BARE_SIGN_PATTERN = rf"(?:{_alternatives(sign for sign in CURRENCIES_BY_SIGN if not sign.isalpha())})"
LETTER_SIGN_PATTERN = rf"(?:{_alternatives(sign for sign in CURRENCIES_BY_SIGN if sign.isalpha())})"
SIGN_CHARACTERS = "".join(sorted({c for sign in CURRENCIES_BY_SIGN for c in sign if unicodedata.category(c) == "Sc"}))
CURRENCY_CODE_PATTERN = rf"(?:{'|'.join(sorted(CURRENCY_CODES))})"
CURRENCY_NAME_PATTERN = rf"(?:{_alternatives(name for name in CURRENCIES_BY_NAME if ' ' in name)})".replace(
    r"\ ", r"\s+"
)
CURRENCY_WORD_PATTERN = rf"(?:{_alternatives(name for name in CURRENCIES_BY_NAME if name.isalpha())})"
_MISREAD_CENTS = re.compile(r"\d{1,3}(?:(?:,\d{3})+,|(?:\.\d{3})+\.)\d{2}")
_AMOUNT_WITH_CURRENCY = re.compile(
    rf"(?P<before>[^\d\s.,+−-]{{0,4}}\.?)\s*(?P<number>{NUMBER_PATTERN})\s*(?P<after>[^\d\s]{{0,3}}|[^\W\d_][^\d.,]*)"
)
_AMOUNT = re.compile(
    r"(?:(?<![\w,])(?<![\w,]\.)|(?<=[Rr][MmPp])|(?<=[Rr][Pp]\.)|(?<=EUR)|(?<=USD)|(?<=IDR))(-?)\s?"
    rf"((?:\d{{1,3}}(?:[.,{GROUP_MARKS_IN_TEXT}]\d{{3}})+|{INDIAN_GROUPS}|\d{{1,9}})(?:[.,]\d{{1,3}})?)(?!\d|\s?%)"
    rf"(?![.,]\d)"
)


def currency_of_sign(sign: str) -> str | None:
    """The ISO 4217 code of a sign as written beside a number, `Rp.` and `rm` included."""
    bare = sign.strip()
    return CURRENCIES_BY_SIGN.get(bare) or _signs_in_capitals().get(bare.rstrip(".").upper())


@lru_cache(maxsize=1)
def _signs_in_capitals() -> Mapping[str, str]:
    return {sign.upper(): code for sign, code in CURRENCIES_BY_SIGN.items()}


def currency_code_of(text: str) -> str | None:
    """The ISO 4217 code that a code (in any case) or a sign stands for."""
    code = text.strip()
    return CURRENCIES_BY_SIGN.get(code) or (code.upper() if code.upper() in known_currency_codes() else None)


def currency_of_name(text: str) -> str | None:
    """The ISO 4217 code of `dollars`, `Swiss francs`, `usd` or `THB`."""
    return CURRENCIES_BY_NAME.get(" ".join(text.casefold().split())) or (text if text in CURRENCY_CODES else None)


@lru_cache(maxsize=1)
def known_currency_codes() -> frozenset[str]:
    """Of ISO 4217, former ones as well, that English has a name for."""
    return frozenset(list_currencies("en"))


def parse_amount(digits: str, currency: str | None = None, *, decimal_comma: bool | None = None) -> Decimal | None:
    """The number of an amount of money. `1.234` is a thousand and more unless `decimal_comma` is False, since few
    currencies have three decimals.
    """
    thousands = decimal_comma is None and minor_digits_of(currency) != 3 and _DOTTED_THOUSANDS.fullmatch(digits.strip())
    return parse_number(digits, decimal_comma=True if thousands else decimal_comma)


def parse_money(text: str, *, decimal_comma: bool | None = None) -> MoneyAmount | None:
    """`12.50 EUR`, `$12`, `USD 5`, `-€ 1.234,50`, `20 dollars`; None without one clear currency.

    `decimal_comma`: as for `parse_number`.
    """
    text = text.strip().replace("−", "-")
    sign, text = ("-", text[1:].lstrip()) if text.startswith("-") else ("", text)
    match = _AMOUNT_WITH_CURRENCY.fullmatch(text)
    if not match or bool(match["before"]) == bool(match["after"]):
        return None
    written = match["before"] or match["after"]
    currency = currency_code_of(written) or currency_of_sign(written)
    if currency is None and written.casefold() not in _WEIGHTS:
        currency = currency_of_name(written)
    amount = parse_amount(sign + match["number"], currency, decimal_comma=decimal_comma)
    return MoneyAmount(amount, currency) if currency and amount is not None else None


def find_amounts(text: str, start: int, end: int, decimal_mark: str = "") -> Iterator[NumberSpan]:
    """Numbers in `text[start:end]` that can be amounts of money: no percentages, no parts of longer identifiers.

    `decimal_mark`: `.` or `,` where the document's own amounts show it.
    """
    for match in _AMOUNT.finditer(text, start, end):
        number = _amount_in_text(match[2], decimal_mark)
        if number is not None:
            decimals = max(0, -int(number.as_tuple().exponent))
            yield NumberSpan(-number if match[1] else number, match.start(2), match.end(2), "", decimals)


def _amount_in_text(digits: str, decimal_mark: str) -> Decimal | None:
    if decimal_mark and digits.count(decimal_mark) == 1 and digits.replace(decimal_mark, "").isdigit():
        return parse_number(digits, decimal_comma=decimal_mark == ",")
    number = parse_amount(digits)
    if number is None and _MISREAD_CENTS.fullmatch(digits):  # `14,500,00` of a scanner
        return parse_number(f"{digits[:-3].replace(digits[-3], '')}.{digits[-2:]}")
    return number
