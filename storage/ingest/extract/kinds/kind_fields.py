"""Adds the kinds to an inferred schema: the field `kind`, and for each other field the kinds that have it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from storage.ingest.extract.kinds.kind_inference import InferredKinds
from storage.search.ids import FieldName
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

_ITEM = "document"  # what one of a folder of several kinds is called
_KIND_NAMES = ("kind", "kind of document", "document kind")
_KIND_SYNONYMS = ("kind of document", "type of document", "document type", "sort of document", "document kind")


def add_kinds(schema: Schema, inferred: InferredKinds, kinds_by_field: Mapping[FieldName, Collection[str]]) -> Schema:
    """Returns the schema with the field of the kinds first. A field without kinds in `kinds_by_field` is one of all."""
    if not inferred.synonyms_by_kind:
        return schema
    taken = {word for field in schema.fields for word in (field.name, field.label.casefold(), *field.synonyms)}
    name = next((name for name in _KIND_NAMES if name not in schema.by_name), _KIND_NAMES[-1])
    kind_field = SchemaField(
        name=FieldName(name),
        type=FieldType.CATEGORY,
        title=name.capitalize(),
        synonyms=tuple(word for word in _KIND_SYNONYMS if word not in taken and word != name),
        values=inferred.synonyms_by_kind,
        origin=FieldOrigin.KIND,
        facet=True,
    )
    owners = {field.currency_field: field.name for field in schema.fields if field.currency_field}
    fields = tuple(
        replace(field, kinds=_ordered_kinds(kinds_by_field.get(owners.get(field.name, field.name), ()), inferred))
        for field in schema.fields
    )
    return replace(schema, fields=(kind_field, *fields), item=schema.item or _ITEM)


def _ordered_kinds(kinds: Collection[str], inferred: InferredKinds) -> tuple[str, ...]:
    return tuple(kind for kind in inferred.synonyms_by_kind if kind in kinds)


def kinds_of_columns(
    columns_by_table: Mapping[str, Iterable[FieldName]],
    other_keys: Collection[FieldName],
    inferred: InferredKinds,
    kinds_in_texts: Mapping[FieldName, Collection[str] | None],
) -> dict[FieldName, frozenset[str]]:
    """Returns the kinds of the columns: those of the tables that have them, and of the texts with a label of that name.

    A column is one of all kinds where a table without a kind has it, other metadata, or the texts of all kinds (None).
    """
    kinds = dict[FieldName, set[str]]()
    shared = {*other_keys, *(name for name, in_texts in kinds_in_texts.items() if in_texts is None)}
    for table, names in columns_by_table.items():
        kind = inferred.kind_by_table.get(table)
        for name in names:
            if kind is None:
                shared.add(name)
            else:
                kinds.setdefault(name, set()).update([kind, *(kinds_in_texts.get(name) or ())])
    return {name: frozenset(own) for name, own in kinds.items() if name not in shared}
