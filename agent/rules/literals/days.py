"""Finds days and periods in a question, and what is said of them: "early 2023", "the week of 3 May", "March last year".

Those with a year come from `storage.quantities.periods`, those completed by the current date from `clock_periods`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise, zip_longest

from agent.english.function_words import ORDINALS, SMALL_NUMBERS
from agent.rules.literals.clock_periods import calendar_period_of, find_clock_periods
from agent.rules.literals.literal_types import DateLiteral
from storage.quantities.calendar_arithmetic import shift_months
from storage.quantities.periods import find_periods
from storage.search.conditions import ComparisonOperator

_YEAR_AFTER = re.compile(
    r"\s*,?\s*(?:(?:of|in)\s+)?(?:(?P<year>(?:19|20|21)\d\d)(?:/(?:20)?\d\d)?(?![\w/-])|['’](?P<short>\d\d)\b"
    r"|(?P<which>this|last|next|(?:the\s+)?previous)\s+year\b"
    r"|(?:a|one|the)\s+year\s+(?P<back>ago|before|earlier)\b)",
    re.IGNORECASE,
)
_PART_NUMBERS = {word: rank - 1 for word, rank in ORDINALS.items() if rank <= 4}
_PART_BEFORE = re.compile(
    r"\b(?:(?P<third>early|mid|late)|(?:the\s+)?(?P<edge>beginning|start|middle|end)\s+of|(?P<rest>rest|remainder)\s+of"
    r"|(?:the\s+)?(?P<nth>first|second|third|fourth|last|final|1st|2nd|3rd|4th)\s+(?P<part>half|third|quarter|week|month)"
    r"\s+(?:of|in)|(?:the\s+)?week\s+(?P<week>of|commencing|beginning|starting|ending)"
    r"|(?:the\s+)?(?P<side>first|last|final)\s+(?P<many>[1-9]\d?|" + "|".join(SMALL_NUMBERS) + r")"
    r"\s+(?P<parts>months|weeks|days|quarters)\s+(?:of|in)|the\s+day\s+(?P<day>before|after))"
    r"[\s-]+(?:the\s+)?(?:(?:month|year)\s+(?:of\s+)?)?$",
    re.IGNORECASE,
)


def find_dates(question: str, today: date) -> Iterator[DateLiteral]:
    """Yields the days and periods, without overlaps; periods with a year precede those completed by `today`."""
    literals = list[DateLiteral]()
    for literal in (*_find_periods_with_year(question), *find_clock_periods(question, today)):
        if all(literal.end <= other.start or literal.start >= other.end for other in literals):
            literals.append(literal)
    completed = _complete_years(question, sorted(literals, key=lambda literal: literal.start), today)
    for literal in _tell_this_from_last(question, completed):
        yield _take_edge(question, _take_part(question, literal, today))


def _find_periods_with_year(question: str) -> Iterator[DateLiteral]:
    for period in find_periods(question):
        yield DateLiteral(
            start=period.start, end=period.end, op=ComparisonOperator.EQ, first_day=period.first_day,
            last_day=period.last_day, is_year_only=period.is_year_only, number_start=period.start,
        )  # fmt: skip


def _complete_years(question: str, literals: Sequence[DateLiteral], today: date) -> Iterator[DateLiteral]:
    """ "Spring 2024", "Q3 of last year": yields the periods with the year after them as one."""
    end = 0
    for literal, following in zip_longest(literals, literals[1:]):
        if literal.start < end:
            continue
        if following is not None and _shares_year(question, literal, following):
            shift = 12 * (following.first_day.year - literal.first_day.year)
            literal = replace(shift_literal(literal, shift), lacks_year=False)
        match = _YEAR_AFTER.match(question, literal.end) if literal.lacks_year else None
        if match is not None:
            shift = 12 * (_year_of_match(match, literal, today) - literal.first_day.year)
            literal = replace(shift_literal(literal, shift), end=match.end(), lacks_year=False)
        end = literal.end
        yield literal


def _tell_this_from_last(question: str, literals: Iterable[DateLiteral]) -> Iterator[DateLiteral]:
    """ "*This October* … *last October*": beside this one, the last one is a year earlier, even if both are over."""
    current = set[tuple[date, date]]()
    for literal in literals:
        period, words = (literal.first_day, literal.last_day), question[literal.start : literal.end].casefold().split()
        if words[:1] == ["this"]:
            current.add(period)
        yield shift_literal(literal, -12) if words[:1] == ["last"] and period in current else literal


def _shares_year(question: str, literal: DateLiteral, following: DateLiteral) -> bool:
    """ "May or June 2010": whether both periods lie in the year that is written once."""
    between = question[literal.end : following.start].strip().lower()
    if not literal.lacks_year or following.lacks_year or following.is_year_only or following.counts_back:
        return False
    return between in ("or", "and", ",", "/", "&") and literal.first_day.month <= following.first_day.month


def _year_of_match(match: re.Match[str], literal: DateLiteral, today: date) -> int:
    if match["year"]:
        return int(match["year"])
    if match["short"]:
        return 2000 + int(match["short"])
    if match["back"]:
        return (today if match["back"].lower() == "ago" else literal.first_day).year - 1
    return today.year + {"this": 0, "next": 1}.get(match["which"].lower(), -1)


def shift_literal(literal: DateLiteral, months: int) -> DateLiteral:
    """Returns the period `months` later; whole months stay whole."""
    day_after = shift_months(literal.last_day + timedelta(1), months)
    ends_month = (literal.last_day + timedelta(1)).day == 1
    last = day_after - timedelta(1) if ends_month else shift_months(literal.last_day, months)
    compared = literal.compared_day and (last if literal.compared_day == literal.last_day else None)
    first = shift_months(literal.first_day, months)
    return replace(literal, first_day=first, last_day=last, compared_day=compared or (literal.compared_day and first))


_EDGE_AFTER = re.compile(r"\s+(?:(?P<end>ends?|is\s+over|is\s+out|closes?)|starts?|begins?)\b", re.IGNORECASE)


def _take_edge(question: str, literal: DateLiteral) -> DateLiteral:
    """ "Before 2026 *ends*"."""
    match = _EDGE_AFTER.match(question, literal.end)
    if match is None or literal.compared_day is not None:
        return literal
    return replace(literal, end=match.end(), compared_day=literal.last_day if match["end"] else literal.first_day)


def _take_part(question: str, literal: DateLiteral, today: date) -> DateLiteral:
    """ "Early 2023", "the end of June", "the week of 3 May": returns the part that the words before the period name."""
    match = _PART_BEFORE.search(question, max(literal.start - 40, 0), literal.start)
    if match is None:
        return literal
    first, last = _bounds_of_part(match, literal, today)
    compared = {"end": literal.last_day, "start": literal.first_day, "beginning": literal.first_day}
    return replace(
        literal, start=match.start(), first_day=first, last_day=last, is_year_only=False,
        compared_day=compared.get((match["edge"] or "").lower(), literal.compared_day),
    )  # fmt: skip


_THIRDS = {"early": 0, "mid": 1, "late": 2, "beginning": 0, "start": 0, "middle": 1, "end": 2}


def _bounds_of_part(match: re.Match[str], period: DateLiteral, today: date) -> tuple[date, date]:
    if match["rest"]:
        return max(period.first_day, today), period.last_day
    if match["day"]:
        day = period.first_day - timedelta(1) if match["day"].lower() == "before" else period.last_day + timedelta(1)
        return day, day
    if match["many"]:
        return _several_parts(match["side"].lower() == "first", match["many"].lower(), match["parts"].lower(), period)
    if match["week"]:
        return _week_about(match["week"].lower(), period)
    if match["third"] or match["edge"]:
        return _split_period(period, 3)[_THIRDS[(match["third"] or match["edge"]).lower()]]
    return _numbered_part(match["nth"].lower(), match["part"].lower(), period)


def _several_parts(is_first: bool, number: str, unit: str, period: DateLiteral) -> tuple[date, date]:
    """ "The first three months": returns these parts; the whole period if it is not so long."""
    count = SMALL_NUMBERS.get(number) or int(number)
    if unit in ("months", "quarters"):
        months = count * (3 if unit == "quarters" else 1)
        first_end = shift_months(period.first_day, months) - timedelta(1)
        last_start = shift_months(period.last_day + timedelta(1), -months)
    else:
        days = count * (7 if unit == "weeks" else 1)
        first_end = period.first_day + timedelta(days - 1)
        last_start = period.last_day - timedelta(days - 1)
    if is_first:
        return period.first_day, min(first_end, period.last_day)
    return max(last_start, period.first_day), period.last_day


def _week_about(word: str, period: DateLiteral) -> tuple[date, date]:
    if word == "of":
        return calendar_period_of(period.first_day, "week")
    if word == "ending":
        return period.last_day - timedelta(6), period.last_day
    return period.first_day, period.first_day + timedelta(6)


def _numbered_part(nth: str, unit: str, period: DateLiteral) -> tuple[date, date]:
    """ "The first half", "the last week": returns the part; a part that is not there is the whole period."""
    if unit == "week":
        first = period.first_day + timedelta(7 * _PART_NUMBERS.get(nth, 0))
        return (
            (first, first + timedelta(6)) if nth in _PART_NUMBERS else (period.last_day - timedelta(6), period.last_day)
        )
    count = {"half": 2, "third": 3, "quarter": 4}.get(unit) or _months_in(period)
    parts = _split_period(period, max(count, 1))
    index = _PART_NUMBERS.get(nth, len(parts) - 1)
    return parts[index] if index < len(parts) else (period.first_day, period.last_day)


def _months_in(period: DateLiteral) -> int:
    last = period.last_day + timedelta(1)
    return (last.year - period.first_day.year) * 12 + last.month - period.first_day.month


def _split_period(period: DateLiteral, count: int) -> list[tuple[date, date]]:
    """Returns equal parts: of whole months where that is possible, else of days, the last with the days left over."""
    months = _months_in(period)
    if period.first_day.day == 1 and months and months % count == 0:
        starts = [shift_months(period.first_day, months // count * index) for index in range(count + 1)]
    else:
        days = (period.last_day - period.first_day).days + 1
        starts = [period.first_day + timedelta(days // count * index) for index in range(count)]
        starts.append(period.last_day + timedelta(1))
    return [(start, end - timedelta(1)) for start, end in pairwise(starts)]
