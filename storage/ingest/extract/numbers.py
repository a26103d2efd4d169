"""Number fields: quantities beside their labels, in the field's unit, and numbers that phrases give."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.figures import Figure, in_unit, quantities
from storage.ingest.extract.labelled import labels_of, places_after
from storage.ingest.extract.page import Cell, Page
from storage.ingest.extract.spans import said_of
from storage.ingest.extract.targets import Target
from storage.ingest.extract.wording import words_of
from storage.search.schema import Bare, Field

_SIGN = re.compile(r"[\s*()a-z]{0,8}[:|\t=]")
_AHEAD = 28  # characters that a quantity before its label may take
_LETTER = re.compile(r"[^\W\d_]")
_BREAK = re.compile(r"[,;]|\.\s")
_MOST = frozenset(("highest", "maximum", "max", "rating", "rated"))


def numbers(page: Page, target: Target) -> Iterator[Candidate]:
    for label in labels_of(page, target, target.labels):
        if _is_span(target) and not _SIGN.match(page.low, label.end):
            continue  # running text
        yield from _before(page, target, label)
        yield from _after(page, target, label)
    yield from said_of(page, target)


def _after(page: Page, target: Target, label: Cell) -> Iterator[Candidate]:
    for place in places_after(page, label):
        figure = next(quantities(page.text, place.start, place.end), None)
        if figure is None:
            continue
        between = page.low[place.start : figure.start]
        if _BREAK.search(between) or (target.others and target.others.search(between)):
            continue
        far = len(_LETTER.findall(between))
        confidence = place.confidence - min(0.45, 0.03 * far)
        yield from _fitting(target, figure, label, confidence)


def _before(page: Page, target: Target, label: Cell) -> Iterator[Candidate]:
    """`60V Vds`: a quantity with its unit right before the label."""
    line = page.line_at(label.start)
    figures = list(quantities(page.text, max(line.start, label.start - _AHEAD), label.start))
    if figures and figures[-1].unit and not page.text[figures[-1].end : label.start].strip():
        yield from _fitting(target, figures[-1], label, 0.96)


def _fitting(target: Target, figure: Figure, label: Cell, confidence: float) -> Iterator[Candidate]:
    """The figure in the field's unit; a bare one counts less where the field has a unit."""
    unit = target.field.unit
    if unit and not figure.unit and _is_span(target):
        return
    if unit and not figure.unit:
        confidence -= 0.25
    if figure.unit and not unit:
        confidence -= 0.1
    value = in_unit(figure.number, figure.unit, unit) if figure.unit and unit else float(figure.number)
    if value is None:
        return
    if _is_rating(target.field):
        value = abs(value)
    start, end = min(figure.start, label.start), max(figure.end, label.end)
    yield Candidate(value=value, confidence=confidence, start=start, end=end)


def _is_span(target: Target) -> bool:
    """Whether running text says it as a span of time beside words of its concept."""
    return target.concept is not None and target.concept.beside is not None


def _is_rating(field: Field) -> bool:
    """Whether it says how much at most, whichever way that is counted: -40 V is a rating of 40 V."""
    if field.unit.startswith("deg") or field.unit == "K":
        return False
    return field.bare is not Bare.EXACTLY or not _MOST.isdisjoint(words_of(f"{field.description} {field.label}"))
