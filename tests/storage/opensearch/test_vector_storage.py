"""Vectors as bytes, scanned or in a graph: what is similar is found as by floats, and sets do not depend on it."""

from collections.abc import Sequence

import numpy as np
import pytest

from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import VectorStorage
from storage.opensearch.vector_bytes import round_to_bytes
from storage.search.conditions import MATCH_ALL
from storage.search.documents import Document
from storage.search.index import CountRequest, PassageHit, SemanticPassageRequest
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_scope, a_search, a_union, where
from tests.stand_ins.word_vectors import ChecksumEmbedder, FailingEmbedder
from tests.storage.opensearch.conftest import IndexOpener

_WORDS = "tire rim brake oil filter winter summer steel alloy hinge bolt nut".split()
_QUERY = "winter tire of steel"


def documents_of_words(count: int) -> list[Document]:
    chance = np.random.default_rng(3)
    texts = [" ".join(chance.choice(_WORDS, size=chance.integers(1, 9))) for _ in range(count)]
    return [a_document(f"d{number}", text, paid=number % 2 == 0) for number, text in enumerate(texts)]


async def cosines_of(documents: Sequence[Document]) -> dict[str, float]:
    """The cosine of each document with the query, from floats."""
    embedder = ChecksumEmbedder()
    (query,) = await embedder.embed_texts([_QUERY])
    vectors = await embedder.embed_texts([document.text for document in documents])
    return {document.doc_id: float(vector @ query) for document, vector in zip(documents, vectors, strict=True)}


async def most_similar(index: OpenSearchIndex, limit: int = 10) -> tuple[PassageHit, ...]:
    request = SemanticPassageRequest(a_search(where("paid", "eq", value=True)), _QUERY, limit)
    return (await index.within_scope(a_scope()).answer_requests(request))[request]


async def count_paid(index: OpenSearchIndex) -> int:
    request = CountRequest(a_search(where("paid", "eq", value=True)))
    return (await index.within_scope(a_scope()).answer_requests(request))[request]


def test_bytes_keep_the_direction_of_a_vector() -> None:
    vector = np.random.default_rng(4).normal(size=256).astype(np.float32)

    rounded = np.array(round_to_bytes(vector * 0.001))

    cosine = rounded @ vector / np.linalg.norm(rounded) / np.linalg.norm(vector)
    assert (abs(rounded).max(), cosine > 0.9999) == (127, True)


@pytest.mark.servers
@pytest.mark.parametrize("shard_count", [1, 2])
async def test_a_rebuild_chooses_between_a_scan_and_a_graph_by_the_number_of_passages(
    open_index: IndexOpener, shard_count: int
) -> None:
    documents = documents_of_words(60)
    cosines = await cosines_of(documents)
    embedder = FailingEmbedder()  # its vectors are copied
    index = await open_index(embedder=embedder, shard_count=shard_count, max_scanned_passages=59)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, documents)
    scanned = await most_similar(index)
    embedder.remaining_texts = 0

    await index.rebuild_bucket(RECEIPTS, lambda progress: None)
    from_graph = await most_similar(index)
    await index.rebuild_bucket(RECEIPTS, lambda progress: None)
    from_second_graph = await most_similar(index)

    best = sorted((cosines[document.doc_id] for document in documents[::2]), reverse=True)[:10]
    for hits in (scanned, from_graph, from_second_graph):
        assert [hit.score for hit in hits] == pytest.approx(best, abs=0.01)
        assert all(hit.score == pytest.approx(cosines[hit.doc_id], abs=0.01) for hit in hits)
    assert await count_paid(index) == 30
    assert (await index.load_vector_states())[RECEIPTS].is_current


@pytest.mark.servers
async def test_an_index_of_floats_is_searched_beside_one_of_bytes_until_it_is_rebuilt(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = documents_of_words(40)
    cosines = await cosines_of(documents)
    index = await open_index(embedder=ChecksumEmbedder())
    for bucket, storage, members in (
        ("receipts", VectorStorage.FLOATS, documents[:20]),
        ("others", VectorStorage.BYTES, documents[20:]),
    ):
        monkeypatch.setattr("storage.opensearch.writing.versions.NEW_BUCKET_VECTORS", storage)
        schema = a_receipt_schema(bucket)
        await index.set_schema(schema)
        await index.put(schema.bucket, members)
    everything = a_union(dict.fromkeys(("receipts", "others"), MATCH_ALL))
    request = SemanticPassageRequest(everything, _QUERY, 40)

    for _ in range(2):
        hits = (await index.within_scope(a_scope("receipts", "others")).answer_requests(request))[request]

        assert {hit.doc_id: hit.score for hit in hits} == pytest.approx(cosines, abs=0.01)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        await index.rebuild_bucket(RECEIPTS, lambda progress: None)
