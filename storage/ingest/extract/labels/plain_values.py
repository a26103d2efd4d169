"""Reduces the text of a labelled value to the value alone: `about EUR 900 per month (net)` is `EUR 900`."""

import re
from collections.abc import Iterator
from decimal import Decimal

from storage.ingest.extract.document_text import fold_characters
from storage.ingest.extract.labels.person_names import is_person_name
from storage.ingest.schemas.literals import parse_flag
from storage.quantities.days import find_dates, parse_date
from storage.quantities.durations import find_durations, parse_hours_and_minutes
from storage.quantities.money import BARE_SIGN_PATTERN, parse_money
from storage.quantities.numbers import NUMBER_PATTERN, parse_number, parse_rating
from storage.quantities.units import parse_quantity

_MARKS_AROUND = ' \t*_`"“”;,'
_ABOUT = re.compile(
    r"(?:approx(?:imately|\.)?|about|around|circa|ca\.?|c\.|roughly|some|~|≈|up to|at most|at least"
    r"|(?:no|not) more than|max(?:imum|imal|\.)?|min(?:imum|\.)?|for"
    r"|höchstens|mindestens|bis zu|jusqu'à|au plus|hasta|máximo)(?![^\W_])\s*",
    re.IGNORECASE,
)
_COUNTED_THINGS = re.compile(r"\d{1,6}\s+[^\W\d_]{3,20}")
_SHORT_DURATION = re.compile(r"(?P<number>\d{1,4}(?:[.,]\d)?)\s?(?P<unit>d|wk|mo|mth|yr)s?\.?", re.IGNORECASE)
_UNIT_BY_SHORT_WORD = {"d": "days", "wk": "weeks", "mo": "months", "mth": "months", "yr": "years"}
_QUALIFIER_START = re.compile(
    r"['’]?\s*(?:[(\[,;/–—-]|(?:a|an|per|each|incl(?:uding|usive|\.)?|excl(?:uding|usive|\.)?|plus|net|gross|before|after|"
    r"payable|due|notice|in|only|flat|fixed|total|exactly|monthly|weekly|yearly|annually|quarterly|daily|from|by|with|via|at|"
    r"approx\.?|p\.?\s?[amw]\.?|pcm)(?![^\W_]))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MAX_QUALIFIER_CHARACTERS = 100
_CLOCK_AFTER = re.compile(
    r"[\s,]*(?:at|um|@|from|,|à)?\s*(?:\d{1,2}(?:[:.]\d{2}){1,2}|\d{1,2}(?=\s*(?:[ap]\.?m|h\b|uhr)))?"
    r"\s*(?:[ap]\.?m\.?|h|hrs|hours|uhr)?"
    r"(?:\s*(?:to|until|[–-])\s*\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?|h|hrs|uhr)?)?"
    r"(?:\s*(?:[A-Z]{2,4}|[+-]\d{4}))?(?:\s*\([^()]{0,40}\))?[\s.]*",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(
    r"(?:[^\W\d_]{2,10}\.?,?\s+|(?:[^\W\d_][\w.'’-]*\s?){1,3},\s*(?:[^\W\d_]{2,10},?\s+)?"
    r"|on\s+|from\s+|by\s+|the\s+){0,2}",
    re.IGNORECASE,
)
_OPEN_CENTS = re.compile(r"(?<=\d)[.,](?:-{1,2}|–|—)(?=\s|$)")
_LEADING_VALUE = re.compile(
    rf"(?:[^\d\s.,+−-]{{1,4}}\.?\s?)?{NUMBER_PATTERN}(?:\s?(?:%|°\s?[CF]|[^\W\d_°]{{1,10}}[²³23]?(?:/[^\W\d_]{{1,4}})?|{BARE_SIGN_PATTERN}))?"
)
_ANGLE_ADDRESS = re.compile(r"\s*<[^<>\s]+@[^<>\s]+>")
_ROLE = re.compile(
    r"\s*\([^()]{1,60}\)\s*$|,\s+[a-z][^,;]{2,60}$|(?:,|\s+on|\s+at)\s+(?P<place>[^,;]{0,20}\d[^;]{0,40})$"
)


def plain_value_of(text: str) -> str:
    """Returns the value as metadata would have it: a day, amount, quantity or name without words around it.

    Any other text is returned as it is written, without marks around it.
    """
    value = _ANGLE_ADDRESS.sub("", text.strip(_MARKS_AROUND)).strip(_MARKS_AROUND) or text.strip(_MARKS_AROUND)
    bare = _OPEN_CENTS.sub("", value)
    if short := _SHORT_DURATION.fullmatch(bare):
        return f"{short['number']} {_UNIT_BY_SHORT_WORD[short['unit'].casefold()]}"
    if _is_measured(bare) or parse_flag(bare) is not None:
        return bare
    about = _ABOUT.match(bare)
    reduced = next(_reduced_values(bare[about.end() :] if about else bare), None)
    if reduced is None and about and _COUNTED_THINGS.fullmatch(bare, about.end()):
        reduced = bare[about.end() :]
    if reduced is not None:
        return reduced
    role = _ROLE.search(value)
    is_address = role is not None and role["place"] is not None and not find_dates(fold_characters(role["place"]))
    head = value[: role.start()] if role is not None and not is_address else value
    return (
        head if head != value and is_person_name(head) else value.removesuffix(".") if value.count(".") == 1 else value
    )


def is_measured_value(text: str) -> bool:
    """Whether the text is an amount, a quantity with a unit or a day, with words around it; a bare number is not."""
    plain = plain_value_of(text)
    return parse_number(plain) is None and _is_measured(plain)


def _is_measured(text: str) -> bool:
    return (
        parse_number(text) is not None
        or parse_date(text, day_first=True) is not None
        or parse_money(text) is not None
        or parse_quantity(text) is not None
    )


def _reduced_values(text: str) -> Iterator[str]:
    if _is_measured(text):
        yield text
    if rating := parse_rating(text):
        yield str(rating[0])
    if (minutes := parse_hours_and_minutes(text)) is not None:
        yield f"{minutes} min"
    yield from _leading_date(text)
    yield from _leading_measure(text)
    yield from _spelled_duration(text)


def _leading_date(text: str) -> Iterator[str]:
    """Yields the only day of the text where nothing but a place, a weekday or a time appears beside it."""
    if len(text) > 80:
        return
    days = find_dates(fold_characters(text))
    if len(days) != 1 or not _BEFORE_DATE.fullmatch(text, 0, days[0].start):
        return
    if _CLOCK_AFTER.fullmatch(text, days[0].end) or _is_qualifier(text[days[0].end :]):
        written = text[days[0].start : days[0].end]
        yield days[0].iso if days[0].is_unambiguous or "." in written else written


def _is_qualifier(rest: str) -> bool:
    """Whether what follows a value only qualifies it: nothing, brackets, "per month", "plus VAT"; no other number."""
    if not rest.strip(" ."):
        return True
    is_short = len(rest) <= _MAX_QUALIFIER_CHARACTERS
    return is_short and bool(_QUALIFIER_START.match(rest)) and not any(c.isdigit() for c in _BRACKETED.sub("", rest))


def _leading_measure(text: str) -> Iterator[str]:
    """Yields an amount or a quantity at the beginning, where only a qualifier without a number follows."""
    match = _LEADING_VALUE.match(text)
    for end in _possible_ends(text, match.end()) if match else ():
        head = text[:end].strip()
        if _is_qualifier(text[end:]) and (
            parse_money(head) is not None
            or parse_quantity(head) is not None
            or (parse_number(head) is not None and text[end:].lstrip().startswith(("(", "[")))
        ):
            yield head
            return


def _possible_ends(text: str, end: int) -> Iterator[int]:
    """Yields the end of a leading value, then the end of its number without the word behind it."""
    yield end
    digits = [i for i in range(end) if text[i].isdigit()]
    if digits and digits[-1] + 1 < end:
        yield digits[-1] + 1


def _spelled_duration(text: str) -> Iterator[str]:
    folded = fold_characters(text)
    durations = list(find_durations(folded))
    if len(durations) != 1 or durations[0].start > 0 or not _is_qualifier(text[durations[0].end :]):
        return
    number, unit = durations[0].number, durations[0].unit
    yield f"{number * 3} months" if unit == "quarter" else f"{number if number % 1 else Decimal(int(number))} {unit}s"
