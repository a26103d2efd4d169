"""The contract of `agent.retrieval.relevance.Reranker`, for every implementation.

All implementations know the words frost and boiler.
"""

import asyncio
import math
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.retrieval.relevance import Reranker
from bot.models.model_reranker import ModelReranker
from bot.reranker import FlashrankReranker
from tests.stand_ins.cross_encoder import MODEL, write_model
from tests.stand_ins.gateway_calls import OverlapScoreSource
from tests.stand_ins.overlap import OverlapReranker

QUESTION = "What of the boiler in a frost?"
TEXTS = ["The roof.", "In a frost the boiler is fed.", "", "Frost on the roof.", "The roof."]


@contextmanager
def open_overlap_reranker(tmp_path: Path) -> Generator[Reranker]:
    yield OverlapReranker()


@contextmanager
def open_flashrank_reranker(tmp_path: Path) -> Generator[Reranker]:
    write_model(tmp_path, {"frost": 1.0, "boiler": 1.5, "roof": -2.0})
    with closing(FlashrankReranker(MODEL, tmp_path)) as reranker:
        yield reranker


@contextmanager
def open_model_reranker(tmp_path: Path) -> Generator[Reranker]:
    yield ModelReranker("overlap", OverlapScoreSource())


WITH_EXTRA = pytest.mark.skipif(
    find_spec("flashrank") is None, reason="flashrank (the extra `rerank`) is not installed"
)


@pytest.fixture(
    params=[open_overlap_reranker, open_model_reranker, pytest.param(open_flashrank_reranker, marks=WITH_EXTRA)]
)
def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Reranker]:
    with request.param(tmp_path) as opened:
        yield opened


async def test_every_text_has_a_score_in_the_given_order_and_a_better_text_a_higher_score(reranker: Reranker) -> None:
    scores = await reranker.score_passages(QUESTION, TEXTS)

    assert len(scores) == len(TEXTS)
    assert max(range(len(TEXTS)), key=scores.__getitem__) == 1
    assert scores[3] > scores[0]


async def test_equal_texts_have_equal_scores_and_no_texts_no_scores(reranker: Reranker) -> None:
    scores = await reranker.score_passages(QUESTION, TEXTS)

    assert scores[0] == scores[4]
    assert list(await reranker.score_passages(QUESTION, [])) == []


async def test_any_strings_have_finite_scores(reranker: Reranker) -> None:
    odd = ["", " ", "\ud800 broken", "日本", "frost " * 5_000, "roof " * 5_000]

    for question in odd[:4]:
        assert all(map(math.isfinite, await reranker.score_passages(question, odd)))


async def test_concurrent_calls_do_not_affect_each_other(reranker: Reranker) -> None:
    expected = [list(await reranker.score_passages(QUESTION, TEXTS[start:])) for start in range(4)]

    concurrent_scores = await asyncio.gather(*(reranker.score_passages(QUESTION, TEXTS[start:]) for start in range(4)))

    assert [list(scores) for scores in concurrent_scores] == expected


async def test_the_reranker_still_works_after_a_cancelled_call(reranker: Reranker) -> None:
    call = asyncio.ensure_future(reranker.score_passages(QUESTION, TEXTS))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])

    assert len(await reranker.score_passages(QUESTION, TEXTS)) == len(TEXTS)
