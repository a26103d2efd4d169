"""Finds days and periods in a question: those with a year, and those that depend on the current date.

The second kind includes "the last two months", "5 March" and "in May".
"""

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta

from agent.rules.literals.literal_types import DateLiteral
from storage.quantities.days import ENGLISH_MONTH_NUMBERS, ENGLISH_MONTH_PATTERN, ENGLISH_MONTHS
from storage.quantities.periods import DAY_PATTERN, find_periods, month_bounds
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, alternatives_of
from storage.search.conditions import ComparisonOperator

_MONTH_PATTERN = rf"(?P<month>{ENGLISH_MONTH_PATTERN})\.?"
_PATTERNS_BY_CLOCK = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{DAY_PATTERN}(?:\s+of)?\s+{_MONTH_PATTERN}\b(?!\s+\d)",
        rf"\b{_MONTH_PATTERN}\s+{DAY_PATTERN}\b(?![\d,.]*\d)",
        rf"\b{_MONTH_PATTERN}(?=\s*(?:to|and|until|till|through|-|–)\s*(?:{ENGLISH_MONTH_PATTERN}\b))",
        r"\b(?P<relative>today|yesterday)\b",
        r"\b(?P<weekend>this|next|the)\s+weekend\b",
        r"\b(?P<which>this|last|past|previous|current|next|coming|following)\s+"
        rf"(?:(?P<count>\d{{1,3}}|{alternatives_of(NUMBERS_BY_WORD)})\s+)?(?P<span>day|week|month|quarter|year)s?\b",
        rf"\b(?:in|during|of)\s+(?P<lone>{'|'.join(ENGLISH_MONTHS)})\b(?!\s+\d)",
    )
)


def find_dates(question: str, today: date) -> Iterator[DateLiteral]:
    """Yields the days and periods, without overlaps; periods with a year precede those completed by `today`."""
    taken = list[tuple[int, int]]()
    for period in find_periods(question):
        taken.append((period.start, period.end))
        yield DateLiteral(
            start=period.start, end=period.end, op=ComparisonOperator.EQ, first_day=period.first_day,
            last_day=period.last_day, is_year_only=period.is_year_only, number_start=period.start,
        )  # fmt: skip
    for pattern in _PATTERNS_BY_CLOCK:
        for match in pattern.finditer(question):
            literal = _complete_by_clock(match, today)
            if literal is not None and all(literal.end <= start or literal.start >= end for start, end in taken):
                taken.append((literal.start, literal.end))
                yield literal


def _complete_by_clock(match: re.Match[str], today: date) -> DateLiteral | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    try:
        first, last = _resolve_period(parts, today)
    except (KeyError, ValueError):  # a dotless i matches an i in a name; 31 February
        return None
    start = match.start("lone") if "lone" in parts else match.start()
    return DateLiteral(
        start=start, end=match.end(), op=ComparisonOperator.EQ, first_day=first, last_day=last,
        lacks_year="month" in parts or "lone" in parts, number_start=start,
    )  # fmt: skip


def _resolve_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    if "relative" in parts:
        day = today if parts["relative"].lower() == "today" else today - timedelta(days=1)
        return day, day
    if "weekend" in parts:
        saturday = today + timedelta(days=(5 - today.weekday()) if today.weekday() < 6 else -1)
        saturday += timedelta(days=7 * (parts["weekend"].lower() == "next"))
        return saturday, saturday + timedelta(days=1)
    if "span" in parts:
        return _relative_period(parts, today)
    if "lone" in parts:
        month = ENGLISH_MONTH_NUMBERS[parts["lone"].lower()]
        return month_bounds(today.year if month <= today.month else today.year - 1, month)
    month = ENGLISH_MONTH_NUMBERS[parts["month"].lower()]
    if "day" in parts:
        day = date(today.year, month, int(parts["day"]))
        return day, day
    return month_bounds(today.year, month)


def _relative_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    written = parts.get("count", "1").lower()
    count = NUMBERS_BY_WORD.get(written) or int(written)
    now = parts["which"].lower() in ("this", "current")
    rolling = "count" in parts
    if parts["which"].lower() in ("next", "coming", "following"):
        return _period_ahead(parts["span"].lower(), today, count if rolling else None)
    match parts["span"].lower():
        case "day":
            return (
                (today, today) if now else (today - timedelta(days=count), today if rolling else today - timedelta(1))
            )
        case "week":
            monday = today - timedelta(days=today.weekday())
            return (monday, monday + timedelta(6)) if now else (monday - timedelta(7 * count), monday - timedelta(1))
        case "month":
            return _months_before(today, 0 if now else count, rolling)
        case "quarter":
            start = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
            first = _shift_months(start, 0 if now else -3 * count)
            return first, (_shift_months(start, 3) if now else start) - timedelta(1)
        case _:
            if now:
                return date(today.year, 1, 1), date(today.year, 12, 31)
            if rolling:
                return _shift_months(today, -12 * count), today
            return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def _period_ahead(unit: str, today: date, count: int | None) -> tuple[date, date]:
    """ "Next month" is the next calendar month; "the next 3 months" begin today."""
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        days = 7 if unit == "week" else 1
        monday = today - timedelta(days=today.weekday())
        if count is None:
            return (
                (monday + timedelta(7), monday + timedelta(13))
                if days == 7
                else (today + timedelta(1), today + timedelta(1))
            )
        return today, today + timedelta(days * count)
    if count is not None:
        return today, _shift_months(today, months * count)
    first = date(today.year, (today.month - 1) // months * months + 1, 1)
    return _shift_months(first, months), _shift_months(first, 2 * months) - timedelta(1)


def _months_before(today: date, count: int, is_rolling: bool) -> tuple[date, date]:
    start = today.replace(day=1)
    if is_rolling:
        return _shift_months(today, -count), today
    first = _shift_months(start, -count)
    return first, month_bounds(first.year, first.month)[1]


def _shift_months(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
