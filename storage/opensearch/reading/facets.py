"""Facets: how a field splits a set.

All values are fetched with their counts; the bins and the remainder are computed here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import assert_never

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import IndexedField
from storage.opensearch.reading.bucket_queries import BucketQuery, fields_in_buckets
from storage.opensearch.reading.compile import all_of, any_term_query, indexed_value_of, value_exists_query
from storage.opensearch.reading.query_steps import (
    MixedStates,
    OpenSearchRequest,
    QuerySteps,
    build_search_request,
    count_matching_documents,
    documents_by_term,
    run_pair_side_by_side,
    run_side_by_side,
)
from storage.opensearch.terms import display_label_of, fold_identity_of
from storage.search.conditions import Scalar
from storage.search.errors import InvalidCondition
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
from storage.search.schema import FieldType

_ORDERED_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)


def compute_facet(bucket_queries: Sequence[BucketQuery], request: FacetRequest) -> QuerySteps[FacetAnswer]:
    fields = fields_in_buckets(bucket_queries, request.field)
    if len(fields) > 1 and not all(field.definition.shared for field in fields):
        raise InvalidCondition(f"the field {request.field!r} is not shared by these buckets")
    if not fields:
        yield []
        return ValueFacet(values=(), other_count=0, missing_count=0, distinct_count=0, is_overlapping=False)
    match fields[0].definition.type:
        case FieldType.CATEGORY | FieldType.TEXT:
            return (yield from _facet_of_values(bucket_queries, fields, request))
        case FieldType.LIST:
            return (yield from _facet_of_members(bucket_queries, fields, request))
        case FieldType.FLAG:
            return (yield from _facet_of_flags(bucket_queries, fields, request))
        case FieldType.NUMBER | FieldType.MONEY:
            document_count, value_counts = yield from _count_distinct_values(bucket_queries, fields)
            ranges = bin_numbers(value_counts, request.max_bins)
            return RangeFacet(ranges=ranges, missing_count=document_count - sum(count for _, count in value_counts))
        case FieldType.DATE:
            document_count, value_counts = yield from _count_distinct_values(bucket_queries, fields)
            days = [(str(display_value_of(day, FieldType.DATE)), count) for day, count in value_counts]
            return PeriodFacet(
                periods=bin_days(days, request.max_bins),
                missing_count=document_count - sum(count for _, count in value_counts),
            )
        case FieldType.ROWS:
            raise InvalidCondition(f"the field {request.field!r} holds rows, which have no facet")
        case _:
            assert_never(fields[0].definition.type)


def _count_all_documents(bucket_queries: Sequence[BucketQuery]) -> QuerySteps[int]:
    return count_matching_documents(
        [build_search_request(bucket_query.index, bucket_query.documents_query) for bucket_query in bucket_queries]
    )


def _count_matching_documents(
    bucket_queries: Sequence[BucketQuery], conditions: Sequence[JsonObject]
) -> QuerySteps[int]:
    """Returns how many documents of the set meet the condition of their bucket."""
    pairs = zip(bucket_queries, conditions, strict=True)
    return count_matching_documents(
        [
            build_search_request(bucket_query.index, all_of(bucket_query.documents_query, condition))
            for bucket_query, condition in pairs
        ]
    )


def _count_documents_by_term(bucket_queries: Sequence[BucketQuery], paths: Sequence[str]) -> QuerySteps[Counter[str]]:
    """Returns how many documents of the set have each term of the path in their bucket."""
    pairs = zip(bucket_queries, paths, strict=True)
    bucket_counts = yield from run_side_by_side(
        [documents_by_term(bucket_query.index, bucket_query.documents_query, path) for bucket_query, path in pairs]
    )
    return sum(map(Counter, bucket_counts), Counter[str]())


def _count_distinct_values(
    bucket_queries: Sequence[BucketQuery], fields: Sequence[IndexedField]
) -> QuerySteps[tuple[int, list[tuple[float, int]]]]:
    """Returns the document count of the set and the count of each number or day, in order of value."""
    document_count, value_counts = yield from run_pair_side_by_side(
        _count_all_documents(bucket_queries), _count_documents_by_term(bucket_queries, [field.path for field in fields])
    )
    return document_count, sorted((float(value) + 0.0, count) for value, count in value_counts.items())


def _facet_of_flags(
    bucket_queries: Sequence[BucketQuery], fields: Sequence[IndexedField], request: FacetRequest
) -> QuerySteps[FacetAnswer]:
    document_count, true_count = yield from run_pair_side_by_side(
        _count_all_documents(bucket_queries),
        _count_matching_documents(bucket_queries, [any_term_query(field.path, [True]) for field in fields]),
    )
    return flag_facet_of(true_count, document_count, request.max_values)


def _facet_of_values(
    bucket_queries: Sequence[BucketQuery], fields: Sequence[IndexedField], request: FacetRequest
) -> QuerySteps[FacetAnswer]:
    """Returns the facet of a field with one value per document; spellings with the same fold are added up."""
    document_count, label_counts = yield from run_pair_side_by_side(
        _count_all_documents(bucket_queries),
        _count_documents_by_term(bucket_queries, [field.label_path for field in fields]),
    )
    fold_counts = Counter[str]()
    for label, count in label_counts.items():
        fold_counts[fold_identity_of(label, is_key=False)] += count
    values = value_counts_of(fold_counts, label_counts, request.max_values)
    with_value_count = fold_counts.total()
    return ValueFacet(
        values=values,
        other_count=with_value_count - sum(value.count for value in values),
        missing_count=document_count - with_value_count,
        distinct_count=len(fold_counts),
        is_overlapping=False,
    )


def _facet_of_members(
    bucket_queries: Sequence[BucketQuery], fields: Sequence[IndexedField], request: FacetRequest
) -> QuerySteps[FacetAnswer]:
    """Returns the facet of a list field.

    A document counts once for each of its members, and once in `other_count` if none of its members is shown.
    """
    document_count, ((term_counts, label_counts), with_value_count) = yield from run_pair_side_by_side(
        _count_all_documents(bucket_queries),
        run_pair_side_by_side(
            run_pair_side_by_side(
                _count_documents_by_term(bucket_queries, [field.path for field in fields]),
                _count_documents_by_term(bucket_queries, [field.label_path for field in fields]),
            ),
            _count_matching_documents(bucket_queries, [value_exists_query(field) for field in fields]),
        ),
    )
    fold_counts = Counter({fold_identity_of(term, is_key=True): count for term, count in term_counts.items()})
    other_count = 0
    if len(fold_counts) > request.max_values:
        shown_terms = _largest_terms(term_counts, request.max_values)
        shown_count = yield from _count_matching_documents(
            bucket_queries, [any_term_query(field.path, shown_terms) for field in fields]
        )
        other_count = with_value_count - shown_count
    return ValueFacet(
        values=value_counts_of(fold_counts, label_counts, request.max_values),
        other_count=other_count,
        missing_count=document_count - with_value_count,
        distinct_count=len(fold_counts),
        is_overlapping=True,
    )


def _largest_terms(counts: Mapping[str, int], limit: int) -> list[str]:
    return sorted(counts, key=lambda term: (-counts[term], term))[: max(limit, 0)]


def value_counts_of(
    fold_counts: Mapping[str, int], label_counts: Mapping[str, int], limit: int
) -> tuple[ValueCount, ...]:
    """Returns the most frequent folds, largest first, each in its most common spelling. Raises `MixedStates`."""
    labels = most_common_labels(label_counts)
    return tuple(
        ValueCount(value=spelling_of(fold, labels), count=fold_counts[fold])
        for fold in _largest_terms(fold_counts, limit)
    )


def spelling_of(fold: str, labels: Mapping[str, str]) -> str:
    """Raises `MixedStates` for a value that the search for the spellings did not see yet."""
    if fold not in labels:
        raise MixedStates
    return labels[fold]


def most_common_labels(label_counts: Mapping[str, int]) -> dict[str, str]:
    """Returns the most common spelling of each fold; ties go to the first by code point."""
    labels = dict[str, str]()
    for label in _largest_terms(label_counts, len(label_counts)):
        labels.setdefault(fold_identity_of(label, is_key=False), display_label_of(label))
    return labels


def find_nearest_values(
    bucket_queries: Sequence[BucketQuery], name: FieldName, value: float | str
) -> QuerySteps[NearestValues]:
    """Returns the values of the set next below and next above `value`.

    Raises `InvalidCondition` for a field that is not a number, money or date, and for a value of another type.
    """
    fields = fields_in_buckets(bucket_queries, name)
    field_type = fields[0].definition.type if fields else FieldType.NUMBER
    if field_type not in _ORDERED_TYPES:
        raise InvalidCondition(f"the field {name!r} has no nearest value")
    indexed_value = indexed_value_of(convert_scalar(value, field_type, name), field_type) if fields else value
    responses = yield [
        _neighbours_request_for(bucket_query, field, indexed_value)
        for bucket_query, field in zip(bucket_queries, fields, strict=True)
    ]
    below = [response.aggregations["below"]["value"]["value"] for response in responses]
    above = [response.aggregations["above"]["value"]["value"] for response in responses]
    return NearestValues(
        below=_display_bound_of(max((bound for bound in below if bound is not None), default=None), field_type),
        above=_display_bound_of(min((bound for bound in above if bound is not None), default=None), field_type),
    )


def _neighbours_request_for(bucket_query: BucketQuery, field: IndexedField, value: Scalar) -> OpenSearchRequest:
    below: JsonObject = {
        "filter": {"range": {field.path: {"lt": value}}},
        "aggs": {"value": {"max": {"field": field.path}}},
    }
    above: JsonObject = {
        "filter": {"range": {field.path: {"gt": value}}},
        "aggs": {"value": {"min": {"field": field.path}}},
    }
    return build_search_request(bucket_query.index, bucket_query.documents_query, {"below": below, "above": above})


def _display_bound_of(value: float | None, field_type: FieldType) -> float | str | None:
    return value if value is None else display_value_of(value, field_type)


def display_value_of(value: float, field_type: FieldType) -> float | str:
    """Returns a number, or the ISO day of a date's day number."""
    return date.fromordinal(int(value)).isoformat() if field_type is FieldType.DATE else value + 0.0
