"""Days as running text writes them, with the span of each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_MONTHS = (
    ("january", "jan", "janeiro", "januar", "enero", "janvier", "januari"),
    ("february", "feb", "fevereiro", "fev", "februar", "febrero", "fevrier", "februari"),
    ("march", "mar", "marco", "marz", "marzo", "mars", "maret", "mac"),
    ("april", "apr", "abril", "abr", "avril"),
    ("may", "maio", "mai", "mayo", "mei"),
    ("june", "jun", "junho", "juni", "junio", "juin"),
    ("july", "jul", "julho", "juli", "julio", "juillet"),
    ("august", "aug", "agosto", "ago", "aout", "agustus", "ogos"),
    ("september", "sept", "sep", "setembro", "set", "septiembre", "septembre"),
    ("october", "oct", "outubro", "out", "oktober", "okt", "octubre", "octobre"),
    ("november", "nov", "novembro", "noviembre", "novembre"),
    ("december", "dec", "dezembro", "dez", "dezember", "diciembre", "dic", "decembre", "desember", "disember"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_UNITS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        1,
    )
}
_ORDINALS = {
    **_UNITS,
    **{f"twenty-{word}": 20 + number for word, number in _UNITS.items() if number < 10},
    "thirtieth": 30,
    "thirty-first": 31,
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + ")"
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_ENDING = r"(?:st|nd|rd|th|t h|s t|n d|r d|o|º)"
_DAY = rf"(?:(?P<day>\d{{1,2}})\s?{_ENDING}?|(?P<word>{_ORDINAL})(?:\s?\(\d{{1,2}}{_ENDING}?\))?)"
_YEAR = r"(?P<year>(?:19|20)\d{2}|'\d{2}|\d{2}(?![\d:./]))"
_GAP = r"[\s_,.*/-]{0,4}(?:-{3,12}\s{1,3})?"  # a line of dashes underlines what stands above it
_PATTERNS = tuple(
    re.compile(rf"(?<![\d\w]){pattern}(?!\d)")
    for pattern in (
        r"(?P<year>(?:19|20)\d{2})\s?[-/.]\s?(?P<month>\d{1,2})\s?[-/.]\s?(?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})\s?(?P<mark>[-/.])\s?(?P<second>\d{1,2})\s?(?P=mark)\s?(?P<year>(?:19|20)\d{2}|\d{2})",
        rf"{_DAY}{_GAP}(?:day{_GAP})?(?:of{_GAP}|de{_GAP})?{_MONTH}(?![a-z]){_GAP}(?:de{_GAP})?{_YEAR}",
        rf"{_MONTH}(?![a-z])\.?{_GAP}{_DAY}{_GAP}{_YEAR}",
    )
)
_HAS_MONTH = re.compile(rf"(?:{'|'.join(sorted({name[:3] for name in _MONTH_OF}))})")


@dataclass(frozen=True, slots=True)
class Day:
    """An ISO day and where it stands. `sure`: it can be read in one way only."""

    iso: str
    start: int
    end: int
    sure: bool


def days_in(low: str, start: int = 0, end: int | None = None, *, day_first: bool | None = None) -> list[Day]:
    """The days in `low[start:end]`, in order, none overlapping. `low` is lowered.

    In dates of numbers alone the day stands first, unless that cannot be or `day_first` is False. Two digits are a year
    of this century up to 40.
    """
    end = len(low) if end is None else end
    found = [day for match in _matches(low, start, end) if (day := _day(match, day_first))]
    return list(_apart(sorted(found, key=lambda one: (one.start, -one.end))))


def _matches(low: str, start: int, end: int) -> Iterator[re.Match[str]]:
    for number, pattern in enumerate(_PATTERNS):
        if number < 2 or _HAS_MONTH.search(low, start, end):
            yield from pattern.finditer(low, start, end)


def _apart(days: list[Day]) -> Iterator[Day]:
    last = -1
    for one in days:
        if one.start >= last:
            yield one
            last = one.end


def _day(match: re.Match[str], day_first: bool | None) -> Day | None:
    parts = match.groupdict()
    if "first" in parts:
        return _of_numbers(match, int(parts["first"]), int(parts["second"]), parts["year"], day_first)
    month = parts["month"]
    number = int(month) if month.isdigit() else _MONTH_OF[month]
    day = int(parts["day"]) if parts["day"] else _ORDINALS[parts["word"]]
    iso = _iso(_year(parts["year"]), number, day)
    return Day(iso, match.start(), match.end(), True) if iso else None


def _of_numbers(match: re.Match[str], first: int, second: int, year: str, day_first: bool | None) -> Day | None:
    orders = [(second, first), (first, second)] if day_first is not False else [(first, second), (second, first)]
    for month, day in orders:
        if iso := _iso(_year(year), month, day):
            return Day(iso, match.start(), match.end(), first == second or max(first, second) > 12)
    return None


def _year(written: str) -> int:
    digits = written.lstrip("'")
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (2000 if int(digits) <= 40 else 1900)


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
