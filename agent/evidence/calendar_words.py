"""The weekdays that a text means by other words: "Tue to Fri", "at weekends"."""

import re

from storage.quantities.calendar_arithmetic import MONTHS, WEEKDAYS
from storage.quantities.days import ENGLISH_MONTH_NUMBERS, MONTH_NUMBERS
from storage.search.analyser import fold_text

CALENDAR_WORDS = frozenset({*WEEKDAYS, *MONTHS, "weekday", "weekend"})

_DAY_PATTERN = r"(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|[A-Z]?[a-z]+day)"
_RANGE = re.compile(rf"\b(?P<first>{_DAY_PATTERN})s?\.? ?(?:-|–|to|until|till|through) ?(?P<last>{_DAY_PATTERN})s?\b")
_DAY = re.compile(rf"\b{_DAY_PATTERN}(?=s?\b)")
_GROUPS = {"weekday": WEEKDAYS[:5], "weekend": WEEKDAYS[5:], "daily": WEEKDAYS}
_GROUP = re.compile(r"\b(weekday|weekend|daily)s?\b", re.IGNORECASE)
_MONTH_NAMES = "|".join(sorted(ENGLISH_MONTH_NUMBERS, key=len, reverse=True))
_ASKED_MONTH = re.compile(rf"\b(?P<month>{_MONTH_NAMES})\.? (?:of )?(?P<year>(?:19|20)\d\d)\b")
_NAMED_MONTH = re.compile(r"(?P<month>[^\W\d_]{3,})\.?(?: \d{1,2}(?:st|nd|rd|th)?)?,? (?P<year>(?:19|20)\d\d)\b")
_WRITTEN_DAY = re.compile(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)[-./]?(?P<month>[01]\d)(?!\d{3})"
    r"|(?:[0-3]?\d[./-])?(?P<later_month>[01]?\d)[./-](?P<later_year>(?:19|20)\d\d))"
)
_MEETING_PATTERN = r"(?:meeting|minutes|session|review)s?"
_MEETING_MONTH = re.compile(
    rf"""\b (?:the|our|last|this) [ ] (?P<month>{_MONTH_NAMES}) \.? [ ] (?:\d{{4}}[ ])?
            (?:[^\W\d_]+[ ]){{0,3}} {_MEETING_PATTERN} \b
        | \b {_MEETING_PATTERN} [ ] (?:of|in|from|on) [ ] (?:the[ ])? (?:\d{{1,2}}(?:st|nd|rd|th)? [ ] (?:of[ ])?)?
            (?P<later_month>{_MONTH_NAMES}) \b""",
    re.VERBOSE,
)
_MONTH_RANGE = re.compile(
    r"\b(?P<first>[^\W\d_]{3,})\.? (?:-|–|to|until|till|through) (?:the end of )?(?P<last>[^\W\d_]{3,})\b",
    re.IGNORECASE,
)
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
# They are verbs, too, without a capital letter, and "May" where it asks for leave: "May guests bring food?"
_AMBIGUOUS_MONTHS = re.compile(
    r"\b(?:may|march)\b|(?:^|(?<=[.?!] ))\W*May(?= (?:I\b|(?!(?:is|was|has|and|to|or|until|till)\b)[a-z]))"
)
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


def months_in(text: str) -> frozenset[str]:
    """Returns the months that the text names in full, also within a range: "from April to September"."""
    folded = fold_text(_AMBIGUOUS_MONTHS.sub("", text))
    months = set(_MONTH.findall(folded))
    for match in _MONTH_RANGE.finditer(folded):
        if match["first"] in MONTHS and match["last"] in MONTHS:
            first, last = MONTHS.index(match["first"]), MONTHS.index(match["last"])
            months |= {*(MONTHS[first : last + 1] if first <= last else MONTHS[first:] + MONTHS[: last + 1])}
    return frozenset(months)


def holds_months_of(question: str, title: str, text: str) -> bool:
    """Whether a document is of each month that the question names with its year: "May 2031", 14/05/2031, 2031-05.

    A month in its title says when it is from; else its text must name the months.
    """
    asked = {
        (ENGLISH_MONTH_NUMBERS[match["month"]], match["year"]) for match in _ASKED_MONTH.finditer(fold_text(question))
    }
    return not asked or asked <= (_months_in(fold_text(title)) or _months_in(fold_text(text)))


def meeting_month_of(question: str) -> int | None:
    """ "What was decided in the *September* council meeting": returns the month (1 to 12) of a named meeting.

    Only in the form in which minutes are asked for: other texts name months that they are not from.
    """
    match = _MEETING_MONTH.search(fold_text(question))
    return ENGLISH_MONTH_NUMBERS[match["month"] or match["later_month"]] if match is not None else None


def first_month_in(text: str) -> int | None:
    """Returns the month of the first day or month with a year in the text: that of the minutes that it opens."""
    folded = fold_text(text)
    found = [
        (match.start(), MONTH_NUMBERS[match["month"]])
        for match in _NAMED_MONTH.finditer(folded)
        if match["month"] in MONTH_NUMBERS
    ]
    found += [(match.start(), int(match["month"] or match["later_month"])) for match in _WRITTEN_DAY.finditer(folded)]
    return min(found)[1] if found else None


def _months_in(folded_text: str) -> set[tuple[int, str]]:
    named = {
        (MONTH_NUMBERS[match["month"]], match["year"])
        for match in _NAMED_MONTH.finditer(folded_text)
        if match["month"] in MONTH_NUMBERS
    }
    days = _WRITTEN_DAY.finditer(folded_text)
    return named | {
        (int(match["month"] or match["later_month"]), match["year"] or match["later_year"]) for match in days
    }


def _weekday_of(word: str) -> str | None:
    prefix = word.casefold()[:_PREFIX_LENGTH]
    day = next((day for day in WEEKDAYS if day.startswith(prefix)), None)
    return day if day is not None and day.startswith(word.casefold()) else None


def _days_between(first: int, last: int) -> tuple[str, ...]:
    """Returns the days from `first` to `last`, across the end of a week if need be."""
    return WEEKDAYS[first : last + 1] if first <= last else WEEKDAYS[first:] + WEEKDAYS[: last + 1]
