"""Builds a document from a record and a schema: typed values, passages, a summary, and a digest of all of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from storage.ingest.documents.chunk import passages_of
from storage.ingest.documents.code_contexts import with_code_words
from storage.ingest.documents.summary import summary_of
from storage.ingest.extract.kinds.record_origins import OriginReader
from storage.ingest.limits import DEFAULT_PASSAGE_CHARACTERS
from storage.ingest.records import SourceRecord
from storage.ingest.report import ReportBuilder
from storage.ingest.schemas.units import label_of_name
from storage.ingest.schemas.values import RawValue, StyleByField, flatten_metadata, render_raw_value, type_values
from storage.search.codec import annotations_to_json
from storage.search.documents import Document, FieldValues, Passage
from storage.search.ids import DocId, FieldName
from storage.search.schema import Schema


@dataclass(frozen=True, kw_only=True)
class DocumentBuilder:
    """Makes the documents of one bucket."""

    schema: Schema
    styles: StyleByField  # the notation of the strings of each field
    ignore_metadata: bool
    report_builder: ReportBuilder
    passage_characters: int = DEFAULT_PASSAGE_CHARACTERS

    @cached_property
    def _origin_reader(self) -> OriginReader:
        return OriginReader(self.schema)

    def build_document(self, record: SourceRecord) -> Document:
        """Returns the document. A value that does not fit its field is counted, and appended to the text as a line."""
        bucket = self.schema.bucket
        flat = flatten_metadata({} if self.ignore_metadata else record.metadata)
        result = type_values(flat.values, self.schema.by_name, self.styles)
        self.report_builder.add_renamed_keys(bucket, flat.renamed_keys)
        for name in result.unknown_keys:
            self.report_builder.add_ignored_key(bucket, name)
        text = record.text if record.text.strip() else _describe_metadata(flat.values, self.schema)
        misfit_lines = list[str]()
        for misfit in result.misfits:
            self.report_builder.add_misfit(bucket, misfit)
            if (value := render_raw_value(misfit.raw)) not in text:
                misfit_lines.append(f"{misfit.label}: {value}")
        values = {**self._origin_reader.values_of(record.origin), **result.values}
        whole_text = "\n\n".join(filter(None, [text, "\n".join(misfit_lines)]))
        passages = passages_of(whole_text, record.page_starts, characters=self.passage_characters)
        return _make_document(record, whole_text, values, passages)


def _describe_metadata(values: Mapping[FieldName, RawValue], schema: Schema) -> str:
    """Returns the metadata as lines of text, for a record that has no text."""
    labels = {field.name: field.label for field in schema.fields}
    return "\n".join(
        f"{labels.get(name) or label_of_name(name).text}: {render_raw_value(raw)}" for name, raw in values.items()
    )


def _make_document(record: SourceRecord, text: str, values: FieldValues, passages: tuple[Passage, ...]) -> Document:
    document = Document(
        doc_id=DocId(record.doc_id),
        title=record.title,
        text=text,
        source=record.source,
        values=values,
        readers=record.readers,
        passages=with_code_words(text, passages),
        summary=summary_of(text),
    )
    return replace(document, digest=digest_of(document))


def digest_of(document: Document) -> str:
    """Returns a SHA-256 digest of all parts of a document, the same on every machine.

    It covers the typed values, so a schema that types them differently changes the digest.
    """
    parts: Iterable[object] = (
        document.title,
        document.text,
        document.source,
        sorted(document.values.items()),
        sorted(document.readers),
        [(passage.start, passage.end, passage.page) for passage in document.passages],
        annotations_to_json(document.annotations),
        *([document.summary] if document.summary else []),
        *([contexts] if any(contexts := [passage.context for passage in document.passages]) else []),
    )
    data = json.dumps(list(parts), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(data.encode()).hexdigest()
