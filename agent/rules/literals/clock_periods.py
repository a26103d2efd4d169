"""Days and periods that depend on the current date: "the last two months", "5 March", "in spring", "3 weeks ago"."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta

from agent.english.function_words import ORDINALS
from agent.rules.literals.literal_types import DateLiteral
from storage.quantities.calendar_arithmetic import WEEKDAYS, month_bounds, shift_months
from storage.quantities.days import ENGLISH_MONTH_NUMBERS, ENGLISH_MONTH_PATTERN
from storage.quantities.periods import DAY_PATTERN
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, alternatives_of
from storage.search.conditions import ComparisonOperator

_MONTH_PATTERN = rf"(?P<month>{ENGLISH_MONTH_PATTERN})\.?"
_COUNT_PATTERN = rf"(?:\d{{1,3}}|{alternatives_of(NUMBERS_BY_WORD)}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?dozen)"
_SPAN_PATTERN = "day|week|month|quarter|year|decade"
_SEASON_MONTHS = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
}  # the first month, north of the equator
_SEASON_PATTERN = "|".join(_SEASON_MONTHS)
_ORDINALS = {word: rank for word, rank in ORDINALS.items() if rank <= 4}  # of quarters
_COUNTS = {"a": 1, "an": 1, "couple": 2, "dozen": 12}
_BEFORE_PERIOD = (
    r"\b(?:in|during|of|for|from|since|until|till|by|before|after|through|throughout|over|around|and|or|to|mid|early"
    r"|late|the|on|due|dated)[\s-]+"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{DAY_PATTERN}(?:\s+of)?\s+{_MONTH_PATTERN}\b(?!\s+\d)",
        rf"\b{_MONTH_PATTERN}\s+{DAY_PATTERN}\b(?![\d,.]*\d)",
        rf"\b{_MONTH_PATTERN}(?=\s*(?:to|and|until|till|through|-|–)\s*(?:{ENGLISH_MONTH_PATTERN}\b))",
        r"\b(?P<relative>(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|today|yesterday|tomorrow)\b",
        r"\b(?:between|from)\s+(?P<relative>now)(?=\s+(?:and|to|until|till)\b)",
        r"\b(?:now|today)\s+(?:and|to|until|till)\s+(?P<feast>new\s+year['’]?s?\s+eve|new\s+year(?:['’]?s(?:\s+day)?)?"
        r"|christmas(?:\s+(?:eve|day))?|xmas)\b",
        rf"\b(?:(?:on|this|last|next)\s+)?(?P<weekday>{'|'.join(WEEKDAYS)})\s*[,(]?\s*(?:the\s+)?(?P<dayth>\d{{1,2}})(?:st|nd|rd|th)\)?"
        rf"(?!\s+(?:of\s+)?{_MONTH_PATTERN}\b)",
        r"\b(?:on\s+)?(?P<feastday>boxing\s+day|christmas\s+(?:eve|day)|new\s+year['’]?s\s+(?:eve|day))\b",
        r"\b(?P<weekend>this|next|the|last)\s+weekend\b",
        r"\b(?P<todate>(?:the\s+)?year\s+to\s+date|ytd|so\s+far\s+this\s+year|this\s+year\s+so\s+far)\b",
        rf"\b(?:between\s+)?(?P<count>{_COUNT_PATTERN})\s*(?:to|and|-|–)\s*(?P<upper>{_COUNT_PATTERN})\s+"
        rf"(?P<ago>{_SPAN_PATTERN})s?\s+ago\b",
        rf"\b(?P<count>{_COUNT_PATTERN}|an?)\s+(?P<ago>{_SPAN_PATTERN})s?\s+(?:ago|back)\b",
        rf"\b(?P<which>this|last|past|previous|next|coming)\s+(?P<name>{_SEASON_PATTERN}|{ENGLISH_MONTH_PATTERN})\b(?!\s+\d)",
        r"\b(?P<which>this|last|past|previous|current|next|coming|following)\s+"
        rf"(?:(?P<count>{_COUNT_PATTERN})\s+)?(?P<span>{_SPAN_PATTERN})s?\b(?!\s+of\b)",
        r"\b(?:end|start|beginning|middle|rest|remainder|half|course)\s+of\s+(?:the\s+)?(?P<lone>week|month|quarter|year)"
        r"\b(?!\s+(?:of\b|\d))",
        rf"(?:\b(?P<which>this|last|past|previous|next|coming)\s+|\b(?:on|by|until|till|before|after|since|due)\s+)"
        rf"(?P<lone>{'|'.join(WEEKDAYS)})\b",
        r"(?<![\w-])(?P<quarter>Q[1-4])\b(?!\s*[-/]?\d)",
        rf"\b(?:the\s+)?(?P<ordinal>{'|'.join(_ORDINALS)})\s+quarter\b(?!\s+of\b)",
        r"(?<![\w-])(?P<half>H[12])\b(?!\s*[-/]?\d)",
        r"\b(?:the\s+)?(?P<turn>turn\s+of\s+the\s+year)\b",
        rf"{_BEFORE_PERIOD}(?P<lone>{_SEASON_PATTERN}|{ENGLISH_MONTH_PATTERN})\b(?!\s+\d|['’]s)",
        rf"\b(?P<lone>{_SEASON_PATTERN})(?=\s+(?:of\s+)?(?:(?:19|20|21)\d\d\b|['’]\d\d\b|(?:this|last|next)\s+year))",
        rf"(?<![\w-])(?P<bare>{ENGLISH_MONTH_PATTERN})\b(?!\s+\d|['’]s|-)",
    )
)
_AMBIGUOUS_MONTHS = frozenset({"may", "mar"})  # verbs as well
_NAME_AFTER = re.compile(r"\.?\s+[A-Z][a-z]")
_ENDS_PHRASE = re.compile(r"\s*(?:[?!.,;)]|$)")


def find_clock_periods(question: str, today: date) -> Iterator[DateLiteral]:
    """Yields days and periods, which may overlap; the more exact precede."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(question):
            literal = _complete_by_clock(question, match, today)
            if literal is not None:
                yield literal


