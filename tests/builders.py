"""Small schemas and documents for tests, with everything at a default that a test does not care about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.search.conditions import EVERYTHING, Compare, Condition, Op, Scalar
from storage.search.documents import Document, Passage, Row, Value
from storage.search.ids import BucketId, DocId, FieldName, Subject, TenantId
from storage.search.plan import Clause, Search
from storage.search.schema import Field, FieldType, Schema, SchemaOrder
from storage.search.scope import Scope

TENANT = TenantId("test")
RECEIPTS = BucketId("receipts")


def a_field(
    name: str,
    kind: FieldType = FieldType.CATEGORY,
    *,
    columns: tuple[Field, ...] = (),
    unit: str = "",
    currency: str = "",
    shared: bool = False,
) -> Field:
    return Field(name=FieldName(name), type=kind, columns=columns, unit=unit, currency=currency, shared=shared)


def a_receipt_schema(bucket: str = RECEIPTS, *, language: str = "en", shared: bool = False) -> Schema:
    """A field of every type: vendor, currency, total, weight, date, tags, items, paid, note."""
    columns = (
        a_field("name", FieldType.TEXT),
        a_field("qty", FieldType.NUMBER),
        a_field("price", FieldType.MONEY),
        a_field("due", FieldType.DATE),
        a_field("done", FieldType.FLAG),
    )
    fields = (
        Field(name=FieldName("vendor"), type=FieldType.CATEGORY, facet=True, shared=shared),
        Field(name=FieldName("currency"), type=FieldType.CATEGORY),
        Field(name=FieldName("total"), type=FieldType.MONEY, currency_field=FieldName("currency"), shared=shared),
        Field(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        Field(name=FieldName("date"), type=FieldType.DATE, facet=True, shared=shared),
        Field(name=FieldName("tags"), type=FieldType.LIST, facet=True),
        Field(name=FieldName("items"), type=FieldType.ROWS, columns=columns),
        Field(name=FieldName("paid"), type=FieldType.FLAG),
        Field(name=FieldName("note"), type=FieldType.TEXT),
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
    **values: Value | None,
) -> Document:
    """With one passage, the whole text, unless others are given. Values that are None are absent."""
    whole = (Passage(start=0, end=len(text), page=1),) if text else ()
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text,
        source=source,
        values={FieldName(name): value for name, value in values.items() if value is not None},
        readers=frozenset(map(Subject, readers)),
        passages=whole if passages is None else tuple(passages),
        digest=digest,
        summary=summary,
    )


def with_values(document: Document, values: Mapping[str, Value]) -> Document:
    """With other values, whose names need not be Python's."""
    return replace(document, values={FieldName(name): value for name, value in values.items()})


def a_row(**columns: Scalar) -> Row:
    return {FieldName(name): value for name, value in columns.items()}


def where(field: str, op: Op | str, value: Scalar | tuple[Scalar, ...]) -> Compare:
    return Compare(field=FieldName(field), op=Op(op), value=value)


def a_search(condition: Condition = EVERYTHING, *, bucket: str = RECEIPTS, required: Sequence[str] = ()) -> Search:
    return Search(clauses=(Clause(bucket=BucketId(bucket), condition=condition, required=tuple(required)),))


def a_union(conditions: Mapping[str, Condition]) -> Search:
    """A search over several buckets."""
    return Search(clauses=tuple(Clause(bucket=BucketId(name), condition=one) for name, one in conditions.items()))


def a_scope(*buckets: str, subjects: Sequence[str] = (), all_readers: bool = False) -> Scope:
    return Scope(
        tenant=TENANT,
        buckets=frozenset(map(BucketId, buckets or (RECEIPTS,))),
        subjects=frozenset(map(Subject, subjects)),
        all_readers=all_readers,
    )


def ordered_by(field: str, *, descending: bool = True) -> SchemaOrder:
    return SchemaOrder(field=FieldName(field), descending=descending)
