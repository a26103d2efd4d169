"""Pages of the records of a set in order, and documents by id."""

import base64
import binascii
import json
import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from storage.embedded.bucket_snapshot import BucketHeader, BucketSnapshot, stored_values_of
from storage.embedded.columns import Column, FlagColumn, NumberColumn, StringColumn
from storage.embedded.packed_strings import PackedStrings
from storage.embedded.reading.facets import BucketMasks, fields_named
from storage.embedded.string_dictionary import Ints
from storage.search.codec import annotations_from_json
from storage.search.documents import Document, FieldAnnotation, FieldValue, FieldValues, Passage
from storage.search.errors import InvalidCondition
from storage.search.evaluation.value_validation import is_valid_unicode
from storage.search.ids import BucketId, DocId, FieldName, Subject
from storage.search.index import DocumentRecord, RecordPage, RecordPageRequest
from storage.search.schema import FieldType, SchemaOrder
from storage.search.scope import Scope

_BATCH_RECORDS, _BATCH_CHARACTERS = 1_000, 1_000_000  # of a scan; the characters of values, approximately
SortKey: TypeAlias = float | str | None  # None: the document has no value


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOrder:
    """A sorted set: entry i is the document at `positions[i]` of `buckets[bucket_indexes[i]]`."""

    sort_order: SchemaOrder | None
    buckets: Sequence[BucketSnapshot]
    bucket_indexes: Ints
    positions: Ints

    def __len__(self) -> int:
        return len(self.positions)

    def bucket_of(self, entry: int) -> BucketSnapshot:
        return self.buckets[int(self.bucket_indexes[entry])]

    def doc_id_of(self, entry: int) -> DocId:
        return DocId(self.bucket_of(entry).doc_ids[int(self.positions[entry])])

    def sort_key_of(self, entry: int) -> SortKey:
        if self.sort_order is None:
            return None
        return _sort_key_at(self.bucket_of(entry).columns[self.sort_order.field], int(self.positions[entry]))


def order_records(bucket_masks: BucketMasks, requested_order: SchemaOrder | None, *, order_by_id: bool) -> RecordOrder:
    """Sort the documents of a set. Raises `UnknownField` and `InvalidCondition`."""
    sort_order = requested_order or (
        bucket_masks[0][0].schema.natural_order if len(bucket_masks) == 1 and not order_by_id else None
    )
    if sort_order is not None:
        _check_sortable(bucket_masks, sort_order)
    positions = [np.flatnonzero(mask) for _, mask in bucket_masks]
    bucket_indexes = np.repeat(
        np.arange(len(bucket_masks)),
        np.array([len(bucket_positions) for bucket_positions in positions], dtype=np.int64),
    )
    all_positions = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    ranks = _doc_id_ranks_of(bucket_masks, positions)
    if sort_order is None or not bucket_masks:
        entries = np.argsort(ranks)
    else:
        keys = _sort_values_of(bucket_masks, positions, sort_order.field)
        # The last key of `lexsort` is its primary key. NaN (no value) comes last in both directions.
        entries = np.lexsort((ranks, -keys if sort_order.descending else keys))
    return RecordOrder(
        sort_order=sort_order if bucket_masks else None,
        buckets=[bucket for bucket, _ in bucket_masks],
        bucket_indexes=bucket_indexes[entries],
        positions=all_positions[entries],
    )


def _check_sortable(bucket_masks: BucketMasks, sort_order: SchemaOrder) -> None:
    for field in fields_named(bucket_masks, sort_order.field):
        if field.type in (FieldType.LIST, FieldType.ROWS):
            raise InvalidCondition(f"the field {sort_order.field!r} holds several values and gives no order")


def _doc_id_ranks_of(bucket_masks: BucketMasks, positions: Sequence[Ints]) -> Ints:
    if len(bucket_masks) == 1:
        return bucket_masks[0][0].doc_id_ranks()[positions[0]]
    doc_ids = PackedStrings()
    for (bucket, _), bucket_positions in zip(bucket_masks, positions, strict=True):
        doc_ids.add_strings(bucket.doc_ids[int(position)] for position in bucket_positions)
    return doc_ids.rank_strings().astype(np.int64)


def _sort_values_of(bucket_masks: BucketMasks, positions: Sequence[Ints], name: FieldName) -> NDArray[np.float64]:
    """Returns numbers that sort like the values; NaN: no value."""
    parts = [
        _column_sort_values(bucket.columns[name], bucket_positions)
        for (bucket, _), bucket_positions in zip(bucket_masks, positions, strict=True)
    ]
    return np.concatenate(parts)


