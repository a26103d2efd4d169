"""The whole set in order, page by page, and documents by id.

A page begins after a key, not after OpenSearch's own sort values: those differ by type where a value is missing.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TypeAlias, cast

from storage.opensearch.asking import Ask, Steps, one_search
from storage.opensearch.compile import NOTHING, among, both, either, has, neither, visible
from storage.opensearch.connection import Object
from storage.opensearch.encode import document_of, values_of
from storage.opensearch.layout import BODY, DOCUMENT, MOST_HITS, Coded, Layout
from storage.opensearch.parts import Part, fields_in
from storage.opensearch.terms import key
from storage.opensearch.wire import WireHit
from storage.search.documents import Document, Values
from storage.search.errors import InvalidCondition
from storage.search.fit import is_unicode
from storage.search.ids import DocId
from storage.search.index import Page, Record, Records
from storage.search.schema import FieldType, SchemaOrder
from storage.search.scope import Scope
from storage.search.text import fold

Key: TypeAlias = float | str | None  # None: without the value
_MOST_IDS = 1_000  # of one search for documents


def page(parts: Sequence[Part], request: Records) -> Steps[Page]:
    """Raises `UnknownField`, and `InvalidCondition` also for a cursor that this order did not give."""
    is_natural = len(parts) == 1 and not request.by_id
    by = request.order or (parts[0].layout.schema.natural_order if is_natural else None)
    by = by if parts else None
    fields: Sequence[Coded | None] = [None] * len(parts) if by is None else _ordering(parts, by)
    after = None if request.after is None else _read(request.after, by)
    limit = min(max(request.limit, 1), MOST_HITS - 1)
    found = yield [_asked(part, one, by, after, limit) for part, one in zip(parts, fields, strict=True)]
    listed = [
        (_key(hit.stored, part.layout, one), hit, part.layout)
        for part, one, some in zip(parts, fields, found, strict=True)
        for hit in some.hits
    ]
    listed.sort(key=lambda one: str(one[1].stored["doc_id"]))
    listed.sort(key=lambda one: _rank(one[0], by), reverse=by is not None and by.descending)
    records = tuple(_record(hit.stored, layout, request) for _, hit, layout in listed[:limit])
    last = listed[limit - 1] if len(listed) > limit else None
    return Page(records=records, cursor=None if last is None else _cursor(by, last[0], last[1].stored["doc_id"]))


def _ordering(parts: Sequence[Part], by: SchemaOrder) -> list[Coded]:
    fields = fields_in(parts, by.field)
    if any(one.field.type in (FieldType.LIST, FieldType.ROWS) for one in fields):
        raise InvalidCondition(f"the field {by.field!r} holds several values and gives no order")
    return fields


def _rank(mine: Key, by: SchemaOrder | None) -> tuple[bool, float | str]:
    """Without a value last, in both directions."""
    if mine is None:
        return (by is None or not by.descending, 0.0)
    return (by is not None and by.descending, mine)


def _asked(part: Part, one: Coded | None, by: SchemaOrder | None, after: tuple[Key, str] | None, limit: int) -> Ask:
    query = part.query if after is None else both(part.query, _later(one, by, *after))
    sort: list[Object] = [{"doc_id": "asc"}]
    if one is not None and by is not None:
        sort.insert(0, {one.code: {"order": "desc" if by.descending else "asc", "missing": "_last"}})
    shown = ["stored.doc_id", "stored.title", "stored.source", "stored.values"]
    return one_search(part.index, query, None, size=limit + 1, sort=sort, _source=shown)


def _later(one: Coded | None, by: SchemaOrder | None, last: Key, doc_id: str) -> Object:
    """What comes after the document `doc_id`, whose value was `last`."""
    next_ones: Object = {"range": {"doc_id": {"gt": key(doc_id)}}}
    if one is None or by is None:
        return next_ones
    missing = NOTHING if one.field.type is FieldType.FLAG else neither(has(one))
    if last is None:
        return both(missing, next_ones)
    value = _term(last, one)
    beyond: Object = {"range": {one.code: {"lt" if by.descending else "gt": value}}}
    return either(beyond, both(among(one.code, [value]), next_ones), missing)


def _term(last: float | str, one: Coded) -> float | str | bool:
    """A key as the index has it. Raises `InvalidCondition` for one of another type."""
    is_text = one.field.type in (FieldType.CATEGORY, FieldType.TEXT)
    if isinstance(last, str) != is_text:
        raise InvalidCondition("the cursor is of another order")
    if isinstance(last, str):
        return key(last)
    return bool(last) if one.field.type is FieldType.FLAG else int(last) if one.field.type is FieldType.DATE else last


def _key(stored: Object, layout: Layout, one: Coded | None) -> Key:
    if one is None:
        return None
    value = values_of(stored, layout, frozenset({one.field.name})).get(one.field.name)
    if isinstance(value, str):
        return float(date.fromisoformat(value).toordinal()) if one.field.type is FieldType.DATE else fold(value)
    if one.field.type is FieldType.FLAG:
        return float(bool(value))
    return value if isinstance(value, float) else None


def _cursor(by: SchemaOrder | None, last: Key, doc_id: str) -> str:
    order = None if by is None else [by.field, by.descending]
    return base64.urlsafe_b64encode(json.dumps([order, last, doc_id]).encode()).decode()


def _read(cursor: str, by: SchemaOrder | None) -> tuple[Key, str]:
    try:
        order, last, doc_id = cast(tuple[object, object, object], json.loads(base64.urlsafe_b64decode(cursor.encode())))
    except (ValueError, TypeError, binascii.Error) as exc:
        raise InvalidCondition("the cursor is not one of this index") from exc
    mine = None if by is None else [by.field, by.descending]
    if order != mine or not isinstance(doc_id, str) or not isinstance(last, (str, float, type(None))):
        raise InvalidCondition("the cursor is of another order")
    return last, doc_id


def _record(stored: Object, layout: Layout, request: Records) -> Record:
    values: Values = values_of(stored, layout, request.fields)
    doc_id = DocId(stored["doc_id"])
    return Record(doc_id=doc_id, bucket=layout.bucket, title=stored["title"], source=stored["source"], values=values)


def fetch(layouts: Sequence[Layout], scope: Scope, doc_ids: Sequence[DocId]) -> Steps[tuple[Document, ...]]:
    """Those that the scope sees, each once, in the order asked for."""
    wanted = [doc_id for doc_id in dict.fromkeys(doc_ids) if is_unicode(doc_id)]
    asks = list[Ask]()
    if layouts:
        for at in range(0, len(wanted), _MOST_IDS):
            asks += _by_id(layouts, scope, wanted[at : at + _MOST_IDS])
    found = yield asks
    by_index = {layout.index: layout for layout in layouts}
    texts = dict[tuple[str, str], str]()
    documents = dict[str, WireHit]()
    for one in found:
        for hit in one.hits:
            if "values" in hit.stored:
                documents[hit.stored["doc_id"]] = hit
            else:
                texts[hit.index, hit.stored["doc_id"]] = hit.stored["text"]
    return tuple(_document(documents[doc_id], texts, by_index) for doc_id in wanted if doc_id in documents)


def _document(hit: WireHit, texts: Mapping[tuple[str, str], str], layouts: Mapping[str, Layout]) -> Document:
    return document_of(hit.stored, texts[hit.index, hit.stored["doc_id"]], layouts[hit.index])


def _by_id(layouts: Sequence[Layout], scope: Scope, doc_ids: Sequence[DocId]) -> list[Ask]:
    """The documents and their texts, of all buckets of the scope at once."""
    query = both(among("kind", [DOCUMENT, BODY]), among("doc_id", list(map(key, doc_ids))), visible(scope))
    body: Object = {"query": query, "size": 2 * len(doc_ids), "track_total_hits": True, "_source": ["stored"]}
    return [Ask(indexes=tuple(layout.index for layout in layouts), body=body)]
