"""Labels for the choices of a reply, no two of which are the same."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.compose.choices.choice_labels import compose_choice
from agent.compose.phrases.values import format_value
from agent.outcome import Choice
from agent.refine.candidates import OfferedChoice
from agent.refine.choice_labels import DocumentLabel
from agent.refine.refinements import SchemasByBucket
from storage.search.ids import LegId
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

# Types of fields that tell documents apart, the one that people go by first.
_TELLING_TYPES: Final = (
    FieldType.DATE,
    FieldType.CATEGORY,
    FieldType.TEXT,
    FieldType.LIST,
    FieldType.MONEY,
    FieldType.NUMBER,
)
_MAX_DETAIL_CHARACTERS: Final = 40


def compose_choices(
    offered: Sequence[OfferedChoice], schemas: SchemasByBucket, questions: Mapping[LegId, str]
) -> tuple[Choice, ...]:
    """Returns the choices in their order. `questions` of the legs tell the choices of several legs apart."""
    choices = [compose_choice(choice, schemas) for choice in offered]
    repeated = _repeated_labels(choices)
    details = {
        position: detail
        for label in repeated
        for position, detail in _tell_documents_apart(
            {position: offered[position] for position, choice in enumerate(choices) if choice.label == label}, schemas
        ).items()
    }
    choices = [
        replace(choice, label=f"{choice.label} · {details[position]}") if position in details else choice
        for position, choice in enumerate(choices)
    ]
    return tuple(_number_labels(_name_legs(choices, questions)))


def _repeated_labels(choices: Sequence[Choice]) -> list[str]:
    return [label for label, count in Counter(choice.label for choice in choices).items() if count > 1]


def _tell_documents_apart(choices: Mapping[int, OfferedChoice], schemas: SchemasByBucket) -> dict[int, str]:
    """Returns a value for each document of the same title that no other has: its date, else another, else its id."""
    labels = {position: choice.label for position, choice in choices.items() if isinstance(choice.label, DocumentLabel)}
    buckets = {label.bucket for label in labels.values()}
    fields = _telling_fields(schemas[next(iter(buckets))]) if len(buckets) == 1 else []
    for field in fields:
        values = {position: label.values.get(field.name) for position, label in labels.items()}
        details = {
            position: format_value(value, field) for position, value in values.items() if value not in (None, ())
        }
        is_short = all(len(detail) <= _MAX_DETAIL_CHARACTERS for detail in details.values())
        if is_short and len(set(details.values())) == len(labels) > 0:
            return details
    return {position: _own_part_of_id(label.doc_id) for position, label in labels.items()}


def _telling_fields(schema: Schema) -> list[SchemaField]:
    fields = [field for field in schema.fields if field.type in _TELLING_TYPES and field.origin is not FieldOrigin.KIND]
    return sorted(fields, key=lambda field: _TELLING_TYPES.index(field.type))


def _own_part_of_id(doc_id: str) -> str:
    """ "V1124" of "calendar.csv#V1124", "m-031" of "2024/m-031.txt"."""
    return doc_id.rpartition("#")[2].rpartition("/")[2].partition(".")[0] or doc_id


def _name_legs(choices: Sequence[Choice], questions: Mapping[LegId, str]) -> list[Choice]:
    """Adds the question of its leg to a label that choices of several legs have."""
    legs: dict[str, set[LegId]] = {}
    for choice in choices:
        legs.setdefault(choice.label, set()).add(choice.leg)
    return [
        replace(choice, label=f"{choice.label}: {questions[choice.leg]}")
        if len(legs[choice.label]) > 1 and questions.get(choice.leg)
        else choice
        for choice in choices
    ]


def _number_labels(choices: Sequence[Choice]) -> list[Choice]:
    """Numbers the choices that still have one label: "Report", "Report (2)"."""
    seen = Counter[str]()
    numbered: list[Choice] = []
    for choice in choices:
        seen[choice.label] += 1
        number = seen[choice.label]
        numbered.append(choice if number == 1 else replace(choice, label=f"{choice.label} ({number})"))
    return numbered
