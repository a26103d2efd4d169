"""The fields of a bucket as numpy columns, indexed by the position of the document (columns of rows: of the row).

A column never changes: a later state of a bucket is a new column with the new positions appended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.string_dictionary import Codes, StringDictionary
from storage.search.documents import FieldValue, FieldValues, RowValues
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

Mask: TypeAlias = NDArray[np.bool_]
Doubles: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Numbers, amounts of money, and days as ordinals of the proleptic Gregorian calendar. NaN: no value."""

    values: Doubles

    @property
    def present_mask(self) -> Mask:
        return ~np.isnan(self.values)

    def append_column(self, later: "NumberColumn", shift: int) -> "NumberColumn":
        return NumberColumn(np.concatenate((self.values, later.values)))


@dataclass(frozen=True, slots=True)
class StringColumn:
    """Codes of strings in the dictionary. -1: no value."""

    codes: Codes
    dictionary: StringDictionary

    @property
    def present_mask(self) -> Mask:
        return self.codes >= 0

    def append_column(self, later: "StringColumn", shift: int) -> "StringColumn":
        return StringColumn(np.concatenate((self.codes, later.codes)), self.dictionary)


@dataclass(frozen=True, slots=True)
class FlagColumn:
    """1: true, 0: false, -1: no value, which means false."""

    values: NDArray[np.int8]

    @property
    def present_mask(self) -> Mask:
        return self.values >= 0

    def append_column(self, later: "FlagColumn", shift: int) -> "FlagColumn":
        return FlagColumn(np.concatenate((self.values, later.values)))


@dataclass(frozen=True, slots=True)
class ListColumn:
    """Lists: `codes[i]` is a member of the list of the document at position `owners[i]`.

    `owners` ascends. There are `size` documents.
    """

    owners: NDArray[np.int64]
    codes: Codes
    dictionary: StringDictionary
    size: int

    @property
    def present_mask(self) -> Mask:
        return mask_of_owners(self.owners, self.size)

    def append_column(self, later: "ListColumn", shift: int) -> "ListColumn":
        owners = np.concatenate((self.owners, later.owners + shift))
        return ListColumn(owners, np.concatenate((self.codes, later.codes)), self.dictionary, self.size + later.size)


@dataclass(frozen=True, slots=True)
class RowsColumn:
    """Rows: row i belongs to the document at position `owners[i]`; `columns` are indexed by row.

    `owners` ascends. There are `size` documents.
    """

    owners: NDArray[np.int64]
    columns: Mapping[FieldName, "Column"]
    size: int

    @property
    def present_mask(self) -> Mask:
        return mask_of_owners(self.owners, self.size)

    def append_column(self, later: "RowsColumn", shift: int) -> "RowsColumn":
        columns = {
            name: join_columns(column, later.columns[name], len(self.owners)) for name, column in self.columns.items()
        }
        return RowsColumn(np.concatenate((self.owners, later.owners + shift)), columns, self.size + later.size)


Column: TypeAlias = NumberColumn | StringColumn | FlagColumn | ListColumn | RowsColumn
C = TypeVar("C", bound="_AppendableColumn")


class _AppendableColumn(Protocol):
    def append_column(self: C, later: C, shift: int) -> C: ...


def join_columns(earlier: Column, later: Column, shift: int) -> Column:
    """Append the later column to the earlier one of the same type. `shift` is the length of the earlier one."""
    return cast(Column, cast(_AppendableColumn, earlier).append_column(cast(_AppendableColumn, later), shift))


def join_column_parts(parts: Sequence[Mapping[FieldName, Column]], sizes: Sequence[int]) -> dict[FieldName, Column]:
    """Append the columns of all parts, of which there is at least one. `sizes`: the documents of each part.

    Neighbours are joined first, so that each value is copied few times.
    """
    if len(parts) == 1:
        return dict(parts[0])
    half = len(parts) // 2
    earlier, later = join_column_parts(parts[:half], sizes[:half]), join_column_parts(parts[half:], sizes[half:])
    return {name: join_columns(column, later[name], sum(sizes[:half])) for name, column in earlier.items()}


class DictionarySet:
    """One dictionary per field or column name for all buckets, so that codes of one name are comparable."""

    def __init__(self) -> None:
        self._by_name = dict[str, StringDictionary]()

    def dictionary_for(self, name: str) -> StringDictionary:
        return self._by_name.setdefault(name, StringDictionary())


def build_column(
    field: SchemaField, values: Sequence[FieldValue | None], dictionaries: DictionarySet, prefix: str = ""
) -> Column:
    """Build the column of a field from values that fit it. Lists and rows may be Python lists."""
    name = f"{prefix}{field.name}"
    match field.type:
        case FieldType.NUMBER | FieldType.MONEY:
            return NumberColumn(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
        case FieldType.DATE:
            days = [np.nan if value is None else day_ordinal_of(str(value)) for value in values]
            return NumberColumn(np.array(days, dtype=np.float64))
        case FieldType.FLAG:
            return FlagColumn(np.array([-1 if value is None else bool(value) for value in values], dtype=np.int8))
        case FieldType.CATEGORY | FieldType.TEXT:
            return StringColumn(
                dictionaries.dictionary_for(name).encode_strings(cast(Sequence[str | None], values)),
                dictionaries.dictionary_for(name),
            )
        case FieldType.LIST:
            owners, members = _flatten_lists(cast(Sequence[Sequence[str] | None], values))
            return ListColumn(
                owners,
                dictionaries.dictionary_for(name).encode_strings(members),
                dictionaries.dictionary_for(name),
                len(values),
            )
        case FieldType.ROWS:
            owners, rows = _flatten_lists(cast(Sequence[Sequence[RowValues] | None], values))
            columns = {
                column.name: build_column(column, [row.get(column.name) for row in rows], dictionaries, f"{name}.")
                for column in field.columns
            }
            return RowsColumn(owners, columns, len(values))


def build_columns(
    fields: Sequence[SchemaField], values: Sequence[FieldValues], dictionaries: DictionarySet
) -> dict[FieldName, Column]:
    return {
        field.name: build_column(field, [document_values.get(field.name) for document_values in values], dictionaries)
        for field in fields
    }


T = TypeVar("T")


def _flatten_lists(lists: Sequence[Sequence[T] | None]) -> tuple[NDArray[np.int64], list[T]]:
    lengths = np.array([len(members) if members else 0 for members in lists], dtype=np.int64)
    return np.repeat(np.arange(len(lists)), lengths), [member for members in lists if members for member in members]


def mask_of_owners(owners: NDArray[np.int64], size: int) -> Mask:
    """Returns a mask of `size` positions that is True at the owners."""
    mask = np.zeros(size, dtype=np.bool_)
    mask[owners] = True
    return mask


@lru_cache(maxsize=65_536)
def day_ordinal_of(iso_date: str) -> int:
    return date.fromisoformat(iso_date).toordinal()


@lru_cache(maxsize=65_536)
def iso_day_of(day_ordinal: float) -> str:
    return date.fromordinal(int(day_ordinal)).isoformat()
