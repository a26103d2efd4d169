"""The contract of `storage.embedder.Embedder`, for every implementation."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models.model_embedder import ModelEmbedder
from bot.models.result_cache import ResultCache
from storage.embedder import Embedder, WordLlamaEmbedder
from tests.stand_ins.gateway_calls import ChecksumVectorSource
from tests.stand_ins.word_vectors import ChecksumEmbedder

if TYPE_CHECKING:
    from storage.embedder import Vectors

EmbedderFactory: TypeAlias = Callable[[], Embedder]


def build_model_embedder() -> ModelEmbedder:
    return ModelEmbedder("checksum", ChecksumVectorSource(), ResultCache(Path(mkdtemp())))


EMBEDDERS: list[EmbedderFactory] = [WordLlamaEmbedder, ChecksumEmbedder, build_model_embedder]
TEXTS = ["a rubber tyre", "", "termination clause", "日本", "ein Vertrag über Reifen", "a rubber tyre", "B-120 3.0%"]
HOSTILE_TEXTS = ["\ud800 broken", "words\x00", "é😀 \u202e", "x" * 100_000, "long words " * 50_000]
BLANK_TEXTS = ["", " ", "\n\t  ", "\u2003"]


@pytest.fixture(params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return request.param()


def lengths_of(vectors: "Vectors") -> list[float]:
    return np.linalg.norm(vectors, axis=1).round(3).tolist()


async def test_every_text_has_a_row_of_the_declared_dimensions(embedder: Embedder) -> None:
    vectors = await embedder.embed_texts(TEXTS)

    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), await embedder.load_dimensions()), np.float32)
    assert embedder.name


async def test_no_texts_give_no_rows_of_the_declared_dimensions(embedder: Embedder) -> None:
    vectors = await embedder.embed_texts([])

    assert (vectors.shape, vectors.dtype) == ((0, await embedder.load_dimensions()), np.float32)


async def test_every_row_has_the_length_one_and_that_of_a_blank_text_is_zero(embedder: Embedder) -> None:
    vectors = await embedder.embed_texts(["a rubber tyre", *HOSTILE_TEXTS])

    assert lengths_of(vectors) == [1.0] * len(vectors)
    assert not (await embedder.embed_texts(BLANK_TEXTS)).any()


async def test_the_row_of_a_text_depends_neither_on_the_other_texts_nor_on_their_order(embedder: Embedder) -> None:
    together = await embedder.embed_texts(TEXTS)

    alone = [(await embedder.embed_texts([text]))[0] for text in TEXTS]
    assert np.array_equal(together, alone)
    assert np.array_equal(await embedder.embed_texts(TEXTS[::-1]), together[::-1])


@pytest.mark.parametrize("build_embedder", EMBEDDERS)
async def test_two_embedders_of_the_same_name_give_the_same_vectors(build_embedder: EmbedderFactory) -> None:
    first, second = build_embedder(), build_embedder()

    assert (first.name, await first.load_dimensions()) == (second.name, await second.load_dimensions())
    assert np.array_equal(await first.embed_texts(TEXTS), await second.embed_texts(TEXTS))


async def test_similar_texts_have_a_smaller_angle(embedder: Embedder) -> None:
    tyre, wheel, contract = await embedder.embed_texts(["car tyre", "wheel with a tyre", "termination clause"])

    assert tyre @ wheel > tyre @ contract


@pytest.mark.parametrize("embedder", [build_embedder() for build_embedder in EMBEDDERS])
@settings(deadline=None)
@given(texts=st.lists(st.text(st.characters(), max_size=80), max_size=5))
async def test_a_vector_of_any_text_has_the_length_one_or_zero(embedder: Embedder, texts: list[str]) -> None:
    vectors = await embedder.embed_texts(texts)

    assert set(lengths_of(vectors)) <= {0.0, 1.0}


async def test_concurrent_calls_do_not_affect_each_other(embedder: Embedder) -> None:
    results = await asyncio.gather(*(embedder.embed_texts(TEXTS[start:]) for start in range(len(TEXTS))))

    expected = await embedder.embed_texts(TEXTS)
    assert all(np.array_equal(vectors, expected[start:]) for start, vectors in enumerate(results))


async def test_the_embedder_still_works_after_a_cancelled_call(embedder: Embedder) -> None:
    expected = await embedder.embed_texts(TEXTS)
    call = asyncio.ensure_future(embedder.embed_texts(HOSTILE_TEXTS))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])

    assert np.array_equal(await embedder.embed_texts(TEXTS), expected)
