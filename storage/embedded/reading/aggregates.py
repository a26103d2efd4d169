"""Aggregates of a set by group. Amounts of different units are never added."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np

from storage.embedded.bucket_snapshot import BucketSnapshot
from storage.embedded.columns import Doubles, FlagColumn, ListColumn, Mask, NumberColumn, StringColumn, iso_day_of
from storage.embedded.reading.facets import BucketMasks, distinct_pairs, fields_named, strings_of, tally_strings
from storage.embedded.string_dictionary import Ints
from storage.search.errors import InvalidCondition
from storage.search.evaluation.facet_binning import period_containing
from storage.search.evaluation.sort_keys import aggregate_sort_key
from storage.search.ids import FieldName
from storage.search.index import AggregateLine, AggregateRequest
from storage.search.numbers import (
    median_of,
    money_scale_of,
    multiply_numbers,
    round_money_totals,
    round_number_totals,
    scale_amount,
)
from storage.search.plan import CalendarPeriod, GroupBy
from storage.search.schema import FieldType, SchemaField

GroupLabel: TypeAlias = str | float | bool | None
_SUM_CHUNK = 4096  # numbers; a sum of so many cannot overflow
_EXACT_LIMIT = 2.0**50  # a smaller product of a double and the scale is less than 0.25 from the exact product
_FEW_DIGITS = 10.0**4  # this scale makes integers of decimals with up to four digits behind the point


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupMembership:
    """The groups of documents, an entry per document and group.

    `positions[i]` is the document's position in its bucket, and `labels[label_indexes[i]]` the group's label.
    """

    positions: Ints
    labels: Sequence[GroupLabel]
    label_indexes: Ints


def compute_aggregates(bucket_masks: BucketMasks, request: AggregateRequest) -> tuple[AggregateLine, ...]:
    fields = [] if request.field is None else fields_named(bucket_masks, request.field)
    if any(field.type not in (FieldType.NUMBER, FieldType.MONEY) for field in fields):
        raise InvalidCondition(f"the field {request.field!r} is neither a number nor money")
    if request.with_median and request.field is None:
        raise InvalidCondition("a median is of a field")
    if request.factor is not None:
        _check_factor(fields_named(bucket_masks, request.factor), request)
    if request.group is not None:
        _check_group_field(fields_named(bucket_masks, request.group.field), request.group)
    parts_by_group = dict[tuple[GroupLabel, str | None], list[Doubles]]()
    is_money = bool(fields) and fields[0].type is FieldType.MONEY
    for index, (bucket, mask) in enumerate(bucket_masks):
        field = fields[index] if fields else None
        for group, unit, values in _values_by_group(bucket_masks, bucket, mask, field, request):
            parts_by_group.setdefault((group, unit), []).append(values)
    lines: list[AggregateLine] = []
    for (group, unit), parts in parts_by_group.items():
        values = np.concatenate(parts)
        line = _build_line(group, unit, values, fields=fields, is_money=is_money)
        lines.append(
            replace(line, median=_compute_median(values, unit, is_money=is_money)) if request.with_median else line
        )
    return tuple(sorted(lines, key=aggregate_sort_key))


def _check_factor(fields: Sequence[SchemaField], request: AggregateRequest) -> None:
    if request.field is None:
        raise InvalidCondition("only the values of a field have a factor")
    if request.with_median:
        raise InvalidCondition("a product has no median")
    if any(field.type is not FieldType.NUMBER for field in fields):
        raise InvalidCondition(f"the field {request.factor!r} is not a number")


def _check_group_field(fields: Sequence[SchemaField], group: GroupBy) -> None:
    for field in fields:
        if field.type is FieldType.ROWS:
            raise InvalidCondition(f"the field {field.name!r} holds rows, which make no groups")
        if group.period is not None and field.type is not FieldType.DATE:
            raise InvalidCondition(f"the field {field.name!r} is not a date, so it has no periods")


def _values_by_group(
    bucket_masks: BucketMasks,
    bucket: BucketSnapshot,
    mask: Mask,
    field: SchemaField | None,
    request: AggregateRequest,
) -> list[tuple[GroupLabel, str | None, Doubles]]:
    """Returns the values of each group and unit for the documents of one bucket."""
    values = np.zeros(len(mask)) if field is None else cast(NumberColumn, bucket.columns[field.name]).values
    if request.factor is not None:
        factors = cast(NumberColumn, bucket.columns[request.factor]).values
        values = _multiply_columns(values, np.where(mask, factors, np.nan))
    membership = _group_documents(bucket_masks, bucket, mask & ~np.isnan(values), request.group)
    units, unit_indexes = _units_by_position(bucket, field)
    if not len(membership.positions):
        return []
    keys_by_entry = membership.label_indexes * len(units) + unit_indexes[membership.positions]
    order = np.argsort(keys_by_entry, kind="stable")
    keys, starts = np.unique(keys_by_entry[order], return_index=True)
    return [
        (membership.labels[key // len(units)], units[key % len(units)], values[membership.positions[entries]])
        for key, entries in zip(keys.tolist(), np.split(order, starts[1:]), strict=True)
    ]


def _multiply_columns(values: Doubles, factors: Doubles) -> Doubles:
    """Returns the product of each two numbers as `multiply_numbers` gives it; NaN if there is none.

    Multiplies in bulk the decimals of few digits, whose product of integers is exact, so that dividing it rounds once.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled_values, scaled_factors = np.rint(values * _FEW_DIGITS), np.rint(factors * _FEW_DIGITS)
        products = scaled_values * scaled_factors
        is_exact = (
            (scaled_values / _FEW_DIGITS == values)
            & (scaled_factors / _FEW_DIGITS == factors)
            & (np.maximum(np.abs(scaled_values), np.abs(scaled_factors)) < _EXACT_LIMIT)
            & (np.abs(products) < _EXACT_LIMIT)
        )
    result = np.where(is_exact, products / (_FEW_DIGITS * _FEW_DIGITS) + 0.0, np.nan)
    for position in np.flatnonzero(~is_exact & ~np.isnan(values) & ~np.isnan(factors)).tolist():
        product = multiply_numbers(float(values[position]), float(factors[position]))
        result[position] = np.nan if product is None else product
    return result


