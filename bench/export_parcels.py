"""The documents that the measurements of exports read, on every engine."""

from collections.abc import AsyncGenerator

from storage.ingest.documents.chunk import passages_of
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import SearchIndex
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField

PARCELS_BUCKET = BucketId("parcels")
NUMBER_FIELD, _CARRIER_FIELD, _SENT_FIELD = FieldName("number"), FieldName("carrier"), FieldName("sent")
PARCELS_SCHEMA = Schema(
    bucket=PARCELS_BUCKET,
    fields=(
        SchemaField(name=NUMBER_FIELD, type=FieldType.NUMBER),
        SchemaField(name=_CARRIER_FIELD, type=FieldType.CATEGORY, facet=True),
        SchemaField(name=_SENT_FIELD, type=FieldType.DATE),
    ),
)
_BATCH_SIZE = 5_000


async def put_parcels(index: SearchIndex, count: int) -> AsyncGenerator[int]:
    """Create the bucket and put `count` documents. Yields the number of documents put so far after each batch."""
    await index.set_schema(PARCELS_SCHEMA)
    for start in range(0, count, _BATCH_SIZE):
        end = min(start + _BATCH_SIZE, count)
        await index.put(PARCELS_BUCKET, [_make_parcel(number) for number in range(start, end)])
        yield end


def first_parcels_search(count: int) -> Search:
    """Returns the search for the `count` parcels of the lowest numbers."""
    condition = ComparisonCondition(field=NUMBER_FIELD, op=ComparisonOperator.LT, value=float(count))
    return Search(clauses=(Clause(bucket=PARCELS_BUCKET, condition=condition),))


def _make_parcel(number: int) -> Document:
    text = f"Parcel {number}."
    return Document(
        doc_id=DocId(f"p{number:07}"),
        title=f"Parcel {number}",
        text=text,
        values={
            NUMBER_FIELD: float(number),
            _CARRIER_FIELD: f"Carrier {number % 50}",
            _SENT_FIELD: f"20{number % 25:02}-03-01",
        },
        passages=passages_of(text),
        digest=str(number),
    )
