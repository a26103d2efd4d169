"""Reads the fields that have labels: the value of each from the labelled lines of a document, else from a sentence
that names the label.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.document_kinds import kind_texts_in
from storage.ingest.extract.labels.forms.heading_parts import KIND_LABEL
from storage.ingest.extract.labels.labelled_texts import LabelForm, LabelledText, label_key_of
from storage.ingest.extract.labels.plain_values import plain_value_of
from storage.ingest.extract.labels.prose_values import ProsePattern, find_prose_values
from storage.ingest.extract.labels.recurring_labels import FIRST_COUNTS
from storage.ingest.extract.labels.value_members import members_of
from storage.ingest.schemas.literals import NotationStyle, is_missing_value
from storage.ingest.schemas.values import type_values
from storage.search.documents import FieldValue
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_CONFIDENCE_BY_FORM = {
    LabelForm.COLON: 0.95,
    LabelForm.TABLE: 0.95,
    LabelForm.LEADER: 0.93,
    LabelForm.DASH: 0.9,
    LabelForm.PLAIN: 0.8,
    LabelForm.BLOCK: 0.85,
    LabelForm.LETTER: 0.8,
    LabelForm.HEADING: 0.85,
}
_REDUCED_PENALTY = 0.05  # for a value with words around it
_DISPUTED_CONFIDENCE = 0.6  # of the first value of a label that has several in a document
_OTHER_CONFIDENCE = 0.4  # of the others
_COUNT_WITH_NOUN = re.compile(r"(?P<number>\d{1,6})\s+[^\W\d_]{3,20}")
CandidatesOfFields = dict[FieldName, list[ValueCandidate]]


class LabelledReaders:
    """The readers of all fields of a schema that have labels."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._fields = [field for field in schema.fields if field.labels]
        self._keys = {field.name: frozenset(map(label_key_of, field.labels)) for field in self._fields}
        self._prose_patterns = {
            field.name: pattern for field in self._fields if (pattern := ProsePattern.for_field(field)) is not None
        }

    @property
    def field_names(self) -> frozenset[FieldName]:
        """The fields that are read here, with the currency fields of their amounts."""
        currencies = {field.currency_field for field in self._fields if field.currency_field}
        return frozenset({*self._keys, *currencies})

    def read_document(self, document: DocumentText, texts: Sequence[LabelledText]) -> CandidatesOfFields:
        """Returns the candidates of each field that the document gives, most confident first. `texts`: its labels."""
        found = CandidatesOfFields()
        if not self._fields:
            return found
        for field in self._fields:
            own = [labelled for labelled in texts if labelled.key in self._keys[field.name]]
            if KIND_LABEL in field.labels:
                own = [*kind_texts_in(texts, field.values), *own]
            if field.type is FieldType.LIST:
                found[field.name] = list(_member_candidates(own))
            else:
                self._add_scalar(document, field, own, found)
        return {name: candidates for name, candidates in found.items() if candidates}

    def _add_scalar(
        self, document: DocumentText, field: SchemaField, own: Sequence[LabelledText], found: CandidatesOfFields
    ) -> None:
        readings = list(self._labelled_readings(field, own))
        if not own and field.name in self._prose_patterns:
            readings = list(self._prose_readings(document, field))
        distinct = dict[str, tuple[Mapping[FieldName, FieldValue], ValueCandidate]]()
        for values, candidate in readings:
            distinct.setdefault(repr(candidate.value), (values, candidate))
        first_counts = not self._keys[field.name].isdisjoint(FIRST_COUNTS)
        for rank, (values, candidate) in enumerate(distinct.values()):
            confidence = candidate.confidence
            if len(distinct) > 1 and not (first_counts and rank == 0):
                confidence = min(confidence, _OTHER_CONFIDENCE if rank else _DISPUTED_CONFIDENCE)
            for name, value in values.items():
                shown = ValueCandidate(value=value, confidence=confidence, start=candidate.start, end=candidate.end)
                found.setdefault(name, []).append(shown)

    def _labelled_readings(
        self, field: SchemaField, own: Sequence[LabelledText]
    ) -> Iterator[tuple[Mapping[FieldName, FieldValue], ValueCandidate]]:
        for labelled in own:
            plain = plain_value_of(labelled.text)
            if is_missing_value(plain) or (labelled.label == KIND_LABEL and not _is_known_kind(field, plain)):
                continue
            confidence = _CONFIDENCE_BY_FORM[labelled.form] - _REDUCED_PENALTY * (plain not in labelled.text)
            if values := self._typed_values(field, plain):
                value = values[field.name]
                yield values, ValueCandidate(value=value, confidence=confidence, start=labelled.start, end=labelled.end)

    def _prose_readings(
        self, document: DocumentText, field: SchemaField
    ) -> Iterator[tuple[Mapping[FieldName, FieldValue], ValueCandidate]]:
        for written in find_prose_values(document, self._prose_patterns[field.name]):
            for text, end in written.possible_texts:
                if values := self._typed_values(field, plain_value_of(text), needs_unit=True):
                    value = values[field.name]
                    yield (
                        values,
                        ValueCandidate(value=value, confidence=written.confidence, start=written.start, end=end),
                    )
                    break

    def _typed_values(
        self, field: SchemaField, plain: str, *, needs_unit: bool = False
    ) -> Mapping[FieldName, FieldValue]:
        """Returns the value in the field's type, with its currency in the currency field; empty if it does not fit."""
        counted = _COUNT_WITH_NOUN.fullmatch(plain) if field.type is FieldType.NUMBER and not field.unit else None
        text = counted["number"] if counted else plain
        if needs_unit and (field.unit or field.type is FieldType.MONEY) and text.replace(",", "").isdigit():
            return {}
        style = NotationStyle(day_first=not field.month_first)
        typed = type_values({field.name: text}, self._schema.by_name, {field.name: style})
        return typed.values if field.name in typed.values else {}


def _is_known_kind(field: SchemaField, text: str) -> bool:
    """Whether a kind is one of those that recur, where the field lists them."""
    return not field.values or text.casefold() in {value.casefold() for value in field.values}


def _member_candidates(own: Sequence[LabelledText]) -> Iterator[ValueCandidate]:
    for labelled in own:
        for member in labelled.items or members_of(labelled.text):
            if not is_missing_value(member):
                confidence = _CONFIDENCE_BY_FORM[labelled.form] - _REDUCED_PENALTY
                yield ValueCandidate(
                    value=cast(FieldValue, (member,)), confidence=confidence, start=labelled.start, end=labelled.end
                )
