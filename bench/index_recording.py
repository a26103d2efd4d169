"""An index that records its answers, so that a question can be answered again without the time of the index."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.ids import BucketId
from storage.search.index import BucketState, IndexAnswers, IndexRequest, IndexVocabulary, ScopedIndex, SearchIndex
from storage.search.schema import Schema
from storage.search.scope import Scope
from tests.stand_ins.wrapped_index import WrappedIndex

T = TypeVar("T")
IndexCall = tuple[object, ...]  # the name of the call, and its requests


@dataclass(kw_only=True)
class IndexRecording:
    """The calls and answers of an index, in order. Recorded once, replayed any number of times."""

    recorded_calls: list[IndexCall] = field(default_factory=list[IndexCall])
    recorded_answers: list[object] = field(default_factory=list[object])
    replayed_calls: list[IndexCall] = field(default_factory=list[IndexCall])  # of the current replay
    is_replaying: bool = False

    def start_replay(self) -> None:
        self.is_replaying, self.replayed_calls = True, []

    @property
    def round_trips(self) -> int:
        return len(self.requests)

    @property
    def requests(self) -> list[tuple[IndexRequest[object], ...]]:
        """The requests of each round trip."""
        return [cast(tuple[IndexRequest[object], ...], call[1:]) for call in self.recorded_calls if call[0] == "ask"]

    async def record_or_replay(self, call: IndexCall, fetch_answer: Callable[[], Awaitable[T]]) -> T:
        """The answer of the index; in a replay, the recorded answer to the call at the same position."""
        if self.is_replaying:
            self.replayed_calls.append(call)
            return cast(T, self.recorded_answers[len(self.replayed_calls) - 1])
        position = len(self.recorded_calls)
        self.recorded_calls.append(call)
        self.recorded_answers.append(None)
        answer = self.recorded_answers[position] = await fetch_answer()
        return answer


class ReplayableScopedIndex(ForwardingScopedIndex):
    """A `ScopedIndex` that records and replays. The analyser is not recorded, because it is part of Parley's work."""

    def __init__(self, wrapped: ScopedIndex, recording: IndexRecording) -> None:
        super().__init__(wrapped)
        self._recording = recording

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        return await self._recording.record_or_replay(
            ("ask", *requests), lambda: self.wrapped.answer_requests(*requests)
        )

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        return await self._recording.record_or_replay(
            ("vocabulary", limit), lambda: self.wrapped.load_vocabulary(limit)
        )

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        return await self._recording.record_or_replay(("schemas",), self.wrapped.load_schemas)


class ReplayableIndex(WrappedIndex):
    """A `SearchIndex` for a bot. The measuring code sets the current recording."""

    def __init__(self, wrapped: SearchIndex) -> None:
        super().__init__(wrapped)
        self.recording = IndexRecording()

    def within_scope(self, scope: Scope) -> ScopedIndex:
        return ReplayableScopedIndex(self.wrapped.within_scope(scope), self.recording)

    async def load_bucket_states(self) -> Mapping[BucketId, BucketState]:
        return await self.recording.record_or_replay(("buckets",), self.wrapped.load_bucket_states)
