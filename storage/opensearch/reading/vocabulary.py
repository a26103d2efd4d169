"""The vocabulary of a bucket: the visible values of each field, and how many documents have the field."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import DOCUMENT, TITLE_LABEL_PATH, IndexedField, IndexLayout
from storage.opensearch.reading.compile import all_of, any_row_query, value_exists_query, visibility_query
from storage.opensearch.reading.facets import display_value_of, value_counts_of
from storage.opensearch.reading.query_steps import (
    QuerySteps,
    build_search_request,
    count_matching_documents,
    documents_by_term,
    run_pair_side_by_side,
    run_side_by_side,
)
from storage.opensearch.terms import display_label_of, fold_identity_of
from storage.search.evaluation.title_tally import MAX_TITLED_DOCUMENTS, count_titles
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary, ValueCount
from storage.search.schema import FieldType
from storage.search.scope import Scope

FieldPresence: TypeAlias = tuple[int, dict[FieldName, int]]
# The bucket's document count, its fields that have values, and its titles.
BucketVocabulary: TypeAlias = tuple[int, list[FieldVocabulary], tuple[ValueCount, ...]]


@dataclass(frozen=True, kw_only=True)
class _VocabularyField:
    """A field, or a column of the rows field at `rows_path`."""

    bucket: BucketId
    index: str
    name: FieldName
    field: IndexedField
    rows_path: str | None
    documents_query: JsonObject  # the visible documents that have a value


def load_bucket_vocabulary(layout: IndexLayout, scope: Scope, limit: int) -> QuerySteps[BucketVocabulary]:
    query = all_of({"term": {"kind": DOCUMENT}}, visibility_query(scope))
    document_count, fields = yield from run_pair_side_by_side(
        count_matching_documents([build_search_request(layout.index, query)]),
        run_side_by_side([_vocabulary_of_field(target, limit) for target in _vocabulary_fields_of(layout, query)]),
    )
    has_titles = layout.has_title_labels and 0 < document_count <= MAX_TITLED_DOCUMENTS
    titles = (yield from _visible_titles(layout, query)) if has_titles else ()
    return document_count, [field_vocabulary for field_vocabulary in fields if field_vocabulary.document_count], titles


def _visible_titles(layout: IndexLayout, query: JsonObject) -> QuerySteps[tuple[ValueCount, ...]]:
    label_counts = yield from documents_by_term(layout.index, query, TITLE_LABEL_PATH)
    return count_titles({display_label_of(label): count for label, count in label_counts.items()})


def _vocabulary_fields_of(layout: IndexLayout, query: JsonObject) -> Iterator[_VocabularyField]:
    """Yields the fields in order of the schema; columns follow their rows field."""
    for name, field in layout.indexed_fields.items():
        present_query = all_of(query, value_exists_query(field))
        yield _VocabularyField(
            bucket=layout.bucket,
            index=layout.index,
            name=name,
            field=field,
            rows_path=None,
            documents_query=present_query,
        )
        for column_name, column_field in field.indexed_columns.items():
            nested_query = any_row_query(field, value_exists_query(column_field))
            yield _VocabularyField(
                bucket=layout.bucket,
                index=layout.index,
                name=FieldName(f"{name}.{column_name}"),
                field=column_field,
                rows_path=field.path,
                documents_query=all_of(query, nested_query),
            )


def _vocabulary_of_field(target: _VocabularyField, limit: int) -> QuerySteps[FieldVocabulary]:
    match target.field.definition.type:
        case FieldType.CATEGORY | FieldType.LIST | FieldType.TEXT:
            return (yield from _vocabulary_of_strings(target, limit))
        case FieldType.NUMBER | FieldType.MONEY | FieldType.DATE:
            return (yield from _vocabulary_of_range(target))
        case FieldType.FLAG | FieldType.ROWS:
            document_count = yield from count_matching_documents(
                [build_search_request(target.index, target.documents_query)]
            )
            return FieldVocabulary(bucket=target.bucket, field=target.name, document_count=document_count)


def _vocabulary_of_strings(target: _VocabularyField, limit: int) -> QuerySteps[FieldVocabulary]:
    document_count, (term_counts, label_counts) = yield from run_pair_side_by_side(
        count_matching_documents([build_search_request(target.index, target.documents_query)]),
        run_pair_side_by_side(
            documents_by_term(target.index, target.documents_query, target.field.path, target.rows_path),
            documents_by_term(target.index, target.documents_query, target.field.label_path, target.rows_path),
        ),
    )
    fold_counts = Counter({fold_identity_of(term, is_key=True): count for term, count in term_counts.items()})
    values = value_counts_of(fold_counts, label_counts, limit)
    return FieldVocabulary(bucket=target.bucket, field=target.name, document_count=document_count, values=values)


def _vocabulary_of_range(target: _VocabularyField) -> QuerySteps[FieldVocabulary]:
    low: JsonObject = {"min": {"field": target.field.path}}
    high: JsonObject = {"max": {"field": target.field.path}}
    aggregations: JsonObject = {"low": low, "high": high}
    if target.rows_path is not None:
        aggregations = {"rows": {"nested": {"path": target.rows_path}, "aggs": aggregations}}
    (response,) = yield [build_search_request(target.index, target.documents_query, aggregations)]
    extremes = response.aggregations if target.rows_path is None else response.aggregations["rows"]
    field_type = target.field.definition.type
    return FieldVocabulary(
        bucket=target.bucket,
        field=target.name,
        document_count=response.total,
        low=_display_bound_of(extremes["low"]["value"], field_type),
        high=_display_bound_of(extremes["high"]["value"], field_type),
    )


def _display_bound_of(value: float | None, field_type: FieldType) -> float | str | None:
    return None if value is None else display_value_of(value, field_type)


def count_field_presence(layout: IndexLayout) -> QuerySteps[FieldPresence]:
    """Returns the document count of a bucket and of each field that has values in it."""
    query: JsonObject = {"term": {"kind": DOCUMENT}}
    aggregations: JsonObject = {
        field.path: {"filter": value_exists_query(field)} for field in layout.indexed_fields.values()
    }
    (response,) = yield [build_search_request(layout.index, query, aggregations)]
    counts = {
        name: int(response.aggregations[field.path]["doc_count"]) for name, field in layout.indexed_fields.items()
    }
    return response.total, {name: count for name, count in counts.items() if count}
