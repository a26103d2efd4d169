"""Whether a reply says what is right, however it writes it.

A reply says the gold answer where its own words (Markdown marks and citation markers aside) hold
- *yes* or *no*: as its first word, or the first that is bold;
- a number: a number equal to 12 digits, `1,234.50` and `1.234,5` read either way; where the gold has a unit, also the
  same quantity in another unit (800 mW for 0.8 W), and no quantity of another dimension;
- a day (ISO, or 31/01/2025): the same day in any common writing, `March 5, 2020`, `the 5th day of March, 2020`;
- a duration ("successive 1 year", "30 days"): a number and unit of the same length, `thirty (30) days`, `12 months`;
- several things: every one of them;
- any other words: the same words in a row. Case, accents, punctuation, `Inc.` and the like are nothing.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any as Json
from typing import cast

from storage.ingest.literals import Style, day_in
from storage.ingest.units import converted, written_unit

SHORT = 6  # words; a longer gold answer is prose, which no comparison of words can judge
_MARKER = re.compile(r"\[\d{1,3}\](?:\([^)]*\))?")
_MARKUP = re.compile(r"[*_`#>|\\]+")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.,])[-−+]?(?:\d[\d.,'\u00a0\u202f]*\d|\d)(?!\d|[^\W\d_]+\d)")
_UNIT = re.compile(r"[ \u00a0\u202f]?([^\W\d_°%ΩµμΩ]{1,8}|[°%ΩµμΩ][^\W\d_]{0,3}|[µμ]?[^\W\d_]{0,3}Ω)")
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_YES_OR_NO = re.compile(r"(?:^\W*|\*\*)(yes|no)\b", re.IGNORECASE)
_DAYS = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}"
    rf"|\d{{1,2}}\s*(?:st|nd|rd|th)?\s*(?:day\s+)?(?:of\s+)?{_MONTH}\.?,?\s*\d{{4}}"
    rf"|{_MONTH}\.?\s*\d{{1,2}}\s*(?:st|nd|rd|th)?\s*,?\s*\d{{4}}",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?<=\d)\s*(?:st|nd|rd|th)\b|\bday\b|\bof\b|,", re.IGNORECASE)
_DAY_OR_MONTH_FIRST = (Style(day_first=True), Style(day_first=False))
_LEGAL_FORMS = frozenset("inc incorporated corp corporation co company llc ltd limited lp plc gmbh ag sa nv bv".split())
_SMALL: dict[str, int] = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen twenty thirty forty fifty sixty ninety".split(),
        [*range(1, 21), 30, 40, 50, 60, 90],
        strict=True,
    )
)
_LENGTHS = {
    "day": ("day", 1),
    "week": ("day", 7),
    "month": ("month", 1),
    "quarter": ("month", 3),
    "year": ("month", 12),
}
_DURATION = re.compile(
    rf"\b(\d+|{'|'.join(_SMALL)})\)?(?:\s*\(\s*\d+\s*\))?[\s-]*(?:(?:calendar|business|full|consecutive)\s+)?"
    r"(day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)


def said(gold: Json, text: str, unit: str | None = None) -> bool:
    """Whether the text says the gold answer, as the module's page defines it; `unit`: that of a gold number."""
    match gold:
        case bool():
            return said_yes(text) is gold
        case int() | float():
            return _says_number(Decimal(str(gold)), plain_text(text), unit or None)
        case list() | tuple():
            members = cast(Sequence[Json], gold)
            return bool(members) and all(said(one, text, unit) for one in members)
        case str() if gold.strip().casefold() in ("yes", "no"):
            return said_yes(text) is (gold.strip().casefold() == "yes")
        case str():
            return _says_words(gold, plain_text(text), unit)
        case _:
            return False


def is_short(gold: Json) -> bool:
    """Whether it can be compared at all: a value, or a few words."""
    if isinstance(gold, str):
        return bool(words(gold)) and len(gold.split()) <= SHORT
    if isinstance(gold, list):
        members = cast(list[Json], gold)
        return bool(members) and all(map(is_short, members))
    return isinstance(gold, (bool, int, float))


