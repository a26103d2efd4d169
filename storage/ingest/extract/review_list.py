"""What an owner reviews: each field, the least confident values, and the names with several spellings."""

import heapq
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import cast

from storage.ingest.extract.annotation import MIN_VALUE_CONFIDENCE, has_joined_spellings
from storage.ingest.extract.field_review import FieldReview, FieldReviewCollector
from storage.ingest.extract.value_corrections import reading_version_of
from storage.search.conditions import MATCH_ALL
from storage.search.documents import Document, FieldAnnotation, FieldValue
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import DocumentRequest, RecordPageRequest, ScopedIndex, SearchIndex
from storage.search.plan import Clause, Search
from storage.search.schema import Schema
from storage.search.scope import Scope

_PAGE_DOCUMENTS = 100  # fetched at once, with their texts
_MAX_EVIDENCE_CHARACTERS = 160  # shown
_CONTEXT_CHARACTERS = 120  # shown on each side of the evidence
_MAX_JOINED_NAMES = 1_000  # shown


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertainValue:
    """An extracted value and its confidence. `evidence` is empty where the value comes from no text; `before` and
    `after` are the text around it. `whole_value`: what the field would have if the value were right.
    """

    doc_id: DocId
    title: str
    field: FieldName
    value: FieldValue
    confidence: float
    evidence: str
    page: int | None
    before: str = ""
    after: str = ""
    whole_value: FieldValue | None = None
    version: str = ""  # `reading_version_of` the field


@dataclass(slots=True, kw_only=True)
class FieldCounts:
    """Counts of one field: values extracted, values stored, values below the asked confidence."""

    read: int = 0
    taken: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedName:
    """A name and its spellings, each with the number of its documents, the commonest first."""

    field: FieldName
    name: str
    spellings: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionReview:
    uncertain_values: tuple[UncertainValue, ...]  # least confident first
    counts_by_field: Mapping[FieldName, FieldCounts]
    joined_names: tuple[JoinedName, ...]
    fields: tuple[FieldReview, ...] = ()  # that documents were read for
    document_count: int = 0  # that were read for values
    kindless_count: int = 0  # of them without a kind, in a bucket of several kinds


@dataclass(slots=True)
class _ReviewCollector:
    """Collects counts, names, and the `limit` least confident values."""

    below_confidence: float
    limit: int
    counts_by_field: dict[FieldName, FieldCounts]
    joined_fields: frozenset[FieldName]
    heap: list[tuple[float, int, UncertainValue]] = field(default_factory=list[tuple[float, int, UncertainValue]])
    spellings_by_name: dict[tuple[FieldName, str], Counter[str]] = field(
        default_factory=dict[tuple[FieldName, str], Counter[str]]
    )

    def add_document(self, document: Document, order: "count[int]") -> None:
        for annotation in document.annotations:
            if annotation.field not in self.counts_by_field:
                continue
            counts = self.counts_by_field[annotation.field]
            counts.read += 1
            counts.taken += annotation.confidence >= MIN_VALUE_CONFIDENCE
            if annotation.confidence < self.below_confidence:
                counts.below += 1
                self._keep_least_confident(_uncertain_value_of(document, annotation), next(order))
        for name in self.joined_fields:
            self._add_names(document, name)

    def _keep_least_confident(self, doubt: UncertainValue, order: int) -> None:
        entry = (-doubt.confidence, -order, doubt)
        if len(self.heap) < self.limit:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heappushpop(self.heap, entry)

    def _add_names(self, document: Document, name: FieldName) -> None:
        spellings = [
            _text_of_value(annotation.value)
            for annotation in document.annotations
            if annotation.field == name and annotation.confidence >= MIN_VALUE_CONFIDENCE
        ]
        value = document.values.get(name)
        names = [str(member) for member in value] if isinstance(value, tuple) else [] if value is None else [str(value)]
        for spelling, canonical in zip(spellings, names, strict=False) if len(spellings) == len(names) else ():
            self.spellings_by_name.setdefault((name, canonical), Counter())[spelling] += 1


