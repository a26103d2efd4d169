"""Measures the CPU time of a question without the index: for the agent alone, and for a whole turn through the bot.

Each question is answered once with the index and recorded, and then replayed from the recording without the index.
"""

import statistics
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import count

from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Clarify
from agent.reasoner import Reasoner
from agent.rules.reasoner import RuleReasoner
from bench.demo_index import open_bot_over, operator_scope_of
from bench.figures import BenchmarkFigure, CpuStopwatch, percentile_of
from bench.index_recording import IndexRecording, ReplayableIndex, ReplayableScopedIndex
from bot.application import Application
from bot.ids import OPERATOR, ConversationId, MessageId
from bot.settings import Settings
from bot.surface.inbound import Inbound, OperatorAudience, TextMessage
from storage.search.index import SearchIndex
from storage.search.scope import Scope

_AGENT_TARGET_MS = 5.0
_TURN_TARGET_MS = 12.0
_TARGET_ROUND_TRIPS = 2.0
_event_numbers = count(1)


async def measure_overhead(
    index: SearchIndex, settings: Settings, questions: Sequence[str], runs: int
) -> list[BenchmarkFigure]:
    agent_figures, round_trip_figure = await measure_agent(
        index, await operator_scope_of(index, settings), questions, runs
    )
    return [*agent_figures, *await _measure_whole_turns(index, settings, questions, runs), round_trip_figure]


async def measure_agent(
    index: SearchIndex,
    scope: Scope,
    questions: Sequence[str],
    runs: int,
    name: str = "agent",
    target_ms: float = _AGENT_TARGET_MS,
    reasoner: Reasoner | None = None,
) -> tuple[list[BenchmarkFigure], BenchmarkFigure]:
    """The agent's CPU time of a question, and the round trips of a clarification; by the rules unless told else."""
    scoped, reasoner = index.within_scope(scope), reasoner or RuleReasoner()
    now = datetime.now(UTC)
    recordings: list[IndexRecording] = []
    extra_round_trips: list[float] = []

    async def answer_question(question: str, recording: IndexRecording) -> None:
        context = AgentContext(index=ReplayableScopedIndex(scoped, recording), reasoner=reasoner, now=now)
        outcome = await answer(question, context)
        if isinstance(outcome, Clarify) and not recording.is_replaying:
            extra_round_trips.append(max(0.0, recording.round_trips - 1.0))

    for question in questions:
        recordings.append(IndexRecording())
        await answer_question(question, recordings[-1])
    index_runs = [await _time_index_requests(scoped.answer_requests, recordings) for _ in range(runs)]
    replay_runs = [await _time_replays(answer_question, questions, recordings) for _ in range(runs)]
    figures = _percentile_figures_of(
        f"{name}, CPU a question", replay_runs, index_runs, _describe_differences(questions, recordings), target_ms
    )
    round_trip_figure = BenchmarkFigure(
        name="round trips of a clarification beyond the first search, most",
        unit="",
        run_values=(max(extra_round_trips, default=0.0),),
        target=_TARGET_ROUND_TRIPS,
        note=f"{len(extra_round_trips)} clarifications, median {statistics.median(extra_round_trips or [0.0]):g}",
    )
    return figures, round_trip_figure


async def _measure_whole_turns(
    index: SearchIndex, settings: Settings, questions: Sequence[str], runs: int
) -> list[BenchmarkFigure]:
    replayable_index = ReplayableIndex(index)
    recordings: list[IndexRecording] = []
    async with open_bot_over(replayable_index, settings) as bot:

        async def answer_through_bot(question: str, recording: IndexRecording) -> None:
            replayable_index.recording = recording
            await run_question_turn(bot, question)

        for question in questions:
            recordings.append(IndexRecording())
            await answer_through_bot(question, recordings[-1])
        scoped = index.within_scope(await operator_scope_of(index, settings))
        index_runs = [await _time_index_requests(scoped.answer_requests, recordings) for _ in range(runs)]
        replay_runs = [await _time_replays(answer_through_bot, questions, recordings) for _ in range(runs)]
    return _percentile_figures_of(
        "whole turn, CPU a question",
        replay_runs,
        index_runs,
        _describe_differences(questions, recordings),
        _TURN_TARGET_MS,
    )


async def run_question_turn(bot: Application, question: str) -> None:
    """Run a turn in a new conversation, from the inbox to the reply."""
    turn = await bot.accept_inbound(make_message(question))
    if turn is not None:
        await bot.run_turn(turn)


def make_message(question: str) -> Inbound:
    event = f"bench-{next(_event_numbers)}"
    return Inbound(
        surface="bench",
        event_id=event,
        conversation=ConversationId(event),
        message_id=MessageId(event),
        person=OPERATOR,
        person_name="bench",
        audience=OperatorAudience(),
        body=TextMessage(question),
        received_at=datetime.now(UTC),
    )


async def _time_replays(
    answer_question: Callable[[str, IndexRecording], Awaitable[None]],
    questions: Sequence[str],
    recordings: Sequence[IndexRecording],
) -> list[float]:
    """Milliseconds of each replayed question."""
    stopwatch = CpuStopwatch()
    for question, recording in zip(questions, recordings, strict=True):
        recording.start_replay()
        with stopwatch.time_lap():
            await answer_question(question, recording)
    return stopwatch.laps_ms


async def _time_index_requests(
    ask: Callable[..., Awaitable[object]], recordings: Sequence[IndexRecording]
) -> list[float]:
    """Milliseconds of the index for the round trips of each question."""
    stopwatch = CpuStopwatch()
    for recording in recordings:
        with stopwatch.time_lap():
            for requests in recording.requests:
                await ask(*requests)
    return stopwatch.laps_ms


def _describe_differences(questions: Sequence[str], recordings: Sequence[IndexRecording]) -> str:
    """A note on questions whose replay made other calls than the recording. Such calls make the figure invalid."""
    different = [
        question
        for question, recording in zip(questions, recordings, strict=True)
        if recording.replayed_calls != recording.recorded_calls
    ]
    return f"{len(questions)} questions" + (f", {len(different)} asked otherwise: {different[0]}" if different else "")


def _percentile_figures_of(
    name: str, replay_runs: list[list[float]], index_runs: list[list[float]], note: str, target_ms: float
) -> list[BenchmarkFigure]:
    median_ms = statistics.median(statistics.median(run) for run in index_runs)
    p95_ms = statistics.median(percentile_of(run, 95) for run in index_runs)
    least_ms = [min(times) for times in zip(*replay_runs, strict=True)]
    return [
        BenchmarkFigure(
            name=f"{name}, least of {len(replay_runs)} answers, p50",
            unit="ms",
            run_values=(statistics.median(least_ms),),
            target=target_ms,
            note="what other programs add is left out",
        ),
        BenchmarkFigure(
            name=f"{name}, p50",
            unit="ms",
            run_values=tuple(statistics.median(run) for run in replay_runs),
            target=target_ms,
            baseline=median_ms,
            note=f"{note}; bare: the index's own CPU",
        ),
        BenchmarkFigure(
            name=f"{name}, p95",
            unit="ms",
            run_values=tuple(percentile_of(run, 95) for run in replay_runs),
            target=target_ms,
            baseline=p95_ms,
        ),
    ]
