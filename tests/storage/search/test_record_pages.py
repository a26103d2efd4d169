"""Reading pages ahead."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.search.errors import SnapshotGone
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.index import IndexAnswers, IndexRequest, RecordPageRequest, ScopedIndex
from storage.search.record_pages import load_pages_ahead
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search

_REQUEST = RecordPageRequest(a_search(), limit=2)


class CountedReads(ForwardingScopedIndex):
    """Counts the pages; fails from a page on."""

    def __init__(self, wrapped: ScopedIndex, *, failing_page: int = 100) -> None:
        super().__init__(wrapped)
        self.count, self._failing_page = 0, failing_page

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        self.count += 1
        if self.count >= self._failing_page:
            raise SnapshotGone
        return await super().answer_requests(*requests)


@pytest.fixture
async def scoped(tmp_path: Path) -> AsyncGenerator[ScopedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document(f"d{number}") for number in range(7)])
    yield index.within_scope(a_scope())
    await index.close()


async def test_the_pages_have_every_record_once(scoped: ScopedIndex) -> None:
    pages = [page async for page in load_pages_ahead(scoped, _REQUEST)]

    assert [len(page.records) for page in pages] == [2, 2, 2, 1]
    assert [record.doc_id for page in pages for record in page.records] == [f"d{number}" for number in range(7)]


async def test_the_next_page_is_loaded_while_one_is_used_and_no_further_one(scoped: ScopedIndex) -> None:
    reads = CountedReads(scoped)
    async with aclosing(load_pages_ahead(reads, _REQUEST)) as pages:
        await anext(pages)
        for _ in range(3):
            await asyncio.sleep(0)
        assert reads.count == 2

    assert reads.count == 2


async def test_a_page_that_fails_fails_when_it_is_wanted(scoped: ScopedIndex) -> None:
    pages = load_pages_ahead(CountedReads(scoped, failing_page=3), _REQUEST)
    assert [len((await anext(pages)).records) for _ in range(2)] == [2, 2]
    with pytest.raises(SnapshotGone):
        await anext(pages)


async def test_the_failure_of_an_unwanted_page_stays_silent(scoped: ScopedIndex) -> None:
    async with aclosing(load_pages_ahead(CountedReads(scoped, failing_page=2), _REQUEST)) as pages:
        assert len((await anext(pages)).records) == 2
        await asyncio.sleep(0)
