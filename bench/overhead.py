"""Processor time a question costs beside the index: the agent alone, and a whole turn through the bot.

Each question is answered once with the index while a tape runs, then from the tape, where the index takes no time.
"""

import statistics
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import count

from agent.context import Context
from agent.loop import answer
from agent.outcome import Clarify
from agent.rules.reasoner import RuleReasoner
from bench.figures import Figure, Stopwatch, percentile
from bench.home import bot_over, everything
from bench.tape import Tape, TapedIndex, TapedScopedIndex
from bot.bootstrap import Bot
from bot.ids import OPERATOR, ConversationId, MessageId
from bot.inbound import Inbound, Operator, Said
from bot.settings import Settings
from storage.search.index import SearchIndex
from storage.search.scope import Scope

_AIM_MS = 15.0
_AIM_ROUND_TRIPS = 2.0
_events = count(1)


async def overhead(index: SearchIndex, settings: Settings, questions: Sequence[str], runs: int) -> list[Figure]:
    alone, asking_back = await agent_alone(index, await everything(index, settings), questions, runs)
    return [*alone, *await _whole_turns(index, settings, questions, runs), asking_back]


async def agent_alone(
    index: SearchIndex, scope: Scope, questions: Sequence[str], runs: int, name: str = "agent", aim: float = _AIM_MS
) -> tuple[list[Figure], Figure]:
    """What a question costs the agent, and the round trips of a clarification."""
    scoped, reasoner = index.within(scope), RuleReasoner()
    now = datetime.now(UTC)
    tapes: list[Tape] = []
    trips: list[float] = []

    async def answered(question: str, tape: Tape) -> None:
        context = Context(index=TapedScopedIndex(scoped, tape), reasoner=reasoner, now=now)
        outcome = await answer(question, context)
        if isinstance(outcome, Clarify) and not tape.is_playing:
            trips.append(max(0.0, tape.round_trips - 1.0))

    for question in questions:
        tapes.append(Tape())
        await answered(question, tapes[-1])
    bare = [await _bare(scoped.ask, tapes) for _ in range(runs)]
    played = [await _played(answered, questions, tapes) for _ in range(runs)]
    figures = _of(f"{name}, CPU a question", played, bare, _unlike(questions, tapes), aim)
    back = Figure(
        name="round trips of a clarification beyond the first search, most",
        unit="",
        runs=(max(trips, default=0.0),),
        aim=_AIM_ROUND_TRIPS,
        note=f"{len(trips)} clarifications, median {statistics.median(trips or [0.0]):g}",
    )
    return figures, back


async def _whole_turns(index: SearchIndex, settings: Settings, questions: Sequence[str], runs: int) -> list[Figure]:
    taped = TapedIndex(index)
    tapes: list[Tape] = []
    async with bot_over(taped, settings) as bot:

        async def answered(question: str, tape: Tape) -> None:
            taped.tape = tape
            await asked(bot, question)

        for question in questions:
            tapes.append(Tape())
            await answered(question, tapes[-1])
        scoped = index.within(await everything(index, settings))
        bare = [await _bare(scoped.ask, tapes) for _ in range(runs)]
        played = [await _played(answered, questions, tapes) for _ in range(runs)]
    return _of("whole turn, CPU a question", played, bare, _unlike(questions, tapes), _AIM_MS)


async def asked(bot: Bot, question: str) -> None:
    """A turn of its own in a conversation of its own, from the inbox to the reply."""
    turn = await bot.accept(a_message(question))
    if turn is not None:
        await bot.run(turn)


def a_message(question: str) -> Inbound:
    event = f"bench-{next(_events)}"
    return Inbound(
        surface="bench",
        event_id=event,
        conversation=ConversationId(event),
        message_id=MessageId(event),
        person=OPERATOR,
        name="bench",
        audience=Operator(),
        body=Said(question),
        received=datetime.now(UTC),
    )


async def _played(
    answered: Callable[[str, Tape], Awaitable[None]], questions: Sequence[str], tapes: Sequence[Tape]
) -> list[float]:
    """Milliseconds of each question, with no index behind it."""
    watch = Stopwatch()
    for question, tape in zip(questions, tapes, strict=True):
        tape.play()
        with watch.lap():
            await answered(question, tape)
    return watch.laps


async def _bare(ask: Callable[..., Awaitable[object]], tapes: Sequence[Tape]) -> list[float]:
    """Milliseconds that the index itself takes for the round trips of each question."""
    watch = Stopwatch()
    for tape in tapes:
        with watch.lap():
            for requests in tape.requests:
                await ask(*requests)
    return watch.laps


def _unlike(questions: Sequence[str], tapes: Sequence[Tape]) -> str:
    """Whether the questions asked the tape what they had asked the index, without which the figure means nothing."""
    unlike = [question for question, tape in zip(questions, tapes, strict=True) if tape.heard != tape.asked]
    return f"{len(questions)} questions" + (f", {len(unlike)} asked otherwise: {unlike[0]}" if unlike else "")


def _of(name: str, played: list[list[float]], bare: list[list[float]], note: str, aim: float) -> list[Figure]:
    middle = statistics.median(statistics.median(run) for run in bare)
    high = statistics.median(percentile(run, 95) for run in bare)
    return [
        Figure(
            name=f"{name}, p50",
            unit="ms",
            runs=tuple(statistics.median(run) for run in played),
            aim=aim,
            bare=middle,
            note=f"{note}; bare: the index's own CPU",
        ),
        Figure(
            name=f"{name}, p95",
            unit="ms",
            runs=tuple(percentile(run, 95) for run in played),
            aim=aim,
            bare=high,
        ),
    ]
