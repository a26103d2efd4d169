"""What buckets there are, in which version of their index, and the generation of each.

The truth is in the mappings behind the buckets' aliases (`_meta`) and in the registry, which every round trip of a
reader asks too: a layout that has changed since it was read shows by its tag. A generation is written in the bulk of
the change itself, and once more when the change can be seen: a reader may hold an old generation for new documents,
never a new one for old documents.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from storage.opensearch.asking import Ask
from storage.opensearch.connection import Connection, Object, Refused, lines_of
from storage.opensearch.layout import FORMAT, REGISTRY, Layout, Names, digest_of
from storage.opensearch.wire import Found, found_in
from storage.search.codec import schema_from_json
from storage.search.errors import IndexTooNew, IndexUnavailable, UnknownBucket
from storage.search.ids import BucketId, Generation
from storage.search.text import Analyser

BUCKET, DOCUMENT_ID = "bucket", "doc"  # kinds of registry entries
_OLDEST_MAJOR = 3


@dataclass(frozen=True, slots=True)
class BucketMark:
    """What the registry says of a bucket."""

    generation: Generation
    tag: str  # of the layout


@dataclass(kw_only=True)
class Catalogue:
    connection: Connection
    names: Names
    analysers: Callable[[str], Analyser]
    layouts: Mapping[BucketId, Layout] = field(default_factory=dict[BucketId, Layout])

    async def open(self) -> None:
        """Raises `IndexUnavailable` for a server that is not OpenSearch 3 or later, and `IndexTooNew`."""
        version = cast(Object, (await self.connection.call("GET", "/")).get("version") or {})
        number = str(version.get("number", ""))
        if version.get("distribution") != "opensearch" or int(number.partition(".")[0] or 0) < _OLDEST_MAJOR:
            raise IndexUnavailable(self.connection.where, f"it is not OpenSearch {_OLDEST_MAJOR} or later")
        try:
            await self.connection.call("PUT", f"/{self.names.registry}", REGISTRY)
        except Refused as refused:
            if refused.kind != "resource_already_exists_exception":
                raise
        await self.reload()

    async def reload(self) -> None:
        answer = await self.connection.call("GET", f"/{self.names.buckets}/_mapping")
        layouts = [self._layout(index, found["mappings"]) for index, found in answer.items()]
        self.layouts = {layout.bucket: layout for layout in sorted(layouts, key=lambda one: one.bucket)}

    async def fresh(self, bucket: BucketId) -> Layout:
        """Raises `UnknownBucket`."""
        await self.reload()
        if bucket not in self.layouts:
            raise UnknownBucket(bucket)
        return self.layouts[bucket]

    def _layout(self, index: str, mapping: Object) -> Layout:
        meta = cast(Object, mapping.get("_meta") or {})
        if int(meta.get("format", 0)) > FORMAT:
            raise IndexTooNew(self.connection.where)
        schema = schema_from_json(meta["schema"])
        return Layout(
            index=index,
            number=meta["number"],
            schema=schema,
            analyser=self.analysers(schema.language),
            analyser_version=meta["analyser"],
            embedder=meta["embedder"],
            dimensions=meta["dimensions"],
            outlined=meta.get("outlined", False),
        )

    async def search(self, asks: Sequence[Ask]) -> list[Found]:
        """The one sender of searches: one `_msearch`, all shards, no partial answers."""
        if not asks:
            return []
        if not all(ask.indexes for ask in asks):
            raise ValueError("a search that names no index would search them all")
        body = lines_of([line for ask in asks for line in (_header(ask), ask.body)])

        async def attempt() -> list[Found]:
            answer = await self.connection.once("POST", "/_msearch", body)
            return found_in(answer, len(asks), self.connection.where)

        return await self.connection.retried(attempt)

    # -- the registry

    def asking_for(self, buckets: Iterable[BucketId]) -> Ask:
        digests = sorted(map(digest_of, buckets))
        query = {"bool": {"filter": [{"term": {"kind": BUCKET}}, {"terms": {"bucket": digests}}]}}
        return Ask(indexes=(self.names.registry,), body={"query": query, "size": 10_000, "track_total_hits": True})

    @staticmethod
    def marks(found: Found) -> dict[BucketId, BucketMark]:
        stored = [hit.stored for hit in found.hits]
        return {
            BucketId(one["bucket"]): BucketMark(Generation(one["generation"]), one["layout"])
            for one in sorted(stored, key=lambda one: str(one["bucket"]))
        }

    def mark(self, layout: Layout) -> list[Object]:
        """The lines of a bulk that give the bucket a new generation."""
        entry = {"bucket": layout.bucket, "generation": uuid.uuid4().hex, "layout": layout.tag}
        target = {"_index": self.names.registry, "_id": f"{BUCKET}:{digest_of(layout.bucket)}"}
        return [{"index": target}, {"kind": BUCKET, "bucket": digest_of(layout.bucket), "stored": entry}]

    async def show(self, layouts: Sequence[Layout]) -> None:
        """Make what was written to these indexes visible, and then that it has changed."""
        names = ",".join(sorted({layout.index for layout in layouts}))
        if not names:
            return
        await self.connection.call("POST", f"/{names}/_refresh")
        await self.announce(layouts)

    async def announce(self, layouts: Sequence[Layout]) -> None:
        """New generations, visible on return."""
        lines = lines_of([line for layout in layouts for line in self.mark(layout)])
        await self.connection.call("POST", "/_bulk", lines, {"refresh": "true"})

    async def heal(self, layouts: Sequence[Layout]) -> None:
        """Announce those that the registry does not have so: a process died before it could."""
        if not layouts:
            return
        (found,) = await self.search([self.asking_for([layout.bucket for layout in layouts])])
        marks = self.marks(found)
        wrong = [one for one in layouts if one.bucket not in marks or marks[one.bucket].tag != one.tag]
        if wrong:
            await self.announce(wrong)


def generation_of(marks: Mapping[BucketId, BucketMark]) -> Generation:
    """Of several buckets together."""
    return Generation(digest_of(repr([(bucket, mark.generation) for bucket, mark in sorted(marks.items())])))


def _header(ask: Ask) -> Object:
    return {"index": list(ask.indexes), "allow_partial_search_results": False}
