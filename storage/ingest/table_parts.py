"""Divides a bucket into parts: tables with different columns are read apart from one another, and from texts.

A question is read in the fields of one part, so dates, amounts and names of one table are never sought in another.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from storage.ingest.extract.kinds.kind_phrases import kind_phrase_of_name
from storage.ingest.extract.kinds.kind_reader import ROW_WORD
from storage.ingest.records import RecordOrigin
from storage.ingest.schemas.names import singular_and_plural_of, words_in_name
from storage.ingest.schemas.sheet_names import is_default_sheet_name
from storage.search.bucket_parts import MAX_PARTS, PART_SEPARATOR, is_part, part_of_bucket, parts_among
from storage.search.ids import BucketId, FieldName
from storage.search.index import BucketSize
from storage.search.schema import Schema

_MIN_SHARED_COLUMNS = 0.5  # of all columns of two tables; of fewer, they hold different things
_MIN_KNOWN_COLUMNS = 0.5  # of the columns of a table that are fields of a bucket already: it is read there
_MAX_NAME_CHARACTERS = 60
_NAME_WORD = re.compile(r"[^\W\d_]+")
_UNUSABLE_CHARACTERS = re.compile(r"[/\\\x00-\x1f]+")
_RESERVED_PARTS = frozenset({BucketId("attached/files"), BucketId("web/pages")})


class TableKey(NamedTuple):
    """A table: a file, or a sheet of it."""

    file: str
    sheet: str | None

    @property
    def stem(self) -> str:
        return PurePosixPath(self.file.rpartition(":")[2]).name.partition(".")[0]


def table_key_of(origin: RecordOrigin) -> TableKey:
    return TableKey(origin.file, origin.sheet)


class BucketContents:
    """What a run brings into one bucket: the columns of its tables, and whether there are other documents."""

    def __init__(self) -> None:
        self.columns_by_table: dict[TableKey, set[FieldName]] = {}
        self.other_keys = set[FieldName]()  # the metadata of documents that are not rows
        self.has_other_documents = False

    def add_record(self, origin: RecordOrigin, keys: Iterable[FieldName], *, is_row: bool) -> None:
        if is_row:
            self.columns_by_table.setdefault(table_key_of(origin), set()).update(keys)
        else:
            self.other_keys.update(keys)
            self.has_other_documents = True


@dataclass(slots=True)
class _TableGroup:
    """Tables with the same columns, nearly."""

    columns: set[FieldName]
    tables: list[TableKey] = field(default_factory=list[TableKey])


def assign_tables(
    bucket: BucketId,
    contents: BucketContents,
    existing: Mapping[BucketId, BucketSize],
) -> dict[TableKey, BucketId]:
    """Returns the part of each table that does not belong to the bucket itself.

    A bucket without documents has parts if it gets tables with different columns, or a table and other documents. In a
    bucket with documents, a table stays where its columns are known, else it becomes a part. None becomes one if there
    were more than `MAX_PARTS`.
    """
    groups = _group_tables(contents.columns_by_table)
    parts = parts_among(existing, bucket)
    whole = existing.get(bucket)
    is_new = not parts and (whole is None or not (whole.document_count or whole.schema.fields))
    if is_new and len(groups) + contents.has_other_documents <= 1:
        return {}
    homes = [
        bucket if _knows_columns(contents.other_keys, group) else _home_of_group(group, bucket, parts, existing)
        for group in groups
    ]
    new_groups = [group for group, home in zip(groups, homes, strict=True) if home is None]
    if len(parts) + len(new_groups) > MAX_PARTS:
        new_groups = []
    names = _name_groups(new_groups, {part.rpartition(PART_SEPARATOR)[2] for part in parts}, bucket)
    named = {id(group): part_of_bucket(bucket, name) for group, name in zip(new_groups, names, strict=True)}
    chosen = ((group, home or named.get(id(group), bucket)) for group, home in zip(groups, homes, strict=True))
    return {table: part for group, part in chosen if is_part(part) for table in group.tables}


def name_rows(schema: Schema, part_name: str) -> Schema:
    """Returns the schema of a part with nouns for its rows, if the part is called by what the whole table is.

    Each row of “budget” is a budget row; those of “suppliers” are suppliers.
    """
    phrase = kind_phrase_of_name(part_name)
    words = words_in_name(part_name)
    is_plural = bool(words) and singular_and_plural_of(words[-1])[1] == words[-1]
    if schema.language != "en" or phrase is None or not phrase.noun or is_plural:
        return schema
    nouns = (*schema.synonyms, f"{phrase.words} {ROW_WORD}", ROW_WORD)
    return replace(schema, synonyms=tuple(dict.fromkeys(nouns)))


def _group_tables(columns_by_table: Mapping[TableKey, Set[FieldName]]) -> list[_TableGroup]:
    groups: list[_TableGroup] = []
    for table, columns in sorted(columns_by_table.items(), key=lambda entry: (entry[0].file, entry[0].sheet or "")):
        group = next((group for group in groups if _share_columns(group.columns, columns)), None)
        if group is None:
            groups.append(group := _TableGroup(columns=set(columns)))
        group.tables.append(table)
        group.columns |= columns
    return groups


def _share_columns(columns: Set[FieldName], others: Set[FieldName]) -> bool:
    return len(columns & others) >= _MIN_SHARED_COLUMNS * len(columns | others)


def _home_of_group(
    group: _TableGroup, bucket: BucketId, parts: Sequence[BucketId], existing: Mapping[BucketId, BucketSize]
) -> BucketId | None:
    """Returns the part, or the bucket, that has fields for the columns; None if there is none."""
    for part in parts:
        if _share_columns(group.columns, _columns_in_schema(existing[part].schema, group.columns)):
            return part
    if bucket not in existing or not (fields := existing[bucket].schema.by_name.keys()):
        return None
    is_schema_of_people = not existing[bucket].document_count and not parts
    return bucket if is_schema_of_people or _knows_columns(fields, group) else None


def _knows_columns(names: Set[FieldName], group: _TableGroup) -> bool:
    return len(group.columns & names) >= _MIN_KNOWN_COLUMNS * len(group.columns)


def _columns_in_schema(schema: Schema, columns: Set[FieldName]) -> set[FieldName]:
    """Returns the fields that are columns of a table: none for its folder or sheet, or for the currency of amounts."""
    currencies = {own.currency_field for own in schema.fields} - columns
    return {own.name for own in schema.fields if own.origin is None and own.name not in currencies}


def _name_groups(groups: Sequence[_TableGroup], taken: Set[str], bucket: BucketId) -> list[str]:
    """Returns a name for each group: what the names of its files, or of its sheets, begin with; each name once."""
    divided_files = _divided_files(groups)
    used = {name.casefold() for name in taken}
    names: list[str] = []
    for group in groups:
        name, number = _name_of_group(group, divided_files), 1
        candidate = name
        while candidate.casefold() in used or part_of_bucket(bucket, candidate) in _RESERVED_PARTS:
            number += 1
            candidate = f"{name} {number}"
        used.add(candidate.casefold())
        names.append(candidate)
    return names


def _divided_files(groups: Sequence[_TableGroup]) -> set[str]:
    """Returns the files whose sheets are in several groups."""
    files = [{table.file for table in group.tables} for group in groups]
    return {file for number, own in enumerate(files) for file in own if any(file in other for other in files[:number])}


def _name_of_group(group: _TableGroup, divided_files: Set[str]) -> str:
    sheets = [table.sheet for table in group.tables if table.file in divided_files and table.sheet]
    own_sheets = [sheet for sheet in sheets if not is_default_sheet_name(sheet)]
    names = own_sheets if len(own_sheets) == len(group.tables) else [table.stem for table in group.tables]
    first_words = [_NAME_WORD.findall(name) for name in names]
    shared = list(takewhile(lambda words: len(set(words)) == 1, zip(*first_words, strict=False)))
    name = names[0] if len(set(names)) == 1 or not shared else " ".join(words[0] for words in shared)
    return _UNUSABLE_CHARACTERS.sub(" ", name).strip(" .")[:_MAX_NAME_CHARACTERS].strip(" .") or "table"
