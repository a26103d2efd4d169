"""Spans of time in running text: `thirty (30) days`, `six-month`, and what they are said of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.concepts import Concept
from storage.ingest.extract.figures import WORDS, in_unit, number_in_words
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target
from storage.search.schema import FieldType

_SPAN = re.compile(
    rf"(?<![\w$.])(?:(?P<digits>\d{{1,4}})|(?P<words>(?:{WORDS})(?:[\s-](?:and\s)?(?:{WORDS})){{0,3}})"
    r"(?:\s?\(\s?(?P<bracketed>\d{1,4})\s?\))?)\)?[\s-]{1,3}"
    r"(?:calendar\s|business\s|contract\s|full\s|consecutive\s)?(?P<unit>day|week|month|year)(?:s|'s|s')?(?![a-z])"
)
_BESIDE = 34  # characters on either side
_SENTENCE = 420  # characters of a sentence on one side
_SPOILS = 22  # characters on either side in which a word makes another thing of a span
_FAR, _UNSURE = 0.25, 0.4  # what the distance costs at most, and what the missing of a telling word does
_AGAIN = re.compile(r"(?<![a-z])(?:successive|consecutive)(?![a-z])")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}  # a month as notices count it
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
    """Spans with a word of the concept beside them and another in the same sentence; the nearer the likelier."""
    concept = target.concept
    if concept is None or concept.near is None or concept.beside is None:
        return
    for span in spans_in(page):
        behind = concept.beside.search(page.low, span.end, span.end + _BESIDE)
        ahead = concept.beside.search(page.low, max(0, span.start - _BESIDE), span.start)
        if not ahead and (not behind or any(c.isdigit() for c in page.low[span.end : behind.start()])):
            continue
        beside = page.low[max(0, span.start - _SPOILS) : span.end + _SPOILS]
        if concept.unless and concept.unless.search(beside):
            continue
        far = _distance(page, span, concept)
        value = _valued(page, span, target) if far is not None else None
        if far is not None and value is not None:
            yield Candidate(value=value, confidence=far, start=span.start, end=span.end)


def _distance(page: Page, span: Span, concept: Concept) -> float | None:
    """How likely the span is said of the concept, by its sentence; None where that speaks of something else."""
    head = page.sentence_before(span.start, _SENTENCE)
    tail = page.sentence_after(span.end, _SENTENCE // 2)
    if concept.near is None or (concept.never and concept.never.search(page.low, head.start, tail.end)):
        return None
    before = [match.end() for match in concept.near.finditer(page.low, head.start, head.end)]
    after = concept.near.search(page.low, tail.start, tail.end)
    far = min([span.start - before[-1]] if before else [], default=_SENTENCE)
    far = min(far, after.start() - span.end) if after else far
    if far >= _SENTENCE:
        return None
    sure = concept.surely is None or concept.surely.search(page.low, head.start, tail.end) is not None
    return 0.85 - _FAR * far / _SENTENCE - (0 if sure else _UNSURE)


def _valued(page: Page, span: Span, target: Target) -> str | float | None:
    field = target.field
    if field.type is not FieldType.NUMBER:
        again = _AGAIN.search(page.low, max(0, span.start - _BESIDE), span.end + _BESIDE)
        return f"successive {span.words}" if again else span.words
    if field.unit in ("day", ""):
        return float(span.number * _DAYS[span.unit])
    return in_unit(span.number, span.unit, field.unit)
