"""Finds the field of whole documents that a model names, to order, group or show them by."""

from collections.abc import Iterator, Sequence

from agent.errors import UnusableToolCall
from storage.search.analyser import fold_text
from storage.search.schema import FieldType, Schema, SchemaField

_MAX_SHOWN_FIELDS = 60
_MAX_NAME_CHARACTERS = 60


def find_document_field(name: str, schema: Schema) -> SchemaField:
    """Returns the field by its name, else by its label or a synonym.

    Raises `UnusableToolCall` with the names of the fields for other names, also those of columns of rows.
    """
    field = match_field(name, schema.fields)
    if field is None:
        raise UnusableToolCall(
            f"Documents of {schema.bucket!r} have no field {shorten_name(name.strip())}. "
            f"Their fields: {list_fields(schema)}."
        )
    return field


def match_field(name: str, fields: Sequence[SchemaField]) -> SchemaField | None:
    """Returns the only field of that name, else of that label, else with that synonym; None if there is none."""
    written = name.strip()
    folded = _fold_name(written)
    for names_of in (_exact_names, _labels, _synonyms):
        found = [field for field in fields if {written, folded} & set(names_of(field))]
        if len(found) == 1:
            return found[0]
    return None


def list_fields(schema: Schema) -> str:
    """Returns the names of the fields with their types: "vendor (category), total (money), items (rows)"."""
    shown = [f"{field.name} ({field.type.value})" for field in schema.fields]
    rest = len(shown) - _MAX_SHOWN_FIELDS
    return ", ".join(shown[:_MAX_SHOWN_FIELDS]) + (f" and {rest} more" if rest > 0 else "")


def shorten_name(name: str) -> str:
    """Returns the name in quotation marks, without its end if it is long: it is shown to the model again."""
    return repr(name if len(name) <= _MAX_NAME_CHARACTERS else name[:_MAX_NAME_CHARACTERS] + "…")


def is_ordered(field: SchemaField) -> bool:
    """Whether documents have an order by the field."""
    return field.type not in (FieldType.LIST, FieldType.ROWS)


def _exact_names(field: SchemaField) -> Iterator[str]:
    yield field.name


def _labels(field: SchemaField) -> Iterator[str]:
    yield from (_fold_name(field.name), _fold_name(field.label))


def _synonyms(field: SchemaField) -> Iterator[str]:
    yield from map(_fold_name, field.plain_synonyms)


def _fold_name(name: str) -> str:
    return fold_text(name.replace("_", " ").replace("-", " "))
