"""Rebuilds of an index under searches and writes, and after the death of a process at each step."""

import asyncio
import itertools
import signal
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.writing import build_lease, disk_space
from storage.opensearch.writing.disk_space import NodeSpace
from storage.search.documents import Document, Passage
from storage.search.errors import DiskSpaceShort, UnknownBucket
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    CountRequest,
    EarlierIndexes,
    KeywordPassageRequest,
    RebuildProgress,
    RebuildStage,
    RecordPageRequest,
)
from storage.search.schema import FieldType
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_field, a_receipt_schema, a_scope, a_search, where
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers

_STAGES = [RebuildStage.COPYING, RebuildStage.COMPARING, RebuildStage.SWITCHING, RebuildStage.PUBLISHING]


def ignore_progress(progress: RebuildProgress) -> None: ...


def a_text(doc_id: str, number: int, passage_count: int = 2) -> Document:
    """A document whose words all tell the number of its version."""
    words = [f"version{number}x{doc_id}" for _ in range(passage_count)]
    text, length = " ".join(words), len(words[0])
    passages = [
        Passage(start=place * (length + 1), end=place * (length + 1) + length) for place in range(passage_count)
    ]
    return a_document(doc_id, text, passages=passages, vendor=f"v{number}", digest=f"{doc_id}.{number}")


async def filled_index(open_index: IndexOpener, count: int = 30) -> OpenSearchIndex:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_text(f"d{number}", 0) for number in range(count)])
    return index


async def content_of(index: OpenSearchIndex) -> dict[str, str]:
    """The title-independent content of all documents, by id, as a list shows it."""
    request = RecordPageRequest(a_search(), limit=1_000)
    answers = await index.within_scope(a_scope()).answer_requests(request)
    return {record.doc_id: str(record.values.get(FieldName("vendor"))) for record in answers[request].records}


async def stray_passages_of(index: OpenSearchIndex) -> int:
    """How many passages are found beyond those of the documents."""
    state = (await index.load_bucket_states())[RECEIPTS]
    return state.passage_count - 2 * state.document_count


