"""Writing many documents while the cluster refuses writes, loses answers, or the writer dies."""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.ingest.documents.chunk import passages_of
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.opensearch.index import OpenSearchIndex
from storage.search.documents import Document, Passage
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId
from storage.search.index import CountRequest, PutResult
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search, where
from tests.stand_ins.faulty_cluster import BulkFault, BulkItem, FaultPlan, open_faulty_cluster
from tests.stand_ins.recorded_cluster import open_recorded_index
from tests.stand_ins.word_vectors import ChecksumEmbedder
from tests.storage.opensearch.conftest import IndexOpener

if TYPE_CHECKING:
    from storage.embedder import Vectors

pytestmark = pytest.mark.servers
_CONTRACTS = BucketId("contracts")


def _make_documents(count: int, *, word: str = "first") -> list[Document]:
    """Returns documents of two passages."""
    text = f"{word} passage and second passage"
    passages = (Passage(start=0, end=len(word) + 8), Passage(start=len(word) + 13, end=len(text)))
    return [a_document(f"d{number}", text, digest=word, passages=passages) for number in range(count)]


async def _put_through(plan: FaultPlan, open_index: IndexOpener, url: str, documents: Sequence[Document]) -> PutResult:
    async with open_faulty_cluster(url, plan) as faulty_url:
        index = await open_index(faulty_url)
        await index.set_schema(a_receipt_schema())
        return await index.put(RECEIPTS, documents)


async def _count_contents(index: OpenSearchIndex, word: str = "passage") -> tuple[int, int, int]:
    """Returns the numbers of documents, of those with the word, and of passages."""
    state = (await index.load_bucket_states())[RECEIPTS]
    request = CountRequest(a_search(where("text", "contains", word)))
    answers = await index.within_scope(a_scope()).answer_requests(request)
    return state.document_count, answers[request], state.passage_count


def _is_busy_for_every_third(item: BulkItem, position: int) -> int | None:
    return 429 if position % 3 == 0 else None


@pytest.mark.parametrize(
    "fault",
    [
        BulkFault(request_status=429),
        BulkFault(request_status=503),
        BulkFault(item_status=_is_busy_for_every_third),
        BulkFault(loses_answer=True),
        BulkFault(item_status=_is_busy_for_every_third, loses_answer=True),
    ],
    ids=["busy", "unavailable", "busy for some", "answer lost", "busy for some and answer lost"],
)
async def test_every_document_is_written_and_counted_once_in_spite_of_faults(
    fault: BulkFault, open_index: IndexOpener, opensearch_url: str
) -> None:
    choices = random.Random(3)
    documents = _make_documents(450)

    result = await _put_through(
        lambda _: fault if choices.random() < 0.4 else BulkFault(), open_index, opensearch_url, documents
    )

    assert (len(result.added), result.replaced, result.skipped, result.refused) == (450, (), (), {})
    assert list(result.added) == [document.doc_id for document in documents]
    assert await _count_contents(await open_index()) == (450, 450, 900)


