"""Requests of every kind over two buckets of random documents, whose answers may be compared between two layouts."""

import random
from collections.abc import Sequence

from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexRequest,
    IndexSnapshot,
    KeywordPassageRequest,
    NearestValueRequest,
    OutlineRequest,
    RecordPageRequest,
    ScopedIndex,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.plan import CalendarPeriod, GroupBy
from storage.search.schema import SchemaOrder
from tests.builders import (
    RECEIPTS,
    a_document,
    a_receipt_schema,
    a_row,
    a_scope,
    a_search,
    a_union,
    ordered_by,
    where,
)

_WORDS = "tire rim brake oil filter winter summer steel alloy invoice Zürich straße hinge bolt".split()
_FIELDS = ("vendor", "total", "weight", "date", "tags", "paid", "note")
_ORDERS = ("vendor", "total", "weight", "date", "paid")


def build_random_documents(count: int) -> list[Document]:
    """Few distinct values, so that orders have ties and terms stand in all shards; some values are absent."""
    chance = random.Random(18)
    documents = list[Document]()
    for number in range(count):
        parts = [" ".join(chance.choices(_WORDS, k=chance.randint(2, 12))) for _ in range(chance.randint(1, 3))]
        text, passages, start = "\n".join(parts), list[Passage](), 0
        for part in parts:
            passages.append(Passage(start=start, end=start + len(part), page=1))
            start += len(part) + 1
        rows = tuple(
            a_row(name=chance.choice(_WORDS), qty=float(chance.randint(1, 3)), price=chance.randint(1, 99) / 10)
            for _ in range(chance.randint(0, 2))
        )
        documents.append(
            a_document(
                f"d{number}",
                text,
                title=chance.choice(_WORDS),
                passages=passages,
                summary=" ".join(chance.choices(_WORDS, k=4)),
                readers=chance.choice([(), (), ("ada",)]),
                vendor=chance.choice(["ACME", "Acme", "acme", "Zeta", "Ülm", None]),
                currency=chance.choice(["EUR", "usd", None]),
                total=chance.choice([0.1, 0.2, 0.3, 1e15 + 0.3, -5.55, None]),
                weight=chance.choice([0.1, 0.7, 1e17, -1e17, 3.0, None]),
                date=chance.choice(["2025-01-31", "2025-02-01", "2024-02-29", None]),
                tags=tuple(chance.sample(_WORDS, k=chance.randint(0, 3))) or None,
                items=rows or None,
                paid=chance.choice([True, False, None]),
                note=chance.choice(["a b", "c", None]),
            )
        )
    return documents


def requests_of_every_kind(buckets: Sequence[str]) -> list[IndexRequest[object]]:
    everything, some = a_search(), a_search(where("vendor", "eq", "acme"), required=("tire",))
    union = a_union(dict.fromkeys(buckets, where("weight", "gt", 0)))
    month = GroupBy(field=FieldName("date"), period=CalendarPeriod.MONTH)
    return [
        *(CountRequest(search) for search in (everything, some, union)),
        *(FacetRequest(everything, FieldName(name), max_values=2) for name in _FIELDS),
        *(
            AggregateRequest(search, FieldName(name), group, with_median=True)
            for search in (everything, some)
            for name in ("total", "weight")
            for group in (None, month, *(GroupBy(field=FieldName(by)) for by in ("vendor", "tags", "paid")))
        ),
        *(
            AggregateRequest(search, FieldName("total"), group, factor=FieldName("weight"))
            for search in (everything, some)
            for group in (None, month, GroupBy(field=FieldName("tags")))
        ),
        *(KeywordPassageRequest(search, "winter tire steel tire", 25) for search in (everything, some, union)),
        *(OutlineRequest(search, "alloy oil winter", 25) for search in (everything, union)),
        *(SemanticPassageRequest(search, "winter tires", 25) for search in (everything, some, union)),
        NearestValueRequest(everything, FieldName("weight"), 0.5),
        SpellingRequest(frozenset(map(BucketId, buckets)), "tyre"),
        DocumentRequest(tuple(DocId(f"d{number}") for number in range(40, 0, -3))),
    ]


async def read_all_pages(index: OpenSearchIndex, order: SchemaOrder | None) -> list[Sequence[object]]:
    pages, cursor = list[Sequence[object]](), None
    while True:
        request = RecordPageRequest(a_search(), order=order, cursor=cursor, limit=37)
        page = (await index.within_scope(a_scope(all_readers=True)).answer_requests(request))[request]
        pages.append(page.records)
        if (cursor := page.cursor) is None:
            return pages


async def answer_each_kind(
    handle: ScopedIndex | IndexSnapshot, buckets: Sequence[str] = (RECEIPTS, "others")
) -> list[object]:
    requests = requests_of_every_kind(buckets)
    given, vocabulary = await handle.answer_requests(*requests), await handle.load_vocabulary()
    return [*(given[request] for request in requests), vocabulary.fields, vocabulary.titles]


async def answer_everything(index: OpenSearchIndex) -> list[object]:
    """The answers to requests of every kind, in the order of the requests."""
    answers = list[object]()
    for scope in (a_scope(RECEIPTS, "others"), a_scope(RECEIPTS, "others", subjects=("ada",))):
        answers += await answer_each_kind(index.within_scope(scope))
    for name in _ORDERS:
        for descending in (False, True):
            answers += await read_all_pages(index, ordered_by(name, descending=descending))
    async with index.within_scope(a_scope(RECEIPTS, "others")).open_snapshot(frozenset({RECEIPTS})) as snapshot:
        answers += await answer_each_kind(snapshot, (RECEIPTS,))
    return [*answers, *await read_all_pages(index, None), await index.load_digests(RECEIPTS)]


async def fill_buckets(index: OpenSearchIndex) -> None:
    documents = build_random_documents(120)
    for bucket, members in ((RECEIPTS, documents[:90]), (BucketId("others"), documents[90:])):
        await index.set_schema(a_receipt_schema(bucket))
        await index.put(bucket, members)
