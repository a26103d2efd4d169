"""The fields of a bucket as numpy columns, addressed by a document's position (in rows: by the row's).

Columns are never changed: a later state of a bucket is the earlier one with new positions joined on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.dictionary import Codes, Dictionary
from storage.search.documents import Row, Value, Values
from storage.search.ids import FieldName
from storage.search.schema import Field, FieldType

Mask: TypeAlias = NDArray[np.bool_]
Doubles: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers and money as they are, days as ordinals of the proleptic calendar. NaN where there is none."""

    values: Doubles

    @property
    def present(self) -> Mask:
        return ~np.isnan(self.values)

    def joined(self, later: "Numbers", shift: int) -> "Numbers":
        return Numbers(np.concatenate((self.values, later.values)))


@dataclass(frozen=True, slots=True)
class Strings:
    """Codes of the dictionary; -1 where there is none."""

    codes: Codes
    dictionary: Dictionary

    @property
    def present(self) -> Mask:
        return self.codes >= 0

    def joined(self, later: "Strings", shift: int) -> "Strings":
        return Strings(np.concatenate((self.codes, later.codes)), self.dictionary)


@dataclass(frozen=True, slots=True)
class Flags:
    """1 true, 0 false, -1 not given, which means false."""

    values: NDArray[np.int8]

    @property
    def present(self) -> Mask:
        return self.values >= 0

    def joined(self, later: "Flags", shift: int) -> "Flags":
        return Flags(np.concatenate((self.values, later.values)))


@dataclass(frozen=True, slots=True)
class Lists:
    """`codes[i]` is a member of the list of the document at `owners[i]`, ascending; `size` documents in all."""

    owners: NDArray[np.int64]
    codes: Codes
    dictionary: Dictionary
    size: int

    @property
    def present(self) -> Mask:
        return any_of(self.owners, self.size)

    def joined(self, later: "Lists", shift: int) -> "Lists":
        owners = np.concatenate((self.owners, later.owners + shift))
        return Lists(owners, np.concatenate((self.codes, later.codes)), self.dictionary, self.size + later.size)


@dataclass(frozen=True, slots=True)
class Rows:
    """Row i is the document's at `owners[i]`, ascending; its columns are addressed by row."""

    owners: NDArray[np.int64]
    columns: Mapping[FieldName, "Column"]
    size: int

    @property
    def present(self) -> Mask:
        return any_of(self.owners, self.size)

    def joined(self, later: "Rows", shift: int) -> "Rows":
        columns = {name: joined(column, later.columns[name], len(self.owners)) for name, column in self.columns.items()}
        return Rows(np.concatenate((self.owners, later.owners + shift)), columns, self.size + later.size)


Column: TypeAlias = Numbers | Strings | Flags | Lists | Rows
C = TypeVar("C", bound="_Joining")


class _Joining(Protocol):
    def joined(self: C, later: C, shift: int) -> C: ...


def joined(earlier: Column, later: Column, shift: int) -> Column:
    """Both of one kind; `shift` is the length of the earlier one."""
    return cast(Column, cast(_Joining, earlier).joined(cast(_Joining, later), shift))


class Dictionaries:
    """One dictionary a field or column name, across buckets, so that codes of one name compare."""

    def __init__(self) -> None:
        self._all = dict[str, Dictionary]()

    def of(self, name: str) -> Dictionary:
        return self._all.setdefault(name, Dictionary())


def column_of(one: Field, values: Sequence[Value | None], dictionaries: Dictionaries, prefix: str = "") -> Column:
    """The column of a field; `values` fit it. Lists may be JSON's."""
    name = f"{prefix}{one.name}"
    match one.type:
        case FieldType.NUMBER | FieldType.MONEY:
            return Numbers(np.array([np.nan if v is None else v for v in values], dtype=np.float64))
        case FieldType.DATE:
            days = [np.nan if v is None else ordinal(str(v)) for v in values]
            return Numbers(np.array(days, dtype=np.float64))
        case FieldType.FLAG:
            return Flags(np.array([-1 if v is None else bool(v) for v in values], dtype=np.int8))
        case FieldType.CATEGORY | FieldType.TEXT:
            return Strings(dictionaries.of(name).codes(cast(Sequence[str | None], values)), dictionaries.of(name))
        case FieldType.LIST:
            owners, members = _flat(cast(Sequence[Sequence[str] | None], values))
            return Lists(owners, dictionaries.of(name).codes(members), dictionaries.of(name), len(values))
        case FieldType.ROWS:
            owners, rows = _flat(cast(Sequence[Sequence[Row] | None], values))
            columns = {
                column.name: column_of(column, [row.get(column.name) for row in rows], dictionaries, f"{name}.")
                for column in one.columns
            }
            return Rows(owners, columns, len(values))


def columns_of(
    fields: Sequence[Field], values: Sequence[Values], dictionaries: Dictionaries
) -> dict[FieldName, Column]:
    return {one.name: column_of(one, [each.get(one.name) for each in values], dictionaries) for one in fields}


T = TypeVar("T")


def _flat(lists: Sequence[Sequence[T] | None]) -> tuple[NDArray[np.int64], list[T]]:
    lengths = np.array([len(one) if one else 0 for one in lists], dtype=np.int64)
    return np.repeat(np.arange(len(lists)), lengths), [member for one in lists if one for member in one]


def any_of(owners: NDArray[np.int64], size: int) -> Mask:
    """A mask of `size` positions that is true at the owners."""
    mask = np.zeros(size, dtype=np.bool_)
    mask[owners] = True
    return mask


@lru_cache(maxsize=65_536)
def ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@lru_cache(maxsize=65_536)
def iso_day(day: float) -> str:
    return date.fromordinal(int(day)).isoformat()
