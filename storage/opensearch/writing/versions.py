"""Creates, changes, rebuilds and drops buckets.

A schema change that does not affect the indexed values (titles, synonyms) is written into the mapping. Any other change
builds the next version of the index from the documents as they were put, beside the version in use, which searches and
writers go on to use. Then the alias is swapped. The version before stays until it is cleaned up, or until the next one
comes into use. Of several processes, the holder of the bucket's lease builds; a version that a dead process has left
unfinished is finished by the next one that wants the same, and deleted by one that wants another.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from storage.embedder import Embedder, embed_passages
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import WRITE_TIMEOUT_S, JsonObject, RequestRefused
from storage.opensearch.mapping import (
    BODY,
    DOCUMENT,
    PASSAGE,
    SHARED_KEY_LENGTH,
    IndexLayout,
    VectorStorage,
    digest_of,
    is_in_shared_index,
)
from storage.opensearch.reading.compile import all_of, any_term_query
from storage.opensearch.reading.query_steps import build_search_request
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing.build_lease import BuildLease
from storage.opensearch.writing.disk_space import estimate_space, measure_versions, require_disk_space
from storage.opensearch.writing.documents import DocumentWriter
from storage.opensearch.writing.encode import decode_unvalidated_document
from storage.opensearch.writing.passage_vectors import VectorPolicy
from storage.opensearch.writing.refusals import INDEX_GONE, VersionSuperseded
from storage.opensearch.writing.small_buckets import SharedIndexes, removes_alias
from storage.opensearch.writing.version_build import ProgressReporter, VersionBuild, ignore_progress
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable, IndexUnavailable
from storage.search.ids import BucketId
from storage.search.index import EarlierIndexes, RebuildProgress, RebuildStage
from storage.search.schema import Schema

_PAGE_SIZE = 200
_ALREADY_EXISTS = "resource_already_exists_exception"
MAX_SCANNED_PASSAGES = 300_000
NEW_BUCKET_VECTORS = VectorStorage.BYTES
_MAX_BUILDS = 10  # that others overtake
_TOMBSTONE_LIFETIME = "10m"  # how long a version being built remembers deletions
MAX_SHARED_PASSAGES = 10_000  # of a bucket in a shared index, when it is rebuilt
_MAX_SHARED_FIELDS = 200  # of such a bucket, with the columns of its rows


@dataclass(frozen=True, kw_only=True)
class IndexVersions:
    """`shard_count`: of the index of a new bucket. A bucket keeps its own until it is rebuilt with another.

    `max_scanned_passages`: up to so many, a rebuild stores vectors for exact scans; beyond, in a graph. `shared_from`:
    with so many other buckets, a bucket that is small when it is created or rebuilt shares an index; None: never.
    """

    catalogue: BucketCatalogue
    writer: DocumentWriter
    shard_count: int = 1
    max_scanned_passages: int = MAX_SCANNED_PASSAGES
    shared_from: int | None = None

    @property
    def shared_indexes(self) -> SharedIndexes:
        return SharedIndexes(catalogue=self.catalogue)

    async def set_schema(self, schema: Schema) -> None:
        """Raises `IndexUnavailable` if the bucket has lost its alias: a new index would hide its documents."""
        while True:
            await self.catalogue.reload_layouts()
            current = self.catalogue.layouts.get(schema.bucket)
            if current is None and await self.catalogue.has_missed_bucket({}, [digest_of(schema.bucket)]):
                continue
            target = await self._target_layout_for(schema, current)
            if current is not None and current.mapping_meta == target.mapping_meta:
                await self.catalogue.repair_registry([current])
                return
            if current is not None and current.is_compatible_with(target):
                await self._update_mapping_metadata(target)
                return
            if current is None:
                if await self._create_bucket(target):
                    return
            else:
                await self._build_version(current, target, VectorPolicy.KEEP, ignore_progress)

    async def update_vectors(
        self, bucket: BucketId, embedder: Embedder, report_progress: Callable[[int], None]
    ) -> None:
        """Build a version with the vectors of the embedder.

        A metered embedder embeds all passages before the version is built; the version then gets the vectors that the
        embedder keeps. Raises `UnknownBucket`, `EmbedderUnavailable`, `DiskSpaceShort`.
        """
        current = await self.catalogue.reload_bucket_layout(bucket)
        if embedder.is_metered:
            await self._embed_all_documents(current, embedder, report_progress)
        await self._build_next_version(current, ignore_progress, current.shard_count)

    async def rebuild_bucket(
        self, bucket: BucketId, report_progress: ProgressReporter, shard_count: int | None
    ) -> None:
        """Build a version with so many shards; None: as many as now. Raises what `update_vectors` raises."""
        current, embedder = await self.catalogue.reload_bucket_layout(bucket), self.writer.embedder
        if embedder is not None and embedder.is_metered and current.embedder_name != embedder.name:
            await self._embed_all_documents(
                current,
                embedder,
                lambda count: report_progress(RebuildProgress(stage=RebuildStage.EMBEDDING, done=count, total=count)),
            )
        await self._build_next_version(current, report_progress, shard_count or current.shard_count)

    async def _build_next_version(
        self, first: IndexLayout, report_progress: ProgressReporter, shard_count: int
    ) -> None:
        """Build versions until one that began after this call is in use."""
        current = first
        for _ in range(_MAX_BUILDS):
            target = await self._next_layout_for(current, shard_count)
            await self._build_version(current, target, VectorPolicy.REQUIRE, report_progress)
            current = await self.catalogue.reload_bucket_layout(first.bucket)
            is_as_wanted = _placement_of(current) == _placement_of(target)
            if current.index != first.index and is_as_wanted:
                return
        raise IndexUnavailable(self.catalogue.connection.location, f"{first.bucket!r} is changed all the time")

    async def _next_layout_for(self, current: IndexLayout, shard_count: int) -> IndexLayout:
        """Returns the layout of a rebuild of `current` with its number. Raises `EmbedderUnavailable`."""
        embedder, analyser = self.writer.embedder, self.catalogue.analysers(current.schema.language)
        passage_count = await self._count_passages(current)
        target = replace(
            current,
            analyser=analyser,
            analyser_version=analyser.version,
            has_outlines=True,
            has_title_labels=True,
            shard_count=shard_count,
        )
        if embedder is not None:
            is_scanned = passage_count <= self.max_scanned_passages
            target = replace(
                target,
                embedder_name=embedder.name,
                dimensions=await embedder.load_dimensions(),
                vector_storage=VectorStorage.BYTES if is_scanned else VectorStorage.GRAPH,
            )
        return replace(target, shared_index=self._choose_shared_index(target, passage_count))

    async def _count_passages(self, layout: IndexLayout) -> int:
        request = build_search_request(layout.index, {"term": {"kind": PASSAGE}})
        (passages,) = await self.catalogue.run_multi_search([request])
        return passages.total

    def _choose_shared_index(self, target: IndexLayout, passage_count: int) -> str:
        """Returns the pattern of the shared indexes for a small bucket beside many others; empty for one of its own."""
        other_count = len(self.catalogue.layouts.keys() - {target.bucket})
        field_count = sum(1 + len(field.columns) for field in target.schema.fields)
        is_small = passage_count <= MAX_SHARED_PASSAGES and field_count <= _MAX_SHARED_FIELDS
        has_shape = target.shard_count == 1 and (
            not target.embedder_name or target.vector_storage is VectorStorage.BYTES
        )
        shares = self.shared_from is not None and other_count >= self.shared_from and is_small and has_shape
        return self.catalogue.names.shared_index_pattern if shares else ""

    async def plan_rebuild(self, bucket: BucketId, shard_count: int | None) -> tuple[int, int | None, int]:
        """Returns the bytes that a rebuild takes on a node, those that are free, and the number of shards.

        Raises `UnknownBucket`.
        """
        current = await self.catalogue.reload_bucket_layout(bucket)
        target = await self._next_layout_for(current, shard_count or current.shard_count)
        return *await estimate_space(self.catalogue, current, target), target.shard_count

    async def _embed_all_documents(
        self, layout: IndexLayout, embedder: Embedder, report_progress: Callable[[int], None]
    ) -> None:
        embedded_count = 0
        async for documents in self._read_stored_documents(layout):
            embedded_count += sum(map(len, await embed_passages(embedder, documents)))
            report_progress(embedded_count)

    async def _build_version(
        self, current: IndexLayout, target: IndexLayout, policy: VectorPolicy, report_progress: ProgressReporter
    ) -> None:
        """Build the version after `current`, or wait until another process has built one.

        Raises `DiskSpaceShort` before anything is changed.
        """
        target = await self._name_version(target, current)
        versions = await self.catalogue.load_versions(target.bucket)
        if versions is None or versions.current.index != current.index:
            return
        if versions.build is None:
            await require_disk_space(self.catalogue, current, target)
            await self._add_build(current, target)

        async def is_wanted() -> bool:
            versions = await self.catalogue.load_versions(target.bucket)
            return versions is not None and versions.build is not None and versions.current.index == current.index

        async def build_or_discard() -> None:
            versions = await self.catalogue.load_versions(target.bucket)
            if versions is None or versions.build is None or versions.current.index != current.index:
                return
            if versions.build.mapping_meta == target.mapping_meta:
                await self._run_build(versions.current, versions.build, policy, report_progress)
            else:
                await self._discard_build(versions.build)

        with suppress(VersionSuperseded):  # the caller looks what is there now
            await BuildLease(catalogue=self.catalogue, bucket=target.bucket).run_holding(is_wanted, build_or_discard)

    async def _run_build(
        self, source: IndexLayout, target: IndexLayout, policy: VectorPolicy, report_progress: ProgressReporter
    ) -> None:
        build = VersionBuild(
            catalogue=self.catalogue,
            mirror=self.writer.mirror,
            source=source,
            target=target,
            policy=policy,
            report_progress=report_progress,
        )
        is_switched = False
        try:
            late_documents = await build.build_and_switch()
            is_switched = True
        except RequestRefused as exc:
            if exc.error_type == INDEX_GONE:
                raise VersionSuperseded from exc
            raise
        finally:
            if not is_switched:
                with suppress(IndexUnavailable):  # then the next process discards it
                    await asyncio.shield(self._discard_build(target))
        if late_documents:
            await self.writer.put(await self.catalogue.reload_bucket_layout(target.bucket), late_documents)
        await self._delete_versions(target.bucket, await self._list_earlier_versions(target, keeps=source))

    async def _discard_build(self, build: IndexLayout) -> None:
        """Delete a version that is being built. Nothing happens if it has come into use."""
        names = self.catalogue.names
        aliases = names.build_alias_for(build.bucket), names.copy_alias_for(build.index)
        removals = [removes_alias(build, alias) for alias in aliases]
        try:
            await self.catalogue.connection.send_request("POST", "/_aliases", {"actions": removals})
        except RequestRefused as exc:
            if exc.status != 404:
                raise
            return
        await self._delete_versions(build.bucket, [build.index])

    async def _list_earlier_versions(self, current: IndexLayout, keeps: IndexLayout | None = None) -> list[str]:
        """Returns the versions that are neither in use nor being built, without `keeps` if that has documents.

        There is one with a higher number only if a process died while it deleted a build.
        """
        versions = await self.catalogue.find_versions(current.bucket)
        names = self.catalogue.names
        used = {names.bucket_alias_for(current.bucket), names.build_alias_for(current.bucket)}
        unused = [name for name, definition in versions.items() if not definition.aliases & used]
        if keeps is not None and keeps.index in unused and await self._has_documents(keeps):
            unused.remove(keeps.index)
        return unused

    async def _has_documents(self, layout: IndexLayout) -> bool:
        request = build_search_request(layout.index, {"term": {"kind": DOCUMENT}})
        (response,) = await self.catalogue.run_multi_search([request])
        return response.total > 0

    async def _delete_versions(self, bucket: BucketId, names: Sequence[str]) -> None:
        """Delete the versions in one request, as far as they exist."""
        if any(map(is_in_shared_index, names)):
            await self.shared_indexes.delete_versions(bucket, names)
        elif names:
            path, params = f"/{','.join(names)}", {"ignore_unavailable": "true"}
            await self.catalogue.connection.send_request("DELETE", path, params=params, timeout_s=WRITE_TIMEOUT_S)

    async def clean_up_bucket(self, bucket: BucketId) -> EarlierIndexes:
        """Raises `UnknownBucket`."""
        current = await self.catalogue.reload_bucket_layout(bucket)
        deleted, size_bytes = list[str](), 0

        async def is_building() -> bool:
            versions = await self.catalogue.load_versions(bucket)
            return versions is not None and versions.build is not None

        async def discard_build() -> None:
            nonlocal size_bytes
            versions = await self.catalogue.load_versions(bucket)
            if versions is not None and versions.build is not None:
                size_bytes += await measure_versions(self.catalogue, [versions.build.index])
                deleted.append(versions.build.index)
                await self._discard_build(versions.build)

        await BuildLease(catalogue=self.catalogue, bucket=bucket).run_holding(is_building, discard_build)
        current = await self.catalogue.reload_bucket_layout(bucket)
        earlier = await self._list_earlier_versions(current)
        size_bytes += await measure_versions(self.catalogue, earlier)
        await self._delete_versions(bucket, earlier)
        await self.shared_indexes.delete_leftovers()
        return EarlierIndexes(index_count=len(deleted) + len(earlier), size_bytes=size_bytes)

    async def ensure_current_embedder(self, bucket: BucketId) -> IndexLayout:
        """Returns the bucket's layout; reindexes the bucket first if its vectors are not this embedder's.

        With a metered embedder only `update_vectors` reindexes. Raises `UnknownBucket`.
        """
        layout = await self.catalogue.reload_bucket_layout(bucket)
        embedder = self.writer.embedder
        if embedder is None or embedder.is_metered or layout.embedder_name == embedder.name:
            return layout
        await self.set_schema(layout.schema)
        return await self.catalogue.reload_bucket_layout(bucket)

    async def _target_layout_for(self, schema: Schema, current: IndexLayout | None) -> IndexLayout:
        """Returns the layout for the schema, with the number of the version in use."""
        analyser = self.catalogue.analysers(schema.language)
        embedder_name, dimensions = await self._target_vectors_for(current)
        target = IndexLayout(
            index="" if current is None else current.index,
            version_number=0 if current is None else current.version_number,
            schema=schema,
            analyser=analyser,
            analyser_version=analyser.version,
            embedder_name=embedder_name,
            dimensions=dimensions,
            shard_count=self.shard_count if current is None else current.shard_count,
            vector_storage=NEW_BUCKET_VECTORS if current is None else current.vector_storage,
            created_ms=0 if current is None else current.created_ms,
            shared_index="" if current is None else current.shared_index,
        )
        return target if current is not None else replace(target, shared_index=self._choose_shared_index(target, 0))

    async def _target_vectors_for(self, current: IndexLayout | None) -> tuple[str, int]:
        """Returns the embedder's name and its dimensions. Without an embedder the existing vectors are kept.

        A metered embedder only gives vectors to a new bucket, if it answers.
        """
        embedder = self.writer.embedder
        if embedder is None or (embedder.is_metered and current is not None):
            return ("", 0) if current is None else (current.embedder_name, current.dimensions)
        try:
            return embedder.name, await embedder.load_dimensions()
        except EmbedderUnavailable:
            return "", 0

    async def _update_mapping_metadata(self, layout: IndexLayout) -> None:
        if layout.is_shared:
            await self.shared_indexes.update_layout(layout)
        else:
            mapping = {"_meta": layout.mapping_meta}
            await self.catalogue.connection.send_request("PUT", f"/{layout.index}/_mapping", mapping)
        await self.catalogue.publish_generations([layout])
        await self.catalogue.reload_layouts()

    async def _create_bucket(self, layout: IndexLayout) -> bool:
        """Create a bucket; False if another process has created it."""
        first = await self._name_version(layout, layout)
        if self.shared_from is None:
            is_created = await self._create_index_version(first, is_first=True)
        else:
            is_created = await self._create_exclusively(first)
        if not is_created:
            return False
        await self.catalogue.publish_generations([await self.catalogue.reload_bucket_layout(layout.bucket)])
        return True

    async def _name_version(self, target: IndexLayout, current: IndexLayout) -> IndexLayout:
        """Returns the target as the version after `current`."""
        number, names = current.version_number + 1, self.catalogue.names
        if not target.is_shared:
            index = names.version_index_name(target.bucket, number)
            return replace(target, version_number=number, index=index)
        name = names.shared_version_name(target.bucket, number, uuid.uuid4().hex[:SHARED_KEY_LENGTH])
        created_ms = max(await self.catalogue.load_time_ms(), current.created_ms + 1)
        return replace(target, version_number=number, index=name, created_ms=created_ms)

    async def _add_build(self, current: IndexLayout, target: IndexLayout) -> None:
        """Create the version to build, unless there is one. A version in a shared index has a name of its own, so the
        lease of the bucket decides which of several processes creates it.
        """
        if self.shared_from is None and not current.is_shared:
            await self._create_index_version(target, is_first=False)
            return

        async def is_unbuilt() -> bool:
            versions = await self.catalogue.load_versions(target.bucket)
            return versions is not None and versions.build is None and versions.current.index == current.index

        async def create_build() -> None:
            if await is_unbuilt():
                await self._create_index_version(target, is_first=False)

        with suppress(VersionSuperseded):  # the caller looks what is there now
            await BuildLease(catalogue=self.catalogue, bucket=target.bucket).run_holding(is_unbuilt, create_build)

    async def _create_exclusively(self, first: IndexLayout) -> bool:
        """Create the first version while holding the lease of the bucket; False if there is a version by then."""
        is_created = False

        async def is_new() -> bool:
            return await self.catalogue.load_versions(first.bucket) is None

        async def create_first() -> None:
            nonlocal is_created
            is_created = await is_new() and await self._create_index_version(first, is_first=True)

        with suppress(VersionSuperseded):  # the caller looks what is there now
            await BuildLease(catalogue=self.catalogue, bucket=first.bucket).run_holding(is_new, create_first)
        return is_created

    async def _create_index_version(self, layout: IndexLayout, *, is_first: bool) -> bool:
        """Create the index of a version, in use or being built; False if it exists already."""
        names = self.catalogue.names
        aliases = (
            (names.bucket_alias_for(layout.bucket), names.write_alias_for(layout.index))
            if is_first
            else (names.build_alias_for(layout.bucket), names.copy_alias_for(layout.index))
        )
        if layout.is_shared:
            await self.shared_indexes.add_version(layout, aliases)
            return True
        no_options = dict[str, str]()
        settings = layout.index_settings | ({} if is_first else {"index.gc_deletes": _TOMBSTONE_LIFETIME})
        body = {
            "settings": settings,
            "mappings": layout.index_mapping,
            "aliases": dict.fromkeys(aliases, no_options),
        }
        try:
            await self.catalogue.connection.send_without_retry(
                "PUT", f"/{layout.index}", body, timeout_s=WRITE_TIMEOUT_S
            )
        except RequestRefused as exc:
            if exc.error_type != _ALREADY_EXISTS:
                raise
            await self._delete_unused_version(layout)
            return False
        return True

    async def _delete_unused_version(self, layout: IndexLayout) -> None:
        """Delete the version of this name if a process died while it deleted a build."""
        versions = await self.catalogue.load_versions(layout.bucket)
        if versions is not None and layout.index in await self._list_earlier_versions(versions.current):
            await self._delete_versions(layout.bucket, [layout.index])

    # -- reading

    async def _read_stored_documents(self, layout: IndexLayout) -> AsyncIterator[list[Document]]:
        """Yields pages of documents in order of id."""
        after = ""
        while True:
            later_ids: JsonObject = {"range": {"doc_id": {"gt": after}}}
            entries = await self._read_stored_entries(layout, DOCUMENT, later_ids)
            if not entries:
                return
            id_terms = [keyword_term_of(entry["doc_id"]) for entry in entries]
            texts = {
                body["doc_id"]: body["text"]
                for body in await self._read_stored_entries(layout, BODY, any_term_query("doc_id", id_terms))
            }
            yield [decode_unvalidated_document(entry, texts[entry["doc_id"]]) for entry in entries]
            after = id_terms[-1]

    async def _read_stored_entries(self, layout: IndexLayout, kind: str, condition: JsonObject) -> list[JsonObject]:
        query = all_of({"term": {"kind": kind}}, condition)
        request = build_search_request(
            layout.index, query, None, size=_PAGE_SIZE, sort=[{"doc_id": "asc"}], _source=["stored"]
        )
        (response,) = await self.catalogue.run_multi_search([request])
        return [hit.stored_entry for hit in response.hits]

    # -- dropping

    async def drop_bucket(self, bucket: BucketId) -> None:
        """Raises `UnknownBucket`."""
        layout = await self.catalogue.reload_bucket_layout(bucket)
        await self._delete_versions(bucket, sorted({layout.index, *await self.catalogue.find_versions(bucket)}))
        registry = self.catalogue.names.registry_index_name
        connection = self.catalogue.connection
        await connection.send_request("POST", f"/{registry}/_refresh")
        query = {"query": {"term": {"bucket": digest_of(bucket)}}}
        params = {"refresh": "true", "conflicts": "proceed"}
        await connection.send_request("POST", f"/{registry}/_delete_by_query", query, params, timeout_s=WRITE_TIMEOUT_S)
        await self.catalogue.reload_layouts()


def _placement_of(layout: IndexLayout) -> tuple[object, ...]:
    """Returns what a rebuild decides about a version, beside its documents."""
    return layout.embedder_name, layout.dimensions, layout.shard_count, layout.is_shared
