"""Turns candidates into values of a document: the confident ones, each name in its canonical spelling."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from storage.ingest.documents.build import digest_of
from storage.ingest.errors import UnparsableFile
from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, Extractor, ValueCandidate
from storage.ingest.extract.concepts import concept_of
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.kinds.kind_reader import KindReader, KindReading, schema_of_kind
from storage.ingest.extract.name_variants import CanonicalNames
from storage.ingest.work_budget import WorkBudget, lend_budget
from storage.search.documents import Document, FieldAnnotation, FieldValue, RowValues
from storage.search.evaluation.value_validation import select_fitting_values
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRequest, ScopedIndex, SearchIndex, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope

MIN_VALUE_CONFIDENCE = 0.5  # a value of less confidence is not stored
_MAX_KNOWN_NAMES = 100_000  # canonical names of a bucket
_VERBATIM_WORDS = re.compile(
    r"\bas (?:printed|written|spelt|spelled|it stands|it is (?:printed|written))\b|\bverbatim\b"
)
_REPUT_BATCH = 200  # documents put at once
WorkBudgets: TypeAlias = Mapping[DocId, WorkBudget]  # by document, that of its file
_NO_BUDGETS: WorkBudgets = {}


def has_joined_spellings(field: SchemaField) -> bool:
    """Whether spellings of the field's values are joined: it holds names that the schema does not list."""
    if field.type not in (FieldType.CATEGORY, FieldType.LIST) or field.values:
        return False
    if _VERBATIM_WORDS.search(f"{field.label} {field.description}".casefold()):  # the field keeps every spelling
        return False
    concept = concept_of(field)
    return concept is not None and concept.joins_spellings


def _canonical_names_for(field: SchemaField, known_names: Sequence[str]) -> CanonicalNames:
    concept = concept_of(field)
    return CanonicalNames.from_known_names(known_names, has_branches=concept is not None and concept.has_branches)


@dataclass(slots=True)
class _FieldSpellings:
    """The names of one field: those of the index, and the spellings that this run extracts."""

    names: CanonicalNames
    spellings_by_document: dict[DocId, tuple[str, ...]] = field(default_factory=dict[DocId, tuple[str, ...]])
    canonical_by_spelling: Mapping[str, str] = field(default_factory=dict[str, str])  # empty until decided

    def canonical_name_of(self, spelling: str) -> str:
        return self.canonical_by_spelling.get(spelling) or self.names.canonical_name_of(spelling) or spelling

    def decide_names(self) -> None:
        self.canonical_by_spelling = self.names.cluster_spellings(
            Counter(spelling for spellings in self.spellings_by_document.values() for spelling in set(spellings))
        )