def _complete_by_clock(question: str, match: re.Match[str], today: date) -> DateLiteral | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    if "bare" in parts and not _is_month_in(question, match):
        return None
    if "lone" in parts and _is_first_name(question, match):
        return None
    try:
        first, last = _resolve_period(parts, today)
    except (KeyError, ValueError, OverflowError):  # a dotless i matches an i in a name; 31 February
        return None
    name = "lone" if "lone" in parts and "which" not in parts else "bare" if "bare" in parts else 0
    name = next((own for own in ("relative", "feast") if own in parts), name)
    counts_back = "ago" in parts and "upper" not in parts
    return DateLiteral(
        start=match.start(name), end=match.end(), op=ComparisonOperator.EQ, first_day=first, last_day=last,
        lacks_year=_lacks_year(parts), number_start=match.start(name), counts_back=counts_back,
        compared_day=_day_before(today, parts) if counts_back else None,
    )  # fmt: skip


def _lacks_year(parts: Mapping[str, str]) -> bool:
    """Whether the words name a part of any year, which the data or another word completes."""
    if parts.keys() & {"month", "bare", "quarter", "ordinal", "half", "turn"}:
        return True
    name = parts.get("lone", "").lower()
    return name in _SEASON_MONTHS or name in ENGLISH_MONTH_NUMBERS


def _is_month_in(question: str, match: re.Match[str]) -> bool:
    """Whether a month without a preposition is none of a person's name or a verb: "invoices March", "I may"."""
    if _NAME_AFTER.match(question, match.end()) and match["bare"][0].isupper():
        return False
    if match["bare"].lower() not in _AMBIGUOUS_MONTHS:
        return True
    return bool(_ENDS_PHRASE.match(question, match.end())) and match.start() > 0


_WORDS_BEFORE_NAMES = ("of", "for", "from", "and", "or", "to", "the", "on")


def _is_first_name(question: str, match: re.Match[str]) -> bool:
    """ "Loans of April Quist": whether a month after a word that also precedes people is followed by a name."""
    word_before = match[0][: match.start("lone") - match.start()].strip().lower()
    is_name = match["lone"][0].isupper() and _NAME_AFTER.match(question, match.end())
    return word_before in _WORDS_BEFORE_NAMES and bool(is_name)


