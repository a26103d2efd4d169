"""When a term ends that is said as a span: `five (5) years from the Effective Date`."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.page import Page
from storage.ingest.extract.spans import Span, spans_in
from storage.ingest.extract.targets import Target

_FROM = re.compile(
    r"effective date|date hereof|date of th|commenc|from the date|date first|execution|beginning on|begin on|signing|"
    r"anniversary|day and year|start date|date set forth"
)
_OF_IT = re.compile(
    r"term of (?:this|the) (?:\w+ )?(?:agreement|contract)(?: \([^)]{0,30}\))? (?:is|shall be|will be|shall continue)"
)
_SHORTEST = 300  # days of a term that is said in days: shorter ones are delays

_OTHER = re.compile(
    r"notice|prior to|renew|warrant|after (?:the )?(?:termination|expiration)|within|successive|additional|invoice|cure"
    r"|following (?:the )?(?:termination|expiration)|surviv|confiden|preceding|each|cease|at least|not less than"
    r"|during the term|and for (?:a|an|the|one|two|three|five)|expiration or termination|termination or expiration"
)
_ANNIVERSARY = re.compile(
    r"(?P<words>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|fifteenth|twentieth"
    r"|\d{1,2}\s?(?:st|nd|rd|th|t h))"
    r"(?:\s?\(\d{1,2}\s?(?:st|nd|rd|th|t h)?\))?\s+(?:year\s+)?anniversary"
)
_ORDER = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
} | {"fifteenth": 15, "twentieth": 20}
_BEFORE, _AFTER = 200, 110
_LAST_YEAR = 2200


def term_ends(page: Page, target: Target, begins: Candidate | None) -> Iterator[Candidate]:
    """The day on which a term ends that begins on a known day, the first that is said."""
    reckoned = target.concept.reckoned if target.concept else None
    if reckoned is None or begins is None:
        return
    for span in (*spans_in(page), *_anniversaries(page)):
        before = list(reckoned.finditer(page.low, max(0, span.start - _BEFORE), span.start))
        if not before or "." in page.low[before[-1].end() : span.start].replace("u.s.", "").replace("i.e.", ""):
            continue
        if span.unit == "day" and span.number < _SHORTEST:
            continue
        near = page.low[max(0, span.start - 60) : span.end] + page.low[span.end : span.end + 40].partition(".")[0]
        around = page.low[before[0].start() : span.end + _AFTER]
        if _OTHER.search(near) or not (_FROM.search(around) or _OF_IT.search(around)):
            continue
        day = _after(date.fromisoformat(str(begins.value)), span)
        if day:
            sure = min(begins.confidence, 0.72)
            yield Candidate(value=day.isoformat(), confidence=sure, start=before[-1].start(), end=span.end)
            return


def _anniversaries(page: Page) -> Iterator[Span]:
    for match in _ANNIVERSARY.finditer(page.low):
        word = match["words"]
        years = _ORDER[word] if word in _ORDER else int(re.sub(r"\D", "", word))
        yield Span(Decimal(years), "year", match.start(), match.end())


def _after(day: date, span: Span) -> date | None:
    number = int(span.number)
    if span.unit in ("day", "week"):
        return day + timedelta(days=number * (7 if span.unit == "week" else 1)) if number < 20_000 else None
    months = day.month - 1 + number * (12 if span.unit == "year" else 1)
    year, month = day.year + months // 12, months % 12 + 1
    if year > _LAST_YEAR:
        return None
    return date(year, month, min(day.day, monthrange(year, month)[1]))
