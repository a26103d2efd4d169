"""Adds the names of places to their codes in the schemas: "SP" is also found as "Stoke Pell", and "Qty SP" at it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from agent.decomposition import VocabularyLookup
from agent.evidence.coded_places import (
    CODE_PATTERN,
    MAX_CODES,
    MIN_CODES,
    find_places,
    is_code,
    is_of_place,
    match_codes,
)
from storage.search.ids import BucketId
from storage.search.schema import FieldType, Schema, SchemaField

_CODE_IN_LABEL = re.compile(rf"\b{CODE_PATTERN}\b")
_NUMERIC_TYPES = (FieldType.NUMBER, FieldType.MONEY)


def name_coded_places(schemas: Mapping[BucketId, Schema], vocabulary: VocabularyLookup) -> Mapping[BucketId, Schema]:
    """Returns the schemas, with the names of places as synonyms of their codes, in values and in names of columns."""
    coded = {bucket: [*_coded_fields(schema, vocabulary)] for bucket, schema in schemas.items()}
    columns = {bucket: _coded_columns(schema) for bucket, schema in schemas.items()}
    if not any(coded.values()) and not any(columns.values()):
        return schemas
    places = {
        place
        for bucket, schema in schemas.items()
        for place in find_places(schema, partial(vocabulary.field_of, bucket))
    }
    named = dict(schemas)
    for bucket, schema in schemas.items():
        added = {field.name: _with_names_of_values(field, codes, places) for field, codes in coded[bucket]}
        by_code = match_codes([code for _, code in columns[bucket]], places)
        added |= {
            field.name: replace(field, synonyms=(*field.synonyms, *_names_of_column(field, code, by_code[code])))
            for field, code in columns[bucket]
            if code in by_code
        }
        if added:
            named[bucket] = replace(schema, fields=tuple(added.get(field.name, field) for field in schema.fields))
    return named


def _with_names_of_values(field: SchemaField, codes: Sequence[str], places: set[str]) -> SchemaField:
    names = match_codes(codes, places)
    values = {code: (*field.values.get(code, ()), name) for code, name in names.items()}
    return replace(field, values={**field.values, **values}) if values else field


def _coded_fields(schema: Schema, vocabulary: VocabularyLookup) -> Iterator[tuple[SchemaField, Sequence[str]]]:
    """Yields the fields for places whose values are codes, with these."""
    for field in filter(is_of_place, schema.fields):
        known = vocabulary.field_of(schema.bucket, field.name)
        codes = [] if known is None else [value.value for value in known.values[: MAX_CODES + 1]]
        if MIN_CODES <= len(codes) <= MAX_CODES and all(map(is_code, codes)):
            yield field, codes


def _coded_columns(schema: Schema) -> Sequence[tuple[SchemaField, str]]:
    """Returns numbers that only a code in their names tells apart: "Qty WX", "Qty HB"."""
    groups: dict[str, list[tuple[SchemaField, str]]] = defaultdict(list)
    for field in schema.fields:
        codes = _CODE_IN_LABEL.findall(field.label) if field.type in _NUMERIC_TYPES else []
        if len(codes) == 1 and codes[0] in field.label.split():
            groups[" ".join(field.label.replace(codes[0], "").split())].append((field, codes[0]))
    return [pair for label, pairs in groups.items() if label and len(pairs) >= MIN_CODES for pair in pairs]


def _names_of_column(field: SchemaField, code: str, place: str) -> Iterator[str]:
    yield place
    yield field.label.replace(code, place)