def _resolve_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    for name, resolve in _RESOLVERS.items():
        if name in parts:
            return resolve(parts, today)
    month = ENGLISH_MONTH_NUMBERS[parts["month"].lower()]
    if "day" in parts:
        day = date(today.year, month, int(parts["day"]))
        return day, day
    return month_bounds(today.year, month)


def _relative_day(parts: dict[str, str], today: date) -> tuple[date, date]:
    words = parts["relative"].lower().split()
    days = 2 if len(words) > 1 else 0 if words[0] in ("today", "now") else 1
    day = today + timedelta(days if words[-1] == "tomorrow" else -days)
    return day, day


def _next_feast(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "Between now and *new year's eve*": returns the next day of that name; the old year ends with New Year."""
    words = parts["feast"].lower().split()
    month_day = (12, 24) if words[0] != "new" and words[-1] == "eve" else (12, 25) if words[0] != "new" else (12, 31)
    day = date(today.year, *month_day)
    day = day if day >= today else day.replace(year=today.year + 1)
    return day, day


_FEAST_DAYS = {"boxing day": (12, 26), "christmas eve": (12, 24), "christmas day": (12, 25)}
_MAX_MONTHS_APART = 6  # of a weekday with the number of its day, from today


def _feast_day(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "Is it open on *Boxing Day*": returns the next day of that name."""
    name = " ".join(parts["feastday"].lower().split())
    month_day = _FEAST_DAYS.get(name) or ((12, 31) if name.endswith("eve") else (1, 1))
    day = date(today.year, *month_day)
    day = day if day >= today else day.replace(year=today.year + 1)
    return day, day


def _numbered_weekday(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "*Monday the 23rd*": returns the nearest day with this number that is such a weekday.

    Raises:
        ValueError: there is none in half a year.
    """
    number, weekday = int(parts["dayth"]), WEEKDAYS.index(parts["weekday"].lower())
    for months in sorted(range(-_MAX_MONTHS_APART, _MAX_MONTHS_APART + 1), key=abs):
        first, last = month_bounds(*_month_beside(today, months))
        if number <= last.day and (day := first.replace(day=number)).weekday() == weekday:
            return day, day
    raise ValueError(parts["dayth"])


def _month_beside(today: date, months: int) -> tuple[int, int]:
    day = shift_months(today.replace(day=1), months)
    return day.year, day.month


def _weekend_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    saturday = today + timedelta(days=(5 - today.weekday()) if today.weekday() < 6 else -1)
    saturday += timedelta(days=7 * {"next": 1, "last": -1}.get(parts["weekend"].lower(), 0))
    return saturday, saturday + timedelta(days=1)


def _period_ago(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "3 days ago" is a day; "2 months ago" is that calendar month."""
    day, unit = _day_before(today, parts), parts["ago"].lower()
    if "upper" in parts:  # "10 to 15 years ago"
        return shift_day(today, -_count_of({"count": parts["upper"]}), unit), day
    if unit == "day":
        return day, day
    return calendar_period_of(day, unit)


def _day_before(today: date, parts: Mapping[str, str]) -> date:
    return shift_day(today, -_count_of(parts), parts["ago"].lower())


def calendar_period_of(day: date, unit: str) -> tuple[date, date]:
    """The week (from Monday), month, quarter, year or decade that holds the day."""
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(6)
    if unit == "decade":
        return date(day.year // 10 * 10, 1, 1), date(day.year // 10 * 10 + 9, 12, 31)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = date(day.year, (day.month - 1) // months * months + 1, 1)
    return first, shift_months(first, months) - timedelta(1)


def shift_day(day: date, count: int, unit: str) -> date:
    """The day `count` units later. Raises `ValueError` or `OverflowError` beyond the calendar."""
    if unit in ("day", "week"):
        return day + timedelta(count * (7 if unit == "week" else 1))
    return shift_months(day, count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit])


def _count_of(parts: Mapping[str, str]) -> int:
    written = parts.get("count", "1").lower()
    if written in NUMBERS_BY_WORD:
        return NUMBERS_BY_WORD[written]
    words = [word for word in written.split() if word in _COUNTS]
    return _COUNTS[words[-1]] if words else int(written)


def _named_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "Last summer" is the latest that has ended, "next May" the next one to begin."""
    which, name = parts["which"].lower(), parts["name"].lower()
    periods = [_month_or_season(name, today.year + years) for years in (-2, -1, 0, 1, 2)]
    if which in ("last", "past", "previous"):
        return [period for period in periods if period[1] < today][-1]
    if which in ("next", "coming"):
        return next(period for period in periods if period[0] > today)
    return next((period for period in periods if period[0] <= today <= period[1]), periods[2])


def _month_or_season(name: str, year: int) -> tuple[date, date]:
    if name not in _SEASON_MONTHS:
        return month_bounds(year, ENGLISH_MONTH_NUMBERS[name])
    first = date(year, _SEASON_MONTHS[name], 1)
    return first, shift_months(first, 3) - timedelta(1)


def _weekday_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    """ "Last Friday" is past; "by Friday" and "next Friday" are ahead."""
    days_ahead = (WEEKDAYS.index(parts["lone"].lower()) - today.weekday()) % 7
    which = parts.get("which", "").lower()
    if which in ("last", "past", "previous"):
        days_ahead = days_ahead - 7
    elif which in ("next", "coming") and days_ahead == 0:
        days_ahead = 7
    day = today + timedelta(days_ahead)
    return day, day


def _lone_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    name = parts["lone"].lower()
    if name in WEEKDAYS:
        return _weekday_period(parts, today)
    if name in ("week", "month", "quarter", "year"):
        return calendar_period_of(today, name)
    return _latest_of(_month_or_season(name, today.year), _month_or_season(name, today.year - 1), today)


def _latest_of(period: tuple[date, date], period_before: tuple[date, date], today: date) -> tuple[date, date]:
    return period if period[0] <= today else period_before


def _quarter_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    quarter = int(parts["quarter"][1]) if "quarter" in parts else _ORDINALS[parts["ordinal"].lower()]
    first = date(today.year, quarter * 3 - 2, 1)
    period = first, shift_months(first, 3) - timedelta(1)
    return _latest_of(period, (shift_months(first, -12), shift_months(first, -9) - timedelta(1)), today)


def _half_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    first = date(today.year, 1 if parts["half"][1] == "1" else 7, 1)
    period = first, shift_months(first, 6) - timedelta(1)
    return _latest_of(period, (shift_months(first, -12), shift_months(first, -6) - timedelta(1)), today)


def _turn_of_year(parts: dict[str, str], today: date) -> tuple[date, date]:
    year = today.year if today.month > 6 else today.year - 1
    return date(year, 12, 16), date(year + 1, 1, 15)


def _relative_period(parts: dict[str, str], today: date) -> tuple[date, date]:
    which, unit = parts["which"].lower(), parts["span"].lower()
    count = _count_of(parts) if "count" in parts else None
    if which in ("next", "coming", "following"):
        return _period_ahead(unit, today, count)
    if which in ("this", "current"):
        return (today, today) if unit == "day" else calendar_period_of(today, unit)
    if unit == "day":
        return today - timedelta(count or 1), today if count else today - timedelta(1)
    if count is None or unit in ("week", "quarter"):
        first = calendar_period_of(today, unit)[0]
        return shift_day(first, -(count or 1), unit), first - timedelta(1)
    return shift_day(today, -count, unit), today


def _period_ahead(unit: str, today: date, count: int | None) -> tuple[date, date]:
    """ "Next month" is the next calendar month; "the next 3 months" begin today."""
    if count is not None:
        return today, shift_day(today, count, unit)
    if unit == "day":
        return today + timedelta(1), today + timedelta(1)
    last = calendar_period_of(today, unit)[1]
    return calendar_period_of(last + timedelta(1), unit)


_RESOLVERS: Mapping[str, Callable[[dict[str, str], date], tuple[date, date]]] = {
    "relative": _relative_day,
    "feast": _next_feast,
    "weekday": _numbered_weekday,
    "feastday": _feast_day,
    "weekend": _weekend_period,
    "todate": lambda parts, today: (date(today.year, 1, 1), today),
    "ago": _period_ago,
    "name": _named_period,
    "span": _relative_period,
    "lone": _lone_period,
    "quarter": _quarter_period,
    "ordinal": _quarter_period,
    "half": _half_period,
    "turn": _turn_of_year,
    "bare": lambda parts, today: _lone_period({"lone": parts["bare"]}, today),
}
