"""The fields to extract, each with its words as patterns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from storage.ingest.extract.concepts import FieldConcept, concept_named, concept_of
from storage.ingest.extract.field_patterns import any_phrase_pattern, label_phrases_of
from storage.search.ids import FieldName
from storage.search.schema import Schema, SchemaField


@dataclass(frozen=True, kw_only=True)
class ExtractionTarget:
    """A field of a schema with its patterns, which match folded text."""

    field: SchemaField
    concept: FieldConcept | None
    fallback_concept: FieldConcept | None  # where the text has nothing for `concept`
    label_pattern: re.Pattern[str] | None  # of the field and its concept
    own_label_pattern: re.Pattern[str] | None  # of the field alone
    phrases_by_field: Mapping[FieldName, Sequence[str]]  # of all fields of the schema

    @cached_property
    def other_label_pattern(self) -> re.Pattern[str] | None:
        """The words of the schema's other fields.

        It is made when a text names the field: a schema may have thousands, each with the words of all others.
        """
        others = (phrases for name, phrases in self.phrases_by_field.items() if name != self.field.name)
        return any_phrase_pattern({*chain.from_iterable(others)} - {*self.phrases_by_field[self.field.name]})


def targets_of(schema: Schema) -> tuple[ExtractionTarget, ...]:
    phrases_by_field = {field.name: label_phrases_of(field) for field in schema.fields}
    return tuple(_target_for(field, schema, phrases_by_field) for field in schema.fields)


def _target_for(
    field: SchemaField, schema: Schema, phrases_by_field: Mapping[FieldName, Sequence[str]]
) -> ExtractionTarget:
    concept = concept_of(field)
    is_any_notice = concept is not None and concept.name == "notice period" and not _is_about_renewal(schema)
    return ExtractionTarget(
        field=field,
        concept=concept,
        fallback_concept=concept_named("notice of termination") if is_any_notice else None,
        label_pattern=any_phrase_pattern([*label_phrases_of(field), *(concept.labels if concept else ())]),
        own_label_pattern=any_phrase_pattern(label_phrases_of(field)),
        phrases_by_field=phrases_by_field,
    )


def _is_about_renewal(schema: Schema) -> bool:
    """Whether a field is about the renewal of a term: then notices are those against it."""
    return any(
        "renew" in f"{field.label} {field.name} {field.description} {' '.join(field.synonyms)}".casefold()
        for field in schema.fields
    )
