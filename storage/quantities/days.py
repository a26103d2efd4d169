"""Days: names of months and weekdays (CLDR through Babel), days as whole strings and in running text.

A day in digits alone (`03/04/2031`) is ambiguous; `day_first` says how the source writes its days, where the caller
knows that. Two digits are a year of this century up to 40.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import cast

from storage.quantities.languages import DOCUMENT_LANGUAGES, LANGUAGES, load_locale, strip_accents
from storage.quantities.spelled_numbers import ORDINALS_BY_WORD, alternatives_of

_LAST_SHORT_YEAR = 40  # `'40` is 2040, `'41` is 1941


def _names_of_months(languages: tuple[str, ...], *widths: str) -> Iterator[tuple[str, int]]:
    """Names in small letters, as CLDR writes them and without accents and periods."""
    for language in languages:
        contexts = cast(Mapping[str, Mapping[str, Mapping[int, str]]], load_locale(language).months)
        for names in (names_by_width[width] for names_by_width in contexts.values() for width in widths):
            for number, name in names.items():
                lowered = name.lower().rstrip(".")
                yield from ((lowered, number), (strip_accents(lowered), number))


def _names_of_weekdays() -> Iterator[str]:
    for language in LANGUAGES:
        for names in load_locale(language).days["format"]["wide"].values():
            yield from (names.lower(), strip_accents(names.lower()))
    yield from (name.lower() for name in load_locale("en").days["format"]["abbreviated"].values())


def _short_names_of_weekdays() -> Iterator[str]:
    for language in LANGUAGES:
        for width in ("wide", "abbreviated", "short"):
            names = load_locale(language).days["format"][width].values()
            yield from (name.lower().rstrip(".") for name in names)


ENGLISH_MONTHS: tuple[str, ...] = tuple(load_locale("en").months["format"]["wide"].values())  # January first
ENGLISH_MONTH_NUMBERS: Mapping[str, int] = {**dict(_names_of_months(("en",), "wide", "abbreviated")), "sept": 9}
# Of all languages, whole and abbreviated: `märz`, `marz`, `mar`, `janv`, `ogos`
MONTH_NUMBERS: Mapping[str, int] = {
    **dict(_names_of_months(DOCUMENT_LANGUAGES, "wide", "abbreviated")),
    **ENGLISH_MONTH_NUMBERS,
}
# Whole names of the project's languages that are nothing else in an English sentence
CLEAR_MONTH_NUMBERS: Mapping[str, int] = {
    name: number
    for name, number in {**dict(_names_of_months(LANGUAGES, "wide")), **ENGLISH_MONTH_NUMBERS}.items()
    if name not in ("mars", "mayo")
}
ENGLISH_MONTH_PATTERN = rf"(?:{alternatives_of(ENGLISH_MONTH_NUMBERS)})"
CLEAR_MONTH_PATTERN = rf"(?:{alternatives_of(CLEAR_MONTH_NUMBERS)})"
MONTH_PATTERN = rf"(?:{alternatives_of(MONTH_NUMBERS)})"
WEEKDAY_PATTERN = rf"(?:{'|'.join(sorted(set(_names_of_weekdays()), key=len, reverse=True))})"

# What every name of a month begins with, in ASCII; a pattern that ignores case takes a dotless i for an i, too.
_MONTH_BEGINNINGS = tuple(sorted({name[:3].replace("ı", "i") for name in MONTH_NUMBERS}))


def may_name_month(text: str) -> bool:
    """Whether a name of a month may stand in the text; it takes far less time than to look for all of them."""
    return not text.isascii() or any(map(text.lower().__contains__, _MONTH_BEGINNINGS))


# -- whole strings

_ISO_DATE = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:Z|[+-]\d{2}:?(?:\d{2})?)?)?"
)
_NUMERIC_DATE = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{4}|\d{1,2})(?:[T ,]+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp][Mm])?)?"
)
_WEEKDAY_BEFORE_DIGIT = re.compile(
    rf"^(?:{'|'.join(sorted(set(_short_names_of_weekdays()), key=len, reverse=True))})\.?,?\s+(?=\d)", re.IGNORECASE
)
_WORD_BEFORE = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"  # a weekday in any language
_NAMED_MONTH_DATES = (
    re.compile(
        _WORD_BEFORE + r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?[\s-]+(?:(?:of|de)\s+)?(?P<month>[^\W\d_]{3,10})\.?,?"
        r"[\s-]+(?:de\s+)?(?P<year>\d{4}|'?\d{2})"
    ),
    re.compile(_WORD_BEFORE + r"(?P<month>[^\W\d_]{3,10})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})"),
)


def parse_date(text: str, *, day_first: bool | None = None) -> date | None:
    """The day that the whole string is; None for any other string, and for an ambiguous one without `day_first`.

    `2031-05-09`, `2031-05-09T23:30:00-05:00` (the day in UTC), `9 May 2031`, `Friday, May 9, 2031`, `9 de mayo de
    2031`, `09.05.2031` (the day is first), `2031/05/09`, `03/04/2031`, `Fri 09/05/2031`. A year has four digits, or two
    after slashes (`9/5/31`), between pairs of digits (`09.05.31`) and after a day and a month's name (`09-May-31`).
    """
    text = text.strip()
    if len(text) < 6 or not any(c.isdigit() for c in text):
        return None
    text = _without_weekday(text)
    if _ISO_DATE.fullmatch(text):
        return _parse_iso_date(text)
    if match := _NUMERIC_DATE.fullmatch(text):
        return _parse_numeric_date(match, day_first)
    for pattern in _NAMED_MONTH_DATES:
        if match := pattern.fullmatch(text):
            month = _month_of_word(match["month"])
            return date_or_none(full_year(match["year"]), month, match["day"]) if month else None
    return None


def detect_day_first(text: str) -> bool | None:
    """Whether the day appears before the month in a date of digits; None where it could be either, or is not a date."""
    match = _NUMERIC_DATE.fullmatch(_without_weekday(text.strip()))
    if not match or len(match[1]) >= 3:
        return None
    first, second = int(match[1]), int(match[3])
    if match[2] == ".":
        return True
    return None if (first > 12) == (second > 12) else first > 12


def _without_weekday(text: str) -> str:
    """Returns the text without the name of a weekday before a digit."""
    return text if text[:1].isdigit() else _WEEKDAY_BEFORE_DIGIT.sub("", text)


def date_or_none(year: str | int, month: str | int, day: str | int) -> date | None:
    """None where the calendar has no such day."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def full_year(digits: str) -> int:
    """The year of `2031`, `31` or `'31`."""
    bare = digits.lstrip("'")
    if len(bare) == 4:
        return int(bare)
    return int(bare) + (2000 if int(bare) <= _LAST_SHORT_YEAR else 1900)


