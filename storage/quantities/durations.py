"""Durations in whole days, weeks, months, quarters or years (`thirty (30) days`), and in hours and minutes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from storage.quantities.calendar_arithmetic import shift_months
from storage.quantities.spelled_numbers import SPELLED_NUMBER_PATTERN, parse_spelled_number

_UNITS = "day|week|month|quarter|year"
_DURATION = re.compile(
    rf"(?<![\w$.])(?:(?P<digits>\d{{1,4}})|(?P<words>{SPELLED_NUMBER_PATTERN}))"
    r"(?:\s?\(\s?(?P<bracketed>\d{1,4})\s?\))?\)?[\s-]{1,3}"
    rf"(?:(?:calendar|business|contract|full|consecutive)\s)?(?P<unit>{_UNITS})(?:s|'s|s')?(?![a-z])"
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
    """The durations in `folded[start:end]`, in order; digits in brackets count before the words. `folded` is in small
    letters.
    """
    for match in _DURATION.finditer(folded, start, len(folded) if end is None else end):
        written = match["bracketed"] or match["digits"]
        number = Decimal(written) if written else parse_spelled_number(match["words"])
        if number:
            yield DurationSpan(number, match["unit"], match.start(), match.end())


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
