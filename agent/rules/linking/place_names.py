"""Finds what the codes of places stand for: "SP" in one table is the "Stoke Pell" of another.

A code has the letters of its place in their order, from the first one. It is only read so where each code fits one
place, and each of these places one code.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent.decomposition import VocabularyLookup
from storage.search.analyser import fold_text
from storage.search.ids import BucketId
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PLACE_NOUNS

_CODE = re.compile(r"[A-Z]{2,3}")
_MIN_CODES, _MAX_CODES = 2, 12
_MIN_PLACE_LETTERS, _MAX_PLACES = 4, 40
_NUMERIC_TYPES = (FieldType.NUMBER, FieldType.MONEY)
_BASE_NOUNS = frozenset({"base", "based"})  # of people: where they usually work


def name_coded_places(schemas: Mapping[BucketId, Schema], vocabulary: VocabularyLookup) -> Mapping[BucketId, Schema]:
    """Returns the schemas, with the names of places as synonyms of their codes, in values and in names of columns."""
    coded = {bucket: [*_coded_fields(schema, vocabulary)] for bucket, schema in schemas.items()}
    columns = {bucket: _coded_columns(schema) for bucket, schema in schemas.items()}
    if not any(coded.values()) and not any(columns.values()):
        return schemas
    places = {place for schema in schemas.values() for place in _places_in(schema, vocabulary)}
    named = dict(schemas)
    for bucket, schema in schemas.items():
        fields = {field.name: field for field in schema.fields}
        for field, codes in coded[bucket]:
            names = _match_codes(codes, places)
            values = {code: (*field.values.get(code, ()), name) for code, name in names.items()}
            fields[field.name] = replace(field, values={**field.values, **values})
        by_code = _match_codes([code for _, code in columns[bucket]], places)
        for field, code in columns[bucket]:
            if code in by_code:
                synonyms = (*field.synonyms, *_names_of_column(field, code, by_code[code]))
                fields[field.name] = replace(field, synonyms=synonyms)
        if fields != {field.name: field for field in schema.fields}:
            named[bucket] = replace(schema, fields=tuple(fields.values()))
    return named


def _coded_fields(schema: Schema, vocabulary: VocabularyLookup) -> Iterator[tuple[SchemaField, Sequence[str]]]:
    """Yields the fields for places whose values are codes, with these."""
    for field in schema.fields:
        if field.type is not FieldType.CATEGORY or not _is_of_place(field):
            continue
        known = vocabulary.field_of(schema.bucket, field.name)
        codes = [] if known is None else [value.value for value in known.values[: _MAX_CODES + 1]]
        if _MIN_CODES <= len(codes) <= _MAX_CODES and all(map(_CODE.fullmatch, codes)):
            yield field, codes


def _coded_columns(schema: Schema) -> Sequence[tuple[SchemaField, str]]:
    """Returns numbers that only a code in their names tells apart: "Qty WX", "Qty HB"."""
    groups: dict[str, list[tuple[SchemaField, str]]] = defaultdict(list)
    for field in schema.fields:
        codes = _CODE.findall(field.label) if field.type in _NUMERIC_TYPES else []
        if len(codes) == 1 and codes[0] in field.label.split():
            groups[" ".join(field.label.replace(codes[0], "").split())].append((field, codes[0]))
    return [pair for label, pairs in groups.items() if label and len(pairs) >= _MIN_CODES for pair in pairs]


def _places_in(schema: Schema, vocabulary: VocabularyLookup) -> Iterator[str]:
    """Yields the folded names of the places that the documents of a bucket are at."""
    for field in schema.fields:
        if field.type is not FieldType.CATEGORY or not _is_of_place(field):
            continue
        known = vocabulary.field_of(schema.bucket, field.name)
        values = () if known is None else known.values
        if _MIN_CODES <= len(values) <= _MAX_PLACES:
            yield from (fold_text(value.value) for value in values if _is_place_name(value.value))


def _is_of_place(field: SchemaField) -> bool:
    return not (PLACE_NOUNS | _BASE_NOUNS).isdisjoint(fold_text(field.label).split())


def _is_place_name(value: str) -> bool:
    return value[:1].isupper() and not value.isupper() and sum(map(str.isalpha, value)) >= _MIN_PLACE_LETTERS


def _match_codes(codes: Iterable[str], places: Iterable[str]) -> Mapping[str, str]:
    """Returns the place of each code; nothing if a code fits several places, or a place several codes."""
    found = {code: [place for place in places if _abbreviates(code, place)] for code in codes}
    matched = {code: fitting[0] for code, fitting in found.items() if len(fitting) == 1}
    is_clear = len(matched) >= _MIN_CODES and len(set(matched.values())) == len(matched)
    return matched if is_clear and all(len(fitting) <= 1 for fitting in found.values()) else {}


def _abbreviates(code: str, place: str) -> bool:
    """Whether the place has the letters of the code in their order, from its first one."""
    letters = iter(place)
    return place[:1] == code[:1].casefold() and all(letter in letters for letter in code.casefold())


def _names_of_column(field: SchemaField, code: str, place: str) -> Iterator[str]:
    yield place
    yield field.label.replace(code, place)
