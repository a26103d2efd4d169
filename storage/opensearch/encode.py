"""Documents as what is sent, and back. What is shown is read from `stored`; the other fields are for searching."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, cast

from storage.opensearch.connection import Object
from storage.opensearch.layout import BODY, DOCUMENT, PASSAGE, Coded, Layout, digest_of
from storage.opensearch.terms import key, label, token, tokens, windows
from storage.search.codec import annotations_from_json, annotations_to_json
from storage.search.documents import Document, Passage, Row, Value, Values
from storage.search.fit import still_fitting
from storage.search.ids import DocId, FieldName, Subject
from storage.search.numbers import scaled
from storage.search.schema import Field, FieldType
from storage.search.text import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MILLIARD = 10**9


def document_key(doc_id: DocId) -> str:
    return digest_of(doc_id)


def entries(
    document: Document, revision: str, layout: Layout, vectors: "NDArray[np.float32] | None"
) -> Iterator[tuple[str, Object]]:
    """Ids and sources: the document, its text, its passages. `vectors` has a row for each passage."""
    own = document_key(document.doc_id)
    shared: Object = {
        "doc_id": key(document.doc_id),
        "restricted": bool(document.readers),
        "readers": [key(reader) for reader in sorted(document.readers)],
    }
    yield own, shared | _document(document, revision, layout)
    body = {"doc_id": document.doc_id, "text": document.text}
    yield f"{own}.text", shared | {"kind": BODY, "stored": body}
    title_terms = tokens(document.title, layout.analyser)
    for position, passage in enumerate(document.passages):
        source = shared | _passage(document, position, passage, title_terms, layout)
        if vectors is not None and vectors[position].any():
            source["vector"] = vectors[position].tolist()
        yield f"{own}.{position}", source | {"link": {"name": PASSAGE, "parent": own}}


def _document(document: Document, revision: str, layout: Layout) -> Object:
    values = still_fitting(cast(Mapping[str, object], document.values), layout.schema)
    words = {token(word.text) for text in (document.title, document.text) for word in layout.analyser.words(text)}
    title = tokens(document.title, layout.analyser)
    source: Object = {
        "kind": DOCUMENT,
        "link": DOCUMENT,
        "title_terms": " ".join(title),
        "text_terms": " ".join(tokens(document.text, layout.analyser)),
        "outline_terms": " ".join((*title, *title, *tokens(document.outline, layout.analyser))),  # the title twice
        "words": sorted(words),
        "stored": {
            "doc_id": document.doc_id,
            "title": document.title,
            "source": document.source,
            "summary": document.summary,
            "digest": document.digest,
            "revision": revision,
            "readers": sorted(document.readers),
            "passages": [[one.start, one.end, one.page] for one in document.passages],
            "values": json.dumps(document.values, default=dict),
            "annotations": json.dumps(annotations_to_json(document.annotations)),
        },
    }
    return source | _columns(values, layout.fields)


def _passage(document: Document, position: int, passage: Passage, title: Sequence[str], layout: Layout) -> Object:
    text = document.text[passage.start : passage.end]
    chunk = document.chunk_id(position)
    return {
        "kind": PASSAGE,
        "chunk": key(chunk),
        # The title stands twice: it weighs double.
        "passage_terms": " ".join((*title, *title, *tokens(text, layout.analyser))),
        "stored": {
            "doc_id": document.doc_id,
            "chunk_id": chunk,
            "title": document.title,
            "source": document.source,
            "start": passage.start,
            "end": passage.end,
            "page": passage.page,
            "text": text,
        },
    }


def _columns(values: Mapping[FieldName, Value], fields: Mapping[FieldName, Coded]) -> Object:
    """The values under the fields' own names, as paths within the document or the row."""
    source: Object = {}
    for name, one in fields.items():
        if one.field.type is FieldType.FLAG:
            source[_name(one.code)] = bool(values.get(name, False))
        if name in values:
            source |= {_name(path): value for path, value in _searched(values[name], one, values).items()}
    return source


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def _searched(value: Value, one: Coded, beside: Mapping[FieldName, Value]) -> Object:
    match one.field.type:
        case FieldType.NUMBER:
            return {one.code: value}
        case FieldType.FLAG:
            return {one.given: True}
        case FieldType.MONEY:
            return _money(cast(float, value), one, beside)
        case FieldType.DATE:
            return _day(str(value), one)
        case FieldType.CATEGORY | FieldType.TEXT:
            return _strings([str(value)], one)
        case FieldType.LIST:
            return _strings([str(member) for member in cast(tuple[str, ...], value)], one)
        case FieldType.ROWS:
            rows = cast(tuple[Row, ...], value)
            return {one.code: [{"x": True} | _columns(row, one.columns) for row in rows]}


def _money(amount: float, one: Coded, beside: Mapping[FieldName, Value]) -> Object:
    unit = currency(one.field, beside)
    total, low = divmod(scaled(amount, unit), _MILLIARD)
    high, middle = divmod(total, _MILLIARD)
    return {one.code: amount, one.unit: unit or "", **dict(zip(one.scaled, (low, middle, float(high)), strict=True))}


def currency(one: Field, beside: Mapping[FieldName, Value]) -> str | None:
    """Of an amount: its currency field's, folded and in capitals, else the schema's."""
    held = beside.get(one.currency_field) if one.currency_field is not None else None
    return fold(str(held)).upper() if held is not None else (one.currency or None)


def total_of(low: float, middle: float, high: float) -> int:
    """Sums of the three parts of scaled amounts, put together again."""
    return (int(high) * _MILLIARD + int(middle)) * _MILLIARD + int(low)


def _day(day: str, one: Coded) -> Object:
    moment = date.fromisoformat(day)
    month = moment.year * 12 + moment.month - 1
    periods = {one.period("year"): moment.year, one.period("quarter"): month // 3, one.period("month"): month}
    return {one.code: moment.toordinal(), **periods}


def _strings(texts: Sequence[str], one: Coded) -> Object:
    folds = sorted({fold(text) for text in texts})
    found: Object = {one.code: list(map(key, folds)), one.raw: sorted(set(map(label, texts)))}
    pieces = windows(folds)
    return found | ({one.windows: pieces} if pieces else {})


# -- and back


def values_of(stored: Object, layout: Layout, fields: frozenset[FieldName] | None = None) -> Values:
    """Of a document as it was put, those that fit the schema; of `fields`, or all."""
    raw = cast(dict[str, object], json.loads(stored["values"]))
    if fields is not None:
        raw = {name: value for name, value in raw.items() if name in fields}
    return still_fitting(raw, layout.schema)


def document_of(stored: Object, text: str, layout: Layout) -> Document:
    return _with_values(stored, text, values_of(stored, layout))


def document_as_put(stored: Object, text: str) -> Document:
    """With the values it was put with, whether or not they fit any more. For indexing it anew."""
    return _with_values(stored, text, cast(Values, json.loads(stored["values"])))


def _with_values(stored: Object, text: str, values: Values) -> Document:
    return Document(
        doc_id=DocId(stored["doc_id"]),
        title=stored["title"],
        text=text,
        source=stored["source"],
        values=values,
        readers=frozenset(Subject(reader) for reader in stored["readers"]),
        passages=tuple(Passage(start=start, end=end, page=page) for start, end, page in stored["passages"]),
        annotations=annotations_from_json(json.loads(stored.get("annotations", "[]"))),
        digest=stored["digest"],
        summary=stored.get("summary", ""),
    )
