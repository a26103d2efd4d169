"""Facets of a set: counts by value, range or period, from the columns. Also the nearest existing values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast, overload

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket_snapshot import BucketSnapshot
from storage.embedded.columns import (
    Doubles,
    FlagColumn,
    ListColumn,
    Mask,
    NumberColumn,
    StringColumn,
    day_ordinal_of,
    iso_day_of,
)
from storage.embedded.string_dictionary import Codes, Ints, StringDictionary
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.evaluation.condition_normal_form import convert_scalar
from storage.search.evaluation.facet_binning import bin_days, bin_numbers, flag_facet_of
from storage.search.ids import FieldName
from storage.search.index import (
    FacetAnswer,
    FacetRequest,
    NearestValues,
    PeriodFacet,
    RangeFacet,
    ValueCount,
    ValueFacet,
)
from storage.search.schema import FieldType, SchemaField

_ITERATED_AT_ONCE = 1_000  # codes that are converted together
BucketMasks: TypeAlias = Sequence[tuple[BucketSnapshot, Mask]]  # a set: its documents in each bucket


def fields_named(bucket_masks: BucketMasks, name: FieldName) -> list[SchemaField]:
    """Returns the field in each bucket. Raises `UnknownField`, and `InvalidCondition` if the types differ."""
    fields = list[SchemaField]()
    for bucket, _ in bucket_masks:
        if name not in bucket.schema.by_name:
            raise UnknownField(name, bucket.schema.bucket)
        fields.append(bucket.schema.by_name[name])
    if len({field.type for field in fields}) > 1:
        raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
    return fields


def compute_facet(bucket_masks: BucketMasks, request: FacetRequest) -> FacetAnswer:
    fields = fields_named(bucket_masks, request.field)
    if len(fields) > 1 and not all(field.shared for field in fields):
        raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")
    if not fields:
        return ValueFacet(values=(), other_count=0, missing_count=0, distinct_count=0, is_overlapping=False)
    total = sum(int(mask.sum()) for _, mask in bucket_masks)
    match fields[0].type:
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return _value_facet(bucket_masks, request, total)
        case FieldType.FLAG:
            return _flag_facet(bucket_masks, request, total)
        case FieldType.NUMBER | FieldType.MONEY:
            values, counts = _count_distinct_numbers(bucket_masks, request.field)
            ranges = bin_numbers(list(zip(values.tolist(), counts.tolist(), strict=True)), request.max_bins)
            return RangeFacet(ranges=ranges, missing_count=total - int(counts.sum()))
        case FieldType.DATE:
            values, counts = _count_distinct_numbers(bucket_masks, request.field)
            days = list(zip(map(iso_day_of, values.tolist()), counts.tolist(), strict=True))
            return PeriodFacet(periods=bin_days(days, request.max_bins), missing_count=total - int(counts.sum()))
        case FieldType.ROWS:
            raise InvalidCondition(f"the field {request.field!r} holds rows, which have no facet")
        case _:
            assert_never(fields[0].type)


def find_nearest_values(bucket_masks: BucketMasks, name: FieldName, value: float | str) -> NearestValues:
    """Find the nearest values below and above `value`.

    Raises `InvalidCondition` for a field that is not number, money or date, and for a value of another type.
    """
    fields = fields_named(bucket_masks, name)
    field_type = fields[0].type if fields else FieldType.NUMBER
    if field_type not in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
        raise InvalidCondition(f"the field {name!r} has no nearest value")
    typed_value = convert_scalar(value, field_type, name) if fields else value
    values = numbers_in_set(bucket_masks, name)
    if field_type is FieldType.DATE:
        below, above = _values_around(values, float(day_ordinal_of(str(typed_value))))
        return NearestValues(below=_iso_day_or_none(below), above=_iso_day_or_none(above))
    below, above = _values_around(values, float(typed_value))
    return NearestValues(below=below, above=above)


def _iso_day_or_none(value: float | None) -> str | None:
    return None if value is None else iso_day_of(value)


def _values_around(values: Doubles, value: float) -> tuple[float | None, float | None]:
    below, above = values[values < value], values[values > value]
    return float(below.max()) if len(below) else None, float(above.min()) if len(above) else None


def numbers_in_set(bucket_masks: BucketMasks, name: FieldName) -> Doubles:
    """Returns the values of a number, money or date field in the set, without missing values."""
    parts = [cast(NumberColumn, bucket.columns[name]).values[mask] for bucket, mask in bucket_masks]
    values = np.concatenate(parts) if parts else np.zeros(0)
    return values[~np.isnan(values)]


def _count_distinct_numbers(bucket_masks: BucketMasks, name: FieldName) -> tuple[Doubles, Ints]:
    values, counts = np.unique(numbers_in_set(bucket_masks, name), return_counts=True)
    return values, counts


def _flag_facet(bucket_masks: BucketMasks, request: FacetRequest, total: int) -> ValueFacet:
    true_count = sum(
        int(((cast(FlagColumn, bucket.columns[request.field]).values == 1) & mask).sum())
        for bucket, mask in bucket_masks
    )
    return flag_facet_of(true_count, total, request.max_values)


class CountedStrings(Sequence[ValueCount]):
    """Strings of a dictionary with their counts: 8 bytes each, while nobody looks at them."""

    def __init__(self, *, codes: Codes, counts: NDArray[np.int32], dictionary: StringDictionary) -> None:
        self.codes, self._counts, self._dictionary = codes, counts, dictionary

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> ValueCount: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ValueCount, ...]: ...

    def __getitem__(self, index: int | slice) -> ValueCount | tuple[ValueCount, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        return ValueCount(
            value=self._dictionary.strings[int(self.codes[index])],
            count=int(self._counts[index]),
        )

    def __iter__(self) -> Iterator[ValueCount]:
        strings = self._dictionary.strings
        for start in range(0, len(self), _ITERATED_AT_ONCE):
            part = slice(start, start + _ITERATED_AT_ONCE)
            codes, counts = cast(list[int], self.codes[part].tolist()), cast(list[int], self._counts[part].tolist())
            for code, count in zip(codes, counts, strict=True):
                yield ValueCount(value=strings[code], count=count)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(cast(Sequence[object], other))

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class StringTally:
    """The strings of a set: the document `owners[i]` has the string with the code `codes[i]`.

    Documents are numbered through all buckets of the set; `owners` ascends.
    """

    owners: Ints
    codes: Codes
    dictionary: StringDictionary

    @property
    def document_count(self) -> int:
        """The number of documents with a value."""
        return count_documents(self.owners)

    def distinct_folds(self) -> tuple[Ints, Ints]:
        """Returns the distinct pairs of owner and fold code."""
        return distinct_pairs(self.owners, self.dictionary.fold_codes_of(self.codes))

    def count_values(self, limit: int) -> tuple[tuple[ValueCount, ...], Ints, int]:
        """Returns the top values by count, then fold; the codes of their folds; the number of all distinct values."""
        values, distinct_count = self.top_values(limit)
        return tuple(values), self.dictionary.fold_codes_of(values.codes), distinct_count

    def top_values(self, limit: int) -> "tuple[CountedStrings, int]":
        """Returns the top values by count, then fold, and the number of all distinct values."""
        _, folds = self.distinct_folds()
        codes, counts = _count_codes(folds)
        fold_ranks = self.dictionary.compute_ranks().fold_ranks
        top_indexes = np.lexsort((fold_ranks[codes], -counts))[: max(limit, 0)]
        labelled_folds, label_codes = self._label_codes(codes[top_indexes])
        values = CountedStrings(
            codes=label_codes[np.searchsorted(labelled_folds, codes[top_indexes])].astype(np.int32),
            counts=counts[top_indexes].astype(np.int32),
            dictionary=self.dictionary,
        )
        return values, len(codes)

    def labels_by_fold(self, fold_codes: Ints) -> dict[int, str]:
        """Returns for each fold code the most frequent spelling; ties: first by code point."""
        folds, codes = self._label_codes(fold_codes)
        return {fold: self.dictionary.strings[code] for fold, code in zip(folds.tolist(), codes.tolist(), strict=True)}

    def _label_codes(self, fold_codes: Ints) -> tuple[Ints, Ints]:
        """Returns the fold codes, ascending, each with the code of its most frequent spelling."""
        _, string_codes = distinct_pairs(self.owners, self.codes.astype(np.int64))
        codes, counts = _count_codes(string_codes)
        folds = self.dictionary.fold_codes_of(codes.astype(np.int32))
        is_requested = np.isin(folds, fold_codes)
        codes, counts, folds = codes[is_requested], counts[is_requested], folds[is_requested]
        order = np.lexsort((self.dictionary.compute_ranks().string_ranks[codes], -counts, folds))
        fold_groups = np.unique(folds[order], return_index=True)
        return fold_groups[0], codes[order][fold_groups[1]]


def distinct_pairs(owners: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Returns the distinct pairs of owner and code. `owners` must ascend."""
    if not len(owners) or not (np.diff(owners) == 0).any():
        return owners, codes  # every owner is there once, so there are no equal pairs
    width = int(codes.max()) + 1
    sorted_pairs = np.sort(owners * width + codes)
    unique_pairs = sorted_pairs[np.concatenate(([True], np.diff(sorted_pairs) != 0))]
    return unique_pairs // width, unique_pairs % width


