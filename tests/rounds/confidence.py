"""Fits the confidence in computed answers: `python -m tests.rounds.confidence [ROUND …] [--rows FILE]`.

Each question is asked as in `tests.rounds.measure`, without asking back for lack of confidence. Each round is judged by
weights that were fitted on all other rounds; the table says how many right and wrong answers a limit would hold back.
Then it prints the weights for `agent.review.answer_confidence`, fitted on all rounds.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.evidence.word_meanings import TextEmbedder
from agent.review.answer_confidence import ReadingFeatures
from agent.review.doubtful_reading import claims_absence, may_be_doubtful
from agent.review.leg_review import Decision, Enough, LegClarification, LegReview
from agent.rules.reasoner import RuleReasoner
from bot.bootstrap import open_application
from bot.cli.runtime import settings_for_home
from bot.cli.speaker import new_conversation_id
from bot.surface.inbound import TextMessage
from storage.embedder import WordLlamaEmbedder
from storage.search.plan import LegCombination
from tests.rounds.measure import (
    ROUNDS,
    ask_turn,
    generate_round,
    load_round_documents,
    read_round_clock,
    read_round_questions,
)
from tests.rounds.scoring import Verdict, judge_first_reply

Matrix: TypeAlias = NDArray[np.floating]
_LIMITS = (0.9, 0.85, 0.8, 0.775, 0.75, 0.725, 0.7, 0.65, 0.6, 0.5)
_ASSESSED_OUTCOMES = frozenset({"answer", "no_results"})
_FITTING_STEPS = 40
_PENALTY = 1.0  # of squared weights, so that a rare feature does not weigh without bound


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReading:
    """A question that was answered from the plan of a leg, or of several: the features of each."""

    round_name: str
    question_id: str
    is_right: bool
    legs: tuple[ReadingFeatures, ...]


class RecordingReasoner(RuleReasoner):
    """Notes the features of each leg that it answers from its plan, and asks back for no lack of confidence."""

    def __init__(self, embedder: TextEmbedder) -> None:
        super().__init__(embedder)
        self.recorded: list[ReadingFeatures] = []

    async def review_legs(
        self, reviews: Sequence[LegReview], combination: LegCombination, *, is_last_round: bool
    ) -> Sequence[Decision]:
        without_assessment = [
            replace(review, alternatives=replace(review.alternatives, assessment=None)) for review in reviews
        ]
        decisions = await super().review_legs(without_assessment, combination, is_last_round=is_last_round)
        for review, decision in zip(reviews, decisions, strict=False):
            assessment = review.alternatives.assessment
            if assessment is not None and isinstance(decision, Enough) and may_be_doubtful(review, decision):
                self.recorded.append(assessment.features)
            elif assessment is not None and isinstance(decision, LegClarification) and claims_absence(decision):
                self.recorded.append(replace(assessment.features, finds_nothing=1.0))
        return decisions


async def judge_readings(name: str, home: Path) -> list[JudgedReading]:
    """Asks the questions of a round; returns those that are answered from a plan."""
    folder = generate_round(name, home / "rounds")
    settings = settings_for_home(home / f"home-{name}").settings
    settings = settings.model_copy(update={"index_url": "embedded:", "database_url": None})
    reasoner, judged = RecordingReasoner(WordLlamaEmbedder()), list[JudgedReading]()
    async with open_application(settings, clock=read_round_clock, reasoner=reasoner) as bot:
        await load_round_documents(bot, [folder])
        for question in read_round_questions(folder):
            conversation = new_conversation_id()
            for turn in question.turns[:-1]:
                await ask_turn(bot, TextMessage(turn), conversation)
            reasoner.recorded.clear()
            result = await ask_turn(bot, TextMessage(question.turns[-1]), conversation)
            verdict = judge_first_reply(question.truth, result)
            if result["outcome"] in _ASSESSED_OUTCOMES and reasoner.recorded:
                judged.append(
                    JudgedReading(
                        round_name=name,
                        question_id=question.id,
                        is_right=verdict is Verdict.RIGHT,
                        legs=tuple(reasoner.recorded),
                    )
                )
    return judged


def fit_weights(readings: Sequence[JudgedReading]) -> Matrix:
    """Returns intercept and weights of a logistic regression with a small penalty (Newton's method).

    Of several legs the one with the most left out counts.
    """
    inputs: Matrix = np.array([(1.0, *worst_features_of(reading)) for reading in readings], dtype=np.float64)
    labels: Matrix = np.array([float(reading.is_right) for reading in readings], dtype=np.float64)
    penalty: Matrix = np.diag([0.0] + [_PENALTY] * (inputs.shape[1] - 1))
    weights: Matrix = np.array([0.0] * inputs.shape[1])
    for _ in range(_FITTING_STEPS):
        predicted: Matrix = 1 / (1 + np.exp(-(inputs @ weights)))
        gradient: Matrix = inputs.T @ (predicted - labels) + penalty @ weights
        curvature: Matrix = (inputs * (predicted * (1 - predicted))[:, None]).T @ inputs + penalty
        weights = weights - np.linalg.solve(curvature, gradient)
    return weights


def worst_features_of(reading: JudgedReading) -> tuple[float, ...]:
    return max(map(astuple, reading.legs), key=sum)


def score_held_out(readings: Sequence[JudgedReading]) -> list[float]:
    """Returns the confidence in each reading, by weights fitted on the other rounds."""
    names = dict.fromkeys(reading.round_name for reading in readings)
    weights = {name: fit_weights([other for other in readings if other.round_name != name]) for name in names}
    return [score_with(weights[reading.round_name], reading) for reading in readings]


def score_with(weights: Matrix, reading: JudgedReading) -> float:
    logit = float(np.dot(weights, np.array((1.0, *worst_features_of(reading)))))
    return float(1 / (1 + np.exp(-logit)))


def describe_trade_off(readings: Sequence[JudgedReading], scores: Sequence[float]) -> Iterator[str]:
    """Yields a table in Markdown: what each limit holds back."""
    right = [score for reading, score in zip(readings, scores, strict=True) if reading.is_right]
    wrong = [score for reading, score in zip(readings, scores, strict=True) if not reading.is_right]
    yield f"{len(right)} right and {len(wrong)} wrong answers, of {len({r.round_name for r in readings})} rounds"
    yield "| limit | wrong answers held back | right answers held back |"
    yield "|---|---|---|"
    for limit in _LIMITS:
        cells = (
            f"{sum(score < limit for score in group)} ({sum(score < limit for score in group) / len(group):.2f})"
            for group in (wrong, right)
        )
        yield f"| {limit} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="all rounds, if none is given")
    parser.add_argument("--rows", type=Path, help="write each judged reading, a JSON object a line")
    options = parser.parse_args()
    names = options.names or sorted(path.name for path in ROUNDS.glob("r[0-9]*") if path.is_dir())
    readings = list[JudgedReading]()
    for name in names:
        with TemporaryDirectory(prefix="parley-confidence-") as folder:
            readings += asyncio.run(judge_readings(name, Path(folder)))
    if options.rows is not None:
        options.rows.write_text("\n".join(json.dumps(asdict(reading)) for reading in readings), encoding="utf-8")
    print("\n".join(describe_trade_off(readings, score_held_out(readings))))  # noqa: T201
    labels = ["intercept", *(field.name for field in fields(ReadingFeatures))]
    print("\n".join(f"{label}={weight:.2f}" for label, weight in zip(labels, fit_weights(readings), strict=True)))  # noqa: T201


if __name__ == "__main__":
    main()
