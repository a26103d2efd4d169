"""What the codes of places stand for: "SP" in one table is the "Stoke Pell" of another.

A code has the letters of its place in their order, from the first one. It is only read so where each code fits one
place, and each of these places one code.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PLACE_NOUNS

VocabularyOfField: TypeAlias = Callable[[FieldName], FieldVocabulary | None]
CODE_PATTERN = r"[A-Z]{2,3}"
MIN_CODES, MAX_CODES = 2, 12
_CODE = re.compile(CODE_PATTERN)
_LEADING_CODE = re.compile(rf"({CODE_PATTERN})\s+\S")
_MAX_CODED_VALUES = 100
_MIN_PLACE_LETTERS, _MAX_PLACES = 4, 40
_BASE_NOUNS = frozenset({"base", "based"})  # of people: where they usually work


def is_of_place(field: SchemaField) -> bool:
    """Whether the category says by its name where something is."""
    names_place = not (PLACE_NOUNS | _BASE_NOUNS).isdisjoint(fold_text(field.label).split())
    return field.type is FieldType.CATEGORY and names_place


def find_places(schema: Schema, vocabulary_of: VocabularyOfField) -> Iterator[str]:
    """Yields the names of the places that the documents of a bucket are at."""
    for field in filter(is_of_place, schema.fields):
        known = vocabulary_of(field.name)
        values = () if known is None else known.values
        if MIN_CODES <= len(values) <= _MAX_PLACES:
            yield from (value.value for value in values if _is_place_name(value.value))


def find_leading_codes(schema: Schema, vocabulary_of: VocabularyOfField) -> frozenset[str]:
    """Returns the codes with which values of the bucket begin."""
    return frozenset(
        leading_code_of(item.value)
        for field in schema.fields
        if field.type is FieldType.CATEGORY and (known := vocabulary_of(field.name)) is not None
        for item in known.values[:_MAX_CODED_VALUES]
    ) - {""}


def is_code(value: str) -> bool:
    return _CODE.fullmatch(value) is not None


def leading_code_of(value: str) -> str:
    """ "SP 9-5.30": returns the code before what else the value says; empty if it begins with none."""
    match = _LEADING_CODE.match(value)
    return "" if match is None else match[1]


def match_codes(codes: Iterable[str], places: Iterable[str]) -> Mapping[str, str]:
    """Returns the place of each code; nothing if a code fits several places, or a place several codes."""
    names = {fold_text(place): place for place in places}
    found = {code: [place for place in names if _abbreviates(code, place)] for code in codes}
    matched = {code: names[fitting[0]] for code, fitting in found.items() if len(fitting) == 1}
    is_clear = len(matched) >= MIN_CODES and len(set(matched.values())) == len(matched)
    return matched if is_clear and all(len(fitting) <= 1 for fitting in found.values()) else {}


def _is_place_name(value: str) -> bool:
    return value[:1].isupper() and not value.isupper() and sum(map(str.isalpha, value)) >= _MIN_PLACE_LETTERS


def _abbreviates(code: str, place: str) -> bool:
    """Whether the folded place has the letters of the code in their order, from its first one."""
    letters = iter(place)
    return place[:1] == code[:1].casefold() and all(letter in letters for letter in code.casefold())
