"""A cluster that creates an index for any write: none of Parley's writes may make it do so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
import pytest_asyncio

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.cluster_check import ClusterCheck
from storage.opensearch.connection import ClusterConnection, json_lines_of
from storage.opensearch.index import OpenSearchIndex
from storage.opensearch.mapping import IndexLayout, IndexNames
from storage.opensearch.writing import bulk
from storage.opensearch.writing.build_lease import BuildLease
from storage.opensearch.writing.refusals import INDEX_GONE
from storage.search.errors import IndexDamaged, IndexUnavailable
from storage.search.ids import BucketId, DocId
from storage.search.index import CountRequest
from storage.text.snowball_analyser import analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers


@pytest_asyncio.fixture
async def creating_cluster(opensearch_url: str) -> AsyncIterator[str]:
    """The session's server, which creates indexes for writes meanwhile."""
    await _set_creation(opensearch_url, True)
    yield opensearch_url
    await _set_creation(opensearch_url, None)


async def _set_creation(url: str, value: bool | None) -> None:
    body = {"transient": {"action.auto_create_index": value}}
    async with aiohttp.request("PUT", f"{url}/_cluster/settings", json=body) as response:
        assert response.status == 200


async def list_indexes(url: str, installation: str) -> set[str]:
    async with aiohttp.request("GET", f"{url}/{installation}*") as response:
        return set(await response.json())


async def change_index(url: str, method: str, path: str, body: object = None) -> None:
    async with aiohttp.request(method, f"{url}{path}", json=body) as response:
        assert response.status in (200, 201), await response.text()


async def find_faults(url: str, names: IndexNames) -> list[str]:
    connection = ClusterConnection([url])
    try:
        findings = await ClusterCheck(connection=connection, names=names, needs_vectors=True).find()
    finally:
        await connection.close()
    return [finding.fault for finding in findings if finding.fault]


def a_layout(index: str) -> IndexLayout:
    return IndexLayout(
        index=index,
        version_number=1,
        schema=a_receipt_schema(),
        analyser=analyser_for("en"),
        analyser_version="1",
        embedder_name="",
        dimensions=0,
        created_ms=1,
    )


async def says_yes() -> bool:
    return True


async def do_nothing() -> None: ...


async def count_receipts(index: OpenSearchIndex) -> int:
    request = CountRequest(a_search())
    return (await index.within_scope(a_scope()).answer_requests(request))[request]


async def test_the_cluster_creates_an_index_for_a_write_of_anybody_else(
    creating_cluster: str, installation: str, open_index: IndexOpener
) -> None:
    await change_index(creating_cluster, "PUT", f"/{installation}-else/_doc/1", {"a": 1})

    assert f"{installation}-else" in await list_indexes(creating_cluster, installation)


async def test_no_write_creates_a_lost_registry_and_doctor_says_how_to_get_it_back(
    creating_cluster: str, installation: str, open_index: IndexOpener
) -> None:
    index, names = await open_index(), IndexNames(TENANT, installation)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a"), a_document("b")])
    await change_index(creating_cluster, "DELETE", f"/{names.registry_index_name}")
    kept = await list_indexes(creating_cluster, installation)

    writes = [
        index.put(RECEIPTS, [a_document("a", title="Changed"), a_document("c")]),
        index.delete([DocId("a")]),
        index.ping(),
    ]
    errors = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(error) for error in errors] == [IndexDamaged] * 3
    assert {str(error).partition(": ")[2] for error in errors} == {
        "its registry is lost; `parley doctor --index` says how to create it again"
    }
    for other_write in (
        index.rebuild_bucket(RECEIPTS, lambda _: None),
        index.set_schema(a_receipt_schema(bucket=BucketId("later"))),
        index.drop_bucket(BucketId("later")),
    ):
        with pytest.raises(IndexUnavailable):
            await other_write
    assert not {name for name in await list_indexes(creating_cluster, installation) if "registry" in name}
    assert kept <= await list_indexes(creating_cluster, installation)
    assert f"{names.registry_index_name} is gone: parley index rebuild" in await find_faults(creating_cluster, names)

    reopened = await open_index()
    await reopened.rebuild_bucket(RECEIPTS, lambda _: None)
    assert (await reopened.put(RECEIPTS, [a_document("c")])).added == ("c",)
    assert await count_receipts(reopened) == 3
    assert await find_faults(creating_cluster, names) == []


