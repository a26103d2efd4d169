"""What OpenSearch does in silence, or refuses: wrong sums, cut pages, vectors that come along, a node that ends."""

import json
import re
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from opensearchpy.exceptions import OpenSearchWarning

import storage.opensearch
from storage.opensearch.connection import ClusterConnection, JsonObject, RequestRefused, json_lines_of
from storage.opensearch.mapping import IndexLayout, VectorStorage
from storage.search.conditions import MATCH_ALL
from storage.search.errors import InvalidSchema
from storage.search.ids import BucketId, FieldName
from storage.search.index import AggregateRequest, CountRequest, KeywordPassageRequest, RecordPageRequest
from storage.search.record_pages import load_pages_ahead
from storage.search.schema import FieldType, Schema
from storage.text.snowball_analyser import analyser_for
from tests.builders import (
    RECEIPTS,
    a_document,
    a_field,
    a_receipt_schema,
    a_scope,
    a_search,
    a_union,
    ordered_by,
    where,
)
from tests.stand_ins.word_vectors import ChecksumEmbedder
from tests.storage.opensearch.conftest import IndexOpener

# Sums that are not exact, loops that miss writes, and intervals that fill the memory of a node.
_UNUSED_FEATURES = "cardinality percentiles collapse date_histogram _update_by_query _reindex _forcemerge"
_MORE_THAN_A_PAGE = 10_020  # documents


@pytest.mark.parametrize("storage_kind", VectorStorage)
def test_a_graph_of_vectors_is_never_of_an_engine_that_needs_native_libraries(storage_kind: VectorStorage) -> None:
    layout = IndexLayout(
        index="i",
        version_number=1,
        schema=a_receipt_schema(),
        analyser=analyser_for("en"),
        analyser_version="1",
        embedder_name="words",
        dimensions=8,
        vector_storage=storage_kind,
    )
    vector = layout.index_mapping["properties"]["vector"]

    assert ("method" in vector) == (storage_kind is VectorStorage.GRAPH)
    assert vector.get("method", {}).get("engine", "lucene") == "lucene"
    assert layout.index_settings["index.knn"] == ("method" in vector)


def test_nothing_asks_for_what_the_server_answers_inexactly_or_does_not_finish() -> None:
    modules = Path(next(iter(storage.opensearch.__path__))).rglob("*.py")
    texts = {path.name: path.read_text(encoding="utf-8") for path in modules}

    assert len(texts) > 30
    for feature in _UNUSED_FEATURES.split():
        assert [name for name, text in texts.items() if re.search(rf'["/]{feature}["/?]', text)] == [], feature


async def test_a_warning_of_the_server_is_one_of_python_and_the_answer_counts() -> None:
    async def warn(request: web.Request) -> web.Response:
        return web.json_response({"found": 1}, headers={"Warning": '299 OpenSearch-3.6.0 "this is deprecated"'})

    app = web.Application()
    app.router.add_get("/x", warn)
    async with TestServer(app) as server:
        connection = ClusterConnection([str(server.make_url("")).rstrip("/")])
        with pytest.warns(OpenSearchWarning, match="this is deprecated"):
            assert await connection.send_request("GET", "/x") == {"found": 1}
        await connection.close()


