"""The same documents give the same export and counts, whatever engine holds them."""

from collections.abc import Sequence
from contextlib import aclosing

import pytest

from bot.conversation.spreadsheet import sheet_for_schemas
from storage.search.conditions import MATCH_ALL
from storage.search.documents import Document
from storage.search.ids import BucketId
from storage.search.index import CountRequest, KeywordPassageRequest, RecordPageRequest, SearchIndex
from storage.search.plan import Search
from storage.search.record_pages import load_pages_ahead
from storage.search.schema import SchemaOrder
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_row, a_scope, a_search, a_union, ordered_by, where
from tests.contracts.conftest import IndexOpener, also_in_three_shards

_PAGE_ROWS = 7
_VENDORS = ("Ärzte", "arzt", "ARZT", "=1+1", "Zoë", "zoo", "élan", "Elan", "𝒳-ray", "ß", "ss", "l" * 9_000)
_DAYS = ("1999-12-31", "2024-02-29", "2031-05-09")


def make_documents(bucket: str) -> list[Document]:
    """Documents with missing, equal, negative, long and odd values, put in an order that is none of the exports'."""
    numbers = [(number * 37) % 60 for number in range(60)]
    return [
        a_document(
            f"{bucket}-{'x' * 600 if number % 10 == 0 else 'd'}{number}",
            f"text {number}",
            title=f'Receipt "{number}", {number}\n' if number % 6 else "",
            source=f"https://example.org/{number}" if number % 4 else "",
            vendor=_VENDORS[number % len(_VENDORS)] if number % 9 else None,
            total=(number - 30) * 1.1 if number % 5 else None,
            currency="EUR" if number % 2 else "USD",
            weight=1e15 + number if number % 3 else -0.0,
            date=_DAYS[number % 3] if number % 7 else None,
            tags=("b", "a", "b") if number % 2 else None,
            paid=bool(number % 2) if number % 4 else None,
            items=(a_row(name="tea", qty=2.0, due="2024-02-29", done=True),) if number % 8 == 0 else None,
        )
        for number in numbers
    ]


async def export_bytes(index: SearchIndex, search: Search, order: SchemaOrder | None) -> bytes:
    """Puts the documents, and returns the file."""
    buckets = search.buckets
    for bucket in buckets:
        await index.set_schema(a_receipt_schema(bucket, shared=True))
        await index.put(bucket, make_documents(bucket))
    async with index.within_scope(a_scope(*buckets)).open_snapshot(frozenset(buckets)) as snapshot:
        sheet = sheet_for_schemas(await snapshot.load_schemas())
        request = RecordPageRequest(search, order=order, limit=_PAGE_ROWS)
        async with aclosing(load_pages_ahead(snapshot, request)) as pages:
            lines = [sheet.record_lines(page.records) async for page in pages]
    return (sheet.header_line() + "".join(lines)).encode()


@pytest.fixture(params=["opensearch", "opensearch_in_shared_index"])
def cluster(request: pytest.FixtureRequest) -> IndexOpener:
    return request.getfixturevalue(request.param)


@pytest.mark.servers
@pytest.mark.parametrize(
    "order",
    [
        None,
        ordered_by("vendor", descending=False),
        ordered_by("vendor"),
        ordered_by("total"),
        ordered_by("weight", descending=False),
        ordered_by("date"),
        ordered_by("paid"),
    ],
    ids=lambda order: "none" if order is None else f"{order.field} {'down' if order.descending else 'up'}",
)
@pytest.mark.parametrize(
    "search",
    [
        a_search(),
        a_search(where("weight", "gt", 5.0)),
        a_union({RECEIPTS: where("total", "gt", -20.0), "bills": where("vendor", "contains", "l")}),
    ],
    ids=["all", "some", "two buckets"],
)
async def test_both_engines_export_the_same_bytes(
    search: Search, order: SchemaOrder | None, embedded: IndexOpener, cluster: IndexOpener
) -> None:
    files: Sequence[bytes] = [await export_bytes(await opener(), search, order) for opener in (embedded, cluster)]

    assert files[0].count(b"\r\n") > _PAGE_ROWS
    assert files[1] == files[0]


@pytest.mark.servers
async def test_both_engines_count_and_find_alike_in_many_buckets(embedded: IndexOpener, cluster: IndexOpener) -> None:
    buckets, answers = [BucketId(f"b{number:02}") for number in range(20)], list[tuple[list[int], list[str]]]()
    for opener in (embedded, cluster):
        index = await opener()
        for number, bucket in enumerate(buckets):
            await index.set_schema(a_receipt_schema(bucket))
            words = ("green tea", "tea and coffee", "coffee", "green")
            texts = [words[(number + place) % 4] for place in range(1 + number % 3)]
            await index.put(bucket, [a_document(f"{bucket}.{place}", text) for place, text in enumerate(texts)])
        condition = where("text", "contains", "tea")
        counts = [CountRequest(a_search(condition, bucket=bucket)) for bucket in buckets]
        ranking = KeywordPassageRequest(a_union(dict.fromkeys(buckets, MATCH_ALL)), text="green tea", limit=30)
        found = await index.within_scope(a_scope(*buckets)).answer_requests(ranking, *counts)
        answers.append(([found[count] for count in counts], sorted(hit.doc_id for hit in found[ranking])))

    assert sum(answers[0][0]) > 10
    assert answers[1] == answers[0]


@pytest.mark.parametrize("order", [ordered_by("vendor"), ordered_by("vendor", descending=False)], ids=["down", "up"])
@also_in_three_shards
async def test_long_values_that_begin_alike_are_neither_left_out_nor_repeated(
    order: SchemaOrder, index: SearchIndex
) -> None:
    documents = [a_document(f"d{number:02}", vendor="l" * (9_000 + number % 5)) for number in range(23)]
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, documents)
    async with index.within_scope(a_scope()).open_snapshot(frozenset({RECEIPTS})) as snapshot:
        pages = load_pages_ahead(snapshot, RecordPageRequest(a_search(), order=order, limit=3))
        doc_ids = [record.doc_id async for page in pages for record in page.records]

    assert sorted(doc_ids) == [document.doc_id for document in documents]
