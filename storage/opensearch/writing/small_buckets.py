"""Versions of small buckets in shared indexes: created, deleted, and their size.

A version comes and goes by aliases alone, in one request. Its entries are deleted after its aliases, so that no search
sees a part of them; what a process that died has left of them is deleted at the next cleanup. No name of a version is
used again, so what is left is never found.
"""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from storage.opensearch.catalogue import (
    BucketCatalogue,
    VersionDefinition,
    layout_alias_options,
    parse_version_definitions,
)
from storage.opensearch.connection import WRITE_TIMEOUT_S, JsonObject, RequestRefused
from storage.opensearch.mapping import SHARED_INDEX_META, VERSION_PATH, IndexLayout
from storage.opensearch.reading.compile import MATCH_ALL, any_term_query
from storage.opensearch.reading.query_steps import build_search_request
from storage.search.ids import BucketId

MAX_VERSIONS = 100  # of a shared index, so that one bucket's writes trouble few others
_MAX_FIELDS = 10_000  # of a shared index; the fields of deleted versions count too
_TOMBSTONE_LIFETIME = "10m"  # a version being built remembers deletions, and any version may be one
_FULL = "illegal_argument_exception"  # the cluster's answer to a field too many
_DEFINITION_PARTS = "*.aliases,*.mappings._meta"
_ALREADY_EXISTS = "resource_already_exists_exception"


def adds_alias(layout: IndexLayout, alias: str) -> JsonObject:
    """Returns the action that gives the version an alias."""
    return {"add": {"index": layout.physical_index, "alias": alias, **layout.alias_options}}


def removes_alias(layout: IndexLayout, alias: str) -> JsonObject:
    """Returns the action that takes the alias from the version's index; all actions fail if it has no such alias."""
    return {"remove": {"index": layout.physical_index, "alias": alias, "must_exist": True}}


