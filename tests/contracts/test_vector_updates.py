"""The contract of `SearchIndex` about its vectors, after a change of the embedder and while the embedder fails."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
import pytest_asyncio

from storage.embedded.index import EmbeddedIndex
from storage.embedder import Embedder
from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document, Passage
from storage.search.errors import EmbedderUnavailable, UnknownBucket
from storage.search.ids import BucketId, DocId
from storage.search.index import (
    CountRequest,
    KeywordPassageRequest,
    PassageVolume,
    RebuildProgress,
    RebuildStage,
    SearchIndex,
    SemanticPassageRequest,
    VectorState,
)
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search
from tests.stand_ins.word_vectors import ChecksumEmbedder, FailingEmbedder

IndexWithEmbedder: TypeAlias = Callable[[Embedder | None], Awaitable[SearchIndex]]
DOCUMENTS = [a_document(f"d{number}", f"words {number} on paper", digest=str(number)) for number in range(120)]


@pytest_asyncio.fixture
async def embedded_with(tmp_path: Path) -> AsyncIterator[IndexWithEmbedder]:
    async with AsyncExitStack() as stack:

        async def open_index(embedder: Embedder | None) -> SearchIndex:
            index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        yield open_index


@pytest_asyncio.fixture
async def opensearch_with(opensearch_url: str) -> AsyncIterator[IndexWithEmbedder]:
    installation = f"vectors-{uuid.uuid4().hex[:12]}"
    async with AsyncExitStack() as stack:

        async def open_index(embedder: Embedder | None) -> SearchIndex:
            index = await OpenSearchIndex.open(
                [opensearch_url], tenant=TENANT, analysers=analyser_for, embedder=embedder, installation=installation
            )
            stack.push_async_callback(index.close)
            return index

        yield open_index
        index = await open_index(None)
        for bucket in await index.load_bucket_states():
            await index.drop_bucket(bucket)


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.servers)])
def open_index(request: pytest.FixtureRequest) -> IndexWithEmbedder:
    return request.getfixturevalue(f"{request.param}_with")


async def filled_index(open_index: IndexWithEmbedder, embedder: Embedder | None) -> SearchIndex:
    index = await open_index(embedder)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, DOCUMENTS)
    return index


async def find_by_meaning(index: SearchIndex, text: str = "words 7") -> list[DocId]:
    request = SemanticPassageRequest(a_search(), text, 10)
    answers = await index.within_scope(a_scope()).answer_requests(request)
    return [hit.doc_id for hit in answers[request]]


def ignore_progress(count: int) -> None: ...


async def test_vectors_of_the_embedder_are_current_and_nothing_is_updated(open_index: IndexWithEmbedder) -> None:
    index = await filled_index(open_index, ChecksumEmbedder("old"))

    assert await index.load_vector_states() == {RECEIPTS: VectorState(embedder="old", is_current=True)}
    assert await index.measure_outdated_passages(RECEIPTS) == PassageVolume(passage_count=0, character_count=0)
    assert await index.update_vectors(RECEIPTS, ignore_progress) == 0


async def test_another_metered_embedder_finds_by_words_until_the_vectors_are_updated(
    open_index: IndexWithEmbedder,
) -> None:
    await filled_index(open_index, ChecksumEmbedder("old"))
    index, progress = await open_index(ChecksumEmbedder("new", is_metered=True)), list[int]()
    states_before, found_before = await index.load_vector_states(), await find_by_meaning(index)
    put_again = await index.put(RECEIPTS, DOCUMENTS[:10])
    keyword_request = KeywordPassageRequest(a_search(), "paper", 3)
    keyword_answers = await index.within_scope(a_scope()).answer_requests(keyword_request)

    updated_count = await index.update_vectors(RECEIPTS, progress.append)

    assert states_before == {RECEIPTS: VectorState(embedder="old", is_current=False)}
    assert (found_before, len(put_again.skipped), len(keyword_answers[keyword_request])) == ([], 10, 3)
    assert updated_count == 120
    assert progress == sorted(progress)
    assert progress[-1] == 120
    assert await index.load_vector_states() == {RECEIPTS: VectorState(embedder="new", is_current=True)}
    assert "d7" in await find_by_meaning(index)


async def test_another_process_sees_the_new_vectors_without_a_restart(open_index: IndexWithEmbedder) -> None:
    await filled_index(open_index, ChecksumEmbedder("old"))
    asking, updating = await open_index(ChecksumEmbedder("new")), await open_index(ChecksumEmbedder("new"))
    found_before = await find_by_meaning(asking)

    await updating.update_vectors(RECEIPTS, ignore_progress)

    assert found_before == []
    assert "d7" in await find_by_meaning(asking)


async def test_an_update_that_failed_goes_on_where_it_stopped(open_index: IndexWithEmbedder) -> None:
    await filled_index(open_index, None)
    embedder = FailingEmbedder(remaining_texts=70)
    index = await open_index(embedder)
    with pytest.raises(EmbedderUnavailable):
        await index.update_vectors(RECEIPTS, ignore_progress)
    embedder.remaining_texts = 1_000

    await index.update_vectors(RECEIPTS, ignore_progress)

    passages_embedded = [text for text in embedder.embedded_texts if "paper" in text]
    assert len(passages_embedded) == 120
    assert (await index.load_vector_states())[RECEIPTS].is_current
    assert "d7" in await find_by_meaning(index)


async def test_documents_put_while_the_embedder_fails_are_found_by_words_until_the_update(
    open_index: IndexWithEmbedder,
) -> None:
    embedder = FailingEmbedder()
    index = await filled_index(open_index, embedder)
    embedder.remaining_texts = 0
    late = a_document("late", "a late paper", digest="late")

    result = await index.put(RECEIPTS, [late])
    request, question = CountRequest(a_search(required=["late"])), SemanticPassageRequest(a_search(), "never asked")
    answers = await index.within_scope(a_scope()).answer_requests(request, question)

    assert (result.added, result.without_vectors) == (("late",), ("late",))
    assert (answers[request], answers[question]) == (1, ())
    assert answers.embedding_failure == "the embedding model remote does not answer"
    assert not (await index.load_vector_states())[RECEIPTS].is_current
    embedder.remaining_texts = 1_000
    assert (await index.measure_outdated_passages(RECEIPTS)).passage_count == 1
    await index.update_vectors(RECEIPTS, ignore_progress)
    assert (await index.load_vector_states())[RECEIPTS].is_current
    assert (await find_by_meaning(index, "a late paper"))[0] == "late"


async def test_a_bucket_made_while_the_embedder_fails_gets_its_vectors_by_an_update(
    open_index: IndexWithEmbedder,
) -> None:
    embedder = FailingEmbedder(remaining_texts=0)
    index = await filled_index(open_index, embedder)
    state_before = (await index.load_vector_states())[RECEIPTS]
    embedder.remaining_texts = 1_000

    updated_count = await index.update_vectors(RECEIPTS, ignore_progress)

    assert (state_before, updated_count) == (VectorState(embedder="", is_current=False), 120)
    assert "d7" in await find_by_meaning(index)


async def test_the_volume_counts_titles_and_passages(open_index: IndexWithEmbedder) -> None:
    index = await open_index(None)
    await index.set_schema(a_receipt_schema())
    passages = (Passage(start=0, end=4), Passage(start=5, end=8))
    document = Document(doc_id=DocId("a"), title="Title", text="some text", passages=passages)
    await index.put(RECEIPTS, [document])

    volume = await (await open_index(ChecksumEmbedder())).measure_outdated_passages(RECEIPTS)

    assert volume == PassageVolume(passage_count=2, character_count=len("Title\nsome") + len("Title\ntex"))


async def test_vectors_of_another_length_under_the_same_name_are_replaced_and_never_compared(
    open_index: IndexWithEmbedder,
) -> None:
    await filled_index(open_index, ChecksumEmbedder("model", is_metered=True))
    index = await open_index(ChecksumEmbedder("model", dimensions=32, is_metered=True))

    assert await find_by_meaning(index) == []
    assert (await index.measure_outdated_passages(RECEIPTS)).passage_count == 120
    assert await index.update_vectors(RECEIPTS, ignore_progress) == 120
    assert "d7" in await find_by_meaning(index)


async def test_without_an_embedder_every_bucket_is_current(open_index: IndexWithEmbedder) -> None:
    await filled_index(open_index, ChecksumEmbedder("old"))
    index = await open_index(None)

    assert (await index.load_vector_states())[RECEIPTS].is_current
    assert await index.update_vectors(RECEIPTS, ignore_progress) == 0


async def test_an_unknown_bucket_has_no_vectors_to_update(open_index: IndexWithEmbedder) -> None:
    index = await filled_index(open_index, ChecksumEmbedder())

    with pytest.raises(UnknownBucket):
        await index.update_vectors(BucketId("unknown"), ignore_progress)
    with pytest.raises(UnknownBucket):
        await index.measure_outdated_passages(BucketId("unknown"))


async def test_a_rebuild_keeps_documents_and_gives_them_the_vectors_of_the_embedder(
    open_index: IndexWithEmbedder,
) -> None:
    await filled_index(open_index, ChecksumEmbedder("old"))
    index, progress = await open_index(ChecksumEmbedder("new", is_metered=True)), list[RebuildProgress]()
    plan = await index.plan_rebuild(RECEIPTS)

    document_count = await index.rebuild_bucket(RECEIPTS, progress.append)

    assert (document_count, plan.document_count, plan.needed_bytes > 0) == (120, 120, True)
    assert progress[0].stage is RebuildStage.EMBEDDING
    assert max(step.done for step in progress if step.stage is RebuildStage.COPYING) == 120
    assert await index.load_vector_states() == {RECEIPTS: VectorState(embedder="new", is_current=True)}
    assert "d7" in await find_by_meaning(index)
    assert len(await index.load_digests(RECEIPTS)) == 120
    await index.clean_up_bucket(RECEIPTS)
    assert (await index.clean_up_bucket(RECEIPTS)).index_count == 0


async def test_an_unknown_bucket_is_neither_rebuilt_nor_cleaned_up(open_index: IndexWithEmbedder) -> None:
    index, unknown = await filled_index(open_index, None), BucketId("unknown")

    with pytest.raises(UnknownBucket):
        await index.plan_rebuild(unknown)
    with pytest.raises(UnknownBucket):
        await index.rebuild_bucket(unknown, lambda progress: None)
    with pytest.raises(UnknownBucket):
        await index.clean_up_bucket(unknown)