@pytest.fixture
def quick_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead process is noticed soon."""
    monkeypatch.setattr(build_lease, "_POLL_S", 0.1)
    monkeypatch.setattr(build_lease, "_RENEWAL_S", 0.2)


async def test_a_rebuilt_index_answers_as_before_and_the_earlier_one_stays_until_it_is_cleaned_up(
    open_index: IndexOpener,
) -> None:
    index, progress = await filled_index(open_index), list[RebuildProgress]()
    before = await content_of(index)

    count = await index.rebuild_bucket(RECEIPTS, progress.append)

    assert (count, await content_of(index), await content_of(await open_index())) == (30, before, before)
    assert list(dict.fromkeys(step.stage for step in progress)) == _STAGES
    assert [step.done for step in progress if step.stage is RebuildStage.COPYING][-1] == 30
    first, second = await index.clean_up_bucket(RECEIPTS), await index.clean_up_bucket(RECEIPTS)
    assert (first.index_count, first.size_bytes > 0) == (1, True)
    assert second == EarlierIndexes(index_count=0, size_bytes=0)
    assert await content_of(index) == before


async def test_only_the_latest_earlier_index_is_kept(open_index: IndexOpener) -> None:
    index = await filled_index(open_index)
    for _ in range(3):
        await index.rebuild_bucket(RECEIPTS, ignore_progress)

    assert (await index.clean_up_bucket(RECEIPTS)).index_count == 1


async def test_an_unknown_bucket_is_not_rebuilt(open_index: IndexOpener) -> None:
    index = await open_index()

    for call in (index.plan_rebuild, index.clean_up_bucket):
        with pytest.raises(UnknownBucket):
            await call(BucketId("none"))
    with pytest.raises(UnknownBucket):
        await index.rebuild_bucket(BucketId("none"), ignore_progress)


@asynccontextmanager
async def running_beside(work: Callable[[], AsyncIterator[None]]) -> AsyncGenerator[list[int]]:
    """Repeats the steps of `work` during the block; yields the list to which the number of steps is added."""
    is_begun, is_ended, steps = asyncio.Event(), asyncio.Event(), list[int]()

    async def run_steps() -> None:
        async for _ in work():
            steps.append(len(steps))
            is_begun.set()
            if is_ended.is_set():
                return

    task = asyncio.create_task(run_steps())
    task.add_done_callback(lambda _: is_begun.set())
    try:
        await is_begun.wait()
        yield steps
    finally:
        is_ended.set()
        await task


async def test_searches_beside_rebuilds_never_fail_and_never_see_a_mixture(open_index: IndexOpener) -> None:
    index, searcher = await filled_index(open_index), await open_index()
    counts, found = set[tuple[int, int]](), set[int]()

    async def search() -> AsyncIterator[None]:
        while True:
            all_documents, old = CountRequest(a_search()), CountRequest(a_search(where("vendor", "eq", "v0")))
            ranked = KeywordPassageRequest(a_search(), "version0xd3", 5)
            answers = await searcher.within_scope(a_scope()).answer_requests(all_documents, old, ranked)
            counts.add((answers[all_documents], answers[old]))
            found.add(len(answers[ranked]))
            yield

    async with running_beside(search) as steps:
        for _ in range(3):
            await index.rebuild_bucket(RECEIPTS, ignore_progress)

    assert (counts, found, len(steps) > 3) == ({(30, 30)}, {2}, True)


async def test_writes_replacements_and_deletions_beside_rebuilds_all_hold(open_index: IndexOpener) -> None:
    index, writer = await filled_index(open_index), await open_index()
    expected = {f"d{number}": "v0" for number in range(30)}

    async def write() -> AsyncIterator[None]:
        for number in itertools.count(1):
            changed, gone, new = f"d{number % 10}", f"d{10 + number % 20}", f"n{number}"
            await writer.put(RECEIPTS, [a_text(changed, number), a_text(new, number)])
            expected[changed], expected[new] = f"v{number}", f"v{number}"
            await writer.delete([DocId(gone)])
            expected.pop(gone, None)
            assert await content_of(writer) == expected  # visible on return, also across a swap
            yield

    async with running_beside(write) as steps:
        rebuilds = 0
        while rebuilds < 3 or (len(steps) <= 3 and rebuilds < 30):
            await index.rebuild_bucket(RECEIPTS, ignore_progress)
            rebuilds += 1

    for reader in (index, writer, await open_index()):
        assert await content_of(reader) == expected
        assert await stray_passages_of(reader) == 0
    assert len(steps) > 3


@pytest.mark.parametrize("stage", _STAGES)
async def test_writes_at_a_step_boundary_are_in_the_new_index(open_index: IndexOpener, stage: RebuildStage) -> None:
    index, writer = await filled_index(open_index), await open_index()
    reached, may_go_on = asyncio.Event(), asyncio.Event()

    async def write_then_go_on() -> None:
        await reached.wait()
        await writer.put(RECEIPTS, [a_text("d1", 1), a_text("new", 1, passage_count=2)])
        await writer.delete([DocId("d2")])
        may_go_on.set()

    # A build reports without waiting, so the writer runs to its end while the next request of the build is held back.
    connection = index._catalogue.connection  # pyright: ignore[reportPrivateUsage]
    send = connection.send_without_retry

    async def send_later(*words: object, **options: object) -> object:
        if reached.is_set():
            await may_go_on.wait()
        return await send(*words, **options)  # pyright: ignore[reportArgumentType]

    connection.send_without_retry = send_later  # pyright: ignore[reportAttributeAccessIssue]

    def stop_once(progress: RebuildProgress) -> None:
        if progress.stage is stage:
            reached.set()

    await asyncio.gather(index.rebuild_bucket(RECEIPTS, stop_once), write_then_go_on())

    content = await content_of(index)
    assert (content["d1"], content["new"], "d2" in content, len(content)) == ("v1", "v1", False, 30)
    assert await stray_passages_of(index) == 0


_REBUILD = """
import asyncio, os, signal, sys
from storage.opensearch.index import OpenSearchIndex
from storage.search.ids import BucketId
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT

async def main(url, installation, bucket, stage, done):
    index = await OpenSearchIndex.open(
        [url], tenant=TENANT, analysers=analyser_for, embedder=None, installation=installation,
        shared_from=0 if os.environ.get("PARLEY_TEST_INDEX_SHARED") == "1" else None,
    )
    def die(progress):
        if progress.stage == stage and progress.done >= int(done):
            os.kill(os.getpid(), signal.SIGKILL)
    await index.rebuild_bucket(BucketId(bucket), die)