def _units_by_position(bucket: BucketSnapshot, field: SchemaField | None) -> tuple[list[str | None], Ints]:
    """Returns the distinct units, and for each document position the index of its unit."""
    document_count = len(bucket.ids)
    if field is None or field.currency_field is None:
        unit = None if field is None else (field.currency or field.unit or None)
        return [unit], np.zeros(document_count, dtype=np.int64)
    column = cast(StringColumn, bucket.columns[field.currency_field])
    fold_codes = column.dictionary.fold_codes_of(column.codes)
    distinct_folds = np.unique(fold_codes)
    distinct_codes: list[int] = distinct_folds.tolist()
    units = [
        column.dictionary.folds[code].upper() if code >= 0 else (field.currency or None) for code in distinct_codes
    ]
    return units, np.searchsorted(distinct_folds, fold_codes)


def _group_documents(
    bucket_masks: BucketMasks, bucket: BucketSnapshot, mask: Mask, group: GroupBy | None
) -> _GroupMembership:
    positions = np.flatnonzero(mask)
    if group is None:
        return _GroupMembership(
            positions=positions, labels=(None,), label_indexes=np.zeros(len(positions), dtype=np.int64)
        )
    column = bucket.columns[group.field]
    match column:
        case FlagColumn(values=flags):
            return _GroupMembership(
                positions=positions, labels=(False, True), label_indexes=(flags[positions] == 1).astype(np.int64)
            )
        case NumberColumn(values=numbers):
            label = _period_label_for(group.period) if _is_date_field(bucket, group.field) else float
            return _group_by_number(positions, numbers[positions], label)
        case StringColumn() | ListColumn():
            return _group_by_string(bucket_masks, column, mask, group.field)
        case _:
            raise AssertionError("rows make no groups")


