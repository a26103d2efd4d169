"""`parley doctor --index`: on a real node, and on a stand-in for answers that a node does not easily give."""

import json
from typing import Any as Json

import aiohttp
import pytest

from storage.opensearch.cluster_check import ClusterCheck, ClusterFinding
from storage.opensearch.connection import ClusterConnection
from storage.opensearch.mapping import IndexNames
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.strict_cluster import StrictCluster, a_node, disk_of, refusal_of, running_cluster
from tests.storage.opensearch.conftest import IndexOpener


async def check_cluster(url: str, installation: str = "parley", *, needs_vectors: bool = True) -> list[ClusterFinding]:
    connection = ClusterConnection([url])
    names = IndexNames(TENANT, installation)
    try:
        return await ClusterCheck(connection=connection, names=names, needs_vectors=needs_vectors).find()
    finally:
        await connection.close()


def faults_in(findings: list[ClusterFinding]) -> list[str]:
    return [f"{finding.what}: {finding.fault}" for finding in findings if finding.fault]


async def faults_of(answers: dict[str, tuple[int, Json]], *, needs_vectors: bool = True) -> list[str]:
    cluster = StrictCluster(answers=answers)
    async with running_cluster(cluster) as url:
        faults = faults_in(await check_cluster(url, needs_vectors=needs_vectors))
    assert cluster.unknown_requests == []
    assert cluster.indexes == set() or "delete" in " ".join(faults)
    return faults


async def send_advice(url: str, fault: str) -> None:
    """Sends the request that a fault ends with."""
    method, _, rest = fault[fault.index("POST /" if "POST /" in fault else "PUT /") :].partition(" ")
    path, _, body = rest.partition(" ")
    async with aiohttp.request(method, f"{url}{path}", json=json.loads(body)) as response:
        assert response.status == 200


