"""Numbers over a set: by group, and never added across units."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np

from storage.embedded.bucket import Bucket
from storage.embedded.columns import Doubles, Flags, Lists, Mask, Numbers, Strings, iso_day
from storage.embedded.dictionary import Ints
from storage.embedded.facets import Set, fields_in, pairs_once, strings_of, tally
from storage.search.cells import period_around
from storage.search.errors import InvalidCondition
from storage.search.ids import FieldName
from storage.search.index import Aggregate, Aggregated
from storage.search.numbers import median_of, money_from_scaled, money_scale, rounded_average, rounded_sum, scaled
from storage.search.orders import line_order
from storage.search.plan import Group, Period
from storage.search.schema import Field, FieldType

Key: TypeAlias = str | float | bool | None
_CHUNK = 4096  # sums of so many cannot overflow
_SURE = 2.0**50  # below it a double times the scale is well within a quarter of the exact product


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """One entry for each document and group: `at` within its part of the set, and which label of `labels`."""

    at: Ints
    labels: Sequence[Key]
    of: Ints


def aggregate(part: Set, request: Aggregate) -> tuple[Aggregated, ...]:
    fields = [] if request.field is None else fields_in(part, request.field)
    if any(one.type not in (FieldType.NUMBER, FieldType.MONEY) for one in fields):
        raise InvalidCondition(f"the field {request.field!r} is neither a number nor money")
    if request.median and request.field is None:
        raise InvalidCondition("a median is of a field")
    if request.group is not None:
        _check_group(fields_in(part, request.group.field), request.group)
    cells = dict[tuple[Key, str | None], list[Doubles]]()
    money = bool(fields) and fields[0].type is FieldType.MONEY
    for at, (bucket, mask) in enumerate(part):
        one = fields[at] if fields else None
        for group, unit, values in _cells(part, bucket, mask, one, request.group):
            cells.setdefault((group, unit), []).append(values)
    done: list[Aggregated] = []
    for (group, unit), parts in cells.items():
        values = np.concatenate(parts)
        line = _line(group, unit, values, one=fields, money=money)
        done.append(replace(line, median=_median(values, unit, money=money)) if request.median else line)
    return tuple(sorted(done, key=line_order))


def _check_group(fields: Sequence[Field], group: Group) -> None:
    for one in fields:
        if one.type is FieldType.ROWS:
            raise InvalidCondition(f"the field {one.name!r} holds rows, which make no groups")
        if group.period is not None and one.type is not FieldType.DATE:
            raise InvalidCondition(f"the field {one.name!r} is no date and has no periods")


def _cells(
    part: Set, bucket: Bucket, mask: Mask, one: Field | None, group: Group | None
) -> list[tuple[Key, str | None, Doubles]]:
    """The values of each group and unit in a bucket's part of the set."""
    values = np.zeros(len(mask)) if one is None else cast(Numbers, bucket.columns[one.name]).values
    lines = _groups(part, bucket, mask & ~np.isnan(values), group)
    units, unit_of = _units(bucket, one)
    if not len(lines.at):
        return []
    both = lines.of * len(units) + unit_of[lines.at]
    order = np.argsort(both, kind="stable")
    keys, starts = np.unique(both[order], return_index=True)
    return [
        (lines.labels[key // len(units)], units[key % len(units)], values[lines.at[rows]])
        for key, rows in zip(keys.tolist(), np.split(order, starts[1:]), strict=True)
    ]


def _units(bucket: Bucket, one: Field | None) -> tuple[list[str | None], Ints]:
    """The units there are, and which of them each position has."""
    size = len(bucket.ids)
    if one is None or one.currency_field is None:
        unit = None if one is None else (one.currency or one.unit or None)
        return [unit], np.zeros(size, dtype=np.int64)
    column = cast(Strings, bucket.columns[one.currency_field])
    folds = column.dictionary.fold_of(column.codes)
    present = np.unique(folds)
    codes: list[int] = present.tolist()
    units = [column.dictionary.folds[code].upper() if code >= 0 else (one.currency or None) for code in codes]
    return units, np.searchsorted(present, folds)


def _groups(part: Set, bucket: Bucket, mask: Mask, group: Group | None) -> _Lines:
    at = np.flatnonzero(mask)
    if group is None:
        return _Lines(at=at, labels=(None,), of=np.zeros(len(at), dtype=np.int64))
    column = bucket.columns[group.field]
    match column:
        case Flags(values=flags):
            return _Lines(at=at, labels=(False, True), of=(flags[at] == 1).astype(np.int64))
        case Numbers(values=numbers):
            label = _day_label(group.period) if _is_date(bucket, group.field) else float
            return _by_number(at, numbers[at], label)
        case Strings() | Lists():
            return _by_string(part, column, mask, group.field)
        case _:
            raise AssertionError("rows make no groups")


def _is_date(bucket: Bucket, name: FieldName) -> bool:
    return bucket.schema.by_name[name].type is FieldType.DATE


def _day_label(period: Period | None) -> Callable[[float], str]:
    return lambda day: period_around(iso_day(day), period or Period.DAY)[0]


def _by_number(at: Ints, values: Doubles, label: Callable[[float], Key]) -> _Lines:
    distinct, inverse = np.unique(values, return_inverse=True)
    labels = [None if math.isnan(value) else label(value) for value in distinct.tolist()]
    unique = {key: number for number, key in enumerate(dict.fromkeys(labels))}
    merged = np.array([unique[key] for key in labels], dtype=np.int64)
    return _Lines(at=at, labels=tuple(unique), of=merged[inverse] if len(merged) else np.zeros(0, dtype=np.int64))


def _by_string(part: Set, column: Strings | Lists, mask: Mask, name: FieldName) -> _Lines:
    owners, codes = strings_of(column, mask)
    folds = column.dictionary.fold_of(codes)
    pairs = pairs_once(owners, folds)
    without = np.flatnonzero(mask & ~column.present)
    at, of = np.concatenate((pairs[0], without)), np.concatenate((pairs[1], np.full(len(without), -1)))
    present, inverse = np.unique(of, return_inverse=True)
    named = tally(part, name).labels(present)  # as written most often in the whole set
    return _Lines(at=at, labels=[named.get(code) for code in present.tolist()], of=inverse)


def _line(group: Key, unit: str | None, values: Doubles, *, one: Sequence[Field], money: bool) -> Aggregated:
    if not one:
        return Aggregated(group=group, unit=None, count=len(values), sum=0.0, average=0.0, minimum=0.0, maximum=0.0)
    low, high = float(values.min()), float(values.max())
    if money:
        total = _scaled_sum(values, unit)
        added, average = money_from_scaled(total, unit), money_from_scaled(total, unit, len(values))
    else:
        total = math.fsum(values.tolist())
        added = rounded_sum(total, max(abs(low), abs(high)))
        average = rounded_average(added, len(values))
    return Aggregated(
        group=group,
        unit=unit,
        count=len(values),
        sum=added,
        average=average,
        minimum=low,
        maximum=high,
        unrounded=total,
    )


def _median(values: Doubles, unit: str | None, *, money: bool) -> float:
    inner = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return median_of(float(inner[0]), float(inner[-1]), unit, money=money)


def _scaled_sum(values: Doubles, currency: str | None) -> int:
    """The sum in scaled integers: at once where rounding is beyond doubt, one by one where it may be a tie."""
    products = values * money_scale(currency)
    whole = np.rint(products)
    sure = (np.abs(products) < _SURE) & (np.abs(products - whole) < 0.25)
    doubtful = sum(scaled(value, currency) for value in values[~sure].tolist())
    exact = whole[sure].astype(np.int64)
    return doubtful + sum(int(exact[at : at + _CHUNK].sum()) for at in range(0, len(exact), _CHUNK))
