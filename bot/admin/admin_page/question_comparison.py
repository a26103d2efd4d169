"""What a changed schema would change in answers: the questions of the last month are asked again, before and after.

The rules answer them, so no model is called and nothing is stored. Each question is asked by itself, of the documents
that the admin may see. Questions that were answered are only counted, as in the report.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from agent.context import AgentContext
from agent.outcome import Answer, Clarify, Outcome, OutcomeKind
from bot.errors import UnreadableTurn
from bot.ids import BucketId
from bot.surface.inbound import TextMessage
from bot.surface.json_codec import body_from_json
from storage.search.analyser import fold_text
from storage.search.forwarding_index import ForwardingScopedIndex
from storage.search.index import IndexVocabulary, ScopedIndex
from storage.search.schema import Schema
from storage.sql.usage_statistics import FinishedQuestion, UsageStatisticsStore

MAX_REPEATED_QUESTIONS: Final = 40
_LOOK_BACK: Final = timedelta(days=30)
_MAX_READ_QUESTIONS: Final = 2_000  # the newest, among which the different ones are looked for
_MAX_DURATION_S: Final = 12.0  # of all questions together
_MAX_EXAMPLES: Final = 5
_NOTHING_FOUND: Final = "no_results"


class AskedAgent(Protocol):
    async def answer(self, question: str, context: AgentContext) -> Outcome: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComparison:
    """How many of the `asked` questions would be answered in another way, by how; `total` were asked in other words.
    `examples`: of those that found nothing when they were asked, and would find something now.
    """

    asked: int
    total: int
    finds_something: int = 0
    finds_nothing: int = 0
    finds_more: int = 0
    finds_fewer: int = 0
    differs_otherwise: int = 0
    examples: tuple[str, ...] = ()

    @property
    def changed_count(self) -> int:
        return self.finds_something + self.finds_nothing + self.finds_more + self.finds_fewer + self.differs_otherwise


class QuestionComparisons:
    """Asks on behalf of an admin, whom the caller has checked. One comparison at a time runs in a process.

    `load_context` gives a context with a reasoner of its own, for the index and the time.
    """

    def __init__(
        self,
        *,
        statistics: UsageStatisticsStore,
        agent: AskedAgent,
        load_context: Callable[[ScopedIndex, datetime], AgentContext],
    ) -> None:
        self._statistics, self._agent, self._load_context = statistics, agent, load_context
        self._lock = asyncio.Lock()

    async def compare_schemas(
        self, index: ScopedIndex, edited: Schema, names: Collection[str] = ()
    ) -> AnswerComparison:
        """Asks at most `MAX_REPEATED_QUESTIONS`: those with one of the `names` first, then the newest. Raises what the
        index and the database raise.
        """
        now = self._statistics.utc_now()
        finished = await self._statistics.load_questions(now - _LOOK_BACK, _MAX_READ_QUESTIONS)
        questions = _different_questions_of(finished)
        chosen = _choose_questions([*questions], names)
        changes, examples = dict[str, int](), list[str]()
        async with self._lock:
            before, after = (
                self._load_context(index, now),
                self._load_context(_EditedIndex(index, edited), now),
            )
            deadline, asked = asyncio.get_running_loop().time() + _MAX_DURATION_S, 0
            for text in chosen:
                if asyncio.get_running_loop().time() > deadline:
                    break
                old = _reading_of(await self._agent.answer(text, before))
                await asyncio.sleep(0)  # messages are received in between
                new = _reading_of(await self._agent.answer(text, after))
                await asyncio.sleep(0)
                asked += 1
                if change := _name_change(old, new):
                    changes[change] = changes.get(change, 0) + 1
                    if change == "finds_something" and questions[text] == _NOTHING_FOUND:
                        examples.append(text)
        return AnswerComparison(asked=asked, total=len(questions), examples=tuple(examples[:_MAX_EXAMPLES]), **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerReading:
    """What of an answer a person would notice. `count` is None if it is not about a set."""

    is_found: bool
    count: int | None
    shown: tuple[Any, ...]


class _EditedIndex(ForwardingScopedIndex):
    """The same documents under another schema of one bucket."""

    def __init__(self, wrapped: ScopedIndex, edited: Schema) -> None:
        super().__init__(wrapped)
        self._edited = edited

    async def load_vocabulary(self, limit: int = 200_000) -> IndexVocabulary:
        vocabulary = await super().load_vocabulary(limit)
        return IndexVocabulary(
            generation=vocabulary.generation,
            fields=vocabulary.fields,
            document_counts=vocabulary.document_counts,
            titles=vocabulary.titles,
            schemas=self._with_edited(vocabulary.schemas),
        )

    async def load_schemas(self) -> Mapping[BucketId, Schema]:
        return self._with_edited(await super().load_schemas())

    def _with_edited(self, schemas: Mapping[BucketId, Schema]) -> Mapping[BucketId, Schema]:
        return {**schemas, self._edited.bucket: self._edited} if self._edited.bucket in schemas else schemas


def _different_questions_of(finished: Sequence[FinishedQuestion]) -> Mapping[str, str]:
    """The different questions, the newest first, each with the ending of the last time it was asked."""
    endings: dict[str, str] = {}
    seen = set[str]()
    for question in finished:
        text = _text_of(question)
        if text and fold_text(text) not in seen:
            seen.add(fold_text(text))
            endings[text] = question.ending
    return endings


def _choose_questions(questions: Sequence[str], names: Collection[str]) -> list[str]:
    folds = [fold_text(name) for name in names if name]
    concerned = [text for text in questions if any(fold in fold_text(text) for fold in folds)]
    others = [text for text in questions if text not in set(concerned)]
    return [*concerned, *others][:MAX_REPEATED_QUESTIONS]


def _reading_of(outcome: Outcome) -> _AnswerReading:
    match outcome:
        case Answer(legs=legs, text=text) | Clarify(legs=legs, text=text):
            counts = [leg.document_count for leg in legs if leg.document_count is not None]
            is_found = not (isinstance(outcome, Clarify) and outcome.kind is OutcomeKind.NO_RESULTS)
            labels = tuple((choice.label, choice.count) for choice in outcome.choices)
            return _AnswerReading(
                is_found=is_found, count=sum(counts) if counts else None, shown=(type(outcome), text, labels)
            )
        case _:
            return _AnswerReading(is_found=True, count=None, shown=(type(outcome),))


def _name_change(old: _AnswerReading, new: _AnswerReading) -> str:
    """The field of `AnswerComparison` that counts the change; empty if there is none."""
    if old.is_found != new.is_found:
        return "finds_something" if new.is_found else "finds_nothing"
    if new.is_found and old.count is not None and new.count is not None and old.count != new.count:
        return "finds_more" if new.count > old.count else "finds_fewer"
    return "" if old.shown == new.shown else "differs_otherwise"


def _text_of(question: FinishedQuestion) -> str:
    try:
        body = body_from_json(question.body)
    except (LookupError, UnreadableTurn):
        return ""
    return body.text.strip() if isinstance(body, TextMessage) else ""