class BucketAnnotator:
    """Extracts the values of one bucket's documents in one run."""

    def __init__(self, schema: Schema, extractor: Extractor, known_names: Mapping[FieldName, Sequence[str]]) -> None:
        """`known_names`: the names that the bucket already has, by field, the commonest first."""
        self._schema, self._extractor = schema, extractor
        self._kind_reader = KindReader(schema)
        self._schema_by_kind = dict[str | None, Schema]()
        self._spellings = {
            field.name: _FieldSpellings(_canonical_names_for(field, known_names.get(field.name, ())))
            for field in schema.fields
            if has_joined_spellings(field)
        }

    async def fill_documents(self, documents: Sequence[Document], budgets: WorkBudgets = _NO_BUDGETS) -> list[Document]:
        """Documents without values get them from their text; the others stay as they are.

        Leaves those out for whose file there is no more CPU time.
        """
        unfilled = [document for document in documents if lacks_values(document, self._schema)]
        readings = await asyncio.to_thread(self._read_kinds, unfilled, budgets)
        by_kind = defaultdict[str | None, list[ExtractionInput]](list)
        for document in unfilled:
            by_kind[self._kind_of(document, readings)].append(_extraction_input_of(document))
        for kind, inputs in by_kind.items():
            await self._extractor.prepare_documents(inputs, self._schema_of(kind))
        filled = {
            document.doc_id: await self._fill_within_budget(document, readings, budgets.get(document.doc_id))
            for document in unfilled
        }
        completed = (filled.get(document.doc_id, document) for document in documents)
        return [document for document in completed if document is not None]

    def _read_kinds(self, documents: Sequence[Document], budgets: WorkBudgets) -> Mapping[DocId, KindReading]:
        """Returns the kinds of the documents that have one for certain. A kind that a table gives is not read again."""
        kind_field = self._schema.kind_field
        if kind_field is None:
            return {}
        readings = (
            (document.doc_id, self._read_kind(document, budgets.get(document.doc_id)))
            for document in documents
            if kind_field.name not in document.values
        )
        return {doc_id: reading for doc_id, reading in readings if reading is not None}

    def _read_kind(self, document: Document, budget: WorkBudget | None) -> KindReading | None:
        with suppress(UnparsableFile), budget or nullcontext():
            return self._kind_reader.read_kind(DocumentText(_extraction_input_of(document)), document.doc_id)
        return None

    async def _fill_within_budget(
        self, document: Document, readings: Mapping[DocId, KindReading], budget: WorkBudget | None
    ) -> Document | None:
        with suppress(UnparsableFile), lend_budget(budget):
            return await self._fill_document(document, readings)
        return None

    def _kind_of(self, document: Document, readings: Mapping[DocId, KindReading]) -> str | None:
        if document.doc_id in readings:
            return readings[document.doc_id].kind
        kind_field = self._schema.kind_field
        kind = document.values.get(kind_field.name) if kind_field is not None else None
        return None if kind is None else str(kind)

    def _schema_of(self, kind: str | None) -> Schema:
        if self._schema.kind_field is None and not any(field.origin for field in self._schema.fields):
            return self._schema
        if kind not in self._schema_by_kind:
            self._schema_by_kind[kind] = schema_of_kind(self._schema, kind)
        return self._schema_by_kind[kind]

    async def _fill_document(self, document: Document, readings: Mapping[DocId, KindReading]) -> Document:
        schema = self._schema_of(self._kind_of(document, readings))
        candidates_by_field = await self._extractor.extract_candidates(_extraction_input_of(document), schema)
        kinds = _annotations_of_kind(self._schema, readings.get(document.doc_id))
        annotations = (*kinds, *_select_annotations(candidates_by_field, schema))
        for name, spellings in self._spellings.items():
            if extracted := _spellings_in(annotations, name):
                spellings.spellings_by_document[document.doc_id] = extracted
        return self._with_annotations(document, annotations)

    def _with_annotations(self, document: Document, annotations: tuple[FieldAnnotation, ...]) -> Document:
        given = {name: value for name, value in document.values.items() if self._schema.by_name[name].origin}
        values = given | dict(_values_of(annotations, self._schema))
        for name, spellings in self._spellings.items():
            if name in values:
                values[name] = _canonical_value(values[name], spellings)
        fitting = select_fitting_values(cast(Mapping[str, object], values), self._schema)
        annotated = replace(document, values=fitting, annotations=annotations)
        return replace(annotated, digest=digest_of(annotated))

    def settle_names(self) -> tuple[DocId, ...]:
        """Decide which spellings are the same name, after all documents. Returns the documents whose values change."""
        changed = dict[DocId, None]()
        for field_spellings in self._spellings.values():
            before = {
                spelling: field_spellings.canonical_name_of(spelling)
                for spellings in field_spellings.spellings_by_document.values()
                for spelling in spellings
            }
            field_spellings.decide_names()
            for doc_id, spellings in field_spellings.spellings_by_document.items():
                if any(field_spellings.canonical_name_of(spelling) != before[spelling] for spelling in spellings):
                    changed[doc_id] = None
        return tuple(changed)

    def with_settled_names(self, document: Document) -> Document:
        """The document with its names in their decided spelling."""
        return self._with_annotations(document, document.annotations)


def lacks_values(document: Document, schema: Schema) -> bool:
    """Whether nothing but the place of its file gives the document values, so that its text is read for them."""
    return all(schema.by_name[name].origin is not None for name in document.values)


def _annotations_of_kind(schema: Schema, reading: KindReading | None) -> Iterator[FieldAnnotation]:
    if reading is not None and schema.kind_field is not None:
        start, end = (reading.span.start, reading.span.end) if reading.span else (None, None)
        yield _annotation_of(
            schema.kind_field.name,
            ValueCandidate(value=reading.kind, confidence=reading.confidence, start=start, end=end),
        )


def _extraction_input_of(document: Document) -> ExtractionInput:
    return ExtractionInput(title=document.title, text=document.text, passages=document.passages)


def _select_annotations(candidates_by_field: CandidatesByField, schema: Schema) -> Iterable[FieldAnnotation]:
    for schema_field in schema.fields:
        candidates = candidates_by_field.get(schema_field.name, ())
        selected = candidates if schema_field.type in (FieldType.LIST, FieldType.ROWS) else candidates[:1]
        yield from (_annotation_of(schema_field.name, candidate) for candidate in selected)


