"""An index that is known to be large is asked in more and cheaper searches. They find the same."""

import json
import random
from dataclasses import replace

import pytest

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.mapping import IndexNames
from storage.opensearch.reading import ranking
from storage.opensearch.reading.requests import IndexReader
from storage.search.documents import Document
from storage.search.index import CountRequest, IndexRequest, KeywordPassageRequest, OutlineRequest, RecordPageRequest
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search, a_union, where
from tests.stand_ins.recorded_cluster import RecordedConnection
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers

_BUCKETS = (RECEIPTS, "invoices")
_WORDS = "tire rim brake oil filter winter summer steel alloy hinge bolt".split()
_LONG_TEXT = " ".join(f"word{number}" for number in range(80))  # more terms than are ranked


def build_documents(bucket: str, count: int) -> list[Document]:
    chance = random.Random(bucket)
    texts = [" ".join(chance.choices(_WORDS, k=chance.randint(2, 9))) for _ in range(count)]
    return [
        a_document(f"{bucket}-{number}", text, title=chance.choice(_WORDS), weight=float(number % 5))
        for number, text in enumerate(texts)
    ]


async def test_rankings_of_large_indexes_find_what_those_of_small_ones_find(
    open_index: IndexOpener, opensearch_url: str, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "_MAX_VISITED_PASSAGES", 20)
    index = await open_index()
    for bucket in _BUCKETS:
        await index.set_schema(a_receipt_schema(bucket))
        documents = [*build_documents(bucket, 60), a_document(f"{bucket}-long", _LONG_TEXT)]
        await index.put(documents=documents, bucket=a_receipt_schema(bucket).bucket)
    await index.delete([document.doc_id for document in build_documents(RECEIPTS, 60)[::7]])
    connection, scope = RecordedConnection([opensearch_url]), a_scope(*_BUCKETS, all_readers=True)
    catalogue = BucketCatalogue(connection=connection, names=IndexNames(TENANT, installation), analysers=analyser_for)
    await catalogue.open()
    every_index = [layout.index for layout in catalogue.layouts.values()]
    small = IndexReader(catalogue=catalogue, embedder=None)
    large = IndexReader(catalogue=catalogue, embedder=None, large_indexes={index: set[str]() for index in every_index})
    searches = [
        a_search(),
        a_search(where("weight", "gt", 2), required=("tire",)),
        a_union(dict.fromkeys(_BUCKETS, where("weight", "lt", 4))),
    ]
    requests: list[IndexRequest[object]] = [
        request
        for search in searches
        for request in (
            *(KeywordPassageRequest(search, text, 5) for text in ("winter tire steel tire", "oil", _LONG_TEXT)),
            OutlineRequest(search, "alloy oil winter", 5),
            CountRequest(search),
        )
    ]
    connection.take_requests()

    expected = await small.answer_requests(scope, requests)
    small_cost = sum(request.searches for request in connection.take_requests())
    answers = await large.answer_requests(scope, requests)
    large_cost = sum(request.searches for request in connection.take_requests())
    later_answers = await large.answer_requests(scope, requests)
    later_cost = sum(request.searches for request in connection.take_requests())
    await connection.close()

    assert [answers[request] for request in requests] == [expected[request] for request in requests]
    assert [later_answers[request] for request in requests] == [expected[request] for request in requests]
    assert all("tire" in frequent and "word7" not in frequent for frequent in large.large_indexes.values())
    assert large_cost < later_cost  # what is known to be frequent is counted apart
    assert all(expected[request] for request in requests if isinstance(request, CountRequest))
    assert small_cost < large_cost  # else the large indexes were asked in the same way


async def test_only_the_first_page_of_a_set_counts_what_is_left_of_it(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, build_documents(RECEIPTS, 5))
    connection, scope = RecordedConnection([opensearch_url]), a_scope(all_readers=True)
    catalogue = BucketCatalogue(connection=connection, names=IndexNames(TENANT, installation), analysers=analyser_for)
    await catalogue.open()
    reader, request = IndexReader(catalogue=catalogue, embedder=None), RecordPageRequest(a_search(), limit=2)
    connection.take_requests()

    first = (await reader.answer_requests(scope, [request]))[request]
    following = replace(request, cursor=first.cursor)
    second = (await reader.answer_requests(scope, [following]))[following]
    searches = [json.loads(sent.body.splitlines()[-1]) for sent in connection.take_requests()]
    await connection.close()

    assert [search["track_total_hits"] for search in searches] == [True, False]
    assert len({record.doc_id for page in (first, second) for record in page.records}) == 4
