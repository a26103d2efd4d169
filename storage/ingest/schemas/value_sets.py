"""The distinct values of the fields of a bucket, as hashes, so that memory stays small for any number of documents."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, FieldName
from storage.search.index import DocumentRecord
from storage.search.schema import REFERENCE_TYPES, Schema

MAX_VALUES = 200_000  # distinct values of a field (or titles of a bucket) that are compared
MAX_ALL_VALUES = 4_000_000  # of all fields together: 32 MB
_MIN_PENDING = 8_192

ValueHashes: TypeAlias = NDArray[np.int64]  # distinct, ascending


@dataclass(slots=True)
class ValueSet:
    """The distinct folded values of a field. Those of more than `MAX_VALUES` are dropped: the set is not complete."""

    filled_count: int = 0  # documents that have a value
    value_count: int = 0  # with repetitions, as the next two
    character_count: int = 0
    decimal_count: int = 0  # values that are digits alone
    is_complete: bool = True
    _hashes: ValueHashes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _pending: "array[int]" = field(default_factory=lambda: array("q"))

    def add_values(self, values: Iterable[str]) -> None:
        """Adds the values of one document."""
        has_value = False
        for value in values:
            has_value, folded = True, fold_text(value)
            self.value_count += 1
            self.character_count += len(folded)
            self.decimal_count += folded.isdecimal()
            self._pending.append(hash(folded))
            if len(self._pending) >= max(_MIN_PENDING, len(self._hashes)):
                self._merge_pending()
                if not self.is_complete:
                    break
        self.filled_count += has_value

    @property
    def hashes(self) -> ValueHashes:
        self._merge_pending()
        return self._hashes

    def drop_values(self) -> None:
        """Forgets the values, of which there are too many."""
        self.is_complete, self._hashes, self._pending = False, np.zeros(0, dtype=np.int64), array("q")

    def count_shared(self, other: "ValueSet") -> int:
        """Returns how many distinct values both sets have."""
        mine, others = self.hashes, other.hashes
        if not len(mine) or not len(others):
            return 0
        positions = np.minimum(np.searchsorted(others, mine), len(others) - 1)
        return int((others[positions] == mine).sum())

    def _merge_pending(self) -> None:
        if self._pending:
            added = np.frombuffer(self._pending, dtype=np.int64)
            self._hashes, self._pending = np.union1d(self._hashes, added), array("q")
        if len(self._hashes) > MAX_VALUES:
            self.drop_values()


@dataclass(slots=True, kw_only=True)
class BucketValues:
    """The values of the fields of a bucket that may refer to documents or name them; `TITLE_FIELD` has the titles."""

    document_count: int = 0
    sets: dict[FieldName, ValueSet]

    @classmethod
    def for_schema(cls, schema: Schema) -> "BucketValues":
        names = [field.name for field in schema.fields if field.type in REFERENCE_TYPES]
        return cls(sets={name: ValueSet() for name in (*names, TITLE_FIELD)})

    def add_records(self, records: Sequence[DocumentRecord]) -> None:
        self.document_count += len(records)
        for name, values in self.sets.items():
            for record in records:
                if not values.is_complete:
                    break
                values.add_values(_values_in(record, name))

    @property
    def uncompared_fields(self) -> tuple[FieldName, ...]:
        """The fields whose values are too many."""
        return tuple(name for name, values in self.sets.items() if not values.is_complete)


def limit_all_values(buckets: Mapping[BucketId, BucketValues]) -> None:
    """Drops the largest sets until all have `MAX_ALL_VALUES` values at most."""
    sets = sorted(
        (values for bucket in buckets.values() for values in bucket.sets.values()),
        key=lambda values: len(values.hashes),
    )
    value_count = sum(len(values.hashes) for values in sets)
    while value_count > MAX_ALL_VALUES:
        value_count -= len(sets[-1].hashes)
        sets.pop().drop_values()


def _values_in(record: DocumentRecord, name: FieldName) -> Iterable[str]:
    """Yields the values of a category, text or list field, or the title if it is not blank."""
    value: FieldValue | None = record.title if name == TITLE_FIELD else record.values.get(name)
    if isinstance(value, str):
        return (value,) if name != TITLE_FIELD or value.strip() else ()
    return cast(Sequence[str], value or ())
