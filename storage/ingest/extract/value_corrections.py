"""Puts values that a person has accepted or corrected in the place of what was read from a document."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from storage.ingest.documents.build import digest_of
from storage.search.codec import annotations_to_json
from storage.search.documents import Document, FieldAnnotation, FieldValue
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema

CORRECTED_CONFIDENCE: Final = 1.0
_MIN_EVIDENCE_CHARACTERS: Final = 2  # a single digit or letter stands in any text


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCorrection:
    """The value that a field has; None: it has none. `wordings`: for each member, how the text may have it."""

    value: FieldValue | None
    wordings: tuple[str, ...] = ()


def apply_corrections(document: Document, corrections: Mapping[FieldName, ValueCorrection], schema: Schema) -> Document:
    """Returns the document with the corrected values, each with full confidence and its evidence in the text, if there
    is any. A value that no longer fits the schema does not count.

    The result is the same whether the document was corrected before, so an unchanged document keeps its digest.
    """
    values, annotations = dict(document.values), list(document.annotations)
    for name, correction in corrections.items():
        fitting = _fitting_value(name, correction.value, schema)
        if name not in schema.by_name or (correction.value is not None and fitting is None):
            continue
        values.pop(name, None)
        annotations = [annotation for annotation in annotations if annotation.field != name]
        if fitting is not None:
            values[name] = fitting
            annotations += _annotations_of(document, name, fitting, correction.wordings)
    return _with_content(document, values, tuple(annotations), schema)


def restore_reading(
    document: Document,
    field: FieldName,
    value: FieldValue | None,
    annotations: Sequence[FieldAnnotation],
    schema: Schema,
) -> Document:
    """Returns the document with what was read for the field before it was corrected."""
    values = {name: other for name, other in document.values.items() if name != field}
    fitting = _fitting_value(field, value, schema)
    if fitting is not None:
        values[field] = fitting
    others = [annotation for annotation in document.annotations if annotation.field != field]
    return _with_content(document, values, (*others, *annotations), schema)


def _fitting_value(field: FieldName, value: FieldValue | None, schema: Schema) -> FieldValue | None:
    return None if value is None else select_fitting_values({field: value}, schema).get(field)


def annotations_of_field(document: Document, field: FieldName) -> tuple[FieldAnnotation, ...]:
    return tuple(annotation for annotation in document.annotations if annotation.field == field)


def reading_version_of(document: Document, field: FieldName) -> str:
    """Tells two states of a field of a document apart."""
    value = document.values.get(field)
    state = [value, annotations_to_json(annotations_of_field(document, field))]
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:32]


def text_digest_of(document: Document) -> str:
    return hashlib.sha256(document.text.encode(errors="surrogatepass")).hexdigest()


def _annotations_of(
    document: Document, field: FieldName, value: FieldValue, wordings: Sequence[str]
) -> Iterator[FieldAnnotation]:
    spans = {
        _key_of(annotation.value): (annotation.start, annotation.end)
        for annotation in reversed(annotations_of_field(document, field))
        if annotation.start is not None
    }
    members = cast(tuple[str, ...], value) if isinstance(value, tuple) else None
    for number, member in enumerate((value,) if members is None else ((text,) for text in members)):
        wording = wordings[number] if number < len(wordings) else ""
        start, end = spans.get(_key_of(member)) or _find_wording(document.text, wording)
        yield FieldAnnotation(field=field, value=member, confidence=CORRECTED_CONFIDENCE, start=start, end=end)


def _key_of(value: FieldValue) -> str:
    return json.dumps(value, sort_keys=True)


def _find_wording(text: str, wording: str) -> tuple[int | None, int | None]:
    start = text.find(wording) if len(wording) >= _MIN_EVIDENCE_CHARACTERS else -1
    return (None, None) if start < 0 else (start, start + len(wording))


def _with_content(
    document: Document,
    values: Mapping[FieldName, FieldValue],
    annotations: Sequence[FieldAnnotation],
    schema: Schema,
) -> Document:
    """Returns the document with its annotations in the order of the schema, in which they are read."""
    order = {field.name: number for number, field in enumerate(schema.fields)}
    in_order = tuple(sorted(annotations, key=lambda annotation: order.get(annotation.field, len(order))))
    changed = replace(document, values=dict(values), annotations=in_order)
    return document if changed == document else replace(changed, digest=digest_of(changed))


def members_of(value: FieldValue) -> tuple[str, ...]:
    """Returns the members of a list, or the value itself, as text."""
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def is_correctable(field_type: FieldType) -> bool:
    """Whether a person can type the value: rows have too many cells."""
    return field_type is not FieldType.ROWS
