"""The model that comes with Parley: shape, length, and texts without words."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import wordllama  # pyright: ignore[reportMissingTypeStubs]

from storage.embedder import WordLlamaEmbedder


async def test_vectors_are_normalised_and_empty_texts_give_zero_rows() -> None:
    embedder = WordLlamaEmbedder()

    vectors = await embedder.embed(["a rubber tyre", "", "  ", "\ud800 broken", "日本", "x " * 30_000])

    assert vectors.shape == (6, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0, 1, 1, 1], atol=1e-4)


async def test_texts_of_like_meaning_lie_near() -> None:
    tyre, wheel, contract = await WordLlamaEmbedder().embed(["car tyre", "automobile wheel", "termination clause"])

    assert tyre @ wheel > tyre @ contract


async def test_vectors_are_those_of_the_library() -> None:
    texts = ["Some  words,\nthen\tmore.", " ▁ marks e\u0301, 中文 and 😀 ", "snake_case B-120 3.0%", "\n\n x", "a" * 70]
    loaded = cast(Any, wordllama.WordLlama).load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    expected = loaded.embed(texts, norm=True)

    assert np.allclose(await WordLlamaEmbedder().embed(texts), expected, atol=1e-5)


async def test_no_texts_give_no_rows() -> None:
    assert (await WordLlamaEmbedder().embed([])).shape == (0, 256)


def test_logging_stays_as_the_process_has_it() -> None:
    embed = "asyncio.run(WordLlamaEmbedder().embed(['word']))"
    imports = "import asyncio, logging; from storage.embedder import WordLlamaEmbedder"
    script = f"{imports}; {embed}; print(logging.root.handlers, logging.root.level)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("[] 30\n", "")
