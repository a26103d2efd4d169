"""The contract of `IndexSnapshot`: one state of the index, whatever is written meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from storage.search.conditions import MATCH_ALL
from storage.search.documents import Document
from storage.search.errors import NotInScope, SnapshotGone
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRecord,
    DocumentRequest,
    RecordPageRequest,
    ScopedIndex,
    SearchIndex,
)
from storage.search.plan import GroupBy
from storage.search.schema import SchemaOrder
from tests.builders import (
    RECEIPTS,
    a_document,
    a_receipt_schema,
    a_scope,
    a_search,
    a_union,
    ordered_by,
    where,
)
from tests.contracts.conftest import IndexOpener, also_in_three_shards
from tests.contracts.test_search_index import fill_bucket

ALL, BUCKETS = a_search(), frozenset({RECEIPTS})
_DOCUMENTS, _PAGE_ROWS = 60, 7


def make_documents(version: int) -> list[Document]:
    """The same documents in every version, each with another weight and vendor."""
    return [
        a_document(
            f"d{number:03}",
            weight=float((number * 7 + version * 31) % _DOCUMENTS),
            vendor=f"v{(number + version) % 9}",
            total=float(version),
        )
        for number in range(_DOCUMENTS)
    ]


@asynccontextmanager
async def replacing_documents(index: SearchIndex) -> AsyncGenerator[None]:
    """Replaces all documents, a few at a time, over and over while the block runs."""
    has_written, is_over = asyncio.Event(), asyncio.Event()

    async def replace_documents() -> None:
        version = 0
        while not is_over.is_set():
            version += 1
            documents = make_documents(version)
            for start in range(0, len(documents), 20):
                await index.put(RECEIPTS, documents[start : start + 20])
                has_written.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(replace_documents())
        await has_written.wait()
        yield
        is_over.set()


async def read_pages(index: ScopedIndex, order: SchemaOrder | None) -> list[DocumentRecord]:
    """Reads all pages, with a pause in which the writer goes on."""
    records, cursor = list[DocumentRecord](), None
    while True:
        request = RecordPageRequest(ALL, order=order, cursor=cursor, limit=_PAGE_ROWS)
        page = (await index.answer_requests(request))[request]
        records += page.records
        if (cursor := page.cursor) is None:
            return records
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("order", [ordered_by("weight"), ordered_by("vendor", descending=False), None])
async def test_the_pages_of_a_snapshot_have_each_document_once_while_all_are_replaced(
    index: SearchIndex, order: SchemaOrder | None
) -> None:
    scoped = await fill_bucket(index, *make_documents(0))

    async with replacing_documents(index), scoped.open_snapshot(BUCKETS) as snapshot:
        first_count = (await snapshot.answer_requests(CountRequest(ALL)))[CountRequest(ALL)]
        records = await read_pages(snapshot, order)
        last_count = (await snapshot.answer_requests(CountRequest(ALL)))[CountRequest(ALL)]

    assert sorted(record.doc_id for record in records) == [f"d{number:03}" for number in range(_DOCUMENTS)]
    assert first_count == last_count == len(records)


@also_in_three_shards
async def test_every_answer_of_a_snapshot_is_of_the_state_at_its_opening(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *(a_document(f"d{n}", vendor="old", total=1.0) for n in range(5)))
    olds, count = a_search(where("vendor", "eq", "old")), CountRequest(ALL)
    groups, fetch = AggregateRequest(ALL, group=GroupBy(field=FieldName("vendor"))), DocumentRequest((DocId("d0"),))

    async with scoped.open_snapshot(BUCKETS) as snapshot:
        await index.put(RECEIPTS, [a_document(f"d{n}", vendor="new", total=2.0) for n in range(3)])
        await index.put(RECEIPTS, [a_document("later", vendor="new")])
        await index.delete([DocId("d4")])
        answers = await snapshot.answer_requests(CountRequest(olds), count, groups, fetch)
        latest = await scoped.answer_requests(CountRequest(olds), count)

    assert (answers[CountRequest(olds)], answers[count]) == (5, 5)
    assert [(line.group, line.count) for line in answers[groups]] == [("old", 5)]
    assert [document.values[FieldName("vendor")] for document in answers[fetch]] == ["old"]
    assert (latest[CountRequest(olds)], latest[count]) == (1, 5)


async def test_a_changed_schema_does_not_show_in_a_snapshot(index: SearchIndex) -> None:
    scoped = await fill_bucket(index, *make_documents(0))

    async with scoped.open_snapshot(BUCKETS) as snapshot:
        before = (await snapshot.load_schemas())[RECEIPTS]
        await index.set_schema(replace(a_receipt_schema(), title="Bills"))

        assert (await snapshot.load_schemas())[RECEIPTS] == before
        assert len(await read_pages(snapshot, ordered_by("weight"))) == _DOCUMENTS
    assert (await scoped.load_schemas())[RECEIPTS].title == "Bills"


async def test_a_snapshot_is_opened_again_by_its_token_while_nothing_changes(
    index: SearchIndex, opener: IndexOpener
) -> None:
    scoped = await fill_bucket(index, *make_documents(0))
    request = RecordPageRequest(ALL, order=ordered_by("weight"), limit=_PAGE_ROWS)

    async with scoped.open_snapshot(BUCKETS) as snapshot:
        token, page = snapshot.token, (await snapshot.answer_requests(request))[request]
        another_process = (await opener()).within_scope(a_scope())
        async with another_process.open_snapshot(BUCKETS, token) as reopened:
            assert reopened.token == token
            assert (await reopened.answer_requests(request))[request] == page


@pytest.mark.parametrize("token", ["", "x", "[]", "7", '["a", {"b": 1}]', '["a", "b"]', "null"])
async def test_an_unknown_token_opens_nothing(index: SearchIndex, token: str) -> None:
    scoped = await fill_bucket(index, *make_documents(0))

    with pytest.raises(SnapshotGone):
        async with scoped.open_snapshot(BUCKETS, token):
            pass


async def test_a_snapshot_has_the_buckets_in_scope_with_which_it_was_opened(index: SearchIndex) -> None:
    await fill_bucket(index, *make_documents(0))
    for name in ("others", "closed"):
        await fill_bucket(index, a_document(name), schema=a_receipt_schema(name))
    scoped, others = index.within_scope(a_scope(RECEIPTS, "others")), BucketId("others")

    async with scoped.open_snapshot(BUCKETS | {others, BucketId("closed")}) as snapshot:
        both = CountRequest(a_union({RECEIPTS: MATCH_ALL, others: MATCH_ALL}))
        assert (await snapshot.answer_requests(both))[both] == _DOCUMENTS + 1
        with pytest.raises(NotInScope):
            await snapshot.answer_requests(CountRequest(a_search(bucket="closed")))
    async with scoped.open_snapshot(BUCKETS) as snapshot:
        with pytest.raises(NotInScope):
            await snapshot.answer_requests(CountRequest(a_search(bucket="others")))


async def test_a_snapshot_sees_documents_by_their_readers(index: SearchIndex) -> None:
    await fill_bucket(index, a_document("open"), a_document("kept", readers=["user:a"]))

    async with index.within_scope(a_scope(RECEIPTS, subjects=["user:b"])).open_snapshot(BUCKETS) as snapshot:
        assert [record.doc_id for record in await read_pages(snapshot, None)] == ["open"]
