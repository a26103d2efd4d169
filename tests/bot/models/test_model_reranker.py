"""What `ModelReranker` has beyond the contract of a reranker: what it sends, failures, and the log of the turn."""

import math
from collections.abc import Sequence

import pytest

from agent.errors import RerankerUnavailable
from agent.reasoning_log import ReasoningLog, collect_calls_in
from bot.models.model_reranker import ModelReranker
from tests.stand_ins.gateway_calls import OverlapScoreSource


async def test_each_text_is_sent_once_and_no_blank_one() -> None:
    source = OverlapScoreSource()

    await ModelReranker("scores", source).score_passages("frost", ["a frost", " ", "a frost", "heat \ud800"])

    assert source.queries == [("frost", ["a frost", "heat ?"])]


async def test_blank_texts_alone_need_no_call() -> None:
    source = OverlapScoreSource()

    assert await ModelReranker("scores", source).score_passages("frost", ["", " "]) == [0.0, 0.0]
    assert source.queries == []


async def test_a_model_that_does_not_answer_is_unavailable_and_works_later() -> None:
    source = OverlapScoreSource()
    reranker, source.is_failing = ModelReranker("scores", source), True
    with pytest.raises(RerankerUnavailable, match="scores does not answer"):
        await reranker.score_passages("frost", ["frost"])
    source.is_failing = False

    assert len(await reranker.score_passages("frost", ["frost"])) == 1


async def test_calls_are_recorded_in_the_log_of_the_turn() -> None:
    log = ReasoningLog()
    with collect_calls_in(log):
        await ModelReranker("scores", OverlapScoreSource()).score_passages("frost", ["frost", "heat"])

    assert [call.input_tokens for call in log.calls] == [2]


class BrokenScores:
    def __init__(self, scores: Sequence[float]) -> None:
        self._scores = scores

    async def score_passages(self, query: str, texts: Sequence[str], log: ReasoningLog) -> Sequence[float]:
        return self._scores


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, math.nan]], ids=str)
async def test_scores_that_are_no_numbers_for_the_texts_are_refused(scores: list[float]) -> None:
    with pytest.raises(RerankerUnavailable, match="broken"):
        await ModelReranker("broken", BrokenScores(scores)).score_passages("frost", ["frost", "heat"])
