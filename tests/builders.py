"""Builders of small schemas, documents, searches and scopes for tests. All parameters have defaults where possible."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.search.conditions import MATCH_ALL, ComparisonCondition, ComparisonOperator, Condition, Scalar
from storage.search.documents import Document, FieldValue, Passage, RowValues
from storage.search.ids import BucketId, DocId, FieldName, Subject, TenantId
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from storage.search.scope import Scope

TENANT = TenantId("test")
RECEIPTS = BucketId("receipts")


def a_field(
    name: str,
    field_type: FieldType = FieldType.CATEGORY,
    *,
    columns: tuple[SchemaField, ...] = (),
    unit: str = "",
    currency: str = "",
    shared: bool = False,
) -> SchemaField:
    return SchemaField(
        name=FieldName(name), type=field_type, columns=columns, unit=unit, currency=currency, shared=shared
    )


def a_receipt_schema(bucket: str = RECEIPTS, *, language: str = "en", shared: bool = False) -> Schema:
    """Build a schema with fields of every type: vendor, currency, total, weight, date, tags, items, paid, note."""
    columns = (
        a_field("name", FieldType.TEXT),
        a_field("qty", FieldType.NUMBER),
        a_field("price", FieldType.MONEY),
        a_field("due", FieldType.DATE),
        a_field("done", FieldType.FLAG),
    )
    fields = (
        SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY, facet=True, shared=shared),
        SchemaField(name=FieldName("currency"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("total"), type=FieldType.MONEY, currency_field=FieldName("currency"), shared=shared),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("date"), type=FieldType.DATE, facet=True, shared=shared),
        SchemaField(name=FieldName("tags"), type=FieldType.LIST, facet=True),
        SchemaField(name=FieldName("items"), type=FieldType.ROWS, columns=columns),
        SchemaField(name=FieldName("paid"), type=FieldType.FLAG),
        SchemaField(name=FieldName("note"), type=FieldType.TEXT),
    )
    return Schema(bucket=BucketId(bucket), fields=fields, language=language)


def a_document(
    doc_id: str,
    text: str = "",
    *,
    title: str = "",
    readers: Sequence[str] = (),
    digest: str = "",
    source: str = "",
    passages: Sequence[Passage] | None = None,
    summary: str = "",
    **values: FieldValue | None,
) -> Document:
    """Build a document with one passage, the whole text, unless `passages` are given. A value of None is absent."""
    whole_text = (Passage(start=0, end=len(text), page=1),) if text else ()
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text,
        source=source,
        values={FieldName(name): value for name, value in values.items() if value is not None},
        readers=frozenset(map(Subject, readers)),
        passages=whole_text if passages is None else tuple(passages),
        digest=digest,
        summary=summary,
    )


def with_values(document: Document, values: Mapping[str, FieldValue]) -> Document:
    """Return the document with other values. Their names need not be Python identifiers."""
    return replace(document, values={FieldName(name): value for name, value in values.items()})


def a_row(**columns: Scalar) -> RowValues:
    return {FieldName(name): value for name, value in columns.items()}


def where(field: str, op: ComparisonOperator | str, value: Scalar | tuple[Scalar, ...]) -> ComparisonCondition:
    return ComparisonCondition(field=FieldName(field), op=ComparisonOperator(op), value=value)


def a_search(condition: Condition = MATCH_ALL, *, bucket: str = RECEIPTS, required: Sequence[str] = ()) -> Search:
    return Search(clauses=(Clause(bucket=BucketId(bucket), condition=condition, required_terms=tuple(required)),))


def a_union(conditions: Mapping[str, Condition]) -> Search:
    """Build a search over several buckets: bucket -> condition."""
    return Search(
        clauses=tuple(Clause(bucket=BucketId(name), condition=condition) for name, condition in conditions.items())
    )


def a_scope(*buckets: str, subjects: Sequence[str] = (), all_readers: bool = False) -> Scope:
    return Scope(
        tenant=TENANT,
        buckets=frozenset(map(BucketId, buckets or (RECEIPTS,))),
        subjects=frozenset(map(Subject, subjects)),
        ignores_readers=all_readers,
    )


def ordered_by(field: str, *, descending: bool = True) -> SchemaOrder:
    return SchemaOrder(field=FieldName(field), descending=descending)
