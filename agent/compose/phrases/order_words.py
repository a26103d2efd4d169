"""Says in English which documents come first: "the highest price", "by “Acquired on”, latest first"."""

from typing import Final

from agent.compose.phrases.english_qualifiers import value_noun_of
from agent.compose.phrases.label_grammar import quote_label
from storage.search.schema import FieldType, SchemaField

# What is great or small, but not high: "the greatest height".
_EXTENTS: Final = frozenset("height length width depth weight mass area distance size diameter volume".split())


def is_noun_label(field: SchemaField) -> bool:
    """Whether a document has what the label names, so that it can be the highest one."""
    return not value_noun_of(field).startswith("“")


def describe_end_of_order(field: SchemaField, *, descending: bool) -> str:
    """ "the highest price", "the latest day for “Acquired on”"."""
    superlative = _superlative_of(field, descending=descending)
    if is_noun_label(field):
        return f"the {superlative} {value_noun_of(field)}"
    kind = "day" if field.type is FieldType.DATE else "value"
    return f"the {superlative} {kind} for {quote_label(field)}"


def order_by_quoted_label(field: SchemaField, *, descending: bool, is_single: bool) -> str:
    """ "by “Acquired on”, latest first"."""
    if is_single:
        return describe_end_of_order(field, descending=descending)
    return f"by {quote_label(field)}, {_superlative_of(field, descending=descending)} first"


def _superlative_of(field: SchemaField, *, descending: bool) -> str:
    if field.type in (FieldType.NUMBER, FieldType.MONEY):
        if descending and value_noun_of(field).rpartition(" ")[2] in _EXTENTS:
            return "greatest"
        return "highest" if descending else "lowest"
    if field.type is FieldType.DATE:
        return "latest" if descending else "earliest"
    return "last" if descending else "first"
