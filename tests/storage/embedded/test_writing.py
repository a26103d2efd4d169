"""`put` with more documents than one transaction writes."""

from pathlib import Path

from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import CountRequest
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search

DOCUMENT_COUNT = 450  # documents: three transactions


def numbered_documents(word: str) -> list[Document]:
    return [a_document(f"d{number:03}", f"{word} {number}") for number in range(DOCUMENT_COUNT)]


async def open_index(folder: Path) -> EmbeddedIndex:
    index = await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    return index


async def count_matching(index: EmbeddedIndex, word: str) -> int:
    count = CountRequest(a_search(required=[word]))
    return (await index.within_scope(a_scope()).answer_requests(count))[count]


async def test_documents_of_several_transactions_are_all_put_and_reported_in_order(tmp_path: Path) -> None:
    index = await open_index(tmp_path)

    first_result = await index.put(RECEIPTS, numbered_documents("pump"))
    second_result = await index.put(RECEIPTS, [*numbered_documents("pump")[:300], *numbered_documents("fan")[300:]])

    assert first_result.added == tuple(DocId(f"d{number:03}") for number in range(DOCUMENT_COUNT))
    # Without digests no document counts as unchanged.
    assert (len(second_result.skipped), len(second_result.replaced)) == (0, DOCUMENT_COUNT)
    assert (await count_matching(index, "pump"), await count_matching(index, "fan")) == (300, 150)
    await index.close()


async def test_a_few_long_documents_are_put_in_several_transactions(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    long_documents = [a_document(f"long{number}", "valve " * 90_000) for number in range(3)]

    result = await index.put(RECEIPTS, [*long_documents, a_document("short", "valve")])

    assert len(result.added) == 4
    assert await count_matching(index, "valve") == 4
    await index.close()
