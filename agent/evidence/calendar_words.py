"""The weekdays that a text means by other words: "Tue to Fri", "at weekends"."""

import re

from storage.quantities.calendar_arithmetic import MONTHS, WEEKDAYS

CALENDAR_WORDS = frozenset({*WEEKDAYS, *MONTHS, "weekday", "weekend"})

_DAY_PATTERN = r"(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|[A-Z]?[a-z]+day)"
_RANGE = re.compile(rf"\b(?P<first>{_DAY_PATTERN})s?\.? ?(?:-|–|to|until|till|through) ?(?P<last>{_DAY_PATTERN})s?\b")
_DAY = re.compile(rf"\b{_DAY_PATTERN}(?=s?\b)")
_GROUPS = {"weekday": WEEKDAYS[:5], "weekend": WEEKDAYS[5:], "daily": WEEKDAYS}
_GROUP = re.compile(r"\b(weekday|weekend|daily)s?\b", re.IGNORECASE)
_PREFIX_LENGTH = 3  # letters that tell the weekdays apart


def weekdays_in(text: str) -> frozenset[str]:
    """Returns the weekdays that the text names: in full, shortened with a capital letter, in a range, or as a group."""
    days = {day for match in _DAY.finditer(text) if (day := _weekday_of(match[0])) is not None}
    for match in _RANGE.finditer(text):
        first, last = _weekday_of(match["first"]), _weekday_of(match["last"])
        if first is not None and last is not None:
            days |= {*_days_between(WEEKDAYS.index(first), WEEKDAYS.index(last))}
    for match in _GROUP.finditer(text):
        days |= {*_GROUPS[match[1].casefold()]}
    return frozenset(days)


def _weekday_of(word: str) -> str | None:
    prefix = word.casefold()[:_PREFIX_LENGTH]
    day = next((day for day in WEEKDAYS if day.startswith(prefix)), None)
    return day if day is not None and day.startswith(word.casefold()) else None


def _days_between(first: int, last: int) -> tuple[str, ...]:
    """Returns the days from `first` to `last`, across the end of a week if need be."""
    return WEEKDAYS[first : last + 1] if first <= last else WEEKDAYS[first:] + WEEKDAYS[: last + 1]