def _is_date_field(bucket: BucketSnapshot, name: FieldName) -> bool:
    return bucket.schema.by_name[name].type is FieldType.DATE


def _period_label_for(period: CalendarPeriod | None) -> Callable[[float], str]:
    return lambda day: period_containing(iso_day_of(day), period or CalendarPeriod.DAY)[0]


def _group_by_number(positions: Ints, values: Doubles, label_for: Callable[[float], GroupLabel]) -> _GroupMembership:
    distinct, inverse = np.unique(values, return_inverse=True)
    labels = [None if math.isnan(value) else label_for(value) for value in distinct.tolist()]
    index_of_label = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    label_indexes = np.array([index_of_label[label] for label in labels], dtype=np.int64)
    return _GroupMembership(
        positions=positions,
        labels=tuple(index_of_label),
        label_indexes=label_indexes[inverse] if len(label_indexes) else np.zeros(0, dtype=np.int64),
    )


def _group_by_string(
    bucket_masks: BucketMasks, column: StringColumn | ListColumn, mask: Mask, name: FieldName
) -> _GroupMembership:
    owners, codes = strings_of(column, mask)
    fold_codes = column.dictionary.fold_codes_of(codes)
    pairs = distinct_pairs(owners, fold_codes)
    missing_positions = np.flatnonzero(mask & ~column.present_mask)
    positions, codes_by_entry = (
        np.concatenate((pairs[0], missing_positions)),
        np.concatenate((pairs[1], np.full(len(missing_positions), -1))),
    )
    distinct_codes, inverse = np.unique(codes_by_entry, return_inverse=True)
    # The labels are the most frequent spellings in the whole set.
    labels_by_code = tally_strings(bucket_masks, name).labels_by_fold(distinct_codes)
    return _GroupMembership(
        positions=positions,
        labels=[labels_by_code.get(code) for code in distinct_codes.tolist()],
        label_indexes=inverse,
    )


def _build_line(
    group: GroupLabel, unit: str | None, values: Doubles, *, fields: Sequence[SchemaField], is_money: bool
) -> AggregateLine:
    if not fields:
        return AggregateLine(group=group, unit=None, count=len(values), sum=0.0, average=0.0, minimum=0.0, maximum=0.0)
    minimum, maximum = float(values.min()), float(values.max())
    largest_magnitude = max(abs(minimum), abs(maximum))
    if is_money:
        total = _sum_scaled(values, unit)
        rounded_sum, average = round_money_totals(total, unit, len(values), largest_magnitude)
    else:
        total = math.fsum(values.tolist())
        rounded_sum, average = round_number_totals(total, len(values), largest_magnitude)
    return AggregateLine(
        group=group,
        unit=unit,
        count=len(values),
        sum=rounded_sum,
        average=average,
        minimum=minimum,
        maximum=maximum,
        unrounded_sum=total,
    )


def _compute_median(values: Doubles, unit: str | None, *, is_money: bool) -> float:
    middle_values = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return median_of(float(middle_values[0]), float(middle_values[-1]), unit, is_money=is_money)


def _sum_scaled(values: Doubles, currency: str | None) -> int:
    """Returns the exact sum in scaled integers.

    Sums in bulk the values whose rounding is certain, and rounds one by one the values that may be ties.
    """
    products = values * money_scale_of(currency)
    rounded_products = np.rint(products)
    is_certain = (np.abs(products) < _EXACT_LIMIT) & (np.abs(products - rounded_products) < 0.25)
    uncertain_sum = sum(scale_amount(value, currency) for value in values[~is_certain].tolist())
    certain_products = rounded_products[is_certain].astype(np.int64)
    return uncertain_sum + sum(
        int(certain_products[start : start + _SUM_CHUNK].sum()) for start in range(0, len(certain_products), _SUM_CHUNK)
    )
