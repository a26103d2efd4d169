"""A field's own words, as patterns that find them in lowered text."""

import re
from collections.abc import Iterable
from functools import lru_cache

from storage.ingest.extract.page import lowered
from storage.search.schema import Field

_SYMBOL = re.compile(r"[a-z]{1,2}[a-z0-9]{1,4}")
_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_SYMBOL = 5


def words_of(phrase: str) -> tuple[str, ...]:
    """`Boiling point (°C)`: boiling, point, c."""
    return tuple(_WORD.findall(lowered(phrase)))


def labels_of(field: Field) -> tuple[str, ...]:
    """How a text may call the field, as words set apart by blanks: its title, its name without the unit, synonyms."""
    name = field.name.replace("_", " ")
    phrases = (field.title, name, _without_unit(name, field.unit), *field.synonyms)
    return tuple(dict.fromkeys(" ".join(words_of(phrase)) for phrase in phrases if words_of(phrase)))


def _without_unit(name: str, unit: str) -> str:
    head, _, tail = name.rpartition(" ")
    return head if head and unit and len(tail) <= max(len(unit), 4) else ""


@lru_cache(maxsize=4096)
def pattern_of(phrase: str) -> str:
    """The phrase as a regular expression: any blanks, dashes or points between its words, a plural, and around the
    letters of a symbol brackets (`vceo` finds `V(CEO)`).
    """
    words = words_of(phrase)
    if len(words) == 1 and _SYMBOL.fullmatch(words[0]) and len(words[0]) <= _LONGEST_SYMBOL:
        head, tail = re.escape(words[0][0]), re.escape(words[0][1:])
        return rf"{head}[(_]?\s?{tail}\)?"
    return r"[\s_\-./&']{1,3}".join(map(re.escape, words)) + "(?:e?s)?"


def any_of(phrases: Iterable[str]) -> re.Pattern[str] | None:
    """Whole words of lowered text that are one of the phrases, the longest first; None without phrases."""
    patterns = sorted({pattern_of(one) for one in phrases if words_of(one)}, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])") if patterns else None
