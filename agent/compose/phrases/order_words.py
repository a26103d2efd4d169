"""Says which documents come first: "the highest price", "by “Acquired on”, latest first"."""

from typing import Final

from agent.compose.phrases.english_qualifiers import value_noun_of
from agent.compose.phrases.label_grammar import quote_label
from agent.compose.phrases.words import escape_markdown, lowercase_label
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import mark_message, translate_message
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


def describe_order(field: SchemaField, *, descending: bool, is_single: bool = False) -> str:
    """Names the end of the field that comes first: "highest price first", "latest date first"; "the highest price"."""
    if is_reply_in_english() and not is_noun_label(field):
        return order_by_quoted_label(field, descending=descending, is_single=is_single)
    match field.type, descending:
        case ((FieldType.MONEY | FieldType.NUMBER), True):
            message = mark_message("the highest {label}") if is_single else mark_message("highest {label} first")
        case ((FieldType.MONEY | FieldType.NUMBER), False):
            message = mark_message("the lowest {label}") if is_single else mark_message("lowest {label} first")
        case FieldType.DATE, True:
            message = mark_message("the latest {label}") if is_single else mark_message("latest {label} first")
        case FieldType.DATE, False:
            message = mark_message("the earliest {label}") if is_single else mark_message("earliest {label} first")
        case _, True:
            message = mark_message("the last {label}") if is_single else mark_message("last {label} first")
        case _:
            message = mark_message("the first {label}") if is_single else mark_message("first {label} first")
    return translate_message(message, label=escape_markdown(lowercase_label(field.label)))


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