def holds_words(gold: str, text: str) -> bool:
    """Whether every word of the gold answer is in the text, in any order."""
    return set(words(gold)) <= set(words(plain_text(text)))


def said_yes(text: str) -> bool | None:
    """True for yes, False for no; None where neither stands first, in the reply or in bold."""
    found = _YES_OR_NO.search(text)
    return None if found is None else found[1].casefold() == "yes"


def without(titles: Iterable[str], text: str) -> str:
    """The text less the titles of documents, which are no answers: a title may hold the day that was asked for."""
    unescaped = text.replace("\\", "")
    for title in sorted(titles, key=len, reverse=True):
        unescaped = unescaped.replace(title, " ") if title else unescaped
    return unescaped


def plain_text(text: str) -> str:
    """Without the marks of Markdown and of citations."""
    return _MARKUP.sub(" ", _MARKER.sub(" ", text))


def words(text: str) -> list[str]:
    """Folded words and numbers, letters apart from digits: `128GB` is two."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _WORD.findall(re.sub(r"(?<=\w)['’](?=s\b)|(?<=\d),(?=\d{3}\b)", "", folded))


# -- words


def _says_words(gold: str, text: str, unit: str | None) -> bool:
    if not gold.strip():
        return False
    if days := days_in(gold):
        return bool(days & days_in(text))
    if lengths := _lengths_in(gold):
        return lengths <= _lengths_in(text)
    if (number := _plain_number(gold)) is not None:
        return _says_number(number, text, unit) or _in_a_row(words(gold), words(text))
    return _in_a_row(_name(gold), _name(text))


def _name(text: str) -> list[str]:
    """The words, less legal forms: `MSCI Inc.` is `MSCI`; all of them where nothing else is left."""
    found = words(text)
    return [one for one in found if one not in _LEGAL_FORMS] or found


def _in_a_row(few: Sequence[str], many: Sequence[str]) -> bool:
    return any(list(many[at : at + len(few)]) == list(few) for at in range(len(many) - len(few) + 1))


# -- days and durations


@lru_cache(maxsize=10_000)
def days_in(text: str) -> frozenset[str]:
    """ISO days that the text writes; a day in numbers that could be two is both."""
    found = set[str]()
    for match in _DAYS.finditer(text):
        written = " ".join(_ORDINAL.sub(" ", match[0]).split())
        found.update(day for style in _DAY_OR_MONTH_FIRST if (day := day_in(written, style)))
    return frozenset(found)


def _lengths_in(text: str) -> frozenset[tuple[str, int]]:
    """Durations, in days or in months."""
    found = set[tuple[str, int]]()
    for match in _DURATION.finditer(text):
        number = _SMALL.get(match[1].casefold()) or int(match[1]) if match[1] else 0
        unit, times = _LENGTHS[match[2].casefold()]
        found.add((unit, number * times))
    return frozenset(found)


# -- numbers


def _says_number(gold: Decimal, text: str, unit: str | None) -> bool:
    return any(_is_same(number, after, gold, unit) for number, after in _numbers_in(text))


def _is_same(number: Decimal, after: str, gold: Decimal, unit: str | None) -> bool:
    source = written_unit(after) if after else None
    if unit is None or source is None or source == unit:
        return _near(number, gold)
    other = converted(number, source, unit)
    return other is not None and _near(other, gold)


def _near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= abs(other) * Decimal("1e-9")


def _numbers_in(text: str) -> Iterator[tuple[Decimal, str]]:
    """Each number in every way it can be read, and the unit that follows as it is written, or nothing."""
    for match in _NUMBER.finditer(text):
        unit = _UNIT.match(text, match.end())
        for number in _readings(match[0]):
            yield number, unit[1] if unit else ""


def _readings(written: str) -> set[Decimal]:
    """`1,234` is 1234 and 1.234."""
    bare = re.sub(r"['\u00a0\u202f]", "", written.replace("−", "-"))
    readings = (bare.replace(",", ""), bare.replace(".", "").replace(",", "."))
    return {number for one in readings if (number := _plain_number(one)) is not None}


def _plain_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
