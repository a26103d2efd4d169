"""The catalogue of buckets: the index version of each bucket, and its generation.

The state is stored in the mappings behind the buckets' aliases (`_meta`) and in the registry. Every round trip of a
reader also reads the registry, so a changed layout shows by its digest. A generation is written in the same bulk as
the change, and again when the change is visible. A reader may therefore see an old generation with new documents, but
never a new generation with old documents. A late write of the registry for an earlier version of a bucket's index is
refused, because the entries are versioned by the creation of that index.

The layout of a version in a shared index is the name of a query: that of the filter of one of its aliases, which are
all that the cluster changes in one step. A search through that alias would find nothing.
"""

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from storage.opensearch.connection import (
    ClusterConnection,
    JsonObject,
    RequestRefused,
    json_lines_of,
    parse_error_detail,
)
from storage.opensearch.mapping import (
    FORMAT_VERSION,
    REGISTRY_INDEX_BODY,
    VERSION_PATH,
    IndexLayout,
    IndexNames,
    VectorStorage,
    digest_of,
)
from storage.opensearch.reading.query_steps import POINT_KEEP_ALIVE, OpenSearchRequest
from storage.opensearch.responses import OpenSearchResponse, parse_multi_search_response
from storage.search.analyser import Analyser
from storage.search.codec import schema_from_json
from storage.search.errors import IndexDamaged, IndexTimedOut, IndexTooNew, IndexUnavailable, UnknownBucket
from storage.search.ids import BucketId, Generation

BUCKET_KIND, DOCUMENT_ID_KIND = "bucket", "doc"  # kinds of registry entries
MIN_MAJOR_VERSION = 3
_TIME: JsonObject = {
    "scripted_metric": {
        "map_script": "return;",
        "combine_script": "return System.currentTimeMillis();",
        "reduce_script": "long now = 0L; for (def time : states) { if (time > now) { now = time; } } return now;",
    }
}
_NOT_FOUND, _CONFLICT = 404, 409  # of these writes, a conflict is with a later version of the bucket
_MAX_REGISTRY_TRIES = 8
_OTHER_PARTS = "*.mappings._meta,*.settings.index.creation_date"  # of a definition, beside the aliases


@dataclass(frozen=True, slots=True)
class BucketRegistryEntry:
    """The registry's entry of a bucket."""

    generation: Generation
    layout_digest: str


@dataclass(frozen=True, slots=True)
class BucketVersions:
    """The versions of a bucket's index that writers write: the one in use, and the one that is being built, if any."""

    current: IndexLayout
    build: IndexLayout | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDefinition:
    """A version of a bucket's index as the cluster has it."""

    aliases: frozenset[str]
    meta: JsonObject  # its layout; empty for an index that has none
    created_ms: int
    shared_index: str  # empty for an index of its own


def layout_alias_options(layout: IndexLayout) -> JsonObject:
    """Returns the options of the alias that holds the layout of a version in a shared index."""
    meta = json.dumps(layout.mapping_meta | {"created": layout.created_ms})
    return {"filter": {"match_none": {"_name": meta}}}


def parse_version_definitions(definitions: JsonObject) -> dict[str, VersionDefinition]:
    """Returns the versions in these indexes by name: each index is one, and a shared index has several."""
    versions = dict[str, VersionDefinition]()
    for index, definition in definitions.items():
        meta = cast(JsonObject, definition.get("mappings", {}).get("_meta") or {})
        if "shared" in meta:
            versions |= _parse_shared_versions(index, definition.get("aliases", {}))
            continue
        created = definition.get("settings", {}).get("index", {}).get("creation_date", 0)
        aliases = frozenset[str](definition.get("aliases", {}))
        versions[index] = VersionDefinition(aliases=aliases, meta=meta, created_ms=int(created), shared_index="")
    return versions


def _parse_shared_versions(index: str, aliases: JsonObject) -> dict[str, VersionDefinition]:
    names_by_version, meta_by_version = dict[str, set[str]](), dict[str, JsonObject]()
    for alias, options in aliases.items():
        query = options.get("filter", {})
        if "term" in query:
            names_by_version.setdefault(query["term"][VERSION_PATH], set()).add(alias)
        else:
            meta_by_version[alias.removesuffix("-m")] = json.loads(query["match_none"]["_name"])
    return {
        version: VersionDefinition(
            aliases=frozenset(names_by_version.get(version, ())),
            meta=meta,
            created_ms=meta["created"],
            shared_index=index,
        )
        for version, meta in meta_by_version.items()
    }


