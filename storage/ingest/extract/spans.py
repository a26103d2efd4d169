"""Spans of time in running text: `thirty (30) days`, `six-month`, and what they are said of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.figures import WORDS, in_unit, number_in_words
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target
from storage.search.schema import FieldType

_SPAN = re.compile(
    rf"(?<![\w$.])(?:(?P<digits>\d{{1,4}})|(?P<words>(?:{WORDS})(?:[\s-](?:and\s)?(?:{WORDS})){{0,3}})"
    r"(?:\s?\(\s?(?P<bracketed>\d{1,4})\s?\))?)\)?[\s-]{1,3}"
    r"(?:calendar\s|business\s|full\s|consecutive\s)?(?P<unit>day|week|month|year)(?:s|'s|s')?(?![a-z])"
)
_BESIDE = 34  # characters on either side
_NEAR = 260
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 360}  # as contracts count: a year has twelve months of thirty days
_MOST = 400


@dataclass(frozen=True, slots=True)
class Span:
    number: Decimal
    unit: str  # day, week, month or year
    start: int
    end: int

    @property
    def words(self) -> str:
        return f"{self.number} {self.unit}{'' if self.number == 1 else 's'}"


def spans_in(page: Page, start: int = 0, end: int | None = None) -> Iterator[Span]:
    stop = len(page.low) if end is None else end
    for count, match in enumerate(_SPAN.finditer(page.low, start, stop)):
        if count == _MOST:
            return
        written = match["bracketed"] or match["digits"]
        number = Decimal(written) if written else Decimal(number_in_words(match["words"]) or 0)
        if number:
            yield Span(number, match["unit"], match.start(), match.end())


def said_of(page: Page, target: Target) -> Iterator[Candidate]:
    """Spans with a word of the concept beside them and another in the same sentence or two."""
    concept = target.concept
    if concept is None or concept.near is None or concept.beside is None:
        return
    for span in spans_in(page):
        behind = concept.beside.search(page.low, span.end, span.end + _BESIDE)
        ahead = concept.beside.search(page.low, max(0, span.start - _BESIDE), span.start)
        if not ahead and (not behind or any(c.isdigit() for c in page.low[span.end : behind.start()])):
            continue
        before = [match.end() for match in concept.near.finditer(page.low, max(0, span.start - _NEAR), span.start)]
        after = concept.near.search(page.low, span.end, span.end + _NEAR // 2)
        far = min([span.start - before[-1]] if before else [], default=_NEAR)
        far = min(far, after.start() - span.end) if after else far
        if far < _NEAR:
            value = _valued(span, target)
            if value is not None:
                confidence = 0.8 - 0.25 * far / _NEAR
                yield Candidate(value=value, confidence=confidence, start=span.start, end=span.end)


def _valued(span: Span, target: Target) -> str | float | None:
    field = target.field
    if field.type is not FieldType.NUMBER:
        return span.words
    if field.unit in ("day", ""):
        return float(span.number * _DAYS[span.unit])
    return in_unit(span.number, span.unit, field.unit)
