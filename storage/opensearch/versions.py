"""Making, changing and dropping buckets.

A change of the schema that the index can take as it is (titles, synonyms) is written into the mapping. Any other builds
the next version from the documents as they were put, and swaps the alias. While it is built the old version refuses
writes, which wait: copying under writes loses them.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from storage.opensearch.asking import one_search
from storage.opensearch.catalogue import Catalogue
from storage.opensearch.compile import among, both
from storage.opensearch.connection import WRITE_S, Object, Refused
from storage.opensearch.encode import document_as_put
from storage.opensearch.layout import BODY, DOCUMENT, Layout, digest_of
from storage.opensearch.terms import key
from storage.opensearch.writing import Writer
from storage.search.documents import Document
from storage.search.ids import BucketId
from storage.search.schema import Schema

_PAGE = 200
_LOOK_S = 1.0
_STALLED = 15  # looks at a version that another process makes, without a change
_EXISTS = "resource_already_exists_exception"


@dataclass(frozen=True, kw_only=True)
class Versions:
    catalogue: Catalogue
    writer: Writer

    async def set_schema(self, schema: Schema) -> None:
        while True:
            await self.catalogue.reload()
            known = self.catalogue.layouts.get(schema.bucket)
            wanted = self._wanted(schema, known)
            if known is not None and known.meta == wanted.meta:
                await self.catalogue.heal([known])
                return
            if known is not None and known.holds(wanted):
                await self._describe(wanted)
                return
            wanted = replace(wanted, number=wanted.number + 1)
            wanted = replace(wanted, index=self.catalogue.names.version(schema.bucket, wanted.number))
            if await self._create(wanted, in_use=known is None):
                await self._fill(known, wanted)
                return
            await self._wait_for(wanted)

    async def with_embedder(self, bucket: BucketId) -> Layout:
        """The bucket, indexed anew if its vectors are another embedder's or it has none. Raises `UnknownBucket`."""
        layout = await self.catalogue.fresh(bucket)
        if self.writer.embedder is None or layout.embedder == self.writer.embedder.name:
            return layout
        await self.set_schema(layout.schema)
        return await self.catalogue.fresh(bucket)

    def _wanted(self, schema: Schema, known: Layout | None) -> Layout:
        """The layout as it would be in the version in use. Without an embedder the vectors there are stay."""
        embedder = self.writer.embedder
        analyser = self.catalogue.analysers(schema.language)
        kept = ("", 0) if known is None else (known.embedder, known.dimensions)
        name, dimensions = (embedder.name, embedder.dimensions) if embedder is not None else kept
        return Layout(
            index="" if known is None else known.index,
            number=0 if known is None else known.number,
            schema=schema,
            analyser=analyser,
            analyser_version=analyser.version,
            embedder=name,
            dimensions=dimensions,
        )

    async def _describe(self, layout: Layout) -> None:
        mapping = {"_meta": layout.meta}
        await self.catalogue.connection.call("PUT", f"/{layout.index}/_mapping", mapping)
        await self.catalogue.announce([layout])
        await self.catalogue.reload()

    async def _create(self, layout: Layout, *, in_use: bool) -> bool:
        """Whether this process is the one that makes the version."""
        aliases: Object = {self.catalogue.names.writing(layout.index): {}}
        aliases |= {self.catalogue.names.bucket(layout.bucket): {}} if in_use else {}
        body = {"settings": layout.settings, "mappings": layout.mapping, "aliases": aliases}
        try:
            await self.catalogue.connection.once("PUT", f"/{layout.index}", body, timeout_s=WRITE_S)
        except Refused as refused:
            if refused.kind != _EXISTS:
                raise
            return False
        return True

    async def _fill(self, old: Layout | None, new: Layout) -> None:
        try:
            if old is not None:
                await self._block(old, blocked=True)
                await self._copy(old, new)
                await self._swap(old, new)
        except BaseException:
            await asyncio.shield(self._give_up(old, new))
            raise
        await self.catalogue.announce([new])
        await self.catalogue.reload()

    async def _swap(self, old: Layout, new: Layout) -> None:
        adding = {"index": new.index, "alias": self.catalogue.names.bucket(new.bucket)}
        actions: list[Object] = [{"remove_index": {"index": old.index}}, {"add": adding}]
        await self.catalogue.connection.call("POST", "/_aliases", {"actions": actions}, timeout_s=WRITE_S)

    async def _give_up(self, old: Layout | None, new: Layout) -> None:
        await self._delete(new.index)
        if old is not None:
            await self._block(old, blocked=False)

    async def _block(self, layout: Layout, *, blocked: bool) -> None:
        settings = {"index.blocks.write": True if blocked else None}
        await self.catalogue.connection.call("PUT", f"/{layout.index}/_settings", settings)

    async def _delete(self, index: str) -> None:
        try:
            await self.catalogue.connection.call("DELETE", f"/{index}", timeout_s=WRITE_S)
        except Refused as refused:
            if refused.status != 404:
                raise

    async def _wait_for(self, version: Layout) -> None:
        """Until another process has made the version; where it has died over it, what it left is removed."""
        before, looks = -1, 0
        while looks < _STALLED:
            if (now := await self._written(version)) is None or await self._in_use(version):
                return
            before, looks = now, 0 if now != before else looks + 1
            await self.catalogue.connection.pause(_LOOK_S)
        await self._give_up(self.catalogue.layouts.get(version.bucket), version)

    async def _in_use(self, version: Layout) -> bool:
        await self.catalogue.reload()
        known = self.catalogue.layouts.get(version.bucket)
        return known is not None and known.number >= version.number

    async def _written(self, version: Layout) -> int | None:
        """The entries written to it so far; None if it is not there."""
        try:
            answer = await self.catalogue.connection.call("GET", f"/{version.index}/_stats/indexing")
        except Refused as refused:
            if refused.status != 404:
                raise
            return None
        return int(answer["_all"]["primaries"]["indexing"]["index_total"])

    # -- copying

    async def _copy(self, old: Layout, new: Layout) -> None:
        await self.catalogue.connection.call("POST", f"/{old.index}/_refresh")
        async for documents, revisions in self._documents(old):
            await self.writer.copy(new, documents, revisions)
        await self.catalogue.connection.call("POST", f"/{new.index}/_refresh")

    async def _documents(self, layout: Layout) -> AsyncIterator[tuple[list[Document], list[str]]]:
        """By id, with the revision that each was put under."""
        after = ""
        while True:
            earlier: Object = {"range": {"doc_id": {"gt": after}}}
            found = await self._stored(layout, DOCUMENT, earlier)
            if not found:
                return
            keys = [key(stored["doc_id"]) for stored in found]
            texts = {one["doc_id"]: one["text"] for one in await self._stored(layout, BODY, among("doc_id", keys))}
            documents = [document_as_put(stored, texts[stored["doc_id"]]) for stored in found]
            yield documents, [stored["revision"] for stored in found]
            after = keys[-1]

    async def _stored(self, layout: Layout, kind: str, condition: Object) -> list[Object]:
        query = both({"term": {"kind": kind}}, condition)
        ask = one_search(layout.index, query, None, size=_PAGE, sort=[{"doc_id": "asc"}], _source=["stored"])
        (found,) = await self.catalogue.search([ask])
        return [hit.stored for hit in found.hits]

    # -- dropping

    async def drop(self, bucket: BucketId) -> None:
        """Raises `UnknownBucket`."""
        layout = await self.catalogue.fresh(bucket)
        await self._delete(layout.index)
        registry = self.catalogue.names.registry
        connection = self.catalogue.connection
        await connection.call("POST", f"/{registry}/_refresh")
        query = {"query": {"term": {"bucket": digest_of(bucket)}}}
        params = {"refresh": "true", "conflicts": "proceed"}
        await connection.call("POST", f"/{registry}/_delete_by_query", query, params, timeout_s=WRITE_S)
        await self.catalogue.reload()