def _column_sort_values(column: Column, positions: Ints) -> NDArray[np.float64]:
    match column:
        case NumberColumn(values=values):
            return values[positions]
        case FlagColumn(values=values):
            return (values[positions] == 1).astype(np.float64)
        case StringColumn(codes=codes, dictionary=dictionary):
            folds = dictionary.fold_codes_of(codes[positions])
            # The ranks are comparable across buckets, which share the dictionary of the field name.
            ranks = dictionary.compute_ranks().fold_ranks
            return np.where(folds < 0, np.nan, ranks[folds] if len(ranks) else np.nan)
        case _:
            raise AssertionError("lists and rows were refused")


def _sort_key_at(column: Column, position: int) -> SortKey:
    match column:
        case NumberColumn(values=values):
            return None if np.isnan(values[position]) else float(values[position])
        case FlagColumn(values=values):
            return float(values[position] == 1)
        case StringColumn(codes=codes, dictionary=dictionary):
            return (
                None
                if codes[position] < 0
                else dictionary.folds[int(dictionary.fold_codes_of(codes[position : position + 1])[0])]
            )
        case _:
            raise AssertionError("lists and rows were refused")


def read_page(connection: sqlite3.Connection, order: RecordOrder, request: RecordPageRequest) -> RecordPage:
    """Read a page. Raises `InvalidCondition` for a cursor of another order."""
    start = 0 if request.cursor is None else _find_start(order, request.cursor)
    stop = min(start + max(request.limit, 1), len(order))
    records = _read_records(connection, order, range(start, stop), request.fields)
    return RecordPage(records=records, cursor=_encode_cursor(order, stop - 1) if start < stop < len(order) else None)


def _encode_cursor(order: RecordOrder, entry: int) -> str:
    order_json = [order.sort_order.field, order.sort_order.descending] if order.sort_order else None
    return base64.urlsafe_b64encode(
        json.dumps([order_json, order.sort_key_of(entry), order.doc_id_of(entry)]).encode()
    ).decode()


def _find_start(order: RecordOrder, cursor: str) -> int:
    """Find the first entry after the cursor's record. Searches by key, so that the set may change between pages."""
    try:
        order_json, key, doc_id = cast(
            tuple[object, object, object], json.loads(base64.urlsafe_b64decode(cursor.encode()))
        )
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    expected_order = [order.sort_order.field, order.sort_order.descending] if order.sort_order else None
    if order_json != expected_order or not isinstance(doc_id, str) or not isinstance(key, (str, float, type(None))):
        raise InvalidCondition("the cursor is of another order")
    return bisect_left(range(len(order)), True, key=lambda entry: _is_after_cursor(order, entry, key, doc_id))


def _is_after_cursor(order: RecordOrder, entry: int, key: SortKey, doc_id: str) -> bool:
    entry_key = order.sort_key_of(entry)
    if entry_key == key:
        return order.doc_id_of(entry) > doc_id
    if entry_key is None or key is None:
        return entry_key is None
    is_larger = entry_key > key if isinstance(entry_key, str) and isinstance(key, str) else _is_larger(entry_key, key)
    return is_larger is not (order.sort_order is not None and order.sort_order.descending)


def _is_larger(left: float | str, right: float | str) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        raise InvalidCondition("the cursor is of another order")
    return left > right


def _read_records(
    connection: sqlite3.Connection, order: RecordOrder, entries: range, fields: frozenset[FieldName] | None
) -> tuple[DocumentRecord, ...]:
    rows = dict[int, tuple[str, str, str, int]]()
    document_numbers = [int(order.bucket_of(entry).ids[order.positions[entry]]) for entry in entries]
    for document_number, title, source, values_json, revision in connection.execute(
        "SELECT d.id, d.title, d.source, d.vals, d.revision"
        " FROM json_each(?) j CROSS JOIN document d ON d.id = j.value",
        (json.dumps(document_numbers),),
    ):
        rows[document_number] = (title, source, values_json, revision)
    return tuple(
        _build_record(order, entry, rows[document_number], fields)
        for entry, document_number in zip(entries, document_numbers, strict=True)
    )


