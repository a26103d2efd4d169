"""The day on which a term ends that is given as a duration: `five (5) years from the Effective Date`."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.quantities.durations import DurationSpan, shift_by_duration
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD, alternatives_of

_TERM_START_WORDS = re.compile(
    r"effective date|date hereof|date of th|commenc|from the date|date first|execution|beginning on|begin on|signing|"
    r"anniversary|day and year|start date|date set forth"
)
_TERM_WORDS = re.compile(
    r"term of (?:this|the) (?:\w+ )?(?:agreement|contract)(?: \([^)]{0,30}\))? (?:is|shall be|will be|shall continue)"
    r"|(?<![a-z])(?:runs?|lasts?) for"
)
_MIN_TERM_DAYS = 300  # of a term in days; shorter ones are delays

_OTHER_PERIOD_WORDS = re.compile(
    r"notice|prior to|renew|warrant|after (?:the )?(?:termination|expiration)|within|successive|additional|invoice|cure"
    r"|following (?:the )?(?:termination|expiration)|surviv|confiden|preceding|each|cease|at least|not less than"
    rf"|during the term|and for (?:a|an|the|{alternatives_of(NUMBERS_BY_WORD)})(?![a-z])"
    r"|expiration or termination|termination or expiration"
)
_ANNIVERSARY = re.compile(
    rf"(?<![a-z])(?P<words>{alternatives_of(ORDINALS_BY_WORD)}|\d{{1,2}}\s?(?:st|nd|rd|th|t h))"
    r"(?:\s?\(\d{1,2}\s?(?:st|nd|rd|th|t h)?\))?\s+(?:year\s+)?anniversary"
)
_BEFORE_CHARACTERS, _AFTER_CHARACTERS = 200, 110
_LAST_YEAR = 2200


def find_term_ends(
    document: DocumentText, target: ExtractionTarget, start_date: ValueCandidate | None
) -> Iterator[ValueCandidate]:
    """The end of the first term in the text, where the day of its start is known."""
    term_pattern = target.concept.term_pattern if target.concept else None
    if term_pattern is None or start_date is None:
        return
    for span in (*document.durations, *_find_anniversaries(document)):
        before = list(term_pattern.finditer(document.folded, max(0, span.start - _BEFORE_CHARACTERS), span.start))
        if not before or "." in document.folded[before[-1].end() : span.start].replace("u.s.", "").replace("i.e.", ""):
            continue
        if span.unit == "day" and span.number < _MIN_TERM_DAYS:
            continue
        near = (
            document.folded[max(0, span.start - 60) : span.end]
            + document.folded[span.end : span.end + 40].partition(".")[0]
        )
        around = document.folded[before[0].start() : span.end + _AFTER_CHARACTERS]
        if _OTHER_PERIOD_WORDS.search(near) or not (_TERM_START_WORDS.search(around) or _TERM_WORDS.search(around)):
            continue
        day = _date_after(date.fromisoformat(str(start_date.value)), span)
        if day:
            confidence = min(start_date.confidence, 0.72)
            yield ValueCandidate(value=day.isoformat(), confidence=confidence, start=before[-1].start(), end=span.end)
            return


def _find_anniversaries(document: DocumentText) -> Iterator[DurationSpan]:
    if "anniversary" not in document.folded:  # most documents; the pattern tries a hundred words at each position
        return
    for match in _ANNIVERSARY.finditer(document.folded):
        word = match["words"]
        years = ORDINALS_BY_WORD[word] if word in ORDINALS_BY_WORD else int(re.sub(r"\D", "", word))
        yield DurationSpan(Decimal(years), "year", match.start(), match.end())


def _date_after(start: date, span: DurationSpan) -> date | None:
    end = shift_by_duration(start, span.number, span.unit)
    return end if end is not None and end.year <= _LAST_YEAR else None
