"""Durations in whole days, weeks, months, quarters or years (`thirty (30) days`), and in hours and minutes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from storage.quantities.calendar_arithmetic import shift_months
from storage.quantities.spelled_numbers import SPELLED_NUMBER_PATTERN, parse_spelled_number

# Units with their words in the project's languages, in small letters without accents
_WORDS_BY_UNIT: Mapping[str, str] = {
    "day": "day days tag tage tagen jour jours dia dias",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten monats mois mes meses",
    "quarter": "quarter quarters quartal quartale quartalen trimestre trimestres",
    "year": "year years jahr jahre jahren ans annee annees ano anos",
}
_UNIT_BY_WORD: Mapping[str, str] = {word: unit for unit, words in _WORDS_BY_UNIT.items() for word in words.split()}
# Numbers that notices and terms are given in, in the languages beside English
_NUMBERS_BY_FOREIGN_WORD: Mapping[str, int] = {
    word: number
    for number, words in {
        1: "ein eine einen einem einer eines un une uno una",
        2: "zwei deux dos",
        3: "drei trois tres",
        4: "vier quatre cuatro",
        5: "funf cinq cinco",
        6: "sechs six seis",
        7: "sieben sept siete",
        8: "acht huit ocho",
        9: "neun neuf nueve",
        10: "zehn dix diez",
        11: "elf onze once",
        12: "zwolf douze doce",
        14: "vierzehn quatorze catorce",
        15: "funfzehn quinze quince",
        18: "achtzehn dix-huit dieciocho",
        20: "zwanzig vingt veinte",
        24: "vierundzwanzig vingt-quatre veinticuatro",
        30: "dreissig trente treinta",
        60: "sechzig soixante sesenta",
        90: "neunzig quatre-vingt-dix noventa",
    }.items()
    for word in words.split()
}
_FOREIGN_WORDS = "|".join(sorted(_NUMBERS_BY_FOREIGN_WORD, key=len, reverse=True))
_DURATION = re.compile(
    rf"(?<![\w$.])(?:(?P<digits>\d{{1,4}})|(?P<words>{SPELLED_NUMBER_PATTERN})|(?P<foreign>{_FOREIGN_WORDS})(?![a-z]))"
    r"(?:\s?\(\s?(?P<bracketed>\d{1,4})\s?\))?\)?[\s-]{1,3}"
    r"(?:(?:calendar|business|contract|full|consecutive|volle[nr]?|natural(?:es)?)\s)?"
    rf"(?P<unit>{'|'.join(sorted(_UNIT_BY_WORD, key=len, reverse=True))}|(?<=un )an)(?:'s|s')?(?![a-z])"
)


_HOURS_AND_MINUTES = re.compile(
    r"(?P<hours>\d{1,3})\s*(?:h|hrs?|hours?)[\s,]*(?:and\s+)?(?P<minutes>[0-5]?\d)\s*(?:m|mins?|minutes?)?\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DurationSpan:
    """A duration at `text[start:end]`."""

    number: Decimal
    unit: str  # day, week, month, quarter or year
    start: int
    end: int

    @property
    def wording(self) -> str:
        """`1 year`, `30 days`."""
        return f"{self.number} {self.unit}{'' if self.number == 1 else 's'}"


def parse_hours_and_minutes(text: str) -> int | None:
    """Returns the minutes of `1 h 30 min`, `2h15` or `1 hour and 5 minutes`; None for any other string."""
    match = _HOURS_AND_MINUTES.fullmatch(text.strip())
    return 60 * int(match["hours"]) + int(match["minutes"]) if match else None


def find_durations(folded: str, start: int = 0, end: int | None = None) -> Iterator[DurationSpan]:
    """The durations in `folded[start:end]`, in order, in the project's languages; digits in brackets count before the
    words. `folded` is in small letters without accents.
    """
    for match in _DURATION.finditer(folded, start, len(folded) if end is None else end):
        written = match["bracketed"] or match["digits"]
        number = Decimal(written) if written else _number_of_words(match["words"], match["foreign"])
        if number:
            yield DurationSpan(number, _UNIT_BY_WORD.get(match["unit"], "year"), match.start(), match.end())


def _number_of_words(words: str | None, foreign_word: str | None) -> Decimal | None:
    number = parse_spelled_number(words) if words else None
    if number is None and (known := _NUMBERS_BY_FOREIGN_WORD.get(foreign_word or words or "")):
        return Decimal(known)
    return number


# -- durations from a day

_CALENDAR_UNITS: Mapping[str, tuple[str, int]] = {
    spelling: unit
    for unit, spellings in (
        (("day", 1), "day days"),
        (("day", 7), "week weeks wk wks"),
        (("month", 1), "month months mth mths"),
        (("month", 3), "quarter quarters"),
        (("month", 12), "year years yr yrs"),
        (("month", 120), "decade decades"),
    )
    for spelling in spellings.split()
}


def is_time_unit(unit: str) -> bool:
    """Whether an age is measured in the unit: days, weeks, months, years."""
    return unit.lower() in _CALENDAR_UNITS


def shift_by_duration(day: date, number: Decimal, unit: str) -> date | None:
    """The day that is `number` units later; half units count. None for another unit and beyond the calendar."""
    if not is_time_unit(unit):
        return None
    base, factor = _CALENDAR_UNITS[unit.lower()]
    try:
        if base == "day":
            return day + timedelta(days=int(number * factor))
        return shift_months(day, int(number * factor))
    except (ValueError, OverflowError):
        return None