def _parse_iso_date(text: str) -> date | None:
    if len(text) == 10:
        return date_or_none(text[:4], text[5:7], text[8:])
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return date_or_none(text[:4], text[5:7], text[8:10])
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:
        return None


def _parse_numeric_date(match: re.Match[str], day_first: bool | None) -> date | None:
    first, mark, second, third = match.groups()
    if len(first) == 4:
        return date_or_none(first, second, third) if len(third) <= 2 else None
    is_short = len(third) == 2 and (mark == "/" or (len(first) == len(second) == 2))
    if (len(third) != 4 and not is_short) or len(first) > 2:
        return None
    third = str(full_year(third))
    is_day_first = True if mark == "." else detect_day_first(match[0])
    if is_day_first is None:
        is_day_first = day_first if first != second else True
    if is_day_first is None:
        return None
    return date_or_none(third, second, first) if is_day_first else date_or_none(third, first, second)


def _month_of_word(word: str) -> int | None:
    """The month of a name, or of the beginning of one English name: `Janu`."""
    name = word.lower()
    if number := MONTH_NUMBERS.get(name) or MONTH_NUMBERS.get(strip_accents(name)):
        return number
    numbers = [number for number, month in enumerate(ENGLISH_MONTHS, 1) if month.lower().startswith(name)]
    return numbers[0] if len(numbers) == 1 else None


# -- running text

