"""A bucket in several shards: all answers are those of one shard."""

import aiohttp
import pytest

from storage.embedder import Embedder
from storage.search.documents import Passage
from storage.search.ids import DocId
from tests.builders import RECEIPTS, a_document, a_receipt_schema, a_scope
from tests.stand_ins.word_vectors import ChecksumEmbedder
from tests.storage.opensearch.conftest import IndexOpener
from tests.storage.opensearch.every_request import answer_each_kind, answer_everything, fill_buckets

pytestmark = pytest.mark.servers


async def count_primary_shards(url: str, installation: str) -> dict[str, int]:
    """The number of shards of each index of the installation."""
    async with aiohttp.request("GET", f"{url}/_cat/indices/{installation}-*?format=json&h=index,pri") as response:
        return {row["index"]: int(row["pri"]) for row in await response.json()}


async def test_three_shards_answer_as_one(open_index: IndexOpener, opensearch_url: str, installation: str) -> None:
    embedder: Embedder = ChecksumEmbedder()
    single = await open_index(embedder=embedder)
    several = await open_index(embedder=embedder, shard_count=3, suffix="three")
    await fill_buckets(single)
    await fill_buckets(several)

    expected, answers = await answer_everything(single), await answer_everything(several)

    for position, (answer, known) in enumerate(zip(answers, expected, strict=True)):
        assert answer == known, position
    assert sorted((await count_primary_shards(opensearch_url, f"{installation}three")).values()) == [1, 3, 3]


async def test_a_rebuild_changes_the_number_of_shards_and_no_answer(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index(embedder=ChecksumEmbedder())
    await fill_buckets(index)
    scope = a_scope(RECEIPTS, "others")
    expected = await answer_each_kind(index.within_scope(scope))
    for wanted, shards in ((3, 3), (None, 3), (1, 1)):
        plan = await index.plan_rebuild(RECEIPTS, shard_count=wanted)

        await index.rebuild_bucket(RECEIPTS, lambda progress: None, shard_count=wanted)

        await index.clean_up_bucket(RECEIPTS)
        counts = await count_primary_shards(opensearch_url, installation)
        assert (plan.shard_count, sorted(counts.values())) == (shards, sorted([1, 1, shards]))
        assert await answer_each_kind(index.within_scope(scope)) == expected


async def test_documents_are_replaced_and_deleted_with_their_passages_in_each_shard(open_index: IndexOpener) -> None:
    index = await open_index(shard_count=3)
    await index.set_schema(a_receipt_schema())
    halves = [Passage(start=0, end=3, page=1), Passage(start=4, end=7, page=1)]
    await index.put(RECEIPTS, [a_document(f"d{number}", "one two", passages=halves) for number in range(30)])

    await index.put(RECEIPTS, [a_document(f"d{number}", "three") for number in range(0, 30, 2)])
    deleted = await index.delete([DocId(f"d{number}") for number in range(0, 30, 3)])

    state = (await index.load_bucket_states())[RECEIPTS]
    kept = [number for number in range(30) if number % 3]
    assert deleted == 10
    assert (state.document_count, state.passage_count) == (20, sum(1 if number % 2 == 0 else 2 for number in kept))
