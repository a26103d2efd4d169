"""What to look for: a field with its words as patterns."""

import re
from dataclasses import dataclass

from storage.ingest.extract.concepts import Concept, concept_of
from storage.ingest.extract.wording import any_of, labels_of
from storage.search.schema import Field, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A field of a schema, made ready. Patterns match lowered text."""

    field: Field
    concept: Concept | None
    labels: re.Pattern[str] | None  # the field's own and its concept's
    own: re.Pattern[str] | None  # the field's own
    others: re.Pattern[str] | None  # of the fields beside it


def targets_of(schema: Schema) -> tuple[Target, ...]:
    return tuple(_target(one, schema) for one in schema.fields)


def _target(field: Field, schema: Schema) -> Target:
    concept = concept_of(field)
    others = [label for one in schema.fields if one is not field for label in labels_of(one)]
    return Target(
        field=field,
        concept=concept,
        labels=any_of([*labels_of(field), *(concept.labels if concept else ())]),
        own=any_of(labels_of(field)),
        others=any_of(set(others) - set(labels_of(field))),
    )
