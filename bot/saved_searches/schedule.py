"""When a saved search is asked again: read from English words, written as such words, and as the next due time.

A calendar schedule follows the clock on the wall of its time zone. A local time that the zone skips is the first one
that exists after it; of a local time that comes twice, the first counts.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeAlias, assert_never

CHECK_INTERVAL: Final = timedelta(minutes=5)  # between two looks whether the documents have changed
DEFAULT_TIME: Final = time(9, 0)
ON_CHANGE_TEXT: Final = "on change"
SCHEDULE_EXAMPLES: Final = (
    "“every Monday at 9:00”, “every weekday at 8:00”, “daily at 17:30”, “every month on the 1st at 9:00” or “on change”"
)
_DAY_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_BY_GROUP: Final = {"day": range(7), "weekday": range(5), "working day": range(5), "workday": range(5)}
_MAX_SHORT_NAME: Final = 5  # letters of "thurs", the longest short form
_SEARCHED_DAYS: Final = 70  # two months and a day that a zone skips


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklySchedule:
    """On these days of the week (Monday is 0), at a local time."""

    weekdays: frozenset[int]
    time_of_day: time


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlySchedule:
    """On this day of the month, from 1; a shorter month has its last day instead."""

    day: int
    time_of_day: time


@dataclass(frozen=True, slots=True)
class ChangeSchedule:
    """Whenever the documents have changed."""


SearchSchedule: TypeAlias = WeeklySchedule | MonthlySchedule | ChangeSchedule


def parse_schedule(text: str) -> SearchSchedule | None:
    """Returns the schedule that the whole text describes, in English; None for any other text."""
    words = " ".join(text.lower().replace(",", " ").split())
    if words in (ON_CHANGE_TEXT, "on changes", "on every change"):
        return ChangeSchedule()
    match = _SCHEDULE_PATTERN.fullmatch(words)
    if match is None:
        return None
    time_of_day = DEFAULT_TIME if match["time"] is None else _parse_time(match["time"])
    if time_of_day is None:
        return None
    if (number := match["number"] or match["month_day"]) is not None:
        return MonthlySchedule(day=int(number), time_of_day=time_of_day) if 1 <= int(number) <= 31 else None
    weekdays = _parse_weekdays(match["days"] or match["bare_days"] or "day")
    return None if weekdays is None else WeeklySchedule(weekdays=weekdays, time_of_day=time_of_day)


def format_schedule(schedule: SearchSchedule) -> str:
    """Returns the schedule in words that `parse_schedule` reads."""
    match schedule:
        case ChangeSchedule():
            return ON_CHANGE_TEXT
        case MonthlySchedule(day=day, time_of_day=time_of_day):
            return f"every month on the {_format_ordinal(day)} at {time_of_day:%H:%M}"
        case WeeklySchedule(weekdays=weekdays, time_of_day=time_of_day):
            return f"every {_format_weekdays(weekdays)} at {time_of_day:%H:%M}"
        case _:
            assert_never(schedule)


def next_due_time(schedule: SearchSchedule, after: datetime, zone: tzinfo) -> datetime:
    """Returns the first due time later than `after`, in UTC."""
    if isinstance(schedule, ChangeSchedule):
        return after.astimezone(UTC) + CHECK_INTERVAL
    first_day = after.astimezone(zone).date() - timedelta(days=1)
    for offset in range(_SEARCHED_DAYS):
        day = first_day + timedelta(days=offset)
        if _is_scheduled(schedule, day):
            due = resolve_local_time(day, schedule.time_of_day, zone)
            if due > after:
                return due
    raise AssertionError("a schedule has a day in every two months")


def count_due_times(schedule: SearchSchedule, first: datetime, until: datetime, zone: tzinfo, *, limit: int) -> int:
    """Returns how many due times there are from `first`, which is one, to `until`; `limit` at most."""
    count, due = 0, first
    while due <= until and count < limit:
        count, due = count + 1, next_due_time(schedule, due, zone)
    return count


def resolve_local_time(day: date, time_of_day: time, zone: tzinfo) -> datetime:
    """Returns the local time of the day in UTC: the first of two, and the first after a gap where there is none."""
    early = datetime.combine(day, time_of_day, tzinfo=zone).replace(fold=0)
    due = early.astimezone(UTC)
    if due.astimezone(zone).replace(tzinfo=None) == early.replace(tzinfo=None):
        return due
    return _find_gap_end(early.replace(fold=1).astimezone(UTC), due, zone)


def _find_gap_end(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """Returns the second at which the zone's offset changes between the two times in UTC."""
    old_offset = before.astimezone(zone).utcoffset()
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        is_old = (before + timedelta(seconds=middle)).astimezone(zone).utcoffset() == old_offset
        low, high = (middle, high) if is_old else (low, middle)
    return before + timedelta(seconds=high)


def _is_scheduled(schedule: WeeklySchedule | MonthlySchedule, day: date) -> bool:
    match schedule:
        case WeeklySchedule(weekdays=weekdays):
            return day.weekday() in weekdays
        case MonthlySchedule(day=wanted):
            is_last_day = (day + timedelta(days=1)).day == 1
            return day.day == wanted or (is_last_day and day.day < wanted)
        case _:
            assert_never(schedule)


def _parse_time(text: str) -> time | None:
    if text in _NAMED_TIMES:
        return _NAMED_TIMES[text]
    match = _TIME_PATTERN.fullmatch(text)
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"].startswith("p") else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _parse_weekdays(text: str) -> frozenset[int] | None:
    weekdays = set[int]()
    for word in re.split(r"\s+and\s+|\s+", text):
        singular = word.removesuffix("s") if word not in ("tues", "wednes", "thurs") else word
        numbers = _DAYS_BY_GROUP.get(singular) or [
            number for number, name in enumerate(_DAY_NAMES) if name == singular or _is_short_form(singular, name)
        ]
        if not numbers:
            return None
        weekdays.update(numbers)
    return frozenset(weekdays)


def _is_short_form(word: str, name: str) -> bool:
    return 3 <= len(word) <= _MAX_SHORT_NAME and name.startswith(word)


def _format_weekdays(weekdays: frozenset[int]) -> str:
    if len(weekdays) == 7:
        return "day"
    if weekdays == frozenset(range(5)):
        return "weekday"
    return " and ".join(_DAY_NAMES[number].capitalize() for number in sorted(weekdays))


def _format_ordinal(number: int) -> str:
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


_NAMED_TIMES: Final = {"noon": time(12), "midnight": time(0)}
_TIME_PATTERN: Final = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: ?(?P<half>[ap]\.?m\.?)| o'clock)?")
_DAYS: Final = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_DAY_LIST: Final = rf"{_DAYS}(?: (?:and )?{_DAYS})*"
_TIME: Final = r"\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?| o'clock)?|noon|midnight"
_SCHEDULE_PATTERN: Final = re.compile(
    r"(?:"
    rf"(?:every|each|weekly on|on) (?P<days>{_DAY_LIST}|(?:day|weekday|working day|workday)s?)"
    rf"|(?P<bare_days>(?:{_DAY_LIST}|weekdays))"
    r"|daily"
    r"|(?:every month|each month|monthly) on the (?P<month_day>\d{1,2})(?:st|nd|rd|th)?"
    r"|(?:every|each|on the) (?P<number>\d{1,2})(?:st|nd|rd|th)? of (?:the|each|every) month"
    rf")(?:(?: at| from)? (?P<time>{_TIME}))?"
)