asyncio.run(main(*sys.argv[1:]))
"""


async def rebuild_until_killed(url: str, installation: str, stage: RebuildStage, done: int = 0) -> None:
    """Rebuild the bucket in another process, which kills itself at a stage."""
    words = [sys.executable, "-c", _REBUILD, url, installation, RECEIPTS, stage, str(done)]
    process = await asyncio.create_subprocess_exec(*words, stdin=DEVNULL)
    assert await process.wait() == -signal.SIGKILL


@pytest.mark.parametrize(("stage", "done"), [*((stage, 0) for stage in _STAGES), (RebuildStage.COPYING, 200)])
@pytest.mark.usefixtures("quick_lease")
async def test_after_a_kill_at_any_step_writes_hold_and_the_next_rebuild_finishes(
    open_index: IndexOpener, opensearch_url: str, installation: str, stage: RebuildStage, done: int
) -> None:
    index = await filled_index(open_index, count=250 if done else 30)
    await rebuild_until_killed(opensearch_url, installation, stage, done)
    before = await content_of(index)
    await index.put(RECEIPTS, [a_text("d1", 1), a_text("new", 1)])
    await index.delete([DocId("d2")])
    between = await content_of(index)

    await index.rebuild_bucket(RECEIPTS, ignore_progress)

    expected = {**before, "d1": "v1", "new": "v1"}
    del expected["d2"]
    assert between == expected
    assert await content_of(index) == await content_of(await open_index()) == expected
    assert await stray_passages_of(index) == 0
    assert (await index.clean_up_bucket(RECEIPTS)).index_count == 1


@pytest.mark.usefixtures("quick_lease")
async def test_a_rebuild_that_was_killed_is_not_begun_again(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, progress = await filled_index(open_index, count=250), list[RebuildProgress]()
    await rebuild_until_killed(opensearch_url, installation, RebuildStage.COMPARING)
    copied = await count_written_entries(opensearch_url, installation)

    await index.rebuild_bucket(RECEIPTS, progress.append)

    assert copied == await count_written_entries(opensearch_url, installation)


async def count_written_entries(url: str, installation: str) -> int:
    """How many entries were ever written into the newest version of the bucket's index."""
    import aiohttp

    async with aiohttp.request("GET", f"{url}/{installation}-*-v2*/_stats/indexing") as response:
        return (await response.json())["_all"]["primaries"]["indexing"]["index_total"]


