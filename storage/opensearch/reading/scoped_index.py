"""The index within a scope, in its latest state or in that of a snapshot."""

from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from storage.opensearch.reading.index_snapshot import SnapshotReader, open_snapshot_reader
from storage.opensearch.reading.requests import IndexReader
from storage.search.analyser import Analyser
from storage.search.errors import NotInScope
from storage.search.evaluation.semi_join_resolution import answer_with_semi_joins
from storage.search.ids import BucketId
from storage.search.index import IndexAnswers, IndexRequest, IndexVocabulary
from storage.search.schema import Schema
from storage.search.scope import Scope


class ScopedOpenSearchIndex:
    """Implements `ScopedIndex`."""

    def __init__(self, reader: IndexReader, scope: Scope) -> None:
        self._reader, self._scope = reader, scope

    @property
    def scope(self) -> Scope:
        return self._scope

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        def send_requests(plain: Sequence[IndexRequest[object]]) -> Awaitable[IndexAnswers]:
            return self._reader.answer_requests(self._scope, plain)

        return await answer_with_semi_joins(requests, self._scope, send_requests, self.load_schemas)

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        return await self._reader.load_cached_vocabulary(self._scope, limit)

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        layouts = await self._reader.load_layouts()
        return {bucket: layout.schema for bucket, layout in layouts.items() if bucket in self._scope.buckets}

    def analyser_for(self, bucket: BucketId) -> Analyser:
        """Returns the analyser of a bucket whose layout this process has loaded.

        A bucket that another process made is known after the next request. Raises `NotInScope`.
        """
        layouts = self._reader.known_layouts
        if bucket not in self._scope.buckets or bucket not in layouts:
            raise NotInScope(bucket)
        return layouts[bucket].analyser

    @asynccontextmanager
    async def open_snapshot(
        self, buckets: frozenset[BucketId], token: str | None = None
    ) -> AsyncGenerator["OpenSearchIndexSnapshot"]:
        scope = replace(self._scope, buckets=self._scope.buckets & buckets)
        async with open_snapshot_reader(self._reader, scope.buckets, token) as reader:
            yield OpenSearchIndexSnapshot(reader, scope)


class OpenSearchIndexSnapshot(ScopedOpenSearchIndex):
    """Implements `IndexSnapshot`."""

    def __init__(self, reader: SnapshotReader, scope: Scope) -> None:
        super().__init__(reader, scope)
        self._token = reader.points.to_token()

    @property
    def token(self) -> str:
        return self._token
