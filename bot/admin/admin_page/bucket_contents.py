"""What an admin reads of a bucket: its documents, their values with the evidence, and the values that are unsure.

Everything is read within what the admin may see: a grant, and the readers of each document, count as in any question.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from bot.access.audience_scope import AccessResolver
from bot.admin.admin_page.bucket_status import scope_for_admin
from bot.admin.admin_page.value_forms import ValueForm, form_for_value
from bot.admin.administration import AdminOperations
from bot.errors import BucketClosed, MissingBucket, NotAdmin, UnknownListing
from bot.ids import BucketId, DocId, PersonId
from storage.search.conditions import DOC_ID_FIELD, ComparisonCondition, ComparisonOperator
from storage.search.documents import SURE_CONFIDENCE, Document, FieldAnnotation, FieldValue
from storage.search.errors import InvalidCondition
from storage.search.index import (
    CountRequest,
    DocumentRecord,
    DocumentRequest,
    RecordPageRequest,
    ScopedIndex,
    SearchIndex,
)
from storage.search.numbers import to_json_number
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField

if TYPE_CHECKING:
    from storage.ingest.extract.field_review import FieldReview
    from storage.ingest.extract.review_list import UncertainValue

DOCUMENTS_PER_PAGE: Final = 50
REVIEWED_DOCUMENTS: Final = 2_000  # of a bucket: the page answers while somebody waits
REVIEWED_VALUES: Final = 100
MAX_WORDS_CHARACTERS: Final = 200
UNSURE_BELOW: Final = 0.7
_LISTED_FIELDS: Final = 3
_MAX_CURSOR_CHARACTERS: Final = 4_000
_MAX_VALUE_CHARACTERS: Final = 400
_MAX_ROWS: Final = 50  # of a rows field
_MAX_LISTED_CHARACTERS: Final = 60
_MAX_SHOWN_VALUES: Final = 500  # of a document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    doc_id: DocId
    title: str
    values: tuple[str, ...]  # of the listing's columns; empty where it has none


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentListing:
    """A page of the documents that the admin may see. `next_cursor` None: it is the last."""

    bucket: BucketId
    title: str
    columns: tuple[str, ...]
    documents: tuple[DocumentLine, ...]
    count: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValue:
    """A value of a document. `confidence` None: it was given, and read from no text. `start`, `end`: its evidence in
    the text, if it has any. `is_stored` False: it is too unsure to count. `form` None: it is not changed by hand.
    """

    name: str
    field: str
    text: str
    confidence: float | None = None
    is_stored: bool = True
    start: int | None = None
    end: int | None = None
    page: int | None = None
    form: ValueForm | None = None

    @property
    def certainty(self) -> str:
        """How sure the value is, in a word."""
        if self.confidence is None:
            return "given"
        if not self.is_stored:
            return "not taken"
        return (
            "sure"
            if self.confidence >= SURE_CONFIDENCE
            else "likely"
            if self.confidence >= UNSURE_BELOW
            else "doubtful"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField:
    """A field without a value."""

    name: str
    label: str
    form: ValueForm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    bucket: BucketId
    bucket_title: str
    doc_id: DocId
    title: str
    source: str
    text: str
    values: tuple[ShownValue, ...]
    missing: tuple[MissingField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsureValue:
    """`before` and `after`: the text around the evidence. `form` begins with what the whole field would have if the
    value were right; None: it is not changed by hand.
    """

    doc_id: DocId
    title: str
    field: str
    text: str
    confidence: float
    evidence: str
    before: str
    after: str
    page: int | None
    form: ValueForm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedBucket:
    """`field_rows`: label, documents with a value, and of those the sure, likely and doubtful ones. `is_partial`: only
    the first documents were read.
    """

    bucket: BucketId
    title: str
    values: tuple[UnsureValue, ...]
    field_rows: tuple[tuple[str, str, str, str, str], ...]
    doubts: tuple[str, ...]
    document_count: int
    document_limit: int
    is_partial: bool


class GrantedContents:
    """Each call names the admin who asks. It raises `NotAdmin` for anybody else, `MissingBucket`, and `BucketClosed`
    for a bucket that is not granted to the admin.
    """

    def __init__(self, *, administration: AdminOperations, index: SearchIndex, access: AccessResolver) -> None:
        self._administration, self._index, self._access = administration, index, access

    async def list_buckets(self, by: PersonId) -> dict[str, str]:
        """The labels of the buckets that are open to the admin."""
        if not await self._administration.is_admin(by):
            raise NotAdmin()
        scope = await scope_for_admin(self._access, by)
        schemas = await self._index.within_scope(scope).load_schemas()
        return {bucket: schemas[bucket].label for bucket in sorted(schemas)}

    async def list_documents(
        self, bucket: str, by: PersonId, *, words: str = "", cursor: str | None = None
    ) -> DocumentListing:
        """`words`: only documents that mention all of them. Raises `UnknownListing` for a cursor of another list."""
        index, schema = await self.open_bucket(bucket, by)
        fields = _listed_fields_of(schema)
        terms = tuple(words[:MAX_WORDS_CHARACTERS].split())
        search = Search(clauses=(Clause(bucket=schema.bucket, required_terms=terms),))
        if cursor is not None and len(cursor) > _MAX_CURSOR_CHARACTERS:
            raise UnknownListing()
        count_request = CountRequest(search)
        page_request = RecordPageRequest(
            search, cursor=cursor, limit=DOCUMENTS_PER_PAGE, fields=frozenset(field.name for field in fields)
        )
        try:
            answers = await index.answer_requests(count_request, page_request)
        except InvalidCondition as exc:
            raise UnknownListing() from exc
        return DocumentListing(
            bucket=schema.bucket,
            title=schema.label,
            columns=tuple(field.label for field in fields),
            documents=tuple(_document_line_of(record, fields) for record in answers[page_request].records),
            count=answers[count_request],
            next_cursor=answers[page_request].cursor,
        )

    async def load_document(self, bucket: str, doc_id: str, by: PersonId) -> ShownDocument | None:
        """None where there is no such document, or the admin may not see it."""
        found = await self.find_document(bucket, doc_id, by)
        return None if found is None else _shown_document_of(*found)

    async def find_document(self, bucket: str, doc_id: str, by: PersonId) -> tuple[Document, Schema] | None:
        """The document as it is stored, with the bucket's schema; None as for `load_document`."""
        index, schema = await self.open_bucket(bucket, by)
        request = DocumentRequest((DocId(doc_id),))
        has_id = ComparisonCondition(field=DOC_ID_FIELD, op=ComparisonOperator.EQ, value=doc_id)
        in_bucket = CountRequest(Search(clauses=(Clause(bucket=schema.bucket, condition=has_id),)))
        answers = await index.answer_requests(request, in_bucket)
        documents = answers[request]
        return (documents[0], schema) if documents and answers[in_bucket] else None

    async def find_documents(self, bucket: str, doc_ids: Sequence[str], by: PersonId) -> Mapping[DocId, Document]:
        """Those of the documents that are there and that the admin may see, by id."""
        index, _ = await self.open_bucket(bucket, by)
        request = DocumentRequest(tuple(dict.fromkeys(map(DocId, doc_ids))))
        documents = (await index.answer_requests(request))[request] if doc_ids else ()
        return {document.doc_id: document for document in documents}

    async def review_values(self, bucket: str, by: PersonId) -> ReviewedBucket:
        """The values that are less sure than `UNSURE_BELOW`, of at most `REVIEWED_DOCUMENTS` documents."""
        from storage.ingest.extract.review_list import review_extraction

        index, schema = await self.open_bucket(bucket, by)
        count_request = CountRequest(Search(clauses=(Clause(bucket=schema.bucket),)))
        total = (await index.answer_requests(count_request))[count_request]
        review = await review_extraction(
            self._index,
            schema,
            below_confidence=UNSURE_BELOW,
            limit=REVIEWED_VALUES,
            scope=index.scope,
            max_documents=REVIEWED_DOCUMENTS,
        )
        return ReviewedBucket(
            bucket=schema.bucket,
            title=schema.label,
            values=tuple(_unsure_value_of(value, schema) for value in review.uncertain_values),
            field_rows=tuple(_row_of_review(field) for field in review.fields if field.read),
            doubts=tuple(f"{field.label}: {doubt}" for field in review.fields if field.read for doubt in field.doubts),
            document_count=review.document_count,
            document_limit=REVIEWED_DOCUMENTS,
            is_partial=total > REVIEWED_DOCUMENTS,
        )

    async def open_bucket(self, bucket: str, by: PersonId) -> tuple[ScopedIndex, Schema]:
        """The index as far as the admin may see it, and the bucket's schema."""
        if not await self._administration.is_admin(by):
            raise NotAdmin()
        if BucketId(bucket) not in await self._index.load_bucket_names():
            raise MissingBucket(bucket)
        scope = await scope_for_admin(self._access, by)
        if bucket not in scope.buckets:
            raise BucketClosed(bucket)
        index = self._index.within_scope(scope)
        schema = (await index.load_schemas()).get(BucketId(bucket))
        if schema is None:
            raise MissingBucket(bucket)
        return index, schema