@pytest.mark.usefixtures("quick_lease")
async def test_a_cleanup_rolls_a_killed_rebuild_back(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await filled_index(open_index)
    await rebuild_until_killed(opensearch_url, installation, RebuildStage.SWITCHING)
    before = await content_of(index)

    deleted = await index.clean_up_bucket(RECEIPTS)

    assert (deleted.index_count, await content_of(index)) == (1, before)


@pytest.mark.usefixtures("quick_lease")
async def test_another_schema_replaces_what_a_killed_rebuild_has_left(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, schema = await filled_index(open_index), a_receipt_schema()
    await rebuild_until_killed(opensearch_url, installation, RebuildStage.COMPARING)

    await index.set_schema(replace(schema, fields=(*schema.fields, a_field("more", FieldType.NUMBER))))
    await index.put(RECEIPTS, [a_document("d1", more=3.0)])

    answers = await index.within_scope(a_scope()).answer_requests(
        all_documents := CountRequest(a_search()), more := CountRequest(a_search(where("more", "eq", 3.0)))
    )
    assert (answers[all_documents], answers[more]) == (30, 1)


async def test_a_bucket_can_be_dropped_while_it_is_rebuilt(open_index: IndexOpener) -> None:
    index, other = await filled_index(open_index), await open_index()
    dropping = list[asyncio.Task[None]]()

    def drop(progress: RebuildProgress) -> None:
        if progress.stage is RebuildStage.COMPARING and not dropping:
            dropping.append(asyncio.create_task(other.drop_bucket(RECEIPTS)))

    with suppress(UnknownBucket):
        await index.rebuild_bucket(RECEIPTS, drop)
    await asyncio.gather(*dropping)

    assert await (await open_index()).load_bucket_states() == {}
    await other.set_schema(a_receipt_schema())
    await other.put(RECEIPTS, [a_text("d1", 1)])
    assert await content_of(index) == {"d1": "v1"}


async def test_a_rebuild_that_fails_leaves_the_index_as_it_was(open_index: IndexOpener) -> None:
    index = await filled_index(open_index)
    before = await content_of(index)

    def fail(progress: RebuildProgress) -> None:
        if progress.stage is RebuildStage.COMPARING:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        await index.rebuild_bucket(RECEIPTS, fail)

    assert await content_of(index) == before
    assert await index.clean_up_bucket(RECEIPTS) == EarlierIndexes(index_count=0, size_bytes=0)


async def test_two_processes_that_rebuild_at_once_do_not_disturb_each_other(open_index: IndexOpener) -> None:
    first, second = await filled_index(open_index), await open_index()
    before = await content_of(first)

    await asyncio.gather(
        first.rebuild_bucket(RECEIPTS, ignore_progress), second.rebuild_bucket(RECEIPTS, ignore_progress)
    )

    assert await content_of(first) == await content_of(second) == before


async def test_without_room_on_the_disk_nothing_is_begun(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await filled_index(open_index)

    async def load_full_disk(connection: object) -> list[NodeSpace]:
        return [NodeSpace(name="n", total=1_000_000, available=1)]

    monkeypatch.setattr(disk_space, "load_node_spaces", load_full_disk)

    with pytest.raises(DiskSpaceShort, match=r"takes some 0\.\d MB of disk, and 0\.0 MB are free below the limit"):
        await index.rebuild_bucket(RECEIPTS, ignore_progress)
    plan = await index.plan_rebuild(RECEIPTS)
    assert (plan.document_count, plan.needed_bytes > 1, plan.free_bytes) == (30, True, 1)
    assert (await index.clean_up_bucket(RECEIPTS)).index_count == 0


@pytest.mark.parametrize(
    ("watermark", "reserved"), [("85%", 150), ("0.9", 100), ("200b", 200), ("1kb", 1024), ("2mb", 2 * 2**20)]
)
def test_a_watermark_is_a_share_of_the_disk_or_what_stays_free(watermark: str, reserved: int) -> None:
    assert disk_space.reserved_bytes_of(watermark, 1_000) == reserved


@pytest.mark.parametrize(
    ("shard_count", "free_bytes", "expected"),
    [
        (1, [10, 500, 90], (300, 500)),
        (3, [150, 130, 10], (200, 130)),
        (3, [120, 110, 100], (100, 100)),
        (2, [], (300, None)),
    ],
)
def test_shards_are_spread_over_the_nodes_that_have_room(
    shard_count: int, free_bytes: list[int], expected: tuple[int, int | None]
) -> None:
    assert disk_space.spread_over_nodes(300, shard_count, free_bytes) == expected


async def test_vectors_that_cost_something_are_copied(opensearch_url: str, installation: str) -> None:
    from storage.search.index import SemanticPassageRequest
    from tests.stand_ins.word_vectors import FailingEmbedder

    embedder = FailingEmbedder()
    index = await OpenSearchIndex.open(
        [opensearch_url], tenant=TENANT, analysers=analyser_for, embedder=embedder, installation=installation
    )
    try:
        await index.set_schema(a_receipt_schema())
        await index.put(RECEIPTS, [a_text(f"d{number}", 0) for number in range(5)])
        question = SemanticPassageRequest(a_search(), "version0xd3", 1)
        await index.within_scope(a_scope()).answer_requests(question)
        embedder.remaining_texts, embedded = 0, list(embedder.embedded_texts)

        schema = a_receipt_schema()
        await index.set_schema(replace(schema, fields=(a_field("more"), *schema.fields)))
        await index.rebuild_bucket(RECEIPTS, ignore_progress)

        answers = await index.within_scope(a_scope()).answer_requests(question)
        assert [hit.doc_id for hit in answers[question]] == ["d3"]
        assert embedder.embedded_texts == embedded
    finally:
        await index.drop_bucket(RECEIPTS)
        await index.close()
