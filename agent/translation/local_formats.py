"""Numbers, days and names of languages as the language of the reply writes them."""

import re
from collections.abc import Mapping
from datetime import date
from typing import cast

from babel.numbers import get_decimal_symbol, get_group_symbol

from agent.translation.languages import get_reply_language, is_reply_in_english
from storage.quantities.languages import load_locale

_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def localize_number(number: str) -> str:
    """`1,042.5`, as Python formats it, with the separators of the language: `1.042,5` in German."""
    if is_reply_in_english():
        return number
    locale = load_locale(get_reply_language())
    return number.translate({ord(","): get_group_symbol(locale), ord("."): get_decimal_symbol(locale)})


def localize_day(day: str) -> str:
    """An ISO day as the language writes it, `9. Mai 2031` in German. English replies and other texts keep theirs."""
    if is_reply_in_english() or not _ISO_DAY.fullmatch(day):
        return day
    try:
        return _format_date(date.fromisoformat(day), "long")
    except ValueError:  # no day of the calendar, such as 2031-02-30
        return day


def localize_month(day: date) -> str:
    """ "May 2031"."""
    if is_reply_in_english():
        return day.strftime("%B %Y")
    return _format_date(day, "LLLL yyyy")


def _format_date(day: date, pattern: str) -> str:
    from babel.dates import format_date  # English replies do not wait for it

    return format_date(day, pattern, locale=load_locale(get_reply_language()))


def language_name_of(language: str) -> str:
    """The name of a language by its ISO 639 code, in the language of the reply; the code for an unknown one."""
    names = cast(Mapping[str, str], load_locale(get_reply_language()).languages)
    return names.get(language, language)