def _annotation_of(name: FieldName, candidate: ValueCandidate) -> FieldAnnotation:
    confidence = round(min(max(candidate.confidence, 0.0), 1.0), 2)
    return FieldAnnotation(
        field=name, value=candidate.value, confidence=confidence, start=candidate.start, end=candidate.end
    )


def _values_of(annotations: Sequence[FieldAnnotation], schema: Schema) -> Iterable[tuple[FieldName, FieldValue]]:
    confident = [annotation for annotation in annotations if annotation.confidence >= MIN_VALUE_CONFIDENCE]
    for name in dict.fromkeys(annotation.field for annotation in confident):
        values = [annotation.value for annotation in confident if annotation.field == name]
        has_members = schema.by_name[name].type in (FieldType.LIST, FieldType.ROWS)
        yield name, _concatenate_members(cast(list[tuple[RowValues, ...]], values)) if has_members else values[0]


def _concatenate_members(members: Sequence[tuple[RowValues, ...]]) -> tuple[RowValues, ...]:
    return tuple(row for rows in members for row in rows)


def _spellings_in(annotations: Sequence[FieldAnnotation], name: FieldName) -> tuple[str, ...]:
    values = (
        annotation.value
        for annotation in annotations
        if annotation.field == name and annotation.confidence >= MIN_VALUE_CONFIDENCE
    )
    return tuple(str(value[0]) if isinstance(value, tuple) else str(value) for value in values)


def _canonical_value(value: FieldValue, spellings: _FieldSpellings) -> FieldValue:
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(spellings.canonical_name_of(str(member)) for member in value))
    return spellings.canonical_name_of(str(value))


# -- with an index


class DocumentAnnotator:
    """Fills the documents of a run before they are put into an index, bucket by bucket."""

    def __init__(self, index: SearchIndex, extractor: Extractor, *, is_dry_run: bool = False) -> None:
        """`index` gives the known names. A dry run puts nothing."""
        self._index, self._extractor, self._is_dry_run = index, extractor, is_dry_run
        self._annotator_by_bucket = dict[BucketId, BucketAnnotator]()

    async def fill_documents(
        self, documents: Sequence[Document], schema: Schema, budgets: WorkBudgets = _NO_BUDGETS
    ) -> list[Document]:
        """Documents without values get them from their text; the others stay as they are.

        Leaves those out for whose file there is no more CPU time.
        """
        if not schema.fields or not any(lacks_values(document, schema) for document in documents):
            return list(documents)
        if schema.bucket not in self._annotator_by_bucket:
            known_names = await _known_names_in(self._index, schema)
            self._annotator_by_bucket[schema.bucket] = BucketAnnotator(schema, self._extractor, known_names)
        return await self._annotator_by_bucket[schema.bucket].fill_documents(documents, budgets)

    async def settle_names(self) -> None:
        """Put the documents again whose names turned out to be spellings of other names."""
        for bucket, annotator in () if self._is_dry_run else self._annotator_by_bucket.items():
            changed = await asyncio.to_thread(annotator.settle_names)
            for start in range(0, len(changed), _REPUT_BATCH):
                request = DocumentRequest(changed[start : start + _REPUT_BATCH])
                documents = (await _unrestricted_index(self._index, bucket).answer_requests(request))[request]
                await self._index.put(bucket, [annotator.with_settled_names(document) for document in documents])


def _unrestricted_index(index: SearchIndex, bucket: BucketId) -> ScopedIndex:
    return index.within_scope(Scope(tenant=index.tenant, buckets=frozenset({bucket}), ignores_readers=True))


async def _known_names_in(index: SearchIndex, schema: Schema) -> Mapping[FieldName, Sequence[str]]:
    """The names that the bucket has, by field, the commonest first."""
    if not any(map(has_joined_spellings, schema.fields)) or schema.bucket not in await index.load_bucket_sizes():
        return {}
    vocabulary = await _unrestricted_index(index, schema.bucket).load_vocabulary(_MAX_KNOWN_NAMES)
    return {field.field: _values_by_count(field.values) for field in vocabulary.fields}


def _values_by_count(values: Sequence[ValueCount]) -> list[str]:
    return [counted.value for counted in sorted(values, key=lambda counted: (-counted.count, counted.value))]