async def test_only_the_refused_writes_are_sent_again(open_index: IndexOpener, opensearch_url: str) -> None:
    sizes = list[int]()

    def refuse_once(items: Sequence[BulkItem]) -> BulkFault:
        is_documents = len(items) > 10 and items[0].source_line and '"stored"' in items[0].source_line
        sizes.append(len(items))
        return BulkFault(item_status=_is_busy_for_every_third) if is_documents else BulkFault()

    await _put_through(refuse_once, open_index, opensearch_url, _make_documents(5))

    first = max(sizes)
    assert sizes[sizes.index(first) + 1] == -(-first // 3)


async def test_a_refused_document_is_reported_by_name_and_the_others_are_written(
    open_index: IndexOpener, opensearch_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "contracts.jsonl"
    records = [{"doc_id": f"c{number}", "title": "Contract", "text": f"Contract {number}."} for number in range(300)]
    file.write_text("\n".join(map(json.dumps, records)))

    def refuse_text_of_one_document(item: BulkItem, position: int) -> int | None:
        return 400 if item.entry_id.endswith(".text") and '"c7"' in item.source_line else None

    plan = BulkFault(item_status=refuse_text_of_one_document)
    async with open_faulty_cluster(opensearch_url, lambda _: plan) as url:
        report = await ingest_files(await open_index(url), [file], extractor=RuleExtractor(), bucket=_CONTRACTS)

    assert (report.added, report.failed) == (299, 1)
    (failure,) = report.failures
    assert failure.doc_id == "c7"
    assert "a fault of the test" in failure.reason
    state = (await (await open_index()).load_bucket_states())[_CONTRACTS]
    assert (state.document_count, state.passage_count) == (299, 299)
    again = await ingest_files(await open_index(), [file], extractor=RuleExtractor(), bucket=_CONTRACTS)
    assert (again.added, again.skipped, again.failed) == (1, 299, 0)


def _refuse_entries(suffix: str, word: str) -> FaultPlan:
    """Refuses the entries with the word whose ids end in `suffix`; the id of a main entry has no point."""

    def refuse_entry(item: BulkItem, position: int) -> int | None:
        is_meant = item.entry_id.endswith(suffix) if suffix else "." not in item.entry_id
        return 400 if is_meant and word in item.source_line else None

    return lambda _: BulkFault(item_status=refuse_entry)


@pytest.mark.parametrize("suffix", ["", ".text", ".0", ".1"], ids=["document", "text", "first", "last"])
@pytest.mark.parametrize("digest", ["", "2"], ids=["without a digest", "with a digest"])
async def test_a_refused_new_version_leaves_the_earlier_one_found(
    suffix: str, digest: str, open_index: IndexOpener, opensearch_url: str
) -> None:
    index, documents = await open_index(), _make_documents(2, word="earlier")
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, documents)
    text = "later passage and later passage and the later passage"
    passages = (Passage(start=0, end=13), Passage(start=18, end=31), Passage(start=36, end=len(text)))
    replacement = a_document("d0", text, title="later", digest=digest, passages=passages)

    result = await _put_through(_refuse_entries(suffix, "later"), open_index, opensearch_url, [replacement])

    assert (list(result.refused), result.kept, result.replaced) == (["d0"], ("d0",), ())
    reader = await open_index()
    assert await _count_contents(reader, "earlier") == (2, 2, 4)
    assert await _count_contents(reader, "later") == (2, 0, 4)
    assert (await reader.put(RECEIPTS, documents)).skipped == ("d0", "d1")
    assert (await reader.put(RECEIPTS, [replacement])).replaced == ("d0",)
    assert await _count_contents(reader, "later") == (2, 1, 5)


async def test_a_refused_version_is_left_out_where_another_writer_has_written_a_later_one(
    open_index: IndexOpener, opensearch_url: str
) -> None:
    index, other_writer = await open_index(), await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, _make_documents(1, word="earlier"))
    refuse_text = _refuse_entries(".text", "refused")

    async with open_faulty_cluster(opensearch_url, refuse_text) as url:
        refused, _ = await asyncio.gather(
            (await open_index(url)).put(RECEIPTS, _make_documents(1, word="refused")),
            other_writer.put(RECEIPTS, _make_documents(1, word="other")),
        )

    assert (list(refused.refused), refused.kept) == (["d0"], ("d0",))
    assert await _count_contents(await open_index(), "other") == (1, 1, 2)


async def test_a_document_of_which_a_part_is_missing_is_written_again(
    open_index: IndexOpener, opensearch_url: str
) -> None:
    documents = _make_documents(4)
    written = list[BulkItem]()

    def lose_last_passage(items: Sequence[BulkItem]) -> BulkFault:
        written.extend(items)
        is_last_passage = [item.entry_id.endswith(".1") for item in items]
        if not any(is_last_passage):
            return BulkFault()
        # The node dies in the middle of the bulk: nobody sends the rest again.
        return BulkFault(item_status=lambda _, position: 401 if position == is_last_passage.index(True) else None)

    with pytest.raises(Exception, match="a fault of the test"):
        await _put_through(lose_last_passage, open_index, opensearch_url, documents)

    index = await open_index()
    result = await index.put(RECEIPTS, documents)

    assert (len(result.replaced), len(result.skipped)) == (1, 3)
    assert await _count_contents(index) == (4, 4, 8)


