"""Words for replies: labels within sentences, lists of words, and escaped text."""

import re
from collections.abc import Sequence
from typing import Final

from agent.translation.languages import is_reply_in_english
from agent.translation.message_catalogues import translate_message
from storage.search.ids import FieldName
from storage.search.schema import Schema

_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_LINE_MARK = re.compile(r"^(?:#{1,6}\s+|[-*+•>]\s+(?!\d))+")  # "> 5 V" and "- 40 °C" are values
_MAX_QUOTED_CHARACTERS: Final = 400
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_OWN_PLURALS: Final = frozenset("species series news".split())


def label_of_field(field_name: FieldName, schema: Schema) -> str:
    field = schema.by_name.get(field_name)
    if field is None:
        return field_name
    return format_label(field.label)


def format_label(label: str) -> str:
    """Returns the label for use within a sentence: "notice period" for "Notice Period", but "CAS number" as it is.

    In other languages than English it stays as it is: nouns may need their capitals.
    """
    if not is_reply_in_english():
        return label
    return label.lower() if label.istitle() else lowercase_label(label)


def lowercase_label(label: str) -> str:
    """Returns the label for use within an English sentence: "notice period", but "CAS number" as it is."""
    return label[:1].lower() + label[1:] if is_reply_in_english() and label[1:].islower() else label


def lowercase_words(label: str) -> str:
    """Returns the label in lower case in an English sentence, as it is in other languages."""
    return label.lower() if is_reply_in_english() else label


def capitalize_words(words: str) -> str:
    """Returns words for the beginning of a title. In English only the first letter stays a capital."""
    return words.capitalize() if is_reply_in_english() else words[:1].upper() + words[1:]


def join_words(words: Sequence[str]) -> str:
    """Joins the words: "a", "a and b", "a, b and c"."""
    return translate_message(" and ").join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def join_all(parts: Sequence[str]) -> str:
    """ "a and b and c"."""
    return translate_message(" and ").join(parts)


def join_alternatives(parts: Sequence[str]) -> str:
    """ "a or b or c"."""
    return translate_message(" or ").join(parts)


def clean_quotation(text: str) -> str:
    """Returns a quoted line without the marks of Markdown: headings, bullets, emphasis, code, and bars of tables."""
    line = _LINE_MARK.sub("", text.strip())
    if line.count("|") > 1 or (line.count("|") == 1 and " | " in line):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        line = " · ".join(cell for cell in cells if cell.strip(":-"))
    return _EMPHASIS.sub(r"\2", line)


def format_quotation(text: str, max_characters: int | None = _MAX_QUOTED_CHARACTERS) -> str:
    """Returns the beginning of a quoted line as Markdown, without the marks of its own."""
    return escape_markdown(clean_quotation(text)[:max_characters])


def escape_markdown(text: str) -> str:
    """Escapes data for Markdown: a backslash before every special character, spaces for line breaks."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def singular_of(label: str) -> str:
    """Returns the English singular of a plural in -s: "party" of "parties". Other words stay as they are."""
    last_word = label.rpartition(" ")[2].lower()
    if last_word in _OWN_PLURALS or not last_word.endswith("s") or last_word.endswith(("ss", "us", "is")):
        return label
    if last_word.endswith("ies"):
        return f"{label[:-3]}y"
    return label[:-2] if last_word.endswith(("sses", "xes", "ches", "shes")) else label[:-1]
