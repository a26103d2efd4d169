"""Days and periods as people write them: dates, months, quarters, years, "the last two months" by the asker's clock."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from agent.rules.atoms import Days
from storage.search.conditions import Op

_MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name} | {
    name.lower(): n for n, name in enumerate(calendar.month_abbr) if name
}
_MONTHS["sept"] = 9
_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<month>{_NAMES})\.?"
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_UNITS = (  # behind a number that is no year
    r"V|mV|kV|A|mA|W|mW|kW|C|F|K|mm|cm|m|km|kg|g|MYR|USD|EUR|GBP|IDR|CHF|CAD|AUD|INR|JPY|dollars?|euros?|pounds?|francs?"
    r"|rupees?|yen|bucks|volts?|watts?|amps?|ohms?|hours?|minutes?|seconds?|days|weeks|months|met(?:er|re)s?|kilos?|grams?"
    r"|lit(?:er|re)s?|pieces|units|calories|sqm|square"
)
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<m>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])\b",
        rf"\b{_YEAR}/(?P<m>0[1-9]|1[0-2])/(?P<day>0[1-9]|[12]\d|3[01])\b",
        rf"\b{_YEAR}-(?P<m>0[1-9]|1[0-2])\b(?!-\d)",
        rf"(?<![\d/.-]){_YEAR}\s?[-–—]\s?(?P<until>(?:19|20|21)\d\d)\b(?![-/]\d)",
        rf"(?<![\d/])(?P<m>0?[1-9]|1[0-2])/{_YEAR}\b",
        rf"\bH(?P<half>[12])[\s/-]*{_YEAR}\b",
        r"\b(?:the\s+)?(?P<decade>(?:19|20)\d0)s\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?P<day>0?[1-9]|[12]\d|3[01])\.(?P<m>0?[1-9]|1[0-2])\.{_YEAR}\b",
        rf"\b(?P<a>0?[1-9]|[12]\d|3[01])/(?P<b>0?[1-9]|[12]\d|3[01])/{_YEAR}\b",
        r"(?<![\d/])(?P<a>0?[1-9]|[12]\d|3[01])/(?P<b>0?[1-9]|[12]\d|3[01])/(?P<short>\d\d)\b(?!/)",
        rf"\bQ(?P<quarter>[1-4])[\s/-]*(?:of\s+)?{_YEAR}\b",
        rf"\b{_YEAR}[\s/-]*Q(?P<quarter>[1-4])\b",
        rf"\b(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?P<half>first|second)\s+half\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}\b(?!\s+\d)",
        rf"\b{_MONTH}\s+{_DAY}\b(?![\d,.]*\d)",
        rf"\b{_MONTH}(?=\s*(?:to|and|until|till|through|-|–)\s*(?:(?:{_NAMES})\b))",
        r"\b(?P<relative>today|yesterday)\b",
        r"\b(?P<weekend>this|next|the)\s+weekend\b",
        r"\b(?P<which>this|last|past|previous|current|next|coming|following)\s+(?P<count>\d{1,3}\s+|two\s+|three\s+|four\s+|five\s+|six\s+|seven\s+|eight\s+|nine\s+|ten\s+|twelve\s+)?"
        r"(?P<span>day|week|month|quarter|year)s?\b",
        rf"(?<![\w.,/$€£-]){_YEAR}(?![\w%°]|[.,/-]\d)(?!\s*(?:{_UNITS})\b)",
        rf"\b(?:in|during|of)\s+(?P<lone>{'|'.join(name.lower() for name in calendar.month_name if name)})\b(?!\s+\d)",
    )
]
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
           "nine": 9, "ten": 10, "twelve": 12}  # fmt: skip


def days_in(question: str, today: date) -> Iterator[Days]:
    """Every day and period, none overlapping; the form that says most is read first."""
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for match in pattern.finditer(question):
            days = _days(match, today)
            start = match.start("lone") if "lone" in match.groupdict() and match["lone"] else match.start()
            if days is not None and all(match.end() <= a or start >= b for a, b in taken):
                taken.append((start, match.end()))
                yield replace(days, start=start, end=match.end(), number_start=start)


def _days(match: re.Match[str], today: date) -> Days | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    try:
        first, last = _period(parts, today)
    except ValueError:  # 31 February
        return None
    return Days(
        start=0,
        end=0,
        op=Op.EQ,
        first=first,
        last=last,
        year_only=set(parts) <= {"year", "until", "decade"},
        yearless=("month" in parts or "lone" in parts) and "year" not in parts,
    )


def _period(parts: dict[str, str], today: date) -> tuple[date, date]:
    if "relative" in parts:
        day = today if parts["relative"].lower() == "today" else today - timedelta(days=1)
        return day, day
    if "weekend" in parts:
        saturday = today + timedelta(days=(5 - today.weekday()) if today.weekday() < 6 else -1)
        saturday += timedelta(days=7 * (parts["weekend"].lower() == "next"))
        return saturday, saturday + timedelta(days=1)
    if "span" in parts:
        return _relative(parts, today)
    if "lone" in parts:
        month = _MONTHS[parts["lone"].lower()]
        return _month(today.year if month <= today.month else today.year - 1, month)
    if "decade" in parts:
        return date(int(parts["decade"]), 1, 1), date(int(parts["decade"]) + 9, 12, 31)
    year = int(parts.get("year", today.year))
    if "short" in parts:
        year = (
            2000 + int(parts["short"]) if 2000 + int(parts["short"]) <= today.year + 20 else 1900 + int(parts["short"])
        )
    if "until" in parts:
        return date(year, 1, 1), date(int(parts["until"]), 12, 31)
    if "quarter" in parts or "ordinal" in parts:
        quarter = int(parts["quarter"]) if "quarter" in parts else _ORDINALS[parts["ordinal"].lower()]
        return date(year, quarter * 3 - 2, 1), _month(year, quarter * 3)[1]
    if "half" in parts:
        later = parts["half"].lower() in ("second", "2")
        return (date(year, 7, 1), date(year, 12, 31)) if later else (date(year, 1, 1), date(year, 6, 30))
    if "a" in parts:
        a, b = int(parts["a"]), int(parts["b"])
        day = date(year, a, b) if a <= 12 else date(year, b, a)  # month first where it can be, as in the United States
        return day, day
    month = _MONTHS[parts["month"].lower()] if "month" in parts else int(parts["m"]) if "m" in parts else 0
    if "day" in parts and month:
        day = date(year, month, int(parts["day"]))
        return day, day
    return _month(year, month) if month else (date(year, 1, 1), date(year, 12, 31))


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _relative(parts: dict[str, str], today: date) -> tuple[date, date]:
    written = parts.get("count", "1").strip().lower()
    count = _COUNTS.get(written) or int(written)
    now = parts["which"].lower() in ("this", "current")
    rolling = "count" in parts
    if parts["which"].lower() in ("next", "coming", "following"):
        return _ahead(parts["span"].lower(), today, count if rolling else None)
    match parts["span"].lower():
        case "day":
            return (
                (today, today) if now else (today - timedelta(days=count), today if rolling else today - timedelta(1))
            )
        case "week":
            monday = today - timedelta(days=today.weekday())
            return (monday, monday + timedelta(6)) if now else (monday - timedelta(7 * count), monday - timedelta(1))
        case "month":
            return _months_back(today, 0 if now else count, rolling)
        case "quarter":
            start = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
            first = _shifted(start, 0 if now else -3 * count)
            return first, (_shifted(start, 3) if now else start) - timedelta(1)
        case _:
            if now:
                return date(today.year, 1, 1), date(today.year, 12, 31)
            if rolling:
                return _shifted(today, -12 * count), today
            return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def _ahead(span: str, today: date, count: int | None) -> tuple[date, date]:
    """ "Next month" is the one on the calendar; "the next 3 months" begin today."""
    months = {"month": 1, "quarter": 3, "year": 12}.get(span)
    if months is None:
        days = 7 if span == "week" else 1
        monday = today - timedelta(days=today.weekday())
        if count is None:
            return (
                (monday + timedelta(7), monday + timedelta(13))
                if days == 7
                else (today + timedelta(1), today + timedelta(1))
            )
        return today, today + timedelta(days * count)
    if count is not None:
        return today, _shifted(today, months * count)
    first = date(today.year, (today.month - 1) // months * months + 1, 1)
    return _shifted(first, months), _shifted(first, 2 * months) - timedelta(1)


def _months_back(today: date, count: int, rolling: bool) -> tuple[date, date]:
    start = today.replace(day=1)
    if rolling:
        return _shifted(today, -count), today
    first = _shifted(start, -count)
    return first, _month(first.year, first.month)[1]


def _shifted(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
