"""Indexes that earlier versions have written with their own programs are opened, and answer exactly, on both engines.

The rows of the database are in `tests/bot/upgrades`.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any as Json
from uuid import uuid4

import aiohttp
import pytest
import pytest_asyncio

from storage.embedded.index import EmbeddedIndex
from storage.embedder import WordLlamaEmbedder
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.writing import versions
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexRequest,
    KeywordPassageRequest,
    OutlineRequest,
    RebuildProgress,
    RebuildStage,
    RecordPageRequest,
    SearchIndex,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.plan import CalendarPeriod, GroupBy
from storage.search.schema import Schema
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_scope, a_search, ordered_by, where
from tests.storage.upgrades.earlier_indexes import (
    list_recorded_indexes,
    read_recorded_buckets,
    send_earlier_requests,
    send_late_requests,
    write_earlier_file,
    write_late_to_file,
)
from tests.storage.upgrades.record_index import LATE_RECEIPTS, RECEIPT_RECORDS

MANUALS = BucketId("manuals")
LATE_COUNT = len(RECEIPT_RECORDS) + 1  # documents after what the earlier process has written late


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierIndex:
    """`open_index`: as another process of today's Parley. `open_empty_index`: a new one of the same engine.

    `write_late`: as a process of the earlier Parley that runs on; gives the status of each document, 404 if refused.
    """

    open_index: Callable[[], Awaitable[SearchIndex]]
    open_empty_index: Callable[[], Awaitable[SearchIndex]]
    write_late: Callable[[], Awaitable[Sequence[int]]]


@pytest.fixture(params=list_recorded_indexes())
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest_asyncio.fixture
async def embedded(name: str, tmp_path: Path) -> AsyncGenerator[EarlierIndex]:
    write_earlier_file(name, tmp_path / "earlier")
    async with AsyncExitStack() as stack:

        async def open_folder(folder: Path) -> SearchIndex:
            embedder = WordLlamaEmbedder()
            index = await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=embedder)
            stack.push_async_callback(index.close)
            return index

        async def write_late() -> Sequence[int]:
            await asyncio.to_thread(write_late_to_file, name, tmp_path / "earlier")
            return [201] * len(LATE_RECEIPTS)

        yield EarlierIndex(
            open_index=lambda: open_folder(tmp_path / "earlier"),
            open_empty_index=lambda: open_folder(tmp_path / "today"),
            write_late=write_late,
        )


@pytest_asyncio.fixture
async def opensearch(name: str, opensearch_url: str) -> AsyncGenerator[EarlierIndex]:
    prefix = f"upgrade-{uuid4().hex}"
    await send_earlier_requests(name, opensearch_url, f"{prefix}-earlier")
    async with AsyncExitStack() as stack:

        async def open_installation(installation: str) -> SearchIndex:
            index = await OpenSearchIndex.open(
                [opensearch_url],
                tenant=TENANT,
                analysers=analyser_for,
                embedder=WordLlamaEmbedder(),
                installation=installation,
            )
            stack.push_async_callback(index.close)
            return index

        async def write_late() -> Sequence[int]:
            return await send_late_requests(name, opensearch_url, f"{prefix}-earlier")

        yield EarlierIndex(
            open_index=lambda: open_installation(f"{prefix}-earlier"),
            open_empty_index=lambda: open_installation(f"{prefix}-today"),
            write_late=write_late,
        )
    async with aiohttp.request("DELETE", f"{opensearch_url}/{prefix}-*") as response:
        assert response.status == 200


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.servers)])
def earlier(request: pytest.FixtureRequest, name: str) -> EarlierIndex:
    return request.getfixturevalue(request.param)


async def fill_index_of_today(earlier: EarlierIndex, recorded: Sequence[tuple[Schema, list[Document]]]) -> SearchIndex:
    """An index of the same engine into which today's Parley has put the same documents."""
    index = await earlier.open_empty_index()
    for schema, documents in recorded:
        await index.set_schema(schema)
        await index.put(schema.bucket, documents)
    return index


