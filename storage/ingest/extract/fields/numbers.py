"""Number fields: quantities beside their labels, in the field's unit, and durations in sentences."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.field_patterns import words_of_phrase
from storage.ingest.extract.fields.durations import duration_candidates
from storage.ingest.extract.fields.labelled_values import find_field_labels, value_spans_after
from storage.quantities.numbers import NumberSpan
from storage.quantities.units import convert_to_double, find_quantities
from storage.search.schema import BareValueMatch, SchemaField

_LABEL_SIGN = re.compile(r"[\s*()a-z]{0,8}[:|\t=]")
_AHEAD_CHARACTERS = 28  # of a quantity before its label
_LETTER = re.compile(r"[^\W\d_]")
_CLAUSE_BREAK = re.compile(r"[,;]|\.\s")
_RATING_WORDS = frozenset(("highest", "maximum", "max", "rating", "rated"))


def number_candidates(document: DocumentText, target: ExtractionTarget) -> Iterator[ValueCandidate]:
    for label in find_field_labels(document, target, target.label_pattern):
        if _is_duration_field(target) and not _LABEL_SIGN.match(document.folded, label.end):
            continue  # in a sentence: `duration_candidates` reads it
        yield from _candidates_before_label(document, target, label)
        yield from _candidates_after_label(document, target, label)
    yield from duration_candidates(document, target)


def _candidates_after_label(
    document: DocumentText, target: ExtractionTarget, label: TextSpan
) -> Iterator[ValueCandidate]:
    for span in value_spans_after(document, label):
        quantity = next(find_quantities(document.text, span.start, span.end), None)
        if quantity is None:
            continue
        between = document.folded[span.start : quantity.start]
        if _CLAUSE_BREAK.search(between) or (target.other_label_pattern and target.other_label_pattern.search(between)):
            continue
        letters_between = len(_LETTER.findall(between))
        confidence = span.confidence - min(0.45, 0.03 * letters_between)
        yield from _candidates_in_field_unit(target, quantity, label, confidence)


def _candidates_before_label(
    document: DocumentText, target: ExtractionTarget, label: TextSpan
) -> Iterator[ValueCandidate]:
    """A quantity with its unit right before the label: `60V Vds`."""
    line = document.line_at(label.start)
    quantities = list(find_quantities(document.text, max(line.start, label.start - _AHEAD_CHARACTERS), label.start))
    if quantities and quantities[-1].unit and not document.text[quantities[-1].end : label.start].strip():
        yield from _candidates_in_field_unit(target, quantities[-1], label, 0.96)


def _candidates_in_field_unit(
    target: ExtractionTarget, quantity: NumberSpan, label: TextSpan, confidence: float
) -> Iterator[ValueCandidate]:
    """The quantity in the field's unit; a number without a unit counts less where the field has one."""
    unit = target.field.unit
    if unit and not quantity.unit and _is_duration_field(target):
        return
    if unit and not quantity.unit:
        confidence -= 0.25
    if quantity.unit and not unit:
        confidence -= 0.1
    value = (
        convert_to_double(quantity.number, quantity.unit, unit) if quantity.unit and unit else float(quantity.number)
    )
    if value is None:
        return
    if is_rating_field(target.field):
        value = abs(value)
    start, end = min(quantity.start, label.start), max(quantity.end, label.end)
    yield ValueCandidate(value=value, confidence=confidence, start=start, end=end)


def _is_duration_field(target: ExtractionTarget) -> bool:
    """Whether sentences give the field as a duration beside words of its concept."""
    return target.concept is not None and target.concept.adjacent_pattern is not None


def is_rating_field(field: SchemaField) -> bool:
    """Whether the field is an upper limit without a sign: -40 V is a rating of 40 V."""
    if field.unit.startswith("deg") or field.unit == "K":
        return False
    return field.bare is not BareValueMatch.EXACTLY or not _RATING_WORDS.isdisjoint(
        words_of_phrase(f"{field.description} {field.label}")
    )