@dataclass(frozen=True, kw_only=True)
class SharedIndexes:
    catalogue: BucketCatalogue

    async def add_version(self, layout: IndexLayout, aliases: Sequence[str]) -> None:
        """Create the version of this name in a shared index with room, and give it the aliases."""
        layout = await self._prepare_index(layout)
        alias, options = self.catalogue.names.layout_alias_for(layout.index), layout_alias_options(layout)
        actions = [adds_alias(layout, name) for name in (layout.index, *aliases)]
        actions.append({"add": {"index": layout.shared_index, "alias": alias, **options}})
        await self._change_aliases(actions)

    async def _prepare_index(self, layout: IndexLayout) -> IndexLayout:
        """Returns the layout in the first shared index that has room and takes its fields; creates one if needed."""
        version_counts, names = await self._count_versions(), self.catalogue.names
        for number in itertools.count(1):
            index = names.shared_index_name(layout.dimensions, number)
            if version_counts.get(index, 0) >= MAX_VERSIONS:
                continue
            if is_new := index not in version_counts:
                await self._create_index(index, layout)
            mapping = {"properties": layout.mapping_properties}
            try:
                await self.catalogue.connection.send_request(
                    "PUT", f"/{index}/_mapping", mapping, timeout_s=WRITE_TIMEOUT_S
                )
            except RequestRefused as exc:
                if exc.error_type != _FULL or is_new:
                    raise
            else:
                return replace(layout, shared_index=index)
        raise AssertionError("the numbers do not end")

    async def _count_versions(self) -> dict[str, int]:
        """Returns how many versions each shared index has."""
        path = f"/{self.catalogue.names.shared_index_pattern}"
        params = {"filter_path": _DEFINITION_PARTS}
        definitions = await self.catalogue.connection.send_request("GET", path, params=params)
        return {index: len(parse_version_definitions({index: definition})) for index, definition in definitions.items()}

    async def _create_index(self, index: str, layout: IndexLayout) -> None:
        settings = layout.index_settings | {
            "index.gc_deletes": _TOMBSTONE_LIFETIME,
            "index.mapping.total_fields.limit": _MAX_FIELDS,
        }
        mappings = {"dynamic": "strict", "_meta": SHARED_INDEX_META, "_source": {"includes": ["stored"]}}
        body = {"settings": settings, "mappings": mappings}
        try:
            await self.catalogue.connection.send_without_retry("PUT", f"/{index}", body, timeout_s=WRITE_TIMEOUT_S)
        except RequestRefused as exc:
            if exc.error_type != _ALREADY_EXISTS:
                raise

    async def update_layout(self, layout: IndexLayout) -> None:
        """Store the layout of an existing version again, after a change that affects no entry."""
        alias = self.catalogue.names.layout_alias_for(layout.index)
        options = {"index": layout.shared_index, "alias": alias, **layout_alias_options(layout)}
        await self._change_aliases([{"add": options}])

    async def delete_versions(self, bucket: BucketId, version_names: Collection[str]) -> None:
        """Delete versions of the bucket, as far as they exist.

        Aliases, and versions that are indexes of their own, go in one request; then the entries.
        """
        names_by_index = dict[str, set[str]]()
        while found := await self._find_versions(bucket, version_names):
            for name, definition in found.items():
                if definition.shared_index:
                    names_by_index.setdefault(definition.shared_index, set()).add(name)
            try:
                await self._change_aliases([action for item in found.items() for action in self._removals_of(*item)])
            except RequestRefused as exc:
                if exc.status != 404:  # else an alias has just moved to another version, or an index is gone
                    raise
        for index, names in names_by_index.items():
            await self._delete_entries(index, names)

    async def _find_versions(self, bucket: BucketId, version_names: Collection[str]) -> dict[str, VersionDefinition]:
        found = await self.catalogue.find_versions(bucket)
        return {name: definition for name, definition in found.items() if name in version_names}

    def _removals_of(self, name: str, definition: VersionDefinition) -> list[JsonObject]:
        if not definition.shared_index:
            return [{"remove_index": {"index": name}}]
        aliases = (*sorted(definition.aliases), self.catalogue.names.layout_alias_for(name))
        index = definition.shared_index
        return [{"remove": {"index": index, "alias": alias, "must_exist": True}} for alias in aliases]

    async def delete_leftovers(self) -> None:
        """Delete the entries of versions that are gone: a process died while it deleted them."""
        versions: JsonObject = {"versions": {"terms": {"field": VERSION_PATH, "size": 100 * MAX_VERSIONS}}}
        for index in await self._count_versions():
            await self._refresh(index)
            (response,) = await self.catalogue.run_multi_search([build_search_request(index, MATCH_ALL, versions)])
            found = {version_bin["key"] for version_bin in response.aggregations["versions"]["buckets"]}
            # A version has its aliases before its first entry and never again, so those without are gone for good.
            path, params = f"/{index}", {"filter_path": _DEFINITION_PARTS}
            definitions = await self.catalogue.connection.send_request("GET", path, params=params)
            await self._delete_entries(index, found - set(parse_version_definitions(definitions)))

    async def _delete_entries(self, index: str, version_names: Collection[str]) -> None:
        if not version_names:
            return
        await self._refresh(index)  # a deletion by query misses what searches do not see yet
        query = {"query": any_term_query(VERSION_PATH, sorted(version_names))}
        params = {"conflicts": "proceed"}
        await self.catalogue.connection.send_request(
            "POST", f"/{index}/_delete_by_query", query, params, timeout_s=WRITE_TIMEOUT_S
        )

    async def _refresh(self, index: str) -> None:
        await self.catalogue.connection.send_request("POST", f"/{index}/_refresh", timeout_s=WRITE_TIMEOUT_S)

    async def _change_aliases(self, actions: Sequence[JsonObject]) -> None:
        body = {"actions": list(actions)}
        await self.catalogue.connection.send_request("POST", "/_aliases", body, timeout_s=WRITE_TIMEOUT_S)
