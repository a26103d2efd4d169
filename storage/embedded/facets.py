"""How a field splits a set: values, ranges and periods, counted over the columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

import numpy as np

from storage.embedded.bucket import Bucket
from storage.embedded.columns import Doubles, Flags, Lists, Mask, Numbers, Strings, iso_day, ordinal
from storage.embedded.dictionary import Codes, Dictionary, Ints
from storage.search.cells import periods_of, ranges_of
from storage.search.errors import InvalidCondition, UnknownField
from storage.search.ids import FieldName
from storage.search.index import Facet, FacetAnswer, Neighbours, PeriodFacet, RangeFacet, ValueCount, ValueFacet
from storage.search.normal import typed_scalar
from storage.search.schema import Field, FieldType

Set: TypeAlias = Sequence[tuple[Bucket, Mask]]  # a bucket's part of it each


def fields_in(part: Set, name: FieldName) -> list[Field]:
    """The field in each bucket, of one type. Raises `UnknownField` and `InvalidCondition`."""
    fields = list[Field]()
    for bucket, _ in part:
        if name not in bucket.schema.by_name:
            raise UnknownField(name, bucket.schema.bucket)
        fields.append(bucket.schema.by_name[name])
    if len({one.type for one in fields}) > 1:
        raise InvalidCondition(f"the field {name!r} is not of one type in these buckets")
    return fields


def facet(part: Set, request: Facet) -> FacetAnswer:
    fields = fields_in(part, request.field)
    if len(fields) > 1 and not all(one.shared for one in fields):
        raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")
    if not fields:
        return ValueFacet(values=(), other=0, missing=0, distinct=0, overlapping=False)
    total = sum(int(mask.sum()) for _, mask in part)
    match fields[0].type:
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return _values(part, request, total)
        case FieldType.FLAG:
            return _flags(part, request, total)
        case FieldType.NUMBER | FieldType.MONEY:
            values, counts = _distinct(part, request.field)
            ranges = ranges_of(list(zip(values.tolist(), counts.tolist(), strict=True)), request.parts)
            return RangeFacet(ranges=ranges, missing=total - int(counts.sum()))
        case FieldType.DATE:
            values, counts = _distinct(part, request.field)
            days = list(zip(map(iso_day, values.tolist()), counts.tolist(), strict=True))
            return PeriodFacet(periods=periods_of(days, request.parts), missing=total - int(counts.sum()))
        case FieldType.ROWS:
            raise InvalidCondition(f"the field {request.field!r} holds rows, which have no facet")
        case _:
            assert_never(fields[0].type)


def nearest(part: Set, name: FieldName, value: float | str) -> Neighbours:
    """Raises `InvalidCondition` for a field that has no order of numbers, or a value of another type."""
    fields = fields_in(part, name)
    kind = fields[0].type if fields else FieldType.NUMBER
    if kind not in (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE):
        raise InvalidCondition(f"the field {name!r} has no nearest value")
    typed = typed_scalar(value, kind, name) if fields else value
    values = numbers_of(part, name)
    if kind is FieldType.DATE:
        below, above = _around(values, float(ordinal(str(typed))))
        return Neighbours(below=_day(below), above=_day(above))
    below, above = _around(values, float(typed))
    return Neighbours(below=below, above=above)


def _day(value: float | None) -> str | None:
    return None if value is None else iso_day(value)


def _around(values: Doubles, value: float) -> tuple[float | None, float | None]:
    below, above = values[values < value], values[values > value]
    return float(below.max()) if len(below) else None, float(above.min()) if len(above) else None


def numbers_of(part: Set, name: FieldName) -> Doubles:
    """The values of a number, money or date field in the set, without those that are missing."""
    parts = [cast(Numbers, bucket.columns[name]).values[mask] for bucket, mask in part]
    values = np.concatenate(parts) if parts else np.zeros(0)
    return values[~np.isnan(values)]


def _distinct(part: Set, name: FieldName) -> tuple[Doubles, Ints]:
    values, counts = np.unique(numbers_of(part, name), return_counts=True)
    return values, counts


def _flags(part: Set, request: Facet, total: int) -> ValueFacet:
    true = sum(int(((cast(Flags, bucket.columns[request.field]).values == 1) & mask).sum()) for bucket, mask in part)
    counted = sorted(
        (ValueCount(value=value, count=count) for value, count in (("true", true), ("false", total - true)) if count),
        key=lambda one: (-one.count, one.value),
    )
    shown = tuple(counted[: max(request.limit, 0)])
    other = total - sum(one.count for one in shown)
    return ValueFacet(values=shown, other=other, missing=0, distinct=len(counted), overlapping=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Strings of a set: `owners[i]`, a document counted through the whole set, has the string of `codes[i]`."""

    owners: Ints
    codes: Codes
    dictionary: Dictionary

    @property
    def documents(self) -> int:
        """That have a value."""
        return documents_of(self.owners)

    def folds(self) -> tuple[Ints, Ints]:
        """Each document's folds, each once: owners and codes of folds."""
        return pairs_once(self.owners, self.dictionary.fold_of(self.codes))

    def counted(self, limit: int) -> tuple[tuple[ValueCount, ...], Ints, int]:
        """Values by count, then fold; the codes of their folds; how many there are in all."""
        _, folds = self.folds()
        codes, counts = _counted(folds)
        ranks = self.dictionary.ranks().fold
        shown = np.lexsort((ranks[codes], -counts))[: max(limit, 0)]
        labels = self.labels(codes[shown])
        values = tuple(
            ValueCount(value=labels[code], count=count)
            for code, count in zip(codes[shown].tolist(), counts[shown].tolist(), strict=True)
        )
        return values, codes[shown], len(codes)

    def labels(self, wanted: Ints) -> dict[int, str]:
        """By code of the fold: how most documents write it; ties: first by code point."""
        _, raw = pairs_once(self.owners, self.codes.astype(np.int64))
        codes, counts = _counted(raw)
        folds = self.dictionary.fold_of(codes.astype(np.int32))
        inside = np.isin(folds, wanted)
        codes, counts, folds = codes[inside], counts[inside], folds[inside]
        order = np.lexsort((self.dictionary.ranks().raw[codes], -counts, folds))
        first = np.unique(folds[order], return_index=True)
        best = codes[order][first[1]]
        return {fold: self.dictionary.raw[code] for fold, code in zip(first[0].tolist(), best.tolist(), strict=True)}


