"""Putting more at once than one transaction holds."""

from pathlib import Path

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import Count
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search

MANY = 450  # documents: three transactions


def many(word: str) -> list[Document]:
    return [a_document(f"d{number:03}", f"{word} {number}") for number in range(MANY)]


async def opened(folder: Path) -> EmbeddedIndex:
    index = await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    return index


async def counted(index: EmbeddedIndex, word: str) -> int:
    count = Count(a_search(required=[word]))
    return (await index.within(a_scope()).ask(count))[count]


async def test_documents_of_several_transactions_are_all_put_and_told_in_order(tmp_path: Path) -> None:
    index = await opened(tmp_path)

    first = await index.put(RECEIPTS, many("pump"))
    again = await index.put(RECEIPTS, [*many("pump")[:300], *many("fan")[300:]])

    assert first.added == tuple(DocId(f"d{number:03}") for number in range(MANY))
    assert (len(again.skipped), len(again.replaced)) == (0, MANY)  # without digests nothing is known to be the same
    assert (await counted(index, "pump"), await counted(index, "fan")) == (300, 150)
    await index.close()


async def test_a_few_long_documents_are_put_in_several_transactions(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    long = [a_document(f"long{number}", "valve " * 90_000) for number in range(3)]

    put = await index.put(RECEIPTS, [*long, a_document("short", "valve")])

    assert len(put.added) == 4
    assert await counted(index, "valve") == 4
    await index.close()
