"""Words for replies: labels within sentences, lists of words, and escaped text."""

import re
from collections.abc import Sequence
from typing import Final

from agent.limits import NAMED_VALUES
from agent.translation.languages import is_reply_in_english
from agent.translation.local_wording import get_wording
from agent.translation.message_catalogues import join_with, translate_message, translate_plural
from storage.search.ids import FieldName
from storage.search.schema import Schema

_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_BREAKABLE_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")  # the others keep a number and its unit on one line
_LINE_MARK = re.compile(r"^(?:#{1,6}\s+|[-*+•>]\s+(?!\d))+")  # "> 5 V" and "- 40 °C" are values
_MAX_QUOTED_CHARACTERS: Final = 400
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_ABBREVIATIONS: Final = {"vat": "VAT", "excl": "excl.", "incl": "incl."}
_ABBREVIATION = re.compile(r"\b(?:vat|excl|incl)\b(?!\.)", re.IGNORECASE)
_LEADER = re.compile(r"\s*(?:\.{3,}|(?:\. ){3,}|…{2,}|_{3,})\s*")  # between a label and its value
_LABELLED_LINE = re.compile(r"(?P<label>[^\W\d][^:|*.!?]{0,39}): (?P<value>\S.*)")
_MIN_LABELLED_LINES: Final = 3  # of a row of a table
_MAX_LABEL_CHARACTERS: Final = 40  # of the first of two cells
_CODE = re.compile(r"\b(?=[\w./-]*\d)\w+(?:[-./]\w+)+")  # "TCK-9999", "7.3.0"
_OWN_PLURALS: Final = frozenset("species series news".split())


def label_of_field(field_name: FieldName, schema: Schema) -> str:
    field = schema.by_name.get(field_name)
    if field is None:
        return field_name
    return format_label(field.label)


def format_label(label: str) -> str:
    """Returns the label for use within a sentence: "notice period" for "Notice Period", but "CAS number" as it is."""
    if not is_reply_in_english():
        return lowercase_label(label)
    return spell_out_label(label.lower() if label.istitle() else lowercase_label(label))


def spell_out_label(label: str) -> str:
    """Returns an English label as people write it: "total excl. VAT", "tenant" for "tenant(s)"."""
    return _ABBREVIATION.sub(lambda match: _ABBREVIATIONS[match[0].lower()], label.replace("(s)", ""))


def lowercase_label(label: str) -> str:
    """Returns the label for use within a sentence: "notice period", but "CAS number" as it is.

    In languages whose nouns have capitals it stays as it is.
    """
    return label[:1].lower() + label[1:] if not get_wording().capitalize_nouns and label[1:].islower() else label


def lowercase_words(label: str) -> str:
    """Returns the label in lower case in an English sentence; in other languages like `lowercase_label`."""
    return label.lower() if is_reply_in_english() else lowercase_label(label)


def spell_as_asked(word: str, question: str) -> str:
    """Returns the folded word as the question writes it: "Ludmila" for "ludmila", "TCK-9999" for a part of this."""
    written = re.search(rf"\b{re.escape(word)}\b", question, re.IGNORECASE)
    if written is None:
        return word
    code = next((code for code in _CODE.finditer(question) if code.start() <= written.start() < code.end()), None)
    return written[0] if code is None else code[0]


def capitalize_words(words: str) -> str:
    """Returns words for the beginning of a title. In English only the first letter stays a capital."""
    return words.capitalize() if is_reply_in_english() else words[:1].upper() + words[1:]


def join_words(words: Sequence[str]) -> str:
    """Joins the words: "a", "a and b", "a, b and c"."""
    return join_with(translate_message(" and "), [*filter(None, (", ".join(words[:-1]), *words[-1:]))])


def join_all(parts: Sequence[str]) -> str:
    """ "a and b and c"."""
    return join_with(translate_message(" and "), parts)


def join_alternatives(parts: Sequence[str]) -> str:
    """ "a or b or c"."""
    return join_with(translate_message(" or "), parts)


def quote_alternatives(words: Sequence[str]) -> str:
    """ "“rim” or “tyre” or 5 other words": all of them if they are few."""
    quoted = [f"“{word}”" for word in words]
    left = len(quoted) - NAMED_VALUES
    if left > 1:
        more = translate_plural("{count} other word", "{count} other words", left, count=str(left))
        quoted = [*quoted[:NAMED_VALUES], more]
    return join_alternatives(quoted)


def join_by_colon(label: str, text: str) -> str:
    """ "label: text", with the blank before the colon that the language has."""
    return f"{label}{get_wording().colon} {text}"


def clean_quotation(text: str) -> str:
    """Returns a quoted line without the marks of Markdown: headings, bullets, emphasis, code, and bars of tables."""
    if (row := _join_labelled_lines(text)) is not None:
        return row
    line = _LINE_MARK.sub("", text.strip())
    line = _LEADER.sub(": ", line).removesuffix(": ").replace(":: ", ": ")
    if line.count("|") > 1 or (line.count("|") == 1 and " | " in line):
        cells = [cell.strip() for cell in line.strip("|").split("|") if cell.strip(" :-")]
        is_pair = len(cells) == 2 and len(cells[0]) <= _MAX_LABEL_CHARACTERS
        line = f"{cells[0].rstrip(':')}: {cells[1]}" if is_pair else " · ".join(cells)
    return _EMPHASIS.sub(r"\2", line)


def _join_labelled_lines(text: str) -> str | None:
    """ "title: La Traviata · sold: 339" of the lines of a row, without its id; None: the text is something else."""
    pairs = [_LABELLED_LINE.fullmatch(line.strip()) for line in text.strip().splitlines()]
    if len(pairs) < _MIN_LABELLED_LINES or not all(pairs):
        return None
    shown = [(pair["label"].replace("_", " "), pair["value"]) for pair in pairs if pair is not None]
    return " · ".join(f"{label}: {value}" for label, value in shown if label.casefold() not in ("id", "doc id"))


def show_quotation(text: str, *, is_code: bool) -> str:
    """Returns the text of a quotation as a reply has it: a line of code as it stands, else without marks."""
    return text.strip() if is_code else clean_quotation(text)


def format_quotation(text: str, max_characters: int | None = _MAX_QUOTED_CHARACTERS, *, is_code: bool = False) -> str:
    """Returns the beginning of a quoted line as Markdown, without the marks of its own; those of code are no marks."""
    return escape_markdown(show_quotation(text, is_code=is_code)[:max_characters])


def escape_markdown(text: str) -> str:
    """Escapes data for Markdown: a backslash before every special character, a blank for other white space."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", _BREAKABLE_BLANKS.sub(" ", text).strip())


def singular_of(label: str) -> str:
    """Returns the English singular of a plural in -s: "party" of "parties". Other words stay as they are."""
    last_word = label.rpartition(" ")[2].lower()
    if last_word in _OWN_PLURALS or not last_word.endswith("s") or last_word.endswith(("ss", "us", "is")):
        return label
    if last_word.endswith("ies"):
        return f"{label[:-3]}y"
    return label[:-2] if last_word.endswith(("sses", "xes", "ches", "shes")) else label[:-1]