async def test_a_registry_without_its_alias_is_not_written_beside_and_gets_it_when_parley_starts(
    creating_cluster: str, installation: str, open_index: IndexOpener
) -> None:
    index, names = await open_index(), IndexNames(TENANT, installation)
    await index.set_schema(a_receipt_schema())
    lost = {"index": names.registry_index_name, "alias": names.registry_write_alias}
    await change_index(creating_cluster, "POST", "/_aliases", {"actions": [{"remove": lost}]})
    kept = await list_indexes(creating_cluster, installation)

    with pytest.raises(IndexDamaged, match="registry"):
        await index.put(RECEIPTS, [a_document("a")])
    with pytest.raises(IndexDamaged, match="registry"):
        await index.ping()

    assert await list_indexes(creating_cluster, installation) == kept
    [fault] = await find_faults(creating_cluster, names)
    assert fault.startswith(f"the alias of {names.registry_index_name} is lost: POST /_aliases ")
    reopened = await open_index()
    assert (await reopened.put(RECEIPTS, [a_document("a")])).added == ("a",)
    assert await find_faults(creating_cluster, names) == []


async def test_each_kind_of_write_to_an_alias_that_is_gone_is_refused_and_creates_nothing(
    creating_cluster: str, installation: str, open_index: IndexOpener
) -> None:
    await open_index()
    layout = a_layout(f"{installation}-gone")
    names, alias = IndexNames(TENANT, f"{installation}-gone"), f"{installation}-gone-w"
    async with AsyncExitStack() as stack:
        connection = ClusterConnection([creating_cluster])
        stack.push_async_callback(connection.close)
        catalogue = BucketCatalogue(connection=connection, names=names, analysers=analyser_for)
        lines = json_lines_of(catalogue.registry_entry_lines(layout))
        writes = [
            bulk.index_entry_action(alias, "1", "{}", routing="1"),
            bulk.index_entry_action(alias, "2", "{}", routing="2", version=3, version_type="external_gte"),
            bulk.create_entry_action(alias, "3", "{}", routing="3"),
            bulk.claim_registry_entry_action(names.registry_write_alias, "doc:1", {"kind": "doc", "bucket": "b"}),
            bulk.delete_entry_action(names.registry_index_name, "doc:1"),
            bulk.delete_entry_action(alias, "4", routing="4", if_seq_no=1, if_primary_term=1),
            bulk.delete_copied_entry_action(alias, "5", routing="5", version=7),
            bulk.BulkAction("index", lines),
        ]
        for write in writes:
            (refusal,) = await bulk.write_bulk_actions(connection, [write])
            assert refusal is not None
            assert refusal.error_type == INDEX_GONE, write.lines
        with pytest.raises(IndexDamaged, match="registry"):
            await catalogue.publish_generations([layout])
        with pytest.raises(IndexUnavailable, match="require_alias"):
            await BuildLease(catalogue=catalogue, bucket=RECEIPTS).run_holding(says_yes, do_nothing)

    assert not {name for name in await list_indexes(creating_cluster, installation) if "-gone" in name}


async def test_a_registry_that_the_cluster_created_itself_is_named_with_its_mend(
    creating_cluster: str, installation: str, open_index: IndexOpener
) -> None:
    index, names = await open_index(), IndexNames(TENANT, installation)
    await index.set_schema(a_receipt_schema())
    await change_index(creating_cluster, "DELETE", f"/{names.registry_index_name}")
    await change_index(creating_cluster, "PUT", f"/{names.registry_index_name}/_doc/1", {"bucket": "b"})

    [fault] = await find_faults(creating_cluster, names)

    assert fault.startswith(f"{names.registry_index_name} was created by the cluster, with a wrong mapping: DELETE /")


async def test_deletions_of_copies_delete_what_is_there_and_nothing_of_a_version_in_use(
    creating_cluster: str, installation: str
) -> None:
    index, alias = f"{installation}-copies", f"{installation}-copies-c"
    await change_index(creating_cluster, "PUT", f"/{index}", {"aliases": {alias: {}}})
    async with AsyncExitStack() as stack:
        connection = ClusterConnection([creating_cluster])
        stack.push_async_callback(connection.close)
        copies = [
            bulk.index_entry_action(alias, str(number), "{}", routing="1", version=5, version_type="external_gte")
            for number in range(3)
        ]
        deletions = [
            bulk.delete_copied_entry_action(alias, str(number), routing="1", version=version)
            for number, version in ((0, 5), (1, 4), (9, 1))
        ]
        assert await bulk.write_bulk_actions(connection, copies) == [None] * 3

        deleted, outdated, missing = await bulk.write_bulk_actions(connection, deletions)
        await change_index(
            creating_cluster, "POST", "/_aliases", {"actions": [{"remove": {"index": index, "alias": alias}}]}
        )
        (late,) = await bulk.write_bulk_actions(
            connection, [bulk.delete_copied_entry_action(alias, "2", routing="1", version=6)]
        )

    assert (deleted, missing, outdated is not None and outdated.status) == (None, None, 409)
    assert late is not None
    assert late.error_type == INDEX_GONE
    await change_index(creating_cluster, "POST", f"/{index}/_refresh")
    async with aiohttp.request("GET", f"{creating_cluster}/{index}/_count") as response:
        assert (await response.json())["count"] == 2
    assert {name for name in await list_indexes(creating_cluster, installation) if "copies" in name} == {index}