def list_requests() -> list[IndexRequest[object]]:
    everything, some = a_search(), a_search(where("vendor", "eq", "kestrel"), required=("tires",))
    month = GroupBy(field=FieldName("date"), period=CalendarPeriod.MONTH)
    names = ("vendor", "date", "total", "hours", "paid", "tags")
    return [
        *(CountRequest(search) for search in (everything, some, a_search(bucket=MANUALS))),
        *(FacetRequest(everything, FieldName(name)) for name in names),
        *(
            AggregateRequest(everything, FieldName(name), group, with_median=True)
            for name in ("total", "hours")
            for group in (None, month, GroupBy(field=FieldName("tags")))
        ),
        *(RecordPageRequest(everything, order=ordered_by(name)) for name in ("vendor", "total", "date")),
        *(KeywordPassageRequest(search, "winter tires brake", 25) for search in (everything, some)),
        KeywordPassageRequest(a_search(bucket=MANUALS), "belts 17", 3),
        *(OutlineRequest(search, "winter brake", 25) for search in (everything, some)),
        SpellingRequest(frozenset({RECEIPTS}), "winscreen"),
        DocumentRequest((DocId("r-014"), DocId("m-service"))),
    ]


async def answer_all(index: SearchIndex) -> list[object]:
    """The answers to each kind of request."""
    scoped, requests = index.within_scope(a_scope(RECEIPTS, MANUALS)), list_requests()
    answers, vocabulary = await scoped.answer_requests(*requests), await scoped.load_vocabulary()
    return [*(answers[request] for request in requests), vocabulary.fields, vocabulary.titles]


async def count_receipts(index: SearchIndex) -> int:
    request = CountRequest(a_search())
    return (await index.within_scope(a_scope()).answer_requests(request))[request]


async def rank_outlines_of(index: SearchIndex, text: str) -> list[DocId]:
    request = OutlineRequest(a_search(), text, 30)
    return [hit.doc_id for hit in (await index.within_scope(a_scope()).answer_requests(request))[request]]


def ids_of(records: Sequence[dict[str, Json]], word: str) -> list[str]:
    return sorted(record["doc_id"] for record in records if word in record["text"])


def ignore_progress(progress: RebuildProgress) -> None: ...


async def test_an_earlier_index_answers_what_its_documents_say(earlier: EarlierIndex) -> None:
    index = await earlier.open_index()
    kestrel = [record for record in RECEIPT_RECORDS if record["metadata"]["vendor"] == "Kestrel"]
    search = a_search(where("vendor", "eq", "kestrel"))
    count, paid, hours, ranked = (
        CountRequest(search),
        CountRequest(a_search(where("paid", "eq", True))),
        AggregateRequest(search, FieldName("hours")),
        SemanticPassageRequest(a_search(), "wheels for snow", 1),
    )

    answers = await index.within_scope(a_scope()).answer_requests(count, paid, hours, ranked)

    assert (answers[count], answers[paid]) == (len(kestrel), 12)
    assert answers[hours][0].sum == sum(record["metadata"]["hours"] for record in kestrel)
    assert [hit.text for hit in answers[ranked]] == [kestrel[0]["text"]]
    assert sorted(await rank_outlines_of(index, "winter")) == ids_of(RECEIPT_RECORDS, "Winter")


async def test_an_earlier_index_answers_like_one_of_today_before_and_after_a_rebuild(
    earlier: EarlierIndex, name: str, tmp_path: Path
) -> None:
    index = await earlier.open_index()
    today = await fill_index_of_today(earlier, read_recorded_buckets(name, tmp_path / "recorded"))
    expected = await answer_all(today)

    answers = await answer_all(index)
    for bucket in (RECEIPTS, MANUALS):
        await index.rebuild_bucket(bucket, ignore_progress)

    assert answers == expected
    assert await answer_all(index) == await answer_all(await earlier.open_index()) == expected


