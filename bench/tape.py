"""An index whose answers are kept, so that a question can be answered again without the index's time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import Answers, BucketState, Put, Request, ScopedIndex, SearchIndex, Vocabulary
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser

T = TypeVar("T")
Asked = tuple[object, ...]  # what was called, and with which requests


@dataclass(kw_only=True)
class Tape:
    """What an index was asked and what it said, in order. Recorded once; played any number of times."""

    asked: list[Asked] = field(default_factory=list[Asked])
    said: list[object] = field(default_factory=list[object])
    heard: list[Asked] = field(default_factory=list[Asked])  # while it plays
    is_playing: bool = False

    def play(self) -> None:
        self.is_playing, self.heard = True, []

    @property
    def round_trips(self) -> int:
        return len(self.requests)

    @property
    def requests(self) -> list[tuple[Request[object], ...]]:
        """Of each round trip."""
        return [cast(tuple[Request[object], ...], one[1:]) for one in self.asked if one[0] == "ask"]

    async def of(self, asked: Asked, answer: Callable[[], Awaitable[T]]) -> T:
        """The answer: the index's own, or while playing the one it gave to the call of this place."""
        if self.is_playing:
            self.heard.append(asked)
            return cast(T, self.said[len(self.heard) - 1])
        place = len(self.asked)
        self.asked.append(asked)
        self.said.append(None)
        said = self.said[place] = await answer()
        return said


class TapedScopedIndex:
    """A `ScopedIndex`. The analyser is Parley's own work, and is not taped."""

    def __init__(self, index: ScopedIndex, tape: Tape) -> None:
        self._index, self._tape = index, tape

    @property
    def scope(self) -> Scope:
        return self._index.scope

    async def ask(self, *requests: Request[object]) -> Answers:
        return await self._tape.of(("ask", *requests), lambda: self._index.ask(*requests))

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        return await self._tape.of(("vocabulary", limit), lambda: self._index.vocabulary(limit))

    async def schemas(self) -> Mapping[BucketId, Schema]:
        return await self._tape.of(("schemas",), self._index.schemas)

    def analyser(self, bucket: BucketId) -> Analyser:
        return self._index.analyser(bucket)


class TapedIndex:
    """A `SearchIndex` for a bot: one tape at a time, put in by whoever measures."""

    def __init__(self, index: SearchIndex) -> None:
        self._index, self.tape = index, Tape()

    @property
    def tenant(self) -> TenantId:
        return self._index.tenant

    def within(self, scope: Scope) -> ScopedIndex:
        return TapedScopedIndex(self._index.within(scope), self.tape)

    async def buckets(self) -> Mapping[BucketId, BucketState]:
        return await self.tape.of(("buckets",), self._index.buckets)

    async def set_schema(self, schema: Schema) -> None:
        await self._index.set_schema(schema)

    async def put(self, bucket: BucketId, documents: Sequence[Document]) -> Put:
        return await self._index.put(bucket, documents)

    async def delete(self, doc_ids: Sequence[DocId]) -> int:
        return await self._index.delete(doc_ids)

    async def drop_bucket(self, bucket: BucketId) -> None:
        await self._index.drop_bucket(bucket)

    async def digests(self, bucket: BucketId) -> Mapping[DocId, str]:
        return await self._index.digests(bucket)

    async def ping(self) -> None:
        await self._index.ping()

    async def close(self) -> None:
        await self._index.close()