def pairs_once(owners: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Each pair once."""
    if not len(owners) or not (np.diff(owners) == 0).any():
        return owners, codes  # one each: nothing twice
    width = int(codes.max()) + 1
    both = np.sort(owners * width + codes)
    once = both[np.concatenate(([True], np.diff(both) != 0))]
    return once // width, once % width


def documents_of(owners: Ints) -> int:
    """How many different ones there are; they ascend."""
    return int(np.count_nonzero(np.diff(owners))) + 1 if len(owners) else 0


def _counted(codes: Ints) -> tuple[Ints, Ints]:
    """Each code and how often it occurs. Codes are small: counting is quicker than sorting."""
    counts = np.bincount(codes)
    present = np.flatnonzero(counts)
    return present, counts[present]


def tally(part: Set, name: FieldName) -> Tally:
    """Of a category, text or list field; the set has at least one bucket."""
    owners, codes = list[Ints](), list[Codes]()
    shift = 0
    for bucket, mask in part:
        column = cast(Strings | Lists, bucket.columns[name])
        at, found = strings_of(column, mask)
        owners.append(at + shift)
        codes.append(found)
        shift += len(mask)
    dictionary = cast(Strings | Lists, part[0][0].columns[name]).dictionary
    return Tally(owners=np.concatenate(owners), codes=np.concatenate(codes), dictionary=dictionary)


def strings_of(column: Strings | Lists, mask: Mask) -> tuple[Ints, Codes]:
    """Owners (ascending) and codes of the strings at the positions of the mask."""
    if isinstance(column, Lists):
        inside = mask[column.owners]
        return column.owners[inside], column.codes[inside]
    at = np.flatnonzero(mask & (column.codes >= 0))
    return at, column.codes[at]


def _values(part: Set, request: Facet, total: int) -> ValueFacet:
    counted = tally(part, request.field)
    overlapping = isinstance(part[0][0].columns[request.field], Lists)
    values, shown, distinct = counted.counted(request.limit)
    documents = counted.documents if overlapping else len(counted.owners)
    owners, folds = counted.folds()
    is_shown = np.zeros(int(folds.max(initial=0)) + 1, dtype=np.bool_)
    is_shown[shown] = True
    inside = owners[is_shown[folds]]
    return ValueFacet(
        values=values,
        other=documents - documents_of(inside),
        missing=total - documents,
        distinct=distinct,
        overlapping=overlapping,
    )
