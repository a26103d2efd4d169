"""Encodes documents into index entries, as JSON, and decodes them.

Everything that is shown is read from `stored`; the other fields of an entry are only for search.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, cast

from storage.opensearch.connection import JsonObject
from storage.opensearch.mapping import (
    BODY,
    DOCUMENT,
    PASSAGE,
    TITLE_LABEL_PATH,
    VERSION_PATH,
    IndexedField,
    IndexLayout,
)
from storage.opensearch.terms import (
    indexed_terms_of,
    keyword_term_of,
    label_term_of,
    overlapping_windows_of,
)
from storage.opensearch.vector_bytes import round_to_bytes
from storage.search.analyser import fold_text
from storage.search.codec import annotations_from_json, annotations_to_json
from storage.search.documents import Document, FieldValue, FieldValues, Passage, RowValues
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import DocId, FieldName, Subject
from storage.search.numbers import scale_amount
from storage.search.schema import FieldType, SchemaField
from storage.text.document_terms import AnalysedDocument, analyse_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BILLION = 10**9


def encode_index_entries(
    document: Document, revision: str, layout: IndexLayout, vectors: "NDArray[np.float32] | None"
) -> Iterator[tuple[str, str]]:
    """Yields the id and the JSON of each entry: the document, its text, its passages.

    `vectors` has a row for each passage.
    """
    main_entry_id = layout.entry_id_of(document.doc_id)
    version: JsonObject = {VERSION_PATH: layout.index} if layout.is_shared else {}
    shared_fields: JsonObject = {
        **version,
        "doc_id": keyword_term_of(document.doc_id),
        "restricted": bool(document.readers),
        "readers": [keyword_term_of(reader) for reader in sorted(document.readers)],
    }
    analysed = analyse_document(
        document.title, document.text, document.passages, layout.analyser, document.outline_text
    )
    # The title stands twice, so it has double weight.
    title_terms = f"{indexed_terms_of(analysed.title)} " * 2
    yield main_entry_id, json.dumps(shared_fields | _source_of_document(document, analysed, revision, layout))
    text_entry = {"doc_id": document.doc_id, "text": document.text, **version}
    yield f"{main_entry_id}.text", json.dumps(shared_fields | {"kind": BODY, "stored": text_entry})
    shared_fields |= {"kind": PASSAGE, "link": {"name": PASSAGE, "parent": main_entry_id}}
    for position, (passage, terms) in enumerate(zip(document.passages, analysed.passages, strict=True)):
        source = json.dumps(
            shared_fields
            | {layout.passage_terms_path: title_terms + indexed_terms_of(terms)}
            | _identity_of_passage(document, position, passage, version)
        )
        vector = None if vectors is None or not vectors[position].any() else vectors[position]
        if vector is not None:
            source = f'{source[:-1]}, "vector": {_vector_to_json(vector, layout)}}}'
        yield f"{main_entry_id}.{position}", source


def _source_of_document(
    document: Document, analysed: AnalysedDocument, revision: str, layout: IndexLayout
) -> JsonObject:
    values = select_fitting_values(cast(Mapping[str, object], document.values), layout.schema)
    source: JsonObject = {
        "kind": DOCUMENT,
        "link": DOCUMENT,
        "title_terms": indexed_terms_of(analysed.title),
        "text_terms": indexed_terms_of(analysed.text),
        # The title stands twice, so it has double weight.
        layout.outline_terms_path: indexed_terms_of(" ".join((analysed.title, analysed.title, analysed.outline))),
        **({TITLE_LABEL_PATH: label_term_of(document.title)} if layout.has_title_labels else {}),
        layout.words_path: indexed_terms_of(analysed.words).split(),
        "stored": {
            "doc_id": document.doc_id,
            "title": document.title,
            "source": document.source,
            "summary": document.summary,
            "digest": document.digest,
            **({"loaded_on": document.loaded_on} if document.loaded_on else {}),
            "revision": revision,
            "readers": sorted(document.readers),
            "passages": [
                [passage.start, passage.end, passage.page, *filter(None, [passage.context])]
                for passage in document.passages
            ],
            "values": json.dumps(document.values, default=dict),
            "annotations": json.dumps(annotations_to_json(document.annotations)),
            **({VERSION_PATH: layout.index} if layout.is_shared else {}),
        },
    }
    return source | _encode_field_values(values, layout.indexed_fields)


def _identity_of_passage(document: Document, position: int, passage: Passage, version: JsonObject) -> JsonObject:
    chunk_id = document.chunk_id_at(position)
    return {
        "chunk": keyword_term_of(chunk_id),
        "stored": {
            "doc_id": document.doc_id,
            "chunk_id": chunk_id,
            "title": document.title,
            "source": document.source,
            "start": passage.start,
            "end": passage.end,
            "page": passage.page,
            "text": document.text[passage.start : passage.end],
            **version,
        },
    }


def _vector_to_json(vector: "NDArray[np.float32]", layout: IndexLayout) -> str:
    """Returns the vector as bytes, or as JSON numbers of nine decimals, several times as fast as from floats.

    Nine decimals are as exact as a float32: vectors have the length 1, so their cosines change by less than 1e-8.
    """
    if layout.has_byte_vectors:
        return str(round_to_bytes(vector))
    import numpy as np

    billionths = np.rint(vector.astype(np.float64) * _BILLION).astype(np.int64).tolist()
    return f"{str(billionths)[:-1].replace(',', 'e-9,')}e-9]"


def _encode_field_values(
    values: Mapping[FieldName, FieldValue], fields: Mapping[FieldName, IndexedField]
) -> JsonObject:
    """Returns the values by leaf name of their paths, within the document or the row."""
    source: JsonObject = {}
    for name, field in fields.items():
        if field.definition.type is FieldType.FLAG:
            source[_leaf_name_of(field.path)] = bool(values.get(name, False))
        if name in values:
            source |= {
                _leaf_name_of(path): value for path, value in _encode_field_value(values[name], field, values).items()
            }
    return source


def _leaf_name_of(path: str) -> str:
    return path.rpartition(".")[2]


def _encode_field_value(
    value: FieldValue, field: IndexedField, document_values: Mapping[FieldName, FieldValue]
) -> JsonObject:
    match field.definition.type:
        case FieldType.NUMBER:
            return {field.path: value}
        case FieldType.FLAG:
            return {field.presence_path: True}
        case FieldType.MONEY:
            return _encode_money_value(cast(float, value), field, document_values)
        case FieldType.DATE:
            return _encode_date_value(str(value), field)
        case FieldType.CATEGORY | FieldType.TEXT:
            return _encode_string_values([str(value)], field)
        case FieldType.LIST:
            return _encode_string_values([str(member) for member in cast(tuple[str, ...], value)], field)
        case FieldType.ROWS:
            rows = cast(tuple[RowValues, ...], value)
            return {field.path: [{"x": True} | _encode_field_values(row, field.indexed_columns) for row in rows]}


def _encode_money_value(
    amount: float, field: IndexedField, document_values: Mapping[FieldName, FieldValue]
) -> JsonObject:
    unit = currency_of_amount(field.definition, document_values)
    billions, low = divmod(scale_amount(amount, unit), _BILLION)
    high, middle = divmod(billions, _BILLION)
    return {
        field.path: amount,
        field.unit_path: unit or "",
        **dict(zip(field.scaled_paths, (low, middle, float(high)), strict=True)),
    }


def currency_of_amount(field: SchemaField, document_values: Mapping[FieldName, FieldValue]) -> str | None:
    """Returns the currency of an amount: the value of its currency field, folded and in capitals, else the schema's."""
    currency = document_values.get(field.currency_field) if field.currency_field is not None else None
    return fold_text(str(currency)).upper() if currency is not None else (field.currency or None)


