"""Date fields: days after a label or in a phrase, in the title, or the only one there is."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.days import Day, days_in
from storage.ingest.extract.labelled import labels_of, places_after
from storage.ingest.extract.page import Page
from storage.ingest.extract.targets import Target

_HEAD = 6_000  # characters: where an agreement says when it was made
_OPENING, _FALLBACK = 1_500, 0.6  # the first day that an opening names, where nothing says what it is
_TAIL, _LAST = 2_500, 3  # characters in which papers are signed, and days that are looked at there
_CLOSING, _LATEST = 0.56, 0.5
_BODY = 400_000
_LATE = 0.4  # what a label far from the head is worth less: a signature, a schedule
_SENTENCE, _ASIDE = 300, 0.4  # a phrase in a sentence that is about something else
_LEAD_REACH, _NAME_REACH = 70, 60
_OTHER = re.compile(r"\d{4}|[.;]")
_BOUND = re.compile(r"(?:terminat|expir|until|through|ending|ends?\s+on|formation|incorporated|source:)")
_BOUND_REACH = 30
_DATED_TITLE = re.compile(r"_")


def dates(page: Page, target: Target, *, day_first: bool | None, alone: bool) -> Iterator[Candidate]:
    """`alone`: the schema has no other date field, so that any day may be its."""
    place = target.concept.place if target.concept else ""
    if place == "title" or (alone and place != "head"):
        yield from _in_title(page, 0.95)
    yield from _phrases(page, target, day_first)
    for label in labels_of(page, target, target.labels):
        never = target.concept.never if target.concept else None
        line = page.line_at(label.start)
        if never and never.search(page.low, line.start, label.start):
            continue
        late = _LATE * (place == "head" and label.start > _HEAD)
        for spot in places_after(page, label):
            days = days_in(page.low, spot.start, spot.end, day_first=day_first)
            if days and len(page.low[spot.start : days[0].start].strip()) < 12:
                yield _found(days[0], spot.confidence - late)
    if place == "head":
        yield from (_found(one, _FALLBACK) for one in _opening(page, day_first)[:1])
        if target.concept and target.concept.name == "agreement date":
            yield from _at_end(page, target, day_first)
    if alone:
        yield from _first(days_in(page.low, 0, 20_000, day_first=day_first))


def _opening(page: Page, day_first: bool | None) -> list[Day]:
    """The days of the opening that are no beginning or end of something."""
    return [one for one in days_in(page.low, 0, _OPENING, day_first=day_first) if not _is_bound(page, one)]


def _is_bound(page: Page, day: Day) -> bool:
    return _BOUND.search(page.low, max(0, day.start - _BOUND_REACH), day.start) is not None


def _at_end(page: Page, target: Target, day_first: bool | None) -> Iterator[Candidate]:
    """Days beside the signatures, the last of them; surer where a phrase leads to it."""
    leads = target.concept.leads if target.concept else None
    start = max(0, len(page.low) - _TAIL)
    for day in days_in(page.low, start, day_first=day_first)[-_LAST:]:
        led = leads is not None and leads.search(page.low, max(start, day.start - _LEAD_REACH), day.start)
        if led or not _is_bound(page, day):
            yield Candidate(value=day.iso, confidence=_CLOSING if led else _LATEST, start=day.start, end=day.end)


def _found(day: Day, confidence: float) -> Candidate:
    sure = confidence if day.sure else confidence - 0.1
    return Candidate(value=day.iso, confidence=sure, start=day.start, end=day.end)


def _in_title(page: Page, confidence: float) -> Iterator[Candidate]:
    for day in days_in(_DATED_TITLE.sub("-", page.title_low), day_first=False):
        yield Candidate(value=day.iso, confidence=confidence)


def _phrases(page: Page, target: Target, day_first: bool | None) -> Iterator[Candidate]:
    """Days that a phrase leads to, or that are given a name right after."""
    concept = target.concept
    if concept is None or not (concept.leads or concept.follows):
        return
    is_head = concept.place == "head"
    days = days_in(page.low, 0, min(len(page.low), _HEAD if is_head else _BODY), day_first=day_first)
    for rank, day in enumerate(days):
        late = min(0.25, 0.02 * rank) if is_head else 0.0
        follows = concept.follows.search(page.low, day.end, day.end + _NAME_REACH) if concept.follows else None
        if follows and not _OTHER.search(page.low, day.end, follows.start()):
            yield Candidate(value=day.iso, confidence=0.88 - late, start=day.start, end=follows.end())
        leads = concept.leads.search(page.low, max(0, day.start - _LEAD_REACH), day.start) if concept.leads else None
        if leads and concept.about:
            said = page.sentence_before(leads.start(), _SENTENCE)
            late = 0.0 if concept.about.search(page.low, said.start, leads.end()) else _ASIDE
        elif leads and concept.never:
            said = page.sentence_before(leads.start(), _SENTENCE)
            late += _ASIDE * (concept.never.search(page.low, said.start, leads.end()) is not None)
        if leads:
            yield Candidate(value=day.iso, confidence=0.82 - late, start=leads.start(), end=day.end)


def _first(days: Sequence[Day]) -> Iterator[Candidate]:
    """The day said most often, the first of them."""
    if days:
        said = [one.iso for one in days]
        best = max(days, key=lambda one: (said.count(one.iso), -one.start))
        yield _found(best, 0.65 if _is_plausible(best.iso) else 0.3)


def _is_plausible(iso: str) -> bool:
    return 1980 <= date.fromisoformat(iso).year <= 2100
