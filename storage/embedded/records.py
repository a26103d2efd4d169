"""The whole set in order, page by page, and documents by id."""

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

from storage.embedded.bucket import Bucket, Header, values_of
from storage.embedded.columns import Column, Flags, Numbers, Strings
from storage.embedded.dictionary import Ints
from storage.embedded.facets import Set, fields_in
from storage.search.codec import annotations_from_json
from storage.search.documents import Annotation, Document, Passage, Value, Values
from storage.search.errors import InvalidCondition
from storage.search.fit import is_unicode
from storage.search.ids import BucketId, DocId, FieldName, Subject
from storage.search.index import Page, Record, Records
from storage.search.schema import FieldType, SchemaOrder
from storage.search.scope import Scope

Key: TypeAlias = float | str | None  # None: without the value


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A set in order: entry i is the document at `at[i]` of `buckets[of[i]]`."""

    by: SchemaOrder | None
    buckets: Sequence[Bucket]
    of: Ints
    at: Ints

    def __len__(self) -> int:
        return len(self.at)

    def bucket(self, entry: int) -> Bucket:
        return self.buckets[int(self.of[entry])]

    def doc_id(self, entry: int) -> DocId:
        return self.bucket(entry).doc_ids[int(self.at[entry])]

    def key(self, entry: int) -> Key:
        if self.by is None:
            return None
        return _key(self.bucket(entry).columns[self.by.field], int(self.at[entry]))


def order_of(part: Set, asked: SchemaOrder | None, *, by_id: bool) -> Order:
    """Raises `UnknownField` and `InvalidCondition`."""
    by = asked or (part[0][0].schema.natural_order if len(part) == 1 and not by_id else None)
    if by is not None:
        _check(part, by)
    positions = [np.flatnonzero(mask) for _, mask in part]
    of = np.repeat(np.arange(len(part)), np.array([len(one) for one in positions], dtype=np.int64))
    at = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    ranks = _doc_ranks(part, positions)
    if by is None or not part:
        entries = np.argsort(ranks)
    else:
        keys = _sortable(part, positions, by.field)
        # lexsort goes by its last key first; NaN, a document without the value, comes last in either direction.
        entries = np.lexsort((ranks, -keys if by.descending else keys))
    return Order(by=by if part else None, buckets=[bucket for bucket, _ in part], of=of[entries], at=at[entries])


def _check(part: Set, by: SchemaOrder) -> None:
    for one in fields_in(part, by.field):
        if one.type in (FieldType.LIST, FieldType.ROWS):
            raise InvalidCondition(f"the field {by.field!r} holds several values and gives no order")


def _doc_ranks(part: Set, positions: Sequence[Ints]) -> Ints:
    if len(part) == 1:
        return part[0][0].doc_ranks()[positions[0]]
    doc_ids = list[DocId]()
    for (bucket, _), found in zip(part, positions, strict=True):
        doc_ids += [bucket.doc_ids[int(at)] for at in found]
    ranks = np.empty(len(doc_ids), dtype=np.int64)
    ranks[sorted(range(len(doc_ids)), key=doc_ids.__getitem__)] = np.arange(len(doc_ids))
    return ranks


def _sortable(part: Set, positions: Sequence[Ints], name: FieldName) -> NDArray[np.float64]:
    """Numbers in the order of the values; NaN where there is none."""
    parts = [_numbers(bucket.columns[name], at) for (bucket, _), at in zip(part, positions, strict=True)]
    return np.concatenate(parts)


def _numbers(column: Column, at: Ints) -> NDArray[np.float64]:
    match column:
        case Numbers(values=values):
            return values[at]
        case Flags(values=values):
            return (values[at] == 1).astype(np.float64)
        case Strings(codes=codes, dictionary=dictionary):
            folds = dictionary.fold_of(codes[at])
            ranks = dictionary.ranks().fold  # one dictionary a field name: comparable across buckets
            return np.where(folds < 0, np.nan, ranks[folds] if len(ranks) else np.nan)
        case _:
            raise AssertionError("lists and rows were refused")


def _key(column: Column, at: int) -> Key:
    match column:
        case Numbers(values=values):
            return None if np.isnan(values[at]) else float(values[at])
        case Flags(values=values):
            return float(values[at] == 1)
        case Strings(codes=codes, dictionary=dictionary):
            return None if codes[at] < 0 else dictionary.folds[int(dictionary.fold_of(codes[at : at + 1])[0])]
        case _:
            raise AssertionError("lists and rows were refused")


def page_of(connection: sqlite3.Connection, order: Order, request: Records) -> Page:
    """Raises `InvalidCondition` for a cursor that this order did not give."""
    start = 0 if request.after is None else _start(order, request.after)
    stop = min(start + max(request.limit, 1), len(order))
    records = _read(connection, order, range(start, stop), request.fields)
    return Page(records=records, cursor=_cursor(order, stop - 1) if start < stop < len(order) else None)


def _cursor(order: Order, entry: int) -> str:
    by = [order.by.field, order.by.descending] if order.by else None
    return base64.urlsafe_b64encode(json.dumps([by, order.key(entry), order.doc_id(entry)]).encode()).decode()


def _start(order: Order, cursor: str) -> int:
    """The first entry after the cursor's. Searched for, so that pages go on where they were if the set changed."""
    try:
        by, key, doc_id = cast(tuple[object, object, object], json.loads(base64.urlsafe_b64decode(cursor.encode())))
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    mine = [order.by.field, order.by.descending] if order.by else None
    if by != mine or not isinstance(doc_id, str) or not isinstance(key, (str, float, type(None))):
        raise InvalidCondition("the cursor is of another order")
    return bisect_left(range(len(order)), True, key=lambda entry: _after(order, entry, key, doc_id))


