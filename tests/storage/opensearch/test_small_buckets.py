"""Small buckets in shared indexes: the answers of indexes of their own, and nothing of other buckets in them."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from storage.embedder import Embedder
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.reading import merged_searches, ranking
from storage.opensearch.writing import small_buckets, versions
from storage.search.conditions import MATCH_ALL
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.index import (
    CountRequest,
    FacetRequest,
    KeywordPassageRequest,
    NearestValueRequest,
    NearestValues,
    OutlineRequest,
    RecordPageRequest,
    SemanticPassageRequest,
    SpellingRequest,
)
from storage.search.schema import FieldType, Schema, SchemaField
from tests.builders import RECEIPTS, a_document, a_field, a_receipt_schema, a_scope, a_search, a_union, where
from tests.stand_ins.word_vectors import ChecksumEmbedder
from tests.storage.opensearch.conftest import IndexOpener
from tests.storage.opensearch.every_request import answer_everything, fill_buckets
from tests.storage.opensearch.test_rebuild import a_text, content_of, ignore_progress, running_beside

pytestmark = pytest.mark.servers

OTHERS, SECRETS = BucketId("others"), BucketId("secrets")


async def list_indexes(url: str, installation: str) -> list[str]:
    """The indexes of the installation without the registry, each by what follows the installation's prefix."""
    async with aiohttp.request("GET", f"{url}/_cat/indices/{installation}-*?format=json&h=index") as response:
        names = [str(row["index"]) for row in await response.json()]
    return sorted(name.split("-", 3)[3] for name in names if not name.endswith("-registry"))


async def count_entries(url: str, installation: str) -> dict[str, int]:
    """The number of entries in the shared indexes by bucket version."""
    body = {"size": 0, "aggs": {"versions": {"terms": {"field": "version", "size": 100}}}}
    async with aiohttp.request("POST", f"{url}/{installation}-*-shared-*/_refresh") as response:
        assert response.status == 200
    async with aiohttp.request("POST", f"{url}/{installation}-*-shared-*/_search", json=body) as response:
        bins = (await response.json())["aggregations"]["versions"]["buckets"]
    return {version["key"]: version["doc_count"] for version in bins}


async def add_secrets(index: OpenSearchIndex) -> None:
    """Add a bucket with the same words, much more often, and with fields of other types in the same places."""
    fields = [
        a_field(name, field_type)
        for name, field_type in (
            ("vendor", FieldType.NUMBER),
            ("currency", FieldType.CATEGORY),
            ("total", FieldType.CATEGORY),
            ("weight", FieldType.NUMBER),
            ("date", FieldType.TEXT),
            ("tags", FieldType.LIST),
        )
    ]
    await index.set_schema(Schema(bucket=SECRETS, fields=tuple(fields)))
    documents = [
        a_document(
            f"s{number}",
            "tire winter steel tyres tyred alloy secretword " * (1 + number % 3),
            title="tire alloy",
            summary="alloy oil winter",
            vendor=float(number),
            currency="secretvalue",
            total="acme",
            weight=0.5 + number / 1_000,
            date="2025-01-31",
            tags=("tire", "secretvalue"),
        )
        for number in range(40)
    ]
    await index.put(SECRETS, documents)


async def test_a_shared_index_answers_as_indexes_of_their_own_do(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    embedder: Embedder = ChecksumEmbedder()
    own = await open_index(embedder=embedder)
    shared = await open_index(embedder=embedder, shared_from=0, suffix="shared")
    await add_secrets(shared)
    await fill_buckets(own)
    await fill_buckets(shared)

    expected, answers = await answer_everything(own), await answer_everything(shared)

    for position, (answer, known) in enumerate(zip(answers, expected, strict=True)):
        assert answer == known, position
    assert await list_indexes(opensearch_url, f"{installation}shared") == ["shared-64-1"]


async def test_a_bucket_learns_nothing_of_the_others_in_its_index(open_index: IndexOpener) -> None:
    index = await open_index(embedder=ChecksumEmbedder(), shared_from=0)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("r1", "one tire", vendor="Acme", weight=0.1), a_document("r2", "two")])
    scoped, requests = index.within_scope(a_scope()), list[KeywordPassageRequest | SemanticPassageRequest]()
    requests += [KeywordPassageRequest(a_search(), "tire one secretword", 10)]
    requests += [SemanticPassageRequest(a_search(), "secretword", 10)]
    before = [(await scoped.answer_requests(request))[request] for request in requests]

    await add_secrets(index)

    after = [(await scoped.answer_requests(request))[request] for request in requests]
    spelling = SpellingRequest(frozenset({RECEIPTS}), "secretwort")
    values = FacetRequest(a_search(), FieldName("currency"))
    nearest = NearestValueRequest(a_search(), FieldName("weight"), 0.3)
    words = [CountRequest(a_search(where("text", "contains", word))) for word in ("secretword", "tire")]
    answers = await scoped.answer_requests(spelling, values, nearest, *words)
    assert after == before
    assert (answers[spelling], answers[nearest]) == ((), NearestValues(below=0.1, above=None))
    assert [answers[count] for count in words] == [0, 1]
    vocabulary = await scoped.load_vocabulary()
    assert "secret" not in repr((answers[values], vocabulary.fields, vocabulary.titles))
    assert vocabulary.document_counts == {RECEIPTS: 2}


