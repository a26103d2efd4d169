"""Answering requests within a scope: all of them in one round trip, with the state of the buckets they are true at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from storage.embedder import Embedder
from storage.opensearch.aggregates import aggregate
from storage.opensearch.asking import Ask, Steps, one_search, together, total
from storage.opensearch.catalogue import BucketMark, Catalogue, generation_of
from storage.opensearch.connection import Refused
from storage.opensearch.facets import facet, nearest
from storage.opensearch.layout import Layout
from storage.opensearch.parts import Part, part_of
from storage.opensearch.ranking import by_meaning, by_outline, by_terms
from storage.opensearch.records import fetch, page
from storage.opensearch.spelling import spellings
from storage.opensearch.vocabulary import Seen, vocabulary_of
from storage.opensearch.wire import Found
from storage.search.errors import IndexTimedOut, InvalidCondition, NotInScope
from storage.search.ids import BucketId, Generation
from storage.search.index import (
    Aggregate,
    Answers,
    Count,
    Facet,
    Fetch,
    Nearest,
    NearPassages,
    Outlines,
    Passages,
    Records,
    Request,
    Spellings,
    Vocabulary,
)
from storage.search.plan import Search
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_TRIES = 20  # of a question that is overtaken by writes or by a change of a schema
_PAUSE_S = 0.05
_GONE = "index_not_found_exception"
_TOO_LARGE = frozenset({"too_many_clauses", "too_many_nested_clauses", "query_shard_exception"})
_KEPT = 16  # vocabularies


class _Overtaken(Exception):
    """What was asked does not belong to one known state of the buckets."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The questions that requests are, against the layouts known at the moment."""

    scope: Scope
    layouts: Mapping[BucketId, Layout]  # of the scope
    embedder: str
    vectors: "Mapping[str, NDArray[np.float32]]"

    def steps(self, request: Request[object]) -> Steps[Any]:
        """Raises `NotInScope`, `UnknownField` and `InvalidCondition`, when it is begun or here."""
        match request:
            case Count(search=search):
                return total([one_search(part.index, part.query) for part in self._parts(search)])
            case Facet(search=search):
                return facet(self._parts(search), request)
            case Aggregate(search=search):
                return aggregate(self._parts(search), request)
            case Nearest(search=search):
                return nearest(self._parts(search), request.field, request.value)
            case Passages(search=search):
                return by_terms(self._parts(search), request.text, request.limit)
            case NearPassages(search=search):
                return by_meaning(self._parts(search), self.embedder, self.vectors.get(request.text), request.limit)
            case Outlines(search=search):
                return by_outline(self._parts(search), request.text, request.limit)
            case Records(search=search):
                return page(self._parts(search), request)
            case Spellings(buckets=buckets):
                return spellings([self._layout(bucket) for bucket in sorted(buckets)], self.scope, request)
            case Fetch(doc_ids=doc_ids):
                return fetch(list(self.layouts.values()), self.scope, doc_ids)
            case _:
                raise TypeError(f"{type(request).__name__} is no request of this index")

    def _layout(self, bucket: BucketId) -> Layout:
        """The one way to a bucket. One that does not exist is not in scope either."""
        if bucket not in self.layouts:
            raise NotInScope(bucket)
        return self.layouts[bucket]

    def _parts(self, search: Search) -> list[Part]:
        return [part_of(clause, self._layout(clause.bucket), self.scope) for clause in search.clauses]


