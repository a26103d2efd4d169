"""Checks a cluster for what Parley needs of it, and says what to do about what is missing.

Each check stands on its own: a request that is refused is a finding, and the other checks go on.
"""

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import cast

from storage.opensearch.catalogue import MIN_MAJOR_VERSION, VersionDefinition, parse_version_definitions
from storage.opensearch.connection import (
    ClusterConnection,
    JsonObject,
    RequestRefused,
    json_lines_of,
    parse_error_detail,
)
from storage.opensearch.mapping import IndexNames, version_query_for
from storage.opensearch.writing.disk_space import DiskWatermarks, NodeSpace, load_node_spaces, load_watermarks
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId

_FORBIDDEN = 403
_SETTING_LAYERS = ("transient", "persistent", "defaults")  # the first that has a setting counts
_DEFAULT_SHARDS_PER_NODE = 1_000
_SHARD_WARNING = 0.8  # of the limit
_KNN_PLUGIN = "opensearch-knn"
_ADDRESS_SETTINGS = "PARLEY_INDEX_URL, and PARLEY_INDEX_USER, PARLEY_INDEX_API_KEY or PARLEY_INDEX_AWS_REGION"
_MODULES = ("parent-join", "lang-painless")  # of every distribution, unless somebody has removed them
_EXPENSIVE_QUERIES = "search.allow_expensive_queries"
_BY_MEANING = "passages by meaning"
_SEARCHES_BY_USE: Mapping[str, JsonObject] = {
    "passages by conditions on their documents": {
        "has_parent": {"parent_type": "document", "query": {"term": {"word": "a"}}}
    },
    "parts of words": {"wildcard": {"word": {"value": "*a*"}}},
    "misspelled words": {"fuzzy": {"word": {"value": "word"}}},
    "what compares two fields": {"script": {"script": {"source": "doc['word'].size() > 1"}}},
    _BY_MEANING: {
        "script_score": {
            "query": {"exists": {"field": "vector"}},
            "script": {
                "lang": "knn",
                "source": "knn_score",
                "params": {"field": "vector", "query_value": [1.0, 0.0], "space_type": "cosinesimil"},
            },
        }
    },
}
_BLOCKS = {
    "read_only_allow_delete": "a disk was over the flood-stage watermark; free some space, then send",
    "read_only": "somebody has closed it to writes; send",
    "write": "somebody has closed it to writes; send",
    "read": "somebody has closed it to searches; send",
    "metadata": "somebody has closed its mapping; send",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFinding:
    """One checked item: what was found, or what is wrong and how to mend it."""

    what: str
    found: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProbeStep:
    """A request that Parley makes, tried on an index of its own. `permission`: what it needs on a secured cluster."""

    name: str
    permission: str
    method: str
    path: str
    body: JsonObject | str | None = None
    params: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterCheck:
    """`needs_vectors`: passages are embedded."""

    connection: ClusterConnection
    names: IndexNames
    needs_vectors: bool

    async def find(self) -> list[ClusterFinding]:
        """Returns the findings, in the order in which a person would mend them.

        A cluster that cannot be reached, or is none of OpenSearch, is one finding. Changes no index but one of its own.
        """
        version = await self._check("version", self._check_version)
        if any(finding.fault for finding in version):
            return version
        return [
            *version,
            *await self._check("plugins", self._check_plugins),
            *await self._check_rights(),
            *await self._check("disk", self._check_disks),
            *await self._check("blocks", self._check_blocks),
            *await self._check("shards", self._check_shards),
            *await self._check("shard limit", self._check_shard_limit),
            *await self._check("new indexes", self._check_creation),
            *await self._check("buckets", self._check_buckets),
        ]

    async def _check(self, what: str, check: Callable[[], Awaitable[Sequence[ClusterFinding]]]) -> list[ClusterFinding]:
        """Returns the findings of a check; one finding if it is refused."""
        try:
            return list(await check())
        except RequestRefused as exc:
            return [ClusterFinding(what=what, fault=f"it could not be checked: {exc.reason}{_advice_for(exc)}")]
        except IndexUnavailable as exc:
            return [ClusterFinding(what=what, fault=f"{exc}; check that it runs, and {_ADDRESS_SETTINGS}")]

    async def _check_version(self) -> list[ClusterFinding]:
        version = cast(JsonObject, (await self.connection.send_request("GET", "/")).get("version") or {})
        name, number = str(version.get("distribution", "no OpenSearch")), str(version.get("number", ""))
        major = int(number.partition(".")[0]) if number.partition(".")[0].isdigit() else 0
        found = f"{name} {number}".strip()
        if name != "opensearch" or major < MIN_MAJOR_VERSION:
            fault = f"{found}: set PARLEY_INDEX_URL to an OpenSearch {MIN_MAJOR_VERSION} or later"
            return [ClusterFinding(what="version", fault=fault)]
        return [ClusterFinding(what="version", found=found)]

    async def _check_plugins(self) -> list[ClusterFinding]:
        params = {"filter_path": "nodes.*.name,nodes.*.plugins.name,nodes.*.modules.name"}
        response = await self.connection.send_request("GET", "/_nodes/plugins", params=params)
        needed = [*_MODULES, *([_KNN_PLUGIN] if self.needs_vectors else [])]
        findings = list[ClusterFinding]()
        for node in cast(list[JsonObject], list(response.get("nodes", {}).values())):
            present = {part["name"] for kind in ("plugins", "modules") for part in node.get(kind, [])}
            for name in (name for name in needed if name not in present):
                where = f"the node {node['name']}" if node.get("name") else "a node"
                fault = f"{where} lacks {name}: bin/opensearch-plugin install {name}, and start the node again"
                if name == _KNN_PLUGIN:
                    fault += "; or set PARLEY_EMBEDDER=none to search by words alone"
                findings.append(ClusterFinding(what="plugins", fault=fault))
        return findings or [ClusterFinding(what="plugins", found=f"{', '.join(needed)} on each node")]

    # -- rights

    async def _check_rights(self) -> list[ClusterFinding]:
        """Make each kind of request on an index of its own, and delete that."""
        index = f"{self.names.name_prefix}-check-{uuid.uuid4().hex[:12]}"
        findings = list[ClusterFinding]()
        try:
            for step in self._probe_steps_for(index):
                finding = await self._try_step(step)
                findings += [finding] if finding is not None else []
                if finding is not None and step.method == "PUT" and step.path == f"/{index}":
                    return findings  # nothing else can be tried
            findings += await self._try_point_in_time(index)
            search_findings = await self._try_searches(index)
        finally:
            deletion = _ProbeStep(
                name="delete indexes", permission="indices:admin/delete", method="DELETE", path=f"/{index}"
            )
            refused = await self._try_step(deletion)
        if refused is not None:
            findings.append(ClusterFinding(what="rights", fault=f"{refused.fault}; and delete {index} by hand"))
        rights = findings or [
            ClusterFinding(what="rights", found="creates, writes, reads, switches and deletes indexes")
        ]
        return [*rights, *search_findings]

    def _probe_steps_for(self, index: str) -> list[_ProbeStep]:
        vector: JsonObject = {"vector": {"type": "knn_vector", "dimension": 2}} if self.needs_vectors else {}
        relations: JsonObject = {
            "link": {"type": "join", "relations": {"document": "passage"}},
            "word": {"type": "keyword"},
        }
        settings: JsonObject = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
        settings |= {"index.knn": False} if self.needs_vectors else {}
        body: JsonObject = {"settings": settings, "mappings": {"properties": vector | relations}}
        entry = json_lines_of([{"index": {"_index": index, "_id": "1"}}, {"link": "document"}])
        search = json_lines_of([{"index": [index]}, {"query": {"match_all": {}}}])
        alias: JsonObject = {"actions": [{"add": {"index": index, "alias": f"{index}-w"}}]}
        later_deletion: JsonObject = {"index.gc_deletes": "1m"}
        look_up: JsonObject = {"docs": [{"_index": index, "_id": "1"}]}
        steps = [
            ("create indexes", "indices:admin/create", "PUT", f"/{index}", body),
            ("write", "indices:data/write/*", "POST", "/_bulk", entry),
            ("refresh", "indices:admin/refresh", "POST", f"/{index}/_refresh", None),
            ("search", "indices:data/read/*", "POST", "/_msearch", search),
            ("read entries", "indices:data/read/mget", "POST", "/_mget", look_up),
            ("change aliases", "indices:admin/aliases", "POST", "/_aliases", alias),
            ("read the definitions of indexes", "indices:admin/get", "GET", f"/{index}", None),
            ("change mappings", "indices:admin/mapping/put", "PUT", f"/{index}/_mapping", {"_meta": {"checked": True}}),
            ("change settings", "indices:admin/settings/update", "PUT", f"/{index}/_settings", later_deletion),
            ("read the sizes of indexes", "indices:monitor/stats", "GET", f"/{index}/_stats/store", None),
        ]  # fmt: skip
        return [
            _ProbeStep(name=name, permission=permission, method=method, path=path, body=step_body)
            for name, permission, method, path, step_body in steps
        ]

    async def _try_point_in_time(self, index: str) -> list[ClusterFinding]:
        path, permission = f"/{index}/_search/point_in_time", "indices:data/read/point_in_time/*"
        name = "keep a point in time, which exports read"
        try:
            response = await self.connection.send_request("POST", path, params={"keep_alive": "10s"})
            await self.connection.send_request("DELETE", "/_search/point_in_time", {"pit_id": [response["pit_id"]]})
        except IndexUnavailable as exc:
            return [self._fault_of_step(name, permission, exc)]
        return []

    async def _try_searches(self, index: str) -> list[ClusterFinding]:
        """Make a search of each kind that a setting of the cluster may forbid.

        A search that the user may not make at all has been found before.
        """
        queries = {name: query for name, query in _SEARCHES_BY_USE.items() if self.needs_vectors or name != _BY_MEANING}
        body: list[JsonObject] = []
        for query in queries.values():
            body += [{"index": [index]}, {"query": query, "size": 0}]
        try:
            response = await self.connection.send_request("POST", "/_msearch", json_lines_of(body))
        except IndexUnavailable:
            return []
        items = cast(list[JsonObject], response.get("responses") or [])
        refused = {
            name: parse_error_detail(self.connection.location, item.get("status", 0), item["error"])
            for name, item in zip(queries, items, strict=False)
            if "error" in item and item.get("status") != _FORBIDDEN
        }
        if not refused:
            return [ClusterFinding(what="searches", found="each kind is allowed")]
        return [
            ClusterFinding(what="searches", fault=f"it cannot search for {name}: {error.reason}{_mending_of(error)}")
            for name, error in refused.items()
        ]

    async def _try_step(self, step: _ProbeStep) -> ClusterFinding | None:
        try:
            response = await self.connection.send_request(step.method, step.path, step.body, step.params)
        except IndexUnavailable as exc:
            return self._fault_of_step(step.name, step.permission, exc)
        items = cast(list[JsonObject], response.get("items") or response.get("responses") or response.get("docs") or [])
        for item in items:
            detail = cast(JsonObject, item.get("index", item) if isinstance(item.get("index"), dict) else item)
            if "error" in detail:
                reason = json.dumps(detail["error"])[:200]
                refused = RequestRefused(self.connection.location, int(detail.get("status", _FORBIDDEN)), "", reason)
                return self._fault_of_step(step.name, step.permission, refused)
        return None

    def _fault_of_step(self, name: str, permission: str, error: IndexUnavailable) -> ClusterFinding:
        advice = ""
        if isinstance(error, RequestRefused) and error.status == _FORBIDDEN and "block" not in error.error_type:
            advice = f"; give the user {permission} on {self.names.name_prefix}-*"
        return ClusterFinding(what="rights", fault=f"it cannot {name}: {error.reason or error}{advice}")

    # -- the state of the cluster

    async def _check_disks(self) -> list[ClusterFinding]:
        watermarks, spaces = await load_watermarks(self.connection), await load_node_spaces(self.connection)
        return [_finding_of_disk(space, watermarks, len(spaces)) for space in spaces]

    async def _check_blocks(self) -> list[ClusterFinding]:
        findings = list[ClusterFinding]()
        cluster = await self.connection.send_request(
            "GET", "/_cluster/settings", params={"filter_path": "*.cluster.blocks"}
        )
        for layer in ("persistent", "transient"):
            for name, value in cluster.get(layer, {}).get("cluster", {}).get("blocks", {}).items():
                if str(value) == "true":
                    mend = json.dumps({layer: {f"cluster.blocks.{name}": None}})
                    fault = f"the whole cluster has the block {name}: PUT /_cluster/settings {mend}"
                    findings.append(ClusterFinding(what="blocks", fault=fault))
        path, params = f"/{self.names.name_prefix}-*/_settings", {"filter_path": "*.settings.index.blocks"}
        for index, definition in (await self.connection.send_request("GET", path, params=params)).items():
            for name, value in definition["settings"]["index"]["blocks"].items():
                if str(value) == "true":
                    mend = json.dumps({f"index.blocks.{name}": None})
                    reason = _BLOCKS.get(name, "send")
                    fault = f"{index} has the block {name}: {reason} PUT /{index}/_settings {mend}"
                    findings.append(ClusterFinding(what="blocks", fault=fault))
        return findings or [ClusterFinding(what="blocks", found="no index is closed to writes")]

    async def _check_shards(self) -> list[ClusterFinding]:
        path, params = f"/_cluster/health/{self.names.name_prefix}-*", {"level": "indices"}
        health = await self.connection.send_request("GET", path, params=params)
        indices = cast(Mapping[str, JsonObject], health.get("indices") or {})
        lost = [name for name, index in sorted(indices.items()) if index["status"] == "red"]
        faults = [
            f"{name} has lost a shard: GET /_cluster/allocation/explain says why; start the node that had it, restore a"
            " snapshot, or delete the index and run parley index rebuild"
            for name in lost
        ]
        if faults:
            return [ClusterFinding(what="shards", fault=fault) for fault in faults]
        replicas = sum(index.get("unassigned_shards", 0) for index in indices.values())
        note = f"; {replicas} replicas are not assigned to a node" if replicas else ""
        return [ClusterFinding(what="shards", found=f"each of {len(indices)} indexes is complete{note}")]

    async def _check_shard_limit(self) -> list[ClusterFinding]:
        """Compare the open shards of the whole cluster with what it allows; the rest must do for new buckets."""
        params = {"include_defaults": "true", "filter_path": "*.cluster.max_shards_per_node"}
        layers = await self.connection.send_request("GET", "/_cluster/settings", params=params)
        limits = [
            cast(JsonObject, layers.get(layer) or {}).get("cluster", {}).get("max_shards_per_node", "")
            for layer in _SETTING_LAYERS
        ]
        health = await self.connection.send_request("GET", "/_cluster/health")
        open_count = sum(int(health.get(f"{state}_shards", 0)) for state in ("active", "initializing", "unassigned"))
        node_limit = next((int(limit) for limit in limits if limit), _DEFAULT_SHARDS_PER_NODE)
        limit = node_limit * max(1, int(health.get("number_of_data_nodes", 1)))
        found = f"{open_count:,} of {limit:,} shards are open"
        if open_count < limit * _SHARD_WARNING:
            return [ClusterFinding(what="shard limit", found=found)]
        setting = json.dumps({"persistent": {"cluster.max_shards_per_node": 2 * node_limit}})
        fault = (
            f"{found}; beyond, no bucket can be created or re-indexed: parley bucket cleanup --all, drop buckets, add"
            f" a node, or with enough heap PUT /_cluster/settings {setting}"
        )
        return [ClusterFinding(what="shard limit", fault=fault)]

    async def _check_creation(self) -> list[ClusterFinding]:
        """Whether the cluster creates an index for a write. It is no fault, because Parley's writes refuse that."""
        params = {"include_defaults": "true", "filter_path": "*.action.auto_create_index"}
        response = await self.connection.send_request("GET", "/_cluster/settings", params=params)
        values = [response.get(layer, {}).get("action", {}).get("auto_create_index") for layer in _SETTING_LAYERS]
        rule = next((str(value) for value in values if value is not None), "true")
        if not _creates_index(rule, self.names.registry_index_name):
            return [ClusterFinding(what="new indexes", found="only Parley creates its indexes")]
        setting = json.dumps({"persistent": {"action.auto_create_index": f"-{self.names.installation}-*,*"}})
        found = (
            "the cluster creates an index for a write to one that is gone, which Parley's writes refuse; to rule it"
            f" out: PUT /_cluster/settings {setting}"
        )
        return [ClusterFinding(what="new indexes", found=found)]

    async def _check_buckets(self) -> list[ClusterFinding]:
        params = {"filter_path": "*.aliases,*.mappings._meta"}
        path = f"/{self.names.name_prefix}-*"
        definitions = await self.connection.send_request("GET", path, params=params)
        versions = dict[str, dict[str, VersionDefinition]]()
        for name, definition in parse_version_definitions(definitions).items():
            if "schema" in definition.meta:
                versions.setdefault(definition.meta["schema"]["bucket"], {})[name] = definition
        findings = [self._finding_of_bucket(bucket, found) for bucket, found in sorted(versions.items())]
        if versions:
            findings += await self._find_registry_faults()
        return findings or [ClusterFinding(what="buckets", found="there are none yet")]

    async def _find_registry_faults(self) -> list[ClusterFinding]:
        index, alias = self.names.registry_index_name, self.names.registry_write_alias
        definition: JsonObject | None = None
        with suppress(RequestRefused):
            definition = (await self.connection.send_request("GET", f"/{index}")).get(index)
        if definition is None:
            fault = f"{index} is gone: parley index rebuild"
        elif definition.get("mappings", {}).get("dynamic") != "strict":
            fault = (
                f"{index} was created by the cluster, with a wrong mapping: DELETE /{index}, then parley index rebuild"
            )
        elif alias not in definition.get("aliases", {}):
            addition = json.dumps({"actions": [{"add": {"index": index, "alias": alias}}]})
            fault = f"the alias of {index} is lost: POST /_aliases {addition}"
        else:
            return []
        return [ClusterFinding(what="buckets", fault=fault)]

    def _finding_of_bucket(self, bucket: str, versions: Mapping[str, VersionDefinition]) -> ClusterFinding:
        """`versions`: those of the bucket by name."""
        alias = self.names.bucket_alias_for(BucketId(bucket))
        build_alias = self.names.build_alias_for(BucketId(bucket))
        in_use = [name for name, definition in versions.items() if alias in definition.aliases]
        builds = [name for name, definition in versions.items() if build_alias in definition.aliases]
        what = f"bucket {bucket}"
        complete = {name: definition for name, definition in versions.items() if name not in builds}
        if not in_use:
            newest = max(complete or versions, key=lambda name: int(versions[name].meta["number"]))
            addition = _addition_of(newest, versions[newest], [alias, self.names.write_alias_for(newest)])
            return ClusterFinding(what=what, fault=f"its alias is lost: {addition}")
        if len(in_use) > 1:
            return ClusterFinding(
                what=what, fault=f"its alias has several indexes ({', '.join(in_use)}): delete all but one"
            )
        write_alias = self.names.write_alias_for(in_use[0])
        current = versions[in_use[0]]
        if write_alias not in current.aliases:
            fault = f"its alias for writers is lost: {_addition_of(in_use[0], current, [write_alias])}"
            return ClusterFinding(what=what, fault=fault)
        notes = [f"{in_use[0]} is in use{f', within {current.shared_index}' if current.shared_index else ''}"]
        if builds:
            notes.append(
                f"{builds[0]} is being built or was left unfinished (parley bucket cleanup {bucket} deletes it)"
            )
        if earlier := len(versions) - len(in_use) - len(builds):
            notes.append(f"{earlier} from before the last change (parley bucket cleanup {bucket})")
        return ClusterFinding(what=what, found="; ".join(notes))


def _addition_of(version: str, definition: VersionDefinition, aliases: Sequence[str]) -> str:
    """Returns the request that gives a version its aliases again."""
    options = {"filter": version_query_for(version)} if definition.shared_index else {}
    index = definition.shared_index or version
    actions = [{"add": {"index": index, "alias": alias, **options}} for alias in aliases]
    return f"POST /_aliases {json.dumps({'actions': actions})}"


def _finding_of_disk(space: NodeSpace, watermarks: DiskWatermarks, node_count: int) -> ClusterFinding:
    gigabytes = f"{space.available / 1e9:,.1f} of {space.total / 1e9:,.1f} GB free"
    node = f"the node {space.name}" if space.name else "the node"
    if not watermarks.is_enabled:
        return ClusterFinding(what="disk", found=f"{node}: {gigabytes}; the cluster heeds no watermark")
    limits = [
        ("flood-stage", watermarks.flood, "its indexes become read-only"),
        ("high", watermarks.high, "its shards leave it"),
        ("low", watermarks.low, "no new index is put there"),
    ]
    for name, limit, effect in limits:
        is_heeded = name == "flood-stage" or node_count > 1 or watermarks.binds_single_node
        if is_heeded and not space.free_below(limit):
            fault = f"{node}: {gigabytes}, over the {name} watermark {limit}, so {effect}: free some space"
            return ClusterFinding(what="disk", fault=f"{fault}, or parley bucket cleanup --all")
    return ClusterFinding(what="disk", found=f"{node}: {gigabytes}, below the watermarks")


def _mending_of(error: RequestRefused) -> str:
    """What allows a kind of search again, if the server's reason tells which setting forbids it."""
    if _EXPENSIVE_QUERIES in error.reason:
        mend = json.dumps({layer: {_EXPENSIVE_QUERIES: None} for layer in ("persistent", "transient")})
        return f" PUT /_cluster/settings {mend}"
    if "script" in error.reason:
        return "; remove script.allowed_types and script.allowed_contexts from opensearch.yml, or allow inline scripts"
    return ""


def _creates_index(rule: str, name: str) -> bool:
    """Whether `action.auto_create_index` lets a write create an index of this name: its first pattern decides."""
    patterns = ["*" if rule == "true" else pattern.strip() for pattern in rule.split(",")]
    matching = (pattern for pattern in patterns if fnmatchcase(name, pattern.lstrip("+-")))
    return not next(matching, "-").startswith("-")


def _advice_for(error: RequestRefused) -> str:
    return "; give the user cluster:monitor/*" if error.status == _FORBIDDEN else ""