async def review_extraction(
    index: SearchIndex,
    schema: Schema,
    *,
    below_confidence: float,
    limit: int,
    scope: Scope | None = None,
    max_documents: int | None = None,
) -> ExtractionReview:
    """The review of the documents of the bucket, at most `max_documents`, within the scope; without one, of all of
    them, for the owner: readers of documents do not count.
    """
    owner_scope = Scope(tenant=index.tenant, buckets=frozenset({schema.bucket}), ignores_readers=True)
    documents = _all_documents_in(index.within_scope(scope or owner_scope), schema.bucket)
    joined = frozenset(field.name for field in schema.fields if has_joined_spellings(field))
    counts_by_field = {field.name: FieldCounts() for field in schema.fields}
    collector = _ReviewCollector(below_confidence, max(limit, 1), counts_by_field, joined)
    order, field_collector = count(), FieldReviewCollector(schema)
    seen_count = 0
    async for document in documents:
        collector.add_document(document, order)
        field_collector.add_document(document)
        seen_count += 1
        if max_documents is not None and seen_count >= max_documents:
            break
    values = [value for _, _, value in sorted(collector.heap, key=lambda entry: (-entry[0], -entry[1]))]
    several = {key: spellings for key, spellings in collector.spellings_by_name.items() if len(spellings) > 1}
    names = sorted(several.items(), key=lambda item: (-item[1].total(), item[0]))[:_MAX_JOINED_NAMES]
    return ExtractionReview(
        uncertain_values=tuple(values),
        counts_by_field={name: counts for name, counts in counts_by_field.items() if counts.read},
        joined_names=tuple(
            JoinedName(field=field_name, name=name, spellings=_spellings_by_count(spellings))
            for (field_name, name), spellings in names
        ),
        fields=field_collector.build_reviews(),
        document_count=field_collector.document_count,
        kindless_count=field_collector.kindless_count,
    )


def _spellings_by_count(spellings: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(spellings.items(), key=lambda item: (-item[1], item[0])))


async def _all_documents_in(scoped: ScopedIndex, bucket: BucketId) -> AsyncIterator[Document]:
    search = Search(clauses=(Clause(bucket=bucket, condition=MATCH_ALL),))
    cursor: str | None = None
    while True:
        request = RecordPageRequest(search, cursor=cursor, limit=_PAGE_DOCUMENTS, fields=frozenset())
        page = (await scoped.answer_requests(request))[request]
        for document in await _fetch_documents(scoped, [record.doc_id for record in page.records]):
            yield document
        if page.cursor is None:
            return
        cursor = page.cursor


async def _fetch_documents(scoped: ScopedIndex, doc_ids: Sequence[DocId]) -> Sequence[Document]:
    request = DocumentRequest(tuple(doc_ids))
    return (await scoped.answer_requests(request))[request]


def _uncertain_value_of(document: Document, annotation: FieldAnnotation) -> UncertainValue:
    start, end = annotation.start or 0, annotation.end or 0
    passages = [passage for passage in document.passages if passage.start <= start]
    has_evidence = annotation.start is not None
    return UncertainValue(
        doc_id=document.doc_id,
        title=document.title,
        field=annotation.field,
        value=annotation.value,
        confidence=annotation.confidence,
        evidence=" ".join(document.text[start : min(end, start + _MAX_EVIDENCE_CHARACTERS)].split()),
        page=passages[-1].page if passages and has_evidence else None,
        before=_text_before(document.text, start) if has_evidence else "",
        after=_text_after(document.text, end) if has_evidence else "",
        whole_value=_whole_value_of(document, annotation),
        version=reading_version_of(document, annotation.field),
    )


def _text_before(text: str, start: int) -> str:
    """Returns the text before a place, from the beginning of a word."""
    first = start - _CONTEXT_CHARACTERS
    return text[:start] if first <= 0 else f"… {text[first:start].partition(' ')[2]}"


def _text_after(text: str, end: int) -> str:
    """Returns the text after a place, to the end of a word."""
    last = end + _CONTEXT_CHARACTERS
    return text[end:] if last >= len(text) else f"{text[end:last].rpartition(' ')[0]} …"


def _whole_value_of(document: Document, annotation: FieldAnnotation) -> FieldValue:
    """Returns the value that the document has, in its standard spelling; one that was too unsure is added to a list."""
    stored = document.values.get(annotation.field)
    is_stored = annotation.confidence >= MIN_VALUE_CONFIDENCE
    if stored is not None and is_stored:
        return stored
    if isinstance(stored, tuple) and isinstance(annotation.value, tuple):
        return cast(FieldValue, tuple(dict.fromkeys(cast(tuple[str, ...], (*stored, *annotation.value)))))
    return annotation.value


def _text_of_value(value: FieldValue) -> str:
    return str(value[0]) if isinstance(value, tuple) else str(value)
