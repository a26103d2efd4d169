"""A service starts without its index, and answers once the index can be opened."""

import asyncio
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.reopening_index import ReopeningIndex
from storage.search.errors import IndexTimedOut, IndexTooNew, IndexUnavailable
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope


class FailingOpener:
    """Raises `failure` until it is None; then opens an index in `folder`."""

    def __init__(self, folder: Path, failure: IndexUnavailable | None) -> None:
        self.failure, self.call_count = failure, 0
        self._folder = folder

    async def open_index(self) -> EmbeddedIndex:
        self.call_count += 1
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        return await EmbeddedIndex.open(self._folder, tenant=TENANT, analysers=analyser_for, embedder=None)


async def open_reopening(opener: FailingOpener) -> ReopeningIndex[EmbeddedIndex]:
    return await ReopeningIndex[EmbeddedIndex].open(
        opener.open_index, TENANT, may_recover=lambda failure: isinstance(failure, IndexTimedOut)
    )


async def test_each_call_tries_to_open_the_index_until_it_is_there(tmp_path: Path) -> None:
    opener = FailingOpener(tmp_path, IndexTimedOut("the cluster"))
    index = await open_reopening(opener)
    with pytest.raises(IndexTimedOut):
        await index.load_bucket_sizes()
    with pytest.raises(IndexUnavailable, match="the cluster"):
        index.within_scope(a_scope())
    assert index.failure is not None

    opener.failure = None
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("d1")])

    assert index.failure is None
    assert (await index.load_bucket_sizes())[RECEIPTS].document_count == 1
    assert index.within_scope(a_scope()).scope == a_scope()
    await index.close()


async def test_calls_that_wait_for_an_attempt_share_its_failure(tmp_path: Path) -> None:
    opener = FailingOpener(tmp_path, IndexTimedOut("the cluster"))
    index = await open_reopening(opener)

    results = await asyncio.gather(*(index.load_bucket_sizes() for _ in range(9)), return_exceptions=True)

    assert all(isinstance(result, IndexUnavailable) for result in results)
    assert opener.call_count == 2  # at the start, and once for all of them


async def test_an_index_that_cannot_recover_by_itself_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(IndexTooNew):
        await open_reopening(FailingOpener(tmp_path, IndexTooNew("the cluster")))
