"""A field's own words as patterns for folded text."""

import re
from collections.abc import Iterable
from functools import lru_cache

from storage.ingest.extract.document_text import fold_characters
from storage.search.schema import SchemaField

_SYMBOL = re.compile(r"[a-z]{1,2}[a-z0-9]{1,4}")
_WORD = re.compile(r"[a-z0-9]+")
_MAX_SYMBOL_CHARACTERS = 5


def words_of_phrase(phrase: str) -> tuple[str, ...]:
    """`Boiling point (°C)`: boiling, point, c."""
    return tuple(_WORD.findall(fold_characters(phrase)))


def label_phrases_of(field: SchemaField) -> tuple[str, ...]:
    """What a text may call the field, each as words with blanks between: title, name without the unit, synonyms."""
    name = field.name.replace("_", " ")
    phrases = (field.title, name, _without_unit(name, field.unit), *field.plain_synonyms)
    return tuple(dict.fromkeys(" ".join(words_of_phrase(phrase)) for phrase in phrases if words_of_phrase(phrase)))


def _without_unit(name: str, unit: str) -> str:
    head, _, tail = name.rpartition(" ")
    return head if head and unit and len(tail) <= max(len(unit), 4) else ""


@lru_cache(maxsize=4096)
def phrase_pattern_of(phrase: str) -> str:
    """The phrase as a regular expression: any blanks, dashes or points between its words, a plural, and around the
    letters of a symbol brackets (`vceo` finds `V(CEO)`).
    """
    words = words_of_phrase(phrase)
    if len(words) == 1 and _SYMBOL.fullmatch(words[0]) and len(words[0]) <= _MAX_SYMBOL_CHARACTERS:
        head, tail = re.escape(words[0][0]), re.escape(words[0][1:])
        return rf"{head}[(_]?\s?{tail}\)?"
    return r"[\s_\-./&']{1,3}".join(map(re.escape, words)) + "(?:e?s)?"


def any_phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str] | None:
    """Matches whole words of folded text that are one of the phrases, the longest first; None without phrases."""
    patterns = sorted(
        {phrase_pattern_of(phrase) for phrase in phrases if words_of_phrase(phrase)}, key=len, reverse=True
    )
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])") if patterns else None