def text_of_value(value: FieldValue, field: SchemaField) -> str:
    """Returns a value as people read it, of at most some hundred characters."""
    return _shorten_text("; ".join(_texts_of_value(value, field)), _MAX_VALUE_CHARACTERS)


def _texts_of_value(value: FieldValue, field: SchemaField) -> Iterator[str]:
    match value:
        case tuple():
            for member in itertools.islice(cast(Iterable[object], value), _MAX_ROWS):
                yield _text_of_row(cast(Mapping[str, object], member)) if isinstance(member, Mapping) else str(member)
        case bool():
            yield "yes" if value else "no"
        case int() | float():
            number = to_json_number(float(value))
            shown = f"{number:,.2f}" if field.type is FieldType.MONEY else f"{number:,}"
            yield " ".join(filter(None, (field.currency, shown, field.unit)))
        case _:
            yield str(value)


def _text_of_row(row: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {json.dumps(cell, ensure_ascii=False).strip(chr(34))}" for name, cell in row.items())


def _unsure_value_of(value: "UncertainValue", schema: Schema) -> UnsureValue:
    field = schema.by_name[value.field]
    return UnsureValue(
        doc_id=value.doc_id,
        title=value.title,
        field=field.label,
        text=text_of_value(value.value, field),
        confidence=value.confidence,
        evidence=value.evidence,
        before=value.before,
        after=value.after,
        page=value.page,
        form=form_for_value(field, value.whole_value, value.version),
    )


def _row_of_review(review: "FieldReview") -> tuple[str, str, str, str, str]:
    read = f"{review.read:,} of {review.documents:,}"
    return review.label, read, f"{review.sure:,}", f"{review.likely:,}", f"{review.doubtful:,}"


def _listed_fields_of(schema: Schema) -> list[SchemaField]:
    fields = [field for field in schema.fields if field.type not in (FieldType.ROWS, FieldType.TEXT)]
    return sorted(fields, key=lambda field: not field.facet)[:_LISTED_FIELDS]


def _document_line_of(record: DocumentRecord, fields: Sequence[SchemaField]) -> DocumentLine:
    values = (record.values.get(field.name) for field in fields)
    texts = ("" if value is None else text_of_value(value, field) for value, field in zip(values, fields, strict=True))
    return DocumentLine(
        doc_id=record.doc_id,
        title=record.title,
        values=tuple(_shorten_text(text, _MAX_LISTED_CHARACTERS) for text in texts),
    )


def _shown_document_of(document: Document, schema: Schema) -> ShownDocument:
    all_values = (value for field in schema.fields for value in _shown_values_of(document, field))
    values = [*itertools.islice(all_values, _MAX_SHOWN_VALUES)]
    shown = {value.name for value in values if value.is_stored}
    return ShownDocument(
        bucket=schema.bucket,
        bucket_title=schema.label,
        doc_id=document.doc_id,
        title=document.title,
        source=document.source,
        text=document.text,
        values=tuple(values),
        missing=tuple(
            MissingField(name=field.name, label=field.label, form=_form_of_field(document, field))
            for field in schema.fields
            if field.name not in shown and not field.absent_means_none
        ),
    )


def _shown_values_of(document: Document, field: SchemaField) -> Iterator[ShownValue]:
    """Yields the values that were read from the text; the stored value where none was read."""
    from storage.ingest.extract.annotation import MIN_VALUE_CONFIDENCE

    stored = document.values.get(field.name)
    annotations = [annotation for annotation in document.annotations if annotation.field == field.name]
    form = _form_of_field(document, field)
    if stored is not None and not any(annotation.confidence >= MIN_VALUE_CONFIDENCE for annotation in annotations):
        yield ShownValue(name=field.name, field=field.label, text=text_of_value(stored, field), form=form)
    for annotation in annotations:
        yield ShownValue(
            name=field.name,
            field=field.label,
            text=text_of_value(annotation.value, field),
            confidence=annotation.confidence,
            is_stored=annotation.confidence >= MIN_VALUE_CONFIDENCE,
            start=annotation.start,
            end=annotation.end,
            page=_page_of(document, annotation),
            form=form,
        )


def _form_of_field(document: Document, field: SchemaField) -> ValueForm | None:
    """The form begins with the value that counts, else with the surest one that was read."""
    from storage.ingest.extract.value_corrections import annotations_of_field, reading_version_of

    readings = [annotation.value for annotation in annotations_of_field(document, field.name)]
    value = document.values.get(field.name, readings[0] if readings else None)
    return form_for_value(field, value, reading_version_of(document, field.name))


def _page_of(document: Document, annotation: FieldAnnotation) -> int | None:
    start = annotation.start
    passages = [passage for passage in document.passages if start is not None and passage.start <= start]
    return passages[-1].page if passages else None


def _shorten_text(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
