"""Numbers, amounts, days and names of languages as the language of the reply writes them, and the asker's country.

English replies keep the plain forms of the code: `1,042.5`, `EUR 5.00`, `2031-05-09`.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import cast

from babel import Locale, UnknownLocaleError
from babel.numbers import get_decimal_symbol, get_group_symbol

from agent.translation.languages import get_reply_language, get_reply_locale, is_reply_in_english
from agent.translation.local_wording import get_wording
from storage.quantities.languages import load_locale

_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def localize_number(number: str) -> str:
    """`1,042.5`, as Python formats it, with the separators of the language: `1.042,5` in German."""
    if is_reply_in_english():
        return number
    locale = _load_reply_locale()
    return number.translate({ord(","): get_group_symbol(locale), ord("."): get_decimal_symbol(locale)})


def localize_count(count: int | None) -> str:
    """The count with the separators of the language; empty for None, and in English, whose form the code has."""
    return "" if count is None or is_reply_in_english() else localize_number(f"{count:,}")


def localize_money(amount: str, currency: str) -> str:
    """An amount, as Python formats it, with its currency (ISO 4217): `EUR 1,042.50`, in German `1.042,50 €`.

    The blank in it is one at which no line breaks.
    """
    if is_reply_in_english():
        return f"{currency} {amount}"
    from babel.numbers import get_currency_symbol  # English replies do not wait for it

    locale, number = _load_reply_locale(), localize_number(amount)
    sign = get_currency_symbol(currency, locale)
    is_sign_first = str(locale.currency_formats["standard"].pattern).startswith("¤")
    return f"{sign}\u00a0{number}" if is_sign_first else f"{number}\u00a0{sign}"


def localize_day(day: str) -> str:
    """An ISO day as the language writes it, `9. Mai 2031` in German. English replies and other texts keep theirs."""
    if is_reply_in_english() or not _ISO_DAY.fullmatch(day):
        return day
    try:
        return _format_day(date.fromisoformat(day))
    except ValueError:  # no day of the calendar, such as 2031-02-30
        return day


def localize_month(day: date) -> str:
    """ "May 2031"."""
    if is_reply_in_english():
        return day.strftime("%B %Y")
    from babel.dates import format_skeleton

    return format_skeleton("yMMMM", day, locale=_load_reply_locale())


def _format_day(day: date) -> str:
    from babel.dates import format_date

    written = format_date(day, "long", locale=_load_reply_locale())
    first = get_wording().first_of_month
    return f"{first}{written[1:]}" if first and day.day == 1 and written.startswith("1 ") else written


def _load_reply_locale() -> Locale:
    return _load_known_locale(get_reply_locale(), get_reply_language())


@cache
def _load_known_locale(identifier: str, language: str) -> Locale:
    try:
        return load_locale(identifier)
    except (ValueError, UnknownLocaleError):  # a country that CLDR does not know
        return load_locale(language)


def language_name_of(language: str) -> str:
    """The name of a language by its ISO 639 code, in the language of the reply; the code for an unknown one."""
    names = cast(Mapping[str, str], load_locale(get_reply_language()).languages)
    return names.get(language, language)