async def test_several_processes_open_an_earlier_index_ask_and_write_at_once(earlier: EarlierIndex) -> None:
    written, counts = list[str](), list[tuple[int, int]]()  # counts: at least, and found
    full = len(RECEIPT_RECORDS)

    async def run_process(process: str) -> None:
        index = await earlier.open_index()
        for number in range(4):
            doc_id, acknowledged = f"{process}{number}", len(written)
            counts.append((full + acknowledged, await count_receipts(index)))
            result = await index.put(RECEIPTS, [a_document(doc_id, "winter gloves", vendor="Kestrel")])
            assert result.added == (doc_id,)
            written.append(doc_id)
            if number == 1:
                await index.rebuild_bucket(RECEIPTS, ignore_progress)

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        for process in ("a", "b", "c"):
            group.create_task(run_process(process))

    index = await earlier.open_index()
    assert all(least <= found for least, found in counts)
    assert await count_receipts(index) == full + len(written) == full + 12
    assert sorted(await rank_outlines_of(index, "winter")) == sorted([*ids_of(RECEIPT_RECORDS, "Winter"), *written])


async def test_a_process_of_the_earlier_version_that_runs_on_leaves_answers_exact(
    earlier: EarlierIndex, name: str, tmp_path: Path
) -> None:
    """On OpenSearch its documents are refused, because its version of the index is not in use any more."""
    index = await earlier.open_index()
    before = await rank_outlines_of(index, "winter")

    is_refused = set(await earlier.write_late()) == {404}

    recorded = read_recorded_buckets(name, tmp_path / "recorded", with_late=not is_refused)
    today = await fill_index_of_today(earlier, recorded)
    assert set(await rank_outlines_of(index, "winter")) <= set(before)
    assert await count_receipts(index) == len(RECEIPT_RECORDS) + (not is_refused)
    assert await answer_all(await earlier.open_index()) == await answer_all(today)

    await index.put(RECEIPTS, [a_document(doc_id, "winter gloves") for doc_id in ("r-000", "r-015")])
    for reader in (index, await earlier.open_index()):
        assert await rank_outlines_of(reader, "gloves") == ["r-000", "r-015"]
        assert await count_receipts(reader) == LATE_COUNT


async def test_readers_learn_of_a_write_after_the_earlier_version_has_written(earlier: EarlierIndex) -> None:
    index, reader = await earlier.open_index(), await earlier.open_index()
    await earlier.write_late()
    scoped = reader.within_scope(a_scope())
    before = (await scoped.answer_requests()).generation

    await index.put(RECEIPTS, [a_document("new", "summer", vendor="Quayside")])

    assert (await scoped.answer_requests()).generation != before
    vendors = next(field for field in (await scoped.load_vocabulary()).fields if field.field == "vendor")
    assert "Quayside" in [str(value.value) for value in vendors.values]


@pytest.mark.servers
@pytest.mark.parametrize("stage", [stage for stage in RebuildStage if stage is not RebuildStage.EMBEDDING])
async def test_what_the_earlier_version_writes_while_its_index_is_rebuilt_is_refused_or_found(
    opensearch: EarlierIndex, monkeypatch: pytest.MonkeyPatch, stage: RebuildStage
) -> None:
    statuses, seen_stages = list[int](), list[RebuildStage]()

    def write_once(progress: RebuildProgress) -> None:
        is_of_receipts = RebuildStage.PUBLISHING in seen_stages  # the manuals are rebuilt before
        seen_stages.append(progress.stage)
        if is_of_receipts and progress.stage is stage and not statuses:
            with ThreadPoolExecutor(1) as pool:
                statuses.extend(pool.submit(lambda: asyncio.run(write_late(opensearch))).result())

    monkeypatch.setattr(versions, "ignore_progress", write_once)

    index = await opensearch.open_index()

    texts = await load_texts(index, [record["doc_id"] for record in LATE_RECEIPTS])
    expected = {record["doc_id"]: record["text"] for record in LATE_RECEIPTS}
    if set(statuses) == {404}:
        assert not expected.items() & texts.items()
        assert await count_receipts(index) == len(RECEIPT_RECORDS)
    else:
        assert set(statuses) == {200, 201}
        assert texts == expected
        assert await count_receipts(index) == LATE_COUNT


async def write_late(earlier: EarlierIndex) -> list[int]:
    return list(await earlier.write_late())


async def load_texts(index: SearchIndex, doc_ids: Sequence[str]) -> dict[str, str]:
    request = DocumentRequest(tuple(map(DocId, doc_ids)))
    answers = await index.within_scope(a_scope()).answer_requests(request)
    return {document.doc_id: document.text for document in answers[request]}