def combine_scaled_parts(low: float, middle: float, high: float) -> int:
    """Combine the sums of the three parts of scaled amounts."""
    return (int(high) * _BILLION + int(middle)) * _BILLION + int(low)


def _encode_date_value(day: str, field: IndexedField) -> JsonObject:
    date_value = date.fromisoformat(day)
    month = date_value.year * 12 + date_value.month - 1
    periods = {
        field.period_path("year"): date_value.year,
        field.period_path("quarter"): month // 3,
        field.period_path("month"): month,
    }
    return {field.path: date_value.toordinal(), **periods}


def _encode_string_values(texts: Sequence[str], field: IndexedField) -> JsonObject:
    folds = sorted({fold_text(text) for text in texts})
    source: JsonObject = {
        field.path: list(map(keyword_term_of, folds)),
        field.label_path: sorted(set(map(label_term_of, texts))),
    }
    windows = overlapping_windows_of(folds)
    return source | ({field.windows_path: windows} if windows else {})


# -- decoding


def stored_values_of(
    stored: JsonObject, layout: IndexLayout, fields: frozenset[FieldName] | None = None
) -> FieldValues:
    """Returns the stored values of a document that fit the schema, of `fields` or of all fields."""
    raw = cast(dict[str, object], json.loads(stored["values"]))
    if fields is not None:
        raw = {name: value for name, value in raw.items() if name in fields}
    return select_fitting_values(raw, layout.schema)


def decode_stored_document(stored: JsonObject, text: str, layout: IndexLayout) -> Document:
    return _document_with_values(stored, text, stored_values_of(stored, layout))


def decode_unvalidated_document(stored: JsonObject, text: str) -> Document:
    """Returns a document with the values it was put with, even if they no longer fit the schema. Used to reindex."""
    return _document_with_values(stored, text, cast(FieldValues, json.loads(stored["values"])))


def _document_with_values(stored: JsonObject, text: str, values: FieldValues) -> Document:
    return Document(
        doc_id=DocId(stored["doc_id"]),
        title=stored["title"],
        text=text,
        source=stored["source"],
        values=values,
        readers=frozenset(Subject(reader) for reader in stored["readers"]),
        passages=tuple(
            Passage(start=start, end=end, page=page, context="".join(context))
            for start, end, page, *context in stored["passages"]
        ),
        annotations=annotations_from_json(json.loads(stored.get("annotations", "[]"))),
        digest=stored["digest"],
        summary=stored.get("summary", ""),
        loaded_on=stored.get("loaded_on", ""),
    )
