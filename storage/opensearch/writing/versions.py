"""Creates, changes and drops buckets.

A schema change that does not affect the indexed values (titles, synonyms) is written into the mapping. Any other change
builds the next version of the index from the documents as they were put, and then swaps the alias. While the new
version is built, the old one refuses writes and the writers wait, because a copy under concurrent writes loses them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from storage.embedder import Embedder, embed_passages
from storage.opensearch.catalogue import BucketCatalogue
from storage.opensearch.connection import WRITE_TIMEOUT_S, JsonObject, RequestRefused
from storage.opensearch.mapping import BODY, DOCUMENT, IndexLayout, digest_of
from storage.opensearch.reading.compile import all_of, any_term_query
from storage.opensearch.reading.query_steps import build_search_request
from storage.opensearch.terms import keyword_term_of
from storage.opensearch.writing.documents import DocumentWriter
from storage.opensearch.writing.encode import decode_unvalidated_document
from storage.search.documents import Document
from storage.search.errors import EmbedderUnavailable
from storage.search.ids import BucketId
from storage.search.schema import Schema

_PAGE_SIZE = 200
_POLL_S = 1.0
_MAX_STALLED_POLLS = 15  # of a version that another process builds, without progress
_ALREADY_EXISTS = "resource_already_exists_exception"


@dataclass(frozen=True, kw_only=True)
class IndexVersions:
    catalogue: BucketCatalogue
    writer: DocumentWriter

    async def set_schema(self, schema: Schema) -> None:
        while True:
            await self.catalogue.reload_layouts()
            current = self.catalogue.layouts.get(schema.bucket)
            target = await self._target_layout_for(schema, current)
            if current is not None and current.mapping_meta == target.mapping_meta:
                await self.catalogue.repair_registry([current])
                return
            if current is not None and current.is_compatible_with(target):
                await self._update_mapping_metadata(target)
                return
            if current is not None and target.embedder_name and not self.writer.can_embed_for(target):
                target = replace(target, embedder_name="", dimensions=0)  # vectors cannot be copied
            if await self._build_version(current, target):
                return

    async def update_vectors(
        self, bucket: BucketId, embedder: Embedder, report_progress: Callable[[int], None]
    ) -> None:
        """Build a version with the vectors of the embedder.

        A metered embedder embeds all passages before the version is built, while the bucket still takes writes; the
        version then gets the vectors that the embedder keeps. Raises `UnknownBucket`, `EmbedderUnavailable`.
        """
        current = await self.catalogue.reload_bucket_layout(bucket)
        if embedder.is_metered:
            await self._embed_all_documents(current, embedder, report_progress)
        dimensions, first_number = await embedder.load_dimensions(), current.version_number
        while current.version_number == first_number:
            target = replace(current, embedder_name=embedder.name, dimensions=dimensions)
            await self._build_version(current, target)
            current = await self.catalogue.reload_bucket_layout(bucket)

    async def _embed_all_documents(
        self, layout: IndexLayout, embedder: Embedder, report_progress: Callable[[int], None]
    ) -> None:
        embedded_count = 0
        async for documents, _ in self._read_stored_documents(layout):
            embedded_count += sum(map(len, await embed_passages(embedder, documents)))
            report_progress(embedded_count)

    async def _build_version(self, current: IndexLayout | None, target: IndexLayout) -> bool:
        """Build the version after `current`; False if another process was faster or still builds it: then waits."""
        number = target.version_number + 1
        index = self.catalogue.names.version_index_name(target.bucket, number)
        target = replace(target, version_number=number, index=index)
        if await self._create_index_version(target, in_use=current is None):
            await self._fill_index_version(current, target)
            return True
        await self._wait_for_version(target)
        return False

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
        return IndexLayout(
            index="" if current is None else current.index,
            version_number=0 if current is None else current.version_number,
            schema=schema,
            analyser=analyser,
            analyser_version=analyser.version,
            embedder_name=embedder_name,
            dimensions=dimensions,
        )

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
        mapping = {"_meta": layout.mapping_meta}
        await self.catalogue.connection.send_request("PUT", f"/{layout.index}/_mapping", mapping)
        await self.catalogue.publish_generations([layout])
        await self.catalogue.reload_layouts()

    async def _create_index_version(self, layout: IndexLayout, *, in_use: bool) -> bool:
        """Create the index of a version; False if another process has created it."""
        aliases: JsonObject = {self.catalogue.names.write_alias_for(layout.index): {}}
        aliases |= {self.catalogue.names.bucket_alias_for(layout.bucket): {}} if in_use else {}
        body = {"settings": layout.index_settings, "mappings": layout.index_mapping, "aliases": aliases}
        try:
            await self.catalogue.connection.send_without_retry(
                "PUT", f"/{layout.index}", body, timeout_s=WRITE_TIMEOUT_S
            )
        except RequestRefused as exc:
            if exc.error_type != _ALREADY_EXISTS:
                raise
            return False
        return True

    async def _fill_index_version(self, old: IndexLayout | None, new: IndexLayout) -> None:
        try:
            if old is not None:
                await self._set_write_block(old, is_blocked=True)
                await self._copy_all_documents(old, new)
                await self._swap_bucket_alias(old, new)
        except BaseException:
            await asyncio.shield(self._abandon_index_version(old, new))
            raise
        await self.catalogue.publish_generations([new])
        await self.catalogue.reload_layouts()

    async def _swap_bucket_alias(self, old: IndexLayout, new: IndexLayout) -> None:
        new_alias = {"index": new.index, "alias": self.catalogue.names.bucket_alias_for(new.bucket)}
        actions: list[JsonObject] = [{"remove_index": {"index": old.index}}, {"add": new_alias}]
        await self.catalogue.connection.send_request(
            "POST", "/_aliases", {"actions": actions}, timeout_s=WRITE_TIMEOUT_S
        )

    async def _abandon_index_version(self, old: IndexLayout | None, new: IndexLayout) -> None:
        await self._delete_index(new.index)
        if old is not None:
            await self._set_write_block(old, is_blocked=False)

    async def _set_write_block(self, layout: IndexLayout, *, is_blocked: bool) -> None:
        settings = {"index.blocks.write": True if is_blocked else None}
        await self.catalogue.connection.send_request("PUT", f"/{layout.index}/_settings", settings)

    async def _delete_index(self, index: str) -> None:
        try:
            await self.catalogue.connection.send_request("DELETE", f"/{index}", timeout_s=WRITE_TIMEOUT_S)
        except RequestRefused as exc:
            if exc.status != 404:
                raise

    async def _wait_for_version(self, version: IndexLayout) -> None:
        """Wait until another process has built the version; remove the version if that process died."""
        earlier_count, stalled_polls = -1, 0
        while stalled_polls < _MAX_STALLED_POLLS:
            if (count := await self._count_written_entries(version)) is None or await self._is_in_use(version):
                return
            earlier_count, stalled_polls = count, 0 if count != earlier_count else stalled_polls + 1
            await self.catalogue.connection.pause_with_jitter(_POLL_S)
        await self._abandon_index_version(self.catalogue.layouts.get(version.bucket), version)

    async def _is_in_use(self, version: IndexLayout) -> bool:
        await self.catalogue.reload_layouts()
        current = self.catalogue.layouts.get(version.bucket)
        return current is not None and current.version_number >= version.version_number

    async def _count_written_entries(self, version: IndexLayout) -> int | None:
        """Returns how many entries were written to the version so far; None if it does not exist."""
        try:
            response = await self.catalogue.connection.send_request("GET", f"/{version.index}/_stats/indexing")
        except RequestRefused as exc:
            if exc.status != 404:
                raise
            return None
        return int(response["_all"]["primaries"]["indexing"]["index_total"])

    # -- copying

    async def _copy_all_documents(self, old: IndexLayout, new: IndexLayout) -> None:
        await self.catalogue.connection.send_request("POST", f"/{old.index}/_refresh")
        async for documents, revisions in self._read_stored_documents(old):
            await self.writer.copy_documents(new, documents, revisions)
        await self.catalogue.connection.send_request("POST", f"/{new.index}/_refresh")

    async def _read_stored_documents(self, layout: IndexLayout) -> AsyncIterator[tuple[list[Document], list[str]]]:
        """Yields pages of documents in order of id, with the revision of each document."""
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
            documents = [decode_unvalidated_document(entry, texts[entry["doc_id"]]) for entry in entries]
            yield documents, [entry["revision"] for entry in entries]
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
        await self._delete_index(layout.index)
        registry = self.catalogue.names.registry_index_name
        connection = self.catalogue.connection
        await connection.send_request("POST", f"/{registry}/_refresh")
        query = {"query": {"term": {"bucket": digest_of(bucket)}}}
        params = {"refresh": "true", "conflicts": "proceed"}
        await connection.send_request("POST", f"/{registry}/_delete_by_query", query, params, timeout_s=WRITE_TIMEOUT_S)
        await self.catalogue.reload_layouts()