@dataclass(kw_only=True)
class BucketCatalogue:
    connection: ClusterConnection
    names: IndexNames
    analysers: Callable[[str], Analyser]
    layouts: Mapping[BucketId, IndexLayout] = field(default_factory=dict[BucketId, IndexLayout])

    async def open(self) -> None:
        """Create the registry if needed, and load the layouts.

        Raises `IndexUnavailable` for a server that is not OpenSearch 3 or later, and `IndexTooNew`.
        """
        version = cast(JsonObject, (await self.connection.send_request("GET", "/")).get("version") or {})
        number = str(version.get("number", ""))
        if version.get("distribution") != "opensearch" or int(number.partition(".")[0] or 0) < MIN_MAJOR_VERSION:
            raise IndexUnavailable(self.connection.location, f"it is not OpenSearch {MIN_MAJOR_VERSION} or later")
        await self._open_registry()
        await self.reload_layouts()

    async def _open_registry(self) -> None:
        index, alias = self.names.registry_index_name, self.names.registry_write_alias
        body: JsonObject = REGISTRY_INDEX_BODY | {"aliases": {alias: {}}}
        try:
            await self.connection.send_request("PUT", f"/{index}", body)
        except RequestRefused as exc:
            if exc.error_type != "resource_already_exists_exception":
                raise
            if not await self._has_registry_alias():  # it is of an earlier Parley
                actions = [{"add": {"index": index, "alias": alias}}]
                await self.connection.send_request("POST", "/_aliases", {"actions": actions})

    async def _has_registry_alias(self) -> bool:
        """Raises `RequestRefused` if there is no registry."""
        index, params = self.names.registry_index_name, {"filter_path": "*.aliases"}
        definitions = await self.connection.send_request("GET", f"/{index}", params=params)
        return self.names.registry_write_alias in definitions.get(index, {}).get("aliases", {})

    async def require_registry(self) -> None:
        """Raises `IndexDamaged` if the registry or its alias is lost: then no document is written."""
        try:
            is_whole = await self._has_registry_alias()
        except RequestRefused as exc:
            if exc.status != 404:
                raise
            is_whole = False
        if not is_whole:
            raise IndexDamaged(
                self.connection.location, "its registry is lost; `parley doctor --index` says how to create it again"
            )

    async def reload_layouts(self) -> None:
        pattern = self.names.bucket_alias_pattern
        definitions = await self._load_definitions(pattern)
        layouts = [
            self._parse_index_layout(name, definition)
            for name, definition in definitions.items()
            if any(alias.startswith(pattern.removesuffix("*")) for alias in definition.aliases)
        ]
        self.layouts = {layout.bucket: layout for layout in sorted(layouts, key=lambda layout: layout.bucket)}

    async def load_versions(self, bucket: BucketId) -> BucketVersions | None:
        """Returns the versions of the bucket at this moment; None if there is no such bucket.

        Both are of one state of the cluster: at a swap of the alias, the version built becomes the version in use.
        """
        aliases = self.names.bucket_alias_for(bucket), self.names.build_alias_for(bucket)
        patterns = (f"{alias}*" for alias in aliases)  # a pattern may match nothing
        definitions = await self._load_definitions(*patterns, bucket_digest=digest_of(bucket))
        current, build = (
            next(
                (
                    self._parse_index_layout(name, found)
                    for name, found in definitions.items()
                    if alias in found.aliases
                ),
                None,
            )
            for alias in aliases
        )
        return None if current is None else BucketVersions(current, build)

    async def find_versions(self, bucket: BucketId) -> dict[str, VersionDefinition]:
        """Returns the versions of the bucket's index by name, also those no longer in use."""
        pattern = self.names.version_pattern_for(bucket)
        return await self._load_definitions(pattern, bucket_digest=digest_of(bucket))

    async def has_missed_bucket(self, layouts: Mapping[BucketId, IndexLayout], bucket_digests: Collection[str]) -> bool:
        """Whether one of these buckets is there that `layouts` lack: it was just created, or had lost its alias for a
        moment, and what is known of it has to be loaded again.

        Raises `IndexUnavailable` if one of them has no alias now: it looks as if it had been dropped.
        """
        is_missed = False
        for bucket_digest in sorted(set(bucket_digests) - set(map(digest_of, layouts))):
            pattern = self.names.version_pattern_of(bucket_digest)
            definitions = await self._load_definitions(pattern, bucket_digest=bucket_digest)
            aliases = [definition.aliases for definition in definitions.values()]
            is_used = any(self.names.bucket_alias_of(bucket_digest) in found for found in aliases)
            is_missed |= is_used
            builds = [found for found in aliases if self.names.build_alias_of(bucket_digest) in found]
            if len(builds) < len(aliases) and not is_used:
                reason = "a bucket has lost its alias; `parley doctor --index` says how to add it again"
                raise IndexUnavailable(self.connection.location, reason)
        return is_missed

    async def _load_definitions(self, *patterns: str, bucket_digest: str = "") -> dict[str, VersionDefinition]:
        """Returns the versions in the matching indexes; with a digest, those of the bucket.

        Raises `IndexTooNew`.
        """
        aliases = f"*.aliases.*{bucket_digest}*" if bucket_digest else "*.aliases"
        params = {"filter_path": f"{aliases},{_OTHER_PARTS}"}
        response = await self.connection.send_request("GET", f"/{','.join(patterns)}", params=params)
        definitions = cast(list[JsonObject], list(response.values()))
        metas = [cast(JsonObject, found.get("mappings", {}).get("_meta") or {}) for found in definitions]
        if any(int(meta.get("format", 0)) > FORMAT_VERSION for meta in metas):
            raise IndexTooNew(self.connection.location)
        return parse_version_definitions(response)

    async def reload_bucket_layout(self, bucket: BucketId) -> IndexLayout:
        """Reload all layouts and return this bucket's. Raises `UnknownBucket`."""
        await self.reload_layouts()
        if bucket not in self.layouts:
            raise UnknownBucket(bucket)
        return self.layouts[bucket]

    def _parse_index_layout(self, index: str, definition: VersionDefinition) -> IndexLayout:
        meta = definition.meta
        schema = schema_from_json(meta["schema"])
        return IndexLayout(
            index=index,
            version_number=meta["number"],
            schema=schema,
            analyser=self.analysers(schema.language),
            analyser_version=meta["analyser"],
            embedder_name=meta["embedder"],
            dimensions=meta["dimensions"],
            has_outlines=meta.get("outlined", False),
            has_title_labels=meta.get("titled", False),
            shard_count=meta.get("shards", 1),
            vector_storage=VectorStorage(meta.get("vectors", VectorStorage.FLOATS)),
            created_ms=definition.created_ms,
            shared_index=definition.shared_index,
        )

    async def run_multi_search(self, searches: Sequence[OpenSearchRequest]) -> list[OpenSearchResponse]:
        """Send searches as one `_msearch` that all shards must answer completely. Every search goes through here."""
        if not searches:
            return []
        if not all(search.indexes for search in searches):
            raise ValueError("a search that names no index would search them all")
        body = json_lines_of(
            [line for search in searches for line in (_multi_search_header(search), _multi_search_body(search))]
        )

        async def send_searches() -> list[OpenSearchResponse]:
            response = await self.connection.send_without_retry("POST", "/_msearch", body)
            return parse_multi_search_response(response, len(searches), self.connection.location)

        return await self.connection.retry_transient_failures(send_searches)

    # -- the registry

    def registry_search_for(self, buckets: Iterable[BucketId]) -> OpenSearchRequest:
        digests = sorted(map(digest_of, buckets))
        query = {"bool": {"filter": [{"term": {"kind": BUCKET_KIND}}, {"terms": {"bucket": digests}}]}}
        return OpenSearchRequest(
            indexes=(self.names.registry_index_name,), body={"query": query, "size": 10_000, "track_total_hits": True}
        )

    @staticmethod
    def parse_registry_entries(response: OpenSearchResponse) -> dict[BucketId, BucketRegistryEntry]:
        entries = [hit.stored_entry for hit in response.hits]
        return {
            BucketId(entry["bucket"]): BucketRegistryEntry(Generation(entry["generation"]), entry["layout"])
            for entry in sorted(entries, key=lambda entry: str(entry["bucket"]))
        }

    def registry_entry_lines(self, layout: IndexLayout, condition: JsonObject | None = None) -> list[JsonObject]:
        """Returns the lines of a bulk that give the bucket a new generation.

        `condition`: under which the entry is written, instead of having no higher version.
        """
        entry = {"bucket": layout.bucket, "generation": uuid.uuid4().hex, "layout": layout.layout_digest}
        target = {
            "_index": self.names.registry_write_alias,
            "require_alias": True,
            "_id": _registry_entry_id_of(layout.bucket),
            **({"version": layout.created_ms, "version_type": "external_gte"} if condition is None else condition),
        }
        return [{"index": target}, {"kind": BUCKET_KIND, "bucket": digest_of(layout.bucket), "stored": entry}]

    async def load_time_ms(self) -> int:
        """Returns the time of the cluster, by whose clock indexes are created."""
        names = (self.names.registry_index_name,)
        body: JsonObject = {"query": {"match_all": {}}, "size": 0, "track_total_hits": True, "aggs": {"now": _TIME}}
        (response,) = await self.run_multi_search([OpenSearchRequest(indexes=names, body=body)])
        return int(response.aggregations["now"]["value"])

    async def refresh_indexes(self, layouts: Sequence[IndexLayout]) -> None:
        """Make the writes to these indexes visible, then publish new generations."""
        names = ",".join(sorted({layout.index for layout in layouts}))
        if not names:
            return
        await self.connection.send_request("POST", f"/{names}/_refresh")
        await self.publish_generations(layouts)

    async def refresh_version(self, layout: IndexLayout) -> None:
        """Make the writes to a version visible that is not in use. Nothing happens if it is gone."""
        params = {"ignore_unavailable": "true"}
        await self.connection.send_request("POST", f"/{layout.index}/_refresh", params=params)

    async def publish_generations(self, layouts: Sequence[IndexLayout]) -> None:
        """Give the buckets new generations, which are visible on return. Raises `IndexDamaged` without a registry."""
        conflicts = await self._write_registry_entries([self.registry_entry_lines(layout) for layout in layouts])
        overtaken = [layout for layout, is_conflict in zip(layouts, conflicts, strict=True) if is_conflict]
        if overtaken:
            await self._publish_unless_superseded(overtaken)

    async def _publish_unless_superseded(self, layouts: Sequence[IndexLayout]) -> None:
        """Publish where the version is in use, though the registry has an entry of a higher version.

        A process of an earlier Parley has written that: it counts the versions of an entry on, by one.
        """
        for _ in range(_MAX_REGISTRY_TRIES):
            await self.reload_layouts()
            digests = {layout.layout_digest for layout in self.layouts.values()}
            used = [layout for layout in layouts if layout.layout_digest in digests]
            if not used:
                return
            places = await self._load_registry_places(used)
            entries = [self.registry_entry_lines(layout, place) for layout, place in zip(used, places, strict=True)]
            conflicts = await self._write_registry_entries(entries)
            layouts = [layout for layout, is_conflict in zip(used, conflicts, strict=True) if is_conflict]
            if not layouts:
                return
        raise IndexTimedOut(self.connection.location)

    async def _load_registry_places(self, layouts: Sequence[IndexLayout]) -> list[JsonObject]:
        """Returns the condition under which the entry of each layout is still as it is now."""
        ids = [_registry_entry_id_of(layout.bucket) for layout in layouts]
        path, params = f"/{self.names.registry_index_name}/_mget", {"_source": "false"}
        response = await self.connection.send_request("POST", path, {"ids": ids}, params)
        entries = cast(list[JsonObject], response["docs"])
        return [
            {"if_seq_no": entry["_seq_no"], "if_primary_term": entry["_primary_term"]} if entry.get("found") else {}
            for entry in entries
        ]

    async def _write_registry_entries(self, entries: Sequence[Sequence[JsonObject]]) -> list[bool]:
        """Write the entries, whose lines are given; returns for each whether a later one is there."""
        lines = json_lines_of([line for entry in entries for line in entry])

        async def send_lines() -> list[bool]:
            response = await self.connection.send_without_retry("POST", "/_bulk", lines, {"refresh": "true"})
            items = [cast(JsonObject, item["index"]) for item in response["items"]]
            for item in items:
                if "error" not in item or item["status"] == _CONFLICT:
                    continue
                if item["status"] == _NOT_FOUND:
                    await self.require_registry()
                raise parse_error_detail(self.connection.location, item["status"], item["error"])
            return ["error" in item for item in items]

        return await self.connection.retry_transient_failures(send_lines)

    async def repair_registry(self, layouts: Sequence[IndexLayout]) -> None:
        """Publish the layouts that the registry lacks or has wrong, because a process died before it published them."""
        if not layouts:
            return
        (response,) = await self.run_multi_search([self.registry_search_for([layout.bucket for layout in layouts])])
        entries = self.parse_registry_entries(response)
        wrong_layouts = [
            layout
            for layout in layouts
            if layout.bucket not in entries or entries[layout.bucket].layout_digest != layout.layout_digest
        ]
        if wrong_layouts:
            await self.publish_generations(wrong_layouts)


def _registry_entry_id_of(bucket: BucketId) -> str:
    return f"{BUCKET_KIND}:{digest_of(bucket)}"


def combine_generations(entries: Mapping[BucketId, BucketRegistryEntry]) -> Generation:
    """Returns one generation for several buckets together."""
    return Generation(digest_of(repr([(bucket, entry.generation) for bucket, entry in sorted(entries.items())])))


def _multi_search_header(search: OpenSearchRequest) -> JsonObject:
    header: JsonObject = {"allow_partial_search_results": False}
    if search.weighs_whole_index:
        header["search_type"] = "dfs_query_then_fetch"
    # A point in time names its index itself.
    return header if search.point_in_time is not None else {"index": list(search.indexes)} | header


def _multi_search_body(search: OpenSearchRequest) -> JsonObject:
    if search.point_in_time is None:
        return search.body
    return search.body | {"pit": {"id": search.point_in_time, "keep_alive": POINT_KEEP_ALIVE}}
