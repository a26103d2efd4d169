"""Measures twenty questions at once: how many a second Parley's own processor time allows on one core.

Each question is asked once and recorded, and then answered from the recording, so that neither the index nor a model
has a share in it. Once by the rules, and once with a scripted model that replies at once and splits each question into
three sub-queries.

`python -m bench.questions_at_once [--questions N] [--runs N]`
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from agent.context import AgentContext
from agent.loop import answer
from agent.model.options import ModelOptions, ModelUse
from agent.model.reasoner import ModelReasoner
from agent.reasoner import Reasoner
from agent.rules.reasoner import RuleReasoner
from bench.demo_index import open_demo_index, operator_scope_of, settings_in
from bench.figures import BenchmarkFigure, build_figure_table
from bench.index_recording import IndexRecording, ReplayableScopedIndex
from bench.model_questions import FixedReplyModel
from bot.demo.corpus import generate_corpus
from bot.settings import Settings
from storage.search.index import IndexAnswers, IndexRequest, ScopedIndex, SearchIndex
from tests.scenarios.questions import questions

_AT_ONCE = 20
_QUESTIONS_A_SECOND = 80  # the aim, on one core
_SUB_QUERIES = 3


async def measure_questions_at_once(
    index: SearchIndex, settings: Settings, question_texts: Sequence[str], runs: int
) -> list[BenchmarkFigure]:
    model_reasoner = ModelReasoner(
        FixedReplyModel(part_count=_SUB_QUERIES), RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS)
    )
    reasoners: dict[str, Reasoner] = {
        "rules": RuleReasoner(),
        f"a model without delay, {_SUB_QUERIES} sub-queries": model_reasoner,
    }
    scoped, figures = index.within_scope(await operator_scope_of(index, settings)), list[BenchmarkFigure]()
    for name, reasoner in reasoners.items():
        figures.append(await _measure_reasoner(name, _RecordedQuestions(scoped, reasoner, question_texts), runs))
    return figures


class _RecordedQuestions:
    def __init__(self, scoped: ScopedIndex, reasoner: Reasoner, question_texts: Sequence[str]) -> None:
        self._scoped, self._reasoner, self._now = scoped, reasoner, datetime.now(UTC)
        self._questions = [(text, IndexRecording()) for text in question_texts]

    def __len__(self) -> int:
        return len(self._questions)

    async def answer_one_by_one(self) -> None:
        for text, recording in self._questions:
            await self._answer_question(text, recording)

    async def answer_at_once(self) -> None:
        """Answers all from their recordings, twenty of them at a time."""
        waiting = deque(self._questions)

        async def answer_next_questions() -> None:
            while waiting:
                text, recording = waiting.popleft()
                recording.start_replay()
                await self._answer_question(text, recording)

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(answer_next_questions())

    def list_different(self) -> list[str]:
        """The questions that asked the index otherwise than when they were recorded, which makes a figure invalid."""
        return [text for text, recording in self._questions if recording.replayed_calls != recording.recorded_calls]

    async def _answer_question(self, text: str, recording: IndexRecording) -> None:
        index = _YieldingIndex(self._scoped, recording)
        await answer(text, AgentContext(index=index, reasoner=self._reasoner, now=self._now))


class _YieldingIndex(ReplayableScopedIndex):
    """Lets the other questions run at each round trip, as a real index does."""

    async def answer_requests(self, *requests: IndexRequest[object]) -> IndexAnswers:
        await asyncio.sleep(0)
        return await super().answer_requests(*requests)


async def _measure_reasoner(name: str, recorded: _RecordedQuestions, runs: int) -> BenchmarkFigure:
    await recorded.answer_one_by_one()
    own_ms, wall_s = list[float](), list[float]()
    for _ in range(runs):
        started_s, started_cpu_s = time.perf_counter(), time.process_time()
        await recorded.answer_at_once()
        wall_s.append(time.perf_counter() - started_s)
        own_ms.append(1000 * (time.process_time() - started_cpu_s) / len(recorded))
    rates = [1000 / ms for ms in own_ms]
    different = recorded.list_different()
    return BenchmarkFigure(
        name=f"{_AT_ONCE} questions at once, {name}: CPU a question",
        unit="ms",
        run_values=tuple(own_ms),
        target=1000 / _QUESTIONS_A_SECOND,
        note=f"{statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f}) a second of own processor time,"
        f" {len(recorded) / statistics.median(wall_s):.0f} a second by the clock; {len(recorded)} questions"
        + (f", {len(different)} asked otherwise: {different[0]}" if different else ""),
    )


async def _measure_on_demo(question_count: int | None, runs: int) -> list[BenchmarkFigure]:
    corpus = generate_corpus()
    question_texts = [question.text for question in questions(corpus)][:question_count]
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        folder = Path(name)
        settings = settings_in(folder)
        async with open_demo_index(settings, corpus, folder / "corpus") as index:
            return await measure_questions_at_once(index, settings, question_texts, runs)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.questions_at_once", description=__doc__)
    parser.add_argument("--questions", type=int, help="how many of the demo's [all]")
    parser.add_argument("--runs", type=int, default=5, help="how often they are answered [5]")
    options, console = parser.parse_args(), Console(width=200)
    console.print(build_figure_table(asyncio.run(_measure_on_demo(options.questions, options.runs))))
    console.print(f"load: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