async def test_what_a_dead_writer_left_invisible_is_made_visible(open_index: IndexOpener, opensearch_url: str) -> None:
    documents, index = _make_documents(4), await open_index()
    await index.set_schema(a_receipt_schema())
    async with open_faulty_cluster(opensearch_url, lambda _: BulkFault(), refused_path="/_refresh") as url:
        with pytest.raises(IndexUnavailable):
            await (await open_index(url)).put(RECEIPTS, documents)

    result = await index.put(RECEIPTS, documents)

    assert len(result.skipped) == 4
    assert await _count_contents(index) == (4, 4, 8)


class _CountingEmbedder(ChecksumEmbedder):
    """Notes how many calls are under way at once. With `waits_for_others`, a first call ends after a second began."""

    def __init__(self, *, waits_for_others: bool) -> None:
        super().__init__(is_metered=waits_for_others)
        self._call_count, self.max_call_count, self._second_call = 0, 0, asyncio.Event()

    async def embed_texts(self, texts: Sequence[str], *, are_passages: bool = False) -> "Vectors":
        self._call_count += 1
        self.max_call_count = max(self.max_call_count, self._call_count)
        if self._call_count > 1:
            self._second_call.set()
        if self.is_metered:
            await self._second_call.wait()
        for _ in range(1_000):  # time for others to begin
            await asyncio.sleep(0)
        self._call_count -= 1
        return await super().embed_texts(texts, are_passages=are_passages)


@pytest.mark.parametrize("is_metered", [False, True])
async def test_only_a_metered_embedder_embeds_several_batches_at_once(
    is_metered: bool, open_index: IndexOpener
) -> None:
    embedder = _CountingEmbedder(waits_for_others=is_metered)
    index = await open_index(embedder=embedder)
    await index.set_schema(a_receipt_schema())

    result = await index.put(RECEIPTS, _make_documents(900))

    assert (len(result.added), result.without_vectors) == (900, ())
    assert (embedder.max_call_count > 1) == is_metered


async def test_a_batch_of_new_documents_is_looked_up_claimed_and_written_once(
    opensearch_url: str, installation: str
) -> None:
    async with open_recorded_index(opensearch_url, tenant=TENANT, installation=installation, embedder=None) as opened:
        await opened.index.set_schema(a_receipt_schema())
        opened.connection.take_requests()
        await opened.index.put(RECEIPTS, _make_documents(450))
        paths = Counter(request.path for request in opened.connection.take_requests())

    assert paths["/_mget"] == 3
    assert paths["/_bulk"] == 3 + 3 + 1  # the last makes the generation visible


async def test_the_later_put_of_a_document_counts(open_index: IndexOpener) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    first, second = _make_documents(300), _make_documents(300, word="second")

    result = await index.put(RECEIPTS, [*first, *second])
    again = await index.put(RECEIPTS, first)

    assert (len(result.added), len(again.replaced)) == (300, 300)
    assert await _count_contents(index, "first") == (300, 300, 600)


async def test_a_run_that_was_killed_is_finished_by_the_next_without_writing_anything_twice(
    open_index: IndexOpener, opensearch_url: str, installation: str, tmp_path: Path
) -> None:
    file, count = tmp_path / "contracts.jsonl", 1_200
    text = "The parties agree. " * 120
    records = [{"doc_id": f"c{number}", "title": "Contract", "text": text} for number in range(count)]
    file.write_text("\n".join(map(json.dumps, records)))
    bulk_sizes = list[int]()
    child: asyncio.subprocess.Process | None = None

    def kill_in_third_bulk(items: Sequence[BulkItem]) -> BulkFault:
        bulk_sizes.append(len(items))
        if child is not None and sum(size > 200 for size in bulk_sizes) == 3 and child.returncode is None:
            child.kill()
            return BulkFault(item_status=lambda _, position: None if position < len(items) // 2 else 503)
        return BulkFault()

    async with open_faulty_cluster(opensearch_url, kill_in_third_bulk) as url:
        arguments = ("-m", "tests.storage.opensearch.ingest_process", url, installation, str(file))
        child = await asyncio.create_subprocess_exec(sys.executable, *arguments)
        await child.wait()
    index = await open_index()
    report = await ingest_files(index, [file], extractor=RuleExtractor(), bucket=_CONTRACTS)
    state = (await index.load_bucket_states())[_CONTRACTS]

    assert child.returncode == -9
    assert report.skipped + report.added + report.replaced == count
    assert min(report.skipped, report.added) > 0
    assert (state.document_count, state.passage_count) == (count, count * len(passages_of(text)))