def _build_record(
    order: RecordOrder, entry: int, row: tuple[str, str, str, int], fields: frozenset[FieldName] | None
) -> DocumentRecord:
    bucket, (title, source, values_json, revision) = order.bucket_of(entry), row
    values = typed_values_of(values_json, revision, bucket.header)
    if fields is not None:
        values = {name: value for name, value in values.items() if name in fields}
    return DocumentRecord(
        doc_id=order.doc_id_of(entry), bucket=bucket.header.name, title=title, source=source, values=values
    )


def typed_values_of(values_json: str, revision: int, header: BucketHeader) -> FieldValues:
    """Returns the stored values as `FieldValues`: lists and rows are tuples."""
    return {name: _freeze_value(value) for name, value in stored_values_of(values_json, revision, header).items()}


def _freeze_value(value: FieldValue) -> FieldValue:
    return cast(FieldValue, tuple(cast(list[object], value))) if isinstance(value, list) else value


def read_record_batch(
    connection: sqlite3.Connection, header: BucketHeader, *, after: int
) -> tuple[list[DocumentRecord], int]:
    """Return the next records of the bucket behind the row `after`, and the row of the last one; none at the end."""
    records, character_count, last_row = list[DocumentRecord](), 0, after
    for row_id, doc_id, title, source, values_json, revision in connection.execute(
        "SELECT id, doc_id, title, source, vals, revision FROM document WHERE bucket = ? AND id > ? ORDER BY id",
        (header.id, after),
    ):
        values = typed_values_of(values_json, revision, header)
        records.append(
            DocumentRecord(doc_id=DocId(doc_id), bucket=header.name, title=title, source=source, values=values)
        )
        character_count, last_row = character_count + len(values_json), row_id
        if len(records) >= _BATCH_RECORDS or character_count >= _BATCH_CHARACTERS:
            break
    return records, last_row


def fetch_documents(
    connection: sqlite3.Connection, headers: Mapping[BucketId, BucketHeader], scope: Scope, doc_ids: Sequence[DocId]
) -> tuple[Document, ...]:
    """Fetch the documents that the scope can see, each once, in the requested order."""
    names = {header.id: header.name for header in headers.values() if header.name in scope.buckets}
    documents = (_fetch_document(connection, headers, names, scope, doc_id) for doc_id in dict.fromkeys(doc_ids))
    return tuple(document for document in documents if document is not None)


def _fetch_document(
    connection: sqlite3.Connection,
    headers: Mapping[BucketId, BucketHeader],
    names: Mapping[int, BucketId],
    scope: Scope,
    doc_id: DocId,
) -> Document | None:
    if not is_valid_unicode(doc_id):
        return None
    row = connection.execute(
        "SELECT id, bucket, readers, digest, title, source, vals, revision, text FROM document WHERE doc_id = ?",
        (doc_id,),
    ).fetchone()
    if row is None or row[1] not in names:
        return None
    document_number, bucket_number, readers, digest, title, source, values_json, revision, text = row
    subjects = frozenset(map(Subject, cast(list[str], json.loads(readers))))
    if not scope.can_see(names[bucket_number], subjects):
        return None
    return Document(
        doc_id=doc_id,
        title=title,
        text=text,
        source=source,
        values=typed_values_of(values_json, revision, headers[names[bucket_number]]),
        readers=subjects,
        passages=read_passages(connection, document_number),
        annotations=_read_annotations(connection, document_number),
        digest=digest,
        summary=_read_summary(connection, document_number),
        loaded_on=_read_ingestion_day(connection, document_number),
    )


def _read_ingestion_day(connection: sqlite3.Connection, document: int) -> str:
    row = connection.execute("SELECT day FROM ingestion WHERE doc = ?", (document,)).fetchone()
    return row[0] if row else ""


def _read_summary(connection: sqlite3.Connection, document: int) -> str:
    row = connection.execute("SELECT summary FROM outline WHERE doc = ?", (document,)).fetchone()
    return row[0] if row else ""


def _read_annotations(connection: sqlite3.Connection, document: int) -> tuple[FieldAnnotation, ...]:
    row = connection.execute("SELECT data FROM annotation WHERE doc = ?", (document,)).fetchone()
    return annotations_from_json(json.loads(row[0])) if row else ()


def read_passages(connection: sqlite3.Connection, document: int) -> tuple[Passage, ...]:
    rows = connection.execute(
        "SELECT start, stop, page, coalesce(context, '') FROM passage LEFT JOIN passage_context ON passage = id"
        " WHERE doc = ? ORDER BY position",
        (document,),
    )
    return tuple(Passage(start=start, end=stop, page=page, context=context) for start, stop, page, context in rows)
