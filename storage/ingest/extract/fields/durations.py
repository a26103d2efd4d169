"""Fields whose values are durations: `thirty (30) days`, with words of the field's concept beside them."""

import re
from collections.abc import Iterator, Sequence

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.concepts import FieldConcept
from storage.ingest.extract.document_text import DocumentText, fold_characters
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.quantities.durations import DurationSpan, find_durations
from storage.quantities.units import convert_to_double
from storage.search.schema import FieldType

_ADJACENT_CHARACTERS = 34  # on either side
_SENTENCE_CHARACTERS = 420  # of a sentence on one side
_EXCEPTION_CHARACTERS = 22  # on either side, for words that give a duration another meaning
_DISTANCE_PENALTY = 0.25  # for the largest distance
_UNCONFIRMED_PENALTY = 0.4  # for a sentence without a confirming word
_SUCCESSIVE_WORDS = re.compile(r"(?<![a-z])(?:successive|consecutive)(?![a-z])")
_DAYS_BY_UNIT = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}  # a month as notices count it
_MAX_LEAD_CHARACTERS = 16  # before a duration in a labelled text


def duration_candidates(document: DocumentText, target: ExtractionTarget) -> Iterator[ValueCandidate]:
    """Durations with a word of the concept beside them and another in the same sentence; nearer words count more."""
    found = list(_candidates_for_concept(document, target, target.concept))
    yield from found or _candidates_for_concept(document, target, target.fallback_concept)


def _candidates_for_concept(
    document: DocumentText, target: ExtractionTarget, concept: FieldConcept | None
) -> Iterator[ValueCandidate]:
    if concept is None or concept.sentence_pattern is None or concept.adjacent_pattern is None:
        return
    starts = [span.start for span in document.durations]
    for span in document.durations:
        after = concept.adjacent_pattern.search(document.folded, span.end, span.end + _ADJACENT_CHARACTERS)
        before = concept.adjacent_pattern.search(document.folded, max(0, span.start - _ADJACENT_CHARACTERS), span.start)
        if not before and (not after or _has_value_between(document, span.end, after.start(), starts)):
            continue
        around = document.folded[max(0, span.start - _EXCEPTION_CHARACTERS) : span.end + _EXCEPTION_CHARACTERS]
        if concept.exception_pattern and concept.exception_pattern.search(around):
            continue
        confidence = _duration_confidence(document, span, concept)
        value = _duration_value(document, span, target) if confidence is not None else None
        if confidence is not None and value is not None:
            yield ValueCandidate(value=value, confidence=confidence, start=span.start, end=span.end)


def _has_value_between(document: DocumentText, start: int, end: int, duration_starts: Sequence[int]) -> bool:
    """Whether a number or another duration appears between, which the words behind it are about."""
    return any(c.isdigit() for c in document.folded[start:end]) or any(
        start <= other < end for other in duration_starts
    )


def _duration_confidence(document: DocumentText, span: DurationSpan, concept: FieldConcept) -> float | None:
    """By the distance to the concept's words in the sentence; None where the sentence has none, or excluding words."""
    head = document.sentence_before(span.start, _SENTENCE_CHARACTERS)
    tail = document.sentence_after(span.end, _SENTENCE_CHARACTERS // 2)
    if concept.sentence_pattern is None or (
        concept.exclusion_pattern and concept.exclusion_pattern.search(document.folded, head.start, tail.end)
    ):
        return None
    before = [match.end() for match in concept.sentence_pattern.finditer(document.folded, head.start, head.end)]
    after = concept.sentence_pattern.search(document.folded, tail.start, tail.end)
    distance = span.start - before[-1] if before else _SENTENCE_CHARACTERS
    distance = min(distance, after.start() - span.end) if after else distance
    if distance >= _SENTENCE_CHARACTERS:
        return None
    is_confirmed = (
        concept.confirming_pattern is None
        or concept.confirming_pattern.search(document.folded, head.start, tail.end) is not None
    )
    return 0.85 - _DISTANCE_PENALTY * distance / _SENTENCE_CHARACTERS - (0 if is_confirmed else _UNCONFIRMED_PENALTY)


def duration_value_in(text: str, unit: str) -> float | None:
    """The first duration of a labelled text in a unit of time, where little appears before it; None for other units."""
    if unit not in _DAYS_BY_UNIT:
        return None
    span = next(find_durations(fold_characters(text)), None)
    if span is None or span.start > _MAX_LEAD_CHARACTERS:
        return None
    return _convert_duration(span, unit)


def _convert_duration(span: DurationSpan, unit: str) -> float | None:
    if unit in ("day", ""):
        return float(span.number * _DAYS_BY_UNIT[span.unit])
    return convert_to_double(span.number, span.unit, unit)


def _duration_value(document: DocumentText, span: DurationSpan, target: ExtractionTarget) -> str | float | None:
    field = target.field
    if field.type is not FieldType.NUMBER:
        successive = _SUCCESSIVE_WORDS.search(
            document.folded, max(0, span.start - _ADJACENT_CHARACTERS), span.end + _ADJACENT_CHARACTERS
        )
        return f"successive {span.wording}" if successive else span.wording
    return _convert_duration(span, field.unit)
