"""Aggregates: numbers over a set by group and unit, from one composite aggregation per bucket."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias, assert_never

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import IndexedField
from storage.opensearch.reading.bucket_queries import BucketQuery, fields_in_buckets
from storage.opensearch.reading.compile import all_of, value_exists_query
from storage.opensearch.reading.facets import display_value_of, most_common_labels, spelling_of
from storage.opensearch.reading.query_steps import (
    QuerySteps,
    documents_by_term,
    fetch_composite_bins,
    run_pair_side_by_side,
    run_side_by_side,
)
from storage.opensearch.responses import Aggregations
from storage.opensearch.terms import fold_identity_of
from storage.opensearch.writing.encode import combine_scaled_parts
from storage.search.conditions import Scalar
from storage.search.errors import InvalidCondition
from storage.search.evaluation.sort_keys import aggregate_sort_key
from storage.search.index import AggregateLine, AggregateRequest
from storage.search.numbers import (
    median_of,
    multiply_numbers,
    round_money_totals,
    round_number_totals,
    scale_amount,
)
from storage.search.plan import CalendarPeriod, GroupBy
from storage.search.schema import FieldType

GroupKey: TypeAlias = str | float | bool | None
_STRING_TYPES = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)


@dataclass(kw_only=True)
class _GroupTotals:
    """The running totals of one group and unit.

    `scaled_sum` is the sum of money, `plain_sum` the sum of other numbers. `value_counts` is filled only where each
    bin holds a single value.
    """

    count: int = 0
    scaled_sum: int = 0
    plain_sum: float = 0.0
    minimum: float = float("inf")
    maximum: float = float("-inf")
    value_counts: Counter[float] = field(default_factory=Counter[float])

    def add_product_bin(self, group_bin: JsonObject, number_field: IndexedField) -> None:
        """Adds the documents with one value and one factor, unless their product is too large for a double."""
        key, count = group_bin["key"], group_bin["doc_count"]
        product = multiply_numbers(float(key["value"]), float(key["factor"]))
        if product is None:
            return
        self.count += count
        self.minimum, self.maximum = min(self.minimum, product), max(self.maximum, product)
        if number_field.definition.type is FieldType.MONEY:
            self.scaled_sum += scale_amount(product, key["unit"] or None) * count
        else:
            self.plain_sum += product * count

    def add_group_bin(self, group_bin: JsonObject, number_field: IndexedField | None) -> None:
        self.count += group_bin["doc_count"]
        if number_field is None:
            return
        self.minimum, self.maximum = (
            min(self.minimum, group_bin["low"]["value"]),
            max(self.maximum, group_bin["high"]["value"]),
        )
        if number_field.definition.type is FieldType.MONEY:
            self.scaled_sum += combine_scaled_parts(*(group_bin[f"sum_{index}"]["value"] for index in range(3)))
        else:
            self.plain_sum += group_bin["sum"]["value"]
        if "value" in group_bin["key"]:
            self.value_counts[float(group_bin["key"]["value"])] += group_bin["doc_count"]

    def middle_two_values(self) -> tuple[float, float]:
        """Returns the two middle values in order; the same value twice where the count is odd."""
        passed_count, middle_values = 0, list[float]()
        for value in sorted(self.value_counts):
            passed_count += self.value_counts[value]
            middle_values += [value] * (
                sum(passed_count > position for position in self._middle_positions()) - len(middle_values)
            )
        return middle_values[0], middle_values[-1]

    def _middle_positions(self) -> tuple[int, int]:
        return (self.count - 1) // 2, self.count // 2


def compute_aggregate(
    bucket_queries: Sequence[BucketQuery], request: AggregateRequest
) -> QuerySteps[tuple[AggregateLine, ...]]:
    fields: list[IndexedField] | list[None] = [None] * len(bucket_queries)
    if request.field is not None:
        fields = fields_in_buckets(bucket_queries, request.field)
        if any(field.definition.type not in (FieldType.NUMBER, FieldType.MONEY) for field in fields):
            raise InvalidCondition(f"the field {request.field!r} is neither a number nor money")
    if request.with_median and request.field is None:
        raise InvalidCondition("a median is of a field")
    factor_fields: list[IndexedField] | list[None] = [None] * len(bucket_queries)
    if request.factor is not None:
        factor_fields = fields_in_buckets(bucket_queries, request.factor)
        _check_factor(factor_fields, request)
    group_fields: list[IndexedField] | list[None] = [None] * len(bucket_queries)
    if request.group is not None:
        group_fields = fields_in_buckets(bucket_queries, request.group.field)
        _check_group_fields(group_fields, request.group)
    bins_by_bucket, labels = yield from run_pair_side_by_side(
        run_side_by_side(
            [
                _fetch_group_bins(*inputs, request)
                for inputs in zip(bucket_queries, fields, factor_fields, group_fields, strict=True)
            ]
        ),
        _count_group_labels(bucket_queries, group_fields),
    )
    lines = dict[tuple[GroupKey, str | None], _GroupTotals]()
    for number_field, group_field, bins in zip(fields, group_fields, bins_by_bucket, strict=True):
        for group_bin in bins:
            key = (
                _group_key_of(group_bin["key"]["group"], group_field, request.group, labels)
                if group_field is not None
                else None
            )
            totals = lines.setdefault((key, _unit_of_bin(group_bin, number_field)), _GroupTotals())
            if request.factor is not None and number_field is not None:
                totals.add_product_bin(group_bin, number_field)
            else:
                totals.add_group_bin(group_bin, number_field)
    aggregate_lines = [
        _aggregated_from_totals(group, unit, totals, fields[0], request)
        for (group, unit), totals in lines.items()
        if totals.count
    ]
    return tuple(sorted(aggregate_lines, key=aggregate_sort_key))


def _check_factor(factor_fields: Sequence[IndexedField], request: AggregateRequest) -> None:
    if request.field is None:
        raise InvalidCondition("only the values of a field have a factor")
    if request.with_median:
        raise InvalidCondition("a product has no median")
    if any(field.definition.type is not FieldType.NUMBER for field in factor_fields):
        raise InvalidCondition(f"the field {request.factor!r} is not a number")


def _check_group_fields(group_fields: Sequence[IndexedField], grouping: GroupBy) -> None:
    for group_field in group_fields:
        if group_field.definition.type is FieldType.ROWS:
            raise InvalidCondition(f"the field {group_field.definition.name!r} holds rows, which make no groups")
        if grouping.period is not None and group_field.definition.type is not FieldType.DATE:
            raise InvalidCondition(f"the field {group_field.definition.name!r} is not a date, so it has no periods")


def _fetch_group_bins(
    bucket_query: BucketQuery,
    number_field: IndexedField | None,
    factor_field: IndexedField | None,
    group_field: IndexedField | None,
    request: AggregateRequest,
) -> QuerySteps[list[JsonObject]]:
    # `kind` is the same for all documents, so it makes a single bin where there are no units.
    unit_path = (
        number_field.unit_path
        if number_field is not None and number_field.definition.type is FieldType.MONEY
        else "kind"
    )
    sources: list[JsonObject] = [{"unit": {"terms": {"field": unit_path}}}]
    if group_field is not None:
        sources.append(
            {"group": {"terms": {"field": _group_path_of(group_field, request.group), "missing_bucket": True}}}
        )
    if (request.with_median or factor_field is not None) and number_field is not None:
        # A bin for each value: a median needs all values in order, and a product both numbers.
        sources.append({"value": {"terms": {"field": number_field.path}}})
    if factor_field is not None:
        sources.append({"factor": {"terms": {"field": factor_field.path}}})
    measured = [field for field in (number_field, factor_field) if field is not None]
    query = all_of(bucket_query.documents_query, *map(value_exists_query, measured))
    summed = number_field if factor_field is None else None
    return fetch_composite_bins(
        bucket_query.index, query, sources, {} if summed is None else _aggregations_for_numbers(summed)
    )


def _group_path_of(group_field: IndexedField, grouping: GroupBy | None) -> str:
    period = None if grouping is None else grouping.period
    return group_field.path if period in (None, CalendarPeriod.DAY) else group_field.period_path(period)


def _aggregations_for_numbers(number_field: IndexedField) -> Aggregations:
    extremes: Aggregations = {
        "low": {"min": {"field": number_field.path}},
        "high": {"max": {"field": number_field.path}},
    }
    if number_field.definition.type is FieldType.MONEY:
        return extremes | {
            f"sum_{index}": {"sum": {"field": path}} for index, path in enumerate(number_field.scaled_paths)
        }
    return extremes | {"sum": {"sum": {"field": number_field.path}}}


def _count_group_labels(
    bucket_queries: Sequence[BucketQuery], group_fields: Sequence[IndexedField | None]
) -> QuerySteps[dict[str, str]]:
    """Returns, for each folded value of the group field, the spelling that is most common in the whole set."""
    label_steps = [
        documents_by_term(bucket_query.index, bucket_query.documents_query, group_field.label_path)
        for bucket_query, group_field in zip(bucket_queries, group_fields, strict=True)
        if group_field is not None and group_field.definition.type in _STRING_TYPES
    ]
    label_counts = yield from run_side_by_side(label_steps)
    return most_common_labels(sum(map(Counter, label_counts), Counter[str]()))


def _group_key_of(
    value: Scalar | None, group_field: IndexedField, grouping: GroupBy | None, labels: dict[str, str]
) -> GroupKey:
    if value is None:
        return None
    match group_field.definition.type:
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST:
            return spelling_of(fold_identity_of(str(value), is_key=True), labels)
        case FieldType.FLAG:
            return value in (True, "true")
        case FieldType.NUMBER | FieldType.MONEY:
            return float(value) + 0.0
        case FieldType.DATE:
            return _first_day_of_period(int(value), None if grouping is None else grouping.period)
        case FieldType.ROWS:
            raise AssertionError("rows make no groups")
        case _:
            assert_never(group_field.definition.type)


def _first_day_of_period(period_number: int, period: CalendarPeriod | None) -> str:
    match period:
        case None | CalendarPeriod.DAY:
            return str(display_value_of(period_number, FieldType.DATE))
        case CalendarPeriod.YEAR:
            return date(period_number, 1, 1).isoformat()
        case CalendarPeriod.QUARTER:
            return date(period_number // 4, period_number % 4 * 3 + 1, 1).isoformat()
        case CalendarPeriod.MONTH:
            return date(period_number // 12, period_number % 12 + 1, 1).isoformat()
        case _:
            assert_never(period)


def _unit_of_bin(group_bin: JsonObject, number_field: IndexedField | None) -> str | None:
    if number_field is None:
        return None
    return (
        group_bin["key"]["unit"] if number_field.definition.type is FieldType.MONEY else number_field.definition.unit
    ) or None


def _aggregated_from_totals(
    group: GroupKey,
    unit: str | None,
    totals: _GroupTotals,
    number_field: IndexedField | None,
    request: AggregateRequest,
) -> AggregateLine:
    if number_field is None:
        return AggregateLine(group=group, unit=None, count=totals.count, sum=0.0, average=0.0, minimum=0.0, maximum=0.0)
    is_money = number_field.definition.type is FieldType.MONEY
    largest_magnitude = max(abs(totals.minimum), abs(totals.maximum))
    rounded_sum, average = (
        round_money_totals(totals.scaled_sum, unit, totals.count, largest_magnitude)
        if is_money
        else round_number_totals(totals.plain_sum, totals.count, largest_magnitude)
    )
    return AggregateLine(
        group=group,
        unit=unit,
        count=totals.count,
        sum=rounded_sum,
        average=average,
        minimum=totals.minimum + 0.0,
        maximum=totals.maximum + 0.0,
        median=median_of(*totals.middle_two_values(), unit, is_money=is_money) if request.with_median else None,
        unrounded_sum=totals.scaled_sum if is_money else totals.plain_sum,
    )