@pytest.mark.servers
async def test_a_complete_node_has_no_fault_and_no_index_is_left_behind(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a")])
    await index.rebuild_bucket(RECEIPTS, lambda progress: None)

    findings = await check_cluster(opensearch_url, installation)

    assert faults_in(findings) == []
    parts = [
        "version",
        "plugins",
        "rights",
        "searches",
        "disk",
        "blocks",
        "shards",
        "shard limit",
        "new indexes",
        f"bucket {RECEIPTS}",
    ]
    assert [finding.what for finding in findings] == parts
    assert "-v2 is in use; 1 from before the last change (parley bucket cleanup" in findings[-1].found
    async with aiohttp.request("GET", f"{opensearch_url}/{installation}-*-check-*") as response:
        assert await response.json() == {}


@pytest.mark.servers
async def test_a_lost_alias_is_named_with_the_request_that_mends_it(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index, names = await open_index(), IndexNames(TENANT, installation)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a")])
    version = names.version_index_name(RECEIPTS, 1)
    for aliases in ((names.bucket_alias_for(RECEIPTS),), (names.write_alias_for(version),)):
        actions = [{"remove": {"index": version, "alias": alias}} for alias in aliases]
        async with aiohttp.request("POST", f"{opensearch_url}/_aliases", json={"actions": actions}) as response:
            assert response.status == 200

        [fault] = faults_in(await check_cluster(opensearch_url, installation))
        await send_advice(opensearch_url, fault)

        assert "alias" in fault
        assert faults_in(await check_cluster(opensearch_url, installation)) == []
    assert (await index.put(RECEIPTS, [a_document("b")])).added == ("b",)
    assert len(await index.load_digests(RECEIPTS)) == 2


@pytest.mark.servers
async def test_a_block_is_named_with_the_request_that_lifts_it(
    open_index: IndexOpener, opensearch_url: str, installation: str
) -> None:
    index = await open_index()
    await index.set_schema(a_receipt_schema())
    version = IndexNames(TENANT, installation).version_index_name(RECEIPTS, 1)
    block = {"index.blocks.read_only_allow_delete": True}
    async with aiohttp.request("PUT", f"{opensearch_url}/{version}/_settings", json=block) as response:
        assert response.status == 200

    [fault] = faults_in(await check_cluster(opensearch_url, installation))
    await send_advice(opensearch_url, fault)

    assert f"{version} has the block read_only_allow_delete: a disk was over the flood-stage watermark" in fault
    assert faults_in(await check_cluster(opensearch_url, installation)) == []


@pytest.mark.servers
async def test_a_cluster_that_forbids_expensive_searches_is_named_with_the_request_that_allows_them(
    opensearch_url: str, installation: str
) -> None:
    forbidden = {"transient": {"search.allow_expensive_queries": False}}
    async with aiohttp.request("PUT", f"{opensearch_url}/_cluster/settings", json=forbidden) as response:
        assert response.status == 200
    try:
        faults = faults_in(await check_cluster(opensearch_url, installation))
    finally:
        await send_advice(
            opensearch_url, 'PUT /_cluster/settings {"transient": {"search.allow_expensive_queries": null}}'
        )

    assert {fault.partition(": ")[2].partition(":")[0] for fault in faults} >= {
        "it cannot search for passages by conditions on their documents",
        "it cannot search for parts of words",
        "it cannot search for misspelled words",
    }
    await send_advice(opensearch_url, faults[0])
    assert faults_in(await check_cluster(opensearch_url, installation)) == []


@pytest.mark.parametrize(
    ("rule", "is_left_to_parley"),
    [
        ("true", False),
        ("false", True),
        ("-parley-*,*", True),
        ("+logs-*", True),
        ("+par*,-*", False),
        (None, False),
    ],
)
async def test_a_cluster_that_creates_indexes_for_writes_is_named_with_the_setting(
    rule: str | None, is_left_to_parley: bool
) -> None:
    persistent = {"action": {"auto_create_index": rule}} if rule else {}
    answers: dict[str, tuple[int, Json]] = {"GET /_cluster/settings": (200, {"persistent": persistent})}
    async with running_cluster(StrictCluster(answers=answers)) as url:
        findings = await check_cluster(url)

    [found] = [finding.found for finding in findings if finding.what == "new indexes"]
    advice = 'PUT /_cluster/settings {"persistent": {"action.auto_create_index": "-parley-*,*"}}'
    assert (found == "only Parley creates its indexes", found.endswith(advice)) == (
        is_left_to_parley,
        not is_left_to_parley,
    )


async def test_forbidden_scripts_are_named_with_the_setting() -> None:
    allowed, refused = (
        {"status": 200},
        {"type": "illegal_argument_exception", "reason": "cannot execute [inline] scripts"},
    )
    items = [allowed, allowed, allowed, {"status": 400, "error": refused}, allowed]

    faults = await faults_of({"POST /_msearch": (200, {"responses": items})})

    [fault] = [fault for fault in faults if fault.startswith("searches: ")]
    assert fault.startswith("searches: it cannot search for what compares two fields: ")
    assert "cannot execute [inline] scripts" in fault
    assert "script.allowed_types" in fault


async def test_a_complete_stand_in_has_no_fault() -> None:
    assert await faults_of({}) == []
    assert await faults_of({}, needs_vectors=False) == []


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ({"distribution": "opensearch", "number": "2.19.1"}, "version: opensearch 2.19.1: set PARLEY_INDEX_URL to an"),
        ({"number": "8.11.0"}, "version: no OpenSearch 8.11.0: set PARLEY_INDEX_URL to an OpenSearch 3 or later"),
    ],
)
async def test_another_server_is_the_only_finding(version: Json, expected: str) -> None:
    [fault] = await faults_of({"GET /": (200, {"version": version})})

    assert fault.startswith(expected)


async def test_a_refused_user_is_the_only_finding() -> None:
    [fault] = await faults_of({"GET /": (401, {})})

    assert "it refuses this user, password or key" in fault
    assert "PARLEY_INDEX_USER" in fault


async def test_an_unreachable_cluster_is_the_only_finding() -> None:
    [finding] = await check_cluster("http://127.0.0.1:9")

    assert "no connection" in str(finding.fault)


async def test_a_missing_plugin_is_named_where_it_is_needed() -> None:
    answers = {"GET /_nodes/plugins": (200, a_node(plugins=[]))}

    [fault] = await faults_of(answers)

    assert fault.startswith("plugins: the node n1 lacks opensearch-knn: bin/opensearch-plugin install opensearch-knn")
    assert await faults_of(answers, needs_vectors=False) == []


