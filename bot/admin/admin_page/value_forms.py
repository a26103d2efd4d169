"""A value as an admin types it: what stands in the form, and how it is read."""

from dataclasses import dataclass
from typing import Final, assert_never

from bot.errors import CorrectionRefused
from storage.search.analyser import fold_text
from storage.search.documents import FieldValue
from storage.search.numbers import to_json_number
from storage.search.schema import FieldType, SchemaField

MAX_TYPED_CHARACTERS: Final = 4_000
_MAX_MEMBERS: Final = 500
_MAX_OFFERED_VALUES: Final = 200
_NOUNS: Final = {
    FieldType.NUMBER: "a number",
    FieldType.MONEY: "an amount",
    FieldType.DATE: "a day such as 2024-05-31",
    FieldType.FLAG: "yes or no",
    FieldType.CATEGORY: "a value",
    FieldType.TEXT: "a text",
    FieldType.LIST: "a list",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueForm:
    """`kind` is the type of the field; `text` what the form begins with, a line for each member of a list. `offered`:
    values that the field is known to have. `version` tells two states of the value apart.
    """

    field: str
    label: str
    kind: str
    text: str
    unit: str
    offered: tuple[str, ...]
    version: str


def form_for_value(field: SchemaField, value: FieldValue | None, version: str) -> ValueForm | None:
    """None for a field whose values are not typed by hand."""
    from storage.ingest.extract.value_corrections import is_correctable

    if not is_correctable(field.type):
        return None
    return ValueForm(
        field=field.name,
        label=field.label,
        kind=field.type.value,
        text="" if value is None else typed_text_of(value),
        unit=field.currency or field.unit,
        offered=tuple(field.values)[:_MAX_OFFERED_VALUES],
        version=version,
    )


def typed_text_of(value: FieldValue) -> str:
    """Returns the value as `parse_typed_value` reads it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(to_json_number(float(value)))
        case tuple():
            return "\n".join(map(str, value))
        case str():
            return value
        case _:
            assert_never(value)


def parse_typed_value(text: str, field: SchemaField) -> tuple[FieldValue, tuple[str, ...]]:
    """Returns the value in the type of the field, and for each of its members how it was typed. Raises
    `CorrectionRefused`.
    """
    from storage.ingest.schemas.values import type_values

    typed = text.strip()
    if not typed:
        raise CorrectionRefused(f"type a value for {field.label}, or choose that it has none")
    if len(typed) > MAX_TYPED_CHARACTERS:
        raise CorrectionRefused(f"a value has at most {MAX_TYPED_CHARACTERS:,} characters")
    lines = tuple(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    if len(lines) > _MAX_MEMBERS:
        raise CorrectionRefused(f"a list has at most {_MAX_MEMBERS} members")
    if field.type is FieldType.LIST:
        return tuple(_known_spelling_of(line, field) for line in lines), lines
    if field.type in (FieldType.CATEGORY, FieldType.TEXT):  # every text is one, "none" too
        return _known_spelling_of(typed, field), (typed,)
    value = type_values({field.name: typed}, {field.name: field}, {}).values.get(field.name)
    if value is None:
        raise CorrectionRefused(f"“{typed[:60]}” is not {_NOUNS.get(field.type, 'a value')} for {field.label}")
    return value, (typed,)


def _known_spelling_of(text: str, field: SchemaField) -> str:
    """Returns the spelling of the schema, if it lists the value."""
    folded = fold_text(text)
    return next((value for value in field.values if fold_text(value) == folded), text)
