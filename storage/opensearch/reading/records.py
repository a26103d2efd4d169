"""Reads records: a whole set in order, page by page, and documents by id.

A page begins after a sort key of this module and not after OpenSearch's own sort values, because those change their
type where a value is missing.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TypeAlias, cast, overload

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import BODY, DOCUMENT, MAX_HITS, IndexedField, IndexLayout
from storage.opensearch.reading.bucket_queries import BucketQuery, fields_in_buckets
from storage.opensearch.reading.compile import (
    MATCH_NONE,
    all_of,
    any_of,
    any_term_query,
    complement_of,
    value_exists_query,
    visibility_query,
)
from storage.opensearch.reading.query_steps import (
    OpenSearchRequest,
    QuerySteps,
    build_search_request,
    split_joint_indexes,
)
from storage.opensearch.responses import OpenSearchHit
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing.encode import decode_stored_document, stored_values_of
from storage.search.analyser import fold_text
from storage.search.documents import Document, FieldValues
from storage.search.errors import InvalidCondition
from storage.search.evaluation.value_validation import is_valid_unicode
from storage.search.ids import DocId
from storage.search.index import DocumentRecord, RecordPage, RecordPageRequest
from storage.search.schema import FieldType, SchemaOrder
from storage.search.scope import Scope

SortValue: TypeAlias = float | str | None  # None: the record has no value
_MAX_IDS = 1_000  # in one search for documents


class DeferredRecords(Sequence[DocumentRecord]):
    """Records that are decoded when they are first read. Equal to any sequence of the same records."""

    def __init__(self, hits: Sequence[OpenSearchHit], decode_hit: Callable[[OpenSearchHit], DocumentRecord]) -> None:
        self._hits, self._decode_hit = hits, decode_hit

    @cached_property
    def _records(self) -> tuple[DocumentRecord, ...]:
        return tuple(map(self._decode_hit, self._hits))

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, index: int) -> DocumentRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[DocumentRecord]: ...
    def __getitem__(self, index: int | slice) -> DocumentRecord | Sequence[DocumentRecord]:
        return self._records[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._records == tuple(cast(Sequence[object], other))


def load_record_page(bucket_queries: Sequence[BucketQuery], request: RecordPageRequest) -> QuerySteps[RecordPage]:
    """Returns one page of a set.

    Raises `UnknownField`, and `InvalidCondition` also for a cursor that comes from another order.
    """
    is_natural = len(bucket_queries) == 1 and not request.order_by_id
    sort_order = request.order or (bucket_queries[0].layout.schema.natural_order if is_natural else None)
    sort_order = sort_order if bucket_queries else None
    fields: Sequence[IndexedField | None] = (
        [None] * len(bucket_queries) if sort_order is None else _fields_for_order(bucket_queries, sort_order)
    )
    after = None if request.cursor is None else _decode_cursor(request.cursor, sort_order)
    limit = min(max(request.limit, 1), MAX_HITS - 1)
    responses = yield [
        _request_for_page(bucket_query, field, sort_order, after, limit, with_values=request.fields != frozenset())
        for bucket_query, field in zip(bucket_queries, fields, strict=True)
    ]
    if request.decodes_later and len(bucket_queries) == 1:
        return _page_to_decode(responses[0].hits, bucket_queries[0].layout, fields[0], request, sort_order, limit)
    entries = list[tuple[SortValue, DocumentRecord]]()
    for bucket_query, field, response in zip(bucket_queries, fields, responses, strict=True):
        for hit in response.hits:
            record = _record_from_source(hit.stored_entry, bucket_query.layout, request)
            entries.append((_sort_value_of(record, hit, bucket_query.layout, field, request), record))
    entries.sort(key=lambda entry: keyword_term_of(entry[1].doc_id))
    if sort_order is not None:
        entries.sort(key=lambda entry: _sort_key_for(entry[0], sort_order), reverse=sort_order.descending)
    last_entry = entries[limit - 1] if len(entries) > limit else None
    return RecordPage(
        records=tuple(record for _, record in entries[:limit]),
        cursor=None if last_entry is None else _encode_cursor(sort_order, last_entry[0], last_entry[1].doc_id),
    )


def _page_to_decode(
    hits: Sequence[OpenSearchHit],
    layout: IndexLayout,
    field: IndexedField | None,
    request: RecordPageRequest,
    sort_order: SchemaOrder | None,
    limit: int,
) -> RecordPage:
    """Returns a page of one bucket, in the order of the server, of which only the last record is decoded."""

    def decode_hit(hit: OpenSearchHit) -> DocumentRecord:
        return _record_from_source(hit.stored_entry, layout, request)

    cursor = None
    if len(hits) > limit:
        last_hit, last_record = hits[limit - 1], decode_hit(hits[limit - 1])
        last_value = _sort_value_of(last_record, last_hit, layout, field, request)
        cursor = _encode_cursor(sort_order, last_value, last_record.doc_id)
    return RecordPage(records=DeferredRecords(hits[:limit], decode_hit), cursor=cursor)


def _fields_for_order(bucket_queries: Sequence[BucketQuery], sort_order: SchemaOrder) -> list[IndexedField]:
    fields = fields_in_buckets(bucket_queries, sort_order.field)
    if any(field.definition.type in (FieldType.LIST, FieldType.ROWS) for field in fields):
        raise InvalidCondition(f"the field {sort_order.field!r} holds several values and gives no order")
    return fields


def _sort_key_for(value: SortValue, sort_order: SchemaOrder) -> tuple[bool, float | str]:
    """Returns a sort key in the order of the server, which sorts long strings by their terms.

    It puts records without a value last, in both directions.
    """
    if value is None:
        return (not sort_order.descending, 0.0)
    return (sort_order.descending, keyword_term_of(value) if isinstance(value, str) else value)


def _request_for_page(
    bucket_query: BucketQuery,
    field: IndexedField | None,
    sort_order: SchemaOrder | None,
    after: tuple[SortValue, str] | None,
    limit: int,
    *,
    with_values: bool,
) -> OpenSearchRequest:
    query = (
        bucket_query.documents_query
        if after is None
        else all_of(bucket_query.documents_query, _query_for_later_records(field, sort_order, *after))
    )
    sort: list[JsonObject] = [{"doc_id": "asc"}]
    if field is not None and sort_order is not None:
        sort.insert(0, {field.path: {"order": "desc" if sort_order.descending else "asc", "missing": "_last"}})
    options: JsonObject = {"_source": ["stored.doc_id", "stored.title", "stored.source"]}
    if with_values:
        options["_source"].append("stored.values")
    elif field is not None:
        options["docvalue_fields"] = [field.path]
    if after is not None:  # the total of what is left tells nothing, and takes a visit to all of it
        options["track_total_hits"] = False
    return build_search_request(bucket_query.index, query, None, size=limit + 1, sort=sort, **options)


def _query_for_later_records(
    field: IndexedField | None, sort_order: SchemaOrder | None, last_value: SortValue, doc_id: str
) -> JsonObject:
    """Returns the query for the records after the document `doc_id`, whose sort value is `last_value`."""
    later_ids: JsonObject = {"range": {"doc_id": {"gt": keyword_term_of(doc_id)}}}
    if field is None or sort_order is None:
        return later_ids
    missing = MATCH_NONE if field.definition.type is FieldType.FLAG else complement_of(value_exists_query(field))
    if last_value is None:
        return all_of(missing, later_ids)
    value = _indexed_sort_value(last_value, field)
    beyond: JsonObject = {"range": {field.path: {"lt" if sort_order.descending else "gt": value}}}
    return any_of(beyond, all_of(any_term_query(field.path, [value]), later_ids), missing)


def _indexed_sort_value(value: float | str, field: IndexedField) -> float | str | bool:
    """Returns a sort key as it is indexed. Raises `InvalidCondition` for a key of another type."""
    is_text = field.definition.type in (FieldType.CATEGORY, FieldType.TEXT)
    if isinstance(value, str) != is_text:
        raise InvalidCondition("the cursor is of another order")
    if isinstance(value, str):
        return keyword_term_of(value)
    return (
        bool(value)
        if field.definition.type is FieldType.FLAG
        else int(value)
        if field.definition.type is FieldType.DATE
        else value
    )


def _sort_value_of(
    record: DocumentRecord,
    hit: OpenSearchHit,
    layout: IndexLayout,
    field: IndexedField | None,
    request: RecordPageRequest,
) -> SortValue:
    if field is None:
        return None
    stored, name = hit.stored_entry, field.definition.name
    if "values" not in stored:
        return next(
            (value if isinstance(value, str) else float(value) for value in hit.fields.get(field.path, ())), None
        )
    is_shown = request.fields is None or name in request.fields
    value = (record.values if is_shown else stored_values_of(stored, layout, frozenset({name}))).get(name)
    if isinstance(value, str):
        return (
            float(date.fromisoformat(value).toordinal())
            if field.definition.type is FieldType.DATE
            else fold_text(value)
        )
    if field.definition.type is FieldType.FLAG:
        return float(bool(value))
    return value if isinstance(value, float) else None


def _encode_cursor(sort_order: SchemaOrder | None, last_value: SortValue, doc_id: str) -> str:
    order = None if sort_order is None else [sort_order.field, sort_order.descending]
    return base64.urlsafe_b64encode(json.dumps([order, last_value, doc_id]).encode()).decode()


def _decode_cursor(cursor: str, sort_order: SchemaOrder | None) -> tuple[SortValue, str]:
    try:
        order, last_value, doc_id = cast(
            tuple[object, object, object], json.loads(base64.urlsafe_b64decode(cursor.encode()))
        )
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    expected_order = None if sort_order is None else [sort_order.field, sort_order.descending]
    if order != expected_order or not isinstance(doc_id, str) or not isinstance(last_value, (str, float, type(None))):
        raise InvalidCondition("the cursor is of another order")
    return last_value, doc_id


def _record_from_source(stored: JsonObject, layout: IndexLayout, request: RecordPageRequest) -> DocumentRecord:
    values: FieldValues = stored_values_of(stored, layout, request.fields) if "values" in stored else {}
    doc_id = DocId(stored["doc_id"])
    return DocumentRecord(
        doc_id=doc_id, bucket=layout.bucket, title=stored["title"], source=stored["source"], values=values
    )


def fetch_documents_by_id(
    layouts: Sequence[IndexLayout], scope: Scope, doc_ids: Sequence[DocId], *, asks_each_index: bool = False
) -> QuerySteps[tuple[Document, ...]]:
    """Returns the documents that the scope may see, each once, in the order of `doc_ids`.

    `asks_each_index`: with one search per index, instead of one search for all.
    """
    valid_ids = [doc_id for doc_id in dict.fromkeys(doc_ids) if is_valid_unicode(doc_id)]
    requests = list[OpenSearchRequest]()
    names = [layout.index for layout in layouts]
    for asked_names in [[name] for name in names] if asks_each_index else split_joint_indexes(names):
        for start in range(0, len(valid_ids), _MAX_IDS):
            requests += _requests_by_id(asked_names, scope, valid_ids[start : start + _MAX_IDS])
    responses = yield requests
    layouts_by_index = {layout.index: layout for layout in layouts}
    texts = dict[tuple[str, str], str]()
    document_hits = dict[str, OpenSearchHit]()
    for response in responses:
        for hit in response.hits:
            if "values" in hit.stored_entry:
                document_hits[hit.stored_entry["doc_id"]] = hit
            else:
                texts[hit.version_name, hit.stored_entry["doc_id"]] = hit.stored_entry["text"]
    return tuple(
        _document_from_hit(document_hits[doc_id], texts, layouts_by_index)
        for doc_id in valid_ids
        if doc_id in document_hits
    )


def _document_from_hit(
    hit: OpenSearchHit, texts: Mapping[tuple[str, str], str], layouts: Mapping[str, IndexLayout]
) -> Document:
    text = texts[hit.version_name, hit.stored_entry["doc_id"]]
    return decode_stored_document(hit.stored_entry, text, layouts[hit.version_name])


def _requests_by_id(names: Sequence[str], scope: Scope, doc_ids: Sequence[DocId]) -> list[OpenSearchRequest]:
    """Returns one search for the documents and their texts, in all buckets of the scope."""
    query = all_of(
        any_term_query("kind", [DOCUMENT, BODY]),
        any_term_query("doc_id", list(map(keyword_term_of, doc_ids))),
        visibility_query(scope),
    )
    body: JsonObject = {"query": query, "size": 2 * len(doc_ids), "track_total_hits": True, "_source": ["stored"]}
    return [OpenSearchRequest(indexes=tuple(names), body=body)]