@pytest.mark.parametrize(
    ("request_words", "permission", "action"),
    [
        ("POST /_bulk", "indices:data/write/*", "write"),
        ("POST /_refresh", "indices:admin/refresh", "refresh"),
        ("POST /_msearch", "indices:data/read/*", "search"),
        ("POST /_mget", "indices:data/read/mget", "read entries"),
        ("POST /_aliases", "indices:admin/aliases", "change aliases"),
        ("PUT /_mapping", "indices:admin/mapping/put", "change mappings"),
        ("PUT /_settings", "indices:admin/settings/update", "change settings"),
        ("GET /_stats/store", "indices:monitor/stats", "read the sizes of indexes"),
        ("POST /_search/point_in_time", "indices:data/read/point_in_time/*", "keep a point in time"),
    ],
)
async def test_a_missing_right_is_named_by_its_permission(request_words: str, permission: str, action: str) -> None:
    [fault] = await faults_of({request_words: refusal_of(permission)})

    assert fault.startswith(f"rights: it cannot {action}")
    assert f"give the user {permission} on parley-" in fault


async def test_a_right_that_is_refused_inside_an_answer_is_found() -> None:
    refused = {"status": 403, "error": {"type": "security_exception", "reason": "no permissions"}}
    [fault] = await faults_of({"POST /_bulk": (200, {"items": [{"index": refused}]})})

    assert "rights: it cannot write" in fault
    assert "indices:data/write/*" in fault


async def test_without_the_right_to_ask_about_the_cluster_the_other_checks_go_on() -> None:
    answers = {f"GET {path}": refusal_of("cluster:monitor") for path in ("/_nodes/plugins", "/_nodes/stats/fs")}

    faults = await faults_of(answers)

    assert [fault.partition(":")[0] for fault in faults] == ["plugins", "disk"]
    assert all("give the user cluster:monitor/*" in fault for fault in faults)


@pytest.mark.parametrize(
    ("available_gb", "expected"),
    [(20, []), (8, []), (4, ["disk: the node n1: 4.0 of 100.0 GB free, over the flood-stage watermark 95%"])],
)
async def test_a_full_disk_is_named_with_what_it_does(available_gb: float, expected: list[str]) -> None:
    faults = await faults_of({"GET /_nodes/stats/fs": (200, a_node(fs={"total": disk_of(available_gb)}))})

    assert [fault.partition(", so")[0] for fault in faults] == expected


async def test_with_several_nodes_the_low_watermark_counts_too() -> None:
    nodes = {
        "nodes": {f"n{number}": a_node(name=f"n{number}", fs={"total": disk_of(12)})["nodes"]["a"] for number in (1, 2)}
    }

    faults = await faults_of({"GET /_nodes/stats/fs": (200, nodes)})

    assert len(faults) == 2
    assert all("over the low watermark 85%, so no new index is put there" in fault for fault in faults)


async def test_a_block_of_the_whole_cluster_is_named() -> None:
    blocked = {"persistent": {"cluster": {"blocks": {"read_only": "true"}}}}
    [fault] = await faults_of({"GET /_cluster/settings": (200, blocked)})

    assert 'PUT /_cluster/settings {"persistent": {"cluster.blocks.read_only": null}}' in fault


async def test_an_index_without_its_shard_is_named() -> None:
    prefix = IndexNames(TENANT).name_prefix
    health = {
        "status": "red",
        "indices": {f"{prefix}-x-v1": {"status": "red"}, f"{prefix}-registry": {"status": "green"}},
    }
    [fault] = await faults_of({f"GET /_cluster/health/{prefix}-*": (200, health)})

    assert f"{prefix}-x-v1 has lost a shard" in fault
    assert "parley index rebuild" in fault


@pytest.mark.parametrize(
    ("settings", "node_count", "expected"),
    [
        ({}, 1, "850 of 1,000 shards are open"),
        ({}, 2, None),
        ({"persistent": {"cluster": {"max_shards_per_node": "400"}}}, 2, "850 of 800 shards are open"),
        ({"defaults": {"cluster": {"max_shards_per_node": "5000"}}}, 1, None),
    ],
)
async def test_a_cluster_that_soon_takes_no_further_shard_is_named(
    settings: dict[str, Json], node_count: int, expected: str | None
) -> None:
    health = {"active_shards": 800, "unassigned_shards": 50, "number_of_data_nodes": node_count}

    faults = await faults_of({"GET /_cluster/settings": (200, settings), "GET /_cluster/health": (200, health)})

    assert [fault.partition(";")[0] for fault in faults] == ([] if expected is None else [f"shard limit: {expected}"])


async def test_a_full_disk_that_blocks_writes_is_no_missing_right() -> None:
    cause = {
        "type": "cluster_block_exception",
        "reason": "index blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded]",
    }
    [fault] = await faults_of({"POST /_refresh": (403, {"error": {**cause, "root_cause": [cause]}, "status": 403})})

    assert "disk usage exceeded" in fault
    assert "give the user" not in fault
