"""States the value of a field of one document: "Notice period of Lease 5: 3 months", "Lease 5 was signed on 3 May"."""

from typing import Final

from agent.compose.phrases.label_grammar import (
    PREPOSITIONS,
    LabelKind,
    parse_label,
    quote_label,
)
from agent.compose.phrases.sentence_patterns import present_verb_of
from agent.compose.phrases.words import format_label, lowercase_label, spell_out_label
from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message
from storage.search.schema import FieldType, SchemaField

_LASTING_PARTICIPLES: Final = frozenset(
    """taught led run managed owned headed supervised chaired registered located based employed insured covered stored
    kept supplied held""".split()
)
_LASTING_ADJECTIVES: Final = frozenset("valid effective available due open".split())


def state_value(field: SchemaField, title: str, value: str) -> str:
    """Returns the answer to a question about the value, without a full stop. `title` and `value` are Markdown."""
    if is_reply_in_english():
        if (sentence := _state_by_verb(field, title, value)) is not None:
            return sentence
        if parse_label(field).kind is LabelKind.QUOTED:
            return f"{title}, {quote_label(field)}: {value}"
        if ":" in title:
            return f"{value} ({format_label(field.label)}), {title}"
    label = field.label[:1].upper() + field.label[1:]
    label = spell_out_label(label) if is_reply_in_english() else label
    return translate_message("{label} of {title}: {value}", label=label, title=title, value=value)


def claim_value(field: SchemaField, title: str, value: str) -> str:
    """Returns the value as a claim for the middle of a sentence: "the owner of Lease 5 is Ada Finch"."""
    label = lowercase_label(field.label)
    if is_reply_in_english():
        if (sentence := _state_by_verb(field, title, value)) is not None:
            return sentence
        label = (
            quote_label(field) if parse_label(field).kind is LabelKind.QUOTED else f"the {format_label(field.label)}"
        )
    return translate_message("{label} of {title} is {value}", label=label, title=title, value=value)


def _state_by_verb(field: SchemaField, title: str, value: str) -> str | None:
    """ "Lease 5 was signed on 3 May", "PLC is taught by Ada Finch"; None: the label is not a verb."""
    grammar = parse_label(field)
    words, first = grammar.words, grammar.words.partition(" ")[0]
    if field.type is FieldType.DATE:
        if (verb := present_verb_of(field)) is not None:
            return f"{title} {verb} on {value}"
        if grammar.kind is LabelKind.OPEN_END:
            return f"{title} {_form_of_be(first)} {words} {value}"
        if grammar.kind is not LabelKind.STATE or words in ("dated",):
            return None
        if words.startswith("that "):
            return f"{title} {words.removeprefix('that ')} on {value}"
        return f"{title} {_form_of_be(words.rpartition(' ')[2])} {words} on {value}"
    if grammar.kind is LabelKind.STATE:
        return f"{title} was {words} in {value}"
    if grammar.kind is LabelKind.ROLE and words == format_label(field.label):
        return (
            f"{title} is {words} {value}" if words in PREPOSITIONS else f"{title} {_form_of_be(first)} {words} {value}"
        )
    return None


def _form_of_be(word: str) -> str:
    return "is" if word in _LASTING_PARTICIPLES | _LASTING_ADJECTIVES else "was"
