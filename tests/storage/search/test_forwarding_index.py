"""An index that passes its calls on."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.search.errors import UnknownBucket
from storage.search.forwarding_index import IndexMethod
from storage.search.ids import BucketId
from storage.search.index import SearchIndex
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.wrapped_index import WrappedIndex


class NotingIndex(WrappedIndex):
    """Notes the methods that are called."""

    def __init__(self, wrapped: SearchIndex) -> None:
        super().__init__(wrapped)
        self.methods = list[IndexMethod]()

    @asynccontextmanager
    async def enter_call(self, method: IndexMethod) -> AsyncGenerator[SearchIndex]:
        self.methods.append(method)
        yield self.wrapped


async def open_noting_index(folder: Path) -> NotingIndex:
    return NotingIndex(await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None))


async def test_each_call_is_passed_on_by_its_name(tmp_path: Path) -> None:
    index, document = await open_noting_index(tmp_path), a_document("r1", "Tea.")
    await index.set_schema(a_receipt_schema())
    assert (await index.put(RECEIPTS, [document])).added == (document.doc_id,)
    assert (await index.load_bucket_states())[RECEIPTS].document_count == 1
    assert set(await index.load_bucket_names()) == {RECEIPTS}
    assert (await index.load_bucket_sizes())[RECEIPTS].document_count == 1
    assert set(await index.load_digests(RECEIPTS)) == {document.doc_id}
    assert set(await index.load_ingestion_days(RECEIPTS)) == {document.doc_id}
    assert [record.doc_id async for batch in index.scan_records(RECEIPTS) for record in batch] == [document.doc_id]
    assert set(await index.load_vector_states()) == {RECEIPTS}
    assert (await index.measure_outdated_passages(RECEIPTS)).passage_count == 0
    assert await index.update_vectors(RECEIPTS, lambda _: None) == 0
    assert (await index.plan_rebuild(RECEIPTS)).document_count == 1
    assert await index.rebuild_bucket(RECEIPTS, lambda _: None) == 1
    assert (await index.clean_up_bucket(RECEIPTS)).index_count == 0
    await index.ping()
    assert await index.delete([document.doc_id]) == 1
    await index.drop_bucket(RECEIPTS)
    await index.close()

    assert sorted(index.methods) == sorted(IndexMethod)


async def test_a_failure_passes_through(tmp_path: Path) -> None:
    index = await open_noting_index(tmp_path)
    with pytest.raises(UnknownBucket):
        await index.drop_bucket(BucketId("nowhere"))
    await index.close()


def test_the_methods_are_those_of_an_index() -> None:
    apart = {"tenant", "within_scope", "close"}
    assert {name for name in vars(SearchIndex) if not name.startswith("_")} - apart == set(map(str, IndexMethod))
