"""What `WordLlamaEmbedder` has beyond the contract of an embedder: meanings, and the vectors of the library."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import wordllama  # pyright: ignore[reportMissingTypeStubs]

from storage.embedder import WordLlamaEmbedder


async def test_texts_with_similar_meanings_have_similar_vectors() -> None:
    tyre, wheel, contract = await WordLlamaEmbedder().embed_texts(
        ["car tyre", "automobile wheel", "termination clause"]
    )

    assert tyre @ wheel > tyre @ contract


async def test_vectors_equal_those_of_the_library() -> None:
    texts = ["Some  words,\nthen\tmore.", " ▁ marks e\u0301, 中文 and 😀 ", "snake_case B-120 3.0%", "\n\n x", "a" * 70]
    library_model = cast(Any, wordllama.WordLlama).load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )

    expected = library_model.embed(texts, norm=True)

    assert np.allclose(await WordLlamaEmbedder().embed_texts(texts), expected, atol=1e-5)


def test_loading_the_model_does_not_change_the_logging_setup() -> None:
    embed = "asyncio.run(WordLlamaEmbedder().embed_texts(['word']))"
    imports = "import asyncio, logging; from storage.embedder import WordLlamaEmbedder"
    script = f"{imports}; {embed}; print(logging.root.handlers, logging.root.level)"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert (process.stdout, process.stderr) == ("[] 30\n", "")
