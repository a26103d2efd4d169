"""The fields to extract, each with its words as patterns."""

import re
from dataclasses import dataclass

from storage.ingest.extract.concepts import FieldConcept, concept_named, concept_of
from storage.ingest.extract.field_patterns import any_phrase_pattern, label_phrases_of
from storage.search.schema import Schema, SchemaField


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionTarget:
    """A field of a schema with its patterns, which match folded text."""

    field: SchemaField
    concept: FieldConcept | None
    fallback_concept: FieldConcept | None  # where the text has nothing for `concept`
    label_pattern: re.Pattern[str] | None  # of the field and its concept
    own_label_pattern: re.Pattern[str] | None  # of the field alone
    other_label_pattern: re.Pattern[str] | None  # of the schema's other fields


def targets_of(schema: Schema) -> tuple[ExtractionTarget, ...]:
    return tuple(_target_for(field, schema) for field in schema.fields)


def _target_for(field: SchemaField, schema: Schema) -> ExtractionTarget:
    concept = concept_of(field)
    is_any_notice = concept is not None and concept.name == "notice period" and not _is_about_renewal(schema)
    other_labels = [label for other in schema.fields if other is not field for label in label_phrases_of(other)]
    return ExtractionTarget(
        field=field,
        concept=concept,
        fallback_concept=concept_named("notice of termination") if is_any_notice else None,
        label_pattern=any_phrase_pattern([*label_phrases_of(field), *(concept.labels if concept else ())]),
        own_label_pattern=any_phrase_pattern(label_phrases_of(field)),
        other_label_pattern=any_phrase_pattern(set(other_labels) - set(label_phrases_of(field))),
    )


def _is_about_renewal(schema: Schema) -> bool:
    """Whether a field is about the renewal of a term: then notices are those against it."""
    return any(
        "renew" in f"{field.label} {field.name} {field.description} {' '.join(field.synonyms)}".casefold()
        for field in schema.fields
    )