def _after(order: Order, entry: int, key: Key, doc_id: str) -> bool:
    mine = order.key(entry)
    if mine == key:
        return order.doc_id(entry) > doc_id
    if mine is None or key is None:
        return mine is None
    larger = mine > key if isinstance(mine, str) and isinstance(key, str) else _larger(mine, key)
    return larger is not (order.by is not None and order.by.descending)


def _larger(mine: float | str, key: float | str) -> bool:
    if isinstance(mine, str) or isinstance(key, str):
        raise InvalidCondition("the cursor is of another order")
    return mine > key


def _read(
    connection: sqlite3.Connection, order: Order, entries: range, fields: frozenset[FieldName] | None
) -> tuple[Record, ...]:
    rows = dict[int, tuple[str, str, str, int]]()
    ids = [int(order.bucket(entry).ids[order.at[entry]]) for entry in entries]
    for number, title, source, vals, revision in connection.execute(
        "SELECT d.id, d.title, d.source, d.vals, d.revision"
        " FROM json_each(?) j CROSS JOIN document d ON d.id = j.value",
        (json.dumps(ids),),
    ):
        rows[number] = (title, source, vals, revision)
    return tuple(_record(order, entry, rows[number], fields) for entry, number in zip(entries, ids, strict=True))


def _record(order: Order, entry: int, row: tuple[str, str, str, int], fields: frozenset[FieldName] | None) -> Record:
    bucket, (title, source, vals, revision) = order.bucket(entry), row
    values = typed_values(vals, revision, bucket.header)
    if fields is not None:
        values = {name: value for name, value in values.items() if name in fields}
    return Record(doc_id=order.doc_id(entry), bucket=bucket.header.name, title=title, source=source, values=values)


def typed_values(written: str, revision: int, header: Header) -> Values:
    """As `Values` has them: lists and rows are tuples."""
    return {name: _frozen(value) for name, value in values_of(written, revision, header).items()}


def _frozen(value: Value) -> Value:
    return cast(Value, tuple(cast(list[object], value))) if isinstance(value, list) else value


def fetched(
    connection: sqlite3.Connection, headers: Mapping[BucketId, Header], scope: Scope, doc_ids: Sequence[DocId]
) -> tuple[Document, ...]:
    """Those that the scope sees, each once, in the order asked for."""
    names = {header.id: header.name for header in headers.values() if header.name in scope.buckets}
    found = (_document(connection, headers, names, scope, doc_id) for doc_id in dict.fromkeys(doc_ids))
    return tuple(document for document in found if document is not None)


def _document(
    connection: sqlite3.Connection,
    headers: Mapping[BucketId, Header],
    names: Mapping[int, BucketId],
    scope: Scope,
    doc_id: DocId,
) -> Document | None:
    if not is_unicode(doc_id):
        return None
    row = connection.execute(
        "SELECT id, bucket, readers, digest, title, source, vals, revision, text FROM document WHERE doc_id = ?",
        (doc_id,),
    ).fetchone()
    if row is None or row[1] not in names:
        return None
    number, bucket, readers, digest, title, source, vals, revision, text = row
    subjects = frozenset(map(Subject, cast(list[str], json.loads(readers))))
    if not scope.sees(names[bucket], subjects):
        return None
    return Document(
        doc_id=doc_id,
        title=title,
        text=text,
        source=source,
        values=typed_values(vals, revision, headers[names[bucket]]),
        readers=subjects,
        passages=passages_within(connection, number),
        annotations=_annotations(connection, number),
        digest=digest,
        summary=_summary(connection, number),
    )


def _summary(connection: sqlite3.Connection, document: int) -> str:
    row = connection.execute("SELECT summary FROM outline WHERE doc = ?", (document,)).fetchone()
    return row[0] if row else ""


def _annotations(connection: sqlite3.Connection, document: int) -> tuple[Annotation, ...]:
    row = connection.execute("SELECT data FROM annotation WHERE doc = ?", (document,)).fetchone()
    return annotations_from_json(json.loads(row[0])) if row else ()


def passages_within(connection: sqlite3.Connection, document: int) -> tuple[Passage, ...]:
    rows = connection.execute("SELECT start, stop, page FROM passage WHERE doc = ? ORDER BY position", (document,))
    return tuple(Passage(start=start, end=stop, page=page) for start, stop, page in rows)
