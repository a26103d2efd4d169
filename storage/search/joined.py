"""One index put together from two: a large one, and a small one beside it that only this reader has."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, assert_never

from storage.search import blending, merging
from storage.search.errors import IndexTimedOut, NotInScope
from storage.search.halves import Asked, Halves, Said, Steps
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
    ScopedIndex,
    Spellings,
    Vocabulary,
)
from storage.search.paging import page
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.search.text import Analyser

A = TypeVar("A")
B = TypeVar("B")
_OfSet: TypeAlias = Count | Facet | Aggregate | Nearest | Passages | NearPassages | Outlines | Records
_TRIES = 20  # of a question of several steps that is overtaken by writes


def joined(main: ScopedIndex, beside: ScopedIndex) -> ScopedIndex:
    """An index over the documents of both, within the scope of `main` and the buckets of `beside`.

    `beside` is small. No bucket and no document id of the one is one of the other, no field of `beside` is `shared`,
    and its vectors are of the same embedder.

    Every answer is exact, but for two things. Groups of numbers that the two write differently ("Acme", "ACME") are
    named as the one with more documents writes them. Scores by words of `beside` are scaled to those of `main`, see
    `blending`. Sets, counts, sums, medians, pages and cosines are those of one index.

    A request costs a round trip to each index, both at once; a median of groups that both have, and outlines without a
    summary, one more. Such a median counts every distinct value of the field, which is slow where there are many. Both
    are always asked, if only for their state: the generation is that of both.
    """
    return _Joined(main, beside)


class _Overtaken(Exception):
    """An index changed between the steps of a question."""


class _Joined:
    """Implements `ScopedIndex`."""

    def __init__(self, main: ScopedIndex, beside: ScopedIndex) -> None:
        self._main, self._beside = main, beside

    @property
    def scope(self) -> Scope:
        seen = self._main.scope
        return Scope(
            tenant=seen.tenant,
            buckets=seen.buckets | self._beside.scope.buckets,
            subjects=seen.subjects,
            all_readers=seen.all_readers,
        )

    async def ask(self, *requests: Request[object]) -> Answers:
        once = list(dict.fromkeys(requests))
        for _ in range(_TRIES):
            try:
                return await self._asked(once)
            except _Overtaken:
                continue
        raise IndexTimedOut("two places")

    async def vocabulary(self, limit: int = 200_000) -> Vocabulary:
        one, other = await _both(self._main.vocabulary(limit), self._beside.vocabulary(limit))
        return Vocabulary(
            generation=_generation(one.generation, other.generation),
            fields=tuple(sorted((*one.fields, *other.fields), key=lambda field: field.bucket)),
            documents=dict(sorted((*one.documents.items(), *other.documents.items()))),
        )

    async def schemas(self) -> Mapping[BucketId, Schema]:
        one, other = await _both(self._main.schemas(), self._beside.schemas())
        return {**one, **other}

    def analyser(self, bucket: BucketId) -> Analyser:
        return (self._beside if bucket in self._beside.scope.buckets else self._main).analyser(bucket)

    async def _asked(self, requests: Sequence[Request[object]]) -> Answers:
        steps = {request: self._steps(request) for request in requests}
        asks = {request: next(one) for request, one in steps.items()}
        answers, generation = dict[Request[object], object](), None
        while asks or generation is None:
            said = await self._said(asks)
            now = _generation(said.main.generation, said.beside.generation)
            if generation not in (None, now):
                raise _Overtaken
            generation, waiting = now, dict[Request[object], Asked]()
            for request in asks:
                try:
                    waiting[request] = steps[request].send(said)
                except StopIteration as stop:
                    answers[request] = stop.value
            asks = waiting
        return Answers(generation, answers)

    async def _said(self, asks: Mapping[Request[object], Asked]) -> Said:
        """One round trip to each."""
        main = [one for asked in asks.values() for one in asked.main]
        beside = [one for asked in asks.values() for one in asked.beside]
        asking = _both(self._main.ask(*main), self._beside.ask(*beside))
        if not any(asked.schemas for asked in asks.values()):
            one, other = await asking
            return Said(main=one, beside=other, schemas={}, analyser=self.analyser)
        (one, other), schemas = await _both(asking, self.schemas())
        return Said(main=one, beside=other, schemas=schemas, analyser=self.analyser)

    def _steps(self, request: Request[object]) -> Steps[object]:
        """Raises `NotInScope` for a bucket of neither."""
        match request:
            case Fetch():
                return merging.fetched(request)
            case Spellings(buckets=buckets):
                mine, theirs = frozenset(filter(self._is_main, buckets)), frozenset(filter(self._is_beside, buckets))
                if mine and theirs:
                    return merging.spellings(replace(request, buckets=mine), replace(request, buckets=theirs))
                return _alone(request, is_main=not theirs)
            case (
                Count(search=search)
                | Facet(search=search)
                | Aggregate(search=search)
                | Nearest(search=search)
                | Passages(search=search)
                | NearPassages(search=search)
                | Outlines(search=search)
                | Records(search=search)
            ):
                mine = [clause for clause in search.clauses if self._is_main(clause.bucket)]
                theirs = [clause for clause in search.clauses if self._is_beside(clause.bucket)]
                if not mine or not theirs:
                    return _alone(request, is_main=not theirs)
                halves = Halves(whole=search, main=search.with_clauses(*mine), beside=search.with_clauses(*theirs))
                return self._merging(request, halves)
            case _:
                raise TypeError(f"{type(request).__name__} is no request of this index")

    def _merging(self, request: _OfSet, halves: Halves) -> Steps[object]:
        match request:
            case Count():
                return merging.count(halves)
            case Facet():
                return merging.facet(halves, request)
            case Aggregate():
                return merging.aggregate(halves, request)
            case Nearest():
                return merging.nearest(halves, request)
            case Passages():
                return blending.passages(halves, request, self.analyser(halves.beside.buckets[0]))
            case NearPassages():
                return blending.near_passages(halves, request)
            case Outlines():
                return blending.outlines(halves, request, self.analyser(halves.beside.buckets[0]))
            case Records():
                return page(halves, request)
            case _:
                assert_never(request)

    def _is_main(self, bucket: BucketId) -> bool:
        """Raises `NotInScope` for a bucket of neither."""
        if self._is_beside(bucket):
            return False
        if bucket not in self._main.scope.buckets:
            raise NotInScope(bucket)
        return True

    def _is_beside(self, bucket: BucketId) -> bool:
        return bucket in self._beside.scope.buckets


def _alone(request: Request[object], *, is_main: bool) -> Steps[object]:
    """Of one index, as it is."""
    if is_main:
        said = yield Asked(main=(request,))
        return said.main[request]
    said = yield Asked(beside=(request,))
    return said.beside[request]


def _generation(main: Generation, beside: Generation) -> Generation:
    return Generation(f"{main}+{beside}")


async def _both(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Side by side. Raises what the first to fail raises."""
    try:
        async with asyncio.TaskGroup() as group:
            first, second = group.create_task(one), group.create_task(other)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return first.result(), second.result()