async def test_more_buckets_than_one_search_joins_are_counted_and_ranked_apart(
    open_index: IndexOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_buckets, "MAX_VERSIONS", 6)
    monkeypatch.setattr(merged_searches, "MAX_JOINED_VERSIONS", 4)
    monkeypatch.setattr(ranking, "MAX_UNITED_CLAUSES", 60)
    buckets = [BucketId(f"b{number:02}") for number in range(20)]
    answers = list[list[object]]()
    for suffix, shared_from in (("own", None), ("shared", 5)):
        index = await open_index(embedder=ChecksumEmbedder(), shared_from=shared_from, suffix=suffix)
        for number, bucket in enumerate(buckets):
            fields = tuple(a_field(name) for name in ("vendor", *(f"f{place}" for place in range(number % 3))))
            await index.set_schema(Schema(bucket=bucket, fields=fields))
            texts = ("green tea", "tea and coffee", "coffee", "green")[number % 2 :]
            await index.put(bucket, [a_document(f"{bucket}.{text}", text, vendor=bucket) for text in texts])
        scoped = index.within_scope(a_scope(*buckets))
        search = a_union(dict.fromkeys(buckets, where("text", "contains", "tea")))
        words = KeywordPassageRequest(search, "green tea", 300)
        nearest = SemanticPassageRequest(search, "green tea", 300)
        outlines = OutlineRequest(a_union(dict.fromkeys(buckets, MATCH_ALL)), "green tea", 300)
        counts = [CountRequest(a_search(where("vendor", "eq", "b07"), bucket=bucket)) for bucket in buckets]
        requests = (words, nearest, outlines, CountRequest(search), *counts)
        given = await scoped.answer_requests(*requests)
        assert [len(given[words]), len(given[outlines]), given[requests[3]]] == [30, 50, 30]
        answers.append([given[request] for request in requests])

    assert answers[1] == answers[0]


async def test_the_first_buckets_and_large_ones_have_an_index_of_their_own(
    open_index: IndexOpener, opensearch_url: str, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MAX_SHARED_PASSAGES", 3)
    index = await open_index(shared_from=1)
    for bucket in (RECEIPTS, OTHERS):
        await index.set_schema(a_receipt_schema(bucket))
    await index.put(OTHERS, [a_text(f"d{number}", 0) for number in range(2)])
    created = await list_indexes(opensearch_url, installation)

    await index.rebuild_bucket(OTHERS, ignore_progress)
    await index.clean_up_bucket(OTHERS)
    moved_out = await list_indexes(opensearch_url, installation)
    await index.delete([DocId("d1")])
    await index.rebuild_bucket(OTHERS, ignore_progress)
    await index.clean_up_bucket(OTHERS)

    assert [len(created), len(moved_out)] == [2, 3]
    assert await list_indexes(opensearch_url, installation) == created
    assert set(await index.load_digests(OTHERS)) == {"d0"}


async def test_writes_beside_moves_into_a_shared_index_and_out_of_it_all_hold(open_index: IndexOpener) -> None:
    index, writer = await open_index(shared_from=0), await open_index(shared_from=0)
    out = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_text(f"d{number}", 0) for number in range(30)])
    await add_secrets(index)
    expected = {f"d{number}": "v0" for number in range(30)}

    async def write() -> AsyncIterator[None]:
        for number in itertools.count(1):
            changed, gone, new = f"d{number % 10}", f"d{10 + number % 20}", f"n{number}"
            await writer.put(RECEIPTS, [a_text(changed, number), a_text(new, number)])
            expected[changed], expected[new] = f"v{number}", f"v{number}"
            await writer.delete([DocId(gone)])
            expected.pop(gone, None)
            assert await content_of(writer) == expected
            yield

    async with running_beside(write) as steps:
        for mover in (out, index, index, out):
            await mover.rebuild_bucket(RECEIPTS, ignore_progress)

    for reader in (index, writer, out, await open_index()):
        assert await content_of(reader) == expected
        assert len(await reader.load_digests(SECRETS)) == 40
    assert len(steps) > 1