def count_documents(owners: Ints) -> int:
    """Returns the number of distinct owners. `owners` must ascend."""
    return int(np.count_nonzero(np.diff(owners))) + 1 if len(owners) else 0


def _count_codes(codes: Ints) -> tuple[Ints, Ints]:
    """Returns the distinct codes and their counts. Codes are small integers: counting is faster than sorting."""
    counts = np.bincount(codes)
    present_codes = np.flatnonzero(counts)
    return present_codes, counts[present_codes]


def tally_strings(bucket_masks: BucketMasks, name: FieldName) -> StringTally:
    """Return the strings of a category, text or list field. The set must have at least one bucket."""
    owners, codes = list[Ints](), list[Codes]()
    position_offset = 0
    for bucket, mask in bucket_masks:
        column = cast(StringColumn | ListColumn, bucket.columns[name])
        positions, found_codes = strings_of(column, mask)
        owners.append(positions + position_offset)
        codes.append(found_codes)
        position_offset += len(mask)
    dictionary = cast(StringColumn | ListColumn, bucket_masks[0][0].columns[name]).dictionary
    return StringTally(owners=np.concatenate(owners), codes=np.concatenate(codes), dictionary=dictionary)


def strings_of(column: StringColumn | ListColumn, mask: Mask) -> tuple[Ints, Codes]:
    """Returns owners (ascending) and codes of the strings of the documents in the mask."""
    if isinstance(column, ListColumn):
        is_selected = mask[column.owners]
        return column.owners[is_selected], column.codes[is_selected]
    positions = np.flatnonzero(mask & (column.codes >= 0))
    return positions, column.codes[positions]


def _value_facet(bucket_masks: BucketMasks, request: FacetRequest, total: int) -> ValueFacet:
    tally = tally_strings(bucket_masks, request.field)
    is_overlapping = isinstance(bucket_masks[0][0].columns[request.field], ListColumn)
    values, shown_folds, distinct_count = tally.count_values(request.max_values)
    document_count = tally.document_count if is_overlapping else len(tally.owners)
    owners, folds = tally.distinct_folds()
    is_shown = np.zeros(int(folds.max(initial=0)) + 1, dtype=np.bool_)
    is_shown[shown_folds] = True
    shown_owners = owners[is_shown[folds]]
    return ValueFacet(
        values=values,
        other_count=document_count - count_documents(shown_owners),
        missing_count=total - document_count,
        distinct_count=distinct_count,
        is_overlapping=is_overlapping,
    )
