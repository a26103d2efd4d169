"""How much disk space a further version of an index takes, and whether the cluster has it below its watermark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import ClusterConnection, JsonObject, RequestRefused
from storage.opensearch.mapping import PASSAGE, IndexLayout, is_in_shared_index
from storage.opensearch.reading.query_steps import build_search_request
from storage.search.errors import DiskSpaceShort

_MERGE_FACTOR = 1.5  # segments appear beside their merged ones for a while
_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpace:
    """The disk of a node that holds data, in bytes."""

    name: str
    total: int
    available: int

    def free_below(self, watermark: str) -> int:
        """Returns the bytes until the watermark: a share of what may be used (`85%`, `0.85`), or what is left."""
        return max(0, self.available - reserved_bytes_of(watermark, self.total))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskWatermarks:
    """The limits of the cluster. `is_enabled`: the cluster heeds them. A single node may heed only the last."""

    is_enabled: bool
    binds_single_node: bool
    low: str  # no new index on a node above it
    high: str  # indexes leave the node
    flood: str  # indexes on the node become read-only

    def limit_for(self, node_count: int) -> str:
        """Returns the watermark below which a new index must stay, in a cluster with so many nodes that hold data."""
        return self.low if node_count > 1 or self.binds_single_node else self.flood


def reserved_bytes_of(watermark: str, total_bytes: int) -> int:
    """Returns how many bytes of a disk stay free at the watermark."""
    text = watermark.strip().lower()
    if text.endswith("%"):
        return round(total_bytes * (1 - float(text[:-1]) / 100))
    for unit, factor in sorted(_UNITS.items(), key=lambda entry: -len(entry[0])):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * factor)
    return round(total_bytes * (1 - float(text)))


async def load_watermarks(connection: ClusterConnection) -> DiskWatermarks:
    """Raises `IndexUnavailable`, also if the user may not read the settings."""
    params = {"include_defaults": "true", "filter_path": "*.cluster.routing.allocation.disk"}
    response = await connection.send_request("GET", "/_cluster/settings", params=params)
    settings, watermarks = dict[str, str](), dict[str, str]()
    for layer in ("defaults", "persistent", "transient"):
        found = response.get(layer, {}).get("cluster", {}).get("routing", {}).get("allocation", {}).get("disk", {})
        settings |= found
        watermarks |= found.get("watermark", {})
    return DiskWatermarks(
        is_enabled=settings.get("threshold_enabled", "true") == "true",
        binds_single_node=watermarks.get("enable_for_single_data_node", "false") == "true",
        low=watermarks.get("low", "85%"),
        high=watermarks.get("high", "90%"),
        flood=watermarks.get("flood_stage", "95%"),
    )


async def load_node_spaces(connection: ClusterConnection) -> list[NodeSpace]:
    """Returns the nodes that hold data, by name. Raises `IndexUnavailable`."""
    params = {"filter_path": "nodes.*.name,nodes.*.roles,nodes.*.fs.total"}
    response = await connection.send_request("GET", "/_nodes/stats/fs", params=params)
    nodes = cast(list[JsonObject], list(response.get("nodes", {}).values()))
    return sorted(
        (
            NodeSpace(
                name=node["name"],
                total=node["fs"]["total"]["total_in_bytes"],
                available=node["fs"]["total"]["available_in_bytes"],
            )
            for node in nodes
            if "fs" in node and any(role == "data" or role.startswith("data_") for role in node.get("roles", ["data"]))
        ),
        key=lambda space: space.name,
    )


async def estimate_needed_bytes(catalogue: BucketCatalogue, source: IndexLayout, target: IndexLayout) -> int:
    """Returns the bytes that one copy of `target` takes, with the documents of `source`."""
    size_bytes = await measure_versions(catalogue, [source.index], copies="primaries")
    if target.dimensions > source.dimensions:
        passages = build_search_request(source.index, {"term": {"kind": PASSAGE}})
        (counted,) = await catalogue.run_multi_search([passages])
        dimension_bytes = 1 if target.has_byte_vectors else 4
        size_bytes += counted.total * (target.dimensions - source.dimensions) * dimension_bytes
    return round(size_bytes * _MERGE_FACTOR)


async def measure_versions(catalogue: BucketCatalogue, names: Sequence[str], copies: str = "total") -> int:
    """Returns the bytes that the versions take, with their replicas or, as `primaries`, without.

    A version in a shared index is given its share of that by the number of its entries.
    """
    size_bytes = 0
    for name in names:
        params = {"filter_path": f"_all.{copies}.store.size_in_bytes,_all.primaries.docs.count"}
        response = await catalogue.connection.send_request("GET", f"/{name}/_stats/store,docs", params=params)
        index_bytes = int(response["_all"][copies]["store"]["size_in_bytes"])
        if is_in_shared_index(name):
            (entries,) = await catalogue.run_multi_search([build_search_request(name, {"match_all": {}})])
            index_bytes = index_bytes * entries.total // max(int(response["_all"]["primaries"]["docs"]["count"]), 1)
        size_bytes += index_bytes
    return size_bytes


async def estimate_space(
    catalogue: BucketCatalogue, source: IndexLayout, target: IndexLayout
) -> tuple[int, int | None]:
    """Returns the bytes that a build takes on a node, and those that are free below the watermark.

    Both are of the fullest node, with the shards spread over as many nodes as leaves it most room. None: this user may
    not ask.
    """
    needed_bytes = await estimate_needed_bytes(catalogue, source, target)
    try:
        watermarks, spaces = await load_watermarks(catalogue.connection), await load_node_spaces(catalogue.connection)
    except RequestRefused as exc:
        if exc.status not in (401, 403):
            raise
        return needed_bytes, None
    limit = watermarks.limit_for(len(spaces))
    free = [space.free_below(limit) if watermarks.is_enabled else space.available for space in spaces]
    return spread_over_nodes(needed_bytes, target.shard_count, free)


def spread_over_nodes(needed_bytes: int, shard_count: int, free_bytes: Sequence[int]) -> tuple[int, int | None]:
    """Returns the bytes that are needed and free on the fullest node. `free_bytes` has an item for each node."""
    spreads = list[tuple[int, int]]()
    for node_count, free in enumerate(sorted(free_bytes, reverse=True)[:shard_count], start=1):
        most_shards = -(-shard_count // node_count)
        spreads.append((-(-needed_bytes * most_shards // shard_count), free))
    return max(spreads, key=lambda spread: spread[1] - spread[0], default=(needed_bytes, None))


async def require_disk_space(catalogue: BucketCatalogue, source: IndexLayout, target: IndexLayout) -> None:
    """Raises `DiskSpaceShort` if no node has room for the target."""
    needed_bytes, free_bytes = await estimate_space(catalogue, source, target)
    if free_bytes is not None and free_bytes < needed_bytes:
        raise DiskSpaceShort(source.bucket, needed_bytes, free_bytes)
