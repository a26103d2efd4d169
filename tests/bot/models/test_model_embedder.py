"""What `ModelEmbedder` has beyond the contract of embedders: batches, the cache, failures, and the log of the turn."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agent.reasoning_log import ReasoningLog, collect_calls_in
from bot.models.model_embedder import ModelEmbedder
from bot.models.result_cache import FILE_NAME, ResultCache
from storage.search.errors import EmbedderUnavailable
from tests.stand_ins.gateway_calls import ChecksumVectorSource

PASSAGES = [f"passage {number} about pumps" for number in range(150)]


def an_embedder(folder: Path, source: ChecksumVectorSource, model: str = "vectors") -> ModelEmbedder:
    return ModelEmbedder(model, source, ResultCache(folder))


async def test_passages_are_embedded_in_batches_and_never_asked_for_again(tmp_path: Path) -> None:
    source = ChecksumVectorSource()
    first = await an_embedder(tmp_path, source).embed_texts([*PASSAGES, PASSAGES[0]], are_passages=True)
    batch_sizes = sorted(map(len, source.batches))

    second = await an_embedder(tmp_path, source).embed_texts([*PASSAGES, "new"], are_passages=True)

    assert batch_sizes == [22, 64, 64]
    assert source.texts[150:] == ["new"]
    assert np.array_equal(first[:150], second[:150])
    assert np.array_equal(first[150], first[0])


async def test_what_arrived_before_a_failure_is_kept(tmp_path: Path) -> None:
    source = ChecksumVectorSource(remaining_calls=2)
    with pytest.raises(EmbedderUnavailable, match="vectors does not answer"):
        await an_embedder(tmp_path, source).embed_texts(PASSAGES, are_passages=True)
    source.remaining_calls = 10

    await an_embedder(tmp_path, source).embed_texts(PASSAGES, are_passages=True)

    assert len(source.texts) == len(set(source.texts)) == 150


async def test_the_texts_of_questions_are_cached_in_memory_alone(tmp_path: Path) -> None:
    source = ChecksumVectorSource()
    embedder = an_embedder(tmp_path, source)
    await embedder.embed_texts(["who?"])
    await embedder.embed_texts(["who?", "when?"])

    assert source.batches == [["who?"], ["when?"]]
    assert not (tmp_path / FILE_NAME).exists()


async def test_calls_are_recorded_in_the_log_of_the_turn(tmp_path: Path) -> None:
    log, embedder = ReasoningLog(), an_embedder(tmp_path, ChecksumVectorSource())
    with collect_calls_in(log):
        await embedder.embed_texts(["who?"])
    await embedder.embed_texts(["when?"])

    assert [call.input_tokens for call in log.calls] == [1]


async def test_models_have_vectors_of_their_own_until_others_are_forgotten(tmp_path: Path) -> None:
    source = ChecksumVectorSource()
    old, new = an_embedder(tmp_path, source, "old"), an_embedder(tmp_path, source, "new")
    for embedder in (old, new):
        await embedder.embed_texts(["pump"], are_passages=True)

    await new.forget_other_models()
    await an_embedder(tmp_path, source, "new").embed_texts(["pump"], are_passages=True)
    await an_embedder(tmp_path, source, "old").embed_texts(["pump"], are_passages=True)

    assert source.texts == ["pump", "pump", "pump"]


async def test_vectors_of_another_length_are_asked_for_again_once_the_length_is_known(tmp_path: Path) -> None:
    await an_embedder(tmp_path, ChecksumVectorSource(dimensions=32)).embed_texts(["pump"], are_passages=True)
    embedder = an_embedder(tmp_path, ChecksumVectorSource())

    dimensions = await embedder.load_dimensions()
    vectors = await embedder.embed_texts(["pump"], are_passages=True)

    assert (dimensions, vectors.shape) == (64, (1, 64))


async def test_requested_dimensions_are_part_of_the_name(tmp_path: Path) -> None:
    cache, source = ResultCache(tmp_path), ChecksumVectorSource()

    assert ModelEmbedder("m", source, cache).name == "m"
    assert ModelEmbedder("m", source, cache, requested_dimensions=256).name == "m:256"


class BrokenSource:
    def __init__(self, vectors: Sequence[Sequence[float]]) -> None:
        self._vectors = vectors

    async def load(self) -> None: ...

    async def embed_texts(self, texts: Sequence[str], log: ReasoningLog) -> Sequence[Sequence[float]]:
        return self._vectors


@pytest.mark.parametrize(
    "vectors",
    [[], [[1.0]], [[1.0], [1.0, 2.0]], [[], []], [[1.0], [math.nan]], [[1.0], [math.inf]], [[1.0], [0.0]]],
    ids=str,
)
async def test_vectors_that_cannot_be_compared_are_refused(tmp_path: Path, vectors: list[list[float]]) -> None:
    embedder = ModelEmbedder("broken", BrokenSource(vectors), ResultCache(tmp_path))

    with pytest.raises(EmbedderUnavailable, match="broken"):
        await embedder.embed_texts(["one", "two"])


async def test_a_cache_that_cannot_be_written_is_a_failure_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    embedder = ModelEmbedder("vectors", ChecksumVectorSource(), ResultCache(tmp_path / "file"))

    with pytest.raises(EmbedderUnavailable, match=FILE_NAME):
        await embedder.embed_texts(["pump"], are_passages=True)
