"""What may be asked of the index and of the reranker, read only, with a record of every attempt.

`Desk` is handed an index within a scope; it can reach nothing else.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from agent.context import Context
from agent.errors import RerankerUnavailable
from agent.outcome import Attempt, FoundPassage, Route, Stage, Trace
from storage.search.codec import search_to_json
from storage.search.index import (
    Aggregate,
    Answers,
    Count,
    Facet,
    Hit,
    NearPassages,
    Outline,
    Outlines,
    Page,
    Passages,
    Records,
    Request,
)

_TOOLS: Mapping[type, str] = {
    Records: "annotations_search",
    Count: "annotations_search",
    Aggregate: "annotations_aggregate",
    Facet: "annotations_aggregate",
    Passages: "search_text",
    Outlines: "search_text",
    NearPassages: "search_semantic",
}
_RERANK = "rerank"
_MOST_ATTEMPTS = 40  # noted in one turn; counting many refinements is one attempt


@dataclass(slots=True)
class Desk:
    """The index within the turn's scope, the reranker, and what was asked of them."""

    context: Context
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    stages: list[Stage] = field(default_factory=list[Stage])
    round_trips: int = 0
    index_ms: float = 0.0

    async def ask(self, requests: Sequence[Request[object]], note: Sequence[Request[object]] = ()) -> Answers:
        """One round trip; those in `note` are recorded as attempts."""
        started = time.perf_counter()
        answers = await self.context.index.ask(*requests)
        ms = (time.perf_counter() - started) * 1000
        self.round_trips += 1
        self.index_ms += ms
        for request in note:
            if len(self.attempts) < _MOST_ATTEMPTS:
                self.attempts.append(_attempt(request, answers, ms))
                self.context.attempted(self.attempts[-1])
        return answers

    async def judged(self, question: str, found: Sequence[FoundPassage]) -> Sequence[float] | None:
        """What the reranker makes of each passage, with its title, in order.

        None where there is no reranker, and where it fails or is late: then it is not asked again in this turn.
        """
        reranker = self.context.reranker
        given_up = any(one.name == _RERANK and one.fallback for one in self.stages)
        if reranker is None or given_up or len(found) < 2:
            return None
        started = time.perf_counter()
        scores, fallback = None, None
        try:
            async with asyncio.timeout(self.context.limits.reranking.total_seconds()):
                scores = await reranker.scores(question, [f"{one.hit.title}\n{one.hit.text}" for one in found])
        except TimeoutError:
            fallback = "rule: the reranker is late"
        except RerankerUnavailable:
            fallback = "rule: the reranker is unavailable"
        self.stage(_RERANK, started, fallback)
        return scores

    def stage(self, name: str, started: float, fallback: str | None = None) -> None:
        """Note a stage that began at `started` (of `time.perf_counter`)."""
        self.stages.append(Stage(name=name, ms=(time.perf_counter() - started) * 1000, fallback=fallback))

    def trace(self, route: Route) -> Trace:
        return Trace(
            route=route,
            attempts=tuple(self.attempts),
            stages=tuple(self.stages),
            reasoner=self.context.reasoner.name,
            round_trips=self.round_trips,
            index_ms=self.index_ms,
        )


def _attempt(request: Request[object], answers: Answers, ms: float) -> Attempt:
    search = getattr(request, "search", None)
    arguments: dict[str, object] = {} if search is None else {"filters": search_to_json(search)["clauses"]}
    result = answers[request]
    match request:
        case Passages(text=text, limit=limit) | NearPassages(text=text, limit=limit):
            arguments |= {"query": text, "top_k": limit}
        case Outlines(text=text, limit=limit):
            arguments |= {"query": text, "top_k": limit, "level": "summary"}
        case Aggregate(field=name):
            arguments |= {"field": name}
        case _:
            pass
    return Attempt(tool=_TOOLS[type(request)], arguments=arguments, documents=_documents(result), ms=round(ms, 2))


def _documents(result: object) -> int:
    if isinstance(result, bool) or not isinstance(result, (int, tuple, Page)):
        return 0
    if isinstance(result, int):
        return result
    if isinstance(result, Page):
        return len(result.records)
    found = cast(tuple[object, ...], result)
    return len({one.doc_id if isinstance(one, (Hit, Outline)) else at for at, one in enumerate(found)})