async def test_a_deleted_bucket_leaves_the_others_whole_and_nothing_behind(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index(shared_from=0)
    for bucket in (RECEIPTS, OTHERS):
        await index.set_schema(a_receipt_schema(bucket))
        await index.put(bucket, [a_text(f"{bucket}{number}", 0) for number in range(5)])
    await index.rebuild_bucket(RECEIPTS, ignore_progress)
    others = await index.load_digests(OTHERS)

    await index.drop_bucket(RECEIPTS)

    assert len(await count_entries(opensearch_url, installation)) == 1
    assert await index.load_digests(OTHERS) == others
    assert await index.load_bucket_names() == {OTHERS}
    await index.set_schema(a_receipt_schema())
    assert await content_of(index) == {}
    assert (await index.put(RECEIPTS, [a_text("receipts1", 1)])).added == ("receipts1",)
    assert await content_of(await open_index()) == {"receipts1": "v1"}


async def test_what_a_dead_process_left_of_a_version_is_never_found_and_is_cleaned_up(
    open_index: IndexOpener, opensearch_url: str, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await open_index(shared_from=0)
    for bucket in (RECEIPTS, OTHERS):
        await index.set_schema(a_receipt_schema(bucket))
        await index.put(bucket, [a_text(f"{bucket}{number}", 0) for number in range(5)])

    async def die(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(small_buckets.SharedIndexes, "_delete_entries", die)
        with pytest.raises(RuntimeError, match="killed"):
            await index.drop_bucket(RECEIPTS)
    other = await open_index(shared_from=0)
    await other.set_schema(a_receipt_schema())
    left, found = await count_entries(opensearch_url, installation), await content_of(other)

    await other.clean_up_bucket(OTHERS)

    assert (len(left), found) == (2, {})
    assert len(await count_entries(opensearch_url, installation)) == 1
    assert len(await other.load_digests(OTHERS)) == 5


async def test_a_changed_title_of_a_field_is_stored_without_a_new_version(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, schema = await open_index(shared_from=0), a_receipt_schema()
    await index.set_schema(schema)
    await index.put(RECEIPTS, [a_text("d1", 0)])
    entries = await count_entries(opensearch_url, installation)
    vendor = SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY, facet=True, synonyms=("seller",))

    await index.set_schema(Schema(bucket=RECEIPTS, fields=(vendor, *schema.fields[1:])))

    reader = (await open_index()).within_scope(a_scope())
    assert (await reader.load_schemas())[RECEIPTS].fields[0].synonyms == ("seller",)
    assert await count_entries(opensearch_url, installation) == entries
    page = RecordPageRequest(a_search())
    assert len((await reader.answer_requests(page))[page].records) == 1


async def test_processes_that_create_buckets_at_once_create_each_once(open_index: IndexOpener) -> None:
    handles = [await open_index(shared_from=shared_from) for shared_from in (0, 0, 1, 1)]

    await asyncio.gather(*(handle.set_schema(a_receipt_schema()) for handle in handles))
    await asyncio.gather(*(handle.put(RECEIPTS, [a_text(f"d{number}", 0)]) for number, handle in enumerate(handles)))

    for handle in (*handles, await open_index()):
        assert set(await handle.load_digests(RECEIPTS)) == {f"d{number}" for number in range(4)}


async def test_a_lost_alias_of_a_version_in_a_shared_index_is_named_with_its_filter(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    from storage.opensearch.mapping import IndexNames
    from tests.builders import TENANT
    from tests.storage.opensearch.test_cluster_check import check_cluster, faults_in, send_advice

    index, names = await open_index(shared_from=0), IndexNames(TENANT, installation)
    for bucket in (RECEIPTS, OTHERS):
        await index.set_schema(a_receipt_schema(bucket))
        await index.put(bucket, [a_text(f"{bucket}1", 0)])
    lost = {"index": names.shared_index_name(0, 1), "alias": names.bucket_alias_for(RECEIPTS), "must_exist": True}
    actions = json.dumps({"actions": [{"remove": lost}]})
    headers = {"Content-Type": "application/json"}
    async with aiohttp.request("POST", f"{opensearch_url}/_aliases", data=actions, headers=headers) as response:
        assert response.status == 200

    [fault] = faults_in(await check_cluster(opensearch_url, installation))
    await send_advice(opensearch_url, fault)

    assert faults_in(await check_cluster(opensearch_url, installation)) == []
    assert set(await index.load_digests(RECEIPTS)) == {"receipts1"}
    assert set(await index.load_digests(OTHERS)) == {"others1"}
