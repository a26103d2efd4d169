"""Behaviour of this engine alone: round trips, index versions, writers in several processes, long strings."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import ClusterConnection
from storage.opensearch.mapping import IndexNames
from storage.opensearch.reading.query_steps import OpenSearchRequest
from storage.opensearch.responses import OpenSearchResponse
from storage.opensearch.writing import bulk
from storage.search.documents import Document, Passage
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    FacetRequest,
    IndexRequest,
    KeywordPassageRequest,
    OutlineRequest,
    RecordPageRequest,
    SpellingRequest,
)
from storage.search.plan import GroupBy
from storage.search.schema import FieldType
from tests.builders import RECEIPTS, TENANT, a_document, a_field, a_receipt_schema, a_scope, a_search, where
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers


@asynccontextmanager
async def a_recording_proxy(server: str) -> AsyncGenerator[tuple[str, list[str]]]:
    """Runs a proxy to the server; gives its address and the list of requests it passed on."""
    requests = list[str]()

    async def pass_request_on(request: web.Request) -> web.StreamResponse:
        requests.append(f"{request.method} {request.path}")
        body, headers = await request.read(), {"content-type": "application/json"}
        url = f"{server}{request.path_qs}"
        async with aiohttp.request(request.method, url, data=body or None, headers=headers) as response:
            return web.Response(status=response.status, body=await response.read(), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", pass_request_on)
    async with TestServer(app) as proxy:
        yield str(proxy.make_url("")).rstrip("/"), requests


async def test_any_number_of_requests_is_one_round_trip(open_index: IndexOpener, opensearch_url: str) -> None:
    async with a_recording_proxy(opensearch_url) as (url, sent_requests):
        index = await open_index(url)
        await index.set_schema(a_receipt_schema())
        await index.put(RECEIPTS, [a_document("a", "new tires", vendor="ACME", total=3.5, tags=("x", "y"))])
        everything = a_search()
        requests: list[IndexRequest[object]] = [
            *(CountRequest(a_search(where("vendor", "eq", f"v{number}"))) for number in range(40)),
            *(FacetRequest(everything, FieldName(name)) for name in ("vendor", "date", "total", "tags", "paid")),
            AggregateRequest(everything, FieldName("total"), GroupBy(field=FieldName("vendor"))),
            KeywordPassageRequest(everything, "tires and more"),
            RecordPageRequest(everything),
            SpellingRequest(frozenset({RECEIPTS}), "tries"),
        ]
        sent_requests.clear()

        await index.within_scope(a_scope()).answer_requests(*requests)

    assert sent_requests == ["POST /_msearch"]


async def test_strings_longer_than_the_maximal_term_are_compared_whole(open_index: IndexOpener) -> None:
    long_text = "".join(f"{number} bottles, " for number in range(4_000))  # some 55,000 characters
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(
        RECEIPTS, [a_document("a", note=long_text, tags=("short", long_text)), a_document("b", note=long_text + "x")]
    )
    substrings = (
        long_text[7_950:8_040],
        long_text[13_000:29_000],
        long_text[-90:],
        long_text,
        long_text + "y",
        "3999 bottles",
        "99 bottles 3",
    )

    async def members(condition: str, op: str, substring: str) -> list[str]:
        request = RecordPageRequest(a_search(where(condition, op, substring)))
        answers = await index.within_scope(a_scope()).answer_requests(request)
        return [record.doc_id for record in answers[request].records]

    assert await members("note", "eq", long_text) == ["a"]
    assert await members("note", "eq", long_text + "x") == ["b"]
    for substring in substrings:
        is_contained = substring.strip() in long_text
        assert await members("note", "contains", substring) == (["a", "b"] if is_contained else [])
        assert await members("tags", "contains", substring) == (["a"] if is_contained else [])


async def test_concurrent_writers_of_one_document_leave_only_the_passages_of_one_version(
    open_index: IndexOpener,
) -> None:
    indexes = [await open_index() for _ in range(3)]
    await indexes[0].set_schema(a_receipt_schema())

    def a_version(number: int) -> Document:
        text = " ".join(f"version{number}" for _ in range(number + 1))
        passages = [Passage(start=9 * position, end=9 * position + 8) for position in range(number + 1)]
        return a_document("a", text, passages=passages)

    await asyncio.gather(*(index.put(RECEIPTS, [a_version(number)]) for number, index in enumerate(indexes)))

    state = (await indexes[0].load_bucket_states())[RECEIPTS]
    (hit, *_) = (
        await indexes[0]
        .within_scope(a_scope())
        .answer_requests(ranked := KeywordPassageRequest(a_search(), "version0 version1 version2"))
    )[ranked]
    assert state.document_count == 1
    assert state.passage_count == int(hit.text.removeprefix("version")) + 1


async def test_an_id_put_into_two_buckets_at_once_belongs_to_one_of_them(open_index: IndexOpener) -> None:
    first, second = await open_index(), await open_index()
    await first.set_schema(a_receipt_schema("one"))
    await first.set_schema(a_receipt_schema("two"))
    schemas = [a_receipt_schema("one"), a_receipt_schema("two")]

    puts = await asyncio.gather(
        first.put(schemas[0].bucket, [a_document("a")]), second.put(schemas[1].bucket, [a_document("a")])
    )

    assert sorted((len(put.added), len(put.taken)) for put in puts) == [(0, 1), (1, 0)]


async def test_processes_that_create_a_bucket_at_once_create_one_bucket(open_index: IndexOpener) -> None:
    indexes = [await open_index() for _ in range(3)]

    await asyncio.gather(*(index.set_schema(a_receipt_schema()) for index in indexes))

    await asyncio.gather(*(index.put(RECEIPTS, [a_document(f"d{number}")]) for number, index in enumerate(indexes)))
    assert {len(await index.load_digests(RECEIPTS)) for index in indexes} == {3}


async def test_no_write_is_lost_while_a_bucket_is_reindexed(open_index: IndexOpener) -> None:
    writer, changer = await open_index(), await open_index()
    schema = a_receipt_schema()
    await writer.set_schema(schema)
    await writer.put(RECEIPTS, [a_document(f"old{number}", vendor="x") for number in range(50)])

    async def write() -> None:
        for number in range(15):
            await writer.put(RECEIPTS, [a_document(f"new{number}", vendor="x"), a_document("old0", f"word{number}")])

    async def change() -> None:
        for number in range(2):
            more_fields = (*schema.fields, a_field(f"more{number}", FieldType.NUMBER))
            await changer.set_schema(replace(schema, fields=more_fields))

    await asyncio.gather(write(), change())

    answers = await writer.within_scope(a_scope()).answer_requests(
        vendor := CountRequest(a_search(where("vendor", "eq", "x"))),
        last := CountRequest(a_search(required=["word14"])),
    )
    assert (answers[vendor], answers[last]) == (49 + 15, 1)


async def test_what_a_rebuild_has_copied_is_not_written_again(open_index: IndexOpener) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    documents = [a_document("a", digest="1", vendor="x"), a_document("b", digest="2", vendor="y")]
    await index.put(RECEIPTS, documents)

    await index.rebuild_bucket(RECEIPTS, lambda _: None)
    result = await index.put(RECEIPTS, documents)

    assert result.skipped == (DocId("a"), DocId("b"))


async def test_a_bucket_without_outlines_is_reindexed_on_opening(open_index: IndexOpener, opensearch_url: str) -> None:
    async with a_recording_proxy(opensearch_url) as (url, sent_requests):
        first = await open_index(url)
        await first.set_schema(a_receipt_schema())
        await first.put(RECEIPTS, [a_document("a", "some pumps"), a_document("b", "words")])
        version = next(request.removeprefix("PUT /") for request in sent_requests if request.endswith("-v1"))
    await _forget_outlines(opensearch_url, version)

    later = await open_index(shared_from=None)
    answers = await later.within_scope(a_scope()).answer_requests(
        pumps := OutlineRequest(a_search(), "pumps"), all_documents := CountRequest(a_search())
    )

    assert ([hit.doc_id for hit in answers[pumps]], answers[all_documents]) == (["a"], 2)
    async with aiohttp.request("HEAD", f"{opensearch_url}/{version}") as response:
        assert response.status == 200  # it stays until it is cleaned up
    assert (await later.clean_up_bucket(RECEIPTS)).index_count == 1
    async with aiohttp.request("HEAD", f"{opensearch_url}/{version}") as response:
        assert response.status == 404


async def _forget_outlines(server: str, version: str) -> None:
    """Make the index look like one that an earlier Parley created."""
    async with aiohttp.request("GET", f"{server}/{version}/_mapping") as response:
        meta = (await response.json())[version]["mappings"]["_meta"]
    del meta["outlined"]
    async with aiohttp.request("PUT", f"{server}/{version}/_mapping", json={"_meta": meta}) as response:
        assert response.status == 200


async def test_documents_of_a_bucket_without_its_alias_are_not_said_to_be_deleted(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index(shared_from=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("d1"), a_document("d2")])
    names = IndexNames(TENANT, installation)
    lost = {"index": names.version_index_name(RECEIPTS, 1), "alias": names.bucket_alias_for(RECEIPTS)}
    await change_alias(opensearch_url, {"remove": lost})

    with pytest.raises(IndexUnavailable, match="lost its alias"):
        await index.delete([DocId("d1")])

    await change_alias(opensearch_url, {"add": lost})
    assert await index.delete([DocId("d1")]) == 1
    assert set(await index.load_digests(RECEIPTS)) == {"d2"}


@pytest.mark.parametrize("version_number", [1, 2])
async def test_a_bucket_without_its_alias_is_not_created_anew(
    version_number: int, open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index(shared_from=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("d1")])
    if version_number == 2:
        await index.rebuild_bucket(RECEIPTS, lambda _: None)
        await index.clean_up_bucket(RECEIPTS)
    names = IndexNames(TENANT, installation)
    lost = {"index": names.version_index_name(RECEIPTS, version_number), "alias": names.bucket_alias_for(RECEIPTS)}
    await change_alias(opensearch_url, {"remove": lost})

    with pytest.raises(IndexUnavailable, match="lost its alias"):
        await index.set_schema(a_receipt_schema())

    await change_alias(opensearch_url, {"add": lost})
    await index.set_schema(a_receipt_schema())
    assert set(await index.load_digests(RECEIPTS)) == {"d1"}


def run_before_request(monkeypatch: pytest.MonkeyPatch, path_part: str, work: Callable[[], Awaitable[None]]) -> None:
    """Runs `work` right before the first request with this part in its path."""
    send_request, waiting = ClusterConnection.send_request, [work]

    async def work_and_send(connection: ClusterConnection, method: str, path: str, *more: Any, **options: Any) -> Any:
        if waiting and path_part in path:
            await waiting.pop()()
        return await send_request(connection, method, path, *more, **options)

    monkeypatch.setattr(ClusterConnection, "send_request", work_and_send)


async def test_a_deletion_waits_for_a_bucket_whose_alias_comes_back_meanwhile(
    open_index: IndexOpener, opensearch_url: str, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await open_index(shared_from=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("d1"), a_document("d2")])
    names = IndexNames(TENANT, installation)
    lost = {"index": names.version_index_name(RECEIPTS, 1), "alias": names.bucket_alias_for(RECEIPTS)}
    await change_alias(opensearch_url, {"remove": lost})
    version_pattern = names.version_pattern_for(RECEIPTS)  # of the request after the one that loads the layouts
    run_before_request(monkeypatch, version_pattern, lambda: change_alias(opensearch_url, {"add": lost}))

    assert await index.delete([DocId("d1")]) == 1

    assert set(await index.load_digests(RECEIPTS)) == {"d2"}


async def test_a_bucket_whose_alias_comes_back_meanwhile_is_not_created_a_second_time(
    open_index: IndexOpener, opensearch_url: str, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await open_index(shared_from=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("d1")])
    await index.rebuild_bucket(RECEIPTS, lambda _: None)
    await index.clean_up_bucket(RECEIPTS)
    names = IndexNames(TENANT, installation)
    alias, second = names.bucket_alias_for(RECEIPTS), names.version_index_name(RECEIPTS, 2)
    lost = {"index": second, "alias": alias}
    await change_alias(opensearch_url, {"remove": lost})
    version_pattern = names.version_pattern_for(RECEIPTS)
    run_before_request(monkeypatch, version_pattern, lambda: change_alias(opensearch_url, {"add": lost}))

    await index.set_schema(a_receipt_schema())

    async with aiohttp.request("GET", f"{opensearch_url}/_alias/{alias}") as response:
        assert set(await response.json()) == {second}
    assert set(await index.load_digests(RECEIPTS)) == {"d1"}


async def change_alias(opensearch_url: str, action: dict[str, dict[str, str]]) -> None:
    body = json.dumps({"actions": [action]}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{opensearch_url}/_aliases", data=body, headers=headers, method="POST")
    await asyncio.to_thread(lambda: urllib.request.urlopen(request).close())


async def test_a_reader_sees_a_schema_change_of_another_process(open_index: IndexOpener) -> None:
    reader, changer = await open_index(), await open_index()
    schema = a_receipt_schema()
    await changer.set_schema(schema)
    await reader.within_scope(a_scope()).answer_requests(CountRequest(a_search()))
    changed_schema = replace(schema, fields=(a_field("colour"), *schema.fields))
    await changer.set_schema(changed_schema)
    await changer.put(RECEIPTS, [a_document("a", colour="red", vendor="ACME")])

    answers = await reader.within_scope(a_scope()).answer_requests(
        red := CountRequest(a_search(where("colour", "eq", "red"))),
        acme := CountRequest(a_search(where("vendor", "eq", "acme"))),
    )

    assert (answers[red], answers[acme]) == (1, 1)


async def test_a_deletion_goes_on_while_another_call_creates_a_bucket(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("r1", "Tea."), a_document("r2", "Milk.")])
    write_actions, new_buckets = bulk.write_bulk_actions, [BucketId("notes")]

    async def write_and_create_bucket(*arguments: Any, **options: Any) -> Any:
        results = await write_actions(*arguments, **options)
        if new_buckets:
            await index.set_schema(replace(a_receipt_schema(), bucket=new_buckets.pop()))
        return results

    monkeypatch.setattr(bulk, "write_bulk_actions", write_and_create_bucket)

    assert await index.delete([DocId("r1")]) == 1
    assert set(await index.load_digests(RECEIPTS)) == {"r2"}


async def test_values_are_read_again_if_a_document_came_between_the_values_and_their_spellings(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of another copy of a shard may see a write earlier than the next search of the same round trip."""
    index, writer = await open_index(), await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", vendor="ACME")])
    run_multi_search, is_quiet = BucketCatalogue.run_multi_search, [True]

    async def search_while_a_document_comes(
        catalogue: BucketCatalogue, searches: Sequence[OpenSearchRequest]
    ) -> list[OpenSearchResponse]:
        before = await run_multi_search(catalogue, searches)
        if not is_quiet or not any(_reads_values(search) for search in searches):
            return before
        is_quiet.clear()
        await writer.put(RECEIPTS, [a_document("b", vendor="Bolt")])
        after = await run_multi_search(catalogue, searches)
        return [later if _reads_values(s) else early for s, early, later in zip(searches, before, after, strict=True)]

    monkeypatch.setattr(BucketCatalogue, "run_multi_search", search_while_a_document_comes)
    vocabulary = await index.within_scope(a_scope()).load_vocabulary()

    assert not is_quiet
    [vendors] = [field for field in vocabulary.fields if field.field == "vendor"]
    assert {value.value for value in vendors.values} == {"ACME", "Bolt"}


def _reads_values(search: OpenSearchRequest) -> bool:
    """Whether it counts the folded values of a field, and not their spellings."""
    cells = search.body.get("aggs", {}).get("cells", {})
    return "terms" in cells and not cells["terms"]["field"].endswith("_r")
