"""The sentences of `agent.rerank.Reranker`, for every implementation. Both know the words frost and boiler."""

import asyncio
import math
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.rerank import Reranker
from bot.reranker import FlashrankReranker
from tests.stand_ins.cross_encoder import MODEL, write_model
from tests.stand_ins.overlap import OverlapReranker

QUESTION = "What of the boiler in a frost?"
TEXTS = ["The roof.", "In a frost the boiler is fed.", "", "Frost on the roof.", "The roof."]


@contextmanager
def overlap(tmp_path: Path) -> Generator[Reranker]:
    yield OverlapReranker()


@contextmanager
def flashrank(tmp_path: Path) -> Generator[Reranker]:
    write_model(tmp_path, {"frost": 1.0, "boiler": 1.5, "roof": -2.0})
    with closing(FlashrankReranker(MODEL, tmp_path)) as reranker:
        yield reranker


WITH_EXTRA = pytest.mark.skipif(
    find_spec("flashrank") is None, reason="flashrank (the extra `rerank`) is not installed"
)


@pytest.fixture(params=[overlap, pytest.param(flashrank, marks=WITH_EXTRA)])
def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Reranker]:
    with request.param(tmp_path) as opened:
        yield opened


async def test_every_text_has_a_score_in_the_order_given_and_the_better_text_the_higher(reranker: Reranker) -> None:
    scores = await reranker.scores(QUESTION, TEXTS)

    assert len(scores) == len(TEXTS)
    assert max(range(len(TEXTS)), key=scores.__getitem__) == 1
    assert scores[3] > scores[0]


async def test_equal_texts_are_judged_alike_and_no_texts_have_no_scores(reranker: Reranker) -> None:
    scores = await reranker.scores(QUESTION, TEXTS)

    assert scores[0] == scores[4]
    assert list(await reranker.scores(QUESTION, [])) == []


async def test_any_strings_have_finite_scores(reranker: Reranker) -> None:
    odd = ["", " ", "\ud800 broken", "日本", "frost " * 5_000, "roof " * 5_000]

    for question in odd[:4]:
        assert all(map(math.isfinite, await reranker.scores(question, odd)))


async def test_calls_at_once_do_not_meet(reranker: Reranker) -> None:
    alone = [list(await reranker.scores(QUESTION, TEXTS[at:])) for at in range(4)]

    together = await asyncio.gather(*(reranker.scores(QUESTION, TEXTS[at:]) for at in range(4)))

    assert [list(one) for one in together] == alone


async def test_one_that_was_given_up_can_be_asked_again(reranker: Reranker) -> None:
    asked = asyncio.ensure_future(reranker.scores(QUESTION, TEXTS))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])

    assert len(await reranker.scores(QUESTION, TEXTS)) == len(TEXTS)
