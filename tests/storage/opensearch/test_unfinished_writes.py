"""A write that ended before it was visible: the next call for the same documents makes it visible."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from storage.opensearch.catalogue import BucketCatalogue
from storage.search.errors import IndexUnavailable
from storage.search.index import CountRequest
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_scope, a_search
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers


@contextmanager
def lost_refreshes(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    async def break_off(catalogue: BucketCatalogue, layouts: object) -> None:
        raise IndexUnavailable("there", "the connection broke")

    with monkeypatch.context() as patched:
        patched.setattr(BucketCatalogue, "refresh_indexes", break_off)
        yield


@pytest.mark.parametrize("shard_count", [1, 3])
async def test_documents_that_are_skipped_as_unchanged_are_visible(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch, shard_count: int
) -> None:
    index = await open_index(shard_count=shard_count)
    await index.set_schema(a_receipt_schema())
    documents = [a_document(f"d{number}", "tire", digest="1") for number in range(9)]

    with lost_refreshes(monkeypatch), pytest.raises(IndexUnavailable):
        await index.put(RECEIPTS, documents)

    result = await index.put(RECEIPTS, documents)

    request = CountRequest(a_search())
    assert len(result.skipped) == 9
    assert (await index.within_scope(a_scope()).answer_requests(request))[request] == 9


async def test_documents_whose_deletion_is_repeated_are_gone(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await open_index(shard_count=3)
    await index.set_schema(a_receipt_schema())
    documents = [a_document(f"d{number}", "tire") for number in range(9)]
    await index.put(RECEIPTS, documents)
    doc_ids = [document.doc_id for document in documents[:5]]
    with lost_refreshes(monkeypatch), pytest.raises(IndexUnavailable):
        await index.delete(doc_ids)

    await index.delete(doc_ids)

    request = CountRequest(a_search())
    assert (await index.within_scope(a_scope()).answer_requests(request))[request] == 4