_ORDINAL_ENDING = r"(?:st|nd|rd|th|er|t h|s t|n d|r d|o|º)"
_DAY_IN_TEXT = (
    rf"(?:(?P<day>\d{{1,2}})(?!\d)\s?{_ORDINAL_ENDING}?|(?P<word>{alternatives_of(ORDINALS_BY_WORD, high=31)})"
    rf"(?:\s?\(\d{{1,2}}{_ORDINAL_ENDING}?\))?)"
)
_YEAR_IN_TEXT = r"(?P<year>(?:19|20)\d{2}|'\d{2}|\d{2}(?![\d:./]))"
_GAP = r"[\s_,.*/-]{0,4}(?:-{3,12}\s{1,3})?"  # a line of dashes underlines what stands above it
_FOLDED_MONTH_NUMBERS = {name: number for name, number in MONTH_NUMBERS.items() if name.isascii()}
_MONTH_IN_TEXT = rf"(?P<month>{alternatives_of(_FOLDED_MONTH_NUMBERS)})(?![a-z])"
_NUMERIC_DATES_IN_TEXT, _NAMED_DATES_IN_TEXT = (
    tuple(re.compile(rf"(?<![\d\w]){pattern}(?!\d)") for pattern in patterns)
    for patterns in (
        (
            r"(?P<year>(?:19|20)\d{2})\s?[-/.]\s?(?P<month>\d{1,2})\s?[-/.]\s?(?P<day>\d{1,2})",
            r"(?P<first>\d{1,2})\s?(?P<mark>[-/.])\s?(?P<second>\d{1,2})\s?(?P=mark)\s?(?P<year>(?:19|20)\d{2}|\d{2})",
        ),
        (
            rf"{_DAY_IN_TEXT}{_GAP}(?:day{_GAP})?(?:of{_GAP}|de{_GAP})?{_MONTH_IN_TEXT}{_GAP}"
            rf"(?:de{_GAP})?{_YEAR_IN_TEXT}",
            rf"{_MONTH_IN_TEXT}\.?{_GAP}{_DAY_IN_TEXT}{_GAP}{_YEAR_IN_TEXT}",
        ),
    )
)
_HAS_MONTH = re.compile("|".join(sorted({name[:3] for name in _FOLDED_MONTH_NUMBERS})))


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A day at `text[start:end]`. `is_unambiguous`: it can be read in one way only."""

    day: date
    start: int
    end: int
    is_unambiguous: bool

    @property
    def iso(self) -> str:
        return self.day.isoformat()


def find_dates(folded: str, start: int = 0, end: int | None = None, *, day_first: bool | None = None) -> list[DateSpan]:
    """The days in `folded[start:end]`, in order, none overlapping, also as a scanner garbles them (`26 th day of May`).

    `folded` is in small letters without accents. In days of digits alone the day appears first, unless that cannot be
    or `day_first` is False.
    """
    stop = len(folded) if end is None else end
    spans = [span for match in _date_matches(folded, start, stop) if (span := _date_of_match(match, day_first))]
    return list(_without_overlaps(sorted(spans, key=lambda span: (span.start, -span.end))))


def _date_matches(folded: str, start: int, end: int) -> Iterator[re.Match[str]]:
    for pattern in _NUMERIC_DATES_IN_TEXT:
        yield from pattern.finditer(folded, start, end)
    if _HAS_MONTH.search(folded, start, end):
        for pattern in _NAMED_DATES_IN_TEXT:
            yield from pattern.finditer(folded, start, end)


def _without_overlaps(spans: list[DateSpan]) -> Iterator[DateSpan]:
    last_end = -1
    for span in spans:
        if span.start >= last_end:
            yield span
            last_end = span.end


def _date_of_match(match: re.Match[str], day_first: bool | None) -> DateSpan | None:
    parts = match.groupdict()
    if "first" in parts:
        return _date_of_numbers(match, day_first)
    month = int(parts["month"]) if parts["month"].isdigit() else MONTH_NUMBERS[parts["month"]]
    number = parts["day"] or ORDINALS_BY_WORD[parts["word"]]
    day = date_or_none(full_year(parts["year"]), month, number)
    return DateSpan(day, match.start(), match.end(), True) if day else None


def _date_of_numbers(match: re.Match[str], day_first: bool | None) -> DateSpan | None:
    first, second, year = int(match["first"]), int(match["second"]), full_year(match["year"])
    orders = [(first, second), (second, first)] if day_first is False else [(second, first), (first, second)]
    for month, number in orders:
        if day := date_or_none(year, month, number):
            return DateSpan(day, match.start(), match.end(), first == second or max(first, second) > 12)
    return None
