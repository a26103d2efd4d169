"""A record and a schema give a document: typed values, passages, and a digest of all of it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from storage.ingest.chunk import passages_of
from storage.ingest.records import Record
from storage.ingest.report import Tally
from storage.ingest.summary import summary_of
from storage.ingest.units import label_of
from storage.ingest.values import Raw, Styles, flattened, rendered, typed
from storage.search.codec import annotations_to_json
from storage.search.documents import Document, Values
from storage.search.ids import DocId, FieldName
from storage.search.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Makes the documents of one bucket."""

    schema: Schema
    styles: Styles  # how the strings of each field are written
    ignore_metadata: bool
    tally: Tally

    def document(self, record: Record) -> Document:
        """The document. What does not fit its field is counted, and stands as a line at the end of the text."""
        bucket = self.schema.bucket
        flat = flattened({} if self.ignore_metadata else record.metadata)
        result = typed(flat.values, self.schema.by_name, self.styles)
        self.tally.rename(bucket, flat.renamed)
        for name in result.unknown:
            self.tally.ignore(bucket, name)
        text = record.text if record.text.strip() else _described(flat.values, self.schema)
        lost = list[str]()
        for misfit in result.misfits:
            self.tally.misfit(bucket, misfit)
            if (value := rendered(misfit.raw)) not in text:
                lost.append(f"{misfit.label}: {value}")
        return _digested(record, "\n\n".join(filter(None, [text, "\n".join(lost)])), result.values)


def _described(values: Mapping[FieldName, Raw], schema: Schema) -> str:
    """The metadata in words, for a record that has no text of its own."""
    labels = {one.name: one.label for one in schema.fields}
    return "\n".join(f"{labels.get(name) or label_of(name).words}: {rendered(raw)}" for name, raw in values.items())


def _digested(record: Record, text: str, values: Values) -> Document:
    document = Document(
        doc_id=DocId(record.doc_id),
        title=record.title,
        text=text,
        source=record.source,
        values=values,
        readers=record.readers,
        passages=passages_of(text, record.page_starts),
        summary=summary_of(text),
    )
    return replace(document, digest=digest_of(document))


def digest_of(document: Document) -> str:
    """Equal for documents that are equal in everything, on every machine; values count as they are typed, so that a
    schema that types them otherwise makes another document.
    """
    parts: Iterable[object] = (
        document.title,
        document.text,
        document.source,
        sorted(document.values.items()),
        sorted(document.readers),
        [(one.start, one.end, one.page) for one in document.passages],
        annotations_to_json(document.annotations),
        *([document.summary] if document.summary else []),
    )
    written = json.dumps(list(parts), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()