@pytest.mark.servers
async def test_one_search_with_bad_syntax_fails_the_others_and_answers_nothing(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    connection, name = ClusterConnection([opensearch_url]), f"{installation}-*"
    bodies: list[JsonObject] = [{"query": {"match_all": {}}}, {"query": {"no_such_query": {}}}]
    searches: list[JsonObject] = [line for body in bodies for line in ({"index": name}, body)]

    with pytest.raises(RequestRefused) as refused:
        await connection.send_request("POST", "/_msearch", json_lines_of(searches))
    await connection.close()

    assert (refused.value.status, refused.value.is_transient) == (400, False)


@pytest.mark.parametrize("name", ["net.weight", ".net", "net."])
def test_a_field_whose_dots_would_build_objects_is_no_field_and_no_column(name: str) -> None:
    rows = a_field("parts", FieldType.ROWS, columns=(a_field(name),))

    for field in (lambda: (a_field("net"), a_field(name)), lambda: (rows,)):
        with pytest.raises(InvalidSchema, match="no dot"):
            Schema(bucket=RECEIPTS, fields=field())


@pytest.mark.servers
async def test_a_name_with_two_types_in_two_buckets_is_two_fields(open_index: IndexOpener) -> None:
    index, size = await open_index(), FieldName("size")
    fields = {"boxes": FieldType.NUMBER, "shirts": FieldType.CATEGORY}
    for bucket, kind in fields.items():
        await index.set_schema(Schema(bucket=BucketId(bucket), fields=(a_field(size, kind),)))
    await index.put(BucketId("boxes"), [a_document(f"b{number}", size=float(number)) for number in range(4)])
    await index.put(BucketId("shirts"), [a_document(f"s{number}", size=f"{number}0") for number in range(4)])
    total = AggregateRequest(a_search(bucket="boxes"), field=size)
    large = CountRequest(a_search(where(size, "gt", 1), bucket="boxes"))
    twenty = CountRequest(a_search(where(size, "eq", "20"), bucket="shirts"))
    every = CountRequest(a_union(dict.fromkeys(fields, MATCH_ALL)))

    answers = await index.within_scope(a_scope(*fields)).answer_requests(total, large, twenty, every)

    [line] = answers[total]
    assert (line.count, line.sum) == (4, 6)
    assert [answers[request] for request in (large, twenty, every)] == [2, 1, 8]


@pytest.mark.servers
async def test_conditions_and_texts_of_more_words_than_the_server_takes_clauses_are_answered(
    open_index: IndexOpener,
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    vendors = [f"vendor{number}" for number in range(3_000)]
    documents = [a_document(f"d{number}", f"tire word{number}", vendor=vendors[number]) for number in range(6)]
    await index.put(RECEIPTS, documents)
    text = " ".join(f"word{number}" for number in range(3, 3_000))
    any_vendor = CountRequest(a_search(where("vendor", "in", tuple(vendors[2:]))))
    ranking = KeywordPassageRequest(a_search(), text, 10)

    answers = await index.within_scope(a_scope()).answer_requests(any_vendor, ranking)

    assert answers[any_vendor] == 4
    assert {hit.doc_id for hit in answers[ranking]} == {"d3", "d4", "d5"}


@pytest.mark.servers
async def test_a_condition_on_more_values_than_the_server_takes_terms_is_exact(open_index: IndexOpener) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    vendors = tuple(f"v{number}" for number in range(70_000))
    positions = (0, 59_999, 60_000, 65_535, 65_536, 69_999, 70_000)  # the last one is none of them
    await index.put(RECEIPTS, [a_document(f"d{number}", vendor=f"v{number}") for number in positions])
    any_of_them = CountRequest(a_search(where("vendor", "in", vendors)))
    first = CountRequest(a_search(where("vendor", "in", vendors[:60_000])))

    answers = await index.within_scope(a_scope()).answer_requests(any_of_them, first)

    assert (answers[any_of_them], answers[first]) == (6, 2)


@pytest.mark.servers
async def test_records_beyond_the_largest_page_follow_and_those_without_the_value_come_last(
    open_index: IndexOpener,
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    days = [f"20{20 + number % 10}-01-05" if number % 100 else None for number in range(_MORE_THAN_A_PAGE)]
    documents = [a_document(f"d{number:05}", date=day) for number, day in enumerate(days)]
    await index.put(RECEIPTS, documents)
    request = RecordPageRequest(
        a_search(), order=ordered_by("date"), limit=4_000, fields=frozenset({FieldName("date")})
    )
    async with index.within_scope(a_scope()).open_snapshot(frozenset({RECEIPTS})) as snapshot:
        records = [record async for page in load_pages_ahead(snapshot, request) for record in page.records]

    undated = [record.doc_id for record in records if "date" not in record.values]
    assert sorted(record.doc_id for record in records) == [document.doc_id for document in documents]
    assert (
        [record.doc_id for record in records][-len(undated) :] == undated == [f"d{n:05}" for n in range(0, 10_020, 100)]
    )


@pytest.mark.servers
async def test_no_vector_comes_along_with_what_is_read(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index(embedder=ChecksumEmbedder())
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "winter tire")])

    async with aiohttp.request("GET", f"{opensearch_url}/{installation}-*/_search", json={"size": 50}) as response:
        hits = (await response.json())["hits"]["hits"]

    assert len(hits) > 1
    assert {name for hit in hits for name in hit["_source"]} <= {"stored", "kind", "bucket"}
    assert '"vector"' not in json.dumps(hits)