@dataclass(kw_only=True)
class Reader:
    catalogue: Catalogue
    embedder: Embedder | None
    vocabularies: dict[tuple[Scope, int], Vocabulary] = field(default_factory=dict[tuple[Scope, int], Vocabulary])

    async def ask(self, scope: Scope, requests: Sequence[Request[object]]) -> Answers:
        once = list(dict.fromkeys(requests))
        vectors = await self._vectors([one.text for one in once if isinstance(one, NearPassages)])

        def questions(layouts: Mapping[BucketId, Layout]) -> list[Steps[Any]]:
            name = self.embedder.name if self.embedder else ""
            asking = Asking(scope=scope, layouts=layouts, embedder=name, vectors=vectors)
            return [asking.steps(request) for request in once]

        generation, results = await self.settled(scope.buckets, questions)
        return Answers(generation, dict(zip(once, results, strict=True)))

    async def vocabulary(self, scope: Scope, limit: int) -> Vocabulary:
        known = self.vocabularies.get((scope, limit))
        if known is not None and known.generation == (await self.ask(scope, ())).generation:
            return known

        def questions(layouts: Mapping[BucketId, Layout]) -> list[Steps[tuple[BucketId, Seen]]]:
            return [_named(name, vocabulary_of(layout, scope, limit)) for name, layout in layouts.items()]

        generation, seen = await self.settled(scope.buckets, questions)
        made = Vocabulary(
            generation=generation,
            fields=tuple(one for _, (_, fields) in seen for one in fields),
            documents={name: documents for name, (documents, _) in seen},
        )
        if len(self.vocabularies) >= _KEPT:
            self.vocabularies.pop(next(iter(self.vocabularies)))
        self.vocabularies[scope, limit] = made
        return made

    async def _vectors(self, texts: Sequence[str]) -> "Mapping[str, NDArray[np.float32]]":
        if self.embedder is None or not texts:
            return {}
        return dict(zip(texts, await self.embedder.embed(texts), strict=True))

    async def settled(
        self, buckets: frozenset[BucketId], questions: Callable[[Mapping[BucketId, Layout]], list[Steps[T]]]
    ) -> tuple[Generation, list[T]]:
        """What the questions find in one state of these buckets. Asked again where the state changed meanwhile."""
        for number in range(_TRIES):
            layouts = {name: one for name, one in self.catalogue.layouts.items() if name in buckets}
            try:
                return await self._asked(buckets, layouts, questions)
            except (InvalidCondition, NotInScope):
                # Perhaps it is the schema that is out of date, not the question.
                await self.catalogue.reload()
                if all(self.catalogue.layouts.get(name) == layouts.get(name) for name in buckets):
                    raise
            except _Overtaken:
                await self.catalogue.reload()
            if number == _TRIES // 2:
                await self.catalogue.heal([one for name, one in self.catalogue.layouts.items() if name in buckets])
            elif number:
                await self.catalogue.connection.pause(_PAUSE_S)
        raise IndexTimedOut(self.catalogue.connection.where)

    async def _asked(
        self,
        buckets: frozenset[BucketId],
        layouts: Mapping[BucketId, Layout],
        questions: Callable[[Mapping[BucketId, Layout]], list[Steps[T]]],
    ) -> tuple[Generation, list[T]]:
        marks: dict[BucketId, BucketMark] | None = None
        steps = together(questions(layouts))
        try:
            asks = next(steps)
            while True:
                seen, found = await self._trip(buckets, layouts, asks)
                if marks is not None and seen != marks:
                    raise _Overtaken
                marks = seen
                asks = steps.send(found)
        except StopIteration as stop:
            if marks is None:  # nothing was asked
                marks, _ = await self._trip(buckets, layouts, [])
            return generation_of(marks), cast(list[T], stop.value)

    async def _trip(
        self, buckets: frozenset[BucketId], layouts: Mapping[BucketId, Layout], asks: Sequence[Ask]
    ) -> tuple[dict[BucketId, BucketMark], list[Found]]:
        """One round trip. The registry is read before all else: its generation is never newer than what is found."""
        if not buckets:
            return {}, []
        try:
            registry, *found = await self.catalogue.search([self.catalogue.asking_for(buckets), *asks])
        except Refused as refused:
            if refused.kind == _GONE:
                raise _Overtaken from refused
            if refused.kind in _TOO_LARGE:
                raise InvalidCondition(f"the condition is too large for the index ({refused.reason})") from refused
            raise
        marks = self.catalogue.marks(registry)
        if {name: mark.tag for name, mark in marks.items()} != {name: one.tag for name, one in layouts.items()}:
            raise _Overtaken
        return marks, found


def _named(name: BucketId, steps: Steps[T]) -> Steps[tuple[BucketId, T]]:
    found = yield from steps
    return name, found


class ScopedOpenSearchIndex:
    """Implements `ScopedIndex`."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader, self._scope = reader, scope

    @property
    def scope(self) -> Scope:
        return self._scope

    async def ask(self, *requests: Request[object]) -> Answers:
        return await self._reader.ask(self._scope, requests)

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        return await self._reader.vocabulary(self._scope, limit)

    async def schemas(self) -> Mapping[BucketId, Schema]:
        await self._reader.catalogue.reload()
        layouts = self._reader.catalogue.layouts
        return {name: one.schema for name, one in layouts.items() if name in self._scope.buckets}

    def analyser(self, bucket: BucketId) -> Analyser:
        """Of a bucket that this process has met: one made elsewhere is known after the next question."""
        layouts = self._reader.catalogue.layouts
        if bucket not in self._scope.buckets or bucket not in layouts:
            raise NotInScope(bucket)
        return layouts[bucket].analyser
