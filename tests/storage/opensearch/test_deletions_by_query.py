"""A deletion by query misses writes that searches do not see yet, unless they are made visible before."""

import json

import aiohttp
import pytest

from storage.opensearch.connection import ClusterConnection
from storage.opensearch.mapping import VERSION_PATH, IndexNames, digest_of
from storage.opensearch.writing import bulk
from storage.search.ids import BucketId
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.storage.opensearch.conftest import IndexOpener

pytestmark = pytest.mark.servers
OTHERS = BucketId("others")


async def write_unseen(url: str, index: str, action: bulk.BulkAction) -> None:
    """Make a write as a writer does that dies right after it. Searches see it when somebody refreshes the index."""
    connection = ClusterConnection([url])
    try:
        await connection.send_request("PUT", f"/{index}/_settings", {"index.refresh_interval": "-1"})
        assert await bulk.write_bulk_actions(connection, [action]) == [None]
    finally:
        await connection.close()


async def test_an_id_that_a_dead_writer_claimed_for_a_dropped_bucket_is_free_again(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, names = await open_index(), IndexNames(TENANT, installation)
    await index.set_schema(a_receipt_schema())
    await index.set_schema(a_receipt_schema(bucket=OTHERS))
    claim = {"kind": "doc", "bucket": digest_of(RECEIPTS)}
    action = bulk.claim_registry_entry_action(names.registry_write_alias, f"doc:{digest_of('a')}", claim)
    await write_unseen(opensearch_url, names.registry_index_name, action)

    await index.drop_bucket(RECEIPTS)

    assert (await index.put(OTHERS, [a_document("a")])).added == ("a",)


async def test_nothing_that_a_dead_writer_wrote_stays_in_a_shared_index_when_its_bucket_is_dropped(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, names = await open_index(shared_from=0), IndexNames(TENANT, installation)
    for bucket in (RECEIPTS, OTHERS):
        await index.set_schema(a_receipt_schema(bucket=bucket))
    async with aiohttp.request("GET", f"{opensearch_url}/{names.bucket_alias_for(RECEIPTS)}/_alias") as response:
        [(shared_index, definition)] = (await response.json()).items()
    pattern = names.version_pattern_for(RECEIPTS).removesuffix("*")
    [alias] = [name for name in definition["aliases"] if name.startswith(pattern) and name.endswith("-w")]
    source = json.dumps({"kind": "document", VERSION_PATH: alias.removesuffix("-w")})
    await write_unseen(opensearch_url, shared_index, bulk.index_entry_action(alias, "unseen", source, routing="unseen"))

    await index.drop_bucket(RECEIPTS)

    async with aiohttp.request("POST", f"{opensearch_url}/{shared_index}/_refresh") as response:
        assert response.status == 200
    async with aiohttp.request("GET", f"{opensearch_url}/{shared_index}/_count?q=kind:document") as response:
        assert (await response.json())["count"] == 0
